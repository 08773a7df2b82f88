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
        "udp" => ("udp", serde_json::json!({"segment_size": 1460, "header": 0})),
        f => (if f == "sack" { "tcp-sack" } else { "tcp-newreno" }, serde_json::json!({"flavour": "ns2", "segment_size": 1460, "window": 32})),
    };
    c.schemes = vec![SchemeConfig { name: name.into(), scheme: find(name).unwrap().build(&params).unwrap() }];
    let app = if flow == "udp" { AppConfig::Cbr { rate: Rate::from_kbps(2_000), packet: 1460, jitter: 0.5 } } else { AppConfig::Saturated };
    add_flow(&mut c, 0, hops, app);
    c
}

#[test]
fn look() {
    let text = std::fs::read_to_string("../../../shared/reference/results.json").unwrap();
    let reference: serde_json::Value = serde_json::from_str(&text).unwrap();
    for row in reference["chain_static_2mbps"].as_array().unwrap() {
        let flow = row["flow"].as_str().unwrap();
        if flow == "tfrc" { continue; }
        let hops = row["hops"].as_u64().unwrap() as usize;
        let mut g = vec![]; let mut rtt = vec![]; let mut win = vec![]; let mut rx = vec![]; let mut to = vec![];
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
        println!("{flow} {hops}: {:.1} vs {rg:.1} ({:+.1} %) rtt {:.3} vs {} cwnd {:.1} vs {} rexmit {:.0} vs {} to {:.1} vs {}", m(&g), (m(&g)/rg-1.0)*100.0, m(&rtt), row["rtt_s"], m(&win), row["cwnd"], m(&rx), row["retransmitted"], m(&to), row["timeouts"]);
    }
}
