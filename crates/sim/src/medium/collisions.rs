//! How overlapping signals collide.

use super::RateErrors;

/// What overlapping signals do to each other at a receiver.
#[derive(Clone, Debug)]
pub enum Collisions {
    /// The first signal survives a later one that is weaker by at least this ratio; otherwise both are lost
    /// (ns-2). None: any overlap destroys both.
    Pairwise {
        /// The capture ratio.
        capture: Option<f64>,
    },
    /// Bits fail by signal over noise and the sum of all interference. Powers are in femtowatts.
    Sinr {
        /// Noise power.
        noise: u64,
        /// Frames below this power are not noticed as frames.
        sensitivity: u64,
        /// Bit errors at each rate of the run, by [`super::RateSet::index`].
        errors: Box<[RateErrors]>,
        /// Those of what comes before the bits: preamble and header at the lowest rate. None: nothing harms
        /// them.
        header: Option<Box<RateErrors>>,
        /// Where the ratio of signal to noise and interference is below this when a frame begins, none is
        /// recognized, whatever the bits of its header do.
        detection: f64,
        /// What noise does to a link is in [`Link::ln_bit_success`], because it was measured: here only what
        /// interference adds.
        measured: bool,
    },
}

impl Collisions {
    /// Are overlaps settled by pairs?
    #[inline]
    pub fn are_by_pairs(&self) -> bool {
        matches!(self, Collisions::Pairwise { .. })
    }

    /// Whether a preamble and header is recognized however strong the interference is.
    pub fn recognizes_all(&self) -> bool {
        match self {
            Collisions::Pairwise { .. } => true,
            Collisions::Sinr { header, detection, .. } => header.is_none() && *detection <= 0.0,
        }
    }
}
