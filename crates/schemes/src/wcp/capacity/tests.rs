use super::*;
use crate::testing;
use multihop_core::Ecn;

/// Epochs of a second and no reserve, so that rates are easy to compute.
fn router(id: u32, reserve: f64) -> CapacityRouter {
    let signalling = Signalling {
        interval: Some(Span::from_ms(100)),
        jitter: 0.1,
        lifetime: Span::from_ms(300),
        header: 20,
    };
    let constants = CapacityConstants { epoch: Span::from_ms(1_000), reserve, signalling };
    CapacityRouter::new(NodeId(id), constants, 1)
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// A packet of 1000 bytes of this flow, whose sender has this rate. Returns the rate assigned to it.
fn pass(router: &mut CapacityRouter, now: Time, flow: u32, rate: u32, peer: u32) -> u32 {
    let mut packet = testing::packet(1_000, Ecn::NotCapable);
    packet.flow = FlowId(flow);
    let header = WcpCapHeader { rate, assigned: WcpCapHeader::UNASSIGNED };
    packet.segment.feedback = HeaderBytes::of(&header);
    router.on_head_of_line(Hop { now, peer: NodeId(peer) }, &mut packet, &LinkView::default());
    packet.segment.feedback.parse::<WcpCapHeader>().unwrap().assigned
}

/// An exchange with node 1 that takes `us` microseconds, with 1000 bytes of payload or none.
fn exchange(router: &mut CapacityRouter, now: Time, flow: u32, payload: u32, us: u64) {
    let LinkEvent::Exchange(sent) = testing::sent(FlowId(flow), 1_000) else { panic!() };
    let airtime = Span::from_us(us);
    router.on_link(&LinkEvent::Exchange(Exchange { payload, done: now, airtime, ..sent }));
}

/// Two flows at 2 us per byte, and acknowledgements for 100 ms in each second: (1 - 0.1) / 4 us = 225 kB/s
/// for each flow, and half of that with a reserve of 0.5 from the whole airtime.
#[test]
fn the_airtime_is_divided_equally() {
    for (reserve, rate) in [(0.0, 225_000), (0.5, 100_000)] {
        let mut router = router(0, reserve);
        for flow in [7, 8] {
            assert_eq!(pass(&mut router, ms(0), flow, 5_000, 1), WcpCapHeader::UNASSIGNED, "first epoch");
            exchange(&mut router, ms(10), flow, 1_000, 2_000);
        }
        exchange(&mut router, ms(20), 9, 0, 100_000);
        assert_eq!(pass(&mut router, ms(1_000), 7, 5_000, 1), rate);
    }
}

/// With both flows at the rate of 100 kB/s, 2 us per byte: the residual is 1 - 0.4, and each flow rises by
/// 0.6 / 4 us.
#[test]
fn a_rate_rises_by_the_residual_airtime_over_the_airtimes_per_byte() {
    let mut router = router(0, 0.0);
    router.assigned = Some(100_000.0);
    for flow in [7, 8] {
        pass(&mut router, ms(0), flow, 100_000, 1);
        (0..100).for_each(|_| exchange(&mut router, ms(500), flow, 1_000, 2_000));
    }
    assert_eq!(pass(&mut router, ms(1_000), 7, 100_000, 1), 100_000 + 150_000);
}

/// Max-min: a flow that sends 20 kB/s, because another node limits it, keeps its 40 ms of airtime; the other
/// flow has the remaining 0.96 / 2 us.
#[test]
fn the_share_of_a_flow_that_is_limited_elsewhere_goes_to_others() {
    let mut router = router(0, 0.0);
    router.assigned = Some(100_000.0);
    for (flow, rate, packets) in [(7, 20_000, 20), (8, 100_000, 100)] {
        pass(&mut router, ms(0), flow, rate, 1);
        (0..packets).for_each(|_| exchange(&mut router, ms(500), flow, 1_000, 2_000));
    }
    assert_eq!(pass(&mut router, ms(1_000), 8, 100_000, 1), 480_000);
}

/// Node 5 forwards nothing itself but receives, and hears that its neighbour's link uses the medium.
#[test]
fn links_of_neighbours_count() {
    let mut sender = router(0, 0.0);
    pass(&mut sender, ms(0), 7, 5_000, 1);
    exchange(&mut sender, ms(10), 7, 1_000, 4_000);
    let mut neighbour = router(5, 0.0);
    pass(&mut neighbour, ms(0), 8, 5_000, 1);
    exchange(&mut neighbour, ms(10), 8, 1_000, 4_000);
    let notice = sender.poll_notice(ms(1_000)).unwrap();
    neighbour.on_notice(ms(1_001), NodeId(0), &notice.content);
    // The epoch that ended with the notice did not know the link yet.
    assert_eq!(pass(&mut neighbour, ms(1_002), 8, 5_000, 1), 250_000);
    let notice = sender.poll_notice(ms(1_900)).unwrap();
    neighbour.on_notice(ms(1_950), NodeId(0), &notice.content);
    pass(&mut neighbour, ms(1_960), 8, 250_000, 1);
    let assigned = pass(&mut neighbour, ms(2_001), 8, 250_000, 1);
    assert_eq!(assigned, 125_000, "two links, each at 4 us per byte");
}

/// Node 0 hears node 1, which hears much more traffic and assigns 50 kB/s. The flow of node 0 uses a link in
/// that neighbourhood, so that it gets no more. The airtime that it leaves goes to flows beyond node 1's
/// reach.
#[test]
fn a_neighbour_limits_the_rate_and_leaves_airtime_to_others() {
    let link = |from: u32, to: u32| DirectedLink { from: NodeId(from), to: NodeId(to) };
    let mut router = router(0, 0.0);
    pass(&mut router, ms(0), 7, 200_000, 1);
    (0..200).for_each(|_| exchange(&mut router, ms(10), 7, 1_000, 2_000));
    let crowded =
        LinkUse { cost: 2e-6, rate: Some(50_000.0), assigned: Some(50_000.0), ..LinkUse::default() };
    let free = LinkUse { cost: 2e-6, rate: Some(400_000.0), assigned: None, ..LinkUse::default() };
    // At first the three links share the airtime at 2 us per byte; then the two limited flows keep 50 kB/s.
    for (second, own) in [(1, 166_667), (2, 400_000)] {
        let now = ms(second * 1_000 - 10);
        router.table.learn(now, link(1, 9), HOPS, crowded, second as u8);
        router.table.learn(now, link(5, 6), HOPS, free, second as u8);
        assert_eq!(pass(&mut router, ms(second * 1_000), 7, 50_000, 1), 50_000, "epoch {second}");
        assert_eq!(router.assigned.map(f64::round), Some(f64::from(own)), "epoch {second}");
    }
}

/// Flows limited elsewhere whose airtimes exceed the whole: the assigned rate falls until they follow it.
#[test]
fn too_much_airtime_of_limited_flows_lowers_the_rate() {
    let mut router = router(0, 0.9);
    router.assigned = Some(100_000.0);
    pass(&mut router, ms(0), 7, 80_000, 1);
    (0..80).for_each(|_| exchange(&mut router, ms(500), 7, 1_000, 2_000));
    assert_eq!(pass(&mut router, ms(1_000), 7, 80_000, 1), 50_000);
    (0..80).for_each(|_| exchange(&mut router, ms(1_500), 7, 1_000, 2_000));
    assert_eq!(pass(&mut router, ms(2_000), 7, 80_000, 1), 50_000, "0.1 of the airtime at 2 us per byte");
}

#[test]
fn a_restart_forgets_the_rate_and_garbage_does_no_harm() {
    let mut router = router(0, 0.0);
    pass(&mut router, ms(0), 7, 5_000, 1);
    exchange(&mut router, ms(10), 7, 1_000, 2_000);
    assert!(pass(&mut router, ms(1_000), 7, 5_000, 1) < WcpCapHeader::UNASSIGNED);
    router.on_restart(ms(1_100));
    assert_eq!(pass(&mut router, ms(1_200), 7, 5_000, 1), WcpCapHeader::UNASSIGNED);
    let bytes: Vec<u8> = (0..=255u8).map(|byte| byte.wrapping_mul(197)).collect();
    (0..bytes.len()).for_each(|length| router.on_notice(ms(1_300), NodeId(9), &bytes[..length]));
    assert!(router.poll_notice(ms(1_400)).is_none_or(|notice| notice.size >= 20));
}
