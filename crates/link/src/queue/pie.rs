//! PIE (RFC 8033): packets are dropped or marked at random as they arrive. A proportional integral controller
//! sets the probability from the queue delay.

use super::line::{Line, Queued};
use super::updates::Updates;
use multihop_core::{Rng, Span, Time};
use serde::Serialize;

/// Parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PieOptions {
    /// Queue delay that the controller aims at, `QDELAY_REF` (RFC 8033, section 4.2: 15 ms).
    pub target: Span,
    /// Interval between updates of the drop probability, `T_UPDATE` (section 4.2: 15 ms).
    pub update: Span,
    /// Gain of the deviation from the target, in 1/s (section 4.2: 1/8).
    pub alpha: f64,
    /// Gain of the change of the delay, in 1/s (section 4.2: 1 1/4).
    pub beta: f64,
    /// Time for which nothing is dropped after the queue was short, `MAX_BURST` (section 4.4: 150 ms).
    pub max_burst: Span,
    /// Whether ECN-capable packets are marked instead of dropped while the drop probability is at most 10 %
    /// (section 5.1). Off by default in Linux.
    pub ecn: bool,
}

impl Default for PieOptions {
    /// Returns the constants of RFC 8033, without ECN as in Linux's `pie`.
    fn default() -> PieOptions {
        PieOptions {
            target: Span::from_ms(15),
            update: Span::from_ms(15),
            alpha: 0.125,
            beta: 1.25,
            max_burst: Span::from_ms(150),
            ecn: false,
        }
    }
}

/// Drop probability above which ECN-capable packets are dropped (`mark_ecnth`; RFC 8033, section 5.1).
const MAX_MARKING: f64 = 0.1;

/// Drop probability up to which a delay below half of the target protects arrivals (RFC 8033, section 4.1).
const PROTECTED: f64 = 0.2;

/// Sum of drop probabilities since the last drop below which nothing is dropped, and above which the packet
/// is dropped (RFC 8033, section 5.4).
const DERANDOMIZED: [f64; 2] = [0.85, 8.5];

/// Largest increase of a drop probability of at least [`MAX_MARKING`] (RFC 8033, section 5.5).
const MAX_INCREASE: f64 = 0.02;

/// Share of the probability that is left by an update after two without delay (RFC 8033, section 4.2).
const DECAY: f64 = 0.98;

/// Drop probability, by the delay of the packet that left last (RFC 8033, section 5.2: timestamps).
#[derive(Clone, Copy, Debug)]
struct Control {
    probability: f64,
    /// Delay of the last dequeued packet; zero if it left the queue empty.
    delay: Span,
    /// Value of `delay` at the last update.
    delay_before: Span,
    burst_allowance: Span,
}

impl Control {
    /// Updates the probability (RFC 8033, sections 4.2, 4.4, 5.5 and appendix A).
    fn update(&mut self, options: &PieOptions) {
        let seconds = |span: Span| span.seconds();
        let (delay, before) = (seconds(self.delay), seconds(self.delay_before));
        let change = options.alpha * (delay - seconds(options.target)) + options.beta * (delay - before);
        let change = change * auto_tuning(self.probability);
        let change = if self.probability >= MAX_MARKING { change.min(MAX_INCREASE) } else { change };
        self.probability += change;
        if self.delay == Span::ZERO && self.delay_before == Span::ZERO {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst_allowance = self.burst_allowance.saturating_sub(options.update);
        let is_short = |delay: Span| delay * 2 < options.target;
        if self.probability == 0.0 && is_short(self.delay) && is_short(self.delay_before) {
            self.burst_allowance = options.max_burst;
        }
        self.delay_before = self.delay;
    }

    /// Whether another update without packets in between changes nothing.
    fn is_settled(&self, options: &PieOptions) -> bool {
        let at_bound = match self.probability {
            0.0 => self.delay <= options.target && self.burst_allowance == options.max_burst,
            1.0 => self.delay > options.target && self.burst_allowance == Span::ZERO,
            _ => false,
        };
        at_bound && self.delay == self.delay_before
    }
}

/// Factor of a change of the drop probability: small probabilities change in small steps (RFC 8033, section
/// 4.2).
fn auto_tuning(probability: f64) -> f64 {
    match probability {
        ..0.000_001 => 1.0 / 2048.0,
        ..0.000_01 => 1.0 / 512.0,
        ..0.000_1 => 1.0 / 128.0,
        ..0.001 => 1.0 / 32.0,
        ..0.01 => 1.0 / 8.0,
        ..0.1 => 1.0 / 2.0,
        _ => 1.0,
    }
}

/// Queue under PIE.
#[derive(Clone, Debug)]
pub(super) struct Pie<T> {
    options: PieOptions,
    line: Line<T>,
    control: Control,
    updates: Updates,
    /// Sum of the probabilities of arrivals since the last drop.
    accumulated: f64,
    /// Bytes of the largest packet so far.
    largest: u32,
    random: Rng,
}

impl<T> Pie<T> {
    pub(super) fn new(options: PieOptions, salt: u64) -> Pie<T> {
        Pie {
            control: Control {
                probability: 0.0,
                delay: Span::ZERO,
                delay_before: Span::ZERO,
                burst_allowance: options.max_burst,
            },
            updates: Updates::new(options.update),
            options,
            line: Line::default(),
            accumulated: 0.0,
            largest: 0,
            random: Rng::at(salt, &["pie"]),
        }
    }

    pub(super) fn line(&self) -> &Line<T> {
        &self.line
    }

    /// Enqueues a packet, or returns the packet if it is dropped.
    pub(super) fn push(&mut self, mut packet: Queued<T>) -> Option<T> {
        self.catch_up(packet.came);
        self.largest = self.largest.max(packet.size);
        if self.chooses() {
            let marks = self.options.ecn && packet.markable && self.control.probability <= MAX_MARKING;
            if !marks {
                return Some(packet.item);
            }
            packet.marked = true;
        }
        self.line.push(packet);
        None
    }

    /// Whether to drop or mark the arriving packet (RFC 8033, sections 4.1 and 5.4).
    fn chooses(&mut self) -> bool {
        let Control { probability, delay_before, burst_allowance, .. } = self.control;
        if burst_allowance > Span::ZERO {
            return false;
        }
        let is_protected = delay_before * 2 < self.options.target && probability < PROTECTED;
        if is_protected || self.line.bytes() <= 2 * u64::from(self.largest) {
            return false;
        }
        self.accumulated = if probability == 0.0 { 0.0 } else { self.accumulated + probability };
        let [least, most] = DERANDOMIZED;
        let chosen =
            self.accumulated >= least && (self.accumulated >= most || self.random.unit() < probability);
        if chosen {
            self.accumulated = 0.0;
        }
        chosen
    }

    /// Dequeues the packet that `from` takes from the line.
    pub(super) fn take(
        &mut self,
        now: Time,
        from: impl FnOnce(&mut Line<T>) -> Option<Queued<T>>,
    ) -> Option<Queued<T>> {
        self.catch_up(now);
        let packet = from(&mut self.line)?;
        self.control.delay = if self.line.len() == 0 { Span::ZERO } else { now.since(packet.came) };
        Some(packet)
    }

    /// Drops the last packet, which did not fit.
    pub(super) fn pop_last(&mut self) -> Option<Queued<T>> {
        self.line.pop_last()
    }

    /// Moves the packets for which `broken` holds to `removed`.
    pub(super) fn purge(&mut self, broken: &impl Fn(&T) -> bool, removed: &mut Vec<Queued<T>>) {
        self.line.purge(broken, removed);
    }

    /// Makes the updates up to now.
    fn catch_up(&mut self, now: Time) {
        while self.updates.take(now).is_some() {
            self.control.update(&self.options);
            if self.control.is_settled(&self.options) {
                self.updates.skip(now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Span {
        Span::from_ms(ms)
    }

    /// Control with these delays in ms, before and now.
    fn control(probability: f64, before: u64, now: u64) -> Control {
        Control { probability, delay: ms(now), delay_before: ms(before), burst_allowance: Span::ZERO }
    }

    fn updated(probability: f64, before: u64, now: u64) -> f64 {
        let mut control = control(probability, before, now);
        control.update(&PieOptions::default());
        control.probability
    }

    /// RFC 8033, section 4.2: `alpha (30 - 15 ms) + beta (30 - 20 ms)` is 0.001875 + 0.0125 = 0.014375, and
    /// is divided by 2, 8, 32, 128, 512 or 2048 for probabilities below 0.1, 0.01 and so on.
    #[test]
    fn rfc_8033_4_2_steps_are_small_for_small_probabilities() {
        let divisors = [
            (0.3, 1.0),
            (0.1, 1.0),
            (0.09, 2.0),
            (0.009, 8.0),
            (0.000_9, 32.0),
            (0.000_09, 128.0),
            (0.000_009, 512.0),
            (0.000_000_9, 2048.0),
            (0.0, 2048.0),
        ];
        for (probability, divisor) in divisors {
            let expected = probability + 0.014_375 / divisor;
            assert!((updated(probability, 20, 30) - expected).abs() < 1e-12, "{probability}");
        }
    }

    /// 100 ms more delay would add 0.1356 to a probability of 0.5; it grows by 0.02 (section 5.5). Below 10 %
    /// the step of 0.0678 is not bounded. A falling delay is never bounded: -0.0625 - 0.010.
    #[test]
    fn rfc_8033_5_5_large_probabilities_grow_by_two_percent_at_most() {
        assert!((updated(0.5, 0, 100) - 0.52).abs() < 1e-12);
        assert!((updated(0.05, 0, 100) - (0.05 + 0.5 * (0.125 * 0.085 + 0.125))).abs() < 1e-12);
        let falls = 0.125 * (0.05 - 0.015) - 1.25 * 0.05;
        assert!((updated(0.5, 100, 50) - (0.5 + falls)).abs() < 1e-12);
    }

    /// Two updates without delay: 0.98 of the probability, after the step of -0.125 * 0.015 (section 4.2).
    #[test]
    fn rfc_8033_4_2_the_probability_decays_without_delay() {
        assert!((updated(0.5, 0, 0) - (0.5 - 0.001_875) * 0.98).abs() < 1e-12);
        assert!((updated(0.5, 15, 0) - (0.5 - 0.001_875 - 1.25 * 0.015)).abs() < 1e-12, "one of them");
        assert_eq!((updated(0.000_1, 15, 0), updated(1.0, 0, 1_000)), (0.0, 1.0), "bounds");
    }

    /// Section 4.4: 150 ms without drops, in steps of the updates, renewed while the queue is short and
    /// nothing is dropped.
    #[test]
    fn rfc_8033_4_4_bursts_are_allowed_after_short_queues() {
        let options = PieOptions::default();
        let mut pie = Control { burst_allowance: ms(150), ..control(0.0, 7, 7) };
        pie.update(&options);
        assert_eq!(pie.burst_allowance, ms(150));
        pie.delay = ms(40);
        for left in [135, 120, 105] {
            pie.update(&options);
            assert_eq!(pie.burst_allowance, ms(left));
        }
        pie.burst_allowance = ms(10);
        pie.update(&options);
        assert_eq!(pie.burst_allowance, Span::ZERO);
        assert!(pie.probability > 0.0);
    }

    fn packet(at: Time, markable: bool) -> Queued<u64> {
        Queued { item: at.ns(), came: at, size: 1000, markable, marked: false }
    }

    /// Queue whose controller is set, with 50 packets.
    fn queue(probability: f64, options: PieOptions) -> Pie<u64> {
        let mut pie = Pie::new(options, 1);
        (0..50).for_each(|_| assert!(pie.push(packet(Time::ZERO, false)).is_none()));
        pie.control = control(probability, 20, 20);
        pie
    }

    /// Number of arrivals at one instant that are dropped, and marked.
    fn arrivals(pie: &mut Pie<u64>, number: usize, markable: bool) -> (usize, usize) {
        let dropped = (0..number).filter(|_| pie.push(packet(Time::ZERO, markable)).is_some()).count();
        let left = std::iter::from_fn(|| pie.take(Time::ZERO, Line::pop));
        (dropped, left.filter(|packet| packet.marked).count())
    }

    /// Section 5.4: with probability p nothing is dropped in the first 0.85 / p arrivals after a drop, so
    /// that the mean distance is 0.85 / p + 1 / p - 1 or less, as the 8.5 / p-th is dropped at the latest.
    #[test]
    fn rfc_8033_5_4_drops_are_spread() {
        for (probability, number) in [(0.01, 200_000), (0.1, 20_000)] {
            let (dropped, _) = arrivals(&mut queue(probability, PieOptions::default()), number, true);
            let distance = number as f64 / dropped as f64 * probability;
            assert!((1.70..1.90).contains(&distance), "{probability}: {distance}");
        }
        let (mut last, mut shortest) = (0, usize::MAX);
        let mut pie = queue(0.01, PieOptions::default());
        for number in 1..100_000 {
            if pie.push(packet(Time::ZERO, false)).is_some() {
                (shortest, last) = (shortest.min(number - last), number);
            }
        }
        assert!((85..=95).contains(&shortest), "{shortest}");
    }

    /// Section 5.1: marks up to a probability of 10 %, drops above. Linux has ECN off by default.
    #[test]
    fn rfc_8033_5_1_marks_up_to_ten_percent() {
        let ecn = PieOptions { ecn: true, ..PieOptions::default() };
        for (options, probability, markable, marks) in [
            (ecn, 0.1, true, true),
            (ecn, 0.11, true, false),
            (ecn, 0.1, false, false),
            (PieOptions::default(), 0.1, true, false),
        ] {
            let (dropped, marked) = arrivals(&mut queue(probability, options), 1_000, markable);
            assert_eq!((dropped == 0, marked > 30), (marks, marks), "{probability} {markable}");
        }
    }

    /// Section 4.1: no drops while the burst allowance lasts, with a delay below half of the target and a
    /// probability below 20 %, or with at most two packets queued.
    #[test]
    fn rfc_8033_4_1_short_queues_and_bursts_lose_nothing() {
        let dropped = |change: &dyn Fn(&mut Pie<u64>)| {
            let mut pie = queue(0.15, PieOptions::default());
            change(&mut pie);
            arrivals(&mut pie, 500, false).0
        };
        assert!(dropped(&|_| {}) > 30);
        assert_eq!(dropped(&|pie| pie.control.burst_allowance = ms(1)), 0);
        assert_eq!(dropped(&|pie| pie.control.delay_before = ms(7)), 0);
        assert!(dropped(&|pie| (pie.control.delay_before, pie.control.probability) = (ms(7), 0.2)) > 40);
        let mut pie = queue(1.0, PieOptions::default());
        while pie.line.len() > 2 {
            pie.take(Time::ZERO, Line::pop);
        }
        pie.control = control(1.0, 20, 20);
        assert!(pie.push(packet(Time::ZERO, false)).is_none(), "two packets");
        assert!(pie.push(packet(Time::ZERO, false)).is_some(), "three packets");
    }

    /// Updates that no event brings are made up for one by one, and an idle time of years costs nothing.
    #[test]
    fn updates_do_not_depend_on_events() {
        let mut rare = queue(0.3, PieOptions::default());
        let mut often = rare.clone();
        let at = |ms: u64| Time::from_ns(ms * 1_000_000);
        (0..=600).for_each(|step| often.catch_up(at(step * 5)));
        rare.catch_up(at(3_000));
        assert_eq!(rare.control.probability, often.control.probability);
        assert!(rare.control.probability > 0.3);
        let mut idle: Pie<u64> = Pie::new(PieOptions::default(), 1);
        idle.catch_up(Time::from_ns(u64::MAX / 2));
        assert_eq!(idle.control.probability, 0.0);
    }
}
