//! FIFO line of packets.

use multihop_core::{NodeId, Time};
use std::collections::VecDeque;

/// Packet in a queue, or dequeued from it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Queued<T> {
    /// Packet, or handle to it.
    pub item: T,
    /// Time at which the packet entered the queue.
    pub came: Time,
    /// Size of the packet in bytes.
    pub size: u32,
    /// Whether the packet's transport understands ECN.
    pub markable: bool,
    /// Whether the discipline requests a congestion mark at dequeue.
    pub marked: bool,
}

/// Packets in order of arrival.
#[derive(Clone, Debug)]
pub(super) struct Line<T> {
    packets: VecDeque<Queued<T>>,
    bytes: u64,
    /// Last search key, and number of first packets that do not match it.
    sought: Option<Sought>,
    passed: usize,
}

/// Search key of packets that can share a frame: next hop and traffic identifier.
pub type Sought = (NodeId, u8);

impl<T> Default for Line<T> {
    fn default() -> Line<T> {
        Line { packets: VecDeque::new(), bytes: 0, sought: None, passed: 0 }
    }
}

impl<T> Line<T> {
    pub(super) fn push(&mut self, packet: Queued<T>) {
        self.bytes += u64::from(packet.size);
        self.packets.push_back(packet);
    }

    pub(super) fn pop(&mut self) -> Option<Queued<T>> {
        let packet = self.packets.pop_front()?;
        self.passed = self.passed.saturating_sub(1);
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }

    /// Removes the first packet that matches the search key `sought`, for which `wanted` holds, if it has at
    /// most `most` bytes.
    ///
    /// A frame takes many packets in turn: packets skipped for one are not examined again for the next.
    #[expect(clippy::inline_always, reason = "a call for each packet of an aggregate is 1 % of a chain")]
    #[inline(always)]
    pub(super) fn pop_wanted(
        &mut self,
        sought: Sought,
        wanted: &impl Fn(&T) -> bool,
        most: u32,
    ) -> Option<Queued<T>> {
        if self.sought != Some(sought) {
            (self.sought, self.passed) = (Some(sought), 0);
        }
        let found = self.packets.range(self.passed..).position(|packet| wanted(&packet.item));
        self.passed = found.map_or(self.packets.len(), |further| self.passed + further);
        found?;
        let place = self.passed;
        if self.packets[place].size > most {
            return None;
        }
        let packet = self.packets.remove(place)?;
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }

    /// Whether the first packet satisfies `wanted` and has at most `most` bytes.
    pub(super) fn offers(&self, wanted: &impl Fn(&T) -> bool, most: u32) -> bool {
        self.packets.front().is_some_and(|first| first.size <= most && wanted(&first.item))
    }

    /// Time at which the first packet entered.
    pub(super) fn next_came(&self) -> Option<Time> {
        self.packets.front().map(|first| first.came)
    }

    pub(super) fn pop_last(&mut self) -> Option<Queued<T>> {
        let packet = self.packets.pop_back()?;
        self.passed = self.passed.min(self.packets.len());
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }

    /// Moves the packets for which `broken` holds to `removed`.
    pub(super) fn purge(&mut self, broken: &impl Fn(&T) -> bool, removed: &mut Vec<Queued<T>>) {
        self.sought = None;
        for packet in std::mem::take(&mut self.packets) {
            if broken(&packet.item) {
                self.bytes -= u64::from(packet.size);
                removed.push(packet);
            } else {
                self.packets.push_back(packet);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}
