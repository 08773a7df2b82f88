//! The scheme of the tutorial "Write your own scheme": what its page says of it.

#[path = "../common/mod.rs"]
mod common;
mod queue_price;

use common::wires::{goodput, lay, mbps, wire, wired};
use common::saturate;
use multihop_core::{DropCause, Span};
use multihop_dot11::DcfRules;
use multihop_schemes::{Entry, REGISTRY};
use multihop_sim::config::SchemeConfig;
use multihop_sim::outcome::Outcome;
use multihop_sim::run;
use multihop_sim::scenario::{Overrides, resolve_among};
use queue_price::QueuePrice;
use serde_json::{Value, json};

#[test]
fn explore() {
    let own = Entry::of::<QueuePrice>();
    for flows in [1usize, 2, 4] {
        for (delay, q) in [(2u64, "30 kB"), (10, "30 kB"), (20, "30 kB"), (20, "100 kB"),(5,"100 kB")] {
            let mut config = wired(DcfRules::IEEE, 2 + 2 * flows);
            lay(&mut config, (0, 1), mbps(10), Span::from_ms(delay), 200);
            for f in 0..flows {
                let (a, b) = (2 + 2 * f, 3 + 2 * f);
                lay(&mut config, (a as u32, 0), mbps(100), Span::ZERO, 1000);
                lay(&mut config, (1, b as u32), mbps(100), Span::ZERO, 1000);
                saturate(&mut config, a, b);
            }
            config.schemes = vec![SchemeConfig { name: "queue-price".into(), scheme: own.build(&json!({"queue": q})).unwrap() }];
            config.warmup = Span::from_ms(10_000);
            config.duration = Span::from_ms(40_000);
            let outcome = run(&config);
            let w = wire(&outcome, 0, 1);
            let each: Vec<f64> = (0..flows).map(|f| goodput(&outcome, f) / 1e3).collect();
            println!("{flows} {delay} {q}: {each:.0?} win {:?} util {:.3} queue {:.2} dropped {} max {}", outcome.flows[0].window_mean.unwrap()/1460.0, w.utilisation, w.queue_mean, w.dropped, w.queue_max);
        }
    }
    let known = [REGISTRY, &[own]].concat();
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/chain.toml")).unwrap();
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/mesh-demo.toml")).unwrap();
    for (scheme, q) in [("tcp-newreno", 0), ("tcp-vegas", 0), ("recn", 0), ("queue-price", 7), ("queue-price", 15), ("queue-price", 30)] {
        let (mut g, mut d, mut j, mut t) = (0.0, 0.0, 0.0, 0);
        for seed in 1..=5 {
            let text = if q > 0 { format!("{text}\n[schemes.queue-price]\nqueue = \"{q} kB\"\n") } else { text.clone() };
            let overrides = Overrides { seed: Some(seed), scheme: Some(scheme.into()), ..Overrides::default() };
            let o = run(&resolve_among(&known, &text, "chain.toml", &overrides).unwrap_or_else(|e| panic!("{e}")).config);
            let each: Vec<f64> = (0..o.flows.len()).map(|f| goodput(&o, f)).collect();
            let sum: f64 = each.iter().sum();
            g += sum / 5e3;
            j += sum * sum / each.len() as f64 / each.iter().map(|x| x * x).sum::<f64>() / 5.0;
            d += o.flows.iter().map(|f| f.delay.p95).sum::<f64>() / each.len() as f64 * 200.0;
            t += o.flows.iter().map(|f| f.timeouts).sum::<u64>();
        }
        println!("mesh {scheme} {q}: {g:.1} kb/s, mean p95 {d:.1} ms, jain {j:.3}, {t} timeouts");
    }
}
