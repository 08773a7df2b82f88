//! What routers broadcast: entries of their tables (Tan, Jiang, Zhang and Shen, section III.D).

use super::summary::Link;
use super::table::{LinkQueue, Origin};
use multihop_core::NodeId;

/// An entry, as it was signalled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Signalled {
    pub link: Link,
    /// Hops that it was signalled over before this one.
    pub hops: u8,
    pub queue: u16,
    pub sequence: u8,
}

/// Bytes of an entry here, where identifiers of nodes have four. What an entry takes on the air is a parameter: in the paper six,
/// two of which are the link.
const ENTRY: usize = 12;

/// The queues of the links at this node, and those of which it heard over less than `hops` hops; with their number.
pub(super) fn write(entries: &[LinkQueue], hops: u8) -> (Vec<u8>, u32) {
    let mut content = Vec::with_capacity(entries.len() * ENTRY);
    for entry in entries {
        let over = match entry.origin {
            Origin::Own | Origin::Incoming => 0,
            Origin::Signalled(over) => over,
        };
        if over < hops {
            content.extend(entry.link.from.0.to_be_bytes());
            content.extend(entry.link.to.0.to_be_bytes());
            content.extend(entry.queue.to_be_bytes());
            content.extend([entry.sequence, over]);
        }
    }
    let written = content.len() / ENTRY;
    (content, written as u32)
}

/// What was written.
pub(super) fn read(content: &[u8]) -> impl Iterator<Item = Signalled> + '_ {
    content.chunks_exact(ENTRY).map(|entry| {
        let node =
            |at: usize| NodeId(u32::from_be_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]]));
        Signalled {
            link: Link { from: node(0), to: node(4) },
            hops: entry[11],
            queue: u16::from_be_bytes([entry[8], entry[9]]),
            sequence: entry[10],
        }
    })
}
