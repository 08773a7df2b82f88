//! Receivers with faulty or unusual records are measured like correct ones.

use crate::frames::{A, B, FrameFormat, Packet, Receiver, ack, block_ack, data, written};
use multihop_capture::Capture;
use multihop_core::{Rate, Span};
use multihop_dot11::{Band, OfdmClock, Ppdu};
use multihop_measure::{
    AirtimeUse, ChannelSurvey, Grade, SnifferReport, StampReference, SurveyOptions, TimerFault, survey,
};

fn all(file: &[u8]) -> Vec<ChannelSurvey> {
    survey(Capture::from_reader(file).unwrap(), &SurveyOptions::default(), |_| true).unwrap().sniffers
}

fn only(file: &[u8]) -> SnifferReport {
    let mut found = all(file);
    assert_eq!(found.len(), 1);
    found.remove(0).report
}

fn busy(found: &SnifferReport) -> Span {
    found.busy.iter().copied().sum()
}

/// Frequency and flags of the channel of a frame, by its index and its timestamp.
type ChannelOf = fn(usize, u64) -> Option<(u16, u16)>;
/// Timer of a frame, by its index and its timestamp.
type TimerOf = fn(usize, u64) -> Option<u64>;
/// Index of a frame's timestamp among begin, first bit and end of the frame.
type StampOf = fn([u64; 3]) -> u64;

/// 30 exchanges of DATA and ACK, 5 ms apart, on a channel of this clock. `stamp` selects begin, first bit or
/// end of a frame. Rates are in units of 500 kb/s.
fn exchanges(clock: OfdmClock, rate: u8, gap_us: u64, stamp: StampOf) -> Vec<Packet> {
    let how = Ppdu::Ofdm { rate: Rate::from_kbps(500 * u64::from(rate)), clock };
    let airtime = |bytes| how.airtime(bytes, Band::Ghz5).unwrap().ns() / 1_000;
    let preamble = how.overhead().ns() / 1_000;
    let mut packets = Vec::new();
    for number in 0..30_u16 {
        let mut begin = 10_000 + 5_000 * u64::from(number);
        for bytes in [data(B, 1_528, number, false), ack(A)] {
            let end = begin + airtime(bytes.len() as u32 + 4);
            let stamp_us = stamp([begin, begin + preamble, end]);
            packets.push(Packet {
                stamp_us,
                how: FrameFormat::Rate(rate),
                aggregate: None,
                bad: false,
                bytes,
            });
            begin = end + gap_us;
        }
    }
    packets
}

const STAMPS: [(StampReference, StampOf); 3] = [
    (StampReference::Begin, |at| at[0]),
    (StampReference::Mpdu, |at| at[1]),
    (StampReference::End, |at| at[2]),
];

#[test]
fn an_answer_follows_after_the_gap_of_its_phy_and_channel() {
    let channels: [(ChannelOf, OfdmClock, u64); 5] = [
        (|_, _| None, OfdmClock::Full, 16),
        (|_, _| Some((2_437, 0xc0)), OfdmClock::Full, 16),
        (|_, _| Some((5_180, 0x140)), OfdmClock::Full, 16),
        (|_, _| Some((5_890, 1 << 14)), OfdmClock::Half, 32),
        (|_, _| Some((5_890, 1 << 15)), OfdmClock::Quarter, 64),
    ];
    for (channel, clock, gap_us) in channels {
        for (stamp_reference, stamp) in STAMPS {
            let packets = exchanges(clock, 12, gap_us, stamp);
            let found = only(&written(&packets, Receiver { channel, ..Receiver::default() }));
            // With equal preambles, start and first bit are equivalent, and a timer follows radiotap.
            let expected =
                if stamp_reference == StampReference::Begin { StampReference::Mpdu } else { stamp_reference };
            assert_eq!(found.stamp_reference, expected, "{clock:?} {gap_us}");
            assert_eq!((found.pairs, found.quality.other_pairs), (30, 0), "{clock:?} {gap_us}");
            assert_eq!(found.quality.verdict().0, Grade::Good);
            let how = Ppdu::Ofdm { rate: Rate::from_kbps(6_000), clock };
            let [data, ack] = [1_528, 14].map(|bytes| how.airtime(bytes, Band::Ghz5).unwrap());
            let transfer = data + Span::from_us(gap_us) + ack;
            let carried = 8.0 * (1_528.0 - 26.0 - 8.0 - 4.0);
            let capacity = found.links[0].2.capacity_bps.mean;
            assert!((capacity / (carried / transfer.seconds()) - 1.0).abs() < 1e-6, "{capacity}");
        }
    }
}

#[test]
fn where_no_answer_shows_it_a_timer_is_as_radiotap_says() {
    // Responses at a gap that no PHY has.
    let packets = exchanges(OfdmClock::Full, 48, 300, |at| at[0]);
    let with = only(&written(&packets, Receiver::default()));
    assert_eq!((with.stamp_reference, with.pairs), (StampReference::Mpdu, 0));
    let without = only(&written(&packets, Receiver { timer_us: |_, _| None, ..Receiver::default() }));
    assert_eq!((without.stamp_reference, without.pairs), (StampReference::End, 0));
    let (grade, said) = with.quality.verdict();
    assert_eq!(grade, Grade::Fair);
    assert!(said[0].starts_with("only 0 pairs of a frame and its response"), "{said:?}");
}

/// A timer cannot refer to the first bit if responses would begin within their frames.
#[test]
fn what_a_timer_is_said_to_mark_must_be_possible() {
    // Ends of frames, and responses later than on any PHY.
    let packets = exchanges(OfdmClock::Full, 48, 300, |at| at[2]);
    assert_eq!(only(&written(&packets, Receiver::default())).stamp_reference, StampReference::End);
}

#[test]
fn a_timer_that_does_not_run_is_none() {
    let packets = exchanges(OfdmClock::Full, 48, 16, |at| at[2]);
    let host_only = only(&written(&packets, Receiver { timer_us: |_, _| None, ..Receiver::default() }));
    let timers: [(TimerOf, TimerFault); 7] = [
        (|_, _| Some(0), TimerFault::Stopped),
        (|_, _| Some(77), TimerFault::Stopped),
        (|number, _| Some(number as u64 / 40), TimerFault::Stopped),
        (|_, stamp| Some(stamp / 1_000), TimerFault::WrongSpeed),
        (|_, stamp| Some(stamp * 1_000), TimerFault::WrongSpeed),
        (|_, stamp| Some(stamp * 3 / 5), TimerFault::WrongSpeed),
        (|_, stamp| Some(stamp * 3 / 2), TimerFault::WrongSpeed),
    ];
    for (timer_us, fault) in timers {
        let found = only(&written(&packets, Receiver { timer_us, ..Receiver::default() }));
        assert_eq!(found.quality.timer_fault, Some(fault));
        assert_eq!((found.length, busy(&found)), (host_only.length, busy(&host_only)), "{fault:?}");
        assert_eq!((found.stamp_reference, found.pairs), (host_only.stamp_reference, host_only.pairs));
        assert!(found.quality.verdict().1.iter().any(|said| said.starts_with("the receiver's timer")));
    }
}

#[test]
fn one_wild_stamp_changes_nothing_but_its_count() {
    let packets = exchanges(OfdmClock::Full, 48, 16, |at| at[2]);
    let hosts: [fn(usize, u64) -> u64; 4] = [
        |number, stamp| if number == 31 { 4_000_000_000 } else { stamp },
        |number, stamp| if number == 0 { 4_000_000_000 } else { stamp },
        |number, stamp| if number == 59 { 4_000_000_000 } else { stamp },
        |number, stamp| if number == 31 { 2_000_000_000 } else { 2_500_000_000 + stamp },
    ];
    for (index, host_us) in hosts.into_iter().enumerate() {
        let receiver = Receiver { timer_us: |_, _| None, ..Receiver::default() };
        let right = only(&written(&packets, receiver));
        let found = only(&written(&packets, Receiver { host_us, ..receiver }));
        assert_eq!(found.quality.outlier_frames, 1, "{index}");
        // The frame with the outlier is between its neighbours, and overlaps at most one of them.
        let late = right.length.ns().abs_diff(found.length.ns());
        assert!(late < 6_000_000, "{index}: {:?} {:?}", right.length, found.length);
        assert!(busy(&found) <= busy(&right) && busy(&found) + Span::from_us(600) > busy(&right), "{index}");
        let capacity = |found: &SnifferReport| found.links[0].2.capacity_bps.mean;
        assert!((capacity(&found) - capacity(&right)).abs() < 1.0, "{index}");
        let beside_timer = only(&written(&packets, Receiver { host_us, ..Receiver::default() }));
        assert_eq!((beside_timer.length, busy(&beside_timer)), (right.length, busy(&right)), "{index}");
        assert_eq!(
            (beside_timer.quality.timer_steps, beside_timer.quality.replaced_stamps),
            (0, 1),
            "{index}"
        );
    }
}

/// RTS and CTS at 1 Mb/s protect OFDM at 2.4 GHz: preambles differ, but not within decisive pairs.
#[test]
fn frames_behind_another_preamble_are_stamped_as_radiotap_says() {
    let dsss = |bytes: u64| 192 + 8 * bytes;
    // 12,246 bits in 128 symbols, and 134 in 2.
    let (data_us, ack_us) = (20 + 128 * 4, 20 + 2 * 4);
    let mut packets = Vec::new();
    for number in 0..40_u16 {
        let mut at = 10_000 + 5_000 * u64::from(number);
        let cts = [&[0b1100_0100, 0, 0, 0][..], &A].concat();
        let rts = [&[0b1011_0100, 0, 0, 0][..], &B, &A].concat();
        for (bytes, rate, preamble, us, gap) in [
            (rts, 2, 192, dsss(20), 10),
            (cts, 2, 192, dsss(14), 10),
            (data(B, 1_528, number, false), 48, 20, data_us, 16),
            (ack(A), 48, 20, ack_us, 0),
        ] {
            packets.push(Packet {
                stamp_us: at + preamble,
                how: FrameFormat::Rate(rate),
                aggregate: None,
                bad: false,
                bytes,
            });
            at += us + gap;
        }
    }
    let found =
        only(&written(&packets, Receiver { channel: |_, _| Some((2_437, 0xc0)), ..Receiver::default() }));
    assert_eq!(
        (found.stamp_reference, found.pairs, found.quality.other_pairs),
        (StampReference::Mpdu, 80, 0)
    );
    assert_eq!((found.quality.impossible, found.quality.verdict().0), (0, Grade::Good));
    // Eq. 6 as printed: from the end of the CTS to that of the ACK, minus two SIFS.
    let transfer = (10 + data_us + 16 + ack_us - 2 * 10) as f64 * 1e-6;
    let capacity = found.links[0].2.capacity_bps.mean;
    assert!((capacity / (8.0 * 1_490.0 / transfer) - 1.0).abs() < 1e-6, "{capacity}");
}

/// A host that reports frames in batches gives all frames of a batch the same timestamp.
#[test]
fn frames_on_top_of_each_other_are_no_good_capture() {
    let packets = exchanges(OfdmClock::Full, 12, 16, |at| at[2]);
    let of = |timer_us: TimerOf, host_us: fn(usize, u64) -> u64| {
        only(&written(&packets, Receiver { timer_us, host_us, ..Receiver::default() })).quality
    };
    let none: TimerOf = |_, _| None;
    let batches = of(none, |_, stamp| stamp.next_multiple_of(50_000));
    assert_eq!(batches.verdict().0, Grade::Poor);
    assert!(
        batches.overlapping > Span::ZERO
            && batches.verdict().1.iter().any(|said| said.contains("overlap other frames"))
    );
    let same = of(none, |_, _| 5);
    assert_eq!(same.verdict().0, Grade::Poor);
    let right = of(none, |_, stamp| stamp);
    assert_eq!((right.overlapping, right.verdict().0), (Span::ZERO, Grade::Good));
    // With a timer, a constant host timestamp is ignored.
    let timed = of(|_, stamp| Some(stamp), |_, _| 5);
    assert_eq!((timed.length, timed.verdict().0), (right.length, Grade::Good));
}

#[test]
fn copies_and_numbers_that_jump_are_said() {
    let packets = exchanges(OfdmClock::Full, 48, 16, |at| at[2]);
    let twice: Vec<Packet> = packets
        .iter()
        .flat_map(|packet| [packet.clone(), Packet { stamp_us: packet.stamp_us + 700, ..packet.clone() }])
        .collect();
    let quality = only(&written(&twice, Receiver::default())).quality;
    assert_eq!((quality.copies, quality.verdict().0), (30, Grade::Poor));
    assert_eq!(only(&written(&packets, Receiver::default())).quality.copies, 0);
    // Five frames each, at this interval: in between the radio was on channels without frames.
    for apart in [200, 3_000] {
        let mut jumping = packets.clone();
        for (index, packet) in jumping.iter_mut().enumerate().filter(|(index, _)| index % 2 == 0) {
            let number = (index / 2) as u16;
            packet.bytes = data(B, 1_528, (number + number / 5 * apart) % 4_096, false);
        }
        let quality = only(&written(&jumping, Receiver::default())).quality;
        assert_eq!(quality.missed, 5 * u64::from(apart));
        assert_eq!(quality.verdict().0, Grade::Poor);
    }
}

/// `ath9k_htc` read the halves of its timer at two instants, so that single timestamps were off by 2^32
/// (open-ath9k-htc-firmware, issue 66).
#[test]
fn a_timer_that_is_torn_now_and_then_is_left_for_that_frame() {
    let packets = exchanges(OfdmClock::Full, 48, 16, |at| at[2]);
    let right = only(&written(&packets, Receiver::default()));
    let timers: [TimerOf; 2] = [
        |number, stamp| Some(stamp + if number % 20 == 7 { 1 << 32 } else { 0 }),
        |number, stamp| Some((3 << 32) + stamp - if number % 20 == 7 { 1 << 32 } else { 0 }),
    ];
    for timer_us in timers {
        let found = only(&written(&packets, Receiver { timer_us, ..Receiver::default() }));
        assert_eq!((found.length, busy(&found)), (right.length, busy(&right)));
        let quality = &found.quality;
        assert_eq!((quality.outlier_frames, quality.replaced_stamps, quality.timer_steps), (0, 3, 0));
    }
}

/// 20 A-MPDUs of three frames and their block acknowledgements, with timestamps at their first bit.
fn aggregates(status: bool) -> Vec<Packet> {
    // 3061 bytes at 65 Mb/s, see `airtime`.
    let ppdu = 36 + 95 * 4;
    (0..20_u16)
        .flat_map(|number| {
            let begin = 10_000 + 5_000 * u64::from(number);
            let parts = [1_501, 1_501, 41].into_iter().enumerate().map(move |(part, bytes)| Packet {
                stamp_us: begin + 36,
                how: FrameFormat::Ht(7),
                aggregate: status.then_some((number.into(), if part == 2 { 12 } else { 4 })),
                bad: false,
                bytes: data(B, bytes, 3 * number + part as u16, false),
            });
            let answer = Packet {
                stamp_us: begin + ppdu + 16 + 20,
                how: FrameFormat::Rate(48),
                aggregate: None,
                bad: false,
                bytes: block_ack(),
            };
            parts.chain([answer])
        })
        .collect()
}

#[test]
fn frames_with_one_timer_between_one_pair_are_one_ppdu() {
    let right = only(&written(&aggregates(true), Receiver::default()));
    let found = only(&written(&aggregates(false), Receiver::default()));
    assert_eq!((found.quality.aggregates, found.quality.unanswered), (20, 0));
    assert_eq!(
        (found.length, busy(&found), found.stamp_reference),
        (right.length, busy(&right), right.stamp_reference)
    );
    assert_eq!(found.links[0].2.capacity_bps.mean, right.links[0].2.capacity_bps.mean);
    // A damaged frame still belongs to its A-MPDU.
    let mut damaged = aggregates(false);
    damaged[1].bad = true;
    let found = only(&written(&damaged, Receiver::default()));
    assert_eq!((found.quality.aggregates, found.quality.damaged), (20, 1));
    assert_eq!(busy(&found), busy(&right));
    // Frames before HT share no PPDU, whatever their timer; nor do frames to two stations.
    let mut slow = aggregates(false);
    for packet in &mut slow {
        packet.how = FrameFormat::Rate(48);
    }
    assert_eq!(only(&written(&slow, Receiver::default())).quality.aggregates, 0);
}

#[test]
fn a_flag_that_all_bytes_contradict_is_overruled_and_that_is_said() {
    let packets = exchanges(OfdmClock::Full, 48, 16, |at| at[0]);
    let right =
        only(&written(&packets, Receiver { says_fcs: true, has_fcs: |_| true, ..Receiver::default() }));
    let has: [fn(usize) -> bool; 3] = [|_| false, |_| true, |number| number % 4 == 0];
    for (says_fcs, has_fcs) in [true, false, true].into_iter().zip(has) {
        let found = only(&written(&packets, Receiver { says_fcs, has_fcs, ..Receiver::default() }));
        let is_mixed = has_fcs(0) != has_fcs(1);
        // For data without a readable packet, only the verdict over all frames applies.
        if !is_mixed {
            assert_eq!((found.quality.damaged, found.quality.unreadable), (0, 0));
            assert_eq!((busy(&found), found.pairs), (busy(&right), right.pairs));
        }
        assert!(found.quality.fcs_overruled > 0);
        assert!(found.quality.verdict().1.iter().any(|said| said.contains("FCS flag")));
    }
}

/// Some drivers set the flag on all frames, and strip the FCS from data only (nmap, issue 1231).
#[test]
fn a_flag_that_all_data_contradict_is_overruled_for_data() {
    let mut packets = exchanges(OfdmClock::Full, 48, 16, |at| at[0]);
    for packet in packets.iter_mut().filter(|packet| packet.bytes.len() > 100) {
        packet.bytes[100..].fill(0x55);
    }
    let right =
        only(&written(&packets, Receiver { says_fcs: true, has_fcs: |_| true, ..Receiver::default() }));
    // DATA frames have even indices, and their packets are unreadable.
    let receiver = Receiver { says_fcs: true, has_fcs: |number| number % 2 == 1, ..Receiver::default() };
    let found = only(&written(&packets, receiver));
    assert_eq!((found.quality.damaged, found.quality.fcs_overruled), (0, 30));
    assert_eq!((busy(&found), found.links[0].2.answered), (busy(&right), 30));
}

#[test]
fn a_frame_whose_check_sequence_is_right_is_not_damaged_whatever_its_flag() {
    let mut packets = exchanges(OfdmClock::Full, 48, 16, |at| at[0]);
    for packet in &mut packets {
        packet.bad = true;
    }
    let with =
        only(&written(&packets, Receiver { says_fcs: true, has_fcs: |_| true, ..Receiver::default() }));
    assert_eq!((with.quality.damaged, with.quality.fcs_overruled), (0, 60));
    let without = only(&written(&packets, Receiver::default()));
    assert_eq!(without.quality.damaged, 60, "nobody can tell");
}

/// 100 ms on one channel, where A sends to B, alternate with 100 ms on another, with a beacon every 20 ms.
#[test]
fn a_radio_that_hops_is_a_sniffer_on_each_channel() {
    let hops: ChannelOf = |_, stamp| Some((if stamp / 100_000 % 2 == 0 { 2_412 } else { 2_437 }, 0xc0));
    let mut packets = Vec::new();
    // Transmissions continue while the radio is on the other channel.
    for ms in 10..1_000_u64 {
        let on_first = ms / 100 % 2 == 0;
        if on_first {
            packets.push(Packet {
                stamp_us: 1_000 * ms,
                how: FrameFormat::Rate(48),
                aggregate: None,
                bad: false,
                bytes: data(B, 1_528, ms as u16, false),
            });
            packets.push(Packet { stamp_us: 1_000 * ms + 532 + 16, bytes: ack(A), ..packets[0].clone() });
        } else if ms % 20 == 10 {
            packets.push(Packet {
                stamp_us: 1_000 * ms,
                bytes: data(B, 200, (ms / 20) as u16, false),
                ..packets[0].clone()
            });
        }
    }
    let found = all(&written(&packets, Receiver { channel: hops, ..Receiver::default() }));
    let [first, second] = &found[..] else { panic!("{} sniffers", found.len()) };
    assert_eq!([first, second].map(|seen| (seen.interface, seen.channel_mhz)), [(0, 2_412), (0, 2_437)]);
    let [one, other] = [&first.report, &second.report];
    // 490 ms each, with an uncertainty of 6 ms at each of nine changes.
    for report in [one, other] {
        let off = (report.length.seconds() - 0.49).abs();
        assert!(off <= report.quality.uncertain.seconds(), "{off} {:?}", report.quality.uncertain);
        assert_eq!((report.quality.channel_changes, report.quality.missed), (9, 0), "{:?}", report.quality);
    }
    // A frame of 532 us and an ACK of 28 us in each ms.
    let share = busy(one).seconds() / one.length.seconds();
    assert!((share - 0.56).abs() < 0.06, "{share}");
    assert!(busy(other).seconds() / other.length.seconds() < 0.01);
    let capacity = one.links[0].2.capacity_bps.mean;
    assert!((capacity / (8.0 * 1_490.0 / 576e-6) - 1.0).abs() < 1e-3, "{capacity}");
    assert!(one.quality.verdict().1[0].starts_with("the radio changed its channel 9 times"));
    let frames = |report: &SnifferReport| report.rows.iter().map(|row| row.cell.frames).sum::<u64>();
    assert_eq!(frames(one) + frames(other), packets.len() as u64);
    assert!(one.rows.iter().all(|row| row.kind != AirtimeUse::Damaged));
}

#[test]
fn what_cannot_be_read_says_why() {
    let mut file = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 1].map(u32::to_le_bytes).concat();
    for _ in 0..3 {
        file.extend([1_000_u32, 0, 60, 60].map(u32::to_le_bytes).concat());
        file.extend([0; 60]);
    }
    let found = only(&file);
    let (grade, said) = found.quality.verdict();
    assert_eq!(grade, Grade::Poor);
    assert!(said[0].starts_with("3 of 3 records have no readable frame (100.0 %), most often because: link"));
    assert_eq!(found.length, Span::ZERO);
}
