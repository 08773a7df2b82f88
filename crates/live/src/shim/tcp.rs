//! Fields of TCP segments that the shim needs (RFC 9293), and the two that it limits.

use crate::datagram::set_byte;

const PROTOCOL: u8 = 6;
const HEADER: usize = 20;
const WINDOW: usize = 14;
const CHECKSUM: usize = 16;
/// Length of the timestamps option with its padding (RFC 7323, appendix A).
const TIMESTAMPS: u16 = 12;

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

/// Identifier of a direction of a connection.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct StreamId {
    source: [u8; 4],
    destination: [u8; 4],
    ports: [[u8; 2]; 2],
}

impl StreamId {
    /// The other direction.
    pub fn reversed(self) -> StreamId {
        let StreamId { source, destination, ports: [from, to] } = self;
        StreamId { source: destination, destination: source, ports: [to, from] }
    }
}

/// Header of a segment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct TcpSegment {
    pub stream: StreamId,
    pub seq: u32,
    pub ack: u32,
    pub payload: u32,
    flags: u8,
    /// Offsets of the start and the end of the header.
    from: usize,
    to: usize,
}

/// Options of a SYN.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct SynOptions {
    /// Window scale, if offered (RFC 7323, section 2.2).
    pub scale: Option<u8>,
    timestamps: bool,
    /// Offset and value of the maximum segment size.
    mss: Option<(usize, u16)>,
}

impl TcpSegment {
    /// Parses a packet that [`Datagram::parse`](crate::datagram::Datagram::parse) has accepted. None if it is
    /// not a complete segment.
    pub fn parse(packet: &[u8]) -> Option<TcpSegment> {
        let word = |at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
        let four = |at: usize| [packet[at], packet[at + 1], packet[at + 2], packet[at + 3]];
        let (from, end) = (usize::from(packet[0] & 15) * 4, usize::from(word(2)));
        let is_fragment = word(6) & 0x3fff != 0;
        if packet[9] != PROTOCOL || is_fragment || end < from + HEADER {
            return None;
        }
        let to = from + usize::from(packet[from + 12] >> 4) * 4;
        let ports = [[packet[from], packet[from + 1]], [packet[from + 2], packet[from + 3]]];
        (to >= from + HEADER && to <= end).then(|| TcpSegment {
            stream: StreamId { source: four(12), destination: four(16), ports },
            seq: u32::from_be_bytes(four(from + 4)),
            ack: u32::from_be_bytes(four(from + 8)),
            payload: (end - to) as u32,
            flags: packet[from + 13],
            from,
            to,
        })
    }

    pub fn opens(&self) -> bool {
        self.flags & SYN != 0
    }

    pub fn ends(&self) -> bool {
        self.flags & FIN != 0
    }

    pub fn resets(&self) -> bool {
        self.flags & RST != 0
    }

    pub fn acknowledges(&self) -> bool {
        self.flags & ACK != 0
    }

    /// Number of sequence numbers of the segment.
    pub fn length(&self) -> u32 {
        self.payload + u32::from(self.opens()) + u32::from(self.ends())
    }

    /// Sequence number after the segment.
    pub fn end(&self) -> u32 {
        self.seq.wrapping_add(self.length())
    }

    /// Options of a SYN. Options after a broken one are ignored.
    pub fn offer(&self, packet: &[u8]) -> SynOptions {
        let mut offer = SynOptions::default();
        let mut at = self.from + HEADER;
        while at < self.to {
            let length = match packet[at] {
                0 => break,
                1 => 1,
                _ => packet.get(at + 1).map_or(0, |length| usize::from(*length)),
            };
            if length == 0 || at + length > self.to {
                break;
            }
            match (packet[at], length) {
                (2, 4) => offer.mss = Some((at + 2, u16::from_be_bytes([packet[at + 2], packet[at + 3]]))),
                // "If a Window Scale option is received with a shift.cnt value larger than 14, the TCP MUST
                // [...] use 14".
                (3, 3) => offer.scale = Some(packet[at + 2].min(14)),
                (8, 10) => offer.timestamps = true,
                _ => {}
            }
            at += length;
        }
        offer
    }

    /// Lowers the MSS option of a SYN with these parsed options (`offer`), so that segments carry at most
    /// `payload` bytes besides their timestamps. A SYN without the option is not changed.
    pub fn limit_payload(&self, packet: &mut [u8], offer: SynOptions, payload: u32) {
        let timestamps = if offer.timestamps { TIMESTAMPS } else { 0 };
        let most = u16::try_from(payload).unwrap_or(u16::MAX).saturating_add(timestamps);
        if let Some((at, _)) = offer.mss.filter(|(_, mss)| *mss > most) {
            self.put(packet, at, most);
        }
    }

    /// Limits the advertised window to `most` bytes, rounded up to a multiple of the scale.
    pub fn limit_window(&self, packet: &mut [u8], most: u64, scale: u8) {
        let at = self.from + WINDOW;
        let most = u16::try_from(most.div_ceil(1 << scale)).unwrap_or(u16::MAX);
        if u16::from_be_bytes([packet[at], packet[at + 1]]) > most {
            self.put(packet, at, most);
        }
    }

    fn put(&self, packet: &mut [u8], at: usize, word: u16) {
        for (at, byte) in (at - self.from..).zip(word.to_be_bytes()) {
            set_byte(&mut packet[self.from..], at, byte, CHECKSUM);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datagram::Datagram;
    use multihop_core::Rng;

    /// A SYN from port 1 to port 2 with these options and a correct checksum.
    fn syn(options: &[u8]) -> Vec<u8> {
        let mut packet = vec![0; 40];
        packet[0] = 0x45;
        packet[3] = (40 + options.len()) as u8;
        packet[9] = 6;
        packet[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        packet[20..24].copy_from_slice(&[0, 1, 0, 2]);
        packet[32] = ((20 + options.len()) / 4 * 16) as u8;
        packet[33] = SYN;
        packet[34..36].copy_from_slice(&64_240_u16.to_be_bytes());
        packet.extend_from_slice(options);
        let sum = !sum(&packet[20..]);
        packet[36..38].copy_from_slice(&sum.to_be_bytes());
        packet
    }

    fn sum(bytes: &[u8]) -> u16 {
        let mut sum: u32 = bytes.chunks(2).map(|two| u32::from(u16::from_be_bytes([two[0], two[1]]))).sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    #[test]
    fn a_syn_offers_and_is_limited() {
        // MSS 1460, SACK permitted, timestamps, no operation, window scale 7, as in Linux.
        let options = [2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7];
        let mut packet = syn(&options);
        let segment = TcpSegment::parse(&packet).unwrap();
        let offer = segment.offer(&packet);
        assert_eq!((offer.scale, offer.timestamps, offer.mss), (Some(7), true, Some((42, 1460))));
        assert!(segment.opens() && !segment.acknowledges());
        assert_eq!((segment.length(), segment.end()), (1, 1));
        segment.limit_payload(&mut packet, offer, 2_000);
        assert_eq!(packet, syn(&options), "it is below that already");
        segment.limit_payload(&mut packet, offer, 1_000);
        assert_eq!(packet[42..44], 1_012_u16.to_be_bytes(), "12 bytes are the timestamps'");
        segment.limit_window(&mut packet, 2_001, 4);
        assert_eq!(packet[34..36], 126_u16.to_be_bytes(), "rounded up");
        segment.limit_window(&mut packet, 1 << 40, 4);
        assert_eq!(packet[34..36], 126_u16.to_be_bytes(), "it is below that already");
        assert_eq!(sum(&packet[20..]), 0xffff);
    }

    /// The maximum segment size at an odd offset is in two words of the checksum.
    #[test]
    fn options_may_be_at_any_offset() {
        let mut packet = syn(&[1, 2, 4, 5, 180, 0, 0, 0]);
        let segment = TcpSegment::parse(&packet).unwrap();
        let offer = segment.offer(&packet);
        segment.limit_payload(&mut packet, offer, 536);
        assert_eq!(packet[43..45], 536_u16.to_be_bytes());
        assert_eq!(sum(&packet[20..]), 0xffff);
    }

    #[test]
    fn directions_are_each_others_reverse() {
        let there = TcpSegment::parse(&syn(&[])).unwrap().stream;
        assert_ne!(there, there.reversed());
        assert_eq!(there, there.reversed().reversed());
    }

    #[test]
    fn no_bytes_panic() {
        let mut rng = Rng::at(1, &["segments"]);
        let mut parsed = 0;
        for _ in 0..200_000 {
            let mut packet = syn(&[2, 4, 5, 180, 1, 3, 3, 7]);
            for _ in 0..rng.below(6) {
                let at = rng.below(packet.len() as u32) as usize;
                packet[at] = rng.below(256) as u8;
            }
            packet.truncate(rng.below(60) as usize + 20);
            if Datagram::parse(&packet).is_ok()
                && let Some(segment) = TcpSegment::parse(&packet)
            {
                parsed += 1;
                let offer = segment.offer(&packet);
                segment.limit_payload(&mut packet, offer, rng.below(2_000));
                segment.limit_window(&mut packet, u64::from(rng.below(2_000)), offer.scale.unwrap_or(0));
            }
        }
        assert!(parsed > 20_000, "{parsed}");
    }
}
