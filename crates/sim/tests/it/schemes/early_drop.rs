//! Schemes whose nodes drop by chance, in the engine: LRED, which also pauses, and NRED, whose nodes notify
//! each other.

use crate::common::{add_flow, chain, network, saturate};
use multihop_core::{DropCause, Exchange, Interval, LinkEvent, NodeId, Packet, Rate, Span};
use multihop_dot11::DcfRules;
use multihop_link::{EgressQueue, Hop, LinkView, RouterPolicy, Verdict};
use multihop_schemes::{Scheme, find};
use multihop_sim::config::{AppConfig, Config, SchemeConfig};
use multihop_sim::mobility::Outage;
use multihop_sim::outcome::{NodeOutcome, Outcome};
use multihop_sim::{Ties, World, run};
use multihop_transport::Endpoint;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn scheme(name: &str, parameters: &Value) -> SchemeConfig {
    SchemeConfig { name: name.into(), scheme: find(name).unwrap().build(parameters).unwrap() }
}

/// 802.11b at 2 Mb/s with RTS.
fn slow(mut config: Config) -> Config {
    config.rates.data = Rate::from_kbps(2_000).into();
    config.mac.rts_threshold = Some(0);
    config.duration = Span::from_ms(61_000);
    config
}

fn chosen_for_drops(node: &NodeOutcome) -> u64 {
    node.dropped[DropCause::Policy as usize]
}

fn drops(outcome: &Outcome) -> u64 {
    outcome.nodes.iter().map(chosen_for_drops).sum()
}

fn marks(outcome: &Outcome) -> u64 {
    outcome.flows.iter().map(|flow| flow.marked).sum()
}

/// Scheme whose nodes record their actions.
struct RecordedScheme {
    scheme: Arc<dyn Scheme>,
    seen: Arc<Mutex<Vec<LinkEvent>>>,
}

struct RouterRecorder {
    policy: Box<dyn RouterPolicy>,
    seen: Arc<Mutex<Vec<LinkEvent>>>,
}

impl Scheme for RecordedScheme {
    fn sender(&self) -> Box<dyn Endpoint> {
        self.scheme.sender()
    }
    fn receiver(&self) -> Box<dyn Endpoint> {
        self.scheme.receiver()
    }
    fn segment_size(&self) -> u32 {
        self.scheme.segment_size()
    }
    fn router(&self, node: NodeId, egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        let policy = self.scheme.router(node, egress)?;
        Some(Box::new(RouterRecorder { policy, seen: self.seen.clone() }))
    }
}

impl RouterPolicy for RouterRecorder {
    fn on_head_of_line(&mut self, hop: Hop, packet: &mut Packet, view: &LinkView) -> Verdict {
        self.policy.on_head_of_line(hop, packet, view)
    }
    fn extra_backoff(&self, packet: &Packet) -> Span {
        self.policy.extra_backoff(packet)
    }
    fn on_link(&mut self, event: &LinkEvent) {
        self.policy.on_link(event);
        self.seen.lock().unwrap().push(*event);
    }
}

/// For each frame of node 0 but the first: waiting time after an exchange of the frame before, in excess of
/// that exchange.
fn slack_of_node_0(parameters: &Value) -> Vec<i64> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let watched = RecordedScheme { scheme: scheme("lred", parameters).scheme, seen: seen.clone() };
    let mut config = slow(chain(DcfRules::IEEE, 3));
    config.traffic.schemes = vec![SchemeConfig { name: "lred".into(), scheme: Arc::new(watched) }];
    saturate(&mut config, 0, 3);
    run(&config);
    let mut before: Option<Exchange> = None;
    let mut first: Option<Interval> = None;
    let mut slack = Vec::new();
    for event in seen.lock().unwrap().iter() {
        match event {
            LinkEvent::Attempt(attempt) if attempt.node == NodeId(0) => first = first.or(attempt.rts),
            LinkEvent::Exchange(exchange) if exchange.node == NodeId(0) => {
                let began = first.take().expect("each frame has an RTS").start;
                if let Some(before) = before.replace(*exchange) {
                    slack.push(began.since(before.done).ns() as i64 - before.airtime.ns() as i64);
                }
            }
            _ => {}
        }
    }
    slack
}

/// With a threshold of 0 every frame is paced.
#[test]
fn paced_frames_leave_a_whole_exchange_free_after_the_frame_before() {
    let paced = slack_of_node_0(&json!({ "min_threshold": 0.0, "max_probability": 0.0 }));
    assert!(paced.len() > 500 && paced.iter().all(|slack| *slack >= 0), "{:?}", paced.iter().min());
    let free = slack_of_node_0(&json!({ "pacing": false, "max_probability": 0.0 }));
    assert!(free.iter().filter(|slack| **slack < 0).count() > free.len() / 2);
}

/// By chance, hence the second seed: on 7 hops frames need many transmissions, on one they do not.
#[test]
fn lred_drops_or_marks_where_there_are_retransmissions() {
    for seed in [1, 2] {
        let outcome = |hops: usize, parameters: &Value| {
            let mut config = Config { seed, ..slow(chain(DcfRules::IEEE, hops)) };
            config.traffic.schemes = vec![scheme("lred", parameters)];
            saturate(&mut config, 0, hops);
            run(&config)
        };
        let long = outcome(7, &json!({}));
        assert!(drops(&long) > 30 && marks(&long) == 0, "{} drops", drops(&long));
        let marked = outcome(7, &json!({ "ecn": true }));
        assert!(
            marks(&marked) > 30 && drops(&marked) < 10,
            "{} marks, {} drops",
            marks(&marked),
            drops(&marked)
        );
        assert_eq!(drops(&outcome(1, &json!({}))), 0);
    }
}

/// Flow `1 -> 0` at the end of a line has little to send, and hears little; flow `2 -> 5` has no node in
/// common with it, and fills the medium around its nodes, whatever is dropped. Node 1 decodes what node 2
/// says.
#[test]
fn a_node_without_congestion_drops_because_a_neighbour_tells_of_it() {
    let outcome = |seed: u64, notices: bool| {
        let positions = [-200.0, 0.0, 200.0, 400.0, 600.0, 800.0].map(|x| [x, 0.0]);
        let mut config = Config { seed, ..slow(network(DcfRules::IEEE, &positions)) };
        let parameters = json!({ "notices": notices, "min_threshold": 210.0, "max_threshold": 220.0 });
        config.traffic.schemes = vec![scheme("nred", &parameters), scheme("udp", &json!({}))];
        let little = AppConfig::Cbr { rate: Rate::from_kbps(200), packet: 1460, jitter: 0.0 };
        add_flow(&mut config, 1, 0, little);
        saturate(&mut config, 2, 5);
        config.traffic.flows[1].scheme = 1;
        run(&config)
    };
    for seed in 1..4 {
        let (with, without) = (outcome(seed, true), outcome(seed, false));
        let reported: Vec<u64> = with.nodes.iter().map(|node| node.signalling.sent).collect();
        assert!(with.nodes[1].busy_ratio < with.nodes[2].busy_ratio);
        assert!(reported[2] > 50 && reported[1] == 0, "{reported:?}");
        let [with, without] = [with, without].map(|outcome| chosen_for_drops(&outcome.nodes[1]));
        assert!(with >= 8 && without == 0, "{with} drops with notices, {without} without");
    }
}

/// Three links side by side, of which the outer two do not sense each other, and leave next to nothing to the
/// one between. This is what NRED is for (Xu et al. 2003). It costs throughput.
#[test]
fn nred_gives_the_flow_in_the_middle_its_share() {
    let found = |name: &str| {
        let positions = [0.0, 400.0, 800.0].iter().flat_map(|y| [[0.0, *y], [200.0, *y]]);
        let mut config = slow(network(DcfRules::IEEE, &positions.collect::<Vec<_>>()));
        config.traffic.schemes = vec![scheme(name, &json!({}))];
        (0..3).for_each(|link| saturate(&mut config, 2 * link, 2 * link + 1));
        let outcome = run(&config);
        let bytes: Vec<f64> = outcome.flows.iter().map(|flow| flow.delivered_bytes as f64).collect();
        let (sum, squares) =
            (bytes.iter().sum::<f64>(), bytes.iter().map(|bytes| bytes * bytes).sum::<f64>());
        (sum, sum * sum / (3.0 * squares))
    };
    let ((newreno, unfair), (nred, fair)) = (found("tcp-newreno"), found("nred"));
    assert!(unfair < 0.75 && fair > 0.95, "{unfair} and {fair}");
    assert!(nred > 0.35 * newreno && nred < 0.7 * newreno, "{nred} and {newreno}");
}

/// One hop: packets dropped at the receiver were received, and count as lost there. The world asserts that no
/// packet is lost without a cause.
#[test]
fn nred_drops_what_comes_as_well_as_what_leaves() {
    let outcome = |parameters: &Value| {
        let mut config = slow(chain(DcfRules::IEEE, 1));
        config.traffic.schemes = vec![scheme("nred", parameters)];
        saturate(&mut config, 0, 1);
        run(&config)
    };
    let dropping = outcome(&json!({}));
    let by_node: Vec<u64> = dropping.nodes.iter().map(chosen_for_drops).collect();
    assert!(by_node.iter().all(|drops| *drops > 20), "{by_node:?}");
    let marking = outcome(&json!({ "ecn": true }));
    assert!(marks(&marking) > 100 && drops(&marking) < marks(&marking) / 20, "{} marks", marks(&marking));
}

/// A lossy grid with flows of both schemes, in which nodes are switched off and on.
fn grid() -> Config {
    let positions: Vec<[f64; 2]> =
        (0..16).map(|i| [200.0 * f64::from(i % 4), 200.0 * f64::from(i / 4)]).collect();
    let mut config = network(DcfRules::IEEE, &positions);
    config.duration = Span::from_ms(6_000);
    config.medium.bit_error_rate = 1e-6;
    config.traffic.schemes = vec![scheme("lred", &json!({})), scheme("nred", &json!({ "ecn": true }))];
    for i in 0..12 {
        saturate(&mut config, i, 15 - i);
        config.traffic.flows[i].scheme = i % 2;
    }
    let outage = |node: u32| Outage {
        node: NodeId(node),
        from: Span::from_ms(1_000 + 300 * u64::from(node)),
        to: Span::from_ms(1_550 + 300 * u64::from(node)),
    };
    config.mobility.outages = (4..10).map(outage).collect();
    config
}

#[test]
fn runs_are_the_same_again_and_with_reversed_ties() {
    let config = grid();
    let first = run(&config);
    assert!(drops(&first) > 0 && first.nodes.iter().any(|node| node.signalling.sent > 0));
    assert_eq!(first, run(&config));
    assert_eq!(first, World::new(&config, Ties::Reversed).finish());
    assert_ne!(first.fingerprint, run(&Config { seed: 2, ..config }).fingerprint);
}

/// A scheme's random numbers are its own: another name is another stream, and the numbers of other schemes
/// stay.
#[test]
fn policies_of_different_queues_and_names_draw_differently() {
    let fingerprint = |name: &str| {
        let mut config = slow(chain(DcfRules::IEEE, 4));
        let scheme = scheme("nred", &json!({ "notices": false })).scheme;
        config.traffic.schemes = vec![SchemeConfig { name: name.into(), scheme }];
        saturate(&mut config, 0, 4);
        run(&config).fingerprint
    };
    assert_eq!(fingerprint("nred"), fingerprint("nred"));
    assert_ne!(fingerprint("nred"), fingerprint("nred-again"));
}
