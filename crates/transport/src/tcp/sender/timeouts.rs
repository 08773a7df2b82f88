//! Expiry of the timer of a sender: of the handshake, of recovery by acknowledgements, and of a frozen
//! sender.

use super::{Connection, ReductionReason, TcpSender};
use crate::LossKind;
use crate::tcp::recovery::{LossRecovery, SenderView};
use multihop_core::Time;

impl TcpSender {
    /// Processes the expiry of the timer.
    pub(super) fn on_expiry(&mut self, now: Time) {
        match self.connection {
            Connection::SynSent => self.on_syn_timeout(now),
            Connection::Open => {
                let persists = self.on_persist_timer(now) || self.hide_timeout(now);
                match self.recovery {
                    _ if persists => {}
                    LossRecovery::ByAcks(_) => self.on_retransmission_timeout(now),
                    LossRecovery::ByTime(_) => self.on_timer_by_time(now),
                }
            }
            Connection::Closed | Connection::SynDue => {}
        }
    }

    /// Restarts the retransmission timer if data is outstanding, else stops it.
    pub(super) fn restart_timer(&mut self, now: Time) {
        let waits = self.sequence.max > self.sequence.una || self.held;
        self.deadline = waits.then(|| now + self.rto.timeout());
    }

    fn on_syn_timeout(&mut self, now: Time) {
        self.counters.timeouts += 1;
        self.lost_syns += 1;
        // A lost SYN reduces the initial window to one segment (RFC 5681, section 3.1).
        let beyond = self.lost_syns.saturating_sub(self.options.lost_syns_allowed);
        if beyond > 0 {
            self.report_lost(now, LossKind::Timeout { again: beyond > 1 });
        }
        self.connection = Connection::SynDue;
        self.rto.back_off();
        self.deadline = Some(now + self.rto.timeout());
    }

    fn on_retransmission_timeout(&mut self, now: Time) {
        if self.sequence.una == self.sequence.max {
            // Nothing is outstanding: this ends the wait after an echo at a window of one segment.
            self.held = false;
            self.deadline = None;
            return;
        }
        self.counters.timeouts += 1;
        let echoed = matches!(self.last_reduction, Some((recover, ReductionReason::Echo)) if self.sequence.una < recover);
        let again = echoed || self.timed_out == Some(self.sequence.una);
        self.report_lost(now, LossKind::Timeout { again });
        self.last_reduction = Some((self.sequence.max, ReductionReason::Timeout));
        self.timed_out = Some(self.sequence.una);
        let view = SenderView::new(&self.options, self.sequence, &*self.controller);
        if let LossRecovery::ByAcks(recovery) = &mut self.recovery {
            recovery.on_timeout(&view);
        }
        self.repairs.clear();
        self.sequence.nxt = self.sequence.una;
        self.sequence.duplicates = 0;
        self.limited = 0;
        self.timed = None;
        self.held = false;
        self.rto.back_off();
        self.restart_timer(now);
    }
}
