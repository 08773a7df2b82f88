//! Timelines with a hardware queue.
//!
//! Airtimes as in `aggregates`. Linux expects 851 us for a packet of 1000 bytes at 11 Mb/s: a kibibyte takes
//! 745 us, above 400, so that two packets share the preamble of 192 us, and 1038 bytes take 755 us.

use super::script::{A, AGGREGATION, B, Script, Signal, config};
use crate::config::HardwareQueueConfig;
use multihop_core::FrameKind::{Ack, Data};
use multihop_core::{LinkEvent, Span};
use multihop_dot11::{AccessCategory, DcfRules};
use multihop_link::{AirtimeLimits, Discipline, StationsOptions};

const NONE: HardwareQueueConfig = HardwareQueueConfig { packets: None, aggregates: None, airtime: None };
const EXPECTED: Span = Span::from_ns(850_900);

fn aggregating(hardware: HardwareQueueConfig) -> Script {
    let mut setup = config(DcfRules::IEEE.with_quality_of_service(), None);
    (setup.mac.cw_min, setup.mac.cw_max) = (0, 0);
    setup.mac.block_ack.aggregation = Some(AGGREGATION);
    setup.mac.queue.discipline = Discipline::Stations(StationsOptions::default());
    setup.mac.queue.hardware = Some(hardware);
    Script::with(&setup)
}

/// Enqueues packets for B at 1000 us and acknowledges every frame. Returns the sequence numbers of each
/// frame.
fn frames(s: &mut Script, packets: usize) -> Vec<Vec<u16>> {
    (0..packets).for_each(|_| s.queues(1_000, Some(B)));
    let mut frames = Vec::new();
    let (mut now, mut sent) = (1_000, 0);
    while sent < packets {
        let begun = s.runs_until(now);
        assert!(now < 1_000_000, "{sent} of {packets} were sent");
        now += 1;
        if begun.iter().all(|(_, kind, ..)| *kind != Data) {
            continue;
        }
        let sequences = s.sent_sequences();
        let end = s.mac.on_air().end().ns() / 1_000 + 1;
        let answer = match sequences.len() {
            1 => s.control(Ack, B, A, 0),
            several => s.block_ack(B, sequences[0], &(0..several).collect::<Vec<_>>()),
        };
        s.hears(end + 10, answer, Signal::Clear);
        sent += sequences.len();
        frames.push(sequences);
        now = end;
    }
    s.runs_until(now + 2_000);
    frames
}

fn lengths(hardware: HardwareQueueConfig, packets: usize) -> Vec<usize> {
    frames(&mut aggregating(hardware), packets).iter().map(Vec::len).collect()
}

fn limited(low: Span, high: Span, threshold: Span) -> HardwareQueueConfig {
    HardwareQueueConfig { airtime: Some(AirtimeLimits { low, high, threshold }), ..NONE }
}

/// The first packet is a frame of its own, because the hardware is empty. The second frame is assembled while
/// the first is sent, of the one packet that waits then. The other packets share the third.
#[test]
fn the_second_frame_is_assembled_while_the_first_is_sent() {
    let by_frames = |most| HardwareQueueConfig { aggregates: Some(most), ..NONE };
    assert_eq!(lengths(by_frames(1), 10), [1, 9]);
    assert_eq!(lengths(by_frames(2), 10), [1, 1, 8]);
    assert_eq!(lengths(by_frames(3), 10), [1, 1, 1, 7]);
}

#[test]
fn the_packet_limit_of_the_hardware_limits_frames() {
    let by_packets = |most| HardwareQueueConfig { packets: Some(most), ..NONE };
    assert_eq!(lengths(by_packets(1), 4), [1, 1, 1, 1]);
    // A frame also takes packets that filled the place of the previous frame.
    assert_eq!(lengths(by_packets(4), 10), [1, 4, 4, 1]);
    assert_eq!(lengths(by_packets(100), 10), [1, 9]);
}

/// The limit of 2 ms is reached with the third packet.
#[test]
fn airtime_limits_what_the_hardware_holds() {
    let limits = limited(Span::from_ms(2), Span::from_ms(2), Span::from_ms(24));
    let mut s = aggregating(limits);
    (0..8).for_each(|_| s.queues(1_000, Some(B)));
    let pending = s.stack.pending_airtime(AccessCategory::BestEffort, B);
    let difference = pending.ns().abs_diff(3 * EXPECTED.ns());
    assert!(difference < 3_000, "{pending:?}");
    assert_eq!(s.stack.queue_length(), 5);
    // The high limit holds as long as little is pending for all.
    let mut s = aggregating(limited(Span::from_ms(1), Span::from_ms(6), Span::from_ms(3)));
    (0..8).for_each(|_| s.queues(1_000, Some(B)));
    assert_eq!(s.stack.queue_length(), 4, "3.4 ms are more than the threshold");
    assert_eq!(lengths(limits, 10).iter().sum::<usize>(), 10);
}

/// An empty hardware queue has no pending airtime, after acknowledged and given-up packets alike.
#[test]
fn delivered_and_given_up_packets_release_their_airtime() {
    let pending = |s: &Script| s.stack.pending_airtime(AccessCategory::BestEffort, B);
    let mut s = aggregating(limited(Span::from_ms(2), Span::from_ms(2), Span::from_ms(24)));
    assert_eq!(frames(&mut s, 10).iter().map(Vec::len).collect::<Vec<_>>(), [1, 3, 3, 3]);
    assert_eq!((pending(&s), s.stack.queue_length()), (Span::ZERO, 0));
    let mut s = aggregating(limited(Span::from_ms(2), Span::from_ms(2), Span::from_ms(24)));
    (0..7).for_each(|_| s.queues(1_000, Some(B)));
    s.runs_until(3_000_000);
    assert_eq!((pending(&s), s.stack.queue_length()), (Span::ZERO, 0));
    assert_eq!(s.record.nodes[A.index()].links()[0].given_up, 7);
}

/// A limit below one packet does not stop the station. The lifetime of a packet counts from the interface
/// queue.
#[test]
fn one_packet_always_fits_and_the_lifetime_includes_the_hardware_queue() {
    let least = limited(Span::from_us(10), Span::from_us(10), Span::from_us(10));
    assert_eq!(lengths(least, 3), [1, 1, 1]);
    let mut setup = config(DcfRules::IEEE.with_quality_of_service(), None);
    (setup.mac.cw_min, setup.mac.cw_max) = (0, 0);
    setup.mac.queue.hardware = Some(HardwareQueueConfig { packets: Some(10), ..NONE });
    setup.mac.queue.lifetime = Some(Span::from_ms(1));
    let mut s = Script::with(&setup);
    (0..3).for_each(|_| s.queues(1_000, Some(B)));
    let ack = s.control(Ack, B, A, 0);
    s.hears(1_000 + 947 + 1_000, ack, Signal::Clear); // too late
    s.runs_until(100_000);
    let dropped = s.events().iter().filter(|event| matches!(event, LinkEvent::Dropped(_))).count();
    assert_eq!((dropped, s.stack.queue_length()), (3, 0), "one is given up, two exceed their lifetime");
}
