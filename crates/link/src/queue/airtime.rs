//! Airtime queue limits (AQL) of Linux (`net/mac80211/tx.c`: `ieee80211_txq_airtime_check` and, since 2022,
//! `ieee80211_txq_schedule_airtime_check`): bounds on the airtime that the hardware holds.

use multihop_core::{NodeId, Span};
use serde::Serialize;

/// Airtime queue limits (AQL): limits of the airtime pending in the hardware.
///
/// - Station: `low`, or `high` while less than `threshold` is pending for all stations.
/// - Stations of a queue together: `high`, plus `low / 2` for each waiting station after the first. Without
///   this limit, all waiting stations could send, so that the scheduler would not choose.
/// - Broadcasts: 50 ms.
///
/// A packet is passed on while the airtime is below the limit, so the last packet may exceed it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct AirtimeLimits {
    /// Limit of a station at all times (`IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L`).
    pub low: Span,
    /// Limit of a station while little is pending (`IEEE80211_DEFAULT_AQL_TXQ_LIMIT_H`).
    pub high: Span,
    /// Airtime pending for all stations and access categories below which `high` applies
    /// (`IEEE80211_AQL_THRESHOLD`).
    pub threshold: Span,
}

impl Default for AirtimeLimits {
    /// Returns Linux's limits.
    fn default() -> AirtimeLimits {
        AirtimeLimits { low: Span::from_ms(5), high: Span::from_ms(12), threshold: Span::from_ms(24) }
    }
}

/// Limit of broadcasts (`IEEE80211_DEFAULT_AQL_TXQ_LIMIT_BC`).
const BROADCAST_LIMIT: Span = Span::from_ms(50);

impl AirtimeLimits {
    /// Whether a station may pass a packet to the hardware; `pending` is its airtime, `of_all` that of all.
    pub(super) fn allow(&self, station: NodeId, pending: Span, of_all: Span) -> bool {
        if station == NodeId::BROADCAST {
            return pending < BROADCAST_LIMIT;
        }
        pending < self.low || (of_all < self.threshold && pending < self.high)
    }

    /// Whether any of the waiting stations of a queue may pass a packet to the hardware; `pending` is their
    /// total airtime.
    pub(super) fn allow_any(&self, waiting: usize, pending: Span) -> bool {
        pending < self.high + self.low * (waiting.max(1) - 1) as u64 / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_high_limit_holds_while_little_is_pending_and_the_low_one_always() {
        let allow = |pending: u64, of_all: u64| {
            AirtimeLimits::default().allow(NodeId(1), Span::from_us(pending), Span::from_us(of_all))
        };
        assert!(allow(4_999, 100_000) && !allow(5_000, 24_000));
        assert!(allow(11_999, 23_999) && !allow(12_000, 12_000));
        let any = |waiting, ms| AirtimeLimits::default().allow_any(waiting, Span::from_us(ms));
        assert!(any(0, 11_999) && !any(1, 12_000) && any(3, 16_999) && !any(3, 17_000));
        let broadcast = |pending: u64| {
            AirtimeLimits::default().allow(NodeId::BROADCAST, Span::from_us(pending), Span::from_ms(100))
        };
        assert!(broadcast(49_999) && !broadcast(50_000));
    }
}
