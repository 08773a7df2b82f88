//! Rate control on links with a known loss.

use super::*;
use multihop_core::Rate;

/// Eight rates in each of `streams` groups, those of 802.11n in 20 MHz, in A-MPDUs with 100 us of overhead.
fn table(streams: u8) -> RateTable {
    let kbps = [6_500, 13_000, 19_500, 26_000, 39_000, 52_000, 58_500, 65_000];
    let candidate = |streams: u8, kbps: u64| Candidate {
        streams,
        payload: Rate::from_kbps(kbps * u64::from(streams)).span_of_bytes(u64::from(AVERAGE_BYTES)),
        overhead: Span::from_us(100),
    };
    RateTable {
        candidates: (1..=streams).flat_map(|streams| kbps.map(|kbps| candidate(streams, kbps))).collect(),
        slot: Span::from_us(9),
        cw_min: 15,
        cw_max: 1023,
        most_tries: 7,
        by_snr: RateTable::snrs().map(|snr| (snr / 4.0).clamp(0.0, 7.0) as u8).collect(),
    }
}

/// Link that sends A-MPDUs of `mpdus`, each of at most 4 ms, back to back, at the rates that the algorithm
/// chooses, and counts arrivals.
struct Link {
    table: RateTable,
    control: RateControl,
    rng: Rng,
    now: Time,
    mpdus: u32,
}

impl Link {
    fn new(table: RateTable, mpdus: u32) -> Link {
        let control = RateControl::new(Algorithm::MinstrelHt, &table, Rng::at(1, &["rates"]));
        Link { table, control, rng: Rng::at(1, &["losses"]), now: Time::ZERO, mpdus }
    }

    /// Number of MPDUs in an A-MPDU at a rate, and its airtime.
    fn burst(&self, rate: usize, most: u32) -> (u32, Span) {
        let Candidate { payload, overhead, .. } = self.table.candidates[rate];
        let mpdus = most.min((Span::from_ms(4).ns() / payload.ns()) as u32);
        (mpdus, overhead + payload * u64::from(mpdus))
    }

    /// Number of MPDUs that arrive within this time.
    fn run(&mut self, length: Span, arrives: impl Fn(usize) -> f64) -> u32 {
        let end = self.now + length;
        let mut sum = 0;
        while self.now < end {
            let chain = self.control.chain(&self.table, self.now);
            for failures in 0..20 {
                let rate = chain.after(failures).rate;
                let (mpdus, airtime) =
                    self.burst(usize::from(rate), if chain.is_sample { 1 } else { self.mpdus });
                self.now += airtime;
                let arrived = |_: &u32| self.rng.unit() < arrives(usize::from(rate));
                let acknowledged = (0..mpdus).filter(arrived).count() as u32;
                let attempted = Attempted { rate, mpdus, acknowledged };
                self.control.on_attempt(&self.table, attempted, self.now);
                sum += acknowledged;
                if acknowledged > 0 {
                    break;
                }
            }
        }
        sum
    }

    /// Number of MPDUs that the best rate alone would deliver in this time.
    fn best(&self, length: Span, arrives: impl Fn(usize) -> f64) -> f64 {
        let goodput = |rate: usize| {
            let (mpdus, airtime) = self.burst(rate, self.mpdus);
            f64::from(mpdus) * arrives(rate) * length.ns() as f64 / airtime.ns() as f64
        };
        (0..self.table.candidates.len()).map(goodput).fold(0.0, f64::max)
    }
}

#[test]
fn a_chain_goes_down_its_stages_and_stays_in_the_last() {
    let stage = |rate: u8, tries: u8| Stage { rate, tries, protected: rate > 0 };
    let chain = Chain { stages: [stage(0, 2), stage(1, 3), stage(2, 1)], is_sample: false };
    let rates: Vec<u8> = (0..8).map(|failures| chain.after(failures).rate).collect();
    assert_eq!(rates, [0, 0, 1, 1, 1, 2, 2, 2]);
}

#[test]
fn minstrel_is_within_a_tenth_of_the_best_rate_wherever_the_cliff_is() {
    for cliff in 0..8 {
        for mpdus in [1, 16] {
            let mut link = Link::new(table(1), mpdus);
            let arrives = |rate: usize| if rate <= cliff { 0.98 } else { 0.0 };
            link.run(Span::from_ms(1_000), arrives);
            let sum = link.run(Span::from_ms(4_000), arrives);
            let best = link.best(Span::from_ms(4_000), arrives);
            assert!(f64::from(sum) > 0.9 * best, "cliff {cliff}, {mpdus} MPDUs: {sum} of {best:.0}");
        }
    }
}

#[test]
fn minstrel_is_as_good_with_two_streams_and_rates_that_lose_a_part() {
    // The second stream doubles the rate and halves arrivals except at the lowest: MCS 4 of one stream is as
    // fast as MCS 2 of two.
    let arrives = |rate: usize| {
        let of_one: [f64; 8] = [1.0, 1.0, 0.98, 0.95, 0.9, 0.7, 0.4, 0.1];
        let of_two: [f64; 8] = [1.0, 0.95, 0.9, 0.6, 0.2, 0.05, 0.0, 0.0];
        if rate < 8 { of_one[rate] } else { of_two[rate - 8] }
    };
    let mut link = Link::new(table(2), 16);
    link.run(Span::from_ms(1_000), arrives);
    let sum = link.run(Span::from_ms(5_000), arrives);
    let best = link.best(Span::from_ms(5_000), arrives);
    assert!(f64::from(sum) > 0.9 * best, "{sum} of {best:.0}");
}

#[test]
fn minstrel_follows_a_link_that_grows_worse_and_better_again() {
    let mut link = Link::new(table(1), 8);
    let (near, far) =
        (|rate: usize| f64::from(u8::from(rate <= 7)), |rate: usize| f64::from(u8::from(rate <= 2)));
    link.run(Span::from_ms(1_000), near);
    // Each of these seconds includes the adaptation.
    let worse = link.run(Span::from_ms(1_000), far);
    assert!(f64::from(worse) > 0.7 * link.best(Span::from_ms(1_000), far), "{worse}");
    let better = link.run(Span::from_ms(1_000), near);
    assert!(f64::from(better) > 0.7 * link.best(Span::from_ms(1_000), near), "{better}");
}

#[test]
fn samples_are_at_most_one_in_twenty_milliseconds_and_once_each() {
    let table = table(2);
    let mut control = RateControl::new(Algorithm::MinstrelHt, &table, Rng::at(1, &["rates"]));
    let mut sampled = Vec::new();
    // All rates but the lowest lose everything, so that every chain that begins with another rate is a
    // sample.
    for step in 0..5_000 {
        let now = Time::from_ns(step * 1_000_000);
        let chain = control.chain(&table, now);
        let rate = chain.after(0).rate;
        if rate > 0 {
            sampled.push(step);
            assert_eq!(chain.after(1).rate, 0, "a sample has one try");
        }
        let acknowledged = u32::from(rate == 0);
        control.on_attempt(&table, Attempted { rate, mpdus: 1, acknowledged }, now);
    }
    assert!(sampled.len() > 150, "{}", sampled.len());
    // Three samples fit between updates: at the update, and 20 and 40 ms later.
    assert!(sampled.len() <= 3 * 5_000 / 51 + 3, "{}", sampled.len());
    assert!(sampled.windows(2).filter(|pair| pair[1] - pair[0] < 20).all(|pair| pair[1] - pair[0] >= 10));
}

#[test]
fn a_dead_best_rate_is_left_before_the_interval_is_over() {
    let table = table(2);
    let mut control = RateControl::new(Algorithm::MinstrelHt, &table, Rng::at(1, &["rates"]));
    let mut now = Time::ZERO;
    for _ in 0..100 {
        for rate in [7, 15] {
            control.on_attempt(&table, Attempted { rate, mpdus: 10, acknowledged: 10 }, now);
        }
        now += Span::from_ms(10);
    }
    now += Span::from_ms(60);
    control.on_attempt(&table, Attempted { rate: 7, mpdus: 1, acknowledged: 1 }, now);
    let best = |control: &mut RateControl| {
        control.chain(&table, now); // the sample of this interval, if there is one
        control.chain(&table, now).after(0).rate
    };
    assert_eq!(best(&mut control), 15);
    for _ in 0..4 {
        control.on_attempt(&table, Attempted { rate: 15, mpdus: 10, acknowledged: 0 }, now);
    }
    assert_eq!(best(&mut control), 7, "the best of one stream");
}

#[test]
fn ideal_begins_at_the_lowest_rate_and_follows_what_it_hears() {
    let table = table(1);
    let mut control = RateControl::new(Algorithm::Ideal, &table, Rng::at(1, &[]));
    let mut rate_at = |snr: Option<f64>| {
        snr.inspect(|snr| control.on_heard(*snr));
        control.chain(&table, Time::ZERO).after(5).rate
    };
    assert_eq!(rate_at(None), 0);
    assert_eq!(rate_at(Some(12.0)), 3);
    assert_eq!(rate_at(Some(11.9)), 2);
    assert_eq!(rate_at(Some(-40.0)), 0);
    assert_eq!(rate_at(Some(90.0)), 7);
}

/// With as many attempts as in Linux, each rate has two to seven, and then another chain follows.
#[test]
fn a_chain_has_the_tries_of_its_rates() {
    let table = table(1);
    let mut control = RateControl::new(Algorithm::MinstrelHt, &table, Rng::at(1, &["rates"]));
    let mut now = Time::ZERO;
    for _ in 0..20 {
        for (rate, acknowledged) in [(7, 10), (6, 10), (5, 10)] {
            control.on_attempt(&table, Attempted { rate, mpdus: 10, acknowledged }, now);
        }
        now += Span::from_ms(20);
    }
    control.chain(&table, now); // the sample of this interval, if there is one
    let chain = control.chain(&table, now);
    assert_eq!(
        chain.stages().iter().map(|stage| stage.tries).collect::<Vec<_>>(),
        [3, 3, 3],
        "what fits in 6 ms"
    );
    assert_eq!(chain.tries(), 9);
    assert_eq!(Chain::constant(3).tries(), 3 * u32::from(u8::MAX));
}
