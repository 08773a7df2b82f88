//! What a forwarding node does to packets.

use crate::{Estimator, LinkView, PhyTimes};
use multihop_core::{Carrier, LinkEvent, NodeId, Packet, Rate, Span, Time};

/// A policy's decision about a packet.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Verdict {
    /// Leave it as it is.
    #[default]
    Pass,
    /// Set congestion experienced, if its transport understands ECN.
    Mark,
    /// Discard it.
    Drop,
}

/// What a queue leads to. A policy exists once for each queue of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EgressQueue {
    /// Bit rate of what is behind the queue: the PHY's data rate, or that of a wire.
    pub rate: Rate,
    /// It is a wire, of which no MAC reports anything.
    pub is_wired: bool,
    /// Packets that fit into the queue.
    pub queue_limit: usize,
    /// The least size of packets, in bytes at the network layer, before which the MAC sends RTS; none if it
    /// never does.
    pub rts_from: Option<u32>,
    /// An exchange of the radio carries as many packets as wait for a neighbour, and not one.
    pub aggregates: bool,
    /// Seed of the policy's random streams, which no other policy of the run has.
    pub seed: u64,
}

/// When a packet crosses a hop, and between which nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// Now.
    pub now: Time,
    /// The other end of the hop: where a packet goes next, or came from.
    pub peer: NodeId,
}

/// What a policy signals to the policies of the same scheme at all nodes that receive it, in a broadcast
/// without acknowledgement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Notice {
    /// What carries it.
    pub carrier: Carrier,
    /// What it says, in the scheme's own layout.
    pub content: Vec<u8>,
    /// How many bytes of the content are on the air, from its first. Simulated nodes share what follows.
    pub air: usize,
    /// Bytes that it takes above the MAC, IP header included. What has no room in them is cut.
    pub size: u32,
}

/// How a packet passes a queue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum QueueEvent {
    /// It is about to enter it.
    Enqueue,
    /// It just left it.
    Dequeue,
}

/// A DATA frame is about to go on the air, for the first time or again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure {
    /// When its first bit will be on the air.
    pub now: Time,
    /// Since the MAC took the packet from the queue.
    pub service_so_far: Span,
    /// Airtime of the DATA frame.
    pub data: Span,
    /// Airtime of its acknowledgement.
    pub ack: Span,
    /// The short inter-frame space between the two.
    pub sifs: Span,
    /// How long a signal takes to the next hop.
    pub propagation: Span,
    /// Airtime of a whole successful exchange (`T_SL`), from the first bit of the RTS, if one is used.
    pub exchange: Span,
    /// What a frame waits without contention, on average: inter-frame space and the back-off from the first
    /// window.
    pub access: Span,
    /// RTS transmissions of this frame so far.
    pub rts_tries: u32,
    /// Those of them that no CTS answered.
    pub rts_failures: u32,
    /// DATA transmissions of this frame before this one.
    pub data_tries: u32,
}

impl Departure {
    /// The frame's service delay (He et al. 2017, Eq. 6) if this DATA is acknowledged at once: the delay so
    /// far plus DATA, SIFS, ACK, and propagation there and back. The paper leaves out the SIFS of 10 us and
    /// counts propagation once; here it is the [`multihop_core::Exchange::service_delay`] that follows, to
    /// the nanosecond.
    pub fn predicted_service_delay(&self) -> Span {
        self.service_so_far + self.data + self.sifs + self.ack + self.propagation * 2
    }
}

/// What a forwarding node does to the packets of one scheme's flows, at one of its queues. It acts at four
/// instants; each method may change the packet's headers.
pub trait RouterPolicy: Send {
    /// The estimators that write what it reads in its views, for a node with this PHY. They watch it from the
    /// start of the run.
    fn estimators(&self, _phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        Vec::new()
    }
    /// The packet is about to enter the interface queue.
    fn on_arrival(&mut self, _hop: Hop, _packet: &mut Packet, _view: &LinkView) -> Verdict {
        Verdict::Pass
    }
    /// The MAC took the packet from the queue.
    fn on_head_of_line(&mut self, _hop: Hop, _packet: &mut Packet, _view: &LinkView) -> Verdict {
        Verdict::Pass
    }
    /// By how much longer than by the MAC's rules the back-off before the first transmission of this packet's
    /// frame is; asked once [`on_head_of_line`](RouterPolicy::on_head_of_line) let it pass. The MAC rounds it
    /// up to slots, which stand still while the medium is busy, as all slots do. Only of policies at radios.
    fn extra_backoff(&self, _packet: &Packet) -> Span {
        Span::ZERO
    }
    /// The packet's DATA frame is about to leave. `Verdict::Drop` is treated as `Verdict::Pass`: the air has
    /// been won.
    fn on_data(&mut self, _departure: &Departure, _packet: &mut Packet, _view: &LinkView) -> Verdict {
        Verdict::Pass
    }
    /// The packet was received from the air, on its way through or up, and acknowledged by the MAC.
    fn on_received(&mut self, _hop: Hop, _packet: &mut Packet, _view: &LinkView) -> Verdict {
        Verdict::Pass
    }
    /// A packet of `size` bytes that is not of this scheme's flows, but another's or a routing protocol's,
    /// passes the queue.
    fn on_other(&mut self, _now: Time, _event: QueueEvent, _size: u32, _view: &LinkView) {}
    /// What waits for a next hop changed by so many bytes: packets in the queue, of whatever flow, and the
    /// one that is being sent.
    fn on_backlog(&mut self, _now: Time, _next_hop: NodeId, _bytes: i64) {}
    /// Something happened at the node's MAC.
    fn on_link(&mut self, _event: &LinkEvent) {}
    /// A neighbour's policy of the same scheme signalled something, as [`Notice::content`].
    fn on_notice(&mut self, _now: Time, _from: NodeId, _content: &[u8]) {}
    /// What there is to signal to the neighbours now; asked when [`next_notice`](RouterPolicy::next_notice)
    /// has come, until there is nothing more. Only of policies at radios.
    fn poll_notice(&mut self, _now: Time) -> Option<Notice> {
        None
    }
    /// When it wants to signal something next.
    fn next_notice(&self) -> Option<Time> {
        None
    }
    /// The node was off, and begins anew: what the policy had in memory is gone.
    fn on_restart(&mut self, _now: Time) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A policy that says nothing.
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
