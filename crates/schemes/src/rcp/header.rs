//! Congestion header of RCP and its derivatives (Dukkipati 2007), and its echo by the receiver.

use multihop_core::{HeaderBytes, Segment, header};
use multihop_transport::Echo;

header! {
    /// Congestion header of RCP (Dukkipati 2007)
    pub struct RcpHeader: "rcp", 2, 12 of 12 {
        /// Round-trip time of the sender; 0 before the first sample and on acknowledgements
        rtt: u32 [1..4] "us",
        /// Rate that the sender requests and that routers reduce; all ones before the first router; 0 on
        /// acknowledgements
        rate: u32 [4..8] "B/s",
        /// On acknowledgements, the rate that arrived with the acknowledged data
        reverse: u32 [8..12] "B/s",
    }
}

impl RcpHeader {
    /// Rate before the first router limits it.
    pub const UNLIMITED: u32 = u32::MAX;
}

/// Receiver's echo of RCP: the latest rate, held until the next one.
#[derive(Default)]
pub(crate) struct RcpEcho {
    rate: Option<u32>,
}

impl Echo for RcpEcho {
    fn note(&mut self, segment: &Segment) {
        if let Some(header) = segment.feedback.parse::<RcpHeader>() {
            self.rate = Some(header.rate);
        }
    }

    fn take(&mut self) -> HeaderBytes {
        self.rate.map_or(HeaderBytes::NONE, |reverse| {
            HeaderBytes::of(&RcpHeader { reverse, ..RcpHeader::default() })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_rate_is_echoed_and_held() {
        let mut echo = RcpEcho::default();
        assert!(echo.take().parse::<RcpHeader>().is_none(), "no packet yet");
        for rate in [7_000, 5_000] {
            let header = RcpHeader { rate, ..RcpHeader::default() };
            echo.note(&Segment { feedback: HeaderBytes::of(&header), ..Segment::default() });
        }
        for _ in 0..2 {
            assert_eq!(echo.take().parse::<RcpHeader>().map(|header| header.reverse), Some(5_000));
        }
    }
}
