//! A timeline built by hand: one RTS/CTS exchange of 1500 bytes after LLC and SNAP at 11 Mb/s, in captures of
//! several kinds.

use crate::common::{A, B, CTS, DATA, RTS, SIFS, TimedFrame, exchange, file};
use multihop_capture::Capture;
use multihop_core::Span;
use multihop_measure::{AirtimeUse, Grade, SnifferReport, StampReference, SurveyOptions, survey};

fn measured(file: &[u8]) -> SnifferReport {
    let capture = Capture::from_reader(file).unwrap();
    let found = survey(capture, &SurveyOptions::default(), |_| true).unwrap();
    assert_eq!(found.broken, None);
    found.sniffers.into_iter().next().unwrap().report
}

fn exchanges(missed: &[usize]) -> Vec<TimedFrame> {
    (0..40_u16).flat_map(|number| exchange(u64::from(number) * 5_000, number, missed)).collect()
}

/// Eq. 6 as printed: 1500 bytes over DATA and ACK.
const PRINTED: f64 = 12_000.0 / ((DATA + CTS) as f64 * 1e-6);

#[test]
fn what_stamps_mark_is_found_out_and_changes_nothing() {
    let frames = exchanges(&[]);
    for expected in [StampReference::Begin, StampReference::Mpdu, StampReference::End] {
        let found = measured(&file(&frames, |sent| match expected {
            StampReference::Begin => sent.begin,
            StampReference::Mpdu => sent.begin + 192,
            StampReference::End => sent.end,
        }));
        // With equal preambles, the first bits of frames have the same distances as their beginnings.
        let alike = expected == StampReference::Mpdu;
        assert!(found.stamp_reference == expected || alike, "{expected:?}: {:?}", found.stamp_reference);
        let (sender, receiver, link) = found.links[0];
        assert_eq!((sender.index(), receiver.index()), (0, 1));
        assert_eq!((link.exchanges, link.answered, link.reserved, link.retries), (40, 40, 40, 0));
        assert!((link.capacity_bps.mean - PRINTED).abs() < 1.0, "{expected:?}: {}", link.capacity_bps.mean);
        assert_eq!(found.quality.verdict().0, Grade::Good, "{:?}", found.quality);
        let busy: Span = found.busy.iter().copied().sum();
        assert_eq!(busy, Span::from_us(40 * (RTS + 2 * CTS + DATA)));
    }
}

#[test]
fn airtime_is_by_sender_also_of_frames_that_do_not_name_theirs() {
    let found = measured(&file(&exchanges(&[]), |sent| sent.end));
    let [a, b] = &found.stations[..] else { panic!("two stations") };
    assert_eq!((a.address.0, b.address.0), (A, B));
    assert_eq!(a.airtime, Span::from_us(40 * (RTS + DATA)));
    assert_eq!(b.airtime, Span::from_us(40 * 2 * CTS), "its CTS and ACKs");
    let data: Span =
        found.rows.iter().filter(|row| row.kind == AirtimeUse::Data).map(|row| row.cell.airtime).sum();
    assert_eq!(data, Span::from_us(40 * DATA));
    // Time from the beginning of the DATA to the end of its ACK.
    assert!((a.service_s.mean - (DATA + SIFS + CTS) as f64 * 1e-6).abs() < 1e-9);
}

#[test]
fn a_sender_that_cannot_be_heard_leaves_orphans() {
    let found = measured(&file(&exchanges(&[0, 2]), |sent| sent.end));
    assert!(found.links.is_empty());
    // The station is out of range, so that none of its frames count as missing.
    assert_eq!((found.quality.orphan_acks, found.quality.acks), (0, 0));
    // If a frame of the station is captured, such as its RTS, its data counts as missing.
    let found = measured(&file(&exchanges(&[2]), |sent| sent.end));
    assert_eq!((found.quality.orphan_acks, found.quality.acks), (40, 40));
    assert_eq!(found.quality.verdict().0, Grade::Poor);
}

#[test]
fn acks_that_were_missed_are_no_capacity() {
    let found = measured(&file(&exchanges(&[3]), |sent| sent.end));
    let (_, _, link) = found.links[0];
    assert_eq!((link.exchanges, link.answered, link.capacity_bps.count), (40, 0, 0));
    assert_eq!(
        (found.quality.unanswered, found.quality.to_answer),
        (40, 40),
        "the receiver is heard, by its CTS"
    );
}

#[test]
fn data_that_was_missed_shows_in_sequence_numbers() {
    let frames: Vec<TimedFrame> = (0..40_u16)
        .filter(|number| number % 4 != 1)
        .flat_map(|number| exchange(u64::from(number) * 5_000, number, &[]))
        .collect();
    let found = measured(&file(&frames, |sent| sent.end));
    assert_eq!((found.quality.missed, found.quality.numbered), (10, 39));
}

#[test]
fn a_cut_file_gives_what_came_before() {
    let whole = file(&exchanges(&[]), |sent| sent.end);
    for cut in [24, 30, 99, whole.len() - 1] {
        let capture = Capture::from_reader(&whole[..cut]).unwrap();
        match survey(capture, &SurveyOptions::default(), |_| true) {
            Ok(found) => assert!(found.broken.is_some() || cut == 24, "{cut}: {:?}", found.broken),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// A timer that begins with the capture: the first frame began before it.
#[test]
fn what_began_before_time_is_cut() {
    let mut file = file(&exchanges(&[])[..4], |_| 0);
    // The host's timestamp of the first record becomes zero too.
    file[24..32].fill(0);
    for stamp_reference in [StampReference::Begin, StampReference::Mpdu, StampReference::End] {
        let capture = Capture::from_reader(&file[..]).unwrap();
        let options = SurveyOptions { stamp_reference: Some(stamp_reference), ..SurveyOptions::default() };
        assert_eq!(survey(capture, &options, |_| true).unwrap().records, 4);
    }
}
