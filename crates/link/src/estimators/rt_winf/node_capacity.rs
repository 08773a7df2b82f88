//! Combination of capacity samples in rt-Winf.

use crate::estimators::smoothed::Smoothed;
use multihop_core::{Rate, Span};

/// Capacity of a node: the smaller of overheard samples and the next own sample (Barreto 2015, Eqs. 9 and
/// 10), smoothed.
#[derive(Clone, Debug)]
pub(crate) struct NodeCapacity {
    smoothed: Smoothed,
    /// Last sample, if the node overheard the exchange.
    overheard: Option<f64>,
}

impl NodeCapacity {
    /// Creates an empty estimate; `gain` is the weight of a new sample.
    pub(crate) fn new(gain: f64) -> NodeCapacity {
        NodeCapacity { smoothed: Smoothed::new(gain), overheard: None }
    }

    /// Capacity in bits per second; none before the first sample.
    pub(crate) fn get(&self) -> Option<f64> {
        self.smoothed.get()
    }

    /// Adds a sample of an exchange of other nodes.
    pub(crate) fn add_overheard(&mut self, sample: f64) {
        self.overheard = Some(sample);
        self.smoothed.add(sample);
    }

    /// Adds a sample of the node's own exchange, as sender or receiver.
    pub(crate) fn add_own(&mut self, sample: f64) {
        self.smoothed.add(self.overheard.take().map_or(sample, |overheard| sample.min(overheard)));
    }
}

/// Capacity `S / T` in bits per second, for a transfer of `size` bytes at `rate` that took `transfer`. With a
/// reference size, the capacity for packets of that size, `S_ref / (T + (S_ref - S) / R)` (Qazi, section V).
/// None if the transfer took no time.
pub fn capacity_bps(size: u32, transfer: Span, rate: Rate, reference: Option<u32>) -> Option<f64> {
    let reference = reference.unwrap_or(size);
    let more_bits = (f64::from(reference) - f64::from(size)) * 8.0;
    let taken = transfer.seconds() + if more_bits == 0.0 { 0.0 } else { more_bits / rate.bps() as f64 };
    (taken > 0.0 && reference > 0).then(|| f64::from(reference) * 8.0 / taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_of_overheard_and_own_counts_once_for_each_change_of_role() {
        let mut capacity = NodeCapacity::new(1.0);
        capacity.add_own(7.0);
        capacity.add_overheard(5.0);
        assert_eq!(capacity.get(), Some(5.0));
        capacity.add_own(7.0);
        assert_eq!(capacity.get(), Some(5.0), "Eqs. 9 and 10");
        capacity.add_own(7.0);
        assert_eq!(capacity.get(), Some(7.0), "it has overheard no exchange since");
        capacity.add_overheard(9.0);
        capacity.add_own(7.0);
        assert_eq!(capacity.get(), Some(7.0));
    }

    /// 100 and 1500 bytes at 8 Mb/s over 400 us of overhead: 500 and 1900 us.
    #[test]
    fn a_reference_size_makes_sizes_alike() {
        let rate = Rate::from_kbps(8_000);
        let small = capacity_bps(100, Span::from_us(500), rate, None).unwrap();
        assert!((small - 1.6e6).abs() < 1e-6);
        for (size, taken) in [(100, 500), (1500, 1_900)] {
            let normal = capacity_bps(size, Span::from_us(taken), rate, Some(1500)).unwrap();
            assert!((normal - 12_000.0 / 1_900e-6).abs() < 1e-6);
        }
        assert_eq!(capacity_bps(100, Span::ZERO, rate, None), None);
    }
}
