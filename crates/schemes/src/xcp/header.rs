//! Congestion header of XCP and its derivatives (draft-falk-xcp-spec-03), and its echo by the receiver.

use multihop_core::{HeaderBytes, Segment, header};
use multihop_transport::Echo;

header! {
    /// Congestion header of XCP (draft-falk-xcp-spec-03)
    pub struct XcpHeader: "xcp", 1, 20 of 20 {
        /// Round-trip time of the sender; 0 before the first sample and on acknowledgements, which carry no
        /// request
        rtt: u32 [4..8] "us",
        /// Time between the sender's packets: the round-trip time over the packets of a window
        x: u32 [8..12] "us",
        /// Change of throughput that the sender requests and that routers reduce
        delta: i32 [12..16] "B/s",
        /// On acknowledgements, the change of throughput that routers granted
        reverse: i32 [16..20] "B/s",
    }
}

impl XcpHeader {
    /// Request for an unlimited change.
    pub const UNLIMITED: i32 = i32::MAX;
}

/// Receiver's echo of XCP. Changes of throughput add up until the next acknowledgement, because each packet
/// has its own.
#[derive(Default)]
pub(crate) struct XcpEcho {
    /// Sum granted since the last acknowledgement; none before the first header.
    granted: Option<i32>,
}

impl Echo for XcpEcho {
    fn note(&mut self, segment: &Segment) {
        if let Some(header) = segment.feedback.parse::<XcpHeader>() {
            self.granted = Some(self.granted.unwrap_or(0).saturating_add(header.delta));
        }
    }

    fn take(&mut self) -> HeaderBytes {
        let Some(granted) = &mut self.granted else { return HeaderBytes::NONE };
        let reverse = std::mem::take(granted);
        HeaderBytes::of(&XcpHeader { reverse, ..XcpHeader::default() })
    }
}
