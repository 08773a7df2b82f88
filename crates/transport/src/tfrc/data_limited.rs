//! Detection of data-limited intervals, in which the sender had less to send than allowed (RFC 5348, section
//! 8.2.1).

use multihop_core::Time;
use std::collections::VecDeque;

/// Times at which the sender was not data-limited, as far as no report covers them. The RFC keeps two of
/// them, which suffices for one report per round-trip time.
#[derive(Clone, Debug, Default)]
pub struct DataLimited {
    unlimited: VecDeque<Time>,
    /// Send time of the newest packet that the last report covers.
    reported: Option<Time>,
}

impl DataLimited {
    /// Records that the sender sends as much as allowed at this time.
    pub fn on_unlimited(&mut self, now: Time) {
        self.unlimited.push_back(now);
    }

    /// Processes a report whose newest packet was sent at `newest`. Returns whether the whole interval since
    /// the newest packet of the last report was data-limited; false if the report covers no newer packet.
    pub fn on_report(&mut self, newest: Time) -> bool {
        if self.reported >= Some(newest) {
            return false;
        }
        self.reported = Some(newest);
        let passed = self.unlimited.iter().take_while(|at| **at <= newest).count();
        self.unlimited.drain(..passed);
        passed == 0
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
        let mut data = DataLimited::default();
        data.on_unlimited(ms(10));
        assert!(!data.on_report(ms(60)));
        assert!(data.on_report(ms(200)), "nothing since");
        data.on_unlimited(ms(270));
        data.on_unlimited(ms(290));
        assert!(!data.on_report(ms(200)), "no time at all");
        assert!(data.on_report(ms(265)), "it was later than what is reported");
        assert!(!data.on_report(ms(280)));
        assert!(!data.on_report(ms(350)));
    }
}
