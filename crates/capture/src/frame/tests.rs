//! Parsing of frames built by hand.

use super::*;

const A: [u8; 6] = [2, 0, 0, 0, 0, 0xa];
const B: [u8; 6] = [2, 0, 0, 0, 0, 0xb];
const C: [u8; 6] = [2, 0, 0, 0, 0, 0xc];

/// MAC header of frame control, duration 314 us, and addresses.
fn header(control: [u8; 2], addresses: &[[u8; 6]]) -> Vec<u8> {
    let mut bytes = control.to_vec();
    bytes.extend(314_u16.to_le_bytes());
    bytes.extend(addresses.iter().flatten());
    bytes
}

fn parse(bytes: &[u8]) -> Frame {
    let reception = RxInfo { fcs_present: Some(false), ..RxInfo::default() };
    Frame::parse(bytes, 0, &reception).unwrap()
}

#[test]
fn rts_cts_and_ack() {
    let rts = parse(&header([0xb4, 0], &[A, [3, 0, 0, 0, 0, 0xb]]));
    assert_eq!(rts.kind, FrameType::Control(Control::Rts));
    assert_eq!(
        (rts.receiver, rts.transmitter),
        (Some(MacAddress(A)), Some(MacAddress(B))),
        "without its group bit"
    );
    assert_eq!((rts.duration, rts.air_bytes), (Some(Span::from_us(314)), 20));
    let cts = parse(&header([0xc4, 0], &[A]));
    assert_eq!((cts.kind, cts.transmitter, cts.air_bytes), (FrameType::Control(Control::Cts), None, 14));
    let ack = parse(&header([0xd4, 0x08], &[A]));
    assert_eq!((ack.kind, ack.retry, ack.air_bytes), (FrameType::Control(Control::Ack), true, 14));
    assert_eq!(ack.type_subtype, 0x1d);
}

#[test]
fn block_acks_and_their_requests() {
    let mut bytes = header([0x94, 0], &[A, B]);
    bytes.extend([0x05, 0x60, 0x30, 0x12, 7, 0, 0, 0, 0, 0, 0, 0]);
    let seen = parse(&bytes);
    let bitmap = BlockAckBitmap { words: [7, 0, 0, 0], bits: 64 };
    let expected = BlockAck { tid: 6, start: Some(0x123), bitmap: Some(bitmap) };
    assert_eq!(seen.kind, FrameType::Control(Control::BlockAck(expected)));
    assert_eq!(seen.air_bytes, 32);
    let said = [0x122, 0x123, 0x125, 0x126, 0x162, 0x163].map(|sequence| expected.acknowledges(sequence));
    assert_eq!(said, [None, Some(true), Some(true), Some(false), Some(false), None]);
    bytes[16] = 0x0d; // GCR: an address comes first
    let other = BlockAck { tid: 6, start: None, bitmap: None };
    assert_eq!(parse(&bytes).kind, FrameType::Control(Control::BlockAck(other)));
    bytes[16] = 0x05;
    bytes[0] = 0x84;
    let seen = parse(&bytes[..20]);
    assert_eq!(seen.kind, FrameType::Control(Control::BlockAckRequest(Some(0x123))));
}

/// 802.11ax-2021, table 9-30b: fragment number 4 announces 32 bytes. Sequence numbers wrap.
#[test]
fn long_block_acks_have_256_bits() {
    let mut bytes = header([0x94, 0], &[A, B]);
    bytes.extend([0x04, 0, 0xf4, 0xff, 1]);
    bytes.extend([0; 30]);
    bytes.push(0x80);
    let FrameType::Control(Control::BlockAck(seen)) = parse(&bytes).kind else { panic!("it is one") };
    let said = [4095, 0, 254, 255].map(|sequence| seen.acknowledges(sequence));
    assert_eq!(said, [Some(true), Some(false), Some(true), None]);
    let FrameType::Control(Control::BlockAck(cut)) = parse(&bytes[..40]).kind else { panic!("it is one") };
    assert_eq!((cut.start, cut.bitmap), (Some(4095), None));
}

/// Two packets of 60 and 41 bytes after LLC/SNAP, the first subframe padded by 2. Only the header of the
/// second is captured.
#[test]
fn packets_of_an_a_msdu_are_added_up() {
    let mut bytes = header([0x88, 0], &[A, B, A]);
    bytes.extend([0, 0, 0x80, 0]);
    bytes.extend([[0; 12].as_slice(), &[0, 68], &[0; 68 + 2]].concat());
    bytes.extend([[0; 12].as_slice(), &[0, 49]].concat());
    let of = |bytes: &[u8], cut| {
        Frame::parse(bytes, cut, &RxInfo { fcs_present: Some(true), ..RxInfo::default() })
    };
    let seen = of(&bytes, 49 + 4).unwrap();
    assert_eq!((seen.a_msdu_bytes, seen.air_bytes), (Some(60 + 41), 26 + 84 + 14 + 49 + 4));
    assert_eq!(of(&bytes[..bytes.len() - 1], 50 + 4).unwrap().a_msdu_bytes, None, "how long is not captured");
}

#[test]
fn ps_poll_has_an_identifier_for_a_duration() {
    let mut bytes = header([0xa4, 0], &[A, B]);
    bytes[2..4].copy_from_slice(&0xc005_u16.to_le_bytes());
    let poll = parse(&bytes);
    assert_eq!((poll.kind, poll.duration), (FrameType::Control(Control::PsPoll(5)), None));
}

#[test]
fn a_wrapper_tells_what_it_wraps() {
    let mut bytes = header([0x74, 0], &[A]);
    bytes.extend([0xd4, 0, 0, 0, 0, 0]);
    let seen = parse(&bytes);
    assert_eq!((seen.kind, seen.air_bytes), (FrameType::Control(Control::Wrapper(13)), 20));
}

/// Data frame. Flags 1: to DS; 2: from DS.
fn data(flags: u8, qos: Option<[u8; 2]>, body: &[u8]) -> Vec<u8> {
    let mut bytes = header([if qos.is_some() { 0x88 } else { 0x08 }, flags], &[A, B, C]);
    bytes.extend([0x31, 0x12]);
    if flags & 3 == 3 {
        bytes.extend(A);
    }
    bytes.extend(qos.into_iter().flatten());
    bytes.extend(body);
    bytes
}

#[test]
fn data_with_three_and_four_addresses() {
    for (flags, bssid) in [(0, Some(C)), (1, Some(A)), (2, Some(B)), (3, None)] {
        let seen = parse(&data(flags, None, &[0; 100]));
        assert_eq!((seen.receiver, seen.transmitter), (Some(MacAddress(A)), Some(MacAddress(B))));
        assert_eq!(seen.bssid, bssid.map(MacAddress), "flags {flags}");
        assert_eq!(seen.sequence, Some(SequenceControl { number: 0x123, fragment: 1 }));
        let header = if flags == 3 { 30 } else { 24 };
        assert_eq!((seen.header_bytes, seen.body_bytes, seen.air_bytes), (header, 100, header + 104));
    }
}

#[test]
fn qos_data() {
    let seen = parse(&data(0x01, Some([0xa5, 0]), &[0; 10]));
    let FrameType::Data(data_frame) = seen.kind else { panic!("{seen:?}") };
    assert_eq!((data_frame.tid, data_frame.ack_policy, data_frame.a_msdu), (Some(5), Some(1), true));
    assert_eq!((seen.header_bytes, seen.body_bytes), (26, 10));
    let with_ht_control = parse(&data(0x81, Some([0, 0]), &[0; 10]));
    assert_eq!((with_ht_control.header_bytes, with_ht_control.body_bytes), (30, 6));
    let mut null = data(0x01, None, &[]);
    null[0] = 0x48;
    assert!(matches!(parse(&null).kind, FrameType::Data(DataHeader { null: true, qos: false, .. })));
}

#[test]
fn padding_behind_the_header_was_not_on_the_air() {
    let reception = RxInfo { padded: true, fcs_present: Some(false), ..RxInfo::default() };
    let mut bytes = data(0x01, Some([0, 0]), &[0, 0]);
    bytes[22] = 0x30; // the first fragment
    bytes.extend([0xaa, 0xaa, 3, 0, 0, 0, 0x08, 0x06]);
    let seen = Frame::parse(&bytes, 0, &reception).unwrap();
    assert_eq!((seen.header_bytes, seen.body_bytes, seen.air_bytes), (26, 8, 38));
    assert_eq!(seen.payload.unwrap().ethertype, 0x0806);
}

#[test]
fn the_frame_check_sequence_is_taken_off_and_verified() {
    let ack = header([0xd4, 0], &[A]);
    let right = crc32fast::hash(&ack);
    let with = |sequence: u32| [&ack[..], &sequence.to_le_bytes()].concat();
    let seen = |bytes: &[u8], cut, present| {
        let reception = RxInfo { fcs_present: present, ..RxInfo::default() };
        let frame = Frame::parse(bytes, cut, &reception).unwrap();
        (frame.fcs, frame.air_bytes)
    };
    assert_eq!(seen(&with(right), 0, Some(true)), (Fcs::Right, 14));
    assert_eq!(seen(&with(right ^ 1), 0, Some(true)), (Fcs::Wrong, 14));
    assert_eq!(seen(&with(0), 0, Some(true)), (Fcs::Zero, 14), "as simulators write");
    assert_eq!(seen(&with(right), 0, None), (Fcs::Right, 14), "found without being announced");
    assert_eq!(seen(&with(right ^ 1), 0, None), (Fcs::Absent, 18));
    assert_eq!(seen(&ack, 0, None), (Fcs::Absent, 14));
    assert_eq!(seen(&with(right)[..12], 2, Some(true)), (Fcs::Cut, 14));
    assert_eq!(seen(&with(right), 100, Some(true)), (Fcs::Cut, 114));
    assert_eq!(seen(&ack, 100, Some(false)), (Fcs::Absent, 114));
}

#[test]
fn management() {
    let mut bytes = header([0x80, 0], &[[0xff; 6], B, B]);
    bytes.extend([0x30, 0x12]);
    bytes.extend([0; 12]);
    let beacon = parse(&bytes);
    assert_eq!(beacon.kind, FrameType::Management(8));
    assert!(beacon.receiver.unwrap().is_group() && beacon.receiver == Some(MacAddress::BROADCAST));
    assert_eq!((beacon.bssid, beacon.body_bytes), (Some(MacAddress(B)), 12));
    assert_eq!(beacon.sequence, Some(SequenceControl { number: 0x123, fragment: 0 }));
    assert_eq!(beacon.transmitter.unwrap().to_string(), "02:00:00:00:00:0b");
    assert_eq!("02-00-00-00-00-0B".parse(), Ok(beacon.transmitter.unwrap()));
    for text in [
        "",
        "02:00:00:00:00",
        "02:00:00:00:00:0b:00",
        "2:0:0:0:0:b",
        "02:00:00:00:00:0g",
        "02:00:00:00:00:+b",
    ] {
        assert_eq!(text.parse::<MacAddress>(), Err(MacAddressError), "{text}");
    }
}

#[test]
fn what_is_no_frame() {
    let error = |bytes: &[u8]| {
        let reception = RxInfo { fcs_present: Some(false), ..RxInfo::default() };
        Frame::parse(bytes, 0, &reception).unwrap_err().to_string()
    };
    assert_eq!(error(&[0xd4]), "a MAC header needs 4 bytes, 1 were captured");
    assert_eq!(error(&[0xd4, 0, 0, 0, 1]), "a control header needs 10 bytes, 5 were captured");
    assert_eq!(error(&header([0x88, 0], &[A, B, C])), "a data header needs 26 bytes, 22 were captured");
    assert_eq!(error(&data(0x81, Some([0, 0]), &[])), "a data header needs 30 bytes, 26 were captured");
    assert!(error(&[0xd5, 0, 0, 0]).starts_with("version 1 of the frame format"));
}

/// `bytes` followed by the FCS of `covered`, little-endian.
fn with_fcs(bytes: &[u8], covered: &[u8]) -> Vec<u8> {
    [bytes, &crc32fast::hash(covered).to_le_bytes()].concat()
}

/// `QoS` data frame with a header of 26 bytes and an IP packet of 30 bytes, with `padding` bytes between.
fn padded_data(padding: usize) -> Vec<u8> {
    let mut bytes = header([0x88, 0x01], &[A, B, C]);
    bytes.extend([0x10, 0, 0, 0]);
    bytes.extend(vec![0; padding]);
    bytes.extend([0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
    let mut packet = [1; 30];
    packet[..4].copy_from_slice(&[0x45, 0, 0, 30]);
    bytes.extend(packet);
    bytes
}

fn said(bytes: &[u8], fcs_present: Option<bool>, padded: bool) -> Frame {
    Frame::parse(bytes, 0, &RxInfo { fcs_present, padded, ..RxInfo::default() }).unwrap()
}

#[test]
fn a_check_sequence_leaves_out_padding() {
    let [plain, padded] = [padded_data(0), padded_data(2)];
    let expected = 26 + 8 + 30 + 4;
    for (bytes, flag, what) in [
        (with_fcs(&padded, &plain), true, "padded, as the flag says"),
        (with_fcs(&padded, &plain), false, "padded, without a flag"),
        (with_fcs(&plain, &plain), true, "not padded, whatever the flag says"),
        (with_fcs(&plain, &plain), false, "not padded"),
    ] {
        let frame = said(&bytes, Some(true), flag);
        assert_eq!(frame.fcs, Fcs::Right, "{what}");
        assert_eq!((frame.air_bytes, frame.payload.unwrap().ethertype), (expected, 0x0800), "{what}");
    }
}

#[test]
fn bytes_go_before_what_is_said_of_the_check_sequence() {
    let data = padded_data(0);
    let checked = with_fcs(&data, &data);
    let there = said(&checked, Some(false), false);
    assert_eq!((there.fcs, there.fcs_flag_is_wrong, there.air_bytes), (Fcs::Right, true, 68));
    let not_there = said(&data, Some(true), false);
    assert_eq!((not_there.fcs, not_there.fcs_flag_is_wrong, not_there.air_bytes), (Fcs::Absent, true, 68));
    let ack = said(&header([0xd4, 0], &[A]), Some(true), false);
    assert_eq!((ack.fcs, ack.fcs_flag_is_wrong, ack.air_bytes), (Fcs::Absent, true, 14));
    let rts = said(&header([0xb4, 0], &[A, B]), Some(true), false);
    assert_eq!((rts.fcs, rts.air_bytes), (Fcs::Absent, 20));
    // The contents of a damaged frame do not end with its last byte.
    let mut damaged = checked;
    damaged[50] ^= 1;
    assert_eq!(said(&damaged, Some(true), false).fcs, Fcs::Wrong);
    assert_eq!(said(&with_fcs(&data, b"other"), None, false).fcs, Fcs::Absent, "nothing is said");
}
