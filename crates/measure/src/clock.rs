//! One time line from two clocks.

use crate::Marks;
use multihop_capture::{Position, Reception};
use multihop_core::{Span, Time};

/// Steps of up to so much are the latency of the host, which stamps a frame when it gets around to it.
const LATENCY: Span = Span::from_ms(500);

/// A host whose stamps step back by more is not late: its clock was set.
const SET_BACK: Span = Span::from_ms(1_000);

/// TSFT counts microseconds.
const TSFT_UNIT_NS: u32 = 1_000;

/// Makes one time line of the stamps of records, which the host wrote, and of the timer of the receiving
/// radio (TSFT), which is exact but may be set anew whenever the radio hears a beacon.
///
/// Where there is a timer its differences count; the host's stamps say where the line begins, and where it
/// goes on after a step of the timer. Without a timer the host's stamps are taken as they are, but never
/// backwards. Where the host's clock was set back, the line goes on from where it was.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// Host stamp and timer, in nanoseconds, at the last setting.
    anchor: Option<(u64, u64)>,
    last: Time,
    /// Times that the timer was set anew.
    pub timer_steps: u64,
    /// Times that the host's stamps went backwards.
    pub backward: u64,
    host: Option<u64>,
    /// By how much the host's clock was set back until now, in nanoseconds.
    set_back: u64,
}

impl Clock {
    /// The instant of a frame with these stamps, of the host and of the radio in nanoseconds, never before
    /// that of the frame before it; none without any stamp.
    pub fn read(&mut self, host: Option<Time>, timer_ns: Option<u64>) -> Option<Time> {
        let host = host.map(Time::ns);
        if let (Some(now), Some(before)) = (host, self.host)
            && now < before
        {
            self.backward += 1;
            if before - now > SET_BACK.ns() {
                self.set_back = self.set_back.saturating_add(before - now);
            }
        }
        self.host = host.or(self.host);
        let host = host.map(|host| host.saturating_add(self.set_back));
        let instant = match (host, timer_ns) {
            (Some(host), Some(timer)) => self.by_timer(host, timer),
            (None, Some(timer)) => self.by_timer(timer, timer),
            (Some(host), None) => host,
            (None, None) => return None,
        };
        // Frames of one aggregate, and of two antennas, may be reported in another order. Absurd stamps end at the end of time.
        self.last = Time::from_ns(instant.max(self.last.ns()).min(Time::NEVER.ns()));
        Some(self.last)
    }

    fn by_timer(&mut self, host: u64, timer: u64) -> u64 {
        let (anchor_host, anchor_timer) = *self.anchor.get_or_insert((host, timer));
        let line = timer.checked_sub(anchor_timer).and_then(|since| anchor_host.checked_add(since));
        match line {
            Some(line) if line.abs_diff(host) <= LATENCY.ns() => line,
            _ => {
                self.timer_steps += 1;
                self.anchor = Some((host, timer));
                host
            }
        }
    }
}

/// The clock of the radio in nanoseconds, what it marks if the radio says so, and whether it is exact. A
/// timestamp goes before TSFT where it is finer.
pub(crate) fn radio_timer(reception: &Reception) -> (Option<u64>, Option<Marks>, bool) {
    let tsft = reception.tsft_us.and_then(|us| us.checked_mul(TSFT_UNIT_NS.into()));
    let known = reception.timestamp.and_then(|stamp| Some((stamp, stamp.position?)));
    match known {
        Some((stamp, position)) if tsft.is_none() || stamp.accuracy_ns < TSFT_UNIT_NS => {
            let marks = match position {
                Position::Acquisition => Marks::Begin,
                Position::MpduStart => Marks::Mpdu,
                Position::MpduEnd | Position::PpduEnd => Marks::End,
            };
            (Some(stamp.ns), Some(marks), stamp.accuracy_ns < TSFT_UNIT_NS)
        }
        _ => (tsft, None, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    #[test]
    fn the_timer_says_how_long_and_the_host_where() {
        let mut clock = Clock::default();
        assert_eq!(clock.read(Some(at(1_000)), Some(77_000)), Some(at(1_000)));
        // The host was busy for 30 ms.
        assert_eq!(clock.read(Some(at(1_040)), Some(10_077_000)), Some(at(1_010)));
        // The radio took over the timer of an access point.
        assert_eq!(clock.read(Some(at(1_050)), Some(5_000_000_000_000)), Some(at(1_050)));
        assert_eq!(clock.read(Some(at(1_060)), Some(5_000_007_000_000)), Some(at(1_057)));
        assert_eq!((clock.timer_steps, clock.backward), (1, 0));
    }

    #[test]
    fn hosts_that_step_back_are_counted_and_not_followed() {
        let mut clock = Clock::default();
        assert_eq!(clock.read(Some(at(1_000)), None), Some(at(1_000)));
        assert_eq!(clock.read(Some(at(400)), None), Some(at(1_000)));
        assert_eq!(clock.read(Some(at(1_200)), None), Some(at(1_200)));
        assert_eq!(clock.backward, 1);
        assert_eq!(clock.read(None, None), None);
    }

    #[test]
    fn a_line_goes_on_where_the_host_s_clock_is_set_back() {
        let mut alone = Clock::default();
        let read = [20_000, 20_040, 10_000, 10_040].map(|ms| alone.read(Some(at(ms)), None));
        assert_eq!(read, [20_000, 20_040, 20_040, 20_080].map(|ms| Some(at(ms))));
        assert_eq!(alone.backward, 1);
        let mut timed = Clock::default();
        let read = [(20_000, 7), (20_040, 47), (10_000, 87), (10_041, 127)]
            .map(|(ms, timer)| timed.read(Some(at(ms)), Some(timer * 1_000_000)));
        assert_eq!(read, [20_000, 20_040, 20_080, 20_120].map(|ms| Some(at(ms))), "the timer counts");
        assert_eq!((timed.backward, timed.timer_steps), (1, 0));
        let mut both = Clock::default();
        let read = [(20_000, 10_007), (20_040, 10_047), (10_000, 7), (10_040, 47)]
            .map(|(ms, timer)| both.read(Some(at(ms)), Some(timer * 1_000_000)));
        assert_eq!(read, [20_000, 20_040, 20_040, 20_080].map(|ms| Some(at(ms))));
    }

    #[test]
    fn absurd_timers_are_no_panic() {
        let mut clock = Clock::default();
        for timer in [0, u64::MAX, u64::MAX / 1_000, 5, u64::MAX] {
            assert!(clock.read(Some(at(7)), Some(timer)).is_some());
        }
    }
}
