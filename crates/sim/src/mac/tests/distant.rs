//! Timelines with long propagation delays. DATA of 1000 bytes is sent from 1000 to 1946 us.

use super::script::{A, B, C, Script, Signal, config, us};
use crate::record::MediumUse;
use multihop_core::FrameKind::{Ack, Rts};
use multihop_core::{Exchange, Fate, Interval, LinkEvent, NodeId, Span};
use multihop_dot11::DcfRules;

/// A station that sends each frame once, with this propagation delay.
fn distant(propagation_us: u64) -> Script {
    let mut setup = config(DcfRules::IEEE, None);
    (setup.mac.cw_min, setup.mac.short_retry_limit) = (0, Some(1));
    setup.medium.propagation_delay = Span::from_us(propagation_us);
    Script::with(&setup)
}

fn exchanges(events: &[LinkEvent]) -> Vec<Exchange> {
    let exchange =
        |event: &LinkEvent| if let LinkEvent::Exchange(exchange) = event { Some(*exchange) } else { None };
    events.iter().filter_map(exchange).collect()
}

#[test]
fn a_frame_is_not_given_up_before_its_last_bit_has_arrived() {
    // In the standard the ACK is overdue 222 us after the frame.
    for (propagation, done) in [(100, 1946 + 222), (300, 1946 + 300)] {
        let mut s = distant(propagation);
        s.queues(1_000, Some(B));
        s.runs_until(10_000);
        let [frame] = exchanges(&s.events())[..] else { panic!("one frame") };
        assert_eq!((frame.fate, frame.done), (Fate::GivenUp, us(done)));
    }
}

#[test]
fn an_ack_for_the_previous_frame_is_late() {
    for (sequence, fate) in [(1, Fate::GivenUp), (2, Fate::Acknowledged)] {
        let mut s = distant(100);
        s.queues(1_000, Some(B));
        s.queues(1_001, Some(B));
        // The second frame is on the air from 2268 to 3214, and its ACK overdue at 3336.
        let ack = crate::medium::Frame { sequence, ..s.control(Ack, B, A, 0) };
        s.hears(3_220, ack, Signal::Clear);
        s.runs_until(10_000);
        let fates: Vec<Fate> = exchanges(&s.events()).iter().map(|frame| frame.fate).collect();
        assert_eq!(fates, [Fate::GivenUp, fate]);
    }
}

#[test]
fn the_medium_is_idle_while_only_the_own_frame_is_on_its_way() {
    let span = |start, end| Interval { start: us(start), end: us(end) };
    let mut s = distant(100);
    s.queues(1_000, Some(B));
    s.runs_until(1_980);
    let mut used = MediumUse::default();
    s.with_mac(|mac, ctx| used = mac.medium_use(ctx.radio, ctx.now));
    assert_eq!((used.busy, used.nav_only), (Span::from_us(946), Span::ZERO));
    let rts = s.control(Rts, C, NodeId(3), 0);
    s.hears(2_000, rts, Signal::TooWeak);
    s.runs_until(5_000);
    let edges: Vec<LinkEvent> = s.events();
    let edges = edges.iter().filter(|event| matches!(event, LinkEvent::Busy(_) | LinkEvent::BusyFrom(_)));
    let own = [LinkEvent::BusyFrom(us(1_000)), LinkEvent::Busy(span(1_000, 1_946))];
    let other = [LinkEvent::BusyFrom(us(2_000)), LinkEvent::Busy(span(2_000, 2_352))];
    assert_eq!(edges.copied().collect::<Vec<_>>(), [own, other].concat());
}
