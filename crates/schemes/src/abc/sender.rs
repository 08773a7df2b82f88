//! Sender of Accel-Brake Control (Goyal et al. 2020). Each mark opens or closes one window by a packet; a
//! CUBIC window covers bottlenecks without ABC routers.

use super::header::BrakeCounts;
use multihop_core::Time;
use multihop_transport::{
    Acked, Allowance, Controller, Cubic, CubicOptions, DeliverySample, Lost, Recovered, Returned,
};

/// Congestion controller of ABC. It needs [`multihop_transport::TcpOptions::delivery_rate`] for the bytes in
/// flight.
pub(crate) struct AbcSender {
    segment: f64,
    /// Window of ABC, `w_abc`, in segments.
    window: f64,
    /// CUBIC controller, which limits the window if the bottleneck is not an ABC router.
    cubic: Cubic,
    /// Bytes in flight before the last acknowledgement.
    in_flight: u64,
}

impl AbcSender {
    /// Creates a controller with CUBIC's initial window.
    pub(crate) fn new(cubic: CubicOptions) -> AbcSender {
        let segment = f64::from(cubic.reno.segment_size);
        let cubic = Cubic::new(cubic);
        let initial = cubic.allowance().window;
        AbcSender { segment, window: (initial as f64 / segment).max(1.0), cubic, in_flight: initial }
    }

    /// Applies marks to the window. An accelerate adds a segment and a brake takes one away. Each also adds
    /// `1 / w`, one segment per round trip in sum, so that windows become equal (Eq. 3). The window is
    /// limited to twice the bytes in flight.
    fn apply_marks(&mut self, counts: BrakeCounts) {
        for (count, change) in [(counts.accelerates, 1.0), (counts.brakes, -1.0)] {
            for _ in 0..count {
                self.window = (self.window + change + 1.0 / self.window).max(1.0);
            }
        }
        self.window = self.window.min(self.max_window()).max(1.0);
    }

    /// Returns the upper limit of the window, in segments.
    fn max_window(&self) -> f64 {
        2.0 * self.in_flight as f64 / self.segment
    }
}

impl Controller for AbcSender {
    fn allowance(&self) -> Allowance {
        let own = (self.window * self.segment) as u64;
        Allowance { window: own.min(self.cubic.allowance().window), pace: None }
    }

    fn slow_start_threshold(&self) -> Option<u64> {
        self.cubic.slow_start_threshold()
    }

    fn on_acked(&mut self, acked: &Acked) {
        let in_flight = acked.in_flight + acked.size;
        let unused = self.cubic.allowance().window >= 2 * in_flight;
        self.cubic.on_acked(&Acked { app_limited: acked.app_limited || unused, ..*acked });
    }

    fn on_delivered(&mut self, delivery: &DeliverySample) {
        self.in_flight = delivery.in_flight_before;
    }

    fn on_feedback(&mut self, returned: &Returned) {
        if let Some(counts) = returned.segment.feedback.parse::<BrakeCounts>() {
            self.apply_marks(counts);
        }
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.cubic.on_lost(lost);
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.cubic.on_recovered(recovered);
    }

    fn on_idle(&mut self, now: Time) {
        self.cubic.on_idle(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use multihop_core::Span;
    use multihop_transport::{LossKind, RenoOptions};

    const MSS: u64 = 1000;

    fn sender(initial: u32) -> AbcSender {
        let reno =
            RenoOptions { initial_window: Some(initial), ..RenoOptions::rfc(MSS as u32, 10_000 * MSS) };
        AbcSender::new(CubicOptions::rfc(reno))
    }

    fn returned(accelerates: u16, brakes: u16) -> Returned<'static> {
        testing::returned(&BrakeCounts { accelerates, brakes }, None)
    }

    fn acked(size: u64, in_flight: u64) -> Acked {
        let rtt = Some(Span::from_ms(100));
        Acked { rtt, srtt: rtt, in_flight, ..Acked::in_order(Time::ZERO, size) }
    }

    /// From 10 segments: 10 + 1 + 1/10 for an accelerate, and 10 - 1 + 1/10 for a brake.
    #[test]
    fn each_mark_moves_the_window_by_a_segment_plus_its_inverse() {
        for (accelerates, brakes, expected) in [(1, 0, 11.1), (0, 1, 9.1)] {
            let mut sender = sender(10);
            sender.on_feedback(&returned(accelerates, brakes));
            assert!((sender.window - expected).abs() < 1e-12);
        }
        // One acknowledgement of two packets has the effect of two acknowledgements.
        let (mut one, mut two) = (sender(10), sender(10));
        one.on_feedback(&returned(2, 1));
        for (accelerates, brakes) in [(1, 0), (1, 0), (0, 1)] {
            two.on_feedback(&returned(accelerates, brakes));
        }
        assert_eq!(one.window, two.window);
    }

    /// With accelerates alone, the window doubles in a round trip, and the additive increase adds less than a
    /// segment. The window never exceeds twice the bytes in flight.
    #[test]
    fn the_window_at_most_doubles_in_a_round_trip() {
        let mut sender = sender(10);
        for round in 0..6 {
            let before = 10 << round;
            sender.in_flight = before * MSS;
            for _ in 0..before {
                sender.on_acked(&acked(MSS, (before - 1) * MSS));
                sender.on_feedback(&returned(1, 0));
                assert!(sender.window <= 2.0 * before as f64);
            }
            assert_eq!(sender.window, 2.0 * before as f64);
            assert_eq!(sender.allowance().window, 2 * before * MSS, "CUBIC in slow start does not limit it");
        }
        // Half of the window is used, so the unused part is not increased further.
        sender.in_flight = 160 * MSS;
        sender.on_feedback(&returned(1, 0));
        assert_eq!(sender.window, 320.0);
    }

    /// With accelerates for half of the packets the window grows by one segment in a round trip. With brakes
    /// alone it falls to one segment.
    #[test]
    fn brakes_close_the_window_to_one_segment() {
        let mut sender = sender(100);
        let before = sender.window;
        (0..50).for_each(|_| sender.on_feedback(&returned(1, 1)));
        assert!((sender.window - before - 1.0).abs() < 0.01, "{}", sender.window);
        (0..1_000).for_each(|_| sender.on_feedback(&returned(0, 1)));
        assert!(sender.window >= 1.0 && sender.window < 2.0, "{}", sender.window);
        assert!(sender.allowance().window >= MSS);
    }

    /// CUBIC cuts its window to 0.7 of the bytes in flight at a loss; ABC's own window does not change.
    #[test]
    fn cubic_responds_to_a_loss() {
        let mut sender = sender(100);
        sender.on_lost(&Lost { now: Time::ZERO, kind: LossKind::DuplicateAcks, in_flight: 100 * MSS });
        assert_eq!((sender.allowance().window, sender.window), (70 * MSS, 100.0));
        sender.on_feedback(&returned(0, 50));
        assert!(sender.allowance().window < 52 * MSS);
    }

    /// CUBIC's window stops at twice the bytes in flight.
    #[test]
    fn cubic_does_not_grow_beyond_twice_what_is_in_flight() {
        let mut sender = sender(10);
        for _ in 0..100 {
            sender.on_acked(&acked(MSS, 9 * MSS));
        }
        assert_eq!(sender.cubic.allowance().window, 20 * MSS);
    }

    /// CUBIC's threshold: none before a loss, and 0.7 of the 10 segments after it (RFC 9438, 4.6).
    #[test]
    fn the_slow_start_threshold_is_that_of_cubic() {
        let mut sender = sender(10);
        let before = sender.slow_start_threshold();
        assert_ne!(before, Some(7 * MSS));
        sender.on_lost(&Lost { now: Time::ZERO, kind: LossKind::DuplicateAcks, in_flight: 10 * MSS });
        assert_eq!(sender.slow_start_threshold(), Some(7 * MSS));
    }
}
