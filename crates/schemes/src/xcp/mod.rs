//! XCP (Katabi, Handley and Rohrs 2002). Routers write into each packet the change of its sender's window.

pub(crate) mod header;
pub(crate) mod router;
pub(crate) mod sender;
mod xcp_b;
mod xcp_winf;

pub use xcp_b::XcpB;
pub use xcp_winf::{Psi, QueueTimer, Shuffled, Spare, Throughput, XcpWinf};

use crate::capacity::{Capacity, CapacityParameters};
use crate::overrides::Stated;
use crate::tcp::{Flavour, TcpParameters};
use crate::xcp::router::{AggregateChange, ControlLaw, QueueMeasurement, XcpConstants, XcpRouter};
use crate::xcp::sender::{XcpSender, XcpSenderOptions};
use crate::{ParameterError, Parameters, TcpScheme};
use header::{XcpEcho, XcpHeader};
use multihop_config::keys;
use multihop_config::parameter_error::{Found, Wanted};
use multihop_config::quantity::{BitRate, Duration};
use multihop_core::{Header, HeaderFormat, NodeId};
use multihop_link::{EgressQueue, Estimator, LinkView, PhyTimes, RouterPolicy};
use multihop_transport::{CongestionHeader, Controller, Echo, Recovery, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Reliable transport whose window routers open and close, from the spare capacity and the queue.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Xcp {
    /// Capacity of links at routers.
    #[serde(flatten)]
    pub capacity: CapacityParameters,
    /// Constants of routers.
    #[serde(flatten)]
    pub control: XcpControl,
    /// TCP connection.
    #[serde(flatten)]
    pub tcp: XcpConnection,
}

keys! {
    /// Constants of an XCP router.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct XcpControl {
        /// Share of the spare bandwidth that is distributed in each control interval. The loop is stable for
        /// any delay and number of flows below pi / (4 sqrt 2) = 0.555, with `beta` = `alpha`^2 sqrt 2. The
        /// default is the published one, except for xcp-winf, whose queue is then a third shorter at a lower
        /// throughput over eight hops.
        pub alpha: Option<f64> [0, 2],
        /// Share of the persistent queue that is drained in each control interval.
        pub beta: f64 [0, 2] = 0.226,
        /// Share of the traffic that is taken from all flows and redistributed equally in each control
        /// interval.
        pub gamma: f64 [0, 1] = 0.1,
        /// Upper limit of a packet's round-trip time in the mean, which sets the length of control intervals.
        /// The default is that of ns-2, except for xcp-winf.
        pub max_rtt: Option<Duration> ["1 ms", "1 h"],
    }
}

keys! {
    /// TCP connection of XCP and its derivatives.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct XcpConnection {
        /// Bit rate of payload that the application requests. Default: unlimited.
        pub desired: Option<BitRate> ["8 b/s", "16 Gb/s"],
        /// TCP connection with timestamps and a congestion header of 20 bytes. Timestamps can be switched
        /// off. With the flavour ns2, losses are repaired as by `Agent/TCP/Reno/XCP`, without selective
        /// acknowledgements.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

/// Defaults of a scheme for keys of [`XcpControl`].
pub(crate) struct ControlDefaults {
    /// Share of the spare bandwidth that is distributed in each control interval.
    pub alpha: f64,
    /// Upper limit of a packet's round-trip time in the mean.
    pub max_rtt: Duration,
}

impl ControlDefaults {
    /// Defaults as published, and as in ns-2.
    pub(crate) const PUBLISHED: ControlDefaults = ControlDefaults { alpha: 0.4, max_rtt: Duration(1.0) };

    /// Returns the defaults with the names of their keys.
    pub(crate) fn key_defaults(&self) -> Vec<Stated> {
        vec![("alpha", Some(json!(self.alpha))), ("max_rtt", Some(json!(self.max_rtt)))]
    }
}

impl XcpControl {
    /// Returns the share `alpha` of the spare bandwidth, or its default if it was left out.
    pub(crate) fn alpha(&self, defaults: &ControlDefaults) -> f64 {
        self.alpha.unwrap_or(defaults.alpha)
    }

    /// Returns the constants of an XCP router, with these defaults.
    pub(crate) fn constants(&self, defaults: &ControlDefaults) -> XcpConstants {
        XcpConstants { gamma: self.gamma, max_rtt: self.max_rtt.unwrap_or(defaults.max_rtt).0 }
    }
}

impl XcpConnection {
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
        let tcp = TcpParameters { timestamps: self.tcp.timestamps.or(Some(true)), ..self.tcp.clone() };
        let congestion_header = CongestionHeader::of(XcpHeader::LAYOUT.air as u32);
        match self.tcp.flavour {
            // `Agent/TCP/Reno/XCP` has Reno's recovery and uses feedback of new acknowledgements only.
            Flavour::Ns2 => {
                TcpOptions { congestion_header, feedback_of_duplicates: false, ..tcp.options(Recovery::Reno) }
            }
            Flavour::Rfc | Flavour::Linux => {
                // A window that does not limit the sender can hold much data at a timeout that has already
                // arrived.
                let tcp = TcpParameters { keep_sacked: tcp.keep_sacked.or(Some(true)), ..tcp };
                TcpOptions { congestion_header, ..tcp.options(Recovery::Sack) }
            }
        }
    }

    /// Creates the congestion controller of an XCP sender.
    pub(crate) fn control(&self) -> XcpSender {
        let options = self.options();
        XcpSender::new(XcpSenderOptions {
            segment_size: options.segment_size,
            initial_window: self.tcp.first_window(),
            max_window: options.receive_window(),
            desired: self.desired.map(BitRate::bytes_per_second),
        })
    }

    /// Returns the bytes of a full packet above the MAC.
    pub(crate) fn packet_size(&self) -> u32 {
        self.options().packet_size()
    }
}

impl Parameters for Xcp {
    const NAME: &str = "xcp";
    const SUMMARY: &str = "XCP: routers signal the change of each sender's window";
    const REFERENCE: &str = "Katabi, Handley and Rohrs 2002; draft-falk-xcp-spec-03";
    const HEADERS: &[HeaderFormat] = &[HeaderFormat::of::<XcpHeader>()];

    fn check(&self) -> Result<(), ParameterError> {
        self.capacity.check()?;
        self.tcp.check()
    }

    fn own_defaults(&self) -> Vec<Stated> {
        ControlDefaults::PUBLISHED.key_defaults()
    }
}

impl TcpScheme for Xcp {
    fn options(&self) -> TcpOptions {
        self.tcp.options()
    }

    fn control(&self) -> Box<dyn Controller> {
        Box::new(self.tcp.control())
    }

    fn echo(&self) -> Option<Box<dyn Echo>> {
        Some(Box::new(XcpEcho::default()))
    }

    fn policy(&self, node: NodeId, egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        let law = GivenCapacity {
            capacity: self.capacity.at(egress, self.tcp.packet_size()),
            alpha: self.control.alpha(&ControlDefaults::PUBLISHED),
            beta: self.control.beta,
        };
        Some(Box::new(XcpRouter::new(node, law, self.control.constants(&ControlDefaults::PUBLISHED))))
    }
}

/// Control law with a given capacity, `F = alpha (C - y) - beta Q / d`.
pub(crate) struct GivenCapacity {
    /// Capacity of the link.
    pub capacity: Capacity,
    /// Share of the spare bandwidth that is distributed.
    pub alpha: f64,
    /// Share of the persistent queue that is drained.
    pub beta: f64,
}

impl ControlLaw for GivenCapacity {
    fn estimators(&self, phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        self.capacity.estimators(phy)
    }

    fn capacity(&self, view: &LinkView) -> f64 {
        self.capacity.of(view)
    }

    fn aggregate(&mut self, measured: &QueueMeasurement, view: &LinkView) -> AggregateChange {
        let spare = self.capacity(view) - measured.input;
        AggregateChange {
            change: self.alpha * spare - self.beta * measured.persistent / measured.mean_rtt,
            shuffled_traffic: measured.input,
        }
    }
}

/// Refuses ECN, because routers with explicit feedback do not mark.
///
/// # Errors
/// Names the parameter, the value found and a remedy.
pub(crate) fn reject_ecn(tcp: &TcpParameters) -> Result<(), ParameterError> {
    if tcp.ecn == Some(true) {
        return Err(ParameterError::new("ecn", Found::Truth(true), Wanted::LeaveOutFeedback));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
