//! Router of RCP (Dukkipati 2007), one for each queue. It offers the same rate to all flows and adjusts it so
//! that the link is full and its queue empty.
//!
//! Derivatives of RCP differ in their [`Load`] only. Rates are in bytes per second, times in seconds.

use super::header::RcpHeader;
use crate::xcp::router::{Timer, seconds};
use multihop_core::{NodeId, Packet, Time};
use multihop_link::{Estimator, Hop, LinkView, PhyTimes, QueueEvent, RouterPolicy, Verdict};

/// Capacity of a link as a router assumes it, and the traffic that uses it.
pub(crate) trait Load: Send {
    /// Returns the estimators that write the inputs of this load into link views.
    fn estimators(&self, _phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        Vec::new()
    }
    /// Returns the capacity in bytes per second.
    fn capacity(&self, view: &LinkView) -> f64;
    /// Returns the aggregate traffic in bytes per second, of which `arrived` arrived at this queue.
    fn input(&self, arrived: f64, view: &LinkView) -> f64;
    /// Returns the weights of the spare capacity and of the queue in a slot. The slot lasts `_seconds`, and
    /// its input is `_arrived` bytes per second.
    fn weights(&mut self, _arrived: f64, _seconds: f64, _mean_rtt: f64, _view: &LinkView) -> (f64, f64) {
        (1.0, 1.0)
    }
    /// Returns the rate granted to a packet that requested `requested`, while the router offers `rate`.
    fn grant(&self, requested: f64, rate: f64, _view: &LinkView) -> f64 {
        requested.min(rate)
    }
}

/// Constants of an RCP router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RateConstants {
    /// Share of the spare capacity that is offered in each round trip.
    pub alpha: f64,
    /// Share of the queue that is drained in each round trip.
    pub beta: f64,
    /// Target share of the capacity, `gamma`.
    pub utilization: f64,
    /// Maximum length of a slot, in seconds.
    pub slot: f64,
    /// Mean round-trip time before the first sample, in seconds.
    pub initial_rtt: f64,
    /// Initial rate, as a share of the capacity.
    pub initial_rate: f64,
    /// Minimum rate in bytes per round trip.
    pub min_rate_per_rtt: f64,
}

/// Minimum of the mean round-trip time in seconds, which limits the number of slots.
const MIN_RTT: f64 = 1e-3;

/// Router policy of RCP at one queue.
pub(crate) struct RcpRouter<L> {
    load: L,
    constants: RateConstants,
    timer: Timer,
    /// Offered rate, `R`; none before the first slot ended.
    rate: Option<f64>,
    /// Running mean of round-trip times in seconds, `d0`.
    mean_rtt: f64,
    /// Mean round-trip time of the last slot in which a packet carried one.
    latest_rtt: Option<f64>,
    /// Bytes that arrived in this slot.
    bytes: f64,
    /// Bytes of this slot's packets with a round-trip time.
    timed_bytes: f64,
    /// Sum of bytes times round-trip time over these packets.
    weighted_rtt: f64,
}

impl<L: Load> RcpRouter<L> {
    /// Creates the policy of `node` for a link with this load.
    pub(crate) fn new(node: NodeId, load: L, constants: RateConstants) -> RcpRouter<L> {
        RcpRouter {
            load,
            timer: Timer::first(node, constants.slot.min(constants.initial_rtt)),
            rate: None,
            mean_rtt: constants.initial_rtt,
            latest_rtt: None,
            bytes: 0.0,
            timed_bytes: 0.0,
            weighted_rtt: 0.0,
            constants,
        }
    }

    /// Ends the slots up to `now`, with `waiting` bytes in the queue since the last call. Slots without
    /// traffic move the rate to a fixed point and are then skipped.
    fn advance(&mut self, now: Time, waiting: u64, view: &LinkView) {
        while self.timer.next <= now {
            let before = (self.rate, self.mean_rtt, self.bytes);
            self.end_slot(waiting as f64, view);
            if before == (self.rate, self.mean_rtt, 0.0) {
                self.timer.skip(now);
            }
        }
    }

    fn end_slot(&mut self, waiting: f64, view: &LinkView) {
        let constants = &self.constants;
        let elapsed = self.timer.length();
        let capacity = self.load.capacity(view);
        let target = constants.utilization * capacity;
        let rate = self.rate.unwrap_or(constants.initial_rate * capacity);
        if self.timed_bytes > 0.0 {
            self.latest_rtt = Some(self.weighted_rtt / self.timed_bytes);
        }
        if let Some(latest) = self.latest_rtt {
            let share = elapsed / self.mean_rtt;
            // A shorter round trip changes the mean the more slowly, the lower the rate of each flow is.
            let gain = if latest >= self.mean_rtt {
                share
            } else {
                rate / capacity * latest / self.mean_rtt * share
            };
            self.mean_rtt = (self.mean_rtt + gain.min(1.0) * (latest - self.mean_rtt)).max(MIN_RTT);
        }
        let arrived = self.bytes / elapsed;
        let (of_spare, of_queue) = self.load.weights(arrived, elapsed, self.mean_rtt, view);
        let alpha = of_spare * constants.alpha;
        let beta = of_queue * constants.beta;
        let spare = alpha * (target - self.load.input(arrived, view)) - beta * waiting / self.mean_rtt;
        let moved = rate * (1.0 + elapsed / self.mean_rtt * spare / target);
        self.rate = Some(moved.max(constants.min_rate_per_rtt / self.mean_rtt).min(target));
        (self.bytes, self.timed_bytes, self.weighted_rtt) = (0.0, 0.0, 0.0);
        self.timer.restart(constants.slot.min(self.mean_rtt));
    }

    fn add_arrival(&mut self, now: Time, size: u32, view: &LinkView) {
        self.advance(now, view.queue_bytes, view);
        self.bytes += f64::from(size);
    }

    fn offered_rate(&self, view: &LinkView) -> f64 {
        self.rate.unwrap_or_else(|| self.constants.initial_rate * self.load.capacity(view))
    }
}

impl<L: Load> RouterPolicy for RcpRouter<L> {
    fn senses_medium(&self) -> bool {
        false
    }

    fn estimators(&self, phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        self.load.estimators(phy)
    }

    fn on_arrival(&mut self, hop: Hop, packet: &mut Packet, view: &LinkView) -> Verdict {
        self.add_arrival(hop.now, packet.size, view);
        if let Some(header) = packet.segment.feedback.parse::<RcpHeader>()
            && header.rtt > 0
        {
            let size = f64::from(packet.size);
            self.timed_bytes += size;
            self.weighted_rtt += size * seconds(header.rtt);
        }
        Verdict::Pass
    }

    fn on_head_of_line(&mut self, hop: Hop, packet: &mut Packet, view: &LinkView) -> Verdict {
        self.advance(hop.now, view.queue_bytes + u64::from(packet.size), view);
        packet.segment.feedback.change(|header: &mut RcpHeader| {
            if header.rate > 0 {
                let requested =
                    if header.rate == RcpHeader::UNLIMITED { f64::INFINITY } else { f64::from(header.rate) };
                // A rate of zero would mean that no rate was requested.
                header.rate = (self.load.grant(requested, self.offered_rate(view), view) as u32).max(1);
            }
        });
        Verdict::Pass
    }

    fn on_other(&mut self, now: Time, event: QueueEvent, size: u32, view: &LinkView) {
        match event {
            QueueEvent::Enqueue => self.add_arrival(now, size, view),
            QueueEvent::Dequeue => self.advance(now, view.queue_bytes + u64::from(size), view),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacity::Capacity;
    use crate::rcp::GivenLoad;
    use crate::testing::{self, hop};
    use multihop_core::{Ecn, HeaderBytes, Span};

    const CONSTANTS: RateConstants = RateConstants {
        alpha: 0.4,
        beta: 0.4,
        utilization: 1.0,
        slot: 0.01,
        initial_rtt: 0.1,
        initial_rate: 0.05,
        min_rate_per_rtt: 10.0,
    };

    fn router(constants: RateConstants) -> RcpRouter<GivenLoad> {
        let mut router = RcpRouter::new(NodeId(0), GivenLoad { capacity: Capacity::known(1e6) }, constants);
        // The first slot is as long as the others, and the rate is set.
        router.timer.next = Time::ZERO + Span::from_seconds(constants.slot.min(constants.initial_rtt));
        router.rate = Some(50_000.0);
        router
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn packet(rate: u32, rtt_ms: u32) -> Packet {
        let mut packet = testing::packet(960, Ecn::NotCapable);
        packet.segment.feedback = HeaderBytes::of(&RcpHeader { rate, rtt: 1_000 * rtt_ms, reverse: 0 });
        packet
    }

    fn view(queue_bytes: u64) -> LinkView {
        LinkView { queue_bytes, ..LinkView::default() }
    }

    /// 900 of 1000 kB/s arrive in a slot of 10 ms, with 5000 bytes in the queue and a round trip of 100 ms.
    /// The rate rises by 0.1 (0.4 0.1 - 0.4 0.05) = 0.2 %.
    #[test]
    fn the_rate_follows_spare_capacity_and_queue() {
        let mut router = router(CONSTANTS);
        router.on_other(ms(0), QueueEvent::Enqueue, 9_000, &view(0));
        router.advance(ms(10), 5_000, &view(0));
        assert!((router.rate.unwrap() - 50_100.0).abs() < 1e-6, "{:?}", router.rate);
        assert_eq!(router.timer.next, ms(20));
    }

    #[test]
    fn a_full_link_keeps_the_rate_and_an_empty_one_raises_it_by_alpha() {
        let mut full = router(CONSTANTS);
        full.on_other(ms(0), QueueEvent::Enqueue, 10_000, &view(0));
        full.advance(ms(10), 0, &view(0));
        assert!((full.rate.unwrap() - 50_000.0).abs() < 1e-6);
        let mut empty = router(RateConstants { slot: 0.1, ..CONSTANTS });
        empty.advance(ms(100), 0, &view(0));
        assert!((empty.rate.unwrap() - 70_000.0).abs() < 1e-6, "T = d0: {:?}", empty.rate);
    }

    #[test]
    fn packets_leave_with_the_smaller_rate() {
        let mut router = router(CONSTANTS);
        let mut leave = |rate: u32| {
            let mut packet = packet(rate, 0);
            router.on_head_of_line(hop(ms(1)), &mut packet, &view(0));
            let Some(header) = packet.segment.feedback.parse::<RcpHeader>() else { panic!() };
            header.rate
        };
        assert_eq!([leave(RcpHeader::UNLIMITED), leave(2_000_000), leave(49_999)], [50_000, 50_000, 49_999]);
        assert_eq!(leave(0), 0, "an acknowledgement requests no rate");
    }

    #[test]
    fn the_rate_stays_between_the_least_and_the_target() {
        let mut router = router(RateConstants { utilization: 0.9, ..CONSTANTS });
        router.advance(ms(60_000), 0, &view(0));
        assert_eq!(router.rate, Some(0.9e6));
        router.on_other(ms(60_000), QueueEvent::Enqueue, 1_000_000, &view(0));
        router.advance(ms(120_000), 200_000, &view(0));
        assert_eq!(router.rate, Some(100.0), "10 bytes in 100 ms");
    }

    /// Longer round trips are weighted by T / d0 = 0.1, shorter ones by 0.1 (R / C) (r / d0).
    #[test]
    fn the_mean_round_trip_follows_packet_headers() {
        let mut router = router(CONSTANTS);
        router.on_arrival(hop(ms(0)), &mut packet(RcpHeader::UNLIMITED, 200), &view(0));
        router.advance(ms(10), 0, &view(0));
        assert!((router.mean_rtt - 0.11).abs() < 1e-12);
        router.rate = Some(500_000.0);
        router.on_arrival(hop(ms(10)), &mut packet(RcpHeader::UNLIMITED, 55), &view(0));
        router.advance(ms(20), 0, &view(0));
        let gain = 0.5 * (0.055 / 0.11) * (0.01 / 0.11);
        assert!((router.mean_rtt - (0.11 - gain * 0.055)).abs() < 1e-9, "{}", router.mean_rtt);
    }

    /// A departing packet was in the queue until then, whether it belongs to this scheme or not. The 5000
    /// bytes are those of [`the_rate_follows_spare_capacity_and_queue`].
    #[test]
    fn a_departing_packet_was_in_the_queue_until_then() {
        for others in [true, false] {
            let mut router = router(CONSTANTS);
            router.on_other(ms(0), QueueEvent::Enqueue, 9_000, &view(0));
            if others {
                router.on_other(ms(10), QueueEvent::Dequeue, 1_000, &view(4_000));
            } else {
                router.on_head_of_line(hop(ms(10)), &mut packet(0, 0), &view(4_000));
            }
            assert!((router.rate.unwrap() - 50_100.0).abs() < 1e-6, "{:?}", router.rate);
        }
    }

    /// A flow without a round-trip sample does not change the mean.
    #[test]
    fn an_unknown_round_trip_does_not_count() {
        let mut router = router(CONSTANTS);
        router.on_arrival(hop(ms(0)), &mut packet(RcpHeader::UNLIMITED, 0), &view(0));
        router.advance(ms(10), 0, &view(0));
        assert_eq!((router.mean_rtt, router.latest_rtt), (0.1, None));
        // 3000 bytes with 100 ms and 1000 bytes with 300 ms: 150 ms on average.
        for (size, rtt_ms) in [(3_000, 100), (1_000, 300)] {
            let mut packet = Packet { size, ..packet(RcpHeader::UNLIMITED, rtt_ms) };
            router.on_arrival(hop(ms(10)), &mut packet, &view(0));
        }
        router.advance(ms(20), 0, &view(0));
        assert!((router.latest_rtt.unwrap() - 0.15).abs() < 1e-12);
    }

    /// A router updated late has the same state as one updated every millisecond.
    #[test]
    fn idle_times_are_skipped_exactly() {
        for waiting in [0, 1_500, 75_000] {
            for idle_ms in [1, 9, 10, 500, 20_000] {
                let (mut often, mut late) = (router(CONSTANTS), router(CONSTANTS));
                for number in 0..40 {
                    for router in [&mut often, &mut late] {
                        router.on_arrival(hop(ms(number)), &mut packet(RcpHeader::UNLIMITED, 80), &view(0));
                    }
                }
                (40..=40 + idle_ms).for_each(|at| often.advance(ms(at), waiting, &view(0)));
                late.advance(ms(40 + idle_ms), waiting, &view(0));
                let state = |router: &RcpRouter<GivenLoad>| (router.rate, router.mean_rtt, router.timer.next);
                assert_eq!(state(&often), state(&late), "{waiting} bytes, {idle_ms} ms");
            }
        }
    }
}
