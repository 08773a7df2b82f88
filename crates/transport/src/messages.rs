//! What an application handed to a transport of datagrams, and that waits to be sent.

use std::collections::VecDeque;

/// Messages that wait, each to be split into datagrams on its own.
#[derive(Clone, Debug)]
pub struct Messages {
    /// The most payload bytes of a datagram.
    segment_size: u64,
    /// Messages, or runs of full datagrams.
    waiting: VecDeque<u64>,
    backlog: u64,
    taken: u64,
}

impl Messages {
    /// None yet; datagrams take up to so many payload bytes.
    pub fn new(segment_size: u32) -> Messages {
        Messages { segment_size: u64::from(segment_size), waiting: VecDeque::new(), backlog: 0, taken: 0 }
    }

    /// A message of so many bytes. One of none is no message.
    pub fn push(&mut self, bytes: u64) {
        if bytes == 0 {
            return;
        }
        self.backlog += bytes;
        // What ends at the end of a full datagram can be continued without moving any boundary.
        match self.waiting.back_mut() {
            Some(last) if *last % self.segment_size == 0 => *last += bytes,
            _ => self.waiting.push_back(bytes),
        }
    }

    /// Takes the next datagram: how many bytes were taken before it, and its own.
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

    /// Takes back what waits.
    pub fn withdraw(&mut self) {
        self.waiting.clear();
        self.backlog = 0;
    }

    /// Bytes that wait.
    pub fn backlog(&self) -> u64 {
        self.backlog
    }

    /// Bytes that were taken.
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

    /// A source that always has full datagrams to send needs no room for each.
    #[test]
    fn full_datagrams_are_one_run() {
        let mut messages = Messages::new(100);
        for _ in 0..1000 {
            messages.push(100);
        }
        assert_eq!((messages.waiting.len(), messages.backlog()), (1, 100_000));
    }
}
