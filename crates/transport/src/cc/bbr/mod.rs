//! BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00): a model of the path, made of the greatest
//! delivery rate and the least round trip seen of late, says how fast to send and how much.
//!
//! Sections in this module are those of the draft. Bandwidths are in payload bytes per second, windows in
//! payload bytes.

mod aggregation;
mod filter;
mod state;
#[cfg(test)]
mod tests;

use crate::{Acked, Allowance, Controller, Delivery, LossKind, Lost, Sent};
use aggregation::Aggregation;
use filter::{MaxFilter, MinFilter};
use multihop_core::{Rate, Span};
use state::{FullPipe, State};

/// Where pace and window follow the draft, and where the kernel that most connections with BBR run in.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum BbrRules {
    /// draft-cardwell-iccrg-bbr-congestion-control-00.
    #[default]
    Draft,
    /// Linux since 5.1 (`net/ipv4/tcp_bbr.c`), as version 02 of the draft has it too: the pace is 1 % below
    /// the bandwidth; a window is of whole segments, an even number of them, with what acknowledgements
    /// confirmed in bunches, and two segments more while bandwidth is probed for; and the handshake is the
    /// first round trip.
    Linux,
}

/// Options of [`Bbr`].
#[derive(Clone, Debug, PartialEq)]
pub struct BbrOptions {
    /// Payload bytes of a full segment.
    pub segment_size: u32,
    /// The first window in bytes.
    pub initial_window: u64,
    /// While bandwidth is used and probed for, the window is this many bandwidth-delay products. Section
    /// 4.3.4.1: 2.
    pub window_gain: f64,
    /// The least round trip is measured anew when nothing as short was seen for this long
    /// (`RTpropFilterLen`). Section 4.1.2: 10 s.
    pub round_trip_window: Span,
    /// Whose pace and window.
    pub rules: BbrRules,
}

impl BbrOptions {
    /// The constants of the draft.
    pub fn draft(segment_size: u32, initial_window: u64) -> BbrOptions {
        BbrOptions {
            segment_size,
            initial_window,
            window_gain: 2.0,
            round_trip_window: Span::from_ms(10_000),
            rules: BbrRules::Draft,
        }
    }
}

/// The controller. It needs [`crate::TcpOptions::delivery_rate`].
#[derive(Clone, Debug)]
pub struct Bbr {
    options: BbrOptions,
    segment: f64,
    /// `BBR.BtlBw`.
    bandwidth: MaxFilter,
    /// `BBR.RTprop`.
    round_trip: MinFilter,
    /// The round trip of the handshake, until data was acknowledged.
    handshake: Option<Span>,
    /// Notified of deliveries with the rules of Linux only.
    aggregation: Aggregation,
    state: State,
    full_pipe: FullPipe,
    /// Round trips so far (section 4.1.1.3), what will have been delivered when this one is over, and whether
    /// the last acknowledgement began one.
    round: u64,
    round_end: u64,
    round_start: bool,
    /// Nothing was in flight when the application began again.
    idle_restart: bool,
    pacing_rate: f64,
    window: f64,
    /// The window before loss recovery, or before the round trip was probed for.
    prior_window: f64,
    recovery: Repair,
    /// Bytes of a full packet for each byte of its payload.
    overhead: f64,
}

/// Loss recovery, as far as it concerns the window (section 4.2.3.4).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Repair {
    /// Nothing is lost.
    #[default]
    None,
    /// Duplicate acknowledgements indicated a loss just now.
    Entering,
    /// For a round trip, as much is sent as is delivered.
    Conserving,
    /// The window grows again, but something is still being repaired.
    Growing,
}

impl Bbr {
    /// A controller with its first window, which it sends at 2/ln 2 times a window per millisecond until a
    /// round trip is known (section 4.2.1).
    pub fn new(options: BbrOptions) -> Bbr {
        let segment = f64::from(options.segment_size);
        let window = (options.initial_window as f64).max(segment);
        Bbr {
            segment,
            bandwidth: MaxFilter::default(),
            round_trip: MinFilter::new(options.round_trip_window),
            handshake: None,
            aggregation: Aggregation::new(segment),
            state: State::Startup,
            full_pipe: FullPipe::default(),
            round: 0,
            round_end: 0,
            round_start: false,
            idle_restart: false,
            pacing_rate: state::HIGH_GAIN * window / 1e-3,
            window,
            prior_window: window,
            recovery: Repair::None,
            overhead: 1.0,
            options,
        }
    }

    /// `BBRUpdateModelAndState`.
    fn update_model(&mut self, delivery: &Delivery) {
        self.update_round(delivery);
        if let Some(rate) = delivery.rate
            && (rate >= self.bandwidth.value() || !delivery.app_limited)
        {
            self.bandwidth.update(self.round, rate);
        }
        if self.linux() && delivery.rate.is_some() {
            let (size, bandwidth) = (delivery.size as f64, self.bandwidth.value());
            self.aggregation.update(delivery.now, size, self.round_start, bandwidth, self.window);
        }
        self.check_cycle_phase(delivery);
        if self.round_start && !delivery.app_limited {
            self.full_pipe.on_round(self.bandwidth.value());
        }
        self.check_drain(delivery);
        if let Some(handshake) = self.handshake.take() {
            self.round_trip.update(delivery.now, Some(handshake));
        }
        self.round_trip.update(delivery.now, delivery.rtt);
        self.check_probe_rtt(delivery);
    }

    fn linux(&self) -> bool {
        self.options.rules == BbrRules::Linux
    }

    /// Section 4.1.1.3: a round trip is over when something is delivered that was sent after the last one was
    /// over.
    fn update_round(&mut self, delivery: &Delivery) {
        self.round_start = delivery.prior_delivered >= self.round_end;
        if self.round_start {
            self.round_end = delivery.delivered;
            self.round += 1;
            if self.recovery == Repair::Conserving {
                self.recovery = Repair::Growing;
            }
        }
    }

    /// `BBRSetPacingRateWithGain` (section 4.2.1): until the pipe is full the rate does not fall.
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = self.margin() * gain * self.bandwidth.value();
        if rate > 0.0 && (self.full_pipe.filled || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// `bbr_pacing_margin_percent`: a pace just below the bandwidth empties queues.
    fn margin(&self) -> f64 {
        if self.linux() { 0.99 } else { 1.0 }
    }

    /// `BBR.send_quantum` (section 4.2.2), the most that may be sent at once.
    fn quantum(&self) -> f64 {
        match 8.0 * self.pacing_rate {
            ..1.2e6 => self.segment,
            ..24e6 => 2.0 * self.segment,
            _ => (1e-3 * self.pacing_rate).min(65_536.0),
        }
    }

    /// `BBRInflight` (section 4.2.3.2): `gain` bandwidth-delay products, and what is on its way in bunches.
    fn volume(&self, gain: f64) -> f64 {
        self.volume_with(gain, 0.0)
    }

    /// The same, with an excess of acknowledged bytes; in Linux `bbr_bdp` and `bbr_quantization_budget`.
    fn volume_with(&self, gain: f64, excess: f64) -> f64 {
        let Some(rtt) = self.round_trip.value() else { return self.options.initial_window as f64 };
        let product = gain * self.bandwidth.value() * rtt.seconds();
        if !self.linux() {
            return product + 3.0 * self.quantum();
        }
        let segments = |bytes: f64| bytes / self.segment;
        let quantum = segments(self.quantum()).floor().max(1.0);
        let budget = segments(product).ceil() + segments(excess).floor() + 3.0 * quantum;
        let probing = matches!(self.state, State::ProbeBw { phase: 0, .. });
        (2.0 * (budget / 2.0).ceil() + if probing { 2.0 } else { 0.0 }) * self.segment
    }

    /// `BBRMinPipeCwnd` (section 4.2.3.3).
    fn least_window(&self) -> f64 {
        4.0 * self.segment
    }

    /// `BBRSaveCwnd`.
    fn save_window(&mut self) {
        let apart = self.recovery != Repair::None || self.state.is_probe_rtt();
        self.prior_window = if apart { self.prior_window.max(self.window) } else { self.window };
    }

    /// `BBRRestoreCwnd`.
    fn restore_window(&mut self) {
        self.window = self.window.max(self.prior_window);
    }

    /// `BBRSetCwnd` (section 4.2.3.6), with what recovery (4.2.3.4) and the probing of the round trip
    /// (4.2.3.5) make of it.
    fn set_window(&mut self, delivery: &Delivery) {
        let size = delivery.size as f64;
        let conserved = delivery.in_flight as f64 + size.max(self.segment);
        self.window = (self.window - delivery.lost as f64).max(self.segment);
        match self.recovery {
            Repair::Entering => {
                self.window = conserved;
                self.round_end = delivery.delivered;
                self.recovery = Repair::Conserving;
            }
            Repair::Conserving | Repair::Growing if !delivery.recovering => {
                self.recovery = Repair::None;
                self.restore_window();
            }
            Repair::Conserving => self.window = self.window.max(conserved),
            Repair::None | Repair::Growing => {}
        }
        if self.recovery != Repair::Conserving {
            let excess =
                if self.full_pipe.filled { self.aggregation.excess(self.bandwidth.value()) } else { 0.0 };
            let target = self.volume_with(self.window_gain(), excess);
            if self.full_pipe.filled {
                self.window = (self.window + size).min(target);
            } else if self.window < target || delivery.delivered < self.options.initial_window {
                self.window += size;
            }
            self.window = self.window.max(self.least_window());
        }
        if self.state.is_probe_rtt() {
            self.window = self.window.min(self.least_window());
        }
    }
}

impl Controller for Bbr {
    fn allowance(&self) -> Allowance {
        let bps = (8.0 * self.pacing_rate * self.overhead).max(1.0);
        Allowance { window: self.window as u64, pace: Some(Rate::from_bps(bps as u64)) }
    }

    fn on_opened(&mut self, rtt: Span) {
        if rtt > Span::ZERO {
            self.pacing_rate = self.margin() * self.state.pacing_gain() * self.window / rtt.seconds();
            self.handshake = Some(rtt).filter(|_| self.linux());
        }
    }

    /// Section 4.3.4.4: after a silence the path is empty, and there is no queue to drain or to probe with.
    fn on_sent(&mut self, sent: &Sent) {
        self.overhead = 1.0 + (sent.packet - sent.size) as f64 / self.segment;
        if sent.in_flight == sent.size && sent.app_limited {
            self.idle_restart = true;
            if matches!(self.state, State::ProbeBw { .. }) {
                self.set_pacing_rate(1.0);
            }
        }
    }

    fn on_acked(&mut self, _acked: &Acked) {}

    fn on_delivered(&mut self, delivery: &Delivery) {
        self.update_model(delivery);
        self.set_pacing_rate(self.state.pacing_gain());
        self.set_window(delivery);
    }

    fn marks_app_limited(&self) -> bool {
        self.state.is_probe_rtt()
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.save_window();
        match lost.kind {
            LossKind::DuplicateAcks => self.recovery = Repair::Entering,
            LossKind::Timeout { .. } => {
                self.recovery = Repair::Growing;
                self.window = self.segment;
            }
        }
    }
}
