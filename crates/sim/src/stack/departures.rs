//! What ends hear of the packets that they sent, before any answer: that the MAC gave one up, that one has
//! left the node.

use super::Stack;
use multihop_core::{Packet, Time};

impl Stack {
    /// The MAC gave a packet up. If it came from an end here, that end is signalled.
    pub(super) fn signal_given_up(&mut self, now: Time, packet: &Packet) {
        let Some(index) = self.sending_end(packet) else { return };
        if self.ends[index].endpoint.on_given_up(now, &packet.segment) {
            self.touched.push(index as u32);
        }
    }

    /// The end here that a packet came from, if one did.
    fn sending_end(&self, packet: &Packet) -> Option<usize> {
        if packet.source != self.id || packet.is_control() {
            return None;
        }
        // A packet names the port that it goes to.
        self.ends.iter().position(|end| end.flow == packet.flow && end.port != packet.port)
    }

    /// A packet is not here any more: its next hop has it, or it is lost. If it came from an end here that
    /// asks for it, that end is notified.
    #[inline]
    pub fn on_departed(&mut self, now: Time, packet: &Packet) {
        if self.followed {
            self.report_departed(now, packet);
        }
    }

    #[inline(never)]
    fn report_departed(&mut self, now: Time, packet: &Packet) {
        // What comes back on a loop of routes has departed before.
        let Some(index) = self.sending_end(packet).filter(|_| packet.hops == 0) else { return };
        let changed = self.ends[index].endpoint.on_departed(now, &packet.segment);
        if changed && self.touched.last() != Some(&(index as u32)) {
            self.touched.push(index as u32);
        }
    }
}
