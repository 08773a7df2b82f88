//! Sender of RCP: it sends at the advertised rate, whatever is lost.

use super::header::RcpHeader;
use crate::round_trip::smoothed;
use crate::xcp::sender::microseconds;
use multihop_core::{HeaderBytes, Rate, Span};
use multihop_transport::{Acked, Allowance, Controller, Lost, Returned};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limit on a sender besides its pace.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowLimit {
    /// Receive window alone.
    #[default]
    Open,
    /// Window of the rate times the round-trip time (Barreto 2015, Eq. 26).
    Paced,
}

/// Bytes of a packet that a sender's rate counts.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// Packets with their headers.
    #[default]
    Packet,
    /// Payload alone, as printed in Barreto 2015, Eq. 27. The rate of packets exceeds the advertised rate by
    /// the share of headers.
    Payload,
}

/// Time after which a sender whose pace blocks data asks routers again, without data.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refresh {
    /// Half a second.
    #[default]
    HalfSecond,
    /// Minimum round-trip time, at most half a second, as in ns-2. On a radio these packets alone can fill
    /// the medium.
    RoundTrip,
}

/// Options of [`RcpSender`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RcpSenderOptions {
    /// Payload bytes of a full segment.
    pub segment_size: u32,
    /// Header bytes of each packet.
    pub header: u32,
    /// Bytes that may be sent before a rate is known.
    pub initial_window: u64,
    /// Limit besides the pace.
    pub limit: WindowLimit,
    /// Bytes that the pace counts.
    pub pacing: Pacing,
    /// Time after which a sender whose pace blocks data asks routers again.
    pub refresh: Refresh,
    /// Rate that the application requests, in bytes per second; none if unlimited.
    pub desired: Option<f64>,
}

/// Congestion controller of RCP.
pub(crate) struct RcpSender {
    options: RcpSenderOptions,
    /// Advertised rate in bytes per second, once known.
    rate: Option<u32>,
    /// Smoothed round-trip time in seconds.
    srtt: Option<f64>,
    /// Minimum round-trip time.
    min_rtt: Option<Span>,
}

/// Maximum age of a rate while there is data to send.
const REFRESH: Span = Span::from_ms(500);

impl RcpSender {
    /// Creates a controller without a known rate.
    pub(crate) fn new(options: RcpSenderOptions) -> RcpSender {
        RcpSender { rate: None, srtt: None, min_rtt: None, options }
    }

    fn segment(&self) -> f64 {
        f64::from(self.options.segment_size)
    }

    fn packet(&self) -> f64 {
        self.segment() + f64::from(self.options.header)
    }

    fn window(&self, rate: u32) -> u64 {
        match (self.options.limit, self.srtt) {
            (WindowLimit::Open, _) | (_, None) => u64::MAX,
            (WindowLimit::Paced, Some(srtt)) => {
                let packets = f64::from(rate) * srtt / self.packet();
                (packets * self.segment()).max(self.segment()) as u64
            }
        }
    }

    fn pace(&self, rate: u32) -> Rate {
        let faster = match self.options.pacing {
            Pacing::Packet => 1.0,
            Pacing::Payload => self.packet() / self.segment(),
        };
        Rate::from_bps((f64::from(rate) * 8.0 * faster) as u64)
    }
}

impl Controller for RcpSender {
    fn allowance(&self) -> Allowance {
        match self.rate {
            None => Allowance { window: self.options.initial_window, pace: None },
            Some(rate) => Allowance { window: self.window(rate), pace: Some(self.pace(rate)) },
        }
    }

    fn stamp(&mut self, _size: u64) -> HeaderBytes {
        let rate = self.options.desired.map_or(RcpHeader::UNLIMITED, |desired| (desired as u32).max(1));
        HeaderBytes::of(&RcpHeader { rate, reverse: 0, rtt: self.srtt.map_or(0, microseconds) })
    }

    fn on_feedback(&mut self, returned: &Returned) {
        if let Some(rtt) = returned.rtt {
            self.srtt = Some(smoothed(self.srtt, rtt));
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        if let Some(header) = returned.segment.feedback.parse::<RcpHeader>() {
            self.rate = Some(header.reverse.max(1));
        }
    }

    fn refresh(&self) -> Option<Span> {
        match self.options.refresh {
            Refresh::HalfSecond => Some(REFRESH),
            Refresh::RoundTrip => self.min_rtt.map(|least| least.clamp(Span::from_ms(1), REFRESH)),
        }
    }

    fn on_acked(&mut self, _acked: &Acked) {}

    /// Ignores losses. On a radio most losses are not due to congestion, and routers see the queue.
    fn on_lost(&mut self, _lost: &Lost) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use multihop_core::Time;
    use multihop_transport::LossKind;

    /// Returns a sender of segments of 1000 bytes with 52 bytes of headers.
    fn sender(limit: WindowLimit, pacing: Pacing) -> RcpSender {
        let initial_window = 3_000;
        let (segment_size, header) = (1_000, 52);
        RcpSender::new(RcpSenderOptions {
            segment_size,
            header,
            initial_window,
            limit,
            pacing,
            refresh: Refresh::HalfSecond,
            desired: None,
        })
    }

    fn returned(rate: u32) -> Returned<'static> {
        testing::returned(&RcpHeader { reverse: rate, ..RcpHeader::default() }, Some(Span::from_ms(100)))
    }

    #[test]
    fn the_pace_is_the_latest_rate_whatever_is_lost() {
        let mut sender = sender(WindowLimit::Open, Pacing::Packet);
        assert_eq!(sender.allowance(), Allowance { window: 3_000, pace: None });
        sender.on_feedback(&returned(105_200));
        sender.on_lost(&Lost { now: Time::ZERO, kind: LossKind::Timeout { again: false }, in_flight: 1 });
        let Allowance { window, pace } = sender.allowance();
        assert_eq!((window, pace.unwrap().span_of_bytes(1_052)), (u64::MAX, Span::from_ms(10)));
        sender.on_feedback(&returned(0));
        assert_eq!(sender.allowance().pace, Some(Rate::from_bps(8)), "never zero");
        assert_eq!(sender.refresh(), Some(Span::from_ms(500)));
        sender.options.refresh = Refresh::RoundTrip;
        assert_eq!(sender.refresh(), Some(Span::from_ms(100)));
    }

    /// 105 200 B/s in 100 ms is ten packets. At one packet per second, one packet may still be outstanding.
    #[test]
    fn eq_26_and_27_of_barreto() {
        let mut sender = sender(WindowLimit::Paced, Pacing::Payload);
        sender.on_feedback(&returned(105_200));
        let Allowance { window, pace } = sender.allowance();
        assert_eq!(window, 10_000);
        // As printed: 1000 bytes over the rate, whatever the headers.
        let printed = 1_000.0 / 105_200.0;
        assert!((pace.unwrap().span_of_bytes(1_052).seconds() - printed).abs() < 1e-8);
        sender.on_feedback(&returned(1_052));
        assert_eq!(sender.allowance().window, 1_000);
    }

    #[test]
    fn packets_carry_the_round_trip_time() {
        let mut sender = sender(WindowLimit::Open, Pacing::Packet);
        let first = RcpHeader { rate: RcpHeader::UNLIMITED, reverse: 0, rtt: 0 };
        assert_eq!(sender.stamp(1_000), HeaderBytes::of(&first));
        sender.on_feedback(&returned(1_000));
        assert_eq!(sender.stamp(1_000), HeaderBytes::of(&RcpHeader { rtt: 100_000, ..first }));
    }
}
