//! Captures of other projects, valid and broken, in a folder beside this project. Without the folder, nothing
//! is tested, and a line says so.

use crate::common::{captures, name, read};
use multihop_capture::radiotap::{RadiotapField, fields};
use multihop_capture::{Capture, CaptureError, DissectError, Fcs, FrameType, airtime, dissect};
use multihop_core::{Rng, Span, Time};
use std::fs;
use std::path::Path;

/// Summary of a capture that has been read.
#[derive(Debug, Default)]
struct CaptureSummary {
    records: u64,
    frames: u64,
    /// Numbers of correct, wrong and zero frame check sequences.
    right: u64,
    wrong: u64,
    zero: u64,
    /// Airtime in total, and number of frames whose airtime is known.
    air: Span,
    timed: u64,
    four_addresses: u64,
    error: Option<CaptureError>,
}

/// Reads and dissects a whole capture.
fn summary(mut capture: Capture<'_>) -> CaptureSummary {
    let mut summary = CaptureSummary::default();
    while let Some(record) = capture.next() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                summary.error = Some(error);
                break;
            }
        };
        summary.records += 1;
        assert_eq!(record.number, summary.records);
        let (reception, frame) = match dissect(&record) {
            Ok(found) => found,
            Err(DissectError::Header(error)) => {
                assert!(!error.to_string().is_empty());
                continue;
            }
            Err(DissectError::Frame { error, .. }) => {
                assert!(!error.to_string().is_empty());
                continue;
            }
            Err(DissectError::Empty { .. }) => continue,
        };
        assert!(frame.air_bytes <= record.original_length + 4);
        summary.frames += 1;
        match frame.fcs {
            Fcs::Right => summary.right += 1,
            Fcs::Wrong => summary.wrong += 1,
            Fcs::Zero => summary.zero += 1,
            Fcs::Absent | Fcs::Cut => {}
        }
        if let FrameType::Data(data) = frame.kind {
            summary.four_addresses += u64::from(data.four_addresses);
        }
        if let Some(span) = airtime(&reception, frame.air_bytes) {
            summary.air += span;
            summary.timed += 1;
        }
    }
    summary
}

fn of(path: &Path) -> CaptureSummary {
    summary(Capture::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

#[test]
fn every_capture_is_read_to_its_end() {
    let Some(files) = captures("pcap") else { return };
    assert!(!files.is_empty());
    for path in files {
        let seen = of(&path);
        assert!(seen.frames > 0, "{}", name(&path));
        match (name(&path).as_str(), &seen.error) {
            ("aircrack-pmkid.cap", Some(CaptureError::Truncated { record, offset, needed, found, .. })) => {
                assert_eq!((*record, *offset, *needed, *found), (20_057, 1_432_616, 427, 195));
            }
            (_, None) => {}
            (name, Some(error)) => panic!("{name}: {error}"),
        }
    }
}

#[test]
fn frame_check_sequences_are_what_the_files_are_known_for() {
    let Some(files) = captures("pcap") else { return };
    for path in files {
        let seen = of(&path);
        let (name, frames) = (name(&path), seen.frames);
        let counts = (seen.right, seen.wrong, seen.zero);
        if name.starts_with("gen-ns3-chain4") {
            assert_eq!(counts, (0, 0, frames), "{name}: simulated");
        } else if name == "wlan-decoder-full.pcapng" || name == "zeek-radiotap.pcap" {
            assert_eq!(seen.right + seen.wrong, frames, "{name}");
            assert!(seen.right * 20 >= frames * 19, "{name}: {seen:?}");
        } else if name == "aircrack-wpa-prism.cap" {
            assert_eq!(counts, (frames, 0, 0), "{name}: found without being announced");
        } else if name == "aircrack-wds.cap" {
            assert!(seen.four_addresses > 0, "{name}");
        }
    }
}

/// The five stations of a chain at 2 Mb/s received what was sent within 4 s.
#[test]
fn a_simulated_chain_fits_into_its_time() {
    let Some(files) = captures("pcap") else { return };
    for path in files.iter().filter(|path| name(path).starts_with("gen-ns3-chain4")) {
        let seen = of(path);
        assert_eq!(seen.timed, seen.frames);
        let share = seen.air.seconds() / 4.0;
        assert!((0.2..1.0).contains(&share), "{}: {share}", name(path));
    }
}

#[test]
fn every_broken_capture_gives_records_or_a_sentence() {
    let Some(files) = captures("pcap-malformed") else { return };
    assert!(!files.is_empty());
    for path in files {
        match Capture::open(&path) {
            Err(error) => assert!(error.to_string().len() > 20, "{}: {error}", name(&path)),
            Ok(capture) => {
                let seen = summary(capture);
                let announced = seen.error.as_ref().is_some_and(|error| error.to_string().len() > 20);
                assert!(seen.records > 0 || announced, "{}: {seen:?}", name(&path));
            }
        }
    }
}

/// Up to the truncation, all records equal those of the whole file.
#[test]
fn captures_cut_at_random_offsets() {
    let Some(files) = captures("pcap") else { return };
    let mut rng = Rng::at(4, &["cut"]);
    for path in files {
        let whole = fs::read(&path).unwrap();
        let (records, _) = read(&whole);
        for _ in 0..50 {
            let cut = rng.below(whole.len() as u32) as usize;
            let (found, error) = read(&whole[..cut]);
            assert_eq!(found, records[..found.len()], "{} cut at {cut}", name(&path));
            if let Some(error) = error {
                // The first bytes of a compressed file decompress to nothing.
                let nothing = matches!(error, CaptureError::Empty) && found.is_empty();
                // A truncated compressed file may end between two records.
                let cut_off = match error {
                    CaptureError::Truncated { .. } => true,
                    CaptureError::Read { .. } => name(&path).ends_with("gz"),
                    _ => nothing || cut < 4,
                };
                assert!(cut_off, "{} cut at {cut}: {error}", name(&path));
            }
        }
    }
}

/// Host clocks step backwards in some captures. All times are between 2004 and 2036, except for simulated
/// captures, which begin at 1970.
#[test]
fn times_are_plausible() {
    let Some(files) = captures("pcap") else { return };
    let year = |n: u64| Time::from_ns((n - 1970) * 31_556_952 * 1_000_000_000);
    for path in files {
        let (records, _) = read(&fs::read(&path).unwrap());
        let simulated = name(&path).contains("ns3");
        for record in records {
            let time = record.time.unwrap();
            assert!(
                if simulated { time < year(1971) } else { time > year(2004) && time < year(2036) },
                "{path:?}"
            );
        }
    }
}

/// Headers with the fields that another parser printed.
#[test]
fn radiotap_vectors() {
    let Some(files) = captures("pcap-malformed/radiotap-vectors") else { return };
    let vectors: Vec<_> =
        files.iter().filter(|path| path.extension().is_some_and(|end| end == "bin")).collect();
    assert_eq!(vectors.len(), 10);
    for path in vectors {
        let header = fs::read(path).unwrap();
        let expected = fs::read_to_string(path.with_extension("out")).unwrap();
        // The other parser knew a vendor 00:00:00 with fields 0 and 52, and omitted that vendor's other
        // fields. Here all bytes of a vendor are one field.
        let vendor_shown = expected.contains("vendor NS") || expected.contains('|');
        let mut seen = Vec::new();
        for field in fields(&header).unwrap() {
            match field {
                RadiotapField::Known { bit: 0, bytes, .. } => {
                    seen.push(format!("TSFT: {}", u64::from_le_bytes(bytes.try_into().unwrap())));
                }
                RadiotapField::Known { bit: 1, bytes, .. } => seen.push(format!("flags: {:02x}", bytes[0])),
                RadiotapField::Known { bit: 2, bytes, .. } => {
                    seen.push(format!("rate: {:.6}", f64::from(bytes[0]) / 2.0));
                }
                RadiotapField::Known { bit: 14, bytes, .. } if !expected.contains("FCS in header") => {
                    seen.push(format!("RX flags: {:02x}{:02x}", bytes[1], bytes[0]));
                }
                RadiotapField::Vendor { bytes, .. } if vendor_shown => {
                    seen.push(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "));
                }
                // Bit 14 once had another meaning, which the other parser was set to.
                RadiotapField::Known { .. }
                | RadiotapField::Vendor { .. }
                | RadiotapField::TypeLengthValue { .. } => {}
                RadiotapField::Unknown { .. } | RadiotapField::Damaged => {
                    seen.push("malformed radiotap data".into());
                }
            }
        }
        let lines: Vec<String> = expected.lines().filter_map(expected_line).collect();
        assert_eq!(seen, lines, "{}", name(path));
    }
}

/// A line of the expected output in the form of this test; none for headings and for settings of the other
/// parser.
fn expected_line(line: &str) -> Option<String> {
    let line = line.trim();
    if line.starts_with("vendor NS") || line.starts_with("FCS in header") {
        return None;
    }
    if let Some((_, bytes)) = line.split_once('|') {
        return Some(bytes.split_once(": ")?.1.replace('/', " "));
    }
    Some(line.to_owned())
}
