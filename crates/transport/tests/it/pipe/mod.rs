//! A sender and a receiver with a path between them, in virtual time. Checks invariants after every step.

#![allow(dead_code, missing_docs)] // each test file uses a part of it

use multihop_core::{Segment, Span, Time};
use multihop_transport::{Endpoint, Progress};
use std::collections::VecDeque;

/// Events on the path.
pub trait Path {
    /// Puts into `copies` the delay of each copy of the segment that arrives: none if it is lost. May mark
    /// the segment.
    fn carry(&mut self, now: Time, to_receiver: bool, segment: &mut Segment, copies: &mut Vec<Span>);
}

struct InFlight {
    arrives: Time,
    to_receiver: bool,
    segment: Segment,
}

pub struct Pipe<P> {
    pub now: Time,
    pub sender: Box<dyn Endpoint>,
    pub receiver: Box<dyn Endpoint>,
    pub path: P,
    pub delivered: u64,
    pub pushed: u64,
    /// Longest time that the receiver's host takes before an acknowledgement leaves it.
    pub host_delay: Span,
    /// Every segment that the sender emitted.
    pub log: Vec<(Time, Segment)>,
    in_flight: Vec<InFlight>,
    segment_size: u64,
    repeated: u64,
    last: Progress,
    /// Delivered bytes after each delivery of the last `host_delay`, and after the one before.
    deliveries: VecDeque<(Time, u64)>,
}

impl<P: Path> Pipe<P> {
    pub fn new(
        sender: Box<dyn Endpoint>,
        receiver: Box<dyn Endpoint>,
        segment_size: u32,
        path: P,
    ) -> Pipe<P> {
        Pipe {
            now: Time::ZERO,
            sender,
            receiver,
            path,
            delivered: 0,
            pushed: 0,
            host_delay: Span::ZERO,
            log: Vec::new(),
            in_flight: Vec::new(),
            segment_size: u64::from(segment_size),
            repeated: 0,
            last: Progress::default(),
            deliveries: VecDeque::new(),
        }
    }

    pub fn push(&mut self, bytes: u64) {
        self.pushed += bytes;
        self.sender.push(self.now, bytes);
        self.drain();
    }

    /// Runs until `end`, or until nothing is pending. Returns whether something still is.
    pub fn run_until(&mut self, end: Time) -> bool {
        loop {
            let timers = [self.sender.poll_timeout(), self.receiver.poll_timeout()];
            let arrival = self.in_flight.iter().map(|segment| segment.arrives).min();
            let Some(next) = timers.into_iter().flatten().chain(arrival).min() else {
                self.now = end;
                return false;
            };
            if next > end {
                self.now = end;
                return true;
            }
            assert!(next >= self.now, "a deadline lies in the past");
            self.now = next;
            if arrival == Some(next) {
                let index = self.in_flight.iter().position(|segment| segment.arrives == next).unwrap();
                let InFlight { to_receiver, segment, .. } = self.in_flight.remove(index);
                let end = if to_receiver { &mut self.receiver } else { &mut self.sender };
                self.delivered += end.on_segment(next, &segment).bytes;
                self.deliveries.push_back((next, self.delivered));
            } else if timers[0] == Some(next) {
                self.sender.on_timeout(next);
            } else {
                self.receiver.on_timeout(next);
            }
            self.drain();
        }
    }

    fn drain(&mut self) {
        let mut copies = Vec::new();
        while let Some(segment) = self.sender.poll_segment(self.now) {
            self.log.push((self.now, segment));
            self.repeated += u64::from(segment.retransmission);
            self.check_sender();
            self.carry(true, segment, &mut copies);
        }
        while let Some(segment) = self.receiver.poll_segment(self.now) {
            let (ack, settled) = (segment.ack, self.settled());
            assert!(ack >= settled || segment.flags.syn || !segment.flags.ack, "{ack} below {settled}");
            self.carry(false, segment, &mut copies);
        }
        self.check_sender();
        assert!(self.receiver.poll_timeout().is_none_or(|deadline| deadline >= self.now));
        assert!(self.delivered <= self.pushed);
    }

    /// Returns the delivered bytes that each acknowledgement covers: all, or with a `host_delay` those of
    /// earlier instants than the acknowledgement's own.
    fn settled(&mut self) -> u64 {
        let is_settled = |at: Time| self.host_delay == Span::ZERO || at + self.host_delay < self.now;
        while self.deliveries.get(1).is_some_and(|(at, _)| is_settled(*at)) {
            self.deliveries.pop_front();
        }
        self.deliveries.front().filter(|(at, _)| is_settled(*at)).map_or(0, |(_, bytes)| *bytes)
    }

    fn carry(&mut self, to_receiver: bool, mut segment: Segment, copies: &mut Vec<Span>) {
        self.path.carry(self.now, to_receiver, &mut segment, copies);
        for delay in copies.drain(..) {
            self.in_flight.push(InFlight { arrives: self.now + delay, to_receiver, segment });
        }
    }

    fn check_sender(&mut self) {
        let (progress, last) = (self.sender.progress(), self.last);
        assert!(progress.window.is_none_or(|window| window >= self.segment_size), "{progress:?}");
        assert!(progress.slow_start_threshold.is_none_or(|threshold| threshold >= self.segment_size));
        assert!(progress.acked <= progress.sent && progress.sent <= self.pushed);
        assert_eq!(progress.sent + self.sender.backlog(), self.pushed);
        assert!(progress.sent >= last.sent && progress.acked >= last.acked);
        assert!(progress.retransmissions >= last.retransmissions && progress.timeouts >= last.timeouts);
        assert!(progress.recoveries >= last.recoveries && progress.ecn_reductions >= last.ecn_reductions);
        assert!(progress.rtt_samples >= last.rtt_samples && progress.rtt_sum >= last.rtt_sum);
        assert_eq!(progress.retransmissions, self.repeated);
        assert!(
            self.sender.poll_timeout().is_none_or(|deadline| deadline >= self.now),
            "a deadline in the past"
        );
        self.last = progress;
    }
}
