//! Runs under queue disciplines: delays near the target, marks instead of drops, equal airtime, and counters
//! that add up.

use crate::common::wires::{goodput, lay, mbps, tcp, wire, wired};
use crate::common::{add_flow, chain, dropped, network, saturate, total_goodput};
use multihop_core::{DropCause, NodeId, Packet, Rate, Span, Time};
use multihop_dot11::DcfRules;
use multihop_link::{
    CodelOptions, Discipline, EgressQueue, FqCodelOptions, Hop, LinkView, RouterPolicy, StationsOptions,
    Verdict,
};
use multihop_schemes::{Scheme, TcpNewReno};
use multihop_sim::config::{
    AppConfig, Config, LinkFailureRule, MatrixLink, MatrixQuantity, MediumModel, SchemeConfig,
};
use multihop_sim::outcome::Outcome;
use multihop_sim::run;
use multihop_transport::Endpoint;
use serde_json::json;
use std::sync::{Arc, Mutex};

fn fq_codel() -> Discipline {
    Discipline::FqCodel(FqCodelOptions::default())
}

fn stations() -> Discipline {
    Discipline::Stations(StationsOptions::default())
}

/// Flows of CUBIC over one link at 11 Mb/s.
fn one_link(discipline: Discipline, queue_limit: usize, ecn: bool) -> Outcome {
    let mut config = chain(DcfRules::IEEE, 1);
    tcp(&mut config, "tcp-cubic", &json!({ "ecn": ecn }));
    config.mac.queue.discipline = discipline;
    config.mac.queue.limit = queue_limit;
    saturate(&mut config, 0, 1);
    run(&config)
}

/// Queueing delay at node 0 in seconds: its mean length divided by the packets per second (Little's law).
fn waited(outcome: &Outcome) -> f64 {
    let packets = outcome.flows[0].packets_sent as f64 / outcome.measured_s;
    outcome.nodes[0].queue_mean / packets
}

/// A packet takes about 1.7 ms with its acknowledgement, so that 64 packets wait for about 100 ms. CUBIC adds
/// half a packet in each round trip, of which there are many in `CoDel`'s interval: the queue is then a few
/// packets above the target.
#[test]
fn codel_keeps_the_delay_near_the_target_where_a_full_queue_does_not() {
    let full = one_link(Discipline::DropTail, 64, false);
    let short = one_link(fq_codel(), 1000, false);
    let (full_delay, short_delay) = (full.flows[0].delay, short.flows[0].delay);
    println!("drop-tail {full_delay:?}, {:.0} b/s", total_goodput(&full));
    println!("fq-codel {short_delay:?}, {:.0} b/s", total_goodput(&short));
    println!("in the queue {:.4} and {:.4} s", waited(&full), waited(&short));
    assert!(waited(&full) > 0.07 && (0.005..0.015).contains(&waited(&short)));
    assert!(full_delay.p95 > 4.0 * short_delay.p95, "{full_delay:?}, {short_delay:?}");
    assert!(total_goodput(&short) > 0.95 * total_goodput(&full));
    let causes = [DropCause::Aqm, DropCause::QueueFull].map(|cause| dropped(&short, cause));
    assert!(causes[0] > 10 && causes[1] == 0, "{causes:?}");
    assert_eq!(dropped(&full, DropCause::Aqm), 0);
}

#[test]
fn transports_that_understand_ecn_are_marked_and_lose_nothing() {
    let marked = one_link(fq_codel(), 1000, true);
    let flow = &marked.flows[0];
    println!("{:?}, {:.0} b/s, {} marks", flow.delay, total_goodput(&marked), flow.marked);
    assert_eq!(dropped(&marked, DropCause::Aqm), 0);
    assert!(flow.marked > 10 && flow.ecn_reductions > 5, "{flow:?}");
    assert!((0.005..0.015).contains(&waited(&marked)), "{}", waited(&marked));
    let Discipline::FqCodel(lines) = fq_codel() else { unreachable!() };
    let codel = CodelOptions { ecn: false, ..lines.codel };
    let without = one_link(Discipline::FqCodel(FqCodelOptions { codel, ..lines }), 1000, true);
    assert!(without.flows[0].marked == 0 && dropped(&without, DropCause::Aqm) > 10);
}

/// Node 0 between node 1, which hears every frame, and node 2, which hears half of the DATA.
fn lossy_client(discipline: Discipline) -> Outcome {
    let mut config = network(DcfRules::IEEE, &[[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]]);
    let link = |from, to, value| MatrixLink { from: NodeId(from), to: NodeId(to), value };
    let links = vec![
        link(0, 1, 1.0),
        link(1, 0, 1.0),
        link(0, 2, 0.5),
        link(2, 0, 1.0),
        link(1, 2, 1.0),
        link(2, 1, 1.0),
    ];
    config.medium.model =
        MediumModel::Matrix { links, quantity: MatrixQuantity::Delivery { probe_size: 1500 } };
    config.mac.queue.discipline = discipline;
    config.mac.queue.limit = 100;
    config.duration = Span::from_ms(60_000);
    for client in [1, 2] {
        let app = AppConfig::Cbr { rate: Rate::from_kbps(6_000), packet: 1472, jitter: 0.5 };
        add_flow(&mut config, 0, client, app);
    }
    run(&config)
}

/// Airtime in microseconds of DATA to each client with its acknowledgements: 1584 us and 10 + 304 us.
fn airtimes(outcome: &Outcome) -> [f64; 2] {
    [1, 2].map(|client| {
        let link = outcome.links.iter().find(|link| (link.from, link.to) == (0, client)).unwrap();
        let data = 192.0 + (1500.0 + 8.0 + 28.0) * 8.0 / 11.0;
        link.data as f64 * data + link.acknowledged as f64 * 314.0
    })
}

#[test]
fn stations_share_airtime_and_not_goodput() {
    let shared = lossy_client(stations());
    let bytes = |outcome: &Outcome, flow: usize| outcome.flows[flow].delivered_bytes as f64;
    let [near, far] = airtimes(&shared);
    let ratio = bytes(&shared, 1) / bytes(&shared, 0);
    println!("stations: airtime {near:.0} and {far:.0} us, goodput {ratio:.3} to 1");
    assert!((far / near - 1.0).abs() < 0.01, "{near} {far}");
    assert!((0.48..0.60).contains(&ratio), "twice the DATA for a packet, and one ACK: {ratio}");
    // Without airtime, packets are shared, and the air goes to the client that loses.
    for discipline in [Discipline::DropTail, fq_codel()] {
        let outcome = lossy_client(discipline);
        let [near, far] = airtimes(&outcome);
        let ratio = bytes(&outcome, 1) / bytes(&outcome, 0);
        println!("{discipline:?}: airtime {near:.0} and {far:.0} us, goodput {ratio:.3} to 1");
        assert!(far / near > 1.6 && ratio > 0.9, "{far} {near} {ratio}");
    }
    assert!(total_goodput(&shared) > 1.08 * total_goodput(&lossy_client(Discipline::DropTail)));
}

/// Client 2 sends as much as it receives: if its frames are charged, it receives half of what client 1 does.
#[test]
fn frames_from_a_station_are_charged_if_so_configured() {
    let ratio = |charge_received: bool| {
        let mut config = network(DcfRules::IEEE, &[[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]]);
        let options = StationsOptions { charge_received, ..StationsOptions::default() };
        config.mac.queue.discipline = Discipline::Stations(options);
        config.mac.queue.limit = 100;
        config.duration = Span::from_ms(30_000);
        for (from, to, kbps) in [(0, 1, 6_000), (0, 2, 6_000), (2, 0, 1_500)] {
            let app = AppConfig::Cbr { rate: Rate::from_kbps(kbps), packet: 1472, jitter: 0.5 };
            add_flow(&mut config, from, to, app);
        }
        let outcome = run(&config);
        outcome.flows[1].delivered_bytes as f64 / outcome.flows[0].delivered_bytes as f64
    };
    let (charged, not) = (ratio(true), ratio(false));
    println!("charged {charged:.3}, not {not:.3}");
    assert!((0.98..1.02).contains(&not), "{not}");
    assert!((0.2..0.7).contains(&charged), "{charged}");
}

/// A flow with little traffic does not wait for one with much.
#[test]
fn sparse_flows_overtake_over_wires() {
    let delays = |discipline: Discipline| {
        let mut config = wired(DcfRules::IEEE, 2);
        tcp(&mut config, "udp", &json!({}));
        lay(&mut config, (0, 1), mbps(2), Span::from_ms(1), 500);
        config.topology.wires.iter_mut().for_each(|wire| wire.discipline = discipline);
        config.duration = Span::from_ms(10_000);
        for (kbps, packet) in [(4_000, 1_000), (64, 160)] {
            let app = AppConfig::Cbr { rate: Rate::from_kbps(kbps), packet, jitter: 0.1 };
            add_flow(&mut config, 0, 1, app);
        }
        let outcome = run(&config);
        let lost = outcome.wires[0].dropped;
        assert_eq!(lost, outcome.conservation.dropped.iter().sum::<u64>(), "{:?}", outcome.conservation);
        let by_aqm = dropped(&outcome, DropCause::Aqm);
        assert!((by_aqm > 0) == (discipline != Discipline::DropTail) && lost > 100);
        [
            outcome.flows[0].delay.p50,
            outcome.flows[1].delay.max,
            outcome.flows[1].dropped.iter().sum::<u64>() as f64,
        ]
    };
    let (managed, plain) = (delays(fq_codel()), delays(Discipline::DropTail));
    println!("fq-codel {managed:?}, drop-tail {plain:?}");
    assert!(plain[1] > 1.5 && plain[2] > 10.0, "{plain:?}");
    assert!(managed[1] < 0.012 && managed[2] == 0.0, "{managed:?}");
}

#[test]
fn flows_of_unequal_round_trips_share_a_wire() {
    let shares = |discipline: Discipline| {
        let mut config = wired(DcfRules::IEEE, 6);
        tcp(&mut config, "tcp-cubic", &json!({}));
        for (pair, delay) in [(0, 2), (1, 40)] {
            lay(&mut config, (pair, 2), mbps(100), Span::from_ms(delay), 1000);
            lay(&mut config, (3, 4 + pair), mbps(100), Span::from_ms(1), 1000);
        }
        lay(&mut config, (2, 3), mbps(10), Span::from_ms(5), 100);
        config.topology.wires.iter_mut().for_each(|wire| wire.discipline = discipline);
        config.topology.wires.iter_mut().for_each(|wire| wire.queue_limit = 1000);
        config.recording.warmup = Span::from_ms(10_000);
        config.duration = Span::from_ms(60_000);
        saturate(&mut config, 0, 4);
        saturate(&mut config, 1, 5);
        let outcome = run(&config);
        (goodput(&outcome, 0), goodput(&outcome, 1), wire(&outcome, 2, 3).queue_mean)
    };
    let (short, long, queue) = shares(fq_codel());
    println!("fq-codel {short:.0} and {long:.0} b/s, {queue:.1} packets");
    assert!(short + long > 8.5e6 && long / short > 0.7, "{short} {long}");
    assert!(queue < 12.0, "{queue}");
    let (.., full) = shares(Discipline::DropTail);
    assert!(full > 40.0, "{full}");
}

/// TCP whose policies track the backlog of the queue.
struct ObservedNewReno(TcpNewReno, Arc<Mutex<BacklogObservation>>);

#[derive(Clone, Copy, Debug, Default)]
struct BacklogObservation {
    backlog: i64,
    least: i64,
    most: i64,
    taken: u64,
    /// Number of packets at whose dequeue the two differed.
    wrong: u64,
}

struct BacklogWatcher(NodeId, Arc<Mutex<BacklogObservation>>);

impl Scheme for ObservedNewReno {
    fn sender(&self) -> Box<dyn Endpoint> {
        self.0.sender()
    }
    fn receiver(&self) -> Box<dyn Endpoint> {
        self.0.receiver()
    }
    fn segment_size(&self) -> u32 {
        self.0.segment_size()
    }
    fn router(&self, node: NodeId, _egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        Some(Box::new(BacklogWatcher(node, self.1.clone())))
    }
}

impl RouterPolicy for BacklogWatcher {
    fn on_backlog(&mut self, _now: Time, _next_hop: NodeId, bytes: i64) {
        if self.0 == NodeId(0) {
            let mut seen = self.1.lock().unwrap();
            seen.backlog += bytes;
            seen.least = seen.least.min(seen.backlog);
            seen.most = seen.most.max(seen.backlog);
        }
    }
    fn on_head_of_line(&mut self, _hop: Hop, packet: &mut Packet, view: &LinkView) -> Verdict {
        if self.0 == NodeId(0) {
            let mut seen = self.1.lock().unwrap();
            seen.taken += 1;
            seen.wrong += u64::from(view.queue_bytes as i64 + i64::from(packet.size) != seen.backlog);
        }
        Verdict::Pass
    }
}

/// The backlog that policies are notified of is correct for every outcome of a packet: sent, dropped at the
/// tail or the head, purged, too old. At the end it is zero.
#[test]
fn the_bytes_that_policies_hear_of_add_up() {
    for discipline in [Discipline::DropTail, fq_codel(), stations()] {
        for queue_limit in [7, 200] {
            let seen = Arc::new(Mutex::new(BacklogObservation::default()));
            let mut config: Config = chain(DcfRules::IEEE, 2);
            let scheme = ObservedNewReno(TcpNewReno::default(), seen.clone());
            config.traffic.schemes = vec![SchemeConfig { name: "watched".into(), scheme: Arc::new(scheme) }];
            config.mac.queue.discipline = discipline;
            config.mac.queue.limit = queue_limit;
            config.mac.queue.lifetime = Some(Span::from_ms(30));
            config.mac.short_retry_limit = Some(3);
            config.medium.packet_error_rate = 0.3;
            config.routing.on_link_failure = LinkFailureRule::Break { failures: 1, hold: Span::from_ms(5) };
            config.duration = Span::from_ms(60_000);
            for to in [1, 2, 2] {
                add_flow(&mut config, 0, to, AppConfig::Bulk { bytes: Some(1_000_000) });
            }
            let outcome = run(&config);
            let seen = *seen.lock().unwrap();
            assert!(outcome.conservation.queued == 0, "{discipline:?}: {:?}", outcome.conservation);
            assert!(seen.least == 0 && seen.backlog == 0, "{discipline:?}: {seen:?}");
            assert!(seen.wrong == 0 && seen.taken > 1_000, "{discipline:?}: {seen:?}");
            assert!(seen.most > 4_000, "{discipline:?}: {seen:?}");
        }
    }
}
