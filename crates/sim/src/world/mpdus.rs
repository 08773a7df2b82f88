//! The ends of the MPDUs of an A-MPDU before its own. A recipient passes on each when its FCS was right
//! (802.11-2016, 10.24.7.6.2), and not when the A-MPDU is over.

use super::World;
use super::air::Reached;
use crate::agenda::{Lane, Slot};
use crate::medium::{Course, Frame, Link, Mpdu};
use crate::node::{in_node, settle};
use crate::outages::Sent;
use multihop_core::Time;

/// Where a node waits for the ends of MPDUs.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    /// When the next one is over.
    slot: Slot,
    /// The A-MPDU that is on its way here, and the link that it comes by.
    incoming: Option<(Frame, Link)>,
    course: Course,
}

impl Arrivals {
    /// Nothing comes so far.
    pub(super) fn new(slot: Slot) -> Arrivals {
        Arrivals { slot, incoming: None, course: Course::default() }
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
        if !self.nodes[link.row()].radio.has_begun(frame.from.0, self.now) {
            return;
        }
        let arrivals = &mut self.arrivals[link.row()];
        (arrivals.incoming, arrivals.course) = (Some((*frame, *link)), Course::of(mpdus));
        if let Some(at) = arrivals.next(frame, mpdus) {
            self.agenda.arm(arrivals.slot, at, Lane::AirEnd);
        }
    }

    /// An MPDU is over at the node of this row.
    #[inline(never)]
    pub(super) fn mpdu_ends(&mut self, row: u32) {
        let arrivals = &mut self.arrivals[row as usize];
        let Some((frame, link)) = arrivals.incoming.take() else { return };
        if self.outages.sent(frame.from.0) != Sent::Whole {
            return;
        }
        let mpdus = self.loads.mpdus(frame.load);
        let loss = self.timing.frame_loss.from(frame.from, frame.kind).to(link.to);
        let course = arrivals.course;
        let node = &mut self.nodes[row as usize];
        let collisions = &self.timing.collisions;
        let of_place = (mpdus, &course);
        let Some(decoded) = node.radio.mpdu_ends(collisions, &link, &frame, of_place, loss, self.now) else {
            return;
        };
        arrivals.course.advance(mpdus);
        if let Some(at) = arrivals.next(&frame, mpdus) {
            arrivals.incoming = Some((frame, link));
            self.agenda.arm(arrivals.slot, at, Lane::AirEnd);
        }
        if decoded {
            in_node!(self, node, self.now, |mac, ctx| {
                mac.on_mpdu(ctx, &frame, course.place());
                settle(mac, ctx, &self.network);
            });
        }
    }
}
