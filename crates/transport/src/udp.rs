//! Datagrams without feedback (RFC 768).

use crate::messages::Messages;
use crate::{Delivered, Endpoint, Progress};
use multihop_core::{Segment, Time};

/// Options of both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UdpOptions {
    /// Maximum payload of a datagram in bytes.
    pub segment_size: u32,
    /// Number of transport and network header bytes.
    pub header: u32,
}

impl Default for UdpOptions {
    /// 1472 bytes, which with 20 bytes of IPv4 and 8 bytes of UDP fill 1500.
    fn default() -> UdpOptions {
        UdpOptions { segment_size: 1472, header: 28 }
    }
}

/// UDP sender. Each push is a separate message, which is split if it does not fit in a datagram.
pub struct UdpSender {
    header: u32,
    messages: Messages,
    next: u64,
}

impl UdpSender {
    /// A sender without data.
    pub fn new(options: UdpOptions) -> UdpSender {
        let UdpOptions { segment_size, header } = options;
        UdpSender { header, messages: Messages::new(segment_size), next: 0 }
    }
}

impl Endpoint for UdpSender {
    fn push(&mut self, _now: Time, bytes: u64) {
        self.messages.push(bytes);
    }

    fn backlog(&self) -> u64 {
        self.messages.backlog()
    }

    fn on_segment(&mut self, _now: Time, _segment: &Segment) -> Delivered {
        Delivered::default()
    }

    fn on_timeout(&mut self, _now: Time) {}

    fn poll_segment(&mut self, _now: Time) -> Option<Segment> {
        let (offset, payload) = self.messages.take()?;
        let seq = self.next;
        self.next += 1;
        Some(Segment { seq, offset, payload, header: self.header, ..Segment::default() })
    }

    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    fn progress(&self) -> Progress {
        Progress { sent: self.messages.taken(), ..Progress::default() }
    }
}

/// Number of 64-bit words of the duplicate filter.
const WORDS: usize = 64;
const WINDOW: u64 = 64 * WORDS as u64;

/// UDP receiver. Delivers each datagram once, in order of arrival. A datagram that arrives 4095 or more
/// numbers behind the newest counts as a duplicate.
pub struct UdpReceiver {
    /// One past the highest number received.
    top: u64,
    /// Bits of the latest numbers that were received: bit `n % WINDOW`.
    received: Vec<u64>,
}

impl Default for UdpReceiver {
    fn default() -> UdpReceiver {
        UdpReceiver::new()
    }
}

impl UdpReceiver {
    /// A receiver that has received nothing yet.
    pub fn new() -> UdpReceiver {
        UdpReceiver { top: 0, received: vec![0; WORDS] }
    }

    /// Records `number`. Returns whether it is new.
    fn record(&mut self, number: u64) -> bool {
        if number + WINDOW <= self.top {
            return false;
        }
        if number >= self.top + WINDOW {
            self.received.fill(0);
        } else {
            (self.top..number).for_each(|skipped| {
                let (word, bit) = Self::place(skipped);
                self.received[word] &= !bit;
            });
        }
        let (word, bit) = Self::place(number);
        let known = number < self.top && self.received[word] & bit != 0;
        self.received[word] |= bit;
        self.top = self.top.max(number + 1);
        !known
    }

    fn place(number: u64) -> (usize, u64) {
        let slot = number % WINDOW;
        ((slot / 64) as usize, 1 << (slot % 64))
    }
}

impl Endpoint for UdpReceiver {
    fn push(&mut self, _now: Time, _bytes: u64) {}

    fn backlog(&self) -> u64 {
        0
    }

    fn on_segment(&mut self, _now: Time, segment: &Segment) -> Delivered {
        let bytes = if self.record(segment.seq) { u64::from(segment.payload) } else { 0 };
        Delivered { bytes, offset: segment.offset }
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
    fn datagrams_are_numbered_and_know_their_place() {
        let mut sender = UdpSender::new(UdpOptions { segment_size: 100, header: 28 });
        sender.push(Time::ZERO, 250);
        sender.push(Time::ZERO, 30);
        assert_eq!(sender.backlog(), 280);
        let segments = std::iter::from_fn(|| sender.poll_segment(Time::ZERO));
        let sent: Vec<(u64, u64, u32)> = segments.map(|s| (s.seq, s.offset, s.payload)).collect();
        assert_eq!(sent, [(0, 0, 100), (1, 100, 100), (2, 200, 50), (3, 250, 30)]);
        assert_eq!((sender.backlog(), sender.progress().sent), (0, 280));
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

    /// A receiver of datagrams sends nothing and has no timer; a sender has no timer either.
    #[test]
    fn there_is_no_feedback() {
        let segment = Segment { seq: 5, offset: 40, payload: 7, ..Segment::default() };
        let mut receiver = UdpReceiver::default();
        receiver.push(Time::ZERO, 100);
        assert_eq!(receiver.on_segment(Time::ZERO, &segment), Delivered { bytes: 7, offset: 40 });
        assert_eq!(receiver.on_segment(Time::ZERO, &segment), Delivered { bytes: 0, offset: 40 });
        receiver.on_timeout(Time::ZERO);
        assert_eq!((receiver.poll_segment(Time::ZERO), receiver.poll_timeout()), (None, None));
        assert_eq!((receiver.backlog(), receiver.progress()), (0, Progress::default()));
        let mut sender = UdpSender::new(UdpOptions::default());
        sender.push(Time::ZERO, 1472);
        assert_eq!(sender.on_segment(Time::ZERO, &segment), Delivered::default());
        sender.on_timeout(Time::ZERO);
        assert_eq!((sender.poll_timeout(), sender.backlog()), (None, 1472));
        let whole = Segment { payload: 1472, header: 28, ..Segment::default() };
        assert_eq!(sender.poll_segment(Time::ZERO), Some(whole), "1500 bytes");
    }

    /// Up to 4094 numbers behind the newest, duplicates are recognised; from 4095 on every number counts as a
    /// duplicate.
    #[test]
    fn the_last_4095_numbers_are_remembered() {
        for (behind, fresh) in [(4_093, true), (4_094, true), (4_095, false)] {
            let mut receiver = UdpReceiver::new();
            assert!(receiver.record(9_000) && !receiver.record(9_000));
            assert_eq!(receiver.record(9_000 - behind), fresh, "{behind}");
            assert!(!receiver.record(9_000 - behind));
        }
        // A jump of at least the window clears all bits; skipped numbers are new.
        for leap in [4_095, 4_096, 4_097, 12_000] {
            let mut receiver = UdpReceiver::new();
            (0..=100).for_each(|number| assert!(receiver.record(number)));
            assert!(receiver.record(100 + leap));
            for number in (100 + leap - 4_094..100 + leap).filter(|number| *number > 100) {
                assert!(receiver.record(number), "{leap} {number}");
            }
        }
    }
}
