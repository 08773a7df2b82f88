//! Notices between router policies: which nodes receive them, when, and that they cost airtime.

use crate::common::{Datagrams, add_flow, chain};
use multihop_core::{Carrier, NodeId, Span, Time};
use multihop_dot11::DcfRules;
use multihop_link::{EgressQueue, Notice, RouterPolicy};
use multihop_schemes::Scheme;
use multihop_sim::config::{AppConfig, Config, SchemeConfig};
use multihop_sim::mobility::Outage;
use multihop_sim::{Ties, World, run};
use multihop_transport::Endpoint;
use std::sync::{Arc, Mutex};

/// Notices that each node received from which, and number of restarts of each.
#[derive(Default)]
struct Log {
    heard: Vec<(u32, u32, u64)>,
    restarts: Vec<u32>,
    backlog: [i64; 8],
}

/// Says each tenth of a second how often it has spoken so far.
struct Crier {
    id: NodeId,
    said: u64,
    next: Time,
    log: Arc<Mutex<Log>>,
}

struct Cries(Arc<Mutex<Log>>);

const TENTH: Span = Span::from_ms(100);

impl RouterPolicy for Crier {
    fn on_backlog(&mut self, _now: Time, _next_hop: NodeId, bytes: i64) {
        self.log.lock().unwrap().backlog[self.id.index()] += bytes;
    }
    fn on_notice(&mut self, _now: Time, from: NodeId, content: &[u8]) {
        let said = u64::from_be_bytes(content.try_into().unwrap());
        self.log.lock().unwrap().heard.push((self.id.0, from.0, said));
    }
    fn poll_notice(&mut self, now: Time) -> Option<Notice> {
        if now < self.next {
            return None;
        }
        self.next = now + TENTH;
        self.said += 1;
        let content = self.said.to_be_bytes().to_vec();
        Some(Notice { carrier: Carrier::Ip(253), content, air: 8, size: 100 })
    }
    fn next_notice(&self) -> Option<Time> {
        Some(self.next)
    }
    fn on_restart(&mut self, now: Time) {
        self.next = now;
        self.log.lock().unwrap().restarts.push(self.id.0);
    }
}

impl Scheme for Cries {
    fn sender(&self) -> Box<dyn Endpoint> {
        Datagrams { payload: 1472, header: 28 }.sender()
    }
    fn receiver(&self) -> Box<dyn Endpoint> {
        Datagrams { payload: 1472, header: 28 }.receiver()
    }
    fn segment_size(&self) -> u32 {
        1472
    }
    fn is_uncontrolled(&self) -> bool {
        true
    }
    fn router(&self, id: NodeId, _egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        // Not in step: each at a time of its own.
        let next = Time::ZERO + Span::from_ms(7 * u64::from(id.0));
        Some(Box::new(Crier { id, said: 0, next, log: self.0.clone() }))
    }
}

fn config(hops: usize, log: &Arc<Mutex<Log>>) -> Config {
    let mut config = chain(DcfRules::IEEE, hops);
    config.duration = Span::from_ms(10_050);
    config.recording.warmup = Span::ZERO;
    config.traffic.schemes =
        vec![SchemeConfig { name: "cries".into(), scheme: Arc::new(Cries(log.clone())) }];
    config
}

#[test]
fn neighbours_hear_every_word_and_nobody_else_does() {
    let log = Arc::default();
    let outcome = run(&config(3, &log));
    let log = log.lock().unwrap();
    for (to, from) in [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)] {
        let words: Vec<u64> = log.heard.iter().filter(|h| (h.0, h.1) == (to, from)).map(|h| h.2).collect();
        assert_eq!(words, (1..=101).collect::<Vec<u64>>(), "{from} to {to}");
    }
    assert_eq!(log.heard.len(), 6 * 101);
    let reported = outcome.nodes[1].signalling;
    assert_eq!((reported.sent, reported.bytes, reported.dropped), (101, 10_100, 0));
    // At 1 Mb/s: 192 us, and 28 + 8 + 100 bytes.
    assert!((reported.airtime - 101.0 * 1_280e-6 / 10.05).abs() < 1e-6, "{}", reported.airtime);
    assert!((outcome.nodes[1].transmitting - reported.airtime).abs() < 1e-9);
}

/// A node that is off neither reports nor hears anything, and begins anew.
#[test]
fn a_node_that_is_off_is_silent() {
    let log = Arc::default();
    let mut config = config(1, &log);
    let from = Span::from_ms(2_960);
    config.mobility.outages = vec![Outage { node: NodeId(1), from, to: from + Span::from_ms(4_000) }];
    let outcome = run(&config);
    let log = log.lock().unwrap();
    assert_eq!(log.restarts, [1]);
    let sent: Vec<u64> = outcome.nodes.iter().map(|node| node.signalling.sent).collect();
    assert_eq!(sent, [101, 101 - 40], "from the moment of its return again");
    let heard = |by: u32| log.heard.iter().filter(|heard| heard.0 == by).count() as u64;
    assert_eq!([heard(0), heard(1)], [sent[1], sent[0] - 40]);
}

/// Backlog is reported as packets are enqueued and removed, in any way: at the end it is that of the packets
/// still queued.
#[test]
fn what_waits_adds_up() {
    let log: Arc<Mutex<Log>> = Arc::default();
    let mut config = config(3, &log);
    config.medium.packet_error_rate = 0.4;
    config.mac.queue.limit = 4;
    let rate = multihop_core::Rate::from_kbps(1_500);
    add_flow(&mut config, 0, 3, AppConfig::Cbr { rate, packet: 1_472, jitter: 0.0 });
    config.traffic.flows[0].stop = Some(Span::from_ms(5_000));
    let outcome = run(&config);
    assert!(
        outcome.flows[0].dropped.iter().filter(|dropped| **dropped > 0).count() >= 2,
        "{:?}",
        outcome.flows
    );
    assert_eq!(log.lock().unwrap().backlog, [0; 8]);
}

#[test]
fn ties_do_not_matter() {
    let outcome = |ties| {
        let log = Arc::default();
        let mut config = config(3, &log);
        add_flow(&mut config, 0, 3, AppConfig::Saturated);
        let outcome = World::new(&config, ties).finish();
        let heard = std::mem::take(&mut log.lock().unwrap().heard);
        (outcome, heard.len())
    };
    assert_eq!(outcome(Ties::InOrder), outcome(Ties::Reversed));
}
