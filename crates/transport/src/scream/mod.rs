//! SCReAM version 2 (draft-ietf-ccwg-rfc8298bis-screamv2-01): self-clocked rate adaptation.
//!
//! A reference window follows losses, ECN marks and the queueing delay (`congestion`, `window`). It bounds
//! the bytes in flight, and with the round-trip time gives the rate of the encoder (`media_rate`). The target
//! of the queueing delay rises beside flows that fill queues (`competing`). Names of the draft are in
//! parentheses.

mod competing;
mod congestion;
mod media_rate;
mod window;

use crate::media::{FrameQueued, MediaControl, MediaFeedback, QueueDelay};
use competing::DelayTarget;
use congestion::{DelayAverage, MarkShare};
use media_rate::MediaRate;
use multihop_core::Time;
use window::{ReferenceWindow, Round};

/// Options of a controller. Rates are in payload bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScreamOptions {
    /// Minimum rate (`TARGET_BITRATE_MIN`), at which the flow starts.
    pub min_rate: f64,
    /// Maximum rate (`TARGET_BITRATE_MAX`).
    pub max_rate: f64,
    /// Maximum payload of a packet in bytes (`MSS`).
    pub segment_size: u32,
    /// Least target of the queueing delay in seconds (`QDELAY_TARGET_LO`).
    pub delay_target: f64,
    /// Whether the target of the queueing delay rises beside flows that fill queues.
    pub competes: bool,
    /// Whether ECN marks are those of L4S (`IS_L4S`).
    pub l4s: bool,
}

/// Round-trip time in seconds up to which marks and delays are handled as at this time (`VIRTUAL_RTT`).
const VIRTUAL_RTT: f64 = 0.025;
/// Ratio of the window of bytes in flight to the reference window (`REF_WND_OVERHEAD_MAX`; without the
/// optional reduction by jitter, the ratio has its maximum).
const WINDOW_OVERHEAD: f64 = 3.0;

/// Bytes in flight, over round trips.
#[derive(Clone, Copy, Debug, Default)]
struct InFlight {
    /// Maxima of the present and the previous round trip.
    present: u64,
    previous: u64,
    round_since: f64,
}

impl InFlight {
    fn add(&mut self, in_flight: u64) {
        self.present = self.present.max(in_flight);
    }

    fn end_round(&mut self, now: f64, rtt: f64) {
        if now - self.round_since >= rtt {
            self.previous = self.present;
            self.present = 0;
            self.round_since = now;
        }
    }
}

/// Controller of SCReAM.
#[derive(Clone, Debug)]
pub struct Scream {
    options: ScreamOptions,
    delay: QueueDelay,
    average: DelayAverage,
    marks: MarkShare,
    target: DelayTarget,
    window: ReferenceWindow,
    in_flight: InFlight,
    media: MediaRate,
    /// Smoothed round-trip time in seconds, from the first report on.
    rtt: Option<f64>,
}

impl Scream {
    /// Creates a controller at its minimum rate.
    pub fn new(options: ScreamOptions) -> Scream {
        Scream {
            delay: QueueDelay::default(),
            average: DelayAverage::default(),
            marks: MarkShare::default(),
            target: DelayTarget::new(options.delay_target),
            window: ReferenceWindow::new(options.segment_size, options.l4s),
            in_flight: InFlight::default(),
            media: MediaRate::new(options.min_rate, options.max_rate, options.segment_size),
            rtt: None,
            options,
        }
    }
}

impl MediaControl for Scream {
    fn target_rate(&self) -> f64 {
        self.media.rate()
    }

    fn pacing_rate(&self, _backlog: u64) -> f64 {
        self.media.pacing_rate()
    }

    fn send_window(&self) -> Option<u64> {
        Some((self.window.bytes() * WINDOW_OVERHEAD) as u64)
    }

    fn window(&self) -> Option<u64> {
        Some(self.window.bytes() as u64)
    }

    fn on_frame(&mut self, frame: &FrameQueued) {
        self.media.on_frame(frame.now.seconds(), frame.bytes, frame.waiting.seconds());
    }

    fn on_sent(&mut self, _now: Time, in_flight: u64) {
        self.in_flight.add(in_flight);
    }

    fn on_feedback(&mut self, feedback: &MediaFeedback<'_>) {
        let (now, rtt) = (feedback.now.seconds(), feedback.rtt.seconds());
        self.rtt = Some(rtt);
        let packets = feedback.packets;
        let lost = packets.iter().filter(|packet| packet.arrival.is_none()).count();
        let marked = packets.iter().filter(|packet| packet.marked).count();
        self.marks.add(now, rtt, packets.len() - lost, marked);
        let mut queueing = None;
        for delay in packets.iter().filter_map(super::media::PacketFate::delay) {
            queueing = Some(self.delay.add(feedback.now, delay));
        }
        if let Some(queueing) = queueing {
            self.average.add(now, rtt, queueing);
            if self.options.competes {
                self.target.add(now, rtt, queueing, lost > 0);
            }
        }
        let bytes = |packets: &mut dyn Iterator<Item = u32>| packets.map(f64::from).sum::<f64>();
        let round = Round {
            now,
            rtt,
            newly_acked: bytes(&mut packets.iter().map(|packet| packet.payload)),
            newly_marked: bytes(&mut packets.iter().filter(|p| p.marked).map(|packet| packet.payload)),
            lost: lost > 0,
            marked: marked > 0,
            mark_share: self.marks.value(),
            queueing: self.average.latest(),
            average_queueing: self.average.value(),
            delay_target: self.target.seconds(),
            in_flight_present: self.in_flight.present as f64,
            in_flight_previous: self.in_flight.previous as f64,
            is_at_max: self.media.rate() >= self.options.max_rate,
        };
        self.window.update(&round);
        self.in_flight.end_round(now, rtt);
        self.in_flight.add(feedback.in_flight);
        self.media.update(self.window.bytes(), rtt);
    }

    fn on_silence(&mut self, _now: Time) {
        self.window.halve();
        if let Some(rtt) = self.rtt {
            self.media.update(self.window.bytes(), rtt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::testing::Path;
    use multihop_core::Span;

    fn options() -> ScreamOptions {
        ScreamOptions {
            min_rate: 1e4,
            max_rate: 1e6,
            segment_size: 1_000,
            delay_target: 0.06,
            competes: false,
            l4s: false,
        }
    }

    /// A path on which so much is in flight that the window may grow.
    fn path() -> Path {
        let mut path = Path::new(1_000, 0.01);
        path.in_flight = 1 << 20;
        path
    }

    /// The window of 3000 bytes and a round trip of 50 ms: 60 kB/s, less the small window, the overhead of
    /// packets, and a fifth: 0.8 / 1.02 / 1.2.
    #[test]
    fn the_first_report_sets_the_rate() {
        let mut scream = Scream::new(options());
        assert_eq!(scream.target_rate(), 1e4, "before it, the minimum");
        let mut path = Path::new(1, 0.01);
        path.steady(&mut scream, 0.02, 1);
        let window = scream.window.bytes();
        assert!((window / 3_000.0 - 1.0).abs() < 1e-3, "{window}");
        let expected = window / 0.05 * 0.8 / 1.02 / 1.2;
        assert!((scream.target_rate() / expected - 1.0).abs() < 1e-3, "{}", scream.target_rate());
        assert_eq!(scream.send_window(), Some((window * 3.0) as u64));
    }

    /// Without congestion the window gains about a segment per round trip and 2 %.
    #[test]
    fn the_window_grows_without_congestion() {
        let (mut scream, mut path) = (Scream::new(options()), path());
        (0..20).for_each(|_| path.steady(&mut scream, 0.02, 5));
        assert!(scream.window.bytes() > 15_000.0, "{}", scream.window.bytes());
    }

    /// A lasting queueing delay of 60 ms, the target, is a full mark: the window falls by half of that, times
    /// 25 / 50 for the round trip.
    #[test]
    fn queueing_delay_reduces_the_window() {
        let (mut scream, mut path) = (Scream::new(options()), path());
        (0..20).for_each(|_| path.steady(&mut scream, 0.02, 5));
        let before = scream.window.bytes();
        (0..20).for_each(|_| path.steady(&mut scream, 0.08, 5));
        assert!(scream.window.bytes() < 0.3 * before, "{} of {before}", scream.window.bytes());
    }

    #[test]
    fn a_loss_reduces_the_window_once_per_round_trip() {
        let (mut scream, mut path) = (Scream::new(options()), path());
        (0..20).for_each(|_| path.steady(&mut scream, 0.02, 5));
        let before = scream.window.bytes();
        path.report(&mut scream, &[None]);
        path.report(&mut scream, &[None]);
        let ratio = scream.window.bytes() / before;
        assert!((0.69..0.75).contains(&ratio), "{ratio}");
    }

    /// With L4S and all packets marked, the share rises to 1 by an eighth per update.
    #[test]
    fn marks_of_l4s_reduce_the_window_by_their_share() {
        let (mut scream, mut path) = (Scream::new(ScreamOptions { l4s: true, ..options() }), path());
        (0..20).for_each(|_| path.steady(&mut scream, 0.02, 5));
        let before = scream.window.bytes();
        let mut classic = Scream { window: ReferenceWindow::new(1_000, false), ..scream.clone() };
        (0..20).for_each(|_| path.steady(&mut classic, 0.02, 5));
        let classic_before = classic.window.bytes();
        path.report(&mut scream, &[Some((0.02, true))]);
        path.report(&mut classic, &[Some((0.02, true))]);
        // An eighth, of which half, times 25 / 50.
        let ratio = scream.window.bytes() / before;
        assert!((ratio - (1.0 - 0.125 / 2.0 / 2.0)).abs() < 1e-3, "{ratio}");
        let ratio = classic.window.bytes() / classic_before;
        assert!((ratio - 0.8).abs() < 0.01, "{ratio}");
    }

    #[test]
    fn silence_halves_the_window() {
        let (mut scream, mut path) = (Scream::new(options()), path());
        (0..20).for_each(|_| path.steady(&mut scream, 0.02, 5));
        let (window, rate) = (scream.window.bytes(), scream.target_rate());
        scream.on_silence(Time::ZERO + Span::from_ms(2_000));
        assert_eq!(scream.window.bytes(), window / 2.0);
        assert!(scream.target_rate() < 0.55 * rate);
    }
}
