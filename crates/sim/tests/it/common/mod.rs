//! Configurations for tests, built without scenario files.
#![allow(dead_code)] // each test file uses its part

pub mod capture;
pub mod wires;

use multihop_core::{DropCause, Dscp, NodeId, Rate, Span};
use multihop_dot11::{DcfRules, Phy, Preamble, Standard};
use multihop_link::Discipline;
use multihop_schemes::Scheme;
use multihop_sim::config::*;
use multihop_sim::mobility::Mobility;
use multihop_sim::outcome::Outcome;
use multihop_transport::{Endpoint, UdpOptions, UdpReceiver, UdpSender};
use std::sync::Arc;

/// Datagrams of a fixed size.
pub struct Datagrams {
    pub payload: u32,
    pub header: u32,
}

impl Scheme for Datagrams {
    fn sender(&self) -> Box<dyn Endpoint> {
        Box::new(UdpSender::new(UdpOptions { segment_size: self.payload, header: self.header }))
    }
    fn receiver(&self) -> Box<dyn Endpoint> {
        Box::new(UdpReceiver::new())
    }
    fn segment_size(&self) -> u32 {
        self.payload
    }
    fn is_uncontrolled(&self) -> bool {
        true
    }
}

pub fn two_ray() -> PathLoss {
    PathLoss::TwoRayGround { frequency_hz: 914e6, antenna_height: 1.5 }
}

/// The MAC over a PHY, with the retry limits of the standard.
fn mac(rules: DcfRules, phy: &Phy) -> MacConfig {
    MacConfig {
        rules,
        rts_threshold: None,
        short_retry_limit: Some(7),
        long_retry_limit: Some(4),
        cw_min: phy.cw_min,
        cw_max: phy.cw_max,
        queue: QueueConfig { limit: 50, lifetime: None, discipline: Discipline::DropTail, hardware: None },
        msdu_limit: None,
        edca: None,
        protection: Protection::default(),
        cts_to_self: false,
        rate_control: None,
        block_ack: BlockAckConfig::default(),
    }
}

/// ns-2's medium.
fn ns2_ranges() -> MediumConfig {
    MediumConfig {
        propagation_delay: Span::from_ns(1_000),
        bit_error_rate: 0.0,
        packet_error_rate: 0.0,
        link_errors: Vec::new(),
        model: MediumModel::Ranges {
            receive_range: 250.0,
            carrier_sense_range: 550.0,
            capture_ratio: Some(10.0),
            path_loss: two_ray(),
        },
        delays_by_distance: false,
        sensitivity_by_rate: false,
        preamble_detection: None,
        fading: None,
    }
}

/// 802.11b at 11 Mb/s with 1 Mb/s control frames, ns-2's ranges, nodes at these positions, and no flows.
pub fn network(rules: DcfRules, positions: &[[f64; 2]]) -> Config {
    let phy = Phy::new(Standard::Dot11b, Preamble::Long);
    let node = |(i, position): (usize, &[f64; 2])| NodeConfig {
        name: format!("n{i}"),
        position: Some(*position),
        base: None,
        data_rate: None,
    };
    let nodes = positions.iter().enumerate().map(node).collect();
    let scheme = Arc::new(Datagrams { payload: 1472, header: 28 });
    Config {
        name: "test".into(),
        seed: 1,
        duration: Span::from_ms(20_000),
        topology: TopologyConfig { nodes, ..TopologyConfig::default() },
        mobility: Mobility::default(),
        medium: ns2_ranges(),
        phy,
        rates: RateConfig {
            data: Rate::from_kbps(11_000).into(),
            control: Some(Rate::from_kbps(1_000)),
            ack: None,
            links: Vec::new(),
        },
        mac: mac(rules, &phy),
        routing: RoutingConfig::default(),
        network: NetworkConfig::default(),
        traffic: TrafficConfig {
            schemes: vec![SchemeConfig { name: "udp".into(), scheme }],
            flows: Vec::new(),
        },
        recording: RecordingConfig {
            warmup: Span::from_ms(1_000),
            interval: Span::from_ms(1_000),
            measurements: Vec::new(),
            causes: true,
        },
    }
}

/// `hops + 1` nodes in a row, 200 m apart.
pub fn chain(rules: DcfRules, hops: usize) -> Config {
    let positions: Vec<[f64; 2]> = (0..=hops).map(|i| [200.0 * i as f64, 0.0]).collect();
    network(rules, &positions)
}

/// `stations` on a circle of 10 m around node 0, all hearing each other, each saturating it; without capture.
pub fn saturated_cell(rules: DcfRules, stations: usize) -> Config {
    let angle = |i: usize| std::f64::consts::TAU * i as f64 / stations as f64;
    let around = (0..stations).map(|i| [10.0 * angle(i).cos(), 10.0 * angle(i).sin()]);
    let positions: Vec<[f64; 2]> = std::iter::once([0.0, 0.0]).chain(around).collect();
    let mut config = network(rules, &positions);
    if let MediumModel::Ranges { capture_ratio, .. } = &mut config.medium.model {
        *capture_ratio = None;
    }
    for station in 1..=stations {
        saturate(&mut config, station, 0);
    }
    config
}

/// Adds a saturated flow of the first scheme.
pub fn saturate(config: &mut Config, from: usize, to: usize) {
    add_flow(config, from, to, AppConfig::Saturated);
}

/// Adds a flow of the first scheme.
pub fn add_flow(config: &mut Config, from: usize, to: usize, app: AppConfig) {
    config.traffic.flows.push(FlowConfig {
        dscp: Dscp::default(),
        name: format!("n{from}->n{to}"),
        source: NodeId(from as u32),
        destination: NodeId(to as u32),
        group: None,
        scheme: 0,
        app,
        start: Span::ZERO,
        stop: None,
    });
}

/// Payload bits per second delivered by all flows.
pub fn total_goodput(outcome: &Outcome) -> f64 {
    outcome.flows.iter().map(|flow| flow.delivered_bytes as f64 * 8.0).sum::<f64>() / outcome.measured_s
}

/// Load so low that no queue forms: 20 packets a second.
pub fn trickle() -> AppConfig {
    AppConfig::Cbr { rate: Rate::from_kbps(80), packet: 500, jitter: 0.0 }
}

/// Packets of flows lost for this cause, since the start of the run.
pub fn dropped(outcome: &Outcome, cause: DropCause) -> u64 {
    outcome.conservation.dropped[cause as usize]
}

/// Every packet was delivered, or lost for one cause, or is still queued.
pub fn check_conservation(outcome: &Outcome) {
    let counters = outcome.conservation;
    assert_eq!(
        counters.sent,
        counters.delivered + counters.dropped.iter().sum::<u64>() + counters.queued,
        "{counters:?}"
    );
}
