//! Timelines under the rules of the standard. Names end with the clause of IEEE 802.11-2012.

use super::script::{A, B, C, Script, Signal, config};
use multihop_core::DropCause;
use multihop_core::FrameKind::{Ack, Cts, Data, Rts};
use multihop_core::Span;
use multihop_dot11::DcfRules;

const RTS_US: u64 = 352;
const CTS_US: u64 = 304;
const ACK_US: u64 = 304;
const DATA_US: u64 = 946;
const DIFS: u64 = 50;
const EIFS: u64 = 364;

fn basic() -> Script {
    Script::new(DcfRules::IEEE, None)
}

fn with_rts() -> Script {
    Script::new(DcfRules::IEEE, Some(0))
}

#[test]
pub fn an_idle_medium_is_accessed_at_once_9_3_4_2() {
    let mut s = basic();
    s.queues(1_000, Some(B));
    assert_eq!(s.runs_until(1_100), [(1_000, Data, Some(B), 10 + ACK_US)]);
}

#[test]
fn a_frame_within_the_ifs_waits_until_the_ifs_ends_9_3_4_2() {
    let mut s = basic();
    let broadcast = s.data(C, None, 1);
    let end = s.hears(100, broadcast, Signal::Clear);
    s.queues(end + 20, Some(B));
    assert_eq!(s.runs_until(end + 500), [(end + DIFS, Data, Some(B), 314)]);
}

#[test]
fn in_a_busy_medium_a_back_off_follows_difs_9_3_4_3() {
    let mut setup = config(DcfRules::IEEE, None);
    setup.mac.cw_min = 31;
    let mut s = Script::with(&setup);
    let broadcast = s.data(C, None, 1);
    let end = s.hears(100, broadcast, Signal::Clear);
    s.queues(200, Some(B));
    let slots = u64::from(s.mac.station.function.backoff.expect("a back-off is drawn on arrival"));
    assert!(slots <= 31);
    assert_eq!(s.runs_until(end + 1_000), [(end + DIFS + 20 * slots, Data, Some(B), 314)]);
}

#[test]
fn a_frozen_back_off_keeps_its_slots_9_3_4_3() {
    let mut s = basic();
    let first = s.data(C, None, 1);
    let first_end = s.hears(100, first, Signal::Clear);
    s.queues(200, Some(B));
    s.mac.station.function.backoff = Some(7);
    s.mac.update_slow_path();
    // Busy again after three whole slots and a bit: four slots are left.
    let second = s.data(C, None, 2);
    let second_end = s.hears(first_end + DIFS + 3 * 20 + 11, second, Signal::Clear);
    assert_eq!(s.runs_until(second_end + DIFS + 4 * 20), [(second_end + DIFS + 4 * 20, Data, Some(B), 314)]);
}

#[test]
pub fn rts_cts_data_ack_9_3_2_6() {
    let mut s = with_rts();
    s.queues(1_000, Some(B));
    let rts_duration = 3 * 10 + CTS_US + DATA_US + ACK_US;
    assert_eq!(s.runs_until(1_001), [(1_000, Rts, Some(B), rts_duration)]);
    let cts = s.control(Cts, B, A, rts_duration - 10 - CTS_US);
    let cts_end = s.hears(1_000 + RTS_US + 10, cts, Signal::Clear);
    assert_eq!(s.runs_until(cts_end + 10), [(cts_end + 10, Data, Some(B), 10 + ACK_US)]);
    let ack = s.control(Ack, B, A, 0);
    let ack_end = s.hears(cts_end + 10 + DATA_US + 10, ack, Signal::Clear);
    assert_eq!(s.runs_until(ack_end + 10_000), []);
    let counters = &s.record.nodes[0].links()[0];
    assert_eq!((counters.rts, counters.data, counters.acknowledged, counters.given_up), (1, 1, 1, 0));
}

#[test]
pub fn an_unanswered_rts_is_sent_seven_times_9_3_4_4() {
    let mut s = with_rts();
    s.queues(1_000, Some(B));
    let sent = s.runs_until(1_000_000);
    assert_eq!(sent.len(), 7, "{sent:?}");
    assert!(sent.iter().all(|(_, kind, to, _)| *kind == Rts && *to == Some(B)));
    // CTS timeout: SIFS, a slot, and the PHY-RX-START delay of 192 us. By then the medium has been idle for
    // longer than DIFS.
    let timeout = RTS_US + 10 + 20 + 192;
    let gaps: Vec<u64> = sent.windows(2).map(|pair| pair[1].0 - pair[0].0 - timeout).collect();
    for (try_number, gap) in gaps.iter().enumerate() {
        // With CWmin = 0 the windows are 1, 3, 7, ...
        let window = (1u64 << (try_number + 1)) - 1;
        assert!(gap.is_multiple_of(20) && *gap <= 20 * window, "{gaps:?}");
    }
    assert_eq!(s.record.conservation.dropped[DropCause::RetryLimit as usize], 1);
    assert_eq!(s.mac.station.function.cw, 0, "the window is reset after giving up");
}

#[test]
fn unanswered_data_after_cts_is_sent_four_times_9_3_4_4() {
    let mut s = with_rts();
    s.queues(1_000, Some(B));
    let (mut rts, mut data) = (0, 0);
    let mut now = 1_000;
    while now < 200_000 {
        for (at, kind, _, _) in s.runs_until(now) {
            if kind == Rts {
                rts += 1;
                let cts = s.control(Cts, B, A, 1_500);
                s.hears(at + RTS_US + 10, cts, Signal::Clear);
            } else {
                data += 1;
            }
        }
        now += 50;
    }
    assert_eq!((rts, data), (4, 4));
    assert_eq!(s.record.conservation.dropped[DropCause::RetryLimit as usize], 1);
}

#[test]
pub fn without_rts_data_is_sent_seven_times_9_3_4_4() {
    let mut s = basic();
    s.queues(1_000, Some(B));
    assert_eq!(s.runs_until(1_000_000).len(), 7);
}

#[test]
fn an_overheard_rts_reserves_the_medium_9_3_2_4() {
    let mut s = basic();
    let rts = s.control(Rts, B, C, 3_000);
    let rts_end = s.hears(100, rts, Signal::Clear);
    // A CTS follows, so that the NAV is not reset.
    let cts = s.control(Cts, C, B, 2_686);
    let cts_end = s.hears(rts_end + 10, cts, Signal::Clear);
    s.queues(cts_end + 100, Some(B));
    assert_eq!(cts_end + 2_686, rts_end + 3_000);
    assert_eq!(s.runs_until(rts_end + 4_000), [(rts_end + 3_000 + DIFS, Data, Some(B), 314)]);
}

#[test]
fn the_nav_is_reset_if_no_frame_follows_the_rts_9_3_2_4() {
    let mut s = basic();
    let rts = s.control(Rts, B, C, 3_000);
    let rts_end = s.hears(100, rts, Signal::Clear);
    s.queues(rts_end + 100, Some(B));
    // 2 SIFS + CTS + PHY-RX-START delay + 2 slots = 20 + 304 + 192 + 40. The NAV was set until then, so DIFS
    // follows.
    let reset = rts_end + 556;
    assert_eq!(s.runs_until(rts_end + 1_500), [(reset + DIFS, Data, Some(B), 314)]);
}

#[test]
fn eifs_follows_an_fcs_error_9_3_2_3_7() {
    let mut s = basic();
    let broadcast = s.data(C, None, 1);
    let end = s.hears(100, broadcast, Signal::FcsError);
    s.queues(200, Some(B));
    assert_eq!(s.runs_until(end + 1_000), [(end + EIFS, Data, Some(B), 314)]);
}

#[test]
fn a_correct_frame_ends_eifs_9_3_2_3_7() {
    let mut s = basic();
    let broadcast = s.data(C, None, 1);
    let end = s.hears(100, broadcast, Signal::FcsError);
    let ack = s.control(Ack, B, C, 0);
    let ack_end = s.hears(end + 10, ack, Signal::Clear);
    s.queues(200, Some(B));
    assert_eq!(s.runs_until(end + 1_000), [(ack_end + DIFS, Data, Some(B), 314)]);
}

#[test]
fn no_eifs_follows_a_signal_too_weak_to_be_a_frame_9_3_2_3_7() {
    let mut s = basic();
    let broadcast = s.data(C, None, 1);
    let end = s.hears(100, broadcast, Signal::TooWeak);
    s.queues(200, Some(B));
    assert_eq!(s.runs_until(end + 1_000), [(end + DIFS, Data, Some(B), 314)]);
}

#[test]
pub fn an_rts_is_answered_after_sifs_9_3_2_6() {
    let mut s = basic();
    let rts = s.control(Rts, B, A, 2_000);
    let end = s.hears(100, rts, Signal::Clear);
    assert_eq!(s.runs_until(end + 500), [(end + 10, Cts, Some(B), 2_000 - 10 - CTS_US)]);
}

#[test]
fn no_cts_while_the_nav_is_set_9_3_2_6() {
    let mut s = basic();
    let other = s.control(Cts, C, B, 5_000);
    let other_end = s.hears(100, other, Signal::Clear);
    let rts = s.control(Rts, B, A, 2_000);
    s.hears(other_end + 100, rts, Signal::Clear);
    assert_eq!(s.runs_until(20_000), []);
}

#[test]
pub fn an_ack_ignores_the_nav_9_3_2_8() {
    let mut s = basic();
    let other = s.control(Cts, C, B, 5_000);
    let other_end = s.hears(100, other, Signal::Clear);
    let data = s.data(B, Some(A), 7);
    let end = s.hears(other_end + 100, data, Signal::Clear);
    assert_eq!(s.runs_until(20_000), [(end + 10, Ack, Some(B), 0)]);
    assert_eq!(s.stack.inbox(), 1);
}

#[test]
fn a_duplicate_is_acknowledged_but_not_passed_up_9_3_2_10() {
    let mut s = basic();
    let data = s.data(B, Some(A), 7);
    let end = s.hears(100, data, Signal::Clear);
    let again = s.hears(end + 1_000, data, Signal::Clear);
    let next = s.data(B, Some(A), 8);
    let next_end = s.hears(again + 1_000, next, Signal::Clear);
    let acks: Vec<u64> = s.runs_until(20_000).iter().map(|(at, ..)| *at).collect();
    assert_eq!(acks, [end + 10, again + 10, next_end + 10]);
    assert_eq!(s.stack.inbox(), 2);
}

#[test]
pub fn a_broadcast_is_sent_once_without_rts_or_ack_9_3_6() {
    let mut s = with_rts();
    s.queues(1_000, None);
    assert_eq!(s.runs_until(100_000), [(1_000, Data, None, 0)]);
    let data = s.data(B, None, 3);
    s.hears(200_000, data, Signal::Clear);
    assert_eq!(s.runs_until(300_000), []);
    assert_eq!(s.stack.inbox(), 1);
}

#[test]
fn a_post_back_off_precedes_the_next_frame_9_3_4_4() {
    let mut s = basic();
    s.queues(1_000, Some(B));
    s.queues(1_001, Some(B));
    s.runs_until(1_002);
    let ack = s.control(Ack, B, A, 0);
    let ack_end = s.hears(1_000 + DATA_US + 10, ack, Signal::Clear);
    s.runs_until(ack_end - 1);
    s.timing.set_cw_min(31);
    s.runs_until(ack_end);
    let slots = u64::from(s.mac.station.function.backoff.expect("a back-off is drawn after a success"));
    assert_eq!(s.runs_until(ack_end + 1_000), [(ack_end + DIFS + 20 * slots, Data, Some(B), 314)]);
}

#[test]
fn a_packet_beyond_its_lifetime_is_dropped_9_19_2_6() {
    let mut setup = config(DcfRules::IEEE, None);
    (setup.mac.cw_min, setup.mac.queue.lifetime) = (0, Some(Span::from_us(500)));
    let mut s = Script::with(&setup);
    let broadcast = s.data(C, None, 1);
    let end = s.hears(100, broadcast, Signal::Clear);
    for at in [200, 300, end - 1] {
        s.queues(at, Some(B));
    }
    // The first packet is dequeued at once. Its 7 attempts outlast the lifetime of the others.
    let sent = s.runs_until(1_000_000);
    assert_eq!(sent.len(), 7);
    assert_eq!(s.record.conservation.dropped[DropCause::Lifetime as usize], 2);
}

#[test]
fn a_response_that_begins_before_the_timeout_is_awaited_9_3_2_8() {
    let mut s = with_rts();
    s.queues(1_000, Some(B));
    // The CTS begins 100 us late, but before the timeout of 222 us.
    let cts = s.control(Cts, B, A, 1_564);
    let cts_end = s.hears(1_000 + RTS_US + 110, cts, Signal::Clear);
    let kinds: Vec<_> = s.runs_until(cts_end + 10).iter().map(|(at, kind, ..)| (*at, *kind)).collect();
    assert_eq!(kinds, [(1_000, Rts), (cts_end + 10, Data)]);
}

#[test]
fn an_rts_in_place_of_the_cts_ends_the_wait_and_is_answered_9_3_2_8() {
    let mut s = with_rts();
    s.queues(1_000, Some(B));
    let rts = s.control(Rts, C, A, 2_000);
    let end = s.hears(1_000 + RTS_US + 50, rts, Signal::Clear);
    let kinds: Vec<_> = s.runs_until(end + 10).iter().map(|(at, kind, ..)| (*at, *kind)).collect();
    assert_eq!(kinds, [(1_000, Rts), (end + 10, Cts)]);
    assert_eq!(s.mac.station.function.cw, 1, "the attempt failed");
}
