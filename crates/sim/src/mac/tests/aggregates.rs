//! Timelines with A-MPDUs and block acknowledgements.
//!
//! A packet of 1000 bytes is an MPDU of 26 + 8 + 1000 + 4 = 1038 bytes. In an A-MPDU each takes 4 + 1038 + 2
//! bytes, without padding after the last. Airtimes in us, besides those of `script`:
//!
//! | frame | bytes | airtime |
//! |---|--:|--:|
//! | one MPDU | 1038 | 192 + ceil(8 * 1038 / 11) = 947 |
//! | two MPDUs | 2086 | 1710 |
//! | three MPDUs | 3130 | 2469 |
//! | block acknowledgement, at 1 Mb/s | 32 | 448 |
//! | request, at 1 Mb/s | 24 | 384 |
//!
//! A block acknowledgement is overdue after 10 + 20 + 192 us.

use super::script::{A, AGGREGATION, B, C, Script, Signal, config, us};
use crate::config::{AggregationConfig, Config, Persistence};
use multihop_core::FrameKind::{Ack, BlockAck, BlockAckRequest, Cts, Data, Rts};
use multihop_core::{Exchange, Fate, LinkEvent, NodeId, Span};
use multihop_dot11::DcfRules;
use multihop_link::{Discipline, FqCodelOptions};

const SINGLE: u64 = 947;
const PAIR: u64 = 1_710;
const TRIPLE: u64 = 2_469;
const BLOCK_ACK: u64 = 448;
const REQUEST: u64 = 384;
const OVERDUE: u64 = 222;

fn aggregating(limits: AggregationConfig) -> Script {
    persistent(limits, Persistence::default())
}

fn persistent(limits: AggregationConfig, persistence: Persistence) -> Script {
    let mut setup = aggregating_config(limits);
    setup.mac.block_ack.persistence = persistence;
    Script::with(&setup)
}

fn aggregating_config(limits: AggregationConfig) -> Config {
    let mut setup = config(DcfRules::IEEE.with_quality_of_service(), None);
    (setup.mac.cw_min, setup.mac.cw_max) = (0, 0);
    setup.mac.block_ack.aggregation = Some(limits);
    setup
}

/// A script with packets of 1000 bytes for B from 1000 us on. The first is sent alone. The others are sent
/// after the end of its exchange, at 2311 us.
fn waiting(limits: AggregationConfig, packets: usize) -> Script {
    with_first_sent(aggregating(limits), packets)
}

fn with_first_sent(mut s: Script, packets: usize) -> Script {
    (0..packets).for_each(|_| s.queues(1_000, Some(B)));
    let ack = s.control(Ack, B, A, 0);
    s.hears(1_000 + SINGLE + 10, ack, Signal::Clear);
    assert_eq!(s.runs_until(2_300), [(1_000, Data, Some(B), 314)], "a single MPDU is answered by an ACK");
    s
}

fn exchanges(s: &mut Script) -> (Vec<Exchange>, Vec<Exchange>) {
    let events = s.events();
    let mpdus =
        events.iter().filter_map(|event| if let LinkEvent::Mpdu(e) = event { Some(*e) } else { None });
    let all =
        events.iter().filter_map(|event| if let LinkEvent::Exchange(e) = event { Some(*e) } else { None });
    (mpdus.collect(), all.collect())
}

#[test]
fn waiting_packets_share_one_frame_and_one_acknowledgement() {
    let mut s = waiting(AGGREGATION, 3);
    s.events();
    let answer = s.block_ack(B, 0, &[1, 2]);
    let done = s.hears(2_311 + PAIR + 10, answer, Signal::Clear);
    assert_eq!(done, 4_479);
    assert_eq!(s.runs_until(20_000), [(2_311, Data, Some(B), 10 + BLOCK_ACK)]);
    assert_eq!(s.sent_sequences(), [1, 2]);
    let link = s.record.nodes[A.index()].links()[0];
    assert_eq!((link.data, link.acknowledged, link.given_up), (3, 3, 0));
    let (mpdus, all) = exchanges(&mut s);
    let [exchange] = all[..] else { panic!("{all:?}") };
    assert_eq!((exchange.size, exchange.payload, exchange.mpdus), (2_000, 1_920, 2));
    assert_eq!((exchange.data_tries, exchange.fate, exchange.done), (1, Fate::Acknowledged, us(done)));
    // The packets waited for the first exchange, and are served from its end on.
    assert_eq!((exchange.enqueued, exchange.head_of_line), (us(1_000), us(2_261)));
    assert_eq!(exchange.airtime, Span::from_us(PAIR + 10 + BLOCK_ACK));
    assert_eq!(mpdus.iter().map(|mpdu| (mpdu.size, mpdu.mpdus)).collect::<Vec<_>>(), [(1_000, 2); 2]);
}

/// Only missing MPDUs are retransmitted, together with new packets, in the order of sequence numbers.
#[test]
fn missing_mpdus_are_retransmitted_with_new_packets() {
    let mut s = waiting(AGGREGATION, 4);
    let answer = s.block_ack(B, 0, &[1, 3]);
    let end = s.hears(2_311 + TRIPLE + 10, answer, Signal::Clear);
    assert_eq!(s.runs_until(3_000), [(2_311, Data, Some(B), 458)]);
    assert_eq!(s.sent_sequences(), [1, 2, 3]);
    s.queues(5_000, Some(B));
    let answer = s.block_ack(B, 2, &[0, 2]);
    s.hears(end + 50 + PAIR + 10, answer, Signal::Clear);
    assert_eq!(s.runs_until(30_000), [(end + 50, Data, Some(B), 458)]);
    assert_eq!(s.sent_sequences(), [2, 4]);
    let link = s.record.nodes[A.index()].links()[0];
    assert_eq!((link.data, link.acknowledged), (6, 5));
    // The retransmitted MPDU took longer. The exchange reports the mean of both.
    let (mpdus, all) = exchanges(&mut s);
    let [first, second] = [mpdus[3], mpdus[4]];
    assert_eq!((first.data_tries, second.data_tries), (2, 1));
    let mean = (first.service_delay() + second.service_delay()) / 2;
    assert_eq!(all.last().map(Exchange::service_delay), Some(mean));
}

#[test]
fn a_lost_block_ack_is_requested_and_no_mpdu_is_sent_twice() {
    let mut s = waiting(AGGREGATION, 3);
    let request = 2_311 + PAIR + OVERDUE;
    let answer = s.block_ack(B, 1, &[0, 1]);
    s.hears(request + REQUEST + 10, answer, Signal::Clear);
    let sent = [(2_311, Data, Some(B), 458), (request, BlockAckRequest, Some(B), 458)];
    assert_eq!(s.runs_until(30_000), sent);
    let link = s.record.nodes[A.index()].links()[0];
    assert_eq!((link.data, link.acknowledged, link.given_up), (3, 3, 0));
}

/// After sixty requests without a response the packets are given up. Each later packet has seven attempts
/// alone, and then seven requests that move the recipient's window.
#[test]
fn packets_are_given_up_after_sixty_requests_without_a_response() {
    let mut s = waiting(AGGREGATION, 3);
    let kinds: Vec<_> = s.runs_until(1_000_000).iter().map(|(_, kind, ..)| *kind).collect();
    assert_eq!(kinds, [vec![Data], vec![BlockAckRequest; 60]].concat());
    let link = s.record.nodes[A.index()].links()[0];
    assert_eq!((link.acknowledged, link.given_up), (1, 2));
    let (mpdus, all) = exchanges(&mut s);
    assert_eq!(mpdus[1..].iter().map(|mpdu| mpdu.data_tries).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(all.last().map(|last| (last.fate, last.size)), Some((Fate::GivenUp, 2_000)));
    for round in 0..10 {
        s.queues(2_000_000 + round * 1_000_000, Some(B));
    }
    assert_eq!(s.runs_until(20_000_000).len(), 10 * (7 + 7), "seven attempts each, then seven requests");
}

/// The recipient waits for MPDUs that were given up. A request moves its window once the neighbour responds
/// again.
#[test]
fn a_postponed_request_follows_when_the_neighbour_is_heard_again() {
    let mut s = waiting(AGGREGATION, 3);
    s.runs_until(1_000_000);
    s.queues(2_000_000, Some(B));
    let ack = s.control(Ack, B, A, 0);
    let end = s.hears(2_000_000 + SINGLE + 10, ack, Signal::Clear);
    let answer = s.block_ack(B, 4, &[]);
    s.hears(end + 50 + REQUEST + 10, answer, Signal::Clear);
    let sent = s.runs_until(3_000_000);
    let expected = [(2_000_000, Data, Some(B), 314), (end + 50, BlockAckRequest, Some(B), 458)];
    assert_eq!(sent, expected);
}

/// After sixty requests without a response, later MPDUs have seven requests.
#[test]
fn an_absent_neighbour_has_fewer_requests() {
    let mut s = waiting(AGGREGATION, 3);
    s.runs_until(1_000_000);
    (0..3).for_each(|_| s.queues(2_000_000, Some(B)));
    let kinds: Vec<_> = s.runs_until(3_000_000).iter().map(|(_, kind, ..)| *kind).collect();
    assert_eq!(kinds, [vec![Data; 2], vec![BlockAckRequest; 7]].concat(), "alone, then together");
}

/// An MPDU that block acknowledgements report as missing is sent fifteen times, twice as often as a lone
/// frame.
#[test]
fn an_mpdu_of_an_aggregate_has_fifteen_attempts() {
    let mut s = waiting(AGGREGATION, 3);
    let mut at = 2_311;
    for _ in 0..15 {
        let answer = s.block_ack(B, 1, &[]);
        at = s.hears(at + PAIR + 10, answer, Signal::Clear) + 50;
    }
    let kinds: Vec<_> = s.runs_until(100_000).iter().map(|(_, kind, ..)| *kind).collect();
    assert_eq!(kinds, [vec![Data; 15], vec![BlockAckRequest; 7]].concat());
    let link = s.record.nodes[A.index()].links()[0];
    assert_eq!((link.acknowledged, link.given_up), (1, 2));
}

/// Without a retry limit, an MPDU of an aggregate is sent until it arrives, twenty times here. A lone MPDU
/// keeps the seven attempts of a frame.
#[test]
fn without_a_limit_only_lone_mpdus_are_given_up() {
    let endless = Persistence { retry_limit: Some(u32::MAX), ..Persistence::default() };
    let mut s = with_first_sent(persistent(AGGREGATION, endless), 3);
    let mut at = 2_311;
    for round in 0..20 {
        let answer = s.block_ack(B, 1, if round < 19 { &[] } else { &[1] });
        at = s.hears(at + PAIR + 10, answer, Signal::Clear) + 50;
    }
    let data = s.runs_until(1_000_000).iter().filter(|(_, kind, ..)| *kind == Data).count();
    assert_eq!(data, 20 + 7);
    let link = s.record.nodes[A.index()].links()[0];
    assert_eq!((link.acknowledged, link.given_up), (2, 1));
}

/// A lone MPDU after an RTS has the long retry limit, four attempts here. An RTS without a CTS counts for the
/// short limit of seven. Without a retry limit for MPDUs, that limit resets the window and gives up nothing.
#[test]
fn a_lone_mpdu_after_rts_has_four_attempts_and_rts_have_no_limit() {
    let script = |persistence| {
        let mut setup = config(DcfRules::IEEE.with_quality_of_service(), Some(0));
        (setup.mac.cw_min, setup.mac.cw_max) = (0, 0);
        (setup.mac.block_ack.aggregation, setup.mac.block_ack.persistence) = (Some(AGGREGATION), persistence);
        let mut s = Script::with(&setup);
        s.queues(1_000, Some(B));
        s
    };
    let endless = Persistence { retry_limit: Some(u32::MAX), ..Persistence::default() };
    let mut s = script(endless);
    assert_eq!(s.runs_until(1_000 + 100 * (352 + OVERDUE)).len(), 101, "another RTS when the CTS is overdue");
    assert_eq!(s.record.nodes[A.index()].links().first().map_or(0, |link| link.given_up), 0);
    let mut s = script(Persistence::default());
    let kinds: Vec<_> = s.runs_until(100_000).iter().map(|(_, kind, ..)| *kind).collect();
    assert_eq!(kinds, [[Rts; 7], [BlockAckRequest; 7]].concat(), "with a limit the MPDU is given up");
    let mut s = script(endless);
    let mut at = 1_000;
    for _ in 0..4 {
        let cts = s.control(Cts, B, A, 2_178);
        at = s.hears(at + 352 + 10, cts, Signal::Clear) + 10 + SINGLE + OVERDUE;
    }
    let kinds: Vec<_> = s.runs_until(100_000).iter().map(|(_, kind, ..)| *kind).collect();
    assert_eq!(kinds, [[Rts, Data].repeat(4), vec![BlockAckRequest; 7]].concat());
}

/// Without a retry limit of MPDUs, requests have no limit either, unless one is set for them.
#[test]
fn requests_have_a_limit_if_mpdus_have_one() {
    let none = Some(u32::MAX);
    for (retry_limit, request_limit, most) in
        [(None, None, Some(60)), (none, None, None), (none, Some(5), Some(5)), (None, none, None)]
    {
        let persistence = Persistence { retry_limit, request_limit, ..Persistence::default() };
        let mut s = with_first_sent(persistent(AGGREGATION, persistence), 3);
        let kinds: Vec<_> = s.runs_until(200_000).iter().map(|(_, kind, ..)| *kind).collect();
        assert_eq!(kinds[0], Data);
        assert!(kinds[1..].iter().all(|kind| *kind == BlockAckRequest), "{kinds:?}");
        assert!(most.map_or(kinds.len() > 100, |most| kinds.len() == 1 + most), "{}", kinds.len());
    }
}

#[test]
fn a_recipient_can_wait_without_a_timeout() {
    let endless = Persistence { reorders_without_end: true, ..Persistence::default() };
    let mut s = persistent(AGGREGATION, endless);
    let frame = s.aggregate(B, A, &[1, 2]);
    let end = s.hears(1_000, frame, Signal::Clear);
    s.runs_until(end + 60_000_000);
    assert_eq!(s.stack.inbox(), 0);
    let late = s.aggregate(B, A, &[0]);
    s.hears(end + 60_000_100, late, Signal::Clear);
    s.runs_until(end + 61_000_000);
    assert_eq!(s.stack.inbox(), 3);
}

#[test]
fn a_packet_that_is_given_up_moves_the_recipients_window() {
    let mut setup = config(DcfRules::IEEE.with_quality_of_service(), None);
    (setup.mac.cw_min, setup.mac.cw_max) = (0, 0);
    setup.mac.block_ack.aggregation = Some(AGGREGATION);
    setup.mac.block_ack.persistence.retry_limit = Some(1);
    let mut s = Script::with(&setup);
    (0..3).for_each(|_| s.queues(1_000, Some(B)));
    let ack = s.control(Ack, B, A, 0);
    s.hears(1_000 + SINGLE + 10, ack, Signal::Clear);
    let answer = s.block_ack(B, 0, &[2]);
    let end = s.hears(2_311 + PAIR + 10, answer, Signal::Clear);
    let answer = s.block_ack(B, 3, &[]);
    s.hears(end + 50 + REQUEST + 10, answer, Signal::Clear);
    let sent = s.runs_until(30_000);
    assert_eq!(sent[2..], [(end + 50, BlockAckRequest, Some(B), 458)]);
    let link = s.record.nodes[A.index()].links()[0];
    assert_eq!((link.acknowledged, link.given_up), (2, 1));
}

#[test]
fn mpdus_beyond_the_window_wait() {
    let mut s = waiting(AggregationConfig { window: 2, ..AGGREGATION }, 5);
    s.runs_until(2_311);
    assert_eq!(s.sent_sequences(), [1, 2]);
    let answer = s.block_ack(B, 1, &[1]);
    let end = s.hears(2_311 + PAIR + 10, answer, Signal::Clear);
    s.runs_until(end + 60);
    assert_eq!(s.sent_sequences(), [1], "3 would be beyond the window");
}

#[test]
fn limits_on_length_airtime_and_number_end_a_frame() {
    let sequences = |limits| {
        let mut s = waiting(limits, 5);
        s.runs_until(2_311);
        s.sent_sequences()
    };
    assert_eq!(sequences(AGGREGATION).len(), 4);
    assert_eq!(sequences(AggregationConfig { a_mpdu: 3_129, ..AGGREGATION }), [1, 2]);
    assert_eq!(
        sequences(AggregationConfig { max_duration: Span::from_us(TRIPLE - 1), ..AGGREGATION }),
        [1, 2]
    );
    assert_eq!(
        sequences(AggregationConfig { max_duration: Span::from_us(TRIPLE), ..AGGREGATION }),
        [1, 2, 3]
    );
    assert_eq!(sequences(AggregationConfig { mpdus: 3, ..AGGREGATION }), [1, 2, 3]);
}

/// Two packets in one MPDU: 26 + 4 + 1022 + 2 + 1022 bytes, 1702 us at 11 Mb/s, and an ACK.
#[test]
fn packets_of_an_a_msdu_share_a_header_and_an_ack() {
    let limits = AggregationConfig { mpdus: 1, a_msdu: Some(3_839), ..AGGREGATION };
    let mut s = waiting(limits, 3);
    let ack = s.control(Ack, B, A, 0);
    let data = 192 + (8 * (26 + 4 + 1_024 + 1_022) as u64).div_ceil(11);
    s.hears(2_311 + data + 10, ack, Signal::Clear);
    assert_eq!(s.runs_until(30_000), [(2_311, Data, Some(B), 314)]);
    let link = s.record.nodes[A.index()].links()[0];
    assert_eq!((link.data, link.acknowledged), (2, 2), "one MPDU each");
    assert_eq!(exchanges(&mut s).1.last().map(|last| last.size), Some(2_000));
}

/// RTS 352, CTS 304 us. The duration field of the RTS covers the exchange up to the block acknowledgement.
#[test]
fn an_aggregate_after_rts() {
    let mut s = aggregating(AggregationConfig { rts: true, ..AGGREGATION });
    (0..3).for_each(|_| s.queues(1_000, Some(B)));
    let ack = s.control(Ack, B, A, 0);
    s.hears(1_000 + SINGLE + 10, ack, Signal::Clear);
    let cts = s.control(Cts, B, A, 2_178);
    s.hears(2_311 + 352 + 10, cts, Signal::Clear);
    let data = 2_311 + 352 + 10 + 304 + 10;
    let answer = s.block_ack(B, 0, &[1, 2]);
    s.hears(data + PAIR + 10, answer, Signal::Clear);
    let rts = 10 + 304 + 10 + PAIR + 10 + BLOCK_ACK;
    let sent = [(1_000, Data, Some(B), 314), (2_311, Rts, Some(B), rts), (data, Data, Some(B), 458)];
    assert_eq!(s.runs_until(30_000), sent);
    assert_eq!(exchanges(&mut s).1.last().map(|last| last.rts_tries), Some(1));
}

/// MPDUs wait for a missing one, which arrives in a later frame.
#[test]
pub fn a_recipient_passes_mpdus_on_in_order() {
    let mut s = aggregating(AGGREGATION);
    let frame = s.aggregate(B, A, &[0, 2]);
    let end = s.hears(1_000, frame, Signal::Clear);
    assert_eq!(s.runs_until(end + 20), [(end + 10, BlockAck, Some(B), 0)]);
    assert_eq!(s.stack.inbox(), 1);
    let (start, arrived) = s.acknowledged();
    assert_eq!((start, arrived.has(0), arrived.has(1), arrived.has(2)), (0, true, false, true));
    let missing = s.aggregate(B, A, &[1]);
    let end = s.hears(10_000, missing, Signal::Clear);
    assert_eq!(s.runs_until(end + 20), [(end + 10, Ack, Some(B), 0)]);
    assert_eq!(s.stack.inbox(), 3);
    let again = s.aggregate(B, A, &[1, 2]);
    s.hears(20_000, again, Signal::Clear);
    s.runs_until(30_000);
    assert_eq!(s.stack.inbox(), 3, "duplicates are acknowledged, and not passed on");
}

#[test]
pub fn a_request_moves_the_recipient_past_a_gap() {
    let mut s = aggregating(AGGREGATION);
    let frame = s.aggregate(B, A, &[0, 2, 4]);
    s.hears(1_000, frame, Signal::Clear);
    let request = s.request(B, 3);
    let end = s.hears(10_000, request, Signal::Clear);
    assert_eq!(s.runs_until(end + 20)[1], (end + 10, BlockAck, Some(B), 0));
    assert_eq!(s.stack.inbox(), 2, "2, but not 4");
    let (start, arrived) = s.acknowledged();
    assert_eq!((start, arrived.has(0), arrived.has(1), arrived.count()), (3, false, true, 1));
}

#[test]
fn a_gap_is_given_up_after_the_timeout_and_a_late_mpdu_is_lost() {
    let mut s = aggregating(AGGREGATION);
    let frame = s.aggregate(B, A, &[1, 2]);
    let end = s.hears(1_000, frame, Signal::Clear);
    s.runs_until(end + 99_999);
    assert_eq!(s.stack.inbox(), 0);
    s.runs_until(end + 100_000);
    assert_eq!(s.stack.inbox(), 2);
    let late = s.aggregate(B, A, &[0]);
    s.hears(end + 150_000, late, Signal::Clear);
    s.runs_until(end + 200_000);
    assert_eq!(s.stack.inbox(), 2);
    let lost = s.record.conservation.dropped[multihop_core::DropCause::Reordering as usize];
    assert_eq!(lost, 1, "the sender received the ACK, so that the recipient loses the packet");
}

/// A sequence number beyond the window moves the window past the missing MPDUs.
#[test]
fn a_far_sequence_number_moves_the_window() {
    let mut s = aggregating(AGGREGATION);
    for (at, sequences) in [(1_000, [0, 2]), (10_000, [66, 67])] {
        let frame = s.aggregate(B, A, &sequences);
        s.hears(at, frame, Signal::Clear);
    }
    s.runs_until(20_000);
    assert_eq!(s.stack.inbox(), 2, "0, and 2 when the window began at 3");
}

#[test]
fn bystanders_defer_until_the_block_ack_ends() {
    let mut s = aggregating(AGGREGATION);
    let frame = crate::medium::Frame { duration: Span::from_us(458), ..s.aggregate(B, C, &[0, 1]) };
    let end = s.hears(1_000, frame, Signal::Clear);
    s.queues(1_500, Some(B));
    let sent = s.runs_until(end + 1_000);
    assert_eq!(sent, [(end + 458 + 50, Data, Some(B), 314)]);
    let heard = s.events().iter().find_map(|event| match event {
        LinkEvent::Decoded(heard) => Some((heard.kind, heard.size)),
        _ => None,
    });
    assert_eq!(heard, Some((Data, 2_000)), "one frame with the bytes of all packets");
}

/// Receivers of the frames, if the frame for B fails while a packet for C waits.
fn receivers_after_a_failure(discipline: Discipline) -> Vec<Option<NodeId>> {
    let mut setup = aggregating_config(AGGREGATION);
    setup.mac.queue.discipline = discipline;
    let mut s = with_first_sent(Script::with(&setup), 3);
    s.queues(2_305, Some(C));
    let answer = s.block_ack(B, 1, &[]);
    let end = s.hears(2_311 + PAIR + 10, answer, Signal::Clear);
    // The ACK of C, or none for the retry to B.
    let ack = s.control(Ack, C, A, 0);
    s.hears(end + 50 + SINGLE + 10, ack, Signal::Clear);
    s.runs_until(end + 3_000).iter().map(|(_, _, to, _)| *to).collect()
}

#[test]
fn a_fair_queue_and_retries_take_turns() {
    let to = receivers_after_a_failure(Discipline::FqCodel(FqCodelOptions::default()));
    assert_eq!(to, [Some(B), Some(C), Some(B)]);
}

#[test]
fn a_retry_precedes_packets_that_arrived_later() {
    let to = receivers_after_a_failure(Discipline::DropTail);
    assert_eq!(to[..3], [Some(B), Some(B), Some(B)], "retry, then request");
}

/// The frame for B carries a packet that arrived after C's packet, and only that one is retransmitted.
#[test]
fn an_older_packet_precedes_the_retry_of_a_later_one() {
    let mut s = aggregating(AGGREGATION);
    s.queues(1_000, Some(B));
    for (at, to) in [(1_100, B), (1_200, C), (1_300, B)] {
        s.queues(at, Some(to));
    }
    let ack = s.control(Ack, B, A, 0);
    s.hears(1_000 + SINGLE + 10, ack, Signal::Clear);
    let answer = s.block_ack(B, 1, &[0]);
    let end = s.hears(2_311 + PAIR + 10, answer, Signal::Clear);
    let ack = s.control(Ack, C, A, 0);
    s.hears(end + 50 + SINGLE + 10, ack, Signal::Clear);
    let to: Vec<_> = s.runs_until(end + 3_000).iter().map(|(_, _, to, _)| *to).collect();
    assert_eq!(to[..4], [Some(B), Some(B), Some(C), Some(B)]);
}
