//! Accel-Brake Control over wires, with known behaviour.

use crate::common::saturate;
use crate::common::wires::{self, goodput, seconds, shares, tcp, wire};
use multihop_core::Span;
use multihop_dot11::DcfRules;
use multihop_sim::config::Config;
use multihop_sim::outcome::Outcome;
use multihop_sim::run;
use serde_json::{Value, json};

/// Dumbbell with a long queue.
fn dumbbell(parameters: &Value, flows: &[(u64, u64)]) -> Config {
    wires::dumbbell("abc", parameters, 400, flows)
}

/// Outcome from 30 to 60 s.
fn late(mut config: Config) -> Outcome {
    seconds(&mut config, 30, 60)
}

/// With N flows of w segments each, a round trip changes a window by w (2 f - 1) + 1, which is nothing where
/// the queueing delay is `x = d_t + delta (1/w - (1 - eta))`; and N w segments are the round trip with that
/// delay at the rate of the link.
fn expected_delay(utilization: f64, flows: f64, round_trip: f64) -> f64 {
    let mut delay = 0.0;
    for _ in 0..1_000 {
        let window = (round_trip + delay) * 10e6 / 12e3 / flows;
        let settled = (0.02 + 0.133 * (1.0 / window - (1.0 - utilization))).max(0.0);
        delay += 0.1 * (settled - delay);
    }
    delay
}

/// The queue settles where the law says, just about the threshold of 20 ms, and nothing is lost.
#[test]
fn the_queue_settles_at_the_delay_threshold() {
    assert!((expected_delay(1.0, 1.0, 0.1) - 0.0213).abs() < 1e-4, "{}", expected_delay(1.0, 1.0, 0.1));
    for (utilization, flows) in [(1.0, 1), (1.0, 2), (1.0, 5), (0.98, 5), (0.95, 10)] {
        let times: Vec<(u64, u64)> = (0..flows).map(|k| (100, 1_000 * k)).collect();
        let mut config = dumbbell(&json!({ "utilization": utilization }), &times);
        let outcome = late(config.clone());
        let bottleneck = wire(&outcome, 0, 1);
        // Packets that wait, and the packet being sent.
        let delay = (bottleneck.queue_mean + bottleneck.utilisation) * 1.2e-3;
        let expected = expected_delay(utilization, flows as f64, 0.1);
        assert!((delay - expected).abs() < 3e-3, "{utilization} {flows}: {delay} for {expected}");
        assert!(bottleneck.utilisation > 0.99, "{bottleneck:?}");
        config.recording.warmup = Span::ZERO;
        assert_eq!(wire(&run(&config), 0, 1).dropped, 0, "not even at the beginning");
    }
}

/// Above 50 segments, eta = 0.98 is less than the additive increase asks for: the link is not quite full, and
/// there is no queue.
#[test]
fn a_large_window_leaves_a_fiftieth_of_the_link_and_no_queue() {
    let outcome = late(dumbbell(&json!({}), &[(100, 0)]));
    let bottleneck = wire(&outcome, 0, 1);
    assert!((0.975..1.0).contains(&bottleneck.utilisation) && bottleneck.queue_mean < 2.0, "{bottleneck:?}");
}

/// Equal round trips have equal shares, whenever flows came: brakes and accelerates move windows in
/// proportion, and the additive increase is the same for all.
#[test]
fn the_additive_increase_makes_shares_equal() {
    let five: Vec<(u64, u64)> = (0..5).map(|k| (100, 2_000 * k)).collect();
    for flows in [vec![(100, 0), (100, 5_000)], five] {
        let shares = shares(&late(dumbbell(&json!({}), &flows)));
        let fair = 1.0 / flows.len() as f64;
        assert!(shares.iter().all(|share| (share / fair - 1.0).abs() < 0.15), "{shares:?}");
    }
}

/// Over one radio hop, whose capacity is measured, it carries what CUBIC does in less than a third of its
/// delay: 28 ms, of which the queue is 20.
#[test]
fn over_a_radio_the_queue_is_about_the_threshold() {
    let [abc, cubic] = ["abc", "tcp-cubic"].map(|name| {
        let mut config = crate::common::chain(DcfRules::IEEE, 1);
        config.duration = Span::from_ms(31_000);
        tcp(&mut config, name, &json!({}));
        saturate(&mut config, 0, 1);
        let outcome = run(&config);
        (goodput(&outcome, 0), outcome.flows[0].delay.mean)
    });
    assert!((abc.0 / cubic.0 - 1.0).abs() < 0.02, "{abc:?} {cubic:?}");
    assert!((0.02..0.035).contains(&abc.1) && cubic.1 > 3.0 * abc.1, "{abc:?} {cubic:?}");
}
