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

    pub fn on_timeout(&mut self, view: &View) {
        if view.options.sacked_at_timeout != SackedAtTimeout::Kept {
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
        if view.nxt == view.max || view.options.sacked_at_timeout == SackedAtTimeout::SentAgain {
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
