//! Probes of links before a communication: which frames a node sends when, and what they cost.

use crate::common::capture::{Capture, Kind, Shared, read};
use crate::common::{add_flow, chain, check_conservation, saturate};
use crate::mac::aggregation::high_throughput;
use multihop_core::{DropCause, NodeId, Rate, Span};
use multihop_dot11::DcfRules;
use multihop_frames::layout::ENUMERATIONS;
use multihop_frames::{Memory, Table};
use multihop_link::{EstimatorConfig, RtWinfProbeOptions};
use multihop_sim::config::{AppConfig, Config, LinkFailureRule, MeasurementConfig};
use multihop_sim::logs::{AirLog, FrameLog, Selection};
use multihop_sim::mobility::Outage;
use multihop_sim::outcome::Outcome;
use multihop_sim::{Ties, World, run, run_logged};

const FOUR: RtWinfProbeOptions = RtWinfProbeOptions { probes: 4, ..RtWinfProbeOptions::DEFAULT };

/// Chain whose nodes probe, without flows and without RTS/CTS.
fn probing(hops: usize, options: RtWinfProbeOptions) -> Config {
    let mut config = chain(DcfRules::IEEE, hops);
    config.mac.rts_threshold = None;
    config.mac.queue.limit = 200;
    config.duration = Span::from_ms(5_000);
    config.recording.warmup = Span::ZERO;
    config.recording.interval = Span::from_ms(10);
    config.recording.measurements = vec![MeasurementConfig {
        name: "probe".into(),
        nodes: (0..=hops as u32).map(NodeId).collect(),
        estimator: EstimatorConfig::RtWinfProbe(options),
    }];
    config
}

/// Adds a call of 50 packets of 188 bytes a second that starts after some milliseconds.
fn call(config: &mut Config, to: usize, start: u64) {
    let rate = Rate::from_kbps(64);
    add_flow(config, 0, to, AppConfig::Cbr { rate, packet: 160, jitter: 0.0 });
    config.traffic.flows.last_mut().unwrap().start = Span::from_ms(start);
}

fn captured(config: &Config) -> (Outcome, Capture) {
    let file = Shared::default();
    let log = AirLog::new(config, Box::new(file.clone())).unwrap();
    let outcome = World::new(config, Ties::InOrder).finish_logged(log, |_| ()).unwrap();
    let capture = read(&file.0.lock().unwrap());
    (outcome, capture)
}

/// Milliseconds in which a node's frames of a kind to a neighbour ended.
fn sent_ms(capture: &Capture, kind: Kind, from: usize, to: u32) -> Vec<u64> {
    let own = capture.packets.iter().filter(|packet| {
        packet.interface == from
            && packet.tx_flags.is_some()
            && packet.kind == kind
            && packet.receiver == Some(to)
    });
    own.map(|packet| packet.end_ns / 1_000_000).collect()
}

/// A probe is on the air for 1310 us, and its ACK for 304 us after a SIFS of 10 us and a propagation delay of
/// 1 us each way. Before the first sample the estimate is the bit rate.
#[test]
fn the_capacity_is_known_before_any_data() {
    let mut config = probing(1, FOUR);
    call(&mut config, 1, 100);
    let (outcome, capture) = captured(&config);
    assert_eq!(sent_ms(&capture, Kind::Probe, 0, 1), [101, 351, 601, 851]);
    let data = sent_ms(&capture, Kind::Data, 0, 1);
    assert!(data[0] >= 1_100 && data[0] <= 1_102, "{}", data[0]);
    assert_eq!(data.len(), 245, "packets that waited included: {data:?}");
    assert_eq!(sent_ms(&capture, Kind::Probe, 1, 0).len(), 0, "the receiver sends no packets");
    let capacity = |at_s: f64| {
        let mut rows = outcome.measurements.iter();
        let row = rows.find(|row| row.node == 0 && (row.time_s - at_s).abs() < 1e-6).unwrap();
        row.view.capacity_bps.unwrap() / 1e6
    };
    assert_eq!(capacity(0.1), 11.0);
    assert!((capacity(1.09) - 12_000.0 / 1_626.0).abs() < 1e-3, "{}", capacity(1.09));
    let node = &outcome.nodes[0];
    assert_eq!((node.signalling.sent, node.signalling.bytes, node.signalling.dropped), (4, 6_000, 0));
    assert!((node.signalling.airtime * 5.0 - 4.0 * 1_310e-6).abs() < 1e-5, "{}", node.signalling.airtime);
    assert_eq!(outcome.flows[0].packets_delivered, 245);
    check_conservation(&outcome);
}

/// LLC/SNAP, IPv4 and UDP headers of a datagram of 1500 bytes.
#[test]
fn a_probe_is_a_datagram_in_data_of_the_reserved_subtype() {
    let mut config = probing(1, FOUR);
    call(&mut config, 1, 0);
    let (_, capture) = captured(&config);
    let probe = capture.packets.iter().find(|packet| packet.kind == Kind::Probe).unwrap();
    assert_eq!(probe.bytes, 24 + 8 + 1_500 + 4);
    let ipv4 = &probe.body[8..];
    assert_eq!((&ipv4[2..4], ipv4[9]), (&1_500u16.to_be_bytes()[..], 17));
    assert_eq!(
        (&ipv4[12..20], &ipv4[24..26]),
        (&[10, 0, 0, 1, 10, 0, 0, 2][..], &1_480u16.to_be_bytes()[..])
    );
}

#[test]
fn frame_logs_name_probes() {
    let mut config = probing(1, FOUR);
    call(&mut config, 1, 0);
    let memory = Memory::default();
    let log = FrameLog::new(&config, Selection::default(), Box::new(memory.clone())).unwrap();
    run_logged(&config, log, |_| ()).unwrap();
    let (_, names) = ENUMERATIONS.iter().find(|(name, _)| *name == "carries").unwrap();
    let code = names.iter().position(|name| *name == "probe").unwrap() as i64;
    let log = memory.log().clone();
    let carries = log.tables.column(Table::Transmissions, "carries");
    assert_eq!(carries.iter().filter(|carried| *carried == code).count(), 4);
}

#[test]
fn each_hop_is_probed_when_its_first_packet_arrives() {
    let mut config = probing(2, FOUR);
    call(&mut config, 2, 0);
    let (outcome, capture) = captured(&config);
    assert_eq!(sent_ms(&capture, Kind::Probe, 0, 1), [1, 251, 501, 751]);
    let data = sent_ms(&capture, Kind::Data, 1, 2);
    let probes = sent_ms(&capture, Kind::Probe, 1, 2);
    assert_eq!(probes.len(), 4);
    assert!(probes[0] >= 1_001 && data[0] >= 2_001, "{probes:?} {}", data[0]);
    assert_eq!(outcome.flows[0].dropped, [0; 11]);
}

#[test]
fn each_next_hop_is_probed() {
    let mut config = probing(2, FOUR);
    add_flow(&mut config, 1, 0, AppConfig::Cbr { rate: Rate::from_kbps(64), packet: 160, jitter: 0.0 });
    add_flow(&mut config, 1, 2, AppConfig::Cbr { rate: Rate::from_kbps(64), packet: 160, jitter: 0.0 });
    let (_, capture) = captured(&config);
    for to in [0, 2] {
        assert_eq!(sent_ms(&capture, Kind::Probe, 1, to).len(), 4, "{to}");
    }
}

/// The second call begins after 2.5 s of silence, the third during the second.
#[test]
fn a_communication_after_silence_is_probed_anew() {
    for (after_ms, probes) in [(2_000, 8), (10_000, 4)] {
        let mut config = probing(1, RtWinfProbeOptions { probe_after: Span::from_ms(after_ms), ..FOUR });
        for start in [0, 3_500, 4_800] {
            call(&mut config, 1, start);
        }
        config.traffic.flows[0].stop = Some(Span::from_ms(500));
        let (_, capture) = captured(&config);
        assert_eq!(sent_ms(&capture, Kind::Probe, 0, 1).len(), probes, "{after_ms}");
    }
}

/// A packet follows 20 ms after the first one, so that no second probe is sent. Without an interval, all
/// probes precede the first packet.
#[test]
fn data_follows_the_first_probe_if_it_does_not_wait() {
    for (interval_ms, probes) in [(250, 1), (0, 4)] {
        let interval = Span::from_ms(interval_ms);
        let mut config =
            probing(1, RtWinfProbeOptions { probe_hold: false, probe_interval: interval, ..FOUR });
        call(&mut config, 1, 100);
        let (_, capture) = captured(&config);
        let (sent, data) = (sent_ms(&capture, Kind::Probe, 0, 1), sent_ms(&capture, Kind::Data, 0, 1));
        assert_eq!(sent.len(), probes);
        assert!(sent[probes - 1] <= data[0] && data[0] <= 115, "{sent:?} {}", data[0]);
    }
}

/// A saturated source waits for the probes, and as many packets as the queue holds wait at most.
#[test]
fn packets_that_wait_are_limited_by_the_queue() {
    let mut config = probing(1, FOUR);
    saturate(&mut config, 0, 1);
    let outcome = run(&config);
    check_conservation(&outcome);
    assert_eq!((outcome.nodes[0].signalling.sent, outcome.flows[0].dropped[0]), (4, 0));
    assert!(outcome.flows[0].packets_delivered > 1_000);
    let mut config = probing(1, FOUR);
    config.mac.queue.limit = 20;
    call(&mut config, 1, 0);
    let outcome = run(&config);
    check_conservation(&outcome);
    let lost = outcome.flows[0].dropped[DropCause::QueueFull as usize];
    assert!((29..=32).contains(&lost), "of 50 packets in a second: {lost}");
}

/// Node 1 is off: the first probe is given up. It breaks no link, but the packets that follow do.
#[test]
fn an_unreachable_next_hop_strands_the_packets_that_wait() {
    for rule in [LinkFailureRule::Ignore, LinkFailureRule::Break { failures: 1, hold: Span::from_ms(300) }] {
        let mut config = probing(1, FOUR);
        config.routing.on_link_failure = rule;
        let to = Span::from_ms(3_000);
        config.mobility.outages = vec![Outage { node: NodeId(1), from: Span::ZERO, to }];
        call(&mut config, 1, 0);
        for ties in [Ties::InOrder, Ties::Reversed] {
            let outcome = World::new(&config, ties).finish();
            check_conservation(&outcome);
            let node = &outcome.nodes[0];
            assert!(node.signalling.sent >= 4 && node.signalling.dropped >= 4, "{rule:?}");
            assert!(outcome.flows[0].packets_delivered > 40, "{rule:?}: {:?}", outcome.flows[0]);
        }
    }
}

#[test]
fn ties_do_not_matter() {
    let mut config = probing(3, FOUR);
    call(&mut config, 3, 0);
    saturate(&mut config, 2, 0);
    let outcome = |ties| World::new(&config, ties).finish();
    assert_eq!(outcome(Ties::InOrder), outcome(Ties::Reversed));
}

/// Probes may share an A-MPDU with data behind them.
#[test]
fn radios_that_aggregate_probe_too() {
    let mut config = high_throughput(&[[0.0, 0.0], [10.0, 0.0]]);
    config.recording.measurements = probing(1, FOUR).recording.measurements;
    config.recording.warmup = Span::ZERO;
    saturate(&mut config, 0, 1);
    let outcome = run(&config);
    check_conservation(&outcome);
    assert_eq!(outcome.nodes[0].signalling.sent, 4);
}
