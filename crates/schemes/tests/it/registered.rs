//! Properties of every registered scheme: its parameters take effect, and its documentation is complete.

use crate::connect;
use crate::pipe::Path;
use multihop_config::parameter_error::{Clash, Found, Wanted};
use multihop_core::{NodeId, Rate, Segment, Span, Time};
use multihop_link::{EgressQueue, PhyTimes};
use multihop_schemes::{
    Lred, ParameterError, Parameters, REGISTRY, Rcp, Scheme, TcpAp, TcpScheme, TcpVegas, Xcp, XcpWinf, find,
};
use serde_json::{Value, json};

/// Path with a delay of 50 ms each way.
struct Long;

impl Path for Long {
    fn carry(&mut self, _now: Time, _to_receiver: bool, _segment: &mut Segment, copies: &mut Vec<Span>) {
        copies.push(Span::from_ms(50));
    }
}

fn parsed<P: Parameters>(parameters: Value) -> P {
    serde_json::from_value(parameters).unwrap()
}

fn has(schema: &Value, parameter: &str) -> bool {
    schema["properties"].get(parameter).is_some()
}

/// At most 5 segments of 600 bytes are outstanding, and at least one is.
#[test]
fn every_connection_has_the_given_segments_and_window() {
    let mut windows = 0;
    for entry in REGISTRY {
        let schema = entry.schema();
        if !has(&schema, "window") {
            continue;
        }
        windows += 1;
        let scheme = entry.build(&json!({ "segment_size": "600 B", "window": 5 })).unwrap();
        assert_eq!(scheme.segment_size(), 600, "{}", entry.name);
        let mut pipe = connect(scheme.as_ref(), Long);
        pipe.push(10_000 * 600);
        pipe.run_until(Time::ZERO + Span::from_ms(10_000));
        let data: Vec<Time> =
            pipe.log.iter().filter(|(_, segment)| segment.payload > 0).map(|(at, _)| *at).collect();
        let is_full = |segment: &Segment| segment.payload == 0 || segment.payload == 600;
        assert!(pipe.log.iter().all(|(_, segment)| is_full(segment)), "{}", entry.name);
        let round = Span::from_ms(100);
        let in_round = |from: &Time| data.iter().filter(|at| *at >= from && at.since(*from) < round).count();
        let most = data.iter().map(in_round).max();
        assert!(most.is_some_and(|most| (1..=5).contains(&most)), "{}: {most:?}", entry.name);
    }
    assert!(windows > 15, "{windows}");
}

/// A parameter of a scheme does not hide one of its connection. Each switch that is given appears in the
/// resolved form unless it is the default, and the resolved form resolves to itself.
#[test]
fn every_switch_that_is_given_is_resolved() {
    let mut switches = 0;
    for entry in REGISTRY {
        let (schema, usual) = (entry.schema(), entry.resolve(&json!({})).unwrap());
        for (parameter, kind) in schema["properties"].as_object().unwrap() {
            let is_switch = kind["type"] == "boolean" || kind["type"] == json!(["boolean", "null"]);
            let given = |value: bool| entry.resolve(&json!({ parameter: value }));
            for (value, resolved) in [true, false].map(|value| (value, given(value))) {
                // Some values are refused, such as ECN without marks for schemes that need it.
                let Some(resolved) = resolved.ok().filter(|_| is_switch) else { continue };
                switches += 1;
                let is_given = resolved[parameter] == json!(value);
                assert!(is_given || resolved == usual, "{} {parameter}", entry.name);
                assert_eq!(entry.resolve(&resolved), Ok(resolved), "{} {parameter}", entry.name);
            }
        }
    }
    assert!(switches > 100, "{switches}");
}

/// A scheme that acknowledges each segment by default refuses acknowledgements of several segments without a
/// delay.
#[test]
fn acknowledging_several_segments_needs_a_delay() {
    let wanted = Wanted::LeaveOutOr("delayed_ack", "\"40 ms\"");
    for (name, refused) in [("tcp-ap", true), ("ewccp-published", true), ("ewccp", false), ("xcp", false)] {
        let build = |parameters| find(name).unwrap().build(&parameters).err();
        let found = Found::NoEffect(Clash::new(4, "delayed_ack", "\"0 s\""));
        let expected = refused.then(|| ParameterError::new("ack_every", found, wanted.clone()));
        assert_eq!(build(json!({ "ack_every": 4 })), expected, "{name}");
        assert_eq!(build(json!({ "ack_every": 4, "delayed_ack": "40 ms" })), None, "{name}");
    }
}

#[test]
fn errors_of_serde_name_the_parameter() {
    for weights in [json!({ "a": 1 }), json!({ "0": "x" })] {
        let error =
            find("bmcc").unwrap().build(&json!({ "backoff": 0.8, "weights": weights })).err().unwrap();
        assert_eq!(error.parameter.as_deref(), Some("weights"), "{error}");
    }
}

#[test]
fn datagrams_and_streams_are_distinguished() {
    for entry in REGISTRY {
        let scheme = entry.build(&json!({})).unwrap();
        assert_eq!(scheme.is_uncontrolled(), entry.name == "udp", "{}", entry.name);
        let loses = ["udp", "tfrc", "tfrc-capped", "re-tfrc", "nada", "gcc", "scream", "quick-and-plenty"]
            .contains(&entry.preset_of.unwrap_or(entry.name));
        assert_eq!((scheme.is_reliable(), entry.reliable), (!loses, !loses), "{}", entry.name);
    }
}

/// Limited Transmit (RFC 3042) is on in the flavour rfc, and off in ns-2's Vegas unless it is given. Vegas
/// times every segment.
#[test]
fn vegas_has_the_options_of_its_flavour() {
    let options = |parameters| parsed::<TcpVegas>(parameters).options();
    let transmits = |parameters| options(parameters).limited_transmit;
    assert!(transmits(json!({})) && !transmits(json!({ "flavour": "ns2" })));
    assert!(transmits(json!({ "flavour": "ns2", "limited_transmit": true })));
    assert!(!transmits(json!({ "limited_transmit": false })));
    assert!(options(json!({})).time_every_segment);
    let own = options(json!({ "segment_size": "700 B" }));
    assert_eq!(own.segment_size, 700);
}

/// Every segment is acknowledged at once. The flavour rfc has timestamps in headers; ns-2's costs no bytes.
#[test]
fn tcp_ap_has_its_own_defaults() {
    for (flavour, timestamps) in [("rfc", true), ("ns2", false)] {
        let options = parsed::<TcpAp>(json!({ "flavour": flavour, "segment_size": "700 B" })).options();
        assert_eq!(options.segment_size, 700);
        assert_eq!((options.timestamps, options.time_every_segment), (timestamps, !timestamps), "{flavour}");
        assert!(!options.rto.exponential && options.delayed_ack.is_none_or(|delay| delay == Span::ZERO));
    }
    let given = parsed::<TcpAp>(json!({ "timestamps": false, "delayed_ack": "50 ms" })).options();
    assert!(!given.timestamps && given.delayed_ack == Some(Span::from_ms(50)));
}

/// XCP and RCP add a header of their own. Flows of LRED are plain `NewReno` without ECN.
#[test]
fn options_follow_the_parameters() {
    let size = json!({ "segment_size": "700 B", "window": 9 });
    let all = [
        parsed::<Xcp>(size.clone()).options(),
        parsed::<XcpWinf>(size.clone()).options(),
        parsed::<Rcp>(size.clone()).options(),
        parsed::<Lred>(size).options(),
    ];
    for options in &all {
        assert_eq!(options.segment_size, 700);
    }
    assert!(all[..3].iter().all(|options| options.packet_size() > all[3].packet_size()));
}

const EGRESS: EgressQueue = EgressQueue {
    rate: Rate::from_kbps(11_000),
    is_wired: false,
    queue_limit: 50,
    rts_from: None,
    aggregates: false,
    seed: 1,
};

fn phy() -> PhyTimes {
    PhyTimes {
        slot: Span::from_us(20),
        sifs: Span::from_us(10),
        difs: Span::from_us(50),
        backoff: Span::from_us(310),
        cw_min: 31,
        cw_max: 1023,
        rts: Span::from_us(352),
        cts: Span::from_us(304),
        ack: Span::from_us(304),
        data_rate: Rate::from_kbps(11_000),
        data_overhead: Span::from_us(192),
        data_header: 28,
    }
}

/// Returns the number of estimators at a queue with a router policy. A known capacity needs none.
fn estimators(name: &str, parameters: &Value) -> usize {
    let scheme = find(name).unwrap().build(parameters).unwrap();
    scheme.router(NodeId(0), &EGRESS).expect("the scheme has a policy").estimators(&phy()).len()
}

#[test]
fn routers_that_measure_the_capacity_have_an_estimator_of_it() {
    for name in ["rcp", "xcp", "maxnet", "vcp", "bmcc", "abc"] {
        for (capacity, count) in [("packet-throughput", 1), ("rt-winf", 1), ("phy-rate", 1), ("2 Mb/s", 0)] {
            assert_eq!(estimators(name, &json!({ "capacity": capacity })), count, "{name} by {capacity}");
        }
    }
    for name in ["xcp-winf", "rcp-winf"] {
        assert_eq!(estimators(name, &json!({})), 1, "{name}");
    }
}

/// A value out of range or without effect is refused with the parameter's name.
#[test]
fn parameters_out_of_range_are_named() {
    let refused = |name: &str, parameters: &Value, parameter: &str| {
        let error: ParameterError =
            find(name).unwrap().build(parameters).err().unwrap_or_else(|| panic!("{name}: {parameters}"));
        assert!(error.to_string().contains(parameter), "{name}: {error}");
    };
    for name in ["rcp", "rcp-winf"] {
        refused(name, &json!({ "utilization": 3.0 }), "utilization");
    }
    refused("rcp", &json!({ "min_rate": 0.0 }), "min_rate");
    refused("tcp-vegas", &json!({ "alpha": 4.0 }), "alpha");
    refused("xcp", &json!({ "capacity": "phy-rate", "capacity_interval": "1 s" }), "capacity_interval");
    refused("xcp", &json!({ "capacity": "phy-rate", "capacity_smoothing": 0.5 }), "capacity_smoothing");
    refused("xcp", &json!({ "capacity": "rt-winf", "capacity_interval": "1 s" }), "capacity_interval");
    refused("xcp", &json!({ "capacity": "rt-winf", "normalise_over": 3 }), "normalise_over");
    let taken = |parameters: Value| find("xcp").unwrap().build(&parameters).is_ok();
    assert!(taken(
        json!({ "capacity": "packet-throughput", "capacity_interval": "1 s", "normalise_over": 3 })
    ));
    assert!(taken(json!({ "capacity": "rt-winf", "capacity_smoothing": 0.5 })));
}

/// Slow start ends when more segments than gamma are queued, so that a smaller gamma ends it sooner.
#[test]
fn gamma_ends_the_slow_start_of_vegas() {
    let first_seconds = |gamma: f64| {
        let parameters = json!({ "gamma": gamma, "window": 1_000, "delayed_ack": "0 s" });
        let scheme: std::sync::Arc<dyn Scheme> = find("tcp-vegas").unwrap().build(&parameters).unwrap();
        let narrow = Narrow { free: Time::ZERO, longest: Span::ZERO };
        let mut pipe = connect(scheme.as_ref(), narrow);
        pipe.push(100_000 * 1_460);
        pipe.run_until(Time::ZERO + Span::from_ms(3_000));
        pipe.path.longest
    };
    let (few, many) = (first_seconds(1.0), first_seconds(60.0));
    assert!(many > few * 2, "{few:?} and {many:?}");
}

/// Path with 4 Mb/s, 50 ms each way and an unlimited queue.
struct Narrow {
    free: Time,
    longest: Span,
}

impl Path for Narrow {
    fn carry(&mut self, now: Time, to_receiver: bool, segment: &mut Segment, copies: &mut Vec<Span>) {
        if !to_receiver {
            return copies.push(Span::from_ms(50));
        }
        let begins = self.free.max(now);
        self.longest = self.longest.max(begins.since(now));
        self.free =
            begins + Rate::from_kbps(4_000).span_of_bytes(u64::from(segment.payload + segment.header));
        copies.push(self.free.since(now) + Span::from_ms(50));
    }
}
