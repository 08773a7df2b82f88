//! Rate control, compared with the best fixed rate.

use super::aggregation::LIMITS;
use crate::common::{check_conservation, network, saturate, total_goodput};
use multihop_core::{Rate, Span};
use multihop_dot11::{DataRate, DcfRules, Mcs, Phy, Preamble, Standard};
use multihop_link::Algorithm;
use multihop_schemes::find;
use multihop_sim::config::{Config, MediumModel, PathLoss, RateControlConfig, SchemeConfig};
use multihop_sim::outcome::Outcome;
use multihop_sim::run;
use serde_json::json;

/// A saturated link of this length in metres, with a path loss exponent of 3.
fn link(standard: Standard, distance: f64) -> Config {
    let mut config = network(DcfRules::IEEE, &[[0.0, 0.0], [distance, 0.0]]);
    config.phy = Phy::new(standard, Preamble::Long);
    config.rates.control = None;
    (config.mac.cw_min, config.mac.cw_max) = (config.phy.cw_min, config.phy.cw_max);
    config.mac.queue.limit = 200;
    config.medium.propagation_delay = Span::ZERO;
    let mw = |dbm: f64| 10f64.powf(dbm / 10.0);
    config.medium.model = MediumModel::Sinr {
        transmit_power_mw: mw(20.0),
        noise_mw: mw(-94.0),
        sensitivity_mw: mw(-92.0),
        carrier_sense_mw: mw(-82.0),
        path_loss: PathLoss::LogDistance { exponent: 3.0, reference_distance: 1.0, reference_loss_db: 40.0 },
    };
    config.duration = Span::from_ms(3_000);
    saturate(&mut config, 0, 1);
    config
}

/// A saturated link of 802.11n with A-MPDUs.
fn aggregating(distance: f64) -> Config {
    let mut config = link(Standard::Dot11n, distance);
    config.mac.rules = DcfRules::IEEE.with_quality_of_service();
    config.mac.block_ack.aggregation = Some(LIMITS);
    config
}

/// Results at a rate, or with rate control and that nominal rate.
fn run_at(config: &Config, rate: DataRate, rate_control: Option<RateControlConfig>) -> Outcome {
    let mut config = config.clone();
    config.rates.data = rate;
    config.mac.rate_control = rate_control;
    let outcome = run(&config);
    check_conservation(&outcome);
    outcome
}

/// Goodput at a fixed rate.
fn fixed(config: &Config, rate: DataRate) -> f64 {
    total_goodput(&run_at(config, rate, None))
}

/// Goodput with rate control.
fn controlled(config: &Config, lowest: DataRate, algorithm: Algorithm) -> f64 {
    let rate_control = RateControlConfig { algorithm, streams: 2, tries: None };
    total_goodput(&run_at(config, lowest, Some(rate_control)))
}

#[test]
fn rate_control_finds_the_best_rate() {
    let scheme = |streams: u8, scheme: u8| DataRate::Mcs(Mcs { streams, scheme });
    for (distance, best) in
        [(5.0, scheme(2, 7)), (35.0, scheme(2, 7)), (58.0, scheme(2, 4)), (100.0, scheme(2, 2))]
    {
        let config = aggregating(distance);
        let most = fixed(&config, best);
        let ideal = controlled(&config, scheme(1, 0), Algorithm::Ideal);
        assert!(ideal > 0.97 * most, "ideal at {distance} m: {ideal:.0} of {most:.0}");
        let minstrel = controlled(&config, scheme(1, 0), Algorithm::MinstrelHt);
        assert!(minstrel > 0.92 * most, "Minstrel-HT at {distance} m: {minstrel:.0} of {most:.0}");
    }
}

/// Single frames with ACKs, at the rates of 802.11a.
#[test]
fn rate_control_finds_the_best_rate_without_aggregation() {
    let rate = |kbps: u64| DataRate::Bits(Rate::from_kbps(kbps));
    for (distance, best) in [(20.0, rate(54_000)), (75.0, rate(24_000)), (130.0, rate(6_000))] {
        let config = link(Standard::Dot11a, distance);
        let most =
            [rate(6_000), rate(9_000), rate(12_000), rate(18_000), rate(24_000), rate(36_000), rate(54_000)]
                .map(|rate| fixed(&config, rate));
        let most = most.into_iter().fold(0.0, f64::max).max(fixed(&config, best));
        for algorithm in [Algorithm::Ideal, Algorithm::MinstrelHt] {
            let found = controlled(&config, rate(6_000), algorithm);
            assert!(found > 0.9 * most, "{algorithm:?} at {distance} m: {found:.0} of {most:.0}");
        }
    }
}

/// If all rates have the same loss, the fastest is the best.
#[test]
fn loss_at_all_rates_does_not_lower_the_rate() {
    let mut config = aggregating(5.0);
    config.medium.packet_error_rate = 0.3;
    let lowest = DataRate::Mcs(Mcs { streams: 1, scheme: 0 });
    let most = fixed(&config, DataRate::Mcs(Mcs { streams: 2, scheme: 7 }));
    let minstrel = controlled(&config, lowest, Algorithm::MinstrelHt);
    assert!(minstrel > 0.85 * most, "{minstrel:.0} of {most:.0}");
}

/// Schemes use the rate of the sent frames, and not the lowest rate, with which rate control begins.
#[test]
fn schemes_learn_the_rate_in_use() {
    let mcs = |scheme| DataRate::Mcs(Mcs { streams: 1, scheme });
    for (scheme, parameters) in [
        ("xcp-winf", json!({})),
        ("xcp-winf", json!({ "reading": "whole" })),
        ("re-tfrc", json!({})),
        ("re-tfrc", json!({ "ceiling": "round-trip" })),
        ("xcp", json!({ "capacity": "phy-rate" })),
        ("bmcc", json!({ "capacity": "phy-rate" })),
        ("ewccp", json!({})),
    ] {
        let mut config = Config { duration: Span::from_ms(6_000), ..aggregating(5.0) };
        let built = find(scheme).unwrap().build(&parameters).unwrap();
        config.traffic.schemes = vec![SchemeConfig { name: scheme.into(), scheme: built }];
        let at_seven = fixed(&config, mcs(7));
        let rate_control = Some(RateControlConfig { algorithm: Algorithm::Ideal, streams: 1, tries: None });
        let found = total_goodput(&run_at(&config, mcs(0), rate_control));
        assert!(found > 0.9 * at_seven, "{scheme} {parameters}: {found:.0} of {at_seven:.0}");
        // Conversely: stations with a rate of their own, below that of the network.
        config.topology.nodes.iter_mut().for_each(|node| node.data_rate = Some(mcs(0)));
        let slow = fixed(&config, mcs(7));
        assert!(slow > 3e6 && slow < 6.5e6, "{scheme} {parameters}: {slow:.0} of 6.5 Mb/s");
    }
}

/// Collisions with a hidden sender look like a bad link: packets are conserved, and some arrive.
#[test]
fn collisions_do_not_break_conservation() {
    for algorithm in [Algorithm::Ideal, Algorithm::MinstrelHt] {
        let mut config = aggregating(90.0);
        config.topology.nodes.push(config.topology.nodes[1].clone());
        config.topology.nodes[2].position = Some([180.0, 0.0]);
        saturate(&mut config, 2, 1);
        let both = controlled(&config, DataRate::Mcs(Mcs { streams: 1, scheme: 0 }), algorithm);
        assert!(both > 1e6, "{algorithm:?}: {both:.0}");
    }
}

/// Seven of ten MPDUs are lost at every rate. Given up are 8 % with seven attempts, 0.5 % with the fifteen of
/// the MAC, and 0.05 % with 21.
#[test]
fn the_retry_chain_can_set_the_number_of_attempts() {
    let mut config = aggregating(5.0);
    config.medium.packet_error_rate = 0.7;
    let given_up = |tries| {
        let rate_control = Some(RateControlConfig { algorithm: Algorithm::MinstrelHt, streams: 2, tries });
        let outcome = run_at(&config, DataRate::Mcs(Mcs { streams: 1, scheme: 0 }), rate_control);
        let link = &outcome.links[0];
        link.given_up as f64 / (link.given_up + link.acknowledged) as f64
    };
    let (of_seven, of_the_mac, of_the_chain) = (given_up(Some(7)), given_up(None), given_up(Some(21)));
    assert!((0.05..0.12).contains(&of_seven), "{of_seven}");
    assert!((0.002..0.01).contains(&of_the_mac), "{of_the_mac}");
    assert!(of_the_chain < 0.002, "{of_the_chain}");
}
