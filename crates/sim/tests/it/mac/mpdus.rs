//! Delivery of the MPDUs of an A-MPDU one by one, each at its own end.

use super::aggregation::high_throughput;
use crate::common::{add_flow, check_conservation};
use multihop_core::{Ecn, FlowId, HeaderBytes, NodeId, Span, Time};
use multihop_sim::config::{AppConfig, Config, Delivery};
use multihop_sim::external::{Injection, PacketOutcome};
use multihop_sim::mobility::Outage;
use multihop_sim::{Ties, World};

/// Time of injection, in microseconds.
const INJECTED: u64 = 10_000;
/// Ends of four MPDUs of 1538 bytes, in microseconds. An HT-mixed preamble takes 36 us. With delimiters and
/// padding, 6174 bytes are 191 symbols of 260 bits: 191 us each.
const ENDS: [f64; 4] = [227.0, 418.0, 609.0, 800.0];

fn pair() -> Config {
    let mut config = high_throughput(&[[0.0, 0.0], [10.0, 0.0]]);
    config.duration = Span::from_ms(200);
    config.recording.warmup = Span::ZERO;
    config.mac.block_ack.delivery = Delivery::Mpdu;
    add_flow(&mut config, 0, 1, AppConfig::External);
    config
}

/// Injects four packets, which are sent in one A-MPDU. Returns the time of delivery of each, in microseconds
/// after the injection.
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
    check_conservation(&world.close().expect("the run has no log"));
    times
}

/// Whether times agree within 10 ns.
fn is_close(at: &[f64], expected: &[f64]) -> bool {
    at.len() == expected.len() && at.iter().zip(expected).all(|(at, expected)| (at - expected).abs() < 0.01)
}

#[test]
fn by_ppdu_mpdus_are_delivered_at_the_end_of_the_last() {
    let mut config = pair();
    config.mac.block_ack.delivery = Delivery::Ppdu;
    let at = delivered(&config);
    assert!(is_close(&at, &[ENDS[3]; 4]), "{at:?}");
}

#[test]
fn by_mpdu_each_is_delivered_at_its_own_end() {
    let at = delivered(&pair());
    assert!(is_close(&at, &ENDS), "{at:?}");
}

/// MPDUs that ended before a radio was switched off are delivered, once.
#[test]
fn mpdus_that_ended_before_an_outage_are_delivered_once() {
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
