//! The same configuration and seed give the same outcome, to the last bit: run again, on any thread, with
//! ties reversed.

use crate::common::{add_flow, network, two_ray};
use multihop_core::{NodeId, Rate, Span};
use multihop_dot11::DcfRules;
use multihop_link::{Discipline, FqCodelOptions, StationsOptions};
use multihop_schemes::find;
use multihop_sim::config::{
    AodvConfig, AppConfig, Config, DsdvConfig, DsrConfig, MediumModel, NodeConfig, RoutingProtocol,
    SchemeConfig, WireConfig,
};
use multihop_sim::outcome::Causes;
use multihop_sim::{Ties, World, run};
use serde_json::json;

/// A 4 x 4 grid in which equal distances make many simultaneous, equally strong signals, with every scheme
/// and many apps.
fn busy_grid(rules: DcfRules, model: Option<MediumModel>) -> Config {
    let positions: Vec<[f64; 2]> =
        (0..16).map(|i| [200.0 * f64::from(i % 4), 200.0 * f64::from(i / 4)]).collect();
    let mut config = network(rules, &positions);
    config.duration = Span::from_ms(4_000);
    config.mac.rts_threshold = Some(500);
    config.medium.bit_error_rate = 1e-6;
    if let Some(model) = model {
        config.medium.model = model;
    }
    let scheme = |name: &str| SchemeConfig {
        name: name.into(),
        scheme: find(name).unwrap().build(&json!({})).unwrap(),
    };
    config.traffic.schemes = ["tcp-newreno", "tcp-sack", "recn", "udp"].map(scheme).into();
    let rate = Rate::from_kbps(200);
    let apps = [
        AppConfig::Saturated,
        AppConfig::Cbr { rate, packet: 500, jitter: 0.0 },
        AppConfig::Poisson { rate, packet: 300 },
        AppConfig::Transfers { bytes: 20_000, pause: Span::from_ms(50), exponential: true, count: None },
    ];
    for i in 0..12 {
        add_flow(&mut config, i, 15 - i, apps[i % 4]);
        config.traffic.flows[i].scheme = (i / 4 + i) % 4;
    }
    config
}

/// Variant of [`busy_grid`] without bit errors, and without a scheme whose routers observe links.
fn unobserved_grid(rules: DcfRules) -> Config {
    let mut config = busy_grid(rules, None);
    config.medium.bit_error_rate = 0.0;
    config.traffic.schemes =
        config.traffic.schemes.iter().filter(|scheme| scheme.name != "recn").cloned().collect();
    config.traffic.flows.iter_mut().for_each(|flow| flow.scheme %= 3);
    config
}

fn sinr() -> MediumModel {
    let dbm = |dbm: f64| 10f64.powf(dbm / 10.0);
    MediumModel::Sinr {
        transmit_power_mw: dbm(24.5),
        noise_mw: dbm(-93.6),
        sensitivity_mw: dbm(-75.0),
        carrier_sense_mw: dbm(-78.0),
        path_loss: two_ray(),
    }
}

fn configurations() -> Vec<Config> {
    let mut configs = vec![
        busy_grid(DcfRules::IEEE, None),
        busy_grid(DcfRules::NS2, None),
        busy_grid(DcfRules::IEEE, Some(sinr())),
    ];
    let mut no_delay = busy_grid(DcfRules::NS2, Some(sinr()));
    no_delay.medium.propagation_delay = Span::ZERO;
    configs.push(no_delay);
    let mut routed = busy_grid(DcfRules::IEEE, None);
    let (update_period, settling_time) = (Span::from_ms(1_000), Span::from_ms(100));
    let parameters = DsdvConfig { update_period, settling_time, ..DsdvConfig::default() };
    routed.routing.protocol = RoutingProtocol::Dsdv(parameters);
    configs.push(routed.clone());
    routed.routing.protocol = RoutingProtocol::Dsr(DsrConfig::default());
    configs.push(routed.clone());
    routed.routing.protocol = RoutingProtocol::Aodv(AodvConfig::default());
    configs.push(routed);
    let mut wired = busy_grid(DcfRules::NS2, None);
    for (from, to) in [(0, 5), (5, 0), (5, 15), (15, 5), (2, 15), (15, 2)] {
        let (from, to, rate) = (NodeId(from), NodeId(to), Rate::from_kbps(1_000));
        let (delay, discipline) = (Span::from_us(200), Discipline::DropTail);
        let wire = WireConfig { from, to, rate, delay, queue_limit: 4, discipline, loss: 0.0 };
        wired.topology.wires.push(wire);
    }
    configs.push(wired.clone());
    let lines = FqCodelOptions { flows: 2, ..FqCodelOptions::default() };
    wired.topology.wires.iter_mut().for_each(|wire| wire.discipline = Discipline::FqCodel(lines));
    wired.mac.queue.discipline = Discipline::FqCodel(lines);
    configs.push(wired);
    let mut stations = busy_grid(DcfRules::IEEE, None);
    stations.mac.queue.discipline = Discipline::Stations(StationsOptions::default());
    configs.push(stations);
    configs
}

#[test]
fn a_second_run_is_the_same() {
    for config in configurations() {
        let first = run(&config);
        assert!(first.events > 15_000, "the scenario is busy: {} events", first.events);
        assert!(first.flows.iter().any(|flow| flow.delivered_bytes > 0));
        assert_eq!(first, run(&config));
    }
}

/// Without causes, frames that only pass a station are handled at one place.
#[test]
fn causes_change_nothing_else() {
    let unobserved = [DcfRules::IEEE, DcfRules::NS2].map(unobserved_grid);
    for (index, mut config) in configurations().into_iter().chain(unobserved).enumerate() {
        let mut known = run(&config);
        assert!(!known.causes.losses.is_empty());
        known.causes = Causes::default();
        config.recording.causes = false;
        assert_eq!(run(&config), known, "configuration {index}");
    }
}

#[test]
fn another_seed_is_another_run() {
    let config = busy_grid(DcfRules::IEEE, None);
    let other = Config { seed: 2, ..config.clone() };
    assert_ne!(run(&config).fingerprint, run(&other).fingerprint);
}

#[test]
fn reversed_ties_change_nothing() {
    for (index, config) in configurations().iter().enumerate() {
        let reversed = World::new(config, Ties::Reversed).finish();
        assert_eq!(run(config), reversed, "configuration {index}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let seeds: Vec<Config> = (0..6).map(|seed| Config { seed, ..busy_grid(DcfRules::IEEE, None) }).collect();
    let alone: Vec<_> = seeds.iter().map(run).collect();
    let together: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> = seeds.iter().map(|config| scope.spawn(move || run(config))).collect();
        runs.into_iter().map(|run| run.join().expect("the run ends")).collect()
    });
    assert_eq!(alone, together);
}

/// In a large network nodes lie in memory along a curve, in a small one by number. Nodes without a neighbour
/// make the network large.
#[test]
fn where_nodes_lie_in_memory_makes_no_difference() {
    for small in configurations() {
        let mut large = small.clone();
        let far_away = |i: u32| [1e7 + 1e5 * f64::from(i % 25), 1e7 - 1e5 * f64::from(i / 25)];
        let distant = |i: u32| {
            let (name, position) = (format!("distant {i}"), Some(far_away(i)));
            NodeConfig { name, position, ..small.topology.nodes[0].clone() }
        };
        large.topology.nodes.extend((0..500).map(distant));
        let [alone, among] = [run(&small), run(&large)];
        assert!(alone.flows.iter().any(|flow| flow.delivered_bytes > 0));
        assert_eq!(among.flows, alone.flows);
        assert_eq!(among.nodes[..small.topology.nodes.len()], alone.nodes[..]);
        assert_eq!(among.links[..alone.links.len()], alone.links[..]);
        assert_eq!(among.series, alone.series);
    }
}
