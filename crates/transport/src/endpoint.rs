//! Interface of the two ends of a flow.

use multihop_core::{LinkEvent, Segment, Span, Time};

/// Data that a receiver passed to its application.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delivered {
    /// Number of payload bytes without duplicates; for a stream, in order.
    pub bytes: u64,
    /// Offset of the first byte in the data that the other end's application submitted, from 0.
    pub offset: u64,
}

/// Counters and gauges of a sender, for the record.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Number of payload bytes sent for the first time.
    pub sent: u64,
    /// Number of retransmitted segments.
    pub retransmissions: u64,
    /// Number of expiries of the retransmission timer.
    pub timeouts: u64,
    /// Number of entries into fast recovery.
    pub recoveries: u64,
    /// Number of window reductions by ECN-Echo.
    pub ecn_reductions: u64,
    /// Number of payload bytes acknowledged.
    pub acked: u64,
    /// Congestion window in use, in bytes; none for a sender without one.
    pub window: Option<u64>,
    /// Slow-start threshold in bytes.
    pub slow_start_threshold: Option<u64>,
    /// Latest round-trip sample.
    pub rtt: Option<Span>,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
    /// Number of round-trip samples; with their sum it gives the mean RTT.
    pub rtt_samples: u64,
    /// Sum of the round-trip samples.
    pub rtt_sum: Span,
    /// Time in which the receive window, and not the congestion window, held data back.
    pub receive_limited: Span,
    /// Rate that the sender allows itself in payload bytes per second, if it is rate-based (TFRC).
    pub allowed_rate: Option<f64>,
    /// Loss event rate that the receiver last reported (RFC 5348, section 5); 0 before the first loss.
    pub loss_event_rate: Option<f64>,
}

/// One end of a flow, sans-IO. After each call that changes it, the caller drains `poll_segment` and then
/// asks for the next deadline.
///
/// A receiver ignores `push` and `finish`; a sender delivers nothing.
pub trait Endpoint: Send {
    /// Adds `bytes` payload bytes that the application submits.
    fn push(&mut self, now: Time, bytes: u64);
    /// Removes the submitted data that was not sent yet.
    fn withdraw(&mut self) {}
    /// Number of submitted payload bytes that were not sent yet. A saturating application keeps this above
    /// zero.
    fn backlog(&self) -> u64;
    /// Rate in payload bytes per second at which an encoder should produce data; none if the transport has no
    /// such rate. By default, the rate that the sender allows itself.
    fn encoder_rate(&self) -> Option<f64> {
        self.progress().allowed_rate
    }
    /// Processes a segment from the network. Returns the data that became deliverable.
    fn on_segment(&mut self, now: Time, segment: &Segment) -> Delivered;
    /// Processes the loss of a packet with this segment, which this end had sent: the node's MAC reached the
    /// retry limit. The packet may have arrived if only the MAC's acknowledgement was lost. Returns whether
    /// the end must be drained.
    fn on_given_up(&mut self, _now: Time, _segment: &Segment) -> bool {
        false
    }
    /// Whether this end must be notified when the route to its peer fails.
    fn follows_routes(&self) -> bool {
        false
    }
    /// Processes a failure of the route to the peer: the node's routing protocol learnt that the route is
    /// broken, or the node had no usable route for a packet of this end. Returns whether the end must be
    /// drained.
    fn on_route_failed(&mut self, _now: Time) -> bool {
        false
    }
    /// Whether this end must be notified when its packets leave the node.
    fn follows_departures(&self) -> bool {
        false
    }
    /// Processes the departure of a packet with this segment, which this end had sent: the next hop has
    /// received it, or it was lost before. Returns whether the end must be drained.
    fn on_departed(&mut self, _now: Time, _segment: &Segment) -> bool {
        false
    }
    /// Processes the deadline of `poll_timeout`.
    fn on_timeout(&mut self, now: Time);
    /// Next segment to send, if any may be sent now.
    fn poll_segment(&mut self, now: Time) -> Option<Segment>;
    /// Time at which `on_timeout` must be called; never in the past. None without a deadline.
    fn poll_timeout(&self) -> Option<Time>;
    /// Counters, for the record.
    fn progress(&self) -> Progress;
    /// Whether this end observes the events of its node's MAC.
    fn observes_link(&self) -> bool {
        false
    }
    /// Processes an event of the node's MAC, for any flow.
    fn on_link(&mut self, _event: &LinkEvent) {}
}
