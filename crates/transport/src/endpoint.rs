//! One end of a flow.

use multihop_core::{LinkEvent, Segment, Span, Time};

/// What a receiver passed to its application.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delivered {
    /// Payload bytes without duplicates; of a stream, in order.
    pub bytes: u64,
    /// Place of the first of them among all that the other end's application handed over, from 0.
    pub offset: u64,
}

/// Counters and gauges of a sender, for the record.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Payload bytes sent for the first time.
    pub sent: u64,
    /// Segments that repeated payload sent before.
    pub retransmissions: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Entries into fast recovery.
    pub recoveries: u64,
    /// Reductions because of ECN-Echo.
    pub ecn_reductions: u64,
    /// Payload bytes acknowledged.
    pub acked: u64,
    /// Congestion window in bytes, as it is used now; none for a sender without one.
    pub window: Option<u64>,
    /// Slow-start threshold in bytes.
    pub slow_start_threshold: Option<u64>,
    /// The latest round-trip sample.
    pub rtt: Option<Span>,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
    /// Round-trip samples so far, and their sum: the mean RTT is their ratio.
    pub rtt_samples: u64,
    /// Sum of the round-trip samples.
    pub rtt_sum: Span,
    /// The rate that a sender allows itself, in payload bytes per second, if it goes by one (TFRC).
    pub allowed_rate: Option<f64>,
    /// The loss event rate that its receiver last reported (RFC 5348, section 5); 0 while nothing was lost.
    pub loss_event_rate: Option<f64>,
}

/// One end of a flow, sans-IO: after each call that changes it, drain `poll_segment` until it is empty, then
/// ask for the next deadline.
///
/// A receiver ignores `push` and `finish`; a sender delivers nothing.
pub trait Endpoint: Send {
    /// The application hands over `bytes` payload bytes to send.
    fn push(&mut self, now: Time, bytes: u64);
    /// The application takes back what it handed over and what was not sent yet.
    fn withdraw(&mut self) {}
    /// Payload bytes that the application handed over and that were not yet sent for the first time. A
    /// saturating application keeps this above zero.
    fn backlog(&self) -> u64;
    /// A segment arrived from the network. Returns what became deliverable.
    fn on_segment(&mut self, now: Time, segment: &Segment) -> Delivered;
    /// This node's MAC gave up a packet with this segment, which this end had sent: it is out of retries, and
    /// the packet is nowhere any more, unless it arrived and all that was lost is the MAC's acknowledgement.
    /// Returns whether something changed, so that the end is to be drained.
    fn on_given_up(&mut self, _now: Time, _segment: &Segment) -> bool {
        false
    }
    /// Does it want to know when what it sent has left its node?
    fn follows_departures(&self) -> bool {
        false
    }
    /// A packet with this segment, which this end had sent, is not in its node any more: the next hop has it,
    /// or it was lost before. Returns whether something changed, so that the end is to be drained.
    fn on_departed(&mut self, _now: Time, _segment: &Segment) -> bool {
        false
    }
    /// The deadline of `poll_timeout` has come.
    fn on_timeout(&mut self, now: Time);
    /// The next segment to put on the network, if any may go now.
    fn poll_segment(&mut self, now: Time) -> Option<Segment>;
    /// When `on_timeout` wants to be called; never in the past. None when nothing is pending.
    fn poll_timeout(&self) -> Option<Time>;
    /// Counters, for the record.
    fn progress(&self) -> Progress;
    /// Does it want to know what happens at its node's MAC?
    fn observes_link(&self) -> bool {
        false
    }
    /// Something happened at its node's MAC, whichever flow it is of.
    fn on_link(&mut self, _event: &LinkEvent) {}
}
