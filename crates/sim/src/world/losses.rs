//! Causes of frame losses: observed without changing the run.

use super::World;
use crate::medium::{Finished, Frame, Link, Reception};
use crate::outages::TransmittedPart;
use crate::outcome::{LossCause, Overlap};
use crate::record::{AirborneFrame, Collision};
use multihop_core::NodeId;

impl World {
    /// Records the start of a frame whose sender is in this row, with the present links of the sender.
    #[inline(never)]
    pub(super) fn trace_tx_start(&mut self, frame: &Frame, row: u32) {
        self.record.causes.begins(frame);
        self.frame_begins(frame, row);
        if let Some(to) = frame.receiver()
            && self.record.causes.last_linked(frame.from) != Some(to)
        {
            if self.listeners.between(frame.from, to).is_none() {
                self.lose(frame, to, LossCause::Weak);
            } else if self.listeners.are_fixed() {
                self.record.causes.link(frame.from, to);
            }
        }
    }

    /// Records a frame that was not transmitted because its sender's radio is off.
    pub(super) fn count_unsent(&mut self, frame: &Frame, row: u32) {
        self.frame_begins(frame, row);
        if let Some(to) = frame.receiver() {
            self.lose(frame, to, LossCause::Off);
        }
    }

    /// Records a frame that its receiver did not decode.
    pub(super) fn count_loss(&mut self, frame: &Frame, link: &Link, finished: Finished) {
        let to = NodeId(link.to);
        let cause =
            if self.outages.sent(frame.from.0) != TransmittedPart::Whole || self.node(to).radio.is_off() {
                LossCause::Off
            } else if !link.is_decodable() {
                LossCause::Weak
            } else if finished.reception == Reception::Transmitting {
                LossCause::Sending
            } else {
                match self.interferer(frame, to) {
                    Some(with) if with.from == to => LossCause::Sending,
                    _ if finished.failed_alone => LossCause::Channel,
                    Some(with) => {
                        let collision = self.collision(frame, to, with);
                        if let Some(log) = &mut self.frame_log {
                            log.frame_lost(frame, LossCause::Collision, Some((with.from, collision.overlap)));
                        }
                        return self.record.collided(frame, to, &collision, self.now);
                    }
                    // The radio was switched on, or its own transmission ended, after the frame had begun.
                    None if finished.reception == Reception::NotSynchronised => LossCause::Off,
                    None => LossCause::Sending,
                }
            };
        self.lose(frame, to, cause);
    }

    /// Counts a frame that did not reach its receiver.
    fn lose(&mut self, frame: &Frame, to: NodeId, cause: LossCause) {
        self.record.record_frame_loss(frame.kind, [frame.from, to], cause, self.now);
        if let Some(log) = &mut self.frame_log {
            log.frame_lost(frame, cause, None);
        }
    }

    /// Interferer of this frame: the receiver's own transmission, if there is one; otherwise the overlapping
    /// frame with the highest power at the receiver; among equals the earliest, then the lowest number.
    fn interferer(&self, frame: &Frame, to: NodeId) -> Option<AirborneFrame> {
        let mut strongest: Option<(f64, &AirborneFrame)> = None;
        for other in self.record.causes.during(frame) {
            if other.from == to {
                return Some(*other);
            }
            let Some(link) = self.listeners.between(other.from, to) else { continue };
            let is_stronger = strongest.is_none_or(|(power, known)| {
                let is_earlier = || (other.air.start, other.from) < (known.air.start, known.from);
                link.power > power || (link.power == power && is_earlier())
            });
            if is_stronger {
                strongest = Some((link.power, other));
            }
        }
        strongest.map(|(_, with)| *with)
    }

    fn collision(&self, frame: &Frame, to: NodeId, with: AirborneFrame) -> Collision {
        let sensed = self
            .listeners
            .between(with.from, frame.from)
            .is_some_and(|link| link.energy >= self.timing.busy_from);
        let apart = with.air.start.since(frame.air.start) + frame.air.start.since(with.air.start);
        let overlap = if !sensed {
            Overlap::Hidden
        } else if apart < self.timing.slot + self.record.causes.spread() {
            Overlap::Simultaneous
        } else {
            Overlap::Sensed
        };
        let warned = self.listeners.between(to, with.from).is_some_and(Link::is_decodable);
        Collision { with, overlap, warned }
    }
}
