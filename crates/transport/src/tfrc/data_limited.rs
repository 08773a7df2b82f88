//! Whether an interval was one in which the sender had less to send than it was allowed to (RFC 5348, section 8.2.1).

use multihop_core::{Span, Time};

/// When the sender was not limited by its data, as far as it matters to this report and the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct DataLimited {
    /// In the interval that the next report is of, and after that.
    unlimited: Option<Time>,
    unlimited_after: Option<Time>,
    /// When the newest packet was sent that the last report tells of, and when the report came.
    reported: Option<Time>,
    heard: Option<Time>,
}

impl DataLimited {
    /// At this instant the sender sends as much as it is allowed to.
    pub fn on_unlimited(&mut self, now: Time) {
        if self.unlimited <= self.reported {
            self.unlimited = Some(now);
        } else if self.unlimited_after <= self.heard {
            self.unlimited_after = Some(now);
        }
    }

    /// A report came whose newest packet was sent at `newest`: was the round-trip time before that limited by data?
    pub fn on_report(&mut self, now: Time, newest: Time, rtt: Span) -> bool {
        let (since, until) = (newest.since(Time::ZERO).saturating_sub(rtt), newest.since(Time::ZERO));
        let within = |at: Option<Time>| {
            at.is_some_and(|at| {
                let at = at.since(Time::ZERO);
                (at > since || since == Span::ZERO) && at <= until
            })
        };
        let limited = !within(self.unlimited) && !within(self.unlimited_after);
        self.reported = Some(newest);
        self.heard = Some(now);
        if self.unlimited <= Some(newest) && self.unlimited_after > Some(newest) {
            self.unlimited = self.unlimited_after;
        }
        limited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(at: u64) -> Time {
        Time::from_ns(at * 1_000_000)
    }

    #[test]
    fn an_interval_with_an_unlimited_instant_is_not_limited() {
        let rtt = Span::from_ms(100);
        let mut data = DataLimited::default();
        data.on_unlimited(ms(10));
        assert!(!data.on_report(ms(110), ms(60), rtt));
        assert!(data.on_report(ms(260), ms(200), rtt), "nothing since");
        data.on_unlimited(ms(270));
        data.on_unlimited(ms(290));
        assert!(data.on_report(ms(300), ms(265), rtt), "it was later than what is reported");
        assert!(!data.on_report(ms(400), ms(350), rtt));
    }

    #[test]
    fn always_at_the_limit_is_never_limited() {
        let mut data = DataLimited::default();
        for now in 1..5_000 {
            data.on_unlimited(ms(now));
            if now % 70 == 0 {
                assert!(!data.on_report(ms(now), ms(now - 50), Span::from_ms(60)), "{now}");
            }
        }
    }
}
