//! Any bytes as a capture to be measured: a report that does not contradict itself, or one sentence. The
//! first byte chooses what is known of stamps, and how wide bins are.

use multihop_capture::Capture;
use multihop_core::Span;
use multihop_measure::{AirtimeRow, ChannelSurvey, SnifferReport, StampReference, SurveyOptions, survey};

const MARKS: [Option<StampReference>; 4] =
    [None, Some(StampReference::Begin), Some(StampReference::Mpdu), Some(StampReference::End)];
const BINS_NS: [u64; 4] = [1_000_000, 1_000, 1_000_000_000, 1_000_000_000_000_000];

/// Measures a capture behind one byte of options.
#[allow(dead_code, reason = "tests have options of their own")]
pub fn check(bytes: &[u8]) {
    let [first, file @ ..] = bytes else { return };
    let stamp_reference = MARKS[usize::from(first & 3)];
    let bin = Span::from_ns(BINS_NS[usize::from(first >> 2 & 3)]);
    measure(file, &SurveyOptions { stamp_reference, bin, ..SurveyOptions::default() });
}

/// Measures a capture, and checks what holds for any report. Returns how many records there were.
pub fn measure(file: &[u8], options: &SurveyOptions) -> u64 {
    let found = Capture::from_reader(file).and_then(|capture| survey(capture, options, |_| true));
    match found {
        Ok(found) => {
            let of = |seen: &ChannelSurvey| seen.report.quality.records + seen.report.quality.other_records;
            let records: u64 = found.sniffers.iter().map(of).sum();
            assert_eq!(records, found.records, "each record is of one sniffer");
            found.sniffers.iter().for_each(|seen| consistent(&seen.report));
            found.records
        }
        Err(error) => {
            assert!(error.to_string().len() > 20, "{error}");
            0
        }
    }
}

fn consistent(found: &SnifferReport) {
    let frames: u64 = found.rows.iter().map(|row| row.cell.frames).sum();
    assert!(frames <= found.quality.records);
    let (grade, reasons) = found.quality.verdict();
    assert!(!grade.name().is_empty() && reasons.iter().all(|reason| reason.len() > 10));
    // Bins have room for what is in them, and the whole is as long as it is said to be.
    assert!(found.busy.iter().all(|&busy| busy <= found.bin));
    assert!(found.busy.iter().copied().sum::<Span>() <= found.length);
    let keys = |row: &AirtimeRow| (row.bin, row.station, row.kind);
    assert!(found.rows.is_sorted_by(|one, next| keys(one) < keys(next)));
    let by_station: u64 = found.stations.iter().map(|station| station.airtime.ns()).sum();
    let named = found.rows.iter().filter(|row| row.station.is_some());
    assert_eq!(by_station, named.map(|row| row.cell.airtime.ns()).sum::<u64>());
    for (_, _, link) in &found.links {
        assert!(link.answered <= link.exchanges && link.capacity_bps.mean.is_finite());
        let rate = link.fastest.map_or(0.0, |rate| rate.bps() as f64);
        assert!(link.capacity_bps.mean <= rate * (1.0 + 1e-9), "{link:?}");
    }
    // Memory is bounded.
    assert!(found.busy.len() <= 100_000 && found.stations.len() <= 4_096 && found.rows.len() <= 400_000);
}
