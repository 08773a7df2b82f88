//! UDP without congestion control.

use crate::{Parameters, Scheme};
use multihop_config::keys;
use multihop_config::quantity::Size;
use multihop_transport::{Endpoint, UdpOptions, UdpReceiver, UdpSender};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// Datagrams without congestion control. Shows what the network carries when no sender limits its rate.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct Udp {
        /// Maximum payload of a datagram.
        pub segment_size: Size ["1 B", "65535 B"] = Size(1472.0),
        /// Network and transport headers of each packet: 20 B of IPv4 and 8 B of UDP by default.
        pub header: Size ["0 B", "65535 B"] = Size(28.0),
    }
}

impl Parameters for Udp {
    const NAME: &str = "udp";
    const SUMMARY: &str = "datagrams without congestion control";
    const REFERENCE: &str = "RFC 768";
    const RELIABLE: bool = false;
}

impl Scheme for Udp {
    fn sender(&self) -> Box<dyn Endpoint> {
        let header = self.header.bytes() as u32;
        Box::new(UdpSender::new(UdpOptions { segment_size: self.segment_size(), header }))
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        Box::new(UdpReceiver::new())
    }

    fn segment_size(&self) -> u32 {
        self.segment_size.bytes() as u32
    }

    fn is_uncontrolled(&self) -> bool {
        true
    }
}
