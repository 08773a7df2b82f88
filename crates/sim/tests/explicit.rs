//! XCP and RCP and what derives from them in the engine.

mod common;

use common::{add_flow, chain, saturate, saturated_cell, total_goodput};
use multihop_core::{Rate, Span};
use multihop_dot11::DcfRules;
use multihop_schemes::find;
use multihop_sim::config::{AppConfig, Config, SchemeConfig};
use multihop_sim::run;
use serde_json::{Value, json};

fn scheme(name: &str, parameters: &Value) -> SchemeConfig {
    SchemeConfig { name: name.into(), scheme: find(name).unwrap().build(parameters).unwrap() }
}

const EXPLICIT: [&str; 3] = ["xcp", "xcp-b", "rcp"];

/// Four hops, a transfer each way, RTS/CTS.
fn four_hops(name: &str, parameters: &Value) -> Config {
    let mut config = chain(DcfRules::IEEE, 4);
    config.mac.rts_threshold = Some(0);
    config.duration = Span::from_ms(30_000);
    config.schemes = vec![scheme(name, parameters)];
    saturate(&mut config, 0, 4);
    config
}

#[test]
fn over_four_hops_they_run_and_every_packet_is_accounted_for() {
    for name in EXPLICIT {
        let mut config = four_hops(name, &json!({}));
        saturate(&mut config, 4, 0);
        let outcome = run(&config);
        println!("{name} {} {:?}", total_goodput(&outcome), outcome.flows);
        for node in &outcome.nodes { println!("{node:?}"); }
    }
}
