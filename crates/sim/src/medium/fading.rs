//! Fading: received powers that vary over time.

use super::links::Link;
use super::moving::Listeners;
use super::{Wavefront, femtowatts};
use crate::config::{Config, FadingConfig, MediumModel, Radios};
use multihop_core::{NodeId, Rng, Time};
use std::f64::consts::TAU;

/// Block fading: each pair of nodes has a gain that is equal in both directions, constant for a block, and
/// independent from block to block. A frame has the gain of its first instant.
///
/// A gain is a function of seed, pair and block. It draws from no shared random stream and does not depend on
/// the order of requests.
#[derive(Clone, Debug)]
pub struct Fading {
    config: FadingConfig,
    seed: u64,
}

impl Fading {
    /// Creates the fading of a run with this seed.
    pub fn new(config: FadingConfig, seed: u64) -> Fading {
        Fading { config, seed }
    }

    /// Power gain of a pair at an instant; the mean is 1.
    pub fn gain(&self, one: NodeId, other: NodeId, now: Time) -> f64 {
        let pair = [one.0.min(other.0), one.0.max(other.0)].map(u64::from);
        let block = self.config.block.ns();
        // Blocks of different pairs begin at different times.
        let phase = Rng::numbered(self.seed, "fading phase", &pair).unit() * block as f64;
        let number = (now.ns() + phase as u64) / block;
        let mut rng = Rng::numbered(self.seed, "fading", &[pair[0], pair[1], number]);
        let k = self.config.rice_factor;
        let scattered = rng.exponential(1.0 / (k + 1.0)).sqrt();
        let angle = TAU * rng.unit();
        let in_phase = (k / (k + 1.0)).sqrt() + scattered * angle.cos();
        in_phase.powi(2) + (scattered * angle.sin()).powi(2)
    }
}

/// Links with fading, over the links without fading.
#[derive(Clone, Debug)]
pub struct FadingLinks {
    under: Listeners,
    fading: Fading,
    sensitivity: u64,
    radios: Radios,
    rows: Vec<Vec<Link>>,
}

impl FadingLinks {
    /// Adds fading to the links of a configuration. Returns `under` unchanged if the configuration has no
    /// fading.
    pub fn new(config: &Config, under: Listeners) -> Result<FadingLinks, Listeners> {
        match (config.medium.fading, &config.medium.model) {
            (Some(fading), MediumModel::Sinr { sensitivity_mw, .. }) => Ok(FadingLinks {
                fading: Fading::new(fading, config.seed),
                sensitivity: femtowatts(*sensitivity_mw),
                radios: config.topology.radios.clone(),
                rows: vec![Vec::new(); config.topology.nodes.len()],
                under,
            }),
            _ => Err(under),
        }
    }

    /// Links without fading.
    pub fn under(&self) -> &Listeners {
        &self.under
    }

    /// Links without fading, to be changed when nodes move.
    pub fn under_mut(&mut self) -> &mut Listeners {
        &mut self.under
    }

    /// Links of a transmitter, with the gains at the start of its latest frame.
    pub fn of(&self, from: NodeId) -> &[Link] {
        &self.rows[from.index()]
    }

    /// Updates the gains of a transmitter that starts a frame.
    pub fn refresh(&mut self, from: NodeId, wavefront: Option<&mut Wavefront>, now: Time) {
        self.under.refresh(from, wavefront, now);
        let row = &mut self.rows[from.index()];
        row.clear();
        for link in self.under.of(from) {
            let to = NodeId(link.to);
            let power = link.power * self.fading.gain(from, to, now);
            let energy = power.round() as u64;
            let one_channel = self.radios.part_at(from, to) >= 1.0;
            let decodable = one_channel && energy >= self.sensitivity;
            row.push(Link { energy, power: energy as f64, ..link.with_decodable(decodable) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::Span;

    const BLOCK: Span = Span::from_ms(10);

    fn fading(rice_factor: f64) -> Fading {
        Fading::new(FadingConfig { rice_factor, block: BLOCK }, 1)
    }

    /// Gains of one pair in the middle of each block.
    fn gains(fading: &Fading, count: u64) -> Vec<f64> {
        (0..count).map(|block| fading.gain(NodeId(0), NodeId(1), Time::ZERO + BLOCK * block)).collect()
    }

    /// Kolmogorov-Smirnov distance to the exponential distribution of the power of a Rayleigh channel, at the
    /// 0.1 % level.
    #[test]
    fn without_a_steady_path_powers_are_exponential() {
        let mut found = gains(&fading(0.0), 20_000);
        found.sort_by(f64::total_cmp);
        let n = found.len() as f64;
        let off = |(i, gain): (usize, &f64)| ((i as f64 + 0.5) / n - (1.0 - (-gain).exp())).abs();
        let distance = found.iter().enumerate().map(off).fold(0.0, f64::max);
        assert!(distance < 1.95 / n.sqrt(), "{distance}");
    }

    /// Mean 1, and the variance (2 K + 1) / (K + 1)^2 of the power of a Rician channel (Simon & Alouini 2000,
    /// 2.2.1.3).
    #[test]
    fn the_rice_factor_is_what_was_asked_for() {
        for k in [0.0, 1.0, 4.0, 10.0, 100.0] {
            let found = gains(&fading(k), 50_000);
            let mean = found.iter().sum::<f64>() / found.len() as f64;
            let variance = found.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / found.len() as f64;
            let expected = (2.0 * k + 1.0) / (k + 1.0f64).powi(2);
            assert!((mean - 1.0).abs() < 0.02, "K = {k}: mean {mean}");
            assert!((variance / expected - 1.0).abs() < 0.05, "K = {k}: variance {variance}, not {expected}");
        }
    }

    /// The autocorrelation of a block process at a lag is the share of intervals without a block boundary:
    /// `1 - lag / block`.
    #[test]
    fn it_stays_for_a_block_and_is_forgotten_after_it() {
        let fading = fading(0.0);
        let pairs: Vec<NodeId> = (1..=20_000).map(NodeId).collect();
        let at = |ms: u64| -> Vec<f64> {
            let now = Time::ZERO + Span::from_ms(ms);
            pairs.iter().map(|other| fading.gain(NodeId(0), *other, now) - 1.0).collect()
        };
        let before = at(1_000);
        for (lag, expected) in [(0, 1.0), (2, 0.8), (5, 0.5), (10, 0.0), (25, 0.0)] {
            let products = before.iter().zip(at(1_000 + lag)).map(|(a, b)| a * b).sum::<f64>();
            let correlation = products / before.iter().map(|a| a * a).sum::<f64>();
            assert!((correlation - expected).abs() < 0.04, "after {lag} ms: {correlation}, not {expected}");
        }
    }

    #[test]
    fn it_is_the_same_both_ways_and_another_for_each_pair_and_seed() {
        let gain = |seed, one, other| {
            let config = FadingConfig { rice_factor: 0.0, block: BLOCK };
            Fading::new(config, seed).gain(NodeId(one), NodeId(other), Time::ZERO).to_bits()
        };
        assert_eq!(gain(1, 0, 1), gain(1, 1, 0));
        assert_ne!(gain(1, 0, 1), gain(1, 0, 2));
        assert_ne!(gain(1, 0, 1), gain(2, 0, 1));
    }

    /// Walking speed of 1.4 m/s at 5.18 GHz: a Doppler shift of 24.2 Hz.
    #[test]
    fn a_walker_has_seventeen_milliseconds() {
        let span = FadingConfig::coherence(1.4, 5.18e9).seconds();
        assert!((span - 0.423 / 24.19).abs() < 1e-5, "{span}");
    }
}
