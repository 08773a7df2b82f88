//! NADA: network-assisted dynamic adaptation (RFC 8698).
//!
//! Queueing delay, losses and ECN marks make one congestion signal (`signal`), in units of delay. From it the
//! controller updates a reference rate, quickly while the path shows no congestion, and gradually otherwise
//! (section 4.3). Both run at the sender, from reports on each packet.

mod signal;

use crate::media::{ArrivalRate, MediaControl, MediaFeedback};
use multihop_core::Time;
use signal::CongestionSignal;

/// Options of a controller. Rates are in payload bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NadaOptions {
    /// Weight of the flow (`PRIO`).
    pub priority: f64,
    /// Minimum rate (`RMIN`), at which the flow starts.
    pub min_rate: f64,
    /// Maximum rate (`RMAX`).
    pub max_rate: f64,
    /// Congestion signal in seconds at the maximum rate (`XREF`).
    pub reference_delay: f64,
    /// Time between updates of the rate in seconds (`DELTA`).
    pub interval: f64,
    /// Frames per second (`FPS`).
    pub frame_rate: f64,
}

/// Observation window in seconds (`LOGWIN`).
const WINDOW: f64 = 0.5;
/// Queueing delay in seconds from which on a queue builds up (`QEPS`).
const QUEUE_BUILDS: f64 = 0.01;
/// Bound on the delay of filters in seconds (`DFILT`).
const FILTER_DELAY: f64 = 0.12;
/// Maximum relative increase of a fast update (`GAMMA_MAX`).
const MAX_RAMP: f64 = 0.5;
/// Bound in seconds on the queue that a fast increase causes (`QBOUND`).
const RAMP_QUEUE: f64 = 0.05;
/// Gains of gradual updates (`KAPPA`, `ETA`), and upper bound of round-trip times in seconds (`TAU`).
const KAPPA: f64 = 0.5;
const ETA: f64 = 2.0;
const TAU: f64 = 0.5;
/// Gains of the encoder's rate and the sending rate by the data that waits (`BETA_V`, `BETA_S`).
const BETA_ENCODER: f64 = 0.1;
const BETA_SENDING: f64 = 0.1;
/// Share of the interval after which a report may cause an update: reports vary in time.
const EARLY: f64 = 0.5;

/// Controller of NADA.
#[derive(Clone, Debug)]
pub struct Nada {
    options: NadaOptions,
    signal: CongestionSignal,
    arrivals: ArrivalRate,
    /// Reference rate (`r_ref`).
    rate: f64,
    /// Congestion signal of the last update in seconds (`x_prev`).
    last_signal: f64,
    last_update: Option<Time>,
}

impl Nada {
    /// Creates a controller at its minimum rate.
    pub fn new(options: NadaOptions) -> Nada {
        Nada {
            signal: CongestionSignal::new(WINDOW),
            arrivals: ArrivalRate::new(WINDOW),
            rate: options.min_rate,
            last_signal: 0.0,
            last_update: None,
            options,
        }
    }

    fn update(&mut self, now: Time, rtt: f64, delta: f64) {
        let signal = self.signal.update(now.seconds());
        if self.signal.is_clear(QUEUE_BUILDS) {
            self.ramp_up(rtt);
        } else {
            self.adjust(signal, delta);
        }
        self.last_signal = signal;
        self.rate = self.clamped(self.rate);
    }

    /// Accelerated ramp-up (equations 3 and 4).
    fn ramp_up(&mut self, rtt: f64) {
        let gamma = (RAMP_QUEUE / (rtt + self.options.interval + FILTER_DELAY)).min(MAX_RAMP);
        if let Some(receiving) = self.arrivals.rate() {
            self.rate = self.rate.max((1.0 + gamma) * receiving);
        }
    }

    /// Gradual update (equations 5 to 7) after `delta` seconds.
    fn adjust(&mut self, signal: f64, delta: f64) {
        let NadaOptions { priority, max_rate, reference_delay, .. } = self.options;
        let offset = signal - priority * reference_delay * max_rate / self.rate;
        let change = signal - self.last_signal;
        let relative = KAPPA * (delta / TAU) * (offset / TAU) + KAPPA * ETA * change / TAU;
        self.rate -= relative * self.rate;
    }

    fn clamped(&self, rate: f64) -> f64 {
        rate.clamp(self.options.min_rate, self.options.max_rate)
    }

    /// Rate in bytes per second at which `gain` of the waiting data leaves per frame.
    fn drain_rate(&self, gain: f64, backlog: u64) -> f64 {
        gain * backlog as f64 * self.options.frame_rate
    }
}

impl MediaControl for Nada {
    fn target_rate(&self) -> f64 {
        self.rate
    }

    /// `r_vin` (section 5.2.2).
    fn encoder_rate(&self, backlog: u64) -> f64 {
        self.clamped(self.rate - self.drain_rate(BETA_ENCODER, backlog))
    }

    /// `r_send` (section 5.2.2).
    fn pacing_rate(&self, backlog: u64) -> f64 {
        self.clamped(self.rate + self.drain_rate(BETA_SENDING, backlog))
    }

    fn on_feedback(&mut self, feedback: &MediaFeedback<'_>) {
        let (now, rtt) = (feedback.now, feedback.rtt.seconds());
        for packet in feedback.packets {
            self.arrivals.add(packet);
            self.signal.add(now, rtt, packet);
        }
        let since = *self.last_update.get_or_insert(now);
        let delta = now.since(since).seconds();
        if delta >= EARLY * self.options.interval {
            self.update(now, rtt, delta.min(TAU));
            self.last_update = Some(now);
        }
    }

    fn on_silence(&mut self, _now: Time) {
        self.rate = self.clamped(self.rate / 2.0);
        self.last_update = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::testing::Path;
    use multihop_core::Span;

    /// Rates of figure 3 in bytes per second, and a minimum of 100 kB/s.
    fn options() -> NadaOptions {
        NadaOptions {
            priority: 1.0,
            min_rate: 1e5,
            max_rate: 4e5,
            reference_delay: 0.01,
            interval: 0.1,
            frame_rate: 30.0,
        }
    }

    fn assert_close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} instead of {expected}");
    }

    /// Equations 3 and 4. Packets of 1000 bytes each 10 ms arrive: 100 kB/s. The first rate over 500 ms is
    /// known after 510 ms. With a round trip of 50 ms, gamma is 50 / (50 + 100 + 120). The rate follows the
    /// receiving rate, and does not compound. At a round trip of 1 s, gamma is 50 / 1220.
    #[test]
    fn without_congestion_the_rate_leads_the_receiving_rate() {
        let mut nada = Nada::new(options());
        let mut path = Path::new(1_000, 0.01);
        (0..5).for_each(|_| path.steady(&mut nada, 0.02, 10));
        assert_eq!(nada.target_rate(), 1e5, "the window is not full");
        (0..3).for_each(|_| path.steady(&mut nada, 0.02, 10));
        assert_close(nada.target_rate(), 1e5 * (1.0 + 50.0 / 270.0));
        path.payload = 2_000;
        path.rtt = Span::from_ms(1_000);
        (0..6).for_each(|_| path.steady(&mut nada, 0.02, 10));
        assert_close(nada.target_rate(), 2e5 * (1.0 + 50.0 / 1_220.0));
        path.rtt = Span::ZERO;
        path.steady(&mut nada, 0.02, 10);
        assert_close(nada.target_rate(), 2e5 * (1.0 + 50.0 / 220.0));
    }

    /// Equations 5 to 7 with a queueing delay that rises from 0 to 30 ms and stays there. The reference is
    /// 10 ms * 400 / 200 = 20 ms at 200 kB/s. First update: offset 10 ms, change 30 ms. Second update: the
    /// change is 0.
    #[test]
    fn gradual_updates_by_hand() {
        let mut nada = Nada { rate: 2e5, ..Nada::new(options()) };
        let mut path = Path::new(1_000, 0.01);
        path.steady(&mut nada, 0.02, 10);
        path.steady(&mut nada, 0.05, 15);
        let delta = 0.15;
        let relative = 0.5 * (delta / 0.5) * (0.01 / 0.5) + 0.5 * 2.0 * 0.03 / 0.5;
        let first = 2e5 * (1.0 - relative);
        assert_close(nada.target_rate(), first);
        path.steady(&mut nada, 0.05, 15);
        let offset = 0.03 - 0.01 * 4e5 / first;
        assert_close(nada.target_rate(), first * (1.0 - 0.5 * (delta / 0.5) * (offset / 0.5)));
    }

    /// The rate at which the signal equals the reference stays: 20 ms at 200 kB/s.
    #[test]
    fn the_rate_of_the_reference_is_an_equilibrium() {
        let mut nada = Nada { rate: 2e5, last_signal: 0.02, ..Nada::new(options()) };
        let mut path = Path::new(1_000, 0.01);
        path.steady(&mut nada, 0.02, 1);
        (0..5).for_each(|_| path.steady(&mut nada, 0.04, 20));
        nada.last_signal = 0.02;
        nada.rate = 2e5;
        path.steady(&mut nada, 0.04, 20);
        assert_close(nada.target_rate(), 2e5);
    }

    /// Section 5.2.2: 1000 bytes wait. 0.1 * 1000 * 30 = 3 kB/s less from the encoder, and more to the
    /// network.
    #[test]
    fn waiting_data_shifts_the_rates() {
        let nada = Nada { rate: 2e5, ..Nada::new(options()) };
        assert_eq!((nada.encoder_rate(1_000), nada.pacing_rate(1_000)), (197_000.0, 203_000.0));
        assert_eq!((nada.encoder_rate(1 << 30), nada.pacing_rate(1 << 30)), (1e5, 4e5));
    }

    #[test]
    fn silence_halves_the_rate() {
        let mut nada = Nada { rate: 3e5, ..Nada::new(options()) };
        nada.on_silence(Time::ZERO);
        assert_eq!(nada.target_rate(), 1.5e5);
        nada.on_silence(Time::ZERO);
        assert_eq!(nada.target_rate(), 1e5);
    }
}
