//! Send times of outstanding segments.

use multihop_core::Time;
use std::collections::VecDeque;

/// Outstanding segments in order, with the boundaries of their first transmission.
#[derive(Clone, Debug, Default)]
pub(crate) struct SendTimes {
    segments: VecDeque<SendRecord>,
}

#[derive(Clone, Copy, Debug)]
struct SendRecord {
    end: u64,
    sent: Time,
    sent_once: bool,
}

impl SendTimes {
    /// Records the sending of bytes `start..end`, for the first time or again.
    pub fn on_sent(&mut self, now: Time, start: u64, end: u64) {
        if self.segments.back().is_none_or(|last| last.end < end) {
            self.segments.push_back(SendRecord { end, sent: now, sent_once: true });
            return;
        }
        let first = self.segments.partition_point(|segment| segment.end <= start);
        for segment in self.segments.range_mut(first..) {
            (segment.sent, segment.sent_once) = (now, false);
            if segment.end >= end {
                break;
            }
        }
    }

    /// Processes an acknowledgement up to `una`. Returns the send time of the last acknowledged segment, if
    /// all of them were sent once (Karn): the delay of data that waited at the receiver for a retransmission
    /// says nothing about the path.
    pub fn on_acked(&mut self, una: u64) -> Option<Time> {
        let mut newest = None;
        let mut sent_once = true;
        while let Some(segment) = self.segments.front().copied()
            && segment.end <= una
        {
            self.segments.pop_front();
            newest = Some(segment.sent);
            sent_once &= segment.sent_once;
        }
        newest.filter(|_| sent_once)
    }

    /// Last send time of the first outstanding segment.
    pub fn oldest(&self) -> Option<Time> {
        self.segments.front().map(|segment| segment.sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::Span;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn an_acknowledgement_is_timed_by_the_last_segment_that_it_covers() {
        let mut times = SendTimes::default();
        (0..4).for_each(|i| times.on_sent(ms(i), 10 * i, 10 * i + 10));
        assert_eq!(times.oldest(), Some(ms(0)));
        assert_eq!(times.on_acked(20), Some(ms(1)));
        assert_eq!(times.on_acked(25), None, "half a segment");
        assert_eq!(times.on_acked(40), Some(ms(3)));
        assert_eq!(times.oldest(), None);
    }

    #[test]
    fn what_was_repeated_gives_no_sample() {
        let mut times = SendTimes::default();
        (0..4).for_each(|i| times.on_sent(ms(i), 10 * i, 10 * i + 10));
        times.on_sent(ms(9), 5, 15);
        assert_eq!(times.oldest(), Some(ms(9)));
        assert_eq!(times.on_acked(10), None);
        assert_eq!(times.on_acked(30), None, "the second was repeated, the third waited for it");
        assert_eq!(times.on_acked(40), Some(ms(3)));
    }
}
