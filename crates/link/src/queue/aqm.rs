//! Active queue management of one line of packets.

use super::codel::CodelOptions;
use super::line::{Line, Queued};
use multihop_core::Time;
use std::collections::VecDeque;

/// State of a queue management that decides at the head of a line.
pub(super) trait Aqm {
    /// Creates the state of a line. `salt` and the line's number select its random numbers, if it has any.
    fn new(salt: u64, line: u32) -> Self;

    /// Dequeues the next packet of a line; packets dropped before it go to `lost`. A line of at most
    /// `largest` bytes, the largest packet, need not be controlled.
    fn take<T>(
        &mut self,
        now: Time,
        options: &CodelOptions,
        largest: u32,
        line: &mut Line<T>,
        lost: &mut VecDeque<T>,
    ) -> Option<Queued<T>>;

    /// Records packets lost because the queue was full.
    fn overflowed(&mut self, now: Time, options: &CodelOptions, packets: u32);
}
