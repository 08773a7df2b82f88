//! WCP and WCPCap (Rangwala, Jindal, Jang, Psounis and Govindan, "Understanding Congestion Control in
//! Multi-hop Wireless Mesh Networks", `MobiCom` 2008): rates of senders that follow the congestion of a
//! neighbourhood, which routers signal to each other.
//!
//! | file | content |
//! |---|---|
//! | `sender.rs` | AIMD of rates, and assigned rates |
//! | `router.rs` | WCP: congested links and round-trip times of a neighbourhood |
//! | `queue_mean.rs` | mean length of a queue |
//! | `capacity.rs` | WCPCap: airtime of a neighbourhood, divided among its flows |
//!
//! The text of the paper was not available as a whole. Choices where the summary is silent are in
//! `docs/explanation/schemes/wcp.md`.

mod capacity;
pub(crate) mod header;
mod queue_mean;
mod router;
mod sender;
mod wcp_cap;

pub use wcp_cap::WcpCap;

use crate::tcp::TcpParameters;
use crate::xcp::reject_ecn;
use crate::{Parameters, TcpScheme};
use header::{WcpEcho, WcpHeader};
use multihop_config::keys;
use multihop_config::parameter_error::ParameterError;
use multihop_config::quantity::{Duration, Size};
use multihop_core::{Carrier, HeaderFormat, NodeId};
use multihop_link::{EgressQueue, RouterPolicy};
use multihop_transport::{CongestionHeader, Controller, Echo, TcpOptions};
use queue_mean::MeanConstants;
use router::{Signalling, WcpConstants, WcpEntry, WcpRouter};
use schemars::JsonSchema;
use sender::{SenderOptions, WcpSender};
use serde::{Deserialize, Serialize};

/// Random variation of the time between broadcasts, as a share of that time. It prevents repeated collisions
/// of neighbours.
const SIGNALLING_JITTER: f64 = 0.1;

keys! {
    /// Reliable transport at a rate that rises by a constant and is halved when a link that shares the medium
    /// with the path is congested. Routers signal congestion to their neighbours.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct Wcp {
        /// Packets per round trip by which the rate rises in each round trip of the neighbourhood. The value
        /// of the paper could not be recovered. With this one a flow through two congested neighbourhoods
        /// has half the rate of a flow through one, as the paper states; with 1, four fifths.
        pub alpha: f64 [0.001, 1000] = 0.2,
        /// Mean length of a queue, in packets, above which its link is congested (`K`).
        pub queue_threshold: f64 [0, 1_000_000] = 4.0,
        /// Weight of the present length of a queue in its mean, at each packet that enters or leaves. The
        /// mean of an empty queue falls by this weight in each packet time, as in RED.
        pub queue_weight: f64 [0.0001, 1] = 0.02,
        /// Time between two broadcasts of a router.
        pub signalling_interval: Duration ["1 ms", "1 min"] = Duration(0.1),
        /// Lifetime of a signalled link at a router. Default: three times `signalling_interval`.
        pub lifetime: Option<Duration> ["1 ms", "1 h"],
        /// Bytes of a broadcast besides its entries of 7 bytes: UDP and IP headers.
        pub signalling_header: Size ["0 B", "1500 B"] = Size(28.0),
        /// TCP connection with SACK recovery and a congestion header of 8 bytes.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

/// Returns the broadcasts of routers with these parameters at a queue.
fn signalling(
    interval: Duration,
    lifetime: Option<Duration>,
    header: Size,
    egress: &EgressQueue,
) -> Signalling {
    Signalling {
        // A wire has no neighbours.
        interval: (!egress.is_wired).then(|| interval.span()),
        jitter: SIGNALLING_JITTER,
        lifetime: lifetime.map_or(interval.span() * 3, Duration::span),
        header: header.bytes() as u32,
    }
}

/// Returns the options of a sender on this connection.
fn sender_options(options: &TcpOptions, alpha: f64) -> SenderOptions {
    SenderOptions {
        segment_size: options.segment_size,
        packet_size: options.packet_size(),
        max_window: options.receive_window(),
        alpha,
    }
}

impl Parameters for Wcp {
    const NAME: &str = "wcp";
    const SUMMARY: &str =
        "WCP: rates rise until a link of the neighbourhood has a queue, and are then halved";
    const REFERENCE: &str = "Rangwala, Jindal, Jang, Psounis and Govindan 2008";
    const HEADERS: &[HeaderFormat] = &[HeaderFormat::of::<WcpHeader>()];
    const NOTICES: Option<(Carrier, HeaderFormat)> = Some((router::CARRIER, HeaderFormat::of::<WcpEntry>()));

    fn check(&self) -> Result<(), ParameterError> {
        reject_ecn(&self.tcp)?;
        self.tcp.check()
    }
}

impl TcpScheme for Wcp {
    fn options(&self) -> TcpOptions {
        // At a rate of few packets per second, a burst would be the last of a minute.
        self.tcp.paced_one_by_one().router_assisted(CongestionHeader::of(WcpHeader::BYTES))
    }

    fn control(&self) -> Box<dyn Controller> {
        Box::new(WcpSender::new(sender_options(&self.options(), self.alpha)))
    }

    fn echo(&self) -> Option<Box<dyn Echo>> {
        Some(Box::new(WcpEcho::default()))
    }

    fn policy(&self, node: NodeId, egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        let constants = WcpConstants {
            threshold: self.queue_threshold,
            mean: MeanConstants {
                weight: self.queue_weight,
                packet_time: egress.rate.span_of_bytes(u64::from(TcpScheme::options(self).packet_size())),
            },
            signalling: signalling(self.signalling_interval, self.lifetime, self.signalling_header, egress),
        };
        Some(Box::new(WcpRouter::new(node, constants, egress.seed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;
    use serde_json::json;

    /// With the flavour of Linux as well, packets leave one by one unless bursts are asked for.
    #[test]
    fn packets_are_paced_one_by_one() {
        let wcp = |parameters| serde_json::from_value::<Wcp>(parameters).unwrap();
        assert!(!TcpScheme::options(&wcp(json!({ "flavour": "linux" }))).segmentation_offload);
        let bursts = json!({ "flavour": "linux", "segmentation_offload": true });
        assert!(TcpScheme::options(&wcp(bursts.clone())).segmentation_offload);
        for name in ["wcp", "wcp-cap"] {
            assert!(find(name).unwrap().build(&bursts).is_ok(), "{name}");
        }
    }
}
