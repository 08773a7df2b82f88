//! NADA's congestion signal (RFC 8698, sections 4.2 and 5.1).

use crate::media::{PacketFate, QueueDelay};
use crate::tfrc::{Averaging, LossIntervals};
use multihop_core::Time;
use std::collections::VecDeque;

/// Delay in seconds from which on the signal falls with the delay, so that the flow keeps a share beside
/// flows that fill the queue (`QTH`), and speed of the fall (`LAMBDA`).
const WARP_FROM: f64 = 0.05;
const LAMBDA: f64 = 0.5;
/// Number of mean loss intervals for which a loss counts as recent (`MULTILOSS`).
const RECENT_INTERVALS: f64 = 7.0;
/// Reference ratios of losses and marks (`PLRREF`, `PMRREF`), and their delay penalties in seconds (`DLOSS`,
/// `DMARK`).
const REFERENCE_LOSSES: f64 = 0.01;
const REFERENCE_MARKS: f64 = 0.01;
const LOSS_PENALTY: f64 = 0.01;
const MARK_PENALTY: f64 = 0.002;
/// Weight of a new ratio of losses or marks (`ALPHA`).
const ALPHA: f64 = 0.1;
/// Number of queueing delays whose minimum filters out noise that is no congestion (section 5.1.1).
const FILTERED: usize = 15;

/// Reported packet of the observation window.
#[derive(Clone, Copy, Debug)]
struct Observed {
    /// Time of the report in seconds.
    at: f64,
    /// Queueing delay in seconds; none for a lost packet.
    queueing: Option<f64>,
    marked: bool,
}

/// Measurements on reported packets, and the congestion signal that follows from them.
#[derive(Clone, Debug)]
pub(super) struct CongestionSignal {
    /// Length of the observation window in seconds.
    window: f64,
    observed: VecDeque<Observed>,
    delay: QueueDelay,
    loss_ratio: f64,
    mark_ratio: f64,
    intervals: LossIntervals,
    /// Time of the first loss of the latest loss event in seconds.
    last_loss: f64,
    /// Highest packet number.
    highest: u64,
}

impl CongestionSignal {
    /// Creates a signal over an observation window of this length in seconds.
    pub(super) fn new(window: f64) -> CongestionSignal {
        CongestionSignal {
            window,
            observed: VecDeque::new(),
            delay: QueueDelay::default(),
            loss_ratio: 0.0,
            mark_ratio: 0.0,
            intervals: LossIntervals::new(Averaging { discounting: false, ns2: false }),
            last_loss: 0.0,
            highest: 0,
        }
    }

    /// Adds a packet, reported at `now` with a round-trip time of `rtt` seconds.
    pub(super) fn add(&mut self, now: Time, rtt: f64, packet: &PacketFate) {
        self.highest = packet.number;
        let queueing = packet.delay().map(|delay| self.delay.add(now, delay));
        if queueing.is_none() {
            self.lost(packet, rtt);
        }
        self.observed.push_back(Observed { at: now.seconds(), queueing, marked: packet.marked });
    }

    /// Starts a loss event, unless the packet was sent within a round trip of the latest one.
    fn lost(&mut self, packet: &PacketFate, rtt: f64) {
        if !self.intervals.has_losses() {
            self.intervals.first((packet.number + 1) as f64, packet.number);
        } else if packet.sent > self.last_loss + rtt {
            self.intervals.next(packet.number);
        } else {
            return;
        }
        self.last_loss = packet.sent;
    }

    /// Whether the window has no losses and no queueing delay of `queue_builds` seconds or more.
    pub(super) fn is_clear(&self, queue_builds: f64) -> bool {
        self.observed.iter().all(|packet| packet.queueing.is_some_and(|delay| delay < queue_builds))
    }

    /// Signal in seconds at `now` seconds (equation 2).
    pub(super) fn update(&mut self, now: f64) -> f64 {
        while self.observed.front().is_some_and(|packet| packet.at <= now - self.window) {
            self.observed.pop_front();
        }
        let share = |holds: &dyn Fn(&Observed) -> bool| {
            let count = self.observed.iter().filter(|packet| holds(packet)).count();
            count as f64 / self.observed.len().max(1) as f64
        };
        let (lost, marked) = (share(&|packet| packet.queueing.is_none()), share(&|packet| packet.marked));
        self.loss_ratio += ALPHA * (lost - self.loss_ratio);
        self.mark_ratio += ALPHA * (marked - self.mark_ratio);
        let queueing = self.queueing();
        let warping = self.warping();
        (1.0 - warping) * queueing
            + warping * warped(queueing)
            + MARK_PENALTY * (self.mark_ratio / REFERENCE_MARKS).powi(2)
            + LOSS_PENALTY * (self.loss_ratio / REFERENCE_LOSSES).powi(2)
    }

    /// Filtered queueing delay in seconds.
    fn queueing(&self) -> f64 {
        let latest = self.observed.iter().rev().filter_map(|packet| packet.queueing).take(FILTERED);
        latest.reduce(f64::min).unwrap_or(0.0)
    }

    /// Weight of the warped delay: 1 while a loss is recent, and then falling to 0 over a mean loss interval.
    fn warping(&self) -> f64 {
        if !self.intervals.has_losses() {
            return 0.0;
        }
        let since = self.intervals.open(self.highest) / self.intervals.mean();
        (RECENT_INTERVALS + 1.0 - since).clamp(0.0, 1.0)
    }
}

/// Queueing delay after warping (equation 1).
fn warped(queueing: f64) -> f64 {
    if queueing < WARP_FROM {
        queueing
    } else {
        WARP_FROM * (-LAMBDA * (queueing - WARP_FROM) / WARP_FROM).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::Span;

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
    }

    /// Adds packets that leave each 10 ms, reported at once, and returns the signal. `delays` are in
    /// milliseconds.
    fn signal(signal: &mut CongestionSignal, delays: &[Option<f64>], marked: bool) -> f64 {
        let mut now = 0.0;
        for delay in delays {
            let number = if signal.observed.is_empty() { 0 } else { signal.highest + 1 };
            now = number as f64 * 0.01;
            let arrival = delay.map(|delay| now + delay * 1e-3);
            let packet = PacketFate { number, payload: 1_000, sent: now, arrival, marked };
            signal.add(Time::ZERO + Span::from_seconds(now), 0.05, &packet);
        }
        signal.update(now)
    }

    /// Equation 1: below 50 ms as it is; 50 ms above that, 50 exp(-0.5); 100 ms above, 50 exp(-1).
    #[test]
    fn equation_1_warps_long_delays() {
        assert_close(warped(0.03), 0.03);
        assert_close(warped(0.05), 0.05);
        assert_close(warped(0.1), 0.05 * (-0.5f64).exp());
        assert_close(warped(0.15), 0.05 * (-1.0f64).exp());
    }

    /// The least of the last 15 delays above the base of 20 ms: 30 ms, as the 5 ms are 16 packets ago.
    #[test]
    fn the_delay_is_the_minimum_of_fifteen() {
        let mut delays = vec![Some(20.0), Some(25.0)];
        delays.extend([Some(60.0); 14]);
        delays.push(Some(50.0));
        assert_close(signal(&mut CongestionSignal::new(0.5), &delays, false), 0.03);
    }

    /// Without losses, 120 ms count in full.
    #[test]
    fn only_recent_losses_cause_warping() {
        let mut delays = vec![Some(20.0)];
        delays.extend([Some(140.0); 15]);
        assert_close(signal(&mut CongestionSignal::new(0.5), &delays, false), 0.12);
    }

    /// Equation 2. 2 of 20 packets are lost: the smoothed ratio is a tenth of 0.1, which is the reference: 10
    /// ms. The delay of 100 ms is warped: the loss interval before the first loss is 4 packets, and 16 came
    /// since, 4 intervals.
    #[test]
    fn equation_2_adds_losses() {
        let mut delays = vec![Some(20.0); 3];
        delays.extend([None, None]);
        delays.extend([Some(120.0); 15]);
        let found = signal(&mut CongestionSignal::new(0.5), &delays, false);
        assert_close(found, 0.05 * (-0.5f64).exp() + 0.01);
    }

    /// All 20 packets are marked: the smoothed ratio of 0.1 is ten times the reference: 100 times 2 ms.
    #[test]
    fn equation_2_adds_marks() {
        assert_close(signal(&mut CongestionSignal::new(0.5), &[Some(20.0); 20], true), 0.2);
    }

    /// A loss interval of 2 packets. After 14 more, 7 intervals have passed; half of the next one later, half
    /// of the delay is warped, and after it none.
    #[test]
    fn warping_ends_gradually() {
        let mut signal = CongestionSignal::new(0.5);
        signal.intervals.first(2.0, 100);
        for (highest, expected) in [(100, 1.0), (113, 1.0), (114, 0.5), (115, 0.0), (200, 0.0)] {
            signal.highest = highest;
            assert_close(signal.warping(), expected);
        }
    }

    /// Losses within a round trip of 50 ms are one event.
    #[test]
    fn loss_events_are_a_round_trip_apart() {
        let mut measured = CongestionSignal::new(0.5);
        let mut delays = vec![Some(20.0); 9];
        delays.extend([None, Some(20.0), None, Some(20.0), Some(20.0), Some(20.0), Some(20.0), None]);
        signal(&mut measured, &delays, false);
        // Intervals of 10 packets, up to the first loss, and of 7 between the events 9 and 16.
        assert_close(measured.intervals.mean(), 8.5);
    }

    #[test]
    fn the_window_is_clear_without_losses_and_queues() {
        let clear = |delays: &[Option<f64>]| {
            let mut measured = CongestionSignal::new(0.1);
            signal(&mut measured, delays, false);
            measured.is_clear(0.01)
        };
        assert!(clear(&[Some(20.0), Some(29.0), Some(25.0)]));
        assert!(!clear(&[Some(20.0), Some(31.0), Some(25.0)]), "one sample is enough");
        assert!(!clear(&[Some(20.0), None, Some(25.0)]));
        let mut old = vec![Some(20.0), None];
        old.extend([Some(20.0); 11]);
        assert!(clear(&old), "the loss left the window");
    }
}
