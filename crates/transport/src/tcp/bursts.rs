//! Bursts of segments, as sent with the segmentation offload of Linux.
//!
//! With offload, Linux passes several segments down as one packet, which the device or the kernel splits
//! before transmission, so that data is sent in bursts. The burst size (`tcp_tso_autosize`), and the rule for
//! deferring a small burst (`tcp_tso_should_defer`), are those of `net/ipv4/tcp_output.c`, Linux 6.

use multihop_core::{Rate, Span, Time};

/// Maximum payload of one burst in bytes (`GSO_LEGACY_MAX_SIZE`).
const MAX_BURST: u64 = 65_536;

/// Default shift (`sk_pacing_shift`): a burst is the rate in bytes per second shifted right by it, about a
/// millisecond.
const DEFAULT_SHIFT: u32 = 10;

/// Additional burst size on short round trips: the maximum, shifted right by the minimum round-trip time in
/// units of 2^9 us (`tcp_tso_rtt_log`).
const ROUND_TRIP_LOG: u32 = 9;

/// Pace below which a controller with its own pace sends bursts of one segment (`bbr_min_tso_rate`).
const SLOW_PACE: Rate = Rate::from_bps(1_200_000);

/// Time since the last burst above which nothing is deferred.
const MAX_IDLE: Span = Span::from_ms(1);

/// Longest expected time to the next acknowledgement for which a burst is deferred, unless half a round trip
/// is less: since Linux 6.18 and the stable versions of that time. Before, it was half a round trip.
const MAX_ACK_WAIT: Span = Span::from_ms(1);

/// Fraction of the window that is never deferred (`tcp_tso_win_divisor`).
const WINDOW_DIVISOR: u64 = 3;

/// Maximum payload of a burst under a window, in bytes: two bursts fit into the window (`tcp_cwnd_test`).
pub(super) fn max_burst_of_window(window: u64, segment: u64) -> u64 {
    (window / segment / 2).max(1) * segment
}

/// Number of initial segments that Linux and `fq` do not pace (`tcp_update_skb_after_send`).
const UNPACED_SEGMENTS: u64 = 10;

/// Rate by which sent data delays the next segment.
#[derive(Clone, Copy, Debug)]
pub(super) enum PaceBasis {
    /// Pace at the time of the query.
    Current,
    /// Pace at the time of sending; none for unpaced data (`tcp_wstamp_ns` in Linux).
    AtSend(Option<Rate>),
}

impl PaceBasis {
    /// Rule of Linux, after this many data segments.
    pub fn as_in_linux(pace: Option<Rate>, segments: u64) -> PaceBasis {
        PaceBasis::AtSend(pace.filter(|_| segments >= UNPACED_SEGMENTS))
    }
}

/// Data sent last, which delays the next segment by its bytes divided by the pace.
#[derive(Clone, Copy, Debug)]
pub(super) struct PacedBurst {
    /// Time of sending, and number of bytes with headers.
    left: Time,
    bytes: u64,
    /// Delay of the sending relative to the pace.
    late: Span,
    held: PaceBasis,
}

impl PacedBurst {
    /// Starts with a segment of `bytes` bytes, sent `late` after the time that the pace allowed.
    pub fn new(left: Time, bytes: u64, late: Span, held: PaceBasis) -> PacedBurst {
        PacedBurst { left, bytes, late, held }
    }

    /// Adds a segment of the same burst.
    pub fn add(&mut self, bytes: u64, held: PaceBasis) {
        self.bytes += bytes;
        self.held = held;
    }

    /// Earliest time of the next segment, at this present pace. Data sent late delays it less, by at least
    /// half (`tcp_update_skb_after_send`).
    pub fn until(&self, pace: Rate) -> Time {
        let pace = match self.held {
            PaceBasis::Current => pace,
            PaceBasis::AtSend(Some(pace)) => pace,
            PaceBasis::AtSend(None) => return self.left,
        };
        let span = pace.span_of_bytes(self.bytes);
        self.left + span.saturating_sub(self.late.min(span / 2))
    }
}

/// Burst that is being sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    /// Start of the burst, and payload bytes that remain to be sent.
    began: Time,
    left: u64,
}

impl Burst {
    /// Starts a burst of `size` payload bytes with its first segment.
    pub fn begin(now: Time, size: u64, segment: u64) -> Burst {
        Burst { began: now, left: size.saturating_sub(segment) }
    }

    /// Whether another segment of the burst may be sent at once.
    pub fn continues_at(&self, now: Time) -> bool {
        self.began == now && self.left > 0
    }

    /// Sends the next segment. Returns whether it is the last one of several; Linux sets PSH in it
    /// (`__tcp_transmit_skb`).
    pub fn send_next(&mut self, segment: u64) -> bool {
        self.left = self.left.saturating_sub(segment);
        self.left == 0
    }
}

/// Inputs for the size of a burst.
#[derive(Clone, Copy, Debug)]
pub(super) struct BurstSizing {
    /// Rate of the connection, if known.
    pub rate: Option<Rate>,
    /// Whether the controller has its own pace.
    pub is_paced: bool,
    /// Minimum round-trip time.
    pub least_round_trip: Option<Span>,
    /// Configured shift, if any.
    pub shift: Option<u32>,
    /// Payload bytes of a full segment.
    pub segment: u64,
}

impl BurstSizing {
    /// Size of a full burst in payload bytes, a multiple of the segment size.
    pub fn size(&self) -> u64 {
        let by_rate =
            self.rate.map_or(MAX_BURST, |rate| (rate.bps() / 8) >> self.shift.unwrap_or(DEFAULT_SHIFT));
        let halvings = self.least_round_trip.map_or(u64::MAX, |least| (least.ns() / 1_000) >> ROUND_TRIP_LOG);
        let by_round_trip =
            u32::try_from(halvings).ok().and_then(|by| MAX_BURST.checked_shr(by)).unwrap_or(0);
        let bytes = (by_rate + by_round_trip).min(MAX_BURST);
        let is_slow = self.is_paced && self.rate.is_some_and(|rate| rate < SLOW_PACE);
        let least = if is_slow { 1 } else { 2 };
        (bytes / self.segment).max(least) * self.segment
    }
}

/// Inputs for the decision to defer a burst.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeferralState {
    /// Payload bytes of a full burst.
    pub burst: u64,
    /// Payload bytes that both windows allow.
    pub room: u64,
    /// Minimum of both windows, in bytes.
    pub window: u64,
    /// Time since the last burst, or since the pace allowed the next one.
    pub idle: Span,
    /// Time since the oldest outstanding segment was sent; none if nothing is outstanding.
    pub oldest: Option<Span>,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
}

impl DeferralState {
    /// Whether to wait for an acknowledgement that is expected soon, instead of sending less than a burst.
    pub fn defers(&self) -> bool {
        let little = self.room < self.burst && self.room < self.window / WINDOW_DIVISOR;
        let (Some(oldest), Some(srtt)) = (self.oldest, self.srtt) else { return false };
        little && self.idle <= MAX_IDLE && oldest + MAX_ACK_WAIT.min(srtt / 2) >= srtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u64 = 1_448;

    fn segments(kbps: Option<u64>, round_trip_us: Option<u64>, is_paced: bool) -> u64 {
        let sizing = BurstSizing {
            rate: kbps.map(Rate::from_kbps),
            is_paced,
            least_round_trip: round_trip_us.map(Span::from_us),
            shift: None,
            segment: SEGMENT,
        };
        sizing.size() / SEGMENT
    }

    /// 80 Mb/s are 9765 bytes in 1/1024 s. 512 us halve 64 KiB, and 10.24 ms reduce it to nothing.
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

    /// Three segments are allowed with bursts of two: the third is deferred to the next acknowledgement.
    #[test]
    fn less_than_a_burst_waits_for_the_next_acknowledgement() {
        let waits = DeferralState {
            burst: 2 * SEGMENT,
            room: SEGMENT,
            window: 20 * SEGMENT,
            idle: Span::ZERO,
            oldest: Some(Span::from_ms(59)),
            srtt: Some(Span::from_ms(60)),
        };
        assert!(waits.defers());
        for (sends, why) in [
            (DeferralState { room: 2 * SEGMENT, ..waits }, "a full burst"),
            (DeferralState { window: 3 * SEGMENT, ..waits }, "a third of the window"),
            (DeferralState { idle: Span::from_us(1_001), ..waits }, "the last one is a while ago"),
            (DeferralState { oldest: None, ..waits }, "no acknowledgement is to come"),
            (DeferralState { oldest: Some(Span::from_us(58_999)), ..waits }, "or not within a millisecond"),
            (DeferralState { srtt: None, ..waits }, "nobody knows when"),
        ] {
            assert!(!sends.defers(), "{why}");
        }
        let short = DeferralState { srtt: Some(Span::from_us(1_000)), ..waits };
        for (oldest_us, defers) in [(499, false), (500, true), (5_000, true)] {
            let waiting = DeferralState { oldest: Some(Span::from_us(oldest_us)), ..short };
            assert_eq!(waiting.defers(), defers, "half a round trip, {oldest_us} us");
        }
    }

    #[test]
    fn two_bursts_fit_in_a_window() {
        let most = |segments| max_burst_of_window(segments * SEGMENT, SEGMENT) / SEGMENT;
        assert_eq!([1, 2, 3, 4, 21].map(most), [1, 1, 1, 2, 10]);
    }

    /// 8 Mb/s are 1000 bytes per millisecond.
    #[test]
    fn what_left_late_holds_the_next_back_for_less() {
        let until = |late_us| {
            let mut paced = PacedBurst::new(Time::ZERO, 1_000, Span::from_us(late_us), PaceBasis::Current);
            paced.add(1_000, PaceBasis::Current);
            paced.until(Rate::from_kbps(8_000)).ns() / 1_000
        };
        assert_eq!([0, 300, 1_000, 7_000].map(until), [2_000, 1_700, 1_000, 1_000]);
    }

    #[test]
    fn linux_paces_by_the_rate_at_the_send_from_the_tenth_segment() {
        let until = |segments| {
            let held = PaceBasis::as_in_linux(Some(Rate::from_kbps(4_000)), segments);
            let mut paced = PacedBurst::new(Time::ZERO, 1_000, Span::ZERO, PaceBasis::AtSend(None));
            paced.add(1_000, held);
            paced.until(Rate::from_kbps(8_000)).ns() / 1_000
        };
        assert_eq!([9, 10, 11].map(until), [0, 4_000, 4_000]);
    }

    #[test]
    fn a_burst_is_over_when_it_is_full_or_time_passes() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let mut burst = Burst::begin(at(1), 3 * SEGMENT, SEGMENT);
        assert!(burst.continues_at(at(1)) && !burst.continues_at(at(2)));
        assert!(!burst.send_next(SEGMENT) && burst.send_next(SEGMENT), "the last one has PSH");
        assert!(!burst.continues_at(at(1)));
        assert!(!Burst::default().continues_at(Time::ZERO));
    }
}
