//! Local repairs: data that the MAC of the sender's own node gave up is certainly lost, without
//! acknowledgements or a timer.

use crate::tcp::ranges::ByteRanges;
use crate::tcp::recovery::PlannedRange;

/// Bytes that were given up and not retransmitted yet.
#[derive(Debug)]
pub(super) struct LocalRepairs {
    bytes: ByteRanges,
    /// Number of repairs allowed in a row without an acknowledgement, and the number left. If the next hop is
    /// down, the retransmission timer takes over, which backs off.
    allowed: u32,
    left: u32,
}

impl LocalRepairs {
    /// Starts without data to repair.
    pub fn new(allowed: u32) -> LocalRepairs {
        LocalRepairs { bytes: ByteRanges::default(), allowed, left: allowed }
    }

    /// Adds bytes `start..end` that were given up. Returns whether they will be retransmitted.
    pub fn add(&mut self, start: u64, end: u64) -> bool {
        if start >= end || self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.bytes.add(start, end);
        true
    }

    /// Data to retransmit next, up to a segment.
    pub fn plan(&self, mss: u64) -> Option<PlannedRange> {
        let first = self.bytes.iter().next()?;
        Some(PlannedRange { start: first.start, end: first.end.min(first.start + mss) })
    }

    /// Records that data is sent. Returns whether it is a repair.
    pub fn on_sent(&mut self, sent: PlannedRange) -> bool {
        let repairs = self.bytes.iter().next().is_some_and(|first| first.start == sent.start);
        if repairs {
            self.bytes.remove_below(sent.end);
        }
        repairs
    }

    /// Processes the first acknowledgement of everything below `una`.
    pub fn on_advance(&mut self, una: u64) {
        self.left = self.allowed;
        self.bytes.remove_below(una);
    }

    /// Discards all repairs, as all data will be retransmitted.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }
}
