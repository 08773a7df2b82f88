//! Look.
mod common;
use common::*;
use multihop_core::{Rate, Span};
use multihop_dot11::{DcfRules, Phy, Preamble, Standard};
use multihop_schemes::find;
use multihop_sim::config::*;
use multihop_sim::run;

fn ns2_chain(hops: usize, flow: &str, seed: u64) -> Config {
    let mut c = chain(DcfRules::NS2, hops);
    c.phy = Phy::new(Standard::Dsss, Preamble::Long);
    c.data_rate = Rate::from_kbps(2_000);
    c.mac.rts_threshold = Some(0);
    c.medium.propagation_delay = Span::from_ns(667);
    c.extra_header = 20;
    c.seed = seed;
    c.duration = Span::from_ms(300_000);
    c.warmup = Span::from_ms(30_000);
    c.record_interval = Span::from_ms(100);
    let (name, params) = match flow {
        "udp" => ("udp", serde_json::json!({"segment_size": "1460 B", "header": "0 B"})),
        f => (
            if f == "sack" { "tcp-sack" } else { "tcp-newreno" },
            serde_json::json!({"flavour": "ns2", "segment_size": "1460 B", "window": 32}),
        ),
    };
    c.schemes = vec![SchemeConfig { name: name.into(), scheme: find(name).unwrap().build(&params).unwrap() }];
    let app = if flow == "udp" {
        AppConfig::Cbr { rate: Rate::from_kbps(2_000), packet: 1460, jitter: 0.5 }
    } else {
        AppConfig::Saturated
    };
    add_flow(&mut c, 0, hops, app);
    c
}

#[test]
fn look() {
    let text = std::fs::read_to_string("../../../shared/reference/results.json").unwrap();
    let reference: serde_json::Value = serde_json::from_str(&text).unwrap();
    for row in reference["chain_static_2mbps"].as_array().unwrap() {
        let flow = row["flow"].as_str().unwrap();
        if flow == "tfrc" {
            continue;
        }
        let hops = row["hops"].as_u64().unwrap() as usize;
        let mut g = vec![];
        let mut rtt = vec![];
        let mut win = vec![];
        let mut rx = vec![];
        let mut to = vec![];
        for seed in 1..=4 {
            let o = run(&ns2_chain(hops, flow, seed));
            g.push(total_goodput(&o) / 1e3);
            let rs: Vec<f64> = o.series.iter().filter(|r| r.time_s > 30.0).filter_map(|r| r.rtt_s).collect();
            rtt.push(rs.iter().sum::<f64>() / rs.len().max(1) as f64);
            win.push(o.flows[0].window_mean.unwrap_or(0.0) / 1460.0);
            rx.push(o.flows[0].retransmissions as f64);
            to.push(o.flows[0].timeouts as f64);
        }
        let m = |v: &Vec<f64>| v.iter().sum::<f64>() / v.len() as f64;
        let rg = row["goodput_kbps"].as_f64().unwrap();
        println!(
            "{flow} {hops}: {:.1} vs {rg:.1} ({:+.1} %) rtt {:.3} vs {} cwnd {:.1} vs {} rexmit {:.0} vs {} to {:.1} vs {}",
            m(&g),
            (m(&g) / rg - 1.0) * 100.0,
            m(&rtt),
            row["rtt_s"],
            m(&win),
            row["cwnd"],
            m(&rx),
            row["retransmitted"],
            m(&to),
            row["timeouts"]
        );
    }
}

#[test]
fn saturation() {
    let text = std::fs::read_to_string("../../../shared/reference/results.json").unwrap();
    let reference: serde_json::Value = serde_json::from_str(&text).unwrap();
    for row in reference["saturation_11mbps"].as_array().unwrap() {
        let n = row["n"].as_u64().unwrap() as usize;
        let rts = row["rts"].as_u64().unwrap() == 1;
        for delay in [33, 20, 10] {
            let mut g = vec![];
            for seed in 1..=4 {
                let mut c = saturated_cell(DcfRules::NS2, n);
                if let MediumModel::Ranges { capture_ratio, .. } = &mut c.medium.model {
                    *capture_ratio = Some(10.0);
                }
                c.schemes[0].scheme = find("udp")
                    .unwrap()
                    .build(&serde_json::json!({"segment_size": "1500 B", "header": "0 B"}))
                    .unwrap();
                c.mac.rts_threshold = rts.then_some(0);
                c.medium.propagation_delay = Span::from_ns(delay);
                c.seed = seed;
                c.duration = Span::from_ms(110_000);
                c.warmup = Span::from_ms(10_000);
                g.push(total_goodput(&run(&c)) / 1e6);
            }
            let m = g.iter().sum::<f64>() / g.len() as f64;
            let r = row["ns2"]["mean"].as_f64().unwrap();
            println!("rts {rts} n {n} delay {delay}: {m:.4} vs {r:.4} ({:+.2} %)", (m / r - 1.0) * 100.0);
        }
    }
}

fn recn_chain(n: usize, at_w1: bool, scheme: &str, seed: u64) -> Config {
    let mut positions: Vec<[f64; 2]> = (0..4).map(|i| [400.0 + 200.0 * i as f64, 400.0]).collect();
    if !at_w1 {
        for i in 0..n {
            positions.push([250.0, 400.0 + (i as f64 - (n as f64 - 1.0) / 2.0) * 20.0]);
        }
    }
    let mut c = network(DcfRules::NS2, &positions);
    c.phy = Phy::new(Standard::Dsss, Preamble::Long);
    c.data_rate = Rate::from_kbps(1_000);
    c.mac.rts_threshold = Some(0);
    c.mac.queue_limit = 20;
    c.medium.propagation_delay = Span::from_ns(667);
    c.extra_header = 20;
    c.seed = seed;
    c.duration = Span::from_ms(300_000);
    c.warmup = Span::from_ms(1_000);
    let params = serde_json::json!({"flavour": "ns2", "segment_size": "1000 B", "window": 20});
    c.schemes =
        vec![SchemeConfig { name: scheme.into(), scheme: find(scheme).unwrap().build(&params).unwrap() }];
    for i in 0..n {
        add_flow(
            &mut c,
            if at_w1 { 0 } else { 4 + i },
            3,
            AppConfig::Cbr { rate: Rate::from_kbps(800), packet: 1000, jitter: 0.0 },
        );
        c.flows[i].start = Span::from_ms(1000);
    }
    c
}

#[test]
fn recn() {
    let text = std::fs::read_to_string("../../../shared/reference/results.json").unwrap();
    let reference: serde_json::Value = serde_json::from_str(&text).unwrap();
    for row in reference["recn_chain_static"].as_array().unwrap() {
        let n = row["flows"].as_u64().unwrap() as usize;
        let at_w1 = row["placement"].as_str().unwrap().contains("at w1");
        print!(
            "at_w1 {at_w1} n {n}: ns2 {:.1}±{} jain {:.3} ",
            row["total_kbps"].as_f64().unwrap(),
            row["total_ci95"],
            row["jain"].as_f64().unwrap()
        );
        for scheme in ["tcp-newreno", "recn"] {
            let mut g = vec![];
            let mut j = vec![];
            let mut f = vec![];
            for seed in 1..=6 {
                let o = run(&recn_chain(n, at_w1, scheme, seed));
                g.push(total_goodput(&o) / 1e3);
                let b: Vec<f64> = o.flows.iter().map(|f| f.delivered_bytes as f64).collect();
                let s: f64 = b.iter().sum();
                j.push(s * s / (n as f64 * b.iter().map(|x| x * x).sum::<f64>()));
                f.push(o.flows.iter().filter_map(|f| f.transmission_efficiency).sum::<f64>() / n as f64);
            }
            let m = |v: &Vec<f64>| v.iter().sum::<f64>() / v.len() as f64;
            print!(
                " | {scheme} {:.1} ({:.0}..{:.0}) jain {:.3} fte {:.3}",
                m(&g),
                g.iter().copied().fold(f64::MAX, f64::min),
                g.iter().copied().fold(0.0, f64::max),
                m(&j),
                m(&f)
            );
        }
        println!();
    }
}

#[test]
fn ns3() {
    let text = std::fs::read_to_string("../../../shared/reference/results.json").unwrap();
    let reference: serde_json::Value = serde_json::from_str(&text).unwrap();
    let dbm = |dbm: f64| 10f64.powf(dbm / 10.0);
    for row in reference["ns3_chain_2mbps"].as_array().unwrap() {
        let hops = row["hops"].as_u64().unwrap() as usize;
        let mut g = vec![];
        let mut rtt = vec![];
        let mut rx = vec![];
        for seed in 1..=4 {
            let mut c = ns2_chain(hops, "newreno", seed);
            c.mac.rules = DcfRules::IEEE;
            c.ack_rate = Some(Rate::from_kbps(2_000));
            c.extra_header = 0;
            c.medium.model = MediumModel::Sinr {
                transmit_power_mw: dbm(24.5),
                noise_mw: dbm(-93.6),
                sensitivity_mw: dbm(-64.4),
                carrier_sense_mw: dbm(-78.08),
                path_loss: two_ray(),
            };
            c.duration = Span::from_ms(130_000);
            c.schemes[0].scheme = find("tcp-newreno").unwrap().build(&serde_json::json!({"segment_size": "1460 B", "window": 32, "initial_threshold": 1000, "delayed_ack": "0 s", "limited_transmit": false, "initial_window": 10})).unwrap();
            let o = run(&c);
            g.push(total_goodput(&o) / 1e3);
            rtt.push(o.flows[0].rtt_mean_s.unwrap());
            rx.push(o.flows[0].retransmissions as f64);
        }
        let m = |v: &Vec<f64>| v.iter().sum::<f64>() / v.len() as f64;
        let rg = row["static"]["mean"].as_f64().unwrap();
        println!(
            "ns3 {hops}: {:.1} vs {rg:.1} ({:+.1} %) rtt {:.3} vs {} rexmit {:.0}",
            m(&g),
            (m(&g) / rg - 1.0) * 100.0,
            m(&rtt),
            row["rtt_static"]["mean"],
            m(&rx)
        );
    }
}
