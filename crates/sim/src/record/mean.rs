//! Means that do not depend on the order of the added values.

/// Mean of numbers between 0 and 2^20, added up in fixed point.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mean {
    sum: u128,
    count: u64,
}

impl Mean {
    const SCALE: f64 = (1u64 << 40) as f64;

    pub(super) fn add(&mut self, value: f64) {
        self.sum += u128::from((value * Self::SCALE) as u64);
        self.count += 1;
    }

    /// Mean; none if no value was added.
    pub fn get(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / Self::SCALE / self.count as f64)
    }
}
