//! Loss recovery with selective acknowledgements (RFC 6675).

use super::{Advance, Planned, View};
use crate::SackedAtTimeout;
use crate::tcp::scoreboard::Scoreboard;
use multihop_core::SackBlock;

/// The scoreboard, and the state of an episode of recovery.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sack {
    board: Scoreboard,
    episode: Option<Episode>,
}

#[derive(Clone, Copy, Debug)]
struct Episode {
    /// `RecoveryPoint`: an acknowledgement up to here ends it.
    point: u64,
    /// `HighRxt`: everything missing below was sent again.
    high_rxt: u64,
    /// `RescueRxt` is defined: the one rescue retransmission below `point` was made.
    rescued: Option<u64>,
    /// The first retransmission, which no window holds back, is still to be made.
    first: bool,
    /// The estimate of the bytes in the network.
    pipe: u64,
}

/// Which rule of `NextSeg()` chose a segment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Rule {
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

    pub fn detects_loss(&self, view: &View) -> bool {
        let lost = || self.holes(view).next().is_some_and(|hole| hole.start == view.una && hole.lost);
        view.duplicates >= view.options.duplicate_threshold || lost()
    }

    pub fn enter(&mut self, view: &View) {
        self.episode =
            Some(Episode { point: view.max, high_rxt: view.una, rescued: None, first: true, pipe: 0 });
        self.set_pipe(view);
    }

    pub fn on_advance(&mut self, view: &View) -> Advance {
        match self.episode {
            None => Advance::Usual,
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

    pub fn set_pipe(&mut self, view: &View) {
        let Some(episode) = &mut self.episode else { return };
        episode.high_rxt = episode.high_rxt.max(view.una);
        let (threshold, mss) = (view.options.duplicate_threshold, view.mss());
        episode.pipe = self.board.pipe(view.una, view.max, episode.high_rxt, threshold, mss);
    }

    pub fn gone(&self, view: &View) -> u64 {
        self.episode.map_or(0, |episode| (view.nxt - view.una).saturating_sub(episode.pipe))
    }

    pub fn pipe(&self, view: &View) -> u64 {
        let outside = || view.nxt - view.una - self.board.sacked().bytes_below(view.nxt);
        self.episode.map_or_else(outside, |episode| episode.pipe)
    }

    pub fn arrived(&self) -> u64 {
        self.board.sacked().bytes()
    }

    pub fn on_timeout(&mut self, view: &View) {
        if view.options.keep_sacked != SackedAtTimeout::Kept {
            self.board.clear();
        }
        self.episode = None;
    }

    pub fn plan(&self, view: &View) -> Option<Planned> {
        match &self.episode {
            Some(episode) => self.next_segment(view, episode).map(|(planned, _)| planned),
            None => self.outside_recovery(view),
        }
    }

    pub fn on_sent(&mut self, view: &View, sent: Planned) {
        let Some(mut episode) = self.episode else { return };
        let rule = self.next_segment(view, &episode).map_or(Rule::New, |(_, rule)| rule);
        episode.first = false;
        episode.pipe += sent.end - sent.start;
        match rule {
            Rule::Retransmit => episode.high_rxt = sent.end,
            Rule::Rescue => episode.rescued = Some(episode.point),
            Rule::New => {}
        }
        self.episode = Some(episode);
    }

    /// `NextSeg()` (RFC 6675, section 4), and step C of section 5 that asks for it.
    fn next_segment(&self, view: &View, episode: &Episode) -> Option<(Planned, Rule)> {
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
                    (Planned { start, end: hole.end.min(start + mss) }, Rule::Retransmit)
                })
        };
        if episode.first {
            // Step 4.3: whatever `IsLost()` says, the segment at `una` goes.
            let end = self.holes(view).next().map_or(view.max, |hole| hole.end);
            return Some((Planned { start: view.una, end: end.min(view.una + mss) }, Rule::Retransmit));
        }
        let new = || view.segment(view.nxt, view.pushed, 0, u64::MAX).map(|planned| (planned, Rule::New));
        if view.options.holes_first {
            return missing(false).or_else(new);
        }
        let rescue = || {
            let may = episode.rescued.is_none_or(|rescued| view.una > rescued);
            let last = self.holes(view).last().filter(|hole| may && hole.end > episode.high_rxt)?;
            Some((
                Planned { start: last.start.max(last.end.saturating_sub(mss)), end: last.end },
                Rule::Rescue,
            ))
        };
        missing(true).or_else(new).or_else(|| missing(false)).or_else(rescue)
    }

    fn outside_recovery(&self, view: &View) -> Option<Planned> {
        let sacked = self.board.sacked();
        // Counting selectively acknowledged bytes as gone is Limited Transmit (RFC 6675, section 5, step 3).
        let gone = if view.options.limited_transmit { sacked.bytes_below(view.nxt) } else { 0 };
        let in_flight = view.nxt - view.una - gone;
        if view.nxt == view.max || view.options.keep_sacked == SackedAtTimeout::SentAgain {
            return view.usual(in_flight, view.window);
        }
        let start = sacked.containing(view.nxt).map_or(view.nxt, |range| range.end);
        let limit = if start < view.max {
            sacked.after(start).map_or(view.max, |range| range.start)
        } else {
            view.pushed
        };
        view.segment(start, limit, in_flight, view.window)
    }

    fn holes(&self, view: &View) -> impl Iterator<Item = crate::tcp::scoreboard::Hole> {
        self.board.holes(view.una, view.max, view.options.duplicate_threshold, view.mss())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::recovery::Sequence;
    use crate::{Recovery, TcpOptions};

    const MSS: u64 = 1_000;

    fn options() -> TcpOptions {
        TcpOptions { recovery: Recovery::Sack, segment_size: MSS as u32, ..TcpOptions::default() }
    }

    /// Segments 2 to 19 are outstanding, and as much as one likes is to be sent.
    fn view(options: &TcpOptions, window: u64) -> View<'_> {
        let (una, nxt, max, pushed, peer_window) = (2_000, 20_000, 20_000, 50_000, 64_000);
        let sequence = Sequence { una, nxt, max, pushed, peer_window, duplicates: 3, burst: 0 };
        View { options, window, sequence }
    }

    fn with_blocks(blocks: &[(u64, u64)]) -> Sack {
        let mut sack = Sack::default();
        for (start, end) in blocks {
            assert!(sack.on_blocks(2_000, 20_000, &[SackBlock { start: *start, end: *end }]));
        }
        sack
    }

    /// Sends what is planned, so often, and says where each segment begins.
    fn send(sack: &mut Sack, view: &View, most: usize) -> Vec<u64> {
        let next = |_| {
            let planned = sack.plan(view)?;
            sack.on_sent(view, planned);
            assert_eq!(planned.end - planned.start, MSS);
            Some(planned.start)
        };
        (0..most).map_while(next).collect()
    }

    /// Segments 5 and 8 to 11 arrived. What lies below is lost, three segments and two; then comes new data
    /// (rule 2), and without it one rescue of the last segment (rule 4), once.
    #[test]
    fn rfc_6675_4_next_seg_repeats_what_is_lost_and_then_sends_what_is_new() {
        let options = options();
        let mut sack = with_blocks(&[(5_000, 6_000), (8_000, 12_000)]);
        let mut wide = view(&options, 64_000);
        sack.enter(&wide);
        // The eight above are in the network.
        assert_eq!((sack.pipe(&wide), sack.gone(&wide)), (8_000, 10_000));
        let mut other = sack.clone();
        assert_eq!(send(&mut sack, &wide, 7), [2_000, 3_000, 4_000, 6_000, 7_000, 20_000, 20_000]);
        assert_eq!(sack.pipe(&wide), 15_000);
        wide.sequence.pushed = 20_000;
        assert_eq!(send(&mut other, &wide, 9), [2_000, 3_000, 4_000, 6_000, 7_000, 19_000]);
    }

    /// One segment of 18 arrived, which does not make anything lost: the first one goes, then what is new,
    /// then holes all the same (rule 3). ns-2 fills holes first, and rescues nothing.
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

    /// Step C: a segment leaves while `cwnd - pipe` is one at least; the first one whatever the window is
    /// (step 4.3).
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

    /// Step A: up to `RecoveryPoint` ends it; below, what was sent again counts as being in the network.
    #[test]
    fn rfc_6675_5_recovery_ends_at_its_point() {
        let options = options();
        let at = |una| {
            let mut view = view(&options, 64_000);
            view.sequence.una = una;
            view
        };
        let mut sack = with_blocks(&[(5_000, 6_000), (8_000, 12_000)]);
        assert_eq!(sack.on_advance(&at(2_000)), Advance::Usual);
        sack.enter(&at(2_000));
        assert_eq!(send(&mut sack, &at(2_000), 4).len(), 4);
        sack.on_blocks(6_000, 20_000, &[]);
        assert_eq!(sack.on_advance(&at(6_000)), Advance::Partial { restart_timer: true });
        assert_eq!(sack.pipe(&at(6_000)), 9_000, "segment 6 again, and 12 to 19");
        assert_eq!(sack.on_advance(&at(19_999)), Advance::Partial { restart_timer: true });
        assert_eq!(sack.on_advance(&at(20_000)), Advance::Recovered { window: 64_000, opens: false });
        assert!(!sack.active() && sack.gone(&at(20_000)) == 0);
    }

    /// Nothing new in a block is no duplicate (section 2), and three segments above `una`, or three
    /// duplicates, are a loss.
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

    /// Section 5, step 3: what was selectively acknowledged counts as gone, if Limited Transmit is on.
    #[test]
    fn rfc_6675_5_limited_transmit_counts_what_arrived() {
        let new = Some(Planned { start: 20_000, end: 21_000 });
        for (limited_transmit, window, expected) in
            [(true, 14_000, new), (true, 13_999, None), (false, 19_000, new), (false, 18_999, None)]
        {
            let options = TcpOptions { limited_transmit, ..options() };
            let sack = with_blocks(&[(5_000, 6_000), (8_000, 12_000)]);
            assert_eq!(sack.plan(&view(&options, window)), expected, "{limited_transmit} {window}");
        }
    }

    /// After a timeout everything is sent again (RFC 2018, section 8), or as ns-2 does although it is known
    /// to have arrived; or what is missing alone, up to the next block.
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
            let planned = expected.map(|(start, end)| Planned { start, end });
            assert_eq!(sack.plan(&view), planned, "{keep_sacked:?} {nxt} {window}");
        }
    }
}
