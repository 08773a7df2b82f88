//! Content and times of a router's broadcasts of its table.

use super::table::{DirectedLink, KnownLink};
use multihop_core::{Carrier, Header, NodeId, Rng, Span, Time};
use multihop_link::Notice;

/// Bytes of a link's full node identifiers, which follow all entries. An entry has one byte for each node,
/// which is ambiguous in networks of more than 256 nodes.
const LINK: usize = 8;

/// Returns the last octets of the addresses of a link's nodes, as entries on the air have them.
pub(crate) fn last_octets(link: DirectedLink) -> [u8; 2] {
    [link.from, link.to].map(|node| node.ipv4()[3])
}

/// Encodes the links that were signalled over less than `hops` hops as entries `E`. Also returns the number
/// of entries.
pub(crate) fn write<V, E: Header>(
    links: &[KnownLink<V>],
    hops: u8,
    entry: impl Fn(&KnownLink<V>) -> E,
) -> (Vec<u8>, usize) {
    let signalled = || links.iter().filter(|known| known.hops() < hops);
    let count = signalled().count();
    let mut content = vec![0; count * (E::LEN + LINK)];
    let (on_air, full) = content.split_at_mut(count * E::LEN);
    let places = on_air.chunks_exact_mut(E::LEN).zip(full.chunks_exact_mut(LINK));
    for (known, (place, link)) in signalled().zip(places) {
        entry(known).emit(place);
        link[..4].copy_from_slice(&known.link.from.0.to_be_bytes());
        link[4..].copy_from_slice(&known.link.to.0.to_be_bytes());
    }
    (content, count)
}

/// Decodes the links and entries of a broadcast.
pub(crate) fn read<E: Header>(content: &[u8]) -> impl Iterator<Item = (DirectedLink, E)> {
    let count = content.len() / (E::LEN + LINK);
    let (on_air, full) = content.split_at(count * E::LEN);
    let entries = on_air.chunks_exact(E::LEN).filter_map(E::parse);
    full.chunks_exact(LINK).zip(entries).map(|(link, entry)| {
        let node =
            |at: usize| NodeId(u32::from_be_bytes([link[at], link[at + 1], link[at + 2], link[at + 3]]));
        (DirectedLink { from: node(0), to: node(4) }, entry)
    })
}

/// Times of a router's broadcasts.
#[derive(Debug)]
pub(crate) struct BroadcastTimer {
    /// Time between broadcasts; none if there are no neighbours.
    interval: Option<Span>,
    /// Maximum random variation of that time, as a share of it.
    jitter: f64,
    /// Bytes of a broadcast besides its entries.
    header: u32,
    /// Bytes of an entry.
    entry: u32,
    next: Option<Time>,
    rng: Rng,
}

impl BroadcastTimer {
    /// Creates the timer of a queue with this seed.
    pub fn new(interval: Option<Span>, jitter: f64, header: u32, entry: u32, seed: u64) -> BroadcastTimer {
        BroadcastTimer { interval, jitter, header, entry, next: None, rng: Rng::at(seed, &["signalling"]) }
    }

    /// Schedules the next broadcast, if the router knows a link.
    pub fn plan(&mut self, now: Time, knows_links: bool) {
        let Some(interval) = self.interval else { return };
        if !knows_links {
            self.next = None;
        } else if self.next.is_none() {
            // A random first time separates the broadcasts of neighbours that begin with the same packet.
            self.next = Some(now + Span::from_seconds(interval.seconds() * self.rng.unit()));
        }
    }

    /// Begins the broadcast that is due and schedules the following one. Returns whether there is one.
    pub fn begin(&mut self, now: Time, knows_links: bool) -> bool {
        let Some(interval) = self.interval else { return false };
        self.next = knows_links.then(|| {
            let stretched = 1.0 + self.jitter * (2.0 * self.rng.unit() - 1.0);
            now + Span::from_seconds(interval.seconds() * stretched)
        });
        knows_links
    }

    /// Returns the notice in this carrier with this content of entries `E`; none without entries.
    pub fn notice<E: Header>(
        &self,
        carrier: Carrier,
        (content, entries): (Vec<u8>, usize),
    ) -> Option<Notice> {
        (entries > 0).then(|| Notice {
            carrier,
            content,
            air: entries * E::LEN,
            size: self.header + entries as u32 * self.entry,
        })
    }

    /// Time of the next broadcast.
    pub fn next(&self) -> Option<Time> {
        self.next
    }

    /// Cancels the next broadcast.
    pub fn cancel(&mut self) {
        self.next = None;
    }
}
