//! Service delay of MPDUs with a block acknowledgement, in a capture built by hand: 65 Mb/s is 260 bits per
//! symbol of 4 us after 36 us, and 24 Mb/s is 96 bits per symbol after 20 us.

use crate::frames::{A, B, FrameFormat, Packet, data, file};
use multihop_capture::{Capture, MacAddress};
use multihop_core::Span;
use multihop_link::{EstimatorConfig, LinkView, PacketThroughputOptions, ServiceDelayOptions};
use multihop_measure::{NamedEstimator, StampReference, SurveyOptions, survey};

/// Airtime of two frames of 1500 bytes: 2 x (4 + 1500) bytes, with service and tail 24,086 bits in 93
/// symbols.
const PPDU: u64 = 36 + 93 * 4;
const SIFS: u64 = 10;
/// Airtime of 278 bits: 3 symbols.
const BLOCK_ACK: u64 = 20 + 12;
const EXCHANGE: u64 = PPDU + SIFS + BLOCK_ACK;
/// DIFS, 10 + 2 x 9 us: time from dequeueing a packet to its transmission on an idle medium.
const DIFS: u64 = 28;

/// An A-MPDU of two frames that begins at this time, and a block acknowledgement of the numbers `start` + n
/// for which bit n of `delivered` is set.
fn exchange(begin: u64, numbers: [(u16, bool); 2], start: u16, delivered: u8) -> Vec<Packet> {
    let mpdu = |n: usize| {
        let (number, retry) = numbers[n];
        Packet {
            stamp_us: begin,
            how: FrameFormat::Ht(7),
            aggregate: Some((begin as u32, if n == 1 { 12 } else { 4 })),
            bad: false,
            bytes: data(B, 1_500, number, retry),
        }
    };
    let mut bytes = [&[0b1001_0100, 0, 0, 0][..], &A, &B, &[4, 0]].concat();
    bytes.extend((start << 4).to_le_bytes());
    bytes.push(delivered);
    bytes.resize(28, 0);
    let stamp_us = begin + PPDU + SIFS;
    vec![
        mpdu(0),
        mpdu(1),
        Packet { stamp_us, how: FrameFormat::Rate(48), aggregate: None, bad: false, bytes },
    ]
}

/// Last outputs of A's estimators, for the last exchange alone or for all exchanges.
fn at_sender(packets: &[Packet]) -> (LinkView, LinkView) {
    let estimator = |name: &str, estimator| NamedEstimator { name: name.into(), estimator };
    let options = SurveyOptions {
        bin: Span::from_ms(500),
        stamp_reference: Some(StampReference::Begin),
        station: Some(MacAddress(A)),
        estimators: vec![
            estimator("fsd", EstimatorConfig::ServiceDelay(ServiceDelayOptions { smoothing: 1.0 })),
            estimator(
                "packet-throughput",
                EstimatorConfig::PacketThroughput(PacketThroughputOptions::default()),
            ),
        ],
        transmissions: None,
    };
    let bytes = file(packets);
    let found = survey(Capture::from_reader(&bytes[..]).unwrap(), &options, |_| true).unwrap();
    let readings = &found.sniffers[0].report.readings;
    let last = |estimator| readings.iter().rev().find(|reading| reading.estimator == estimator).unwrap().view;
    (last(0), last(1))
}

fn assert_us(found: Option<f64>, expected: f64) {
    let us = found.unwrap() * 1e6;
    assert!((us - expected).abs() < 0.01, "{us} and not {expected}");
}

#[test]
fn an_mpdu_s_service_begins_with_the_a_mpdu_that_had_it_first() {
    let mut packets = exchange(1_000, [(5, false), (6, false)], 5, 0b01);
    assert_us(at_sender(&and_silence(&packets)).0.service_delay_s, (DIFS + EXCHANGE) as f64);
    packets.extend(exchange(4_000, [(6, true), (7, false)], 6, 0b11));
    let (late, fresh) = (3_000 + DIFS + EXCHANGE, DIFS + EXCHANGE);
    assert_us(at_sender(&and_silence(&packets)).0.service_delay_s, (late + fresh) as f64 / 2.0);
}

#[test]
fn an_mpdu_that_the_window_leaves_behind_was_given_up() {
    let mut packets = exchange(1_000, [(5, false), (6, false)], 5, 0b10);
    // The recipient has moved its window, and 5 was not received.
    packets.extend(exchange(4_000, [(7, false), (8, false)], 6, 0b111));
    let (_, view) = at_sender(&and_silence(&packets));
    let carried = 1_500.0 - 26.0 - 4.0 - 8.0;
    let seconds =
        [EXCHANGE + DIFS, EXCHANGE + DIFS, 3_000 + EXCHANGE + DIFS].iter().sum::<u64>() as f64 * 1e-6;
    let expected = 3.0 * carried * 8.0 / seconds;
    let found = view.packet_throughput_bps.unwrap();
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} and not {expected}");
}

/// End of the capture: the same exchange of other stations, a second later.
fn and_silence(packets: &[Packet]) -> Vec<Packet> {
    let mut last = exchange(1_000_000, [(1, false), (2, false)], 1, 0b11);
    for packet in &mut last {
        packet.bytes[9] = 7;
        packet.bytes[15] = 8;
    }
    [packets, &last].concat()
}
