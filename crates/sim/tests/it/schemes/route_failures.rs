//! Senders that learn of failures of their route by a route error of AODV or DSR.

use crate::common::add_flow;
use crate::common::chain;
use multihop_core::{NodeId, Span};
use multihop_dot11::DcfRules;
use multihop_schemes::find;
use multihop_sim::config::*;
use multihop_sim::mobility::Outage;
use multihop_sim::outcome::Outcome;
use multihop_sim::run;
use serde_json::json;

/// A flow over three hops from 0 to 3, whose node `off` is off from 20 to 30 s.
fn interrupted(scheme: &str, routing: RoutingConfig, off: u32) -> Outcome {
    let mut config = chain(DcfRules::IEEE, 3);
    let built = find(scheme).unwrap().build(&json!({})).unwrap();
    config.traffic.schemes = vec![SchemeConfig { name: scheme.into(), scheme: built }];
    (config.recording.warmup, config.duration) = (Span::ZERO, Span::from_ms(60_000));
    config.recording.interval = Span::from_ms(1_000);
    let [from, to] = [20_000, 30_000].map(Span::from_ms);
    config.mobility.outages = vec![Outage { node: NodeId(off), from, to }];
    config.routing = routing;
    add_flow(&mut config, 0, 3, AppConfig::Saturated);
    run(&config)
}

fn routing(protocol: RoutingProtocol, on_link_failure: LinkFailureRule) -> RoutingConfig {
    RoutingConfig { protocol, metric: RouteMetric::Hops, on_link_failure }
}

/// Node 2 is off, so that node 1 reports the break to the sender's node.
fn cases() -> [(&'static str, RoutingConfig, u32); 2] {
    [
        ("aodv", routing(RoutingProtocol::Aodv(AodvConfig::default()), LinkFailureRule::Ignore), 2),
        ("dsr", routing(RoutingProtocol::Dsr(DsrConfig::default()), LinkFailureRule::Ignore), 2),
    ]
}

/// The window in the outage: the timer reduces it to one segment, unless the sender learns of the failure. A
/// timeout after the outage, for data that was lost in it, remains possible with TCP-ELFN.
#[test]
fn a_sender_that_learns_of_the_failure_does_not_time_out() {
    for (name, routing, off) in cases() {
        let of = |scheme| {
            let outcome = interrupted(scheme, routing.clone(), off);
            let windows = [22, 28].map(|second: usize| outcome.series[second].window_bytes.unwrap());
            let later: u64 = outcome.series.iter().skip(40).map(|row| row.delivered_bytes).sum();
            (outcome.flows[0].timeouts, windows, later)
        };
        let [plain, elfn, atcp] = ["tcp-newreno", "tcp-elfn", "atcp"].map(of);
        assert!(plain.0 >= 3 && plain.1[1] == 1_460, "{name}: {plain:?}");
        assert!(elfn.0 < plain.0 && elfn.1[0] == elfn.1[1] && elfn.1[0] > 4 * 1_460, "{name}: {elfn:?}");
        assert_eq!((atcp.0, atcp.1), (0, [1_460; 2]), "{name}");
        assert!(elfn.2 > 0 && atcp.2 > 0, "{name}: {elfn:?}, {atcp:?}");
    }
}
