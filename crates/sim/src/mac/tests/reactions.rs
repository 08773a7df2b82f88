//! Timelines with unexpected frames, and rules on when a station may act at once.

use super::script::{A, B, C, Script, Signal, config, us};
use crate::mac::Mac;
use crate::mac::phase::Phase;
use multihop_core::FrameKind::{Ack, Cts, Data, Rts};
use multihop_core::Span;
use multihop_dot11::{AccessCategory, DcfRules, EdcaParameters};

const RTS_US: u64 = 352;
const CTS_US: u64 = 304;
const DATA_US: u64 = 946;

fn with_windows(rules: DcfRules, rts_threshold: Option<u32>) -> Script {
    Script::with(&config(rules, rts_threshold))
}

/// A broadcast ends at 2000 us. The back-off of no slots ends DIFS later, at 2050 us, and another frame
/// begins `before` microseconds earlier. Returns the script and the end of that frame.
fn interrupted(cca: u64, before: u64, differentiates: bool) -> (Script, u64) {
    let mut setup = config(DcfRules { cca_time: Span::from_us(cca), ..DcfRules::IEEE }, None);
    (setup.mac.cw_min, setup.mac.cw_max) = (0, 0);
    if differentiates {
        let alike = EdcaParameters { aifsn: 2, cw_min: 0, cw_max: 0, txop_limit: Span::ZERO };
        setup.mac.edca = Some([alike; AccessCategory::COUNT]);
    }
    let mut s = Script::with(&setup);
    let first = s.data(B, None, 1);
    let length = first.airtime().ns() / 1_000;
    s.hears(2_000 - length, first, Signal::Clear);
    s.queues(1_900, Some(B));
    let second = s.data(C, None, 1);
    let end = s.hears(2_050 - before, second, Signal::Clear);
    (s, end)
}

/// With a CCA time of 4 us, a frame that began 3 us ago is not sensed.
#[test]
fn a_frame_that_begins_within_the_cca_time_is_not_sensed() {
    for (cca, before, sends) in [(4, 3, true), (4, 4, false), (4, 10, false), (0, 3, false)] {
        for differentiates in [false, true] {
            let (mut s, end) = interrupted(cca, before, differentiates);
            let sent = s.runs_until(end);
            let expected = if sends { vec![2_050] } else { Vec::new() };
            let at: Vec<u64> = sent.iter().map(|(at, ..)| *at).collect();
            assert_eq!(at, expected, "{cca} us, {before} us before, {differentiates}");
        }
    }
}

/// A slot boundary counts if the medium is sensed idle, even if a frame has begun but is not sensed yet
/// (802.11-2016, 10.22.2.4). The inter-frame space ends at 2050 us.
#[test]
fn a_boundary_before_the_frame_is_sensed_counts() {
    for (cca, before, slots) in [(4, 2, 0), (4, 4, 0), (4, 5, 1), (0, 2, 1), (0, 0, 0)] {
        let (mut s, end) = interrupted(cca, before, true);
        s.mac.function_of(AccessCategory::BestEffort).backoff = Some(1);
        let at: Vec<u64> = s.runs_until(end + 71).iter().map(|(at, ..)| *at).collect();
        assert_eq!(at, [end + 50 + 20 * slots], "{cca} us, {before} us before the boundary");
    }
}

fn kinds(s: &mut Script, until: u64) -> Vec<multihop_core::FrameKind> {
    s.runs_until(until).iter().map(|(_, kind, ..)| *kind).collect()
}

/// Only the receiver of the RTS grants DATA (9.3.2.6).
#[test]
fn a_cts_from_another_station_is_no_response() {
    for (from, then) in [(B, vec![Rts, Data]), (C, vec![Rts])] {
        let mut s = Script::new(DcfRules::IEEE, Some(0));
        s.queues(1_000, Some(B));
        let cts = s.control(Cts, from, A, 1_300);
        let end = s.hears(1_000 + RTS_US + 10, cts, Signal::Clear);
        assert_eq!(kinds(&mut s, end + 10), then);
    }
}

/// Under the rules of ns-2, DATA is sent after DIFS and takes 944 us. The ACK is overdue 318 us later.
#[test]
fn a_cts_while_an_ack_is_awaited_changes_nothing() {
    let mut setup = config(DcfRules::NS2, None);
    setup.mac.cw_min = 1;
    let mut s = Script::with(&setup);
    s.queues(1_000, Some(B));
    let cts = s.control(Cts, B, A, 1_300);
    let end = s.hears(1_000 + 50 + 944 + 10, cts, Signal::Clear);
    s.runs_until(end);
    assert_eq!(s.mac.station.phase, Phase::AwaitingAck);
}

#[test]
fn an_ack_from_another_station_is_no_response() {
    for (from, acknowledged) in [(B, 1), (C, 0)] {
        let mut s = Script::new(DcfRules::IEEE, None);
        s.queues(1_000, Some(B));
        let ack = s.control(Ack, from, A, 0);
        let end = s.hears(1_000 + DATA_US + 10, ack, Signal::Clear);
        s.runs_until(end);
        let links = s.record.nodes[A.index()].links();
        assert_eq!(links.first().map_or(0, |counters| counters.acknowledged), acknowledged);
    }
}

/// No back-off is drawn if the medium is idle, the NAV has ended, and no response is owed (9.3.4.2).
#[test]
fn a_back_off_is_drawn_unless_the_station_may_begin_at_once() {
    for (nav, drawn) in [(0, false), (1_000, false), (1_001, true)] {
        let mut s = with_windows(DcfRules::IEEE, None);
        s.runs_until(1_000);
        s.mac.nav = us(nav);
        s.queues(1_000, Some(B));
        assert_eq!(s.mac.station.function.drawn, drawn, "{nav}");
        assert!(drawn || s.mac.station.function.backoff == Some(0));
    }
    // A CTS is owed, and the medium idle.
    let mut s = with_windows(DcfRules::IEEE, None);
    let rts = s.control(Rts, B, A, 2_000);
    let end = s.hears(100, rts, Signal::Clear);
    s.queues(end + 5, Some(B));
    assert_eq!((s.mac.station.phase, s.mac.station.function.drawn), (Phase::CtsDue, true));
}

/// ns-2 senses the medium before DATA: a NAV beyond that instant withholds it.
#[test]
fn data_is_withheld_while_the_nav_is_set() {
    for (beyond, sent) in [(0, vec![Rts, Data]), (1, vec![Rts])] {
        let mut s = Script::new(DcfRules { data_needs_idle_medium: true, ..DcfRules::IEEE }, Some(0));
        s.queues(1_000, Some(B));
        let cts = s.control(Cts, B, A, 1_300);
        let end = s.hears(1_000 + RTS_US + 10, cts, Signal::Clear);
        let mut kinds_sent = kinds(&mut s, end + 5);
        s.mac.nav = us(end + 10 + beyond);
        kinds_sent.extend(kinds(&mut s, end + 10));
        assert_eq!(kinds_sent, sent);
    }
}

/// ns-2 senses the medium before a CTS. In the standard, the NAV at the end of the RTS decides (9.3.2.6).
#[test]
fn a_cts_is_withheld_while_the_nav_is_set() {
    let at_sending = DcfRules { cts_needs_idle_medium: true, ..DcfRules::IEEE };
    for (rules, from_end, sent) in [
        (at_sending, 10, vec![Cts]),
        (at_sending, 11, vec![]),
        (DcfRules::IEEE, 0, vec![Cts]),
        (DcfRules::IEEE, 1, vec![]),
    ] {
        let mut s = Script::new(rules, None);
        let rts = s.control(Rts, B, A, 2_000);
        let end = s.hears(100, rts, Signal::Clear);
        s.runs_until(end - 1);
        s.mac.nav = us(end + from_end);
        assert_eq!(kinds(&mut s, end + 10), sent, "{from_end}");
    }
}

/// ns-2 waits for DATA after its CTS: CTS 304, SIFS 10, DATA 944 and 4 us.
#[test]
pub fn under_ns2_a_station_waits_for_data_after_its_cts() {
    let mut s = Script::with(&config(DcfRules::NS2, Some(0)));
    let rts = s.control(Rts, B, A, 3 * 10 + CTS_US + 944 + 304);
    let start = s.hears(100, rts, Signal::Clear) + 10;
    let over = start + CTS_US + 10 + 944 + 4;
    s.runs_until(over - 1);
    assert_eq!(s.mac.station.phase, Phase::AwaitingData);
    s.runs_until(over);
    assert_eq!(s.mac.station.phase, Phase::Contending);
}

#[test]
fn a_station_is_stuck_without_a_timer_or_a_signal() {
    let stuck = |s: &mut Script| {
        let mut found = (false, false);
        s.with_mac(|mac, ctx| found = (mac.is_stuck(ctx.agenda), mac.holds_packet()));
        found
    };
    let mut s = Script::new(DcfRules::IEEE, None);
    assert_eq!(stuck(&mut s), (false, false), "no frame");
    let broadcast = s.data(C, None, 1);
    let end = s.hears(100, broadcast, Signal::Clear);
    s.queues(200, Some(B));
    assert_eq!(stuck(&mut s), (false, true), "the medium will be idle");
    s.runs_until(end + 10);
    assert_eq!(stuck(&mut s), (false, true), "a timer runs");
    s.with_mac(|mac, ctx| ctx.agenda.disarm(mac.station.timer));
    assert_eq!(stuck(&mut s), (true, true));
}

/// A frame that is being received at the timeout cannot be the response any more when the radio is off.
#[test]
fn switching_the_radio_off_ends_a_wait_beyond_the_timeout() {
    let mut s = Script::new(DcfRules::IEEE, Some(0));
    s.queues(1_000, Some(B));
    let cts = s.control(Cts, B, A, 1_300);
    s.hears(1_000 + RTS_US + 200, cts, Signal::Clear);
    s.runs_until(1_000 + RTS_US + 230);
    assert_eq!((s.mac.station.phase, s.mac.station.function.cw), (Phase::AwaitingCts, 0));
    s.with_mac(Mac::on_switched_off);
    assert_eq!((s.mac.station.phase, s.mac.station.function.cw), (Phase::Contending, 1));
}

/// Busy time counts from the first bit, reserved time while the medium is idle.
#[test]
fn busy_and_reserved_time_are_counted_apart() {
    let mut s = Script::new(DcfRules::IEEE, None);
    let cts = s.control(Cts, B, C, 3_000);
    let end = s.hears(100, cts, Signal::Clear);
    for (now, busy, reserved) in
        [(200, 100, 0), (end + 7, 304, 7), (end + 3_000, 304, 3_000), (end + 4_000, 304, 3_000)]
    {
        s.runs_until(now);
        s.with_mac(|mac, ctx| {
            let used = mac.medium_use(ctx.radio, ctx.now);
            assert_eq!([used.busy, used.nav_only], [busy, reserved].map(Span::from_us), "{now}");
        });
    }
}

/// In Bianchi's model the slot in which the medium turns busy counts. In the standard it is counted again.
#[test]
fn a_busy_slot_counts_where_the_model_says_so() {
    for (counts, left) in [(false, 4), (true, 3)] {
        let mut s = Script::new(DcfRules { busy_period_counts_as_slot: counts, ..DcfRules::IEEE }, None);
        let first = s.data(C, None, 1);
        let end = s.hears(100, first, Signal::Clear);
        s.queues(200, Some(B));
        s.mac.station.function.backoff = Some(7);
        s.mac.update_slow_path();
        let second = s.data(C, None, 2);
        let at = end + 50 + 3 * 20 + 11;
        s.hears(at, second, Signal::Clear);
        s.runs_until(at + 1);
        assert_eq!(s.mac.station.function.backoff, Some(left));
    }
}

#[test]
fn sequence_numbers_are_kept_for_each_neighbour() {
    let mut s = Script::new(DcfRules::IEEE, None);
    let mut at = 100;
    for (from, sequence) in [(B, 7), (C, 7), (B, 7), (C, 8), (B, 8), (C, 8)] {
        let data = s.data(from, Some(A), sequence);
        at = s.hears(at, data, Signal::Clear) + 1_000;
    }
    s.runs_until(at);
    assert_eq!(s.stack.inbox(), 4);
}
