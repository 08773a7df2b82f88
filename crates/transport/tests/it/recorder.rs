//! A congestion control that only records the sender's reports.

use multihop_core::{Flags, HeaderBytes, Rate, SackBlock, SackBlocks, Segment, Span, Time};
use multihop_transport::{
    AckInfo, Acked, Allowance, Controller, DeliverySample, Endpoint, Lost, LostSegment, Marked, Recovered,
    Recovery, Returned, SentSegment, TcpOptions, TcpSender,
};
use std::sync::{Arc, Mutex};

use crate::grants::Grant;

/// Reports of the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    Opened(Span),
    Sent(SentSegment),
    Ack(AckInfo),
    Acked(Acked),
    Delivered(DeliverySample),
    Lost(Lost),
    SegmentLost(LostSegment),
    Recovered(Recovered),
    Marked(Marked),
    Idle(Time),
    /// A congestion header was requested for a segment of this payload.
    Stamped(u64),
    /// Round-trip sample, and whether the sender is application-limited.
    Returned(Option<Span>, bool),
}

/// Allowance of the controller, and recorded reports.
#[derive(Debug, Default)]
pub struct Book {
    pub window: u64,
    pub pace: Option<Rate>,
    pub refresh: Option<Span>,
    pub marks_app_limited: bool,
    pub events: Vec<Event>,
}

/// The congestion control, and the handle that a test keeps.
#[derive(Clone, Default)]
pub struct Recorder(pub Arc<Mutex<Book>>);

impl Recorder {
    pub fn with_window(window: u64) -> Recorder {
        let recorder = Recorder::default();
        recorder.set(|book| book.window = window);
        recorder
    }

    pub fn set(&self, change: impl FnOnce(&mut Book)) {
        change(&mut self.0.lock().unwrap());
    }

    /// Reports since the last call.
    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.0.lock().unwrap().events)
    }

    /// Reports of one kind since the last call.
    pub fn only<T>(&self, kind: impl Fn(Event) -> Option<T>) -> Vec<T> {
        self.take().into_iter().filter_map(kind).collect()
    }

    fn note(&self, event: Event) {
        self.0.lock().unwrap().events.push(event);
    }
}

impl Controller for Recorder {
    fn allowance(&self) -> Allowance {
        let book = self.0.lock().unwrap();
        Allowance { window: book.window, pace: book.pace }
    }
    fn slow_start_threshold(&self) -> Option<u64> {
        Some(77_000)
    }
    fn on_opened(&mut self, rtt: Span) {
        self.note(Event::Opened(rtt));
    }
    fn on_sent(&mut self, sent: &SentSegment) {
        self.note(Event::Sent(*sent));
    }
    fn on_ack(&mut self, ack: &AckInfo) {
        self.note(Event::Ack(*ack));
    }
    fn on_acked(&mut self, acked: &Acked) {
        self.note(Event::Acked(*acked));
    }
    fn on_delivered(&mut self, delivery: &DeliverySample) {
        self.note(Event::Delivered(*delivery));
    }
    fn marks_app_limited(&self) -> bool {
        self.0.lock().unwrap().marks_app_limited
    }
    fn on_lost(&mut self, lost: &Lost) {
        self.note(Event::Lost(*lost));
    }
    fn on_segment_lost(&mut self, lost: &LostSegment) {
        self.note(Event::SegmentLost(*lost));
    }
    fn on_recovered(&mut self, recovered: &Recovered) {
        self.note(Event::Recovered(*recovered));
    }
    fn on_idle(&mut self, now: Time) {
        self.note(Event::Idle(now));
    }
    fn on_marked(&mut self, marked: &Marked) {
        self.note(Event::Marked(*marked));
    }
    fn stamp(&mut self, size: u64) -> HeaderBytes {
        self.note(Event::Stamped(size));
        HeaderBytes::of(&Grant { change: size as i32, granted: 0 })
    }
    fn on_feedback(&mut self, returned: &Returned) {
        self.note(Event::Returned(returned.rtt, returned.app_limited));
    }
    fn refresh(&self) -> Option<Span> {
        self.0.lock().unwrap().refresh
    }
}

pub const MSS: u64 = 1_000;

pub fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// An open connection, without options that give round-trip samples.
pub fn options() -> TcpOptions {
    TcpOptions {
        segment_size: MSS as u32,
        recovery: Recovery::NewReno,
        handshake: false,
        limited_transmit: false,
        window: 100,
        ..TcpOptions::default()
    }
}

/// A connection that was given `pushed` segments at time 0, and has sent those that fit into a window of
/// `window`.
pub fn sending(options: TcpOptions, window: u64, pushed: u64) -> (TcpSender, Recorder) {
    let recorder = Recorder::with_window(window * MSS);
    let mut sender = TcpSender::new(options, Box::new(recorder.clone()));
    sender.push(ms(0), pushed * MSS);
    assert_eq!(drain(&mut sender, 0).len() as u64, window.min(pushed));
    recorder.take();
    (sender, recorder)
}

pub fn drain(sender: &mut TcpSender, now: u64) -> Vec<Segment> {
    std::iter::from_fn(|| sender.poll_segment(ms(now))).collect()
}

pub fn numbers(sender: &mut TcpSender, now: u64) -> Vec<u64> {
    drain(sender, now).iter().map(|segment| segment.seq / MSS).collect()
}

pub fn ack(number: u64) -> Segment {
    let flags = Flags { ack: true, ..Flags::default() };
    Segment { ack: number * MSS, flags, window: 100 * MSS, ..Segment::default() }
}

pub fn echo(number: u64) -> Segment {
    let mut segment = ack(number);
    segment.flags.ece = true;
    segment
}

pub fn sacked(number: u64, from: u64, to: u64) -> Segment {
    let mut sack = SackBlocks::default();
    sack.push(SackBlock { start: from * MSS, end: to * MSS });
    Segment { sack, ..ack(number) }
}

pub fn losses(recorder: &Recorder) -> Vec<Lost> {
    recorder.only(|event| if let Event::Lost(lost) = event { Some(lost) } else { None })
}

pub fn deliveries(recorder: &Recorder) -> Vec<DeliverySample> {
    recorder.only(|event| if let Event::Delivered(delivery) = event { Some(delivery) } else { None })
}

/// Whether each sent segment was application-limited.
pub fn limited(recorder: &Recorder) -> Vec<bool> {
    recorder.only(|event| if let Event::Sent(sent) = event { Some(sent.app_limited) } else { None })
}
