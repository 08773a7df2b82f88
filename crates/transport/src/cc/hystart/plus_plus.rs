//! `HyStart++` (RFC 9406): a first slow start that ends when round trips grow, before the bottleneck queue
//! overflows.

use crate::Acked;
use multihop_core::Span;

/// Number of rounds of Conservative Slow Start before congestion avoidance (`CSS_ROUNDS`).
const CSS_ROUNDS: u32 = 5;
/// Divisor of the window growth in Conservative Slow Start (`CSS_GROWTH_DIVISOR`).
const CSS_GROWTH_DIVISOR: f64 = 4.0;
/// Number of round-trip samples that a round needs for a decision (`N_RTT_SAMPLE`).
const N_RTT_SAMPLE: u32 = 8;
/// Divisor of the round-trip time that gives the allowed growth (`MIN_RTT_DIVISOR`).
const MIN_RTT_DIVISOR: u64 = 8;
/// Lower limit of the allowed growth (`MIN_RTT_THRESH`).
const MIN_RTT_THRESH: Span = Span::from_ms(4);
/// Upper limit of the allowed growth (`MAX_RTT_THRESH`).
const MAX_RTT_THRESH: Span = Span::from_ms(16);

/// State of `HyStart++` for one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct HyStartPlusPlus {
    /// Number of payload bytes acknowledged.
    acked: u64,
    /// Number of acknowledged bytes at which the round ends (`windowEnd`).
    window_end: u64,
    /// `lastRoundMinRTT`; none stands for infinity, as below.
    last_round: Option<Span>,
    /// `currentRoundMinRTT`.
    this_round: Option<Span>,
    /// `rttSampleCount`.
    samples: u32,
    conservative: Option<ConservativeSlowStart>,
}

/// Conservative Slow Start, which checks whether leaving slow start was right.
#[derive(Clone, Copy, Debug)]
struct ConservativeSlowStart {
    /// `cssBaselineMinRtt`.
    baseline: Span,
    /// Number of rounds that ended in it, including the round in which it began.
    rounds: u32,
}

impl HyStartPlusPlus {
    /// Number of bytes by which an acknowledgement opens the window, if it opens the window by `standard` in
    /// the slow start of RFC 5681, and whether slow start ends with it. (`L`, 8 segments per acknowledgement,
    /// would open the window faster than RFC 5681 if acknowledgements are delayed.)
    pub fn on_acked(&mut self, acked: &Acked, standard: f64) -> (f64, bool) {
        let divisor = if self.conservative.is_some() { CSS_GROWTH_DIVISOR } else { 1.0 };
        let opened = standard / divisor;
        if let Some(rtt) = acked.rtt {
            self.this_round = Some(self.this_round.map_or(rtt, |least| least.min(rtt)));
            self.samples += 1;
        }
        self.judge();
        self.acked += acked.size;
        let ended = self.acked >= self.window_end && self.end_round(acked.in_flight);
        (opened, ended)
    }

    /// Checks whether the round trip has grown, or whether that was a mistake.
    fn judge(&mut self) {
        let Some(least) = self.this_round.filter(|_| self.samples >= N_RTT_SAMPLE) else { return };
        if let Some(conservative) = self.conservative {
            if least < conservative.baseline {
                self.conservative = None;
            }
        } else if let Some(last) = self.last_round {
            let threshold = (last / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
            if least >= last + threshold {
                self.conservative = Some(ConservativeSlowStart { baseline: least, rounds: 0 });
            }
        }
    }

    /// Ends a round; the next one lasts until the data in flight is acknowledged. Returns whether
    /// Conservative Slow Start is over.
    fn end_round(&mut self, in_flight: u64) -> bool {
        self.window_end = self.acked + in_flight;
        self.last_round = self.this_round.take();
        self.samples = 0;
        let Some(conservative) = &mut self.conservative else { return false };
        conservative.rounds += 1;
        conservative.rounds >= CSS_ROUNDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::Time;

    const MSS: f64 = 1_000.0;

    fn acked(segments: u64, rtt_us: Option<u64>) -> Acked {
        Acked {
            now: Time::ZERO,
            size: segments * 1_000,
            fresh: segments * 1_000,
            rtt: rtt_us.map(Span::from_us),
            srtt: None,
            in_flight: 10_000,
            app_limited: false,
            ecn_echo: false,
            hops: 1,
        }
    }

    /// Processes `count` acknowledgements of a segment, ten per round. Returns the growth by the last one,
    /// and whether slow start ended with it.
    fn acks(hystart: &mut HyStartPlusPlus, count: usize, rtt_us: u64) -> (f64, bool) {
        (0..count).map(|_| hystart.on_acked(&acked(1, Some(rtt_us)), MSS)).last().unwrap()
    }

    /// The first acknowledgement ends the round without data; then rounds are ten segments.
    fn after_a_round_of(rtt_us: u64) -> HyStartPlusPlus {
        let mut hystart = HyStartPlusPlus::default();
        assert_eq!(acks(&mut hystart, 11, rtt_us), (MSS, false));
        hystart
    }

    const OPEN: (f64, bool) = (MSS, false);
    const CONSERVATIVE: (f64, bool) = (MSS / 4.0, false);

    /// `RttThresh` is an eighth of the last round's minimum round trip, within 4 and 16 ms. The eighth sample
    /// decides, and the ninth acknowledgement opens the window by a quarter.
    #[test]
    fn rfc_9406_4_2_slow_start_ends_when_the_least_round_trip_has_grown() {
        for (last, threshold) in [(20_000, 4_000), (80_000, 10_000), (400_000, 16_000)] {
            let mut hystart = after_a_round_of(last);
            assert_eq!(acks(&mut hystart, 10, last + threshold - 1), OPEN);
            let mut hystart = after_a_round_of(last);
            assert_eq!(acks(&mut hystart, 8, last + threshold), OPEN);
            assert_eq!(acks(&mut hystart, 1, last + threshold), CONSERVATIVE, "{last}");
        }
    }

    /// One short round trip among ten determines the minimum of the round.
    #[test]
    fn rfc_9406_4_2_the_least_of_a_round_counts() {
        let mut hystart = after_a_round_of(20_000);
        acks(&mut hystart, 1, 20_500);
        assert_eq!(acks(&mut hystart, 9, 60_000), OPEN);
    }

    #[test]
    fn rfc_9406_4_2_seven_samples_are_too_few() {
        let mut hystart = after_a_round_of(20_000);
        acks(&mut hystart, 7, 60_000);
        for _ in 0..3 {
            assert_eq!(hystart.on_acked(&acked(1, None), MSS), OPEN);
        }
    }

    /// The round in which it begins counts: five rounds end before slow start does.
    #[test]
    fn rfc_9406_4_2_conservative_slow_start_lasts_five_rounds() {
        let mut hystart = after_a_round_of(20_000);
        assert_eq!(acks(&mut hystart, 10, 24_000), CONSERVATIVE);
        for _ in 0..3 {
            assert_eq!(acks(&mut hystart, 10, 30_000), CONSERVATIVE);
        }
        assert_eq!(acks(&mut hystart, 9, 30_000), CONSERVATIVE);
        assert_eq!(acks(&mut hystart, 1, 30_000), (MSS / 4.0, true));
    }

    /// If the minimum of eight samples of a round is below the baseline, slow start continues, and may end
    /// again.
    #[test]
    fn rfc_9406_4_2_a_spurious_exit_is_taken_back() {
        let mut hystart = after_a_round_of(20_000);
        acks(&mut hystart, 10, 24_000);
        assert_eq!(acks(&mut hystart, 10, 24_000), CONSERVATIVE, "not below the baseline");
        assert_eq!(acks(&mut hystart, 8, 23_999), CONSERVATIVE);
        assert_eq!(acks(&mut hystart, 2, 23_999), OPEN);
        assert_eq!(acks(&mut hystart, 8, 27_999), OPEN);
        assert_eq!(acks(&mut hystart, 1, 27_999), CONSERVATIVE);
    }
}
