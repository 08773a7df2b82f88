//! Events of a node's MAC, as estimators in Python read them. Times are seconds; pairs are start and end.

use multihop_core as core;
use multihop_core::{FlowId, Interval, NodeId};
use pyo3::prelude::*;

/// Start and end of an interval in seconds.
fn pair(interval: Interval) -> (f64, f64) {
    (interval.start.seconds(), interval.end.seconds())
}

/// Attempt to deliver a frame to its next hop.
#[pyclass(frozen, get_all, module = "multihop")]
#[derive(Clone)]
pub struct Attempt {
    node: u32,
    peer: u32,
    flow: u32,
    contention_window: u32,
    slots: u32,
    rts_s: Option<(f64, f64)>,
    cts_s: Option<(f64, f64)>,
    data_s: Option<(f64, f64)>,
    ack_s: Option<(f64, f64)>,
}

impl From<&core::Attempt> for Attempt {
    fn from(attempt: &core::Attempt) -> Attempt {
        let core::Attempt { node: NodeId(node), peer: NodeId(peer), flow: FlowId(flow), .. } = *attempt;
        Attempt {
            node,
            peer,
            flow,
            contention_window: attempt.cw,
            slots: attempt.slots,
            rts_s: attempt.rts.map(pair),
            cts_s: attempt.cts.map(pair),
            data_s: attempt.data.map(pair),
            ack_s: attempt.ack.map(pair),
        }
    }
}

/// Life of a frame at its sender.
#[pyclass(frozen, get_all, module = "multihop")]
#[derive(Clone)]
pub struct Exchange {
    node: u32,
    peer: u32,
    flow: u32,
    size_bytes: u32,
    payload_bytes: u32,
    rate_bps: u64,
    enqueued_s: f64,
    head_of_line_s: f64,
    done_s: f64,
    service_delay_s: f64,
    queueing_delay_s: f64,
    airtime_s: f64,
    fate: &'static str,
    rts_tries: u32,
    rts_failures: u32,
    data_tries: u32,
    slots: u32,
    mpdus: u32,
}

impl From<&core::Exchange> for Exchange {
    fn from(exchange: &core::Exchange) -> Exchange {
        let core::Exchange { node: NodeId(node), peer: NodeId(peer), flow: FlowId(flow), .. } = *exchange;
        Exchange {
            node,
            peer,
            flow,
            size_bytes: exchange.size,
            payload_bytes: exchange.payload,
            rate_bps: exchange.rate.bps(),
            enqueued_s: exchange.enqueued.seconds(),
            head_of_line_s: exchange.head_of_line.seconds(),
            done_s: exchange.done.seconds(),
            service_delay_s: exchange.service_delay().seconds(),
            queueing_delay_s: exchange.queueing_delay().seconds(),
            airtime_s: exchange.airtime.seconds(),
            fate: match exchange.fate {
                core::Fate::Acknowledged => "acknowledged",
                core::Fate::Broadcast => "broadcast",
                core::Fate::GivenUp => "given-up",
            },
            rts_tries: exchange.rts_tries,
            rts_failures: exchange.rts_failures,
            data_tries: exchange.data_tries,
            slots: exchange.slots,
            mpdus: exchange.mpdus,
        }
    }
}

/// Frame that the node decoded.
#[pyclass(frozen, get_all, module = "multihop")]
#[derive(Clone)]
pub struct Frame {
    node: u32,
    kind: &'static str,
    sender: u32,
    receiver: Option<u32>,
    flow: Option<u32>,
    size_bytes: u32,
    rate_bps: u64,
    start_s: f64,
    end_s: f64,
    duration_s: f64,
}

impl From<&core::DecodedFrame> for Frame {
    fn from(frame: &core::DecodedFrame) -> Frame {
        use core::FrameKind::{Ack, BlockAck, BlockAckRequest, CfEnd, Cts, Data, Rts};
        let (start_s, end_s) = pair(frame.air);
        Frame {
            node: frame.node.0,
            kind: match frame.kind {
                Rts => "rts",
                Cts => "cts",
                Data => "data",
                Ack => "ack",
                BlockAckRequest => "block-ack-request",
                BlockAck => "block-ack",
                CfEnd => "cf-end",
            },
            sender: frame.from.0,
            receiver: frame.to.map(|to| to.0),
            flow: frame.flow.map(|flow| flow.0),
            size_bytes: frame.size,
            rate_bps: frame.rate.bps(),
            start_s,
            end_s,
            duration_s: frame.duration.seconds(),
        }
    }
}

/// Interval of time.
#[pyclass(frozen, get_all, module = "multihop")]
#[derive(Clone)]
pub struct Period {
    start_s: f64,
    end_s: f64,
}

impl From<&Interval> for Period {
    fn from(interval: &Interval) -> Period {
        let (start_s, end_s) = pair(*interval);
        Period { start_s, end_s }
    }
}

/// Loss of a packet at the node.
#[pyclass(frozen, get_all, module = "multihop")]
#[derive(Clone)]
pub struct Loss {
    node: u32,
    flow: u32,
    size_bytes: u32,
    now_s: f64,
    cause: &'static str,
}

impl From<&core::Dropped> for Loss {
    fn from(dropped: &core::Dropped) -> Loss {
        Loss {
            node: dropped.node.0,
            flow: dropped.flow.0,
            size_bytes: dropped.size,
            now_s: dropped.at.seconds(),
            cause: dropped.cause.name(),
        }
    }
}

/// Arrival of a data packet at its destination.
#[pyclass(frozen, get_all, module = "multihop")]
#[derive(Clone)]
pub struct Arrival {
    node: u32,
    flow: u32,
    number: u64,
    size_bytes: u32,
    sent_s: f64,
    now_s: f64,
}

impl From<&core::Arrived> for Arrival {
    fn from(arrived: &core::Arrived) -> Arrival {
        Arrival {
            node: arrived.node.0,
            flow: arrived.flow.0,
            number: arrived.number,
            size_bytes: arrived.size,
            sent_s: arrived.sent.seconds(),
            now_s: arrived.at.seconds(),
        }
    }
}
