//! WCPCap: WCP with explicit rates from an estimate of the capacity of each neighbourhood.

use super::capacity::{CARRIER, CapacityConstants, CapacityRouter, WcpCapEntry};
use super::header::{WcpCapEcho, WcpCapHeader};
use super::sender::WcpCapSender;
use super::{sender_options, signalling};
use crate::tcp::TcpParameters;
use crate::xcp::reject_ecn;
use crate::{Parameters, TcpScheme};
use multihop_config::keys;
use multihop_config::parameter_error::ParameterError;
use multihop_config::quantity::{Duration, Size};
use multihop_core::{Carrier, HeaderFormat, NodeId};
use multihop_link::{EgressQueue, RouterPolicy};
use multihop_transport::{CongestionHeader, Controller, Echo, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// Reliable transport at the least rate of all neighbourhoods that the links of the path are in. Each
    /// router divides the airtime of its neighbourhood max-min among the flows there, from the airtimes that
    /// its neighbours broadcast, and broadcasts the rate.
    ///
    /// The paper tests with an analytic model of 802.11 whether higher rates are achievable. Here the
    /// residual airtime of the neighbourhood takes its place.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct WcpCap {
        /// Time between two assignments of a router. The paper's epochs last about 10 s; shorter ones suit
        /// runs of a minute.
        pub epoch: Duration ["10 ms", "1 min"] = Duration(1.0),
        /// Share of the airtime that is not assigned: interframe spaces, back-off and collisions, which the
        /// airtime of an exchange does not contain, and a margin. Not in the paper: in a stack of three flows
        /// the flows are equal with 0.5, and the middle flow has two thirds of an outer one with 0.4.
        pub reserve: f64 [0, 0.99] = 0.5,
        /// Time between two broadcasts of a router.
        pub signalling_interval: Duration ["1 ms", "1 min"] = Duration(0.1),
        /// Lifetime of a signalled link at a router. Default: three times `signalling_interval`.
        pub lifetime: Option<Duration> ["1 ms", "1 h"],
        /// Bytes of a broadcast besides its entries of 15 bytes: the IP header.
        pub signalling_header: Size ["0 B", "1500 B"] = Size(20.0),
        /// TCP connection with SACK recovery and a congestion header of 12 bytes.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

impl Parameters for WcpCap {
    const NAME: &str = "wcp-cap";
    const SUMMARY: &str = "WCPCap: routers divide the airtime of a neighbourhood max-min among its flows";
    const REFERENCE: &str = "Rangwala, Jindal, Jang, Psounis and Govindan 2008";
    const HEADERS: &[HeaderFormat] = &[HeaderFormat::of::<WcpCapHeader>()];
    const NOTICES: Option<(Carrier, HeaderFormat)> = Some((CARRIER, HeaderFormat::of::<WcpCapEntry>()));

    fn check(&self) -> Result<(), ParameterError> {
        reject_ecn(&self.tcp)?;
        self.tcp.check()
    }
}

impl TcpScheme for WcpCap {
    fn options(&self) -> TcpOptions {
        self.tcp.paced_one_by_one().router_assisted(CongestionHeader::of(WcpCapHeader::BYTES))
    }

    fn control(&self) -> Box<dyn Controller> {
        Box::new(WcpCapSender::new(sender_options(&self.options(), 0.0)))
    }

    fn echo(&self) -> Option<Box<dyn Echo>> {
        Some(Box::new(WcpCapEcho::default()))
    }

    fn policy(&self, node: NodeId, egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        let constants = CapacityConstants {
            epoch: self.epoch.span(),
            reserve: self.reserve,
            signalling: signalling(self.signalling_interval, self.lifetime, self.signalling_header, egress),
        };
        Some(Box::new(CapacityRouter::new(node, constants, egress.seed)))
    }
}
