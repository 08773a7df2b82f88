//! Capture files by hand, and the folder of captures of others.

#![allow(dead_code, reason = "every test takes what it needs")]

pub mod mutation;

use flate2::Compression;
use flate2::write::GzEncoder;
use multihop_capture::{Capture, CaptureError, LinkType};
use multihop_core::Time;
use std::io::Write;
use std::path::PathBuf;

/// A record, with bytes of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Owned {
    pub number: u64,
    pub interface: usize,
    pub link_type: LinkType,
    pub time: Option<Time>,
    pub original_length: u32,
    pub fcs_bytes: Option<u8>,
    pub bytes: Vec<u8>,
}

/// All records, and the error that ended them, if one did.
pub fn read(file: &[u8]) -> (Vec<Owned>, Option<CaptureError>) {
    let mut capture = match Capture::from_reader(file) {
        Ok(capture) => capture,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut found = Vec::new();
    while let Some(record) = capture.next() {
        match record {
            Ok(record) => found.push(Owned {
                number: record.number,
                interface: record.interface,
                link_type: record.link_type,
                time: record.time,
                original_length: record.original_length,
                fcs_bytes: record.fcs_bytes,
                bytes: record.bytes.to_vec(),
            }),
            Err(error) => {
                assert!(capture.next().is_none(), "nothing follows an error");
                return (found, Some(error));
            }
        }
    }
    (found, None)
}

/// All records of a file without errors.
pub fn records(file: &[u8]) -> Vec<Owned> {
    let (found, error) = read(file);
    assert!(error.is_none(), "{error:?}");
    found
}

/// The message of the error that the file ends with.
pub fn error(file: &[u8]) -> String {
    read(file).1.expect("there is an error").to_string()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn u32_in(little: bool, number: u32) -> [u8; 4] {
    if little { number.to_le_bytes() } else { number.to_be_bytes() }
}

fn u16_in(little: bool, number: u16) -> [u8; 2] {
    if little { number.to_le_bytes() } else { number.to_be_bytes() }
}

/// A dialect of pcap.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    pub magic: u32,
    /// The second half of the version, 2.x.
    pub minor: u16,
    /// What follows the header of the file.
    pub file_more: &'static [u8],
    /// What follows the lengths of a record, in the order of bytes of a little-endian machine.
    pub record_more: &'static [u8],
}

/// The dialect of libpcap, with microseconds or nanoseconds.
pub const LIBPCAP: Dialect = Dialect { magic: 0xa1b2_c3d4, minor: 4, file_more: &[], record_more: &[] };
pub const NANOSECONDS: Dialect = Dialect { magic: 0xa1b2_3c4d, ..LIBPCAP };

/// A pcap file with these packets, at second 1000, 1001 and so on and 7 units; each was 100 bytes longer
/// before it was cut.
pub fn pcap(little: bool, nanoseconds: bool, link_type: u32, packets: &[&[u8]]) -> Vec<u8> {
    pcap_in(if nanoseconds { NANOSECONDS } else { LIBPCAP }, little, link_type, packets)
}

/// The same in a dialect.
pub fn pcap_in(dialect: Dialect, little: bool, link_type: u32, packets: &[&[u8]]) -> Vec<u8> {
    let u32 = |number| u32_in(little, number);
    let mut file = u32(dialect.magic).to_vec();
    file.extend(u16_in(little, 2));
    file.extend(u16_in(little, dialect.minor));
    file.extend([0, 0, 65_535, link_type].map(u32).concat());
    file.extend(dialect.file_more);
    for (n, packet) in packets.iter().enumerate() {
        let length = packet.len() as u32;
        let lengths = if dialect.minor < 3 { [length + 100, length] } else { [length, length + 100] };
        file.extend([1_000 + n as u32, 7, lengths[0], lengths[1]].map(u32).concat());
        let more = dialect.record_more;
        if let Some((interface, rest)) = more.split_first_chunk::<4>().filter(|(_, rest)| !rest.is_empty()) {
            file.extend(u32(u32::from_le_bytes(*interface)));
            file.extend(rest);
        } else {
            file.extend(more);
        }
        file.extend(*packet);
    }
    file
}

/// A pcapng file that grows.
#[derive(Clone)]
pub struct Block {
    little: bool,
    pub bytes: Vec<u8>,
}

/// A pcapng file with a section header.
pub fn pcapng(little: bool) -> Block {
    let body = [&u32_in(little, 0x1a2b_3c4d)[..], &u16_in(little, 1), &u16_in(little, 0), &[0xff; 8]];
    Block { little, bytes: Vec::new() }.block(0x0a0d_0d0a, &body.concat())
}

impl Block {
    /// A block, padded to a multiple of four bytes.
    pub fn block(mut self, kind: u32, body: &[u8]) -> Block {
        let padded = body.len().next_multiple_of(4);
        let length = u32_in(self.little, 12 + padded as u32);
        self.bytes.extend(u32_in(self.little, kind));
        self.bytes.extend(length);
        self.bytes.extend(body);
        self.bytes.resize(self.bytes.len() + padded - body.len(), 0);
        self.bytes.extend(length);
        self
    }

    pub fn interface(self, link_type: u16, options: &[(u16, &[u8])]) -> Block {
        let mut body = [&u16_in(self.little, link_type)[..], &[0; 2], &u32_in(self.little, 65_535)].concat();
        for (code, value) in options {
            body.extend(u16_in(self.little, *code));
            body.extend(u16_in(self.little, value.len() as u16));
            body.extend(*value);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        body.extend([0; 4]);
        self.block(1, &body)
    }

    pub fn packet(self, interface: u32, stamp: u64, packet: &[u8]) -> Block {
        let length = packet.len() as u32;
        let head = [interface, (stamp >> 32) as u32, stamp as u32, length, length];
        let body = [&head.map(|number| u32_in(self.little, number)).concat()[..], packet].concat();
        self.block(6, &body)
    }
}

/// A folder of captures of others beside the project; none, said on standard error, where it is absent.
pub fn captures(folder: &str) -> Option<Vec<PathBuf>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(folder);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: there is no {}", folder.display());
        return None;
    };
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    files.sort();
    Some(files)
}

/// The name of a file.
pub fn name(path: &std::path::Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}
