//! Collision models: what overlapping signals do to each other.

use super::RateErrors;

/// Collision model of a receiver.
#[derive(Clone, Debug)]
pub enum Collisions {
    /// Overlaps decided by pairs (ns-2): the first signal survives a later one that is weaker by at least the
    /// capture ratio; otherwise both are lost.
    Pairwise {
        /// Capture ratio; none if any overlap destroys both.
        capture: Option<f64>,
    },
    /// Bit errors by signal over noise plus the sum of all interference. Powers are in femtowatts.
    Sinr {
        /// Noise power.
        noise: u64,
        /// Power below which a frame is not detected.
        sensitivity: u64,
        /// Bit error model of each rate of the run, by [`super::RateSet::index`].
        errors: Box<[RateErrors]>,
        /// Bit error model of preamble and header, at the lowest rate; none if nothing corrupts them.
        header: Option<Box<RateErrors>>,
        /// Smallest ratio of signal to noise and interference at the start of a frame for its preamble to be
        /// detected.
        detection: f64,
        /// Whether [`super::Link::ln_bit_success`] includes the effect of noise because it was measured, so
        /// that only interference adds errors here.
        measured: bool,
    },
}

impl Collisions {
    /// Whether overlaps are decided by pairs.
    #[inline]
    pub fn are_by_pairs(&self) -> bool {
        matches!(self, Collisions::Pairwise { .. })
    }

    /// Whether preamble and header are recognized however strong the interference is.
    pub fn recognizes_all(&self) -> bool {
        match self {
            Collisions::Pairwise { .. } => true,
            Collisions::Sinr { header, detection, .. } => header.is_none() && *detection <= 0.0,
        }
    }
}
