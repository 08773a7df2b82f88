//! The ends of the MPDUs of an A-MPDU before its own. A recipient passes on each when its FCS was right
//! (802.11-2016, 10.24.7.6.2), and not when the A-MPDU is over.

use super::World;
use super::air::Reached;
use crate::agenda::{Lane, Slot};
use crate::medium::{Course, Frame, Link, Mpdu};
use crate::node::{in_node, settle};
use crate::outages::Sent;
use multihop_core::Time;

/// Course of a sender's A-MPDU at its addressee. Each sender has one slot, and not each addressee: which of
/// the A-MPDUs that begin at one instant an addressee receives is known only when all have begun.
#[derive(Clone, Debug)]
pub(super) struct MpduEnds {
    /// End of the next MPDU.
    slot: Slot,
    /// The A-MPDU on the air, and its link to the addressee.
    sent: Option<(Frame, Link)>,
    course: Course,
}

impl MpduEnds {
    /// Nothing is on the air.
    pub(super) fn new(slot: Slot) -> MpduEnds {
        MpduEnds { slot, sent: None, course: Course::default() }
    }

    /// When the MPDU is over that comes next; none for the last, which ends with its frame.
    fn next(&self, frame: &Frame, mpdus: &[Mpdu]) -> Option<Time> {
        let is_last = self.course.place() + 1 == mpdus.len();
        (!is_last).then(|| frame.mpdu_end(self.course.ends(mpdus)))
    }
}

impl World {
    /// A frame with a load began, at all listeners or at these.
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

    /// An MPDU of the sender in this row is over at its addressee, which may not receive the A-MPDU.
    #[inline(never)]
    pub(super) fn mpdu_ends(&mut self, row: u32) {
        let ends = &mut self.mpdu_ends[row as usize];
        let Some((frame, link)) = ends.sent.take() else { return };
        if self.outages.sent(frame.from.0) != Sent::Whole {
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
