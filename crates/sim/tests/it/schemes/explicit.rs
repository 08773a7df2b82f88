//! XCP and RCP and what derives from them in the engine.

use crate::common::{chain, saturate, total_goodput};
use multihop_core::Span;
use multihop_dot11::DcfRules;
use multihop_schemes::find;
use multihop_sim::config::{Config, SchemeConfig};
use multihop_sim::outcome::Outcome;
use multihop_sim::run;
use serde_json::{Value, json};

const EXPLICIT: [&str; 5] = ["xcp", "xcp-b", "rcp", "xcp-winf", "rcp-winf"];

fn scheme(name: &str, parameters: &Value) -> SchemeConfig {
    SchemeConfig { name: name.into(), scheme: find(name).unwrap().build(parameters).unwrap() }
}

/// A transfer over so many hops, with RTS/CTS.
fn transfer(name: &str, parameters: &Value, hops: usize) -> Config {
    let mut config = chain(DcfRules::IEEE, hops);
    config.mac.rts_threshold = Some(0);
    config.duration = Span::from_ms(30_000);
    config.traffic.schemes = vec![scheme(name, parameters)];
    saturate(&mut config, 0, hops);
    config
}

fn lost_of_full_queues(outcome: &Outcome) -> u64 {
    outcome.nodes.iter().map(|node| node.dropped[0]).sum()
}

/// A transfer each way over four hops. (That packets are conserved is asserted at the end of every run.)
#[test]
fn over_four_hops_they_all_get_something_through() {
    for name in EXPLICIT {
        let mut config = transfer(name, &json!({}), 4);
        saturate(&mut config, 4, 0);
        let outcome = run(&config);
        let goodput = total_goodput(&outcome) * 1e-6;
        let queue = outcome.nodes.iter().map(|node| node.queue_max).max().unwrap();
        assert!(goodput > 0.05, "{name}: {goodput}");
        assert!(outcome.flows.iter().all(|flow| flow.delivered_bytes > 0), "{name}: {:?}", outcome.flows);
        assert!(queue <= config.mac.queue.limit as u64);
    }
}

/// Over one hop, which carries about 3.5 Mb/s of payload beside acknowledgements: routers that know of a
/// capacity below that keep the queue short and lose nothing, and XCP-b finds out what there is.
#[test]
fn over_one_hop_a_known_capacity_keeps_queues_short() {
    for (name, parameters, least) in [
        ("xcp", json!({ "capacity": "3 Mb/s", "delayed_ack": "0 s" }), 2.2),
        ("rcp", json!({ "capacity": "3 Mb/s" }), 2.2),
        ("xcp-b", json!({}), 3.0),
    ] {
        let outcome = run(&transfer(name, &parameters, 1));
        let (goodput, queue) = (total_goodput(&outcome) * 1e-6, outcome.nodes[0].queue_mean);
        assert!(goodput > least && goodput < 3.6, "{name}: {goodput}");
        assert!(queue < 10.0, "{name}: {queue}");
        assert_eq!(lost_of_full_queues(&outcome), 0, "{name}");
    }
}

/// Readings of equations change what happens: as printed, RCP-Winf's rate falls to the least one whatever the
/// load.
#[test]
fn rcp_winf_as_printed_starves() {
    let goodput = |parameters: &Value| total_goodput(&run(&transfer("rcp-winf", parameters, 1))) * 1e-6;
    let printed = goodput(&json!({ "input": "printed" }));
    let read = goodput(&json!({}));
    assert!(printed < 0.2 && read > 5.0 * printed, "{printed} Mb/s against {read} Mb/s");
}

/// rt-Winf's default follows the RTS threshold, which counts MAC headers.
#[test]
fn winf_schemes_watch_what_there_is() {
    let outcome = |threshold: Option<u32>, parameters: &Value| {
        let mut config = transfer("xcp-winf", parameters, 2);
        config.mac.rts_threshold = threshold;
        run(&config)
    };
    // As printed: read whole, what is sensed counts, whatever frames are watched.
    let watched = |frames: &str| json!({ "watched": frames, "reading": "printed" });
    let (pairs, exchanges) = (watched("probe"), watched("rts-cts"));
    // A full packet has 1532 bytes, of which headers of the MAC make a few more.
    for (threshold, fits, other) in [
        (None, &pairs, &exchanges),
        (Some(2_347), &pairs, &exchanges),
        (Some(1_540), &exchanges, &pairs),
        (Some(0), &exchanges, &pairs),
    ] {
        let found = outcome(threshold, &json!({ "reading": "printed" }));
        assert_eq!(found, outcome(threshold, fits), "{threshold:?}");
        assert_ne!(found, outcome(threshold, other), "{threshold:?}");
    }
}
