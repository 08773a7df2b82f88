//! A timeline by hand: one RTS/CTS exchange of 1500 bytes behind LLC and SNAP at 11 Mb/s, as captures of several kinds would have it.

use multihop_capture::Capture;
use multihop_core::Span;
use multihop_measure::{Findings, Grade, Kind, Marks, Options, survey};

const A: [u8; 6] = [2, 0, 0, 0, 0, 1];
const B: [u8; 6] = [2, 0, 0, 0, 0, 2];

/// Airtimes with a long preamble: RTS of 20 bytes and CTS and ACK of 14 at 1 Mb/s, DATA of 36 + 1500 at 11 Mb/s.
const RTS: u64 = 192 + 160;
const CTS: u64 = 192 + 112;
const DATA: u64 = 192 + 1118;
const SIFS: u64 = 10;

/// A frame: what it is, and when it was on the air, in microseconds.
struct Sent {
    bytes: Vec<u8>,
    rate: u8,
    begin: u64,
    end: u64,
}

fn control(subtype: u8, duration: u16, to: [u8; 6], from: Option<[u8; 6]>) -> Vec<u8> {
    let mut bytes = vec![subtype << 4 | 0b0100, 0];
    bytes.extend(duration.to_le_bytes());
    bytes.extend(to);
    bytes.extend(from.unwrap_or_default().iter().take(if from.is_some() { 6 } else { 0 }));
    bytes
}

fn data(sequence: u16, retry: bool) -> Vec<u8> {
    let mut bytes = vec![0b1000, u8::from(retry) << 3];
    bytes.extend(314_u16.to_le_bytes());
    bytes.extend(B);
    bytes.extend(A);
    bytes.extend([0xff; 6]);
    bytes.extend((sequence << 4).to_le_bytes());
    bytes.resize(24 + 8 + 1500, 0);
    bytes
}

/// The exchange, begun at `start`; without the frames that `missed` numbers.
fn exchange(start: u64, sequence: u16, missed: &[usize]) -> Vec<Sent> {
    let frames = [
        (control(11, 1_947, B, Some(A)), 2, RTS),
        (control(12, 1_633, A, None), 2, CTS),
        (data(sequence, false), 22, DATA),
        (control(13, 0, A, None), 2, CTS),
    ];
    let mut at = start;
    let mut sent = Vec::new();
    for (number, (bytes, rate, length)) in frames.into_iter().enumerate() {
        if !missed.contains(&number) {
            sent.push(Sent { bytes, rate, begin: at, end: at + length });
        }
        at += length + SIFS;
    }
    sent
}

/// As a pcap file with radiotap headers that say the rate. `stamp` says when a frame is stamped.
fn file(frames: &[Sent], stamp: impl Fn(&Sent) -> u64) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 127] {
        file.extend(word.to_le_bytes());
    }
    for frame in frames {
        let at = stamp(frame);
        let length = u32::try_from(9 + frame.bytes.len()).unwrap();
        let (seconds, us) = (1_000 + at / 1_000_000, at % 1_000_000);
        for word in [u32::try_from(seconds).unwrap(), u32::try_from(us).unwrap(), length, length] {
            file.extend(word.to_le_bytes());
        }
        // Version, pad, length 9, present: rate.
        file.extend([0, 0, 9, 0, 4, 0, 0, 0, frame.rate]);
        file.extend(&frame.bytes);
    }
    file
}

fn measured(file: &[u8]) -> Findings {
    let capture = Capture::from_reader(file).unwrap();
    let found = survey(capture, &Options::default(), |_| true).unwrap();
    assert_eq!(found.broken, None);
    found.interfaces.into_iter().next().unwrap().2
}

fn exchanges(missed: &[usize]) -> Vec<Sent> {
    (0..40_u16).flat_map(|number| exchange(u64::from(number) * 5_000, number, missed)).collect()
}

/// Eq. 6 as printed: 1500 bytes over DATA and ACK.
const PRINTED: f64 = 12_000.0 / ((DATA + CTS) as f64 * 1e-6);

#[test]
fn what_stamps_mark_is_found_out_and_changes_nothing() {
    let frames = exchanges(&[]);
    for expected in [Marks::Begin, Marks::Mpdu, Marks::End] {
        let found = measured(&file(&frames, |sent| match expected {
            Marks::Begin => sent.begin,
            Marks::Mpdu => sent.begin + 192,
            Marks::End => sent.end,
        }));
        // With one preamble for all, the first bits of frames are as far apart as their beginnings.
        let alike = expected == Marks::Mpdu;
        assert!(found.marks == expected || alike, "{expected:?}: {:?}", found.marks);
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
    let data: Span = found.rows.iter().filter(|row| row.kind == Kind::Data).map(|row| row.cell.airtime).sum();
    assert_eq!(data, Span::from_us(40 * DATA));
    // From the beginning of the DATA to the end of its ACK.
    assert!((a.service_s.mean - (DATA + SIFS + CTS) as f64 * 1e-6).abs() < 1e-9);
}

#[test]
fn a_sender_that_cannot_be_heard_leaves_orphans() {
    let found = measured(&file(&exchanges(&[0, 2]), |sent| sent.end));
    assert!(found.links.is_empty());
    // It is out of range, so that nothing of it is missing.
    assert_eq!((found.quality.orphan_acks, found.quality.acks), (0, 0));
    // Where it is heard, its RTS for one, its data is missing.
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
    let frames: Vec<Sent> = (0..40_u16)
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
        match survey(capture, &Options::default(), |_| true) {
            Ok(found) => assert!(found.broken.is_some() || cut == 24, "{cut}: {:?}", found.broken),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// A timer that begins with the capture: the first frame began before it did.
#[test]
fn what_began_before_time_is_cut() {
    let mut file = file(&exchanges(&[])[..4], |_| 0);
    // The host's stamp of the first record becomes zero too.
    file[24..32].fill(0);
    for marks in [Marks::Begin, Marks::Mpdu, Marks::End] {
        let capture = Capture::from_reader(&file[..]).unwrap();
        let options = Options { marks: Some(marks), ..Options::default() };
        assert_eq!(survey(capture, &options, |_| true).unwrap().records, 4);
    }
}
