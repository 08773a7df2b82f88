//! Timelines with transmission opportunities (TXOP). An exchange of DATA (947 us) and ACK takes 1261 us, see
//! `edca`.

use super::edca::{EXCHANGE, busy, marked, setup};
use super::script::{A, AGGREGATION, B, C, Script, Signal};
use crate::config::{Config, Protection};
use multihop_core::FrameKind::{Ack, BlockAck, CfEnd, Cts, Data, Rts};
use multihop_core::{Dscp, Rate, Span};
use multihop_dot11::AccessCategory::{BestEffort, Video, Voice};
use multihop_dot11::{Phy, Preamble};

/// A configuration with a TXOP limit of voice, in microseconds.
fn voice_limited(us: u64) -> Config {
    let mut setup = setup();
    setup.mac.edca.as_mut().expect("the setup has access categories")[Voice as usize].txop_limit =
        Span::from_us(us);
    setup
}

fn limited(us: u64, aggregates: bool) -> Script {
    let mut setup = voice_limited(us);
    setup.mac.block_ack.aggregation = aggregates.then_some(AGGREGATION);
    Script::with(&setup)
}

/// Schedules the ACKs of exchanges that begin at these times.
fn acknowledges(s: &mut Script, begins: &[u64]) {
    for begin in begins {
        let ack = s.control(Ack, B, A, 0);
        s.hears(begin + EXCHANGE - 304, ack, Signal::Clear);
    }
}

/// Under single protection, each exchange but the last reserves SIFS and the next exchange (9.2.5.2).
#[test]
pub fn exchanges_of_a_txop_follow_after_sifs_while_they_fit() {
    let three = 3 * EXCHANGE + 2 * 10;
    for (limit, fits) in [(three, 3), (three - 1, 2), (0, 1)] {
        let mut s = limited(limit, false);
        let first = busy(&mut s) + 50;
        (0..4).for_each(|_| s.queues_marked(200, Some(B), marked(Voice)));
        let burst: Vec<u64> = (0..fits).map(|place| first + place * (EXCHANGE + 10)).collect();
        let end = burst.last().expect("an exchange fits") + EXCHANGE;
        acknowledges(&mut s, &burst);
        let sent = s.runs_until(end + 51);
        let begins: Vec<u64> = sent.iter().map(|(at, ..)| *at).collect();
        assert_eq!(begins, [&burst[..], &[end + 50]].concat(), "limit {limit}");
        let durations: Vec<u64> = sent.iter().map(|(.., duration)| *duration).take(burst.len()).collect();
        let mut expected = vec![314 + 10 + EXCHANGE; burst.len()];
        *expected.last_mut().expect("an exchange fits") = 314;
        assert_eq!(durations, expected, "limit {limit}");
    }
}

/// Airtime of a CF-End, 20 bytes at 1 Mb/s.
const CF_END: u64 = 352;

/// Two exchanges of voice under multiple protection, with a TXOP limit that is `beyond` microseconds longer.
/// Returns the script, the start and the end of the exchanges.
fn reserved(beyond: u64) -> (Script, u64, u64) {
    let two = 2 * EXCHANGE + 10;
    let mut setup = voice_limited(two + beyond);
    setup.mac.protection = Protection::Multiple;
    let mut s = Script::with(&setup);
    let first = busy(&mut s) + 50;
    (0..2).for_each(|_| s.queues_marked(200, Some(B), marked(Voice)));
    acknowledges(&mut s, &[first, first + EXCHANGE + 10]);
    (s, first, first + two)
}

/// A CF-End returns the rest of the TXOP if it ends before the limit (802.11-2020, 10.23.2.10).
#[test]
pub fn multiple_protection_reserves_the_txop_and_a_cf_end_returns_the_rest() {
    for (beyond, returns) in [(0, false), (10 + CF_END, false), (10 + CF_END + 1, true), (5_000, true)] {
        let (mut s, first, end) = reserved(beyond);
        s.queues_marked(first + 1, Some(C), marked(BestEffort));
        let mut expected = vec![
            (first, Data, Some(B), 314 + 10 + EXCHANGE + beyond),
            (first + EXCHANGE + 10, Data, Some(B), 314 + beyond),
        ];
        let next = if returns { end + 10 + CF_END } else { end };
        expected.extend(returns.then_some((end + 10, CfEnd, None, 0)));
        expected.push((next + 70, Data, Some(C), 314));
        assert_eq!(s.runs_until(next + 71), expected, "{beyond} us beyond two exchanges");
    }
}

#[test]
fn a_cf_end_resets_the_nav() {
    let mut s = limited(0, false);
    let frame =
        crate::medium::Frame { duration: Span::from_us(20_000), ..s.marked_data(B, 1, marked(Voice)) };
    let end = s.hears(1_000, crate::medium::Frame { to: Some(C), ..frame }, Signal::Clear);
    s.queues_marked(1_500, Some(B), marked(Voice));
    let cf_end = s.control(CfEnd, B, B, 0);
    let end = s.hears(end + 500, cf_end, Signal::Clear);
    assert_eq!(s.runs_until(end + 51), [(end + 50, Data, Some(B), 314)]);
}

#[test]
fn a_txop_ends_with_an_empty_queue() {
    let mut s = limited(10_000, false);
    let first = busy(&mut s) + 50;
    (0..2).for_each(|_| s.queues_marked(200, Some(B), marked(Voice)));
    s.queues_marked(200, Some(C), marked(BestEffort));
    let second = first + EXCHANGE + 10;
    acknowledges(&mut s, &[first, second]);
    let end = second + EXCHANGE;
    let sent = [(first, Data, Some(B), 314 + 10 + EXCHANGE), (second, Data, Some(B), 314)];
    assert_eq!(s.runs_until(end + 69), sent);
    assert_eq!(s.runs_until(end + 71), [(end + 70, Data, Some(C), 314)], "the other category transmits");
}

/// After a failure the station contends again.
#[test]
fn a_txop_ends_with_a_failure() {
    let mut s = limited(10_000, false);
    (0..3).for_each(|_| s.queues_marked(1_000, Some(B), marked(Voice)));
    acknowledges(&mut s, &[1_000]);
    let second = 1_000 + EXCHANGE + 10;
    let again = second + 947 + 222 + 50;
    let begins: Vec<u64> = s.runs_until(again + 1).iter().map(|(at, ..)| *at).collect();
    assert_eq!(begins, [1_000, second, again]);
}

/// RTS 352, CTS 304, DATA 947 and ACK 304 us, with SIFS between them.
#[test]
pub fn each_exchange_of_a_txop_has_an_rts() {
    let exchange = 352 + 304 + EXCHANGE + 20;
    let mut setup = voice_limited(10_000);
    setup.mac.rts_threshold = Some(0);
    let mut s = Script::with(&setup);
    let first = busy(&mut s) + 50;
    (0..2).for_each(|_| s.queues_marked(200, Some(B), marked(Voice)));
    let second = first + exchange + 10;
    for begin in [first, second] {
        let cts = s.control(Cts, B, A, 10 + EXCHANGE);
        s.hears(begin + 352 + 10, cts, Signal::Clear);
        let ack = s.control(Ack, B, A, 0);
        s.hears(begin + exchange - 304, ack, Signal::Clear);
    }
    let (rts, data, next) = (exchange - 352, 314, exchange + 10);
    let sent = [
        (first, Rts, Some(B), rts + next),
        (first + 352 + 304 + 20, Data, Some(B), data + next),
        (second, Rts, Some(B), rts),
        (second + 352 + 304 + 20, Data, Some(B), data),
    ];
    assert_eq!(s.runs_until(second + 5_000), sent);
}

/// 802.11g with 802.11b stations, see `protection`: a CTS at 11 Mb/s takes 203 us, DATA and ACK at 54 and 24
/// Mb/s 182 and 34.
#[test]
pub fn each_exchange_of_a_txop_has_a_cts_to_self() {
    let mut setup = voice_limited(10_000);
    setup.phy = Phy::mixed(Preamble::Long);
    setup.rates.data = Rate::from_kbps(54_000).into();
    setup.rates.control = None;
    setup.mac.cts_to_self = true;
    let mut s = Script::with(&setup);
    (0..2).for_each(|_| s.queues_marked(1_000, Some(B), marked(Voice)));
    let ack = s.control(Ack, B, A, 0);
    let done = s.hears(1_000 + 203 + 10 + 182 + 10, ack, Signal::Clear);
    assert_eq!(done, 1_439);
    let sent: Vec<_> = s.runs_until(done + 300).iter().map(|(at, kind, to, _)| (*at, *kind, *to)).collect();
    let expected = [(1_000, Cts, Some(A)), (1_213, Data, Some(B))];
    let next = [(done + 10, Cts, Some(A)), (done + 10 + 213, Data, Some(B))];
    assert_eq!(sent, [expected, next].concat());
}

/// A broadcast of 1038 bytes takes 192 + 8304 us at 1 Mb/s, so that 20 ms have room for two and a CF-End.
#[test]
pub fn broadcasts_share_a_txop() {
    for (protection, reserved) in [(Protection::Single, 0), (Protection::Multiple, 20_000 - 8_496u64)] {
        let mut setup = voice_limited(20_000);
        setup.mac.protection = protection;
        let mut s = Script::with(&setup);
        let first = busy(&mut s) + 50;
        (0..2).for_each(|_| s.queues_marked(200, None, marked(Voice)));
        let second = first + 8_496 + 10;
        let mut expected =
            vec![(first, Data, None, reserved), (second, Data, None, reserved.saturating_sub(8_506))];
        if protection == Protection::Multiple {
            expected.push((second + 8_496 + 10, CfEnd, None, 0));
        }
        assert_eq!(s.runs_until(second + 20_000), expected, "{protection:?}");
    }
}

#[test]
fn a_response_within_a_txop_protects_the_next_exchange() {
    let mut s = limited(0, false);
    let frame = s.marked_data(B, 1, marked(Voice));
    let frame = crate::medium::Frame { duration: Span::from_us(314 + 10 + EXCHANGE), ..frame };
    let end = s.hears(1_000, frame, Signal::Clear);
    assert_eq!(s.runs_until(end + 20), [(end + 10, Ack, Some(B), 10 + EXCHANGE)]);
}

/// Two MPDUs take 1710 us, three 2469, and a block acknowledgement 448.
#[test]
fn an_aggregate_fits_into_the_txop() {
    let pair = 1_710 + 10 + 448;
    let mut s = limited(EXCHANGE + 10 + pair + 700, true);
    (0..5).for_each(|_| s.queues_marked(1_000, Some(B), marked(Voice)));
    acknowledges(&mut s, &[1_000]);
    let second = 1_000 + EXCHANGE + 10;
    let answer = s.block_ack(B, 1, &[0, 1]);
    let end = s.hears(second + 1_710 + 10, answer, Signal::Clear);
    let sent = s.runs_until(end + 40);
    assert_eq!(sent.iter().map(|(at, ..)| *at).collect::<Vec<_>>(), [1_000, second]);
    assert_eq!(s.sent_sequences(), [1, 2], "three would take 759 us more");
    s.runs_until(end + 51);
    assert_eq!(s.sent_sequences(), [3, 4], "in the next TXOP");
}

#[test]
fn an_aggregate_has_one_traffic_identifier_10_12() {
    let mut s = limited(0, true);
    // AF41 is of priority 4, CS5 of 5; both are video.
    let of = |number| Dscp::new(number).expect("six bits");
    for number in [34, 34, 40, 34, 40] {
        s.queues_marked(1_000, Some(B), of(number));
    }
    acknowledges(&mut s, &[1_000]);
    let second = 1_000 + EXCHANGE + 50;
    let answer = s.block_ack(B, 1, &[0, 1]);
    let end = s.hears(second + 1_710 + 10, answer, Signal::Clear);
    s.runs_until(second);
    assert_eq!(s.sent_sequences(), [1, 2], "both of priority 4");
    s.runs_until(end + 51);
    assert_eq!(s.sent_sequences(), [0, 1], "sequence numbers of priority 5 count separately");
    assert_eq!(s.mac.function_of(Video).category, Video);
}

/// A missing MPDU of one priority does not delay MPDUs of another.
#[test]
fn a_recipient_orders_each_traffic_identifier_separately() {
    let mut s = limited(0, true);
    let (voice, video) = (s.aggregate_of(B, A, 6, &[1, 2]), s.aggregate_of(B, A, 4, &[0, 1]));
    let end = s.hears(1_000, voice, Signal::Clear);
    assert_eq!(s.runs_until(end + 20), [(end + 10, BlockAck, Some(B), 0)]);
    assert_eq!(s.stack.inbox(), 0, "0 is missing");
    s.hears(10_000, video, Signal::Clear);
    s.runs_until(20_000);
    assert_eq!(s.stack.inbox(), 2);
}
