//! One time line from two clocks.

use crate::StampReference;
use multihop_capture::{Position, Reception};
use multihop_core::{Span, Time};

/// Steps of up to so much are the latency of the host, which stamps a frame when it gets around to it.
const LATENCY: Span = Span::from_ms(500);

/// A host whose stamps step back by more did not report frames in another order: its clock was set.
const SET_BACK: Span = JUMP;

/// No PPDU is longer (aPPDUMaxTime, Table 19-25, rounded up): a timer that has the same value for longer
/// stands still.
pub(crate) const LONGEST_PPDU: Span = Span::from_ms(10);

/// TSFT counts microseconds.
const TSFT_UNIT_NS: u32 = 1_000;

/// Makes one time line of the stamps of records, which the host wrote, and of the timer of the receiving
/// radio (TSFT), which is exact but may be set anew whenever the radio hears a beacon.
///
/// Where there is a timer its differences count; the host's stamps say where the line begins, and where it
/// goes on after a step of the timer. Where the two go apart, the host's clock was set if the timer has moved
/// on by no more than the host's, and otherwise the timer. A frame without a timer among others that have one
/// lies as far before its host stamp as the frame before did. Without any timer the host's stamps are taken
/// as they are, but never backwards. Where the host's clock was set back, the line goes on from where it was.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// Host stamp and timer, in nanoseconds, at the last setting.
    anchor: Option<(u64, u64)>,
    /// The last timer, and the host stamp with which it had that value first.
    timer: Option<(u64, Option<u64>)>,
    /// By how much the host was later than the timer's line at the last frame that had both.
    lag: i64,
    /// Host's stamp and timer of that frame.
    both: Option<(u64, u64)>,
    /// What is added to the host's stamps since its clock was set, in nanoseconds.
    shift: i64,
    last: Time,
    /// Times that the timer was set anew.
    pub timer_steps: u64,
    /// Times that the host's clock was set, as the timer shows.
    pub host_steps: u64,
    /// Frames whose timer had the value of a frame long before, so that it was not used.
    pub stalled: u64,
    /// Times that the host's stamps went backwards.
    pub backward: u64,
    host: Option<u64>,
    /// By how much the host's clock was set back until now, in nanoseconds.
    set_back: u64,
}

impl Clock {
    /// By how much the host's clock was set back in all, where no timer says how much time passed meanwhile.
    pub fn set_back(&self) -> Span {
        Span::from_ns(if self.anchor.is_some() { 0 } else { self.set_back })
    }
}

impl Clock {
    /// The instant of a frame with these stamps, of the host and of the radio in nanoseconds, never before
    /// that of the frame before it; none without any stamp.
    pub fn read(&mut self, host: Option<Time>, timer_ns: Option<u64>) -> Option<Time> {
        let host = self.host(host);
        let timer_ns = timer_ns.filter(|&timer| !self.stands_still(timer, host));
        let instant = match (host, timer_ns) {
            (host, Some(timer)) => self.by_timer(host, timer),
            (Some(host), None) => host.saturating_add_signed(self.shift.saturating_sub(self.lag)),
            (None, None) => return None,
        };
        // Frames of one aggregate, and of two antennas, may be reported in another order. Absurd stamps end at the end of time.
        self.last = Time::from_ns(instant.max(self.last.ns()).min(Time::NEVER.ns()));
        Some(self.last)
    }

    /// Whether it is known where the line of the timer lies.
    pub(crate) fn is_set(&self) -> bool {
        self.anchor.is_some()
    }

    /// The host's stamp on a line that is never set back.
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

    /// Whether the timer has had this value for longer than frames of one PPDU have it.
    fn stands_still(&mut self, timer: u64, host: Option<u64>) -> bool {
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
        let host = host.map(|host| host.saturating_add_signed(self.shift));
        // Without a host the line is the timer's own, or goes on from where it was.
        let first = host.unwrap_or(timer);
        let (anchor_host, anchor_timer) = *self.anchor.get_or_insert((first, timer));
        let line = timer.checked_sub(anchor_timer).and_then(|since| anchor_host.checked_add(since));
        let fits = |line: u64, host: u64| line.abs_diff(host) <= LATENCY.ns();
        let now = match (line, host) {
            (Some(line), None) => line,
            (Some(line), Some(host)) if fits(line, host) => line,
            (Some(line), Some(host)) if self.host_was_set(host, timer) => {
                self.host_steps += 1;
                self.shift = self.shift.saturating_add(line.cast_signed().saturating_sub(host.cast_signed()));
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
            self.both = Some((host, timer));
        }
        now
    }

    /// Whether it is the host's clock that was set, and not the timer: that has moved on since the last frame
    /// by no more than the host's clock, but for the host's latency.
    fn host_was_set(&self, host: u64, timer: u64) -> bool {
        let Some((last_host, last_timer)) = self.both else { return false };
        let step = timer.checked_sub(last_timer);
        step.is_some_and(|step| step <= host.saturating_sub(last_host).saturating_add(LATENCY.ns()))
    }
}

/// What the radio says of the time of a frame.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct RadioTime {
    /// Its clock, in nanoseconds.
    pub ns: Option<u64>,
    /// What that marks, if the radio says so.
    pub marks: Option<StampReference>,
    /// Whether it counts in less than microseconds.
    pub exact: bool,
    /// Whether it is a TSFT, which by its definition is that of the first bit of the MPDU.
    pub is_tsft: bool,
}

/// The clock of the radio. A timestamp goes before TSFT where it is finer.
pub(crate) fn radio_timer(reception: &Reception) -> RadioTime {
    let tsft = reception.tsft_us.and_then(|us| us.checked_mul(TSFT_UNIT_NS.into()));
    match reception.timestamp {
        Some(stamp) if tsft.is_none() || stamp.position.is_some() && stamp.accuracy_ns < TSFT_UNIT_NS => {
            let marks = stamp.position.map(|position| match position {
                Position::Acquisition => StampReference::Begin,
                Position::MpduStart => StampReference::Mpdu,
                Position::MpduEnd | Position::PpduEnd => StampReference::End,
            });
            let exact = marks.is_some() && stamp.accuracy_ns < TSFT_UNIT_NS;
            RadioTime { ns: Some(stamp.ns), marks, exact, is_tsft: false }
        }
        _ => RadioTime { ns: tsft, marks: None, exact: false, is_tsft: tsft.is_some() },
    }
}

/// A stamp that jumps by more than this from the one before may be wild.
pub(crate) const JUMP: Span = Span::from_ms(100);
/// At the edges of a capture, where only one side has neighbours, a stamp has to be so far off.
const EDGE_JUMP: Span = Span::from_ms(600_000);
/// Neighbours contradict a jump if they are nearer to each other by this factor.
const FACTOR: u64 = 8;
/// Stamps on one side that must agree to contradict one at an edge.
const ENOUGH: usize = 4;

/// The stamps of one clock so far that were not wild.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trusted {
    first: u64,
    /// The last one.
    pub last: u64,
    count: usize,
}

impl Trusted {
    /// With one more.
    pub fn with(before: Option<Trusted>, stamp: u64) -> Trusted {
        let (first, count) = before.map_or((stamp, 0), |before| (before.first, before.count));
        Trusted { first, last: stamp, count: count.saturating_add(1) }
    }
}

/// Whether a stamp, in nanoseconds, is wild: its neighbours contradict it. Those are the ones before that
/// were not, and those that follow.
///
/// A silence has no stamp that returns to where it began, and so is none; nor is a clock that was set.
pub(crate) fn is_wild(
    trusted: Option<Trusted>,
    stamp: u64,
    following: impl Iterator<Item = u64> + Clone,
) -> bool {
    let Some(trusted) = trusted else { return is_wild_first(stamp, following) };
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
            && following.clone().count() < ENOUGH
            && following.clone().all(far)
    };
    following.clone().any(returns) || is_edge()
}

/// The same of the first stamp.
fn is_wild_first(stamp: u64, following: impl Iterator<Item = u64> + Clone) -> bool {
    let Some(next) = following.clone().next() else { return false };
    let (least, most) =
        following.clone().fold((next, next), |(least, most), stamp| (least.min(stamp), most.max(stamp)));
    let jump = stamp.abs_diff(next);
    following.count() >= ENOUGH && jump > EDGE_JUMP.ns() && most - least < jump / FACTOR
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
        assert_eq!(clock.timer_steps, 1);
    }

    #[test]
    fn a_frame_without_a_timer_is_as_late_as_the_one_before() {
        let mut clock = Clock::default();
        let stamps = [(1_000, Some(7)), (1_040, Some(17)), (1_041, None), (1_049, Some(19))];
        let read = stamps.map(|(ms, timer)| clock.read(Some(at(ms)), timer.map(|ms: u64| ms * 1_000_000)));
        assert_eq!(read, [1_000, 1_010, 1_011, 1_012].map(|ms| Some(at(ms))));
    }

    #[test]
    fn a_timer_that_stops_is_left_and_one_value_for_a_ppdu_is_not() {
        let mut clock = Clock::default();
        let stamps = [(0, 5), (2, 5), (4, 5), (30, 5), (60, 5), (70, 75)];
        let read = stamps.map(|(ms, timer)| clock.read(Some(at(1_000 + ms)), Some(timer * 1_000_000)));
        assert_eq!(read, [0, 0, 0, 26, 56, 70].map(|ms| Some(at(1_000 + ms))));
        assert_eq!((clock.stalled, clock.timer_steps), (2, 0));
    }

    #[test]
    fn a_timer_without_a_host_goes_on_where_it_was() {
        let mut clock = Clock::default();
        let read = [5, 9, 2, 4].map(|ms: u64| clock.read(None, Some(ms * 1_000_000)));
        assert_eq!(read, [5, 9, 9, 11].map(|ms| Some(at(ms))));
        assert_eq!(clock.timer_steps, 1);
    }

    #[test]
    fn hosts_never_go_back() {
        let mut clock = Clock::default();
        assert_eq!(clock.read(Some(at(1_000)), None), Some(at(1_000)));
        assert_eq!(clock.read(Some(at(950)), None), Some(at(1_000)));
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
    fn whichever_clock_was_set_the_other_says_how_much_time_passed() {
        let read = |stamps: [(u64, u64); 5]| {
            let mut clock = Clock::default();
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
        let mut clock = Clock::default();
        for timer in [0, u64::MAX, u64::MAX / 1_000, 5, u64::MAX] {
            assert!(clock.read(Some(at(7)), Some(timer)).is_some());
            assert!(clock.read(None, Some(timer)).is_some());
            assert!(clock.read(Some(Time::NEVER), None).is_some());
        }
    }

    /// Which of these stamps, in milliseconds, are wild.
    fn wild(stamps_ms: &[u64]) -> Vec<usize> {
        let ns: Vec<u64> = stamps_ms.iter().map(|ms| ms * 1_000_000).collect();
        let (mut trusted, mut found) = (None, Vec::new());
        for (index, &stamp) in ns.iter().enumerate() {
            if is_wild(trusted, stamp, ns[index + 1..].iter().copied().take(16)) {
                found.push(index);
            } else {
                trusted = Some(Trusted::with(trusted, stamp));
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
