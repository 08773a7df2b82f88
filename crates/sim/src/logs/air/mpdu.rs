//! Bytes of 802.11 frames without FCS, for simulated frames (IEEE 802.11-2012, clauses 8.2 and 8.3; block
//! acknowledgements: 802.11-2016, 9.3.1.8 and 9.3.1.9).

use super::datagram::{self, Contents};
use super::ip::group_hardware_address;
use crate::medium::{Frame, Load};
use multihop_core::{FlowId, FrameKind, NodeId, Span};

/// Size of the frame check sequence.
pub(super) const FCS: u32 = 4;
/// Size of the MAC header of a DATA frame with three addresses.
const DATA_HEADER: u32 = 24;
/// Size of the QoS Control field (802.11-2016, 9.2.4.5).
const QOS_CONTROL: u32 = 2;
/// Maximum size of the headers behind the MAC header: LLC/SNAP, IPv4, and TCP with all options. A source
/// route, a congestion header and a message of a routing protocol are counted separately.
const PLAIN_HEADERS: usize = 8 + 20 + 60;

// First byte of the Frame Control field: subtype, type, protocol version 0 (8.2.4.1).
const RTS: u8 = 0xb4;
const CTS: u8 = 0xc4;
const ACK: u8 = 0xd4;
const BLOCK_ACK_REQUEST: u8 = 0x84;
const BLOCK_ACK: u8 = 0x94;
const CF_END: u8 = 0xe4;
const DATA: u8 = 0x08;
/// DATA with an empty body, or one too short for an 802.2 header.
const NULL: u8 = 0x48;
/// Bit of QoS Data frames.
const QOS: u8 = 0x80;
/// Bits that make DATA the subtype of probes: 1001, which 802.11-1999 reserves (Barreto 2015, section 3.2).
const PROBE: u8 = 0x90;

/// Retry bit in the second byte of the Frame Control field.
const RETRY: u8 = 0x08;

/// Bit of the `QoS` Control field: the body is an A-MSDU (9.2.4.5.9). The acknowledgement policy is zero,
/// "normal ack", which in an A-MPDU requests a block acknowledgement.
const A_MSDU_PRESENT: u8 = 0x80;
/// Size of the header of an A-MSDU subframe: two addresses and a length (9.3.2.2).
const SUBFRAME_HEADER: usize = 14;
/// Alignment of A-MSDU subframes.
const SUBFRAME_ALIGNMENT: usize = 4;

/// BA Control field of a compressed block ack and of its request: type 2 (table 9-24). The four highest bits
/// of the second byte contain the traffic identifier.
const COMPRESSED: u8 = 2 << 1;
/// Value of the fragment number for a bitmap of 32 bytes (802.11ax-2021, table 9-30b).
const BITMAP_OF_32_BYTES: u16 = 4;
/// Size of a block ack without its bitmap: MAC header, control, starting sequence number, FCS.
const BLOCK_ACK_OVERHEAD: u32 = 24;

/// Returns the size of the MAC header of a DATA frame.
pub(super) const fn data_header(qos: bool) -> u32 {
    if qos { DATA_HEADER + QOS_CONTROL } else { DATA_HEADER }
}

/// Returns the size of the longest frame that contains a datagram.
pub(super) const fn longest(qos: bool) -> usize {
    data_header(qos) as usize + 8 + 65_535 + FCS as usize
}

/// BSSID of all nodes, which form one independent BSS without a distribution system.
const BSSID: [u8; 6] = [0x02, 0xff, 0, 0, 0, 0];

/// Returns the locally administered MAC address of a node; the broadcast address for none.
pub(super) fn address(node: Option<NodeId>) -> [u8; 6] {
    node.map_or([0xff; 6], |node| {
        let [a, b, c, d] = node.0.to_be_bytes();
        [0x02, 0, a, b, c, d]
    })
}

/// Frame, or MPDU of an A-MPDU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit<'p> {
    pub(super) frame: &'p Frame,
    /// Size from the MAC header to the FCS.
    pub(super) bytes: u32,
    pub(super) sequence: u32,
    pub(super) retry: bool,
    /// Traffic identifier of DATA.
    pub(super) tid: u8,
    /// Acknowledged MPDUs of a block ack, or of a request for one.
    pub(super) acknowledged: Option<&'p Load>,
    /// Packets of the frame; several packets form an A-MSDU.
    pub(super) contents: &'p [Contents<'p>],
    /// Whether DATA frames are QoS Data frames.
    pub(super) qos: bool,
    /// Size of the LLC header of each packet in an A-MSDU.
    pub(super) llc: u32,
}

impl Unit<'_> {
    /// Maximum number of captured bytes.
    pub(super) fn capture_length(&self) -> usize {
        let headers = |contents: &Contents| PLAIN_HEADERS + contents.extra_bytes();
        let previous_end = match self.contents {
            [] | [_] => 0,
            [previous @ .., _] => previous.iter().fold(0, |end, contents| self.subframe_end(end, contents)),
        };
        let header = if self.contents.len() > 1 { SUBFRAME_HEADER } else { 0 };
        data_header(self.qos) as usize
            + previous_end.next_multiple_of(SUBFRAME_ALIGNMENT)
            + header
            + self.contents.last().map_or(PLAIN_HEADERS, headers)
    }

    /// Returns the end of an A-MSDU subframe that follows one ending at `end`.
    fn subframe_end(&self, end: usize, contents: &Contents) -> usize {
        end.next_multiple_of(SUBFRAME_ALIGNMENT) + SUBFRAME_HEADER + self.msdu_size(contents)
    }

    /// Whether the frame is a probe of the link. A probe that shares an A-MSDU has the subtype of the others.
    fn is_probe(&self) -> bool {
        matches!(self.contents, [alone] if alone.packet.is_probe())
    }

    /// Returns the flow that sends for the multicast group to which the frame is addressed.
    fn group(&self) -> Option<FlowId> {
        let packet = self.contents.first().filter(|_| self.frame.to.is_none())?.packet;
        packet.is_multicast().then_some(packet.flow)
    }

    /// Returns the size of a packet in an A-MSDU, with its LLC header.
    fn msdu_size(&self, contents: &Contents) -> usize {
        (contents.packet.size + self.llc) as usize
    }
}

/// Appends the first bytes of a frame, at most [`Unit::capture_length`]. The caller fills the rest of the
/// frame with zeros.
///
/// The size of a DATA frame with contents must be at least that of its MAC header and FCS.
pub(super) fn put(out: &mut Vec<u8>, unit: &Unit) {
    let start = out.len();
    let Unit { frame, qos, .. } = *unit;
    let body = unit.bytes.saturating_sub(data_header(qos) + FCS) as usize;
    let quality = if qos { QOS } else { 0 };
    let kind = match frame.kind {
        FrameKind::Rts => RTS,
        FrameKind::Cts => CTS,
        FrameKind::Ack => ACK,
        FrameKind::BlockAckRequest => BLOCK_ACK_REQUEST,
        FrameKind::BlockAck => BLOCK_ACK,
        FrameKind::CfEnd => CF_END,
        FrameKind::Data if unit.is_probe() => DATA | PROBE,
        FrameKind::Data if body < datagram::SHORTEST => NULL | quality,
        FrameKind::Data => DATA | quality,
    };
    out.extend([kind, if unit.retry { RETRY } else { 0 }]);
    out.extend(duration(frame.duration).to_le_bytes());
    out.extend(unit.group().map_or_else(|| address(frame.to), group_hardware_address));
    match frame.kind {
        FrameKind::Cts | FrameKind::Ack => {}
        FrameKind::CfEnd => out.extend(BSSID), // 802.11-2020, 9.3.1.6
        _ => out.extend(address(Some(frame.from))),
    }
    if let Some(acknowledged) = unit.acknowledged {
        put_block_ack(out, unit, acknowledged);
    }
    if let [first, others @ ..] = unit.contents {
        out.extend(BSSID);
        out.extend((((unit.sequence & 0xfff) << 4) as u16).to_le_bytes());
        if qos {
            out.extend([unit.tid | if others.is_empty() { 0 } else { A_MSDU_PRESENT }, 0]);
        }
        if others.is_empty() {
            datagram::put(out, body, first);
        } else {
            put_a_msdu(out, unit);
        }
    }
    debug_assert!(out.len() - start <= unit.capture_length());
}

/// Appends the fields behind the addresses of a block ack, or of a request for one, which has no bitmap.
fn put_block_ack(out: &mut Vec<u8>, unit: &Unit, acknowledged: &Load) {
    let has_bitmap = unit.frame.kind == FrameKind::BlockAck;
    let bitmap = if has_bitmap { (unit.bytes - BLOCK_ACK_OVERHEAD) as usize } else { 0 };
    let words = acknowledged.arrived.words();
    let size = if bitmap > size_of::<u64>() { BITMAP_OF_32_BYTES } else { 0 };
    out.extend([COMPRESSED, acknowledged.tid << 4]);
    out.extend((acknowledged.start << 4 | size).to_le_bytes());
    out.extend(words.into_iter().flat_map(u64::to_le_bytes).take(bitmap));
}

/// Appends the subframes of an A-MSDU. Their addresses are those of the hop, because nothing is bridged.
fn put_a_msdu(out: &mut Vec<u8>, unit: &Unit) {
    let body = out.len();
    for contents in unit.contents {
        out.resize(body + (out.len() - body).next_multiple_of(SUBFRAME_ALIGNMENT), 0);
        out.extend(address(unit.frame.to));
        out.extend(address(Some(unit.frame.from)));
        let length = unit.msdu_size(contents);
        out.extend((length as u16).to_be_bytes());
        let start = out.len();
        datagram::put(out, length, contents);
        out.resize(start + length, 0);
    }
    out.truncate(body - data_header(unit.qos) as usize + unit.capture_length());
}

/// Returns the Duration field in whole microseconds, limited to 15 bits. Frames under ns-2 rules may exceed
/// the limit.
fn duration(span: Span) -> u16 {
    const MAX: u64 = (1 << 15) - 1;
    span.rounded_up(Span::from_us(1)).whole(Span::from_us(1)).min(MAX) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::air::datagram::Transport;
    use crate::medium::{RateClass, RateSet};
    use crate::slab::Slab;
    use multihop_core::{FlowId, Interval, Packet, Port, Segment, Time};

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

    fn unit<'p>(frame: &'p Frame, contents: &'p [Contents<'p>], qos: bool) -> Unit<'p> {
        let Frame { bytes, sequence, retry, .. } = *frame;
        Unit { frame, bytes, sequence, retry, tid: 0, acknowledged: None, contents, qos, llc: 8 }
    }

    fn bytes(unit: &Unit) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, unit);
        out
    }

    fn packet(number: u64) -> Packet {
        Packet {
            segment: Segment::default(),
            flow: FlowId::ROUTING,
            port: Port::Receiver,
            source: NodeId(1),
            destination: NodeId::BROADCAST,
            size: 60,
            number,
            created: Time::ZERO,
            hops: 0,
        }
    }

    #[test]
    fn control_frames_have_the_standard_lengths() {
        let to = Some(NodeId(0x0102_0304));
        let of = |kind, length| bytes(&unit(&frame(kind, to, length), &[], false));
        let rts = of(FrameKind::Rts, multihop_dot11::RTS_BYTES);
        assert_eq!(rts[..4], [0xb4, 0, 0x3a, 1]);
        assert_eq!(rts[4..10], [2, 0, 1, 2, 3, 4]);
        assert_eq!(rts[10..], [2, 0, 0, 0, 0, 1]);
        for (kind, length) in [(FrameKind::Cts, multihop_dot11::CTS_BYTES), (FrameKind::Ack, 14)] {
            assert_eq!(of(kind, length).len() as u32 + FCS, length);
        }
        assert_eq!(rts.len() as u32 + FCS, multihop_dot11::RTS_BYTES);
    }

    #[test]
    fn a_duration_is_rounded_up_to_15_bits() {
        assert_eq!(duration(Span::from_ns(1_627_273)), 1_628);
        assert_eq!(duration(Span::from_ms(400)), 32_767);
    }

    #[test]
    fn broadcasts_are_addressed_to_all_ones_and_sequence_numbers_wrap() {
        let mut packets = Slab::default();
        let handle = packets.insert(packet(0));
        let contents = [Contents::of(&packets, handle, NodeId(1), Transport::Udp)];
        let of = |length, qos| bytes(&unit(&frame(FrameKind::Data, None, length), &contents, qos));
        let plain = of(96, false);
        assert_eq!(plain[..2], [DATA, RETRY]);
        assert_eq!(plain[4..10], [0xff; 6]);
        assert_eq!(plain[22..24], [0xc0, 0xab]);
        let empty = of(28, false);
        assert_eq!((empty[0], empty.len()), (NULL, 24), "a frame without a body");
        let qos = of(98, true);
        assert_eq!((qos[0], &qos[22..32]), (0x88, &[0xc0, 0xab, 0, 0, 0xaa, 0xaa, 3, 0, 0, 0][..]));
    }

    /// 802.11-2016, 9.3.1.8 and 9.3.1.9; 802.11ax-2021, table 9-30b.
    #[test]
    fn block_acks_have_the_standard_lengths() {
        let mut acknowledged = Load { start: 0xabc, tid: 6, ..Load::default() };
        for place in [0, 9, 63, 64, 255] {
            acknowledged.arrived.set(place);
        }
        let of = |kind, length| {
            let frame = frame(kind, Some(NodeId(2)), length);
            let bytes = bytes(&Unit { acknowledged: Some(&acknowledged), ..unit(&frame, &[], true) });
            assert_eq!(bytes.len() as u32 + FCS, length);
            bytes
        };
        let request = of(FrameKind::BlockAckRequest, 24);
        assert_eq!((request[0], &request[4..16]), (0x84, &[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1][..]));
        assert_eq!(request[16..], [4, 0x60, 0xc0, 0xab]);
        let short = of(FrameKind::BlockAck, 32);
        assert_eq!((short[0], &short[16..]), (0x94, &[4, 0x60, 0xc0, 0xab, 1, 2, 0, 0, 0, 0, 0, 0x80][..]));
        let long = of(FrameKind::BlockAck, 56);
        assert_eq!((&long[16..22], &long[27..29]), (&[4, 0x60, 0xc4, 0xab, 1, 2][..], &[0x80, 1][..]));
        assert_eq!((&long[29..51], long[51]), (&[0; 22][..], 0x80));
    }

    /// The first subframe has 14 bytes of header and 68 of packet with LLC, padded from 82 to 84 bytes.
    #[test]
    fn every_packet_of_an_a_msdu_has_a_subframe_header() {
        let mut packets = Slab::default();
        let handles = [packets.insert(packet(0)), packets.insert(packet(1))];
        let contents = handles.map(|handle| Contents::of(&packets, handle, NodeId(1), Transport::Udp));
        let frame = frame(FrameKind::Data, Some(NodeId(2)), 26 + 84 + 82 + FCS);
        let unit = Unit { tid: 5, ..unit(&frame, &contents, true) };
        let bytes = bytes(&unit);
        assert_eq!((bytes[0], &bytes[24..26]), (0x88, &[0x85, 0][..]));
        let header = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0, 68, 0xaa, 0xaa, 3];
        for start in [26, 26 + 84] {
            assert_eq!(bytes[start..start + 17], header);
            assert_eq!(bytes[start + 22..start + 24], [0x45, 0], "IPv4 behind LLC");
        }
        assert_eq!((bytes[26 + 82], bytes[26 + 83], bytes.len()), (0, 0, 26 + 84 + 82));
        assert_eq!(unit.capture_length(), 26 + 84 + 14 + PLAIN_HEADERS);
    }
}
