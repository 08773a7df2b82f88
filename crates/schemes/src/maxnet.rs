//! MaxNet (Wydrowski, Andrew and Zukerman 2003): each link has a price, a packet carries the largest on its way, and a sender's rate
//! falls with that alone, so that rates are max-min fair.
//!
//! The price is that of Table I in Qazi's paper on capacity estimation; the demand of a sender, and how fast it follows, are proposals:
//! the papers' texts could not be retrieved.

use crate::capacity::{Capacity, CapacityParameters};
use crate::interval::Meter;
use crate::quantity::{BitRate, Duration};
use crate::round_trip::smoothed;
use crate::tcp::{TcpParameters, bytes_per_second, number_in_range, rate_in_range, span_in_range};
use crate::xcp::no_ecn;
use crate::{Parameters, Scheme};
use multihop_core::{Feedback, NodeId, Packet, PriceHeader, Rate, Time};
use multihop_link::{Estimator, Hop, LinkView, Outlet, Passage, PhyTimes, RouterPolicy, Verdict};
use multihop_transport::{
    Acked, Allowance, CongestionHeader, Controller, Endpoint, Heard, Lost, Returned, TcpOptions, TcpReceiver,
    TcpSender,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reliable transport that sends at a rate that falls with the largest price of a link on its way. Losses are repaired, and say
/// nothing about the rate.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct MaxNet {
    /// The capacity of links.
    #[serde(flatten)]
    pub capacity: CapacityParameters,
    /// Time between prices (`t_p`), in steps of 10 ms. Default "200 ms".
    pub interval: Duration,
    /// Share of the capacity that is aimed at (`gamma`): what is left empties queues. Default 0.95.
    pub utilization: f64,
    /// Rate of packets that a sender has at a price of nothing (`x_m`). At a price of p it is e^-p of that. Default "100 Mb/s".
    pub max_rate: BitRate,
    /// The connection: repaired from selective acknowledgements, with a receive window of 1024 segments unless `window` is given, and a
    /// header of 8 bytes.
    #[serde(flatten)]
    pub tcp: TcpParameters,
}

impl Default for MaxNet {
    fn default() -> MaxNet {
        MaxNet {
            capacity: CapacityParameters::default(),
            interval: Duration(0.2),
            utilization: 0.95,
            max_rate: BitRate(100e6),
            tcp: TcpParameters::default(),
        }
    }
}

impl Parameters for MaxNet {
    const NAME: &str = "maxnet";
    const SUMMARY: &str = "MaxNet: the rate of a sender falls with the largest price of a link on its way";
    const REFERENCE: &str = "Wydrowski, Andrew and Zukerman 2003";

    fn check(&self) -> Result<(), String> {
        self.capacity.check()?;
        span_in_range("interval", Some(self.interval), 0.01, 60.0)?;
        number_in_range("utilization", self.utilization, 0.01, 2.0)?;
        rate_in_range("max_rate", Some(self.max_rate))?;
        no_ecn(&self.tcp)?;
        self.tcp.check()
    }
}

impl MaxNet {
    fn options(&self) -> TcpOptions {
        self.tcp.led_by_routers(CongestionHeader::Price)
    }
}

impl Scheme for MaxNet {
    fn sender(&self) -> Box<dyn Endpoint> {
        let options = self.options();
        let sender = PriceSender {
            max_rate: bytes_per_second(self.max_rate),
            segment: f64::from(options.segment_size),
            packet: f64::from(options.packet_size()),
            first_window: self.tcp.first_window(),
            rate: None,
            srtt: None,
            acked: 0,
        };
        Box::new(TcpSender::new(options, Box::new(sender)))
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        Box::new(TcpReceiver::new(self.options()))
    }

    fn router(&self, _node: NodeId, outlet: &Outlet) -> Option<Box<dyn RouterPolicy>> {
        Some(Box::new(PriceRouter {
            capacity: self.capacity.at(outlet, self.options().packet_size()),
            utilization: self.utilization,
            meter: Meter::new(self.interval.span()),
            price: 0.0,
        }))
    }

    fn segment_size(&self) -> u32 {
        self.tcp.segment_size()
    }
}

/// `p <- max(0, p + t_p (y - gamma C) / C)`.
struct PriceRouter {
    capacity: Capacity,
    utilization: f64,
    meter: Meter,
    price: f64,
}

impl PriceRouter {
    fn advance(&mut self, now: Time, waiting: u64, view: &LinkView) {
        if let Some(ended) = self.meter.advance(now, waiting as f64) {
            let excess = ended.arrived / self.capacity.of(view) - self.utilization * self.meter.length();
            self.price = (self.price + excess).max(0.0);
        }
    }
}

impl RouterPolicy for PriceRouter {
    fn estimators(&self, phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        self.capacity.estimators(phy)
    }

    fn on_arrival(&mut self, hop: Hop, packet: &mut Packet, view: &LinkView) -> Verdict {
        self.advance(hop.now, view.queue_bytes, view);
        self.meter.arrive(f64::from(packet.size));
        Verdict::Pass
    }

    fn on_head_of_line(&mut self, hop: Hop, packet: &mut Packet, view: &LinkView) -> Verdict {
        self.advance(hop.now, view.queue_bytes + u64::from(packet.size), view);
        if let Feedback::Price(header) = &mut packet.segment.feedback {
            header.price = header.price.max(PriceHeader::units(self.price));
        }
        Verdict::Pass
    }

    fn on_other(&mut self, now: Time, passage: Passage, size: u32, view: &LinkView) {
        match passage {
            Passage::Arrival => {
                self.advance(now, view.queue_bytes, view);
                self.meter.arrive(f64::from(size));
            }
            Passage::Departure => self.advance(now, view.queue_bytes + u64::from(size), view),
        }
    }

    fn on_restart(&mut self, _now: Time) {
        self.price = 0.0;
    }
}

/// The controller. The rate falls at once to what a price says, and rises to it by no more than twice in a round trip.
struct PriceSender {
    max_rate: f64,
    segment: f64,
    packet: f64,
    first_window: u64,
    /// In bytes of packets per second, once there is a price and a round-trip time.
    rate: Option<f64>,
    srtt: Option<f64>,
    acked: u64,
}

impl PriceSender {
    /// Payload bytes of a round trip at a rate, at least a segment.
    fn window(&self, rate: f64, srtt: f64) -> f64 {
        (rate * srtt / self.packet * self.segment).max(self.segment)
    }
}

impl Controller for PriceSender {
    /// The window of a round trip at that rate lets half as much again through, lest what is held back by delayed
    /// acknowledgements is not sent.
    fn allowance(&self) -> Allowance {
        match self.rate.zip(self.srtt) {
            None => Allowance { window: self.first_window, pace: None },
            Some((rate, srtt)) => Allowance {
                window: (1.5 * self.window(rate, srtt) + self.segment) as u64,
                pace: Some(Rate::from_bps((rate * 8.0).max(8.0) as u64)),
            },
        }
    }

    fn on_heard(&mut self, heard: &Heard) {
        self.acked = heard.advance.unwrap_or(0);
    }

    fn stamp(&mut self, _size: u64) -> Feedback {
        Feedback::Price(PriceHeader::default())
    }

    fn on_feedback(&mut self, returned: &Returned) {
        if let Some(rtt) = returned.rtt {
            self.srtt = Some(smoothed(self.srtt, rtt));
        }
        let (Feedback::Price(header), Some(srtt)) = (returned.feedback, self.srtt) else { return };
        let demanded = self.max_rate * (-header.price()).exp();
        let rate = self.rate.unwrap_or(self.first_window as f64 * self.packet / self.segment / srtt);
        let most = rate * (1.0 + (self.acked as f64 / self.window(rate, srtt)).min(1.0));
        self.rate = Some(demanded.min(most));
        self.acked = 0;
    }

    fn on_acked(&mut self, _acked: &Acked) {}

    fn on_lost(&mut self, _lost: &Lost) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marking::testing::{self, hop};
    use multihop_core::{Ecn, Span};

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// 1 MB/s told; intervals of 200 ms.
    fn router() -> Box<dyn RouterPolicy> {
        let scheme: MaxNet = serde_json::from_str(r#"{ "capacity": "8 Mb/s" }"#).unwrap();
        scheme.router(NodeId(0), &testing::OUTLET).unwrap()
    }

    fn price(router: &mut dyn RouterPolicy, at: u64, came_with: f64) -> f64 {
        let mut packet = testing::packet(960, Ecn::NotCapable);
        let price = PriceHeader::units(came_with);
        packet.segment.feedback = Feedback::Price(PriceHeader { price, reverse: 0 });
        router.on_head_of_line(hop(ms(at)), &mut packet, &LinkView::default());
        let Feedback::Price(header) = packet.segment.feedback else { panic!() };
        f64::from(header.price) / PriceHeader::UNIT
    }

    #[test]
    fn a_price_rises_by_the_excess_and_falls_to_nothing() {
        let mut router = router();
        // 390 kB where 190 are aimed at: 0.2 s * (1.95 - 0.95).
        router.on_other(ms(10), Passage::Arrival, 390_000, &LinkView::default());
        assert_eq!(price(router.as_mut(), 150, 0.0), 0.0);
        assert!((price(router.as_mut(), 201, 0.0) - 0.2).abs() < 1e-4);
        assert!((price(router.as_mut(), 300, 3.0) - 3.0).abs() < 1e-4, "a larger one was met before");
        assert!((price(router.as_mut(), 401, 0.0) - 0.01).abs() < 1e-4, "less than 0.95 * 0.2");
        assert_eq!(price(router.as_mut(), 601, 0.0), 0.0);
    }

    fn sender() -> PriceSender {
        PriceSender {
            max_rate: 1e6,
            segment: 1_000.0,
            packet: 1_000.0,
            first_window: 2_000,
            rate: None,
            srtt: None,
            acked: 0,
        }
    }

    fn hear(sender: &mut PriceSender, price: f64, acked: u64) -> f64 {
        let feedback = Feedback::Price(PriceHeader { price: 0, reverse: PriceHeader::units(price) });
        sender.on_heard(&Heard { now: ms(0), advance: Some(acked) });
        let rtt = Some(Span::from_ms(100));
        sender.on_feedback(&Returned { now: ms(0), feedback, rtt, app_limited: false });
        sender.rate.unwrap()
    }

    #[test]
    fn a_rate_falls_with_the_price_and_rises_to_twice_in_a_round_trip() {
        let mut sender = sender();
        assert_eq!(sender.allowance(), Allowance { window: 2_000, pace: None });
        // 2000 bytes in 100 ms are 20 kB/s; a whole window acknowledged: 40.
        assert!((hear(&mut sender, 0.0, 2_000) - 40_000.0).abs() < 1e-6);
        assert!((hear(&mut sender, 0.0, 2_000) - 60_000.0).abs() < 1e-6, "half of the window");
        assert!((hear(&mut sender, 0.0, 0) - 60_000.0).abs() < 1e-6, "a duplicate");
        let low = hear(&mut sender, 4.0, 1_000);
        assert!((low - 1e6 * (-4.0f64).exp()).abs() < 1.0, "{low}");
        assert_eq!(sender.allowance().pace, Some(Rate::from_bps((low * 8.0) as u64)));
    }
}
