//! Persist mode: a sender that is frozen while its route is down (Holland and Vaidya 1999, Liu and Singh
//! 2001), or while ATCP repairs a loss that is not due to congestion (Liu and Singh 2001).
//!
//! A frozen sender keeps its window and its timeout. It sends only what this module plans.

use super::TcpSender;
use crate::tcp::accurate_ecn::EcnMode;
use crate::tcp::recovery::{LossRecovery, PlannedRange, SenderView};
use crate::{LossKind, Lost, Standby, WindowAfterFailure};
use multihop_core::{Segment, Time};

/// State of the layer that watches the connection. Without [`Standby::hides_losses`] only `Normal` and
/// `Disconnected` occur.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mode {
    /// TCP acts alone.
    Normal,
    /// A congestion mark was echoed: TCP acts alone, losses included, until it sends new data.
    Congested,
    /// TCP is frozen while a loss is repaired.
    Loss,
    /// TCP is frozen while the route is down.
    Disconnected,
}

/// Persist mode of a connection.
#[derive(Debug)]
pub(super) struct Persist {
    options: Standby,
    mode: Mode,
    /// Data to send while frozen.
    due: Option<PlannedRange>,
    /// End of the data that was retransmitted as a whole after an expiry of the timer. Duplicate
    /// acknowledgements up to it may answer these retransmissions.
    repeated_to: Option<u64>,
    /// Time at which the sender was last frozen or resumed.
    changed_at: Time,
}

impl Persist {
    /// Starts in normal mode.
    pub fn new(options: Standby) -> Persist {
        let (mode, due, repeated_to) = (Mode::Normal, None, None);
        Persist { options, mode, due, repeated_to, changed_at: Time::ZERO }
    }

    /// Whether TCP is frozen.
    pub fn is_frozen(&self) -> bool {
        matches!(self.mode, Mode::Loss | Mode::Disconnected)
    }

    /// Data to send next while frozen, up to a segment.
    pub fn plan(&self, mss: u64) -> Option<PlannedRange> {
        self.due.map(|due| PlannedRange { start: due.start, end: due.end.min(due.start + mss) })
    }

    /// Whether a loss would be hidden from TCP now.
    fn hides_losses(&self) -> bool {
        self.options.hides_losses && self.mode == Mode::Normal
    }
}

impl TcpSender {
    pub(super) fn frozen(&self) -> Option<&Persist> {
        self.persist.as_ref().filter(|persist| persist.is_frozen())
    }

    /// Enters a frozen mode with this data to send at once.
    fn freeze(&mut self, now: Time, mode: Mode, due: Option<PlannedRange>) {
        let Some(persist) = &mut self.persist else { return };
        (persist.mode, persist.due, persist.changed_at) = (mode, due, now);
        self.timed = None;
        self.restart_persist_timer(now);
    }

    /// Restarts the timer of a frozen sender: the interval between probes, or the retransmission timeout
    /// without back-off.
    fn restart_persist_timer(&mut self, now: Time) {
        let Some(persist) = self.frozen() else { return };
        let wait = match persist.mode {
            Mode::Disconnected => persist.options.probe_interval,
            _ => self.rto.timeout(),
        };
        self.deadline = Some(now + wait);
    }

    /// First unacknowledged segment.
    fn head(&self) -> PlannedRange {
        let start = self.sequence.una;
        PlannedRange { start, end: self.sequence.max.min(start + self.options.mss()) }
    }

    /// Processes a failure of the route. Returns whether it changes anything: without outstanding data there
    /// is nothing to probe with.
    pub(super) fn freeze_for_route(&mut self, now: Time) -> bool {
        let Some(persist) = &self.persist else { return false };
        if persist.mode == Mode::Disconnected || self.sequence.una == self.sequence.max {
            return false;
        }
        if persist.options.window == WindowAfterFailure::OneSegment {
            self.restart_with_one_segment(now);
        }
        self.freeze(now, Mode::Disconnected, None);
        true
    }

    /// Sets the window to one segment, with the slow-start threshold as before. All outstanding data counts
    /// as lost.
    fn restart_with_one_segment(&mut self, now: Time) {
        let in_flight = self.in_flight();
        self.controller.on_lost(&Lost { now, kind: LossKind::Timeout { again: true }, in_flight });
        let view = SenderView::new(&self.options, self.sequence, &*self.controller);
        if let LossRecovery::ByAcks(recovery) = &mut self.recovery {
            recovery.on_timeout(&view);
        }
        self.repairs.clear();
        (self.sequence.nxt, self.sequence.duplicates, self.limited) = (self.sequence.una, 0, 0);
    }

    /// Hides the expiry of the retransmission timer from TCP: all outstanding data is retransmitted. Returns
    /// whether it is hidden.
    pub(super) fn hide_timeout(&mut self, now: Time) -> bool {
        let hides = self.persist.as_ref().is_some_and(Persist::hides_losses);
        let (start, end) = (self.sequence.una, self.sequence.max);
        if !hides || start == end {
            return false;
        }
        self.persist.iter_mut().for_each(|persist| persist.repeated_to = Some(end));
        self.freeze(now, Mode::Loss, Some(PlannedRange { start, end }));
        true
    }

    /// Hides a loss that duplicate acknowledgements show from TCP: the first unacknowledged segment is
    /// retransmitted. Returns whether it is hidden.
    pub(super) fn hide_duplicates(&mut self, now: Time) -> bool {
        let Some(persist) = self.persist.as_ref().filter(|persist| persist.hides_losses()) else {
            return false;
        };
        if persist.repeated_to.is_none_or(|end| self.sequence.una > end) {
            self.freeze(now, Mode::Loss, Some(self.head()));
        }
        true
    }

    /// Processes the timer of a frozen sender: the first unacknowledged segment is sent again. Returns
    /// whether the sender is frozen.
    pub(super) fn on_persist_timer(&mut self, now: Time) -> bool {
        let head = self.head();
        let Some(persist) = self.persist.as_mut().filter(|persist| persist.is_frozen()) else { return false };
        persist.due = Some(head);
        self.restart_persist_timer(now);
        true
    }

    /// Records data that is sent. Returns whether a frozen sender sent it.
    pub(super) fn note_persist_sent(&mut self, sent: PlannedRange, is_new: bool) -> bool {
        let Some(persist) = &mut self.persist else { return false };
        if is_new && persist.mode == Mode::Congested {
            persist.mode = Mode::Normal;
        }
        persist.due =
            persist.due.filter(|due| due.end > sent.end).map(|due| PlannedRange { start: sent.end, ..due });
        persist.is_frozen()
    }

    /// Restores the timer of a frozen sender after a segment was sent.
    pub(super) fn restore_persist_timer(&mut self, now: Time) {
        if self.frozen().is_some() {
            self.restart_persist_timer(now);
        }
    }

    /// Processes an acknowledgement before TCP does. Returns whether TCP must ignore it.
    pub(super) fn shields_ack(&mut self, now: Time, segment: &Segment) -> bool {
        let marked = self.ecn == EcnMode::Classic && segment.flags.ece;
        let is_valid = (self.sequence.una..=self.sequence.max).contains(&segment.ack);
        let advances = is_valid && segment.ack > self.sequence.una;
        let Some(persist) = &mut self.persist else { return false };
        let resumes = match persist.mode {
            Mode::Normal | Mode::Congested => false,
            Mode::Loss if !advances && !marked => return true,
            Mode::Disconnected if !is_valid => return true,
            Mode::Loss | Mode::Disconnected => true,
        };
        if resumes {
            (persist.mode, persist.due, persist.changed_at) = (Mode::Normal, None, now);
        }
        if marked && persist.options.hides_losses {
            persist.mode = Mode::Congested;
        }
        if resumes {
            self.restart_timer_after_persist(now);
        }
        false
    }

    fn restart_timer_after_persist(&mut self, now: Time) {
        self.sequence.duplicates = 0;
        match self.recovery {
            LossRecovery::ByAcks(_) => self.restart_timer(now),
            LossRecovery::ByTime(_) => self.restart_timer_by_time(now),
        }
    }

    /// Whether a round trip that began at `sent` includes time while the sender was frozen, so that it says
    /// nothing about the path.
    pub(super) fn was_frozen_since(&self, sent: Time) -> bool {
        self.persist.as_ref().is_some_and(|persist| sent < persist.changed_at)
    }
}
