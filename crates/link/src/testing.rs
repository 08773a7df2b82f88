//! Link events for scripted timelines; times are in microseconds.

use multihop_core::{
    DecodedFrame, Exchange, Fate, FlowId, FrameKind, Interval, LinkEvent, NodeId, Rate, Span, Time,
};

/// Node that observes the events.
pub(crate) const A: NodeId = NodeId(0);
/// Second node.
pub(crate) const B: NodeId = NodeId(1);
/// Third node.
pub(crate) const C: NodeId = NodeId(2);

/// Instant at this number of microseconds.
pub(crate) fn us(us: u64) -> Time {
    Time::from_ns(us * 1_000)
}

/// Event that `A` decoded a frame: DATA of 1500 bytes of flow 1 at 11 Mb/s, all others at 1 Mb/s.
pub(crate) fn heard(
    kind: FrameKind,
    from: NodeId,
    to: NodeId,
    (start, end): (u64, u64),
    duration: u64,
) -> LinkEvent {
    let is_data = kind == FrameKind::Data;
    LinkEvent::Decoded(DecodedFrame {
        node: A,
        kind,
        from,
        to: Some(to),
        air: Interval { start: us(start), end: us(end) },
        duration: Span::from_us(duration),
        size: if is_data { 1500 } else { 0 },
        flow: is_data.then_some(FlowId(1)),
        rate: Rate::from_kbps(if is_data { 11_000 } else { 1_000 }),
    })
}

/// Exchange of a frame of `size` bytes from `A` to `B` at 11 Mb/s, in the MAC from `start` to `end`.
pub(crate) fn exchange(size: u32, start: u64, end: u64, fate: Fate) -> Exchange {
    Exchange {
        node: A,
        peer: B,
        flow: FlowId(0),
        size,
        rate: Rate::from_kbps(11_000),
        payload: size,
        enqueued: us(start),
        head_of_line: us(start),
        done: us(end),
        fate,
        rts_tries: 1,
        rts_failures: 0,
        data_tries: 1,
        slots: 0,
        airtime: Span::from_us(1_000),
        mpdus: 1,
    }
}
