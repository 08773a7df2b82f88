//! What is remembered of transmissions before, of a block.

use super::dropped::Dropped;
use super::rows::Sort;
use crate::chance::Chance;

/// Nodes are fewer than these, or a damaged log could ask for any memory.
pub const MOST_NODES: i64 = 1 << 20;
/// A node's latest sorts that are looked through.
pub const LATEST: usize = 128;

/// Of a sort.
#[derive(Clone, Debug, Default)]
pub struct OfSort {
    /// What answers it, and how much later that begins.
    pub answer: Option<(i64, usize)>,
    /// The stations that set the NAV by it the last time.
    pub reserves: Vec<(u32, i64)>,
    /// How many packets the last aggregate of it had.
    pub mpdus: usize,
}

/// Of a node.
#[derive(Clone, Debug, Default)]
pub struct OfNode {
    /// Its latest sorts, the latest first.
    pub sorts: Vec<usize>,
    /// The last frame to it: sort, start, end.
    pub addressed: Option<(usize, i64, i64)>,
    /// When its last exchange ended.
    pub end: i64,
    /// When the last DATA frame to it was there, and the one before.
    pub arrived: i64,
    pub arrived_before: i64,
    /// The other radio by whose arrivals it receives packets, of nodes that have several.
    pub feeder: usize,
    /// How long after the end of its exchange it had the next packet, when it was neither at once nor by an
    /// arrival, twice in turn; and the last time.
    pub gap: i64,
    pub gap_before: i64,
    /// From when it contends to its first slot, by how that is known; and what it would be if it were so
    /// twice.
    pub spaces: [(i64, i64); 6],
    /// Of RTS and of others: the number of the last try, and whether it was answered.
    pub tries: [(i64, bool); 2],
    /// The packet of its last RTS or DATA.
    pub packet: i64,
    /// By flow and direction: the latest number.
    pub streams: Vec<([i64; 2], i64)>,
    /// By flow and direction: packets that did not fit its queue.
    pub dropped: Vec<([i64; 2], Dropped)>,
    /// The receivers of its aggregates.
    pub links: Vec<Link>,
    /// The stations that may set the NAV by its frames.
    pub listeners: Vec<Listener>,
}

/// Of aggregates to a node.
#[derive(Clone, Debug, Default)]
pub struct Link {
    pub to: i64,
    /// Of which of the sender's streams the last new packet was.
    pub latest: usize,
    /// Packets of the last aggregate that did not arrive: stream and number.
    pub again: Vec<(usize, i64)>,
}

/// A node that may hear another one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Listener {
    pub node: u32,
    /// How often it did, by whether it did hear the last frame of the sort, and whether something covered the
    /// frame.
    pub chances: [Chance; 4],
    /// How often its NAV lasted as long as the frame said, by kind.
    pub decodes: [Chance; 3],
}

/// A transmission that should follow.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    pub time: i64,
    pub sort: usize,
}

impl OfNode {
    /// The place of a stream among those of the node.
    pub fn stream(&self, sort: &Sort) -> Option<usize> {
        let key = [sort.flow, sort.carries];
        self.streams.iter().position(|(known, _)| *known == key)
    }

    /// The number that comes next in a stream.
    #[inline]
    pub fn next(&self, place: usize, now: i64) -> i64 {
        let (key, last) = &self.streams[place];
        self.after(*key, *last, now)
    }

    /// The number that comes after this one in a stream.
    #[inline]
    pub fn after(&self, key: [i64; 2], last: i64, now: i64) -> i64 {
        let next = last.wrapping_add(1);
        let of_stream = |dropped: &&([i64; 2], Dropped)| dropped.0 == key;
        self.dropped.iter().find(of_stream).map_or(next, |(_, dropped)| dropped.next(next, now))
    }

    /// Packets of a stream that did not fit its queue.
    pub fn drops(&mut self, key: [i64; 2]) -> &mut Dropped {
        let known = self.dropped.iter().position(|(known, _)| *known == key);
        let place = known.unwrap_or_else(|| {
            self.dropped.push((key, Dropped::default()));
            self.dropped.len() - 1
        });
        &mut self.dropped[place].1
    }

    pub fn link(&self, to: i64) -> Option<&Link> {
        self.links.iter().find(|link| link.to == to)
    }
}
