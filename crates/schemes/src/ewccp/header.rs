//! The congestion header of EWCCP (Tan, Jiang, Zhang and Shen, Figure 2), and what the receiver returns. The
//! paper names the fields and not their sizes.

use multihop_core::{Bits, Header, HeaderBytes, Segment, header};
use multihop_transport::Echo;

header! {
    /// The congestion header of EWCCP (Tan, Jiang, Zhang and Shen, Figure 2)
    pub struct EwccpHeader: "ewccp", 3, 8 of 28 {
        /// 32-bit words of the link's part: none on acknowledgements
        words: Bits<3> [0..1, bit 5] "words",
        /// Round-trip time of the sender; 0 if it has none yet, and on acknowledgements
        rtt: u16 [1..3] "100 us",
        /// The feedback is credit for an initial window, as no link of the path was congested
        probe: bool [3..4, bit 7] "",
        /// Packets that the feedback is of: 1 in data, 0 in what carries none; in acknowledgements as many as
        /// arrived since the last
        packets: Bits<7> [3..4, bit 0] "packets",
        /// What the window is to be closed by, or to be set to after a probe
        feedback: u32 [4..8] "B/256",
        /// The link's mean queue in the last round (piggyback)
        link_queue: u16 [8..10] "16 B",
        /// Number of that round
        link_sequence: u8 [10..11] "",
        /// There was such a round
        link_known: bool [11..12, bit 0] "",
        /// The sender of the link found it congested
        link_congested: bool [11..12, bit 1] "",
        /// The links that its feedback counted, as a Bloom filter of up to 128 bits
        link_summary: [u64; 2] [12..28] "",
    }
}

/// The link's part of the header, which each hop fills in anew, from the router at one end of the link to
/// that at the other.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct EwccpLink {
    pub queue: u16,
    pub sequence: u8,
    pub is_known: bool,
    pub congested: bool,
    pub summary: [u64; 2],
}

impl EwccpHeader {
    /// Bytes of the end-to-end part.
    pub const BYTES: u32 = EwccpHeader::LAYOUT.air as u32;
    /// Bytes of the link's part besides its summary.
    pub const LINK_BYTES: u32 = 4;
    /// Units of feedback in a byte.
    pub const PER_BYTE: f64 = 256.0;

    /// A round-trip time as it is in the header, at least one unit: 0 is unknown.
    pub fn units(seconds: f64) -> u16 {
        (seconds * 1e4).round().clamp(1.0, f64::from(u16::MAX)) as u16
    }

    /// A round-trip time of the header in seconds.
    pub fn seconds(rtt: u16) -> f64 {
        f64::from(rtt) / 1e4
    }

    /// The feedback in bytes.
    pub fn bytes(&self) -> f64 {
        f64::from(self.feedback) / EwccpHeader::PER_BYTE
    }

    /// The link's part.
    pub(super) fn link(&self) -> EwccpLink {
        EwccpLink {
            queue: self.link_queue,
            sequence: self.link_sequence,
            is_known: self.link_known,
            congested: self.link_congested,
            summary: self.link_summary,
        }
    }

    /// The same header with this link's part.
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

/// Feedback adds up like XCP's, and so does the number of packets; the answer to a probe means something else
/// and stands alone.
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

    /// Two data packets of one acknowledgement: their numbers and their feedback add up; of what follows a
    /// probe the last counts.
    #[test]
    fn an_echo_adds_up_what_was_fed_back() {
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
