//! Segmentation offload: what leaves together, and what waits to be more.

use super::TcpSender;
use crate::tcp::bursts::{Burst, Held, Paced, Sizing, Waiting, most_of_window};
use crate::tcp::recovery::Planned;
use crate::tcp::send_times::SendTimes;
use multihop_core::{Span, Time};

impl TcpSender {
    /// The next segment of the burst that is leaving.
    pub(super) fn in_burst(&self, now: Time) -> Option<Planned> {
        if !self.burst.goes_on(now) {
            return None;
        }
        self.plan().filter(|planned| self.is_new(*planned))
    }

    /// What is planned, a packet of so many bytes, leaves now, in its burst or after it. Is it the last of a
    /// burst of several?
    pub(super) fn pace_out(&mut self, now: Time, planned: Planned, packet: u64) -> bool {
        let segment = planned.end - planned.start;
        let is_new = self.is_new(planned);
        let offloads = self.options.segmentation_offload;
        self.segments += 1;
        let held = if offloads { Held::as_in_linux(self.pace(), self.segments) } else { Held::OfTheMoment };
        match &mut self.paced {
            Some(paced) if is_new && self.burst.goes_on(now) => {
                paced.add(packet, held);
                return self.burst.go_on(segment);
            }
            _ => self.paced = Some(Paced::new(now, packet, self.late(now), held)),
        }
        self.burst = if offloads && is_new {
            let (mss, available) = (self.options.mss(), self.at.pushed - planned.start);
            let most = most_of_window(self.recovery.window(&self.view()), mss);
            let size = self.burst_size().min(self.room() / mss * mss).min(most).min(available);
            Burst::begin(now, size, segment)
        } else {
            Burst::default()
        };
        false
    }

    /// By how much a burst that leaves now is later than the pace allows, where that counts.
    fn late(&self, now: Time) -> Span {
        let until = self.paced_until().filter(|_| self.options.segmentation_offload).unwrap_or(now);
        now.since(until)
    }

    /// Is more window waited for, in place of sending what is planned? Never where a segment is all that is
    /// left, which more window would not make a longer burst.
    pub(super) fn defers(&self, now: Time, planned: Planned) -> bool {
        if !self.options.segmentation_offload || !self.is_new(planned) || self.recovery.active() {
            return false;
        }
        if self.at.pushed - planned.start <= self.options.mss() {
            return false;
        }
        let since = |at: Time| now.max(at).since(at);
        let oldest = self.send_times.as_ref().and_then(SendTimes::oldest);
        let waiting = Waiting {
            burst: self.burst_size(),
            room: self.room(),
            window: self.recovery.window(&self.view()).min(self.at.peer_window),
            idle: since(self.paced_until().unwrap_or(self.last_sent)),
            oldest: oldest.map(since),
            srtt: self.rto.smoothed(),
        };
        waiting.defers()
    }

    /// Payload bytes that both windows have room for.
    fn room(&self) -> u64 {
        let view = self.view();
        let own = self.recovery.window(&view).saturating_sub(self.recovery.pipe(&view));
        own.min(self.at.peer_window.saturating_sub(self.at.nxt - self.at.una))
    }

    fn burst_size(&self) -> u64 {
        let sizing = Sizing {
            rate: self.rate(),
            is_paced: self.controller.allowance().pace.is_some(),
            least_round_trip: self.least_round_trip,
            shift: self.options.pacing_shift,
            segment: self.options.mss(),
        };
        sizing.size()
    }
}
