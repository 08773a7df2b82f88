//! Fairness among the neighbours of one sender with aggregation, if some are lossy or silent.

use super::aggregation::high_throughput;
use crate::common::{add_flow, check_conservation};
use multihop_core::{NodeId, Rate, Span};
use multihop_link::{Discipline, FqCodelOptions, StationsOptions};
use multihop_sim::config::{AppConfig, Config, LinkError};
use multihop_sim::run;

const KBPS: u64 = 1_000;

/// A sender with one flow of `kbps` to each neighbour. The neighbours are around it and cannot relay.
fn sender_with(neighbours: usize, kbps: u64, discipline: Discipline) -> Config {
    let angle = |place: usize| std::f64::consts::TAU * place as f64 / neighbours as f64;
    let around = (0..neighbours).map(|place| [240.0 * angle(place).cos(), 240.0 * angle(place).sin()]);
    let positions: Vec<[f64; 2]> = std::iter::once([0.0, 0.0]).chain(around).collect();
    let mut config = high_throughput(&positions);
    config.mac.queue.discipline = discipline;
    config.duration = Span::from_ms(5_000);
    for to in 1..=neighbours {
        let rate = Rate::from_kbps(kbps);
        add_flow(&mut config, 0, to, AppConfig::Cbr { rate, packet: 1_472, jitter: 1.0 });
    }
    config
}

/// Adds losses of DATA to a neighbour.
fn lose(config: &mut Config, to: u32, packet_error_rate: f64) {
    let error = LinkError { from: NodeId(0), to: NodeId(to), packet_error_rate, ack_error_rate: 0.0 };
    config.medium.link_errors.push(error);
}

fn goodput_kbps(config: &Config) -> Vec<f64> {
    let outcome = run(config);
    check_conservation(&outcome);
    let bits = outcome.flows.iter().map(|flow| flow.delivered_bytes as f64 * 8.0);
    bits.map(|bits| bits / outcome.measured_s / KBPS as f64).collect()
}

/// Under `FqCodel` neighbours take turns of one frame. A retransmission is sent between turns, without new
/// packets while others wait.
#[test]
fn losses_give_a_neighbour_no_larger_share() {
    for lost in [0.005, 0.1, 0.3] {
        let mut config = sender_with(5, 40_000, Discipline::FqCodel(FqCodelOptions::default()));
        lose(&mut config, 2, lost);
        let goodput = goodput_kbps(&config);
        let mean = goodput.iter().sum::<f64>() / 5.0;
        assert!(goodput.iter().all(|one| (one / mean - 1.0).abs() < 0.03), "{lost}: {goodput:?}");
    }
}

/// If no other neighbour waits, new packets fill up retransmissions.
#[test]
fn retransmissions_to_a_lone_neighbour_are_full_frames() {
    let of = |discipline| {
        let mut config = sender_with(1, 70_000, discipline);
        lose(&mut config, 1, 0.3);
        goodput_kbps(&config)[0]
    };
    let goodput = [Discipline::FqCodel(FqCodelOptions::default()), Discipline::DropTail].map(of);
    assert!((goodput[0] / goodput[1] - 1.0).abs() < 0.02, "{goodput:?}");
}

/// A silent neighbour costs the others airtime, but no turns.
#[test]
fn a_silent_neighbour_does_not_block_others() {
    let fair =
        [Discipline::FqCodel(FqCodelOptions::default()), Discipline::Stations(StationsOptions::default())];
    for discipline in fair {
        let mut config = sender_with(3, 6_000, discipline);
        lose(&mut config, 1, 1.0);
        let goodput = goodput_kbps(&config);
        assert!(goodput[0] == 0.0 && goodput[1..].iter().all(|one| *one > 5_700.0), "{goodput:?}");
    }
}
