//! Packets, hops and departures that several tests use.

use crate::Scheme;
use multihop_core::{
    Ecn, Exchange, Fate, FlowId, Header, HeaderBytes, LinkEvent, NodeId, Packet, Port, Rate, Segment, Span,
    Time,
};
use multihop_link::{Departure, EgressQueue, Hop, LinkView, PhyTimes, Verdict};
use multihop_transport::Returned;

/// Queue before a radio at 1 Mb/s.
pub const EGRESS: EgressQueue = EgressQueue {
    rate: Rate::from_kbps(1_000),
    is_wired: false,
    queue_limit: 50,
    rts_from: None,
    aggregates: false,
    seed: 1,
};

/// Duration, in microseconds, of DATA (1000 bytes at 1 Mb/s: 8416), ACK (304) and SIFS (10).
pub const REST_US: u64 = 8_416 + 10 + 304;

/// Returns a DATA frame of 1000 bytes at 1 Mb/s whose exchange takes 9406 us: RTS 352, CTS 304, DATA, ACK and
/// three SIFS. The frame's service delay is `service_us` if it is acknowledged; `rts_failures` earlier RTS
/// had no CTS.
pub fn departure(service_us: u64, rts_failures: u32) -> Departure {
    let (data, ack, sifs) = (Span::from_us(8_416), Span::from_us(304), Span::from_us(10));
    Departure {
        now: Time::ZERO,
        service_so_far: Span::from_us(service_us - REST_US),
        data,
        ack,
        sifs,
        propagation: Span::ZERO,
        exchange: Span::from_us(352 + 304 + 20 + REST_US),
        access: Span::from_us(50 + 310),
        rts_tries: rts_failures + 1,
        rts_failures,
        data_tries: 0,
    }
}

/// Returns a hop at this instant, with node 1 as the peer.
pub fn hop(now: Time) -> Hop {
    Hop { now, peer: NodeId(1) }
}

/// Returns the acknowledged exchange of a packet of 1000 bytes of this flow, sent to node 1 at this bit rate.
pub fn sent(flow: FlowId, kbps: u64) -> LinkEvent {
    LinkEvent::Exchange(Exchange {
        node: NodeId(0),
        peer: NodeId(1),
        flow,
        size: 1_000,
        rate: Rate::from_kbps(kbps),
        payload: 960,
        enqueued: Time::ZERO,
        head_of_line: Time::ZERO,
        done: Time::ZERO,
        fate: Fate::Acknowledged,
        rts_tries: 0,
        rts_failures: 0,
        data_tries: 1,
        slots: 0,
        airtime: Span::ZERO,
        mpdus: 1,
    })
}

/// Returns the PHY times of the frame of [`departure`].
pub fn phy() -> PhyTimes {
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
        data_rate: Rate::from_kbps(1_000),
        data_overhead: Span::from_us(192),
        data_header: 28,
    }
}

/// Returns a packet of this payload, with 40 bytes of headers, from node 0 to node 1.
pub fn packet(payload: u32, ecn: Ecn) -> Packet {
    Packet {
        segment: Segment { payload, ecn, ..Segment::default() },
        flow: FlowId(0),
        port: Port::Receiver,
        source: NodeId(0),
        destination: NodeId(1),
        size: payload + 40,
        number: 0,
        created: Time::ZERO,
        hops: 0,
    }
}

/// Returns, for each departure of an ECN-capable data packet from one node, whether the packet is marked.
pub fn marks(scheme: &dyn Scheme, departures: &[(Departure, LinkView)]) -> Vec<bool> {
    let mut router = scheme.router(NodeId(0), &EGRESS).unwrap();
    let mark = |(departure, view): &(Departure, LinkView)| {
        router.on_data(departure, &mut packet(1000, Ecn::Ect0), view) == Verdict::Mark
    };
    departures.iter().map(mark).collect()
}

/// Returns, for each departure, whether the packet is marked, with an empty [`LinkView`].
pub fn marks_of(scheme: &dyn Scheme, departures: &[Departure]) -> Vec<bool> {
    let alone: Vec<_> = departures.iter().map(|departure| (*departure, LinkView::default())).collect();
    marks(scheme, &alone)
}

/// Returns an acknowledgement with this congestion header at the start of the run. The segment is leaked, to
/// live as long as the tests.
pub fn returned(header: &impl Header, rtt: Option<Span>) -> Returned<'static> {
    let segment = Segment { feedback: HeaderBytes::of(header), ..Segment::default() };
    Returned { now: Time::ZERO, segment: Box::leak(Box::new(segment)), rtt, app_limited: false }
}
