//! Capture files built by hand, and the folder of captures of other projects.

#![allow(dead_code, reason = "every test takes what it needs")]

pub mod mutation;

use flate2::Compression;
use flate2::write::GzEncoder;
use multihop_capture::{Capture, CaptureError, LinkType};
use multihop_core::Time;
use std::io::Write;
use std::path::PathBuf;

/// Record with its own bytes.
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

/// All records of a file, and the error that ended them, if any.
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

/// All records of a file that has no errors.
pub fn records(file: &[u8]) -> Vec<Owned> {
    let (found, error) = read(file);
    assert!(error.is_none(), "{error:?}");
    found
}

/// Message of the error that ends the file.
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

/// Dialect of a pcap file.
#[derive(Clone, Copy, Debug)]
pub struct PcapDialect {
    pub magic: u32,
    /// Minor version, 2.x.
    pub minor: u16,
    /// Bytes after the file header.
    pub file_more: &'static [u8],
    /// Bytes after the lengths of a record, in little-endian order.
    pub record_more: &'static [u8],
}

/// Dialect of libpcap, with microseconds or nanoseconds.
pub const LIBPCAP: PcapDialect =
    PcapDialect { magic: 0xa1b2_c3d4, minor: 4, file_more: &[], record_more: &[] };
pub const NANOSECONDS: PcapDialect = PcapDialect { magic: 0xa1b2_3c4d, ..LIBPCAP };

/// A pcap file with these packets, at second 1000, 1001 and so on, plus 7 units; each was cut by 100 bytes.
pub fn pcap(little: bool, nanoseconds: bool, link_type: u32, packets: &[&[u8]]) -> Vec<u8> {
    pcap_in(if nanoseconds { NANOSECONDS } else { LIBPCAP }, little, link_type, packets)
}

/// A pcap file as [`pcap`] writes it, in another dialect.
pub fn pcap_in(dialect: PcapDialect, little: bool, link_type: u32, packets: &[&[u8]]) -> Vec<u8> {
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

/// A pcapng file under construction.
#[derive(Clone)]
pub struct PcapngFile {
    little: bool,
    pub bytes: Vec<u8>,
}

/// Starts a pcapng file with a section header.
pub fn pcapng(little: bool) -> PcapngFile {
    let body = [&u32_in(little, 0x1a2b_3c4d)[..], &u16_in(little, 1), &u16_in(little, 0), &[0xff; 8]];
    PcapngFile { little, bytes: Vec::new() }.block(0x0a0d_0d0a, &body.concat())
}

impl PcapngFile {
    /// Adds a block, padded to a multiple of four bytes.
    pub fn block(mut self, kind: u32, body: &[u8]) -> PcapngFile {
        let padded = body.len().next_multiple_of(4);
        let length = u32_in(self.little, 12 + padded as u32);
        self.bytes.extend(u32_in(self.little, kind));
        self.bytes.extend(length);
        self.bytes.extend(body);
        self.bytes.resize(self.bytes.len() + padded - body.len(), 0);
        self.bytes.extend(length);
        self
    }

    pub fn interface(self, link_type: u16, options: &[(u16, &[u8])]) -> PcapngFile {
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

    pub fn packet(self, interface: u32, stamp: u64, packet: &[u8]) -> PcapngFile {
        let length = packet.len() as u32;
        let head = [interface, (stamp >> 32) as u32, stamp as u32, length, length];
        let body = [&head.map(|number| u32_in(self.little, number)).concat()[..], packet].concat();
        self.block(6, &body)
    }
}

/// Folder of captures of other projects; none, with a line on standard error, if it does not exist.
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

/// Name of a file.
pub fn name(path: &std::path::Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}
