//! Data between the application and the network.

use crate::messages::Messages;
use multihop_core::{Span, Time};
use std::collections::VecDeque;

/// Queue of messages that knows how long its oldest data has waited.
#[derive(Clone, Debug)]
pub(super) struct EncoderQueue {
    messages: Messages,
    /// Total bytes up to the end of each message, and the time of the message.
    arrivals: VecDeque<(u64, Time)>,
}

impl EncoderQueue {
    /// Creates an empty queue for packets of up to `segment_size` payload bytes.
    pub(super) fn new(segment_size: u32) -> EncoderQueue {
        EncoderQueue { messages: Messages::new(segment_size), arrivals: VecDeque::new() }
    }

    /// Appends a message; an empty message is ignored.
    pub(super) fn push(&mut self, now: Time, bytes: u64) {
        if bytes > 0 {
            self.messages.push(bytes);
            self.arrivals.push_back((self.messages.taken() + self.messages.backlog(), now));
        }
    }

    /// Removes the next packet. Returns the offset of its first byte, and its payload bytes.
    pub(super) fn take(&mut self) -> Option<(u64, u32)> {
        let taken = self.messages.take()?;
        while self.arrivals.front().is_some_and(|(end, _)| *end <= self.messages.taken()) {
            self.arrivals.pop_front();
        }
        Some(taken)
    }

    /// Removes all data.
    pub(super) fn withdraw(&mut self) {
        self.messages.withdraw();
        self.arrivals.clear();
    }

    /// Number of queued bytes.
    pub(super) fn backlog(&self) -> u64 {
        self.messages.backlog()
    }

    /// Number of bytes removed so far.
    pub(super) fn taken(&self) -> u64 {
        self.messages.taken()
    }

    /// Time for which the oldest data has waited; zero for an empty queue.
    pub(super) fn waiting(&self, now: Time) -> Span {
        self.arrivals.front().map_or(Span::ZERO, |(_, at)| now.since(*at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_data_has_an_age() {
        let ms = |ms| Time::ZERO + Span::from_ms(ms);
        let mut queue = EncoderQueue::new(100);
        queue.push(ms(10), 0);
        assert_eq!(queue.waiting(ms(15)), Span::ZERO);
        queue.push(ms(20), 150);
        queue.push(ms(60), 100);
        assert_eq!((queue.waiting(ms(70)), queue.backlog()), (Span::from_ms(50), 250));
        assert_eq!((queue.take(), queue.waiting(ms(70))), (Some((0, 100)), Span::from_ms(50)));
        assert_eq!((queue.take(), queue.waiting(ms(70))), (Some((100, 50)), Span::from_ms(10)));
        queue.withdraw();
        assert_eq!((queue.take(), queue.waiting(ms(70)), queue.taken()), (None, Span::ZERO, 150));
    }
}
