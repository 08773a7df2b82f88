//! Laws of links whose delivery was measured and whose powers are known: ADR 14.

use crate::common::{network, saturate, total_goodput};
use multihop_core::{NodeId, Rate};
use multihop_dot11::DcfRules;
use multihop_sim::config::*;
use multihop_sim::outcome::Outcome;
use multihop_sim::run;

const NOISE: f64 = -95.0;

/// Link from one node to another: delivery, if any, and power in dBm.
type Listed = (u32, u32, Option<f64>, f64);

fn milliwatts(dbm: f64) -> f64 {
    10f64.powf(dbm / 10.0)
}

/// This number of nodes with these links, equal in both directions, and saturated flows.
fn sensed(nodes: usize, links: &[Listed], flows: &[(usize, usize)]) -> Config {
    let positions: Vec<[f64; 2]> = (0..nodes).map(|i| [i as f64, 0.0]).collect();
    let mut config = network(DcfRules::IEEE, &positions);
    let both = |&(from, to, delivery, rssi): &Listed| {
        let link = |from, to| SensedLink { from: NodeId(from), to: NodeId(to), delivery, rssi };
        [link(from, to), link(to, from)]
    };
    config.medium.model = MediumModel::Sensed {
        links: links.iter().flat_map(both).collect(),
        probe_size: 1500,
        noise_mw: milliwatts(NOISE),
        sensitivity_mw: milliwatts(-92.0),
        carrier_sense_mw: milliwatts(-82.0),
    };
    for (from, to) in flows {
        saturate(&mut config, *from, *to);
    }
    config
}

/// Variant of the links without powers.
fn listed(config: &Config) -> Config {
    let MediumModel::Sensed { links, probe_size, .. } = &config.medium.model else { unreachable!() };
    let decodable = links.iter().filter_map(|link| Some((link, link.delivery?)));
    let links = decodable.map(|(link, value)| MatrixLink { from: link.from, to: link.to, value }).collect();
    let mut config = config.clone();
    config.medium.model =
        MediumModel::Matrix { links, quantity: MatrixQuantity::Delivery { probe_size: *probe_size } };
    config
}

fn outcome(config: &Config) -> Outcome {
    run(config)
}

/// Share of a sender's attempts that failed.
fn failed(outcome: &Outcome, node: u32) -> f64 {
    let link = outcome.links.iter().find(|link| link.from == node && link.data > 0).unwrap();
    1.0 - link.acknowledged as f64 / link.data as f64
}

/// Without interference, a link delivers what was measured at any power: to the bit the run without powers.
#[test]
fn a_clear_channel_delivers_as_listed_at_any_power() {
    for delivery in [1.0, 0.8, 0.4] {
        let run_at = |rssi| outcome(&sensed(2, &[(0, 1, Some(delivery), rssi)], &[(0, 1)]));
        let without = outcome(&listed(&sensed(2, &[(0, 1, Some(delivery), -60.0)], &[(0, 1)])));
        for rssi in [-40.0, -85.0, -100.0] {
            assert_eq!(format!("{:?}", run_at(rssi)), format!("{without:?}"), "{delivery} at {rssi} dBm");
        }
    }
}

/// Two senders to one receiver that know nothing of each other collide; sensed at -88 dBm they take turns.
#[test]
fn a_hidden_pair_becomes_one_that_senses() {
    let hidden = [(0, 1, Some(1.0), -70.0), (2, 1, Some(1.0), -70.0)];
    let sensing = [hidden[0], hidden[1], (0, 2, None, -88.0)];
    let flows = [(0, 1), (2, 1)];
    let [apart, aware] = [&hidden[..], &sensing[..]].map(|links| outcome(&sensed(3, links, &flows)));
    assert!(failed(&apart, 0) > 0.4, "{}", failed(&apart, 0));
    assert!(failed(&aware, 0) < 0.1, "{}", failed(&aware, 0));
    assert!(total_goodput(&aware) > 1.5 * total_goodput(&apart));
}

/// A sender that neither end of a link senses: its interference destroys frames of equal power, and none of
/// those far stronger.
#[test]
fn a_signal_far_above_an_interferer_is_received() {
    let with = |rssi| {
        let links = [(0, 1, Some(1.0), rssi), (2, 3, Some(1.0), -60.0), (2, 1, None, -93.0)];
        failed(&outcome(&sensed(4, &links, &[(0, 1), (2, 3)])), 0)
    };
    assert!(with(-60.0) <= 0.0, "{}", with(-60.0));
    assert!(with(-92.0) > 0.5, "{}", with(-92.0));
}

/// A link that is only sensed is never decoded, however strong: no route uses it.
#[test]
fn what_is_only_sensed_carries_nothing() {
    let config = sensed(3, &[(0, 1, Some(1.0), -60.0), (1, 2, None, -40.0)], &[(0, 1), (1, 2)]);
    let outcome = outcome(&config);
    assert!(outcome.flows[0].delivered_bytes > 0);
    assert_eq!(outcome.flows[1].delivered_bytes, 0);
}

/// The rate of one link is that of its frames both ways, and of no other link.
#[test]
fn a_link_may_have_a_rate_of_its_own() {
    let links = [(0, 1, Some(1.0), -60.0), (1, 2, Some(1.0), -60.0)];
    let goodput = |flow: (usize, usize), slow: Option<[u32; 2]>| {
        let mut config = sensed(3, &links, &[flow]);
        let rate =
            |ends: [u32; 2]| LinkRate { between: ends.map(NodeId), rate: Rate::from_kbps(1_000).into() };
        config.rates.links = slow.map(rate).into_iter().collect();
        total_goodput(&outcome(&config))
    };
    let (fast, slow) = (goodput((0, 1), None), goodput((0, 1), Some([1, 0])));
    assert!(slow < 0.95e6 && fast > 5e6, "{slow} {fast}");
    assert!((goodput((1, 0), Some([1, 0])) / slow - 1.0).abs() < 0.02);
    assert!((goodput((1, 2), Some([1, 0])) / fast - 1.0).abs() < 0.02);
}
