//! Router policies: how a forwarding node inspects, marks and drops packets.

use crate::{Estimator, LinkView, PhyTimes};
use multihop_core::{Carrier, LinkEvent, NodeId, Packet, Rate, Span, Time};

/// A policy's decision about a packet.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Verdict {
    /// Forward the packet unchanged.
    #[default]
    Pass,
    /// Set congestion experienced if the transport understands ECN.
    Mark,
    /// Discard the packet.
    Drop,
}

/// Link behind a queue. Each queue of a node has its own policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EgressQueue {
    /// Bit rate of the link: the PHY's data rate, or that of a wire.
    pub rate: Rate,
    /// Whether the link is a wire, for which no MAC reports events.
    pub is_wired: bool,
    /// Length of the queue in packets.
    pub queue_limit: usize,
    /// RTS threshold: smallest packet, in bytes at the network layer, before which the MAC sends an RTS; none
    /// without RTS.
    pub rts_from: Option<u32>,
    /// Whether the radio aggregates the packets that are queued for a neighbour.
    pub aggregates: bool,
    /// Seed of the policy's random streams, unique within the run.
    pub seed: u64,
}

/// Time and neighbour of a packet's hop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// Current time.
    pub now: Time,
    /// Other end of the hop: the next or the previous node.
    pub peer: NodeId,
}

/// Broadcast from a policy to the policies of the same scheme at all nodes that receive it, without
/// acknowledgement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Notice {
    /// Protocol that carries the notice.
    pub carrier: Carrier,
    /// Content, in the scheme's own layout.
    pub content: Vec<u8>,
    /// Number of leading bytes of the content that are on the air. Simulated nodes also read the others.
    pub air: usize,
    /// Length above the MAC in bytes, IP header included. Content beyond it is cut.
    pub size: u32,
}

/// Side of a queue that a packet passes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum QueueEvent {
    /// The packet is about to enter the queue.
    Enqueue,
    /// The packet has just left the queue.
    Dequeue,
}

/// State of a DATA frame before its transmission or retransmission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure {
    /// Time at which the first bit is sent.
    pub now: Time,
    /// Time since the MAC dequeued the packet.
    pub service_so_far: Span,
    /// Airtime of the DATA frame.
    pub data: Span,
    /// Airtime of the acknowledgement.
    pub ack: Span,
    /// Short interframe space between DATA and acknowledgement.
    pub sifs: Span,
    /// Propagation delay to the next hop; zero if the medium computes delays from distances.
    pub propagation: Span,
    /// Airtime of a whole successful exchange (`T_SL`), from the first bit of the RTS, if one is used.
    pub exchange: Span,
    /// Mean waiting time of a frame without contention: interframe space and back-off from the first window.
    pub access: Span,
    /// Number of RTS transmissions of this frame so far.
    pub rts_tries: u32,
    /// Number of RTS transmissions without a CTS.
    pub rts_failures: u32,
    /// Number of earlier DATA transmissions of this frame.
    pub data_tries: u32,
}

impl Departure {
    /// Service delay of the frame (He et al. 2017, Eq. 6) if this DATA is acknowledged at once: delay so far,
    /// DATA, SIFS, ACK and two propagation delays. The paper omits the SIFS of 10 us and counts propagation
    /// once; this value equals the later [`multihop_core::Exchange::service_delay`] to the nanosecond.
    pub fn predicted_service_delay(&self) -> Span {
        self.service_so_far + self.data + self.sifs + self.ack + self.propagation * 2
    }
}

/// Policy of a forwarding node for the packets of one scheme's flows at one queue. Methods are called at four
/// instants of a packet's passage, and may change the packet's headers.
pub trait RouterPolicy: Send {
    /// Estimators whose values the policy reads from its views, for a node with this PHY. They run from the
    /// start of the run.
    fn estimators(&self, _phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        Vec::new()
    }
    /// Called before the packet enters the interface queue.
    fn on_arrival(&mut self, _hop: Hop, _packet: &mut Packet, _view: &LinkView) -> Verdict {
        Verdict::Pass
    }
    /// Called after the MAC has dequeued the packet.
    fn on_head_of_line(&mut self, _hop: Hop, _packet: &mut Packet, _view: &LinkView) -> Verdict {
        Verdict::Pass
    }
    /// Extra back-off before the first transmission of this packet's frame, called once
    /// [`on_head_of_line`](RouterPolicy::on_head_of_line) let the packet pass. The MAC rounds it up to slots,
    /// which freeze while the medium is busy. Radios only.
    fn extra_backoff(&self, _packet: &Packet) -> Span {
        Span::ZERO
    }
    /// Called before each transmission of the packet's DATA frame. `Verdict::Drop` counts as `Verdict::Pass`,
    /// as the station has already won the medium.
    fn on_data(&mut self, _departure: &Departure, _packet: &mut Packet, _view: &LinkView) -> Verdict {
        Verdict::Pass
    }
    /// Whether the policy processes events of the medium: [`LinkEvent::Decoded`], [`LinkEvent::Reported`],
    /// busy periods and NAVs. Otherwise [`on_link`](RouterPolicy::on_link) may not receive them, so that
    /// frames of other stations cost less.
    fn senses_medium(&self) -> bool {
        true
    }
    /// Called when the packet was received by radio and acknowledged, before it is forwarded or delivered.
    fn on_received(&mut self, _hop: Hop, _packet: &mut Packet, _view: &LinkView) -> Verdict {
        Verdict::Pass
    }
    /// Called when a packet of `size` bytes of another scheme or of a routing protocol passes the queue.
    fn on_other(&mut self, _now: Time, _event: QueueEvent, _size: u32, _view: &LinkView) {}
    /// Called when the backlog for a next hop changed by this many bytes: queued packets of all flows, and
    /// the packet in transmission.
    fn on_backlog(&mut self, _now: Time, _next_hop: NodeId, _bytes: i64) {}
    /// Processes an event of the node's MAC.
    fn on_link(&mut self, _event: &LinkEvent) {}
    /// Called with the [`Notice::content`] that a neighbour's policy of the same scheme sent.
    fn on_notice(&mut self, _now: Time, _from: NodeId, _content: &[u8]) {}
    /// Next notice to broadcast, if any; called from the time of [`next_notice`](RouterPolicy::next_notice)
    /// on, until it returns none. Radios only.
    fn poll_notice(&mut self, _now: Time) -> Option<Notice> {
        None
    }
    /// Time of the next notice, if any.
    fn next_notice(&self) -> Option<Time> {
        None
    }
    /// Called when the node was switched on again: forgets all state.
    fn on_restart(&mut self, _now: Time) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A policy without any action.
    struct Silent;

    impl RouterPolicy for Silent {}

    #[test]
    fn a_silent_policy_changes_nothing_and_is_never_due() {
        let mut silent = Silent;
        assert_eq!(silent.next_notice(), None);
        assert!(silent.poll_notice(Time::ZERO).is_none());
    }

    /// 5 ms of service, 1500 bytes at 11 Mb/s with a long preamble (1303 us), SIFS, an ACK at 1 Mb/s (304
    /// us), 2 us each way.
    #[test]
    fn the_predicted_service_delay_ends_with_the_acknowledgement() {
        let us = Span::from_us;
        let departure = Departure {
            now: Time::ZERO,
            service_so_far: us(5_000),
            data: us(1_303),
            ack: us(304),
            sifs: us(10),
            propagation: us(2),
            exchange: us(2_000),
            access: us(360),
            rts_tries: 1,
            rts_failures: 0,
            data_tries: 0,
        };
        assert_eq!(departure.predicted_service_delay(), us(6_621));
    }
}
