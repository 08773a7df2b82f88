//! Timelines under the rules of ns-2 (`mac/mac-802_11.cc` of ns-2.35), where these differ from the standard.
//! DATA of 1000 bytes takes 192 + 8 * 1034 / 11 = 944 us.

use super::script::{A, AGGREGATION, B, C, Script, Signal, config};
use multihop_core::FrameKind::{Ack, BlockAck, Cts, Data, Rts};
use multihop_core::Rate;
use multihop_dot11::{DcfRules, Phy, Preamble, Standard};

const RTS_US: u64 = 352;
const CTS_US: u64 = 304;
const DIFS: u64 = 50;
const EIFS: u64 = 364;

/// A station with a contention window of 1, from which ns-2 always draws 0 (`random % 1`).
fn station(rts_threshold: Option<u32>) -> Script {
    let mut setup = config(DcfRules::NS2, rts_threshold);
    setup.mac.cw_min = 1;
    Script::with(&setup)
}

#[test]
fn an_idle_medium_is_accessed_after_difs() {
    let mut s = station(None);
    s.queues(1_000, Some(B));
    assert_eq!(s.runs_until(2_000), [(1_000 + DIFS, Data, Some(B), 314)]);
}

#[test]
fn a_signal_too_weak_to_be_a_frame_sets_the_nav_for_eifs() {
    let mut s = station(None);
    let data = s.data(C, None, 1);
    let end = s.hears(100, data, Signal::TooWeak);
    s.queues(200, Some(B));
    assert_eq!(s.runs_until(end + 1_000)[0].0, end + EIFS + DIFS);
}

#[test]
fn a_correct_frame_does_not_end_eifs() {
    let mut s = station(None);
    let weak = s.control(Ack, C, B, 0);
    let end = s.hears(100, weak, Signal::FcsError);
    let ack = s.control(Ack, B, C, 0);
    s.hears(end + 10, ack, Signal::Clear);
    s.queues(200, Some(B));
    assert_eq!(s.runs_until(end + 1_000)[0].0, end + EIFS + DIFS);
}

#[test]
fn the_nav_is_not_reset_if_no_frame_follows_the_rts() {
    let mut s = station(None);
    let rts = s.control(Rts, B, C, 3_000);
    let end = s.hears(100, rts, Signal::Clear);
    s.queues(end + 100, Some(B));
    assert_eq!(s.runs_until(end + 5_000)[0].0, end + 3_000 + DIFS);
}

#[test]
fn data_without_own_cts_is_ignored() {
    let mut s = station(Some(0));
    let data = s.data(B, Some(A), 7);
    s.hears(100, data, Signal::Clear);
    assert_eq!(s.runs_until(20_000), []);
    assert_eq!(s.stack.inbox(), 0);
}

#[test]
pub fn data_after_own_cts_is_acknowledged() {
    let mut s = station(Some(0));
    let rts = s.control(Rts, B, A, 30 + CTS_US + 944 + 304);
    let rts_end = s.hears(100, rts, Signal::Clear);
    let data = s.data(B, Some(A), 7);
    s.hears(rts_end + 10 + CTS_US + 10, data, Signal::Clear);
    let kinds: Vec<_> = s.runs_until(20_000).iter().map(|(_, kind, ..)| *kind).collect();
    assert_eq!(kinds, [Cts, Ack]);
    assert_eq!(s.stack.inbox(), 1);
}

/// An A-MPDU or a block acknowledgement request may follow the CTS in place of a single MPDU.
#[test]
pub fn an_aggregate_or_a_request_after_own_cts_is_acknowledged() {
    for request in [false, true] {
        let mut setup = config(DcfRules::NS2.with_quality_of_service(), Some(0));
        setup.mac.block_ack.aggregation = Some(AGGREGATION);
        let mut s = Script::with(&setup);
        let rts = s.control(Rts, B, A, 10_000);
        let cts_end = s.hears(100, rts, Signal::Clear) + 10 + CTS_US;
        let next = if request { s.request(B, 0) } else { s.aggregate(B, A, &[0, 1]) };
        let end = s.hears(cts_end + 10, next, Signal::Clear);
        let sent: Vec<_> = s.runs_until(20_000).iter().map(|(at, kind, ..)| (*at, *kind)).collect();
        assert_eq!(sent, [(cts_end - CTS_US, Cts), (end + 10, BlockAck)], "request: {request}");
    }
}

/// With 802.11a the CTS timeout, 16 + 44 + 4 us, is longer than an RTS of 52 us.
#[test]
fn an_rts_is_ignored_while_a_cts_is_awaited() {
    for (rules, answered) in
        [(DcfRules::NS2, false), (DcfRules { answer_rts_while_waiting: true, ..DcfRules::NS2 }, true)]
    {
        let mut setup = config(rules, Some(0));
        setup.phy = Phy::new(Standard::Dot11a, Preamble::Long);
        (setup.rates.data, setup.rates.control) =
            (Rate::from_kbps(54_000).into(), Some(Rate::from_kbps(6_000)));
        setup.mac.cw_min = 1;
        let mut s = Script::with(&setup);
        s.queues(1_000, Some(B));
        let rts = s.control(Rts, C, A, 2_000);
        s.hears(1_000 + 34 + 52 + 2, rts, Signal::Clear);
        let kinds: Vec<_> = s.runs_until(1_200).iter().map(|(_, kind, ..)| *kind).collect();
        assert_eq!(kinds.contains(&Cts), answered, "{kinds:?}");
    }
}

#[test]
pub fn data_is_withheld_when_the_medium_is_busy_after_the_cts() {
    let mut s = station(Some(0));
    s.queues(1_000, Some(B));
    let start = 1_000 + DIFS;
    let cts = s.control(Cts, B, A, 1_300);
    let cts_end = s.hears(start + RTS_US + 10, cts, Signal::Clear);
    let weak = s.control(Ack, C, B, 0);
    let weak_end = s.hears(cts_end + 5, weak, Signal::TooWeak);
    let sent = s.runs_until(weak_end + 2_000);
    let kinds: Vec<_> = sent.iter().map(|(_, kind, ..)| *kind).collect();
    assert_eq!(kinds[..2], [Rts, Rts], "the exchange starts again");
    assert!(sent[1].0 >= weak_end + EIFS + DIFS);
    assert!(s.mac.station.function.cw >= 3, "the window was doubled without a collision");
}

#[test]
pub fn a_cts_is_withheld_when_the_medium_is_busy_after_the_rts() {
    let mut s = station(Some(0));
    let rts = s.control(Rts, B, A, 2_000);
    let rts_end = s.hears(100, rts, Signal::Clear);
    let weak = s.control(Ack, C, B, 0);
    s.hears(rts_end + 5, weak, Signal::TooWeak);
    assert_eq!(s.runs_until(20_000), []);
}

#[test]
fn a_new_difs_follows_a_timeout() {
    let mut s = station(Some(0));
    s.queues(1_000, Some(B));
    let sent = s.runs_until(3_000);
    // RTS, SIFS, CTS and two propagation delays of 2 us; then DIFS and a back-off of 0 to 3 slots.
    let timeout = RTS_US + 10 + CTS_US + 4;
    let slack = sent[1].0 - sent[0].0 - timeout - DIFS;
    assert!(slack.is_multiple_of(20) && slack <= 40, "{sent:?}");
}
