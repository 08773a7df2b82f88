//! The interface of a congestion control.

use multihop_core::{HeaderBytes, Rate, Segment, Span, Time};

/// How much a sender may have in the network, and how fast it may send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowance {
    /// Bytes that may be outstanding.
    pub window: u64,
    /// Pacing rate; none for back-to-back sending as the window allows.
    pub pace: Option<Rate>,
}

/// A segment was handed to the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// Now.
    pub now: Time,
    /// Payload bytes.
    pub size: u64,
    /// Bytes of the packet, headers included: what a pace is measured in.
    pub packet: u64,
    /// Payload bytes outstanding, this segment included.
    pub in_flight: u64,
    /// It repeats payload that was sent before.
    pub retransmission: bool,
    /// The application had held the sender back before it. Known with [`crate::TcpOptions::delivery_rate`].
    pub app_limited: bool,
}

/// An acknowledgement arrived, within loss recovery or outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AckInfo {
    /// Now.
    pub now: Time,
    /// Payload bytes newly acknowledged; none for a duplicate acknowledgement, which says that a segment left
    /// the network.
    pub advance: Option<u64>,
}

/// Data was delivered: an acknowledgement, within loss recovery or outside, covers bytes, cumulatively or
/// selectively, that none before it did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// Now.
    pub now: Time,
    /// Payload bytes newly delivered.
    pub size: u64,
    /// Payload bytes delivered since the connection began.
    pub delivered: u64,
    /// What `delivered` was when the newest of the segments was sent.
    pub prior_delivered: u64,
    /// A sample of the delivery rate in payload bytes per second, if this acknowledgement gave one
    /// (draft-cheng-iccrg-delivery-rate-estimation-00).
    pub rate: Option<f64>,
    /// The newest segment was sent while the application held the sender back: the path may be faster than
    /// `rate`.
    pub app_limited: bool,
    /// The round trip of the newest segment, if it was sent once (Karn).
    pub rtt: Option<Span>,
    /// Payload bytes believed to be in the network before the acknowledgement: sent, and neither delivered
    /// nor lost.
    pub in_flight_before: u64,
    /// The same after it.
    pub in_flight: u64,
    /// Payload bytes that the acknowledgement showed to be lost.
    pub lost: u64,
    /// Something lost is still being repaired, after duplicate acknowledgements or a timeout.
    pub recovering: bool,
}

/// New data was acknowledged outside loss recovery.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acked {
    /// Now.
    pub now: Time,
    /// Payload bytes newly acknowledged.
    pub size: u64,
    /// Payload bytes newly delivered: acknowledged, cumulatively or selectively, and not selectively before.
    pub fresh: u64,
    /// A valid round-trip sample (Karn), if this acknowledgement gave one.
    pub rtt: Option<Span>,
    /// Smoothed round-trip time, once there is a sample.
    pub srtt: Option<Span>,
    /// Payload bytes outstanding after it.
    pub in_flight: u64,
    /// The sender had less to send than it was allowed to.
    pub app_limited: bool,
    /// The acknowledgement carried ECN-Echo.
    pub ecn_echo: bool,
    /// Hops that the acknowledgement took.
    pub hops: u16,
}

impl Acked {
    /// So many payload bytes came in order: nothing of them was known before, and nothing else is known.
    pub fn in_order(now: Time, size: u64) -> Acked {
        let (rtt, srtt, in_flight, app_limited, ecn_echo, hops) = (None, None, 0, false, false, 0);
        Acked { now, size, fresh: size, rtt, srtt, in_flight, app_limited, ecn_echo, hops }
    }
}

/// How a loss was noticed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LossKind {
    /// Duplicate acknowledgements or SACK blocks: recovery begins.
    DuplicateAcks,
    /// The retransmission timer expired.
    Timeout {
        /// The timer had already expired for the same segment: the threshold is not to be halved again (RFC
        /// 5681, section 3.1).
        again: bool,
    },
}

/// A loss was noticed; reported once per episode, before anything is retransmitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lost {
    /// Now.
    pub now: Time,
    /// How it was noticed.
    pub kind: LossKind,
    /// Payload bytes outstanding when it was noticed (`FlightSize`).
    pub in_flight: u64,
}

/// Loss recovery that duplicate acknowledgements began has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recovered {
    /// Now.
    pub now: Time,
    /// Payload bytes outstanding.
    pub in_flight: u64,
    /// What recovery asks a window-based controller not to exceed, in bytes (RFC 6582, section 3.2, step 3).
    pub window: u64,
}

/// Congestion was echoed; reported at most once per window of data (RFC 3168, section 6.1.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marked {
    /// Now.
    pub now: Time,
    /// Payload bytes outstanding.
    pub in_flight: u64,
}

/// An acknowledgement brought a congestion header back, whether it acknowledges anything new or not; or the
/// answer to a SYN did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Returned<'a> {
    /// Now.
    pub now: Time,
    /// The acknowledgement: its congestion header is in `feedback`; routers may have marked it as well.
    pub segment: &'a Segment,
    /// A valid round-trip sample (Karn), if this acknowledgement gave one.
    pub rtt: Option<Span>,
    /// The sender has less to send than it is allowed to.
    pub app_limited: bool,
}

/// A sender's congestion control. It sees what its own endpoint and its own MAC saw, and nothing else.
///
/// Invariants, which every implementation is fuzzed for: the window never falls below one segment, the pace
/// is finite and positive, and no timer lies in the past.
pub trait Controller: Send {
    /// What may be sent now.
    fn allowance(&self) -> Allowance;
    /// Slow-start threshold in bytes, for the record; none if the scheme has no such thing.
    fn slow_start_threshold(&self) -> Option<u64> {
        None
    }
    /// A segment that was sent longer ago than this is taken for lost at the first duplicate acknowledgement;
    /// needs [`crate::TcpOptions::time_every_segment`].
    fn fine_grained_rto(&self) -> Option<Span> {
        None
    }
    /// The connection is open: the SYN was answered after `rtt`. It carried no data.
    fn on_opened(&mut self, _rtt: Span) {}
    /// A segment was handed to the network. A pace that the allowance names afterwards holds for what follows
    /// it.
    fn on_sent(&mut self, _sent: &Sent) {}
    /// An acknowledgement arrived; called before anything else that it means.
    fn on_ack(&mut self, _ack: &AckInfo) {}
    /// New data was acknowledged.
    fn on_acked(&mut self, acked: &Acked);
    /// Data was delivered; called after everything else that the acknowledgement means, but for its
    /// congestion header. Needs [`crate::TcpOptions::delivery_rate`].
    fn on_delivered(&mut self, _delivery: &Delivery) {}
    /// The controller uses less of the path than it could, of its own will: rates of what is sent now are
    /// marked as if the application had held it back.
    fn marks_app_limited(&self) -> bool {
        false
    }
    /// A loss was noticed.
    fn on_lost(&mut self, lost: &Lost);
    /// Recovery has ended.
    fn on_recovered(&mut self, _recovered: &Recovered) {}
    /// The application starts again after the sender was idle for longer than a retransmission timeout (RFC
    /// 5681, section 4.1).
    fn on_idle(&mut self, _now: Time) {}
    /// Congestion was echoed.
    fn on_marked(&mut self, _marked: &Marked) {}
    /// The congestion header of a segment of `size` payload bytes that leaves now; of a SYN or a
    /// [refresh](Controller::refresh), of none.
    fn stamp(&mut self, _size: u64) -> HeaderBytes {
        HeaderBytes::NONE
    }
    /// A congestion header came back.
    fn on_feedback(&mut self, _returned: &Returned) {}
    /// While pacing holds data back: how long after the last header to send one without data, so that what is
    /// known of the path does not become older than that. Only with recovery from selective acknowledgements,
    /// to which repeated acknowledgements mean nothing.
    fn refresh(&self) -> Option<Span> {
        None
    }
}
