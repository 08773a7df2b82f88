//! Segmentation offload: sending and deferring of bursts.

use super::TcpSender;
use crate::tcp::bursts::{Burst, BurstSizing, DeferralState, PaceBasis, PacedBurst, max_burst_of_window};
use crate::tcp::recovery::PlannedRange;
use crate::tcp::send_times::SendTimes;
use multihop_core::{Span, Time};

impl TcpSender {
    /// Next segment of the burst being sent.
    pub(super) fn in_burst(&self, now: Time) -> Option<PlannedRange> {
        if !self.burst.continues_at(now) {
            return None;
        }
        self.plan().filter(|planned| self.is_new(*planned))
    }

    /// Records that planned data, a packet of `packet` bytes, is sent now, in the present burst or in a new
    /// one. Returns whether it is the last segment of a burst of several.
    pub(super) fn pace_out(&mut self, now: Time, planned: PlannedRange, packet: u64) -> bool {
        let segment = planned.end - planned.start;
        let is_new = self.is_new(planned);
        let offloads = self.options.segmentation_offload;
        self.segments += 1;
        let held =
            if offloads { PaceBasis::as_in_linux(self.pace(), self.segments) } else { PaceBasis::Current };
        match &mut self.paced {
            Some(paced) if is_new && self.burst.continues_at(now) => {
                paced.add(packet, held);
                return self.burst.send_next(segment);
            }
            _ => self.paced = Some(PacedBurst::new(now, packet, self.late(now), held)),
        }
        self.burst = if offloads && is_new {
            let (mss, available) = (self.options.mss(), self.sequence.pushed - planned.start);
            let most = max_burst_of_window(self.recovery.window(&self.view()), mss);
            let size = self.burst_size().min(self.room() / mss * mss).min(most).min(available);
            Burst::begin(now, size, segment)
        } else {
            Burst::default()
        };
        false
    }

    /// Delay of a burst that is sent now relative to the pace, with segmentation offload.
    fn late(&self, now: Time) -> Span {
        let until = self.paced_until().filter(|_| self.options.segmentation_offload).unwrap_or(now);
        now.since(until)
    }

    /// Whether to defer planned data until the window is larger. The last segment is never deferred, as more
    /// window would not make its burst longer.
    pub(super) fn defers(&self, now: Time, planned: PlannedRange) -> bool {
        if !self.options.segmentation_offload || !self.is_new(planned) || self.recovery.active() {
            return false;
        }
        if self.sequence.pushed - planned.start <= self.options.mss() {
            return false;
        }
        let since = |at: Time| now.max(at).since(at);
        let oldest = self.send_times.as_ref().and_then(SendTimes::oldest);
        let waiting = DeferralState {
            burst: self.burst_size(),
            room: self.room(),
            window: self.recovery.window(&self.view()).min(self.sequence.peer_window),
            idle: since(self.paced_until().unwrap_or(self.last_sent)),
            oldest: oldest.map(since),
            srtt: self.rto.smoothed(),
        };
        waiting.defers()
    }

    /// Number of payload bytes that both windows allow.
    fn room(&self) -> u64 {
        let view = self.view();
        let own = self.recovery.window(&view).saturating_sub(self.recovery.pipe(&view));
        own.min(self.sequence.peer_window.saturating_sub(self.sequence.nxt - self.sequence.una))
    }

    fn burst_size(&self) -> u64 {
        let sizing = BurstSizing {
            rate: self.rate(),
            is_paced: self.controller.allowance().pace.is_some(),
            least_round_trip: self.least_round_trip,
            shift: self.options.pacing_shift,
            segment: self.options.mss(),
        };
        sizing.size()
    }
}
