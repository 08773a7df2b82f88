//! Meaning of absent keys, and of overrides.

use super::{CANONICAL, PLAIN, config, hash, of};
use multihop_core::{FlowId, NodeId, Rate, Span};
use multihop_dot11::{DcfRules, EifsRule, ResponseTimeout};
use multihop_link::{
    AdHocProbeOptions, Adaptation, AirtimeLimits, BusyRatioOptions, CodelOptions, Discipline, DualPi2Options,
    DualQueueSchedule, Elapsed, EstimatorConfig, FqCodelOptions, IdleGapOptions, LowLatencyMarking,
    PacketThroughputOptions, PieOptions, RtWinfOptions, RtWinfProbeOptions, ServiceDelayOptions,
    SlowStations, StationsOptions, WinfReading,
};
use multihop_scenario::{Overrides, resolve};
use multihop_sim::config::{
    AodvConfig, AppConfig, DsdvConfig, DsrConfig, HardwareQueueConfig, LinkFailureRule, LocalRepair,
    MeasurementConfig, MediumModel, PathLoss, RouteMetric, RoutingProtocol,
};

#[test]
fn defaults_are_those_of_the_standard_and_of_ns2s_radio() {
    let config = config(PLAIN);
    assert_eq!((config.name.as_str(), config.seed), ("case", 1));
    assert_eq!((config.recording.warmup, config.recording.interval), (Span::ZERO, Span::from_ms(1000)));
    assert_eq!(config.rates.data, Rate::from_kbps(11_000).into());
    assert_eq!(config.rates.control, None);
    assert_eq!(config.mac.rules, DcfRules::IEEE);
    assert_eq!((config.mac.short_retry_limit, config.mac.long_retry_limit), (Some(7), Some(4)));
    assert_eq!((config.mac.cw_min, config.mac.cw_max, config.mac.queue.limit), (31, 1023, 50));
    let MediumModel::Ranges { receive_range, carrier_sense_range, capture_ratio, path_loss } =
        config.medium.model
    else {
        panic!("{:?}", config.medium)
    };
    assert_eq!((receive_range, carrier_sense_range, capture_ratio), (250.0, 550.0, Some(10.0)));
    assert_eq!(path_loss, PathLoss::TwoRayGround { frequency_hz: 914e6, antenna_height: 1.5 });
    assert_eq!(config.routing.on_link_failure, LinkFailureRule::Ignore);
    assert_eq!(config.traffic.flows[0].app, AppConfig::Saturated);
}

/// Minstrel-HT has the retry limit of its chain; the ideal algorithm has the limits of the MAC.
#[test]
fn rate_control_sets_the_retry_limit() {
    let tries = |keys: &str| {
        let text = format!(
            "generator = \"chain\"\nhops = 2\nspacing = \"10 m\"\n[medium]\nmodel = \"sinr\"\n[mac.rate_control]\n{keys}"
        );
        of(&text, CANONICAL).mac.rate_control.expect("rates are chosen").tries
    };
    assert_eq!(tries("algorithm = \"minstrel-ht\""), Some(21));
    assert_eq!(tries("algorithm = \"minstrel-ht\"\ntries = 7"), Some(7));
    assert_eq!(tries("algorithm = \"ideal\""), None);
}

/// The discipline of the radio with these keys of `[mac]`.
fn discipline(keys: &str) -> Discipline {
    let text = format!("generator = \"chain\"\nhops = 2\n[mac]\nqueue = 1000\n{keys}");
    of(&text, CANONICAL).mac.queue.discipline
}

#[test]
fn disciplines_have_linuxs_parameters_unless_set_otherwise() {
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
    let adaptation = Adaptation::default();
    let stations = StationsOptions { lines, airtime_quantum, charge_received: true, adaptation };
    assert_eq!(discipline("discipline = \"stations\""), Discipline::Stations(stations));
}

#[test]
fn each_parameter_of_a_discipline_is_applied_and_is_in_the_hash() {
    let keys = "discipline = \"stations\"\n[mac.codel]\ntarget = \"7 ms\"\ninterval = \"70 ms\"\necn = false\n\
                quantum = \"700 B\"\nflows = 77\nairtime_quantum = \"777 us\"\ntarget_exchanges = 7\nslow = true";
    let lines = FqCodelOptions {
        codel: CodelOptions { target: Span::from_ms(7), interval: Span::from_ms(70), ecn: false },
        quantum: 700,
        flows: 77,
        ..StationsOptions::default().lines
    };
    let airtime_quantum = Span::from_us(777);
    let adaptation = Adaptation { slow: Some(SlowStations::default()), exchanges: 7 };
    let stations = StationsOptions { lines, airtime_quantum, charge_received: true, adaptation };
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
    assert_eq!(different.len(), 4 + 7);
    assert_eq!(of("discipline = \"drop-tail\""), of(""));
}

/// Each key of `[mac.pie]` and `[mac.dualpi2]` is applied, and is in the hash; keys with their default are
/// not.
#[test]
fn pie_and_dualpi2_have_parameters() {
    assert_eq!(discipline("discipline = \"pie\""), Discipline::Pie(PieOptions::default()));
    assert_eq!(discipline("discipline = \"dualpi2\""), Discipline::DualPi2(DualPi2Options::default()));
    let keys = "discipline = \"pie\"\n[mac.pie]\ntarget = \"7 ms\"\nmax_burst = \"70 ms\"\necn = true";
    let (target, max_burst) = (Span::from_ms(7), Span::from_ms(70));
    let pie = PieOptions { target, max_burst, ecn: true, ..PieOptions::default() };
    assert_eq!(discipline(keys), Discipline::Pie(pie));
    let of = |table: &str| discipline(&format!("discipline = \"dualpi2\"\n[mac.dualpi2]\n{table}"));
    let ms = Span::from_ms;
    let ramp = LowLatencyMarking::Ramp { from: Span::from_us(800), range: Span::from_us(400) };
    let schedule = DualQueueSchedule::TimeShifted { shift: ms(30) };
    let dualpi2 =
        DualPi2Options { target, coupling: 3.0, marking: ramp, schedule, ..DualPi2Options::default() };
    let given =
        "target = \"7 ms\"\ncoupling = 3\nthreshold = \"800 us\"\nramp = \"400 us\"\nshift = \"30 ms\"";
    assert_eq!(of(given), Discipline::DualPi2(dualpi2));
    let schedule = DualQueueSchedule::Weighted { classic: 6 };
    let weighted = DualPi2Options { schedule, ..DualPi2Options::default() };
    assert_eq!(of("classic_share = 6"), Discipline::DualPi2(weighted));
    let of = |mac: &str| {
        hash(&format!(
            "duration = \"10 s\"\n[topology]\ngenerator = \"chain\"\nhops = 2\n[traffic]\nscheme = \"udp\"\n\
             {CANONICAL}\n[mac]\n{mac}\n"
        ))
    };
    let plain = ["", "discipline = \"pie\"", "discipline = \"dualpi2\"", keys].map(of);
    assert_eq!(std::collections::BTreeSet::from(plain.clone()).len(), 4);
    assert_eq!(of("discipline = \"dualpi2\"\ndualpi2 = { ramp = \"0 s\", coupling = 2 }"), plain[2]);
}

/// Absent keys have Linux's limits, also for slow stations.
#[test]
fn the_hardware_queue_and_slow_stations_have_linuxs_defaults() {
    let hardware = |keys: &str| {
        let text = format!("generator = \"chain\"\nhops = 2\n[mac]\ndiscipline = \"stations\"\n{keys}");
        let config = of(&text, CANONICAL);
        (config.mac.queue.hardware, config.mac.queue.discipline)
    };
    let ms = Span::from_ms;
    assert_eq!(hardware("").0, None);
    let linux = AirtimeLimits { low: ms(5), high: ms(12), threshold: ms(24) };
    let expected = HardwareQueueConfig { packets: None, aggregates: None, airtime: Some(linux) };
    assert_eq!(hardware("hardware_queue = { aql = {} }").0, Some(expected));
    let keys = "[mac.hardware_queue]\npackets = 7\naggregates = 2\naql = { low = \"20 ms\" }";
    let airtime = AirtimeLimits { low: ms(20), high: ms(20), threshold: ms(24) };
    let expected = HardwareQueueConfig { packets: Some(7), aggregates: Some(2), airtime: Some(airtime) };
    assert_eq!(hardware(keys).0, Some(expected));
    let slow = SlowStations {
        below: Rate::from_kbps(6_000),
        codel: CodelOptions { target: ms(50), interval: ms(300), ecn: false },
    };
    let adaptation = Adaptation { slow: Some(slow), exchanges: 0 };
    let stations = StationsOptions { adaptation, ..StationsOptions::default() };
    assert_eq!(hardware("codel = { slow = true }").1, Discipline::Stations(stations));
    let of = |mac: &str| {
        hash(&format!(
            "duration = \"10 s\"\n[topology]\ngenerator = \"chain\"\nhops = 2\n[traffic]\nscheme = \"udp\"\n\
             {CANONICAL}\n[mac]\ndiscipline = \"stations\"\n{mac}\n"
        ))
    };
    let hashes = ["", "hardware_queue = { aql = {} }", keys, "codel = { slow = true }"].map(of);
    assert_eq!(std::collections::BTreeSet::from(hashes).len(), 4);
    assert_eq!(of(""), of("codel = { target_exchanges = 0 }"), "a key without effect is not in the hash");
}

#[test]
fn wires_have_disciplines_of_their_own() {
    let text = "nodes = [{ name = \"a\" }, { name = \"b\" }]\n[[topology.wires]]\nbetween = [\"a\", \"b\"]\n\
                rate = \"1 Mb/s\"\ndelay = \"2 ms\"\ndiscipline = \"fq-codel\"";
    let lines = Discipline::FqCodel(FqCodelOptions::default());
    let config = of(text, "pattern = \"random-pairs\"\nflows = 1");
    assert!(
        config.topology.wires.iter().all(|wire| wire.discipline == lines) && config.topology.wires.len() == 2
    );
    assert_eq!(config.mac.queue.discipline, Discipline::DropTail);
    let pie = text.replace("\"fq-codel\"", "\"pie\"\npie = { ecn = true }");
    let wires = of(&pie, "pattern = \"random-pairs\"\nflows = 1").topology.wires;
    let expected = Discipline::Pie(PieOptions { ecn: true, ..PieOptions::default() });
    assert!(wires.iter().all(|wire| wire.discipline == expected));
    let dualpi2 = text.replace("\"fq-codel\"", "\"dualpi2\"\ndualpi2 = { threshold = \"2 ms\" }");
    let wires = of(&dualpi2, "pattern = \"random-pairs\"\nflows = 1").topology.wires;
    let marking = LowLatencyMarking::Step { threshold: Span::from_ms(2) };
    let expected = Discipline::DualPi2(DualPi2Options { marking, ..DualPi2Options::default() });
    assert!(wires.iter().all(|wire| wire.discipline == expected));
    let text = "generator = \"dumbbell\"\npairs = 2\nrate = \"10 Mb/s\"\ndelay = \"10 ms\"\n\
                discipline = \"fq-codel\"";
    let disciplines: Vec<Discipline> =
        of(text, CANONICAL).topology.wires.iter().map(|wire| wire.discipline).collect();
    assert_eq!(disciplines[..2], [lines; 2], "the bottleneck");
    assert!(disciplines[2..].iter().all(|discipline| *discipline == Discipline::DropTail));
}

#[test]
fn a_routing_protocol_has_ns2s_parameters_unless_set_otherwise() {
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
        listen: false,
        salvage_limit: 0,
        ..DsrConfig::default()
    };
    let keys = "failures = 3\nrequest_period = \"2 s\"\nrequest_backoff = 4\n\
                listen = false\nsalvage_limit = 0";
    assert_eq!(routed(&format!("\"dsr\"\n{keys}")), RoutingProtocol::Dsr(expected));
    // If an idle medium is accessed at once, nodes that send RREQs at the same time would collide.
    let jittered = AodvConfig { rreq_jitter: Span::from_ms(10), ..AodvConfig::default() };
    assert_eq!(routed("\"aodv\""), RoutingProtocol::Aodv(jittered));
    assert_eq!(routed("\"aodv\"\n[mac]\nrules = \"ns2\""), RoutingProtocol::Aodv(AodvConfig::default()));
    let expected = AodvConfig {
        rreq_jitter: Span::from_ms(10),
        failures: 3,
        blind_to: vec![0],
        link_layer_detection: false,
        local_repair: LocalRepair::Rfc,
        rreq_retries: 0,
        ..AodvConfig::default()
    };
    let keys = "failures = 3\nblind_to = [\"udp\", \"xcp\"]\nlink_layer_detection = false\n\
                local_repair = \"rfc3561\"\nrreq_retries = 0";
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
        varying: None,
        external: None,
    };
    let config = resolve(PLAIN, "case.toml", &overrides).unwrap().config;
    assert_eq!(
        (config.seed, config.duration, config.recording.warmup),
        (9, Span::from_ms(30_000), Span::from_ms(3_000))
    );
    assert_eq!(config.recording.interval, Span::from_ms(500));
    assert_eq!(
        config.traffic.schemes.iter().map(|scheme| scheme.name.as_str()).collect::<Vec<_>>(),
        ["recn"]
    );
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
        config.traffic.schemes.iter().map(|scheme| scheme.name.as_str()).collect::<Vec<_>>(),
        ["tcp-sack", "gentle"]
    );
    assert_eq!(config.traffic.flows.iter().map(|flow| flow.scheme).collect::<Vec<_>>(), [0, 1, 0]);
    assert_eq!(
        config.traffic.flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>(),
        ["n0->n2", "n1->n0", "n1->n0 #2"]
    );
}

#[test]
fn names_given_by_the_user_are_not_changed() {
    let text = format!(
        "{PLAIN}[[flows]]\nname = \"n0->n2\"\nfrom = \"n1\"\nto = \"n0\"\nscheme = \"udp\"\n[[flows]]\nfrom = \"n0\"\nto = \"n2\"\nscheme = \"udp\"\n"
    );
    let names: Vec<String> = config(&text).traffic.flows.into_iter().map(|flow| flow.name).collect();
    assert_eq!(names, ["n0->n2 #2", "n0->n2", "n0->n2 #3"]);
}

#[test]
fn estimators_have_the_published_parameters_unless_set_otherwise() {
    let measured =
        |table: &str| config(&format!("{PLAIN}[[measure]]\n{table}\n")).recording.measurements.remove(0);
    let plain = measured("estimator = \"rt-winf\"");
    assert_eq!((plain.name.as_str(), plain.nodes.len()), ("rt-winf", 3));
    assert_eq!(plain.estimator, EstimatorConfig::RtWinf(RtWinfOptions::default()));
    for (name, expected) in [
        ("rt-winf-probe", EstimatorConfig::RtWinfProbe(RtWinfProbeOptions::default())),
        ("adhoc-probe", EstimatorConfig::AdHocProbe(AdHocProbeOptions::default())),
        ("packet-throughput", EstimatorConfig::PacketThroughput(PacketThroughputOptions::default())),
        (
            "idlegap",
            EstimatorConfig::IdleGap(IdleGapOptions { window: Elapsed::Window(Span::from_ms(1_000)) }),
        ),
        ("busy-ratio", EstimatorConfig::BusyRatio(BusyRatioOptions { window: Span::from_ms(1_000) })),
        ("fsd", EstimatorConfig::ServiceDelay(ServiceDelayOptions { smoothing: 0.125 })),
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
        window: Elapsed::SinceStart,
        total_per_exchange: true,
        full_busy: true,
        ack_report: true,
        reference_size: Some(1500),
        smoothing: 1.0,
    };
    let (name, nodes) = ("mine".to_owned(), vec![NodeId(2), NodeId(0)]);
    assert_eq!(other, MeasurementConfig { name, nodes, estimator: EstimatorConfig::RtWinf(options) });
    let probe = measured("estimator = \"adhoc-probe\"\nflow = \"n0->n2\"\npairs = 7");
    let options = AdHocProbeOptions { flow: Some(FlowId(0)), pairs: 7 };
    assert_eq!(probe.estimator, EstimatorConfig::AdHocProbe(options));
}
