//! Wires that lose packets at random.

use crate::common::saturate;
use crate::common::wires::{lay, mbps, tcp, wire, wired};
use multihop_core::{DropCause, Span};
use multihop_dot11::DcfRules;
use multihop_sim::config::Config;
use multihop_sim::run;
use serde_json::json;

const LOST: usize = DropCause::WireLoss as usize;

/// Two wires without a common node, with datagrams in one direction on both and in the other on the first.
fn two_wires() -> Config {
    let mut config = wired(DcfRules::IEEE, 4);
    lay(&mut config, (0, 1), mbps(10), Span::from_ms(20), 50);
    lay(&mut config, (2, 3), mbps(10), Span::from_ms(20), 50);
    saturate(&mut config, 0, 1);
    saturate(&mut config, 2, 3);
    saturate(&mut config, 1, 0);
    config
}

/// A tenth of what is sent one way, within four standard deviations, and nothing of what is sent the other
/// way. What is not lost has arrived or is on its way; that no packet is missing is asserted at the end of
/// every run.
#[test]
fn a_wire_loses_the_share_that_it_is_to_lose_in_that_direction_alone() {
    let mut config = two_wires();
    config.topology.wires[0].loss = 0.1;
    let outcome = run(&config);
    let (there, back) = (wire(&outcome, 0, 1), wire(&outcome, 1, 0));
    let sent = there.sent as f64;
    assert!(sent > 10_000.0, "{there:?}");
    assert!((there.lost as f64 - 0.1 * sent).abs() < 4.0 * (0.09 * sent).sqrt(), "{there:?}");
    assert_eq!((there.dropped, back.lost), (0, 0));
    assert!(there.sent - there.lost - there.delivered <= 17, "20 ms of packets: {there:?}");
    assert_eq!(outcome.flows[0].dropped[LOST], there.lost);
    assert_eq!(outcome.nodes[0].dropped[LOST], there.lost);
    assert_eq!(outcome.conservation.dropped[LOST], there.lost);
    assert_eq!([1, 2].map(|flow| outcome.flows[flow].dropped[LOST]), [0, 0]);
}

/// The stream of a wire is its own: what one loses does not depend on another, and what does not cross it
/// goes on as before.
#[test]
fn losses_of_a_wire_change_no_other_draw() {
    let mut config = two_wires();
    tcp(&mut config, "tcp-newreno", &json!({}));
    let flow = |config: &Config, index: usize| run(config).flows[index].clone();
    let (first, second) = (flow(&config, 0), flow(&config, 1));
    config.topology.wires[2].loss = 0.01;
    let lossy = flow(&config, 1);
    assert_eq!(flow(&config, 0), first);
    assert_ne!(lossy, second);
    config.topology.wires[0].loss = 0.02;
    assert_eq!(flow(&config, 1), lossy);
    assert_ne!(flow(&config, 0), first);
}

/// The same seed loses the same packets; another seed loses others.
#[test]
fn losses_follow_the_seed() {
    let mut config = two_wires();
    config.topology.wires[0].loss = 0.3;
    let lost = |seed: u64| {
        let mut config = config.clone();
        config.seed = seed;
        run(&config).flows[0].clone()
    };
    assert_eq!(lost(3), lost(3));
    assert_ne!(lost(3), lost(4));
}
