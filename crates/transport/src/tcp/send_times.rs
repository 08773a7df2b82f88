//! When each outstanding segment was sent.

use multihop_core::Time;
use std::collections::VecDeque;

/// The outstanding segments in order, as they were cut when they were first sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct SendTimes {
    segments: VecDeque<Sending>,
}

#[derive(Clone, Copy, Debug)]
struct Sending {
    end: u64,
    sent: Time,
    once: bool,
}

impl SendTimes {
    /// Bytes `start..end` leave, for the first time or again.
    pub fn on_sent(&mut self, now: Time, start: u64, end: u64) {
        if self.segments.back().is_none_or(|last| last.end < end) {
            self.segments.push_back(Sending { end, sent: now, once: true });
            return;
        }
        let first = self.segments.partition_point(|segment| segment.end <= start);
        for segment in self.segments.range_mut(first..) {
            (segment.sent, segment.once) = (now, false);
            if segment.end >= end {
                break;
            }
        }
    }

    /// Everything below `una` was acknowledged. Returns when the last segment of it was sent, if all of it
    /// was sent once (Karn): what waited at the receiver for a repeated segment says nothing of the path.
    pub fn on_acked(&mut self, una: u64) -> Option<Time> {
        let mut newest = None;
        let mut once = true;
        while let Some(segment) = self.segments.front().copied()
            && segment.end <= una
        {
            self.segments.pop_front();
            newest = Some(segment.sent);
            once &= segment.once;
        }
        newest.filter(|_| once)
    }

    /// When the first outstanding segment was last sent.
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
