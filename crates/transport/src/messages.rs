//! Queue of messages of a datagram transport.

use std::collections::VecDeque;

/// Messages to send, each of which is split into datagrams separately.
#[derive(Clone, Debug)]
pub struct Messages {
    /// Maximum payload of a datagram in bytes.
    segment_size: u64,
    /// Remaining bytes of each message; consecutive full datagrams are merged.
    waiting: VecDeque<u64>,
    backlog: u64,
    taken: u64,
}

impl Messages {
    /// An empty queue for datagrams of up to `segment_size` payload bytes.
    pub fn new(segment_size: u32) -> Messages {
        Messages { segment_size: u64::from(segment_size), waiting: VecDeque::new(), backlog: 0, taken: 0 }
    }

    /// Appends a message of `bytes` bytes; an empty message is ignored.
    pub fn push(&mut self, bytes: u64) {
        if bytes == 0 {
            return;
        }
        self.backlog += bytes;
        // A message that ends with a full datagram can be extended without moving a boundary.
        match self.waiting.back_mut() {
            Some(last) if *last % self.segment_size == 0 => *last += bytes,
            _ => self.waiting.push_back(bytes),
        }
    }

    /// Removes the next datagram. Returns the offset of its first byte, and its payload bytes.
    pub fn take(&mut self) -> Option<(u64, u32)> {
        let message = self.waiting.front_mut()?;
        let payload = (*message).min(self.segment_size);
        *message -= payload;
        if *message == 0 {
            self.waiting.pop_front();
        }
        self.backlog -= payload;
        let offset = self.taken;
        self.taken += payload;
        Some((offset, payload as u32))
    }

    /// Removes all queued messages.
    pub fn withdraw(&mut self) {
        self.waiting.clear();
        self.backlog = 0;
    }

    /// Number of queued bytes.
    pub fn backlog(&self) -> u64 {
        self.backlog
    }

    /// Number of bytes removed so far.
    pub fn taken(&self) -> u64 {
        self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_is_split_on_its_own() {
        let mut messages = Messages::new(100);
        for bytes in [250, 100, 30, 0, 100, 100, 10] {
            messages.push(bytes);
        }
        assert_eq!(messages.backlog(), 590);
        let datagrams: Vec<(u64, u32)> = std::iter::from_fn(|| messages.take()).collect();
        let expected =
            [(0, 100), (100, 100), (200, 50), (250, 100), (350, 30), (380, 100), (480, 100), (580, 10)];
        assert_eq!(datagrams, expected);
        assert_eq!((messages.backlog(), messages.taken()), (0, 590));
        messages.push(70);
        messages.withdraw();
        assert_eq!((messages.take(), messages.backlog(), messages.taken()), (None, 0, 590));
    }

    /// A source that always has full datagrams to send needs no entry for each.
    #[test]
    fn full_datagrams_are_one_run() {
        let mut messages = Messages::new(100);
        for _ in 0..1000 {
            messages.push(100);
        }
        assert_eq!((messages.waiting.len(), messages.backlog()), (1, 100_000));
    }
}
