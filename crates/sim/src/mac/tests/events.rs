//! The link events of an exchange, at both grains.

use super::script::{A, B, C, Script, Signal, us};
use multihop_core::FrameKind::{Ack, Cts, Rts};
use multihop_core::{Attempt, DropCause, Exchange, Fate, Heard, Interval, LinkEvent, Span};
use multihop_dot11::DcfRules;

fn air(start: u64, length: u64) -> Option<Interval> {
    Some(Interval { start: us(start), end: us(start + length) })
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
fn a_frame_that_succeeds_at_its_second_try() {
    let mut s = Script::new(DcfRules::IEEE, Some(0));
    s.queues(1_000, Some(B));
    // The first RTS is not answered; the second goes out right after the timeout, or a slot later.
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
        (0, air(1_000, 352), None, None, None)
    );
    assert_eq!((last.cw, u64::from(last.slots)), (1, slots));
    assert_eq!((last.rts, last.cts), (air(second, 352), air(second + 362, 304)));
    assert_eq!((last.data, last.ack), (air(data, 946), air(data + 956, 304)));

    let [frame] = exchanges(&events)[..] else { panic!("{events:?}") };
    assert_eq!((frame.fate, frame.rts_tries, frame.data_tries), (Fate::Acknowledged, 2, 1));
    assert_eq!((frame.head_of_line, frame.done, frame.size), (us(1_000), us(done), 1_000));
    assert_eq!(frame.airtime, Span::from_us(352 + 304 + 946 + 304 + 30));
    let efficiency = frame.transmission_efficiency().unwrap();
    assert!((efficiency - 1_936.0 / (done - 1_000) as f64).abs() < 1e-12);
}

#[test]
fn a_frame_that_is_given_up_is_told_as_dropped() {
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

#[test]
fn an_overheard_frame_is_heard_sets_the_nav_and_makes_the_medium_busy() {
    let mut s = Script::new(DcfRules::IEEE, None);
    let rts = s.control(Rts, B, C, 3_000);
    let end = s.hears(100, rts, Signal::Clear);
    s.runs_until(end);
    let heard = Heard {
        node: A,
        kind: Rts,
        from: B,
        to: Some(C),
        air: Interval { start: us(100), end: us(end) },
        duration: Span::from_us(3_000),
        size: 0,
    };
    let nav = LinkEvent::NavSet(Interval { start: us(end), end: us(end + 3_000) });
    let busy = LinkEvent::Busy(Interval { start: us(100), end: us(end) });
    assert_eq!(s.events(), [LinkEvent::Heard(heard), nav, busy]);
}
