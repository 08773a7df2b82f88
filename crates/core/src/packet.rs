//! Segments, which transports emit, and packets, which nodes queue and forward.

use crate::{FlowId, HeaderBytes, NodeId, Port, Span, Time};
use serde::Serialize;

/// The ECN codepoint of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Ecn {
    /// 00: the transport does not understand ECN; never mark.
    #[default]
    NotCapable,
    /// 10: the transport understands ECN; sent by TCP.
    Ect0,
    /// 01: equal to 10 for a router of RFC 3168. Schemes that encode three states in two bits give it a
    /// meaning of its own.
    Ect1,
    /// 11: congestion was experienced.
    CongestionExperienced,
}

impl Ecn {
    /// The codepoint of the two lowest bits; higher bits are ignored.
    pub const fn from_bits(bits: u8) -> Ecn {
        match bits & 0b11 {
            0b00 => Ecn::NotCapable,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::CongestionExperienced,
        }
    }

    /// The two bits of the codepoint.
    pub const fn bits(self) -> u8 {
        match self {
            Ecn::NotCapable => 0b00,
            Ecn::Ect1 => 0b01,
            Ecn::Ect0 => 0b10,
            Ecn::CongestionExperienced => 0b11,
        }
    }
}

/// The differentiated services codepoint of the IP header (RFC 2474): the six bits before those of ECN.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Dscp(u8);

impl Dscp {
    /// Default forwarding.
    pub const BEST_EFFORT: Dscp = Dscp(0);

    /// Class selector 6, for packets of routing protocols (RFC 4594, section 3.2).
    pub const CS6: Dscp = Dscp(48);

    /// The codepoints that have names (RFC 2474, 2597, 3246, 5865 and 8622).
    pub const NAMED: [(&'static str, Dscp); 24] = [
        ("DF", Dscp::BEST_EFFORT),
        ("LE", Dscp(1)),
        ("CS0", Dscp(0)),
        ("CS1", Dscp(8)),
        ("CS2", Dscp(16)),
        ("CS3", Dscp(24)),
        ("CS4", Dscp(32)),
        ("CS5", Dscp(40)),
        ("CS6", Dscp::CS6),
        ("CS7", Dscp(56)),
        ("AF11", Dscp(10)),
        ("AF12", Dscp(12)),
        ("AF13", Dscp(14)),
        ("AF21", Dscp(18)),
        ("AF22", Dscp(20)),
        ("AF23", Dscp(22)),
        ("AF31", Dscp(26)),
        ("AF32", Dscp(28)),
        ("AF33", Dscp(30)),
        ("AF41", Dscp(34)),
        ("AF42", Dscp(36)),
        ("AF43", Dscp(38)),
        ("EF", Dscp(46)),
        ("VA", Dscp(44)),
    ];

    /// The codepoint of this number, if it has six bits.
    pub const fn new(number: u8) -> Option<Dscp> {
        if number < 64 { Some(Dscp(number)) } else { None }
    }

    /// Number of the codepoint.
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// TCP header flags in use.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Flags {
    /// The acknowledgement number is valid.
    pub ack: bool,
    /// Accurate ECN (RFC 9768).
    pub ae: bool,
    /// Congestion window reduced (RFC 3168).
    pub cwr: bool,
    /// ECN echo (RFC 3168).
    pub ece: bool,
    /// Push: the receiver delivers the data to the application at once (RFC 9293, section 3.9.1.2), and
    /// acknowledges it at once if the connection's options say so.
    pub psh: bool,
    /// Synchronize: opens a connection.
    pub syn: bool,
}

impl Flags {
    /// Number in the ACE field, three bits of AE, CWR and ECE (RFC 9768, section 3.2.2).
    pub const fn ace(self) -> u8 {
        (self.ae as u8) << 2 | (self.cwr as u8) << 1 | self.ece as u8
    }

    /// The same flags with the three lowest bits of a number in the ACE field.
    #[must_use]
    pub const fn with_ace(self, number: u8) -> Flags {
        Flags { ae: number & 4 != 0, cwr: number & 2 != 0, ece: number & 1 != 0, ..self }
    }
}

/// Byte counters of an `AccECN` option (RFC 9768, section 3.2.3): the 24 lowest bits of the numbers of
/// payload bytes that arrived with ECT(1), and with congestion experienced.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct AccEcnOption {
    ect1: [u8; 3],
    ce: [u8; 3],
}

impl AccEcnOption {
    /// Size of the option with two fields, in bytes.
    pub const LENGTH: u32 = 8;

    /// Option with these counters.
    pub const fn new(ect1: u64, ce: u64) -> AccEcnOption {
        const fn low(counter: u64) -> [u8; 3] {
            [(counter >> 16) as u8, (counter >> 8) as u8, counter as u8]
        }
        AccEcnOption { ect1: low(ect1), ce: low(ce) }
    }

    /// 24 bits of the number of bytes with ECT(1) (EE1B), in network byte order.
    pub const fn ect1(self) -> [u8; 3] {
        self.ect1
    }

    /// 24 bits of the number of bytes with congestion experienced (ECEB), in network byte order.
    pub const fn ce(self) -> [u8; 3] {
        self.ce
    }

    /// Number of bytes with congestion experienced since a counter with the same meaning, if fewer than 2^23.
    /// An option that was overtaken has more.
    pub const fn ce_since(self, counter: u64) -> Option<u64> {
        let [high, middle, low] = self.ce;
        let field = (high as u64) << 16 | (middle as u64) << 8 | low as u64;
        let since = field.wrapping_sub(counter) & 0xff_ffff;
        if since < 1 << 23 { Some(since) } else { None }
    }
}

/// A block of received bytes, `start..end` (RFC 2018).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SackBlock {
    /// First byte of the block.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

/// Up to three SACK blocks, the most recent first (RFC 2018, section 4).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SackBlocks {
    blocks: [SackBlock; 3],
    len: u8,
}

impl SackBlocks {
    /// Appends a block. A fourth one is ignored, as there is no room for it in the option.
    pub fn push(&mut self, block: SackBlock) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = block;
            self.len += 1;
        }
    }

    /// The blocks in use.
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.len)]
    }
}

/// Transport segment or datagram: the header fields in use and the number of payload bytes.
///
/// Sequence numbers count payload bytes from 0 and never wrap; for datagrams they count datagrams. A SYN
/// takes no sequence number here.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Segment {
    /// First payload byte (or the datagram's number).
    pub seq: u64,
    /// Next byte expected by the other side, if `flags.ack`.
    pub ack: u64,
    /// Offset of a datagram's first payload byte in the application's data; 0 for streams, where `seq` is
    /// that offset.
    pub offset: u64,
    /// Number of payload bytes.
    pub payload: u32,
    /// Transport and network header bytes, options included.
    pub header: u32,
    /// Header flags.
    pub flags: Flags,
    /// ECN codepoint of the network header.
    pub ecn: Ecn,
    /// Differentiated services codepoint of the network header.
    pub dscp: Dscp,
    /// Selective acknowledgements.
    pub sack: SackBlocks,
    /// Timestamp option (RFC 7323), if enabled. Data carries its own sending time (`TSval`), an
    /// acknowledgement the sending time of the segment that caused it (`TSecr`).
    pub echo: Option<Time>,
    /// The other half of the timestamp option, where a receiver tunes its window by it: time at which an
    /// acknowledgement was sent (`TSval`), and in data that of the last acknowledgement (`TSecr`), in
    /// microseconds modulo 2^32; 0 if unused.
    pub ack_stamp: u32,
    /// `AccECN` option (RFC 9768), with accurate ECN feedback.
    pub acc_ecn: Option<AccEcnOption>,
    /// Receive window in bytes that the sender of this segment advertises.
    pub window: u64,
    /// Whether the segment repeats payload sent earlier.
    pub retransmission: bool,
    /// Number of hops taken, as a host infers from the TTL. Set by the receiving node; 0 until then.
    pub hops: u16,
    /// Identification of the IP header: number of the packet within its flow and direction, modulo 2^16. Set
    /// together with `hops`.
    pub identification: u16,
    /// Stream within the flow. Packets from outside the simulator may belong to many connections, which fair
    /// queues separate by this number; 0 for all other packets.
    pub stream: u16,
    /// Congestion header, for transports that use one. `header` includes its bytes.
    pub feedback: HeaderBytes,
}

/// Packet in the network. Plain data: copied, never shared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet {
    /// Segment of the transport.
    pub segment: Segment,
    /// Flow of the packet. [`FlowId::ROUTING`] marks packets of routing protocols, [`FlowId::SIGNALLING`]
    /// those of a scheme's routers, [`FlowId::ARP`] address resolution, [`FlowId::PROBES`] probes of a link.
    pub flow: FlowId,
    /// End of the flow that the packet is addressed to.
    pub port: Port,
    /// Originating node.
    pub source: NodeId,
    /// Destination. [`NodeId::BROADCAST`] addresses every neighbour, or every receiver of a multicast flow.
    pub destination: NodeId,
    /// Bytes of the MSDU: payload and all headers above the MAC.
    pub size: u32,
    /// Number of the packet within its flow and port.
    pub number: u64,
    /// Time at which the transport emitted the packet.
    pub created: Time,
    /// Number of hops taken so far.
    pub hops: u16,
}

impl Packet {
    /// Identification of the IP header.
    pub fn identification(&self) -> u16 {
        self.number as u16
    }

    /// Whether a routing protocol sent the packet.
    pub fn is_routing(&self) -> bool {
        self.flow == FlowId::ROUTING
    }

    /// Whether the packet belongs to address resolution. Requests go from the senders' port to the
    /// receivers', replies back.
    pub fn is_arp(&self) -> bool {
        self.flow == FlowId::ARP
    }

    /// Whether the packet is a frame from outside the simulator, for one hop.
    pub fn is_outside(&self) -> bool {
        self.flow == FlowId::OUTSIDE
    }

    /// Whether the packet probes a link for the estimators of its sender.
    pub fn is_probe(&self) -> bool {
        self.flow == FlowId::PROBES
    }

    /// Whether the packet belongs to no flow.
    pub fn is_control(&self) -> bool {
        self.flow >= FlowId::PROBES
    }

    /// Whether the packet is addressed to all receivers of a multicast flow. The copy that a receiver got is
    /// addressed to that receiver.
    pub fn is_multicast(&self) -> bool {
        self.destination == NodeId::BROADCAST && !self.is_control()
    }

    /// Whether the packet carries payload. Acknowledgements and SYNs carry none.
    pub fn carries_data(&self) -> bool {
        self.segment.payload > 0
    }

    /// Whether the transport understands ECN, so that routers mark the packet instead of dropping it.
    pub fn understands_ecn(&self) -> bool {
        self.segment.ecn != Ecn::NotCapable
    }

    /// Sets congestion experienced if the transport understands ECN; otherwise changes nothing.
    pub fn mark(&mut self) {
        if matches!(self.segment.ecn, Ecn::Ect0 | Ecn::Ect1) {
            self.segment.ecn = Ecn::CongestionExperienced;
        }
    }

    /// Time since the transport emitted the packet.
    pub fn age(&self, now: Time) -> Span {
        now.since(self.created)
    }
}

/// Cause of a packet loss. Every loss has exactly one cause.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum DropCause {
    /// The interface queue was full.
    QueueFull,
    /// The MAC gave up after its retry limit.
    RetryLimit,
    /// The node has no route to the destination, or none was found for it in time.
    NoRoute,
    /// A router policy dropped the packet.
    Policy,
    /// The packet was queued for a next hop that routing declared broken, or was on a wire of which one end
    /// was switched off.
    LinkBroken,
    /// The packet exceeded the hop limit, or returned to its originating node.
    HopLimit,
    /// The packet exceeded its lifetime in the interface queue.
    Lifetime,
    /// The queue discipline dropped the packet to shorten the queue (active queue management).
    Aqm,
    /// A wire lost the packet at random.
    WireLoss,
    /// The packet arrived after the reordering buffer of the next hop had timed out and released later
    /// packets.
    Reordering,
    /// A receiver of a multicast flow did not decode the frame, which is sent once.
    Multicast,
}

impl DropCause {
    /// All causes, in the order of the results' columns.
    pub const ALL: [DropCause; 11] = [
        DropCause::QueueFull,
        DropCause::RetryLimit,
        DropCause::NoRoute,
        DropCause::Policy,
        DropCause::LinkBroken,
        DropCause::HopLimit,
        DropCause::Lifetime,
        DropCause::Aqm,
        DropCause::WireLoss,
        DropCause::Reordering,
        DropCause::Multicast,
    ];

    /// Name of the cause's column in the results.
    pub const fn name(self) -> &'static str {
        match self {
            DropCause::QueueFull => "queue_full",
            DropCause::RetryLimit => "retry_limit",
            DropCause::NoRoute => "no_route",
            DropCause::Policy => "policy",
            DropCause::LinkBroken => "link_broken",
            DropCause::HopLimit => "hop_limit",
            DropCause::Lifetime => "lifetime",
            DropCause::Aqm => "aqm",
            DropCause::WireLoss => "wire_loss",
            DropCause::Reordering => "reordering",
            DropCause::Multicast => "multicast",
        }
    }

    /// Description of the cause, as in the results.
    pub const fn meaning(self) -> &'static str {
        match self {
            DropCause::QueueFull => "the interface queue, or the queue of a wire, was full",
            DropCause::RetryLimit => "the MAC gave up after its retry limit",
            DropCause::NoRoute => "the node had no route to the destination, or found none in time",
            DropCause::Policy => "a router policy dropped the packet",
            DropCause::LinkBroken => {
                "the packet waited for a next hop that routing declared broken, or was on a wire whose end was switched off"
            }
            DropCause::HopLimit => "the packet exceeded the hop limit, or returned to its originating node",
            DropCause::Lifetime => "the packet exceeded its lifetime in the interface queue and the MAC",
            DropCause::Aqm => "the queue discipline dropped the packet because packets waited too long",
            DropCause::WireLoss => "a wire lost the packet at random",
            DropCause::Reordering => {
                "the packet arrived after the reordering buffer of the next hop had timed out and released later packets"
            }
            DropCause::Multicast => {
                "the receiver did not decode the group-addressed frame, which is sent once and not acknowledged"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ecn_capable_packets_are_marked() {
        let segment = Segment::default();
        let mut packet = Packet {
            segment,
            flow: FlowId(0),
            port: Port::Receiver,
            source: NodeId(0),
            destination: NodeId(1),
            size: 1500,
            number: 0,
            created: Time::ZERO,
            hops: 0,
        };
        packet.mark();
        assert_eq!(packet.segment.ecn, Ecn::NotCapable);
        assert!(!packet.understands_ecn());
        for capable in [Ecn::Ect0, Ecn::Ect1] {
            packet.segment.ecn = capable;
            assert!(packet.understands_ecn());
            packet.mark();
            assert_eq!(packet.segment.ecn, Ecn::CongestionExperienced);
            assert!(packet.understands_ecn());
        }
    }

    /// RFC 9768, figure 3: AE is the highest bit.
    #[test]
    fn the_ace_field_has_three_flags() {
        for number in 0..8 {
            let flags = Flags { ack: true, ..Flags::default() }.with_ace(number);
            assert_eq!((flags.ace(), flags.ack, flags.syn), (number, true, false));
        }
        let Flags { ae, cwr, ece, .. } = Flags::default().with_ace(6);
        assert_eq!((ae, cwr, ece), (true, true, false));
    }

    /// RFC 9768, section 3.2.3.1: counters wrap at 2^24.
    #[test]
    fn byte_counters_wrap() {
        let option = AccEcnOption::new(0x12_3456, 0x0100_0005);
        assert_eq!((option.ect1(), option.ce()), ([0x12, 0x34, 0x56], [0, 0, 5]));
        assert_eq!((option.ce_since(0xff_fff0), option.ce_since(5)), (Some(21), Some(0)));
        assert_eq!(option.ce_since(6), None, "overtaken");
    }

    /// A segment is copied at each hop.
    #[test]
    fn segments_are_small() {
        assert!(size_of::<Segment>() <= 176, "{}", size_of::<Segment>());
    }

    #[test]
    fn a_fourth_sack_block_is_ignored() {
        let mut blocks = SackBlocks::default();
        for i in 0..4 {
            blocks.push(SackBlock { start: i, end: i + 1 });
        }
        assert_eq!(blocks.as_slice().len(), 3);
        assert_eq!(blocks.as_slice()[2].start, 2);
    }
}
