//! `DualPI2` (RFC 9332): a queue of low latency for scalable senders, and a classic queue. One controller
//! sets the probabilities of both (appendix A). Open points are as in Linux (`net/sched/sch_dualpi2.c`).

use super::line::{Line, Queued};
use super::updates::Updates;
use multihop_core::{Rng, Span, Time};
use serde::Serialize;
use std::collections::VecDeque;

/// Parameters of `DualPI2`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DualPi2Options {
    /// Delay of the classic queue that the controller aims at (RFC 9332, appendix A.1: 15 ms).
    pub target: Span,
    /// Interval between updates of the base probability (`tupdate`; Linux: 16 ms).
    pub update: Span,
    /// Gain of the deviation from the target, in 1/s (Linux: 0.16).
    pub alpha: f64,
    /// Gain of the change of the delay, in 1/s (Linux: 3.2).
    pub beta: f64,
    /// Coupling factor `k` between the two queues (RFC 9332, section 2.1: 2).
    pub coupling: f64,
    /// Marking by the delay of the low-latency queue itself.
    pub marking: LowLatencyMarking,
    /// Schedule of the two queues.
    pub schedule: DualQueueSchedule,
}

impl Default for DualPi2Options {
    /// Returns the constants of Linux: marks from 1 ms on, and a tenth of the rate for the classic queue.
    fn default() -> DualPi2Options {
        DualPi2Options {
            target: Span::from_ms(15),
            update: Span::from_ms(16),
            alpha: 0.16,
            beta: 3.2,
            coupling: 2.0,
            marking: LowLatencyMarking::Step { threshold: Span::from_ms(1) },
            schedule: DualQueueSchedule::Weighted { classic: 10 },
        }
    }
}

/// Marking probability of the low-latency queue by its own delay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum LowLatencyMarking {
    /// Every packet that was queued for longer than the threshold is marked, as in Linux.
    Step {
        /// Threshold.
        threshold: Span,
    },
    /// The probability grows linearly with the delay (RFC 9332, appendix A.1: from 800 us, by 400 us).
    Ramp {
        /// Delay below which nothing is marked (`minTh`).
        from: Span,
        /// Further delay at which everything is marked (`range`).
        range: Span,
    },
}

impl LowLatencyMarking {
    fn probability(self, delay: Span) -> f64 {
        let (from, range) = match self {
            LowLatencyMarking::Step { threshold } => (threshold, Span::ZERO),
            LowLatencyMarking::Ramp { from, range } => (from, range),
        };
        if delay <= from {
            0.0
        } else if delay >= from + range {
            1.0
        } else {
            (delay - from).seconds() / range.seconds()
        }
    }
}

/// Schedule of the two queues.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum DualQueueSchedule {
    /// Weighted round robin by bytes, as in Linux: low latency first, until the classic queue is due.
    Weighted {
        /// Share of the classic queue in percent, while both queues have packets. 0 for strict priority.
        classic: u32,
    },
    /// First in, first out, as if packets of low latency had arrived earlier by the shift (RFC 9332, section
    /// 4.1.1 and appendix A.1).
    TimeShifted {
        /// Shift.
        shift: Span,
    },
}

/// Decision on a packet that is taken from its line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fate {
    Pass,
    Mark,
    Drop,
}

/// Two queues under a coupled controller.
#[derive(Clone, Debug)]
pub(super) struct DualPi2<T> {
    options: DualPi2Options,
    low_latency: Line<T>,
    classic: Line<T>,
    /// Base probability `p'` of the controller.
    base: f64,
    /// Queue delay at the last update.
    delay: Span,
    updates: Updates,
    /// Credit of the weighted schedule, in percent of bytes: the classic queue is due while it is positive.
    credit: i64,
    /// Bytes of the largest packet so far.
    largest: u32,
    /// Whether the last arrival joined the low-latency queue.
    last_is_low_latency: bool,
    random: Rng,
}

impl<T> DualPi2<T> {
    pub(super) fn new(options: DualPi2Options, salt: u64) -> DualPi2<T> {
        DualPi2 {
            updates: Updates::new(options.update),
            options,
            low_latency: Line::default(),
            classic: Line::default(),
            base: 0.0,
            delay: Span::ZERO,
            credit: 0,
            largest: 0,
            last_is_low_latency: false,
            random: Rng::at(salt, &["dualpi2"]),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.low_latency.len() + self.classic.len()
    }

    /// Enqueues a packet in the low-latency or in the classic queue.
    pub(super) fn push(&mut self, is_low_latency: bool, packet: Queued<T>) {
        self.catch_up(packet.came);
        self.largest = self.largest.max(packet.size);
        if self.len() == 0 {
            self.reset_credit();
        }
        self.last_is_low_latency = is_low_latency;
        self.line(is_low_latency).push(packet);
    }

    fn line(&mut self, is_low_latency: bool) -> &mut Line<T> {
        if is_low_latency { &mut self.low_latency } else { &mut self.classic }
    }

    /// Dequeues the packet that `from` takes from the queue that is due, or else from the other one. Dropped
    /// packets go to `lost`.
    pub(super) fn take(
        &mut self,
        now: Time,
        lost: &mut VecDeque<T>,
        mut from: impl FnMut(&mut Line<T>) -> Option<Queued<T>>,
    ) -> Option<Queued<T>> {
        self.catch_up(now);
        loop {
            let mut is_low_latency = self.prefers_low_latency(now);
            let mut taken = from(self.line(is_low_latency));
            if taken.is_none() {
                is_low_latency = !is_low_latency;
                taken = from(self.line(is_low_latency));
            }
            let packet = taken?;
            match self.fate(now, &packet, is_low_latency) {
                Fate::Drop => lost.push_back(packet.item),
                fate => {
                    self.charge(packet.size, is_low_latency);
                    return Some(Queued { marked: fate == Fate::Mark, ..packet });
                }
            }
        }
    }

    /// Whether the low-latency queue is due.
    fn prefers_low_latency(&self, now: Time) -> bool {
        let Some(low_latency) = self.low_latency.next_came() else { return false };
        let Some(classic) = self.classic.next_came() else { return true };
        match self.options.schedule {
            DualQueueSchedule::Weighted { .. } => self.credit <= 0,
            DualQueueSchedule::TimeShifted { shift } => now.since(low_latency) + shift >= now.since(classic),
        }
    }

    /// Charges a queue for a packet, while the other queue has packets.
    fn charge(&mut self, size: u32, is_low_latency: bool) {
        let DualQueueSchedule::Weighted { classic } = self.options.schedule else { return };
        let (size, classic) = (i64::from(size), i64::from(classic));
        if is_low_latency && self.classic.len() > 0 {
            self.credit += classic * size;
        } else if !is_low_latency && self.low_latency.len() > 0 {
            self.credit -= (100 - classic) * size;
        }
    }

    /// Lets a busy period begin with low latency, if its share is larger.
    fn reset_credit(&mut self) {
        if let DualQueueSchedule::Weighted { classic } = self.options.schedule {
            self.credit = i64::from(self.largest) * (2 * i64::from(classic) - 100);
        }
    }

    /// Decides on a packet (RFC 9332, section 2.5 and appendix A.1). The classic queue drops or marks with
    /// `p'^2`, which is `(p_CL / k)^2`. Low latency is marked with the larger of `p_CL = k p'` and of its own
    /// probability. On overload, `k p' > 1`, both queues drop with `p'^2` (appendix A.2). With less than two
    /// packets queued, only its own delay marks low latency.
    fn fate(&mut self, now: Time, packet: &Queued<T>, is_low_latency: bool) -> Fate {
        let queued = self.low_latency.bytes() + self.classic.bytes();
        let base = if queued < 2 * u64::from(self.largest) { 0.0 } else { self.base };
        let coupled = self.options.coupling * base;
        let is_overloaded = coupled > 1.0;
        if !is_low_latency {
            return match self.squared_roll(base) {
                true if packet.markable && !is_overloaded => Fate::Mark,
                true => Fate::Drop,
                false => Fate::Pass,
            };
        }
        if is_overloaded && self.squared_roll(base) {
            return Fate::Drop;
        }
        let own = if self.low_latency.len() > 0 {
            self.options.marking.probability(now.since(packet.came))
        } else {
            0.0
        };
        if self.roll(own.max(coupled)) { Fate::Mark } else { Fate::Pass }
    }

    fn roll(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.random.unit() < probability
    }

    fn squared_roll(&mut self, probability: f64) -> bool {
        self.roll(probability) && self.roll(probability)
    }

    /// Makes the updates of the base probability up to now.
    fn catch_up(&mut self, now: Time) {
        while let Some(at) = self.updates.take(now) {
            let before = self.base;
            self.update(at);
            // Delays only grow without events.
            let is_settled = (self.base == 0.0 && self.len() == 0 && self.delay == Span::ZERO)
                || (self.base == 1.0 && before == 1.0 && self.delay > self.options.target);
            if let Some(last) = is_settled.then(|| self.updates.skip(now)).flatten() {
                self.delay = self.delay_at(last);
            }
        }
    }

    /// Updates the base probability by the longer delay of the two queues (`dualpi2_update`; RFC 9332,
    /// appendix A.1).
    fn update(&mut self, at: Time) {
        let delay = self.delay_at(at);
        let DualPi2Options { target, alpha, beta, .. } = self.options;
        let change =
            alpha * (delay.seconds() - target.seconds()) + beta * (delay.seconds() - self.delay.seconds());
        self.base = (self.base + change).clamp(0.0, 1.0);
        self.delay = delay;
    }

    /// Time for which the first packets have been queued.
    fn delay_at(&self, at: Time) -> Span {
        let firsts = [self.low_latency.next_came(), self.classic.next_came()];
        firsts.into_iter().flatten().map(|came| at.since(came)).max().unwrap_or(Span::ZERO)
    }

    /// Drops the packet that arrived last and did not fit; without one, the last of the other queue.
    pub(super) fn pop_last(&mut self) -> Option<Queued<T>> {
        let last = self.last_is_low_latency;
        self.line(last).pop_last().or_else(|| self.line(!last).pop_last())
    }

    /// Moves the packets for which `broken` holds to `removed`.
    pub(super) fn purge(&mut self, broken: &impl Fn(&T) -> bool, removed: &mut Vec<Queued<T>>) {
        self.low_latency.purge(broken, removed);
        self.classic.purge(broken, removed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    fn packet(came: Time, markable: bool) -> Queued<u32> {
        Queued { item: 0, came, size: 1000, markable, marked: false }
    }

    /// Queues with this number of packets each, from time 0, and a controller that stays as it is.
    fn queues(base: f64, options: DualPi2Options, packets: usize) -> DualPi2<u32> {
        let mut queues = DualPi2::new(DualPi2Options { alpha: 0.0, beta: 0.0, ..options }, 7);
        (0..packets).for_each(|_| queues.push(false, packet(Time::ZERO, false)));
        (0..packets).for_each(|_| queues.push(true, packet(Time::ZERO, true)));
        queues.base = base;
        queues
    }

    /// Shares of dropped and marked packets of one queue, taken `after` their arrival.
    fn shares(queues: &mut DualPi2<u32>, is_low_latency: bool, markable: bool, after: Time) -> [f64; 2] {
        let (mut lost, mut counts, number) = (VecDeque::new(), [0; 2], 200_000);
        for _ in 0..number {
            queues.push(is_low_latency, packet(Time::ZERO, markable));
            let taken = queues.line(is_low_latency).pop_last().unwrap();
            match queues.fate(after, &taken, is_low_latency) {
                Fate::Drop => counts[0] += 1,
                Fate::Mark => counts[1] += 1,
                Fate::Pass => lost.push_back(()),
            }
        }
        counts.map(|count| f64::from(count) / f64::from(number))
    }

    /// RFC 9332, section 2.1, equation 1: `p_C = (p_CL / k)^2` with `p_CL = k p'`, for several `k`.
    /// ECN-capable packets of the classic queue are marked instead.
    #[test]
    fn rfc_9332_2_1_the_coupling_is_a_square() {
        for (base, coupling) in [(0.05, 2.0), (0.2, 2.0), (0.45, 2.0), (0.3, 1.0), (0.2, 4.0)] {
            let options = DualPi2Options { coupling, ..DualPi2Options::default() };
            let mut queues = queues(base, options, 10);
            let close = |share: f64, expected: f64| {
                (share - expected).abs() < 4.0 * (expected * (1.0 - expected) / 200_000.0).sqrt()
            };
            let [dropped, marked] = shares(&mut queues, false, false, Time::ZERO);
            assert!(close(dropped, base * base) && marked == 0.0, "{base} {coupling}: {dropped}");
            let [dropped, marked] = shares(&mut queues, false, true, Time::ZERO);
            assert!(close(marked, base * base) && dropped == 0.0, "{base} {coupling}: {marked}");
            let [dropped, marked] = shares(&mut queues, true, true, Time::ZERO);
            assert!(close(marked, coupling * base) && dropped == 0.0, "{base} {coupling}: {marked}");
        }
    }

    /// Appendix A.2: above `p' = 1/k` both queues drop with `p'^2`, ECN or not, and the rest of low latency
    /// is marked.
    #[test]
    fn rfc_9332_a_2_overload_drops_in_both_queues() {
        let mut queues = queues(0.6, DualPi2Options::default(), 10);
        let [dropped, marked] = shares(&mut queues, false, true, Time::ZERO);
        assert!((dropped - 0.36).abs() < 0.005 && marked == 0.0, "{dropped}");
        let [dropped, marked] = shares(&mut queues, true, true, Time::ZERO);
        assert!((dropped - 0.36).abs() < 0.005 && (dropped + marked - 1.0).abs() < 1e-9, "{dropped}");
    }

    /// The larger of the probability by the own delay and of the coupled one applies: step above 1 ms; ramp
    /// from 800 us to 1200 us. A lone packet is not marked by its own delay.
    #[test]
    fn rfc_9332_a_1_low_latency_is_marked_by_its_own_delay() {
        let ramp = LowLatencyMarking::Ramp { from: Span::from_us(800), range: Span::from_us(400) };
        let step = DualPi2Options::default().marking;
        for (marking, us, base, expected) in [
            (step, 1_000, 0.0, 0.0),
            (step, 1_001, 0.0, 1.0),
            (step, 1_000, 0.1, 0.2),
            (ramp, 800, 0.0, 0.0),
            (ramp, 900, 0.0, 0.25),
            (ramp, 900, 0.1, 0.25),
            (ramp, 900, 0.2, 0.4),
            (ramp, 1_200, 0.0, 1.0),
        ] {
            let mut queues = queues(base, DualPi2Options { marking, ..DualPi2Options::default() }, 10);
            let [_, marked] = shares(&mut queues, true, true, Time::from_ns(us * 1_000));
            assert!((marked - expected).abs() < 0.005, "{marking:?} {us} {base}: {marked}");
        }
        let mut alone = queues(0.9, DualPi2Options::default(), 0);
        assert_eq!(shares(&mut alone, true, true, ms(5)), [0.0, 0.0]);
    }

    /// 0.16 (25 - 15 ms) + 3.2 * 25 ms at the first update after 25 ms of delay, then 0.16 per second and
    /// second of excess, and 3.2 * 16 ms for the growth of the delay.
    #[test]
    fn rfc_9332_a_1_the_controller_follows_the_longer_delay() {
        for is_low_latency in [true, false] {
            let mut queues: DualPi2<u32> = DualPi2::new(DualPi2Options::default(), 7);
            queues.push(is_low_latency, packet(ms(7), true));
            queues.catch_up(ms(31));
            let first = (0.16 * (0.009 - 0.015) + 3.2 * 0.009_f64).max(0.0);
            assert!((queues.base - first).abs() < 1e-12, "{}", queues.base);
            queues.catch_up(ms(32));
            let second = first + 0.16 * (0.025 - 0.015) + 3.2 * 0.016;
            assert!((queues.base - second).abs() < 1e-12, "{}", queues.base);
        }
    }

    /// Updates that no event brings are made up for one by one, and an idle time of years costs nothing.
    #[test]
    fn updates_do_not_depend_on_events() {
        let mut rare: DualPi2<u32> = DualPi2::new(DualPi2Options::default(), 7);
        rare.push(false, packet(Time::ZERO, true));
        let mut often = rare.clone();
        for until in [150, 3_000] {
            (0..=until / 5).for_each(|step| often.catch_up(ms(step * 5)));
            rare.catch_up(ms(until));
            assert_eq!((rare.base, rare.delay), (often.base, often.delay));
        }
        assert_eq!((rare.base, rare.delay), (1.0, Span::from_ms(2_992)), "the 187th update");
        rare.classic.pop();
        rare.catch_up(Time::from_ns(u64::MAX / 2));
        assert_eq!(rare.base, 0.0);
    }

    /// Lines as packets leave: true is low latency.
    fn order(queues: &mut DualPi2<u32>, number: usize) -> Vec<bool> {
        (0..number)
            .map(|_| {
                let before = queues.low_latency.len();
                queues.take(Time::ZERO, &mut VecDeque::new(), Line::pop).unwrap();
                queues.low_latency.len() < before
            })
            .collect()
    }

    /// Nine packets of ten are of low latency while both wait; each has the whole rate alone.
    #[test]
    fn rfc_9332_4_2_2_the_classic_queue_has_its_share() {
        for (classic, expected) in [(10, 90), (50, 50), (0, 100)] {
            let schedule = DualQueueSchedule::Weighted { classic };
            let mut queues = queues(0.0, DualPi2Options { schedule, ..DualPi2Options::default() }, 200);
            let order = order(&mut queues, 100);
            assert_eq!(order.iter().filter(|low_latency| **low_latency).count(), expected, "{classic}");
            assert!(order[0]);
        }
        let mut queues = queues(0.0, DualPi2Options::default(), 5);
        assert_eq!(order(&mut queues, 10), [[true; 5], [false; 5]].concat());
    }

    /// A packet of the classic queue overtakes low latency if it arrived more than the shift earlier.
    #[test]
    fn rfc_9332_a_1_a_shift_in_time_orders_both_queues() {
        let schedule = DualQueueSchedule::TimeShifted { shift: Span::from_ms(50) };
        let mut queues: DualPi2<u32> =
            DualPi2::new(DualPi2Options { schedule, ..DualPi2Options::default() }, 7);
        for (is_low_latency, came) in [(false, 0), (false, 10), (true, 55), (true, 65)] {
            queues.push(is_low_latency, packet(ms(came), true));
        }
        (queues.base, queues.delay) = (0.0, Span::ZERO);
        let left: Vec<u64> = std::iter::from_fn(|| queues.take(ms(66), &mut VecDeque::new(), Line::pop))
            .map(|packet| packet.came.ns() / 1_000_000)
            .collect();
        assert_eq!(left, [0, 55, 10, 65]);
    }
}
