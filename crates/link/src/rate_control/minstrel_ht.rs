//! Minstrel-HT, the rate control of Linux's mac80211 (`net/mac80211/rc80211_minstrel_ht.c`, as since Linux
//! 5.12).
//!
//! Each rate has a probability that an MPDU arrives, filtered over intervals of 50 ms, and a throughput that
//! follows from it and from the mean length of an A-MPDU. A chain has the rate of the highest throughput, the
//! second highest, and the most reliable one. At most every 20 ms one frame begins with a sample of another
//! rate: the next above the best of its group (half of the samples), any faster one (a third), or one between
//! the fastest and the slowest of the chain (a sixth).
//!
//! Differences from Linux:
//!
//! * Probabilities are floats, not fractions of 4096.
//! * The overhead of an exchange is that of its rate, not that of the lowest rate.
//! * A stage has at most a third of the MAC's retry limit, and at most seven attempts. After the last stage a
//!   new chain begins, until the MAC gives up.
//! * Each transmission is reported, not each frame.

use super::{Attempted, Candidate, Chain, RateTable, Stage};
use multihop_core::{Rng, Span, Time};
use std::ops::Range;

/// Interval between two updates of the statistics.
const UPDATE_INTERVAL: Span = Span::from_ms(50);
/// Shortest interval between two samples.
const SAMPLE_INTERVAL: Span = Span::from_ms(20);
/// Largest number of rates of a kind that wait to be sampled.
const WAITING: usize = 5;
/// Order of the kinds of samples.
const ORDER: [Kind; 6] =
    [Kind::Increment, Kind::Jump, Kind::Increment, Kind::Jump, Kind::Increment, Kind::Slow];
/// Weight of the old value in the mean length of A-MPDUs.
const OLD_WEIGHT: f64 = 96.0 / 128.0;
/// Longest duration of a stage of a chain, contention included.
const LONGEST_STAGE: Span = Span::from_us(6_000);
/// Largest number of attempts of a stage, if the MAC allows that many.
const MOST_TRIES: u8 = 7;

/// Reason why a rate is sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Slowest rate of a group that is faster than the best rate.
    Increment,
    /// Rate faster than the whole chain.
    Jump,
    /// Rate slower than the fastest of the chain, and faster than its slowest.
    Slow,
}

/// Statistics of a rate.
#[derive(Clone, Debug, Default)]
struct Statistics {
    /// Counters since the last update.
    attempts: u32,
    successes: u32,
    was_tried: bool,
    probability: f64,
    /// Filtered value before the last update, for the filter.
    before: f64,
}

/// Rates with the same number of spatial streams.
#[derive(Clone, Debug)]
struct Group {
    streams: u8,
    first: usize,
    len: usize,
    /// Offsets in the group in random order, and the index of the next one.
    order: Vec<usize>,
    next: usize,
    best: [usize; 2],
    likeliest: usize,
}

impl Group {
    fn rates(&self) -> Range<usize> {
        self.first..self.first + self.len
    }

    /// Next rate in random order for which `will_do` holds.
    fn draw(&mut self, will_do: impl Fn(usize) -> bool) -> Option<usize> {
        for _ in 0..self.len {
            let rate = self.first + self.order[self.next];
            self.next = (self.next + 1) % self.len;
            if will_do(rate) {
                return Some(rate);
            }
        }
        None
    }
}

impl Statistics {
    /// Adds a share of MPDUs that arrived, through a second-order low-pass filter with a period of 16 updates
    /// (Linux's "moving average with noise filter"): a = exp(-pi sqrt(2) / 16), and the coefficients 2 a
    /// cos(2 pi sqrt(2) / 16) and -a^2 of the last two values.
    fn take(&mut self, share: f64) {
        const OF_LAST: f64 = 5273.0 / 4096.0;
        const OF_BEFORE: f64 = -2350.0 / 4096.0;
        const LEAST: f64 = 1.0 / 4096.0;
        let share = share.max(LEAST);
        let begins = self.probability == 0.0;
        let last = if begins { share } else { self.probability };
        let filtered = (1.0 - OF_LAST - OF_BEFORE) * share + OF_LAST * last + OF_BEFORE * self.before;
        self.before = last;
        // Not 0 at an overshoot, because 0 means unknown.
        self.probability = if begins { share } else { filtered.clamp(LEAST, 1.0) };
        self.was_tried = true;
        (self.attempts, self.successes) = (0, 0);
    }
}

/// Numbers below `len` in random order.
fn shuffled(len: usize, rng: &mut Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    for last in (1..len).rev() {
        order.swap(last, rng.below(last as u32 + 1) as usize);
    }
    order
}

/// Rates that wait to be sampled.
#[derive(Clone, Debug, Default)]
struct Waiting {
    rates: Vec<usize>,
    /// Group examined last.
    group: usize,
}

#[derive(Clone, Debug)]
pub(super) struct MinstrelHt {
    statistics: Vec<Statistics>,
    groups: Vec<Group>,
    /// Rates of the two highest throughputs; the most reliable rate follows.
    best: [usize; 2],
    likeliest: usize,
    chain: Chain,
    /// Numbers of MPDUs and transmissions since the last update, and the mean of their quotient.
    mpdus: u32,
    transmissions: u32,
    mean_length: f64,
    updated: Time,
    /// Earliest time of the next sample.
    next_sample: Time,
    samples: usize,
    waiting: [Waiting; 3],
}

impl MinstrelHt {
    pub(super) fn new(table: &RateTable, mut rng: Rng) -> MinstrelHt {
        let mut groups: Vec<Group> = Vec::new();
        for (place, candidate) in table.candidates.iter().enumerate() {
            match groups.last_mut() {
                Some(group) if group.streams == candidate.streams => group.len += 1,
                _ => groups.push(Group {
                    streams: candidate.streams,
                    first: place,
                    len: 1,
                    order: Vec::new(),
                    next: 0,
                    best: [place; 2],
                    likeliest: place,
                }),
            }
        }
        for group in &mut groups {
            group.order = shuffled(group.len, &mut rng);
        }
        let mut new = MinstrelHt {
            statistics: vec![Statistics::default(); table.candidates.len()],
            groups,
            best: [0; 2],
            likeliest: 0,
            chain: Chain::constant(0),
            mpdus: 0,
            transmissions: 0,
            mean_length: 1.0,
            updated: Time::ZERO,
            next_sample: Time::ZERO,
            samples: 0,
            waiting: Default::default(),
        };
        new.update(table);
        new
    }

    pub(super) fn chain(&mut self, now: Time) -> Chain {
        let mut chain = self.chain;
        if now >= self.next_sample {
            self.next_sample = now + SAMPLE_INTERVAL;
            if let Some(rate) = self.sample() {
                chain.stages[0] = Stage { rate: rate as u8, tries: 1, protected: false };
                chain.is_sample = true;
            }
        }
        chain
    }

    /// Next rate to sample, of the kind whose turn it is.
    fn sample(&mut self) -> Option<usize> {
        let kind = ORDER[self.samples % ORDER.len()];
        self.samples += 1;
        let rates = &mut self.waiting[kind as usize].rates;
        if rates.is_empty() { None } else { Some(rates.remove(0)) }
    }

    pub(super) fn on_attempt(&mut self, table: &RateTable, attempted: Attempted, now: Time) {
        self.transmissions += 1;
        self.mpdus += attempted.mpdus;
        let rate = &mut self.statistics[usize::from(attempted.rate)];
        rate.attempts += attempted.mpdus;
        rate.successes += attempted.acknowledged;
        let died = [0, 1].map(|place| self.step_down_if_dead(place));
        if now > self.updated + UPDATE_INTERVAL {
            (self.updated, self.next_sample) = (now, now);
            self.update(table);
        } else if died.contains(&true) {
            self.make_chain(table);
        }
    }

    /// Falls back to the best rate of fewer streams, if more than 30 MPDUs of one of the best rates were sent
    /// since the last update and fewer than a quarter arrived.
    fn step_down_if_dead(&mut self, place: usize) -> bool {
        let Statistics { attempts, successes, .. } = self.statistics[self.best[place]];
        if attempts <= 30 || successes >= attempts / 4 {
            return false;
        }
        let group = self.group_of(self.best[place]);
        if let Some(lower) = group.checked_sub(1) {
            self.best[place] = self.groups[lower].best[place];
        }
        true
    }

    fn group_of(&self, rate: usize) -> usize {
        self.groups.iter().position(|group| group.rates().contains(&rate)).expect("each rate has a group")
    }

    /// Updates the statistics at the end of an interval.
    fn update(&mut self, table: &RateTable) {
        if self.transmissions > 0 {
            let length = f64::from(self.mpdus) / f64::from(self.transmissions);
            self.mean_length = OLD_WEIGHT * self.mean_length + (1.0 - OLD_WEIGHT) * length;
            (self.mpdus, self.transmissions) = (0, 0);
        }
        for group in 0..self.groups.len() {
            self.filter(self.groups[group].rates());
            self.groups[group].best = self.two_best(table, self.groups[group].rates());
        }
        self.best = self.two_best(table, 0..table.candidates.len());
        self.choose_likeliest(table);
        self.make_chain(table);
        self.refill(table);
    }

    /// Updates the probabilities of a group. An untried rate gets at least the probability of the faster
    /// ones.
    fn filter(&mut self, rates: Range<usize>) {
        let mut of_faster = 0.0_f64;
        for rate in rates.rev() {
            let known = &mut self.statistics[rate];
            if known.attempts > 0 {
                known.take(f64::from(known.successes) / f64::from(known.attempts));
            }
            if known.was_tried {
                of_faster = of_faster.max(known.probability);
            } else {
                known.probability = known.probability.max(of_faster);
            }
        }
    }

    /// Expected MPDUs per second at a rate. Zero below a probability of 0.1; above 0.9 the losses are
    /// attributed to collisions.
    fn throughput(&self, table: &RateTable, rate: usize) -> f64 {
        let probability = self.statistics[rate].probability;
        if probability < 0.1 {
            return 0.0;
        }
        let Candidate { payload, overhead, .. } = table.candidates[rate];
        probability.min(0.9) * 1e9 / (overhead.ns() as f64 / self.mean_length + payload.ns() as f64)
    }

    /// Expected MPDUs per second at the best rate.
    pub(super) fn expected(&self, table: &RateTable) -> f64 {
        self.throughput(table, self.best[0])
    }

    /// Two rates of the highest throughput; among equals the more reliable, then the faster; the lowest where
    /// others have none.
    fn two_best(&self, table: &RateTable, rates: Range<usize>) -> [usize; 2] {
        let value = |rate: usize| (self.throughput(table, rate), self.statistics[rate].probability);
        let mut best = [rates.start; 2];
        for rate in rates.rev().filter(|rate| self.throughput(table, *rate) > 0.0) {
            if value(rate) > value(best[0]) {
                best = [rate, best[0]];
            } else if value(rate) > value(best[1]) {
                best[1] = rate;
            }
        }
        best
    }

    /// Chooses the most reliable rate: the fastest with a probability above 0.75, else the one with the
    /// highest; with fewer streams than the best, if possible.
    fn choose_likeliest(&mut self, table: &RateTable) {
        let mut overall = 0;
        for group in 0..self.groups.len() {
            let mut of_group = self.groups[group].first;
            for rate in self.groups[group].rates() {
                let faster = table.candidates[rate].payload < table.candidates[self.best[0]].payload;
                let likely = self.statistics[rate].probability;
                if faster && likely < self.statistics[self.best[0]].probability {
                    continue;
                }
                for chosen in [&mut overall, &mut of_group] {
                    let better = if likely > 0.75 {
                        self.throughput(table, rate) > self.throughput(table, *chosen)
                    } else {
                        likely > self.statistics[*chosen].probability
                    };
                    if better {
                        *chosen = rate;
                    }
                }
            }
            self.groups[group].likeliest = of_group;
        }
        self.likeliest = overall;
        let streams = table.candidates[self.best[0]].streams;
        let mut most = 0.0;
        for group in self.groups.iter().filter(|group| group.streams < streams) {
            let throughput = self.throughput(table, group.likeliest);
            if throughput > most {
                most = throughput;
                self.likeliest = group.likeliest;
            }
        }
    }

    fn make_chain(&mut self, table: &RateTable) {
        let stage = |rate: usize, protected: bool| Stage {
            rate: rate as u8,
            tries: self.tries(table, rate),
            protected,
        };
        let [first, second] = self.best;
        let stages = [stage(first, false), stage(second, true), stage(self.likeliest, true)];
        self.chain = Chain { stages, is_sample: false };
    }

    /// Number of attempts of a stage: two, and more as long as they fit into 6 ms with their contention.
    fn tries(&self, table: &RateTable, rate: usize) -> u8 {
        let most = MOST_TRIES.min(table.most_tries);
        if self.statistics[rate].probability < 0.2 {
            return most.min(2);
        }
        let Candidate { payload, overhead, .. } = table.candidates[rate];
        let once = overhead.ns() + (payload.ns() as f64 * self.mean_length) as u64;
        let mut cw = u64::from(table.cw_min);
        let mut contention = || {
            let mean = table.slot.ns() * cw / 2;
            cw = (2 * cw + 1).min(u64::from(table.cw_max));
            mean
        };
        let mut total = contention() + contention() + 2 * once;
        let mut tries = 2;
        while tries < most {
            total += contention() + once;
            if total >= LONGEST_STAGE.ns() {
                break;
            }
            tries += 1;
        }
        tries.min(most)
    }

    /// Chooses the samples of the next interval.
    fn refill(&mut self, table: &RateTable) {
        let payload = |rate: usize| table.candidates[rate].payload;
        let chain = [self.best[0], self.best[1], self.likeliest].map(payload);
        let fastest = chain.into_iter().min().expect("it has three");
        let slowest = chain.into_iter().max().expect("it has three");
        self.waiting[Kind::Increment as usize].rates.retain(|rate| payload(*rate) < fastest);
        self.waiting[Kind::Jump as usize].rates.retain(|rate| payload(*rate) < fastest);
        let between = |rate: usize| payload(rate) > fastest && payload(rate) < slowest;
        self.waiting[Kind::Slow as usize].rates.retain(|rate| between(*rate));
        while self.waiting[Kind::Increment as usize].rates.len() < WAITING {
            let Some(rate) = self.next_increment(table, payload(self.best[0])) else { break };
            self.waiting[Kind::Increment as usize].rates.push(rate);
        }
        while self.waiting[Kind::Jump as usize].rates.len() < WAITING {
            let Some(rate) = self.next_jump(table, fastest, slowest) else { break };
            self.waiting[Kind::Jump as usize].rates.push(rate);
        }
    }

    fn is_waiting(&self, kind: Kind, rate: usize) -> bool {
        self.waiting[kind as usize].rates.contains(&rate)
    }

    /// Slowest rate faster than the best one, of the next group in turn that has such a rate.
    fn next_increment(&mut self, table: &RateTable, best: Span) -> Option<usize> {
        for _ in 0..self.groups.len() {
            let group = &mut self.waiting[Kind::Increment as usize].group;
            *group = (*group + 1) % self.groups.len();
            let mut rates = self.groups[*group].rates();
            if let Some(rate) = rates.find(|rate| table.candidates[*rate].payload < best)
                && !self.is_waiting(Kind::Increment, rate)
            {
                return Some(rate);
            }
        }
        None
    }

    /// Random rate faster than the whole chain, of the next group in turn that has one. Slower rates drawn on
    /// the way wait to be sampled as slow ones.
    fn next_jump(&mut self, table: &RateTable, fastest: Span, slowest: Span) -> Option<usize> {
        for _ in 0..self.groups.len() {
            let group = &mut self.waiting[Kind::Jump as usize].group;
            *group = (*group + 1) % self.groups.len();
            let group = *group;
            let full = self.waiting[Kind::Slow as usize].rates.len() >= WAITING;
            let limit = if full { fastest } else { slowest };
            let Some(rate) = self.groups[group].draw(|rate| table.candidates[rate].payload < limit) else {
                continue;
            };
            if table.candidates[rate].payload < fastest {
                if !self.is_waiting(Kind::Jump, rate) {
                    return Some(rate);
                }
            } else if !full && !self.is_waiting(Kind::Slow, rate) && self.statistics[rate].probability <= 0.95
            {
                self.waiting[Kind::Slow as usize].rates.push(rate);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Statistics;

    /// The filter overshoots below 0 after four intervals without arrivals. The fifth is filtered too, and
    /// does not count as the first known value: Linux, in 4096ths, has 4096, 2923, 1413, 142, 1, 1092.
    #[test]
    fn a_rate_that_failed_is_not_sure_by_one_arrival() {
        let mut rate = Statistics::default();
        for (share, linux) in [(1.0, 4096), (0.0, 2923), (0.0, 1413), (0.0, 142), (0.0, 1), (1.0, 1092)] {
            rate.take(share);
            let off = rate.probability * 4096.0 - f64::from(linux);
            assert!(off.abs() < 3.0, "{share}: {off}");
        }
    }
}
