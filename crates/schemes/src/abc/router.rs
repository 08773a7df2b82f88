//! Router of Accel-Brake Control (Goyal et al. 2020). It turns accelerates into brakes so that the share of
//! accelerates matches its target rate.

use crate::capacity::Capacity;
use multihop_core::{Ecn, Packet, Span, Time};
use multihop_link::{Estimator, Hop, LinkView, PhyTimes, QueueEvent, RouterPolicy, Verdict};
use std::collections::VecDeque;

/// Constants of an ABC router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AbcConstants {
    /// Target share of the capacity, `eta`.
    pub utilization: f64,
    /// Time in which a queue is to drain, in seconds, `delta`.
    pub drain: f64,
    /// Tolerated queueing delay in seconds, `d_t`.
    pub threshold: f64,
    /// Time over which the dequeue rate is measured.
    pub window: Span,
    /// Maximum number of tokens.
    pub token_limit: f64,
}

/// Router policy of ABC at one queue.
pub(crate) struct AbcRouter {
    constants: AbcConstants,
    capacity: Capacity,
    departures: Departures,
    tokens: f64,
}

/// Bytes that left the queue: ABC packets, and all other packets.
#[derive(Clone, Debug, Default)]
struct Departures {
    /// Sums of bytes at each departure within the window, and at the last departure before it.
    sums: VecDeque<ByteSums>,
    latest: ByteSums,
}

#[derive(Clone, Copy, Debug, Default)]
struct ByteSums {
    at: Time,
    own: u64,
    others: u64,
}

impl Departures {
    /// Adds bytes that leave the queue. Forgets departures before the window, except the last of them, from
    /// which the rate is measured.
    fn add(&mut self, now: Time, window: Span, own: u64, others: u64) {
        self.latest = ByteSums { at: now, own: self.latest.own + own, others: self.latest.others + others };
        self.sums.push_back(self.latest);
        while self.sums.get(1).is_some_and(|second| second.at + window <= now) {
            self.sums.pop_front();
        }
    }

    /// Returns the rates of ABC packets and of others, in bytes per second, since the last departure before
    /// the window. At the start of the run, the rates are over one window.
    fn rates(&self, window: Span) -> (f64, f64) {
        let before = self.sums.front().filter(|first| first.at + window <= self.latest.at);
        let from = before.copied().unwrap_or_default();
        let seconds = before.map_or(window, |before| self.latest.at - before.at).seconds();
        ((self.latest.own - from.own) as f64 / seconds, (self.latest.others - from.others) as f64 / seconds)
    }
}

impl AbcRouter {
    /// Creates the policy for a link of this capacity.
    pub(crate) fn new(capacity: Capacity, constants: AbcConstants) -> AbcRouter {
        AbcRouter { capacity, departures: Departures::default(), tokens: 0.0, constants }
    }

    /// Returns the share of packets that may accelerate, `f = min(tr / (2 cr), 1)` (Eq. 2), as a packet of
    /// `size` bytes leaves. `tr` is the target rate (Eq. 1) and `cr` the dequeue rate. The factor 2 is there
    /// because a sender answers an accelerate with two packets.
    fn accelerate_share(&self, size: u32, view: &LinkView) -> f64 {
        let AbcConstants { utilization, drain, threshold, window, .. } = self.constants;
        let capacity = self.capacity.of(view);
        let queueing = (view.queue_bytes + u64::from(size)) as f64 / capacity;
        let (dequeued, others) = self.departures.rates(window);
        let target = utilization * capacity - others - capacity / drain * (queueing - threshold).max(0.0);
        (target / (2.0 * dequeued)).clamp(0.0, 1.0)
    }
}

impl RouterPolicy for AbcRouter {
    fn senses_medium(&self) -> bool {
        false
    }

    fn estimators(&self, phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        self.capacity.estimators(phy)
    }

    fn on_head_of_line(&mut self, hop: Hop, packet: &mut Packet, view: &LinkView) -> Verdict {
        let (window, size) = (self.constants.window, u64::from(packet.size));
        if packet.segment.ecn == Ecn::NotCapable {
            self.departures.add(hop.now, window, 0, size);
            return Verdict::Pass;
        }
        self.departures.add(hop.now, window, size, 0);
        self.tokens =
            (self.tokens + self.accelerate_share(packet.size, view)).min(self.constants.token_limit);
        if packet.segment.ecn == Ecn::Ect1 {
            if self.tokens > 1.0 {
                self.tokens -= 1.0;
            } else {
                packet.segment.ecn = Ecn::Ect0;
            }
        }
        Verdict::Pass
    }

    fn on_other(&mut self, now: Time, event: QueueEvent, size: u32, _view: &LinkView) {
        if event == QueueEvent::Dequeue {
            self.departures.add(now, self.constants.window, 0, u64::from(size));
        }
    }

    fn on_restart(&mut self, _now: Time) {
        self.departures = Departures::default();
        self.tokens = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{hop, packet};

    const CONSTANTS: AbcConstants = AbcConstants {
        utilization: 0.98,
        drain: 0.133,
        threshold: 0.02,
        window: Span::from_ms(50),
        token_limit: 5.0,
    };

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn view(queue_bytes: u64) -> LinkView {
        LinkView { queue_bytes, ..LinkView::default() }
    }

    /// Returns how many of the last `count` of `2 * count` packets still accelerate. Packets of 1000 bytes
    /// leave a link of 1 MB/s, one every `gap` microseconds, with `queue` bytes in the queue.
    fn accelerates(router: &mut AbcRouter, gap: u64, queue: u64, count: u64) -> u64 {
        let mut kept = 0;
        for number in 0..2 * count {
            let mut packet = packet(960, Ecn::Ect1);
            assert_eq!(packet.size, 1000);
            router.on_head_of_line(hop(us(gap * number)), &mut packet, &view(queue));
            kept += u64::from(number >= count && packet.segment.ecn == Ecn::Ect1);
        }
        kept
    }

    fn router() -> AbcRouter {
        AbcRouter::new(Capacity::known(1e6), CONSTANTS)
    }

    /// Dequeued at 1 MB/s: 0.98 / 2 with a short queue. A queue of 60 ms, 40 ms above the threshold, lowers
    /// 0.98 by 40/133. Dequeued at half of that rate: 0.98; at a tenth: 1. Above a queue of 150.34 ms no
    /// packet accelerates.
    #[test]
    fn the_share_of_accelerates_by_hand() {
        for (gap, queue, expected) in [
            (1_000, 0, 0.49),
            (1_000, 19_000, 0.49),
            (1_000, 59_000, (0.98 - 40.0 / 133.0) / 2.0),
            (2_000, 59_000, 0.98 - 40.0 / 133.0),
            (2_000, 0, 0.98),
            (10_000, 0, 1.0),
            (1_000, 151_000, 0.0),
        ] {
            let mut router = router();
            accelerates(&mut router, gap, queue, 200);
            let found = router.accelerate_share(1_000, &view(queue));
            assert!((found - expected).abs() < 1e-9, "{gap} {queue}: {found} for {expected}");
        }
    }

    #[test]
    fn the_accelerated_packets_match_the_share() {
        for (gap, queue) in
            [(1_000, 0), (1_000, 59_000), (1_300, 30_000), (2_000, 0), (10_000, 0), (1_000, 400_000)]
        {
            let mut router = router();
            let kept = accelerates(&mut router, gap, queue, 1_000) as f64;
            let share = router.accelerate_share(1_000, &view(queue));
            assert!((kept / 1_000.0 - share).abs() < 0.002, "{gap} {queue}: {kept} for {share}");
        }
    }

    /// Other traffic uses half of the link, so the target rate is the other half.
    #[test]
    fn other_traffic_lowers_the_target_rate() {
        let mut router = router();
        for number in 0..200 {
            router.on_other(us(2_000 * number), QueueEvent::Dequeue, 1_000, &view(0));
            router.on_other(us(2_000 * number), QueueEvent::Enqueue, 9_000, &view(0));
            let mut acknowledgement = packet(0, Ecn::NotCapable);
            let size = acknowledgement.size;
            router.on_head_of_line(hop(us(2_000 * number)), &mut acknowledgement, &view(0));
            assert_eq!((acknowledgement.segment.ecn, size), (Ecn::NotCapable, 40));
            router.on_head_of_line(hop(us(2_000 * number + 1_000)), &mut packet(960, Ecn::Ect1), &view(0));
        }
        // 0.98 - 0.52 of 1 MB/s, over twice 0.5.
        assert!(
            (router.accelerate_share(1_000, &view(0)) - 0.46).abs() < 0.01,
            "{}",
            router.accelerate_share(1_000, &view(0))
        );
    }

    /// With several routers, the one with the smallest share decides, because brakes remain brakes.
    #[test]
    fn a_router_does_not_turn_brakes_into_accelerates() {
        let mut free = router();
        accelerates(&mut free, 10_000, 0, 10);
        assert_eq!(free.tokens, 1.0, "one token remains");
        let mut brake = packet(960, Ecn::Ect0);
        for number in 20..60 {
            free.on_head_of_line(hop(us(10_000 * number)), &mut brake, &view(0));
            assert_eq!(brake.segment.ecn, Ecn::Ect0);
        }
        assert_eq!(free.tokens, 5.0, "brakes spend no tokens, up to the limit");
    }

    /// At one packet per second the rate is one packet per second, whatever the window is.
    #[test]
    fn a_rate_is_measured_from_the_last_departure_before_the_window() {
        let mut left = Departures::default();
        let window = Span::from_ms(50);
        left.add(us(0), window, 1_000, 0);
        assert_eq!(left.rates(window), (20_000.0, 0.0));
        left.add(us(1_000_000), window, 1_000, 500);
        assert_eq!(left.rates(window), (1_000.0, 500.0));
        left.add(us(1_040_000), window, 1_000, 0);
        assert!((left.rates(window).0 - 2_000.0 / 1.04).abs() < 1e-9);
        left.add(us(1_060_000), window, 1_000, 0);
        assert!((left.rates(window).0 - 2_000.0 / 0.06).abs() < 1e-9, "{:?}", left.rates(window));
    }
}
