//! What is remembered of transmissions before, of a block.

use super::dropped::Dropped;
use super::rows::Sort;
use crate::chance::Chance;

/// Nodes are fewer than these, or a damaged log could ask for any memory.
pub const MOST_NODES: i64 = 1 << 20;
/// A node's latest sorts that are looked through.
pub const LATEST: usize = 128;

/// What is asked most often of a sort.
#[derive(Clone, Copy, Debug)]
pub struct Brief {
    pub from: u32,
    /// [`Brief::NONE`] if it is for all.
    pub to: u32,
    pub airtime: i64,
    pub kind: u8,
    /// Of [`Sort::is_answer`], of [`Sort::usual`], and whether it carries a packet, or is sent for one.
    pub is_answer: bool,
    pub usual: u8,
    pub carries: bool,
}

impl Brief {
    pub const NONE: u32 = u32::MAX;

    /// That of a sort with nodes that have an index.
    pub fn new(sort: &Sort) -> Brief {
        Brief {
            from: sort.from as u32,
            to: u32::try_from(sort.to).unwrap_or(Brief::NONE),
            airtime: sort.airtime,
            kind: u8::try_from(sort.kind).unwrap_or(u8::MAX),
            is_answer: sort.is_answer(),
            usual: sort.usual() as u8,
            carries: sort.carries != 0,
        }
    }
}

/// Of a sort.
#[derive(Clone, Debug)]
pub struct OfSort {
    pub brief: Brief,
    /// The place of its stream among those of its sender, from 1; 0 if it is not known.
    pub stream: usize,
    /// What answers it, and how much later that begins.
    pub answer: Option<(i64, usize)>,
    /// The stations that set the NAV by it the last time.
    pub reserves: Vec<(u32, i64)>,
    /// How many packets the last aggregate of it had.
    pub mpdus: usize,
}

impl OfSort {
    /// Of one that was not there yet.
    pub fn new(brief: Brief) -> OfSort {
        OfSort { brief, stream: 0, answer: None, reserves: Vec::new(), mpdus: 0 }
    }
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
#[derive(Clone, Copy, Debug, Default)]
pub struct Expected {
    pub time: i64,
    pub sort: usize,
}

/// So many answers are awaited at once.
const MOST_AWAITED: usize = 8;

/// Transmissions that should follow. There are mostly one or two.
#[derive(Clone, Debug, Default)]
pub struct Awaited {
    /// The latest first: the next one goes most often.
    list: [Expected; MOST_AWAITED],
    count: usize,
}

impl Awaited {
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The one at a place, in the order of their times.
    #[inline]
    pub fn get(&self, place: usize) -> Option<&Expected> {
        self.list[..self.count].get(self.count.wrapping_sub(place + 1))
    }

    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// That at a place, which there is, is no longer awaited.
    #[inline]
    pub fn remove(&mut self, place: usize) {
        self.count -= 1;
        for at in self.count - place..self.count {
            self.list[at] = self.list[at + 1];
        }
    }

    /// Nor are those before an instant.
    #[inline]
    pub fn pass(&mut self, now: i64) {
        while self.get(0).is_some_and(|first| first.time < now) {
            self.count -= 1;
        }
    }

    /// Awaits another one, behind those at the same instant; if there are too many, the first is left out.
    #[inline]
    pub fn insert(&mut self, expected: Expected) {
        if self.count == MOST_AWAITED {
            if self.list[MOST_AWAITED - 1].time > expected.time {
                return;
            }
            self.count -= 1;
        }
        let mut at = self.count;
        while at > 0 && self.list[at - 1].time <= expected.time {
            self.list[at] = self.list[at - 1];
            at -= 1;
        }
        self.list[at] = expected;
        self.count += 1;
    }
}

impl OfNode {
    /// The place of a stream among those of the node.
    pub fn stream(&self, sort: &Sort) -> Option<usize> {
        let key = [sort.flow, sort.carries];
        self.streams.iter().position(|(known, _)| *known == key)
    }

    /// The same; it is one of them from now on.
    pub fn learn_stream(&mut self, sort: &Sort) -> usize {
        self.stream(sort).unwrap_or_else(|| {
            self.streams.push(([sort.flow, sort.carries], 0));
            self.streams.len() - 1
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_awaited_is_in_the_order_of_its_times() {
        let mut awaited = Awaited::default();
        let times = |awaited: &Awaited| -> Vec<(i64, usize)> {
            (0..9).map_while(|place| awaited.get(place)).map(|next| (next.time, next.sort)).collect()
        };
        for (sort, time) in [5, 3, 8, 3, 1].into_iter().enumerate() {
            awaited.insert(Expected { time, sort });
        }
        assert_eq!(times(&awaited), [(1, 4), (3, 1), (3, 3), (5, 0), (8, 2)]);
        awaited.remove(2);
        awaited.pass(3);
        assert_eq!(times(&awaited), [(3, 1), (5, 0), (8, 2)]);
        for time in 10..15 {
            awaited.insert(Expected { time, sort: 0 });
        }
        assert_eq!(awaited.count(), MOST_AWAITED);
        awaited.insert(Expected { time: 2, sort: 0 });
        assert_eq!(times(&awaited)[0], (3, 1), "there is no place before the first");
        awaited.insert(Expected { time: 6, sort: 7 });
        assert_eq!(times(&awaited)[..3], [(5, 0), (6, 7), (8, 2)]);
    }
}
