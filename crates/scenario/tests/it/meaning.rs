//! What scenarios mean: geometry of generators, choice of pairs, defaults, overrides, and the hash.

use multihop_core::{FlowId, NodeId, Span};
use multihop_dot11::{DcfRules, EifsRule, Microseconds, ResponseTimeout};
use multihop_link::{
    AdHocProbeOptions, CodelOptions, Discipline, Elapsed, EstimatorConfig, FqCodelOptions,
    PacketThroughputOptions, RtWinfOptions, RtWinfProbeOptions, StationsOptions, WinfReading,
};
use multihop_scenario::{Overrides, Setting, Step, locate, resolve};
use multihop_sim::config::{
    AodvConfig, AppConfig, Config, DsdvConfig, DsrConfig, LinkFailureRule, LocalRepair, MeasurementConfig,
    MediumModel, PathLoss, RouteMetric, RoutingProtocol, WireConfig,
};

fn config(text: &str) -> Config {
    resolve(text, "case.toml", &Overrides::default()).unwrap_or_else(|error| panic!("{error}\n{text}")).config
}

fn hash(text: &str) -> String {
    resolve(text, "case.toml", &Overrides::default()).unwrap_or_else(|error| panic!("{error}\n{text}")).hash
}

/// A scenario of this topology and traffic.
fn of(topology: &str, traffic: &str) -> Config {
    config(&format!("duration = \"10 s\"\n[topology]\n{topology}\n[traffic]\nscheme = \"udp\"\n{traffic}\n"))
}

fn positions(config: &Config) -> Vec<[f64; 2]> {
    config.nodes.iter().map(|node| node.position.unwrap()).collect()
}

fn pairs(config: &Config) -> Vec<(u32, u32)> {
    config.flows.iter().map(|flow| (flow.source.0, flow.destination.0)).collect()
}

const CANONICAL: &str = "pattern = \"canonical\"";

#[test]
fn chains_are_straight() {
    let chain = of("generator = \"chain\"\nhops = 3\nspacing = \"150 m\"", CANONICAL);
    assert_eq!(positions(&chain), [[0.0, 0.0], [150.0, 0.0], [300.0, 0.0], [450.0, 0.0]]);
    assert_eq!(pairs(&chain), [(0, 3)]);
    assert_eq!(chain.nodes[3].name, "n3");
    assert_eq!(chain.flows[0].name, "n0->n3");
}

#[test]
fn parking_lots_have_a_flow_per_hop_and_one_over_all() {
    let lot = of("generator = \"parking-lot\"\nhops = 3", CANONICAL);
    assert_eq!(lot.nodes.len(), 4);
    assert_eq!(pairs(&lot), [(0, 3), (0, 1), (1, 2), (2, 3)]);
}

/// Ends, rate in Mb/s, delay in ms and queue of each direction of the wires.
fn wires(config: &Config) -> Vec<(u32, u32, f64, f64, usize)> {
    let of = |wire: &WireConfig| {
        (wire.from.0, wire.to.0, wire.rate.mbps(), wire.delay.seconds() * 1e3, wire.queue_limit)
    };
    config.wires.iter().map(of).collect()
}

#[test]
fn dumbbells_are_two_routers_between_senders_and_receivers() {
    let text = "generator = \"dumbbell\"\npairs = 2\nrate = \"10 Mb/s\"\ndelay = \"10 ms\"\nqueue = 20\n\
                access_rates = [\"50 Mb/s\", \"100 Mb/s\"]\naccess_delays = [\"5 ms\"]";
    let dumbbell = of(text, CANONICAL);
    assert_eq!(pairs(&dumbbell), [(0, 4), (1, 5)]);
    assert!(dumbbell.nodes.len() == 6 && dumbbell.nodes.iter().all(|node| node.position.is_none()));
    let both = |a, b, rate, delay, queue| [(a, b, rate, delay, queue), (b, a, rate, delay, queue)];
    let expected = [
        both(2, 3, 10.0, 10.0, 20),
        both(0, 2, 50.0, 5.0, 1000),
        both(3, 4, 50.0, 5.0, 1000),
        both(1, 2, 100.0, 5.0, 1000),
        both(3, 5, 100.0, 5.0, 1000),
    ];
    assert_eq!(wires(&dumbbell), expected.concat());
}

#[test]
fn wires_are_the_same_both_ways_unless_told_otherwise() {
    let listed = "nodes = [{ name = \"a\" }, { name = \"b\" }, { name = \"c\" }]\n\
                  [[topology.wires]]\nbetween = [\"c\", \"a\"]\nrate = \"1 Mb/s\"\ndelay = \"2 ms\"\nqueue = 3\n\
                  [[topology.wires]]\nbetween = [\"b\", \"c\"]\nrate = \"8 Mb/s\"\ndelay = \"0 s\"\n\
                  rate_back = \"0.5 Mb/s\"\ndelay_back = \"7 ms\"";
    let config = of(listed, "pattern = \"random-pairs\"\nflows = 2\nmin_hops = 2");
    let expected = [(2, 0, 1.0, 2.0, 3), (0, 2, 1.0, 2.0, 3), (1, 2, 8.0, 0.0, 50), (2, 1, 0.5, 7.0, 50)];
    assert_eq!(wires(&config), expected);
    let mut found = pairs(&config);
    found.sort_unstable();
    assert_eq!(found, [(0, 1), (1, 0)], "only these are two hops apart");
}

#[test]
fn losses_are_of_the_wire_that_names_them() {
    let losses = |config: &Config| config.wires.iter().map(|wire| wire.loss).collect::<Vec<_>>();
    let dumbbell = "generator = \"dumbbell\"\npairs = 1\nrate = \"10 Mb/s\"\ndelay = \"10 ms\"\nloss = 0.01";
    assert_eq!(losses(&of(dumbbell, CANONICAL)), [0.01, 0.01, 0.0, 0.0, 0.0, 0.0]);
    let back = format!("{dumbbell}\nloss_back = 0");
    assert_eq!(losses(&of(&back, CANONICAL)), [0.01, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let listed = "nodes = [{ name = \"a\" }, { name = \"b\" }]\n[[topology.wires]]\nbetween = [\"a\", \"b\"]\n\
                  rate = \"1 Mb/s\"\ndelay = \"2 ms\"\nloss_back = 0.5";
    assert_eq!(losses(&of(listed, "pattern = \"random-pairs\"\nflows = 1")), [0.0, 0.5]);
    let server =
        "generator = \"wlan\"\nclients = 1\nserver = { rate = \"1 Mb/s\", delay = \"1 ms\", loss = 0.2 }";
    assert_eq!(losses(&of(server, CANONICAL)), [0.2, 0.2]);
}

#[test]
fn each_value_of_a_wire_is_in_the_hash() {
    let text = |wires: &str| {
        format!(
            "duration = \"10 s\"\n[topology]\nnodes = [{{ name = \"a\", position = [\"0 m\", \"0 m\"] }}, \
             {{ name = \"b\", position = [\"9 m\", \"0 m\"] }}]\n{wires}\n[[flows]]\nfrom = \"a\"\nto = \"b\"\nscheme = \"udp\"\n"
        )
    };
    let wire =
        "[[topology.wires]]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mb/s\"\ndelay = \"1 ms\"\nqueue = 5\n";
    let hashes = [
        "",
        wire,
        &wire.replace('5', "6"),
        &wire.replace("1 ms", "2 ms"),
        &wire.replace("1 Mb", "2 Mb"),
        &wire.replace("queue = 5", "queue = 5\nloss = 0.1"),
        &wire.replace("queue = 5", "queue = 5\nloss = 0.1\nloss_back = 0"),
    ]
    .map(|wires| hash(&text(wires)));
    let different: std::collections::BTreeSet<&String> = hashes.iter().collect();
    assert_eq!(different.len(), hashes.len());
    assert_eq!(hash(&text(&wire.replace("1 ms", "1000 us"))), hashes[1]);
}

#[test]
fn exposed_senders_are_in_the_middle() {
    let exposed = of("generator = \"exposed-terminal\"", CANONICAL);
    assert_eq!(positions(&exposed), [[0.0, 0.0], [200.0, 0.0], [400.0, 0.0], [600.0, 0.0]]);
    assert_eq!(pairs(&exposed), [(1, 0), (2, 3)]);
}

#[test]
fn bars_are_rows_of_links() {
    let bar = of("generator = \"bar\"\nlength = \"100 m\"", CANONICAL);
    assert_eq!(
        positions(&bar),
        [[0.0, 0.0], [100.0, 0.0], [0.0, 200.0], [100.0, 200.0], [0.0, 400.0], [100.0, 400.0]]
    );
    assert_eq!(pairs(&bar), [(0, 1), (2, 3), (4, 5)]);
}

#[test]
fn grids_go_row_by_row_and_jitter_stays_within_its_bounds() {
    let traffic = "pattern = \"all-to-one\"\ngateway = \"n0\"";
    let grid = of("generator = \"grid\"\ncolumns = 3\nrows = 2\nspacing = \"100 m\"", traffic);
    assert_eq!(positions(&grid)[3..], [[0.0, 100.0], [100.0, 100.0], [200.0, 100.0]]);
    let jittered = |seed| {
        let topology = format!(
            "generator = \"grid\"\ncolumns = 3\nrows = 2\nspacing = \"100 m\"\njitter = \"20 m\"\nseed = {seed}"
        );
        positions(&of(&topology, traffic))
    };
    assert_ne!(jittered(1), jittered(2));
    assert_eq!(jittered(1), jittered(1));
    for (moved, place) in jittered(1).iter().zip(positions(&grid)) {
        let by = [moved[0] - place[0], moved[1] - place[1]];
        assert!(by.iter().all(|by| by.abs() <= 20.0) && by != [0.0, 0.0], "{by:?}");
    }
}

#[test]
fn stars_and_crosses_meet_in_their_centre() {
    let star = of("generator = \"star\"\narms = 4\narm_hops = 2\nspacing = \"100 m\"", CANONICAL);
    assert_eq!(positions(&star)[..5], [[0.0, 0.0], [100.0, 0.0], [200.0, 0.0], [0.0, 100.0], [0.0, 200.0]]);
    assert_eq!(pairs(&star), [(2, 0), (4, 0), (6, 0), (8, 0)]);
    let cross = of("generator = \"cross\"\narm_hops = 1\nspacing = \"100 m\"", CANONICAL);
    assert_eq!(positions(&cross), [[-100.0, 0.0], [0.0, 0.0], [100.0, 0.0], [0.0, -100.0], [0.0, 100.0]]);
    assert_eq!(pairs(&cross), [(0, 2), (3, 4)]);
}

#[test]
fn circles_surround_their_sink() {
    let circle = of("generator = \"circle\"\nstations = 5\nradius = \"10 m\"", CANONICAL);
    let places = positions(&circle);
    assert_eq!((places.len(), places[0]), (6, [0.0, 0.0]));
    assert!(places[1..].iter().all(|[x, y]| (x.hypot(*y) - 10.0).abs() < 1e-5));
    assert_eq!(pairs(&circle), [(1, 0), (2, 0), (3, 0), (4, 0), (5, 0)]);
}

#[test]
fn random_networks_are_connected_and_depend_on_their_own_seed_only() {
    let places = |own: u32, run: u32| {
        let text = format!(
            "seed = {run}\nduration = \"1 s\"\n[topology]\ngenerator = \"random-geometric\"\nnodes = 30\nside = \"900 m\"\nseed = {own}\n\
             [traffic]\npattern = \"all-to-one\"\ngateway = \"n0\"\nscheme = \"udp\"\n" // refused, were it not connected
        );
        positions(&config(&text))
    };
    assert_eq!(places(1, 1), places(1, 2));
    assert_ne!(places(1, 1), places(2, 1));
    assert!(places(1, 1).iter().flatten().all(|length| (0.0..900.0).contains(length)));
    let sparse =
        "duration = \"1 s\"\n[topology]\ngenerator = \"random-geometric\"\nnodes = 20\nside = \"90 km\"\n";
    let error = resolve(sparse, "case.toml", &Overrides::default()).err().unwrap().to_string();
    assert!(error.starts_with("case.toml:4: topology.nodes: none of 1000 random placements"), "{error}");
}

#[test]
fn random_pairs_differ_are_connected_and_stay_the_same_over_the_seeds_of_runs() {
    let text = |run: u32, own: u32, min_hops: u32| {
        format!(
            "seed = {run}\nduration = \"1 s\"\n[topology]\ngenerator = \"chain\"\nhops = 9\n[traffic]\n\
             pattern = \"random-pairs\"\nflows = 12\npairs_seed = {own}\nmin_hops = {min_hops}\nscheme = \"udp\"\n"
        )
    };
    let chosen = |run, own, min_hops| pairs(&config(&text(run, own, min_hops)));
    let mut different = chosen(1, 1, 1);
    assert_eq!(different, chosen(2, 1, 1));
    assert_ne!(different, chosen(1, 2, 1));
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), 12);
    assert!(chosen(1, 1, 7).iter().all(|(from, to)| from.abs_diff(*to) >= 7));
    let all = 2 * (1 + 2 + 3); // ordered pairs of ten nodes in a line that are at least 7 hops apart
    assert_eq!(pairs(&config(&text(1, 1, 7))).len(), all);
    let names: Vec<String> = config(&text(1, 1, 1)).flows.into_iter().map(|flow| flow.name).collect();
    assert!(names.iter().enumerate().all(|(i, name)| !names[..i].contains(name)));
}

#[test]
fn gateways_receive_from_different_nodes_that_reach_them() {
    let chain = "generator = \"chain\"\nhops = 6";
    let some = pairs(&of(chain, "pattern = \"to-gateway\"\ngateway = \"n2\"\nflows = 3\nmin_hops = 2"));
    assert_eq!(some.len(), 3);
    assert!(some.iter().all(|(from, to)| *to == 2 && from.abs_diff(2) >= 2));
    let all = pairs(&of(chain, "pattern = \"to-gateway\"\ngateway = \"n2\""));
    assert_eq!(all, pairs(&of(chain, "pattern = \"all-to-one\"\ngateway = \"n2\"")));
    assert_eq!(all.len(), 6);
}

const PLAIN: &str = "duration = \"100 s\"\n[topology]\ngenerator = \"chain\"\nhops = 2\n[[flows]]\nfrom = \"n0\"\nto = \"n2\"\nscheme = \"tcp-sack\"\n";

#[test]
fn defaults_are_those_of_the_standard_and_of_ns2s_radio() {
    let config = config(PLAIN);
    assert_eq!((config.name.as_str(), config.seed), ("case", 1));
    assert_eq!((config.warmup, config.record_interval), (Span::ZERO, Span::from_ms(1000)));
    assert_eq!(config.data_rate.bps(), 11_000_000);
    assert_eq!(config.control_rate, None);
    assert_eq!(config.mac.rules, DcfRules::IEEE);
    assert_eq!((config.mac.short_retry_limit, config.mac.long_retry_limit), (Some(7), Some(4)));
    assert_eq!((config.mac.cw_min, config.mac.cw_max, config.mac.queue_limit), (31, 1023, 50));
    let MediumModel::Ranges { receive_range, carrier_sense_range, capture_ratio, path_loss } =
        config.medium.model
    else {
        panic!("{:?}", config.medium)
    };
    assert_eq!((receive_range, carrier_sense_range, capture_ratio), (250.0, 550.0, Some(10.0)));
    assert_eq!(path_loss, PathLoss::TwoRayGround { frequency_hz: 914e6, antenna_height: 1.5 });
    assert_eq!(config.routing.on_link_failure, LinkFailureRule::Ignore);
    assert_eq!(config.flows[0].app, AppConfig::Saturated);
}

/// The discipline of the radio with these keys of `[mac]`.
fn discipline(keys: &str) -> Discipline {
    let text = format!("generator = \"chain\"\nhops = 2\n[mac]\nqueue = 1000\n{keys}");
    of(&text, CANONICAL).discipline
}

#[test]
fn disciplines_have_linuxs_parameters_unless_told_otherwise() {
    assert_eq!(discipline(""), Discipline::DropTail);
    assert_eq!(discipline("discipline = \"drop-tail\""), Discipline::DropTail);
    let fq_codel = Discipline::FqCodel(FqCodelOptions {
        codel: CodelOptions { target: Span::from_ms(5), interval: Span::from_ms(100), ecn: true },
        quantum: 1514,
        flows: 1024,
        byte_limit: 33_554_432,
        drop_batch: 64,
    });
    assert_eq!(discipline("discipline = \"fq-codel\""), fq_codel);
    assert_eq!(discipline("discipline = \"fq-codel\"\ncodel = {}"), fq_codel);
    let lines = FqCodelOptions {
        codel: CodelOptions { target: Span::from_ms(20), interval: Span::from_ms(100), ecn: true },
        quantum: 300,
        flows: 4096,
        byte_limit: 4_194_304,
        drop_batch: 1,
    };
    let airtime_quantum = Span::from_us(256);
    let stations = StationsOptions { lines, airtime_quantum, charge_received: true };
    assert_eq!(discipline("discipline = \"stations\""), Discipline::Stations(stations));
}

#[test]
fn each_parameter_of_a_discipline_is_taken_and_is_in_the_hash() {
    let keys = "discipline = \"stations\"\n[mac.codel]\ntarget = \"7 ms\"\ninterval = \"70 ms\"\necn = false\n\
                quantum = \"700 B\"\nflows = 77\nbyte_limit = \"777 kB\"\ndrop_batch = 7\n\
                airtime_quantum = \"777 us\"\ncharge_received = false";
    let lines = FqCodelOptions {
        codel: CodelOptions { target: Span::from_ms(7), interval: Span::from_ms(70), ecn: false },
        quantum: 700,
        flows: 77,
        byte_limit: 777_000,
        drop_batch: 7,
    };
    let airtime_quantum = Span::from_us(777);
    let stations = StationsOptions { lines, airtime_quantum, charge_received: false };
    assert_eq!(discipline(keys), Discipline::Stations(stations));
    let of = |mac: &str| {
        hash(&format!(
            "duration = \"10 s\"\n[topology]\ngenerator = \"chain\"\nhops = 2\n[traffic]\nscheme = \"udp\"\n\
             {CANONICAL}\n[mac]\n{mac}\n"
        ))
    };
    let hashes = [of(""), of("discipline = \"fq-codel\""), of("discipline = \"stations\""), of(keys)];
    let changed = keys.lines().skip(2).map(|line| of(&keys.replace(&format!("{line}\n"), "")));
    let different: std::collections::BTreeSet<String> = hashes.into_iter().chain(changed).collect();
    assert_eq!(different.len(), 4 + 8);
    assert_eq!(of("discipline = \"drop-tail\""), of(""));
}

#[test]
fn wires_have_disciplines_of_their_own() {
    let text = "nodes = [{ name = \"a\" }, { name = \"b\" }]\n[[topology.wires]]\nbetween = [\"a\", \"b\"]\n\
                rate = \"1 Mb/s\"\ndelay = \"2 ms\"\ndiscipline = \"fq-codel\"\ncodel = { flows = 3 }";
    let three = Discipline::FqCodel(FqCodelOptions { flows: 3, ..FqCodelOptions::default() });
    let config = of(text, "pattern = \"random-pairs\"\nflows = 1");
    assert!(config.wires.iter().all(|wire| wire.discipline == three) && config.wires.len() == 2);
    assert_eq!(config.discipline, Discipline::DropTail);
    let text = "generator = \"dumbbell\"\npairs = 2\nrate = \"10 Mb/s\"\ndelay = \"10 ms\"\n\
                discipline = \"fq-codel\"\ncodel = { flows = 3 }";
    let disciplines: Vec<Discipline> = of(text, CANONICAL).wires.iter().map(|wire| wire.discipline).collect();
    assert_eq!(disciplines[..2], [three; 2], "the bottleneck");
    assert!(disciplines[2..].iter().all(|discipline| *discipline == Discipline::DropTail));
}

#[test]
fn a_routing_protocol_has_ns2s_parameters_unless_told_otherwise() {
    let routed = |keys: &str| {
        let text = format!("generator = \"chain\"\nhops = 2\n[routing]\nprotocol = {keys}");
        of(&text, CANONICAL).routing.protocol
    };
    assert_eq!(routed("\"dsdv\""), RoutingProtocol::Dsdv(DsdvConfig::default()));
    assert_eq!(routed("\"dsr\""), RoutingProtocol::Dsr(DsrConfig::default()));
    let expected = DsrConfig {
        failures: 3,
        request_period: Span::from_ms(2_000),
        request_backoff: 4,
        ask_neighbours_first: None,
        listen: false,
        salvage_limit: 0,
        ..DsrConfig::default()
    };
    let keys = "failures = 3\nrequest_period = \"2 s\"\nrequest_backoff = 4\nask_neighbours_first = \"0 s\"\n\
                listen = false\nsalvage_limit = 0";
    assert_eq!(routed(&format!("\"dsr\"\n{keys}")), RoutingProtocol::Dsr(expected));
    // Where an idle medium is accessed at once, nodes that ask at once would collide.
    let jittered = AodvConfig { request_jitter: Span::from_ms(10), ..AodvConfig::default() };
    assert_eq!(routed("\"aodv\""), RoutingProtocol::Aodv(jittered));
    assert_eq!(routed("\"aodv\"\n[mac]\nrules = \"ns2\""), RoutingProtocol::Aodv(AodvConfig::default()));
    let expected = AodvConfig {
        request_jitter: Span::ZERO,
        failures: 3,
        blind_to: vec![0],
        link_layer_detection: false,
        ttl_start: 1,
        latency_samples: 0,
        local_repair: LocalRepair::Rfc,
        hold_down: Span::ZERO,
        error_size: 32,
        ..AodvConfig::default()
    };
    let keys = "request_jitter = \"0 s\"\nfailures = 3\nblind_to = [\"udp\", \"xcp\"]\nlink_layer_detection = false\nttl_start = 1\n\
                latency_samples = 0\nlocal_repair = \"rfc3561\"\nhold_down = \"0 s\"\nerror_size = \"32 B\"";
    assert_eq!(routed(&format!("\"aodv\"\n{keys}")), RoutingProtocol::Aodv(expected));
    let expected = DsdvConfig { update_period: Span::from_ms(5_000), use_mac: true, ..DsdvConfig::default() };
    assert_eq!(routed("\"dsdv\"\nupdate_period = \"5 s\"\nuse_mac = true"), RoutingProtocol::Dsdv(expected));
    let fixed =
        of("generator = \"chain\"\nhops = 2\n[routing]\nprotocol = \"static\"\nmetric = \"etx\"", CANONICAL);
    assert_eq!((fixed.routing.protocol, fixed.routing.metric), (RoutingProtocol::Static, RouteMetric::Etx));
}

#[test]
fn single_rules_override_those_of_their_set() {
    let text =
        format!("{PLAIN}[mac]\nrules = \"ns2\"\n[mac.override]\neifs = \"never\"\ndata_header = \"28 B\"\n");
    let rules = config(&text).mac.rules;
    assert_eq!(rules, DcfRules { eifs: EifsRule::Never, data_header: 28, ..DcfRules::NS2 });
    let timeout = |rules: &str, keys: &str| {
        config(&format!("{PLAIN}[mac]\nrules = \"{rules}\"\n[mac.override]\n{keys}\n"))
            .mac
            .rules
            .response_timeout
    };
    let whole = "response_timeout = \"whole-response\"";
    let microseconds = |us| ResponseTimeout::WholeResponse { propagation: Span::from_us(us) };
    assert_eq!(timeout("ieee", "response_timeout = \"eifs\""), ResponseTimeout::Eifs);
    assert_eq!(timeout("bianchi", ""), ResponseTimeout::Eifs);
    assert_eq!(timeout("bianchi", whole), microseconds(2));
    assert_eq!(timeout("ns2", "response_propagation = \"5 us\""), microseconds(5));
    assert_eq!(timeout("ns2", "response_timeout = \"first-bit\""), ResponseTimeout::FirstBit);
}

#[test]
fn overrides_take_precedence() {
    let overrides = Overrides {
        seed: Some(9),
        duration: Some("30 s".into()),
        warmup: Some("3 s".into()),
        scheme: Some("recn".into()),
        record_interval: Some("500 ms".into()),
        set: Vec::new(),
    };
    let config = resolve(PLAIN, "case.toml", &overrides).unwrap().config;
    assert_eq!(
        (config.seed, config.duration, config.warmup),
        (9, Span::from_ms(30_000), Span::from_ms(3_000))
    );
    assert_eq!(config.record_interval, Span::from_ms(500));
    assert_eq!(config.schemes.iter().map(|scheme| scheme.name.as_str()).collect::<Vec<_>>(), ["recn"]);
    let without = PLAIN.replace("duration = \"100 s\"\n", "").replace("scheme = \"tcp-sack\"\n", "");
    assert!(
        resolve(&without, "case.toml", &overrides).is_ok(),
        "the options may say what the file leaves open"
    );
}

#[test]
fn schemes_in_use_are_listed_once_in_the_order_of_their_use() {
    let text = format!(
        "{PLAIN}[[flows]]\nfrom = \"n1\"\nto = \"n0\"\nscheme = \"gentle\"\n[[flows]]\nfrom = \"n1\"\nto = \"n0\"\nscheme = \"tcp-sack\"\n\
         [schemes.gentle]\nbase = \"recn\"\nthreshold = 0.9\n[schemes.tcp-newreno]\nsegment_size = \"500 B\"\n"
    );
    let config = config(&text);
    assert_eq!(
        config.schemes.iter().map(|scheme| scheme.name.as_str()).collect::<Vec<_>>(),
        ["tcp-sack", "gentle"]
    );
    assert_eq!(config.flows.iter().map(|flow| flow.scheme).collect::<Vec<_>>(), [0, 1, 0]);
    assert_eq!(
        config.flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>(),
        ["n0->n2", "n1->n0", "n1->n0 #2"]
    );
}

#[test]
fn names_that_the_user_gave_stay() {
    let text = format!(
        "{PLAIN}[[flows]]\nname = \"n0->n2\"\nfrom = \"n1\"\nto = \"n0\"\nscheme = \"udp\"\n[[flows]]\nfrom = \"n0\"\nto = \"n2\"\nscheme = \"udp\"\n"
    );
    let names: Vec<String> = config(&text).flows.into_iter().map(|flow| flow.name).collect();
    assert_eq!(names, ["n0->n2 #2", "n0->n2", "n0->n2 #3"]);
}

#[test]
fn estimators_have_the_published_parameters_unless_told_otherwise() {
    let measured = |table: &str| config(&format!("{PLAIN}[[measure]]\n{table}\n")).measurements.remove(0);
    let plain = measured("estimator = \"rt-winf\"");
    assert_eq!((plain.name.as_str(), plain.nodes.len()), ("rt-winf", 3));
    assert_eq!(plain.estimator, EstimatorConfig::RtWinf(RtWinfOptions::default()));
    for (name, expected) in [
        ("rt-winf-probe", EstimatorConfig::RtWinfProbe(RtWinfProbeOptions::default())),
        ("adhoc-probe", EstimatorConfig::AdHocProbe(AdHocProbeOptions::default())),
        ("packet-throughput", EstimatorConfig::PacketThroughput(PacketThroughputOptions::default())),
        ("idlegap", EstimatorConfig::IdleGap { elapsed: Elapsed::Window(Span::from_ms(1_000)) }),
        ("busy-ratio", EstimatorConfig::BusyRatio { window: Span::from_ms(1_000) }),
        ("fsd", EstimatorConfig::ServiceDelay { gain: 0.125 }),
        ("fte", EstimatorConfig::TransmissionEfficiency),
    ] {
        assert_eq!(measured(&format!("estimator = {name:?}")).estimator, expected);
    }
    let other = measured(
        "estimator = \"rt-winf\"\nname = \"mine\"\nat = [\"n2\", \"n0\"]\nreading = \"strict\"\nwindow = \"off\"\n\
         total_per_exchange = true\nfull_busy = true\nack_report = true\nreference_size = \"1.5 kB\"\nsmoothing = 1",
    );
    let options = RtWinfOptions {
        reading: WinfReading::Strict,
        elapsed: Elapsed::SinceStart,
        total_per_exchange: true,
        full_busy: true,
        peers: true,
        reference_size: Some(1500),
        gain: 1.0,
    };
    let (name, nodes) = ("mine".to_owned(), vec![NodeId(2), NodeId(0)]);
    assert_eq!(other, MeasurementConfig { name, nodes, estimator: EstimatorConfig::RtWinf(options) });
    let probe = measured("estimator = \"adhoc-probe\"\nflow = \"n0->n2\"\npairs = 7");
    let options = AdHocProbeOptions { flow: Some(FlowId(0)), pairs: 7 };
    assert_eq!(probe.estimator, EstimatorConfig::AdHocProbe(options));
}

#[test]
fn starts_are_jittered_by_the_seed_of_the_run() {
    let start = |seed| {
        let text = format!("{PLAIN}start = \"5 s\"\nstart_jitter = \"2 s\"\n");
        let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
        resolve(&text, "case.toml", &overrides).unwrap().config.flows[0].start
    };
    assert_eq!(start(1), start(1));
    assert_ne!(start(1), start(2));
    assert!((1..50).map(start).all(|start| (5.0..7.0).contains(&start.seconds())));
}

/// The hash of a scenario with settings, each a path and a value.
fn hash_with(text: &str, settings: &[(&str, &str)]) -> String {
    let setting = |&(path, value): &(&str, &str)| {
        // A whole document, or one value.
        let value = if value.starts_with("[[value]]") { value.into() } else { format!("value = {value}") };
        Setting { path: path.into(), value }
    };
    let overrides = Overrides { set: settings.iter().map(setting).collect(), ..Overrides::default() };
    resolve(text, "case.toml", &overrides).unwrap_or_else(|error| panic!("{settings:?}: {error}")).hash
}

/// A scenario, settings, and the scenario that it becomes.
type Case<'a> = (String, &'a [(&'a str, &'a str)], String);

#[test]
fn a_setting_means_what_the_file_would_mean() {
    let flow = |scheme: &str| format!("[[flows]]\nfrom = \"n1\"\nto = \"n0\"\nscheme = \"{scheme}\"\n");
    let listed = |count: usize| format!("{}{}", PLAIN, flow("udp").repeat(count));
    let cases: &[Case<'_>] = &[
        (PLAIN.into(), &[("topology.hops", "3")], PLAIN.replace("hops = 2", "hops = 3")),
        (
            PLAIN.into(),
            &[("topology.hops", "9"), ("topology.hops", "3")],
            PLAIN.replace("hops = 2", "hops = 3"),
        ),
        (PLAIN.into(), &[("mac.queue", "20")], format!("{PLAIN}[mac]\nqueue = 20\n")),
        (
            PLAIN.into(),
            &[("mac.override.eifs", "\"never\""), ("mac.rules", "\"ns2\"")],
            format!("{PLAIN}[mac]\nrules = \"ns2\"\noverride = {{ eifs = \"never\" }}\n"),
        ),
        (PLAIN.into(), &[("flows[0].start", "\"3 s\"")], format!("{PLAIN}start = \"3 s\"\n")),
        (
            listed(2),
            &[("flows[*].scheme", "\"recn\"")],
            listed(2).replace("tcp-sack", "recn").replace("udp", "recn"),
        ),
        (listed(3), &[("flows.length", "2")], listed(1)),
        (
            listed(3),
            &[("flows.length", "2"), ("flows[1].scheme", "\"recn\"")],
            format!("{PLAIN}{}", flow("recn")),
        ),
        (
            PLAIN.into(),
            &[("flows.append", "{ from = \"n1\", to = \"n0\", scheme = \"udp\" }")],
            format!("{PLAIN}{}", flow("udp")),
        ),
        (
            PLAIN.into(),
            &[
                ("flows.append", "[{ name = \"a1\", from = \"n1\", to = \"n0\" }]"),
                ("flows[a*].scheme", "\"udp\""),
            ],
            format!("{PLAIN}{}name = \"a1\"\n", flow("udp")),
        ),
        (
            PLAIN.into(),
            &[("flows", "[[value]]\nfrom = \"n1\"\nto = \"n0\"\nscheme = \"udp\"")],
            PLAIN.split("[[flows]]").next().unwrap().to_owned() + &flow("udp"),
        ),
        (
            PLAIN.into(),
            &[
                ("topology", "{ generator = \"bar\" }"),
                ("topology.length", "\"90 m\""),
                ("flows[0].to", "\"n1\""),
            ],
            PLAIN
                .replace("\"chain\"\nhops = 2", "\"bar\"\nlength = \"90 m\"")
                .replace("to = \"n2\"", "to = \"n1\""),
        ),
        (
            PLAIN.into(),
            &[
                ("schemes.\"my recn\".base", "\"recn\""),
                ("schemes.\"my recn\".threshold", "0.7"),
                ("flows[0].scheme", "\"my recn\""),
            ],
            PLAIN.replace("tcp-sack", "my recn") + "[schemes.'my recn']\nbase = \"recn\"\nthreshold = 0.7\n",
        ),
    ];
    for (text, settings, written) in cases {
        assert_eq!(hash_with(text, settings), hash(written), "{settings:?}");
        assert_ne!(hash(written), hash(text), "{settings:?} change something");
    }
    assert_eq!(
        hash_with(PLAIN, &[("topology.hops", "2")]),
        hash(PLAIN),
        "what is said again changes nothing"
    );
}

#[test]
fn keys_are_found_in_any_toml() {
    let text = "a = 1\n[b]\nc = 2\n[[d]]\ne = 3\n[[d]]\ne = 4\n";
    let line = |path: &[Step]| locate(text, path);
    assert_eq!(line(&[]), Some(1));
    assert_eq!(line(&["b".into(), "c".into()]), Some(3));
    assert_eq!(line(&["b".into(), "absent".into()]), Some(2), "the table that it is missing from");
    assert_eq!(line(&["d".into(), 1.into(), "e".into()]), Some(7));
    assert_eq!(locate("a = ", &["a".into()]), None);
}

#[test]
fn the_hash_is_that_of_the_meaning() {
    let text = format!("{PLAIN}start_jitter = \"2 s\"\n");
    let original = hash(&text);
    assert_eq!(original.len(), 64);
    let same = [
        ("duration = \"100 s\"", "# a comment\nduration   =  '100000 ms'"),
        ("duration = \"100 s\"", "seed = 7\nduration = \"100 s\""),
        ("hops = 2", "spacing = \"0.2 km\"\nhops = 2"),
        ("[topology]", "[mac]\nqueue = 50\n[topology]"),
        ("[topology]", "[schemes.tcp-sack]\nflavour = \"rfc\"\n[topology]"),
        ("generator = \"chain\"\nhops = 2", "hops = 0x2\ngenerator = \"chain\""),
    ];
    for (from, to) in same {
        assert_eq!(hash(&text.replacen(from, to, 1)), original, "{to:?}");
    }
    let marking = text.replace("tcp-sack", "ecn-fsd");
    let with = |parameter: &str| {
        hash(&marking.replacen("[topology]", &format!("[schemes.ecn-fsd]\n{parameter}\n[topology]"), 1))
    };
    assert_eq!(with("threshold = \"0.03 s\""), hash(&marking), "the default, in another unit");
    assert_eq!(with("smoothing = 1"), hash(&marking), "the default, as a whole number");
    assert_ne!(with("threshold = \"31 ms\""), hash(&marking));
    let rewritten = toml::to_string_pretty(&toml::from_str::<toml::Table>(&text).unwrap()).unwrap();
    assert_eq!(hash(&rewritten), original, "written by another hand:\n{rewritten}");
    let different = [
        ("duration = \"100 s\"", "duration = \"100.000000001 s\""),
        ("duration = \"100 s\"", "warmup = \"1 s\"\nduration = \"100 s\""),
        ("hops = 2", "hops = 3"),
        ("start_jitter = \"2 s\"", "start_jitter = \"3 s\""),
        ("tcp-sack", "tcp-newreno"),
        ("[topology]", "[mac]\nqueue = 51\n[topology]"),
        ("[topology]", "[mac.override]\nimmediate_access = false\n[topology]"),
        ("[topology]", "[medium]\nmodel = \"ranges\"\nbit_error_rate = 1e-9\n[topology]"),
        ("[topology]", "[schemes.tcp-sack]\nwindow = 12\n[topology]"),
        ("[topology]", "[routing]\nmetric = \"etx\"\n[topology]"),
        ("[topology]", "[routing]\nprotocol = \"dsdv\"\n[topology]"),
        ("[topology]", "[routing]\nprotocol = \"dsr\"\n[topology]"),
        ("[topology]", "[routing]\nprotocol = \"dsr\"\nfailures = 3\n[topology]"),
        ("[topology]", "[routing]\nprotocol = \"aodv\"\n[topology]"),
        ("[topology]", "[routing]\nprotocol = \"aodv\"\nblind_to = [\"tcp-sack\"]\n[topology]"),
        ("[topology]", "[network]\nextra_header = \"1 B\"\n[topology]"),
        ("[topology]", "[phy]\ncontrol_rate = \"1 Mb/s\"\n[topology]"),
        ("[topology]", "[[measure]]\nestimator = \"fte\"\n[topology]"),
        ("[topology]", "[[measure]]\nestimator = \"fte\"\nat = [\"n1\"]\n[topology]"),
        ("[topology]", "[[measure]]\nestimator = \"rt-winf\"\n[topology]"),
        ("[topology]", "[[measure]]\nestimator = \"rt-winf\"\nwindow = \"2 s\"\n[topology]"),
    ];
    let mut seen = vec![original];
    for (from, to) in different {
        let other = hash(&text.replacen(from, to, 1));
        assert!(!seen.contains(&other), "{to:?}");
        seen.push(other);
    }
}

#[test]
fn ofdm_frames_may_be_bits_in_a_row() {
    let airtime = |keys: &str| {
        let text = format!("{PLAIN}[phy]\nstandard = \"802.11a\"\n{keys}\n");
        let config = config(&text);
        config.phy.airtime(config.data_rate, 1080, Microseconds::Exact)
    };
    // 16 and 6 bits more make 8662 of 216 a symbol: 41 of them.
    assert_eq!(airtime(""), Span::from_us(20 + 164));
    assert_eq!(airtime("ofdm_symbols = \"whole\""), Span::from_us(20 + 164));
    assert_eq!(airtime("ofdm_symbols = \"ns2\""), Span::from_us(20 + 160));
}
