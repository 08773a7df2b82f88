//! Explicit rates over one link of known capacity: the ends of flows, a router, and a queue between them in virtual time.

use multihop_core::{FlowId, NodeId, Packet, Port, Rate, Span, Time};
use multihop_link::{LinkView, Outlet, RouterPolicy, Verdict};
use multihop_schemes::{Scheme, find};
use multihop_transport::Endpoint;
use serde_json::{Value, json};
use std::collections::VecDeque;

const OUTLET: Outlet = Outlet { rate: Rate::from_kbps(10_000), is_wired: true, queue_limit: 200 };
/// Bytes per second.
const CAPACITY: f64 = 1.25e6;

struct Flow {
    sender: Box<dyn Endpoint>,
    receiver: Box<dyn Endpoint>,
    /// From the sender to the queue and on to the receiver takes no time; the way back takes all.
    round_trip: Span,
    starts: Time,
    delivered: u64,
    retransmissions: u64,
    /// Acknowledgements on their way.
    back: VecDeque<(Time, multihop_core::Segment)>,
}

struct Bottleneck {
    now: Time,
    flows: Vec<Flow>,
    router: Box<dyn RouterPolicy>,
    queue: VecDeque<Packet>,
    bytes: u64,
    longest: u64,
    dropped: u64,
    /// The packet on the wire, and when it is over.
    serving: Option<(Time, Packet)>,
}

impl Bottleneck {
    fn new(name: &str, parameters: &Value, flows: &[(u64, u64)]) -> Bottleneck {
        let scheme = find(name).unwrap().build(parameters).unwrap();
        let flow = |&(round_trip_ms, starts_ms): &(u64, u64)| Flow {
            sender: scheme.sender(),
            receiver: scheme.receiver(),
            round_trip: Span::from_ms(round_trip_ms),
            starts: Time::ZERO + Span::from_ms(starts_ms + 1),
            delivered: 0,
            retransmissions: 0,
            back: VecDeque::new(),
        };
        Bottleneck {
            now: Time::ZERO,
            flows: flows.iter().map(flow).collect(),
            router: Scheme::router(&*scheme, NodeId(0), &OUTLET).unwrap(),
            queue: VecDeque::new(),
            bytes: 0,
            longest: 0,
            dropped: 0,
            serving: None,
        }
    }

    /// Runs until `end`; returns how many bytes each flow delivered meanwhile.
    fn run_until(&mut self, end: Span) -> Vec<f64> {
        let before: Vec<u64> = self.flows.iter().map(|flow| flow.delivered).collect();
        loop {
            let next = self.next();
            if next > Time::ZERO + end {
                let after = self.flows.iter().zip(before);
                return after.map(|(flow, before)| (flow.delivered - before) as f64).collect();
            }
            self.now = next;
            self.step();
        }
    }

    fn next(&self) -> Time {
        let of = |flow: &Flow| {
            let starts = Some(flow.starts).filter(|starts| *starts > self.now);
            let timers = [flow.sender.poll_timeout(), flow.receiver.poll_timeout(), starts];
            timers.into_iter().flatten().chain(flow.back.front().map(|(at, _)| *at)).min()
        };
        let served = self.serving.as_ref().map(|(at, _)| *at);
        self.flows.iter().filter_map(of).chain(served).min().unwrap_or(Time::NEVER).max(self.now)
    }

    fn step(&mut self) {
        let now = self.now;
        if let Some((_, packet)) = self.serving.take_if(|(at, _)| *at <= now) {
            let flow = &mut self.flows[packet.flow.index()];
            flow.delivered += flow.receiver.on_segment(now, &packet.segment).bytes;
        }
        for index in 0..self.flows.len() {
            let flow = &mut self.flows[index];
            if flow.receiver.poll_timeout().is_some_and(|at| at <= now) {
                flow.receiver.on_timeout(now);
            }
            while let Some(segment) = flow.receiver.poll_segment(now) {
                flow.back.push_back((now + flow.round_trip, segment));
            }
            while flow.back.front().is_some_and(|(at, _)| *at <= now)
                && let Some((_, segment)) = flow.back.pop_front()
            {
                flow.sender.on_segment(now, &segment);
            }
            if flow.sender.poll_timeout().is_some_and(|at| at <= now) {
                flow.sender.on_timeout(now);
            }
            if flow.starts <= now && flow.sender.backlog() < 1 << 20 {
                flow.sender.push(now, 1 << 20);
            }
            while let Some(segment) = self.flows[index].sender.poll_segment(now) {
                self.flows[index].retransmissions += u64::from(segment.retransmission);
                self.enqueue(Packet {
                    segment,
                    flow: FlowId(index as u32),
                    port: Port::Receiver,
                    source: NodeId(0),
                    destination: NodeId(1),
                    size: segment.payload + segment.header,
                    number: 0,
                    created: now,
                    hops: 0,
                });
            }
        }
        self.serve();
    }

    fn enqueue(&mut self, mut packet: Packet) {
        let view = LinkView { queue_bytes: self.bytes, ..LinkView::default() };
        assert_eq!(self.router.on_arrival(self.now, &mut packet, &view), Verdict::Pass);
        if self.queue.len() >= OUTLET.queue_limit {
            self.dropped += 1;
            return;
        }
        self.bytes += u64::from(packet.size);
        self.longest = self.longest.max(self.bytes);
        self.queue.push_back(packet);
        self.serve();
    }

    fn serve(&mut self) {
        if self.serving.is_none()
            && let Some(mut packet) = self.queue.pop_front()
        {
            self.bytes -= u64::from(packet.size);
            let view = LinkView { queue_bytes: self.bytes, ..LinkView::default() };
            self.router.on_head_of_line(self.now, &mut packet, &view);
            self.serving = Some((self.now + OUTLET.rate.span_of_bytes(u64::from(packet.size)), packet));
        }
    }
}

/// What the payload of full packets can have of the link.
fn share_of_payload(headers: f64) -> f64 {
    1460.0 / (1460.0 + headers)
}

fn seconds(seconds: u64) -> Span {
    Span::from_ms(1_000 * seconds)
}

/// Round trips of 40 and 80 ms at 10 Mb/s: equal shares, a full link, and no loss (Katabi, Handley and Rohrs 2002, section 5).
#[test]
fn xcp_shares_a_link_equally_between_unequal_round_trips() {
    for (name, parameters) in [("xcp", json!({ "window": 500 })), ("xcp-winf", json!({ "window": 500 }))] {
        let mut link = Bottleneck::new(name, &parameters, &[(40, 0), (80, 0)]);
        link.run_until(seconds(10));
        let delivered = link.run_until(seconds(20));
        let fair = 10.0 * CAPACITY * share_of_payload(72.0) / 2.0;
        for flow in &delivered {
            assert!((flow / fair - 1.0).abs() < 0.05, "{name}: {delivered:?} of {fair}");
        }
        assert!(delivered.iter().sum::<f64>() > 0.95 * 2.0 * fair, "{name}: {delivered:?} of {fair}");
        assert_eq!((link.dropped, link.flows[0].retransmissions), (0, 0), "{name}");
    }
}

/// A flow that comes later gets its share, and the first gives it up.
#[test]
fn xcp_makes_room_for_a_new_flow() {
    let mut link = Bottleneck::new("xcp", &json!({ "window": 500 }), &[(60, 0), (60, 10_000)]);
    let alone = link.run_until(seconds(10));
    assert!(alone[0] > 0.9 * 10.0 * CAPACITY * share_of_payload(72.0), "{alone:?}");
    link.run_until(seconds(20));
    let both = link.run_until(seconds(25));
    assert!((both[0] / both[1] - 1.0).abs() < 0.1, "{both:?}");
    assert_eq!(link.dropped, 0);
}

/// N flows that begin together have C / N each after about ten round trips, and the queue drains.
#[test]
fn rcp_gives_each_of_n_flows_its_part_within_ten_round_trips() {
    for count in [1, 4, 10] {
        let flows = vec![(100, 0); count];
        let mut link = Bottleneck::new("rcp", &json!({}), &flows);
        link.run_until(Span::from_ms(2_000));
        let delivered = link.run_until(seconds(6));
        let fair = 4.0 * CAPACITY * share_of_payload(64.0) / count as f64;
        for flow in &delivered {
            assert!((flow / fair - 1.0).abs() < 0.1, "{count} flows: {delivered:?} of {fair}");
        }
        link.longest = 0;
        link.run_until(seconds(20));
        assert!(link.longest < 15_000, "{count} flows: {}", link.longest);
    }
}

/// The queue alone tells XCP-b what the link carries: it fills it, and shares it.
#[test]
fn xcp_b_fills_a_link_that_it_does_not_know() {
    let mut link = Bottleneck::new("xcp-b", &json!({ "window": 500 }), &[(40, 0), (80, 0)]);
    link.run_until(seconds(20));
    let delivered = link.run_until(seconds(40));
    let fair = 20.0 * CAPACITY * share_of_payload(72.0) / 2.0;
    assert!(delivered.iter().sum::<f64>() > 0.9 * 2.0 * fair, "{delivered:?} of {fair}");
    assert_eq!(link.dropped, 0);
}
