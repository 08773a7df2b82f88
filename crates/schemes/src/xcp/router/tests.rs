use super::testing::{EGRESS, delta, packet, pass};
use super::*;
use crate::capacity::Capacity;
use crate::testing::hop;
use crate::xcp::GivenCapacity;
use crate::{Scheme, Xcp};
use multihop_core::FlowId;

fn law() -> GivenCapacity {
    GivenCapacity { capacity: Capacity::known(1e6), alpha: 0.4, beta: 0.226 }
}

fn router() -> XcpRouter<GivenCapacity> {
    XcpRouter::new(NodeId(0), law(), XcpConstants { gamma: 0.1, max_rtt: 1.0 })
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

const EMPTY: LinkView = LinkView {
    transmission_efficiency: None,
    busy_ratio: None,
    capacity_bps: None,
    available_bps: None,
    packet_throughput_bps: None,
    rate_bps: None,
    service_delay_s: None,
    queue_bytes: 0,
};

/// 0.4 of 100 kB/s minus 0.226 of 50 kB/s; and shuffling of a tenth of 900 kB/s, less that change.
#[test]
fn the_aggregate_of_900_of_1000_kb_per_second_with_a_queue() {
    let measured =
        QueueMeasurement { input: 0.9e6, elapsed: 0.1, mean_rtt: 0.1, persistent: 5_000.0, waiting: 5_000.0 };
    let aggregate = law().aggregate(&measured, &EMPTY);
    assert!((aggregate.change - 28_700.0).abs() < 1e-6);
    let sums = IntervalSums { bytes: 90_000.0, weight: 1.0, weighted_rtt: 0.1 };
    let grants = Grants::new(aggregate, 0.1, &sums);
    assert!((grants.positive - 90_000.0).abs() < 1e-6 && (grants.negative - 61_300.0).abs() < 1e-6);
}

/// The first expiry of node n is at 0.5 plus the fraction of n golden sections: 0.5, 1.118 and 0.736 of the
/// length.
#[test]
fn routers_do_not_act_in_step() {
    for (node, phase) in [(0, 0.5), (1, 1.118_034), (2, 0.736_068)] {
        let timer = Timer::first(NodeId(node), 0.1);
        assert!((timer.length() - 0.1 * phase).abs() < 1e-7, "{node}: {}", timer.length());
    }
}

/// The sum of grants never exceeds the total, however many packets share it.
#[test]
fn positive_feedback_never_exceeds_the_remainder() {
    for (count, size, weight) in [(10_000, 40.0, 1e-4), (7, 1_500.0, 5.0), (1, 1_500.0, 100.0)] {
        let sums = IntervalSums { bytes: 90_000.0, weight: 1.0, weighted_rtt: 0.1 };
        let aggregate = AggregateChange { change: 28_700.0, shuffled_traffic: 0.0 };
        let mut grants = Grants::new(aggregate, 0.1, &sums);
        let given: f64 =
            (0..count).map(|_| f64::from(grants.grant(i32::MAX, weight, size, f64::INFINITY))).sum();
        assert!(given > 0.0 && given <= 28_700.0, "{count} packets: {given}");
    }
}

#[test]
fn a_smaller_grant_of_a_previous_router_remains() {
    let sums = IntervalSums { bytes: 1_000.0, weight: 1.0, weighted_rtt: 0.1 };
    let aggregate = AggregateChange { change: 50_000.0, shuffled_traffic: 1e6 };
    let fresh = Grants::new(aggregate, 0.1, &sums);
    assert_eq!((fresh.positive, fresh.negative), (100_000.0, 50_000.0));
    for (requested, granted) in [(1_234, 1_234), (-70_000, -70_000), (i32::MIN, i32::MIN), (i32::MAX, 5_000)]
    {
        let mut grants = fresh;
        // A tenth of the interval's traffic: 10 000 of the positive and 5000 of the negative feedback.
        assert_eq!(grants.grant(requested, 0.1, 100.0, f64::INFINITY), granted, "{requested}");
        assert!(grants.positive >= 0.0 && grants.negative >= 0.0);
    }
    // The 3766 that a flow does not use are not taken from other flows: they count as negative feedback.
    let mut grants = fresh;
    grants.grant(1_234, 0.1, 100.0, f64::INFINITY);
    assert_eq!((grants.positive, grants.negative), (90_000.0, 50_000.0 - 8_766.0));
    assert_eq!(fresh.clone().grant(i32::MAX, 0.1, 100.0, 3_000.0), 3_000);
}

/// From 25 ms (half of 50 ms, the phase of the first node) each interval is as long as the mean round trip of
/// the packets.
#[test]
fn control_intervals_follow_the_round_trip() {
    let mut router = router();
    // 20 packets of 1000 bytes within 25 ms is 800 kB/s; 0.4 of the spare capacity is 80 kB/s.
    for number in 0..20 {
        assert_eq!(
            pass(&mut router, ms(number), packet(100, 5, i32::MAX), &EMPTY),
            0,
            "no interval has ended yet"
        );
    }
    assert_eq!(router.control.next, ms(25));
    let granted = pass(&mut router, ms(25), packet(100, 5, i32::MAX), &EMPTY);
    assert_eq!((router.control.from, router.control.next), (ms(25), ms(125)));
    assert!(router.measured.input == 800e3 && (router.measured.mean_rtt - 0.1).abs() < 1e-12);
    // A twentieth of 80 kB/s.
    assert!((3_999..=4_000).contains(&granted), "{granted}");
    // One more packet until 125 ms: 20 kB/s, with the packet at 25 ms.
    pass(&mut router, ms(100), packet(40, 5, 0), &EMPTY);
    pass(&mut router, ms(125), packet(40, 5, 0), &EMPTY);
    assert_eq!(router.measured.input, 20e3);
    assert!((router.measured.mean_rtt - 0.07).abs() < 1e-9);
    assert_eq!(router.control.next, ms(195));
}

#[test]
fn round_trips_count_up_to_the_limit() {
    let mut router = router();
    pass(&mut router, ms(0), packet(4_000, 5, 0), &EMPTY);
    router.advance(ms(25), 0, &EMPTY);
    assert_eq!(router.measured.mean_rtt, 1.0);
}

/// The persistent queue is the minimum behind a departing packet within a measurement. The queue at the end
/// of a measurement starts the next one.
#[test]
fn the_persistent_queue_is_the_minimum_of_the_queue() {
    let mut router = router();
    let waiting = |queue_bytes| LinkView { queue_bytes, ..EMPTY };
    router.advance(ms(25), 6_000, &EMPTY);
    assert_eq!((router.measured.persistent, router.least), (0.0, 6_000.0));
    // The next measurement ends (50 - 6) / 2 = 22 ms later.
    for (at, left) in [(30, 5_000), (35, 3_000), (40, 7_000)] {
        router.on_head_of_line(hop(ms(at)), &mut packet(50, 5, 0), &waiting(left));
    }
    router.on_arrival(hop(ms(47)), &mut packet(50, 5, 0), &waiting(7_000));
    assert_eq!((router.measured.persistent, router.least), (3_000.0, 7_000.0));
    // 50 ms in the queue take all of the round trip, which leaves the minimum of 2 ms.
    router.on_arrival(hop(ms(69)), &mut packet(50, 5, 0), &waiting(50_000));
    assert_eq!(router.watch.next - router.watch.from, MIN_WATCH_SPAN);
}

const MIN_WATCH_SPAN: Span = Span::from_ms(2);

/// Timers updated late have the same state as timers updated every millisecond.
#[test]
fn idle_times_are_skipped_exactly() {
    for waiting in [0, 1_500, 30_000] {
        for idle_ms in [1, 10, 49, 50, 51, 100, 333, 5_000, 3_600_000] {
            let (mut often, mut late) = (router(), router());
            for number in 0..40 {
                for router in [&mut often, &mut late] {
                    pass(router, ms(number), packet(80, 5, i32::MAX), &EMPTY);
                }
            }
            let end = 40 + idle_ms;
            for at in (40..=end).filter(|at| end < 10_000 || at % 997 == 0 || *at == end) {
                often.advance(ms(at), waiting, &EMPTY);
            }
            late.advance(ms(end), waiting, &EMPTY);
            let state = |router: &XcpRouter<GivenCapacity>| {
                let Timer { from, next } = router.control;
                let watch = (router.watch.from, router.watch.next);
                (router.measured, from, next, watch, router.least, router.grants)
            };
            assert_eq!(state(&often), state(&late), "{waiting} bytes, {idle_ms} ms");
            assert!(late.control.next > ms(end) && late.watch.next > ms(end));
        }
    }
}

/// Packets of other schemes use capacity and are not changed.
#[test]
fn other_traffic_counts_as_input() {
    let mut router = router();
    pass(&mut router, ms(0), packet(100, 5, 0), &EMPTY);
    for _ in 0..19 {
        router.on_other(ms(1), QueueEvent::Enqueue, 1_000, &EMPTY);
        router.on_other(ms(2), QueueEvent::Dequeue, 1_000, &EMPTY);
    }
    router.advance(ms(25), 0, &EMPTY);
    assert_eq!(router.measured.input, 800e3);
}

#[test]
fn a_flow_without_a_round_trip_sample_has_no_feedback() {
    let mut router = Xcp::default().router(NodeId(0), &EGRESS).unwrap();
    for at in 0..200 {
        assert_eq!(pass(router.as_mut(), ms(at), packet(0, 0, 500), &EMPTY), 0);
    }
    let mut acknowledgement = packet(0, 0, 0);
    acknowledgement.segment.feedback.change(|header: &mut XcpHeader| header.reverse = 77);
    acknowledgement.flow = FlowId(3);
    let before = acknowledgement;
    router.on_arrival(hop(ms(200)), &mut acknowledgement, &EMPTY);
    router.on_head_of_line(hop(ms(200)), &mut acknowledgement, &EMPTY);
    assert_eq!((acknowledgement, delta(&before)), (before, 0));
}

/// Two flows send 90 and 10 packets of 1000 bytes in an interval without a change of the aggregate. The
/// smaller flow gains what the larger flow loses.
#[test]
fn shuffling_makes_flows_equal() {
    let sums = IntervalSums { bytes: 100_000.0, weight: 90.0 / 900.0 + 10.0 / 100.0, weighted_rtt: 0.02 };
    let aggregate = AggregateChange { change: 0.0, shuffled_traffic: 1e6 };
    let mut grants = Grants::new(aggregate, 0.1, &sums);
    let mut net = |packets: u32| -> f64 {
        let weight = 0.1 / f64::from(packets);
        (0..packets).map(|_| f64::from(grants.grant(i32::MAX, weight, 1_000.0, f64::INFINITY))).sum()
    };
    let (small, large) = (net(10), net(90));
    assert!((small - 40_000.0).abs() < 200.0 && (large + 40_000.0).abs() < 200.0, "{small} {large}");
}
