//! TCP Prague (draft-briscoe-iccrg-prague-congestion-control): the window falls by half of the share of
//! marked data, so that a queue of low latency needs frequent, small reductions. Losses act as in Reno.
//!
//! Sections are those of version 04 of the draft; constants that it leaves open are those of the reference
//! implementation in Linux (`net/ipv4/tcp_prague.c`).

use crate::{
    Acked, Allowance, Controller, DeliverySample, Lost, Marked, Recovered, Reno, RenoOptions, SentSegment,
};
use multihop_core::{Rate, Span, Time};

/// Options of [`Prague`].
#[derive(Clone, Debug, PartialEq)]
pub struct PragueOptions {
    /// Slow start, initial window, limits, and the reaction to losses.
    pub reno: RenoOptions,
    /// Gain of a round trip in the moving average of the share of marked data (section 2.4.2: 1/16).
    pub gain: f64,
    /// Round-trip time as which shorter ones count (section 2.4.4: 25 ms). Zero for none.
    pub least_round_trip: Span,
    /// Number of round trips after slow start from which shorter round trips count as longer (section 2.4.4:
    /// 500).
    pub transition: u32,
}

impl PragueOptions {
    /// Constants of the draft.
    pub fn draft(reno: RenoOptions) -> PragueOptions {
        PragueOptions { reno, gain: 1.0 / 16.0, least_round_trip: Span::from_ms(25), transition: 500 }
    }
}

/// Smallest window after a reduction by marks, in segments (`MIN_CWND`).
const LEAST_WINDOW: f64 = 2.0;

/// The Prague controller. Needs [`crate::TcpOptions::delivery_rate`] and accurate ECN feedback; without such
/// feedback an ECN-Echo acts as in Reno.
#[derive(Clone, Debug)]
pub struct Prague {
    options: PragueOptions,
    reno: Reno,
    /// Moving average of the share of marked data; 1 before the first mark.
    alpha: f64,
    has_marks: bool,
    has_accurate_feedback: bool,
    round: Round,
    /// Number of rounds since slow start ended.
    rounds: u32,
    /// Time of the last reduction by marks.
    reduced: Option<Time>,
    srtt: Option<Span>,
    /// Acknowledgement of new data that was not yet reported as delivered.
    acked: Option<Acked>,
    /// Ratio of packet bytes to payload bytes of a full segment.
    overhead: f64,
}

/// Round, over which the share of marked data is measured.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    began: Time,
    /// Value of `delivered` at the start.
    end: u64,
    delivered: u64,
    marked: u64,
}

impl Prague {
    /// A controller with its initial window.
    pub fn new(options: PragueOptions) -> Prague {
        Prague {
            reno: Reno::new(options.reno.clone()),
            options,
            alpha: 1.0,
            has_marks: false,
            has_accurate_feedback: true,
            round: Round::default(),
            rounds: 0,
            reduced: None,
            srtt: None,
            acked: None,
            overhead: 1.0,
        }
    }

    fn in_slow_start(&self) -> bool {
        self.reno.window < self.reno.threshold
    }

    /// Round-trip time as which shorter ones count now; zero before the transition.
    fn virtual_round_trip(&self) -> Span {
        let is_independent = !self.in_slow_start() && self.rounds >= self.options.transition;
        if is_independent { self.options.least_round_trip } else { Span::ZERO }
    }

    /// Factor of the additive increase: a window of one round trip grows as fast as the rate of a flow with
    /// the virtual round-trip time (section 2.4.4, `prague_rate_scaled_ai_ack_increase`).
    fn increase_factor(&self) -> f64 {
        let least = self.virtual_round_trip().seconds();
        let rtt = self.srtt.map_or(f64::INFINITY, Span::seconds);
        if rtt < least { (rtt / least).powi(2) } else { 1.0 }
    }

    /// Opens the window by the unmarked bytes of an acknowledgement (section 2.4.3): growth does not pause
    /// after marks.
    fn open(&mut self, acked: &Acked, unmarked: u64) {
        let acked = Acked { size: acked.size.min(unmarked), fresh: acked.fresh.min(unmarked), ..*acked };
        let mut counted = acked.fresh as f64;
        if self.in_slow_start() {
            counted = self.reno.slow_start(&acked, self.reno.slow_start_increase(&acked));
        }
        if counted > 0.0 && !acked.app_limited {
            let grown = self.reno.segment * counted / self.reno.window * self.increase_factor();
            self.reno.window = (self.reno.window + grown).min(self.options.reno.max_window as f64);
        }
    }

    /// Ends a round that has lasted for the virtual round-trip time, and updates `alpha` (section 2.4.2).
    fn measure(&mut self, delivery: &DeliverySample) {
        self.round.delivered += delivery.size;
        self.round.marked += delivery.marked.unwrap_or(0);
        self.has_marks |= self.round.marked > 0;
        let ended = delivery.prior_delivered >= self.round.end
            && delivery.now.since(self.round.began) >= self.virtual_round_trip();
        if !ended {
            return;
        }
        if self.has_marks {
            let share = self.round.marked as f64 / self.round.delivered as f64;
            self.alpha += self.options.gain * (share.min(1.0) - self.alpha);
        }
        if !self.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
        self.round = Round { began: delivery.now, end: delivery.delivered, delivered: 0, marked: 0 };
    }
}

impl Controller for Prague {
    /// The pace is a window per smoothed round trip, twice that in slow start up to half of the threshold
    /// (section 2.4.7, `prague_update_pacing_rate`).
    fn allowance(&self) -> Allowance {
        let gain = if self.reno.window < self.reno.threshold / 2.0 { 2.0 } else { 1.0 };
        let rate = |srtt: Span| gain * 8.0 * self.reno.window * self.overhead / srtt.seconds().max(1e-9);
        let pace = self.srtt.map(|srtt| Rate::from_bps(rate(srtt).max(1.0) as u64));
        Allowance { pace, ..self.reno.allowance() }
    }

    fn slow_start_threshold(&self) -> Option<u64> {
        self.reno.slow_start_threshold()
    }

    fn on_opened(&mut self, rtt: Span) {
        self.srtt = Some(rtt);
    }

    fn on_sent(&mut self, sent: &SentSegment) {
        self.overhead = sent.packet as f64 / sent.size as f64;
    }

    fn on_acked(&mut self, acked: &Acked) {
        self.srtt = acked.srtt.or(self.srtt);
        self.acked = Some(*acked);
    }

    fn on_delivered(&mut self, delivery: &DeliverySample) {
        self.has_accurate_feedback = delivery.marked.is_some();
        if let Some(acked) = self.acked.take() {
            self.open(&acked, delivery.size.saturating_sub(delivery.marked.unwrap_or(0)));
        }
        self.measure(delivery);
    }

    fn reduces_by_share(&self) -> bool {
        true
    }

    /// Reduces the window by half of `alpha`, at most once per virtual round trip (section 2.4.2). The first
    /// mark ends slow start.
    fn on_marked(&mut self, marked: &Marked) {
        if !self.has_accurate_feedback {
            self.reno.on_marked(marked);
            return;
        }
        self.has_marks = true;
        if self.reduced.is_some_and(|last| marked.now.since(last) < self.virtual_round_trip()) {
            return;
        }
        self.reduced = Some(marked.now);
        let least = LEAST_WINDOW * self.reno.segment;
        self.reno.window = (self.reno.window * (1.0 - self.alpha / 2.0)).max(least.min(self.reno.window));
        self.reno.threshold = self.reno.window;
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.reno.on_lost(lost);
    }

    fn on_undone(&mut self) {
        self.reno.on_undone();
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.reno.on_recovered(recovered);
    }

    fn on_idle(&mut self, now: Time) {
        self.reno.on_idle(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LossKind;
    use crate::cc::testing::delivery;

    const MSS: u64 = 1000;

    fn prague(window: u32, threshold: u32) -> Prague {
        let reno = RenoOptions {
            initial_window: Some(window),
            initial_threshold: Some(threshold),
            ..RenoOptions::of(crate::Flavour::Linux, MSS as u32, 10_000 * MSS)
        };
        Prague::new(PragueOptions { transition: 0, ..PragueOptions::draft(reno) })
    }

    /// Path that delivers a window per round trip, with a share of marked segments, evenly spread.
    struct Script {
        prague: Prague,
        now: Time,
        rtt: Span,
        delivered: u64,
        debt: f64,
    }

    impl Script {
        fn new(prague: Prague, rtt: Span) -> Script {
            Script { prague, now: Time::ZERO, rtt, delivered: 0, debt: 0.0 }
        }

        fn window(&self) -> f64 {
            self.prague.reno.window / MSS as f64
        }

        /// A round trip; returns the number of segments.
        fn round(&mut self, share: f64) -> u64 {
            let segments = self.window() as u64;
            let prior_delivered = self.delivered;
            let mut is_first_mark = true;
            for _ in 0..segments {
                self.now += self.rtt / segments;
                self.delivered += MSS;
                self.debt += share;
                let is_marked = self.debt >= 1.0;
                self.debt -= f64::from(u8::from(is_marked));
                let srtt = Some(self.rtt);
                self.prague.on_acked(&Acked { srtt, ..Acked::in_order(self.now, MSS) });
                if is_marked && std::mem::take(&mut is_first_mark) {
                    self.prague.on_marked(&Marked { now: self.now, in_flight: segments * MSS });
                }
                self.prague.on_delivered(&DeliverySample {
                    marked: Some(if is_marked { MSS } else { 0 }),
                    prior_delivered,
                    rtt: srtt,
                    ..delivery(self.now, MSS, self.delivered, segments * MSS)
                });
            }
            segments
        }
    }

    /// A share of 1/4 from `alpha` 1 on: 1/4 + 3/4 (15/16)^n after n rounds.
    #[test]
    fn draft_2_4_2_alpha_is_a_moving_average() {
        let mut script = Script::new(prague(100, 2), Span::from_ms(50));
        script.round(0.25);
        let mut rounds = 0;
        let before = script.prague.alpha;
        while rounds < 40 {
            script.round(0.25);
            rounds += 1;
        }
        let expected = 0.25 + (before - 0.25) * (15.0_f64 / 16.0).powi(40);
        assert!((script.prague.alpha - expected).abs() < 0.02, "{} {expected}", script.prague.alpha);
    }

    /// The window where an increase of a segment, less its marked share, equals a reduction by `alpha / 2`: 2
    /// (1 - p) / p segments.
    #[test]
    fn draft_2_4_the_window_is_two_over_the_share() {
        for share in [0.02, 0.05, 0.1] {
            let mut script = Script::new(prague(60, 2), Span::from_ms(50));
            (0..400).for_each(|_| {
                script.round(share);
            });
            let mean = (0..400).map(|_| script.round(share)).sum::<u64>() as f64 / 400.0;
            let expected = 2.0 * (1.0 - share) / share;
            assert!((mean / expected - 1.0).abs() < 0.15, "{share}: {mean} {expected}");
        }
    }

    /// Without marks a round trip of 5 ms adds (5 / 25)^2 segments, and one of 25 ms or more a segment: the
    /// rate grows equally in a second. Before the transition all add a segment.
    #[test]
    fn draft_2_4_4_short_round_trips_count_as_25_ms() {
        for (ms, transition, expected) in
            [(5, 0, 0.04), (10, 0, 0.16), (25, 0, 1.0), (100, 0, 1.0), (5, 500, 1.0)]
        {
            let mut script = Script::new(prague(50, 2), Span::from_ms(ms));
            script.prague.options.transition = transition;
            script.round(0.0);
            let before = script.window();
            script.round(0.0);
            let grown = script.window() - before;
            assert!((grown / expected - 1.0).abs() < 0.03, "{ms}: {grown}");
        }
    }

    /// At 5 ms marks in each round trip reduce once in 25 ms, and `alpha` is updated as often.
    #[test]
    fn draft_2_4_4_reductions_are_once_per_virtual_round_trip() {
        let mut script = Script::new(prague(100, 2), Span::from_ms(5));
        script.prague.alpha = 0.1;
        let mut reductions = 0;
        for _ in 0..100 {
            let before = script.prague.reduced;
            script.round(0.1);
            reductions += u32::from(script.prague.reduced != before);
        }
        assert!((16..=20).contains(&reductions), "100 round trips are 20 virtual ones: {reductions}");
        assert!((15..=20).contains(&script.prague.rounds), "{}", script.prague.rounds);
    }

    /// Slow start doubles the window until the first mark, which halves it, as `alpha` is 1. `alpha` stays
    /// before.
    #[test]
    fn draft_2_4_2_the_first_mark_ends_slow_start() {
        let mut script = Script::new(prague(10, 1_000), Span::from_ms(50));
        (0..3).for_each(|_| {
            script.round(0.0);
        });
        assert_eq!((script.window(), script.prague.alpha), (80.0, 1.0));
        assert_eq!(script.prague.allowance().pace, Some(Rate::from_bps(2 * 8 * 80_000 * 20)));
        script.prague.on_marked(&Marked { now: script.now, in_flight: 80 * MSS });
        assert_eq!((script.window(), script.prague.slow_start_threshold()), (40.0, Some(40 * MSS)));
        assert_eq!(script.prague.allowance().pace, Some(Rate::from_bps(8 * 40_000 * 20)));
    }

    /// A loss halves the data in flight as in Reno, whatever `alpha` is, and is undone.
    #[test]
    fn draft_2_4_5_a_loss_acts_as_in_reno() {
        let mut prague = prague(40, 40);
        prague.alpha = 0.01;
        prague.on_lost(&Lost { now: Time::ZERO, kind: LossKind::DuplicateAcks, in_flight: 40 * MSS });
        assert_eq!((prague.allowance().window, prague.slow_start_threshold()), (20 * MSS, Some(20 * MSS)));
        prague.on_undone();
        assert_eq!(prague.allowance().window, 40 * MSS);
        prague.on_lost(&Lost {
            now: Time::ZERO,
            kind: LossKind::Timeout { again: false },
            in_flight: 40 * MSS,
        });
        assert_eq!((prague.allowance().window, prague.slow_start_threshold()), (MSS, Some(20 * MSS)));
    }

    /// With the feedback of RFC 3168 an echo halves; with accurate feedback the window stays above two
    /// segments.
    #[test]
    fn draft_2_4_1_classic_feedback_halves() {
        let mut classic = prague(40, 40);
        classic.alpha = 0.01;
        classic.has_accurate_feedback = false;
        classic.on_marked(&Marked { now: Time::ZERO, in_flight: 40 * MSS });
        assert_eq!(classic.allowance().window, 20 * MSS);
        let mut small = prague(3, 3);
        small.on_marked(&Marked { now: Time::ZERO, in_flight: 3 * MSS });
        assert_eq!(small.allowance().window, 2 * MSS);
    }
}
