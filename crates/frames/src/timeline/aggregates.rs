//! The packets of an aggregate: those of the last one that did not arrive, and then the next ones.

use super::rows::{Mpdu, Sort};
use super::state::{Link, OfNode};
use crate::streams::{Coder, Stream};

/// An aggregate has no more packets than these.
const MOST: i64 = 1 << 14;

/// Where an aggregate is in what is expected of it.
struct Walk {
    link: Link,
    again: usize,
    fresh: i64,
    /// When it begins.
    now: i64,
}

impl Walk {
    fn new(node: &OfNode, to: i64, now: i64) -> Walk {
        let link = node.link(to).cloned().unwrap_or(Link { to, latest: usize::MAX, again: Vec::new() });
        Walk { link, again: 0, fresh: 0, now }
    }

    /// The stream and number of the packet that should come next.
    fn next(&self, node: &OfNode) -> Option<(usize, i64)> {
        self.link.again.get(self.again).copied().or_else(|| {
            node.streams.get(self.link.latest)?;
            Some((self.link.latest, node.next(self.link.latest, self.now)))
        })
    }

    /// This packet comes next.
    fn take(&mut self, node: &mut OfNode, packet: (usize, i64)) {
        let rest = self.link.again.get(self.again..).unwrap_or_default();
        if let Some(place) = rest.iter().position(|known| *known == packet) {
            self.again += place + 1;
        } else {
            self.link.latest = packet.0;
            node.streams[packet.0].1 = packet.1;
            self.fresh += 1;
        }
    }
}

/// How many packets an aggregate should have.
fn expected(before: usize, arrived: bool) -> usize {
    if arrived { before } else { 0 }
}

/// Are the packets those that are expected, and all there?
pub fn look(node: &OfNode, (to, now): (i64, i64), (before, arrived): (usize, bool), mpdus: &[Mpdu]) -> bool {
    let expected = expected(before, arrived);
    if mpdus.is_empty() || mpdus.len() != expected {
        return mpdus.len() == expected;
    }
    let Some(link) = node.link(to) else { return false };
    let (latest, mut last) = node.streams[link.latest];
    let is = |mpdu: &Mpdu, (stream, packet): (usize, i64)| {
        mpdu.packet == packet && node.streams[stream].0 == mpdu.stream
    };
    let (again, fresh) = mpdus.split_at(link.again.len().min(mpdus.len()));
    again.iter().zip(&link.again).all(|(mpdu, known)| mpdu.outcome == 0 && is(mpdu, *known))
        && fresh.iter().all(|mpdu| {
            last = node.after(latest, last, now);
            mpdu.outcome == 0 && mpdu.packet == last && mpdu.stream == latest
        })
}

/// Codes the packets, which are as expected unless `signalled`; returns how many are not of the last
/// aggregate. None if they cannot be.
pub fn code<C: Coder>(
    c: &mut C,
    node: &mut OfNode,
    (sort, now): (&Sort, i64),
    (signalled, before, arrived): (bool, usize, bool),
    mpdus: &mut Vec<Mpdu>,
) -> Option<i64> {
    let mut count = expected(before, arrived) as i64;
    if signalled {
        count = c.number(Stream::Mpdus, mpdus.len() as i64);
    }
    if !(0..=MOST).contains(&count) {
        return None;
    }
    if count == 0 {
        return Some(0);
    }
    if C::WRITES && !signalled {
        return all(node, (sort.to, now), count);
    }
    let mut walk = Walk::new(node, sort.to, now);
    if !C::WRITES {
        mpdus.resize(count as usize, Mpdu::default());
    }
    let mut at = 0;
    while at < mpdus.len() {
        let hits = if signalled { hits(c, node, &walk, &mpdus[at..])? } else { mpdus.len() - at };
        for mpdu in &mut mpdus[at..at + hits] {
            let next = walk.next(node)?;
            walk.take(node, next);
            (mpdu.stream, mpdu.packet) = (node.streams[next.0].0, next.1);
        }
        at += hits;
        if let Some(mpdu) = mpdus.get_mut(at) {
            let packet = other(c, node, mpdu, now)?;
            walk.take(node, packet);
            at += 1;
        }
    }
    if signalled {
        outcomes(c, mpdus);
    }
    walk.link.again.clear();
    for mpdu in mpdus.iter().filter(|mpdu| mpdu.outcome != 0) {
        let stream = node.streams.iter().position(|(key, _)| *key == mpdu.stream)?;
        walk.link.again.push((stream, mpdu.packet));
    }
    match node.links.iter_mut().find(|link| link.to == sort.to) {
        Some(link) => *link = walk.link,
        None => node.links.push(walk.link),
    }
    Some(walk.fresh)
}

/// Learns from an aggregate of so many packets, which are as expected and arrived, what [`code`] learns from
/// it.
fn all(node: &mut OfNode, (to, now): (i64, i64), count: i64) -> Option<i64> {
    let link = node.links.iter_mut().find(|link| link.to == to)?;
    let (fresh, latest) = ((count - link.again.len() as i64).max(0), link.latest);
    link.again.clear();
    if fresh > 0 && node.dropped.is_empty() {
        let (_, last) = node.streams.get_mut(latest)?;
        *last = last.wrapping_add(fresh);
    } else {
        (0..fresh).for_each(|_| node.streams[latest].1 = node.next(latest, now));
    }
    Some(fresh)
}

/// How many of these packets come as expected.
fn hits<C: Coder>(c: &mut C, node: &OfNode, walk: &Walk, mpdus: &[Mpdu]) -> Option<usize> {
    let mut found = 0;
    if C::WRITES {
        let mut rest = walk.link.again.get(walk.again..).unwrap_or_default();
        let mut last = node.streams.get(walk.link.latest).map(|(_, last)| *last);
        for mpdu in mpdus {
            let next = match (rest.split_first(), last) {
                (Some((first, others)), _) => {
                    rest = others;
                    *first
                }
                (None, Some(known)) => {
                    let next = node.after(node.streams[walk.link.latest].0, known, walk.now);
                    last = Some(next);
                    (walk.link.latest, next)
                }
                (None, None) => break,
            };
            if node.streams[next.0].0 != mpdu.stream || mpdu.packet != next.1 {
                break;
            }
            found += 1;
        }
    }
    // 0: all that are left.
    let signalled = c.number(Stream::Hits, if found == mpdus.len() { 0 } else { found as i64 + 1 });
    let hits = if signalled == 0 { mpdus.len() } else { usize::try_from(signalled - 1).ok()? };
    (hits <= mpdus.len()).then_some(hits)
}

/// A packet that is not as expected: its stream among those of the node, and its number.
fn other<C: Coder>(c: &mut C, node: &mut OfNode, mpdu: &mut Mpdu, now: i64) -> Option<(usize, i64)> {
    let known = node.streams.iter().position(|(key, _)| *key == mpdu.stream).unwrap_or(node.streams.len());
    let place = usize::try_from(c.number(Stream::Streams, known as i64)).ok()?;
    if place == node.streams.len() {
        let key = mpdu.stream.map(|value| c.number(Stream::Streams, value));
        node.streams.push((key, 0));
    }
    mpdu.stream = node.streams.get(place)?.0;
    mpdu.packet = c.near(Stream::Jumps, mpdu.packet, node.next(place, now));
    Some((place, mpdu.packet))
}

/// Which packets did not arrive, and why.
fn outcomes<C: Coder>(c: &mut C, mpdus: &mut [Mpdu]) {
    let any = mpdus.iter().any(|mpdu| mpdu.outcome != 0);
    if c.byte(Stream::Lost, u8::from(any)) == 0 {
        return;
    }
    for eight in mpdus.chunks_mut(8) {
        let mut byte = 0;
        for (place, mpdu) in eight.iter().enumerate() {
            byte |= u8::from(mpdu.outcome != 0) << place;
        }
        let byte = c.byte(Stream::Lost, byte);
        for (place, mpdu) in eight.iter_mut().enumerate() {
            if byte >> place & 1 == 1 {
                mpdu.outcome = c.number(Stream::Outcomes, mpdu.outcome);
            }
        }
    }
}
