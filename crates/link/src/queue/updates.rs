//! Times of the periodic updates of a drop probability. A queue has no timer: it makes up for the updates at
//! its next event, as nothing changes between events.

use multihop_core::{Span, Time};

/// Updates at the multiples of an interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Updates {
    interval: Span,
    next: Time,
}

impl Updates {
    pub(super) fn new(interval: Span) -> Updates {
        Updates { interval, next: Time::ZERO + interval }
    }

    /// Takes the next update up to `now`; returns its time.
    pub(super) fn take(&mut self, now: Time) -> Option<Time> {
        let due = self.next;
        if due > now {
            return None;
        }
        self.next = due + self.interval;
        Some(due)
    }

    /// Skips all updates up to `now`; returns the time of the last one.
    pub(super) fn skip(&mut self, now: Time) -> Option<Time> {
        if self.next > now {
            return None;
        }
        let last = self.next + self.interval * now.since(self.next).whole(self.interval);
        self.next = last + self.interval;
        Some(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    #[test]
    fn updates_are_at_multiples_of_the_interval() {
        let mut updates = Updates::new(Span::from_ms(15));
        assert_eq!(updates.take(ms(14)), None);
        assert_eq!(
            [updates.take(ms(31)), updates.take(ms(31)), updates.take(ms(31))],
            [Some(ms(15)), Some(ms(30)), None]
        );
        assert_eq!(updates.skip(ms(44)), None);
        assert_eq!((updates.skip(ms(100)), updates.take(ms(104))), (Some(ms(90)), None));
        assert_eq!((updates.skip(ms(105)), updates.take(ms(120))), (Some(ms(105)), Some(ms(120))));
    }
}
