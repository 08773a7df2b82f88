//! A line of packets, first in, first out.

use multihop_core::{NodeId, Time};
use std::collections::VecDeque;

/// A packet that waits, or that left the queue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Queued<T> {
    /// The packet.
    pub item: T,
    /// When it entered the queue.
    pub came: Time,
    /// Its bytes.
    pub size: u32,
    /// Its transport understands ECN.
    pub markable: bool,
    /// Congestion is to be marked on it: the discipline says so when it leaves.
    pub marked: bool,
}

/// Packets that wait in the order in which they came.
#[derive(Clone, Debug)]
pub(super) struct Line<T> {
    packets: VecDeque<Queued<T>>,
    bytes: u64,
    /// What was last sought in its midst, and how many of the first packets are none of those.
    sought: Option<Sought>,
    passed: usize,
}

/// The next hop to which a packet is sought, and its traffic identifier.
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

    /// Takes out the first packet of those for which `wanted` holds, which are those that are sought, if it
    /// has no more than so many bytes.
    ///
    /// A frame takes many, one after the other: those that were passed by for one are not looked at for the
    /// next.
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

    /// Does the first packet satisfy `wanted`, and has no more than so many bytes?
    pub(super) fn offers(&self, wanted: &impl Fn(&T) -> bool, most: u32) -> bool {
        self.packets.front().is_some_and(|first| first.size <= most && wanted(&first.item))
    }

    /// When the first packet came.
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
