//! What became of data between two stations.

use crate::{Group, Seen, StationId};
use multihop_core::{Rate, Span};
use std::collections::BTreeMap;

/// Number, mean and spread of what was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Samples {
    /// How many.
    pub count: u64,
    /// Their mean; zero if there are none.
    pub mean: f64,
    squares: f64,
}

impl Samples {
    /// One more (Welford 1962).
    pub fn add(&mut self, sample: f64) {
        self.count += 1;
        let off = sample - self.mean;
        self.mean += off / self.count as f64;
        self.squares += off * (sample - self.mean);
    }

    /// Standard deviation of one; none of fewer than two.
    pub fn deviation(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt())
    }
}

/// Exchanges from one station to another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Link {
    /// Exchanges with data for one station, whether answered or not.
    pub exchanges: u64,
    /// Those of which the answer was seen.
    pub answered: u64,
    /// Those that were sent before.
    pub retries: u64,
    /// Those that began with RTS and CTS.
    pub reserved: u64,
    /// Those that a block acknowledgement answered.
    pub blocks: u64,
    /// Exchanges of which the data carried something: none of null frames.
    pub loaded: u64,
    /// Data frames that carried something, each time that they were sent: of an A-MPDU all that were seen.
    pub frames: u64,
    /// Those of them that were acknowledged, of block acknowledgements by the bitmap.
    pub acknowledged: u64,
    /// Bytes that the network layer sent in acknowledged frames.
    pub bytes: u64,
    /// Time from the first to the last frame of answered exchanges.
    pub occupied: Span,
    /// Capacity by rt-Winf, in bits per second: means of batches of consecutive exchanges, which depend less
    /// on each other than exchanges do.
    pub capacity_bps: Samples,
    /// Bit rate of the fastest DATA among them, which the capacity cannot be above.
    pub fastest: Option<Rate>,
    batch: Samples,
}

/// Exchanges of a batch.
const BATCH: u64 = 16;

impl Link {
    fn add(&mut self, seen: &Seen) {
        self.exchanges += 1;
        self.loaded += u64::from(seen.has_payload);
        self.retries += u64::from(seen.retry);
        self.reserved += u64::from(seen.rts.is_some() || seen.cts.is_some());
        if let Some(ack) = seen.ack {
            self.answered += 1;
            self.blocks += u64::from(seen.block);
            if !seen.block && seen.has_payload {
                self.arrived(1, seen.size.into());
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

    fn arrived(&mut self, frames: u64, bytes: u64) {
        self.acknowledged += frames;
        self.bytes += bytes;
    }

    /// With the batch that is not full, if there is no other.
    fn finish(&mut self) {
        if self.capacity_bps.count == 0 && self.batch.count > 0 {
            self.capacity_bps.add(self.batch.mean);
        }
    }
}

/// Data frames from one station to another at a bit rate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RateCount {
    /// Their transmitter.
    pub sender: StationId,
    /// Whom they were for.
    pub receiver: StationId,
    /// The bit rate.
    pub rate: Rate,
    /// How often a frame was sent at it: of an A-MPDU all that were seen.
    pub frames: u64,
}

/// All links of a capture.
#[derive(Clone, Debug, Default)]
pub struct Links {
    all: BTreeMap<(StationId, StationId), Link>,
    rates: BTreeMap<(StationId, StationId, Rate), u64>,
}

/// Links, and rates of links, beyond so many are not distinguished.
const MOST: usize = 16_384;

impl Links {
    /// An exchange; those of management, and to groups, are none of a link.
    pub fn add(&mut self, seen: &Seen) {
        if let (Some(sender), Some(receiver), true, Some(_)) =
            (seen.sender, seen.receiver, seen.is_data, seen.data)
            && let Some(link) = self.between(sender, receiver)
        {
            link.add(seen);
        }
    }

    /// A data frame, by itself or in an A-MPDU, at a bit rate if that is known.
    pub fn sent(&mut self, sender: StationId, receiver: StationId, rate: Option<Rate>) {
        self.between(sender, receiver).into_iter().for_each(|link| link.frames += 1);
        if let Some(key) = rate.map(|rate| (sender, receiver, rate))
            && (self.rates.len() < MOST || self.rates.contains_key(&key))
        {
            *self.rates.entry(key).or_default() += 1;
        }
    }

    /// What a block acknowledgement says to have arrived.
    pub fn arrived(&mut self, sender: StationId, receiver: StationId, arrived: &Group) {
        self.between(sender, receiver)
            .into_iter()
            .for_each(|link| link.arrived(arrived.frames, arrived.bytes));
    }

    fn between(&mut self, sender: StationId, receiver: StationId) -> Option<&mut Link> {
        let key = (sender, receiver);
        (self.all.len() < MOST || self.all.contains_key(&key)).then(|| self.all.entry(key).or_default())
    }

    /// Sender, receiver, and what became of their exchanges; and at which rates data were sent.
    pub fn finish(mut self) -> (Vec<(StationId, StationId, Link)>, Vec<RateCount>) {
        self.all.values_mut().for_each(Link::finish);
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
        let mut samples = Samples::default();
        assert_eq!(samples.deviation(), None);
        for sample in [2.0, 4.0, 9.0] {
            samples.add(sample);
        }
        assert_eq!(samples.mean, 5.0);
        assert!((samples.deviation().unwrap() - 13f64.sqrt()).abs() < 1e-12);
    }
}
