//! Loss recovery with selective acknowledgements (RFC 6675).

use super::{Advance, PlannedRange, SenderView};
use crate::SackedAtTimeout;
use crate::tcp::scoreboard::Scoreboard;
use multihop_core::SackBlock;

/// Scoreboard, and state of an episode of recovery.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sack {
    board: Scoreboard,
    episode: Option<SackEpisode>,
}

#[derive(Clone, Copy, Debug)]
struct SackEpisode {
    /// `RecoveryPoint`: acknowledgement number that ends the episode.
    point: u64,
    /// `HighRxt`: end of the data that was retransmitted.
    high_rxt: u64,
    /// `RescueRxt`: defined after the one rescue retransmission below `point`.
    rescued: Option<u64>,
    /// Whether the first retransmission, which no window delays, is still to be sent.
    first: bool,
    /// Estimate of the bytes in the network.
    pipe: u64,
}

/// Rule of `NextSeg()` that selected a segment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum NextSegRule {
    Retransmit,
    New,
    Rescue,
}

impl Sack {
    pub fn active(&self) -> bool {
        self.episode.is_some()
    }

    pub fn on_blocks(&mut self, una: u64, max: u64, blocks: &[SackBlock]) -> bool {
        self.board.update(una, max, blocks) > 0
    }

    pub fn detects_loss(&self, view: &SenderView) -> bool {
        let lost = || self.holes(view).next().is_some_and(|hole| hole.start == view.una && hole.lost);
        view.duplicates >= view.options.duplicate_threshold || lost()
    }

    pub fn enter(&mut self, view: &SenderView) {
        self.episode =
            Some(SackEpisode { point: view.max, high_rxt: view.una, rescued: None, first: true, pipe: 0 });
        self.set_pipe(view);
    }

    pub fn on_advance(&mut self, view: &SenderView) -> Advance {
        match self.episode {
            None => Advance::NoRecovery,
            Some(episode) if view.una >= episode.point => {
                self.episode = None;
                Advance::Recovered { window: view.window, opens: false }
            }
            Some(_) => {
                self.set_pipe(view);
                Advance::Partial { restart_timer: true }
            }
        }
    }

    pub fn set_pipe(&mut self, view: &SenderView) {
        let Some(episode) = &mut self.episode else { return };
        episode.high_rxt = episode.high_rxt.max(view.una);
        let (threshold, mss) = (view.options.duplicate_threshold, view.mss());
        episode.pipe = self.board.pipe(view.una, view.max, episode.high_rxt, threshold, mss);
    }

    pub fn left_network(&self, view: &SenderView) -> u64 {
        self.episode.map_or(0, |episode| (view.nxt - view.una).saturating_sub(episode.pipe))
    }

    pub fn pipe(&self, view: &SenderView) -> u64 {
        let outside = || view.nxt - view.una - self.board.sacked().bytes_below(view.nxt);
        self.episode.map_or_else(outside, |episode| episode.pipe)
    }

    pub fn arrived(&self) -> u64 {
        self.board.sacked().bytes()
    }

    pub fn on_timeout(&mut self, view: &SenderView) {
        if view.options.keep_sacked != SackedAtTimeout::Kept {
            self.board.clear();
        }
        self.episode = None;
    }

    pub fn plan(&self, view: &SenderView) -> Option<PlannedRange> {
        match &self.episode {
            Some(episode) => self.next_segment(view, episode).map(|(planned, _)| planned),
            None => self.outside_recovery(view),
        }
    }

    pub fn on_sent(&mut self, view: &SenderView, sent: PlannedRange) {
        let Some(mut episode) = self.episode else { return };
        let rule = self.next_segment(view, &episode).map_or(NextSegRule::New, |(_, rule)| rule);
        episode.first = false;
        episode.pipe += sent.end - sent.start;
        match rule {
            NextSegRule::Retransmit => episode.high_rxt = sent.end,
            NextSegRule::Rescue => episode.rescued = Some(episode.point),
            NextSegRule::New => {}
        }
        self.episode = Some(episode);
    }

    /// `NextSeg()` (RFC 6675, section 4), and step C of section 5, which calls it.
    fn next_segment(&self, view: &SenderView, episode: &SackEpisode) -> Option<(PlannedRange, NextSegRule)> {
        let mss = view.mss();
        if !episode.first && episode.pipe + mss > view.window {
            return None;
        }
        let missing = |only_lost: bool| {
            self.holes(view)
                .filter(|hole| hole.end > episode.high_rxt && hole.end <= self.board.top(view.una))
                .find(|hole| hole.lost || !only_lost)
                .map(|hole| {
                    let start = hole.start.max(episode.high_rxt);
                    (PlannedRange { start, end: hole.end.min(start + mss) }, NextSegRule::Retransmit)
                })
        };
        if episode.first {
            // Step 4.3: the segment at `una` is sent, whatever `IsLost()` returns.
            let end = self.holes(view).next().map_or(view.max, |hole| hole.end);
            return Some((
                PlannedRange { start: view.una, end: end.min(view.una + mss) },
                NextSegRule::Retransmit,
            ));
        }
        let new =
            || view.segment(view.nxt, view.pushed, 0, u64::MAX).map(|planned| (planned, NextSegRule::New));
        if view.options.holes_first {
            return missing(false).or_else(new);
        }
        let rescue = || {
            let may = episode.rescued.is_none_or(|rescued| view.una > rescued);
            let last = self.holes(view).last().filter(|hole| may && hole.end > episode.high_rxt)?;
            Some((
                PlannedRange { start: last.start.max(last.end.saturating_sub(mss)), end: last.end },
                NextSegRule::Rescue,
            ))
        };
        missing(true).or_else(new).or_else(|| missing(false)).or_else(rescue)
    }

    fn outside_recovery(&self, view: &SenderView) -> Option<PlannedRange> {
        let sacked = self.board.sacked();
        // Limited Transmit: selectively acknowledged bytes count as gone (RFC 6675, section 5, step 3).
        let left_network = if view.options.limited_transmit { sacked.bytes_below(view.nxt) } else { 0 };
        let in_flight = view.nxt - view.una - left_network;
        if view.nxt == view.max || view.options.keep_sacked == SackedAtTimeout::SentAgain {
            return view.next_in_sequence(in_flight, view.window);
        }
        let start = sacked.containing(view.nxt).map_or(view.nxt, |range| range.end);
        let limit = if start < view.max {
            sacked.after(start).map_or(view.max, |range| range.start)
        } else {
            view.pushed
        };
        view.segment(start, limit, in_flight, view.window)
    }

    fn holes(&self, view: &SenderView) -> impl Iterator<Item = crate::tcp::scoreboard::SackHole> {
        self.board.holes(view.una, view.max, view.options.duplicate_threshold, view.mss())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::recovery::SequenceState;
    use crate::{Recovery, TcpOptions};

    const MSS: u64 = 1_000;

    fn options() -> TcpOptions {
        TcpOptions { recovery: Recovery::Sack, segment_size: MSS as u32, ..TcpOptions::default() }
    }

    /// Segments 2 to 19 are outstanding, and there is always more to send.
    fn view(options: &TcpOptions, window: u64) -> SenderView<'_> {
        let (una, nxt, max, pushed, peer_window) = (2_000, 20_000, 20_000, 50_000, 64_000);
        let sequence = SequenceState { una, nxt, max, pushed, peer_window, duplicates: 3, burst: 0 };
        SenderView { options, window, sequence }
    }

    fn with_blocks(blocks: &[(u64, u64)]) -> Sack {
        let mut sack = Sack::default();
        for (start, end) in blocks {
            assert!(sack.on_blocks(2_000, 20_000, &[SackBlock { start: *start, end: *end }]));
        }
        sack
    }

    /// Sends planned segments, at most `most`. Returns the start of each.
    fn send(sack: &mut Sack, view: &SenderView, most: usize) -> Vec<u64> {
        let next = |_| {
            let planned = sack.plan(view)?;
            sack.on_sent(view, planned);
            assert_eq!(planned.end - planned.start, MSS);
            Some(planned.start)
        };
        (0..most).map_while(next).collect()
    }

    /// Segments 5 and 8 to 11 have arrived. The three and two segments below are lost; then new data follows
    /// (rule 2), or without it one rescue of the last segment (rule 4).
    #[test]
    fn rfc_6675_4_next_seg_repeats_what_is_lost_and_then_sends_what_is_new() {
        let options = options();
        let mut sack = with_blocks(&[(5_000, 6_000), (8_000, 12_000)]);
        let mut wide = view(&options, 64_000);
        sack.enter(&wide);
        // The eight segments above are in the network.
        assert_eq!((sack.pipe(&wide), sack.left_network(&wide)), (8_000, 10_000));
        let mut other = sack.clone();
        assert_eq!(send(&mut sack, &wide, 7), [2_000, 3_000, 4_000, 6_000, 7_000, 20_000, 20_000]);
        assert_eq!(sack.pipe(&wide), 15_000);
        wide.sequence.pushed = 20_000;
        assert_eq!(send(&mut other, &wide, 9), [2_000, 3_000, 4_000, 6_000, 7_000, 19_000]);
    }

    /// One segment of 18 has arrived, so that nothing counts as lost: the first one is sent, then new data,
    /// then holes (rule 3). ns-2 fills holes first, and rescues nothing.
    #[test]
    fn rfc_6675_4_next_seg_fills_holes_last_and_ns2_first() {
        for (holes_first, pushed, expected) in [
            (false, 50_000, [2_000, 20_000, 20_000, 20_000, 20_000].as_slice()),
            (false, 20_000, &[2_000, 3_000, 4_000, 19_000]),
            (true, 50_000, &[2_000, 3_000, 4_000, 20_000, 20_000]),
            (true, 20_000, &[2_000, 3_000, 4_000]),
        ] {
            let options = TcpOptions { holes_first, ..options() };
            let mut view = view(&options, 64_000);
            view.sequence.pushed = pushed;
            let mut sack = with_blocks(&[(5_000, 6_000)]);
            sack.enter(&view);
            assert_eq!(sack.pipe(&view), 17_000);
            assert_eq!(send(&mut sack, &view, 5), expected, "{holes_first} {pushed}");
        }
    }

    /// Step C: a segment is sent while `cwnd - pipe` is at least one; the first one whatever the window (step
    /// 4.3).
    #[test]
    fn rfc_6675_5_pipe_and_a_segment_fit_into_the_window() {
        let options = options();
        let mut sack = with_blocks(&[(5_000, 6_000), (8_000, 12_000)]);
        sack.enter(&view(&options, 1_000));
        assert_eq!(send(&mut sack, &view(&options, 1_000), 5), [2_000]);
        assert_eq!(send(&mut sack, &view(&options, 9_999), 5), Vec::<u64>::new());
        assert_eq!(send(&mut sack, &view(&options, 10_000), 5), [3_000]);
        assert_eq!(send(&mut sack, &view(&options, 12_999), 5), [4_000, 6_000]);
    }

    /// Step A: an acknowledgement of `RecoveryPoint` ends recovery; below it, retransmitted data counts as in
    /// the network.
    #[test]
    fn rfc_6675_5_recovery_ends_at_its_point() {
        let options = options();
        let at = |una| {
            let mut view = view(&options, 64_000);
            view.sequence.una = una;
            view
        };
        let mut sack = with_blocks(&[(5_000, 6_000), (8_000, 12_000)]);
        assert_eq!(sack.on_advance(&at(2_000)), Advance::NoRecovery);
        sack.enter(&at(2_000));
        assert_eq!(send(&mut sack, &at(2_000), 4).len(), 4);
        sack.on_blocks(6_000, 20_000, &[]);
        assert_eq!(sack.on_advance(&at(6_000)), Advance::Partial { restart_timer: true });
        assert_eq!(sack.pipe(&at(6_000)), 9_000, "segment 6 again, and 12 to 19");
        assert_eq!(sack.on_advance(&at(19_999)), Advance::Partial { restart_timer: true });
        assert_eq!(sack.on_advance(&at(20_000)), Advance::Recovered { window: 64_000, opens: false });
        assert!(!sack.active() && sack.left_network(&at(20_000)) == 0);
    }

    /// An acknowledgement whose blocks are not new is no duplicate (section 2). Three segments above `una`,
    /// or three duplicates, indicate a loss.
    #[test]
    fn rfc_6675_2_a_duplicate_brings_news() {
        let mut sack = with_blocks(&[(5_000, 6_000)]);
        let block = |start, end| [SackBlock { start, end }];
        assert!(!sack.on_blocks(2_000, 20_000, &block(5_000, 6_000)));
        assert!(!sack.on_blocks(2_000, 20_000, &[]));
        assert!(sack.on_blocks(2_000, 20_000, &block(5_000, 6_001)));
        let options = options();
        let mut view = view(&options, 9_000);
        for (first, to, duplicates, expected) in [
            (3_000, 5_000, 2, false),
            (3_000, 5_001, 2, true),
            (3_000, 4_000, 3, true),
            (3_000, 4_000, 2, false),
        ] {
            view.sequence.duplicates = duplicates;
            assert_eq!(with_blocks(&[(first, to)]).detects_loss(&view), expected, "{to} {duplicates}");
        }
    }

    /// Section 5, step 3: selectively acknowledged data counts as gone, if Limited Transmit is on.
    #[test]
    fn rfc_6675_5_limited_transmit_counts_what_arrived() {
        let new = Some(PlannedRange { start: 20_000, end: 21_000 });
        for (limited_transmit, window, expected) in
            [(true, 14_000, new), (true, 13_999, None), (false, 19_000, new), (false, 18_999, None)]
        {
            let options = TcpOptions { limited_transmit, ..options() };
            let sack = with_blocks(&[(5_000, 6_000), (8_000, 12_000)]);
            assert_eq!(sack.plan(&view(&options, window)), expected, "{limited_transmit} {window}");
        }
    }

    /// After a timeout all data is retransmitted (RFC 2018, section 8), in ns-2 even data known to have
    /// arrived; or only missing data, up to the next block.
    #[test]
    fn rfc_6675_5_1_after_a_timeout() {
        for (keep_sacked, nxt, window, expected) in [
            (SackedAtTimeout::Forgotten, 5_000, 64_000, Some((5_000, 6_000))),
            (SackedAtTimeout::SentAgain, 5_000, 64_000, Some((5_000, 6_000))),
            (SackedAtTimeout::Kept, 4_000, 64_000, Some((4_000, 5_000))),
            (SackedAtTimeout::Kept, 5_000, 64_000, Some((6_000, 7_000))),
            (SackedAtTimeout::Kept, 6_000, 64_000, Some((6_000, 7_000))),
            (SackedAtTimeout::Kept, 6_000, 4_000, Some((6_000, 7_000))), // 2, 3 and 4 are in the network
            (SackedAtTimeout::Kept, 6_000, 3_999, None),
            (SackedAtTimeout::Kept, 7_500, 64_000, Some((7_500, 8_000))),
            (SackedAtTimeout::Kept, 9_000, 64_000, Some((12_000, 13_000))),
            (SackedAtTimeout::Kept, 16_000, 64_000, Some((20_000, 21_000))),
            (SackedAtTimeout::Kept, 20_000, 64_000, Some((20_000, 21_000))),
        ] {
            let options = TcpOptions { keep_sacked, ..options() };
            let mut view = view(&options, window);
            let above = (16_000, if nxt == 16_000 { 20_000 } else { 16_001 });
            let mut sack = with_blocks(&[(5_000, 6_000), (8_000, 12_000), above]);
            sack.enter(&view);
            sack.on_timeout(&view);
            assert!(!sack.active());
            view.sequence.nxt = nxt;
            let planned = expected.map(|(start, end)| PlannedRange { start, end });
            assert_eq!(sack.plan(&view), planned, "{keep_sacked:?} {nxt} {window}");
        }
    }
}
