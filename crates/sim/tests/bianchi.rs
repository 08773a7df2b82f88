//! Saturation throughput and collision probability against Bianchi's model (IEEE JSAC 18(3), 2000).

mod common;

use common::{saturated_cell, total_goodput};
use multihop_core::Span;
use multihop_dot11::DcfRules;
use multihop_sim::run;

/// Bianchi's fixed point: the probability that a station transmits in a slot, and that a transmission collides.
fn fixed_point(stations: f64, first_window: f64, stages: i32) -> (f64, f64) {
    let transmit = |p: f64| {
        let doubling: f64 = (0..stages).map(|i| (2.0 * p).powi(i)).sum();
        2.0 / (1.0 + first_window + p * first_window * doubling)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let p = f64::midpoint(low, high);
        if 1.0 - (1.0 - transmit(p)).powf(stations - 1.0) > p { low = p } else { high = p }
    }
    (transmit(low), low)
}

/// Throughput in payload bits per second for times in microseconds.
fn throughput(stations: f64, tau: f64, payload_bits: f64, slot: f64, success: f64, collision: f64) -> f64 {
    let some = 1.0 - (1.0 - tau).powf(stations);
    let one = stations * tau * (1.0 - tau).powf(stations - 1.0);
    payload_bits * one / ((1.0 - some) * slot + one * success + (some - one) * collision) * 1e6
}

fn check(rules: DcfRules, seconds: u64, collision_ifs: f64, label: &str) -> (f64, f64, f64) {
    let mut worst = (0f64, 0f64, 0f64);
    for with_rts in [false, true] {
        for n in [1usize, 2, 3, 5, 10, 20, 30, 50] {
            let mut config = saturated_cell(rules, n);
            config.mac.rts_threshold = with_rts.then_some(0);
            config.mac.short_retry_limit = None;
            config.mac.long_retry_limit = None;
            config.duration = Span::from_ms(seconds * 1000);
            let outcome = run(&config);
            let (tries, acked) = outcome.links.iter().fold((0, 0), |(tries, acked), link| {
                (tries + if with_rts { link.rts } else { link.data }, acked + link.acknowledged)
            });
            let p_measured = 1.0 - acked as f64 / tries as f64;
            let measured = total_goodput(&outcome);

            let bytes = 1500 + rules.llc_header + rules.data_header;
            let data = config.phy.airtime(config.data_rate, bytes, rules.airtime).ns() as f64 / 1e3;
            let (tau, p) = fixed_point(n as f64, 32.0, 5);
            let tail = data + 10.0 + 1.0 + 304.0 + 50.0 + 1.0;
            let success = if with_rts { 352.0 + 304.0 + 2.0 * 11.0 + tail } else { tail };
            let first = if with_rts { 352.0 } else { data };
            let expected =
                throughput(n as f64, tau, 1472.0 * 8.0, 20.0, success, first + 1.0 + collision_ifs);
            println!(
                "{label} rts {with_rts} n {n}: {measured:.0} against {expected:.0} ({:+.2} %), p {p_measured:.4} against {p:.4} ({:+.2} %)",
                (measured / expected - 1.0) * 100.0,
                (p_measured / p - 1.0) * 100.0
            );
            worst.0 = worst.0.max((measured / expected - 1.0).abs());
            worst.1 = worst.1.max((p_measured - p).abs());
            worst.2 = worst.2.max(if n > 1 { (p_measured / p - 1.0).abs() } else { 0.0 });
        }
    }
    println!("{label}: {worst:?}");
    worst
}

#[test]
fn look() {
    check(DcfRules::IEEE, 61, 364.0, "ieee");
    let bianchi = DcfRules {
        busy_period_counts_as_slot: true,
        fresh_difs: true,
        response_timeout: multihop_dot11::ResponseTimeout::WholeResponse { propagation: Span::from_us(1) },
        ..DcfRules::IEEE
    };
    check(bianchi, 121, 364.0, "bianchi");
    check(DcfRules { busy_period_counts_as_slot: false, ..bianchi }, 121, 364.0, "sync");
}
