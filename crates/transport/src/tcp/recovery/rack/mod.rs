//! Loss recovery by time, as hosts of today do it: RACK-TLP (RFC 8985), proportional rate reduction (RFC
//! 9937), F-RTO (RFC 5682), and undo of needless reductions. States and their transitions are those of Linux
//! 6 (`tcp_fastretrans_alert` in `net/ipv4/tcp_input.c`).

mod deliveries;
mod probe;
mod prr;
mod segments;
mod undo;

use super::{PlannedRange, SenderView};
use deliveries::{DeliveredBy, DeliveredNow, Deliveries};
use multihop_core::{SackBlock, Span, Time};
use probe::{ProbeAnswer, TailLossProbe, probe_timeout};
use prr::{Progress, RateReduction};
use segments::OutstandingSegments;
use undo::Undo;

/// Delayed acknowledgement for which a probe of a single segment waits (`TCP_RTO_MIN` of Linux).
const MAX_ACK_DELAY: Span = Span::from_ms(200);

/// Added to the time at which a segment counts as lost (`TCP_TIMEOUT_MIN_US` of Linux).
const TIMER_MARGIN: Span = Span::from_ms(2);

/// State of the sender (`tcp_ca_state` of Linux).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum RecoveryState {
    /// No reduction. Linux calls it Disorder if data was selectively acknowledged.
    #[default]
    Open,
    /// The window is reduced after an ECN-Echo (CWR).
    Reducing,
    /// Lost segments are retransmitted.
    Recovery,
    /// The retransmission timer expired (Loss).
    TimedOut,
}

/// Purpose of the sender's timer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum TimerPurpose {
    /// Retransmission timeout.
    #[default]
    Retransmission,
    /// Tail loss probe.
    Probe,
    /// Segments count as lost when the reordering window has passed.
    Reordering,
}

/// Reason for a reduction of the window.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Reduction {
    /// Segments count as lost.
    Loss,
    /// A tail loss probe repaired a loss.
    Probe,
    /// An ECN-Echo arrived.
    Echo,
}

/// Acknowledgement that arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckEvent<'a> {
    pub now: Time,
    /// First unacknowledged byte before and after, and end of the sent data.
    pub una_before: u64,
    pub una: u64,
    pub max: u64,
    pub blocks: &'a [SackBlock],
    /// Echoed timestamp.
    pub echoed_time: Option<Time>,
    /// Whether congestion is echoed.
    pub ecn_echo: bool,
    /// Whether the acknowledgement carries nothing that a duplicate lacks: no data and no other window.
    pub is_bare: bool,
    /// Whether new data is available and fits into the receive window.
    pub has_new_data: bool,
    pub min_rtt: Option<Span>,
    pub srtt: Option<Span>,
    /// Number of selectively acknowledged segments that show a loss without reordering (`DupThresh`).
    pub duplicate_threshold: u32,
}

/// Effect of an acknowledgement or of the reordering timer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecoveryEffect {
    /// Number of bytes newly delivered, and newly lost.
    pub delivered: u64,
    pub lost: u64,
    /// Transmission time of the oldest newly delivered segment that was sent once.
    pub sent_once: Option<Time>,
    /// Reduction that begins.
    pub reduction: Option<Reduction>,
    /// Whether the last reduction is undone, which happens before another begins.
    pub undone: bool,
    /// Whether a reduction ends.
    pub ended: bool,
    /// Time until segments count as lost, which sets the timer.
    pub reordering_timer: Option<Span>,
}

/// Loss recovery by time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rack {
    segments: OutstandingSegments,
    deliveries: Deliveries,
    state: RecoveryState,
    /// `high_seq`: end of the data that was outstanding when the state began.
    high: u64,
    /// Reduction in progress, in the states Reducing and Recovery.
    reduction: Option<RateReduction>,
    undo: Undo,
    probe: TailLossProbe,
    /// Number of timeouts in a row.
    timeouts: u32,
    /// Bytes that the last timeout did not count as lost, while the state is `TimedOut`.
    kept: u64,
    /// Bytes newly lost since [`Rack::take_lost`].
    newly_lost: u64,
    /// F-RTO: whether the last timeout may prove spurious.
    may_be_spurious: bool,
    /// F-RTO: whether new data is sent before retransmissions (RFC 5682, section 3.1, step 2b).
    prefers_new: bool,
    /// Purpose of the sender's timer.
    pub timer: TimerPurpose,
}

impl Rack {
    /// Whether losses are being repaired, after their detection or a timeout.
    pub fn active(&self) -> bool {
        matches!(self.state, RecoveryState::Recovery | RecoveryState::TimedOut)
    }

    /// Whether losses are being repaired without a timeout.
    pub fn is_fast(&self) -> bool {
        self.state == RecoveryState::Recovery
    }

    /// Returns one of the segments that count as lost and were not returned before.
    pub fn next_lost(&mut self) -> Option<PlannedRange> {
        self.segments.next_lost()
    }

    /// Whether acknowledgements of new data open the window.
    pub fn opens_window(&self) -> bool {
        matches!(self.state, RecoveryState::Open | RecoveryState::TimedOut)
    }

    /// Number of bytes in the network.
    pub fn pipe(&self) -> u64 {
        self.segments.in_flight()
    }

    /// Number of bytes beyond `una` that have arrived.
    pub fn arrived(&self) -> u64 {
        self.segments.sacked()
    }

    /// Last transmission time of the first outstanding segment.
    pub fn oldest_sent(&self) -> Option<Time> {
        self.segments.first().map(|first| first.sent)
    }

    /// Window in use: during a reduction, that of the rate reduction. After a timeout it adds the data that
    /// did not count as lost.
    pub fn window(&self, view: &SenderView) -> u64 {
        self.reduction.as_ref().map_or(view.window.saturating_add(self.kept), RateReduction::window)
    }

    /// Returns the number of bytes newly lost since the last call.
    pub fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.newly_lost)
    }

    /// Data to send next: a probe that is due, then lost segments, then new data.
    pub fn plan(&self, view: &SenderView) -> Option<PlannedRange> {
        if self.probe.is_due {
            return view.segment(view.max, view.pushed, 0, u64::MAX).or_else(|| {
                let last = self.segments.last()?;
                Some(PlannedRange { start: last.start, end: last.end })
            });
        }
        let (in_flight, window) = (self.pipe(), self.window(view));
        let new = || view.segment(view.max, view.pushed, in_flight, window);
        let Some(lost) = self.segments.next_to_repair() else { return new() };
        if self.prefers_new
            && let Some(planned) = new()
        {
            return Some(planned);
        }
        let planned = PlannedRange { start: lost.start, end: lost.end };
        (in_flight + lost.bytes() <= window).then_some(planned)
    }

    /// Records that planned data is sent. `replaces` tells whether it replaces data that the node's own MAC
    /// gave up. Returns whether it is a tail loss probe.
    pub fn on_sent(&mut self, now: Time, view: &SenderView, sent: PlannedRange, replaces: bool) -> bool {
        let is_new = sent.start >= view.max;
        self.segments.on_sent(now, sent.start, sent.end, replaces);
        if let Some(reduction) = &mut self.reduction {
            reduction.on_sent(sent.end - sent.start);
        }
        if !is_new && !replaces {
            self.undo.on_retransmission(now);
        }
        let is_probe = self.probe.is_due;
        if is_probe {
            self.probe.on_sent(view.max.max(sent.end), !is_new);
        }
        is_probe
    }

    /// Whether a segment is the first outstanding one.
    pub fn is_first(&self, start: u64) -> bool {
        self.segments.first().is_some_and(|first| first.start == start)
    }

    /// Time from now to a tail loss probe, if one is to be scheduled: all data may still be in flight
    /// (RFC 8985, section 7.2). `until_timeout` is the time left to the retransmission timeout.
    pub fn probe_after(&self, srtt: Option<Span>, until_timeout: Span) -> Option<Span> {
        let is_calm = matches!(self.state, RecoveryState::Open | RecoveryState::Reducing);
        let has_gap = self.segments.sacked_segments() > 0 || self.segments.has_losses_to_repair();
        if !is_calm || has_gap || self.segments.first().is_none() {
            return None;
        }
        Some(probe_timeout(srtt?, self.segments.is_single(), MAX_ACK_DELAY).min(until_timeout))
    }

    /// Processes the time of a tail loss probe. Returns whether a probe is to be sent: one at a time.
    pub fn on_probe_timer(&mut self) -> bool {
        self.probe.is_due = !self.probe.is_outstanding() && self.segments.first().is_some();
        self.probe.is_due
    }

    /// Processes an acknowledgement of sent data.
    pub fn on_ack(&mut self, ack: &AckEvent) -> RecoveryEffect {
        let mut effect = RecoveryEffect::default();
        let (duplicate, blocks) = split_duplicate(ack.una, ack.blocks);
        let mut delivered = DeliveredNow::default();
        let high = if self.state == RecoveryState::TimedOut { self.high } else { 0 };
        let Rack { segments, deliveries, .. } = self;
        let by = DeliveredBy { now: ack.now, echoed_time: None, min_rtt: ack.min_rtt };
        for block in blocks {
            segments.sack(block.start.max(ack.una), block.end.min(ack.max), |segment| {
                deliveries.on_delivered(segment, &by, high, &mut delivered);
            });
        }
        let sacked = delivered.bytes > 0;
        let by = DeliveredBy { echoed_time: ack.echoed_time, ..by };
        segments.acknowledge(ack.una, |segment| {
            deliveries.on_delivered(segment, &by, high, &mut delivered);
        });
        effect.delivered = delivered.bytes;
        effect.sent_once = delivered.sent_once;
        if let Some(block) = duplicate {
            self.undo.on_duplicate_report(block.end, ack.una_before);
            self.deliveries.on_duplicate_report(ack.una, ack.max);
        }
        let advanced = ack.una > ack.una_before;
        if advanced {
            self.timeouts = 0;
        }
        let has_news = advanced || delivered.bytes > 0 || !ack.is_bare;
        let answer =
            ProbeAnswer { una: ack.una, reports_duplicate: duplicate.is_some(), is_duplicate: !has_news };
        let news = AckNews { advanced, sacked, original: delivered.original, is_duplicate: !has_news };
        if self.probe.on_ack(answer) && self.state == RecoveryState::Open {
            effect.reduction = Some(Reduction::Probe);
        }
        self.step(ack, news, &mut effect);
        effect
    }

    /// Ends and begins states (`tcp_fastretrans_alert`).
    fn step(&mut self, ack: &AckEvent, news: AckNews, effect: &mut RecoveryEffect) {
        let reached = ack.una >= self.high;
        match self.state {
            RecoveryState::Open => {
                if !self.segments.has_repairs_in_flight() {
                    self.undo.forget_retransmissions();
                }
            }
            RecoveryState::Reducing if ack.una > self.high => self.end(effect),
            RecoveryState::Recovery if reached => {
                if !self.try_undo(ack, effect) {
                    self.deliveries.on_recovered();
                }
                self.end(effect);
            }
            RecoveryState::Recovery if news.advanced && self.undo.answers_original(ack.echoed_time) => {
                // A hole was filled by the original and not by a retransmission (`tcp_try_undo_partial`).
                self.deliveries.note_reordering();
                if self.segments.has_repairs_in_flight() {
                    return;
                }
                self.segments.forget_losses();
                self.undo_reduction(effect);
                self.end(effect);
            }
            RecoveryState::TimedOut => self.after_timeout(ack, news, reached, effect),
            RecoveryState::Reducing | RecoveryState::Recovery => {}
        }
        if self.state != RecoveryState::TimedOut && self.undo.all_were_duplicates() {
            self.undo_reduction(effect);
            if self.state == RecoveryState::Recovery {
                self.end(effect);
            }
        }
        let lost_repairs = self.detect_losses(ack, effect);
        match self.state {
            RecoveryState::Open | RecoveryState::Reducing if self.segments.has_losses_to_repair() => {
                self.begin_recovery(ack.una, ack.max, effect);
            }
            RecoveryState::TimedOut if lost_repairs => self.begin_recovery(ack.una, ack.max, effect),
            RecoveryState::Open if ack.ecn_echo => {
                self.undo.clear();
                self.begin(RecoveryState::Reducing, ack.max);
                effect.reduction = Some(Reduction::Echo);
            }
            _ => {}
        }
    }

    /// Processes an acknowledgement after a timeout (`tcp_process_loss`; RFC 5682, section 3.1).
    fn after_timeout(&mut self, ack: &AckEvent, news: AckNews, reached: bool, effect: &mut RecoveryEffect) {
        self.prefers_new = false;
        let was_original = news.advanced && self.undo.answers_original(ack.echoed_time);
        // Step 3b: data that was sent once is delivered, so that the timeout was spurious.
        if was_original || self.undo.all_were_duplicates() || (self.may_be_spurious && news.original) {
            self.segments.forget_losses();
            self.undo_reduction(effect);
            self.timeouts = 0;
            self.end(effect);
            return;
        }
        if self.may_be_spurious {
            if ack.max > self.high {
                // Step 3a: new data was sent, and its acknowledgement shows a gap: the loss was real.
                self.may_be_spurious &= !(news.sacked || news.is_duplicate);
            } else if news.advanced && !reached {
                // Step 2b: new data tells whether the timeout was spurious.
                self.high = ack.max;
                self.prefers_new = ack.has_new_data;
                self.may_be_spurious = ack.has_new_data;
                return;
            }
        }
        if reached {
            self.end(effect);
        }
    }

    /// Marks segments as lost (RFC 8985, section 6.2, `RACK_detect_loss`). Returns whether retransmissions
    /// are among them.
    fn detect_losses(&mut self, ack: &AckEvent, effect: &mut RecoveryEffect) -> bool {
        let Some(newest) = self.deliveries.newest() else { return false };
        let many = self.active() || self.segments.sacked_segments() >= ack.duplicate_threshold;
        let window = self.deliveries.reordering_window(many, ack.min_rtt, ack.srtt);
        let limit = self.deliveries.round_trip() + window;
        let found = self.segments.detect_losses(ack.now, newest, limit);
        effect.lost += found.lost;
        self.newly_lost += found.lost;
        effect.reordering_timer = found.wait.map(|wait| wait + TIMER_MARGIN);
        found.repairs
    }

    /// Processes the expiry of the reordering timer (`tcp_rack_reo_timeout`).
    pub fn on_reordering_timer(&mut self, ack: &AckEvent) -> RecoveryEffect {
        let mut effect = RecoveryEffect::default();
        self.detect_losses(ack, &mut effect);
        effect.reordering_timer = None;
        if effect.lost > 0 && self.state != RecoveryState::Recovery {
            self.begin_recovery(ack.una, ack.max, &mut effect);
        }
        effect
    }

    /// Processes a retransmission timeout (`tcp_enter_loss`). Returns whether it reduces the threshold.
    pub fn on_timeout(&mut self, now: Time, una: u64, max: u64) -> bool {
        let reduces = match self.state {
            RecoveryState::Open => true,
            RecoveryState::TimedOut if self.timeouts == 0 => true,
            _ => self.high <= una,
        };
        self.may_be_spurious = !self.active() || self.timeouts > 0;
        if reduces {
            self.undo.start(una, self.segments.has_repairs_in_flight());
        }
        self.newly_lost += self.segments.mark_lost_at_timeout(now, self.deliveries.round_trip());
        self.timeouts += 1;
        self.prefers_new = false;
        self.probe.clear();
        self.reduction = None;
        self.begin(RecoveryState::TimedOut, max);
        self.kept = self.segments.in_flight();
        reduces
    }

    fn begin_recovery(&mut self, una: u64, max: u64, effect: &mut RecoveryEffect) {
        // The reduction after an echo continues.
        if self.state != RecoveryState::Reducing {
            effect.reduction = Some(Reduction::Loss);
        }
        self.undo.start(una, self.segments.has_repairs_in_flight());
        self.may_be_spurious = false;
        self.prefers_new = false;
        self.begin(RecoveryState::Recovery, max);
    }

    fn begin(&mut self, state: RecoveryState, max: u64) {
        self.kept = 0;
        self.state = state;
        self.high = max;
    }

    /// Ends a state.
    fn end(&mut self, effect: &mut RecoveryEffect) {
        self.state = RecoveryState::Open;
        self.kept = 0;
        self.reduction = None;
        self.may_be_spurious = false;
        effect.ended = true;
    }

    /// Undoes the reduction if it proved needless. Returns whether it did.
    fn try_undo(&mut self, ack: &AckEvent, effect: &mut RecoveryEffect) -> bool {
        let needless = self.undo.all_were_duplicates() || self.undo.answers_original(ack.echoed_time);
        if needless {
            self.undo_reduction(effect);
        }
        needless
    }

    fn undo_reduction(&mut self, effect: &mut RecoveryEffect) {
        self.undo.clear();
        self.reduction = None;
        effect.undone = true;
    }

    /// Starts the rate reduction from `prior_window`.
    pub fn start_reduction(&mut self, prior_window: u64) {
        self.reduction = Some(RateReduction::new(prior_window));
    }

    /// Sets the window of a reduction after an acknowledgement. `threshold` is the window at its end.
    pub fn reduce(&mut self, effect: &RecoveryEffect, advanced: bool, threshold: u64, mss: u64) {
        let in_flight = self.segments.in_flight();
        let (delivered, lost) = (effect.delivered, effect.lost);
        if let Some(reduction) = &mut self.reduction {
            reduction.on_progress(Progress { delivered, lost, advanced, in_flight, threshold }, mss);
        }
    }
}

/// News in an acknowledgement.
#[derive(Clone, Copy, Debug)]
struct AckNews {
    /// Whether `una` advanced.
    advanced: bool,
    /// Whether data was newly selectively acknowledged.
    sacked: bool,
    /// Whether data that was sent once, before the last timeout, was delivered.
    original: bool,
    /// Whether the acknowledgement has no news.
    is_duplicate: bool,
}

/// Separates a first block that reports data which arrived twice: it lies below `una`, or inside the second
/// block (RFC 2883, section 4).
fn split_duplicate(una: u64, blocks: &[SackBlock]) -> (Option<SackBlock>, &[SackBlock]) {
    let Some((first, others)) = blocks.split_first() else { return (None, blocks) };
    let is_inside = others.first().is_some_and(|next| next.start <= first.start && first.end <= next.end);
    if first.end <= una || is_inside { (Some(*first), others) } else { (None, blocks) }
}
