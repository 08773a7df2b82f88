//! Frames by hand, in pcap files with radiotap headers.

#![allow(dead_code, reason = "every test takes what it needs")]

pub const A: [u8; 6] = [2, 0, 0, 0, 0, 1];
pub const B: [u8; 6] = [2, 0, 0, 0, 0, 2];
/// An address that only damage makes.
pub const UNKNOWN: [u8; 6] = [6, 6, 6, 6, 6, 6];

/// How a frame was sent.
#[derive(Clone, Copy)]
pub enum How {
    /// In units of 500 kb/s.
    Rate(u8),
    /// Scheme of high throughput, 20 MHz, long guard intervals.
    Ht(u8),
}

#[derive(Clone)]
pub struct Packet {
    pub stamp_us: u64,
    pub how: How,
    /// Reference, and flags of radiotap's field: 4 the last frame is known, 8 this is the last one.
    pub aggregate: Option<(u32, u16)>,
    pub bad: bool,
    pub bytes: Vec<u8>,
}

/// A data frame with quality of service, of so many bytes on the air, from A to another station.
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

/// 32 bytes on the air.
pub fn block_ack() -> Vec<u8> {
    let mut bytes = [&[0b1001_0100, 0, 0, 0][..], &A, &B, &[4, 0]].concat();
    bytes.resize(28, 0xff);
    bytes
}

/// A pcap file with radiotap headers.
pub fn file(packets: &[Packet]) -> Vec<u8> {
    let mut file = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 127].map(u32::to_le_bytes).concat();
    for packet in packets {
        let present = 1 | 2 | if matches!(packet.how, How::Rate(_)) { 1 << 2 } else { 1 << 19 };
        let present: u32 = present | if packet.aggregate.is_some() { 1 << 20 } else { 0 };
        let mut header = vec![0, 0, 0, 0];
        header.extend(present.to_le_bytes());
        header.extend(packet.stamp_us.to_le_bytes());
        header.push(if packet.bad { 0x40 } else { 0 });
        match packet.how {
            How::Rate(rate) => header.push(rate),
            How::Ht(mcs) => header.extend([0b111, 0, mcs]),
        }
        if let Some((reference, flags)) = packet.aggregate {
            header.resize(header.len().next_multiple_of(4), 0);
            header.extend(reference.to_le_bytes());
            header.extend([flags.to_le_bytes(), [0, 0]].concat());
        }
        let length = u16::try_from(header.len()).unwrap();
        header[2..4].copy_from_slice(&length.to_le_bytes());
        let length = u32::try_from(header.len() + packet.bytes.len()).unwrap();
        let us = u32::try_from(packet.stamp_us).unwrap();
        file.extend([1_000, us, length, length].map(u32::to_le_bytes).concat());
        file.extend([header, packet.bytes.clone()].concat());
    }
    file
}
