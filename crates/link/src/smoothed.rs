//! Exponentially weighted means.

/// A mean in which the newest sample has a fixed weight. It starts at the first sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Smoothed {
    gain: f64,
    value: Option<f64>,
}

impl Smoothed {
    /// An empty mean; `gain` is the weight of a new sample, in (0, 1].
    pub(crate) fn new(gain: f64) -> Smoothed {
        Smoothed { gain, value: None }
    }

    /// The mean, if there was a sample.
    pub(crate) fn get(self) -> Option<f64> {
        self.value
    }

    /// What the mean is after one sample more.
    pub(crate) fn with(self, sample: f64) -> f64 {
        self.value.map_or(sample, |old| old + self.gain * (sample - old))
    }

    /// Takes a sample in.
    pub(crate) fn add(&mut self, sample: f64) {
        self.value = Some(self.with(sample));
    }
}
