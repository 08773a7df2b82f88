//! Scripted timelines of one node, and convergence of a few, without the engine.

use super::*;
use crate::routing::testing::{at, cut, handles};
use crate::slab::{Datagram, Handle, IpFields};
use multihop_core::Carrier;
use proptest::prelude::{ProptestConfig, any, prop, prop_assert_eq, proptest};

const ME: NodeId = NodeId(0);
const B: NodeId = NodeId(1);
const C: NodeId = NodeId(2);
const FAR: NodeId = NodeId(9);

/// ns-2's parameters without jitter, and with a period so long that only the script causes updates.
fn quiet() -> DsdvConfig {
    DsdvConfig {
        start_jitter: Span::ZERO,
        broadcast_jitter: Span::ZERO,
        update_period: Span::from_ms(1_000_000),
        ..DsdvConfig::default()
    }
}

fn node(parameters: DsdvConfig) -> Dsdv {
    Dsdv::new(ME, parameters, Rng::at(1, &["dsdv"]))
}

/// A node whose first full update has been sent at time 0.
fn started(parameters: DsdvConfig) -> Dsdv {
    let mut dsdv = node(parameters);
    assert_eq!(run(&mut dsdv, at(0.0)).len(), 1);
    dsdv
}

/// Entries of an update.
#[derive(Clone, Debug, PartialEq)]
struct Update(Vec<Advert>);

fn advert(destination: NodeId, metric: u32, sequence: u32) -> Advert {
    Advert { destination, metric, sequence }
}

fn hear(dsdv: &mut Dsdv, seconds: f64, from: NodeId, adverts: &[Advert]) {
    dsdv.on_message(at(seconds), from, &wire::emit(from, adverts));
}

/// Lets the timer run until this instant, and collects the updates that are sent, with their sizes.
fn run(dsdv: &mut Dsdv, until: Time) -> Vec<(Time, Update, u32)> {
    let mut sent = Vec::new();
    while let Some(now) = dsdv.next_timer().filter(|next| *next <= until) {
        dsdv.on_timer(now);
        while let Some(action) = dsdv.poll(now) {
            let Action::Broadcast(update, size) = action else { panic!("{action:?}") };
            sent.push((now, Update(wire::parse(&update).unwrap().collect()), size));
        }
    }
    sent
}

fn given_up(handle: Handle) -> GivenUp {
    GivenUp::Packet(RoutedPacket { handle, source: ME, destination: FAR, hops: 0, route: None })
}

/// PROTOCOLS: without `use_mac` nothing happens before the last update is 45 s old.
#[test]
fn a_break_is_found_by_silence_of_45_seconds() {
    let parameters = DsdvConfig { use_mac: false, ..DsdvConfig::default() };
    let mut dsdv = node(DsdvConfig { start_jitter: Span::ZERO, broadcast_jitter: Span::ZERO, ..parameters });
    hear(&mut dsdv, 10.0, B, &[advert(B, 0, 4), advert(FAR, 2, 8)]);
    let packet = handles(1)[0];
    for failure in 0..40 {
        dsdv.on_link_failure(at(11.0 + f64::from(failure) / 10.0), B, false, given_up(packet));
        assert_eq!(dsdv.poll(at(15.0)), Some(Action::Drop(packet, DropCause::RetryLimit)));
    }
    run(&mut dsdv, at(55.0) - Span::from_ns(1));
    assert_eq!((dsdv.next_hop(B), dsdv.next_hop(FAR)), (Some(B), Some(B)));
    assert_eq!(dsdv.table[FAR].metric, 3);

    let sent = run(&mut dsdv, at(56.0));
    assert_eq!((dsdv.next_hop(B), dsdv.next_hop(FAR)), (None, None));
    let (time, update, _) = &sent[0];
    assert!(*time >= at(55.0) && *time <= at(56.0), "at once, or a second after the update before: {time:?}");
    let broken = |destination, sequence| advert(destination, UNREACHABLE, sequence);
    assert!(update.0.contains(&broken(B, 5)) && update.0.contains(&broken(FAR, 9)), "{update:?}");
}

#[test]
fn a_silence_longer_than_the_clock_is_never_over() {
    let year = Span::from_ms(365 * 24 * 3_600_000);
    let parameters = DsdvConfig { update_period: year * 100, missed_updates: 1_000_000, ..quiet() };
    let mut dsdv = started(parameters);
    hear(&mut dsdv, 10.0, B, &[advert(B, 0, 4)]);
    run(&mut dsdv, Time::ZERO + year * 50);
    assert_eq!(dsdv.next_hop(B), Some(B));
}

/// PROTOCOLS: a settling time of 6 s and a best route that came after 2 s make 5.5 s.
#[test]
fn the_settling_time_is_a_weighted_mean() {
    let mut dsdv = started(quiet());
    hear(&mut dsdv, 10.0, B, &[advert(FAR, 4, 2)]);
    hear(&mut dsdv, 12.0, C, &[advert(FAR, 2, 2)]);
    assert_eq!(dsdv.table[FAR].settling, Span::from_ms(6_000));
    assert_eq!(dsdv.next_hop(FAR), Some(C));
    hear(&mut dsdv, 25.0, B, &[advert(FAR, 4, 4)]);
    assert_eq!(dsdv.table[FAR].settling, Span::from_ms(5_500));
    assert_eq!(dsdv.table[FAR].advertise_from, at(36.0));
    assert_eq!(dsdv.next_hop(FAR), Some(B), "a new number is believed, though it is a longer route");
}

#[test]
fn a_new_destination_is_advertised_after_twice_the_settling_time() {
    let mut dsdv = started(quiet());
    hear(&mut dsdv, 10.0, B, &[advert(B, 0, 4), advert(FAR, 2, 8)]);
    assert_eq!(dsdv.next_hop(FAR), Some(B), "it is used at once");
    assert_eq!(run(&mut dsdv, at(22.0) - Span::from_ns(1)), []);
    let sent = run(&mut dsdv, at(60.0));
    let reported = Update(vec![advert(B, 1, 4), advert(FAR, 3, 8)]);
    let size = 12 * 2 + 20;
    // The second update is about the other destination, and was postponed: changed metrics are advertised
    // until the next full update.
    assert_eq!(sent, [(at(22.0), reported.clone(), size), (at(23.0), reported, size)]);
}

#[test]
fn a_new_number_triggers_nothing_even_with_another_metric() {
    let mut dsdv = started(quiet());
    hear(&mut dsdv, 10.0, B, &[advert(B, 0, 4), advert(FAR, 2, 8)]);
    run(&mut dsdv, at(30.0));
    hear(&mut dsdv, 31.0, B, &[advert(B, 0, 6), advert(FAR, 3, 10)]);
    assert_eq!(run(&mut dsdv, at(100.0)), []);
    hear(&mut dsdv, 101.0, C, &[advert(FAR, 1, 10)]);
    let sent = run(&mut dsdv, at(130.0));
    assert_eq!(sent.len(), 1, "a shorter route is advertised: {sent:?}");
    assert!(sent[0].1.0.contains(&advert(FAR, 2, 10)), "{sent:?}");
}

#[test]
fn a_shorter_route_that_was_advertised_before_triggers_nothing() {
    let mut dsdv = started(quiet());
    hear(&mut dsdv, 10.0, B, &[advert(FAR, 2, 8)]);
    run(&mut dsdv, at(30.0)); // advertised: 3 hops
    hear(&mut dsdv, 31.0, C, &[advert(FAR, 4, 10)]);
    hear(&mut dsdv, 32.0, B, &[advert(FAR, 2, 10)]);
    assert_eq!(dsdv.next_hop(FAR), Some(B));
    assert_eq!(run(&mut dsdv, at(100.0)), []);
}

#[test]
fn triggered_updates_are_a_second_apart() {
    let mut dsdv = started(DsdvConfig { settling_time: Span::ZERO, ..quiet() });
    let mut times = vec![at(0.0)];
    for tenth in 1..100u32 {
        let now = f64::from(tenth) / 10.0;
        hear(&mut dsdv, now, B, &[advert(NodeId(100 + tenth), 1, 2)]);
        times.extend(run(&mut dsdv, at(now)).into_iter().map(|(time, ..)| time));
    }
    assert!(times.len() >= 9, "{times:?}");
    for pair in times.windows(2) {
        assert!(pair[1].since(pair[0]) >= Span::from_ms(1_000), "{times:?}");
    }
}

#[test]
fn a_triggered_update_becomes_full_when_much_has_changed() {
    let mut dsdv = started(DsdvConfig { settling_time: Span::ZERO, ..quiet() });
    let news = |from: u32, count: u32| -> Vec<Advert> {
        (from..from + count).map(|node| advert(NodeId(node), 1, 2)).collect()
    };
    hear(&mut dsdv, 2.0, B, &news(10, 3));
    let sent = run(&mut dsdv, at(3.0));
    assert_eq!(sent[0].1.0, (10..13).map(|node| advert(NodeId(node), 2, 2)).collect::<Vec<_>>());
    hear(&mut dsdv, 4.0, B, &news(20, 4));
    let sent = run(&mut dsdv, at(5.0));
    assert_eq!(
        sent[0].1.0[0],
        advert(ME, 0, 6),
        "full updates have a number of their own, and begin with it"
    );
    assert_eq!(sent[0].1.0.len(), 1 + 3 + 4, "the silent neighbour is left out");
    hear(&mut dsdv, 6.0, B, &news(30, 2));
    let sent = run(&mut dsdv, at(7.0));
    assert_eq!(sent[0].1.0.len(), 2, "what a full update advertised is not news any more: {sent:?}");
}

/// Full where more than a third of the table changed, as in ns-2: of the node itself, its neighbour, and 5 or
/// 6 others, 4 more are 4 in 11 or 12.
#[test]
fn a_third_of_the_table_is_not_yet_much() {
    for (others, full) in [(5, true), (6, false)] {
        let mut dsdv = started(DsdvConfig { settling_time: Span::ZERO, ..quiet() });
        let news = |from: u32, count: u32| -> Vec<Advert> {
            (from..from + count).map(|node| advert(NodeId(node), 1, 2)).collect()
        };
        hear(&mut dsdv, 2.0, B, &news(10, others));
        assert_eq!(run(&mut dsdv, at(3.0))[0].1.0[0].destination, ME, "all is new: a full update");
        hear(&mut dsdv, 4.0, B, &news(20, 4));
        let sent = run(&mut dsdv, at(5.0));
        assert_eq!(sent[0].1.0[0].destination == ME, full, "{others}: {sent:?}");
        assert_eq!(sent[0].1.0.len(), if full { 1 + others as usize + 4 } else { 4 });
    }
}

#[test]
fn full_updates_come_after_three_to_four_quarters_of_the_period_with_even_numbers() {
    let mut dsdv = node(DsdvConfig { start_jitter: Span::from_ms(2_000), ..DsdvConfig::default() });
    let first = dsdv.next_timer().expect("there is always a next full update");
    assert!(first <= at(2.0));
    let sent = run(&mut dsdv, at(1_000.0));
    let jitter = 0.010;
    for (index, pair) in sent.windows(2).enumerate() {
        let gap = pair[1].0.since(pair[0].0).seconds();
        assert!((11.25 - jitter..=15.0 + jitter).contains(&gap), "{gap}");
        assert_eq!(pair[1].1.0, [advert(ME, 0, 6 + 2 * index as u32)]);
    }
    let gaps = 1_000.0 / (sent.len() as f64);
    assert!((12.6..13.8).contains(&gaps), "the mean is 13.125 s: {gaps}");
}

#[test]
fn a_node_advertised_as_unreachable_advertises_at_once() {
    let mut dsdv = started(quiet());
    hear(&mut dsdv, 5.0, B, &[advert(ME, UNREACHABLE, 5)]);
    let sent = run(&mut dsdv, at(5.0));
    assert_eq!(sent, [(at(5.0), Update(vec![advert(ME, 0, 6)]), 32)]);
    hear(&mut dsdv, 6.0, B, &[advert(ME, 3, 4)]);
    assert_eq!(dsdv.table[ME].metric, 0, "no node advertises to another how to reach itself");
}

#[test]
fn a_neighbour_with_an_old_break_receives_the_newer_route() {
    let mut dsdv = started(quiet());
    hear(&mut dsdv, 10.0, B, &[advert(FAR, 2, 8)]);
    run(&mut dsdv, at(30.0));
    hear(&mut dsdv, 31.0, C, &[advert(FAR, UNREACHABLE, 7)]);
    let sent = run(&mut dsdv, at(31.0));
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].1.0, [advert(FAR, 3, 8)]);
    hear(&mut dsdv, 40.0, C, &[advert(FAR, 1, 6)]);
    assert_eq!((dsdv.next_hop(FAR), run(&mut dsdv, at(60.0)).len()), (Some(B), 0), "an old route is no news");
}

#[test]
fn a_break_that_is_heard_of_breaks_the_route() {
    let mut dsdv = started(quiet());
    hear(&mut dsdv, 10.0, B, &[advert(FAR, 2, 8)]);
    hear(&mut dsdv, 20.0, B, &[advert(FAR, UNREACHABLE, 9)]);
    assert_eq!(dsdv.next_hop(FAR), None);
    hear(&mut dsdv, 21.0, C, &[advert(FAR, 2, 8)]);
    assert_eq!(dsdv.next_hop(FAR), None, "an even number below the break is older than it");
    hear(&mut dsdv, 22.0, C, &[advert(FAR, 2, 10)]);
    assert_eq!(dsdv.next_hop(FAR), Some(C));
    assert_eq!(dsdv.table[FAR].advertise_from, at(22.0), "the end of a break does not have to settle");
}

#[test]
fn with_use_mac_the_first_failure_breaks_the_link_and_the_packet_is_routed_again() {
    let mut dsdv = started(DsdvConfig { use_mac: true, ..quiet() });
    hear(&mut dsdv, 10.0, B, &[advert(B, 0, 4), advert(FAR, 2, 8)]);
    hear(&mut dsdv, 10.0, C, &[advert(C, 0, 4)]);
    run(&mut dsdv, at(30.0));
    let packet = handles(1)[0];
    dsdv.on_link_failure(at(31.0), B, false, given_up(packet));
    assert_eq!(dsdv.poll(at(31.0)), Some(Action::Route(packet)));
    assert_eq!((dsdv.next_hop(B), dsdv.next_hop(FAR), dsdv.next_hop(C)), (None, None, Some(C)));
    let sent = run(&mut dsdv, at(31.0));
    assert_eq!(sent.len(), 1, "the break is advertised at once");
    assert!(sent[0].1.0.contains(&advert(FAR, UNREACHABLE, 9)), "{sent:?}");
}

#[test]
fn five_packets_wait_for_a_route() {
    let mut dsdv = started(quiet());
    let packets = handles(7);
    for (index, packet) in packets.iter().enumerate() {
        dsdv.on_no_route(
            at(1.0),
            RoutedPacket { handle: *packet, source: ME, destination: FAR, hops: 0, route: None },
        );
        let oldest = index.checked_sub(5).map(|oldest| Action::Drop(packets[oldest], DropCause::NoRoute));
        assert_eq!(dsdv.poll(at(1.0)), oldest);
    }
    hear(&mut dsdv, 2.0, B, &[advert(FAR, UNREACHABLE, 3)]);
    assert_eq!(dsdv.poll(at(2.0)), None, "no route, no release");
    hear(&mut dsdv, 3.0, B, &[advert(FAR, 2, 4)]);
    let released: Vec<_> = std::iter::from_fn(|| dsdv.poll(at(3.0))).collect();
    assert_eq!(released, packets[2..].iter().map(|packet| Action::Route(*packet)).collect::<Vec<_>>());
}

#[test]
fn long_updates_are_sent_in_parts_that_fit() {
    let mut dsdv = started(DsdvConfig { settling_time: Span::ZERO, ..quiet() });
    let adverts: Vec<Advert> = (100..400).map(|node| advert(NodeId(node), 1, 2)).collect();
    hear(&mut dsdv, 5.0, B, &adverts);
    let sent = run(&mut dsdv, at(5.0));
    let sizes: Vec<u32> = sent.iter().map(|(.., size)| *size).collect();
    assert_eq!(sizes, [123 * 12 + 20, 123 * 12 + 20, (301 - 246) * 12 + 20]);
    assert_eq!(sent[0].1.0[0], advert(ME, 0, 6));
}

/// Agents on a graph, whose messages arrive at once. Returns the next hops after `seconds`.
fn converge(links: &[(u32, u32)], nodes: u32, seconds: f64) -> Vec<Dsdv> {
    let parameters = DsdvConfig::default();
    let mut agents: Vec<Dsdv> = (0..nodes)
        .map(|id| Dsdv::new(NodeId(id), parameters.clone(), Rng::at(7, &["node", &id.to_string()])))
        .collect();
    loop {
        let next = (0..nodes).filter_map(|id| Some((agents[id as usize].next_timer()?, id))).min();
        let (now, id) = next.expect("there is always a next update");
        if now > at(seconds) {
            return agents;
        }
        agents[id as usize].on_timer(now);
        while let Some(Action::Broadcast(message, _)) = agents[id as usize].poll(now) {
            for &(a, b) in links.iter().filter(|(a, b)| *a == id || *b == id) {
                agents[(a + b - id) as usize].on_message(now, NodeId(id), &message);
            }
        }
    }
}

fn hops(agents: &[Dsdv], from: u32, to: u32) -> Option<u32> {
    let (mut node, mut hops) = (NodeId(from), 0);
    while node != NodeId(to) {
        node = agents[node.index()].next_hop(NodeId(to))?;
        hops += 1;
        assert!(hops <= agents.len() as u32, "a loop from {from} to {to}");
    }
    Some(hops)
}

#[test]
fn a_chain_converges_to_shortest_paths() {
    let links: Vec<(u32, u32)> = (0..7).map(|i| (i, i + 1)).collect();
    let agents = converge(&links, 8, 120.0);
    for (from, to) in (0..8).flat_map(|from| (0..8).map(move |to| (from, to))) {
        assert_eq!(hops(&agents, from, to), Some(from.abs_diff(to)), "{from} to {to}");
    }
}

/// With several ways, one that is not the shortest is used while the others have not brought the latest
/// number yet.
#[test]
fn a_grid_finds_routes_without_loops() {
    let side = 4;
    let node = |x: u32, y: u32| y * side + x;
    let across = (0..side).flat_map(|y| (1..side).map(move |x| (node(x - 1, y), node(x, y))));
    let down = (1..side).flat_map(|y| (0..side).map(move |x| (node(x, y - 1), node(x, y))));
    let links: Vec<(u32, u32)> = across.chain(down).collect();
    let agents = converge(&links, side * side, 200.0);
    let mut detours = 0;
    for (from, to) in (0..side * side).flat_map(|from| (0..side * side).map(move |to| (from, to))) {
        let expected = (from % side).abs_diff(to % side) + (from / side).abs_diff(to / side);
        let found = hops(&agents, from, to).expect("there is a route");
        assert!(found >= expected, "{from} to {to}");
        detours += usize::from(found > expected);
    }
    assert!(detours < 60, "{detours} of 240 routes are not the shortest");
}

// ---- bytes ----

/// Rows of 12 bytes: node, metric, number.
#[test]
fn an_update_by_hand() {
    let message = wire::emit(B, &[advert(B, 0, 6), advert(FAR, UNREACHABLE, 9)]);
    let expected = [10, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 6, 10, 0, 0, 10, 0, 0, 0, 250, 0, 0, 0, 9];
    assert_eq!((message.on_air(), message.carrier), (&expected[..], Carrier::Ip(114)));
    assert_eq!(message.ip, IpFields { source: B, destination: NodeId::BROADCAST, ttl: 1 });
    let whole = [0, 12, 24];
    let parsed: Vec<usize> =
        (0..=24).filter(|length| wire::parse(&cut(&message, *length)).is_some()).collect();
    assert_eq!(parsed, whole, "part of a row is no row");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_update_is_what_its_bytes_say(
        rows in prop::collection::vec((0..0x00ff_ffff_u32, any::<u32>(), any::<u32>()), 0..100),
    ) {
        let adverts: Vec<Advert> =
            rows.iter().map(|(id, metric, sequence)| advert(NodeId(*id), *metric, *sequence)).collect();
        let parsed = wire::parse(&wire::emit(B, &adverts)).map(Vec::from_iter);
        prop_assert_eq!(parsed, Some(adverts));
    }

    #[test]
    fn any_bytes_are_an_update_or_none(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let length = bytes.len();
        let message = Datagram::new(Carrier::Ip(114), IpFields { source: B, destination: C, ttl: 1 }, bytes, 0);
        let count = wire::parse(&message).map(Iterator::count);
        prop_assert_eq!(count, length.is_multiple_of(12).then_some(length / 12));
    }
}
