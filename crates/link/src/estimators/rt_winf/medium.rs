//! Share of the medium in use, which rt-Winf compares with the capacity, in each of its readings.

use crate::estimators::occupied::Occupied;
use crate::{Elapsed, PhyTimes, WinfReading};
use multihop_core::{Interval, LinkEvent, Span, Time};

/// Definition of time in use.
#[derive(Clone, Debug)]
pub(crate) enum InUse {
    /// Exchanges that the estimator adds, in the printed and the strict reading.
    Exchanges(Occupied),
    /// All time in which the medium is sensed busy or reserved, with [`WinfReading::Whole`].
    Medium(Medium),
}

impl InUse {
    /// Creates an empty record.
    pub(crate) fn new(reading: WinfReading, elapsed: Elapsed, phy: &PhyTimes) -> InUse {
        match reading {
            WinfReading::Whole => InUse::Medium(Medium::new(elapsed, phy)),
            WinfReading::Printed | WinfReading::Strict => InUse::Exchanges(Occupied::new(elapsed)),
        }
    }

    /// Processes an event of the node's MAC.
    pub(crate) fn on_link(&mut self, event: &LinkEvent) {
        if let InUse::Medium(medium) = self {
            medium.on_link(event);
        }
    }

    /// Adds an exchange, which may end in the future.
    pub(crate) fn add(&mut self, exchange: Interval) {
        if let InUse::Exchanges(exchanges) = self {
            exchanges.add(exchange);
        }
    }

    /// Removes reservations after an instant.
    pub(crate) fn cut(&mut self, at: Time) {
        if let InUse::Exchanges(exchanges) = self {
            exchanges.cut(at);
        }
    }

    /// Share of the elapsed time that is in use at `now`, in [0, 1].
    pub(crate) fn share(&self, now: Time) -> f64 {
        match self {
            InUse::Exchanges(exchanges) => exchanges.share(now),
            InUse::Medium(medium) => medium.share(now),
        }
    }
}

/// Share of time that accesses to the medium take, as a node senses it.
///
/// An access is a period in which the medium is sensed busy, own transmissions included, or reserved by the
/// NAV. Gaps of up to a SIFS and a slot, in which no other station may start, are part of the access. Each
/// access also needs DIFS and the mean back-off, so that a single saturated sender uses all time for any
/// packet size.
#[derive(Clone, Debug)]
pub(crate) struct Medium {
    /// Accesses, each extended by `gap`, so that close ones merge.
    accesses: Occupied,
    /// Longest gap within an access.
    gap: Span,
    /// DIFS and mean back-off of an access, minus the gap by which it is extended.
    extra_time: Span,
    /// Start of the present busy period; none while the medium is idle.
    busy_from: Option<Time>,
}

impl Medium {
    /// Creates an empty record.
    pub(crate) fn new(elapsed: Elapsed, phy: &PhyTimes) -> Medium {
        let gap = phy.sifs + phy.slot;
        Medium {
            accesses: Occupied::new(elapsed),
            gap,
            extra_time: (phy.difs + phy.backoff).saturating_sub(gap),
            busy_from: None,
        }
    }

    /// Processes an event of the node's MAC.
    pub(crate) fn on_link(&mut self, event: &LinkEvent) {
        match event {
            LinkEvent::BusyFrom(start) => self.busy_from = Some(*start),
            LinkEvent::Busy(period) => {
                self.busy_from = None;
                self.add(*period);
            }
            LinkEvent::NavSet(reserved) => {
                let start = self.busy_from.unwrap_or(reserved.start);
                self.add(Interval { start, ..*reserved });
            }
            LinkEvent::NavReset(at) => self.accesses.cut(*at),
            _ => {}
        }
    }

    /// Share of the elapsed time that is in use at `now`, in [0, 1].
    pub(crate) fn share(&self, now: Time) -> f64 {
        let mut used = self.accesses.within(now);
        if let Some(start) = self.busy_from {
            used.time += now.since(self.accesses.end().max(start));
        }
        let extra_time = self.extra_time.seconds() * used.periods as f64;
        used.share_with(extra_time).min(1.0)
    }

    fn add(&mut self, period: Interval) {
        self.accesses.add(Interval { end: period.end + self.gap, ..period });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy_times::testing::dot11b;
    use crate::testing::us;

    fn air(start: u64, end: u64) -> Interval {
        Interval { start: us(start), end: us(end) }
    }

    fn fresh() -> Medium {
        Medium::new(Elapsed::Window(Span::from_ms(10)), &dot11b())
    }

    fn sense(medium: &mut Medium, start: u64, end: u64) {
        medium.on_link(&LinkEvent::BusyFrom(us(start)));
        medium.on_link(&LinkEvent::Busy(air(start, end)));
    }

    /// Used microseconds among the last 10 000.
    fn used_us(medium: &Medium, now: u64) -> u64 {
        (medium.share(us(now)) * 10_000.0).round() as u64
    }

    /// Frames of 352, 304, 1303 and 304 us with a SIFS of 10 us between them: 2293 us, plus 50 + 310 us.
    #[test]
    fn the_frames_of_an_exchange_are_one_access() {
        let mut medium = fresh();
        for (start, end) in [(1_000, 1_352), (1_362, 1_666), (1_676, 2_979), (2_989, 3_293)] {
            sense(&mut medium, start, end);
        }
        assert_eq!(used_us(&medium, 10_000), 2_293 + 360);
    }

    /// RTS and DATA of a sender whose receiver is out of reach are sensed as two accesses, and the gap
    /// between them counts as their back-off. If the RTS is decoded, its NAV covers the gap.
    #[test]
    fn what_is_reserved_counts_as_what_is_sensed() {
        let mut medium = fresh();
        sense(&mut medium, 1_000, 1_352);
        sense(&mut medium, 1_676, 2_979);
        assert_eq!(used_us(&medium, 10_000), 352 + 1_303 + 2 * 360);
        let mut medium = fresh();
        medium.on_link(&LinkEvent::BusyFrom(us(1_000)));
        medium.on_link(&LinkEvent::NavSet(air(1_352, 3_293)));
        medium.on_link(&LinkEvent::Busy(air(1_000, 1_352)));
        sense(&mut medium, 1_676, 2_979);
        assert_eq!(used_us(&medium, 10_000), 2_293 + 360);
        assert_eq!(used_us(&medium, 2_000), (1_000 + 330) * 5, "up to now, of 2 ms");
    }

    #[test]
    fn what_is_under_way_counts_and_a_reservation_that_was_given_up_does_not() {
        let mut medium = fresh();
        medium.on_link(&LinkEvent::BusyFrom(us(9_000)));
        assert_eq!(used_us(&medium, 10_000), 1_000, "its back-off counts once it is over");
        medium.on_link(&LinkEvent::NavSet(air(9_352, 11_293)));
        assert_eq!(used_us(&medium, 10_000), 1_000 + 330);
        medium.on_link(&LinkEvent::Busy(air(9_000, 9_352)));
        medium.on_link(&LinkEvent::NavReset(us(10_100)));
        assert_eq!(used_us(&medium, 15_000), 1_100 + 330);
    }

    /// 1000 accesses of 640 us each 1000: with DIFS and back-off all time is used.
    #[test]
    fn nothing_is_left_of_a_saturated_medium() {
        for elapsed in [Elapsed::Window(Span::from_ms(100)), Elapsed::SinceStart] {
            let mut medium = Medium::new(elapsed, &dot11b());
            for start in (0..1_000_000).step_by(1_000) {
                sense(&mut medium, start, start + 640);
            }
            let share = medium.share(us(1_000_000));
            assert!((share - 1.0).abs() < 1e-9, "{share}");
        }
    }
}
