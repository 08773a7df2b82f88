//! The scheme of the tutorial "Write your own scheme": everything that its page says of it.

mod queue_price;
mod registered;

use crate::common::saturate;
use crate::common::wires::{goodput, lay, mbps, wire, wired};
use multihop_core::{DropCause, Span};
use multihop_dot11::DcfRules;
use multihop_scenario::{Known, Overrides, Setting, resolve, resolve_among};
use multihop_schemes::{REGISTRY, SchemeEntry};
use multihop_sim::config::{Config, SchemeConfig};
use multihop_sim::outcome::Outcome;
use multihop_sim::run;
use queue_price::QueuePrice;
use serde_json::json;
use std::fmt::Write as _;

/// Flows from nodes of their own over one wire of 10 Mb/s, after so many milliseconds.
fn bottleneck(queue: &str, delay: u64, flows: usize) -> Config {
    let mut config = wired(DcfRules::IEEE, 2 + 2 * flows);
    lay(&mut config, (0, 1), mbps(10), Span::from_ms(delay), 200);
    for flow in 0..flows {
        let (source, sink) = (2 + 2 * flow, 3 + 2 * flow);
        lay(&mut config, (source as u32, 0), mbps(100), Span::ZERO, 1000);
        lay(&mut config, (1, sink as u32), mbps(100), Span::ZERO, 1000);
        saturate(&mut config, source, sink);
    }
    let scheme = SchemeEntry::of::<QueuePrice>().build(&json!({ "queue": queue })).unwrap();
    config.traffic.schemes = vec![SchemeConfig { name: "queue-price".into(), scheme }];
    config.recording.warmup = Span::from_ms(10_000);
    config.duration = Span::from_ms(40_000);
    config
}

// [law]
/// In equilibrium of a flow, the queue is `Q` over the window in segments, but for a part of the
/// packet that comes while another is sent.
#[test]
fn on_a_wire_the_window_times_the_queue_is_what_the_law_says() {
    for (queue, bytes) in [("15 kB", 15e3), ("30 kB", 30e3), ("100 kB", 100e3), ("300 kB", 300e3)] {
        for delay in [2, 5, 10] {
            let outcome = run(&bottleneck(queue, delay, 1));
            let segments = outcome.flows[0].window_mean_bytes.unwrap() / 1460.0;
            let law = bytes / segments / 1512.0;
            let found = wire(&outcome, 0, 1);
            let beyond = found.queue_mean - law;
            assert!((0.0..0.7).contains(&beyond), "{queue}, {delay} ms: {} of {law}", found.queue_mean);
            assert!(found.utilisation > 0.99 && found.dropped == 0, "{queue}, {delay} ms: {found:?}");
        }
    }
}
// [sharing]

#[test]
fn on_a_wire_flows_share_what_there_is() {
    for flows in [2, 4, 8] {
        let outcome = run(&bottleneck("30 kB", 10, flows));
        let each: Vec<f64> = (0..flows).map(|flow| goodput(&outcome, flow)).collect();
        assert!(jain(&each) > 0.95, "{flows} flows: {each:?}");
        let found = wire(&outcome, 0, 1);
        assert!(found.utilisation > 0.95 && found.dropped == 0, "{flows} flows: {found:?}");
    }
}

/// Jain's index of what flows have.
fn jain(each: &[f64]) -> f64 {
    let total: f64 = each.iter().sum();
    total * total / each.iter().map(|rate| rate * rate).sum::<f64>() / each.len() as f64
}

const CHAIN: &str = include_str!("../../../../../scenarios/chain.toml");
const MESH: &str = include_str!("../../../../../scenarios/mesh-demo.toml");

// [scenario]
/// A scenario with this scheme for every flow, and with settings as those of `--set`.
fn scenario(text: &str, scheme: &str, seed: u64, settings: &[(&str, String)]) -> Config {
    let known = [REGISTRY, &[SchemeEntry::of::<QueuePrice>()]].concat();
    let setting =
        |(path, value): &(&str, String)| Setting { path: (*path).into(), value: format!("value = {value}") };
    // Rivals have the connection of queue-price.
    let flavour = scheme.starts_with("tcp-").then(|| (format!("schemes.{scheme}.flavour"), "\"rfc\""));
    let flavour = flavour.iter().map(|(path, value)| (path.as_str(), (*value).into()));
    let set = settings.iter().cloned().chain(flavour).map(|pair| setting(&pair)).collect();
    let overrides = Overrides { scheme: Some(scheme.into()), seed: Some(seed), set, ..Overrides::default() };
    resolve_among(Known { schemes: &known, load_estimator: None }, text, "scenario.toml", &overrides)
        .unwrap_or_else(|error| panic!("{error}"))
        .config
}
// [end of scenario]

/// Means over five seeds of one flow.
#[derive(Clone, Copy, Debug)]
struct Means {
    goodput_kbps: f64,
    delay_p95_ms: f64,
    window_segments: f64,
    retransmissions: f64,
    /// Segments that the MAC gave up.
    given_up: f64,
}

fn means(scheme: &str, settings: &[(&str, String)]) -> Means {
    let outcomes: Vec<Outcome> = (1..=5).map(|seed| run(&scenario(CHAIN, scheme, seed, settings))).collect();
    let mean = |of: &dyn Fn(&Outcome) -> f64| outcomes.iter().map(of).sum::<f64>() / outcomes.len() as f64;
    Means {
        goodput_kbps: mean(&|outcome| goodput(outcome, 0) / 1e3),
        delay_p95_ms: mean(&|outcome| outcome.flows[0].delay.p95 * 1e3),
        window_segments: mean(&|outcome| outcome.flows[0].window_mean_bytes.unwrap() / 1460.0),
        retransmissions: mean(&|outcome| outcome.flows[0].retransmissions as f64),
        given_up: mean(&|outcome| outcome.flows[0].dropped[DropCause::RetryLimit as usize] as f64),
    }
}

const HOPS: [u32; 4] = [1, 2, 4, 7];
const SCHEMES: [&str; 4] = ["tcp-newreno", "tcp-vegas", "recn", "queue-price"];

/// The table of the page, and what the page says below it.
#[test]
fn on_chains_it_does_what_the_page_says() {
    let found = HOPS.map(|hops| {
        let settings = [("topology.hops", hops.to_string()), ("flows[0].to", format!("\"n{hops}\""))];
        SCHEMES.map(|scheme| means(scheme, &settings))
    });
    for (hops, [newreno, vegas, recn, own]) in HOPS.into_iter().zip(found) {
        let of = |means: Means| own.goodput_kbps / means.goodput_kbps;
        let delay = own.delay_p95_ms / newreno.delay_p95_ms;
        assert!((0.97..1.03).contains(&of(newreno)), "{hops} hops: {own:?} of {newreno:?}");
        assert!(delay < if hops <= 2 { 0.25 } else { 0.67 }, "{hops} hops: {own:?} of {newreno:?}");
        let repeated = own.retransmissions / newreno.retransmissions.max(1.0);
        assert!(repeated < 0.67, "{hops} hops: {own:?} of {newreno:?}");
        assert!(own.given_up >= 0.9 * own.retransmissions, "{hops} hops: {own:?}");
        assert!((0.97..1.03).contains(&of(vegas)), "{hops} hops: {own:?} of {vegas:?}");
        assert!(vegas.delay_p95_ms < 0.8 * own.delay_p95_ms, "{hops} hops: {own:?} of {vegas:?}");
        assert!(hops < 7 || of(recn) > 1.2, "{hops} hops: {own:?} of {recn:?}");
        assert!(hops < 2 || recn.delay_p95_ms < 0.5 * own.delay_p95_ms, "{hops} hops: {own:?} of {recn:?}");
    }
    let table = table(&found);
    let shown = include_str!("results.md");
    assert_eq!(
        table, shown,
        "if that was meant, crates/scenario/tests/it/own_scheme/results.md is now\n{table}"
    );
}

fn table(found: &[[Means; 4]; 4]) -> String {
    let mut table = String::from(
        "| hops | scheme | goodput [kb/s] | 95th percentile of delay [ms] | mean window [segments] |\n\
         |---|---|---|---|---|\n",
    );
    for (hops, row) in HOPS.into_iter().zip(found) {
        for (scheme, means) in SCHEMES.into_iter().zip(row) {
            let Means { goodput_kbps, delay_p95_ms, window_segments, .. } = means;
            let numbers = format!("{goodput_kbps:.0} | {delay_p95_ms:.0} | {window_segments:.1}");
            writeln!(table, "| {hops} | `{scheme}` | {numbers} |").unwrap();
        }
    }
    table
}

#[test]
fn a_third_of_the_queue_trades_goodput_for_delay() {
    let third = [("schemes.queue-price.queue", "\"5 kB\"".into())];
    let (small, default) = (means("queue-price", &third), means("queue-price", &[]));
    let (delay, goodput) =
        (small.delay_p95_ms / default.delay_p95_ms, small.goodput_kbps / default.goodput_kbps);
    assert!(delay < 0.75 && (0.85..0.98).contains(&goodput), "{small:?} of {default:?}");
}

/// Ten connections that share nodes: goodput of all in kb/s, Jain's index, and the mean of the flows' 95th
/// percentiles of delay in ms.
fn on_the_mesh(scheme: &str) -> [f64; 3] {
    let mut means = [0.0; 3];
    for seed in 1..=5 {
        let outcome = run(&scenario(MESH, scheme, seed, &[]));
        let each: Vec<f64> = (0..outcome.flows.len()).map(|flow| goodput(&outcome, flow) / 1e3).collect();
        let delay: f64 = outcome.flows.iter().map(|flow| flow.delay.p95 * 1e3).sum();
        let found = [each.iter().sum(), jain(&each), delay / each.len() as f64];
        means.iter_mut().zip(found).for_each(|(mean, found)| *mean += found / 5.0);
    }
    means
}

#[test]
fn on_a_mesh_it_does_what_the_page_says() {
    let [newreno, vegas, own] = ["tcp-newreno", "tcp-vegas", "queue-price"].map(on_the_mesh);
    for other in [newreno, vegas] {
        assert!((0.88..1.02).contains(&(own[0] / other[0])), "{own:?} of {other:?}");
    }
    let as_vegas = (0.8..1.1).contains(&(own[1] / vegas[1]));
    assert!(own[1] > 1.25 * newreno[1] && as_vegas, "{own:?} of {newreno:?} and {vegas:?}");
    assert!(own[2] < 0.75 * newreno[2] && own[2] > 1.5 * vegas[2], "{own:?} of {newreno:?} and {vegas:?}");
}

#[test]
fn a_scenario_knows_it_only_where_it_is_given() {
    let overrides = Overrides { scheme: Some("queue-price".into()), ..Overrides::default() };
    let error = resolve(CHAIN, "chain.toml", &overrides).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("queue-price is not a scheme"), "{error}");
    let known = [SchemeEntry::of::<QueuePrice>()];
    let typo = Overrides { scheme: Some("queue-prise".into()), ..Overrides::default() };
    let error = resolve_among(Known { schemes: &known, load_estimator: None }, CHAIN, "chain.toml", &typo)
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(error.contains("did you mean \"queue-price\"?"), "{error}");
    let wrong = format!("{CHAIN}\n[schemes.queue-price]\nqueue = \"0 B\"\n");
    let place = format!("chain.toml:{}", wrong.lines().count());
    let error =
        resolve_among(Known { schemes: &known, load_estimator: None }, &wrong, "chain.toml", &overrides)
            .map(|_| ())
            .unwrap_err()
            .to_string();
    assert!(error.contains(&place), "{error}");
    assert!(error.contains("\"0 B\" is out of range; give a value from 1 B to 1 GB"), "{error}");
}
