//! Until when nothing is delivered: a program that delivers packets in real time may leave the run alone
//! until then.

use super::World;
use super::purpose::Purpose;
use crate::medium::Frame;
use multihop_core::{FrameKind, Span, Time};

impl World {
    /// A lower bound: no packet is delivered before this instant, unless one is injected first. It is
    /// [`World::next_event`], or later.
    pub fn next_delivery(&mut self) -> Time {
        if !self.wires.is_empty() {
            return self.next_event();
        }
        let shortest = self.timing.shortest_data();
        let bounds = self
            .agenda
            .pending()
            .map(|(due, slot)| self.delivers_from(due, self.purposes[slot.0 as usize], shortest));
        bounds.fold(self.end(), Time::min)
    }

    /// What this event leads to delivers no packet before. Where it may send DATA, that is `shortest` or
    /// longer.
    fn delivers_from(&self, due: Time, purpose: Purpose, shortest: Span) -> Time {
        match purpose {
            Purpose::MacTimer(row) => {
                due + self.nodes[row as usize].mac.least_before_delivery(&self.timing, shortest)
            }
            Purpose::AirStart(row) | Purpose::AirEnd(row) if self.wavefronts.is_none() => {
                let frame = self.nodes[row as usize].mac.on_air();
                // DATA that answers it, or follows an answer, begins after SIFS at the earliest.
                if self.may_deliver(&frame) { frame.end() } else { frame.end() + self.timing.sifs + shortest }
            }
            Purpose::LinkLayer(_)
            | Purpose::AirStart(_)
            | Purpose::AirEnd(_)
            | Purpose::Reordering(_)
            | Purpose::WireSent(_)
            | Purpose::WireArrives(_)
            | Purpose::TakeOver(_) => due,
            Purpose::Routing(_)
            | Purpose::Notice(_)
            | Purpose::Deadline { .. }
            | Purpose::App { .. }
            | Purpose::Sample
            | Purpose::WarmUpEnds
            | Purpose::Step(_)
            | Purpose::Switch(_) => due + shortest,
        }
    }

    /// May packets be at their destination with the end of this frame?
    fn may_deliver(&self, frame: &Frame) -> bool {
        let (Some(handle), Some(to)) = (frame.packet, frame.to) else {
            return frame.kind == FrameKind::Data || frame.load.is_some();
        };
        let has_other_radios = self.node(to).stack.other_radio(0).is_some();
        frame.load.is_some() || has_other_radios || self.packets.get(handle).packet.destination == to
    }
}
