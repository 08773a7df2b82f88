//! Random configurations: whatever is configured, a run ends, conserves packets, leaves no station stuck
//! (both are asserted at the end of every run), does not depend on the order of ties, and its shares of time
//! add up.
//!
//! `MULTIHOP_FUZZ=1000..3000 cargo test -p multihop-sim --test it fuzz::` runs other seeds than the
//! first 300.

use crate::common::{add_flow, network, two_ray};
use multihop_core::{Dscp, NodeId, Rate, Rng, Span};
use multihop_dot11::{
    AccessCategory, DataRate, DcfRules, EdcaParameters, EifsRule, Microseconds, Phy, Preamble,
    ResponseTimeout, Standard,
};
use multihop_link::{
    Adaptation, AirtimeLimits, CakeOptions, CodelOptions, Discipline, DualPi2Options, DualQueueSchedule,
    FqCodelOptions, LowLatencyMarking, PieOptions, SlowStations, StationsOptions,
};
use multihop_schemes::find;
use multihop_sim::config::{
    AodvConfig, AppConfig, Config, DsdvConfig, DsrConfig, HardwareQueueConfig, LinkFailureRule, LocalRepair,
    MatrixLink, MatrixQuantity, MediumModel, PathLoss, Protection, RouteMetric, RoutingProtocol,
    SchemeConfig, VideoConfig, WireConfig,
};
use multihop_sim::{Ties, World, run};

fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u32) as usize]
}

fn coin(rng: &mut Rng) -> bool {
    rng.below(2) == 0
}

fn rules(rng: &mut Rng) -> DcfRules {
    let mut rules = pick(rng, &[DcfRules::IEEE, DcfRules::NS2, DcfRules::BIANCHI]);
    let patient = ResponseTimeout::WholeResponse { propagation: Span::from_us(2) };
    if coin(rng) {
        rules.eifs = pick(rng, &[EifsRule::UntilCorrectFrame, EifsRule::AsNav, EifsRule::Never]);
        rules.response_timeout = pick(rng, &[ResponseTimeout::FirstBit, patient, ResponseTimeout::Eifs]);
        rules.airtime = pick(rng, &[Microseconds::Up, Microseconds::Nearest, Microseconds::Exact]);
        rules.link_layer_delay = pick(rng, &[Span::ZERO, Span::from_us(25)]);
    }
    let flags = [
        &mut rules.immediate_access,
        &mut rules.busy_period_counts_as_slot,
        &mut rules.fresh_difs,
        &mut rules.cts_needs_idle_medium,
        &mut rules.data_needs_idle_medium,
        &mut rules.data_needs_own_cts,
        &mut rules.answer_rts_while_waiting,
        &mut rules.nav_reset_after_rts,
        &mut rules.rts_at_threshold,
    ];
    for flag in flags {
        *flag ^= rng.below(4) == 0;
    }
    rules
}

fn phy(rng: &mut Rng) -> Phy {
    let preamble = pick(rng, &[Preamble::Long, Preamble::Short]);
    let all = [
        Standard::Dot11b,
        Standard::Dsss,
        Standard::Dot11a,
        Standard::Dot11g,
        Standard::Fhss,
        Standard::Dot11n,
        Standard::Dot11ac,
        Standard::Dot11ax,
    ];
    let standard = pick(rng, &all);
    match rng.below(6) {
        0 => Phy::mixed(preamble),
        1 => Phy::new(Standard::Dot11g, preamble).with_long_slot(),
        _ => Phy::new(standard, preamble),
    }
}

fn medium(rng: &mut Rng, nodes: usize) -> MediumModel {
    let dbm = |dbm: f64| 10f64.powf(dbm / 10.0);
    let log = PathLoss::LogDistance { exponent: 3.0, reference_loss_db: 40.0, reference_distance: 1.0 };
    let path_loss = pick(rng, &[two_ray(), log]);
    let kind = rng.below(4);
    match kind {
        0 => MediumModel::Ranges {
            receive_range: 250.0,
            carrier_sense_range: pick(rng, &[250.0, 400.0, 550.0]),
            capture_ratio: pick(rng, &[None, Some(1.0), Some(2.0), Some(10.0)]),
            path_loss,
        },
        1 => MediumModel::Sinr {
            transmit_power_mw: dbm(24.5),
            noise_mw: dbm(pick(rng, &[-93.6, -100.0])),
            sensitivity_mw: dbm(pick(rng, &[-75.0, -85.0])),
            carrier_sense_mw: dbm(pick(rng, &[-65.0, -78.0, -90.0])),
            path_loss,
        },
        _ => {
            let rssi = kind == 2;
            let mut links = Vec::new();
            for (from, to) in (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))) {
                let delivery = pick(rng, &[1.0, 1.0, 0.9, 0.5, 0.05, 0.0]);
                let value = if rssi { -95.0 + f64::from(rng.below(40)) } else { delivery };
                if from != to && rng.below(3) > 0 {
                    links.push(MatrixLink { from: NodeId(from as u32), to: NodeId(to as u32), value });
                }
            }
            let powers = MatrixQuantity::Rssi {
                noise_mw: dbm(-95.0),
                sensitivity_mw: dbm(-85.0),
                carrier_sense_mw: dbm(pick(rng, &[-75.0, -85.0])),
            };
            let quantity = if rssi { powers } else { MatrixQuantity::Delivery { probe_size: 1500 } };
            MediumModel::Matrix { links, quantity }
        }
    }
}

/// DSDV with short periods, so that much happens in a short run.
fn dsdv(rng: &mut Rng) -> DsdvConfig {
    let ms = |rng: &mut Rng, of: &[u64]| Span::from_ms(pick(rng, of));
    DsdvConfig {
        update_period: ms(rng, &[10, 100, 400]),
        missed_updates: 1 + rng.below(3),
        triggered_interval: ms(rng, &[0, 5, 100]),
        settling_time: ms(rng, &[0, 10, 100]),
        start_jitter: ms(rng, &[0, 0, 200]),
        broadcast_jitter: ms(rng, &[0, 10]),
        buffer: pick(rng, &[0, 1, 5]),
        hop_limit: pick(rng, &[1, 3, 32]),
        use_mac: coin(rng),
    }
}

/// DSR with short periods.
fn dsr(rng: &mut Rng) -> DsrConfig {
    let ms = |rng: &mut Rng, of: &[u64]| Span::from_ms(pick(rng, of));
    DsrConfig {
        failures: 1 + rng.below(3),
        request_period: ms(rng, &[1, 10, 500]),
        request_backoff: 1 + rng.below(4),
        broadcast_jitter: ms(rng, &[0, 1, 10]),
        buffer: pick(rng, &[0, 1, 5, 64]),
        buffer_timeout: ms(rng, &[0, 10, 30_000]),
        reply_from_cache: coin(rng),
        listen: coin(rng),
        salvage_limit: pick(rng, &[0, 1, 15, 255]),
        route_limit: pick(rng, &[1, 3, 15, 62]),
        hop_limit: pick(rng, &[1, 3, 32, 255]),
    }
}

/// AODV with short periods.
fn aodv(rng: &mut Rng) -> AodvConfig {
    let ms = |rng: &mut Rng, of: &[u64]| Span::from_ms(pick(rng, of));
    AodvConfig {
        failures: 1 + rng.below(3),
        blind_to: if coin(rng) { vec![0] } else { Vec::new() },
        link_layer_detection: rng.below(4) > 0,
        hello_interval: ms(rng, &[1, 20, 1_000]),
        active_route_timeout: ms(rng, &[1, 100, 10_000]),
        network_diameter: pick(rng, &[1, 3, 30, 255]),
        rreq_retries: pick(rng, &[0, 1, 3]),
        rreq_jitter: ms(rng, &[0, 1, 10]),
        broadcast_jitter: ms(rng, &[0, 1, 10]),
        intermediate_replies: coin(rng),
        local_repair: pick(rng, &[LocalRepair::Off, LocalRepair::Ns2, LocalRepair::Rfc]),
        buffer: pick(rng, &[0, 1, 5, 64]),
        hop_limit: pick(rng, &[1, 3, 30, 255]),
        ..AodvConfig::default()
    }
}

fn app(rng: &mut Rng, datagrams: bool) -> AppConfig {
    let rate = Rate::from_kbps(pick(rng, &[50, 200, 2000]));
    let pause = Span::from_ms(u64::from(rng.below(50)));
    match rng.below(6) {
        0 | 1 => AppConfig::Saturated,
        2 => AppConfig::Bulk { bytes: Some(30_000) },
        3 if !datagrams => AppConfig::Transfers {
            bytes: 20_000,
            pause,
            exponential: coin(rng),
            count: pick(rng, &[None, Some(3)]),
        },
        4 if coin(rng) => AppConfig::Video(VideoConfig {
            frame_rate: pick(rng, &[1.0, 25.0, 60.0]),
            rate_bps: rate.bps() as f64,
            min_rate_bps: pick(rng, &[None, Some(rate.bps() as f64 / 8.0)]),
            gop: pick(rng, &[1, 12]),
            key_ratio: pick(rng, &[1.0, 5.0]),
            variation: pick(rng, &[0.0, 0.5]),
            deadline: Span::from_ms(pick(rng, &[1, 400])),
            buffer: pick(rng, &[None, Some(1), Some(20_000)]),
        }),
        4 => AppConfig::Poisson { rate, packet: pick(rng, &[300, 2000]) },
        _ => AppConfig::Cbr { rate, packet: pick(rng, &[500, 4000]), jitter: pick(rng, &[0.0, 0.5, 1.0]) },
    }
}

fn flows(rng: &mut Rng, config: &mut Config) {
    let scheme = |name: &str, given: &str| {
        let built = find(name).unwrap().build(&serde_json::from_str(given).unwrap()).unwrap();
        SchemeConfig { name: name.into(), scheme: built }
    };
    config.traffic.schemes = [("tcp-newreno", "{}"), ("tcp-sack", "{}"), ("recn", "{}"), ("udp", "{}")]
        .into_iter()
        .chain([("recn", r#"{"flavour": "ns2"}"#), ("tcp-sack", r#"{"flavour": "ns2", "timestamps": true}"#)])
        .chain([
            ("tcp-cubic", "{}"),
            ("tcp-vegas", "{}"),
            ("tcp-westwood", "{}"),
            ("tcp-ap", "{}"),
            ("tcp-bbr", "{}"),
        ])
        .chain([("tcp-vegas", r#"{"flavour": "ns2"}"#), ("tcp-ap", r#"{"flavour": "ns2", "short": "one"}"#)])
        .chain([("ecn-rts", "{}"), ("ecn-fsd", r#"{"threshold": "5 ms", "smoothing": 0.125}"#)])
        .chain([("tfrc", "{}"), ("tfrc", r#"{"flavour": "ns2"}"#), ("tfrc-capped", r#"{"ecn": true}"#)])
        .chain([("ecn-busy", "{}"), ("ecn-busy", r#"{"busy_window": "3 ms", "threshold": 0.4}"#)])
        .chain([("tcp-bbr3", r#"{"ecn": true}"#), ("tcp-bbr", r#"{"flavour": "linux"}"#)])
        .map(|(name, given)| scheme(name, given))
        .collect();
    let nodes = config.topology.nodes.len();
    for _ in 0..=rng.below(7) {
        let from = rng.below(nodes as u32) as usize;
        let to = (from + 1 + rng.below(nodes as u32 - 1) as usize) % nodes;
        let chosen = rng.below(config.traffic.schemes.len() as u32) as usize;
        let app = app(rng, !config.traffic.schemes[chosen].scheme.is_reliable());
        add_flow(config, from, to, app);
        let flow = config.traffic.flows.last_mut().expect("just added");
        flow.scheme = chosen;
        flow.start = Span::from_ms(pick(rng, &[0, 0, 100, 333]));
        flow.stop = pick(rng, &[None, Some(Span::from_ms(900))]);
    }
}

fn random(seed: u64) -> Config {
    let rng = &mut Rng::at(seed, &["fuzz"]);
    let nodes = 2 + rng.below(11) as usize;
    let (side, lattice) = (pick(rng, &[200.0, 500.0, 900.0]), coin(rng));
    let columns = 1 + nodes / 3;
    let positions: Vec<[f64; 2]> = (0..nodes)
        .map(|i| {
            let regular = [200.0 * (i % columns) as f64, 200.0 * (i / columns) as f64];
            if lattice { regular } else { [rng.unit() * side, rng.unit() * side] }
        })
        .collect();
    let mut config = network(rules(rng), &positions);
    config.seed = seed;
    config.duration = Span::from_ms(1_500);
    config.recording.warmup = Span::from_ms(pick(rng, &[0, 200, 500]));
    config.recording.interval = Span::from_ms(pick(rng, &[50, 100, 500]));
    config.phy = phy(rng);
    let rates: Vec<Rate> = config.phy.rates().map(|(rate, _)| rate).collect();
    let schemes: Vec<DataRate> = config.phy.schemes().map(DataRate::Mcs).collect();
    config.rates.data = if schemes.is_empty() { pick(rng, &rates).into() } else { pick(rng, &schemes) };
    config.rates.control = coin(rng).then(|| pick(rng, config.phy.basic_rates()));
    config.rates.ack = coin(rng).then(|| pick(rng, config.phy.basic_rates()));
    config.mac.rts_threshold = pick(rng, &[None, Some(0), Some(100), Some(500), Some(3000)]);
    config.mac.short_retry_limit = pick(rng, &[None, Some(1), Some(2), Some(7)]);
    config.mac.long_retry_limit = pick(rng, &[None, Some(1), Some(4)]);
    config.mac.cw_min = pick(rng, &[config.phy.cw_min, 1, 3, 15]);
    config.mac.queue.limit = pick(rng, &[1, 2, 5, 50]);
    config.mac.queue.lifetime = pick(rng, &[None, None, Some(Span::from_ms(20))]);
    config.medium.propagation_delay = Span::from_ns(pick(rng, &[0, 0, 667, 1_000, 2_000]));
    config.medium.bit_error_rate = pick(rng, &[0.0, 0.0, 1e-6, 1e-4]);
    config.medium.packet_error_rate = pick(rng, &[0.0, 0.0, 0.1, 0.5]);
    config.medium.model = medium(rng, nodes);
    config.routing.metric = pick(rng, &[RouteMetric::Hops, RouteMetric::Etx]);
    if rng.below(3) == 0 {
        let (failures, hold) = (1 + rng.below(3), Span::from_ms(u64::from(rng.below(300))));
        config.routing.on_link_failure = LinkFailureRule::Break { failures, hold };
    }
    match rng.below(5) {
        2 => config.routing.protocol = RoutingProtocol::Aodv(aodv(rng)),
        0 => config.routing.protocol = RoutingProtocol::Dsdv(dsdv(rng)),
        1 => config.routing.protocol = RoutingProtocol::Dsr(dsr(rng)),
        _ => {}
    }
    flows(rng, &mut config);
    if config.routing.protocol == RoutingProtocol::Static && coin(rng) {
        wires(rng, &mut config);
    }
    config.mac.queue.discipline = match rng.below(6) {
        0 => Discipline::DropTail,
        1 => Discipline::FqCodel(lines(rng)),
        2 => Discipline::Pie(pie(rng)),
        3 => Discipline::DualPi2(dual_pi2(rng)),
        4 => Discipline::Cake(CakeOptions {
            round_trip: Span::from_ms(pick(rng, &[1, 30, 100])),
            isolate_hosts: coin(rng),
        }),
        _ => Discipline::Stations(StationsOptions {
            lines: lines(rng),
            airtime_quantum: Span::from_us(pick(rng, &[10, 256, 10_000])),
            charge_received: coin(rng),
            adaptation: Adaptation::default(),
        }),
    };
    if coin(rng) {
        differentiate(rng, &mut config);
    }
    hardware(rng, &mut config);
    config
}

/// Adds access categories, and flows of all of them.
fn differentiate(rng: &mut Rng, config: &mut Config) {
    config.mac.edca = Some(AccessCategory::ALL.map(|_| {
        let cw_min = pick(rng, &[0, 1, 7]);
        EdcaParameters {
            aifsn: pick(rng, &[1, 2, 3, 15]),
            cw_min,
            cw_max: pick(rng, &[cw_min, 7, 1_023]),
            txop_limit: Span::from_us(pick(rng, &[0, 32, 2_080, 50_000])),
        }
    }));
    config.mac.protection = pick(rng, &[Protection::Single, Protection::Multiple]);
    for flow in &mut config.traffic.flows {
        flow.dscp = Dscp::new(pick(rng, &[0, 0, 8, 34, 40, 46, 56])).expect("six bits");
    }
}

/// Adds a hardware queue in half of the configurations, possibly with airtime limits where there are
/// stations.
fn hardware(rng: &mut Rng, config: &mut Config) {
    let (packets, aggregates) =
        (pick(rng, &[None, Some(1), Some(7), Some(1000)]), pick(rng, &[None, Some(1), Some(2), Some(5)]));
    let mut airtime = None;
    if let Discipline::Stations(options) = &mut config.mac.queue.discipline {
        let [low, more, threshold] = [10, 5_000, 24_000].map(|us| Span::from_us(pick(rng, &[10, 1_000, us])));
        airtime = coin(rng).then_some(AirtimeLimits { low, high: low + more, threshold });
        options.adaptation =
            Adaptation { slow: coin(rng).then(SlowStations::default), exchanges: pick(rng, &[0, 1, 20]) };
    }
    if coin(rng) && (packets.is_some() || aggregates.is_some() || airtime.is_some()) {
        config.mac.queue.hardware = Some(HardwareQueueConfig { packets, aggregates, airtime });
    }
}

fn pie(rng: &mut Rng) -> PieOptions {
    PieOptions {
        target: Span::from_us(pick(rng, &[10, 1_000, 15_000])),
        update: Span::from_us(pick(rng, &[100, 15_000])),
        max_burst: Span::from_us(pick(rng, &[0, 150_000])),
        ecn: coin(rng),
        ..PieOptions::default()
    }
}

fn dual_pi2(rng: &mut Rng) -> DualPi2Options {
    let threshold = Span::from_us(pick(rng, &[0, 100, 1_000]));
    DualPi2Options {
        target: Span::from_us(pick(rng, &[10, 1_000, 15_000])),
        update: Span::from_us(pick(rng, &[100, 16_000])),
        coupling: pick(rng, &[0.5, 2.0]),
        marking: if coin(rng) {
            LowLatencyMarking::Step { threshold }
        } else {
            LowLatencyMarking::Ramp { from: threshold, range: Span::from_us(400) }
        },
        schedule: if coin(rng) {
            DualQueueSchedule::Weighted { classic: pick(rng, &[0, 10, 100]) }
        } else {
            DualQueueSchedule::TimeShifted { shift: Span::from_ms(pick(rng, &[0, 30])) }
        },
        ..DualPi2Options::default()
    }
}

fn lines(rng: &mut Rng) -> FqCodelOptions {
    let codel = CodelOptions {
        target: Span::from_us(pick(rng, &[10, 5_000, 20_000])),
        interval: Span::from_us(pick(rng, &[1_000, 100_000])),
        ecn: coin(rng),
    };
    FqCodelOptions {
        codel,
        quantum: pick(rng, &[64, 300, 1514, 1_000_000]),
        flows: pick(rng, &[1, 2, 1024]),
        byte_limit: pick(rng, &[3_000, 10_000, 32 << 20]),
        drop_batch: pick(rng, &[1, 64]),
    }
}

/// Adds some wires, and some nodes without a radio.
fn wires(rng: &mut Rng, config: &mut Config) {
    let nodes = config.topology.nodes.len() as u32;
    for (from, to) in (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))) {
        if from != to && rng.below(4) == 0 {
            let rate = Rate::from_kbps(pick(rng, &[100, 1_000, 1_000, 50_000_000]));
            let delay = Span::from_us(pick(rng, &[0, 10, 1_000, 2_000_000]));
            let queue_limit = pick(rng, &[1, 3, 50]);
            let discipline = match rng.below(4) {
                0 => Discipline::DropTail,
                1 => Discipline::FqCodel(lines(rng)),
                2 => Discipline::Pie(pie(rng)),
                _ => Discipline::DualPi2(dual_pi2(rng)),
            };
            let (from, to) = (NodeId(from), NodeId(to));
            let loss = pick(rng, &[0.0, 0.0, 0.02, 0.9]);
            config.topology.wires.push(WireConfig { from, to, rate, delay, queue_limit, discipline, loss });
        }
    }
    if !matches!(config.medium.model, MediumModel::Matrix { .. }) {
        config.topology.nodes.iter_mut().filter(|_| rng.below(3) == 0).for_each(|node| node.position = None);
    }
}

#[test]
fn any_configuration_runs_and_does_not_depend_on_the_order_of_ties() {
    let seeds = std::env::var("MULTIHOP_FUZZ").unwrap_or_else(|_| "0..300".into());
    let (from, to) = seeds.split_once("..").expect("MULTIHOP_FUZZ is FROM..TO");
    let mut events = 0;
    for seed in from.parse::<u64>().expect("a number")..to.parse().expect("a number") {
        println!("seed {seed}"); // shown when a run of this seed panics
        let config = random(seed);
        let outcome = run(&config);
        events += outcome.events;
        assert_eq!(outcome, World::new(&config, Ties::Reversed).finish(), "seed {seed}: ties");
        for (index, node) in outcome.nodes.iter().enumerate() {
            let shares = [node.transmitting, node.receiving, node.sensing, node.idle];
            let sane = shares.iter().all(|share| (-1e-9..=1.0 + 1e-9).contains(share));
            assert!(
                sane && (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9,
                "seed {seed}, node {index}: {node:?}"
            );
            assert!(node.nav_only <= node.idle + 1e-9, "seed {seed}, node {index}: {node:?}");
            let unusable = 1.0 - node.idle + node.nav_only;
            assert!((node.busy_ratio - unusable).abs() < 1e-9, "seed {seed}, node {index}: {node:?}");
            let queues = if config.mac.edca.is_some() { 4.0 } else { 1.0 };
            assert!(
                node.queue_mean <= queues * config.mac.queue.limit as f64,
                "seed {seed}, node {index}: {node:?}"
            );
        }
        for (index, (wire, laid)) in outcome.wires.iter().zip(&config.topology.wires).enumerate() {
            let sane = (0.0..=1.0 + 1e-9).contains(&wire.utilisation)
                && wire.queue_max <= laid.queue_limit as u64
                && wire.queue_mean <= wire.queue_max as f64;
            assert!(sane, "seed {seed}, wire {index}: {wire:?}");
        }
        for (index, flow) in outcome.flows.iter().enumerate() {
            let shares = [flow.transmission_efficiency, flow.busy_ratio];
            let sane = shares.iter().flatten().all(|share| (0.0..=1.0 + 1e-9).contains(share));
            assert!(sane, "seed {seed}, flow {index}: {flow:?}");
        }
    }
    assert!(events > 500_000, "the configurations do something: {events} events");
}
