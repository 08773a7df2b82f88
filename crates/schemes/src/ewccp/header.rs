//! Congestion header of EWCCP (Tan, Jiang, Zhang and Shen, Figure 2) and its echo by the receiver. The paper
//! names the fields but not their sizes.

use multihop_core::{Bits, Header, HeaderBytes, Segment, header};
use multihop_transport::Echo;

header! {
    /// Congestion header of EWCCP (Tan, Jiang, Zhang and Shen, Figure 2)
    pub struct EwccpHeader: "ewccp", 3, 8 of 28 {
        /// Length of the link's part in 32-bit words: 0 on acknowledgements
        words: Bits<3> [0..1, bit 5] "words",
        /// Round-trip time of the sender; 0 before the first sample and on acknowledgements
        rtt: u16 [1..3] "100 us",
        /// Whether the feedback is credit for an initial window, because no link on the path was congested
        probe: bool [3..4, bit 7] "",
        /// Number of packets that the feedback covers: 1 in data, 0 in other packets of the sender; on
        /// acknowledgements, the packets since the last acknowledgement
        packets: Bits<7> [3..4, bit 0] "packets",
        /// Amount by which to close the window; after a probe, the window to set
        feedback: u32 [4..8] "B/256",
        /// Mean queue of the link in the last round (piggyback)
        link_queue: u16 [8..10] "16 B",
        /// Number of the last round
        link_sequence: u8 [10..11] "",
        /// Whether the link had a last round
        link_known: bool [11..12, bit 0] "",
        /// Whether the sending node of the link found the link congested
        link_congested: bool [11..12, bit 1] "",
        /// Bloom filter of up to 128 bits, with the links that the sending node's feedback counted
        link_summary: [u64; 2] [12..28] "",
    }
}

/// Part of the header for one link. The router at the start of each link writes it for the router at the end.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct EwccpLink {
    /// Mean queue of the link in the last round, in units of 16 bytes.
    pub queue: u16,
    /// Number of the last round.
    pub sequence: u8,
    /// Whether the link had a last round.
    pub is_known: bool,
    /// Whether the sending node found the link congested.
    pub congested: bool,
    /// Bloom filter of the links that the sending node counted, upper half first.
    pub summary: [u64; 2],
}

impl EwccpHeader {
    /// Bytes of the end-to-end part.
    pub const BYTES: u32 = EwccpHeader::LAYOUT.air as u32;
    /// Bytes of the link's part without its summary.
    pub const LINK_BYTES: u32 = 4;
    /// Units of feedback in a byte.
    pub const PER_BYTE: f64 = 256.0;

    /// Converts a round-trip time in seconds to header units, at least one, because 0 means unknown.
    pub fn rtt_units(seconds: f64) -> u16 {
        (seconds * 1e4).round().clamp(1.0, f64::from(u16::MAX)) as u16
    }

    /// Converts a round-trip time in header units to seconds.
    pub fn rtt_seconds(rtt: u16) -> f64 {
        f64::from(rtt) / 1e4
    }

    /// Returns the feedback in bytes.
    pub fn feedback_bytes(&self) -> f64 {
        f64::from(self.feedback) / EwccpHeader::PER_BYTE
    }

    /// Returns the link's part of the header.
    pub(super) fn link(&self) -> EwccpLink {
        EwccpLink {
            queue: self.link_queue,
            sequence: self.link_sequence,
            is_known: self.link_known,
            congested: self.link_congested,
            summary: self.link_summary,
        }
    }

    /// Returns the header with this link's part.
    pub(super) fn with_link(self, link: EwccpLink) -> EwccpHeader {
        EwccpHeader {
            link_queue: link.queue,
            link_sequence: link.sequence,
            link_known: link.is_known,
            link_congested: link.congested,
            link_summary: link.summary,
            ..self
        }
    }
}

/// Receiver's echo of EWCCP. Feedback and packet counts add up until the next acknowledgement. The answer to
/// a probe has another meaning and is not added.
#[derive(Default)]
pub(super) struct EwccpEcho {
    sum: Option<EwccpHeader>,
}

impl Echo for EwccpEcho {
    fn note(&mut self, segment: &Segment) {
        let Some(header) = segment.feedback.parse::<EwccpHeader>() else { return };
        let EwccpHeader { probe, packets, feedback, .. } = header;
        let before = self.sum.unwrap_or_default();
        self.sum = Some(if probe || before.probe {
            EwccpHeader { probe, packets, feedback, ..EwccpHeader::default() }
        } else {
            EwccpHeader {
                packets: Bits(before.packets.0.saturating_add(packets.0)),
                feedback: before.feedback.saturating_add(feedback),
                ..EwccpHeader::default()
            }
        });
    }

    fn take(&mut self) -> HeaderBytes {
        self.sum.as_mut().map_or(HeaderBytes::NONE, |sum| HeaderBytes::of(&std::mem::take(sum)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The packet counts and the feedback of two data packets add up. With an answer to a probe, only the
    /// last packet counts.
    #[test]
    fn an_echo_adds_up_feedback_and_packets() {
        let noted = |headers: &[EwccpHeader]| {
            let mut echo = EwccpEcho::default();
            for header in headers {
                echo.note(&Segment { feedback: HeaderBytes::of(header), ..Segment::default() });
            }
            echo.take().parse::<EwccpHeader>()
        };
        let reported =
            |feedback, probe| EwccpHeader { packets: Bits(1), feedback, probe, ..EwccpHeader::default() };
        let sum = noted(&[reported(30, false), reported(12, false)]).unwrap();
        assert_eq!((sum.packets.0, sum.feedback, sum.probe), (2, 42, false));
        let probed = noted(&[reported(30, false), reported(12, true)]).unwrap();
        assert_eq!((probed.packets.0, probed.feedback, probed.probe), (1, 12, true));
        assert!(noted(&[]).is_none());
    }
}
