//! Multicast flows: one group-addressed frame, which each receiver decodes or loses by itself.

use crate::common::{add_flow, check_conservation, dropped, network, saturate};
use multihop_core::{DropCause, FlowId, FrameKind, NodeId, Rate, Span};
use multihop_dot11::DcfRules;
use multihop_sim::config::{AppConfig, Config, FlowConfig, LinkError, MediumModel};
use multihop_sim::mobility::Outage;
use multihop_sim::outcome::{FlowOutcome, Outcome};
use multihop_sim::{Ties, World, run};

/// Adds a multicast flow: one flow per receiver.
fn send_to_all(config: &mut Config, from: usize, to: &[usize], app: AppConfig) {
    let first = config.traffic.flows.len();
    for to in to {
        add_flow(config, from, *to, app);
    }
    config.traffic.flows[first..].iter_mut().for_each(|flow| flow.group = Some(FlowId(first as u32)));
}

/// Airtime in microseconds of a multicast packet with this payload, at the control rate of 1 Mb/s.
fn airtime(config: &Config, payload: u32) -> f64 {
    let rules = config.mac.rules;
    let bytes = payload + 28 + rules.llc_header + rules.data_header;
    let rate = config.rates.control.expect("the test network has one");
    config.phy.airtime(rate, bytes, rules.airtime).ns() as f64 / 1e3
}

/// Every packet of a flow has one outcome.
fn check(outcome: &Outcome) {
    check_conservation(outcome);
    for flow in &outcome.flows {
        let lost: u64 = flow.dropped.iter().sum();
        assert!(flow.packets_delivered + lost <= flow.packets_sent, "{flow:?}");
    }
    let of_flows: u64 = outcome.flows.iter().flat_map(|flow| flow.dropped).sum();
    let of_nodes: u64 = outcome.nodes.iter().flat_map(|node| node.dropped).sum();
    assert_eq!(of_flows, of_nodes, "a loss is counted at one node");
}

fn missed(flow: &FlowOutcome) -> u64 {
    flow.dropped[DropCause::Multicast as usize]
}

/// n0 sends one packet to n1 and n2 in reach, and to n3 out of reach.
fn one_packet(rules: DcfRules) -> Config {
    let mut config = network(rules, &[[0.0, 0.0], [100.0, 0.0], [240.0, 0.0], [300.0, 0.0]]);
    config.mac.rts_threshold = Some(0);
    (config.recording.warmup, config.duration) = (Span::ZERO, Span::from_ms(1_000));
    send_to_all(&mut config, 0, &[1, 2, 3], AppConfig::Bulk { bytes: Some(1_000) });
    config
}

/// One frame is sent in all: at the control rate, without RTS, ACK or retransmission.
#[test]
fn one_frame_is_sent_once_to_all_receivers() {
    for rules in [DcfRules::IEEE, DcfRules::NS2] {
        let config = one_packet(rules);
        let outcome = run(&config);
        check(&outcome);
        let counts = |flow: &FlowOutcome| (flow.packets_sent, flow.packets_delivered, missed(flow));
        assert_eq!(outcome.flows.iter().map(counts).collect::<Vec<_>>(), [(1, 1, 0), (1, 1, 0), (1, 0, 1)]);
        let airtime = airtime(&config, 1_000);
        let sent = outcome.nodes.iter().map(|node| node.transmitting * 1e6).collect::<Vec<_>>();
        assert!((sent[0] - airtime).abs() < 1e-6, "one frame of {airtime} us: {sent:?}");
        assert_eq!(sent[1..], [0.0; 3], "nobody answers");
        assert_eq!(outcome.links.len(), 0, "links are those of unicast frames");
        assert_eq!(outcome.conservation.sent, 3);
        assert_eq!(outcome.nodes[0].dropped[DropCause::Multicast as usize], 1);
    }
}

/// Delay of DIFS and the frame, because an idle station starts without back-off.
#[test]
fn receivers_have_the_packet_when_its_frame_ends() {
    let config = one_packet(DcfRules::IEEE);
    let outcome = run(&config);
    let expected = 50.0 + airtime(&config, 1_000) + 1.0;
    for flow in &outcome.flows[..2] {
        let us = flow.delay.mean * 1e6;
        // A station that finds the medium idle for DIFS need not wait for another one.
        assert!(
            (us - expected).abs() < 1e-3 || (us - expected + 50.0).abs() < 1e-3,
            "{us} against {expected}"
        );
    }
    assert_eq!(outcome.flows[0].delay, outcome.flows[1].delay);
}

/// One saturated sender has a frame every DIFS, mean back-off of the first window, and PPDU.
#[test]
fn one_sender_carries_what_the_closed_form_says() {
    for (rules, mean_slots) in [(DcfRules::IEEE, 15.5), (DcfRules::NS2, 15.0)] {
        let mut config = network(rules, &[[0.0, 0.0], [100.0, 0.0], [0.0, 100.0], [600.0, 0.0]]);
        config.duration = Span::from_ms(201_000);
        send_to_all(&mut config, 0, &[1, 2, 3], AppConfig::Saturated);
        let outcome = run(&config);
        check(&outcome);
        let cycle = 50.0 + 20.0 * mean_slots + airtime(&config, 1_472) + 1.0;
        let expected = 1_472.0 * 8.0 / cycle * 1e6;
        for flow in &outcome.flows[..2] {
            let measured = flow.delivered_bytes as f64 * 8.0 / outcome.measured_s;
            println!(
                "{measured:.0} against {expected:.0} b/s, {:+.4} %",
                (measured / expected - 1.0) * 100.0
            );
            assert!((measured / expected - 1.0).abs() < 2e-3, "{measured} against {expected}");
        }
        let far = &outcome.flows[3 - 1];
        assert_eq!((far.delivered_bytes, far.packets_delivered), (0, 0));
        assert_eq!(missed(far), outcome.flows[0].packets_delivered, "it loses what the others receive");
    }
}

/// n0 sends to n1 on one side and n2 on the other, which a hidden sender n3 reaches.
fn hidden() -> Config {
    let mut config = network(DcfRules::IEEE, &[[0.0, 0.0], [-200.0, 0.0], [200.0, 0.0], [400.0, 0.0]]);
    if let MediumModel::Ranges { carrier_sense_range, .. } = &mut config.medium.model {
        *carrier_sense_range = 250.0;
    }
    send_to_all(&mut config, 0, &[1, 2], AppConfig::Saturated);
    config
}

/// A collision costs the packet only at those receivers where it happens, and the sender nothing: no
/// retransmission, no larger window.
#[test]
fn a_collision_is_one_receivers_loss() {
    let alone = run(&hidden());
    let mut config = hidden();
    send_to_all(&mut config, 3, &[2], AppConfig::Saturated);
    let outcome = run(&config);
    check(&outcome);
    assert_eq!(missed(&alone.flows[0]) + missed(&alone.flows[1]), 0);
    let [left, right, other] = &outcome.flows[..] else { panic!("{:?}", outcome.flows) };
    assert_eq!(missed(left), 0);
    for flow in [right, other] {
        let share = missed(flow) as f64 / flow.packets_sent as f64;
        assert!(share > 0.5, "two hidden senders destroy most of each other's frames: {share}");
    }
    let sent = [&alone, &outcome].map(|outcome| outcome.flows[0].packets_sent as f64);
    assert!((sent[1] / sent[0] - 1.0).abs() < 5e-3, "{sent:?}");
}

/// Receivers on a lossy link lose packets on their own.
#[test]
fn each_receiver_has_losses_of_its_own() {
    let mut config = network(DcfRules::IEEE, &[[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]]);
    let error = |to: u32, packet_error_rate| LinkError {
        from: NodeId(0),
        to: NodeId(to),
        packet_error_rate,
        ack_error_rate: 0.0,
    };
    config.medium.link_errors = vec![error(1, 0.3), error(2, 0.1)];
    send_to_all(&mut config, 0, &[1, 2], AppConfig::Saturated);
    let outcome = run(&config);
    check(&outcome);
    for (flow, expected) in outcome.flows.iter().zip([0.3, 0.1]) {
        let share = missed(flow) as f64 / flow.packets_sent as f64;
        assert!((share - expected).abs() < 0.03, "{share} against {expected}");
    }
}

/// A packet that the queue drops is lost for every receiver.
#[test]
fn a_full_queue_loses_packets_of_all_receivers() {
    let mut config = network(DcfRules::IEEE, &[[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]]);
    config.recording.warmup = Span::ZERO;
    let fast = AppConfig::Cbr { rate: Rate::from_kbps(3_000), packet: 1_000, jitter: 0.0 };
    send_to_all(&mut config, 0, &[1, 2], fast);
    let outcome = run(&config);
    check(&outcome);
    let full = |flow: &FlowOutcome| flow.dropped[DropCause::QueueFull as usize];
    assert!(full(&outcome.flows[0]) > 1_000);
    assert_eq!(full(&outcome.flows[0]), full(&outcome.flows[1]));
    assert_eq!(dropped(&outcome, DropCause::QueueFull), 2 * full(&outcome.flows[0]));
    let waiting =
        outcome.flows[0].packets_sent - full(&outcome.flows[0]) - outcome.flows[0].packets_delivered;
    assert_eq!(outcome.conservation.queued, 2 * waiting);
    assert!(waiting >= 50, "{waiting}");
}

/// A packet that a sender or a receiver misses because it is off is lost for the receivers concerned.
#[test]
fn nodes_that_are_off_receive_nothing() {
    let mut config = network(DcfRules::IEEE, &[[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]]);
    config.recording.warmup = Span::ZERO;
    config.duration = Span::from_ms(3_000);
    let at = |ms: u64| Span::from_ms(ms);
    let outage = |node: u32, from, to| Outage { node: NodeId(node), from: at(from), to: at(to) };
    config.mobility.outages = vec![outage(0, 505, 1_001), outage(1, 1_501, 2_002)];
    send_to_all(&mut config, 0, &[1, 2], AppConfig::Saturated);
    let outcome = run(&config);
    check(&outcome);
    let [one, other] = &outcome.flows[..] else { panic!("{:?}", outcome.flows) };
    assert!(missed(other) >= 1, "the frame that the sender cut");
    assert!(missed(one) > missed(other) + 30, "{} and {}", missed(one), missed(other));
}

/// Groups, unicast flows and both orders of simultaneous events, with a delay by distance too.
#[test]
fn multicast_lives_beside_unicast_in_any_order_of_events() {
    for by_distance in [false, true] {
        let mut config = network(
            DcfRules::IEEE,
            &[[0.0, 0.0], [200.0, 0.0], [400.0, 0.0], [0.0, 200.0], [200.0, 200.0], [950.0, 0.0]],
        );
        config.medium.delays_by_distance = by_distance;
        config.recording.warmup = Span::ZERO;
        config.duration = Span::from_ms(5_000);
        saturate(&mut config, 0, 2);
        send_to_all(&mut config, 1, &[0, 2, 5, 4], AppConfig::Saturated);
        send_to_all(&mut config, 3, &[4, 0], AppConfig::Saturated);
        saturate(&mut config, 4, 1);
        let outcome = World::new(&config, Ties::InOrder).finish();
        check(&outcome);
        assert_eq!(World::new(&config, Ties::Reversed).finish(), outcome, "by distance: {by_distance}");
        let lost: u64 = outcome.flows.iter().map(missed).sum();
        let delivered = outcome.flows.iter().map(|flow| flow.packets_delivered).min();
        assert!(lost > 100 && delivered == Some(0), "{lost} lost, {delivered:?}");
        assert_eq!(outcome.flows[3].packets_delivered, 0, "n5 is out of reach");
        let heard = [1, 2, 4, 5, 6].map(|flow| outcome.flows[flow].packets_delivered);
        assert!(heard.iter().all(|packets| *packets > 0) && heard.iter().sum::<u64>() > 100, "{heard:?}");
    }
}

/// A flow that never sends does not change the rest of a run.
#[test]
fn a_flow_that_is_silent_changes_nothing() {
    let build = |with: bool| {
        let mut config = network(DcfRules::IEEE, &[[0.0, 0.0], [200.0, 0.0], [400.0, 0.0]]);
        config.duration = Span::from_ms(3_000);
        saturate(&mut config, 0, 2);
        if with {
            send_to_all(&mut config, 1, &[0, 2], AppConfig::Saturated);
            let later = |flow: &mut FlowConfig| flow.start = Span::from_ms(10_000);
            config.traffic.flows[1..].iter_mut().for_each(later);
        }
        run(&config)
    };
    assert_eq!(build(true).flows[0], build(false).flows[0]);
}

/// Losses of frames for one receiver in the counters of causes are those of unicast frames.
#[test]
fn unicast_losses_stay_those_of_unicast_frames() {
    let mut config = hidden();
    send_to_all(&mut config, 3, &[2], AppConfig::Saturated);
    let outcome = run(&config);
    assert!(
        outcome.causes.losses.iter().all(|row| row.kind != FrameKind::Data),
        "{:?}",
        outcome.causes.losses
    );
}

/// Node n0 is the base station of n1 to n3; n4 is not associated, and n5 is a client of the base station n6.
/// Clients hear each other.
fn infrastructure() -> Config {
    let mut config = network(
        DcfRules::IEEE,
        &[[0.0, 0.0], [50.0, 0.0], [0.0, 50.0], [-50.0, 0.0], [0.0, -50.0], [60.0, 60.0], [70.0, 70.0]],
    );
    config.recording.warmup = Span::ZERO;
    config.topology.nodes[1..4].iter_mut().for_each(|client| client.base = Some(NodeId(0)));
    config.topology.nodes[5].base = Some(NodeId(6));
    config
}

/// A client's multicast packet goes to its base station as unicast, and from there to the group, once.
#[test]
fn a_base_station_relays_what_its_clients_send() {
    let mut config = infrastructure();
    config.duration = Span::from_ms(1_000);
    send_to_all(&mut config, 1, &[0, 2, 3, 4, 5], AppConfig::Bulk { bytes: Some(1_000) });
    let outcome = run(&config);
    check(&outcome);
    let counts = |flow: &FlowOutcome| (flow.packets_delivered, missed(flow), flow.hops);
    let expected = [(1, 0, 1), (1, 0, 2), (1, 0, 2), (1, 0, 2), (0, 1, 2)];
    assert_eq!(outcome.flows.iter().map(counts).collect::<Vec<_>>(), expected, "n5 is of another network");
    let [uplink] = &outcome.links[..] else { panic!("{:?}", outcome.links) };
    assert_eq!((uplink.from, uplink.to, uplink.data, uplink.acknowledged), (1, 0, 1, 1));
    let sent = outcome.nodes[0].transmitting * 1e6;
    let ack = config.phy.airtime(Rate::from_kbps(1_000), 14, config.mac.rules.airtime).ns() as f64 / 1e3;
    assert!((sent - airtime(&config, 1_000) - ack).abs() < 1e-6, "an ACK and one frame: {sent} us");
}

/// The relay receives packets before others do, including those that its own queue drops.
#[test]
fn a_relay_that_is_a_receiver_has_what_its_queue_loses() {
    let mut config = infrastructure();
    config.duration = Span::from_ms(10_000);
    send_to_all(&mut config, 1, &[0, 2], AppConfig::Saturated);
    let load = AppConfig::Cbr { rate: Rate::from_kbps(600), packet: 1_000, jitter: 0.5 };
    send_to_all(&mut config, 0, &[1, 2, 3], load);
    let outcome = run(&config);
    check(&outcome);
    let [relay, behind, own, ..] = &outcome.flows[..] else { panic!("{:?}", outcome.flows) };
    assert!(relay.packets_delivered > 300, "{relay:?}");
    let full = |flow: &FlowOutcome| flow.dropped[DropCause::QueueFull as usize];
    assert!(full(behind) > 50 && full(relay) == 0, "{} and {}", full(behind), full(relay));
    assert!(behind.packets_delivered > 50 && own.packets_delivered > 50);
    assert_eq!(World::new(&config, Ties::Reversed).finish(), outcome);
}
