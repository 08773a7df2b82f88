//! `tcp-cubic`, `tcp-vegas`, `tcp-westwood`, `tcp-bbr` and `tcp-ap` on chains.

use crate::common::{chain, saturate, total_goodput};
use multihop_core::{DropCause, Rate, Span};
use multihop_dot11::{DcfRules, Phy, Preamble, Standard};
use multihop_schemes::find;
use multihop_sim::config::{Config, SchemeConfig};
use multihop_sim::outcome::Outcome;
use multihop_sim::run;
use serde_json::{Value, json};

const VARIANTS: [&str; 5] = ["tcp-cubic", "tcp-vegas", "tcp-westwood", "tcp-bbr", "tcp-ap"];

/// DSSS at 2 Mb/s with RTS, `hops` hops, one saturated flow.
fn run_chain(rules: DcfRules, name: &str, parameters: &Value, hops: usize, seed: u64) -> Outcome {
    let mut config: Config = chain(rules, hops);
    config.phy = Phy::new(Standard::Dsss, Preamble::Long);
    config.rates.data = Rate::from_kbps(2_000).into();
    config.mac.rts_threshold = Some(0);
    config.duration = Span::from_ms(61_000);
    config.seed = seed;
    let scheme = find(name).unwrap().build(parameters).unwrap();
    config.traffic.schemes = vec![SchemeConfig { name: name.into(), scheme }];
    saturate(&mut config, 0, hops);
    run(&config)
}

fn retry_drops(outcome: &Outcome) -> u64 {
    outcome.flows[0].dropped[DropCause::RetryLimit as usize]
}

/// Conservation of packets is asserted at the end of every run.
///
/// Back-off makes round trips of one hop vary by a sixth, by which `tcp-ap` waits longer than the link needs:
/// that is its price.
#[test]
fn over_one_hop_each_variant_carries_what_newreno_does() {
    for parameters in [json!({ "delayed_ack": "0 s" }), json!({ "flavour": "ns2" })] {
        let goodput = |name: &str| total_goodput(&run_chain(DcfRules::IEEE, name, &parameters, 1, 1));
        let newreno = goodput("tcp-newreno");
        for (name, least) in VARIANTS.into_iter().zip([0.98, 0.98, 0.98, 0.96, 0.9]) {
            let ratio = goodput(name) / newreno;
            println!("{name} {parameters}: {ratio:.4}");
            assert!((least..1.02).contains(&ratio), "{name} {parameters}: {ratio}");
        }
    }
}

#[test]
fn over_four_hops_each_variant_works() {
    let newreno = total_goodput(&run_chain(DcfRules::IEEE, "tcp-newreno", &json!({}), 4, 1));
    for name in VARIANTS {
        let outcome = run_chain(DcfRules::IEEE, name, &json!({}), 4, 1);
        let ratio = total_goodput(&outcome) / newreno;
        println!("{name}: {ratio}, {} drops", retry_drops(&outcome));
        assert!((0.7..1.6).contains(&ratio), "{name}: {ratio}");
    }
}

/// Purpose of pacing: over eight hops segments of `tcp-newreno` collide with those before them (hidden
/// nodes), and those of `tcp-ap` hardly do (`ElRakabawy`, Klemm and Lindemann 2005).
#[test]
fn over_eight_hops_tcp_ap_loses_far_fewer_frames_than_newreno() {
    for rules in [DcfRules::IEEE, DcfRules::NS2] {
        let drops = |name: &str| -> u64 {
            (1..=3)
                .map(|seed| retry_drops(&run_chain(rules, name, &json!({ "flavour": "ns2" }), 8, seed)))
                .sum()
        };
        let (newreno, paced) = (drops("tcp-newreno"), drops("tcp-ap"));
        println!("retry limit: newreno {newreno}, tcp-ap {paced}");
        assert!(newreno > 20 && paced * 4 < newreno, "newreno {newreno}, tcp-ap {paced}");
    }
}
