//! XCP (Katabi, Handley and Rohrs 2002): routers write into each packet by how much its sender is to change
//! its window.

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
use crate::xcp::router::{Aggregate, Constants, Law, Seen, XcpRouter};
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

/// A reliable transport whose window routers open and close, by what is left of the capacity and by the
/// queue.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Xcp {
    /// The capacity of links.
    #[serde(flatten)]
    pub capacity: CapacityParameters,
    /// Routers.
    #[serde(flatten)]
    pub control: XcpControl,
    /// The connection.
    #[serde(flatten)]
    pub tcp: XcpConnection,
}

keys! {
    /// Constants of an XCP router.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct XcpControl {
        /// Share of the spare bandwidth that is given out in each control interval. Stable for any delay and
        /// number of flows below pi / (4 sqrt 2) = 0.555, with `beta` = `alpha`^2 sqrt 2. The default is the
        /// published one, but for xcp-winf, whose queue is a third shorter with less along eight hops.
        pub alpha: Option<f64> [0, 2],
        /// Share of the persistent queue that is drained in each control interval.
        pub beta: f64 [0, 2] = 0.226,
        /// Share of the traffic that is taken from all flows and given to all equally in each control
        /// interval.
        pub gamma: f64 [0, 1] = 0.1,
        /// The longest round-trip time that counts in the mean, by which control intervals are as long. The
        /// default is that of ns-2, but for xcp-winf.
        pub max_rtt: Option<Duration> ["1 ms", "1 h"],
    }
}

keys! {
    /// The connection of XCP and what derives from it.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct XcpConnection {
        /// Bit rate of payload that the application wants. Default: all there is.
        pub desired: Option<BitRate> ["8 b/s", "16 Gb/s"],
        /// A TCP connection, with timestamps unless they are switched off, and the congestion header of 20
        /// bytes. With the flavour ns2 losses are repaired as by `Agent/TCP/Reno/XCP`, without selective
        /// acknowledgements.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

/// What a scheme has where keys of [`XcpControl`] are left out.
pub(crate) struct Defaults {
    pub alpha: f64,
    pub max_rtt: Duration,
}

impl Defaults {
    /// As published, and in ns-2.
    pub(crate) const PUBLISHED: Defaults = Defaults { alpha: 0.4, max_rtt: Duration(1.0) };

    pub(crate) fn stated(&self) -> Vec<Stated> {
        vec![("alpha", Some(json!(self.alpha))), ("max_rtt", Some(json!(self.max_rtt)))]
    }
}

impl XcpControl {
    pub(crate) fn alpha(&self, usual: &Defaults) -> f64 {
        self.alpha.unwrap_or(usual.alpha)
    }

    pub(crate) fn constants(&self, usual: &Defaults) -> Constants {
        Constants { gamma: self.gamma, max_rtt: self.max_rtt.unwrap_or(usual.max_rtt).0 }
    }
}

impl XcpConnection {
    /// Do values go together that each are in their range?
    ///
    /// # Errors
    /// The parameter, what was found, and what would do.
    pub(crate) fn check(&self) -> Result<(), ParameterError> {
        no_ecn(&self.tcp)?;
        self.tcp.check()
    }

    pub(crate) fn options(&self) -> TcpOptions {
        let tcp = TcpParameters { timestamps: self.tcp.timestamps.or(Some(true)), ..self.tcp.clone() };
        let congestion_header = CongestionHeader::of(XcpHeader::LAYOUT.air as u32);
        match self.tcp.flavour {
            // `Agent/TCP/Reno/XCP`: Reno's recovery, and feedback of new acknowledgements alone.
            Flavour::Ns2 => {
                TcpOptions { congestion_header, feedback_of_duplicates: false, ..tcp.options(Recovery::Reno) }
            }
            Flavour::Rfc | Flavour::Linux => {
                // A window that does not bind can hold much at a timeout that has arrived.
                let tcp = TcpParameters { keep_sacked: tcp.keep_sacked.or(Some(true)), ..tcp };
                TcpOptions { congestion_header, ..tcp.options(Recovery::Sack) }
            }
        }
    }

    pub(crate) fn control(&self) -> XcpSender {
        let options = self.options();
        XcpSender::new(XcpSenderOptions {
            segment_size: options.segment_size,
            initial_window: self.tcp.first_window(),
            max_window: options.receive_window(),
            desired: self.desired.map(BitRate::bytes_per_second),
        })
    }

    /// Bytes of a full packet above the MAC.
    pub(crate) fn packet_size(&self) -> u32 {
        self.options().packet_size()
    }
}

impl Parameters for Xcp {
    const NAME: &str = "xcp";
    const SUMMARY: &str = "XCP: routers signal by how much each sender changes its window";
    const REFERENCE: &str = "Katabi, Handley and Rohrs 2002; draft-falk-xcp-spec-03";
    const HEADERS: &[HeaderFormat] = &[HeaderFormat::of::<XcpHeader>()];

    fn check(&self) -> Result<(), ParameterError> {
        self.capacity.check()?;
        self.tcp.check()
    }

    fn usual(&self) -> Vec<Stated> {
        Defaults::PUBLISHED.stated()
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
            alpha: self.control.alpha(&Defaults::PUBLISHED),
            beta: self.control.beta,
        };
        Some(Box::new(XcpRouter::new(node, law, self.control.constants(&Defaults::PUBLISHED))))
    }
}

/// `F = alpha (C - y) - beta Q / d`.
pub(crate) struct GivenCapacity {
    pub capacity: Capacity,
    pub alpha: f64,
    pub beta: f64,
}

impl Law for GivenCapacity {
    fn estimators(&self, phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        self.capacity.estimators(phy)
    }

    fn capacity(&self, view: &LinkView) -> f64 {
        self.capacity.of(view)
    }

    fn aggregate(&mut self, seen: &Seen, view: &LinkView) -> Aggregate {
        let spare = self.capacity(view) - seen.input;
        Aggregate {
            change: self.alpha * spare - self.beta * seen.persistent / seen.mean_rtt,
            shuffled_of: seen.input,
        }
    }
}

/// Routers that give feedback do not mark.
///
/// # Errors
/// The parameter, what was found, and what would do.
pub(crate) fn no_ecn(tcp: &TcpParameters) -> Result<(), ParameterError> {
    if tcp.ecn == Some(true) {
        return Err(ParameterError::new("ecn", Found::Truth(true), Wanted::LeaveOutFeedback));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
