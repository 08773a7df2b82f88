//! RCP (Dukkipati 2007): routers signal to each flow the rate at which to send, the same for all.

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
use crate::xcp::no_ecn;
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
    /// A reliable transport that sends at the rate that routers offer, so that flows end as early as if they
    /// shared a processor. Losses are repaired, and say nothing about the rate.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct Rcp {
        /// The capacity of links.
        #[serde(flatten)]
        pub capacity: CapacityParameters,
        /// What holds a sender back besides its pace: the receiver's window alone ("open"), or a window of
        /// the rate times the round-trip time ("paced").
        pub window_limit: WindowLimit,
        /// Share of the capacity that is aimed at (`gamma`).
        #[schemars(transform = usually(UTILIZATION))]
        pub utilization: Option<f64> [0.01, 2],
        /// The least rate, in packets for each round trip.
        #[schemars(transform = usually(MIN_RATE))]
        pub min_rate: Option<f64> [0.000_001, 1_000_000],
        /// Routers.
        #[serde(flatten)]
        pub control: RcpControl,
        /// The connection.
        #[serde(flatten)]
        pub tcp: RcpConnection,
    }
}

/// `utilization` where it is left out.
const UTILIZATION: f64 = 1.0;
/// `min_rate` where it is left out.
const MIN_RATE: f64 = 0.01;

keys! {
    /// Constants of an RCP router.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct RcpControl {
        /// Share of the spare capacity that is given out in each round trip.
        pub alpha: f64 [0, 10] = 0.4,
        /// Share of the queue that is drained in each round trip.
        pub beta: f64 [0, 10] = 0.4,
        /// The longest time between changes of the rate; a shorter round-trip time is the limit instead.
        pub slot: Duration ["1 ms", "1 min"] = Duration(0.01),
        /// Mean round-trip time of a router before packets carry one.
        pub initial_rtt: Duration ["1 ms", "1 min"] = Duration(0.2),
        /// The first rate of a router, as a share of the capacity.
        pub initial_rate: f64 [1e-06, 1] = 0.05,
    }
}

keys! {
    /// The connection of RCP and what derives from it.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct RcpConnection {
        /// Bit rate of packets that the application wants. Default: all there is.
        pub desired: Option<BitRate> ["8 b/s", "16 Gb/s"],
        /// How long a sender whose pace holds data back waits until it asks routers again, with a header
        /// alone: "half-second", or "round-trip" for the least round-trip time up to that, as in ns-2, which
        /// on a radio fills it with questions.
        pub refresh: Refresh,
        /// A TCP connection with the congestion header of 12 bytes, repaired from selective acknowledgements,
        /// with timestamps unless they are switched off, and with a receive window of 1024 segments unless
        /// `window` is given.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

impl RcpControl {
    /// With a share of the capacity that is aimed at, and the least rate in bytes for each round trip.
    pub(crate) fn constants(&self, utilization: f64, least: f64) -> RateConstants {
        RateConstants {
            alpha: self.alpha,
            beta: self.beta,
            utilization,
            slot: self.slot.0,
            initial_rtt: self.initial_rtt.0,
            initial_rate: self.initial_rate,
            least,
        }
    }
}

impl RcpConnection {
    /// Do values go together that each are in their range?
    ///
    /// # Errors
    /// The parameter, what was found, and what would do.
    pub(crate) fn check(&self) -> Result<(), ParameterError> {
        no_ecn(&self.tcp)?;
        self.tcp.check()
    }

    pub(crate) fn options(&self) -> TcpOptions {
        let tcp = TcpParameters {
            timestamps: self.tcp.timestamps.or(Some(true)),
            window: self.tcp.window.or(Some(TcpOptions::OPEN_WINDOW)),
            // With so many outstanding, sending again what has arrived would cost more than what is lost.
            keep_sacked: self.tcp.keep_sacked.or(Some(true)),
            ..self.tcp.clone()
        };
        TcpOptions {
            congestion_header: CongestionHeader::of(RcpHeader::LAYOUT.air as u32),
            ..tcp.options(Recovery::Sack)
        }
    }

    /// Bytes of a full packet above the MAC.
    pub(crate) fn packet_size(&self) -> u32 {
        self.options().packet_size()
    }

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
        let least = self.min_rate.unwrap_or(MIN_RATE) * f64::from(self.tcp.packet_size());
        let constants = self.control.constants(self.utilization.unwrap_or(UTILIZATION), least);
        Some(Box::new(RcpRouter::new(node, GivenLoad { capacity }, constants)))
    }
}

/// A link of a given capacity, whose load is what comes to its queue.
pub(crate) struct GivenLoad {
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
