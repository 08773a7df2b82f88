//! Ends that know when what they sent has left their node, and TCP small queues, which need it.

use crate::common::wires::{dumbbell, seconds};
use crate::common::{add_flow, chain, check_conservation, saturate, total_goodput};
use crate::mac::aggregation::high_throughput;
use multihop_core::{DropCause, NodeId, Segment, Span, Time};
use multihop_dot11::DcfRules;
use multihop_link::{Discipline, FqCodelOptions};
use multihop_schemes::{Scheme, find};
use multihop_sim::config::{
    AodvConfig, AppConfig, Config, HardwareQueueConfig, LinkFailureRule, RoutingProtocol, SchemeConfig,
};
use multihop_sim::mobility::Outage;
use multihop_sim::outcome::Outcome;
use multihop_sim::run;
use multihop_transport::{Delivered, Endpoint, Progress, UdpOptions, UdpReceiver, UdpSender};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Datagrams whose sender notes which of them are in its node.
struct Noted {
    inside: Arc<Mutex<BTreeSet<u64>>>,
    departed: Arc<Mutex<u64>>,
}

struct NotingSender {
    datagrams: UdpSender,
    inside: Arc<Mutex<BTreeSet<u64>>>,
    departed: Arc<Mutex<u64>>,
}

impl Scheme for Noted {
    fn sender(&self) -> Box<dyn Endpoint> {
        Box::new(NotingSender {
            datagrams: UdpSender::new(UdpOptions::default()),
            inside: self.inside.clone(),
            departed: self.departed.clone(),
        })
    }
    fn receiver(&self) -> Box<dyn Endpoint> {
        Box::new(UdpReceiver::new())
    }
    fn segment_size(&self) -> u32 {
        UdpOptions::default().segment_size
    }
    fn is_uncontrolled(&self) -> bool {
        true
    }
}

impl Endpoint for NotingSender {
    fn push(&mut self, now: Time, bytes: u64) {
        self.datagrams.push(now, bytes);
    }
    fn backlog(&self) -> u64 {
        self.datagrams.backlog()
    }
    fn on_segment(&mut self, now: Time, segment: &Segment) -> Delivered {
        self.datagrams.on_segment(now, segment)
    }
    fn follows_departures(&self) -> bool {
        true
    }
    fn on_departed(&mut self, _now: Time, segment: &Segment) -> bool {
        assert!(self.inside.lock().unwrap().remove(&segment.seq), "{} was not there", segment.seq);
        *self.departed.lock().unwrap() += 1;
        false
    }
    fn on_timeout(&mut self, _now: Time) {}
    fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        let segment = self.datagrams.poll_segment(now)?;
        self.inside.lock().unwrap().insert(segment.seq);
        Some(segment)
    }
    fn poll_timeout(&self) -> Option<Time> {
        None
    }
    fn progress(&self) -> Progress {
        self.datagrams.progress()
    }
}

/// Runs it with datagrams that are noted, and returns how many are in their node at the end.
fn left_inside(config: &mut Config) -> (usize, Outcome) {
    let (inside, departed) = (Arc::default(), Arc::default());
    let scheme = Arc::new(Noted { inside: Arc::clone(&inside), departed: Arc::clone(&departed) });
    config.traffic.schemes = vec![SchemeConfig { name: "noted".into(), scheme }];
    let outcome = run(config);
    check_conservation(&outcome);
    assert!(*departed.lock().unwrap() > 100, "few left");
    let left = inside.lock().unwrap().len();
    (left, outcome)
}

/// However a packet leaves its source, that is reported, once: acknowledged alone or with others, given up,
/// lost in a full queue, to `CoDel`, for its age, for a broken link, of a node that goes off, or over a wire;
/// from a queue of the hardware as well. What was not reported is still there.
#[test]
fn a_source_hears_once_of_every_packet_that_leaves() {
    let mut all = Vec::new();
    for (packet_errors, queue, discipline, aggregates) in [
        (0.0, 50, Discipline::DropTail, false),
        (0.4, 20, Discipline::DropTail, false),
        (0.4, 20, Discipline::DropTail, true),
        (0.1, 300, Discipline::FqCodel(FqCodelOptions::default()), true),
    ] {
        for lifetime in [None, Some(Span::from_ms(15))] {
            let mut config = if aggregates {
                high_throughput(&[[0.0, 0.0], [200.0, 0.0], [400.0, 0.0]])
            } else {
                chain(DcfRules::IEEE, 2)
            };
            config.duration = Span::from_ms(4_000);
            config.medium.packet_error_rate = packet_errors;
            config.mac.queue.limit = queue;
            config.mac.queue.lifetime = lifetime;
            config.mac.short_retry_limit = Some(2);
            config.mac.queue.discipline = discipline;
            config.routing.on_link_failure = LinkFailureRule::Break { failures: 2, hold: Span::from_ms(50) };
            if lifetime.is_some() {
                config.mac.queue.hardware =
                    Some(HardwareQueueConfig { packets: Some(100), aggregates: None, airtime: None });
                let second = |at: u64| Span::from_ms(at * 1_000);
                config.mobility.outages = vec![Outage { node: NodeId(0), from: second(1), to: second(2) }];
            }
            let rate = multihop_core::Rate::from_kbps(if aggregates { 90_000 } else { 9_000 });
            add_flow(&mut config, 0, 2, AppConfig::Cbr { rate, packet: 1_472, jitter: 0.0 });
            all.push(config);
        }
    }
    let mut aodv = chain(DcfRules::IEEE, 3);
    (aodv.duration, aodv.medium.packet_error_rate) = (Span::from_ms(20_000), 0.3);
    aodv.routing.protocol = RoutingProtocol::Aodv(AodvConfig::default());
    let rate = multihop_core::Rate::from_kbps(400);
    add_flow(&mut aodv, 0, 3, AppConfig::Cbr { rate, packet: 1_472, jitter: 0.0 });
    all.push(aodv);
    let mut wires = dumbbell("udp", &json!({}), 10, &[(40, 0)]);
    wires.duration = Span::from_ms(2_000);
    all.push(wires);
    let mut causes = BTreeSet::new();
    for mut config in all {
        let (left, outcome) = left_inside(&mut config);
        // 64 in the window of an agreement, one that is sent, and those that a protocol holds without a
        // route.
        let room = config.mac.queue.limit + if config.topology.wires.is_empty() { 65 + 64 } else { 1_001 };
        let room =
            room + config.mac.queue.hardware.and_then(|hardware| hardware.packets).unwrap_or(0) as usize;
        assert!(left <= room, "{left} of {room}, {:?}", outcome.conservation);
        let lost =
            DropCause::ALL.into_iter().filter(|cause| outcome.conservation.dropped[*cause as usize] > 0);
        causes.extend(lost.map(DropCause::name));
    }
    for cause in ["queue_full", "retry_limit", "lifetime", "link_broken", "aqm"] {
        assert!(causes.contains(cause), "{cause} did not happen: {causes:?}");
    }
}

fn upload(parameters: &serde_json::Value) -> (f64, f64, f64) {
    let mut config = high_throughput(&[[0.0, 0.0], [10.0, 0.0]]);
    config.mac.queue.limit = 2_000;
    config.duration = Span::from_ms(8_000);
    config.recording.warmup = Span::from_ms(3_000);
    let scheme = find("tcp-cubic").unwrap().build(parameters).unwrap();
    config.traffic.schemes = vec![SchemeConfig { name: "tested".into(), scheme }];
    saturate(&mut config, 1, 0);
    let outcome = run(&config);
    (total_goodput(&outcome) / 1e6, outcome.flows[0].delay.mean * 1e3, outcome.nodes[1].queue_mean)
}

/// An upload over one hop of 802.11n at 65 Mb/s. Without small queues the station's own queue has what the
/// receive window allows. With them it has some milliseconds, and more where the shift is smaller. Of the
/// window nothing is in the network beyond, so that the rate is what the window would bring, twice what is
/// used in slow start, and Linux doubles it: four times the shift's time, 32 ms at 7. Acknowledgements are
/// not merged, so that they open the window fast enough for a run of seconds.
#[test]
fn small_queues_keep_the_queue_of_the_station_short() {
    let with = |shift: Option<u32>| {
        let parameters =
            json!({ "flavour": "linux", "receive_offload": false, "window": 1_024, "pacing_shift": shift });
        upload(&parameters)
    };
    let off = with(None);
    let [at_10, at_8, at_7] = [10, 8, 7].map(|shift| with(Some(shift)));
    assert!(off.2 > 400.0 && off.1 > 80.0, "{off:?}");
    assert!(
        at_10.2 < at_8.2 && at_8.2 < at_7.2 && at_7.2 < off.2 / 3.0,
        "{at_10:?} {at_8:?} {at_7:?} {off:?}"
    );
    assert!(
        at_10.1 < at_8.1 && at_8.1 < at_7.1 && at_7.1 < off.1 / 2.5,
        "{at_10:?} {at_8:?} {at_7:?} {off:?}"
    );
    assert!(at_7.0 > 0.98 * off.0 && at_10.0 > 0.9 * off.0, "{at_10:?} {at_8:?} {at_7:?} {off:?}");
}

/// The queue before a wire is of the same kind: two packets of 1500 bytes, or a millisecond at 100 Mb/s, wait
/// before the first wire of a path of 10 Mb/s, and nothing of what the path carries is lost by it.
#[test]
fn small_queues_hold_before_wires_too() {
    let run = |parameters| {
        let outcome = seconds(&mut dumbbell("tcp-cubic", &parameters, 60, &[(40, 0)]), 2, 12);
        total_goodput(&outcome) / 1e6
    };
    let (off, on) = (run(json!({})), run(json!({ "pacing_shift": 10 })));
    assert!((on / off - 1.0).abs() < 0.02, "{off} {on}");
}
