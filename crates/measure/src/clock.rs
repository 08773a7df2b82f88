//! Time line from the clocks of the host and of the radio.

use crate::StampReference;
use multihop_capture::{RxInfo, TimestampInstant};
use multihop_core::{Span, Time};

/// Limit on the latency of the host, which stamps a frame when it processes it.
const LATENCY: Span = Span::from_ms(500);

/// Backward step of the host's timestamps above which its clock was set back; smaller ones are reordered
/// frames.
const SET_BACK: Span = JUMP;

/// Longest PPDU (aPPDUMaxTime, Table 19-25, rounded up): a timer that does not change for longer has stopped.
pub(crate) const LONGEST_PPDU: Span = Span::from_ms(10);

/// Unit of TSFT, a microsecond.
const TSFT_UNIT_NS: u32 = 1_000;

/// Monotonic time line of a capture, from the radio's timer (TSFT) and the host's timestamps.
///
/// - Timer present: differences of the timer. The host gives the start, and the value after a timer reset.
/// - Timer and host diverge: if the timer advanced by at most as much as the host's clock, the host's clock
///   was set. Otherwise the timer was reset, as by a beacon.
/// - Frame without timer: host timestamp minus the host's latency at the previous frame with both.
/// - No timer at all: host timestamps. If the host's clock is set back, the time line continues from its
///   last value.
#[derive(Clone, Debug, Default)]
pub struct CaptureClock {
    /// Host timestamp and timer in nanoseconds at the last synchronization.
    anchor: Option<(u64, u64)>,
    /// Last timer value, and the host timestamp at which it first appeared.
    timer: Option<(u64, Option<u64>)>,
    /// Delay of the host relative to the timer at the last frame with both, in nanoseconds.
    lag: i64,
    /// Host timestamp and timer of the last frame with both.
    last_pair: Option<(u64, u64)>,
    /// Correction of host timestamps since the host's clock was set, in nanoseconds.
    host_correction: i64,
    last: Time,
    /// Number of timer resets.
    pub timer_steps: u64,
    /// Number of times that the host's clock was set, as the timer shows.
    pub host_steps: u64,
    /// Number of frames whose timer had not changed since a much earlier frame, so that it was not used.
    pub stalled: u64,
    /// Number of times that the host's timestamps went backwards.
    pub backward: u64,
    host: Option<u64>,
    /// Total by which the host's clock was set back, in nanoseconds.
    set_back: u64,
}

impl CaptureClock {
    /// Total by which the host's clock was set back; zero with a timer, which gives the elapsed time.
    pub fn set_back(&self) -> Span {
        Span::from_ns(if self.anchor.is_some() { 0 } else { self.set_back })
    }
}

impl CaptureClock {
    /// Time of a frame with these timestamps of host and radio; the latter in nanoseconds. Never decreases.
    /// None without any timestamp.
    pub fn read(&mut self, host: Option<Time>, timer_ns: Option<u64>) -> Option<Time> {
        let host = self.host(host);
        let timer_ns = timer_ns.filter(|&timer| !self.has_stopped(timer, host));
        let instant = match (host, timer_ns) {
            (host, Some(timer)) => self.by_timer(host, timer),
            (Some(host), None) => host.saturating_add_signed(self.host_correction.saturating_sub(self.lag)),
            (None, None) => return None,
        };
        // Frames of one A-MPDU or of two antennas may be reordered. Absurd timestamps are limited to the end
        // of time.
        self.last = Time::from_ns(instant.max(self.last.ns()).min(Time::NEVER.ns()));
        Some(self.last)
    }

    /// Whether the timer is synchronized with the time line.
    pub(crate) fn is_set(&self) -> bool {
        self.anchor.is_some()
    }

    /// Host timestamp, corrected for a clock that was set back.
    fn host(&mut self, host: Option<Time>) -> Option<u64> {
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
        host.map(|host| host.saturating_add(self.set_back))
    }

    /// Whether the timer has kept this value for longer than a PPDU lasts.
    fn has_stopped(&mut self, timer: u64, host: Option<u64>) -> bool {
        match self.timer {
            Some((value, since)) if value == timer => {
                let passed = host.zip(since).map_or(0, |(host, since)| host.saturating_sub(since));
                let stands = passed > LONGEST_PPDU.ns();
                self.stalled += u64::from(stands);
                stands
            }
            _ => {
                self.timer = Some((timer, host));
                false
            }
        }
    }

    fn by_timer(&mut self, host: Option<u64>, timer: u64) -> u64 {
        let host = host.map(|host| host.saturating_add_signed(self.host_correction));
        // Without a host timestamp, the time line starts with the timer's value, or continues from the last
        // time.
        let first = host.unwrap_or(timer);
        let (anchor_host, anchor_timer) = *self.anchor.get_or_insert((first, timer));
        let line = timer.checked_sub(anchor_timer).and_then(|since| anchor_host.checked_add(since));
        let fits = |line: u64, host: u64| line.abs_diff(host) <= LATENCY.ns();
        let now = match (line, host) {
            (Some(line), None) => line,
            (Some(line), Some(host)) if fits(line, host) => line,
            (Some(line), Some(host)) if self.host_was_set(host, timer) => {
                self.host_steps += 1;
                self.host_correction = self
                    .host_correction
                    .saturating_add(line.cast_signed().saturating_sub(host.cast_signed()));
                line
            }
            _ => {
                self.timer_steps += 1;
                let now = host.unwrap_or(self.last.ns());
                self.anchor = Some((now, timer));
                now
            }
        };
        if let Some(host) = host {
            let late = host.cast_signed().saturating_sub(now.cast_signed());
            self.lag = if late.unsigned_abs() > LATENCY.ns() { 0 } else { late };
            self.last_pair = Some((host, timer));
        }
        now
    }

    /// Whether the host's clock was set, and not the timer: since the last frame, the timer advanced by no
    /// more than the host's clock, apart from the host's latency.
    fn host_was_set(&self, host: u64, timer: u64) -> bool {
        let Some((last_host, last_timer)) = self.last_pair else { return false };
        let step = timer.checked_sub(last_timer);
        step.is_some_and(|step| step <= host.saturating_sub(last_host).saturating_add(LATENCY.ns()))
    }
}

/// Time of a frame by the radio's clock.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct RadioTime {
    /// Clock of the radio, in nanoseconds.
    pub ns: Option<u64>,
    /// Instant that the clock value refers to, if the radio reports it.
    pub stamp_reference: Option<StampReference>,
    /// Whether the resolution is finer than microseconds.
    pub exact: bool,
    /// Whether the value is a TSFT, which by definition refers to the first bit of the MPDU.
    pub is_tsft: bool,
}

/// Time by the radio's clock: the timestamp field if it is finer than TSFT, else TSFT.
pub(crate) fn radio_timer(reception: &RxInfo) -> RadioTime {
    let tsft = reception.tsft_us.and_then(|us| us.checked_mul(TSFT_UNIT_NS.into()));
    match reception.timestamp {
        Some(stamp) if tsft.is_none() || stamp.position.is_some() && stamp.accuracy_ns < TSFT_UNIT_NS => {
            let stamp_reference = stamp.position.map(|position| match position {
                TimestampInstant::Acquisition => StampReference::Begin,
                TimestampInstant::MpduStart => StampReference::Mpdu,
                TimestampInstant::MpduEnd | TimestampInstant::PpduEnd => StampReference::End,
            });
            let exact = stamp_reference.is_some() && stamp.accuracy_ns < TSFT_UNIT_NS;
            RadioTime { ns: Some(stamp.ns), stamp_reference, exact, is_tsft: false }
        }
        _ => RadioTime { ns: tsft, stamp_reference: None, exact: false, is_tsft: tsft.is_some() },
    }
}

/// Step of a timestamp above which it may be an outlier.
pub(crate) const JUMP: Span = Span::from_ms(100);
/// Step of a timestamp above which it is an outlier at the edges of a capture, where neighbours exist on one
/// side only.
const EDGE_JUMP: Span = Span::from_ms(600_000);
/// Ratio of a step to the distance of its neighbours from which the neighbours contradict the step.
const FACTOR: u64 = 8;
/// Number of timestamps on one side that must agree to contradict one at an edge.
const ENOUGH: usize = 4;

/// Timestamps of one clock that were not outliers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrustedStamps {
    first: u64,
    /// Last timestamp.
    pub last: u64,
    count: usize,
}

impl TrustedStamps {
    /// Adds a timestamp.
    pub fn with(before: Option<TrustedStamps>, stamp: u64) -> TrustedStamps {
        let (first, count) = before.map_or((stamp, 0), |before| (before.first, before.count));
        TrustedStamps { first, last: stamp, count: count.saturating_add(1) }
    }
}

/// Whether a timestamp, in nanoseconds, is an outlier: neighbouring timestamps contradict it. The neighbours
/// are the trusted timestamps before it, and the timestamps after it.
///
/// After a long silence or a set clock, timestamps do not return to their earlier range; neither is an
/// outlier.
pub(crate) fn is_outlier(
    trusted: Option<TrustedStamps>,
    stamp: u64,
    later_stamps: impl Iterator<Item = u64> + Clone,
) -> bool {
    let Some(trusted) = trusted else { return is_first_outlier(stamp, later_stamps) };
    let (before, span) = (trusted.last, trusted.last.saturating_sub(trusted.first));
    let jump = before.abs_diff(stamp);
    if jump <= JUMP.ns() {
        return false;
    }
    let returns =
        |next: u64| next.abs_diff(before) <= jump / FACTOR && next.abs_diff(stamp) >= jump - jump / FACTOR;
    let is_edge = || {
        let far = |next: u64| before.abs_diff(next) > jump / 2;
        trusted.count >= ENOUGH
            && jump > EDGE_JUMP.ns().max(span.saturating_mul(FACTOR))
            && later_stamps.clone().count() < ENOUGH
            && later_stamps.clone().all(far)
    };
    later_stamps.clone().any(returns) || is_edge()
}

/// Whether the first timestamp is an outlier.
fn is_first_outlier(stamp: u64, later_stamps: impl Iterator<Item = u64> + Clone) -> bool {
    let Some(next) = later_stamps.clone().next() else { return false };
    let (least, most) =
        later_stamps.clone().fold((next, next), |(least, most), stamp| (least.min(stamp), most.max(stamp)));
    let jump = stamp.abs_diff(next);
    later_stamps.count() >= ENOUGH && jump > EDGE_JUMP.ns() && most - least < jump / FACTOR
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    #[test]
    fn the_timer_says_how_long_and_the_host_where() {
        let mut clock = CaptureClock::default();
        assert_eq!(clock.read(Some(at(1_000)), Some(77_000)), Some(at(1_000)));
        // The host was busy for 30 ms.
        assert_eq!(clock.read(Some(at(1_040)), Some(10_077_000)), Some(at(1_010)));
        // The radio adopted the timer of an access point.
        assert_eq!(clock.read(Some(at(1_050)), Some(5_000_000_000_000)), Some(at(1_050)));
        assert_eq!(clock.read(Some(at(1_060)), Some(5_000_007_000_000)), Some(at(1_057)));
        assert_eq!(clock.timer_steps, 1);
    }

    #[test]
    fn a_frame_without_a_timer_is_as_late_as_the_one_before() {
        let mut clock = CaptureClock::default();
        let stamps = [(1_000, Some(7)), (1_040, Some(17)), (1_041, None), (1_049, Some(19))];
        let read = stamps.map(|(ms, timer)| clock.read(Some(at(ms)), timer.map(|ms: u64| ms * 1_000_000)));
        assert_eq!(read, [1_000, 1_010, 1_011, 1_012].map(|ms| Some(at(ms))));
    }

    #[test]
    fn a_timer_that_stops_is_left_and_one_value_for_a_ppdu_is_not() {
        let mut clock = CaptureClock::default();
        let stamps = [(0, 5), (2, 5), (4, 5), (30, 5), (60, 5), (70, 75)];
        let read = stamps.map(|(ms, timer)| clock.read(Some(at(1_000 + ms)), Some(timer * 1_000_000)));
        assert_eq!(read, [0, 0, 0, 26, 56, 70].map(|ms| Some(at(1_000 + ms))));
        assert_eq!((clock.stalled, clock.timer_steps), (2, 0));
    }

    #[test]
    fn a_timer_without_a_host_goes_on_where_it_was() {
        let mut clock = CaptureClock::default();
        let read = [5, 9, 2, 4].map(|ms: u64| clock.read(None, Some(ms * 1_000_000)));
        assert_eq!(read, [5, 9, 9, 11].map(|ms| Some(at(ms))));
        assert_eq!(clock.timer_steps, 1);
    }

    #[test]
    fn hosts_never_go_back() {
        let mut clock = CaptureClock::default();
        assert_eq!(clock.read(Some(at(1_000)), None), Some(at(1_000)));
        assert_eq!(clock.read(Some(at(950)), None), Some(at(1_000)));
        assert_eq!(clock.read(Some(at(1_200)), None), Some(at(1_200)));
        assert_eq!(clock.backward, 1);
        assert_eq!(clock.read(None, None), None);
    }

    #[test]
    fn a_line_goes_on_where_the_host_s_clock_is_set_back() {
        let mut alone = CaptureClock::default();
        let read = [20_000, 20_040, 10_000, 10_040].map(|ms| alone.read(Some(at(ms)), None));
        assert_eq!(read, [20_000, 20_040, 20_040, 20_080].map(|ms| Some(at(ms))));
        assert_eq!(alone.backward, 1);
        let mut timed = CaptureClock::default();
        let read = [(20_000, 7), (20_040, 47), (10_000, 87), (10_041, 127)]
            .map(|(ms, timer)| timed.read(Some(at(ms)), Some(timer * 1_000_000)));
        assert_eq!(read, [20_000, 20_040, 20_080, 20_120].map(|ms| Some(at(ms))), "the timer counts");
        assert_eq!((timed.backward, timed.timer_steps), (1, 0));
        let mut last_pair = CaptureClock::default();
        let read = [(20_000, 10_007), (20_040, 10_047), (10_000, 7), (10_040, 47)]
            .map(|(ms, timer)| last_pair.read(Some(at(ms)), Some(timer * 1_000_000)));
        assert_eq!(read, [20_000, 20_040, 20_040, 20_080].map(|ms| Some(at(ms))));
    }

    #[test]
    fn whichever_clock_was_set_the_other_says_how_much_time_passed() {
        let read = |stamps: [(u64, u64); 5]| {
            let mut clock = CaptureClock::default();
            let read = stamps.map(|(host, timer)| clock.read(Some(at(host)), Some(timer * 1_000_000)));
            (read.map(|time| time.map(|time| time.ns() / 1_000_000)), clock.host_steps, clock.timer_steps)
        };
        let expected = [1_000, 1_010, 1_020, 1_030, 1_040].map(Some);
        let host_forward = [(1_000, 10), (1_010, 20), (6_020, 30), (6_030, 40), (6_040, 50)];
        assert_eq!(read(host_forward), (expected, 1, 0));
        let host_late = [(1_000, 10), (1_010, 20), (1_720, 30), (1_721, 40), (1_722, 50)];
        assert_eq!(read(host_late).0, expected, "a host that was busy");
        let timer_forward = [(1_000, 10), (1_010, 20), (1_020, 90_030), (1_030, 90_040), (1_040, 90_050)];
        assert_eq!(read(timer_forward), (expected, 0, 1));
        let timer_back = [(1_000, 90_010), (1_010, 90_020), (1_020, 30), (1_030, 40), (1_040, 50)];
        assert_eq!(read(timer_back), (expected, 0, 1));
    }

    #[test]
    fn absurd_timers_are_no_panic() {
        let mut clock = CaptureClock::default();
        for timer in [0, u64::MAX, u64::MAX / 1_000, 5, u64::MAX] {
            assert!(clock.read(Some(at(7)), Some(timer)).is_some());
            assert!(clock.read(None, Some(timer)).is_some());
            assert!(clock.read(Some(Time::NEVER), None).is_some());
        }
    }

    /// Indices of the outliers among these timestamps in milliseconds.
    fn wild(stamps_ms: &[u64]) -> Vec<usize> {
        let ns: Vec<u64> = stamps_ms.iter().map(|ms| ms * 1_000_000).collect();
        let (mut trusted, mut found) = (None, Vec::new());
        for (index, &stamp) in ns.iter().enumerate() {
            if is_outlier(trusted, stamp, ns[index + 1..].iter().copied().take(16)) {
                found.push(index);
            } else {
                trusted = Some(TrustedStamps::with(trusted, stamp));
            }
        }
        found
    }

    #[test]
    fn a_stamp_that_its_neighbours_contradict_is_wild_in_either_direction() {
        let base = 1_600_000_000_000;
        let with = |number: usize, stamp: u64| {
            let mut stamps: Vec<u64> = (0..40).map(|n| base + 10 * n).collect();
            stamps[number] = stamp;
            wild(&stamps)
        };
        for number in [0, 1, 17, 38, 39] {
            assert_eq!(with(number, base + 4_000_000), [number], "far in the future");
            assert_eq!(with(number, 5_000), [number], "in 1970");
        }
        assert_eq!(with(17, base + 2_000), [17], "by two seconds");
        let mut three: Vec<u64> = (0..40).map(|n| base + 10 * n).collect();
        three[5..8].fill(base + 4_000_000);
        assert_eq!(wild(&three), [5, 6, 7], "several in a row");
    }

    #[test]
    fn a_silence_and_a_clock_that_was_set_are_not_wild() {
        let run = |from: u64| (0..30).map(move |n| from + 10 * n);
        let silence: Vec<u64> = run(1_000).chain(run(900_000)).collect();
        assert!(wild(&silence).is_empty());
        let set_back: Vec<u64> = run(900_000).chain(run(1_000)).collect();
        assert!(wild(&set_back).is_empty());
        let sparse: Vec<u64> = (0..30).map(|n| n * 30_000).collect();
        assert!(wild(&sparse).is_empty());
        assert!(wild(&[5_000, 90_000]).is_empty(), "nobody knows");
        assert!(wild(&[5_000, 5_010, 90_000_000]).is_empty(), "too few to know");
        let late: Vec<u64> = (0..40).map(|n| if (10..20).contains(&n) { 600 } else { 30 * n }).collect();
        assert!(wild(&late).is_empty(), "a host that was busy: {:?}", wild(&late));
    }
}
