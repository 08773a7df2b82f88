//! Packets that belong to no flow: messages of routing protocols, and notices of router policies.

use super::{Stack, StackContext};
use crate::agenda::{Agenda, Lane, Slot};
use crate::slab::{Datagram, Handle, IpFields, PacketContent};
use multihop_core::{Dscp, FlowId, NodeId, Packet, Port, Segment, Time};
use multihop_link::Notice;

/// Schedule of router policies' notices.
#[derive(Debug)]
pub(super) struct Notices {
    slot: Slot,
    /// Time for which the slot is armed.
    armed: Option<Time>,
}

impl Stack {
    /// Sets the slot at which router policies are polled for notices.
    pub fn notify_by(&mut self, slot: Slot, agenda: &mut Agenda) {
        self.notices = Some(Notices { slot, armed: None });
        self.arm_notices(Time::ZERO, agenda);
    }

    /// Sends the notices of router policies that are due.
    pub fn on_notice_due(&mut self, around: &mut StackContext) {
        while let Some((scheme, notice)) = self.policies.poll_notice(around.now) {
            let Notice { carrier, content, air, size } = notice;
            let ip = IpFields { source: self.id, destination: NodeId::BROADCAST, ttl: 1 };
            let notice = Datagram::new(carrier, ip, content, air);
            let content = PacketContent::Notice { scheme, notice };
            self.send_control(around, FlowId::SIGNALLING, content, size, NodeId::BROADCAST);
        }
        if let Some(notices) = &mut self.notices {
            notices.armed = None;
        }
        self.arm_notices(around.now, around.agenda);
    }

    /// Updates the slot, because policies may have changed the time of their next notice.
    #[inline]
    pub(super) fn arm_notices(&mut self, now: Time, agenda: &mut Agenda) {
        let Some(notices) = &mut self.notices else { return };
        let next = if self.off { None } else { self.policies.next_notice().map(|at| at.max(now)) };
        if next == notices.armed {
            return;
        }
        notices.armed = next;
        match next {
            Some(at) => agenda.arm(notices.slot, at, Lane::Upper),
            None => agenda.disarm(notices.slot),
        }
    }

    /// Handles a message from a neighbour.
    pub(super) fn take_message(&mut self, around: &mut StackContext, handle: Handle) {
        let (packet, content) = around.packets.remove_control(handle);
        match &content {
            PacketContent::Routing(message) => self.take_routing(around.now, packet.source, message),
            PacketContent::Notice { scheme, notice } => {
                self.policies.on_notice(around.now, packet.source, *scheme, notice.bytes());
            }
            PacketContent::Arp => self.take_arp(around, &packet),
            PacketContent::Outside => around.record.heard(self.id, &packet, around.now),
        }
    }

    /// Sends an injected frame to a neighbour, or to all.
    pub fn emit_frame(&mut self, around: &mut StackContext, number: u64, size: u32, to: NodeId) {
        let handle =
            self.control_packet(around, (FlowId::OUTSIDE, Port::Receiver), PacketContent::Outside, size, to);
        around.packets.get_mut(handle).packet.number = number;
        self.send(around, handle);
    }

    /// Sends a message to a neighbour, or to all.
    pub(super) fn send_control(
        &mut self,
        around: &mut StackContext,
        flow: FlowId,
        content: PacketContent,
        size: u32,
        to: NodeId,
    ) {
        let handle = self.control_packet(around, (flow, Port::Receiver), content, size, to);
        self.send(around, handle);
    }

    /// Creates a packet that belongs to no flow, as sent by this node now.
    pub(super) fn control_packet(
        &self,
        around: &mut StackContext,
        (flow, port): (FlowId, Port),
        content: PacketContent,
        size: u32,
        to: NodeId,
    ) -> Handle {
        // Network control has CS6 (RFC 4594, section 3.2) where queues differ by DSCP; an ARP request is no
        // IP packet.
        let marked = self.queues.has_categories() && flow != FlowId::ARP;
        let dscp = if marked { Dscp::CS6 } else { Dscp::default() };
        let packet = Packet {
            segment: Segment { dscp, ..Segment::default() },
            flow,
            port,
            source: self.id,
            destination: to,
            size,
            number: 0,
            created: around.now,
            hops: 0,
        };
        around.record.control_sent(self.id, &packet, around.now);
        around.packets.insert_control(packet, content)
    }
}
