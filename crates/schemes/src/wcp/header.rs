//! Congestion headers of WCP and WCPCap, and their echoes by the receiver. The paper (Rangwala et al. 2008)
//! names no layout.

use multihop_core::{Header, HeaderBytes, Segment, header};
use multihop_transport::Echo;

header! {
    /// Congestion header of WCP (Rangwala et al. 2008)
    pub struct WcpHeader: "wcp", 12, 8 of 8 {
        /// Whether a link that shares the medium with the path is congested
        congested: bool [1..2, bit 0] "",
        /// Round-trip time of the sender; 0 before the first sample and on acknowledgements
        rtt: u16 [2..4] "100 us",
        /// Largest round-trip time of a flow through a neighbourhood on the path; 0 if no router knows one
        neighbourhood_rtt: u32 [4..8] "us",
    }
}

header! {
    /// Congestion header of WCPCap (Rangwala et al. 2008)
    pub struct WcpCapHeader: "wcp_cap", 13, 12 of 12 {
        /// Rate of the sender, in payload bytes; 0 on acknowledgements
        rate: u32 [4..8] "B/s",
        /// Least rate that a router on the path assigns to each flow; all ones if no router assigns one
        assigned: u32 [8..12] "B/s",
    }
}

impl WcpHeader {
    /// Bytes of the header.
    pub const BYTES: u32 = WcpHeader::LAYOUT.air as u32;

    /// Converts a round-trip time in seconds to header units, at least one, because 0 means unknown.
    pub fn rtt_units(seconds: f64) -> u16 {
        (seconds * 1e4).round().clamp(1.0, f64::from(u16::MAX)) as u16
    }
}

impl WcpCapHeader {
    /// Bytes of the header.
    pub const BYTES: u32 = WcpCapHeader::LAYOUT.air as u32;
    /// Rate before a router assigns one.
    pub const UNASSIGNED: u32 = u32::MAX;
}

/// Receiver's echo of WCP: whether any packet since the last acknowledgement was marked, and the latest
/// neighbourhood round-trip time.
#[derive(Default)]
pub(super) struct WcpEcho {
    latest: Option<WcpHeader>,
}

impl Echo for WcpEcho {
    fn note(&mut self, segment: &Segment) {
        let Some(header) = segment.feedback.parse::<WcpHeader>() else { return };
        let before = self.latest.is_some_and(|latest| latest.congested);
        self.latest = Some(WcpHeader { congested: header.congested || before, rtt: 0, ..header });
    }

    fn take(&mut self) -> HeaderBytes {
        self.latest.as_mut().map_or(HeaderBytes::NONE, |latest| {
            let echoed = HeaderBytes::of(latest);
            latest.congested = false;
            echoed
        })
    }
}

/// Receiver's echo of WCPCap: the latest assigned rate, held until the next one.
#[derive(Default)]
pub(super) struct WcpCapEcho {
    assigned: Option<u32>,
}

impl Echo for WcpCapEcho {
    fn note(&mut self, segment: &Segment) {
        if let Some(header) = segment.feedback.parse::<WcpCapHeader>() {
            self.assigned = Some(header.assigned);
        }
    }

    fn take(&mut self) -> HeaderBytes {
        self.assigned.map_or(HeaderBytes::NONE, |assigned| {
            HeaderBytes::of(&WcpCapHeader { assigned, ..WcpCapHeader::default() })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_echoed_once_and_the_round_trip_is_held() {
        let mut echo = WcpEcho::default();
        assert!(echo.take().is_none(), "no packet yet");
        for (congested, neighbourhood_rtt) in [(true, 900), (false, 1_000)] {
            let header = WcpHeader { congested, rtt: 7, neighbourhood_rtt };
            echo.note(&Segment { feedback: HeaderBytes::of(&header), ..Segment::default() });
        }
        for congested in [true, false] {
            let expected = WcpHeader { congested, rtt: 0, neighbourhood_rtt: 1_000 };
            assert_eq!(echo.take().parse::<WcpHeader>(), Some(expected));
        }
    }

    #[test]
    fn the_latest_assigned_rate_is_echoed_and_held() {
        let mut echo = WcpCapEcho::default();
        assert!(echo.take().is_none(), "no packet yet");
        for assigned in [7_000, 5_000] {
            let header = WcpCapHeader { assigned, rate: 9 };
            echo.note(&Segment { feedback: HeaderBytes::of(&header), ..Segment::default() });
        }
        let expected = WcpCapHeader { assigned: 5_000, rate: 0 };
        assert_eq!([echo.take(), echo.take()].map(|header| header.parse()), [Some(expected); 2]);
    }
}
