//! Parameters of channel access: of the DCF, or of each access category.

use crate::config::Config;
use multihop_core::Span;
use multihop_dot11::{AccessCategory, EdcaParameters};

/// Parameters with which a function contends for the medium.
#[derive(Clone, Copy, Debug)]
pub struct AccessParameters {
    /// DIFS, or the arbitration inter-frame space (AIFS) of a category.
    pub aifs: Span,
    /// First contention window, in slots.
    pub cw_min: u32,
    /// Largest contention window, in slots.
    pub cw_max: u32,
    /// Longest duration of a transmission opportunity (TXOP); zero for one exchange.
    pub txop_limit: Span,
}

impl AccessParameters {
    /// Contention window after a failure with window `cw`.
    pub fn next_cw(&self, cw: u32) -> u32 {
        (cw * 2 + 1).min(self.cw_max)
    }

    /// Parameters of each access category.
    pub(super) fn by_category(config: &Config) -> [AccessParameters; AccessCategory::COUNT] {
        let Config { phy, mac, .. } = config;
        let dcf = AccessParameters {
            aifs: phy.difs(),
            cw_min: mac.cw_min,
            cw_max: mac.cw_max,
            txop_limit: Span::ZERO,
        };
        let Some(parameters) = &mac.edca else { return [dcf; AccessCategory::COUNT] };
        parameters.map(|EdcaParameters { aifsn, cw_min, cw_max, txop_limit }| AccessParameters {
            aifs: phy.sifs + phy.slot * u64::from(aifsn),
            cw_min,
            cw_max,
            txop_limit,
        })
    }
}
