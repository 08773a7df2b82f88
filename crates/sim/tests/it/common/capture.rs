//! Reader of captures, block by block, by the specifications alone. Anything else in a file panics.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// A file in memory that outlives its writer.
#[derive(Clone, Default)]
pub struct Shared(pub Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Disk of this many bytes.
pub struct Small(pub usize);

impl Write for Small {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.checked_sub(bytes.len()) {
            Some(left) => self.0 = left,
            None => return Err(io::ErrorKind::StorageFull.into()),
        }
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Capture of a run.
#[derive(Debug, Default)]
pub struct Capture {
    pub comment: String,
    pub interfaces: Vec<String>,
    pub packets: Vec<Packet>,
}

/// Frame at one radio.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    pub interface: usize,
    pub end_ns: u64,
    pub tsft_us: u64,
    pub short_preamble: bool,
    pub kbps: u64,
    pub mhz: u16,
    pub channel: u16,
    pub dbm: Option<i8>,
    /// TX flags of own frames.
    pub tx_flags: Option<u16>,
    /// Length on the air, FCS included.
    pub bytes: u32,
    pub kind: Kind,
    pub retry: bool,
    pub duration_us: u16,
    pub receiver: Option<u32>,
    pub transmitter: Option<u32>,
    pub sequence: Option<u16>,
    pub body: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    Rts,
    Cts,
    Ack,
    Data,
    Probe,
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

pub fn read(file: &[u8]) -> Capture {
    let mut capture = Capture::default();
    let mut rest = file;
    while !rest.is_empty() {
        let length = u32_at(rest, 4) as usize;
        assert!(length.is_multiple_of(4) && length >= 12);
        assert_eq!(u32_at(rest, length - 4) as usize, length, "the length is there twice");
        let body = &rest[8..length - 4];
        match u32_at(rest, 0) {
            0x0a0d_0d0a => {
                assert_eq!(rest.len(), file.len(), "one section, at the start");
                assert_eq!(u32_at(body, 0), 0x1a2b_3c4d);
                assert_eq!((u16_at(body, 4), u16_at(body, 6)), (1, 0));
                assert_eq!(body[8..16], [0xff; 8]);
                capture.comment = String::from_utf8(option(&body[16..], 1)).unwrap();
            }
            1 => {
                assert!(capture.packets.is_empty(), "interfaces come first");
                assert_eq!((u16_at(body, 0), u16_at(body, 2)), (127, 0));
                assert_eq!(option(&body[8..], 9), [9], "nanoseconds");
                capture.interfaces.push(String::from_utf8(option(&body[8..], 2)).unwrap());
            }
            6 => capture.packets.push(packet(body, capture.interfaces.len())),
            other => panic!("block type {other:#x}"),
        }
        rest = &rest[length..];
    }
    capture
}

/// Option with this code, which must exist; the list must end as specified.
fn option(mut list: &[u8], wanted: u16) -> Vec<u8> {
    let mut found = None;
    loop {
        let (code, length) = (u16_at(list, 0), usize::from(u16_at(list, 2)));
        if code == 0 {
            assert_eq!((length, list.len()), (0, 4), "the end of options ends the block");
            return found.expect("the option is there");
        }
        let padded = length.next_multiple_of(4);
        assert!(list[4 + length..4 + padded].iter().all(|byte| *byte == 0));
        if code == wanted {
            found = Some(list[4..4 + length].to_vec());
        }
        list = &list[4 + padded..];
    }
}

fn packet(block: &[u8], interfaces: usize) -> Packet {
    let word = |index: usize| u32_at(block, 4 * index);
    let (interface, captured, length) = (word(0) as usize, word(3) as usize, word(4));
    assert!(interface < interfaces && captured <= length as usize);
    assert_eq!(block.len(), 20 + captured.next_multiple_of(4), "no options");
    let (bytes, padding) = block[20..].split_at(captured);
    assert!(padding.iter().all(|byte| *byte == 0));
    let header = usize::from(u16_at(bytes, 2));
    let present = u32_at(bytes, 4);
    assert_eq!(bytes[..2], [0, 0]);
    let (dbm, tx_flags, padding) = match present {
        0x40_802f => panic!("own frames have no signal"),
        0x40_000f => (None, None, 22..24),
        0x40_002f => (Some(bytes[22] as i8), None, 23..24),
        0x40_800f => (None, Some(u16_at(bytes, 22)), 24..24),
        other => panic!("fields {other:#x}"),
    };
    assert!(bytes[padding].iter().all(|byte| *byte == 0));
    // Packet time again: nanoseconds, at the last bit.
    let stamp = u64::from(word(1)) << 32 | u64::from(word(2));
    assert_eq!((header, u64::from_le_bytes(bytes[24..32].try_into().unwrap())), (36, stamp));
    assert_eq!(bytes[32..36], [0, 0, 0x23, 0]);
    assert_eq!(bytes[16] & !0x02, 0x10, "there is an FCS, and no other flag");
    let mut packet = Packet {
        interface,
        end_ns: u64::from(word(1)) << 32 | u64::from(word(2)),
        tsft_us: u64::from_le_bytes(bytes[8..16].try_into().unwrap()),
        short_preamble: bytes[16] & 0x02 != 0,
        kbps: 500 * u64::from(bytes[17]),
        mhz: u16_at(bytes, 18),
        channel: u16_at(bytes, 20),
        dbm,
        tx_flags,
        bytes: length - header as u32,
        kind: Kind::Data,
        retry: false,
        duration_us: 0,
        receiver: None,
        transmitter: None,
        sequence: None,
        body: Vec::new(),
    };
    // A truncated frame has lost its FCS.
    let mut mpdu = &bytes[header..];
    if captured == length as usize {
        let (whole, fcs) = mpdu.split_at(mpdu.len() - 4);
        assert_eq!(crc_32(whole).to_le_bytes(), fcs);
        mpdu = whole;
    }
    frame(mpdu, &mut packet);
    packet
}

/// CRC-32 bit by bit, as the standard's shift register.
fn crc_32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

fn frame(mpdu: &[u8], packet: &mut Packet) {
    let (kind, length) = match mpdu[0] {
        0xb4 => (Kind::Rts, Some(16)),
        0xc4 => (Kind::Cts, Some(10)),
        0xd4 => (Kind::Ack, Some(10)),
        0x08 | 0x48 => (Kind::Data, None),
        0x98 => (Kind::Probe, None),
        other => panic!("frame control {other:#x}"),
    };
    assert_eq!(mpdu[1] & !0x08, 0);
    packet.kind = kind;
    packet.retry = mpdu[1] == 0x08;
    packet.duration_us = u16_at(mpdu, 2);
    packet.receiver = node(&mpdu[4..10]);
    if let Some(length) = length {
        assert_eq!((mpdu.len(), packet.bytes as usize), (length, length + 4));
    }
    if matches!(kind, Kind::Rts | Kind::Data | Kind::Probe) {
        packet.transmitter = Some(node(&mpdu[10..16]).expect("stations have addresses"));
    }
    if matches!(kind, Kind::Data | Kind::Probe) {
        assert_eq!(u16_at(mpdu, 22) & 0xf, 0, "no fragments");
        packet.sequence = Some(u16_at(mpdu, 22) >> 4);
        packet.body = mpdu[24..].to_vec();
    }
}

/// Node number in an address; none for the broadcast address.
fn node(address: &[u8]) -> Option<u32> {
    if address == [0xff; 6] {
        return None;
    }
    assert_eq!(address[..2], [0x02, 0x00], "locally administered");
    Some(u32::from_be_bytes(address[2..].try_into().unwrap()))
}
