//! Look-ahead: a lower bound on the next delivery, until which a program that delivers packets in real time
//! can leave the run alone.

use super::World;
use super::purpose::Purpose;
use crate::mac::NextSent;
use crate::medium::{Course, Frame};
use crate::slab::Handle;
use multihop_core::{FrameKind, NodeId, Span, Time};

/// Delivery that follows from an event.
#[derive(Clone, Copy, Debug)]
enum Delivers {
    /// Delivery at this instant, unless something intervenes; not before.
    Likely(Time),
    /// Delivery at this instant or later.
    From(Time),
    /// No delivery by itself.
    Nothing,
}

impl World {
    /// Lower bound on the time of the next delivery, unless a packet is injected before. At least
    /// [`World::next_event`].
    pub fn next_delivery(&mut self) -> Time {
        self.next_delivery_within(Span::ZERO)
    }

    /// Time at which to look for deliveries if a delay of `slack` is acceptable: the time of a likely
    /// delivery, or `slack` after the earliest possible one. Possible deliveries often follow each other
    /// closely, for instance at a frame, its response and the end of the wait.
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

    /// Whether the frame of the node in this row has MPDUs that are passed on one by one.
    fn passes_mpdus(&self, row: u32) -> bool {
        !self.mpdu_ends.is_empty()
            && self.wavefronts.is_none()
            && !self.loads.mpdus(self.nodes[row as usize].mac.on_air().load).is_empty()
    }

    /// Time at which the first MPDU ends. The addressee has slots for the others by then.
    fn first_mpdu_end(&self, row: u32) -> Time {
        let frame = self.nodes[row as usize].mac.on_air();
        let mpdus = self.loads.mpdus(frame.load);
        frame.mpdu_end(Course::of(mpdus).ends(mpdus))
    }

    /// Earliest delivery that follows from this event. Where it may send DATA, the first delivery takes at
    /// least `shortest`.
    fn delivers_from(&self, due: Time, purpose: Purpose, shortest: Span) -> Delivers {
        // DATA that answers a frame, or follows a response, begins after SIFS at the earliest.
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

    /// Whether packets may reach their destination at the end of this frame.
    fn may_deliver(&self, frame: &Frame) -> bool {
        let (Some(handle), Some(to)) = (frame.packet, frame.to) else {
            return frame.kind == FrameKind::Data || frame.load.is_some();
        };
        frame.load.is_some() || self.arrives_at(handle, to)
    }

    /// Whether this hop brings a packet to its destination. Other radios of the node may receive it from
    /// there at once.
    fn arrives_at(&self, packet: Handle, to: NodeId) -> bool {
        let has_other_radios = self.node(to).stack.other_radio(0).is_some();
        let destination = self.packets.get(packet).packet.destination;
        has_other_radios || destination == to || destination == NodeId::BROADCAST
    }
}
