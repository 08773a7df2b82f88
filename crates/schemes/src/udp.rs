//! UDP.

use crate::tcp::in_range;
use crate::{Parameters, Scheme};
use multihop_transport::{Endpoint, UdpOptions, UdpReceiver, UdpSender};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Datagrams without congestion control: what the network does when nobody holds back.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Udp {
    /// The most payload bytes of a datagram.
    pub segment_size: u32,
    /// Network and transport header bytes of each packet: 20 of IPv4 and 8 of UDP.
    pub header: u32,
}

impl Default for Udp {
    fn default() -> Udp {
        let UdpOptions { segment_size, header } = UdpOptions::default();
        Udp { segment_size, header }
    }
}

impl Parameters for Udp {
    const NAME: &str = "udp";
    const SUMMARY: &str = "datagrams without congestion control";
    const REFERENCE: &str = "RFC 768";

    fn check(&self) -> Result<(), String> {
        in_range("segment_size", Some(self.segment_size), 1, 65_535, "bytes")?;
        in_range("header", Some(self.header), 0, 65_535, "bytes")
    }
}

impl Scheme for Udp {
    fn sender(&self) -> Box<dyn Endpoint> {
        Box::new(UdpSender::new(UdpOptions { segment_size: self.segment_size, header: self.header }))
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        Box::new(UdpReceiver::new())
    }

    fn segment_size(&self) -> u32 {
        self.segment_size
    }
}
