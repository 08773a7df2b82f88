//! Airtime of A-MPDUs and of damaged frames, by numbers computed by hand: 65 Mb/s is 260 bits per symbol of 4
//! us after 36 us, and 24 Mb/s is 96 bits per symbol after 20 us.

use crate::frames::{A, B, FrameFormat, Packet, UNKNOWN, ack, block_ack, data, file};
use multihop_capture::{Capture, MacAddress};
use multihop_core::Span;
use multihop_measure::{AirtimeRow, AirtimeUse, SnifferReport, StampReference, SurveyOptions, survey};

fn measured(packets: &[Packet], stamp_reference: StampReference) -> SnifferReport {
    let file = file(packets);
    let options = SurveyOptions { stamp_reference: Some(stamp_reference), ..SurveyOptions::default() };
    let found = survey(Capture::from_reader(&file[..]).unwrap(), &options, |_| true).unwrap();
    let report = found.sniffers.into_iter().next().unwrap().report;
    let frames: u64 = report.rows.iter().map(|row| row.cell.frames).sum();
    assert_eq!(frames, packets.len() as u64, "every frame is in the table");
    report
}

fn busy(found: &SnifferReport) -> Span {
    found.busy.iter().copied().sum()
}

fn of(found: &SnifferReport, kind: AirtimeUse) -> Vec<&AirtimeRow> {
    found.rows.iter().filter(|row| row.kind == kind).collect()
}

fn airtime(found: &SnifferReport, kind: AirtimeUse) -> Span {
    of(found, kind).iter().map(|row| row.cell.airtime).sum()
}

/// Airtime of frames of 1501, 1501 and 41 bytes: (4 + 1501 + 3) + (4 + 1501 + 3) + (4 + 41) = 3061 bytes,
/// with service and tail 24,510 bits, which need 95 symbols.
const PPDU: u64 = 36 + 95 * 4;
/// Bytes of the network layer: bodies without LLC and SNAP.
const CARRIED: u64 = 1_463 + 1_463 + 3;
/// Airtime of 278 bits: 3 symbols.
const BLOCK_ACK: u64 = 20 + 12;
/// Time from the last symbol of OFDM to its response, in either band.
const SIFS: u64 = 16;

/// The A-MPDU above and its block acknowledgement, with timestamps at these instants.
fn aggregate(stamps_us: [u64; 4], flags: [u16; 3]) -> Vec<Packet> {
    let lengths = [1_501, 1_501, 41];
    let mut packets: Vec<Packet> = (0..3)
        .map(|n| Packet {
            stamp_us: stamps_us[n],
            how: FrameFormat::Ht(7),
            aggregate: Some((9, flags[n])),
            bad: false,
            bytes: data(B, lengths[n], 5 + u16::try_from(n).unwrap(), n == 1),
        })
        .collect();
    packets.push(Packet {
        stamp_us: stamps_us[3],
        how: FrameFormat::Rate(48),
        aggregate: None,
        bad: false,
        bytes: block_ack(),
    });
    packets
}

#[test]
fn an_a_mpdu_is_one_ppdu_wherever_it_is_stamped() {
    let begin = 1_000;
    let end = begin + PPDU;
    let answer = end + SIFS;
    let first_bit = begin + 36;
    for (stamp_reference, stamps) in [
        (StampReference::End, [end, end, end, answer + BLOCK_ACK]),
        (StampReference::End, [begin + 200, begin + 400, end, answer + BLOCK_ACK]),
        (StampReference::Begin, [begin, begin, begin, answer]),
        (StampReference::Begin, [begin, begin + 200, begin + 400, answer]),
        (StampReference::Mpdu, [first_bit, first_bit, first_bit, answer + 20]),
        (StampReference::Mpdu, [first_bit, first_bit + 190, first_bit + 370, answer + 20]),
    ] {
        let found = measured(&aggregate(stamps, [4, 4, 12]), stamp_reference);
        assert_eq!(busy(&found), Span::from_us(PPDU + BLOCK_ACK), "{stamp_reference:?} {stamps:?}");
        assert_eq!(found.length, Span::from_us(PPDU + SIFS + BLOCK_ACK), "{stamp_reference:?} {stamps:?}");
        let [first] = of(&found, AirtimeUse::Retry)[..] else { panic!("one row") };
        assert_eq!(first.cell.bytes, 1_501);
        // Shares by bytes: 1501 of 3043, rounded down to the nanosecond, from the end of a share of that
        // size.
        let share = |bytes: u64| PPDU * 1_000 * bytes / 3_043;
        assert_eq!(first.cell.airtime, Span::from_ns(share(3_002) - share(1_501)));
        assert_eq!(airtime(&found, AirtimeUse::Data) + first.cell.airtime, Span::from_us(PPDU));
        let station = &found.stations[of(&found, AirtimeUse::Data)[0].station.unwrap().index()];
        assert_eq!((station.address, station.frames), (MacAddress(A), 3));
        assert_eq!(station.airtime, Span::from_us(PPDU));
        // In an exchange the A-MPDU is one frame.
        let (_, _, link) = found.links[0];
        assert_eq!((link.exchanges, link.answered, link.blocks, link.bytes), (1, 1, 1, CARRIED));
        assert_eq!(link.occupied, found.length);
        // Eq. 12, over all frames together.
        let capacity = (CARRIED * 8) as f64 / found.length.seconds();
        assert!((link.capacity_bps.mean / capacity - 1.0).abs() < 1e-9, "{}", link.capacity_bps.mean);
        assert_eq!((found.quality.aggregates, found.quality.partial_aggregates), (1, 0));
    }
}

/// Without ACKs and CTS, an A-MPDU and its block acknowledgement show the timestamp reference. A sender that
/// stamps its own frames at their start and others at their end is found too.
#[test]
fn a_mpdus_and_their_answers_tell_what_stamps_mark() {
    let answer = PPDU + SIFS;
    for (data, block_ack, stamp_reference, own) in [
        (0, answer, StampReference::Begin, false),
        (36, answer + 20, StampReference::Mpdu, false),
        (PPDU, answer + BLOCK_ACK, StampReference::End, false),
        (0, answer + BLOCK_ACK, StampReference::End, true),
    ] {
        let packets: Vec<Packet> = (0..10)
            .flat_map(|n| {
                let begin = 1_000 + n * 5_000;
                let data = begin + data;
                let mut packets = aggregate([data, data, data, begin + block_ack], [4, 4, 12]);
                packets
                    .iter_mut()
                    .filter_map(|packet| packet.aggregate.as_mut())
                    .for_each(|it| it.0 = n as u32);
                packets
            })
            .collect();
        let file = file(&packets);
        let found =
            survey(Capture::from_reader(&file[..]).unwrap(), &SurveyOptions::default(), |_| true).unwrap();
        let found = &found.sniffers[0].report;
        assert_eq!((found.stamp_reference, found.pairs), (stamp_reference, 10));
        assert_eq!(found.own.map(|own| found.stations[own.index()].address), own.then_some(MacAddress(A)));
        assert_eq!(busy(found), Span::from_us(10 * (PPDU + BLOCK_ACK)), "{stamp_reference:?}");
    }
}

#[test]
fn what_was_missed_of_an_a_mpdu_shows() {
    let stamps = [2_000, 2_000, 2_000, 3_000];
    let partial = |packets: &[Packet]| measured(packets, StampReference::End).quality.partial_aggregates;
    let whole = aggregate(stamps, [4, 4, 12]);
    assert_eq!(partial(&whole), 0);
    assert_eq!(partial(&[&whole[..2], &whole[3..]].concat()), 1, "the last one");
    // If the receiver does not report the last frame, a gap in sequence numbers shows missed frames. A gap at
    // a retransmission does not, as the frames in between may have been received before.
    let silent = aggregate(stamps, [0; 3]);
    assert_eq!(partial(&silent), 0);
    let without_second = [&silent[..1], &silent[2..]].concat();
    assert_eq!(partial(&without_second), 1);
    let mut again = without_second;
    again[0].bytes[1] |= 1 << 3;
    assert_eq!(partial(&again), 0);
    // A damaged frame still occupies the medium.
    let mut damaged = silent;
    damaged[1].bad = true;
    assert_eq!(partial(&damaged), 0);
}

#[test]
fn what_is_sent_again_among_later_numbers_is_no_gap() {
    // 5, 6 and 7; then 6 again, and 8 and 9.
    let mut second = aggregate([4_000, 4_000, 4_000, 5_000], [4, 4, 12]);
    for (packet, (number, retry)) in second.iter_mut().zip([(6, true), (8, false), (9, false)]) {
        packet.bytes = data(B, 1_501, number, retry);
    }
    let packets = [aggregate([2_000, 2_000, 2_000, 3_000], [4, 4, 12]), second].concat();
    let quality = measured(&packets, StampReference::End).quality;
    assert_eq!((quality.missed, quality.numbered, quality.partial_aggregates), (0, 4, 0));
}

#[test]
fn each_receiver_has_sequence_numbers_of_its_own() {
    // A sends to two stations in turn, with numbers from 100 on and from 90 on; 92 is missing.
    let single = |at: u64, to, number| Packet {
        stamp_us: 1_000 + 5_000 * at,
        how: FrameFormat::Ht(7),
        aggregate: None,
        bad: false,
        bytes: data(to, 100, number, false),
    };
    let numbers = [(B, 100), (UNKNOWN, 90), (B, 101), (UNKNOWN, 91), (B, 102), (UNKNOWN, 93)];
    let packets: Vec<Packet> =
        numbers.iter().zip(0..).map(|(&(to, number), at)| single(at, to, number)).collect();
    let quality = measured(&packets, StampReference::End).quality;
    assert_eq!((quality.missed, quality.numbered), (1, 5));
}

#[test]
fn references_that_never_change_do_not_glue_frames_together() {
    let single = |n: u16, to| Packet {
        stamp_us: 1_000 + 20_000 * u64::from(n),
        how: FrameFormat::Ht(7),
        aggregate: Some((0, 0)),
        bad: false,
        bytes: data(to, 100, n, false),
    };
    // 104 bytes, 854 bits: 4 symbols.
    let alone = Span::from_us(36 + 4 * 4);
    let found = measured(&[single(0, B), single(1, B)], StampReference::End);
    assert_eq!((busy(&found), found.quality.aggregates), (alone * 2, 2), "too far apart");
    let other = Packet { stamp_us: 1_100, ..single(1, UNKNOWN) };
    let found = measured(&[single(0, B), other], StampReference::End);
    assert_eq!((busy(&found), found.quality.aggregates), (alone * 2, 2), "to another station");
    let slower = Packet { stamp_us: 1_200, how: FrameFormat::Ht(0), ..single(1, B) };
    let found = measured(&[single(0, B), slower], StampReference::End);
    assert_eq!(busy(&found), alone + Span::from_us(36 + 33 * 4), "854 bits of 26 each");
}

#[test]
fn a_damaged_frame_of_an_a_mpdu_has_its_share_but_no_sender() {
    let mut packets = aggregate([2_000, 2_000, 2_000, 2_000 + SIFS + BLOCK_ACK], [4, 4, 12]);
    packets[2].bad = true;
    packets[2].bytes[4..16].fill(6);
    let found = measured(&packets, StampReference::End);
    assert_eq!(busy(&found), Span::from_us(PPDU + BLOCK_ACK));
    let [damaged] = of(&found, AirtimeUse::Damaged)[..] else { panic!("one row") };
    assert_eq!((damaged.station, damaged.cell.frames, damaged.cell.bytes), (None, 1, 41));
    assert!(found.stations.iter().all(|station| station.address != MacAddress(UNKNOWN)));
    let (_, _, link) = found.links[0];
    assert_eq!((link.exchanges, link.answered, link.bytes), (1, 1, 2 * 1_463));
}

/// Airtimes of a frame of 1528 bytes at 24 Mb/s: 12,246 bits, 128 symbols; and of an ACK: 134 bits, 2
/// symbols.
const DATA: u64 = 20 + 128 * 4;
const ACK: u64 = 20 + 2 * 4;

fn at_24(stamp_us: u64, bad: bool, bytes: Vec<u8>) -> Packet {
    Packet { stamp_us, how: FrameFormat::Rate(48), aggregate: None, bad, bytes }
}

#[test]
fn damaged_frames_take_time_and_come_between_a_frame_and_its_answer() {
    let packets = [
        at_24(1_000, false, data(B, 1_528, 1, false)),
        at_24(2_000, true, data(UNKNOWN, 1_528, 2, false)),
        at_24(2_000 + SIFS + ACK, false, ack(A)),
    ];
    let found = measured(&packets, StampReference::End);
    assert_eq!(busy(&found), Span::from_us(2 * DATA + ACK));
    let [damaged] = of(&found, AirtimeUse::Damaged)[..] else { panic!("one row") };
    assert_eq!((damaged.station, damaged.cell.frames, damaged.cell.bytes), (None, 1, 1_528));
    assert_eq!(damaged.cell.airtime, Span::from_us(DATA));
    assert_eq!((found.quality.damaged, found.quality.unknown_airtime), (1, 0));
    assert!(found.stations.iter().all(|station| station.address != MacAddress(UNKNOWN)));
    let (_, _, link) = found.links[0];
    assert_eq!((link.exchanges, link.answered), (1, 0), "the ACK is of the damaged frame");
    assert_eq!(found.quality.orphan_acks, 1);
    // Without the CF-End, the same ACK answers the frame.
    let found = measured(&[packets[0].clone(), packets[2].clone()], StampReference::End);
    assert_eq!((found.links[0].2.answered, found.quality.orphan_acks), (1, 0));
}

#[test]
fn a_frame_whose_header_cannot_be_read_takes_time_too() {
    // Protocol version 1, and 40 bytes of data of which 24 are in the file: too few for the header.
    let strange = at_24(1_000, false, [vec![1], data(B, 1_528, 1, false)[1..].to_vec()].concat());
    let mut short = at_24(3_000, false, data(B, 40, 2, false));
    short.bytes.truncate(20);
    let found = measured(&[strange, short], StampReference::End);
    // 24 bytes with the FCS, which was not captured: 214 bits, 3 symbols.
    assert_eq!(busy(&found), Span::from_us(DATA + 20 + 3 * 4));
    assert_eq!(of(&found, AirtimeUse::Damaged).iter().map(|row| row.cell.frames).sum::<u64>(), 2);
    assert_eq!((found.quality.unreadable, found.quality.damaged, found.quality.cut), (2, 0, 1));
    assert!(found.stations.is_empty() && found.links.is_empty());
}
