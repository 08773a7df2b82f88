//! CTS-to-self over a medium: its duration, its place in logs, and that it loses nothing.

use super::aggregation::high_throughput;
use crate::common::capture::{Kind, Shared, read as read_capture};
use crate::common::{
    add_flow, check_conservation, network, saturate, saturated_cell, total_goodput, trickle,
};
use multihop_core::{FrameKind, Rate, Span};
use multihop_dot11::{AccessCategory, DcfRules, EdcaParameters, Phy, Preamble, Standard};
use multihop_frames::{Log, Memory, Table};
use multihop_link::Algorithm;
use multihop_sim::capacity::Capacity;
use multihop_sim::config::{Config, Protection, RateControlConfig};
use multihop_sim::logs::{AirLog, FrameLog, Selection};
use multihop_sim::outcome::Outcome;
use multihop_sim::{Ties, World, run, run_logged};

/// 802.11g at 54 Mb/s with 802.11b stations in the network.
fn mixed(mut config: Config) -> Config {
    config.phy = Phy::mixed(Preamble::Long);
    config.rates.data = Rate::from_kbps(54_000).into();
    config.rates.control = None;
    (config.mac.cw_min, config.mac.cw_max) = (config.phy.cw_min, config.phy.cw_max);
    config.mac.cts_to_self = true;
    config
}

fn pair() -> Config {
    let mut config = mixed(network(DcfRules::IEEE, &[[0.0, 0.0], [100.0, 0.0]]));
    saturate(&mut config, 0, 1);
    config.duration = Span::from_ms(4_000);
    config
}

/// DIFS, 7.5 slots, CTS at 11 Mb/s, SIFS, DATA of 1472 + 28 + 36 bytes in 57 symbols, SIFS, ACK at 24 Mb/s,
/// and the propagation of DATA and ACK.
#[test]
fn a_saturated_link_has_the_closed_form_with_its_cts() {
    let us = 50.0 + 7.5 * 20.0 + 203.0 + 10.0 + (20.0 + 57.0 * 4.0 + 6.0) + 10.0 + 34.0 + 2.0;
    let expected = 1_472.0 * 8.0 / us * 1e6;
    let goodput = total_goodput(&run(&pair()));
    assert!((goodput / expected - 1.0).abs() < 0.01, "{goodput} for {expected}");
}

fn logged(config: &Config) -> (Outcome, Log) {
    let memory = Memory::default();
    let log = FrameLog::new(config, Selection::default(), Box::new(memory.clone())).unwrap();
    let outcome = run_logged(config, log, |_| ()).unwrap();
    let log = memory.log().clone();
    (outcome, log)
}

/// A column of transmissions.
fn sent(log: &Log, name: &str) -> Vec<i64> {
    log.tables.column(Table::Transmissions, name).iter().collect()
}

/// For each kind of frame: its number in the log, how many are addressed to their own sender, and their
/// flows.
#[test]
fn the_frame_log_has_each_cts_to_self_before_its_data() {
    let (outcome, log) = logged(&pair());
    assert_eq!(outcome.fingerprint, run(&pair()).fingerprint);
    let [from, to, kind, flow, starts, what] =
        ["from", "to", "kind", "flow", "start", "outcome"].map(|name| sent(&log, name));
    let own: Vec<usize> = (0..kind.len()).filter(|at| kind[*at] == FrameKind::Cts as i64).collect();
    assert!(own.len() > 5_000);
    for at in own {
        assert_eq!((from[at], to[at], flow[at]), (0, 0, 0));
        assert_eq!(what[at], 1, "no single node is to decode it");
        let Some(next) = kind.get(at + 1) else { continue };
        assert_eq!((*next, starts[at + 1] - starts[at]), (FrameKind::Data as i64, 213_000));
    }
}

/// Radiotap's flag 0x0002 of own frames: the DATA was protected by a CTS.
#[test]
fn a_capture_has_each_cts_to_self_and_marks_its_data() {
    let mut config = pair();
    config.duration = Span::from_ms(1_100);
    let file = Shared::default();
    let log = AirLog::new(&config, Box::new(file.clone())).unwrap();
    World::new(&config, Ties::InOrder).finish_logged(log, |_| ()).unwrap();
    let capture = read_capture(&file.0.lock().unwrap());
    let at_sender = || capture.packets.iter().filter(|packet| packet.interface == 0);
    let own = || at_sender().filter(|packet| packet.tx_flags.is_some());
    let cts: Vec<_> = own().filter(|packet| packet.kind == Kind::Cts).collect();
    assert!(cts.len() > 1_000);
    for packet in cts {
        assert_eq!((packet.receiver, packet.kbps, packet.duration_us), (Some(0), 11_000, 308));
        assert_eq!(packet.tx_flags, Some(0x0008), "nothing answers it");
    }
    for packet in own().filter(|packet| packet.kind == Kind::Data) {
        assert_eq!((packet.tx_flags, packet.kbps), (Some(0x0002), 54_000));
    }
}

/// With errors, hidden stations, TXOPs of several exchanges and aggregates, everything is accounted for, in
/// any order of simultaneous events.
#[test]
fn nothing_is_lost_by_a_cts_to_self() {
    let hidden = || network(DcfRules::IEEE, &[[0.0, 0.0], [200.0, 0.0], [400.0, 0.0], [600.0, 0.0]]);
    let flows = |mut config: Config| {
        saturate(&mut config, 0, 3);
        saturate(&mut config, 2, 1);
        add_flow(&mut config, 3, 0, trickle());
        config.duration = Span::from_ms(3_000);
        config.medium.packet_error_rate = 0.1;
        config
    };
    let mut aggregating = flows(high_throughput(&[[0.0, 0.0], [200.0, 0.0], [400.0, 0.0], [600.0, 0.0]]));
    aggregating.mac.cts_to_self = true;
    let mut bursting = aggregating.clone();
    let parameters = |category| EdcaParameters {
        txop_limit: Span::from_us(3_008),
        ..EdcaParameters::new(category, &bursting.phy)
    };
    bursting.mac.edca = Some(AccessCategory::ALL.map(parameters));
    let mut reserving = bursting.clone();
    reserving.mac.protection = Protection::Multiple;
    let mut choosing = flows(mixed(hidden()));
    choosing.mac.rate_control =
        Some(RateControlConfig { algorithm: Algorithm::MinstrelHt, streams: 1, tries: None });
    for (name, config) in [
        ("plain", flows(mixed(hidden()))),
        ("aggregating", aggregating),
        ("bursting", bursting),
        ("reserving", reserving),
        ("choosing", choosing),
    ] {
        let outcome = run(&config);
        check_conservation(&outcome);
        assert!(outcome.conservation.delivered > 200, "{name}: {:?}", outcome.conservation);
        assert_eq!(outcome, World::new(&config, Ties::Reversed).finish(), "{name}");
        let (same, log) = logged(&config);
        assert_eq!(same.fingerprint, outcome.fingerprint, "{name}");
        let [from, to, kind] = ["from", "to", "kind"].map(|name| sent(&log, name));
        assert!((0..kind.len()).any(|at| kind[at] == FrameKind::Cts as i64 && from[at] == to[at]), "{name}");
    }
}

/// An exchange is longer by a CTS at 11 Mb/s and a SIFS.
#[test]
fn the_bound_counts_the_cts() {
    let of = |protected: bool| {
        let mut config = pair();
        config.mac.cts_to_self = protected;
        Capacity::new(&config)
    };
    let (with, without) = (of(true), of(false));
    let exchange = |capacity: &Capacity| capacity.demands[0].forward[0].exchange;
    let difference = (exchange(&with) - exchange(&without)) * 1e6;
    assert!((difference - 213.0).abs() < 1e-6, "{difference}");
}

/// Stations of 802.11b in a cell are those with rates of 802.11b: their frames have no CTS, and the others'
/// do.
#[test]
fn a_mixed_cell_holds_both_kinds() {
    let mut config = mixed(saturated_cell(DcfRules::IEEE, 2));
    config.duration = Span::from_ms(4_000);
    for station in 1..=2 {
        config.topology.nodes[station].base = Some(multihop_core::NodeId(0));
    }
    config.topology.nodes[2].data_rate = Some(Rate::from_kbps(11_000).into());
    let (_, log) = logged(&config);
    let [from, to, kind, rate] = ["from", "to", "kind", "rate"].map(|name| sent(&log, name));
    let has = |wanted: (i64, i64, FrameKind, i64)| {
        (0..kind.len()).any(|at| {
            (from[at], to[at], kind[at], rate[at]) == (wanted.0, wanted.1, wanted.2 as i64, wanted.3)
        })
    };
    assert!(has((1, 1, FrameKind::Cts, 11_000_000)) && has((0, 1, FrameKind::Ack, 24_000_000)));
    assert!(has((2, 0, FrameKind::Data, 11_000_000)) && has((0, 2, FrameKind::Ack, 11_000_000)));
    assert!(!has((2, 2, FrameKind::Cts, 11_000_000)));
    let short = Phy::new(Standard::Dot11g, Preamble::Long);
    assert_eq!((config.phy.slot, short.slot), (Span::from_us(20), Span::from_us(9)));
}
