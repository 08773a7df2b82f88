//! MPDUs of an A-MPDU are passed on one by one, each at its end.

use super::aggregation::high_throughput;
use crate::common::{add_flow, check_conservation};
use multihop_core::{Ecn, FlowId, HeaderBytes, NodeId, Span, Time};
use multihop_sim::config::{AppConfig, Config, Delivery};
use multihop_sim::external::{Injection, PacketOutcome};
use multihop_sim::mobility::Outage;
use multihop_sim::{Ties, World};

/// Time at which the packets were injected, in microseconds.
const INJECTED: u64 = 10_000;
/// An HT-mixed preamble of 36 us. Four MPDUs of 1538 bytes with delimiters and padding, 6174 bytes, are 191
/// symbols of 260 bits behind it: 191 us each.
const ENDS: [f64; 4] = [227.0, 418.0, 609.0, 800.0];

fn pair() -> Config {
    let mut config = high_throughput(&[[0.0, 0.0], [10.0, 0.0]]);
    config.duration = Span::from_ms(200);
    config.warmup = Span::ZERO;
    config.delivery = Delivery::Mpdu;
    add_flow(&mut config, 0, 1, AppConfig::External);
    config
}

/// Delivery times of four packets that are sent at once in one A-MPDU, in microseconds after the injection;
/// the run goes on to its end.
fn delivered(config: &Config) -> Vec<f64> {
    let packet = Injection {
        flow: FlowId(0),
        payload: 1_472,
        header: 28,
        ecn: Ecn::NotCapable,
        stream: 0,
        congestion: HeaderBytes::NONE,
    };
    let begin = Time::ZERO + Span::from_us(INJECTED);
    let mut world = World::new(config, Ties::InOrder);
    world.advance(begin);
    (0..4).for_each(|_| _ = world.inject(&packet));
    world.advance(Time::NEVER);
    let outcomes = std::iter::from_fn(|| world.poll_outcome());
    let times = outcomes.filter_map(|outcome| match outcome {
        PacketOutcome::Delivered { at, .. } => Some((at - begin).seconds() * 1e6),
        _ => None,
    });
    let times = times.collect();
    check_conservation(&world.close().expect("there is no log"));
    times
}

/// Whether the instants are close to the expected ones.
fn is_close(at: &[f64], expected: &[f64]) -> bool {
    at.len() == expected.len() && at.iter().zip(expected).all(|(at, expected)| (at - expected).abs() < 0.01)
}

#[test]
fn together_they_are_delivered_at_the_end_of_the_last() {
    let at = delivered(&Config { delivery: Delivery::Ppdu, ..pair() });
    assert!(is_close(&at, &[ENDS[3]; 4]), "{at:?}");
}

#[test]
fn each_is_delivered_at_its_own_end() {
    let at = delivered(&pair());
    assert!(is_close(&at, &ENDS), "{at:?}");
}

/// An MPDU that ended before a radio was switched off has arrived, and is not delivered again with the
/// others.
#[test]
fn what_was_over_stays_when_a_radio_is_switched_off() {
    for (arrive, off_us) in [(0, 226), (1, 228), (3, 610)] {
        for node in [0, 1] {
            let mut config = pair();
            let from = Span::from_us(INJECTED + off_us);
            config.mobility.outages = vec![Outage { node: NodeId(node), from, to: Span::from_us(10_900) }];
            let at = delivered(&config);
            let case = format!("node {node} off after {off_us} us: {at:?}");
            assert!(at.len() == 4 && is_close(&at[..arrive], &ENDS[..arrive]), "{case}");
            assert!(at[arrive..].iter().all(|at| *at > 900.0), "{case}");
        }
    }
}
