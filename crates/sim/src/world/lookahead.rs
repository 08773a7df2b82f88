//! Until when nothing is delivered: a program that delivers packets in real time may leave the run alone
//! until then.

use super::World;
use super::purpose::Purpose;
use crate::medium::{Course, Frame};
use multihop_core::{FrameKind, Span, Time};

impl World {
    /// A lower bound: no packet is delivered before this instant, unless one is injected first. It is
    /// [`World::next_event`], or later.
    pub fn next_delivery(&mut self) -> Time {
        if !self.wires.is_empty() {
            return self.next_event();
        }
        let shortest = if self.arrivals.is_empty() {
            self.timing.shortest_data()
        } else {
            self.timing.shortest_preamble()
        };
        let bounds = self
            .agenda
            .pending()
            .map(|(due, slot)| self.delivers_from(due, self.purposes[slot.0 as usize], shortest));
        bounds.fold(self.end(), Time::min)
    }

    /// Does the frame of the node in this row bring MPDUs that are passed on one by one?
    fn passes_mpdus(&self, row: u32) -> bool {
        !self.arrivals.is_empty()
            && self.wavefronts.is_none()
            && !self.loads.mpdus(self.nodes[row as usize].mac.on_air().load).is_empty()
    }

    /// When the first of them is over. Of the others the node that they come to knows by then.
    fn first_mpdu_end(&self, row: u32) -> Time {
        let frame = self.nodes[row as usize].mac.on_air();
        let mpdus = self.loads.mpdus(frame.load);
        frame.mpdu_end(Course::of(mpdus).ends(mpdus))
    }

    /// What this event leads to delivers no packet before. Where it may send DATA, what is delivered first of
    /// it takes `shortest` or longer.
    fn delivers_from(&self, due: Time, purpose: Purpose, shortest: Span) -> Time {
        match purpose {
            Purpose::MacTimer(row) => {
                due + self.nodes[row as usize].mac.least_before_delivery(&self.timing, shortest)
            }
            Purpose::AirStart(row) if self.passes_mpdus(row) => self.first_mpdu_end(row),
            Purpose::AirStart(row) | Purpose::AirEnd(row) if self.wavefronts.is_none() => {
                let frame = self.nodes[row as usize].mac.on_air();
                // DATA that answers it, or follows an answer, begins after SIFS at the earliest.
                if self.may_deliver(&frame) { frame.end() } else { frame.end() + self.timing.sifs + shortest }
            }
            Purpose::LinkLayer(_)
            | Purpose::AirStart(_)
            | Purpose::AirEnd(_)
            | Purpose::MpduEnds(_)
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
