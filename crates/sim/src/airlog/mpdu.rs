//! 802.11 frames made of simulated ones (IEEE 802.11-2012, clauses 8.2 and 8.3), without their FCS.

use super::datagram::{self, Contents};
use crate::medium::Frame;
use multihop_core::{FrameKind, NodeId, Span};

/// Bytes of the frame check sequence.
pub(super) const FCS: u32 = 4;
/// Bytes of the MAC header of a DATA frame with three addresses.
const DATA_HEADER: u32 = 24;
/// Bytes that quality of service adds to it (802.11-2016, 9.2.4.5).
const QOS_CONTROL: u32 = 2;
/// Bytes of a frame that its headers behind that of the MAC can take: LLC/SNAP, IPv4, and TCP with all options. More with a source
/// route, a congestion header or a message of a routing protocol.
const PLAIN_HEADERS: usize = 8 + 20 + 60;

// The first byte of the frame control field: subtype, type, and protocol version 0 (8.2.4.1).
const RTS: u8 = 0xb4;
const CTS: u8 = 0xc4;
const ACK: u8 = 0xd4;
const BLOCK_ACK_REQUEST: u8 = 0x84;
const BLOCK_ACK: u8 = 0x94;
const DATA: u8 = 0x08;
/// Of DATA without a body, or with one that is too short for any.
const NULL: u8 = 0x48;
/// Of DATA with quality of service.
const QOS: u8 = 0x80;

const RETRY: u8 = 0x08;

/// Bytes of the MAC header of a DATA frame, with quality of service or without.
pub(super) const fn data_header(qos: bool) -> u32 {
    if qos { DATA_HEADER + QOS_CONTROL } else { DATA_HEADER }
}

/// Bytes of the longest frame that holds a datagram.
pub(super) const fn longest(qos: bool) -> usize {
    data_header(qos) as usize + 8 + 65_535 + FCS as usize
}

/// Everyone's network: an independent one, in which frames go neither to nor from a distribution system.
const BSSID: [u8; 6] = [0x02, 0xff, 0, 0, 0, 0];

/// A node's address, locally administered; all ones for none in particular.
pub(super) fn address(node: Option<NodeId>) -> [u8; 6] {
    node.map_or([0xff; 6], |node| {
        let [a, b, c, d] = node.0.to_be_bytes();
        [0x02, 0, a, b, c, d]
    })
}

/// Bytes of a frame with these contents that are kept.
pub(super) fn kept(contents: Option<&Contents>, qos: bool) -> usize {
    data_header(qos) as usize + PLAIN_HEADERS + contents.map_or(0, Contents::kept)
}

/// Appends the first bytes of a frame, at most as many as are [`kept`]; what is missing at its end is zero. DATA frames may be those of
/// quality of service, of best effort (traffic identifier 0).
///
/// A DATA frame with contents must have at least [`data_header`] and `FCS` bytes.
pub(super) fn put(out: &mut Vec<u8>, frame: &Frame, contents: Option<&Contents>, qos: bool) {
    let start = out.len();
    let body = frame.bytes.saturating_sub(data_header(qos) + FCS) as usize;
    let quality = if qos { QOS } else { 0 };
    let kind = match frame.kind {
        FrameKind::Rts => RTS,
        FrameKind::Cts => CTS,
        FrameKind::Ack => ACK,
        FrameKind::BlockAckRequest => BLOCK_ACK_REQUEST,
        FrameKind::BlockAck => BLOCK_ACK,
        FrameKind::Data if body < datagram::SHORTEST => NULL | quality,
        FrameKind::Data => DATA | quality,
    };
    out.extend([kind, if frame.retry { RETRY } else { 0 }]);
    out.extend(duration(frame.duration).to_le_bytes());
    out.extend(address(frame.to));
    if matches!(frame.kind, FrameKind::Rts | FrameKind::Data) {
        out.extend(address(Some(frame.from)));
    }
    if let Some(contents) = contents {
        out.extend(BSSID);
        out.extend((((frame.sequence & 0xfff) << 4) as u16).to_le_bytes());
        if qos {
            out.extend([0; QOS_CONTROL as usize]);
        }
        datagram::put(out, body, contents);
    }
    debug_assert!(out.len() - start <= kept(contents, qos));
}

/// The duration field in whole microseconds, 15 bits of them; ns-2's rules allow frames that would need more.
fn duration(span: Span) -> u16 {
    const MOST: u64 = (1 << 15) - 1;
    span.rounded_up(Span::from_us(1)).whole(Span::from_us(1)).min(MOST) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medium::{RateClass, RateSet};
    use multihop_core::{Interval, Time};

    fn frame(kind: FrameKind, to: Option<NodeId>, bytes: u32) -> Frame {
        Frame {
            kind,
            from: NodeId(1),
            to,
            duration: Span::from_us(314),
            bytes,
            rate: RateClass::Data,
            rates: RateSet::NOMINAL,
            packet: None,
            sequence: 4096 + 0xabc,
            report: None,
            load: None,
            retry: kind == FrameKind::Data,
            overhead: Span::ZERO,
            air: Interval { start: Time::ZERO, end: Time::ZERO },
        }
    }

    fn bytes(frame: &Frame) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, frame, None, false);
        out
    }

    #[test]
    fn control_frames_are_as_long_as_the_standard_says() {
        let to = Some(NodeId(0x0102_0304));
        let rts = bytes(&frame(FrameKind::Rts, to, multihop_dot11::RTS_BYTES));
        assert_eq!(rts[..4], [0xb4, 0, 0x3a, 1]);
        assert_eq!(rts[4..10], [2, 0, 1, 2, 3, 4]);
        assert_eq!(rts[10..], [2, 0, 0, 0, 0, 1]);
        for (kind, length) in [(FrameKind::Cts, multihop_dot11::CTS_BYTES), (FrameKind::Ack, 14)] {
            assert_eq!(bytes(&frame(kind, to, length)).len() as u32 + FCS, length);
        }
        assert_eq!(rts.len() as u32 + FCS, multihop_dot11::RTS_BYTES);
    }

    #[test]
    fn a_duration_is_rounded_up_and_has_15_bits() {
        assert_eq!(duration(Span::from_ns(1_627_273)), 1_628);
        assert_eq!(duration(Span::from_ms(400)), 32_767);
    }

    #[test]
    fn a_broadcast_is_for_all_ones_and_sequence_numbers_wrap() {
        use crate::airlog::datagram::Transport;
        use crate::slab::Slab;
        use multihop_core::{FlowId, Packet, Port, Segment};
        let packet = Packet {
            segment: Segment::default(),
            flow: FlowId::ROUTING,
            port: Port::Receiver,
            source: NodeId(1),
            destination: NodeId::BROADCAST,
            size: 60,
            number: 0,
            created: Time::ZERO,
            hops: 0,
        };
        let mut packets = Slab::default();
        let handle = packets.insert(packet);
        let contents = Contents::of(&packets, handle, NodeId(1), Transport::Udp);
        let mut out = Vec::new();
        put(&mut out, &frame(FrameKind::Data, None, 96), Some(&contents), false);
        assert_eq!(out[..2], [DATA, RETRY]);
        assert_eq!(out[4..10], [0xff; 6]);
        assert_eq!(out[22..24], [0xc0, 0xab]);
        out.clear();
        put(&mut out, &frame(FrameKind::Data, None, 28), Some(&contents), false);
        assert_eq!((out[0], out.len()), (NULL, 24), "there is no body");
        out.clear();
        put(&mut out, &frame(FrameKind::Data, None, 98), Some(&contents), true);
        assert_eq!((out[0], &out[22..32]), (0x88, &[0xc0, 0xab, 0, 0, 0xaa, 0xaa, 3, 0, 0, 0][..]));
    }
}
