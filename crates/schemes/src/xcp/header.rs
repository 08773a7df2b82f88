//! The congestion header of XCP and what derives from it (draft-falk-xcp-spec-03), and what the receiver
//! returns.

use multihop_core::{HeaderBytes, Segment, header};
use multihop_transport::Echo;

header! {
    /// The congestion header of XCP (draft-falk-xcp-spec-03)
    pub struct XcpHeader: "xcp", 1, 20 of 20 {
        /// Round-trip time of the sender; 0 if it has none yet, and on acknowledgements: then there is no
        /// request
        rtt: u32 [4..8] "us",
        /// Time between packets of the sender: the round-trip time over the packets of a window
        x: u32 [8..12] "us",
        /// Change of throughput that the sender asks for, and that routers reduce
        delta: i32 [12..16] "B/s",
        /// On acknowledgements, the change of throughput that routers granted
        reverse: i32 [16..20] "B/s",
    }
}

impl XcpHeader {
    /// Asks for as much as there is.
    pub const UNLIMITED: i32 = i32::MAX;
}

/// Changes of throughput add up: each packet has its own, however few acknowledgements there are.
#[derive(Default)]
pub(crate) struct XcpEcho {
    /// What was granted since the last acknowledgement; none before the first header.
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
