//! Laws of transmit powers and antenna gains of single radios.

use crate::common::{network, saturate, total_goodput, two_ray};
use multihop_core::{NodeId, Span};
use multihop_dot11::DcfRules;
use multihop_sim::config::*;
use multihop_sim::mobility::Motion;
use multihop_sim::routing::LinkQuality;
use multihop_sim::{Ties, World, run};

fn milliwatts(dbm: f64) -> f64 {
    10f64.powf(dbm / 10.0)
}

/// Nodes at these positions in metres along a line, which send with 20 dBm; power falls by 30 dB per decade,
/// from -20 dBm at one metre.
fn along(places: &[f64]) -> Config {
    let positions: Vec<[f64; 2]> = places.iter().map(|x| [*x, 0.0]).collect();
    let mut config = network(DcfRules::IEEE, &positions);
    config.duration = Span::from_ms(3_000);
    config.medium.model = MediumModel::Sinr {
        transmit_power_mw: milliwatts(20.0),
        noise_mw: milliwatts(-95.0),
        sensitivity_mw: milliwatts(-92.0),
        carrier_sense_mw: milliwatts(-82.0),
        path_loss: PathLoss::LogDistance { exponent: 3.0, reference_loss_db: 40.0, reference_distance: 1.0 },
    };
    config
}

/// Gives each node a transmit power in dBm and an antenna gain in dBi.
fn with_powers(mut config: Config, powers: &[(f64, f64)]) -> Config {
    let power =
        |&(dbm, dbi): &(f64, f64)| RadioPower { transmit_mw: milliwatts(dbm), antenna_gain: milliwatts(dbi) };
    config.topology.powers = powers.iter().map(power).collect();
    config
}

fn usable(config: &Config) -> Vec<(u32, u32)> {
    LinkQuality::new(config).usable().iter().map(|(from, to, _)| (from.0, to.0)).collect()
}

/// At 200 m 69 dB are lost beyond the first metre's 40: 20 dBm arrive as -89 dBm, of which DATA at 11 Mb/s
/// and ACKs get through -95 dBm of noise badly; 10 dB more at either end, in power or gain, mend that, and
/// the ACKs need them too.
#[test]
fn a_link_is_usable_where_the_budgets_of_both_directions_allow() {
    let of = |powers: &[(f64, f64)]| usable(&with_powers(along(&[0.0, 200.0]), powers));
    assert_eq!(of(&[(20.0, 0.0), (20.0, 0.0)]), usable(&along(&[0.0, 200.0])));
    let weak = [(0.0, 0.0), (0.0, 0.0)];
    assert_eq!(of(&weak), []);
    assert_eq!(of(&[(30.0, 0.0), (0.0, 0.0)]), [], "no ACK comes back");
    let both = [(0, 1), (1, 0)];
    assert_eq!(of(&[(30.0, 0.0), (30.0, 0.0)]), both);
    assert_eq!(of(&[(0.0, 30.0), (0.0, 0.0)]), both, "an antenna serves both directions");
    assert_eq!(of(&[(0.0, 15.0), (0.0, 15.0)]), both, "gains of both ends add up");
}

/// Only received power matters: explicit powers that equal the medium's give the same run, and so do gains in
/// place of power, whether nodes rest or move.
#[test]
fn equal_powers_are_the_same_run_as_a_power_of_the_medium() {
    let mut plain = along(&[0.0, 40.0, 80.0, 120.0]);
    for (from, to) in [(0, 3), (3, 1)] {
        saturate(&mut plain, from, to);
    }
    let mut walking = plain.clone();
    let mut walker = Motion::standing([120.0, 0.0]);
    walker.head_for(0.5, [20.0, 30.0], 20.0);
    let standing = [0.0, 40.0, 80.0].map(|x| Motion::standing([x, 0.0]));
    walking.mobility.motions = standing.into_iter().chain([walker]).collect();
    for config in [plain, walking] {
        let expected = run(&config);
        assert!(total_goodput(&expected) > 1e5);
        let stated = with_powers(config.clone(), &[(20.0, 0.0); 4]);
        assert_eq!(run(&stated), expected);
        assert_eq!(World::new(&stated, Ties::Reversed).finish(), expected);
        // 3 dB of ratio 2 exactly, so that powers are equal to the last bit.
        let mut split = with_powers(config, &[(20.0, 0.0); 4]);
        split.topology.powers.iter_mut().for_each(|power| {
            power.transmit_mw /= 4.0;
            power.antenna_gain = 2.0;
        });
        assert_eq!(run(&split), expected);
    }
}

/// A station that whispers is not sensed by one that shouts, and hears it: the shouter takes the medium.
#[test]
fn carrier_sense_follows_the_power_of_each_sender() {
    // Two pairs, 30 m apart: at 30 m 84 dB are lost, so that 0 dBm arrive as -84 dBm, below the carrier sense
    // threshold and above sensitivity; from 60 m on, as -93 dBm, nothing is detected.
    let mut config = along(&[0.0, 5.0, 65.0, 70.0]);
    saturate(&mut config, 0, 1);
    saturate(&mut config, 3, 2);
    let busy = |powers: &[(f64, f64); 4]| {
        let outcome = run(&with_powers(config.clone(), powers));
        let goodput = |flow: usize| outcome.flows[flow].delivered_bytes as f64;
        (goodput(0), goodput(1))
    };
    let (one, other) = busy(&[(0.0, 0.0); 4]);
    let (quiet, loud) = busy(&[(0.0, 0.0), (0.0, 0.0), (30.0, 0.0), (30.0, 0.0)]);
    assert!((one / other - 1.0).abs() < 0.02, "apart they have the medium to themselves: {one} {other}");
    assert!(quiet < 0.6 * one && loud > 0.95 * other, "{quiet} of {one}, {loud} of {other}");
}

/// A flood of power or gain ends at 10 W, which sums of powers hold.
#[test]
fn no_receiver_gets_more_than_ten_watts() {
    let mut config = along(&[0.0, 1.0, 2.0]);
    saturate(&mut config, 0, 2);
    let outcome = run(&with_powers(config, &[(40.0, 60.0); 3]));
    assert!(total_goodput(&outcome) > 1e6);
}

/// Two-ray, as ns-2: 24.5 dBm reach 250 m, and the fourth root of a gain of 16 twice as far.
#[test]
fn reach_grows_with_the_fourth_root_of_power_beyond_the_crossover() {
    let at = |distance: f64, gain: f64| {
        let mut config = along(&[0.0, distance]);
        let receive_mw = milliwatts(24.5) * two_ray().gain(250.0);
        config.medium.model = MediumModel::Sinr {
            transmit_power_mw: milliwatts(24.5),
            noise_mw: receive_mw / 1e6,
            sensitivity_mw: receive_mw * 0.9999,
            carrier_sense_mw: receive_mw,
            path_loss: two_ray(),
        };
        config.topology.powers = vec![
            RadioPower { transmit_mw: milliwatts(24.5), antenna_gain: gain },
            RadioPower { transmit_mw: milliwatts(24.5), antenna_gain: 1.0 },
        ];
        LinkQuality::new(&config).success(NodeId(0), NodeId(1)) > 0.9
    };
    assert_eq!([at(249.9, 1.0), at(250.1, 1.0)], [true, false]);
    assert_eq!([at(499.8, 16.0), at(500.2, 16.0)], [true, false]);
}
