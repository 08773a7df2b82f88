//! The corpora of the fuzz targets `capture` and `frame` as a test, and the generator of their seeds.

use crate::capture;
use crate::common::mutation::{packet, seeds};
use crate::common::{LIBPCAP, PcapDialect, pcap_in};
use crate::frame;
use std::fs;
use std::path::PathBuf;

fn folder(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target)
}

/// Calls `check` with every input of a corpus, which is not empty.
fn replay(target: &str, check: fn(&[u8])) {
    let files = fs::read_dir(folder(target)).unwrap().map(|entry| entry.unwrap().path());
    let count = files.map(|file| check(&fs::read(file).unwrap())).count();
    assert!(count >= 6, "{count} inputs of {target}");
}

#[test]
fn the_corpus_of_captures_is_read() {
    replay("capture", |bytes| {
        capture::check(bytes);
    });
}

#[test]
fn the_corpus_of_frames_is_read() {
    replay("frame", frame::check);
}

#[test]
fn captures_of_the_corpus_have_records() {
    let with_records = (0..seeds().len())
        .filter(|n| capture::check(&fs::read(folder("capture").join(format!("seed-{n}"))).unwrap()) > 0);
    assert_eq!(with_records.count(), seeds().len());
}

/// Writes the seeds: `cargo test -p multihop-capture --test it corpus:: -- --ignored`.
#[test]
#[ignore = "writes files"]
fn write_the_seeds() {
    let packet = packet();
    let more: &[u8] = &[3, 0, 0, 0, 0, 4, 2, 0];
    let modified = PcapDialect { magic: 0xa1b2_cd34, record_more: more, ..LIBPCAP };
    let older = PcapDialect { minor: 2, ..LIBPCAP };
    let dialects = [modified, PcapDialect { magic: LIBPCAP.magic, ..modified }, older];
    let files = dialects.map(|dialect| pcap_in(dialect, true, 105, &[&packet[120..], &packet[120..140]]));
    for (n, file) in seeds().into_iter().chain(files).enumerate() {
        fs::write(folder("capture").join(format!("seed-{n}")), file).unwrap();
    }
    for (n, file) in seeds().iter().enumerate() {
        let mut records = crate::common::read(file).0.into_iter();
        let record = records.next().unwrap();
        let kinds = [105_u16, 119, 127, 163, 192, 1];
        let kind =
            kinds.iter().position(|kind| multihop_capture::LinkType::from_number(*kind) == record.link_type);
        let bytes = [&[kind.unwrap() as u8, 100, 0][..], &record.bytes].concat();
        fs::write(folder("frame").join(format!("seed-{n}")), bytes).unwrap();
    }
    fs::write(folder("frame").join("seed-tlv"), type_length_value()).unwrap();
    fs::write(folder("frame").join("seed-tzsp"), tzsp()).unwrap();
}

const ACK: [u8; 10] = [0xd4, 0, 0, 0, 2, 0, 0, 0, 0, 1];

/// Radiotap header with flags and a type-length-value field, and an ACK.
fn type_length_value() -> Vec<u8> {
    let header = [0, 0, 20, 0, 2, 0, 0, 0x10, 0x10, 0, 0, 0, 34, 0, 4, 0, 1, 2, 3, 4];
    [&[2, 0, 0][..], &header, &ACK].concat()
}

/// Ethernet, IP, UDP and TZSP, and an ACK.
fn tzsp() -> Vec<u8> {
    let ip = [0x45, 0, 0, 49, 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
    let udp = [0x80, 0, 0x90, 0x90, 0, 29, 0, 0];
    let header = [1, 0, 0, 18, 12, 1, 108, 18, 1, 6, 1];
    [&[5, 0, 0][..], &[2; 12], &[8, 0], &ip, &udp, &header, &ACK].concat()
}
