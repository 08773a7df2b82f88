//! Detection of lost packets (RFC 5348, sections 5.1 and 5.2).

use std::collections::VecDeque;

/// Packet that arrived: number, and the time that separates loss events, in seconds.
type Arrival = (u64, f64);

/// Missing numbers between two packets that arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SequenceGap {
    before: Arrival,
    after: Arrival,
    /// Number of packets with higher numbers that arrived.
    above: u32,
}

/// Arrivals, as far as they matter for losses that are still undecided.
#[derive(Clone, Debug)]
pub struct LossDetection {
    threshold: u32,
    highest: Option<Arrival>,
    /// Gaps in the order of packet numbers.
    gaps: VecDeque<SequenceGap>,
}

impl LossDetection {
    /// Starts without arrivals. A packet is lost when `threshold` packets with higher numbers have arrived.
    pub fn new(threshold: u32) -> LossDetection {
        LossDetection { threshold, highest: None, gaps: VecDeque::new() }
    }

    /// Highest number that arrived.
    pub fn highest(&self) -> Option<u64> {
        self.highest.map(|(number, _)| number)
    }

    /// Processes the first arrival of a packet. Calls `lost` for each packet that is now lost, in order, with
    /// its time, interpolated between the packets around it.
    pub fn on_arrival(&mut self, number: u64, at: f64, lost: impl FnMut(u64, f64)) {
        let arrival = (number, at);
        match self.highest {
            Some((highest, _)) if number < highest => self.fill(arrival),
            Some(before) => {
                self.count_above(number);
                self.open_gap(before, arrival);
                self.highest = Some(arrival);
            }
            None => {
                // Packets before the first arrival are lost at the time of that arrival.
                if number > 0 {
                    self.gaps.push_back(SequenceGap { before: (u64::MAX, at), after: arrival, above: 1 });
                }
                self.highest = Some(arrival);
            }
        }
        self.declare(lost);
    }

    fn open_gap(&mut self, before: Arrival, after: Arrival) {
        if after.0 > before.0 + 1 {
            self.gaps.push_back(SequenceGap { before, after, above: 1 });
        }
    }

    /// Processes a packet that was overtaken. A packet that was declared lost stays lost.
    fn fill(&mut self, arrival: Arrival) {
        self.count_above(arrival.0);
        let Some(at) = self.gaps.iter().position(|gap| gap.contains(arrival.0)) else { return };
        let gap = self.gaps[at];
        let lower = SequenceGap { after: arrival, above: gap.above + 1, ..gap };
        let upper = SequenceGap { before: arrival, ..gap };
        self.gaps.remove(at);
        for part in [upper, lower] {
            if part.first() < part.after.0 {
                self.gaps.insert(at, part);
            }
        }
    }

    /// Counts an arrival above each gap that ends below this number.
    fn count_above(&mut self, number: u64) {
        self.gaps.iter_mut().filter(|gap| gap.after.0 < number).for_each(|gap| gap.above += 1);
    }

    fn declare(&mut self, mut lost: impl FnMut(u64, f64)) {
        while let Some(gap) = self.gaps.front().copied().filter(|gap| gap.above >= self.threshold) {
            self.gaps.pop_front();
            (gap.first()..gap.after.0).for_each(|number| lost(number, gap.time_of(number)));
        }
    }
}

impl SequenceGap {
    fn first(&self) -> u64 {
        self.before.0.wrapping_add(1)
    }

    fn contains(&self, number: u64) -> bool {
        (self.first()..self.after.0).contains(&number)
    }

    fn time_of(&self, number: u64) -> f64 {
        let steps = (number - self.first() + 1) as f64;
        let all = (self.after.0 - self.first() + 1) as f64;
        self.before.1 + (self.after.1 - self.before.1) * steps / all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(threshold: u32, arrivals: &[(u64, f64)]) -> Vec<(u64, f64)> {
        let mut detection = LossDetection::new(threshold);
        let mut found = Vec::new();
        for (number, at) in arrivals {
            detection.on_arrival(*number, *at, |lost, when| found.push((lost, when)));
        }
        found
    }

    #[test]
    fn three_later_packets_make_a_loss() {
        let arrivals = [(0, 0.0), (3, 3.0), (4, 4.0), (5, 5.0)];
        assert_eq!(losses(3, &arrivals[..3]), []);
        assert_eq!(losses(3, &arrivals), [(1, 1.0), (2, 2.0)]);
        assert_eq!(losses(1, &arrivals[..2]), [(1, 1.0), (2, 2.0)]);
    }

    #[test]
    fn what_is_only_late_is_no_loss() {
        assert_eq!(losses(3, &[(0, 0.0), (2, 2.0), (3, 3.0), (1, 3.5), (4, 4.0), (5, 5.0)]), []);
        // 2 fills a part: above 1 there are 2, 4 and 5, above 3 only two.
        let reordered = [(0, 0.0), (4, 4.0), (2, 4.5), (5, 5.0)];
        assert_eq!(losses(3, &reordered), [(1, 2.25)]);
        assert_eq!(losses(3, &[(0, 0.0), (2, 2.0), (3, 3.0), (4, 4.0), (1, 5.0)]), [(1, 1.0)]);
    }

    #[test]
    fn losses_before_the_first_arrival_are_of_its_time() {
        assert_eq!(losses(1, &[(2, 7.0)]), [(0, 7.0), (1, 7.0)]);
        assert_eq!(losses(3, &[(1, 7.0), (0, 7.5), (2, 8.0), (3, 9.0)]), []);
    }

    #[test]
    fn what_comes_in_any_order_was_not_lost_if_nothing_comes_more_than_two_places_late() {
        let mut rng = multihop_core::Rng::at(5, &["order"]);
        for _ in 0..200 {
            let mut order: Vec<u64> = (0..60).collect();
            (0..58).for_each(|place| order.swap(place, place + rng.below(2) as usize));
            let late = |place: usize| order[..place].iter().filter(|other| **other > order[place]).count();
            let overtaken = (0..60).map(late).max().unwrap();
            let arrivals: Vec<(u64, f64)> = order.iter().map(|number| (*number, 0.0)).collect();
            let found = losses(3, &arrivals).len();
            assert_eq!(found > 0, overtaken >= 3, "{order:?}");
        }
    }

    /// Definition of RFC 5348, section 5.1: a packet is lost when `threshold` packets with higher numbers
    /// have arrived before it, at the time interpolated between the packets around it (section 5.2), or
    /// before the first arrival, at the time of that arrival.
    fn by_definition(threshold: usize, arrivals: &[(u64, f64)]) -> Vec<(u64, f64)> {
        let mut lost: Vec<(u64, f64)> = Vec::new();
        for now in 1..=arrivals.len() {
            let came = &arrivals[..now];
            let top = came.iter().map(|(number, _)| *number).max().unwrap();
            for number in 0..top {
                let known = came.iter().chain(&lost).any(|(other, _)| *other == number);
                if known || came.iter().filter(|(other, _)| *other > number).count() < threshold {
                    continue;
                }
                let above = came.iter().filter(|(other, _)| *other > number).min_by_key(|(other, _)| *other);
                let below = came.iter().filter(|(other, _)| *other < number).max_by_key(|(other, _)| *other);
                let (after, then) = *above.unwrap();
                let (before, since) = below.map_or((-1.0, arrivals[0].1), |(other, at)| (*other as f64, *at));
                let share = (number as f64 - before) / (after as f64 - before);
                lost.push((number, since + (then - since) * share));
            }
        }
        lost
    }

    /// Packets in any order. A third of them never arrive, and some arrive long after they were declared
    /// lost.
    #[test]
    fn rfc_5348_5_1_losses_are_those_of_the_definition() {
        let mut rng = multihop_core::Rng::at(7, &["losses"]);
        for round in 0..400 {
            let mut order: Vec<u64> = (0..30).filter(|_| rng.below(3) > 0).collect();
            for place in 1..order.len() {
                let farthest = if rng.below(4) == 0 { 12 } else { 3 };
                let back = rng.below(farthest) as usize;
                order.swap(place, place.saturating_sub(back));
            }
            let arrivals: Vec<(u64, f64)> =
                order.iter().enumerate().map(|(place, number)| (*number, 10.0 + place as f64)).collect();
            for threshold in 1..=4 {
                let (found, expected) =
                    (losses(threshold, &arrivals), by_definition(threshold as usize, &arrivals));
                assert_eq!(found.len(), expected.len(), "{round} {threshold} {arrivals:?}");
                for (one, other) in found.iter().zip(&expected) {
                    assert!(
                        one.0 == other.0 && (one.1 - other.1).abs() < 1e-9,
                        "{arrivals:?} {one:?} {other:?}"
                    );
                }
            }
        }
    }
}
