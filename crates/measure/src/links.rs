//! Outcomes of data between two stations.

use crate::{MpduGroup, ObservedExchange, StationId};
use multihop_core::{Rate, Span};
use std::collections::BTreeMap;

/// Number, mean and variance of a set of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SampleMoments {
    /// Number of samples.
    pub count: u64,
    /// Mean of the samples; zero if there are none.
    pub mean: f64,
    squares: f64,
}

impl SampleMoments {
    /// Adds a sample (Welford 1962).
    pub fn add(&mut self, sample: f64) {
        self.count += 1;
        let off = sample - self.mean;
        self.mean += off / self.count as f64;
        self.squares += off * (sample - self.mean);
    }

    /// Standard deviation of the samples; none for fewer than two.
    pub fn deviation(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt())
    }
}

/// Exchanges from one station to another.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkStatistics {
    /// Number of exchanges with unicast data, acknowledged or not.
    pub exchanges: u64,
    /// Number of exchanges whose response was captured.
    pub answered: u64,
    /// Number of retransmissions.
    pub retries: u64,
    /// Number of exchanges with RTS or CTS.
    pub reserved: u64,
    /// Number of exchanges with a block acknowledgement.
    pub blocks: u64,
    /// Number of exchanges whose data has a body, which null frames do not have.
    pub loaded: u64,
    /// Number of transmissions of data frames with a body; an A-MPDU counts all captured frames.
    pub frames: u64,
    /// Number of acknowledged data frames; a block acknowledgement counts by its bitmap.
    pub acknowledged: u64,
    /// Number of network-layer bytes in acknowledged frames.
    pub bytes: u64,
    /// Time from the first to the last frame of acknowledged exchanges.
    pub occupied: Span,
    /// Capacity by rt-Winf, in bits per second. The samples are means of batches of consecutive exchanges,
    /// which are less correlated than single exchanges.
    pub capacity_bps: SampleMoments,
    /// Highest bit rate of the DATA in these exchanges, an upper bound of the capacity.
    pub fastest: Option<Rate>,
    batch: SampleMoments,
}

/// Number of exchanges in a batch.
const BATCH: u64 = 16;

impl LinkStatistics {
    fn add(&mut self, seen: &ObservedExchange) {
        self.exchanges += 1;
        self.loaded += u64::from(seen.has_payload);
        self.retries += u64::from(seen.retry);
        self.reserved += u64::from(seen.rts.is_some() || seen.cts.is_some());
        if let Some(ack) = seen.ack {
            self.answered += 1;
            self.blocks += u64::from(seen.is_block_ack);
            if !seen.is_block_ack && seen.has_payload {
                self.delivered(1, seen.size.into());
            }
            let first = [seen.rts, seen.cts, seen.data].into_iter().flatten().next();
            self.occupied += first.map_or(Span::ZERO, |air| ack.end.since(air.start));
        }
        if let Some(capacity) = seen.capacity_bps() {
            self.fastest = self.fastest.max(seen.rate);
            self.batch.add(capacity);
            if self.batch.count == BATCH {
                self.capacity_bps.add(std::mem::take(&mut self.batch).mean);
            }
        }
    }

    fn delivered(&mut self, frames: u64, bytes: u64) {
        self.acknowledged += frames;
        self.bytes += bytes;
    }

    /// Adds an incomplete batch if there is no complete one.
    fn finish(&mut self) {
        if self.capacity_bps.count == 0 && self.batch.count > 0 {
            self.capacity_bps.add(self.batch.mean);
        }
    }
}

/// Number of data frames from one station to another at a bit rate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RateCount {
    /// Transmitter of the frames.
    pub sender: StationId,
    /// Receiver of the frames.
    pub receiver: StationId,
    /// Bit rate of the frames.
    pub rate: Rate,
    /// Number of transmissions; an A-MPDU counts all captured frames.
    pub frames: u64,
}

/// All links of a capture.
#[derive(Clone, Debug, Default)]
pub struct LinkTable {
    all: BTreeMap<(StationId, StationId), LinkStatistics>,
    rates: BTreeMap<(StationId, StationId, Rate), u64>,
}

/// Limit on the number of links, and of rates of links.
const MAX_LINKS: usize = 16_384;

impl LinkTable {
    /// Adds an exchange. Exchanges of management frames and to groups belong to no link.
    pub fn add(&mut self, seen: &ObservedExchange) {
        if let (Some(sender), Some(receiver), true, Some(_)) =
            (seen.sender, seen.receiver, seen.is_data, seen.data)
            && let Some(link) = self.between(sender, receiver)
        {
            link.add(seen);
        }
    }

    /// Adds a data frame, single or in an A-MPDU, with its bit rate if known.
    pub fn sent(&mut self, sender: StationId, receiver: StationId, rate: Option<Rate>) {
        self.between(sender, receiver).into_iter().for_each(|link| link.frames += 1);
        if let Some(key) = rate.map(|rate| (sender, receiver, rate))
            && (self.rates.len() < MAX_LINKS || self.rates.contains_key(&key))
        {
            *self.rates.entry(key).or_default() += 1;
        }
    }

    /// Adds the frames that a block acknowledgement reports as received.
    pub fn delivered(&mut self, sender: StationId, receiver: StationId, delivered: &MpduGroup) {
        self.between(sender, receiver)
            .into_iter()
            .for_each(|link| link.delivered(delivered.frames, delivered.bytes));
    }

    fn between(&mut self, sender: StationId, receiver: StationId) -> Option<&mut LinkStatistics> {
        let key = (sender, receiver);
        (self.all.len() < MAX_LINKS || self.all.contains_key(&key)).then(|| self.all.entry(key).or_default())
    }

    /// Links by sender and receiver, and the number of data frames by rate.
    pub fn finish(mut self) -> (Vec<(StationId, StationId, LinkStatistics)>, Vec<RateCount>) {
        self.all.values_mut().for_each(LinkStatistics::finish);
        let rates = self.rates.into_iter();
        let rates = rates
            .map(|((sender, receiver, rate), frames)| RateCount { sender, receiver, rate, frames })
            .collect();
        (self.all.into_iter().map(|((sender, receiver), link)| (sender, receiver, link)).collect(), rates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_by_hand() {
        let mut samples = SampleMoments::default();
        assert_eq!(samples.deviation(), None);
        for sample in [2.0, 4.0, 9.0] {
            samples.add(sample);
        }
        assert_eq!(samples.mean, 5.0);
        assert!((samples.deviation().unwrap() - 13f64.sqrt()).abs() < 1e-12);
    }
}
