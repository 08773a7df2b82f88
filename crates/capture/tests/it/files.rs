//! Capture files built by hand: formats, byte orders, clocks, interfaces, compression, and every kind of
//! damage.

use crate::common::{LIBPCAP, PcapDialect, PcapngFile, error, gzip, pcap, pcap_in, pcapng, read, records};
use multihop_capture::{Capture, CaptureError, CaptureFormat, LinkType, MAX_RECORD_BYTES};
use std::io::{self, Read};

const TWO: [&[u8]; 2] = [&[1, 2, 3], &[4, 5, 6, 7, 8]];

#[test]
fn pcap_in_both_orders_and_both_units_of_time() {
    for little in [true, false] {
        for (nanoseconds, unit) in [(false, 1_000), (true, 1)] {
            let bytes = pcap(little, nanoseconds, 127, &TWO);
            let capture = Capture::from_reader(&bytes[..]).unwrap();
            assert_eq!((capture.format(), capture.interfaces().len()), (CaptureFormat::Pcap, 1));
            let found = records(&bytes);
            assert_eq!(found.len(), 2);
            assert_eq!(found[1].bytes, TWO[1]);
            assert_eq!((found[1].number, found[1].link_type), (2, LinkType::Radiotap));
            assert_eq!(found[1].time.unwrap().ns(), 1_001_000_000_000 + 7 * unit, "second 1001, 7 units");
            assert_eq!(found[1].original_length, 105);
        }
    }
}

/// Interface index, protocol, packet type, padding; then the bytes that `SuSE` adds.
const WITH_INTERFACE: &[u8] = &[3, 0, 0, 0, 0, 4, 2, 0];
const WITH_PROCESSORS: &[u8] = &[3, 0, 0, 0, 0, 4, 2, 0, 1, 0, 0, 0];
const MODIFIED: PcapDialect = PcapDialect { magic: 0xa1b2_cd34, record_more: WITH_INTERFACE, ..LIBPCAP };

/// Dialects of other writers, in both byte orders, with the fewest packets by which they are recognised.
#[test]
fn dialects_of_pcap_read_as_the_standard_one() {
    let dialects = [
        ("Kuznetsov", MODIFIED, 1),
        ("SuSE 6.3", PcapDialect { record_more: WITH_PROCESSORS, ..MODIFIED }, 1),
        ("Red Hat 6.1", PcapDialect { magic: LIBPCAP.magic, ..MODIFIED }, 2),
        ("Nokia", PcapDialect { record_more: &[9, 8, 7, 6], ..LIBPCAP }, 2),
        ("Ixia, microseconds", PcapDialect { magic: 0x1c00_01ab, file_more: &[1, 2, 3, 4], ..LIBPCAP }, 0),
        ("version 2.2", PcapDialect { minor: 2, ..LIBPCAP }, 0),
    ];
    let packets: [&[u8]; 4] = [&[8; 40], &[0xd4; 14], &[0xb4; 20], &[0x88; 1500]];
    for (name, dialect, least) in dialects {
        for little in [true, false] {
            for count in least..=packets.len() {
                let standard = records(&pcap_in(LIBPCAP, little, 105, &packets[..count]));
                let file = pcap_in(dialect, little, 105, &packets[..count]);
                assert_eq!(records(&file), standard, "{name}, {count} packets");
                assert_eq!(records(&gzip(&file)), standard, "{name}, compressed");
            }
        }
    }
    let ixia = PcapDialect { magic: 0x1c00_01ac, file_more: &[0; 4], ..LIBPCAP };
    assert_eq!(records(&pcap_in(ixia, true, 105, &TWO)), records(&pcap(true, true, 105, &TWO)));
}

/// Version 2.3 was also written with the older order of lengths: the smaller one is the captured length.
#[test]
fn lengths_of_version_2_3_may_be_in_either_order() {
    let standard = pcap_in(PcapDialect { minor: 3, ..LIBPCAP }, true, 105, &TWO);
    let mut exchanged = pcap_in(PcapDialect { minor: 2, ..LIBPCAP }, true, 105, &TWO);
    exchanged[6] = 3;
    assert_eq!(records(&standard), records(&pcap(true, false, 105, &TWO)));
    assert_eq!(records(&exchanged), records(&standard));
}

/// A damaged or truncated file of the standard dialect is read as one, and its error names the place of the
/// damage.
#[test]
fn damage_makes_no_other_dialect_of_a_file() {
    let file = pcap(true, false, 105, &[&[8; 40], &[0xd4; 14]]);
    for at in 24..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 0x80;
        let found = read(&damaged).0;
        let whole = at >= 24 + 16 + 40;
        assert!(!whole || found[0].bytes == [8; 40], "byte {at}");
        assert!(read(&file[..at]).0.iter().all(|record| record.original_length > 100), "cut at {at}");
    }
    // Bytes decompressed before the damage are used, although looking ahead met the damage.
    let mut compressed = gzip(&pcap(true, false, 105, &[&[8; 40], &vec![7; 200_000]]));
    let end = compressed.len() - 40;
    compressed.drain(end..end + 30);
    let (found, error) = read(&compressed);
    assert_eq!(found[0].bytes, [8; 40]);
    assert!(error.is_some());
}

#[test]
fn the_link_type_of_pcap_may_tell_of_the_frame_check_sequence() {
    let announced = pcap(true, false, 0x69 | 1 << 26 | 2 << 28, &TWO);
    assert_eq!(
        (records(&announced)[0].link_type, records(&announced)[0].fcs_bytes),
        (LinkType::Ieee80211, Some(4))
    );
    assert_eq!(records(&pcap(true, false, 105, &TWO))[0].fcs_bytes, None);
}

#[test]
fn pcapng_in_both_orders_with_interfaces_of_different_clocks() {
    for little in [true, false] {
        let file = pcapng(little)
            .interface(127, &[(2, b"mon0"), (9, &[9])])
            .interface(105, &[(9, &[0x8a]), (13, &[32])])
            .packet(1, 3 << 10, &[1, 2, 3, 4, 5])
            .packet(0, 3_000_000_007, &[6])
            .bytes;
        let capture = Capture::from_reader(&file[..]).unwrap();
        assert_eq!(capture.format(), CaptureFormat::Pcapng);
        let found = records(&file);
        assert_eq!((found[0].interface, found[0].link_type), (1, LinkType::Ieee80211));
        assert_eq!(found[0].time.unwrap().ns(), 3_000_000_000, "in units of 1/1024 s");
        assert_eq!((&found[0].bytes[..], found[0].fcs_bytes), (&[1, 2, 3, 4, 5][..], Some(4)));
        assert_eq!((found[1].interface, found[1].time.unwrap().ns()), (0, 3_000_000_007));
    }
}

#[test]
fn the_clock_of_pcapng_may_have_an_offset_and_counts_microseconds_otherwise() {
    let file = pcapng(true).interface(127, &[(14, &100_i64.to_le_bytes())]).packet(0, 5, &[1]).bytes;
    assert_eq!(records(&file)[0].time.unwrap().ns(), 100_000_005_000);
    let before = pcapng(true).interface(127, &[(14, &(-1_i64).to_le_bytes())]).packet(0, 5, &[1]).bytes;
    assert_eq!(records(&before)[0].time, None, "before 1970");
    let absurd = pcapng(true).interface(127, &[]).packet(0, u64::MAX, &[1]).bytes;
    assert_eq!(records(&absurd)[0].time, None, "after 2116");
}

#[test]
fn a_new_section_of_pcapng_has_interfaces_and_a_byte_order_of_its_own() {
    let mut file = pcapng(true).interface(127, &[]).packet(0, 1, &[1]).bytes;
    file.extend(pcapng(false).interface(105, &[]).packet(0, 2, &[2]).bytes);
    let found = records(&file);
    let seen: Vec<_> = found.iter().map(|r| (r.interface, r.link_type, r.time.unwrap().ns())).collect();
    assert_eq!(seen, [(0, LinkType::Radiotap, 1_000), (1, LinkType::Ieee80211, 2_000)]);
}

#[test]
fn other_blocks_of_pcapng_are_passed_and_simple_packets_have_no_time() {
    let file = pcapng(true)
        .interface(127, &[(2, b"mon0")])
        .block(5, &[0; 64])
        .block(0x0000_0bad, &vec![7; 3 << 20])
        .block(3, &[&3_u32.to_le_bytes()[..], &[9, 8, 7, 0]].concat())
        .packet(0, 2, &[2])
        .bytes;
    let found = records(&file);
    assert_eq!((found[0].time, &found[0].bytes[..]), (None, &[9, 8, 7][..]));
    assert_eq!(found[1].bytes, [2]);
    let mut capture = Capture::from_reader(&file[..]).unwrap();
    capture.next().unwrap().unwrap();
    assert_eq!(capture.interfaces()[0].name.as_deref(), Some("mon0"));
}

#[test]
fn the_older_packet_block_has_an_interface_of_16_bits() {
    let body =
        [&1_u16.to_le_bytes()[..], &[9, 9, 0, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 42, 0, 0, 0]]
            .concat();
    let file = pcapng(true).interface(1, &[]).interface(127, &[]).block(2, &body).bytes;
    let found = records(&file);
    assert_eq!((found[0].interface, &found[0].bytes[..]), (1, &[42][..]));
}

#[test]
fn compressed_files_read_the_same_and_so_do_several_in_a_row() {
    let plain = pcap(true, false, 127, &TWO);
    assert_eq!(records(&gzip(&plain)), records(&plain));
    let (first, second) = plain.split_at(30);
    assert_eq!(records(&[gzip(first), gzip(second)].concat()), records(&plain));
}

/// A reader that returns one byte at a time.
struct ByteReader<'b>(&'b [u8]);

impl Read for ByteReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let one = into.len().min(1);
        self.0.read(&mut into[..one])
    }
}

#[test]
fn the_size_of_reads_does_not_matter() {
    let bytes = pcapng(false).interface(127, &[]).packet(0, 1, &[1, 2, 3]).packet(0, 2, &[4]).bytes;
    let mut capture = Capture::from_reader(ByteReader(&bytes)).unwrap();
    assert_eq!(capture.next().unwrap().unwrap().bytes, [1, 2, 3]);
    assert_eq!(capture.next().unwrap().unwrap().bytes, [4]);
    assert!(capture.next().is_none() && capture.next().is_none());
    assert_eq!(capture.position(), bytes.len() as u64);
}

/// Wherever a file is cut, the records before the cut are complete, and one error follows that names the
/// place.
#[test]
fn cut_anywhere() {
    let plain = pcap(true, false, 127, &TWO);
    let blocks = pcapng(true).interface(127, &[]).packet(0, 1, TWO[0]).packet(0, 2, TWO[1]).bytes;
    for file in [plain, blocks] {
        let whole = records(&file);
        for cut in 0..file.len() {
            let part = &file[..cut];
            let (found, error) = crate::common::read(part);
            assert_eq!(found, whole[..found.len()], "cut at {cut}");
            match error {
                None => assert!(cut >= 24, "cut at {cut}"),
                Some(CaptureError::Empty) => assert_eq!(cut, 0),
                Some(CaptureError::UnknownFormat { .. }) => assert!(cut < 4, "cut at {cut}"),
                Some(CaptureError::Truncated { record, offset, found: left, needed, .. }) => {
                    assert_eq!(record, found.len() as u64 + 1, "cut at {cut}");
                    assert_eq!(offset + left, cut as u64);
                    assert!(left < needed);
                }
                Some(other) => panic!("cut at {cut}: {other}"),
            }
        }
    }
}

#[test]
fn a_cut_compressed_file_gives_what_can_be_decompressed() {
    let many: Vec<Vec<u8>> =
        (0..2_000_u32).map(|n| (n.wrapping_mul(2_654_435_761)).to_le_bytes().to_vec()).collect();
    let many: Vec<&[u8]> = many.iter().map(Vec::as_slice).collect();
    let compressed = gzip(&pcap(true, false, 127, &many));
    let (found, error) = crate::common::read(&compressed[..compressed.len() / 2]);
    assert!(found.len() > 500 && found.len() < 1_500, "{}", found.len());
    assert!(matches!(error, Some(CaptureError::Truncated { .. })), "{error:?}");
}

/// A cut that leaves complete records is still an error: here the checksum of the compressed file is missing.
#[test]
fn a_compressed_file_that_is_cut_between_two_records_says_so() {
    let plain = pcap(true, false, 127, &[&[7; 100], &[8; 100]]);
    let compressed = gzip(&plain);
    let (found, error) = read(&compressed[..compressed.len() - 3]);
    assert_eq!(found, records(&plain));
    let expected = "byte 256, after 2 records: the compressed file is truncated, and records may be missing; \
                    the records before it are valid";
    assert_eq!(error.unwrap().to_string(), expected);
}

#[test]
fn errors_say_where_what_was_found_and_what_would_do() {
    let mut long = pcap(true, false, 127, &TWO);
    long[24 + 16 + 3 + 8..][..4].copy_from_slice(&(MAX_RECORD_BYTES + 1).to_le_bytes());
    assert_eq!(
        error(&long),
        "record 2, which begins at byte 43: a packet of 262145 bytes, at most 262144 would do; \
         the file is damaged here, the records before it are valid"
    );
    let cut = pcap(true, false, 127, &TWO);
    assert_eq!(
        error(&cut[..61]),
        "truncated at byte 61, in record 2: a packet at byte 43 needs 21 bytes, 18 remain; complete records before it: 1"
    );
    assert!(error(b"").starts_with("there is nothing to read: the file is empty"));
    assert!(
        error(&gzip(&cut)[..12]).starts_with("there is nothing to read: the file is empty, or compressed")
    );
    assert_eq!(
        error(b"PK\x03\x04...."),
        "not a pcap or pcapng file: the file begins with 50 4b 03 04 (zip; unpack it first); \
         `editcap -F pcapng IN OUT` converts other captures"
    );
    let mut old = pcap(true, false, 127, &TWO);
    old[4] = 1;
    assert_eq!(error(&old), "version 1.4 of pcap; 2.4 would do");
    assert!(Capture::open("no/such/file").unwrap_err().to_string().starts_with("no/such/file: "));
}

#[test]
fn blocks_of_pcapng_that_contradict_themselves() {
    let good = pcapng(true).interface(127, &[]);
    let start = good.bytes.len();
    let message = |file: PcapngFile| error(&file.bytes);
    let place = format!("block at byte {start}, after 0 records: ");
    assert_eq!(
        message(good.clone().packet(3, 1, &[1])),
        format!(
            "{place}a packet of interface 3, of 1 described; \
             an interface description must precede its packets; the file is damaged here"
        )
    );
    let mut lengths = good.clone().block(5, &[0; 8]);
    let end = lengths.bytes.len();
    lengths.bytes[end - 4] = 24;
    assert_eq!(
        message(lengths),
        format!(
            "{place}the length is 20 at the start and 24 at the end of the block; both must be equal; \
             the file is damaged here"
        )
    );
    let mut odd = good.clone().block(5, &[0; 8]);
    odd.bytes[start + 4] = 21;
    assert!(message(odd).starts_with(&format!("{place}a length of 21 bytes")));
    let mut inside = good.clone().packet(0, 1, &[1]);
    inside.bytes[start + 20] = 200;
    assert!(message(inside).starts_with(&format!("{place}a packet of 200 bytes in a block of 36")));
    let clock = good.clone().interface(127, &[(9, &[0x7f])]);
    assert!(message(clock).starts_with(&format!("{place}a clock of 10^127 units per second")));
    assert!(
        message(good.clone().block(6, &[0; 4]))
            .contains("a packet block of 16 bytes, at least 32 are needed")
    );
    let mut magic = good;
    magic.bytes[8] = 0;
    assert!(message(magic).contains("byte-order magic [00, 3c, 2b, 1a]"));
}
