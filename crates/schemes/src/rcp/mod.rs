//! RCP (Dukkipati 2007): routers signal the same sending rate to all flows of a link.

pub(crate) mod header;
mod rcp_winf;
mod router;
mod sender;

pub use rcp_winf::{Input, Offer, RcpWinf};
pub use sender::{Pacing, Refresh, WindowLimit};

use crate::capacity::{Capacity, CapacityParameters};
use crate::rcp::router::{Load, RateConstants, RcpRouter};
use crate::rcp::sender::{RcpSender, RcpSenderOptions};
use crate::tcp::TcpParameters;
use crate::xcp::reject_ecn;
use crate::{ParameterError, Parameters, TcpScheme};
use header::{RcpEcho, RcpHeader};
use multihop_config::keys;
use multihop_config::keys::usually;
use multihop_config::quantity::{BitRate, Duration};
use multihop_core::{Header, HeaderFormat, NodeId};
use multihop_link::{EgressQueue, Estimator, LinkView, PhyTimes, RouterPolicy};
use multihop_transport::{CongestionHeader, Controller, Echo, Recovery, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// Reliable transport that sends at the rate that routers offer, so that flows complete as early as with
    /// processor sharing. Losses are repaired and do not change the rate.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct Rcp {
        /// Capacity of links at routers.
        #[serde(flatten)]
        pub capacity: CapacityParameters,
        /// Limit on a sender besides its pace: the receive window alone ("open"), or a window of the rate
        /// times the round-trip time ("paced").
        pub window_limit: WindowLimit,
        /// Target share of the capacity (`gamma`).
        #[schemars(transform = usually(UTILIZATION))]
        pub utilization: Option<f64> [0.01, 2],
        /// Minimum rate, in packets per round trip.
        #[schemars(transform = usually(MIN_RATE))]
        pub min_rate: Option<f64> [0.000_001, 1_000_000],
        /// Constants of routers.
        #[serde(flatten)]
        pub control: RcpControl,
        /// TCP connection.
        #[serde(flatten)]
        pub tcp: RcpConnection,
    }
}

/// Default of `utilization`.
const UTILIZATION: f64 = 1.0;
/// Default of `min_rate`.
const MIN_RATE: f64 = 0.01;

keys! {
    /// Constants of an RCP router.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct RcpControl {
        /// Share of the spare capacity that is offered in each round trip.
        pub alpha: f64 [0, 10] = 0.4,
        /// Share of the queue that is drained in each round trip.
        pub beta: f64 [0, 10] = 0.4,
        /// Maximum time between updates of the rate. A shorter mean round-trip time takes its place.
        pub slot: Duration ["1 ms", "1 min"] = Duration(0.01),
        /// Mean round-trip time at a router before packets carry one.
        pub initial_rtt: Duration ["1 ms", "1 min"] = Duration(0.2),
        /// Initial rate of a router, as a share of the capacity.
        pub initial_rate: f64 [1e-06, 1] = 0.05,
    }
}

keys! {
    /// TCP connection of RCP and its derivatives.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct RcpConnection {
        /// Bit rate of packets that the application requests. Default: unlimited.
        pub desired: Option<BitRate> ["8 b/s", "16 Gb/s"],
        /// Time after which a sender whose pace blocks data asks routers again, with a packet of headers
        /// only. "half-second" is fixed. "round-trip" is the minimum round-trip time, at most half a second,
        /// as in ns-2; on a radio these requests can fill the medium.
        pub refresh: Refresh,
        /// TCP connection with SACK recovery, timestamps and a congestion header of 12 bytes. Timestamps can
        /// be switched off. The receive window is 1024 segments unless `window` is given.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

impl RcpControl {
    /// Returns the constants of a router with this target share of the capacity and this minimum rate, in
    /// bytes per round trip.
    pub(crate) fn constants(&self, utilization: f64, min_rate_per_rtt: f64) -> RateConstants {
        RateConstants {
            alpha: self.alpha,
            beta: self.beta,
            utilization,
            slot: self.slot.0,
            initial_rtt: self.initial_rtt.0,
            initial_rate: self.initial_rate,
            min_rate_per_rtt,
        }
    }
}

impl RcpConnection {
    /// Checks that the values are consistent with each other.
    ///
    /// # Errors
    /// Names the parameter, the value found and a remedy.
    pub(crate) fn check(&self) -> Result<(), ParameterError> {
        reject_ecn(&self.tcp)?;
        self.tcp.check()
    }

    /// Returns the options of both ends of the TCP connection.
    pub(crate) fn options(&self) -> TcpOptions {
        let tcp = TcpParameters {
            timestamps: self.tcp.timestamps.or(Some(true)),
            window: self.tcp.window.or(Some(TcpOptions::OPEN_WINDOW)),
            // With so large a window, retransmitting data that has arrived would cost more than the losses.
            keep_sacked: self.tcp.keep_sacked.or(Some(true)),
            ..self.tcp.clone()
        };
        TcpOptions {
            congestion_header: CongestionHeader::of(RcpHeader::LAYOUT.air as u32),
            ..tcp.options(Recovery::Sack)
        }
    }

    /// Returns the bytes of a full packet above the MAC.
    pub(crate) fn packet_size(&self) -> u32 {
        self.options().packet_size()
    }

    /// Creates the congestion controller of an RCP sender.
    pub(crate) fn control(&self, limit: WindowLimit, pacing: Pacing) -> RcpSender {
        let options = self.options();
        RcpSender::new(RcpSenderOptions {
            segment_size: options.segment_size,
            header: options.packet_size() - options.segment_size,
            initial_window: self.tcp.first_window(),
            limit,
            pacing,
            refresh: self.refresh,
            desired: self.desired.map(BitRate::bytes_per_second),
        })
    }
}

impl Parameters for Rcp {
    const NAME: &str = "rcp";
    const SUMMARY: &str = "RCP: routers signal one rate to all flows of a link";
    const REFERENCE: &str = "Dukkipati 2007; Dukkipati and Zhang's code for ns-2";
    const HEADERS: &[HeaderFormat] = &[HeaderFormat::of::<RcpHeader>()];

    fn check(&self) -> Result<(), ParameterError> {
        self.capacity.check()?;
        self.tcp.check()
    }
}

impl TcpScheme for Rcp {
    fn options(&self) -> TcpOptions {
        self.tcp.options()
    }

    fn control(&self) -> Box<dyn Controller> {
        Box::new(self.tcp.control(self.window_limit, Pacing::Packet))
    }

    fn echo(&self) -> Option<Box<dyn Echo>> {
        Some(Box::new(RcpEcho::default()))
    }

    fn policy(&self, node: NodeId, egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        let capacity = self.capacity.at(egress, self.tcp.packet_size());
        let min_rate_per_rtt = self.min_rate.unwrap_or(MIN_RATE) * f64::from(self.tcp.packet_size());
        let constants = self.control.constants(self.utilization.unwrap_or(UTILIZATION), min_rate_per_rtt);
        Some(Box::new(RcpRouter::new(node, GivenLoad { capacity }, constants)))
    }
}

/// Link of a given capacity, whose load is the input of its queue.
pub(crate) struct GivenLoad {
    /// Capacity of the link.
    pub capacity: Capacity,
}

impl Load for GivenLoad {
    fn estimators(&self, phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        self.capacity.estimators(phy)
    }

    fn capacity(&self, view: &LinkView) -> f64 {
        self.capacity.of(view)
    }

    fn input(&self, arrived: f64, _view: &LinkView) -> f64 {
        arrived
    }
}

#[cfg(test)]
mod tests;
