//! Congestion control of real-time media over a wire of 2 Mb/s: an application that always has data, and an
//! encoder that adapts.

use crate::common::wires::{goodput, lay, mbps, seconds, wired};
use crate::common::{Datagrams, add_flow};
use multihop_core::{Rate, Span};
use multihop_dot11::DcfRules;
use multihop_link::{Discipline, DualPi2Options};
use multihop_schemes::find;
use multihop_sim::config::{AppConfig, Config, SchemeConfig, VideoConfig};
use multihop_sim::outcome::Outcome;
use serde_json::{Value, json};
use std::sync::Arc;

/// Schemes, with a maximum rate of 4 Mb/s.
fn schemes() -> [(&'static str, Value); 3] {
    ["nada", "gcc", "scream"].map(|name| (name, json!({ "max_rate": "4 Mb/s" })))
}

/// Part of the wire that is payload, in packets of 1200 of 1240 bytes.
const CAPACITY: f64 = 2e6 * 1200.0 / 1240.0;

/// A flow over a wire of 2 Mb/s and 20 ms. From 60 to 100 s, datagrams take 1.2 Mb/s of it.
fn over_wire(scheme: &str, parameters: &Value, app: AppConfig) -> Config {
    let mut config = wired(DcfRules::IEEE, 2);
    lay(&mut config, (0, 1), mbps(2), Span::from_ms(20), 500);
    let datagrams = Arc::new(Datagrams { payload: 1472, header: 28 });
    config.traffic.schemes = vec![
        SchemeConfig { name: scheme.into(), scheme: find(scheme).unwrap().build(parameters).unwrap() },
        SchemeConfig { name: "udp".into(), scheme: datagrams },
    ];
    add_flow(&mut config, 0, 1, app);
    let rate = Rate::from_kbps(1_200 * 1472 / 1500);
    add_flow(&mut config, 0, 1, AppConfig::Cbr { rate, packet: 1472, jitter: 0.0 });
    let cross = &mut config.traffic.flows[1];
    (cross.scheme, cross.start, cross.stop) = (1, Span::from_ms(60_000), Some(Span::from_ms(100_000)));
    config
}

fn delay_p95(outcome: &Outcome) -> f64 {
    outcome.flows[0].delay.p95
}

#[test]
fn a_lone_flow_fills_the_wire_with_a_short_queue() {
    for (name, parameters) in schemes() {
        let outcome = seconds(&mut over_wire(name, &parameters, AppConfig::Saturated), 40, 60);
        let (share, delay) = (goodput(&outcome, 0) / CAPACITY, delay_p95(&outcome));
        println!("{name}: share {share:.3}, delay {delay:.3} s");
        assert!((0.7..=1.01).contains(&share), "{name}: {share}");
        assert!(delay < 0.2, "{name}: {delay}");
    }
}

/// 0.8 Mb/s are left. NADA and SCReAM drain the queue of the change. GCC, which reacts to the growth of the
/// delay alone, keeps it: of the wire's 2.5 s, less than 2 s wait.
#[test]
fn the_rate_falls_with_the_capacity() {
    for ((name, parameters), longest) in schemes().into_iter().zip([0.2, 2.0, 0.4]) {
        let outcome = seconds(&mut over_wire(name, &parameters, AppConfig::Saturated), 75, 100);
        let (share, delay) = (goodput(&outcome, 0) / CAPACITY / 0.4, delay_p95(&outcome));
        println!("{name}: share {share:.3}, delay {delay:.3} s");
        assert!((0.5..=1.05).contains(&share), "{name}: {share}");
        assert!(delay < longest, "{name}: {delay}");
    }
}

#[test]
fn the_rate_recovers_with_the_capacity() {
    for (name, parameters) in schemes() {
        let outcome = seconds(&mut over_wire(name, &parameters, AppConfig::Saturated), 130, 160);
        let share = goodput(&outcome, 0) / CAPACITY;
        println!("{name}: share {share:.3}");
        assert!((0.7..=1.01).contains(&share), "{name}: {share}");
    }
}

/// An encoder of up to 4 Mb/s adapts to 2 Mb/s: it loses next to no frame. One that has 4 Mb/s all the time
/// loses half of its frames.
#[test]
fn an_encoder_that_adapts_is_in_time() {
    let video = VideoConfig {
        frame_rate: 25.0,
        rate_bps: 4e6,
        min_rate_bps: Some(150e3),
        gop: 1,
        key_ratio: 1.0,
        variation: 0.2,
        deadline: Span::from_ms(400),
        buffer: Some(200_000),
    };
    for (name, parameters) in schemes() {
        let found = [video, VideoConfig { min_rate_bps: None, ..video }].map(|video| {
            let outcome = seconds(&mut over_wire(name, &parameters, AppConfig::Video(video)), 40, 60);
            (outcome.flows[0].video.unwrap().late_ratio.unwrap(), goodput(&outcome, 0) / CAPACITY)
        });
        println!("{name}: {found:.3?}");
        let [(late, share), (late_fixed, _)] = found;
        assert!(late < 0.02 && (0.5..=1.0).contains(&share), "{name}: {late} {share}");
        assert!(late_fixed > 0.4, "{name}: {late_fixed}");
    }
}

/// With L4S and `DualPI2`, a queue of about a millisecond.
#[test]
fn scream_with_l4s_keeps_the_queue_of_low_latency_short() {
    let delays = [true, false].map(|l4s| {
        let parameters = json!({ "max_rate": "40 Mb/s", "l4s": l4s });
        let mut config = over_wire("scream", &parameters, AppConfig::Saturated);
        for wire in &mut config.topology.wires {
            wire.rate = mbps(20);
            wire.discipline = Discipline::DualPi2(DualPi2Options::default());
        }
        let outcome = seconds(&mut config, 20, 40);
        println!("l4s {l4s}: {:.3} of 20 Mb/s", goodput(&outcome, 0) / CAPACITY / 10.0);
        assert!(goodput(&outcome, 0) > 0.5 * 10.0 * CAPACITY);
        delay_p95(&outcome) - 0.02
    });
    println!("{delays:?}");
    assert!(delays[0] < 0.004 && delays[0] < delays[1] / 2.0, "{delays:?}");
}
