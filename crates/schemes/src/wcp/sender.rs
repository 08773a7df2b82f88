//! Senders of WCP and WCPCap: a pace, and no window but the receive window.

use super::header::{WcpCapHeader, WcpHeader};
use crate::round_trip::smoothed;
use multihop_core::{HeaderBytes, Rate, Span, Time};
use multihop_transport::{Acked, Allowance, Controller, LossKind, Lost, Returned};

/// Options of [`WcpSender`] and [`WcpCapSender`], in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SenderOptions {
    /// Payload of a full segment.
    pub segment_size: u32,
    /// Full packet with its headers, which the pace counts.
    pub packet_size: u32,
    /// Receive window.
    pub max_window: u64,
    /// Packets that WCP adds to the rate in each round trip, `alpha`.
    pub alpha: f64,
}

/// Minimum rate, in packets per second.
const LEAST_RATE: f64 = 1.0;
/// Maximum rate, in packets per second: above any radio.
const MOST_RATE: f64 = 1e7;

impl SenderOptions {
    /// Allowance at this rate in packets per second; one segment until a rate is known.
    fn allowance(&self, rate: Option<f64>) -> Allowance {
        let Some(rate) = rate else {
            return Allowance { window: u64::from(self.segment_size), pace: None };
        };
        let bps = rate.clamp(LEAST_RATE, MOST_RATE) * f64::from(self.packet_size) * 8.0;
        Allowance { window: self.max_window, pace: Some(Rate::from_bps(bps as u64)) }
    }
}

/// Congestion controller of WCP.
///
/// With `RTT_WN`, the largest round-trip time of a flow through a neighbourhood on the path, the rate rises
/// by `alpha / RTT_WN` every `RTT_WN`. A notification halves the rate, at most once per `RTT_WN`. Without any
/// acknowledgement there is no notification either, so that a retransmission timeout halves the rate too.
pub(super) struct WcpSender {
    options: SenderOptions,
    /// Rate in packets per second, after the first round trip.
    rate: Option<f64>,
    /// Smoothed round-trip time in seconds.
    srtt: Option<f64>,
    /// Largest round-trip time of a flow through a neighbourhood on the path, in seconds, once known.
    neighbourhood_rtt: Option<f64>,
    /// Time of the last change of the rate.
    changed_at: Time,
    /// Time before which a notification is ignored.
    reacts_from: Time,
}

impl WcpSender {
    /// Creates a controller without a rate.
    pub fn new(options: SenderOptions) -> WcpSender {
        WcpSender {
            options,
            rate: None,
            srtt: None,
            neighbourhood_rtt: None,
            changed_at: Time::ZERO,
            reacts_from: Time::ZERO,
        }
    }

    /// Adds a sample; the first rate is one packet in a round trip.
    fn sample(&mut self, rtt: Span) {
        let srtt = smoothed(self.srtt, rtt);
        self.srtt = Some(srtt);
        self.rate.get_or_insert(1.0 / srtt);
    }

    /// Returns `RTT_WN` in seconds: that of the routers, and at least the sender's own round trip while no
    /// router knows one.
    fn interval(&self) -> Option<f64> {
        self.neighbourhood_rtt.or(self.srtt)
    }

    fn halve(&mut self, now: Time, interval: f64) {
        if now < self.reacts_from {
            return;
        }
        self.rate = self.rate.map(|rate| (rate / 2.0).max(LEAST_RATE));
        self.changed_at = now;
        self.reacts_from = now + Span::from_seconds(interval);
    }
}

impl Controller for WcpSender {
    fn allowance(&self) -> Allowance {
        self.options.allowance(self.rate)
    }

    fn stamp(&mut self, size: u64) -> HeaderBytes {
        let rtt = self.srtt.filter(|_| size > 0).map_or(0, WcpHeader::rtt_units);
        HeaderBytes::of(&WcpHeader { rtt, ..WcpHeader::default() })
    }

    fn on_opened(&mut self, rtt: Span) {
        self.sample(rtt);
    }

    fn on_acked(&mut self, acked: &Acked) {
        if let Some(rtt) = acked.rtt {
            self.sample(rtt);
        }
    }

    fn on_feedback(&mut self, returned: &Returned) {
        let Some(header) = returned.segment.feedback.parse::<WcpHeader>() else { return };
        if header.neighbourhood_rtt > 0 {
            self.neighbourhood_rtt = Some(f64::from(header.neighbourhood_rtt) / 1e6);
        }
        let (Some(interval), Some(rate)) = (self.interval(), self.rate) else { return };
        let now = returned.now;
        if header.congested {
            self.halve(now, interval);
        } else if now.since(self.changed_at).seconds() >= interval {
            self.changed_at = now;
            if !returned.app_limited {
                self.rate = Some((rate + self.options.alpha / interval).min(MOST_RATE));
            }
        }
    }

    /// Repairs a lost packet without changing the rate, because routers signal congestion.
    fn on_lost(&mut self, lost: &Lost) {
        if let (LossKind::Timeout { .. }, Some(interval)) = (lost.kind, self.interval()) {
            self.halve(lost.now, interval);
        }
    }
}

/// Congestion controller of WCPCap: the least rate that routers on the path assign.
pub(super) struct WcpCapSender {
    options: SenderOptions,
    /// Rate in payload bytes per second, after the first round trip.
    rate: Option<f64>,
}

impl WcpCapSender {
    /// Creates a controller without a rate.
    pub fn new(options: SenderOptions) -> WcpCapSender {
        WcpCapSender { options, rate: None }
    }

    fn segment(&self) -> f64 {
        f64::from(self.options.segment_size)
    }

    fn begin(&mut self, rtt: Span) {
        let first = self.segment() / rtt.seconds().max(1e-6);
        self.rate.get_or_insert(first);
    }
}

impl Controller for WcpCapSender {
    fn allowance(&self) -> Allowance {
        self.options.allowance(self.rate.map(|rate| rate / self.segment()))
    }

    fn stamp(&mut self, size: u64) -> HeaderBytes {
        let rate = self.rate.filter(|_| size > 0).map_or(0, |rate| rate.clamp(1.0, 4e9) as u32);
        HeaderBytes::of(&WcpCapHeader { rate, assigned: WcpCapHeader::UNASSIGNED })
    }

    fn on_opened(&mut self, rtt: Span) {
        self.begin(rtt);
    }

    fn on_acked(&mut self, acked: &Acked) {
        if let Some(rtt) = acked.rtt {
            self.begin(rtt);
        }
    }

    fn on_feedback(&mut self, returned: &Returned) {
        let Some(header) = returned.segment.feedback.parse::<WcpCapHeader>() else { return };
        if header.assigned < WcpCapHeader::UNASSIGNED {
            self.rate = Some(f64::from(header.assigned).max(LEAST_RATE * self.segment()));
        }
    }

    /// Ignores losses, because routers assign the rate.
    fn on_lost(&mut self, _lost: &Lost) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use multihop_core::Segment;

    const OPTIONS: SenderOptions =
        SenderOptions { segment_size: 1_000, packet_size: 1_000, max_window: 50_000, alpha: 1.0 };

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Returns an acknowledgement at this time, in a neighbourhood whose largest round trip is 100 ms.
    fn at(now: Time, congested: bool, app_limited: bool) -> Returned<'static> {
        let header = WcpHeader { congested, rtt: 0, neighbourhood_rtt: 100_000 };
        Returned { now, app_limited, ..testing::returned(&header, None) }
    }

    fn packets_per_second(controller: &dyn Controller) -> u64 {
        controller.allowance().pace.unwrap().bps() / 8_000
    }

    /// A sender of ten packets per second, with a round trip of its own of 100 ms.
    fn opened() -> WcpSender {
        let mut sender = WcpSender::new(OPTIONS);
        assert_eq!(sender.allowance(), Allowance { window: 1_000, pace: None });
        sender.on_opened(Span::from_ms(100));
        assert_eq!((packets_per_second(&sender), sender.allowance().window), (10, 50_000));
        sender
    }

    /// One packet per 100 ms more in every 100 ms: ten packets per second more. Acknowledgements between
    /// change nothing, and neither do those of a sender that does not use its rate.
    #[test]
    fn the_rate_rises_by_a_packet_per_round_trip_in_every_round_trip() {
        let mut sender = opened();
        for (now, limited, rate) in [
            (100, false, 20),
            (150, false, 20),
            (199, false, 20),
            (200, false, 30),
            (300, true, 30),
            (400, false, 40),
        ] {
            sender.on_feedback(&at(ms(now), false, limited));
            assert_eq!(packets_per_second(&sender), rate, "{now} ms");
        }
    }

    /// The next increase is a whole round trip after the decrease.
    #[test]
    fn notifications_halve_the_rate_at_most_once_in_a_round_trip() {
        let mut sender = opened();
        sender.rate = Some(80.0);
        for (now, congested, rate) in [
            (500, true, 40),
            (520, true, 40),
            (599, true, 40),
            (600, true, 20),
            (650, false, 20),
            (700, false, 30),
        ] {
            sender.on_feedback(&at(ms(now), congested, false));
            assert_eq!(packets_per_second(&sender), rate, "{now} ms");
        }
    }

    #[test]
    fn only_a_timeout_halves_without_a_notification() {
        let mut sender = opened();
        let lost = |now, kind| Lost { now, kind, in_flight: 9_000 };
        sender.on_lost(&lost(ms(500), LossKind::DuplicateAcks));
        assert_eq!(packets_per_second(&sender), 10);
        for (now, rate) in [(500, 5), (550, 5), (700, 2), (900, 1), (1_100, 1)] {
            sender.on_lost(&lost(ms(now), LossKind::Timeout { again: false }));
            assert_eq!(packets_per_second(&sender), rate, "{now} ms");
        }
    }

    /// Without a router's value the sender's own round trip counts.
    #[test]
    fn data_carries_the_senders_round_trip() {
        let mut sender = opened();
        let header = |sender: &mut WcpSender, size| sender.stamp(size).parse::<WcpHeader>().unwrap();
        assert_eq!(header(&mut sender, 1_000), WcpHeader { rtt: 1_000, ..WcpHeader::default() });
        assert_eq!(header(&mut sender, 0), WcpHeader::default());
        sender.on_feedback(&Returned { now: ms(100), ..testing::returned(&WcpHeader::default(), None) });
        assert_eq!(packets_per_second(&sender), 20);
    }

    #[test]
    fn the_assigned_rate_is_the_pace_whatever_is_lost() {
        let mut sender = WcpCapSender::new(OPTIONS);
        let header = |sender: &mut WcpCapSender| sender.stamp(1_000).parse::<WcpCapHeader>().unwrap();
        sender.on_opened(Span::from_ms(100));
        assert_eq!(packets_per_second(&sender), 10, "one packet in the round trip of the SYN");
        assert_eq!(header(&mut sender), WcpCapHeader { rate: 10_000, assigned: WcpCapHeader::UNASSIGNED });
        for (assigned, rate) in [(WcpCapHeader::UNASSIGNED, 10), (40_000, 40), (3, 1)] {
            let header = WcpCapHeader { assigned, rate: 0 };
            let segment = Segment { feedback: HeaderBytes::of(&header), ..Segment::default() };
            sender.on_feedback(&Returned { now: ms(1), segment: &segment, rtt: None, app_limited: false });
            sender.on_lost(&Lost { now: ms(1), kind: LossKind::Timeout { again: false }, in_flight: 1 });
            assert_eq!(packets_per_second(&sender), rate);
        }
    }
}
