//! Until when nothing is delivered: a program that delivers packets in real time may leave the run alone
//! until then.

use super::World;
use super::purpose::Purpose;
use crate::mac::NextSent;
use crate::medium::{Course, Frame};
use crate::slab::Handle;
use multihop_core::{FrameKind, NodeId, Span, Time};

/// When an event leads to a delivery.
#[derive(Clone, Copy, Debug)]
enum Delivers {
    /// At this instant, if nothing comes between; not before.
    Likely(Time),
    /// At this instant at the earliest.
    From(Time),
    /// By itself it does not.
    Nothing,
}

impl World {
    /// A lower bound: no packet is delivered before this instant, unless one is injected first. It is
    /// [`World::next_event`], or later.
    pub fn next_delivery(&mut self) -> Time {
        self.next_delivery_within(Span::ZERO)
    }

    /// The same for one who may find a packet up to `slack` after its delivery: an instant at which one is
    /// likely to be delivered, or `slack` later than one from which on it is possible. Many of the latter
    /// follow each other closely, as when a frame, its answer and the wait for that end.
    pub fn next_delivery_within(&mut self, slack: Span) -> Time {
        if !self.wires.is_empty() {
            return self.next_event();
        }
        let shortest = if self.mpdu_ends.is_empty() {
            self.timing.shortest_data()
        } else {
            self.timing.shortest_preamble()
        };
        let bounds = self.agenda.pending().map(|(due, slot)| {
            match self.delivers_from(due, self.purposes.of(slot, &self.order), shortest) {
                Delivers::Likely(at) => at,
                Delivers::From(at) => at + slack,
                Delivers::Nothing => Time::NEVER,
            }
        });
        bounds.fold(self.end(), Time::min)
    }

    /// Does the frame of the node in this row bring MPDUs that are passed on one by one?
    fn passes_mpdus(&self, row: u32) -> bool {
        !self.mpdu_ends.is_empty()
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
    fn delivers_from(&self, due: Time, purpose: Purpose, shortest: Span) -> Delivers {
        // DATA that answers a frame, or follows an answer, begins after SIFS at the earliest.
        let behind = |end: Time| Delivers::From(end + self.timing.sifs + shortest);
        match purpose {
            Purpose::MacTimer(row) => match self.nodes[row as usize].mac.next_sent(&self.timing, shortest) {
                NextSent::Packet { packet, to, data } if to.is_none_or(|to| self.arrives_at(packet, to)) => {
                    Delivers::Likely(due + data)
                }
                NextSent::Packet { data, .. } => behind(due + data),
                NextSent::Unknown(least) => Delivers::From(due + least),
                NextSent::Nothing => Delivers::Nothing,
            },
            Purpose::AirStart(row) if self.passes_mpdus(row) => Delivers::Likely(self.first_mpdu_end(row)),
            Purpose::AirStart(row) | Purpose::AirEnd(row) if self.wavefronts.is_none() => {
                let frame = self.nodes[row as usize].mac.on_air();
                if self.may_deliver(&frame) { Delivers::Likely(frame.end()) } else { behind(frame.end()) }
            }
            Purpose::LinkLayer(_)
            | Purpose::AirStart(_)
            | Purpose::AirEnd(_)
            | Purpose::MpduEnds(_)
            | Purpose::Reordering(_)
            | Purpose::WireSent(_)
            | Purpose::WireArrives(_)
            | Purpose::TakeOver(_) => Delivers::Likely(due),
            Purpose::Routing(_)
            | Purpose::Notice(_)
            | Purpose::Deadline(..)
            | Purpose::App(_)
            | Purpose::Sample
            | Purpose::WarmUpEnds
            | Purpose::Step(_)
            | Purpose::Switch(_) => Delivers::From(due + shortest),
        }
    }

    /// May packets be at their destination with the end of this frame?
    fn may_deliver(&self, frame: &Frame) -> bool {
        let (Some(handle), Some(to)) = (frame.packet, frame.to) else {
            return frame.kind == FrameKind::Data || frame.load.is_some();
        };
        frame.load.is_some() || self.arrives_at(handle, to)
    }

    /// Is a packet at its destination with this hop? Other radios of the node may have it from there at once.
    fn arrives_at(&self, packet: Handle, to: NodeId) -> bool {
        let has_other_radios = self.node(to).stack.other_radio(0).is_some();
        let destination = self.packets.get(packet).packet.destination;
        has_other_radios || destination == to || destination == NodeId::BROADCAST
    }
}
