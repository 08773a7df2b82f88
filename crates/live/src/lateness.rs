//! Lateness of packets: time from the delivery by the run to the write into the device, and time by which the
//! loop woke too late to read a packet.

use multihop_core::Span;

/// Number of buckets per doubling: quantiles are accurate to an eighth.
const PER_DOUBLING: u32 = 8;
const BUCKETS: usize = (64 * PER_DOUBLING) as usize;

/// Histogram of spans, with a fixed number of buckets of growing width.
#[derive(Clone, Debug)]
pub struct Lateness {
    counts: Vec<u64>,
    count: u64,
    max: Span,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness { counts: vec![0; BUCKETS], count: 0, max: Span::ZERO }
    }
}

impl Lateness {
    /// Adds a packet.
    pub fn add(&mut self, late: Span) {
        self.counts[bucket(late.ns())] += 1;
        self.count += 1;
        self.max = self.max.max(late);
    }

    /// Maximum.
    pub fn max(&self) -> Span {
        self.max
    }

    /// Number of packets.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Quantile, at most an eighth too high; zero without packets.
    pub fn quantile(&self, share: f64) -> Span {
        let rank = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        for (index, count) in self.counts.iter().enumerate() {
            below += count;
            if below >= rank {
                return Span::from_ns(upper(index)).min(self.max);
            }
        }
        Span::ZERO
    }
}

fn bucket(ns: u64) -> usize {
    if ns < u64::from(PER_DOUBLING) {
        return ns as usize;
    }
    let doublings = ns.ilog2() - PER_DOUBLING.ilog2();
    ((doublings * PER_DOUBLING) + (ns >> doublings) as u32) as usize
}

/// Largest value of a bucket.
fn upper(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let per = u64::from(PER_DOUBLING);
    if bucket < 2 * per {
        return bucket;
    }
    let doublings = bucket / per - 1;
    ((bucket % per + per + 1) << doublings) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_a_bucket_that_ends_within_an_eighth() {
        let mut before = 0;
        for ns in (0..2_000).chain((11..62).map(|bits| (1 << bits) + 12_345)) {
            let place = bucket(ns);
            assert!(place >= before && place < BUCKETS, "{ns}");
            before = place;
            assert!(upper(place) >= ns && upper(place) - ns <= ns / 8, "{ns}: {}", upper(place));
        }
    }

    #[test]
    fn quantiles_are_ranks() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.quantile(0.5), Span::ZERO);
        (1..=1_000).for_each(|us| lateness.add(Span::from_us(us)));
        let us = |share: f64| lateness.quantile(share).seconds() * 1e6;
        assert!(
            (500.0..563.0).contains(&us(0.5)) && (990.0..=1_000.0).contains(&us(0.99)),
            "{} {}",
            us(0.5),
            us(0.99)
        );
        assert_eq!(
            (lateness.quantile(1.0), lateness.max(), lateness.count()),
            (Span::from_us(1_000), Span::from_us(1_000), 1_000)
        );
    }
}
