//! UDP.

use crate::quantity::Size;
use crate::range::size_in_range;
use crate::{Misfit, Parameters, Scheme};
use multihop_transport::{Endpoint, UdpOptions, UdpReceiver, UdpSender};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Datagrams without congestion control: what the network carries when no sender holds back.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Udp {
    /// The most payload of a datagram.
    pub segment_size: Size,
    /// Network and transport headers of each packet: 20 B of IPv4 and 8 B of UDP.
    pub header: Size,
}

impl Default for Udp {
    fn default() -> Udp {
        let UdpOptions { segment_size, header } = UdpOptions::default();
        Udp { segment_size: Size(f64::from(segment_size)), header: Size(f64::from(header)) }
    }
}

impl Parameters for Udp {
    const NAME: &str = "udp";
    const SUMMARY: &str = "datagrams without congestion control";
    const REFERENCE: &str = "RFC 768";
    const RELIABLE: bool = false;

    fn check(&self) -> Result<(), Misfit> {
        size_in_range("segment_size", Some(self.segment_size), 1.0, 65_535.0)?;
        size_in_range("header", Some(self.header), 0.0, 65_535.0)
    }
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

    fn datagrams(&self) -> bool {
        true
    }
}
