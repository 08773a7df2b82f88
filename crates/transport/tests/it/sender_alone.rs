//! A TCP sender without a path: what it tells its congestion control, acknowledgement by acknowledgement.

use multihop_core::{Flags, HeaderBytes, Segment, Span, Time};
use multihop_transport::{
    Acked, Allowance, Controller, Endpoint, Lost, Recovery, Returned, TcpOptions, TcpSender,
};
use std::sync::{Arc, Mutex};

use crate::grants::Grant;

const MSS: u64 = 1000;

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// Four segments, and a segment is overdue after 200 ms. Notes what it is told.
#[derive(Default)]
struct Noting(Arc<Mutex<Vec<&'static str>>>);

impl Noting {
    fn note(&self, what: &'static str) {
        self.0.lock().unwrap().push(what);
    }
}

impl Controller for Noting {
    fn allowance(&self) -> Allowance {
        Allowance { window: 4 * MSS, pace: None }
    }
    fn fine_grained_rto(&self) -> Option<Span> {
        Some(Span::from_ms(200))
    }
    fn on_acked(&mut self, _: &Acked) {}
    fn on_lost(&mut self, _: &Lost) {
        self.note("lost");
    }
    fn on_idle(&mut self, _: Time) {
        self.note("idle");
    }
    fn on_feedback(&mut self, _: &Returned) {
        self.note("feedback");
    }
}

type Notes = Arc<Mutex<Vec<&'static str>>>;

fn sender() -> (TcpSender, Notes) {
    let options = TcpOptions {
        segment_size: MSS as u32,
        recovery: Recovery::NewReno,
        handshake: false,
        limited_transmit: false,
        time_every_segment: true,
        receive_window: 100 * MSS,
        ..TcpOptions::default()
    };
    let notes = Notes::default();
    (TcpSender::new(options, Box::new(Noting(notes.clone()))), notes)
}

fn ack(ack: u64) -> Segment {
    Segment { ack, flags: Flags { ack: true, ..Flags::default() }, window: 100 * MSS, ..Segment::default() }
}

fn drain(sender: &mut TcpSender, now: Time) -> Vec<u64> {
    std::iter::from_fn(|| sender.poll_segment(now)).map(|segment| segment.seq / MSS).collect()
}

/// Brakmo and Peterson 1995: on a duplicate it is sent again if more time than the fine-grained timeout has passed. The
/// duplicate itself says that a segment left, and lets a new one go.
#[test]
fn a_duplicate_repeats_what_is_overdue() {
    for (at, expected) in [(150, vec![]), (200, vec![]), (201, vec![0, 4]), (300, vec![0, 4])] {
        let (mut sender, notes) = sender();
        sender.push(ms(0), 10 * MSS);
        assert_eq!(drain(&mut sender, ms(0)), [0, 1, 2, 3]);
        sender.on_segment(ms(at), &ack(0));
        assert_eq!(drain(&mut sender, ms(at)), expected, "{at} ms");
        assert_eq!(notes.lock().unwrap().len(), usize::from(!expected.is_empty()), "a loss");
    }
}

/// "If the TCP has not sent data in an interval exceeding the retransmission timeout" (RFC 5681, section 4.1), which is a second here.
#[test]
fn rfc_5681_4_1_a_silence_is_longer_than_the_timeout() {
    for (at, idle) in [(500, false), (1_000, false), (1_001, true)] {
        let (mut sender, notes) = sender();
        sender.push(ms(0), MSS);
        assert_eq!(drain(&mut sender, ms(0)), [0]);
        sender.on_segment(ms(100), &ack(MSS));
        sender.push(ms(at), MSS);
        assert_eq!(*notes.lock().unwrap(), if idle { vec!["idle"] } else { vec![] }, "{at} ms");
    }
}

/// Of acknowledgements without a header nothing is told, nor of those of what was never sent.
#[test]
fn feedback_is_what_a_valid_acknowledgement_brings() {
    let feedback = HeaderBytes::of(&Grant { change: 0, granted: 100 });
    for (segment, expected) in [
        (Segment { feedback, ..ack(MSS) }, vec!["feedback"]),
        (ack(MSS), vec![]),
        (Segment { feedback, ..ack(9 * MSS) }, vec![]),
    ] {
        let (mut sender, notes) = sender();
        sender.push(ms(0), 4 * MSS);
        drain(&mut sender, ms(0));
        sender.on_segment(ms(100), &segment);
        assert_eq!(*notes.lock().unwrap(), expected);
    }
}
