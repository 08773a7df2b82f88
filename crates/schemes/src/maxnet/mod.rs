//! MaxNet (Wydrowski, Andrew and Zukerman 2003). Each link has a price, and a packet carries the largest
//! price on its path. A sender's rate falls with that price alone, so that rates are max-min fair.
//!
//! The price is that of Table I in Qazi's paper on capacity estimation, with a minimum price added. The
//! demand function and the rate of its response are proposals of this project, because the papers' texts
//! could not be retrieved.

pub(crate) mod header;

use crate::capacity::{Capacity, CapacityParameters};
use crate::round_trip::smoothed;
use crate::tcp::TcpParameters;
use crate::xcp::reject_ecn;
use crate::{ParameterError, Parameters, TcpScheme};
use header::{PriceEcho, PriceHeader};
use multihop_config::keys;
use multihop_config::quantity::{BitRate, Duration};
use multihop_core::{Header, HeaderBytes, HeaderFormat, NodeId, Packet, Rate, Span, Time};
use multihop_link::{EgressQueue, Estimator, Hop, LinkView, PhyTimes, QueueEvent, RouterPolicy, Verdict};
use multihop_transport::{
    AckInfo, Acked, Allowance, CongestionHeader, Controller, Echo, LossKind, Lost, Returned, TcpOptions,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// Reliable transport whose rate falls with the largest price of a link on its path. A loss halves the
    /// rate until prices raise it again. After a timeout the sender restarts.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct MaxNet {
        /// Capacity of links at routers.
        #[serde(flatten)]
        pub capacity: CapacityParameters,
        /// Time between prices (`t_p`).
        pub interval: Duration ["10 ms", "1 min"] = Duration(0.2),
        /// Target share of the capacity (`gamma`). The remaining share drains queues.
        pub utilization: f64 [0.01, 2] = 0.95,
        /// Rate of packets that a sender has at a price of zero (`x_m`). At a price of p seconds the rate is
        /// e^(-p/T) times that.
        pub max_rate: BitRate ["8 b/s", "16 Gb/s"] = BitRate(100e6),
        /// Time constant T of the demand: the increase of the price that lowers the rate by a factor of e.
        /// The sum of `interval` and the longest round trip must be at most pi/2 times T, or rates oscillate.
        pub time_constant: Duration ["10 ms", "1 min"] = Duration(0.5),
        /// TCP connection with SACK recovery and a header of 8 bytes. The receive window is 1024 segments
        /// unless `window` is given.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

impl Parameters for MaxNet {
    const NAME: &str = "maxnet";
    const SUMMARY: &str = "MaxNet: the rate of a sender falls with the largest price of a link on its path";
    const REFERENCE: &str = "Wydrowski, Andrew and Zukerman 2003";
    const HEADERS: &[HeaderFormat] = &[HeaderFormat::of::<PriceHeader>()];

    fn check(&self) -> Result<(), ParameterError> {
        self.capacity.check()?;
        reject_ecn(&self.tcp)?;
        self.tcp.check()
    }
}

impl MaxNet {
    fn demand(&self) -> Demand {
        Demand { max_rate: self.max_rate.bytes_per_second(), time_constant: self.time_constant.0 }
    }
}

/// Demand of a sender, `D(p) = x_m e^(-p/T)`. It is the same for all senders, so that rates are max-min fair.
#[derive(Clone, Copy)]
struct Demand {
    /// Maximum rate of packets in bytes per second.
    max_rate: f64,
    /// Time constant in seconds.
    time_constant: f64,
}

impl Demand {
    fn rate(self, price: f64) -> f64 {
        self.max_rate * (-price / self.time_constant).exp()
    }

    /// Returns the price at which a sender demands this rate; zero for a rate above the maximum.
    fn price(self, rate: f64) -> f64 {
        (self.time_constant * (self.max_rate / rate).ln()).max(0.0)
    }
}

impl TcpScheme for MaxNet {
    fn options(&self) -> TcpOptions {
        self.tcp.router_assisted(CongestionHeader::of(PriceHeader::LAYOUT.air as u32))
    }

    fn control(&self) -> Box<dyn Controller> {
        let options = self.options();
        let sender = PriceSender {
            demand: self.demand(),
            segment: f64::from(options.segment_size),
            packet: f64::from(options.packet_size()),
            first_window: self.tcp.first_window(),
            rate: None,
            srtt: None,
            acked: 0,
        };
        Box::new(sender)
    }

    fn echo(&self) -> Option<Box<dyn Echo>> {
        Some(Box::new(PriceEcho::default()))
    }

    fn policy(&self, _node: NodeId, egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        Some(Box::new(PriceRouter {
            capacity: self.capacity.at(egress, self.options().packet_size()),
            utilization: self.utilization,
            demand: self.demand(),
            interval: self.interval.span(),
            intervals: 0,
            arrived: 0.0,
            price: 0.0,
        }))
    }
}

/// Router policy of MaxNet at one queue. The price changes by `p <- max(p_1, p + t_p (y - gamma C) / C)`. At
/// the minimum price `p_1` one sender demands `gamma C`. No number of senders has an equilibrium below `p_1`.
/// From zero, `p_1` would need more excess input than any queue holds.
struct PriceRouter {
    capacity: Capacity,
    utilization: f64,
    demand: Demand,
    interval: Span,
    /// Number of intervals since the start of the run that the price includes.
    intervals: u64,
    /// Bytes that arrived since the last of these intervals.
    arrived: f64,
    price: f64,
}

impl PriceRouter {
    /// Updates the price up to `now`. Intervals without input lower it too.
    fn advance(&mut self, now: Time, view: &LinkView) {
        let capacity = self.capacity.of(view);
        let present = now.since(Time::ZERO).whole(self.interval);
        let length = (present - self.intervals) as f64 * self.interval.seconds();
        if present > self.intervals {
            self.price += std::mem::take(&mut self.arrived) / capacity - self.utilization * length;
            self.intervals = present;
        }
        self.price = self.price.max(self.demand.price(self.utilization * capacity));
    }
}

impl RouterPolicy for PriceRouter {
    fn senses_medium(&self) -> bool {
        false
    }

    fn estimators(&self, phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        self.capacity.estimators(phy)
    }

    fn on_arrival(&mut self, hop: Hop, packet: &mut Packet, view: &LinkView) -> Verdict {
        self.advance(hop.now, view);
        self.arrived += f64::from(packet.size);
        Verdict::Pass
    }

    fn on_head_of_line(&mut self, hop: Hop, packet: &mut Packet, view: &LinkView) -> Verdict {
        self.advance(hop.now, view);
        packet.segment.feedback.change(|header: &mut PriceHeader| {
            if !header.returned {
                header.price = header.price.max(PriceHeader::units(self.price));
            }
        });
        Verdict::Pass
    }

    fn on_other(&mut self, now: Time, event: QueueEvent, size: u32, view: &LinkView) {
        self.advance(now, view);
        if event == QueueEvent::Enqueue {
            self.arrived += f64::from(size);
        }
    }

    fn on_restart(&mut self, _now: Time) {
        self.price = 0.0;
    }
}

/// Congestion controller of MaxNet. The rate falls at once to the demand at a price, and at most doubles in a
/// round trip towards a higher demand.
struct PriceSender {
    demand: Demand,
    segment: f64,
    packet: f64,
    first_window: u64,
    /// Rate of packets in bytes per second; none before the first price and round-trip sample.
    rate: Option<f64>,
    srtt: Option<f64>,
    acked: u64,
}

impl PriceSender {
    /// Returns the payload bytes of a round trip at a rate, at least one segment.
    fn window(&self, rate: f64, srtt: f64) -> f64 {
        (rate * srtt / self.packet * self.segment).max(self.segment)
    }
}

impl Controller for PriceSender {
    /// The window is 1.5 times the bytes of a round trip, so that delayed acknowledgements do not block the
    /// sender.
    fn allowance(&self) -> Allowance {
        match self.rate.zip(self.srtt) {
            None => Allowance { window: self.first_window, pace: None },
            Some((rate, srtt)) => Allowance {
                window: (1.5 * self.window(rate, srtt) + self.segment) as u64,
                pace: Some(Rate::from_bps((rate * 8.0).max(8.0) as u64)),
            },
        }
    }

    fn on_ack(&mut self, ack: &AckInfo) {
        self.acked = ack.advance.unwrap_or(0);
    }

    fn stamp(&mut self, _size: u64) -> HeaderBytes {
        HeaderBytes::of(&PriceHeader::default())
    }

    fn on_feedback(&mut self, returned: &Returned) {
        if let Some(rtt) = returned.rtt {
            self.srtt = Some(smoothed(self.srtt, rtt));
        }
        let (Some(header), Some(srtt)) = (returned.segment.feedback.parse::<PriceHeader>(), self.srtt) else {
            return;
        };
        let demanded = self.demand.rate(header.price());
        let rate = self.rate.unwrap_or(self.first_window as f64 * self.packet / self.segment / srtt);
        let most = rate * (1.0 + (self.acked as f64 / self.window(rate, srtt)).min(1.0));
        self.rate = Some(demanded.min(most));
        self.acked = 0;
    }

    fn on_acked(&mut self, _acked: &Acked) {}

    /// Halves the rate after duplicate acknowledgements. After a timeout the known price is out of date, and
    /// the sender restarts. Feedback then continues, as for XCP's sender.
    fn on_lost(&mut self, lost: &Lost) {
        self.rate = match lost.kind {
            LossKind::DuplicateAcks => self.rate.map(|rate| rate / 2.0),
            LossKind::Timeout { .. } => None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, hop};
    use multihop_core::Ecn;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Returns a router with a configured capacity of 1 MB/s and intervals of 200 ms. One sender demands 95 %
    /// of the capacity at a price of zero.
    fn router() -> Box<dyn RouterPolicy> {
        router_of(r#"{ "capacity": "8 Mb/s", "max_rate": "7.6 Mb/s" }"#)
    }

    fn router_of(parameters: &str) -> Box<dyn RouterPolicy> {
        let scheme: MaxNet = serde_json::from_str(parameters).unwrap();
        scheme.policy(NodeId(0), &testing::EGRESS).unwrap()
    }

    fn price(router: &mut dyn RouterPolicy, at: u64, header_price: f64) -> f64 {
        let mut packet = testing::packet(960, Ecn::NotCapable);
        let price = PriceHeader::units(header_price);
        packet.segment.feedback = HeaderBytes::of(&PriceHeader { price, returned: false });
        router.on_head_of_line(hop(ms(at)), &mut packet, &LinkView::default());
        let Some(header) = packet.segment.feedback.parse::<PriceHeader>() else { panic!() };
        header.price()
    }

    #[test]
    fn a_price_rises_by_the_excess_and_falls_to_zero() {
        let mut router = router();
        // 390 kB arrive, and 190 kB are the target: 0.2 s * (1.95 - 0.95).
        router.on_other(ms(10), QueueEvent::Enqueue, 390_000, &LinkView::default());
        assert_eq!(price(router.as_mut(), 150, 0.0), 0.0);
        assert!((price(router.as_mut(), 201, 0.0) - 0.2).abs() < 1e-4);
        assert!(
            (price(router.as_mut(), 300, 3.0) - 3.0).abs() < 1e-4,
            "the header already has a larger price"
        );
        assert!((price(router.as_mut(), 401, 0.0) - 0.01).abs() < 1e-4, "less than 0.95 * 0.2");
        assert_eq!(price(router.as_mut(), 601, 0.0), 0.0);
    }

    /// 0.5 s * ln(100 / 7.6) = 1.2885. At that price one sender demands 7.6 of 100 Mb/s, with or without
    /// earlier input.
    #[test]
    fn the_minimum_price_is_that_of_one_sender_at_the_target() {
        let mut router = router_of(r#"{ "capacity": "8 Mb/s" }"#);
        assert!((price(router.as_mut(), 0, 0.0) - 1.2885).abs() < 1e-4, "the first packet");
        router.on_other(ms(10), QueueEvent::Enqueue, 390_000, &LinkView::default());
        assert!((price(router.as_mut(), 201, 0.0) - 1.4885).abs() < 1e-4);
        assert!((price(router.as_mut(), 60_000, 0.0) - 1.2885).abs() < 1e-4, "after a silence");
        let demand = Demand { max_rate: 100e6, time_constant: 0.5 };
        assert!((demand.rate(1.2885) / 7.6e6 - 1.0).abs() < 1e-3);
        assert_eq!(demand.price(200e6), 0.0, "the maximum rate is lower");
    }

    /// A restart clears a price of 0.5. The minimum price of [`router`] is zero.
    #[test]
    fn a_restart_forgets_the_price() {
        let mut router = router();
        router.on_other(ms(10), QueueEvent::Enqueue, 690_000, &LinkView::default());
        assert!((price(router.as_mut(), 201, 0.0) - 0.5).abs() < 1e-4);
        router.on_restart(ms(201));
        assert_eq!(price(router.as_mut(), 202, 0.0), 0.0);
    }

    /// 40 kB/s in 100 ms is four segments; the window is 1.5 times as many plus one.
    #[test]
    fn the_window_is_one_and_a_half_round_trips() {
        let mut sender = sender();
        assert!((hear(&mut sender, 0.0, 2_000) - 40_000.0).abs() < 1e-6);
        assert_eq!(sender.allowance().window, 7_000);
    }

    #[test]
    fn a_loss_halves_the_rate_and_a_timeout_forgets_it() {
        let mut sender = sender();
        let rate = hear(&mut sender, 0.0, 2_000);
        let lost = |kind| Lost { now: ms(0), kind, in_flight: 4_000 };
        sender.on_lost(&lost(LossKind::DuplicateAcks));
        assert!((sender.rate.unwrap() - rate / 2.0).abs() < 1e-9);
        assert!(
            (hear(&mut sender, 0.0, 0) - rate / 2.0).abs() < 1e-9,
            "no more while nothing is acknowledged"
        );
        assert!((hear(&mut sender, 0.0, 2_000) - rate).abs() < 1e-9, "at most twice in a round trip");
        sender.on_lost(&lost(LossKind::Timeout { again: false }));
        assert_eq!(sender.allowance(), Allowance { window: 2_000, pace: None }, "as at the start");
    }

    fn sender() -> PriceSender {
        PriceSender {
            demand: Demand { max_rate: 1e6, time_constant: 1.0 },
            segment: 1_000.0,
            packet: 1_000.0,
            first_window: 2_000,
            rate: None,
            srtt: None,
            acked: 0,
        }
    }

    fn hear(sender: &mut PriceSender, price: f64, acked: u64) -> f64 {
        let header = PriceHeader { price: PriceHeader::units(price), returned: true };
        sender.on_ack(&AckInfo { now: ms(0), advance: Some(acked) });
        let rtt = Some(Span::from_ms(100));
        sender.on_feedback(&testing::returned(&header, rtt));
        sender.rate.unwrap()
    }

    #[test]
    fn a_rate_falls_with_the_price_and_rises_to_twice_in_a_round_trip() {
        let mut sender = sender();
        assert_eq!(sender.allowance(), Allowance { window: 2_000, pace: None });
        // 2000 bytes in 100 ms is 20 kB/s; after a whole acknowledged window it is 40 kB/s.
        assert!((hear(&mut sender, 0.0, 2_000) - 40_000.0).abs() < 1e-6);
        assert!((hear(&mut sender, 0.0, 2_000) - 60_000.0).abs() < 1e-6, "half of the window");
        assert!((hear(&mut sender, 0.0, 0) - 60_000.0).abs() < 1e-6, "a duplicate acknowledgement");
        let low = hear(&mut sender, 4.0, 1_000);
        assert!((low - 1e6 * (-4.0f64).exp()).abs() < 1.0, "{low}");
        assert_eq!(sender.allowance().pace, Some(Rate::from_bps((low * 8.0) as u64)));
    }

    /// 195 packets of 1000 bytes in an interval of 0.2 s: 0.2 s * (0.975 - 0.95).
    #[test]
    fn packets_of_maxnet_flows_count_as_input() {
        let mut router = router();
        for _ in 0..195 {
            let mut packet = testing::packet(960, Ecn::NotCapable);
            router.on_arrival(hop(ms(10)), &mut packet, &LinkView::default());
        }
        assert!((price(router.as_mut(), 201, 0.0) - 0.005).abs() < 1e-4);
    }
}
