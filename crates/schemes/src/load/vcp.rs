//! VCP (Xia, Subramanian, Stoica and Kalyanaraman, "One More Bit Is Enough", 2005). Routers signal a low
//! load, a high load or an overload in the two ECN bits of each packet.

use super::header::MarkEcho;
use super::header::MarkHeader;
use crate::capacity::CapacityParameters;
use crate::load::router::{Code, LoadConstants, LoadRouter};
use crate::load::sender::{AdditionLimit, LoadSender, LoadSenderOptions};
use crate::tcp::TcpParameters;
use crate::xcp::reject_ecn;
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_core::{Ecn, HeaderFormat, NodeId, Span};
use multihop_link::{EgressQueue, RouterPolicy};
use multihop_transport::{CongestionHeader, Controller, Echo, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

keys! {
    /// Reliable transport whose window grows by multiplication at a low load and by addition at a high load,
    /// and is cut at an overload. Routers mark packets with their load. The ancestor of `bmcc`.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct Vcp {
        /// Capacity of links at routers.
        #[serde(flatten)]
        pub capacity: CapacityParameters,
        /// Target share of the capacity (`gamma_l`).
        pub utilization: f64 [0.01, 2] = 0.98,
        /// TCP connection with SACK recovery. The receive window is 1024 segments unless `window` is given.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

/// Time between load factors, `t_rho`.
const INTERVAL: Span = Span::from_ms(200);

impl Parameters for Vcp {
    const NAME: &str = "vcp";
    const SUMMARY: &str =
        "VCP: routers signal in the two ECN bits whether their load is low, high or above capacity";
    const REFERENCE: &str = "Xia, Subramanian, Stoica and Kalyanaraman 2005; their code for ns-2";
    const HEADERS: &[HeaderFormat] = &[HeaderFormat::of::<MarkHeader>()];

    fn check(&self) -> Result<(), ParameterError> {
        self.capacity.check()?;
        reject_ecn(&self.tcp)?;
        self.tcp.check()
    }
}

impl TcpScheme for Vcp {
    fn options(&self) -> TcpOptions {
        self.tcp.router_assisted(CongestionHeader::marks(Ecn::Ect1, 0))
    }

    fn control(&self) -> Box<dyn Controller> {
        let options = self.options();
        let sender = LoadSender::new(LoadSenderOptions {
            segment_size: options.segment_size,
            initial_window: self.tcp.first_window(),
            max_window: options.receive_window(),
            interval: INTERVAL,
            kappa: 0.25,
            alpha: 1.0,
            typical_rtt: 0.1,
            backoff: 0.875,
            backoff_slope: 0.0,
            addition_limit: AdditionLimit::Table,
            limits_multiplication: true,
            carries_fractions: false,
        });
        Box::new(sender)
    }

    fn echo(&self) -> Option<Box<dyn Echo>> {
        Some(Box::new(MarkEcho::default()))
    }

    fn policy(&self, node: NodeId, egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        let capacity = self.capacity.at(egress, self.options().packet_size());
        let constants = LoadConstants {
            interval: INTERVAL,
            utilization: self.utilization,
            queue_share: 0.5,
            weights: BTreeMap::new(),
            code: Code::Region,
        };
        Some(Box::new(LoadRouter::new(node, capacity, constants)))
    }
}
