//! Senders that learn of failures of their route, with each routing protocol: what the source hears, when it
//! probes and when it resumes.

use crate::common::add_flow;
use crate::common::chain;
use multihop_core::{NodeId, Span};
use multihop_dot11::DcfRules;
use multihop_schemes::find;
use multihop_sim::config::*;
use multihop_sim::mobility::Outage;
use multihop_sim::run;
use serde_json::json;

/// Start and end of the outage, in seconds. DSDV needs most of the time before to find the route.
const OUTAGE: [u64; 2] = [120, 130];

fn routing(protocol: RoutingProtocol) -> RoutingConfig {
    RoutingConfig { protocol, metric: RouteMetric::Hops, on_link_failure: LinkFailureRule::Ignore }
}

fn static_routes(on_link_failure: LinkFailureRule) -> RoutingConfig {
    RoutingConfig { on_link_failure, ..routing(RoutingProtocol::Static) }
}

fn dsdv(use_mac: bool) -> RoutingConfig {
    routing(RoutingProtocol::Dsdv(DsdvConfig { use_mac, ..DsdvConfig::default() }))
}

/// What a flow did.
#[derive(Debug, PartialEq)]
struct Course {
    /// Windows in segments: before the outage, and 2 and 8 s after its begin.
    windows: [u64; 3],
    /// Segments sent from 2 to 10 s after the begin of the outage.
    probes: u64,
    /// Expiries of the timer, in the whole run.
    timeouts: u64,
    /// Seconds from the end of the outage to the first delivery.
    resumed: Option<usize>,
}

/// A flow from node 0 to node 3 over three hops, with a window of eight segments, whose node `off` is off
/// during the outage.
fn course(scheme: &str, flavour: &str, routing: &RoutingConfig, off: u32) -> Course {
    let mut config = chain(DcfRules::IEEE, 3);
    let built = find(scheme).unwrap().build(&json!({ "flavour": flavour, "window": 8 })).unwrap();
    let segment = u64::from(built.segment_size());
    config.traffic.schemes = vec![SchemeConfig { name: scheme.into(), scheme: built }];
    (config.recording.warmup, config.duration) = (Span::ZERO, Span::from_ms(160_000));
    config.recording.interval = Span::from_ms(1_000);
    let [from, to] = OUTAGE.map(|second| Span::from_ms(second * 1_000));
    config.mobility.outages = vec![Outage { node: NodeId(off), from, to }];
    config.routing = routing.clone();
    add_flow(&mut config, 0, 3, AppConfig::Saturated);
    config.traffic.flows[0].start = Span::from_ms(100_000);
    let outcome = run(&config);
    let [begin, end] = OUTAGE.map(|second| second as usize);
    let sent: u64 = outcome.series[begin + 2..end].iter().map(|row| row.sent_bytes).sum();
    Course {
        windows: [begin - 2, begin + 2, begin + 8]
            .map(|at| outcome.series[at].window_bytes.unwrap().div_ceil(segment)),
        probes: sent.div_ceil(segment),
        timeouts: outcome.flows[0].timeouts,
        resumed: outcome.series[end..].iter().position(|row| row.delivered_bytes > 0),
    }
}

/// Courses of `tcp-newreno`, `tcp-elfn` and `atcp`.
fn courses(flavour: &str, routing: &RoutingConfig, off: u32) -> [Course; 3] {
    ["tcp-newreno", "tcp-elfn", "atcp"].map(|scheme| course(scheme, flavour, routing, off))
}

/// Node 1 is the next hop of the source; node 2 is not, so that node 1 must send a message. The timer closes
/// the window of TCP. A sender that hears of the failure probes every two seconds, TCP-ELFN with its old
/// window, ATCP with a window of one segment. With static routes the first packet that node 0 fails to send
/// is the notice. If all data had left the node, this is the retransmission after a timeout.
#[test]
fn a_sender_that_hears_of_the_failure_probes_instead_of_timing_out() {
    let aodv = routing(RoutingProtocol::Aodv(AodvConfig::default()));
    let dsr = routing(RoutingProtocol::Dsr(DsrConfig::default()));
    let breaking = static_routes(LinkFailureRule::Break { failures: 1, hold: Span::from_ms(500) });
    let cases = [
        ("aodv", aodv, vec![1, 2]),
        ("dsr", dsr, vec![1, 2]),
        ("dsdv", dsdv(true), vec![1, 2]),
        ("static", breaking, vec![1]),
    ];
    for (name, routing, nodes) in &cases {
        for (off, flavour) in nodes.iter().flat_map(|off| [(*off, "rfc"), (*off, "linux")]) {
            let [plain, elfn, atcp] = courses(flavour, routing, off);
            let case = format!("{name}, node {off}, {flavour}: {plain:?} {elfn:?} {atcp:?}");
            let kept = if *name == "static" && elfn.timeouts == 1 { 1 } else { 8 };
            assert_eq!((plain.windows, atcp.windows), ([8, 1, 1], [8, 1, 1]), "{case}");
            assert_eq!(elfn.windows, [8, kept, kept], "{case}");
            assert_eq!((elfn.probes, atcp.probes), (4, 4), "{case}");
            assert!(atcp.resumed.is_some_and(|after| after <= 9), "{case}");
            assert!(elfn.resumed.is_some_and(|after| after <= 9), "{case}");
        }
    }
}

/// With static routes only the source's own link can be seen to break, and only with `break`. Without
/// `use_mac`, DSDV needs 45 s of silence. The source hears nothing then: TCP-ELFN is plain TCP, and ATCP
/// repeats what is outstanding at each timeout with its old window.
#[test]
fn a_sender_that_hears_nothing_goes_on_by_its_timer() {
    let breaking = static_routes(LinkFailureRule::Break { failures: 1, hold: Span::from_ms(500) });
    let cases = [
        ("static, break", breaking, 2),
        ("static", static_routes(LinkFailureRule::Ignore), 1),
        ("dsdv", dsdv(false), 2),
    ];
    for (name, routing, off) in &cases {
        for flavour in ["rfc", "linux"] {
            let [plain, elfn, atcp] = courses(flavour, routing, *off);
            assert_eq!(elfn, plain, "{name}, {flavour}");
            assert_eq!((plain.windows, atcp.windows), ([8, 1, 1], [8; 3]), "{name}, {flavour}");
        }
    }
}
