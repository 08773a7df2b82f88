//! Wires: what can be known without a run is what a run does, to the nanosecond and to the packet.

mod loss;

use crate::common::wires::{goodput, lay, mbps, tcp, wire, wired};
use crate::common::{Datagrams, add_flow, network, saturate};
use multihop_core::{DropCause, NodeId, Packet, Rate, Span};
use multihop_dot11::DcfRules;
use multihop_link::{Departure, EgressQueue, Hop, LinkView, RouterPolicy, Verdict};
use multihop_schemes::Scheme;
use multihop_sim::config::{AppConfig, SchemeConfig};
use multihop_sim::mobility::Outage;
use multihop_sim::outcome::{Outcome, WireOutcome};
use multihop_sim::{Ties, World, run};
use multihop_transport::Endpoint;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Store and forward: each wire costs size over rate, and its delay; ns-2's link layer delay is of the radio.
#[test]
fn a_packet_over_two_wires_takes_what_they_take() {
    for rules in [DcfRules::IEEE, DcfRules::NS2] {
        let mut config = wired(rules, 3);
        lay(&mut config, (0, 1), mbps(10), Span::from_ms(3), 50);
        lay(&mut config, (1, 2), Rate::from_kbps(1_999), Span::from_ns(7_000_001), 50);
        add_flow(&mut config, 0, 2, AppConfig::Bulk { bytes: Some(1_000) });
        let outcome = run(&config);
        let size: u64 = 1_000 + 28;
        let sending = [10_000_000, 1_999_000].map(|rate: u64| (size * 8 * 1_000_000_000 + rate / 2) / rate);
        let expected = sending[0] + 3_000_000 + sending[1] + 7_000_001;
        assert_eq!((outcome.flows[0].delay.max * 1e9).round() as u64, expected);
        assert_eq!((outcome.flows[0].packets_delivered, outcome.flows[0].hops), (1, 2));
    }
}

/// Twenty packets arrive at once: one is sent and four wait.
#[test]
fn what_finds_the_queue_full_is_lost() {
    let mut config = wired(DcfRules::IEEE, 2);
    lay(&mut config, (0, 1), mbps(1), Span::from_ms(1), 4);
    add_flow(&mut config, 0, 1, AppConfig::Bulk { bytes: Some(20 * 1_472) });
    let outcome = run(&config);
    let queue_full = DropCause::QueueFull as usize;
    assert_eq!(outcome.flows[0].packets_delivered, 5);
    assert_eq!(outcome.flows[0].dropped[queue_full], 15);
    assert_eq!(outcome.nodes[0].dropped[queue_full], 15);
    let there = wire(&outcome, 0, 1);
    assert_eq!((there.sent, there.sent_bytes, there.delivered), (5, 5 * 1_500, 5));
    assert_eq!((there.dropped, there.queue_max), (15, 4));
    // 12 ms each: four wait for 12, 24, 36 and 48 ms of 20 s, and five are sent.
    assert!((there.queue_mean - 0.120 / 20.0).abs() < 1e-12, "{there:?}");
    assert!((there.utilisation - 0.060 / 20.0).abs() < 1e-12, "{there:?}");
    assert_eq!(wire(&outcome, 1, 0), WireOutcome { from: 1, to: 0, ..WireOutcome::default() });
}

#[test]
fn both_directions_carry_all_that_the_rate_allows() {
    let mut config = wired(DcfRules::IEEE, 2);
    lay(&mut config, (0, 1), mbps(10), Span::from_ms(20), 2);
    saturate(&mut config, 0, 1);
    saturate(&mut config, 1, 0);
    saturate(&mut config, 0, 1);
    let outcome = run(&config);
    // A packet every 1.2 ms, from the start to 20 ms before the end.
    let packets = outcome.flows.iter().map(|flow| flow.packets_delivered).collect::<Vec<_>>();
    assert_eq!(packets[1], (20_000 - 20) * 10 / 12);
    assert_eq!(packets[0] + packets[2], (20_000 - 20) * 10 / 12);
    // They take turns, once the first to start has filled the queue.
    assert!(packets[0].abs_diff(packets[2]) <= 2, "{packets:?}");
    for wire in &outcome.wires {
        assert!((wire.utilisation - 1.0).abs() < 1e-12 && wire.dropped == 0, "{wire:?}");
    }
}

/// With 44 segments in 41.2 ms the wire is full; with 10 each round trip carries 10.
#[test]
fn tcp_fills_the_wire_or_its_window() {
    for (window, expected) in [(44, 10e6 * 1460.0 / 1500.0), (10, 10.0 * 1460.0 * 8.0 / 0.041_232)] {
        let mut config = wired(DcfRules::IEEE, 2);
        config.recording.warmup = Span::from_ms(2_000);
        lay(&mut config, (0, 1), mbps(10), Span::from_ms(20), 50);
        tcp(&mut config, "tcp-newreno", &json!({ "window": window, "delayed_ack": "0 s" }));
        saturate(&mut config, 0, 1);
        let outcome = run(&config);
        let found = goodput(&outcome, 0);
        assert!((found / expected - 1.0).abs() < 0.002, "window {window}: {found} against {expected}");
        assert_eq!(outcome.flows[0].retransmissions, 0);
    }
}

/// Losses of the queue alone: TCP keeps a bottleneck with a queue of the bandwidth-delay product busy.
#[test]
fn tcp_keeps_a_bottleneck_busy() {
    let mut config = wired(DcfRules::IEEE, 4);
    config.duration = Span::from_ms(60_000);
    config.recording.warmup = Span::from_ms(10_000);
    for (ends, rate, delay, queue) in [((0, 1), 100, 5, 1000), ((1, 2), 10, 10, 40), ((2, 3), 100, 5, 1000)] {
        lay(&mut config, ends, mbps(rate), Span::from_ms(delay), queue);
    }
    tcp(&mut config, "tcp-sack", &json!({ "window": 1000 }));
    saturate(&mut config, 0, 3);
    let outcome = run(&config);
    let bottleneck = wire(&outcome, 1, 2);
    assert!(bottleneck.utilisation > 0.98 && bottleneck.dropped > 0, "{bottleneck:?}");
    assert_eq!(bottleneck.queue_max, 40);
    assert_eq!(outcome.nodes[1].dropped[DropCause::QueueFull as usize], bottleneck.dropped);
    assert_eq!(wire(&outcome, 0, 1).dropped, 0);
}

/// Every packet is somewhere: this is asserted at the end of every run. What was sent and has not arrived is
/// on its way.
#[test]
fn what_left_and_has_not_arrived_is_on_its_way() {
    let mut config = wired(DcfRules::IEEE, 2);
    config.duration = Span::from_ms(10_000);
    lay(&mut config, (0, 1), mbps(12), Span::from_ms(500), 10);
    saturate(&mut config, 0, 1);
    let outcome = run(&config);
    let there = wire(&outcome, 0, 1);
    assert_eq!((there.sent, there.delivered), (10_000, 9_500));
    assert_eq!(outcome.conservation.queued, 500 + 2);
}

/// A node with a radio and a wire passes packets from the one to the other.
#[test]
fn wires_and_radio_make_one_path() {
    let mut config = network(DcfRules::IEEE, &[[0.0, 0.0], [200.0, 0.0], [0.0, 0.0], [0.0, 0.0]]);
    config.topology.nodes[2].position = None;
    config.topology.nodes[3].position = None;
    lay(&mut config, (2, 1), mbps(10), Span::from_ms(5), 50);
    lay(&mut config, (3, 2), mbps(10), Span::from_ms(5), 50);
    tcp(&mut config, "tcp-newreno", &json!({}));
    saturate(&mut config, 0, 3);
    saturate(&mut config, 3, 0);
    let outcome = run(&config);
    for flow in &outcome.flows {
        assert!(flow.delivered_bytes > 1_000_000 && flow.hops == 3, "{flow:?}");
    }
    let links: Vec<(u32, u32)> = outcome.links.iter().map(|link| (link.from, link.to)).collect();
    assert_eq!(links, [(0, 1), (1, 0)], "only these are by radio");
    assert!(outcome.wires.iter().all(|wire| wire.delivered > 500), "{:?}", outcome.wires);
    assert_eq!(outcome.nodes[3].idle, 1.0, "it has no radio");
}

/// The wire is used if radio and wire lead to the same neighbour; on longer paths hops count.
#[test]
fn the_wire_is_taken_between_neighbours_that_have_both() {
    let mut config = crate::common::chain(DcfRules::IEEE, 2);
    lay(&mut config, (1, 0), mbps(1), Span::from_ms(50), 50);
    saturate(&mut config, 0, 2);
    let outcome = run(&config);
    assert_eq!(outcome.flows[0].hops, 2);
    assert!(outcome.flows[0].packets_delivered > 1_000);
    let links: Vec<(u32, u32)> = outcome.links.iter().map(|link| (link.from, link.to)).collect();
    assert_eq!(links, [(1, 2)]);
}

/// A dumbbell of equal branches, whose packets come at the same instants: order decides which are lost.
#[test]
fn the_order_of_ties_changes_nothing() {
    for delay in [Span::ZERO, Span::from_ms(2)] {
        let mut config = wired(DcfRules::NS2, 10);
        config.duration = Span::from_ms(5_000);
        for branch in 0..4 {
            lay(&mut config, (branch, 8), mbps(10), delay, 3);
            lay(&mut config, (9, branch + 4), mbps(10), delay, 3);
        }
        lay(&mut config, (8, 9), mbps(10), delay, 5);
        tcp(&mut config, "tcp-newreno", &json!({}));
        let datagrams = Arc::new(Datagrams { payload: 1472, header: 28 });
        config.traffic.schemes.push(SchemeConfig { name: "udp".into(), scheme: datagrams });
        for branch in 0..4 {
            saturate(&mut config, branch, branch + 4);
            config.traffic.flows[branch].scheme = branch % 2;
        }
        let outcome = run(&config);
        let lost = outcome.conservation.dropped[DropCause::QueueFull as usize];
        assert!(outcome.events > 20_000 && lost > 100, "{} events, {lost} lost", outcome.events);
        assert_eq!(outcome, World::new(&config, Ties::Reversed).finish());
    }
}

/// Datagrams whose node counts what it is asked, and lets every second one pass at the head of the line.
struct Counted(Arc<[AtomicU64; 3]>);

struct Counter {
    calls: Arc<[AtomicU64; 3]>,
    seen: u64,
}

impl Scheme for Counted {
    fn sender(&self) -> Box<dyn Endpoint> {
        Datagrams { payload: 1472, header: 28 }.sender()
    }
    fn receiver(&self) -> Box<dyn Endpoint> {
        Datagrams { payload: 1472, header: 28 }.receiver()
    }
    fn segment_size(&self) -> u32 {
        1472
    }
    fn is_uncontrolled(&self) -> bool {
        true
    }
    fn router(&self, node: NodeId, _egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        let counter = Counter { calls: self.0.clone(), seen: 0 };
        (node == NodeId(1)).then(|| Box::new(counter) as Box<dyn RouterPolicy>)
    }
}

impl RouterPolicy for Counter {
    fn on_arrival(&mut self, _hop: Hop, _packet: &mut Packet, _view: &LinkView) -> Verdict {
        self.calls[0].fetch_add(1, Ordering::Relaxed);
        Verdict::Pass
    }
    fn on_head_of_line(&mut self, _hop: Hop, _packet: &mut Packet, _view: &LinkView) -> Verdict {
        self.calls[1].fetch_add(1, Ordering::Relaxed);
        self.seen += 1;
        if self.seen.is_multiple_of(2) { Verdict::Drop } else { Verdict::Pass }
    }
    fn on_data(&mut self, _departure: &Departure, _packet: &mut Packet, _view: &LinkView) -> Verdict {
        self.calls[2].fetch_add(1, Ordering::Relaxed);
        Verdict::Pass
    }
}

/// Flows that leave node 1 by different wires meet different policies: each of them drops its own second
/// packet.
#[test]
fn policies_act_at_each_port() {
    let calls: Arc<[AtomicU64; 3]> = Arc::default();
    let mut config = wired(DcfRules::IEEE, 4);
    config.traffic.schemes =
        vec![SchemeConfig { name: "counted".into(), scheme: Arc::new(Counted(calls.clone())) }];
    for peer in [0, 3, 2] {
        lay(&mut config, (1, peer), mbps(10), Span::from_ms(1), 50);
    }
    add_flow(&mut config, 0, 2, AppConfig::Bulk { bytes: Some(2 * 1_472) });
    add_flow(&mut config, 0, 3, AppConfig::Bulk { bytes: Some(2 * 1_472) });
    let outcome = run(&config);
    let found: Vec<u64> = calls.iter().map(|count| count.load(Ordering::Relaxed)).collect();
    assert_eq!(found, [4, 4, 0]);
    for (flow, to) in [(0, 2), (1, 3)] {
        assert_eq!(outcome.flows[flow].dropped[DropCause::Policy as usize], 1);
        assert_eq!((wire(&outcome, 1, to).sent, wire(&outcome, 1, to).dropped), (1, 1));
    }
}

/// Twenty packets of 12 ms at 1 Mb/s, with 10 ms on the way; one end of the wire is off from 30 ms to 100 ms.
fn interrupted(off: u32) -> Outcome {
    let mut config = wired(DcfRules::IEEE, 2);
    lay(&mut config, (0, 1), mbps(1), Span::from_ms(10), 50);
    add_flow(&mut config, 0, 1, AppConfig::Bulk { bytes: Some(20 * 1_472) });
    let (from, to) = (Span::from_ms(30), Span::from_ms(100));
    config.mobility.outages = vec![Outage { node: NodeId(off), from, to }];
    run(&config)
}

/// The third packet is cut, the second, which has left, arrives, and from 100 ms on the others follow.
#[test]
fn a_sender_that_is_off_loses_one_packet_and_keeps_the_others() {
    let outcome = interrupted(0);
    let there = wire(&outcome, 0, 1);
    assert_eq!((there.sent, there.delivered, there.dropped), (19, 19, 1));
    assert_eq!(outcome.nodes[0].dropped[DropCause::LinkBroken as usize], 1);
    assert_eq!((outcome.flows[0].delay.max * 1e9).round() as u64, (100 + 17 * 12 + 10) * 1_000_000);
    assert!((there.utilisation - 19.0 * 0.012 / 20.0).abs() < 1e-12, "{there:?}");
}

/// Packets arrive every 12 ms from 22 ms on: six of them while the node is off.
#[test]
fn a_receiver_that_is_off_loses_what_arrives() {
    let outcome = interrupted(1);
    let there = wire(&outcome, 0, 1);
    assert_eq!((there.sent, there.delivered, there.dropped), (20, 14, 0));
    assert_eq!(outcome.nodes[1].dropped[DropCause::LinkBroken as usize], 6);
    assert_eq!(outcome.flows[0].dropped[DropCause::LinkBroken as usize], 6);
}

/// Nodes with wires and a radio are switched at any instant: counters are closed, ties change nothing, and
/// all goes on afterwards.
#[test]
fn outages_of_wired_nodes_do_no_lasting_harm() {
    for rules in [DcfRules::IEEE, DcfRules::NS2] {
        let mut config = network(rules, &[[0.0, 0.0], [200.0, 0.0], [0.0, 0.0], [0.0, 0.0]]);
        config.topology.nodes[2].position = None;
        config.topology.nodes[3].position = None;
        config.duration = Span::from_ms(6_000);
        config.recording.interval = Span::from_ms(1_000);
        lay(&mut config, (1, 2), mbps(3), Span::from_us(1_700), 5);
        lay(&mut config, (2, 3), mbps(2), Span::ZERO, 5);
        for i in 0..400u64 {
            let from = Span::from_us(1_000 + 10_037 * i);
            let node = NodeId((i % 4) as u32);
            config.mobility.outages.push(Outage {
                node,
                from,
                to: from + Span::from_us(10 + 170 * (i % 90)),
            });
        }
        for (from, to) in [(0, 3), (3, 0), (3, 2)] {
            saturate(&mut config, from, to);
        }
        let outcome = run(&config);
        let late: Vec<u64> =
            outcome.series.iter().filter(|row| row.time_s > 5.5).map(|row| row.delivered_bytes).collect();
        assert!(late.len() == 3 && late.iter().all(|bytes| *bytes > 10_000), "{late:?}");
        let cut = outcome.conservation.dropped[DropCause::LinkBroken as usize];
        assert!(cut > 50, "{cut} on wires");
        assert_eq!(outcome, World::new(&config, Ties::Reversed).finish());
    }
}
