//! What the functions of a station contend with: that of the DCF, or those of access categories.

use crate::config::Config;
use multihop_core::Span;
use multihop_dot11::{AccessCategory, EdcaParameters};

/// What a station contends with on behalf of a queue.
#[derive(Clone, Copy, Debug)]
pub struct AccessParameters {
    /// DIFS, or the arbitration inter-frame space of a category.
    pub aifs: Span,
    /// First contention window.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
    /// How long a transmission opportunity may last; zero for one exchange.
    pub txop_limit: Span,
}

impl AccessParameters {
    /// The contention window after a failure.
    pub fn next_cw(&self, cw: u32) -> u32 {
        (cw * 2 + 1).min(self.cw_max)
    }

    /// What each category contends with.
    pub(super) fn of(config: &Config) -> [AccessParameters; AccessCategory::COUNT] {
        let phy = &config.phy;
        let dcf = AccessParameters {
            aifs: phy.difs(),
            cw_min: config.mac.cw_min,
            cw_max: config.mac.cw_max,
            txop_limit: Span::ZERO,
        };
        let Some(parameters) = &config.edca else { return [dcf; AccessCategory::COUNT] };
        parameters.map(|EdcaParameters { aifsn, cw_min, cw_max, txop_limit }| AccessParameters {
            aifs: phy.sifs + phy.slot * u64::from(aifsn),
            cw_min,
            cw_max,
            txop_limit,
        })
    }
}
