//! Loss recovery with selective acknowledgements as in ns-2.35's `Agent/TCP/Sack1`.
//!
//! Older than RFC 6675, it counts packets instead of estimating bytes:
//!
//! * Outside recovery the scoreboard is cleared by each new acknowledgement, and releases nothing. The first
//!   two duplicates release one segment each.
//! * After a timeout duplicates are ignored until new data is acknowledged, and all data is retransmitted.
//! * In recovery `pipe` starts at the segments in flight minus three. Each acknowledgement subtracts one, a
//!   partial one two. Missing segments are not subtracted.

use super::{Advance, PlannedRange, SenderView};
use crate::tcp::scoreboard::Scoreboard;
use multihop_core::SackBlock;

/// Loss recovery of ns-2's `Sack1`: scoreboard, and state of the current fast recovery.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sack1 {
    board: Scoreboard,
    episode: Option<Sack1Episode>,
    /// Whether the timer expired and no new data was acknowledged since.
    ignores_duplicates: bool,
    /// `recover_` after a timeout: fast retransmit needs an acknowledgement beyond it.
    recover: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Sack1Episode {
    /// Acknowledgement number that ends the episode.
    point: u64,
    /// End of the data that was retransmitted.
    high_rxt: u64,
    /// Whether the first retransmission, which `pipe` does not count, is still to be sent.
    first: bool,
    /// Estimated number of segments in the network; negative if more acknowledgements arrived.
    pipe: i64,
}

impl Sack1 {
    pub fn active(&self) -> bool {
        self.episode.is_some()
    }

    pub fn on_blocks(&mut self, una: u64, max: u64, blocks: &[SackBlock]) -> bool {
        if let Some(episode) = &mut self.episode {
            episode.pipe -= 1;
        }
        !self.ignores_duplicates && self.board.update(una, max, blocks) > 0
    }

    pub fn detects_loss(&self, view: &SenderView) -> bool {
        view.duplicates == view.options.duplicate_threshold
            && self.recover.is_none_or(|recover| view.una > recover)
    }

    pub fn enter(&mut self, view: &SenderView) {
        let outstanding = (view.max - view.una).div_ceil(view.mss()) as i64;
        let pipe = outstanding - i64::from(view.options.duplicate_threshold);
        self.episode = Some(Sack1Episode { point: view.max, high_rxt: view.una, first: true, pipe });
    }

    pub fn on_advance(&mut self, view: &SenderView) -> Advance {
        self.ignores_duplicates = false;
        match &mut self.episode {
            Some(episode) if view.una < episode.point => {
                episode.pipe -= 1;
                episode.high_rxt = episode.high_rxt.max(view.una);
                return Advance::Partial { restart_timer: true };
            }
            Some(_) => self.recover = None,
            None => {}
        }
        self.board.clear();
        match self.episode.take() {
            Some(_) => Advance::Recovered { window: view.window, opens: false },
            None => Advance::NoRecovery,
        }
    }

    pub fn arrived(&self) -> u64 {
        self.board.sacked().bytes()
    }

    pub fn on_timeout(&mut self, view: &SenderView) {
        *self = Sack1 { ignores_duplicates: true, recover: Some(view.max), ..Sack1::default() };
    }

    pub fn plan(&self, view: &SenderView) -> Option<PlannedRange> {
        let Some(episode) = &self.episode else {
            let few = if view.options.limited_transmit { view.duplicates } else { 0 };
            let few = u64::from(few.min(view.options.duplicate_threshold - 1));
            return view.next_in_sequence(view.nxt - view.una, view.window + few * view.mss());
        };
        if episode.first {
            return Some(PlannedRange { start: view.una, end: view.max.min(view.una + view.mss()) });
        }
        if episode.pipe.max(0) as u64 * view.mss() + view.mss() > view.window {
            return None;
        }
        self.hole(view, episode).or_else(|| view.segment(view.nxt, view.pushed, 0, u64::MAX))
    }

    pub fn on_sent(&mut self, sent: PlannedRange) {
        let Some(episode) = &mut self.episode else { return };
        episode.pipe += i64::from(!episode.first);
        if episode.first || sent.start < self.board.top(0) {
            episode.high_rxt = sent.end;
        }
        episode.first = false;
    }

    /// Estimated number of bytes in the network.
    pub fn pipe(&self, view: &SenderView) -> u64 {
        let outstanding = view.nxt - view.una;
        self.episode.map_or(outstanding, |episode| (episode.pipe.max(0) as u64 * view.mss()).min(outstanding))
    }

    /// Next missing segment below the selectively acknowledged data that was not retransmitted.
    fn hole(&self, view: &SenderView, episode: &Sack1Episode) -> Option<PlannedRange> {
        let holes = self.board.holes(view.una, view.max, view.options.duplicate_threshold, view.mss());
        let mut below =
            holes.filter(|hole| hole.end > episode.high_rxt && hole.end <= self.board.top(view.una));
        below.next().map(|hole| {
            let start = hole.start.max(episode.high_rxt);
            PlannedRange { start, end: hole.end.min(start + view.mss()) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::recovery::SequenceState;
    use crate::{Recovery, TcpOptions};

    const MSS: u64 = 1_000;

    fn view(options: &TcpOptions, una: u64, nxt: u64, window: u64, duplicates: u32) -> SenderView<'_> {
        let sequence = SequenceState {
            una,
            nxt,
            max: 20_000,
            pushed: 50_000,
            peer_window: 32_000,
            duplicates,
            burst: 0,
        };
        SenderView { options, window, sequence }
    }

    fn segment(start: u64) -> PlannedRange {
        PlannedRange { start, end: start + MSS }
    }

    fn sacked(start: u64, end: u64) -> [SackBlock; 1] {
        [SackBlock { start, end }]
    }

    /// A window of four segments, after a timeout at 2: the receiver has 3 to 14. Its reports release
    /// nothing; two duplicates do.
    #[test]
    fn what_is_sent_again_is_limited_by_the_window_and_two_duplicates() {
        let options = TcpOptions::ns2(Recovery::Sack1, 1000, 32);
        let view = |nxt, duplicates| view(&options, 2_000, nxt, 4_000, duplicates);
        let mut sack = Sack1::default();
        assert!(sack.on_blocks(2_000, 20_000, &sacked(3_000, 15_000)));
        assert_eq!(sack.plan(&view(5_000, 0)), Some(segment(5_000)));
        assert_eq!(sack.plan(&view(6_000, 0)), None);
        assert_eq!(sack.plan(&view(6_000, 1)), Some(segment(6_000)));
        assert_eq!(sack.plan(&view(7_000, 1)), None);
        assert_eq!(sack.plan(&view(7_000, 2)), Some(segment(7_000)));
        assert_eq!(sack.plan(&view(8_000, 5)), None);
        let without = TcpOptions { limited_transmit: false, ..options.clone() };
        assert_eq!(sack.plan(&SenderView { options: &without, ..view(6_000, 2) }), None);
    }

    /// Duplicates are ignored until new data is acknowledged; then each acknowledgement clears the
    /// scoreboard.
    #[test]
    fn after_a_timeout_duplicates_wait_for_what_is_new() {
        let options = TcpOptions::ns2(Recovery::Sack1, 1000, 32);
        let view = |una, duplicates| view(&options, una, 20_000, 4_000, duplicates);
        let mut sack = Sack1::default();
        sack.on_timeout(&view(2_000, 0));
        let block = sacked(5_000, 16_000);
        assert!(!sack.on_blocks(2_000, 20_000, &block));
        assert_eq!(sack.on_advance(&view(3_000, 0)), Advance::NoRecovery);
        assert!(sack.on_blocks(3_000, 20_000, &block) && !sack.on_blocks(3_000, 20_000, &block));
        sack.on_advance(&view(4_000, 0));
        assert!(sack.on_blocks(4_000, 20_000, &block));
        // `bugFix_`: no fast retransmit of data that was outstanding at the timeout, up to and including its
        // end.
        assert!(!sack.detects_loss(&view(4_000, 3)) && !sack.detects_loss(&view(20_000, 3)));
        assert!(sack.detects_loss(&view(21_000, 3)));
        assert!(
            !sack.detects_loss(&view(21_000, 2)) && !sack.detects_loss(&view(21_000, 4)),
            "the third alone"
        );
    }

    /// 18 segments are outstanding, the first and the fifth are lost, and the reduced window is 9: `pipe` is
    /// 15, and seven acknowledgements release a segment.
    #[test]
    fn pipe_counts_acknowledgements() {
        let options = TcpOptions::ns2(Recovery::Sack1, 1000, 32);
        let view = |una, nxt| view(&options, una, nxt, 9_000, 3);
        let mut sack = Sack1::default();
        sack.on_blocks(2_000, 20_000, &[SackBlock { start: 3_000, end: 6_000 }]);
        sack.enter(&view(2_000, 20_000));
        assert_eq!(sack.plan(&view(2_000, 20_000)), Some(segment(2_000)));
        sack.on_sent(segment(2_000));
        assert_eq!(sack.pipe(&view(2_000, 20_000)), 15_000, "the first retransmission does not count");
        for end in 8..14 {
            assert_eq!(sack.plan(&view(2_000, 20_000)), None);
            sack.on_blocks(2_000, 20_000, &sacked(7_000, end * MSS));
        }
        assert_eq!((sack.pipe(&view(2_000, 20_000)), sack.plan(&view(2_000, 20_000))), (9_000, None));
        // An acknowledgement without new information counts as well.
        assert!(!sack.on_blocks(2_000, 20_000, &[]));
        assert_eq!(sack.plan(&view(2_000, 20_000)), Some(segment(6_000)), "the hole before new data");
        sack.on_sent(segment(6_000));
        assert_eq!(sack.plan(&view(2_000, 20_000)), None);
        // A partial acknowledgement counts twice.
        sack.on_blocks(6_000, 20_000, &[]);
        assert_eq!(sack.on_advance(&view(6_000, 20_000)), Advance::Partial { restart_timer: true });
        assert_eq!(sack.pipe(&view(6_000, 20_000)), 7_000);
        assert_eq!(
            sack.plan(&view(6_000, 20_000)),
            Some(segment(20_000)),
            "new data, as the hole was filled"
        );
        // The end of recovery keeps the window, and clears the scoreboard.
        sack.on_blocks(20_000, 20_000, &[]);
        assert_eq!(
            sack.on_advance(&view(20_000, 20_000)),
            Advance::Recovered { window: 9_000, opens: false }
        );
        assert!(!sack.active());
        assert!(sack.detects_loss(&view(20_000, 20_000)), "the next loss may follow at once");
    }

    /// `pipe` starts at the outstanding segments, rounded up, minus three, but at least zero.
    #[test]
    fn pipe_begins_three_below_what_is_outstanding() {
        let options = TcpOptions::ns2(Recovery::Sack1, 1000, 32);
        for (una, pipe) in [(2_000, 15_000), (1_500, 16_000), (16_000, 1_000), (17_000, 0), (19_000, 0)] {
            let mut sack = Sack1::default();
            sack.enter(&view(&options, una, 20_000, 9_000, 3));
            assert_eq!(sack.pipe(&view(&options, una, 20_000, 9_000, 3)), pipe, "{una}");
            assert_eq!(sack.pipe(&view(&options, una, una, 9_000, 3)), 0, "no more than is outstanding");
        }
    }
}
