//! Link events of an exchange: attempts and whole exchanges.

use super::script::{A, B, C, Script, Signal, us};
use crate::record::MediumUse;
use multihop_core::FrameKind::{Ack, Cts, Rts};
use multihop_core::{Attempt, DecodedFrame, DropCause, Exchange, Fate, Interval, LinkEvent, Rate, Span};
use multihop_dot11::DcfRules;

fn air(start: u64, length: u64) -> Interval {
    Interval { start: us(start), end: us(start + length) }
}

fn attempts(events: &[LinkEvent]) -> Vec<Attempt> {
    events
        .iter()
        .filter_map(|event| if let LinkEvent::Attempt(attempt) = event { Some(*attempt) } else { None })
        .collect()
}

fn exchanges(events: &[LinkEvent]) -> Vec<Exchange> {
    events
        .iter()
        .filter_map(|event| if let LinkEvent::Exchange(frame) = event { Some(*frame) } else { None })
        .collect()
}

#[test]
fn a_frame_that_succeeds_at_the_second_attempt_is_reported() {
    let mut s = Script::new(DcfRules::IEEE, Some(0));
    s.queues(1_000, Some(B));
    // The first RTS is not answered. The second follows at the timeout, or a slot later.
    let sent = s.runs_until(2_000);
    let second = sent[1].0;
    let slots = (second - 1_574) / 20;
    let cts = s.control(Cts, B, A, 1_600);
    s.hears(second + 352 + 10, cts, Signal::Clear);
    let data = second + 352 + 10 + 304 + 10;
    let ack = s.control(Ack, B, A, 0);
    let done = s.hears(data + 946 + 10, ack, Signal::Clear);
    s.runs_until(done);
    let events = s.events();

    let [first, last] = attempts(&events)[..] else { panic!("{events:?}") };
    assert_eq!(
        (first.cw, first.rts, first.cts, first.data, first.ack),
        (0, Some(air(1_000, 352)), None, None, None)
    );
    assert_eq!((last.cw, u64::from(last.slots)), (1, slots));
    assert_eq!((last.rts, last.cts), (Some(air(second, 352)), Some(air(second + 362, 304))));
    assert_eq!((last.data, last.ack), (Some(air(data, 946)), Some(air(data + 956, 304))));

    let [frame] = exchanges(&events)[..] else { panic!("{events:?}") };
    assert_eq!(frame.fate, Fate::Acknowledged);
    assert_eq!((frame.rts_tries, frame.rts_failures, frame.data_tries), (2, 1, 1));
    assert_eq!((frame.head_of_line, frame.done), (us(1_000), us(done)));
    assert_eq!((frame.size, frame.payload), (1_000, 960));
    assert_eq!(frame.airtime, Span::from_us(352 + 304 + 946 + 304 + 30));
    let efficiency = frame.transmission_efficiency().unwrap();
    assert!((efficiency - 1_936.0 / (done - 1_000) as f64).abs() < 1e-12);
}

#[test]
fn a_frame_that_is_given_up_is_reported_as_dropped() {
    let mut s = Script::new(DcfRules::IEEE, None);
    s.queues(1_000, Some(B));
    s.runs_until(1_000_000);
    let events = s.events();
    assert_eq!(attempts(&events).len(), 7);
    let [frame] = exchanges(&events)[..] else { panic!("{events:?}") };
    assert_eq!((frame.fate, frame.data_tries, frame.transmission_efficiency()), (Fate::GivenUp, 7, None));
    let dropped = events
        .iter()
        .find_map(|event| if let LinkEvent::Dropped(loss) = event { Some(loss.cause) } else { None });
    assert_eq!(dropped, Some(DropCause::RetryLimit));
}

/// The CTS arrived, but the medium was not idle for DATA. The second RTS is no retry after a missing CTS.
#[test]
fn an_rts_that_was_answered_did_not_fail() {
    let mut s = Script::new(DcfRules { data_needs_idle_medium: true, ..DcfRules::IEEE }, Some(0));
    s.queues(1_000, Some(B));
    let cts = s.control(Cts, B, A, 1_600);
    let answered = s.hears(1_362, cts, Signal::Clear);
    let noise = s.control(Ack, C, B, 0);
    let quiet = s.hears(answered + 5, noise, Signal::TooWeak);
    let rts = s.runs_until(quiet + 100);
    assert_eq!(rts.len(), 2, "{rts:?}");
    let cts = s.control(Cts, B, A, 1_600);
    s.hears(rts[1].0 + 362, cts, Signal::Clear);
    let ack = s.control(Ack, B, A, 0);
    let done = s.hears(rts[1].0 + 362 + 304 + 10 + 946 + 10, ack, Signal::Clear);
    s.runs_until(done);
    let [frame] = exchanges(&s.events())[..] else { panic!("one frame") };
    assert_eq!((frame.rts_tries, frame.rts_failures, frame.data_tries), (2, 0, 1));
}

/// An overheard CTS at 100 us makes the medium busy for 304 us and reserves 3000 us more.
#[test]
fn reserved_time_counts_up_to_the_end_of_the_run() {
    let mut s = Script::new(DcfRules::IEEE, None);
    let cts = s.control(Cts, B, C, 3_000);
    let end = s.hears(100, cts, Signal::Clear);
    for now in [end + 1_000, end + 5_000] {
        s.runs_until(now);
        let mut used = MediumUse::default();
        s.with_mac(|mac, ctx| used = mac.medium_use(ctx.radio, ctx.now));
        assert_eq!((used.busy, used.nav_only), (Span::from_us(304), Span::from_us(3_000.min(now - end))));
    }
}

#[test]
fn an_overheard_frame_is_reported_with_its_nav_and_busy_time() {
    let mut s = Script::new(DcfRules::IEEE, None);
    let rts = s.control(Rts, B, C, 3_000);
    let end = s.hears(100, rts, Signal::Clear);
    s.runs_until(end);
    let heard = DecodedFrame {
        node: A,
        kind: Rts,
        from: B,
        to: Some(C),
        air: air(100, end - 100),
        duration: Span::from_us(3_000),
        size: 0,
        flow: None,
        rate: Rate::from_kbps(1_000),
    };
    let nav = LinkEvent::NavSet(air(end, 3_000));
    let busy = LinkEvent::Busy(air(100, end - 100));
    assert_eq!(s.events(), [LinkEvent::BusyFrom(us(100)), LinkEvent::Decoded(heard), nav, busy]);

    // No frame follows the RTS: the NAV is reset after two SIFS, a CTS, the PHY-RX-START delay and two slots.
    s.hears(5_000, rts, Signal::TooWeak);
    s.runs_until(5_100);
    let reset = us(end) + s.timing.nominal.nav_reset;
    assert!(reset < us(end + 3_000));
    assert_eq!(s.events(), [LinkEvent::NavReset(reset), LinkEvent::BusyFrom(us(5_000))]);
}
