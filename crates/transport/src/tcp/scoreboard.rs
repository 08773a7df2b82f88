//! Scoreboard of selective acknowledgements (RFC 6675, sections 2 to 4).

use crate::tcp::ranges::ByteRanges;
use multihop_core::SackBlock;

/// Bytes `start..end` that were neither acknowledged nor selectively acknowledged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct SackHole {
    pub start: u64,
    pub end: u64,
    /// Whether `IsLost()` holds for the whole hole: enough data above was selectively acknowledged.
    pub lost: bool,
}

/// State of the outstanding bytes `una..max`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    sacked: ByteRanges,
}

impl Scoreboard {
    /// `Update()`: processes an acknowledgement. Returns the number of bytes that its blocks newly
    /// acknowledge.
    pub fn update(&mut self, una: u64, max: u64, blocks: &[SackBlock]) -> u64 {
        self.sacked.remove_below(una);
        blocks.iter().map(|block| self.sacked.add(block.start.max(una), block.end.min(max))).sum()
    }

    /// Clears the scoreboard.
    pub fn clear(&mut self) {
        self.sacked.clear();
    }

    /// Selectively acknowledged bytes.
    pub fn sacked(&self) -> &ByteRanges {
        &self.sacked
    }

    /// Holes in ascending order. The last one, above all selectively acknowledged data, is never lost.
    pub fn holes(&self, una: u64, max: u64, threshold: u32, mss: u64) -> impl Iterator<Item = SackHole> {
        let (blocks, bytes) = (self.sacked.len(), self.sacked.bytes());
        let mut start = una;
        let mut bytes_below = 0;
        let below = self.sacked.iter().enumerate().map(move |(index, range)| {
            // "DupThresh discontiguous SACKed sequences have arrived above", or "more than (DupThresh - 1) * SMSS bytes".
            let lost = blocks - index >= threshold as usize
                || bytes - bytes_below > u64::from(threshold.saturating_sub(1)) * mss;
            let hole = SackHole { start, end: range.start, lost };
            start = range.end;
            bytes_below += range.end - range.start;
            hole
        });
        let top = self.sacked.iter().last().map_or(una, |range| range.end);
        below
            .chain(std::iter::once(SackHole { start: top, end: max, lost: false }))
            .filter(|hole| hole.start < hole.end)
    }

    /// `SetPipe()`: estimate of the bytes in the network, if all missing data below `high_rxt` was
    /// retransmitted.
    pub fn pipe(&self, una: u64, max: u64, high_rxt: u64, threshold: u32, mss: u64) -> u64 {
        self.holes(una, max, threshold, mss)
            .map(|hole| {
                let first = if hole.lost { 0 } else { hole.end - hole.start };
                first + hole.end.min(high_rxt).saturating_sub(hole.start)
            })
            .sum()
    }

    /// End of the selectively acknowledged data; `una` if there is none.
    pub fn top(&self, una: u64) -> u64 {
        self.sacked.iter().last().map_or(una, |range| range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(blocks: &[(u64, u64)]) -> Scoreboard {
        let mut board = Scoreboard::default();
        for &(start, end) in blocks {
            board.update(0, 100, &[SackBlock { start, end }]);
        }
        board
    }

    #[test]
    fn rfc_6675_4_is_lost_by_blocks_and_by_bytes() {
        let lost = |blocks: &[(u64, u64)]| board(blocks).holes(0, 100, 3, 10).next().unwrap().lost;
        assert!(!lost(&[(10, 15), (20, 25)]));
        assert!(lost(&[(10, 15), (20, 25), (30, 35)]), "three discontiguous blocks");
        assert!(!lost(&[(10, 30)]), "two segments");
        assert!(lost(&[(10, 31)]), "more than two segments");
    }

    /// Segments of 10 bytes; 3, 5 and 7 of 1..10 are missing.
    #[test]
    fn rfc_6675_4_pipe() {
        let board = board(&[(30, 40), (50, 60), (70, 100)]);
        let holes: Vec<(u64, bool)> =
            board.holes(20, 100, 3, 10).map(|hole| (hole.start, hole.lost)).collect();
        assert_eq!(holes, [(20, true), (40, true), (60, true)]);
        assert_eq!(board.pipe(20, 120, 20, 3, 10), 20, "the two segments above");
        assert_eq!(board.pipe(20, 120, 30, 3, 10), 30, "and one retransmission");
    }

    #[test]
    fn blocks_beyond_what_is_outstanding_are_ignored() {
        let mut board = Scoreboard::default();
        assert_eq!(
            board.update(50, 100, &[SackBlock { start: 10, end: 40 }, SackBlock { start: 90, end: 140 }]),
            10
        );
        assert_eq!(board.update(50, 100, &[SackBlock { start: 90, end: 100 }]), 0);
        assert_eq!(board.update(95, 100, &[]), 0);
        assert_eq!(board.sacked().bytes(), 5);
    }
}
