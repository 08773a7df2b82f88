//! Rate by losses (draft-ietf-rmcat-gcc-02, section 6).

use crate::media::PacketFate;
use multihop_core::{Span, Time};

/// Loss ratios below which the rate grows, and above which it falls.
const FEW_LOSSES: f64 = 0.02;
const MANY_LOSSES: f64 = 0.1;
/// Growth of the rate per update.
const GROWTH: f64 = 1.05;
/// Weight of the loss ratio in a reduction.
const REDUCTION: f64 = 0.5;
/// Minimum number of packets, and minimum time, in an update. The draft updates with each report, of which
/// one here has eight packets at most; the number is that of libwebrtc.
const MIN_PACKETS: u32 = 20;
const MIN_INTERVAL: Span = Span::from_ms(200);

/// Rate by losses (`As_hat`).
#[derive(Clone, Debug)]
pub(super) struct LossRate {
    rate: f64,
    expected: u32,
    lost: u32,
    last_update: Option<Time>,
}

impl LossRate {
    /// Creates a rate of this value in bytes per second.
    pub(super) fn new(rate: f64) -> LossRate {
        LossRate { rate, expected: 0, lost: 0, last_update: None }
    }

    /// Rate in bytes per second.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// Keeps the rate in a range. Above the rate by delay it would have no effect, and no basis.
    pub(super) fn limit(&mut self, least: f64, most: f64) {
        self.rate = self.rate.min(most).max(least);
    }

    /// Processes the fates of a report.
    pub(super) fn on_report(&mut self, now: Time, packets: &[PacketFate]) {
        self.expected += packets.len() as u32;
        self.lost += packets.iter().filter(|packet| packet.arrival.is_none()).count() as u32;
        let since = *self.last_update.get_or_insert(now);
        if self.expected < MIN_PACKETS || now.since(since) < MIN_INTERVAL {
            return;
        }
        let ratio = f64::from(self.lost) / f64::from(self.expected);
        if ratio < FEW_LOSSES {
            self.rate *= GROWTH;
        } else if ratio > MANY_LOSSES {
            self.rate *= 1.0 - REDUCTION * ratio;
        }
        (self.expected, self.lost, self.last_update) = (0, 0, Some(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reports on 100 packets each 200 ms of which so many are lost. Returns the rates, from 100 kB/s on.
    fn rates(lost: &[usize]) -> Vec<f64> {
        let mut rate = LossRate::new(1e5);
        rate.on_report(Time::ZERO, &[]);
        let mut now = Time::ZERO;
        let mut after = |lost: &usize| {
            now += Span::from_ms(200);
            let fate = |index: usize| {
                let arrival = (index >= *lost).then_some(1.0);
                PacketFate { number: 0, payload: 1, sent: 0.0, arrival, marked: false }
            };
            rate.on_report(now, &(0..100).map(fate).collect::<Vec<_>>());
            rate.rate()
        };
        lost.iter().map(&mut after).collect()
    }

    /// 1 %: up by 5 %. 2 % and 10 %: unchanged. 20 %: down by 10 %.
    #[test]
    fn rates_by_hand() {
        let found = rates(&[1, 2, 10, 20, 0]);
        let expected = [105_000.0, 105_000.0, 105_000.0, 94_500.0, 99_225.0];
        assert!(
            found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6),
            "{found:?}"
        );
    }

    #[test]
    fn few_packets_make_no_update() {
        let mut rate = LossRate::new(1e5);
        let lost = PacketFate { number: 0, payload: 1, sent: 0.0, arrival: None, marked: false };
        rate.on_report(Time::ZERO, &[]);
        rate.on_report(Time::ZERO + Span::from_ms(300), &[lost; 19]);
        assert_eq!(rate.rate(), 1e5);
        rate.on_report(Time::ZERO + Span::from_ms(310), &[lost]);
        assert_eq!(rate.rate(), 5e4);
        rate.on_report(Time::ZERO + Span::from_ms(500), &[lost; 30]);
        assert_eq!(rate.rate(), 5e4, "190 ms later");
    }

    #[test]
    fn the_rate_stays_in_its_range() {
        let mut rate = LossRate::new(1e5);
        rate.limit(1e4, 8e4);
        assert_eq!(rate.rate(), 8e4);
        rate.limit(9e4, 8e4);
        assert_eq!(rate.rate(), 9e4, "the minimum counts");
    }
}
