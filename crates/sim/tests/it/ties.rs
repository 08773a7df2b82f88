//! Frames that begin at one instant, over every medium and kind of MAC: with ties reversed a run is the same,
//! and of stations whose signals are equally strong none has an advantage by its number.

use crate::common::{add_flow, network, saturate};
use crate::mac::aggregation::LIMITS;
use multihop_core::{Dscp, NodeId, Rate, Span};
use multihop_dot11::{AccessCategory, DataRate, DcfRules, EdcaParameters, Phy, Preamble, Standard};
use multihop_link::Algorithm;
use multihop_sim::config::{
    AppConfig, Channel, Config, Delivery, MatrixLink, MatrixQuantity, MediumModel, NodeConfig, PathLoss,
    Protection, Radios, RateControlConfig, SensedLink,
};
use multihop_sim::{Ties, World, run};

const STATIONS: usize = 8;

fn milliwatts(dbm: f64) -> f64 {
    10f64.powf(dbm / 10.0)
}

fn path_loss() -> PathLoss {
    PathLoss::LogDistance { exponent: 3.0, reference_distance: 1.0, reference_loss_db: 40.0 }
}

/// Stations that all sense each other: some pairs are equally far from a third, others are not. Each sends to
/// its two neighbours by number.
fn crowd(standard: Standard) -> Config {
    let positions: Vec<[f64; 2]> =
        (0..STATIONS).map(|i| [12.0 * (i % 4) as f64, 12.0 * (i / 4) as f64]).collect();
    let mut config = network(DcfRules::IEEE, &positions);
    config.duration = Span::from_ms(250);
    config.recording.warmup = Span::ZERO;
    config.phy = Phy::new(standard, Preamble::Long);
    let highest = config.phy.rates().map(|(rate, _)| rate).max().expect("every PHY has rates");
    config.rates.data = config.phy.schemes().nth(3).map_or(highest.into(), DataRate::Mcs);
    config.rates.control = None;
    (config.mac.cw_min, config.mac.cw_max) = (config.phy.cw_min, config.phy.cw_max);
    config.mac.queue.limit = 200;
    for from in 0..STATIONS {
        saturate(&mut config, from, (from + 1) % STATIONS);
        saturate(&mut config, from, (from + STATIONS - 1) % STATIONS);
    }
    config
}

/// Links between all, with a value of each.
fn links(value: impl Fn(u32, u32) -> f64) -> Vec<MatrixLink> {
    let nodes = 0..STATIONS as u32;
    let pairs = nodes.clone().flat_map(|from| nodes.clone().map(move |to| (from, to)));
    let link = |(from, to)| MatrixLink { from: NodeId(from), to: NodeId(to), value: value(from, to) };
    pairs.filter(|(from, to)| from != to).map(link).collect()
}

fn rssi(value: impl Fn(u32, u32) -> f64) -> MediumModel {
    let quantity = MatrixQuantity::Rssi {
        noise_mw: milliwatts(-95.0),
        sensitivity_mw: milliwatts(-92.0),
        carrier_sense_mw: milliwatts(-82.0),
    };
    MediumModel::Matrix { links: links(value), quantity }
}

/// Whole decibels, of which many are equal.
fn whole_decibels(from: u32, to: u32) -> f64 {
    -50.0 - f64::from((from * 5 + to * 3) % 7 / 2 * 4)
}

/// Every medium, with a name.
fn media() -> Vec<(&'static str, MediumModel)> {
    let ranges = |capture_ratio| MediumModel::Ranges {
        receive_range: 250.0,
        carrier_sense_range: 550.0,
        capture_ratio,
        path_loss: path_loss(),
    };
    let sinr = MediumModel::Sinr {
        transmit_power_mw: milliwatts(20.0),
        noise_mw: milliwatts(-94.0),
        sensitivity_mw: milliwatts(-92.0),
        carrier_sense_mw: milliwatts(-82.0),
        path_loss: path_loss(),
    };
    let measured = links(whole_decibels).into_iter().map(|MatrixLink { from, to, value }| SensedLink {
        from,
        to,
        delivery: (from.0 + 2 * to.0 > 3).then_some(0.95),
        rssi: value,
    });
    let sensed = MediumModel::Sensed {
        links: measured.collect(),
        probe_size: 1500,
        noise_mw: milliwatts(-95.0),
        sensitivity_mw: milliwatts(-92.0),
        carrier_sense_mw: milliwatts(-82.0),
    };
    let delivery = MediumModel::Matrix {
        links: links(|from, to| if (from + to) % 3 == 0 { 0.8 } else { 1.0 }),
        quantity: MatrixQuantity::Delivery { probe_size: 1500 },
    };
    vec![
        ("ranges without capture", ranges(None)),
        ("ranges, capture at 1", ranges(Some(1.0))),
        ("ranges, capture at 10", ranges(Some(10.0))),
        ("sinr", sinr),
        ("rssi, equal", rssi(|_, _| -50.0)),
        ("rssi, whole decibels", rssi(whole_decibels)),
        ("sensed", sensed),
        ("delivery", delivery),
    ]
}

fn aggregate(config: &mut Config, delivery: Delivery) {
    config.mac.rules = config.mac.rules.with_quality_of_service();
    config.mac.block_ack.delivery = delivery;
    config.mac.block_ack.aggregation = Some(LIMITS);
}

fn differentiate(config: &mut Config, protection: Protection) {
    config.mac.edca = Some(AccessCategory::ALL.map(|category| EdcaParameters::new(category, &config.phy)));
    config.mac.protection = protection;
    for (flow, dscp) in config.traffic.flows.iter_mut().zip([0, 46, 8, 34, 0, 0].into_iter().cycle()) {
        flow.dscp = Dscp::new(dscp).expect("six bits");
    }
}

/// Half of the stations on a channel that overlaps with that of the others; one is a node with a radio on
/// each.
fn on_two_channels(config: &mut Config) {
    let channel = |number| Channel { number, width_mhz: 20, overlaps: true };
    let channels = (0..STATIONS).map(|i| channel(if i < STATIONS / 2 { 1 } else { 3 })).collect();
    let further = vec![(NodeId(STATIONS as u32 - 1), NodeId(0))];
    config.topology.radios = Radios { channels, further };
    config.traffic.flows.retain(|flow| flow.source.0 < 7 && flow.destination.0 < 7);
    add_flow(config, 1, 5, AppConfig::Saturated);
}

/// Feature of a MAC, with its name and standard.
type Kind = (&'static str, Standard, fn(&mut Config));

const KINDS: [Kind; 14] = [
    ("802.11b", Standard::Dot11b, |_| ()),
    ("802.11b with RTS", Standard::Dot11b, |config| config.mac.rts_threshold = Some(0)),
    ("802.11g", Standard::Dot11g, |_| ()),
    ("ns-2's rules", Standard::Dsss, |config| config.mac.rules = DcfRules::NS2),
    ("802.11n without aggregates", Standard::Dot11n, |_| ()),
    ("A-MPDUs", Standard::Dot11n, |config| aggregate(config, Delivery::Ppdu)),
    ("A-MPDUs, MPDU by MPDU", Standard::Dot11n, |config| aggregate(config, Delivery::Mpdu)),
    ("A-MPDUs behind RTS, MPDU by MPDU", Standard::Dot11n, |config| {
        aggregate(config, Delivery::Mpdu);
        config.mac.rts_threshold = Some(1_000);
    }),
    ("A-MSDUs in A-MPDUs, MPDU by MPDU", Standard::Dot11ac, |config| {
        aggregate(config, Delivery::Mpdu);
        config.mac.block_ack.aggregation.as_mut().expect("it was set").a_msdu = Some(3_839);
    }),
    ("categories", Standard::Dot11g, |config| differentiate(config, Protection::Single)),
    ("categories with A-MPDUs, MPDU by MPDU", Standard::Dot11ax, |config| {
        aggregate(config, Delivery::Mpdu);
        differentiate(config, Protection::Multiple);
    }),
    ("preambles from 4 dB, MPDU by MPDU", Standard::Dot11n, |config| {
        aggregate(config, Delivery::Mpdu);
        config.medium.preamble_detection = Some(10f64.powf(0.4));
    }),
    ("rates chosen, MPDU by MPDU", Standard::Dot11n, |config| {
        aggregate(config, Delivery::Mpdu);
        config.mac.rate_control =
            Some(RateControlConfig { algorithm: Algorithm::MinstrelHt, streams: 1, tries: None });
    }),
    ("two channels, MPDU by MPDU", Standard::Dot11n, |config| {
        aggregate(config, Delivery::Mpdu);
        on_two_channels(config);
    }),
];

/// Every medium with every kind of MAC.
#[test]
fn reversed_ties_change_nothing() {
    let mut collisions = 0;
    for (medium, model) in media() {
        for (kind, standard, change) in KINDS {
            let mut config = crowd(standard);
            config.medium.model = model.clone();
            change(&mut config);
            let outcome = run(&config);
            assert!(outcome.flows.iter().any(|flow| flow.delivered_bytes > 0), "{medium}, {kind}");
            collisions += outcome.causes.losses.len();
            let reversed = World::new(&config, Ties::Reversed).finish();
            assert_eq!(outcome.events, reversed.events, "{medium}, {kind}");
            assert_eq!(outcome, reversed, "{medium}, {kind}");
        }
    }
    assert!(collisions > 1_000, "frames are lost for {collisions} reasons");
}

/// Reversed ties change nothing with propagation delays by distance either.
#[test]
fn reversed_ties_change_nothing_over_distances() {
    for (kind, standard, change) in KINDS {
        let mut config = crowd(standard);
        let (_, model) = media().swap_remove(3);
        config.medium.model = model;
        config.medium.propagation_delay = Span::ZERO;
        config.medium.delays_by_distance = true;
        change(&mut config);
        assert_eq!(run(&config), World::new(&config, Ties::Reversed).finish(), "{kind}");
    }
}

/// Stations of equal power around a receiver of this number.
fn star(standard: Standard, receiver: usize) -> Config {
    const AROUND: usize = 4;
    let others = (0..AROUND).map(|i| std::f64::consts::TAU * i as f64 / AROUND as f64);
    let mut positions: Vec<[f64; 2]> = others.map(|angle| [10.0 * angle.cos(), 10.0 * angle.sin()]).collect();
    positions.insert(receiver, [0.0, 0.0]);
    let mut config = crowd(standard);
    let node =
        |position: &[f64; 2]| NodeConfig { position: Some(*position), ..config.topology.nodes[0].clone() };
    config.topology.nodes = positions.iter().map(node).collect();
    config.traffic.flows.clear();
    for station in (0..=AROUND).filter(|node| *node != receiver) {
        saturate(&mut config, station, receiver);
    }
    config
}

/// Deviation of the stations' shares from equal ones, in standard errors.
fn bias(config: &Config, seeds: u64) -> f64 {
    let stations = config.traffic.flows.len() as f64;
    let shares = (0..seeds).map(|seed| {
        let outcome = run(&Config { seed, ..config.clone() });
        let all: u64 = outcome.flows.iter().map(|flow| flow.delivered_bytes).sum();
        outcome.flows.iter().map(|flow| flow.delivered_bytes as f64 / all as f64 - 1.0 / stations).collect()
    });
    let shares: Vec<Vec<f64>> = shares.collect();
    let mean = |station: usize| shares.iter().map(|of| of[station]).sum::<f64>() / seeds as f64;
    let means: Vec<f64> = (0..config.traffic.flows.len()).map(mean).collect();
    let squares =
        shares.iter().flat_map(|of| of.iter().zip(&means).map(|(share, mean)| (share - mean).powi(2)));
    let variance = squares.sum::<f64>() / (stations * (seeds - 1) as f64);
    let farthest = means.iter().fold(0.0, |most: f64, mean| most.max(mean.abs()));
    farthest / (variance / seeds as f64).sqrt()
}

/// Equally strong stations have equal shares, whichever number their receiver has, at every rate of DSSS and
/// with every other PHY. With 10 seeds and 4 stations, one case in 10 000 is farther off by chance.
#[test]
fn of_equally_strong_stations_none_has_an_advantage() {
    let phys = [
        (Standard::Dsss, Some(1_000), false),
        (Standard::Dsss, Some(2_000), true),
        (Standard::Dot11b, Some(5_500), true),
        (Standard::Dot11b, Some(11_000), true),
        (Standard::Dot11g, Some(6_000), false),
        (Standard::Dot11a, Some(54_000), true),
        (Standard::Fhss, Some(1_000), false),
        (Standard::Dot11n, None, false),
        (Standard::Dot11ac, None, true),
        (Standard::Dot11ax, None, false),
    ];
    for (standard, rate, with_rts) in phys {
        for (medium, model) in media().into_iter().filter(|(name, _)| !name.contains("whole")) {
            if matches!(model, MediumModel::Sensed { .. } | MediumModel::Matrix { .. })
                && !medium.contains("equal")
            {
                continue; // links that are not equal
            }
            for receiver in [0, 2] {
                let mut config = star(standard, receiver);
                config.medium.model = model.clone();
                if let MediumModel::Matrix { links, .. } = &mut config.medium.model {
                    links.retain(|link| link.from.0 < 5 && link.to.0 < 5);
                }
                config.mac.rts_threshold = with_rts.then_some(0);
                if let Some(rate) = rate {
                    config.rates.data = Rate::from_kbps(rate).into();
                }
                config.duration =
                    Span::from_ms(if rate.is_some_and(|rate| rate < 5_000) { 6_000 } else { 2_000 });
                let bias = bias(&config, 10);
                assert!(bias < 4.5, "{standard:?} {rate:?}, {medium}, receiver {receiver}: {bias}");
            }
        }
    }
}
