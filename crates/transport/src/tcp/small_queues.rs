//! Limit on a connection's data in its own node, and the rate of a window-based connection.

use multihop_core::{Rate, Span};

/// TCP small queues of Linux (`tcp_small_queue_check` in `net/ipv4/tcp_output.c`): the connection's data
/// below TCP, in the queues and the radio of its own node, is at most what its rate carries in about a
/// millisecond.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SmallQueues {
    /// Shift of the rate in bytes per second (`sk_pacing_shift`): 10 is about a millisecond, 8 four, 7 eight.
    pub pacing_shift: u32,
    /// Maximum number of bytes, whatever the rate, for a connection that is not paced
    /// (`tcp_limit_output_bytes`).
    pub limit: u64,
}

impl SmallQueues {
    /// Number of bytes beyond which nothing more is passed down, at this rate if it is known; at least two
    /// packets.
    pub(super) fn allowed(self, rate: Option<Rate>, packet: u64, is_paced: bool) -> u64 {
        let by_rate = rate.map_or(u64::MAX, |rate| (rate.bps() / 8) >> self.pacing_shift);
        let allowed = by_rate.max(2 * packet);
        if is_paced { allowed } else { allowed.min(self.limit) }
    }
}

/// Use of the window, which tells whether the window or something else limits the sender. As in Linux
/// (`tcp_cwnd_validate`, `tcp_is_cwnd_limited`), a window counts as used if it was full at any time since the
/// last round of data, or half full in slow start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowUse {
    full: bool,
    /// Maximum number of bytes that were outstanding.
    max_outstanding: u64,
    /// Acknowledgement number that ends the round.
    round_end: u64,
}

impl WindowUse {
    /// Records that nothing more is sent at present. Bytes `una..max` are outstanding, and `full` tells
    /// whether the window is the reason.
    pub(super) fn note(&mut self, una: u64, max: u64, full: bool) {
        let out = max - una;
        if una >= self.round_end || full || (!self.full && out > self.max_outstanding) {
            *self = WindowUse { full, max_outstanding: out, round_end: max };
        }
    }

    /// Whether the window must not grow.
    pub(super) fn is_unused(&self, window: u64, threshold: Option<u64>) -> bool {
        let starting = threshold.is_none_or(|threshold| window < threshold);
        !(self.full || (starting && window < 2 * self.max_outstanding))
    }
}

/// Rate of a window in Linux (`tcp_update_pacing_rate` in `net/ipv4/tcp_input.c`): 1.2 times the window, or
/// the data in flight if that is more, per round trip; twice the window in slow start, up to half of the
/// threshold. At least 1 b/s.
pub(crate) fn rate_of_window(window: u64, in_flight: u64, threshold: Option<u64>, srtt: Span) -> Rate {
    let percent = if threshold.is_none_or(|threshold| window < threshold / 2) { 200 } else { 120 };
    let bits = u128::from(window.max(in_flight)) * 8 * percent / 100;
    let per_second = bits * 1_000_000_000 / u128::from(srtt.ns().max(1));
    Rate::from_bps(u64::try_from(per_second).unwrap_or(u64::MAX).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 segments of 1000 bytes in 10 ms are 80 Mb/s.
    #[test]
    fn the_rate_is_that_of_the_window_and_some_more() {
        let rate = |window, in_flight, threshold| {
            rate_of_window(window, in_flight, threshold, Span::from_ms(10)).bps()
        };
        assert_eq!(
            rate(100_000, 0, Some(200_000)),
            96_000_000,
            "congestion avoidance begins to show at a half"
        );
        assert_eq!(rate(100_000, 0, Some(200_002)), 160_000_000, "slow start");
        assert_eq!(rate(100_000, 0, None), 160_000_000, "no threshold is far away");
        assert_eq!(rate(100_000, 150_000, Some(0)), 144_000_000, "in recovery more is outstanding");
        assert_eq!(rate_of_window(0, 0, None, Span::ZERO).bps(), 1, "it can be paced by");
    }

    /// Half of the window suffices only in slow start. A full window counts as used until a round later.
    #[test]
    fn a_window_is_used_that_was_full_or_by_half_in_slow_start() {
        let mut window_use = WindowUse::default();
        window_use.note(0, 6_000, false);
        assert!(!window_use.is_unused(10_000, None) && window_use.is_unused(10_000, Some(10_000)));
        assert!(window_use.is_unused(12_000, None), "not by half");
        window_use.note(1_000, 11_000, true);
        window_use.note(5_000, 12_000, false);
        assert!(!window_use.is_unused(10_000, Some(0)));
        window_use.note(11_000, 14_000, false);
        assert!(window_use.is_unused(10_000, Some(0)));
    }

    /// 80 Mb/s are 10 MB/s: 9765 bytes in 1/1024 s.
    #[test]
    fn the_shift_is_a_time_at_the_rate() {
        let queues = |pacing_shift| SmallQueues { pacing_shift, limit: 50_000 };
        let rate = Some(Rate::from_kbps(80_000));
        assert_eq!(queues(10).allowed(rate, 1_500, false), 9_765);
        assert_eq!(queues(8).allowed(rate, 1_500, false), 39_062);
        assert_eq!(queues(7).allowed(rate, 1_500, false), 50_000, "the limit");
        assert_eq!(queues(7).allowed(rate, 1_500, true), 78_125, "which is not of what is paced");
        assert_eq!(queues(10).allowed(Some(Rate::from_kbps(1)), 1_500, false), 3_000, "two packets");
        assert_eq!(queues(10).allowed(None, 1_500, false), 50_000, "no round trip yet");
    }
}
