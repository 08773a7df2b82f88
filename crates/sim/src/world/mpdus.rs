//! Ends of MPDUs before the end of their A-MPDU. A recipient passes on each MPDU when its FCS is correct
//! (802.11-2016, 10.24.7.6.2), not at the end of the A-MPDU.

use super::World;
use super::air::Reached;
use crate::agenda::{Lane, Slot};
use crate::medium::{Course, Frame, Link, Mpdu};
use crate::node::{in_node, settle};
use crate::outages::TransmittedPart;
use multihop_core::Time;

/// A-MPDU that a sender has on the air, and the event at the end of its next MPDU at the addressee. Each
/// sender has its own event, since the addressee locks onto one of several A-MPDUs only after all have begun.
#[derive(Clone, Debug)]
pub(super) struct MpduEnds {
    /// Agenda slot of the event at the end of the next MPDU.
    slot: Slot,
    /// A-MPDU on the air, and its link to the addressee.
    sent: Option<(Frame, Link)>,
    course: Course,
}

impl MpduEnds {
    /// Creates the state of a sender without a transmission.
    pub(super) fn new(slot: Slot) -> MpduEnds {
        MpduEnds { slot, sent: None, course: Course::default() }
    }

    /// End of the next MPDU; none for the last one, which ends with its frame.
    fn next(&self, frame: &Frame, mpdus: &[Mpdu]) -> Option<Time> {
        let is_last = self.course.place() + 1 == mpdus.len();
        (!is_last).then(|| frame.mpdu_end(self.course.ends(mpdus)))
    }
}

impl World {
    /// Schedules the ends of the MPDUs of a frame that began, at all listeners or at these.
    #[inline(never)]
    pub(super) fn expect_mpdus(&mut self, frame: &Frame, reached: Reached) {
        let mpdus = self.loads.mpdus(frame.load);
        let Some(to) = frame.to.filter(|_| mpdus.len() > 1) else { return };
        let links = self.listeners.of(frame.from);
        let addressee = match reached {
            None => links.iter().find(|link| link.to == to.0),
            Some(places) => {
                places.iter().map(|(_, place)| &links[*place as usize]).find(|link| link.to == to.0)
            }
        };
        let Some(link) = addressee else { return };
        let ends = &mut self.mpdu_ends[self.order.of(frame.from)];
        (ends.sent, ends.course) = (Some((*frame, *link)), Course::of(mpdus));
        if let Some(at) = ends.next(frame, mpdus) {
            self.agenda.arm(ends.slot, at, Lane::AirEnd);
        }
    }

    /// Ends an MPDU of the sender in this row at its addressee, which may not be receiving the A-MPDU.
    #[inline(never)]
    pub(super) fn mpdu_ends(&mut self, row: u32) {
        let ends = &mut self.mpdu_ends[row as usize];
        let Some((frame, link)) = ends.sent.take() else { return };
        if self.outages.sent(frame.from.0) != TransmittedPart::Whole {
            return;
        }
        let mpdus = self.loads.mpdus(frame.load);
        let loss = self.timing.frame_loss.from(frame.from, frame.kind).to(link.to);
        let course = ends.course;
        let node = &mut self.nodes[link.row()];
        let collisions = &self.timing.collisions;
        let of_place = (mpdus, &course);
        let Some(decoded) = node.radio.mpdu_ends(collisions, &link, &frame, of_place, loss, self.now) else {
            return;
        };
        ends.course.advance(mpdus);
        if let Some(at) = ends.next(&frame, mpdus) {
            ends.sent = Some((frame, link));
            self.agenda.arm(ends.slot, at, Lane::AirEnd);
        }
        if decoded {
            in_node!(self, node, self.now, |mac, ctx| {
                mac.on_mpdu(ctx, &frame, course.place());
                settle(mac, ctx, &self.network);
            });
        }
    }
}
