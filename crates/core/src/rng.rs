//! Random numbers by path.
//!
//! The generator is xoshiro256++ (Blackman and Vigna, 2019), seeded through `SplitMix64` from an FNV-1a hash
//! of the run's seed and the stream's path. It lives here, and is pinned by value tests, so that a seed means
//! the same run for ever.

/// Stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Stream at `path` of the run with this `seed`: `Rng::at(7, &["node", "3", "mac"])`. Distinct paths are
    /// independent.
    pub fn at(seed: u64, path: &[&str]) -> Rng {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut absorb = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        seed.to_le_bytes().into_iter().for_each(&mut absorb);
        for part in path {
            part.bytes().for_each(&mut absorb);
            absorb(0xff); // never occurs in UTF-8, so ["ab", "c"] and ["a", "bc"] differ
        }
        Rng::from_hash(hash)
    }

    /// Stream for a name and numbers, without formatting the numbers. The stream differs from that of
    /// [`Rng::at`] for the same path.
    pub fn numbered(seed: u64, name: &str, numbers: &[u64]) -> Rng {
        let mut hash = 0x9ae1_6a3b_2f90_404f_u64;
        let mut absorb = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        seed.to_le_bytes().into_iter().chain(name.bytes()).for_each(&mut absorb);
        numbers.iter().flat_map(|number| number.to_le_bytes()).for_each(&mut absorb);
        Rng::from_hash(hash)
    }

    fn from_hash(hash: u64) -> Rng {
        let mut split = hash;
        let state = [(); 4].map(|()| {
            split = split.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (split ^ (split >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        });
        Rng { state }
    }

    /// Next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Random integer, uniform in `0..bound`, by multiplication; the bias is below 2^-32 for the bounds in
    /// use. Zero for `bound` = 0.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u32
    }

    /// Random number, uniform in [0, 1), with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Random number, exponentially distributed with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_pinned_by_value() {
        let mut rng = Rng::at(1, &["node", "0", "mac"]);
        let draws = [rng.bits(), rng.bits(), rng.bits()];
        assert_eq!(draws, [9_233_263_107_317_063_952, 2_483_446_940_165_451_793, 7_411_725_225_715_000_491]);
    }

    #[test]
    fn paths_do_not_run_into_each_other() {
        assert_ne!(Rng::at(1, &["ab", "c"]).bits(), Rng::at(1, &["a", "bc"]).bits());
        assert_ne!(Rng::at(1, &["x"]).bits(), Rng::at(2, &["x"]).bits());
        let numbered = |seed, numbers: &[u64]| Rng::numbered(seed, "x", numbers).bits();
        assert_ne!(numbered(1, &[1, 2]), numbered(1, &[2, 1]));
        assert_ne!(numbered(1, &[1, 2]), numbered(2, &[1, 2]));
    }

    #[test]
    fn draws_have_the_right_moments() {
        let mut rng = Rng::at(3, &["moments"]);
        let n = 200_000;
        let mean = (0..n).map(|_| rng.unit()).sum::<f64>() / f64::from(n);
        assert!((mean - 0.5).abs() < 0.005, "unit mean {mean}");
        let mean = (0..n).map(|_| rng.exponential(2.0)).sum::<f64>() / f64::from(n);
        assert!((mean - 2.0).abs() < 0.03, "exponential mean {mean}");
        let mut counts = [0u32; 31];
        (0..n).for_each(|_| counts[rng.below(31) as usize] += 1);
        let expected = f64::from(n) / 31.0;
        let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
        assert!(chi2 < 59.7, "chi-square {chi2} of 30 degrees of freedom (0.1 % level)");
    }
}
