//! RCP-Winf (Barreto 2015, section 4.2): RCP with capacity and available bandwidth from rt-Winf.
//!
//! As for XCP-Winf, each equation that cannot be meant as printed has an option.

use super::header::{RcpEcho, RcpHeader};
use crate::capacity::winf::{Estimates, WinfParameters};
use crate::rcp::router::{Load, RcpRouter};
use crate::rcp::sender::{Pacing, WindowLimit};
use crate::rcp::{RcpConnection, RcpControl};
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_config::quantity::Size;
use multihop_core::{HeaderFormat, NodeId};
use multihop_link::{EgressQueue, Estimator, LinkView, PhyTimes, RouterPolicy, WinfReading};
use multihop_transport::{Controller, Echo, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The aggregate traffic of Eq. 28.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Input {
    /// What is used of the capacity, by anybody.
    #[default]
    Used,
    /// What came to the queue.
    Arrivals,
    /// As printed, the capacity: the rate then falls to the least one, whatever the load.
    Printed,
}

/// What a packet leaves with (Eq. 31).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Offer {
    /// The smaller of what it asked for, the rate, and the capacity.
    #[default]
    Rate,
    /// As printed, the capacity if it asked for more or for nothing in particular: the rate is never
    /// signalled.
    Printed,
}

/// The maximum transmission unit of Eq. 30.
const MTU: Size = Size(1500.0);

keys! {
    /// As `rcp`, but each node measures the capacity of its links, and what is left of it.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct RcpWinf {
        /// The traffic that routers hold against the capacity: what is "used" of it, "arrivals" at the queue,
        /// or, as "printed" in Eq. 28, the capacity itself, which lets the rate fall to the least one.
        pub input: Input = Input::Used,
        /// What a packet leaves with: the "rate", or, as "printed" in Eq. 31, the capacity.
        pub offer: Offer = Offer::Rate,
        /// What packets are paced by: the whole "packet", or "payload" alone as printed in Eq. 27.
        pub pacing: Pacing = Pacing::Packet,
        /// What holds a sender back besides its pace: a window of the rate times the round-trip time (Eq. 26;
        /// "paced"), or the receiver's window alone ("open").
        pub window_limit: WindowLimit = WindowLimit::Paced,
        /// Share of the capacity that is aimed at, `C_w`.
        pub utilization: f64 [0.01, 2] = 0.95,
        /// The least rate, in packets of `mtu` for each round trip (Eq. 30).
        pub min_rate: f64 [0.000_001, 1_000_000] = 0.1,
        /// rt-Winf.
        #[serde(flatten)]
        pub winf: WinfParameters,
        /// Routers.
        #[serde(flatten)]
        pub control: RcpControl,
        /// The connection.
        #[serde(flatten)]
        pub tcp: RcpConnection,
    }
}

impl Parameters for RcpWinf {
    const NAME: &str = "rcp-winf";
    const SUMMARY: &str = "RCP with the capacity and available bandwidth that rt-Winf measures at each node";
    const REFERENCE: &str = "Barreto 2015, section 4.2";
    const HEADERS: &[HeaderFormat] = &[HeaderFormat::of::<RcpHeader>()];

    fn check(&self) -> Result<(), ParameterError> {
        self.winf.check()?;
        self.tcp.check()
    }
}

impl TcpScheme for RcpWinf {
    fn options(&self) -> TcpOptions {
        self.tcp.options()
    }

    fn control(&self) -> Box<dyn Controller> {
        Box::new(self.tcp.control(self.window_limit, self.pacing))
    }

    fn echo(&self) -> Option<Box<dyn Echo>> {
        Some(Box::new(RcpEcho::default()))
    }

    fn policy(&self, node: NodeId, egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        let load = WinfLoad {
            input: self.input,
            offer: self.offer,
            // A sender that is paced by what it is given fills no aggregate.
            estimates: self.winf.at(egress, self.tcp.packet_size(), WinfReading::Whole),
        };
        let constants = self.control.constants(self.utilization, self.min_rate * MTU.0);
        Some(Box::new(RcpRouter::new(node, load, constants)))
    }
}

/// Eqs. 28 to 31.
struct WinfLoad {
    input: Input,
    offer: Offer,
    estimates: Estimates,
}

impl Load for WinfLoad {
    fn estimators(&self, phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        self.estimates.estimators(phy)
    }

    fn capacity(&self, view: &LinkView) -> f64 {
        self.estimates.capacity(view)
    }

    fn input(&self, arrived: f64, view: &LinkView) -> f64 {
        let capacity = self.capacity(view);
        match self.input {
            Input::Used => capacity - self.estimates.available(arrived, view),
            Input::Arrivals => arrived,
            Input::Printed => capacity,
        }
    }

    /// A queue counts as the medium that it takes to send it, as input does.
    fn weights(&mut self, arrived: f64, seconds: f64, mean_rtt: f64, view: &LinkView) -> (f64, f64) {
        self.estimates.arrived(arrived, seconds);
        let used = self.capacity(view) - self.estimates.available(arrived, view);
        (self.estimates.gain_scale(mean_rtt), self.estimates.cost(used))
    }

    fn grant(&self, asked: f64, rate: f64, view: &LinkView) -> f64 {
        match self.offer {
            Offer::Rate => asked.min(rate).min(self.capacity(view)),
            Offer::Printed => asked.min(self.capacity(view)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rcp::header::RcpHeader;
    use crate::testing::{self, hop};
    use crate::xcp::router::testing::EGRESS;
    use multihop_core::{Ecn, HeaderBytes, Span, Time};
    use multihop_link::QueueEvent;

    /// 1 MB/s, all of which is available.
    fn idle() -> LinkView {
        LinkView { capacity_bps: Some(8e6), available_bps: Some(8e6), ..LinkView::default() }
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// What a packet that asks for all there is leaves with, at each of these instants.
    fn rates(scheme: &RcpWinf, view: &LinkView, instants: &[u64]) -> Vec<u32> {
        let mut router = scheme.policy(NodeId(0), &EGRESS).unwrap();
        let at = |at: &u64| {
            let mut packet = testing::packet(960, Ecn::NotCapable);
            let rate = RcpHeader::UNLIMITED;
            packet.segment.feedback = HeaderBytes::of(&RcpHeader { rate, ..RcpHeader::default() });
            router.on_arrival(hop(ms(*at)), &mut packet, view);
            router.on_head_of_line(hop(ms(*at)), &mut packet, view);
            let Some(header) = packet.segment.feedback.parse::<RcpHeader>() else { panic!() };
            header.rate
        };
        instants.iter().map(at).collect()
    }

    /// Slots as long as round trips, of 100 ms; the first of half that.
    fn slow(scheme: RcpWinf) -> RcpWinf {
        let duration = multihop_config::quantity::Duration(0.1);
        let control = RcpControl { slot: duration, initial_rtt: duration, ..RcpControl::default() };
        let winf = WinfParameters { self_interference: false, await_estimate: false, ..scheme.winf };
        RcpWinf { winf, control, ..scheme }
    }

    /// 0.5 of 1 MB/s are in use for an input of 0.25; a round trip is as long as the time that estimates are
    /// of.
    #[test]
    fn a_queue_costs_what_input_costs() {
        let scheme = RcpWinf::default();
        let estimates = scheme.winf.at(&EGRESS, 1_532, WinfReading::Whole);
        let mut load = WinfLoad { input: Input::Used, offer: Offer::Rate, estimates };
        let half = LinkView { available_bps: Some(4e6), ..idle() };
        assert_eq!(load.weights(0.25e6, 0.2, 0.2, &half), (0.5, 2.0));
    }

    #[test]
    fn eq_28_raises_the_rate_of_an_idle_link_by_alpha_and_as_printed_lowers_it() {
        let read = rates(&slow(RcpWinf::default()), &idle(), &[10, 60, 160]);
        // 5 % of the capacity; 1.2 times that after half a slot, 1.4 times after a whole one.
        assert_eq!(read, [50_000, 60_000, 84_000]);
        let scheme = slow(RcpWinf { input: Input::Printed, ..RcpWinf::default() });
        let printed = rates(&scheme, &idle(), &(0..20).map(|slot| 100 * slot).collect::<Vec<_>>());
        assert!(printed.windows(2).all(|pair| pair[1] < pair[0]), "{printed:?}");
        assert_eq!(rates(&scheme, &idle(), &[60_000]), [1_500], "a tenth of 1500 bytes in 100 ms");
    }

    /// Arrivals of 1 MB/s leave 0.95 - 1 of the capacity, whatever the medium says.
    #[test]
    fn arrivals_may_count_instead_of_what_is_used() {
        let scheme = slow(RcpWinf { input: Input::Arrivals, ..RcpWinf::default() });
        let mut router = scheme.policy(NodeId(0), &EGRESS).unwrap();
        router.on_other(ms(0), QueueEvent::Enqueue, 50_000, &idle());
        let mut packet = testing::packet(960, Ecn::NotCapable);
        let rate = RcpHeader::UNLIMITED;
        packet.segment.feedback = HeaderBytes::of(&RcpHeader { rate, ..RcpHeader::default() });
        router.on_arrival(hop(ms(60)), &mut packet, &idle());
        router.on_head_of_line(hop(ms(60)), &mut packet, &idle());
        let Some(header) = packet.segment.feedback.parse::<RcpHeader>() else { panic!() };
        let expected = 50_000.0 * (1.0 + 0.5 * 0.4 * -0.05 / 0.95);
        assert_eq!(header.rate, expected as u32);
    }

    #[test]
    fn eq_29_and_31_limit_the_rate() {
        let scheme = slow(RcpWinf::default());
        assert_eq!(rates(&scheme, &idle(), &[60_000]), [950_000]);
        let printed = slow(RcpWinf { offer: Offer::Printed, ..RcpWinf::default() });
        assert_eq!(rates(&printed, &idle(), &[10, 60_000]), [1_000_000, 1_000_000]);
    }
}
