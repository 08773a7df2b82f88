//! Summary of link identifiers in the link's part of the header: a Bloom filter (Bloom 1970).

use crate::neighbourhood::DirectedLink;

/// Parameters of the hashing of links into a summary.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Hashing {
    /// Bits of a summary, up to [`Hashing::MOST_BITS`].
    pub bits: u32,
    /// Bits that each link sets. Some of them may coincide.
    pub hashes: u32,
}

impl Hashing {
    /// Maximum number of bits in a summary.
    pub const MOST_BITS: u32 = u128::BITS;

    /// Returns the bits that a link sets. A summary is the union of the bits of its links.
    pub fn mask(self, link: DirectedLink) -> u128 {
        let key = u64::from(link.from.0) << 32 | u64::from(link.to.0);
        let bit = |number: u32| {
            let hash = splitmix64(key ^ splitmix64(u64::from(number) + 1));
            // The upper half is scaled, so that all bits are equally likely.
            1u128 << (((hash >> 32) * u64::from(self.bits)) >> 32)
        };
        (0..self.hashes).fold(0, |mask, number| mask | bit(number))
    }

    /// Whether the summary contains the link of this mask. False positives have a probability of about `(1 -
    /// (1 - 1/m)^(k n))^k`, with m bits, k hashes and n links.
    pub fn contains(summary: u128, mask: u128) -> bool {
        summary & mask == mask
    }
}

/// Finalizer of `SplitMix64` (Steele, Lea and Flood 2014).
pub(super) fn splitmix64(key: u64) -> u64 {
    let key = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let key = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let key = (key ^ (key >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ (key >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::NodeId;

    fn link(number: u32) -> DirectedLink {
        DirectedLink { from: NodeId(number / 17), to: NodeId(number % 17) }
    }

    fn summary(hashing: Hashing, links: impl Iterator<Item = u32>) -> u128 {
        links.fold(0, |summary, number| summary | hashing.mask(link(number)))
    }

    #[test]
    fn added_links_are_found() {
        for (bits, hashes) in [(128, 4), (64, 3), (1, 1), (100, 8)] {
            let hashing = Hashing { bits, hashes };
            let summary = summary(hashing, 0..40);
            assert!((0..40).all(|number| Hashing::contains(summary, hashing.mask(link(number)))));
            assert!(bits == 128 || summary >> bits == 0, "no bit beyond the last");
        }
    }

    /// False positives with twenty links: 4.7 % with 128 bits and four hashes, 22 % with 64 and three. The
    /// sample is 500 summaries with 200 other links each.
    #[test]
    fn false_positives_match_the_theory() {
        for (bits, hashes, known) in [(128, 4, 20), (64, 3, 20), (128, 4, 40), (32, 2, 6)] {
            let hashing = Hashing { bits, hashes };
            let (mut wrong, mut asked) = (0, 0);
            for trial in 0..500 {
                let first = trial * 1_000;
                let summary = summary(hashing, first..first + known);
                for other in first + known..first + known + 200 {
                    asked += 1;
                    wrong += u32::from(Hashing::contains(summary, hashing.mask(link(other))));
                }
            }
            let empty = (1.0 - 1.0 / f64::from(bits)).powf(f64::from(hashes * known));
            let theory = (1.0 - empty).powf(f64::from(hashes));
            let found = f64::from(wrong) / f64::from(asked);
            assert!((found / theory - 1.0).abs() < 0.1, "m {bits}, k {hashes}: {found} against {theory}");
        }
        let theory = |bits: f64, hashes: f64| (1.0 - (1.0 - 1.0 / bits).powf(hashes * 20.0)).powf(hashes);
        assert!((theory(128.0, 4.0) - 0.047).abs() < 0.001 && (theory(64.0, 3.0) - 0.227).abs() < 0.01);
    }

    /// First numbers of `SplitMix64` from zero. Its state grows by the golden ratio.
    #[test]
    fn keys_are_mixed_as_splitmix64_does() {
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        let numbers = [0, GOLDEN, GOLDEN.wrapping_mul(2)].map(splitmix64);
        assert_eq!(numbers, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }
}
