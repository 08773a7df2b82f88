//! Queue disciplines of the interface queue.

use multihop_core::Time;
use std::collections::VecDeque;

/// Which of the two bands a packet waits in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Priority {
    /// Routing packets: ahead of all data, which makes room for them (ns-2's `PriQueue`).
    Routing,
    /// Everything else.
    Data,
}

/// A bounded first-in first-out queue that drops what does not fit, with routing packets ahead of data.
///
/// The limit counts packets of both bands together. `T` is the packet or a handle to it; each entry remembers when it came.
#[derive(Clone, Debug)]
pub struct DropTail<T> {
    routing: VecDeque<(Time, T)>,
    data: VecDeque<(Time, T)>,
    limit: usize,
}

impl<T> DropTail<T> {
    /// An empty queue that holds at most `limit` packets.
    pub fn new(limit: usize) -> DropTail<T> {
        DropTail { routing: VecDeque::new(), data: VecDeque::new(), limit }
    }

    /// Appends `item`. If the queue is full, something is lost: the last data packet, if `item` is a routing packet and there is
    /// one to make room for it, and otherwise `item`.
    ///
    /// # Errors
    /// What is lost.
    pub fn push(&mut self, now: Time, priority: Priority, item: T) -> Result<(), T> {
        let full = self.len() >= self.limit;
        match priority {
            Priority::Routing if full => {
                let Some((_, last)) = self.data.pop_back() else { return Err(item) };
                self.routing.push_back((now, item));
                return Err(last);
            }
            Priority::Data if full => return Err(item),
            Priority::Routing => self.routing.push_back((now, item)),
            Priority::Data => self.data.push_back((now, item)),
        }
        Ok(())
    }

    /// Takes the head of the line, with the instant at which it came.
    pub fn pop(&mut self) -> Option<(Time, T)> {
        self.routing.pop_front().or_else(|| self.data.pop_front())
    }

    /// Removes every data packet for which `broken` holds and hands each to `dropped`, oldest first.
    pub fn purge(&mut self, mut broken: impl FnMut(&T) -> bool, mut dropped: impl FnMut(T)) {
        for (came, item) in std::mem::take(&mut self.data) {
            if broken(&item) {
                dropped(item);
            } else {
                self.data.push_back((came, item));
            }
        }
    }

    /// Packets that fit.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Packets waiting.
    pub fn len(&self) -> usize {
        self.routing.len() + self.data.len()
    }

    /// Is nothing waiting?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routing_packets_overtake_and_the_tail_is_dropped() {
        let mut queue = DropTail::new(3);
        let now = Time::ZERO;
        queue.push(now, Priority::Data, 1).unwrap();
        queue.push(now, Priority::Data, 2).unwrap();
        queue.push(now, Priority::Routing, 9).unwrap();
        assert_eq!(queue.push(now, Priority::Data, 3), Err(3));
        let order: Vec<i32> = std::iter::from_fn(|| queue.pop().map(|(_, item)| item)).collect();
        assert_eq!(order, [9, 1, 2]);
    }

    #[test]
    fn a_routing_packet_takes_the_place_of_the_last_data_packet() {
        let mut queue = DropTail::new(2);
        let now = Time::ZERO;
        queue.push(now, Priority::Data, 1).unwrap();
        queue.push(now, Priority::Data, 2).unwrap();
        assert_eq!(queue.push(now, Priority::Routing, 8), Err(2));
        assert_eq!(queue.push(now, Priority::Routing, 9), Err(1));
        assert_eq!(queue.push(now, Priority::Routing, 10), Err(10));
        assert_eq!(queue.pop(), Some((now, 8)));
        assert_eq!(queue.pop(), Some((now, 9)));
    }

    #[test]
    fn a_purge_takes_only_what_waits_for_the_broken_hop() {
        let mut queue = DropTail::new(10);
        (0..6).for_each(|i| queue.push(Time::from_ns(i), Priority::Data, i).unwrap());
        let mut dropped = Vec::new();
        queue.purge(|item| item % 2 == 0, |item| dropped.push(item));
        assert_eq!(dropped, [0, 2, 4]);
        assert_eq!(queue.pop(), Some((Time::from_ns(1), 1)));
        assert_eq!(queue.len(), 2);
    }
}
