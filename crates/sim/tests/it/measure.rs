//! Estimators in the simulator, on media with known properties.

use crate::common::{add_flow, chain, network, saturate};
use multihop_core::{FlowId, NodeId, Rate, Span};
use multihop_dot11::{DcfRules, Microseconds};
use multihop_link::{
    AdHocProbeOptions, BusyRatioOptions, Elapsed, EstimatorConfig, IdleGapOptions, LinkView,
    PacketThroughputOptions, RtWinfOptions, RtWinfProbeOptions, ServiceDelayOptions, WinfReading,
};
use multihop_sim::config::{AppConfig, Config, MeasurementConfig};
use multihop_sim::outcome::Outcome;
use multihop_sim::{Ties, World, run};

const SECOND: Elapsed = Elapsed::Window(Span::from_ms(1_000));

fn measure(config: &mut Config, name: &str, estimator: EstimatorConfig) {
    let nodes = (0..config.topology.nodes.len() as u32).map(NodeId).collect();
    config.recording.measurements.push(MeasurementConfig { name: name.into(), nodes, estimator });
}

/// Adds all estimators at all nodes; windows are one second.
fn measure_all(config: &mut Config) {
    let rt_winf = RtWinfOptions { smoothing: 1.0, ..RtWinfOptions::default() };
    let probe = RtWinfProbeOptions { smoothing: 1.0, ..RtWinfProbeOptions::default() };
    measure(config, "rt-winf", EstimatorConfig::RtWinf(rt_winf));
    let strict = RtWinfOptions { reading: WinfReading::Strict, full_busy: true, ..rt_winf };
    measure(config, "strict", EstimatorConfig::RtWinf(strict));
    measure(config, "probe", EstimatorConfig::RtWinfProbe(probe));
    measure(config, "idlegap", EstimatorConfig::IdleGap(IdleGapOptions { window: SECOND }));
    measure(config, "adhoc-probe", EstimatorConfig::AdHocProbe(AdHocProbeOptions::default()));
    measure(
        config,
        "busy-ratio",
        EstimatorConfig::BusyRatio(BusyRatioOptions { window: Span::from_ms(1_000) }),
    );
    measure(config, "fsd", EstimatorConfig::ServiceDelay(ServiceDelayOptions { smoothing: 1.0 / 64.0 }));
    measure(config, "fte", EstimatorConfig::TransmissionEfficiency);
    let throughput = PacketThroughputOptions::default();
    measure(config, "throughput", EstimatorConfig::PacketThroughput(throughput));
}

/// 802.11b at 11 Mb/s with RTS/CTS, packets of 1500 bytes in frames of 1528, airtimes as they are, and no
/// propagation: the exchange of Barreto 2015 takes 2293.273 us, DATA alone 1303.273 us, and a station that is
/// alone waits 360 us for each.
fn papers_link(positions: &[[f64; 2]]) -> Config {
    let rules = DcfRules { llc_header: 0, airtime: Microseconds::Exact, ..DcfRules::IEEE };
    let mut config = network(rules, positions);
    config.mac.rts_threshold = Some(0);
    config.medium.propagation_delay = Span::ZERO;
    config
}

/// Values of a measurement at a node at the end of the run.
fn last(outcome: &Outcome, config: &Config, name: &str, node: u32) -> LinkView {
    let index =
        config.recording.measurements.iter().position(|measurement| measurement.name == name).unwrap();
    let mut rows = outcome.measurements.iter();
    rows.rfind(|row| row.measurement as usize == index && row.node == node).unwrap().view
}

fn mbps(bps: Option<f64>) -> f64 {
    (bps.unwrap() * 1e-3).round() / 1e3
}

/// Sender, receiver, and an overhearing node.
#[test]
fn a_saturated_hop_has_the_capacities_of_the_paper() {
    let mut config = papers_link(&[[0.0, 0.0], [200.0, 0.0], [100.0, 100.0]]);
    saturate(&mut config, 0, 1);
    measure_all(&mut config);
    let outcome = run(&config);
    let at = |name: &str, node: u32| last(&outcome, &config, name, node);
    let capacities = |name: &str| [0, 1, 2].map(|node| mbps(at(name, node).capacity_bps));
    assert_eq!(capacities("rt-winf"), [7.466, 7.513, 7.466], "Eqs. 1, 4 and 6 as printed");
    assert_eq!(capacities("strict"), [9.208; 3]);
    assert_eq!(capacities("probe"), [7.42; 3], "Eq. 12");
    assert_eq!(capacities("idlegap"), [11.0; 3]);

    // A cycle takes 2653.273 us on average: NAV_CTS reserves 1627 of them, NAV_RTS 1941, and an exchange
    // 2293.
    let unused = |name: &str, node: u32| {
        let view = at(name, node);
        view.available_bps.unwrap() / view.capacity_bps.unwrap()
    };
    let near = |value: f64, expected: f64| (value - expected).abs() < 0.01;
    for (name, expected) in [
        ("rt-winf", [0.387, 0.268, 0.268]),
        ("strict", [0.136; 3]),
        ("probe", [1.0 - 1617.3 / 2653.3; 3]),
        ("idlegap", [0.387, 0.268, 0.268]),
    ] {
        for (node, expected) in (0..).zip(expected) {
            assert!(near(unused(name, node), expected), "{name} at {node}: {}", unused(name, node));
        }
    }
    let sender = |name: &str| at(name, 0);
    let throughput = sender("throughput").packet_throughput_bps.unwrap() * 1e-6;
    assert!((throughput - 4.523).abs() < 0.05, "Eq. 14 is its mean: {throughput}");
    let delay = sender("fsd").service_delay_s.unwrap() * 1e6;
    assert!((delay - 2653.3).abs() < 60.0, "{delay}");
    let efficiency = sender("fte").transmission_efficiency.unwrap();
    assert!((efficiency - 2293.3 / 2653.3).abs() < 0.06, "{efficiency}");
    assert_eq!(at("throughput", 2), LinkView::default(), "the overhearing node sends nothing");
}

/// In the whole reading, rt-Winf's available bandwidth is the unused capacity: at sender, receiver and an
/// overhearing node, with and without RTS/CTS.
#[test]
fn read_whole_what_is_available_is_the_truth() {
    let reading = WinfReading::Whole;
    for rts in [Some(0), None] {
        for load in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let mut config = papers_link(&[[0.0, 0.0], [200.0, 0.0], [100.0, 100.0]]);
            config.mac.rts_threshold = rts;
            let capacity = if rts.is_some() { 4.523 } else { 6.069 };
            let rate = Rate::from_bps((load * capacity * 1e6 * 1472.0 / 1500.0) as u64 + 1_000);
            add_flow(&mut config, 0, 1, AppConfig::Cbr { rate, packet: 1472, jitter: 0.0 });
            measure(
                &mut config,
                "whole",
                match rts {
                    Some(_) => EstimatorConfig::RtWinf(RtWinfOptions { reading, ..RtWinfOptions::default() }),
                    None => EstimatorConfig::RtWinfProbe(RtWinfProbeOptions {
                        reading,
                        ..RtWinfProbeOptions::default()
                    }),
                },
            );
            let outcome = run(&config);
            let left = capacity * (1.0 - load);
            for node in 0..3 {
                let said = mbps(last(&outcome, &config, "whole", node).available_bps);
                assert!((said - left).abs() < 0.02 * capacity, "{rts:?} {load} at {node}: {said} of {left}");
            }
        }
    }
}

/// The receiver senses a sender that is hidden from its own sender: half of the medium is in use at the
/// receiver, and none at the sender. With reports in ACKs the sender knows.
#[test]
fn a_receiver_reports_what_its_sender_cannot_sense() {
    let mut config = papers_link(&[[0.0, 0.0], [240.0, 0.0], [600.0, 0.0], [800.0, 0.0]]);
    let rate = |kbps| AppConfig::Cbr { rate: Rate::from_kbps(kbps), packet: 1472, jitter: 0.0 };
    add_flow(&mut config, 0, 1, rate(100));
    add_flow(&mut config, 2, 3, rate(2_200));
    for peers in [false, true] {
        let options =
            RtWinfOptions { reading: WinfReading::Whole, ack_report: peers, ..RtWinfOptions::default() };
        measure(&mut config, if peers { "reports" } else { "alone" }, EstimatorConfig::RtWinf(options));
    }
    let outcome = run(&config);
    let available = |name: &str, node: u32| mbps(last(&outcome, &config, name, node).available_bps);
    assert!(available("alone", 0) > 4.3, "{}", available("alone", 0));
    assert!(available("reports", 0) < 2.5, "{}", available("reports", 0));
    assert!((available("reports", 0) - available("alone", 1)).abs() < 0.2);
}

/// The busyness ratio estimated from link events equals the simulator's counters, in a chain with hidden
/// terminals and under both rule sets.
#[test]
fn the_busyness_ratio_is_the_truth() {
    for rules in [DcfRules::IEEE, DcfRules::NS2] {
        let mut config = chain(rules, 6);
        config.mac.rts_threshold = Some(0);
        config.recording.warmup = Span::from_ms(3_500);
        saturate(&mut config, 0, 6);
        let window = Span::from_ms(1_000);
        measure(&mut config, "busy-ratio", EstimatorConfig::BusyRatio(BusyRatioOptions { window }));
        let outcome = run(&config);
        assert_eq!(outcome.measurements.len(), 20 * 7);
        for row in &outcome.measurements {
            let difference = row.view.busy_ratio.unwrap() - row.true_busy_ratio;
            // A NAV that nothing followed is reported to be over when the station next looks at it.
            assert!((-1e-9..3e-3).contains(&difference), "{row:?}");
            assert!(row.true_busy_ratio > 0.1 && row.true_busy_ratio < 1.0, "{row:?}");
        }
    }
}

/// Pairs of 1500 bytes, four a second, over a hop with RTS/CTS: 12000 bits in an exchange, DIFS and up to 31
/// slots.
#[test]
fn pairs_of_packets_find_the_capacity_of_a_hop_under_cross_traffic() {
    let pairs = |config: &mut Config, to: usize| {
        add_flow(
            config,
            0,
            to,
            AppConfig::Cbr { rate: Rate::from_bps(4 * 2 * 1472 * 8), packet: 2 * 1472, jitter: 0.0 },
        );
        let options = AdHocProbeOptions { flow: Some(FlowId(0)), pairs: 40 };
        measure(config, "adhoc-probe", EstimatorConfig::AdHocProbe(options));
    };
    let (least, most) = (12.0 / (2.293 + 0.05 + 0.62), 12.0 / (2.293 + 0.05));
    for cross_kbps in [0, 2_000] {
        let mut config = papers_link(&[[0.0, 0.0], [200.0, 0.0], [100.0, 100.0]]);
        pairs(&mut config, 1);
        if cross_kbps > 0 {
            let rate = Rate::from_kbps(cross_kbps);
            add_flow(&mut config, 2, 1, AppConfig::Poisson { rate, packet: 1472 });
        }
        let outcome = run(&config);
        let estimate = mbps(last(&outcome, &config, "adhoc-probe", 1).capacity_bps);
        assert!((least - 1e-3..=most + 1e-3).contains(&estimate), "{estimate} beside {cross_kbps} kb/s");
        assert_eq!(last(&outcome, &config, "adhoc-probe", 2).capacity_bps, None, "nothing ends there");
    }
}

#[test]
fn measuring_changes_nothing_and_depends_on_no_order() {
    let mut config = chain(DcfRules::IEEE, 4);
    config.mac.rts_threshold = Some(500);
    config.medium.packet_error_rate = 0.05;
    config.duration = Span::from_ms(5_000);
    saturate(&mut config, 0, 4);
    saturate(&mut config, 3, 1);
    let plain = run(&config);
    measure_all(&mut config);
    let measured = run(&config);
    assert_eq!(measured.measurements.len(), 9 * 5 * 5);
    assert_eq!(World::new(&config, Ties::Reversed).finish(), measured);
    assert_eq!(Outcome { measurements: Vec::new(), ..measured }, plain);
}

/// Collisions, hidden terminals, retries and losses, with and without RTS/CTS: every estimate is a possible
/// number, and the available bandwidth is at most the capacity.
#[test]
fn estimates_are_possible_whatever_happens() {
    for rules in [DcfRules::IEEE, DcfRules::NS2] {
        for rts_threshold in [Some(0), Some(500), None] {
            let mut config = chain(rules, 7);
            config.mac.rts_threshold = rts_threshold;
            config.medium.packet_error_rate = 0.1;
            config.recording.interval = Span::from_ms(50);
            config.duration = Span::from_ms(6_000);
            saturate(&mut config, 0, 7);
            saturate(&mut config, 7, 0);
            let rate = Rate::from_kbps(100);
            add_flow(&mut config, 3, 4, AppConfig::Poisson { rate, packet: 60 });
            measure_all(&mut config);
            let since_start = RtWinfOptions {
                window: Elapsed::SinceStart,
                total_per_exchange: true,
                reference_size: Some(1500),
                ..RtWinfOptions::default()
            };
            measure(&mut config, "since start", EstimatorConfig::RtWinf(since_start));
            let alike =
                PacketThroughputOptions { normalise_over: Some(20), ..PacketThroughputOptions::default() };
            measure(&mut config, "alike", EstimatorConfig::PacketThroughput(alike));
            let outcome = run(&config);
            assert_eq!(outcome.measurements.len(), 11 * 8 * 120);
            for row in &outcome.measurements {
                let view = row.view;
                let rates = [view.capacity_bps, view.packet_throughput_bps].into_iter().flatten();
                assert!(rates.clone().all(|bps| bps > 0.0 && bps <= 11e6), "{row:?}");
                let available = view.available_bps.unwrap_or_default();
                assert!(available >= 0.0 && available <= view.capacity_bps.unwrap_or_default(), "{row:?}");
                let shares = [view.busy_ratio, view.transmission_efficiency, Some(row.true_busy_ratio)];
                assert!(
                    shares.into_iter().flatten().all(|share| (0.0..=1.0 + 1e-9).contains(&share)),
                    "{row:?}"
                );
                assert!(view.service_delay_s.is_none_or(|delay| delay > 0.0 && delay < 2.0), "{row:?}");
            }
        }
    }
}
