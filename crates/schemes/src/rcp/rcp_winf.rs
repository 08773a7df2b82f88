//! RCP-Winf (Barreto 2015, section 4.2): RCP with capacity and available bandwidth from rt-Winf.
//!
//! Each equation that cannot be meant as printed has an option, as for XCP-Winf.

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

/// Aggregate traffic that a router compares with the capacity (Eq. 28).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Input {
    /// Capacity in use by any station.
    #[default]
    Used,
    /// Input of the queue.
    Arrivals,
    /// Capacity, as printed. The rate then falls to the minimum at any load.
    Printed,
}

/// Rate that a router writes into a departing packet (Eq. 31).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Offer {
    /// Minimum of the requested rate, the offered rate and the capacity.
    #[default]
    Rate,
    /// Minimum of the requested rate and the capacity, as printed. The offered rate is never signalled.
    Printed,
}

/// Maximum transmission unit of Eq. 30.
const MTU: Size = Size(1500.0);

keys! {
    /// Like `rcp`, but each node measures the capacity and the available bandwidth of its links.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct RcpWinf {
        /// Traffic that routers compare with the capacity (Eq. 28): the capacity in use ("used"), the input
        /// of the queue ("arrivals"), or the capacity itself ("printed"). With "printed" the rate falls to
        /// the minimum.
        pub input: Input = Input::Used,
        /// Rate that a router writes into a departing packet: the offered "rate", or the capacity as
        /// "printed" in Eq. 31.
        pub offer: Offer = Offer::Rate,
        /// Bytes that the pace counts: the whole "packet", or the "payload" alone as printed in Eq. 27.
        pub pacing: Pacing = Pacing::Packet,
        /// Limit on a sender besides its pace: a window of the rate times the round-trip time ("paced", Eq.
        /// 26), or the receive window alone ("open").
        pub window_limit: WindowLimit = WindowLimit::Paced,
        /// Target share of the capacity, `C_w`.
        pub utilization: f64 [0.01, 2] = 0.95,
        /// Minimum rate, in packets of 1500 bytes per round trip (Eq. 30).
        pub min_rate: f64 [0.000_001, 1_000_000] = 0.1,
        /// Parameters of rt-Winf.
        #[serde(flatten)]
        pub winf: WinfParameters,
        /// Constants of routers.
        #[serde(flatten)]
        pub control: RcpControl,
        /// TCP connection.
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
            // A sender paced by an explicit rate fills no aggregate.
            estimates: self.winf.at(egress, self.tcp.packet_size(), WinfReading::Whole),
        };
        let constants = self.control.constants(self.utilization, self.min_rate * MTU.0);
        Some(Box::new(RcpRouter::new(node, load, constants)))
    }
}

/// Load of RCP-Winf (Eqs. 28 to 31).
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

    /// Weights the queue by the capacity that it uses, like the input.
    fn weights(&mut self, arrived: f64, seconds: f64, mean_rtt: f64, view: &LinkView) -> (f64, f64) {
        self.estimates.note_input(arrived, seconds);
        let used = self.capacity(view) - self.estimates.available(arrived, view);
        (self.estimates.gain_scale(mean_rtt), self.estimates.cost(used))
    }

    fn grant(&self, requested: f64, rate: f64, view: &LinkView) -> f64 {
        match self.offer {
            Offer::Rate => requested.min(rate).min(self.capacity(view)),
            Offer::Printed => requested.min(self.capacity(view)),
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

    /// Returns a view with a capacity of 1 MB/s, all of it available.
    fn idle() -> LinkView {
        LinkView { capacity_bps: Some(8e6), available_bps: Some(8e6), ..LinkView::default() }
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Returns the rate that a packet with an unlimited request leaves with, at each of these instants in
    /// milliseconds.
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

    /// Sets slots and round trips of 100 ms; the first slot is half as long.
    fn slow(scheme: RcpWinf) -> RcpWinf {
        let duration = multihop_config::quantity::Duration(0.1);
        let control = RcpControl { slot: duration, initial_rtt: duration, ..RcpControl::default() };
        let winf = WinfParameters { self_interference: false, await_estimate: false, ..scheme.winf };
        RcpWinf { winf, control, ..scheme }
    }

    /// 0.5 of 1 MB/s are in use for an input of 0.25 MB/s. A round trip is as long as the time of the
    /// estimates.
    #[test]
    fn a_queue_is_weighted_like_input() {
        let scheme = RcpWinf::default();
        let estimates = scheme.winf.at(&EGRESS, 1_532, WinfReading::Whole);
        let mut load = WinfLoad { input: Input::Used, offer: Offer::Rate, estimates };
        let half = LinkView { available_bps: Some(4e6), ..idle() };
        assert_eq!(load.weights(0.25e6, 0.2, 0.2, &half), (0.5, 2.0));
    }

    #[test]
    fn eq_28_raises_the_rate_of_an_idle_link_by_alpha_and_as_printed_lowers_it() {
        let read = rates(&slow(RcpWinf::default()), &idle(), &[10, 60, 160]);
        // 5 % of the capacity; 1.2 times that after half a slot, and 1.4 times after a whole one.
        assert_eq!(read, [50_000, 60_000, 84_000]);
        let scheme = slow(RcpWinf { input: Input::Printed, ..RcpWinf::default() });
        let printed = rates(&scheme, &idle(), &(0..20).map(|slot| 100 * slot).collect::<Vec<_>>());
        assert!(printed.windows(2).all(|pair| pair[1] < pair[0]), "{printed:?}");
        assert_eq!(rates(&scheme, &idle(), &[60_000]), [1_500], "a tenth of 1500 bytes in 100 ms");
    }

    /// Arrivals of 1 MB/s leave 0.95 - 1 of the capacity, whatever is available.
    #[test]
    fn arrivals_may_count_instead_of_the_capacity_in_use() {
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
