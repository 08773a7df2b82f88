//! Frames built by hand, in pcap files with radiotap headers.

#![allow(dead_code, reason = "every test takes what it needs")]

pub const A: [u8; 6] = [2, 0, 0, 0, 0, 1];
pub const B: [u8; 6] = [2, 0, 0, 0, 0, 2];
/// An address that only damage creates.
pub const UNKNOWN: [u8; 6] = [6, 6, 6, 6, 6, 6];

/// Format of a frame.
#[derive(Clone, Copy)]
pub enum FrameFormat {
    /// Rate in units of 500 kb/s.
    Rate(u8),
    /// HT scheme at 20 MHz with long guard intervals.
    Ht(u8),
}

#[derive(Clone)]
pub struct Packet {
    pub stamp_us: u64,
    pub how: FrameFormat,
    /// Reference, and flags of radiotap's A-MPDU field: 4, the last frame is known; 8, this is the last
    /// frame.
    pub aggregate: Option<(u32, u16)>,
    pub bad: bool,
    pub bytes: Vec<u8>,
}

/// A QoS data frame of this many bytes on the air, from A to another station.
pub fn data(to: [u8; 6], air_bytes: usize, number: u16, retry: bool) -> Vec<u8> {
    let mut bytes = vec![0b1000_1000, u8::from(retry) << 3, 0, 0];
    bytes.extend([to, A, to].concat());
    bytes.extend((number << 4).to_le_bytes());
    bytes.resize(air_bytes - 4, 0);
    bytes
}

pub fn ack(to: [u8; 6]) -> Vec<u8> {
    [&[0b1101_0100, 0, 0, 0][..], &to].concat()
}

/// A block acknowledgement of 32 bytes on the air.
pub fn block_ack() -> Vec<u8> {
    let mut bytes = [&[0b1001_0100, 0, 0, 0][..], &A, &B, &[4, 0]].concat();
    bytes.resize(28, 0xff);
    bytes
}

/// CRC-32, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}

/// Properties of a receiver, by the index of a frame and its timestamp.
#[derive(Clone, Copy)]
pub struct Receiver {
    /// Timer of the radio, if any.
    pub timer_us: fn(usize, u64) -> Option<u64>,
    /// Host timestamp, after 1000 seconds.
    pub host_us: fn(usize, u64) -> u64,
    /// Frequency and flags of the channel.
    pub channel: fn(usize, u64) -> Option<(u16, u16)>,
    /// Whether the FCS flag is set, and whether there is an FCS.
    pub says_fcs: bool,
    pub has_fcs: fn(usize) -> bool,
}

impl Default for Receiver {
    /// A receiver with correct clocks, without a channel field and without frame check sequences.
    fn default() -> Receiver {
        Receiver {
            timer_us: |_, stamp| Some(stamp),
            host_us: |_, stamp| stamp,
            channel: |_, _| None,
            says_fcs: false,
            has_fcs: |_| false,
        }
    }
}

/// A pcap file with radiotap headers.
pub fn file(packets: &[Packet]) -> Vec<u8> {
    written(packets, Receiver::default())
}

/// A pcap file of these frames, as this receiver writes it.
pub fn written(packets: &[Packet], receiver: Receiver) -> Vec<u8> {
    let mut file = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 127].map(u32::to_le_bytes).concat();
    for (number, packet) in packets.iter().enumerate() {
        let timer = (receiver.timer_us)(number, packet.stamp_us);
        let channel = (receiver.channel)(number, packet.stamp_us);
        let rate = if matches!(packet.how, FrameFormat::Rate(_)) { 1 << 2 } else { 1 << 19 };
        let bit = |is_there: bool, bit: u32| u32::from(is_there) << bit;
        let present = 2 | rate | bit(timer.is_some(), 0) | bit(channel.is_some(), 3);
        let present: u32 = present | bit(packet.aggregate.is_some(), 20);
        let mut header = vec![0, 0, 0, 0];
        header.extend(present.to_le_bytes());
        header.extend(timer.map(u64::to_le_bytes).iter().flatten());
        let flags = if packet.bad { 0x40 } else { 0 } | if receiver.says_fcs { 0x10 } else { 0 };
        header.push(flags);
        if let FrameFormat::Rate(rate) = packet.how {
            header.push(rate);
        }
        if let Some((mhz, flags)) = channel {
            header.resize(header.len().next_multiple_of(2), 0);
            header.extend([mhz.to_le_bytes(), flags.to_le_bytes()].concat());
        }
        if let FrameFormat::Ht(mcs) = packet.how {
            header.extend([0b111, 0, mcs]);
        }
        if let Some((reference, flags)) = packet.aggregate {
            header.resize(header.len().next_multiple_of(4), 0);
            header.extend(reference.to_le_bytes());
            header.extend([flags.to_le_bytes(), [0, 0]].concat());
        }
        let length = u16::try_from(header.len()).unwrap();
        header[2..4].copy_from_slice(&length.to_le_bytes());
        let mut bytes = packet.bytes.clone();
        if (receiver.has_fcs)(number) {
            bytes.extend(crc32(&packet.bytes).to_le_bytes());
        }
        let length = u32::try_from(header.len() + bytes.len()).unwrap();
        let host = (receiver.host_us)(number, packet.stamp_us);
        let [seconds, us] = [1_000 + host / 1_000_000, host % 1_000_000].map(|n| u32::try_from(n).unwrap());
        file.extend([seconds, us, length, length].map(u32::to_le_bytes).concat());
        file.extend([header, bytes].concat());
    }
    file
}
