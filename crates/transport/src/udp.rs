//! Datagrams without feedback (RFC 768).

use crate::{Delivered, Endpoint, Progress};
use multihop_core::{Segment, Time};
use std::collections::VecDeque;

/// Options of both ends.
#[derive(Clone, Debug, PartialEq)]
pub struct UdpOptions {
    /// The most payload bytes of a datagram.
    pub segment_size: u32,
    /// Transport and network header bytes.
    pub header: u32,
}

impl Default for UdpOptions {
    /// 1472 bytes, which with 20 bytes of IPv4 and 8 of UDP fill 1500.
    fn default() -> UdpOptions {
        UdpOptions { segment_size: 1472, header: 28 }
    }
}

/// The sender. Each push is a message of its own; one that does not fit in a datagram is split.
pub struct UdpSender {
    options: UdpOptions,
    /// Messages, or runs of full datagrams, that wait.
    messages: VecDeque<u64>,
    backlog: u64,
    next: u64,
    sent: u64,
}

impl UdpSender {
    /// A sender with nothing to send.
    pub fn new(options: UdpOptions) -> UdpSender {
        UdpSender { options, messages: VecDeque::new(), backlog: 0, next: 0, sent: 0 }
    }
}

impl Endpoint for UdpSender {
    fn push(&mut self, _now: Time, bytes: u64) {
        if bytes == 0 {
            return;
        }
        self.backlog += bytes;
        // What ends at the end of a full datagram can be continued without moving any boundary.
        match self.messages.back_mut() {
            Some(last) if *last % u64::from(self.options.segment_size) == 0 => *last += bytes,
            _ => self.messages.push_back(bytes),
        }
    }

    fn backlog(&self) -> u64 {
        self.backlog
    }

    fn on_segment(&mut self, _now: Time, _segment: &Segment) -> Delivered {
        Delivered::default()
    }

    fn on_timeout(&mut self, _now: Time) {}

    fn poll_segment(&mut self, _now: Time) -> Option<Segment> {
        let message = self.messages.front_mut()?;
        let payload = (*message).min(u64::from(self.options.segment_size));
        *message -= payload;
        if *message == 0 {
            self.messages.pop_front();
        }
        self.backlog -= payload;
        self.sent += payload;
        let seq = self.next;
        self.next += 1;
        Some(Segment { seq, payload: payload as u32, header: self.options.header, ..Segment::default() })
    }

    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    fn progress(&self) -> Progress {
        Progress { sent: self.sent, ..Progress::default() }
    }
}

/// Words of 64 datagrams each that the receiver remembers.
const WORDS: usize = 64;
const REMEMBERED: u64 = 64 * WORDS as u64;

/// The receiver. It delivers each datagram once, in whatever order they come. One that comes more than 4095 numbers behind the
/// newest is taken for a duplicate.
pub struct UdpReceiver {
    /// One past the highest number seen.
    top: u64,
    /// Which of the last numbers were seen: bit `n % REMEMBERED`.
    seen: Vec<u64>,
}

impl Default for UdpReceiver {
    fn default() -> UdpReceiver {
        UdpReceiver::new()
    }
}

impl UdpReceiver {
    /// A receiver that has heard nothing yet.
    pub fn new() -> UdpReceiver {
        UdpReceiver { top: 0, seen: vec![0; WORDS] }
    }

    /// Notes `number`. Was it new?
    fn note(&mut self, number: u64) -> bool {
        if number + REMEMBERED <= self.top {
            return false;
        }
        if number >= self.top + REMEMBERED {
            self.seen.fill(0);
        } else {
            (self.top..number).for_each(|skipped| {
                let (word, bit) = Self::place(skipped);
                self.seen[word] &= !bit;
            });
        }
        let (word, bit) = Self::place(number);
        let known = number < self.top && self.seen[word] & bit != 0;
        self.seen[word] |= bit;
        self.top = self.top.max(number + 1);
        !known
    }

    fn place(number: u64) -> (usize, u64) {
        let slot = number % REMEMBERED;
        ((slot / 64) as usize, 1 << (slot % 64))
    }
}

impl Endpoint for UdpReceiver {
    fn push(&mut self, _now: Time, _bytes: u64) {}

    fn backlog(&self) -> u64 {
        0
    }

    fn on_segment(&mut self, _now: Time, segment: &Segment) -> Delivered {
        let bytes = if self.note(segment.seq) { u64::from(segment.payload) } else { 0 };
        Delivered { bytes }
    }

    fn on_timeout(&mut self, _now: Time) {}

    fn poll_segment(&mut self, _now: Time) -> Option<Segment> {
        None
    }

    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    fn progress(&self) -> Progress {
        Progress::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn each_push_is_split_on_its_own() {
        let mut sender = UdpSender::new(UdpOptions { segment_size: 100, header: 28 });
        for bytes in [250, 100, 30, 0, 100, 100, 10] {
            sender.push(Time::ZERO, bytes);
        }
        assert_eq!(sender.backlog(), 590);
        let segments: Vec<Segment> = std::iter::from_fn(|| sender.poll_segment(Time::ZERO)).collect();
        let payloads: Vec<u32> = segments.iter().map(|segment| segment.payload).collect();
        assert_eq!(payloads, [100, 100, 50, 100, 30, 100, 100, 10]);
        assert!(segments.iter().enumerate().all(|(index, segment)| segment.seq == index as u64));
        assert_eq!((sender.backlog(), sender.progress().sent), (0, 590));
    }

    #[test]
    fn a_datagram_counts_once() {
        let mut rng = Rng::at(3, &["udp"]);
        let mut receiver = UdpReceiver::new();
        let mut known = BTreeSet::new();
        let mut base = 0;
        for _ in 0..20_000 {
            base += u64::from(rng.below(4)) + if rng.below(500) == 0 { 5_000 } else { 0 };
            let number = base.saturating_sub(u64::from(rng.below(3_000)));
            let segment = Segment { seq: number, payload: 7, ..Segment::default() };
            let expected = if known.insert(number) { 7 } else { 0 };
            assert_eq!(receiver.on_segment(Time::ZERO, &segment).bytes, expected, "{number}");
        }
    }
}
