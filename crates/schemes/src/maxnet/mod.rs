//! MaxNet (Wydrowski, Andrew and Zukerman 2003): each link has a price, a packet carries the largest on its
//! path, and a sender's rate falls with that alone, so that rates are max-min fair.
//!
//! The price is that of Table I in Qazi's paper on capacity estimation, but for the least price; the demand
//! of a sender, and how fast it follows, are proposals: the papers' texts could not be retrieved.

pub(crate) mod header;

use crate::capacity::{Capacity, CapacityParameters};
use crate::round_trip::smoothed;
use crate::tcp::TcpParameters;
use crate::xcp::no_ecn;
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
    /// A reliable transport that sends at a rate that falls with the largest price of a link on its path. A
    /// loss halves the rate until prices raise it again, and after a timeout it begins anew.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct MaxNet {
        /// The capacity of links.
        #[serde(flatten)]
        pub capacity: CapacityParameters,
        /// Time between prices (`t_p`).
        pub interval: Duration ["10 ms", "1 min"] = Duration(0.2),
        /// Share of the capacity that is aimed at (`gamma`): what is left empties queues.
        pub utilization: f64 [0.01, 2] = 0.95,
        /// Rate of packets that a sender has at a price of nothing (`x_m`). At a price of p seconds it is
        /// e^(-p/T) of that.
        pub max_rate: BitRate ["8 b/s", "16 Gb/s"] = BitRate(100e6),
        /// T of that demand: how far a price must rise for a rate to fall by a factor of e. `interval` and
        /// the longest round trip together must be within pi/2 of it, or rates swing.
        pub time_constant: Duration ["10 ms", "1 min"] = Duration(0.5),
        /// The connection: repaired from selective acknowledgements, with a receive window of 1024 segments
        /// unless `window` is given, and a header of 8 bytes.
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
        no_ecn(&self.tcp)?;
        self.tcp.check()
    }
}

impl MaxNet {
    fn demand(&self) -> Demand {
        Demand { max_rate: self.max_rate.bytes_per_second(), time_constant: self.time_constant.0 }
    }
}

/// `D(p) = x_m e^(-p/T)`, the same for all senders: with one demand for all, rates are max-min fair.
#[derive(Clone, Copy)]
struct Demand {
    /// In bytes of packets per second.
    max_rate: f64,
    /// In seconds.
    time_constant: f64,
}

impl Demand {
    fn rate(self, price: f64) -> f64 {
        self.max_rate * (-price / self.time_constant).exp()
    }

    /// The price at which a sender demands this rate; nothing if it never demands as much.
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

/// `p <- max(p_1, p + t_p (y - gamma C) / C)`, where at `p_1` one sender demands `gamma C`. With a price
/// below that there is no equilibrium, however many senders there are, and to get there from nothing takes an
/// excess of what the link carries in `p_1`, which no queue holds.
struct PriceRouter {
    capacity: Capacity,
    utilization: f64,
    demand: Demand,
    interval: Span,
    /// Intervals since the start of the run that are in the price, and the bytes that came since.
    intervals: u64,
    arrived: f64,
    price: f64,
}

impl PriceRouter {
    /// Time has come to `now`. Intervals in which nothing came lower the price like others, though nothing
    /// was there to note them.
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

/// The controller. The rate falls at once to what a price says, and rises to it by no more than twice in a
/// round trip.
struct PriceSender {
    demand: Demand,
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
    /// The window of a round trip at that rate lets half as much again through, lest what is held back by
    /// delayed acknowledgements is not sent.
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

    /// As XCP's sender: half after duplicate acknowledgements; after a timeout what was known of the path is
    /// stale, and the sender begins anew. Then prices go on.
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

    /// 1 MB/s configured; intervals of 200 ms. One sender demands 95 % of that at a price of nothing.
    fn router() -> Box<dyn RouterPolicy> {
        router_of(r#"{ "capacity": "8 Mb/s", "max_rate": "7.6 Mb/s" }"#)
    }

    fn router_of(parameters: &str) -> Box<dyn RouterPolicy> {
        let scheme: MaxNet = serde_json::from_str(parameters).unwrap();
        scheme.policy(NodeId(0), &testing::EGRESS).unwrap()
    }

    fn price(router: &mut dyn RouterPolicy, at: u64, came_with: f64) -> f64 {
        let mut packet = testing::packet(960, Ecn::NotCapable);
        let price = PriceHeader::units(came_with);
        packet.segment.feedback = HeaderBytes::of(&PriceHeader { price, returned: false });
        router.on_head_of_line(hop(ms(at)), &mut packet, &LinkView::default());
        let Some(header) = packet.segment.feedback.parse::<PriceHeader>() else { panic!() };
        header.price()
    }

    #[test]
    fn a_price_rises_by_the_excess_and_falls_to_nothing() {
        let mut router = router();
        // 390 kB where 190 are aimed at: 0.2 s * (1.95 - 0.95).
        router.on_other(ms(10), QueueEvent::Enqueue, 390_000, &LinkView::default());
        assert_eq!(price(router.as_mut(), 150, 0.0), 0.0);
        assert!((price(router.as_mut(), 201, 0.0) - 0.2).abs() < 1e-4);
        assert!((price(router.as_mut(), 300, 3.0) - 3.0).abs() < 1e-4, "a larger one was met before");
        assert!((price(router.as_mut(), 401, 0.0) - 0.01).abs() < 1e-4, "less than 0.95 * 0.2");
        assert_eq!(price(router.as_mut(), 601, 0.0), 0.0);
    }

    /// 0.5 s * ln(100 / 7.6) = 1.2885: one sender demands 7.6 of 100 Mb/s, whether something came before or
    /// not.
    #[test]
    fn no_price_is_below_that_at_which_one_sender_demands_what_is_aimed_at() {
        let mut router = router_of(r#"{ "capacity": "8 Mb/s" }"#);
        assert!((price(router.as_mut(), 0, 0.0) - 1.2885).abs() < 1e-4, "the first packet");
        router.on_other(ms(10), QueueEvent::Enqueue, 390_000, &LinkView::default());
        assert!((price(router.as_mut(), 201, 0.0) - 1.4885).abs() < 1e-4);
        assert!((price(router.as_mut(), 60_000, 0.0) - 1.2885).abs() < 1e-4, "after a silence");
        let demand = Demand { max_rate: 100e6, time_constant: 0.5 };
        assert!((demand.rate(1.2885) / 7.6e6 - 1.0).abs() < 1e-3);
        assert_eq!(demand.price(200e6), 0.0, "it never demands as much");
    }

    /// 0.5 of a price, which nothing lowers by itself, are gone; and the least price of [`router`] is
    /// nothing.
    #[test]
    fn a_restart_forgets_the_price() {
        let mut router = router();
        router.on_other(ms(10), QueueEvent::Enqueue, 690_000, &LinkView::default());
        assert!((price(router.as_mut(), 201, 0.0) - 0.5).abs() < 1e-4);
        router.on_restart(ms(201));
        assert_eq!(price(router.as_mut(), 202, 0.0), 0.0);
    }

    /// 40 kB/s in 100 ms are four segments: half as many again, and one.
    #[test]
    fn the_window_lets_half_as_much_again_through() {
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
        assert!((hear(&mut sender, 0.0, 2_000) - rate).abs() < 1e-9, "twice in a round trip");
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
        // 2000 bytes in 100 ms are 20 kB/s; a whole window acknowledged: 40.
        assert!((hear(&mut sender, 0.0, 2_000) - 40_000.0).abs() < 1e-6);
        assert!((hear(&mut sender, 0.0, 2_000) - 60_000.0).abs() < 1e-6, "half of the window");
        assert!((hear(&mut sender, 0.0, 0) - 60_000.0).abs() < 1e-6, "a duplicate");
        let low = hear(&mut sender, 4.0, 1_000);
        assert!((low - 1e6 * (-4.0f64).exp()).abs() < 1.0, "{low}");
        assert_eq!(sender.allowance().pace, Some(Rate::from_bps((low * 8.0) as u64)));
    }

    /// 195 packets of 1000 bytes in 0.1 s of an interval of 0.2 s: 0.2 s * (0.975 - 0.95).
    #[test]
    fn packets_of_flows_with_a_price_count_as_load_too() {
        let mut router = router();
        for _ in 0..195 {
            let mut packet = testing::packet(960, Ecn::NotCapable);
            router.on_arrival(hop(ms(10)), &mut packet, &LinkView::default());
        }
        assert!((price(router.as_mut(), 201, 0.0) - 0.005).abs() < 1e-4);
    }
}
