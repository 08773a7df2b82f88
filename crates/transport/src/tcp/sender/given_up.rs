//! What the MAC of a sender's own node gave up: it is lost without a doubt, and needs no acknowledgements or
//! timer to show it.

use crate::tcp::ranges::Ranges;
use crate::tcp::recovery::Planned;

/// The bytes that were given up and not sent again.
#[derive(Debug)]
pub(super) struct GivenUp {
    bytes: Ranges,
    /// Repairs that may be made in a row without anything acknowledged, and how many of them are left. A next
    /// hop that is not there is left to the timer, which backs off.
    allowed: u32,
    left: u32,
}

impl GivenUp {
    /// Nothing yet.
    pub fn new(allowed: u32) -> GivenUp {
        GivenUp { bytes: Ranges::default(), allowed, left: allowed }
    }

    /// Bytes `start..end` were given up. Returns whether they are to be sent again.
    pub fn add(&mut self, start: u64, end: u64) -> bool {
        if start >= end || self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.bytes.add(start, end);
        true
    }

    /// What to send again, up to a segment of it.
    pub fn plan(&self, mss: u64) -> Option<Planned> {
        let first = self.bytes.iter().next()?;
        Some(Planned { start: first.start, end: first.end.min(first.start + mss) })
    }

    /// Bytes leave. Returns whether they are such a repair.
    pub fn on_sent(&mut self, sent: Planned) -> bool {
        let repairs = self.bytes.iter().next().is_some_and(|first| first.start == sent.start);
        if repairs {
            self.bytes.remove_below(sent.end);
        }
        repairs
    }

    /// Everything below `una` was acknowledged, for the first time.
    pub fn on_advance(&mut self, una: u64) {
        self.left = self.allowed;
        self.bytes.remove_below(una);
    }

    /// Everything is sent again.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }
}
