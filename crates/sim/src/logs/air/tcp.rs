//! TCP header of a simulated segment, with options.

use super::ip::{TCP, checksum, endpoints, port, pseudo_header};
use multihop_core::{AccEcnOption, Packet, Port};

/// Size of the header without options.
pub(super) const HEADER: usize = 20;

/// Appends the header of a segment of `length` bytes with a payload of zeros.
pub(super) fn put(out: &mut Vec<u8>, packet: &Packet, options: &Options, length: usize) {
    let segment = &packet.segment;
    let flags = segment.flags;
    // A SYN uses a sequence number, which the simulator does not count.
    let seq = if flags.syn { 0 } else { segment.seq + 1 };
    let ack = if flags.ack { segment.ack + 1 } else { 0 };
    let window = match packet.port {
        // The simulated sender receives no data and advertises no window.
        Port::Receiver => u16::MAX,
        Port::Sender => segment.window.min(u64::from(u16::MAX)) as u16,
    };
    let port = port(packet).to_be_bytes();
    let mut header = [0; HEADER];
    header[..2].copy_from_slice(&port);
    header[2..4].copy_from_slice(&port);
    header[4..8].copy_from_slice(&(seq as u32).to_be_bytes());
    header[8..12].copy_from_slice(&(ack as u32).to_be_bytes());
    header[12] = ((HEADER + options.length) as u8 / 4) << 4 | u8::from(flags.ae);
    let bits = [flags.syn, flags.psh, flags.ack, flags.ece, flags.cwr];
    header[13] =
        bits.iter().zip([0x02, 0x08, 0x10, 0x40, 0x80]).filter(|(on, _)| **on).map(|(_, bit)| bit).sum();
    header[14..16].copy_from_slice(&window.to_be_bytes());
    let pseudo = pseudo_header(endpoints(packet), TCP, length);
    let checksum = checksum(&[&pseudo, &header, options.bytes()]).to_be_bytes();
    header[16..18].copy_from_slice(&checksum);
    out.extend(header);
    out.extend_from_slice(options.bytes());
}

/// Options of a TCP header.
pub(super) struct Options {
    bytes: [u8; 40],
    pub(super) length: usize,
}

impl Options {
    const NOP: u8 = 1;
    const SACK: u8 = 5;
    const TIMESTAMPS: u8 = 8;
    /// Kind of an `AccECN` option that begins with the bytes of ECT(1) (RFC 9768, section 3.2.3).
    const ACC_ECN_1: u8 = 174;

    /// Returns the options of a packet that fit into `room` bytes: timestamps, accurate ECN, then SACK
    /// blocks. ns-2 counts fewer bytes for SACK blocks than they need.
    pub(super) fn new(packet: &Packet, room: usize) -> Options {
        let mut options = Options { bytes: [0; 40], length: 0 };
        let segment = &packet.segment;
        if let Some(echo) = segment.echo
            && room >= 12
        {
            let milliseconds = |time: multihop_core::Time| (time.ns() / 1_000_000) as u32;
            let (value, reply) = match packet.port {
                Port::Receiver => (milliseconds(echo), 0),
                Port::Sender => (milliseconds(packet.created), milliseconds(echo)),
            };
            options.put(&[Options::NOP, Options::NOP, Options::TIMESTAMPS, 10]);
            options.put(&value.to_be_bytes());
            options.put(&reply.to_be_bytes());
        }
        if let Some(counters) = segment.acc_ecn
            && room >= options.length + AccEcnOption::LENGTH as usize
        {
            options.put(&[Options::ACC_ECN_1, AccEcnOption::LENGTH as u8]);
            options.put(&counters.ect1());
            options.put(&counters.ce());
        }
        let blocks = segment.sack.as_slice();
        let fit = (room - options.length.min(room)).saturating_sub(4) / 8;
        let blocks = &blocks[..blocks.len().min(fit)];
        if !blocks.is_empty() {
            options.put(&[Options::NOP, Options::NOP, Options::SACK, 2 + 8 * blocks.len() as u8]);
            for block in blocks {
                options.put(&((block.start + 1) as u32).to_be_bytes());
                options.put(&((block.end + 1) as u32).to_be_bytes());
            }
        }
        options
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}
