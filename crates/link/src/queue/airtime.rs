//! Limits of the airtime that the hardware may hold: Linux's airtime queue limits (AQL, `net/mac80211/tx.c`:
//! `ieee80211_txq_airtime_check` and, since 2022, `ieee80211_txq_schedule_airtime_check`).

use multihop_core::{NodeId, Span};
use serde::Serialize;

/// A station may hand a packet to the hardware while less airtime is pending there for it than `low`, or,
/// while less than `threshold` is pending for all together, than `high`. All stations of a queue have no more
/// than `high` for one of those that wait and half of `low` for each other one: else each station that waits
/// could send at any time, and there were no choice. The last packet may exceed a limit.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct AirtimeLimits {
    /// Of a station, always (`IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L`).
    pub low: Span,
    /// Of a station, while the radio has little to do (`IEEE80211_DEFAULT_AQL_TXQ_LIMIT_H`).
    pub high: Span,
    /// What is little: of all stations and access categories (`IEEE80211_AQL_THRESHOLD`).
    pub threshold: Span,
}

impl Default for AirtimeLimits {
    /// Linux's.
    fn default() -> AirtimeLimits {
        AirtimeLimits { low: Span::from_ms(5), high: Span::from_ms(12), threshold: Span::from_ms(24) }
    }
}

/// The limit of broadcasts (`IEEE80211_DEFAULT_AQL_TXQ_LIMIT_BC`).
const BROADCAST_LIMIT: Span = Span::from_ms(50);

impl AirtimeLimits {
    /// May a station hand over a packet, while so much is pending for it, and for all?
    pub(super) fn allow(&self, station: NodeId, pending: Span, of_all: Span) -> bool {
        if station == NodeId::BROADCAST {
            return pending < BROADCAST_LIMIT;
        }
        pending < self.low || (of_all < self.threshold && pending < self.high)
    }

    /// May so many stations of a queue, which wait, hand over anything, while so much is pending for them
    /// together?
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
