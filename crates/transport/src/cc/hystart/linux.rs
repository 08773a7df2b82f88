//! `HyStart` (Ha and Rhee, *Taming the elephants: New TCP slow start*, Computer Networks 55, 2011) as in
//! Linux 6 (`hystart_update` in `net/ipv4/tcp_cubic.c`): slow start ends when the round-trip time grows, or
//! when the acknowledgements of a round trip are spread over about a round trip.

use crate::tcp::small_queues::rate_of_window;
use crate::{Acked, Reno};
use multihop_core::{Span, Time};

/// Minimum window in segments (`hystart_low_window`).
const LOW_WINDOW: f64 = 16.0;
/// Number of round-trip samples before the one that decides (`HYSTART_MIN_SAMPLES`).
const MIN_SAMPLES: u32 = 8;
/// Lower limit of the allowed growth of the round-trip time (`HYSTART_DELAY_MIN`).
const MIN_GROWTH: Span = Span::from_ms(4);
/// Upper limit of the allowed growth (`HYSTART_DELAY_MAX`).
const MAX_GROWTH: Span = Span::from_ms(16);
/// Longest gap between acknowledgements of a train (`hystart_ack_delta_us`).
const TRAIN_GAP: Span = Span::from_ms(2);
/// Time added to the length of a train for segmentation and receive offload: four bursts of the maximum size
/// at the rate of the connection, up to this (`hystart_ack_delay`).
const MAX_OFFLOAD_DELAY: Span = Span::from_ms(1);
const FOUR_BURSTS: u64 = 4 * 65_536;

/// State of `HyStart` for one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct HyStart {
    /// Number of payload bytes acknowledged, and number beyond which the next round starts (`end_seq`).
    acked: u64,
    round_end: u64,
    /// Start of the round, and time of the last acknowledgement of its train (`last_ack`).
    round_start: Time,
    train_end: Time,
    /// Minimum round-trip time of the round (`curr_rtt`), and number of samples.
    this_round: Option<Span>,
    samples: u32,
    /// Minimum round-trip time (`delay_min`).
    least: Option<Span>,
    /// Whether the sender is paced.
    is_paced: bool,
}

impl HyStart {
    /// Sets whether the sender is paced, which spreads data over up to half a round trip.
    pub fn set_paced(&mut self, is_paced: bool) {
        self.is_paced = is_paced;
    }

    /// Starts again after a timeout with `outstanding` bytes.
    pub fn restart(&mut self, outstanding: u64) {
        *self = HyStart { round_end: outstanding, is_paced: self.is_paced, ..HyStart::default() };
    }

    /// Processes an acknowledgement in slow start. Returns whether slow start ends.
    pub fn on_acked(&mut self, acked: &Acked, reno: &Reno) -> bool {
        self.acked += acked.size;
        let Some(rtt) = acked.rtt else { return false };
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        if self.acked > self.round_end {
            self.round_end = self.acked + acked.in_flight;
            (self.round_start, self.train_end) = (acked.now, acked.now);
            (self.this_round, self.samples) = (None, 0);
        }
        if reno.window < LOW_WINDOW * reno.segment {
            return false;
        }
        let by_train = self.is_long_train(acked, reno, least);
        self.has_grown(rtt, least) || by_train
    }

    fn is_long_train(&mut self, acked: &Acked, reno: &Reno, least: Span) -> bool {
        if acked.now.since(self.train_end) > TRAIN_GAP {
            return false;
        }
        self.train_end = acked.now;
        let limit = least + offload_delay(acked, reno);
        let limit = if self.is_paced { limit } else { limit / 2 };
        acked.now.since(self.round_start) > limit
    }

    fn has_grown(&mut self, rtt: Span, least: Span) -> bool {
        let this_round = self.this_round.map_or(rtt, |least| least.min(rtt));
        self.this_round = Some(this_round);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        this_round > least + (least / 8).clamp(MIN_GROWTH, MAX_GROWTH)
    }
}

fn offload_delay(acked: &Acked, reno: &Reno) -> Span {
    let Some(srtt) = acked.srtt else { return Span::ZERO };
    let rate = rate_of_window(reno.window as u64, acked.in_flight, Some(reno.threshold as u64), srtt);
    rate.span_of_bytes(FOUR_BURSTS).min(MAX_OFFLOAD_DELAY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flavour, RenoOptions};

    const MSS: u64 = 1_000;

    /// A slow start with this window in segments.
    struct Script {
        hystart: HyStart,
        reno: Reno,
        in_flight: u64,
    }

    impl Script {
        fn new(window: u32) -> Script {
            let reno = RenoOptions {
                initial_window: Some(window),
                ..RenoOptions::of(Flavour::Linux, MSS as u32, 1_000 * MSS)
            };
            Script { hystart: HyStart::default(), reno: Reno::new(reno), in_flight: 20 * MSS }
        }

        fn ack(&mut self, at_us: u64, rtt_us: u64) -> bool {
            let (now, rtt) = (Time::ZERO + Span::from_us(at_us), Span::from_us(rtt_us));
            let in_order = Acked::in_order(now, MSS);
            let acked = Acked { rtt: Some(rtt), srtt: Some(rtt), in_flight: self.in_flight, ..in_order };
            self.hystart.on_acked(&acked, &self.reno)
        }

        /// Number of acknowledgements, `gap_us` apart, after which slow start ends; none after twenty.
        fn ends(&mut self, from_us: u64, gap_us: u64, rtt_us: u64) -> Option<u64> {
            (0..20).find(|number| self.ack(from_us + number * gap_us, rtt_us)).map(|number| number + 1)
        }
    }

    /// `hystart_update`: eight samples of a round do not decide, and the ninth does if all are more than an
    /// eighth above the minimum, at least 4 ms and at most 16 ms.
    #[test]
    fn slow_start_ends_when_the_least_round_trip_of_a_round_has_grown() {
        for (least, growth) in [(20_000, 4_000), (80_000, 10_000), (400_000, 16_000)] {
            for (more, expected) in [(0, None), (1, Some(9))] {
                let mut script = Script::new(16);
                assert!(!script.ack(0, least));
                // 5 ms apart, they are no train. The next round begins beyond 21 segments.
                assert_eq!(script.ends(1_000_000, 5_000, least), None);
                assert_eq!(script.ends(2_000_000, 5_000, least + growth + more), expected, "{least} {more}");
            }
        }
    }

    /// `hystart_low_window`.
    #[test]
    fn below_16_segments_slow_start_goes_on() {
        for (window, expected) in [(15, None), (16, Some(9))] {
            let mut script = Script::new(window);
            script.ack(0, 20_000);
            script.ends(1_000_000, 5_000, 20_000);
            assert_eq!(script.ends(2_000_000, 5_000, 60_000), expected, "{window}");
        }
    }

    /// A minimum round trip of 20 ms and 1 ms for offload: the train is long after 10.5 ms, or after 21 ms
    /// with pacing. Acknowledgements 1 ms apart; the first begins the round.
    #[test]
    fn slow_start_ends_when_acknowledgements_take_half_a_round_trip() {
        for (is_paced, gap, expected) in
            [(false, 1_000, Some(12)), (true, 1_000, None), (true, 2_000, Some(12)), (false, 2_001, None)]
        {
            let mut script = Script::new(16);
            script.hystart.set_paced(is_paced);
            assert_eq!(script.ends(0, gap, 20_000), expected, "{is_paced} {gap}");
        }
    }

    /// At 2.6 Gb/s four bursts of 64 KiB take 0.8 ms: 640 segments in 4 ms, at twice the window.
    #[test]
    fn the_time_for_offload_is_that_of_four_bursts() {
        let script = Script::new(640);
        let srtt = Some(Span::from_ms(4));
        let acked = Acked { srtt, ..Acked::in_order(Time::ZERO, MSS) };
        // The threshold is the maximum window of 1000 segments, less than twice the window: 120 %.
        assert_eq!(offload_delay(&acked, &script.reno).ns() / 1_000, 1_000);
        let acked = Acked { srtt: Some(Span::from_ms(2)), ..acked };
        assert_eq!(offload_delay(&acked, &script.reno).ns() / 1_000, 262_144 * 1_000 / 384_000);
        assert_eq!(offload_delay(&Acked { srtt: None, ..acked }, &script.reno), Span::ZERO);
    }

    /// `bictcp_hystart_reset`: what a timeout found outstanding ends the next round.
    #[test]
    fn a_timeout_starts_again() {
        let mut script = Script::new(16);
        script.ack(0, 20_000);
        script.hystart.restart(5 * MSS);
        (0..5).for_each(|number| assert!(!script.ack(1_000_000 + number * 5_000, 60_000)));
        assert_eq!((script.hystart.least, script.hystart.samples), (Some(Span::from_ms(60)), 5));
        assert!(!script.ack(1_025_000, 60_000));
        assert_eq!(script.hystart.samples, 1, "the sixth segment begins a round");
    }
}
