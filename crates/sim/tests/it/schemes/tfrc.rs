//! TFRC on chains, beside what ns-2 does, and over wires beside TCP.

use crate::common::wires::{dumbbell, goodput, seconds};
use crate::common::{add_flow, chain, total_goodput};
use multihop_core::{Rate, Span};
use multihop_dot11::{DcfRules, Phy, Preamble, Standard};
use multihop_schemes::find;
use multihop_sim::config::{AppConfig, Config, SchemeConfig};
use multihop_sim::outcome::Outcome;
use multihop_sim::run;
use serde_json::{Value, json};

fn scheme(name: &str, parameters: &Value) -> SchemeConfig {
    SchemeConfig { name: name.into(), scheme: find(name).unwrap().build(parameters).unwrap() }
}

/// DSSS at 2 Mb/s with RTS, ns-2's rules, a saturated flow over so many hops of 200 m.
fn ns2_chain(hops: usize, seed: u64, flow: SchemeConfig) -> Config {
    let mut config = chain(DcfRules::NS2, hops);
    config.phy = Phy::new(Standard::Dsss, Preamble::Long);
    config.seed = seed;
    config.duration = Span::from_ms(301_000);
    config.recording.warmup = Span::from_ms(31_000);
    config.rates.data = Rate::from_kbps(2_000).into();
    config.mac.rts_threshold = Some(0);
    // ns-2's queue of 50 holds 49 (drop-tail.cc), and its DSDV adds an IP header.
    config.mac.queue.limit = 49;
    config.network.extra_header = 20;
    config.traffic.schemes = vec![flow];
    add_flow(&mut config, 0, hops, AppConfig::Saturated);
    config.traffic.flows[0].start = Span::from_ms(500 + 70 * seed);
    config
}

/// Goodput in kb/s, mean round trip in seconds, loss event rate.
fn found(outcome: &Outcome) -> [f64; 3] {
    let flow = &outcome.flows[0];
    [total_goodput(outcome) / 1e3, flow.rtt_mean_s.unwrap(), flow.loss_event_rate.unwrap()]
}

fn mean(rows: &[[f64; 3]]) -> [f64; 3] {
    std::array::from_fn(|column| rows.iter().map(|row| row[column]).sum::<f64>() / rows.len() as f64)
}

/// `Agent/TFRC` of ns-2.35 on the same chains with static routes, ten runs each: goodput in kb/s, mean
/// smoothed round trip in seconds, mean loss event rate over time. Where the queue is not what limits, round
/// trips vary much between runs: by a fifth with three hops, a tenth with seven. The intervals of 95 % of the
/// means of both programs overlap.
#[test]
fn chains_of_ns2() {
    let ns2 = [
        (1, 1505.9, 0.3513, 0.00073),
        (2, 750.2, 0.7022, 0.00073),
        (4, 345.0, 0.2034, 0.03131),
        (7, 277.0, 0.4946, 0.02003),
    ];
    for (hops, kbps, rtt, loss_event_rate) in ns2 {
        let flow = scheme("tfrc", &json!({ "flavour": "ns2" }));
        let rows: Vec<[f64; 3]> =
            (1..=8).map(|seed| found(&run(&ns2_chain(hops, seed, flow.clone())))).collect();
        let ratios = mean(&rows);
        let ratios = [ratios[0] / kbps, ratios[1] / rtt, ratios[2] / loss_event_rate];
        println!("{hops} hops: {ratios:.3?}");
        for (ratio, within) in ratios.into_iter().zip([0.02, 0.1, 0.1]) {
            assert!((ratio - 1.0).abs() < within, "{hops} hops: {ratios:?}");
        }
    }
}

/// Over seven hops a cap below what the chain carries is the rate, with short queues and next to no losses;
/// one above all that it could ever send at changes nothing.
#[test]
fn a_cap_below_the_knee_is_the_rate_and_a_huge_one_is_none() {
    let capped = |cap: &str| {
        let parameters = json!({ "flavour": "ns2", "cap": cap });
        run(&ns2_chain(7, 1, scheme("tfrc-capped", &parameters)))
    };
    let low = capped("200 kb/s");
    let high = capped("10 Gb/s");
    let free = run(&ns2_chain(7, 1, scheme("tfrc", &json!({ "flavour": "ns2" }))));
    let [goodput, rtt, loss_event_rate] = found(&low);
    // Oscillation reduction slows packets down where round trips are long, and speeds none up where they are
    // short.
    assert!((0.9..1.001).contains(&(goodput / 200.0)), "{goodput}");
    assert!((low.flows[0].rate_mean_bps.unwrap() / 200e3 - 1.0).abs() < 0.02, "{:?}", low.flows[0]);
    let [_, free_rtt, free_rate] = found(&free);
    assert!(rtt < 0.6 * free_rtt && loss_event_rate < 0.3 * free_rate, "{low:?}");
    assert_eq!(found(&high), found(&free));
}

/// A ratio of goodputs, and two coefficients of variation.
type Shared = (f64, [f64; 2]);

/// Alternating flows of TFRC and of TCP over a dumbbell of 10 Mb/s with round trips of 40 to 60 ms and a
/// queue of 75 packets. Returns the mean goodput of the first over that of the second, and the mean
/// coefficients of variation of arrivals in steps of 500 ms.
fn beside(pairs: u64, arrangement: u64, flow: &Value, tcp: &Value) -> Shared {
    let round_trip = |k| 40 + (7 * k + 3 * arrangement) % 20;
    let flows: Vec<(u64, u64)> =
        (0..2 * pairs).map(|k| (round_trip(k), 130 * k + 370 * arrangement)).collect();
    let mut config = dumbbell("tfrc", flow, 75, &flows);
    config.traffic.schemes.push(scheme("tcp-sack", tcp));
    (0..flows.len()).for_each(|index| config.traffic.flows[index].scheme = index % 2);
    config.recording.interval = Span::from_ms(500);
    let outcome = seconds(&mut config, 30, 150);
    let of = |kind: usize| (kind..flows.len()).step_by(2);
    let rate = |kind| of(kind).map(|flow| goodput(&outcome, flow)).sum::<f64>();
    let variation = |kind| of(kind).map(|flow| variation(&outcome, flow)).sum::<f64>() / pairs as f64;
    (rate(0) / rate(1), [variation(0), variation(1)])
}

/// Standard deviation over the mean of what arrives in a step.
fn variation(outcome: &Outcome, flow: usize) -> f64 {
    let late = |row: &&multihop_sim::outcome::SeriesRow| row.flow == flow as u32 && row.time_s > 30.0;
    let steps: Vec<f64> = outcome.series.iter().filter(late).map(|row| row.delivered_bytes as f64).collect();
    let mean = steps.iter().sum::<f64>() / steps.len() as f64;
    let variance = steps.iter().map(|step| (step - mean).powi(2)).sum::<f64>() / steps.len() as f64;
    variance.sqrt() / mean
}

/// RFC 5348, section 1: reasonably fair means generally within a factor of two, and with a much lower
/// variation of throughput. Means of six arrangements, whose single runs are within 0.5 to 2.5. Packets of
/// TFRC are not as long as those of TCP: where all packets are equal and nothing is random, a drop-tail queue
/// loses those of the same flow again and again (Floyd and Jacobson 1992), and one flow can have the
/// sevenfold of another. ns-2 on a like dumbbell has ratios of 1.58, 0.45, 0.92 and 1.16 with 1, 2, 4 and 8
/// of each, and variations of 0.11, 0.25, 0.17 and 0.20 beside 0.18, 0.37, 0.41 and 0.49 of its TCP.
#[test]
fn beside_tcp_it_has_its_share_and_is_steadier() {
    for flavour in ["rfc", "ns2"] {
        let tcp = json!({ "window": 1000, "flavour": flavour, "delayed_ack": "0 s" });
        let own = json!({ "flavour": flavour, "header": "37 B" });
        for pairs in [1, 2, 4, 8] {
            let runs: Vec<Shared> = (0..6).map(|k| beside(pairs, k, &own, &tcp)).collect();
            let mean = |of: &dyn Fn(&Shared) -> f64| runs.iter().map(of).sum::<f64>() / 6.0;
            let ratio = mean(&|(ratio, _)| ratio.ln()).exp();
            let [own, other] = [0, 1].map(|kind| mean(&|(_, variations)| variations[kind]));
            println!("{flavour} {pairs}: {ratio:.2}, variation {own:.2} beside {other:.2}");
            assert!((0.5..2.0).contains(&ratio), "{flavour} {pairs}: {ratio}");
            assert!(runs.iter().all(|(ratio, _)| (0.4..2.7).contains(ratio)), "{flavour} {pairs}: {runs:?}");
            // A single TCP flow before a queue of its bandwidth-delay product is rather steady, too.
            let steadier = if pairs == 1 { 1.0 } else { 0.8 };
            assert!(own < steadier * other, "{flavour} {pairs}: {own} {other}");
        }
    }
}

/// The offered rate is the rate sent by the transport: more than arrives for a saturated TFRC flow, the
/// constant rate for datagrams.
#[test]
fn what_is_emitted_is_counted_by_flow_and_by_step() {
    let mut config = ns2_chain(4, 1, scheme("tfrc", &json!({})));
    config.duration = Span::from_ms(60_000);
    config.recording.warmup = Span::ZERO;
    config.traffic.schemes.push(scheme("tcp-newreno", &json!({ "flavour": "rfc" })));
    config.traffic.schemes.push(scheme("udp", &json!({})));
    add_flow(&mut config, 1, 3, AppConfig::Saturated);
    config.traffic.flows[1].scheme = 1;
    add_flow(&mut config, 4, 3, AppConfig::Cbr { rate: Rate::from_kbps(8), packet: 1_000, jitter: 0.0 });
    config.traffic.flows[2].scheme = 2;
    let outcome = run(&config);
    for (index, flow) in outcome.flows.iter().enumerate() {
        let steps = || outcome.series.iter().filter(move |row| row.flow == index as u32);
        assert_eq!(steps().map(|row| row.sent_bytes).sum::<u64>(), flow.sent_bytes);
        assert!(flow.sent_bytes >= flow.delivered_bytes && flow.delivered_bytes > 0, "{flow:?}");
        let goes_by_rate = index == 0;
        assert!(steps().all(|row| row.rate_bps.is_some() == goes_by_rate));
        assert_eq!(flow.rate_mean_bps.is_some(), goes_by_rate);
        assert_eq!(flow.loss_event_rate.is_some(), goes_by_rate);
    }
    assert_eq!(outcome.flows[2].sent_bytes, 61_000, "from the beginning to the end");
    let tfrc = &outcome.flows[0];
    assert!(tfrc.loss_event_rate.unwrap() > 0.0 && tfrc.rate_mean_bps.unwrap() > 1e4, "{tfrc:?}");
}

/// Datagrams of an application keep their sizes, and the rate is theirs where it is below what TFRC allows.
#[test]
fn what_an_application_offers_below_the_allowed_rate_goes_through() {
    let mut config = ns2_chain(2, 1, scheme("tfrc", &json!({})));
    config.traffic.flows.clear();
    let app = AppConfig::Cbr { rate: Rate::from_kbps(64), packet: 160, jitter: 0.2 };
    add_flow(&mut config, 0, 2, app);
    config.traffic.flows[0].start = Span::from_ms(100);
    let outcome = run(&config);
    let flow = &outcome.flows[0];
    assert!((total_goodput(&outcome) / 64e3 - 1.0).abs() < 0.01, "{flow:?}");
    assert!(flow.delay.p95 < 0.02, "{:?}", flow.delay);
    assert_eq!(flow.delivered_bytes, 160 * flow.packets_delivered);
}
