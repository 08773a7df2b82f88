//! How many segments leave at once, as with the segmentation offload of Linux.
//!
//! With offload, Linux hands several segments down as one packet, which the device or the kernel cuts on the
//! way out. What shows on the network is that data leaves in bursts. How large they are
//! (`tcp_tso_autosize`), and when a sender waits for more window in place of sending less
//! (`tcp_tso_should_defer`), is of `net/ipv4/tcp_output.c`, Linux 6.

use multihop_core::{Rate, Span, Time};

/// Payload bytes of one burst, at most (`GSO_LEGACY_MAX_SIZE`).
const MOST: u64 = 65_536;

/// A burst is what the rate in bytes per second, shifted right by this, brings, if no shift is asked for
/// (`sk_pacing_shift`): a millisecond.
const SHIFT: u32 = 10;

/// Short round trips have larger bursts: the most, shifted right by the least round trip in units of two to
/// the power of this, in microseconds (`tcp_tso_rtt_log`).
const ROUND_TRIP_LOG: u32 = 9;

/// A controller with a pace of its own, below this, has bursts of one segment (`bbr_min_tso_rate`).
const SLOW: Rate = Rate::from_bps(1_200_000);

/// Nothing is deferred when the last burst is longer ago than this.
const RECENT: Span = Span::from_ms(1);

/// And when the next acknowledgement is not expected within this, or half a round trip if that is less: since
/// Linux 6.18, and in the stable versions of that time. Before it was half a round trip.
const SOON: Span = Span::from_ms(1);

/// Nothing is deferred while there is room for this part of the window (`tcp_tso_win_divisor`).
const WINDOW_DIVISOR: u64 = 3;

/// The most payload bytes of one burst under a window: two are to fit in it (`tcp_cwnd_test`).
pub(super) fn most_of_window(window: u64, segment: u64) -> u64 {
    (window / segment / 2).max(1) * segment
}

/// Linux does not pace the first segments of a connection (`tcp_update_skb_after_send`), as `fq` does not.
const UNPACED: u64 = 10;

/// At which pace what left holds back what follows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Held {
    /// The pace of the moment when that is asked.
    OfTheMoment,
    /// The one at which it was sent; none if it holds nothing back (`tcp_wstamp_ns` in Linux).
    AtTheSend(Option<Rate>),
}

impl Held {
    /// As in Linux, behind so many segments of data.
    pub fn as_in_linux(pace: Option<Rate>, segments: u64) -> Held {
        Held::AtTheSend(pace.filter(|_| segments >= UNPACED))
    }
}

/// What left last, and holds back what follows by as long as its bytes take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paced {
    /// When it left, and the bytes of it, with headers.
    left: Time,
    bytes: u64,
    /// By how much it left later than the pace allowed.
    late: Span,
    held: Held,
}

impl Paced {
    /// A segment of so many bytes leaves so much later than it was allowed to.
    pub fn new(left: Time, bytes: u64, late: Span, held: Held) -> Paced {
        Paced { left, bytes, late, held }
    }

    /// One more, of the same burst.
    pub fn add(&mut self, bytes: u64, held: Held) {
        self.bytes += bytes;
        self.held = held;
    }

    /// Until when it holds back what follows, at this pace of the moment. What left late does so for less,
    /// down to half (`tcp_update_skb_after_send`).
    pub fn until(&self, pace: Rate) -> Time {
        let pace = match self.held {
            Held::OfTheMoment => pace,
            Held::AtTheSend(Some(pace)) => pace,
            Held::AtTheSend(None) => return self.left,
        };
        let span = pace.span_of_bytes(self.bytes);
        self.left + span.saturating_sub(self.late.min(span / 2))
    }
}

/// The burst that is leaving.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    /// When it began, and the payload bytes of it that are still to leave.
    began: Time,
    left: u64,
}

impl Burst {
    /// One of so many payload bytes, of which the first segment leaves.
    pub fn begin(now: Time, size: u64, segment: u64) -> Burst {
        Burst { began: now, left: size.saturating_sub(segment) }
    }

    /// May a segment leave at once after the one before?
    pub fn goes_on(&self, now: Time) -> bool {
        self.began == now && self.left > 0
    }

    /// The next segment leaves. Was it the last one, of several? Linux sets PSH in it (`__tcp_transmit_skb`).
    pub fn go_on(&mut self, segment: u64) -> bool {
        self.left = self.left.saturating_sub(segment);
        self.left == 0
    }
}

/// What the size of a burst goes by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizing {
    /// The rate of the connection, once it is known.
    pub rate: Option<Rate>,
    /// Its control has a pace of its own.
    pub is_paced: bool,
    /// The least round trip so far.
    pub least_round_trip: Option<Span>,
    /// The shift that was asked for.
    pub shift: Option<u32>,
    /// Payload bytes of a full segment.
    pub segment: u64,
}

impl Sizing {
    /// Payload bytes of a full burst, in whole segments.
    pub fn size(&self) -> u64 {
        let by_rate = self.rate.map_or(MOST, |rate| (rate.bps() / 8) >> self.shift.unwrap_or(SHIFT));
        let halvings = self.least_round_trip.map_or(u64::MAX, |least| (least.ns() / 1_000) >> ROUND_TRIP_LOG);
        let by_round_trip = u32::try_from(halvings).ok().and_then(|by| MOST.checked_shr(by)).unwrap_or(0);
        let bytes = (by_rate + by_round_trip).min(MOST);
        let is_slow = self.is_paced && self.rate.is_some_and(|rate| rate < SLOW);
        let least = if is_slow { 1 } else { 2 };
        (bytes / self.segment).max(least) * self.segment
    }
}

/// What decides whether a burst waits for more window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// Payload bytes of a full burst, and those that both windows have room for.
    pub burst: u64,
    pub room: u64,
    /// The smaller one of both windows, in bytes.
    pub window: u64,
    /// Since the last burst, or since the pace allowed the next one.
    pub idle: Span,
    /// Since the oldest outstanding segment was sent; none if nothing is outstanding.
    pub oldest: Option<Span>,
    /// The smoothed round trip.
    pub srtt: Option<Span>,
}

impl Waiting {
    /// Is it better to wait for an acknowledgement, which is to come soon, than to send less than a burst?
    pub fn defers(&self) -> bool {
        let little = self.room < self.burst && self.room < self.window / WINDOW_DIVISOR;
        let (Some(oldest), Some(srtt)) = (self.oldest, self.srtt) else { return false };
        little && self.idle <= RECENT && oldest + SOON.min(srtt / 2) >= srtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u64 = 1_448;

    fn segments(kbps: Option<u64>, round_trip_us: Option<u64>, is_paced: bool) -> u64 {
        let sizing = Sizing {
            rate: kbps.map(Rate::from_kbps),
            is_paced,
            least_round_trip: round_trip_us.map(Span::from_us),
            shift: None,
            segment: SEGMENT,
        };
        sizing.size() / SEGMENT
    }

    /// 80 Mb/s are 9765 bytes in 1/1024 s. 512 us halve 64 KiB, and 10.24 ms leave nothing of it.
    #[test]
    fn a_burst_is_a_millisecond_of_the_rate_and_more_on_short_paths() {
        assert_eq!(segments(Some(80_000), Some(100_000), false), 6);
        assert_eq!(segments(Some(80_000), Some(1_100), false), (9_765 + 16_384) / SEGMENT);
        assert_eq!(segments(Some(80_000), Some(10_240), false), 6);
        assert_eq!(segments(Some(80_000), Some(300), false), 65_536 / SEGMENT, "no more than that");
        assert_eq!(segments(None, None, false), 65_536 / SEGMENT, "no rate yet");
        assert_eq!(segments(Some(1_000), Some(100_000), false), 2, "at least two");
        assert_eq!(segments(Some(1_199), Some(100_000), true), 1, "of BBR one");
        assert_eq!(segments(Some(1_200), Some(100_000), true), 2);
    }

    /// Three segments may leave in bursts of two: the third waits for the next acknowledgement.
    #[test]
    fn less_than_a_burst_waits_for_the_next_acknowledgement() {
        let waits = Waiting {
            burst: 2 * SEGMENT,
            room: SEGMENT,
            window: 20 * SEGMENT,
            idle: Span::ZERO,
            oldest: Some(Span::from_ms(59)),
            srtt: Some(Span::from_ms(60)),
        };
        assert!(waits.defers());
        for (sends, why) in [
            (Waiting { room: 2 * SEGMENT, ..waits }, "a full burst"),
            (Waiting { window: 3 * SEGMENT, ..waits }, "a third of the window"),
            (Waiting { idle: Span::from_us(1_001), ..waits }, "the last one is a while ago"),
            (Waiting { oldest: None, ..waits }, "no acknowledgement is to come"),
            (Waiting { oldest: Some(Span::from_us(58_999)), ..waits }, "or not within a millisecond"),
            (Waiting { srtt: None, ..waits }, "nobody knows when"),
        ] {
            assert!(!sends.defers(), "{why}");
        }
        let short = Waiting { srtt: Some(Span::from_us(1_000)), ..waits };
        for (oldest_us, defers) in [(499, false), (500, true), (5_000, true)] {
            let waiting = Waiting { oldest: Some(Span::from_us(oldest_us)), ..short };
            assert_eq!(waiting.defers(), defers, "half a round trip, {oldest_us} us");
        }
    }

    #[test]
    fn two_bursts_fit_in_a_window() {
        let most = |segments| most_of_window(segments * SEGMENT, SEGMENT) / SEGMENT;
        assert_eq!([1, 2, 3, 4, 21].map(most), [1, 1, 1, 2, 10]);
    }

    /// 8 Mb/s are 1000 bytes a millisecond.
    #[test]
    fn what_left_late_holds_the_next_back_for_less() {
        let until = |late_us| {
            let mut paced = Paced::new(Time::ZERO, 1_000, Span::from_us(late_us), Held::OfTheMoment);
            paced.add(1_000, Held::OfTheMoment);
            paced.until(Rate::from_kbps(8_000)).ns() / 1_000
        };
        assert_eq!([0, 300, 1_000, 7_000].map(until), [2_000, 1_700, 1_000, 1_000]);
    }

    #[test]
    fn linux_paces_by_the_rate_at_the_send_from_the_tenth_segment() {
        let until = |segments| {
            let held = Held::as_in_linux(Some(Rate::from_kbps(4_000)), segments);
            let mut paced = Paced::new(Time::ZERO, 1_000, Span::ZERO, Held::AtTheSend(None));
            paced.add(1_000, held);
            paced.until(Rate::from_kbps(8_000)).ns() / 1_000
        };
        assert_eq!([9, 10, 11].map(until), [0, 4_000, 4_000]);
    }

    #[test]
    fn a_burst_is_over_when_it_is_full_or_time_passes() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let mut burst = Burst::begin(at(1), 3 * SEGMENT, SEGMENT);
        assert!(burst.goes_on(at(1)) && !burst.goes_on(at(2)));
        assert!(!burst.go_on(SEGMENT) && burst.go_on(SEGMENT), "the last one has PSH");
        assert!(!burst.goes_on(at(1)));
        assert!(!Burst::default().goes_on(Time::ZERO));
    }
}
