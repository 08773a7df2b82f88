//! Laws that any correct DCF obeys, against closed forms.

use crate::common::wires::{lay, mbps};
use crate::common::{chain, saturate, saturated_cell, total_goodput};
use multihop_core::{LinkEvent, NodeId, Rate, Span, Time};
use multihop_dot11::{DcfRules, Phy, Preamble, Standard};
use multihop_link::{BusyRatio, EgressQueue, Estimator, RouterPolicy};
use multihop_schemes::{Scheme, TcpNewReno};
use multihop_sim::config::{Config, SchemeConfig};
use multihop_sim::outcome::FlowOutcome;
use multihop_sim::run;
use multihop_transport::Endpoint;
use std::sync::{Arc, Mutex};

/// One saturated sender has no collisions: a packet every DIFS + mean back-off + exchange.
#[test]
fn one_link_carries_what_the_closed_form_says() {
    for (rules, mean_slots) in [(DcfRules::IEEE, 15.5), (DcfRules::NS2, 15.0)] {
        for with_rts in [false, true] {
            let mut config = chain(rules, 1);
            config.mac.rts_threshold = with_rts.then_some(0);
            config.duration = Span::from_ms(401_000);
            saturate(&mut config, 0, 1);
            let outcome = run(&config);
            let us = |span: Span| span.ns() as f64 / 1e3;
            let bytes = 1500 + rules.llc_header + rules.data_header;
            let data = us(config.phy.airtime(config.rates.data, bytes, rules.airtime));
            let (rts, control, delay) = (352.0, 304.0, 1.0);
            let handshake = if with_rts { rts + control + 2.0 * (10.0 + delay) } else { 0.0 };
            let cycle = 50.0 + 20.0 * mean_slots + handshake + data + 10.0 + control + 2.0 * delay;
            let expected = 1472.0 * 8.0 / cycle * 1e6;
            let measured = total_goodput(&outcome);
            let off = measured / expected - 1.0;
            println!("rts {with_rts}: {measured:.0} against {expected:.0} b/s, {:+.4} %", off * 100.0);
            assert!(off.abs() < 1e-3, "rts {with_rts}: {measured} against {expected}");
        }
    }
}

/// Each of `n` saturated stations in one cell has every `n`th exchange, so that a frame is served in `n` of
/// them, plus the cost of contention: `T_SL` over the mean service delay is 0.488, 0.326, 0.196 and 0.098 by
/// the model of Carvalho and Garcia-Luna-Aceves (2003), with 9406 us of exchange at 1 Mb/s.
#[test]
fn the_service_delay_in_a_saturated_cell_is_what_the_model_says() {
    let rules = DcfRules { llc_header: 0, ..DcfRules::IEEE };
    for (stations, expected) in [(2, 0.488), (3, 0.326), (5, 0.196), (10, 0.098)] {
        let mut config = saturated_cell(rules, stations);
        config.phy = Phy::new(Standard::Dsss, Preamble::Long);
        config.rates.data = Rate::from_kbps(1_000).into();
        config.mac.rts_threshold = Some(0);
        config.medium.propagation_delay = Span::ZERO;
        config.duration = Span::from_ms(101_000);
        config.traffic.schemes = vec![SchemeConfig {
            name: "udp".into(),
            scheme: Arc::new(crate::common::Datagrams { payload: 972, header: 28 }),
        }];
        let outcome = run(&config);
        let efficiency = |flow: &FlowOutcome| 9_406e-6 / flow.service_delay_mean_s.unwrap();
        let mean = outcome.flows.iter().map(efficiency).sum::<f64>() / stations as f64;
        println!("{stations} stations: {mean:.4} against {expected}");
        assert!((mean / expected - 1.0).abs() < 0.02, "{stations} stations: {mean} against {expected}");
    }
}

/// TCP whose nodes record what they receive.
struct ObservedScheme {
    tcp: TcpNewReno,
    heard: Arc<Mutex<Vec<(NodeId, LinkEvent)>>>,
}

struct LinkRecorder(NodeId, Arc<Mutex<Vec<(NodeId, LinkEvent)>>>);

impl Scheme for ObservedScheme {
    fn sender(&self) -> Box<dyn Endpoint> {
        self.tcp.sender()
    }
    fn receiver(&self) -> Box<dyn Endpoint> {
        self.tcp.receiver()
    }
    fn segment_size(&self) -> u32 {
        self.tcp.segment_size()
    }
    fn router(&self, node: NodeId, _egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        Some(Box::new(LinkRecorder(node, self.heard.clone())))
    }
}

impl RouterPolicy for LinkRecorder {
    fn on_link(&mut self, event: &LinkEvent) {
        self.1.lock().unwrap().push((self.0, *event));
    }
}

/// The estimator's busy ratio over a window of the whole run equals the counters'.
#[test]
fn the_busy_ratio_of_the_events_is_that_of_the_books() {
    for rules in [DcfRules::IEEE, DcfRules::NS2] {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let scheme = ObservedScheme { tcp: TcpNewReno::default(), heard: heard.clone() };
        let mut config = chain(rules, 6);
        config.recording.warmup = Span::ZERO;
        config.mac.rts_threshold = Some(500);
        config.duration = Span::from_ms(3_000);
        config.traffic.schemes = vec![SchemeConfig { name: "listening".into(), scheme: Arc::new(scheme) }];
        saturate(&mut config, 0, 6);
        saturate(&mut config, 4, 1);
        let outcome = run(&config);
        for (index, node) in outcome.nodes.iter().enumerate() {
            let mut estimator = BusyRatio::new(config.duration);
            let events = heard.lock().unwrap();
            events
                .iter()
                .filter(|(id, _)| id.index() == index)
                .for_each(|(_, event)| estimator.on_link(event));
            let ratio = estimator.at(Time::ZERO + config.duration).unwrap();
            assert!(ratio > 0.1, "node {index}: {ratio}");
            assert!((ratio - node.busy_ratio).abs() < 1e-9, "node {index}: {ratio} against {node:?}");
        }
    }
}

/// Delivered payload is on the air once on each radio hop: goodput times radio hops over the bit rate, for
/// any losses, retransmissions and wires.
#[test]
fn payload_is_on_the_air_once_on_each_hop() {
    let once = |config: &Config, radio_hops: f64| {
        let outcome = run(config);
        let flow = &outcome.flows[0];
        let expected = total_goodput(&outcome) * radio_hops
            / config.phy.bit_rate(config.rates.data).unwrap().bps() as f64;
        let lost: u64 = flow.dropped.iter().sum();
        println!("{} against {expected}, {lost} lost", flow.payload_airtime);
        // Bytes of packets in transit at the end of the warm-up count with the remaining part of their path.
        assert!(
            (flow.payload_airtime / expected - 1.0).abs() < 2e-3,
            "{} against {expected}",
            flow.payload_airtime
        );
        lost
    };
    let mut datagrams = chain(DcfRules::IEEE, 5);
    saturate(&mut datagrams, 0, 5);
    assert!(once(&datagrams, 5.0) > 1000, "most datagrams are lost on the way");
    let mut config = chain(DcfRules::IEEE, 4);
    let tcp: Arc<dyn Scheme> = Arc::new(TcpNewReno::default());
    config.traffic.schemes = vec![SchemeConfig { name: "tcp-newreno".into(), scheme: tcp }];
    config.mac.queue.limit = 5;
    saturate(&mut config, 0, 4);
    assert!(once(&config, 4.0) > 50, "segments are sent again, and come out of order");
    let mut config = chain(DcfRules::IEEE, 2);
    config.topology.nodes[0].position = None;
    lay(&mut config, (0, 1), mbps(100), Span::from_ms(5), 50);
    saturate(&mut config, 0, 2);
    once(&config, 1.0);
}
