//! XCP and RCP and what derives from them in the engine.

mod common;

use common::{chain, saturate, total_goodput};
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
    config.schemes = vec![scheme(name, parameters)];
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
        let lost = lost_of_full_queues(&outcome);
        let queue = outcome.nodes.iter().map(|node| node.queue_max).max().unwrap();
        println!("{name}: {goodput:.3} Mb/s, {lost} lost of full queues, at most {queue} waiting");
        let shares: Vec<f64> = outcome.flows.iter().map(|flow| flow.delivered_bytes as f64).collect();
        println!("{shares:?} {:?}", outcome.flows.iter().map(|f| f.rtt_mean_s).collect::<Vec<_>>());
        assert!(goodput > 0.05, "{name}: {goodput}");
        assert!(queue <= config.mac.queue_limit as u64);
    }
}

#[test]
fn one_hop() {
    for name in EXPLICIT {
        for capacity in ["4 Mb/s", "2 Mb/s"] {
            let parameters =
                if name == "xcp" || name == "rcp" { json!({"capacity": capacity}) } else { json!({}) };
            let config = transfer(name, &parameters, 1);
            let outcome = run(&config);
            println!(
                "{name} {capacity} {} {} {:?} {}",
                total_goodput(&outcome),
                lost_of_full_queues(&outcome),
                outcome.flows[0].rtt_mean_s,
                outcome.nodes[0].queue_mean
            );
        }
    }
}
