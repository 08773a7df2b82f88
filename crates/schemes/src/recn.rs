//! RECN (He et al. 2017): each node marks what it could hardly get onto the air, and unmodified ECN TCP backs off.

use crate::tcp::TcpParameters;
use crate::{Parameters, Scheme};
use multihop_core::{NodeId, Packet};
use multihop_link::{Departure, LinkView, RouterPolicy, TransmissionEfficiency, Verdict};
use multihop_transport::{Endpoint, Recovery};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `tcp-newreno` with ECN, and nodes that set congestion experienced on a data packet when its frame transmission efficiency,
/// as predicted when its DATA frame leaves, is low.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Recn {
    /// Frame transmission efficiency below which a frame is marked, from 0 (never) to 1 (always).
    pub threshold: f64,
    /// The connection.
    #[serde(flatten)]
    pub tcp: TcpParameters,
}

impl Default for Recn {
    /// The threshold of the paper.
    fn default() -> Recn {
        Recn { threshold: 0.6, tcp: TcpParameters::default() }
    }
}

impl Parameters for Recn {
    const NAME: &str = "recn";
    const SUMMARY: &str =
        "TCP NewReno with ECN, marked by nodes from the transmission efficiency of each frame";
    const REFERENCE: &str = "He et al. 2017; RFC 3168";

    fn check(&self) -> Result<(), String> {
        if !(0.0..=1.0).contains(&self.threshold) {
            return Err(format!("threshold is {}; it must be between 0 and 1", self.threshold));
        }
        if self.tcp.ecn == Some(false) {
            return Err("ecn is false; recn needs it, so leave it out".to_owned());
        }
        self.tcp.check()
    }
}

impl Scheme for Recn {
    fn sender(&self) -> Box<dyn Endpoint> {
        self.ecn_tcp().sender(Recovery::NewReno)
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        self.ecn_tcp().receiver(Recovery::NewReno)
    }

    fn router(&self, _node: NodeId) -> Option<Box<dyn RouterPolicy>> {
        Some(Box::new(Marker { threshold: self.threshold }))
    }

    fn segment_size(&self) -> u32 {
        self.tcp.segment_size()
    }
}

impl Recn {
    fn ecn_tcp(&self) -> TcpParameters {
        TcpParameters { ecn: Some(true), ..self.tcp.clone() }
    }
}

/// The node's part. Every hop marks on its own, and a retry is judged again.
struct Marker {
    threshold: f64,
}

impl RouterPolicy for Marker {
    fn on_data(&mut self, departure: &Departure, packet: &mut Packet, _view: &LinkView) -> Verdict {
        let low = TransmissionEfficiency::predicted(departure) < self.threshold;
        if low && packet.carries_data() { Verdict::Mark } else { Verdict::Pass }
    }
}
