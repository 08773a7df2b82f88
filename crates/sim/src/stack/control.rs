//! Packets that belong to no flow: messages of routing protocols, notices of router policies, and probes.

use super::{Stack, StackContext};
use crate::agenda::{Agenda, Lane, Slot};
use crate::slab::{Datagram, Handle, IpFields, PacketContent};
use multihop_core::{Dscp, FlowId, NodeId, Packet, Port, Segment, Time};
use multihop_link::Notice;

/// Schedule of router policies' notices and of probes.
#[derive(Debug)]
pub(super) struct Notices {
    slot: Slot,
    /// Time for which the slot is armed.
    armed: Option<Time>,
}

impl Stack {
    /// Sets the slot at which router policies are polled for notices, and probes are sent.
    pub fn notify_by(&mut self, slot: Slot, agenda: &mut Agenda) {
        self.notices = Some(Notices { slot, armed: None });
        self.arm_notices(Time::ZERO, agenda);
    }

    /// Sends the notices of router policies and the probes that are due.
    pub fn on_notice_due(&mut self, around: &mut StackContext) {
        while let Some((scheme, notice)) = self.policies.poll_notice(around.now) {
            let Notice { carrier, content, air, size } = notice;
            let ip = IpFields { source: self.id, destination: NodeId::BROADCAST, ttl: 1 };
            let notice = Datagram::new(carrier, ip, content, air);
            let content = PacketContent::Notice { scheme, notice };
            self.send_control(around, FlowId::SIGNALLING, content, size, NodeId::BROADCAST);
        }
        self.send_probes(around);
        if let Some(notices) = &mut self.notices {
            notices.armed = None;
        }
        self.arm_notices(around.now, around.agenda);
    }

    /// Updates the slot, because policies may have changed the time of their next notice.
    #[inline]
    pub(super) fn arm_notices(&mut self, now: Time, agenda: &mut Agenda) {
        let Some(notices) = &mut self.notices else { return };
        let probe = self.probes.as_ref().and_then(|probes| probes.next());
        let next = self.policies.next_notice().into_iter().chain(probe).min();
        let next = next.filter(|_| !self.off).map(|at| at.max(now));
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
            PacketContent::Probe => {}
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
        // IP packet, and a probe is sent as data is.
        let marked = self.queues.has_categories() && !matches!(flow, FlowId::ARP | FlowId::PROBES);
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
