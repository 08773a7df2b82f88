//! Which stations set the NAV by a frame: nearly always the same nodes for as long as the frame says.

use super::state::{Listener, OfNode};
use crate::coding::to_front;
use crate::streams::{Coder, Stream};

/// What is known before a set is read.
pub struct Known<'k> {
    pub kind: i64,
    /// What the frame says, in nanoseconds.
    pub nav: i64,
    /// The set of the last frame of its sort.
    pub before: &'k [(u32, i64)],
    /// Nodes that may not hear it.
    pub covered: &'k Set,
    /// Indices of nodes are below this.
    pub nodes: i64,
}

/// Codes a set that is not that of the last frame of its sort. None if it cannot be.
pub fn code<C: Coder>(
    c: &mut C,
    node: &mut OfNode,
    known: &Known,
    lengths: &mut [i64; 4],
    places: &mut Places,
    set: &mut Vec<(u32, i64)>,
) -> Option<()> {
    let listeners = &mut node.listeners;
    let old = listeners.len();
    if C::WRITES {
        places.note(set);
        let there = listeners.iter().filter(|listener| places.of(listener.node).is_some()).count();
        // Mostly all are known.
        for (node, _) in set.iter().filter(|_| there < set.len()) {
            if !listeners.iter().any(|listener| listener.node == *node) {
                listeners.push(Listener { node: *node, ..Listener::default() });
            }
        }
    }
    let new = c.number(Stream::Listeners, (listeners.len() - old) as i64);
    if !(0..=known.nodes).contains(&new) {
        return None;
    }
    for at in old..old + new as usize {
        let index =
            c.number(Stream::Listeners, listeners.get(at).map_or(0, |listener| i64::from(listener.node)));
        if !C::WRITES {
            if !(0..known.nodes).contains(&index) {
                return None;
            }
            listeners.push(Listener { node: index as u32, ..Listener::default() });
        }
    }
    for listener in listeners.iter_mut() {
        let was = known.before.iter().any(|(node, _)| *node == listener.node);
        let chance = usize::from(was) | usize::from(known.covered.has(listener.node)) << 1;
        let hears = c.bit(&mut listener.chances[chance], places.of(listener.node).is_some());
        if hears && !C::WRITES {
            set.push((listener.node, 0));
        }
    }
    navs(c, listeners, known, lengths, places, set)?;
    places.forget(set);
    Some(())
}

/// How long the NAVs of a set last: as the frame says, or otherwise, as by an EIFS.
fn navs<C: Coder>(
    c: &mut C,
    listeners: &mut [Listener],
    known: &Known,
    lengths: &mut [i64; 4],
    places: &Places,
    set: &mut [(u32, i64)],
) -> Option<()> {
    let others = C::WRITES && set.iter().any(|(_, until)| *until != known.nav);
    if c.number(Stream::Navs, others.into()) == 0 {
        for (_, until) in set {
            *until = known.nav;
        }
        return Some(());
    }
    let kind = known.kind.clamp(0, 2) as usize;
    // A reader has them in the order of the listeners.
    let mut next = 0;
    for listener in listeners {
        let place = if C::WRITES { places.of(listener.node) } else { Some(next) };
        let Some((_, until)) =
            place.and_then(|place| set.get_mut(place)).filter(|(node, _)| *node == listener.node)
        else {
            continue;
        };
        next += 1;
        let decodes = c.bit(&mut listener.decodes[kind], *until == known.nav);
        *until = if decodes { known.nav } else { other(c, lengths, *until)? };
    }
    Some(())
}

/// Nodes.
#[derive(Default)]
pub struct Set {
    has: Vec<bool>,
    nodes: Vec<u32>,
}

impl Set {
    pub fn add(&mut self, node: u32) {
        if node as usize >= self.has.len() {
            self.has.resize(node as usize + 1, false);
        }
        if !std::mem::replace(&mut self.has[node as usize], true) {
            self.nodes.push(node);
        }
    }

    fn has(&self, node: u32) -> bool {
        self.has.get(node as usize).copied().unwrap_or(false)
    }

    pub fn clear(&mut self) {
        self.nodes.drain(..).for_each(|node| self.has[node as usize] = false);
    }
}

/// Where nodes are in a set that is written.
#[derive(Default)]
pub struct Places {
    /// By node; 0 if it is not there, otherwise one more than its place.
    of: Vec<u32>,
}

impl Places {
    fn note(&mut self, set: &[(u32, i64)]) {
        for (place, (node, _)) in (1..).zip(set) {
            let node = *node as usize;
            if node >= self.of.len() {
                self.of.resize(node + 1, 0);
            }
            self.of[node] = place;
        }
    }

    #[inline]
    fn of(&self, node: u32) -> Option<usize> {
        self.of.get(node as usize).and_then(|place| place.checked_sub(1)).map(|place| place as usize)
    }

    /// A reader noted none of them.
    fn forget(&mut self, set: &[(u32, i64)]) {
        for (node, _) in set {
            if let Some(place) = self.of.get_mut(*node as usize) {
                *place = 0;
            }
        }
    }
}

/// How long another NAV lasts: as one did lately, or otherwise.
fn other<C: Coder>(c: &mut C, latest: &mut [i64; 4], value: i64) -> Option<i64> {
    let known = latest.iter().position(|known| *known == value).unwrap_or(latest.len());
    let place = usize::try_from(c.number(Stream::Navs, known as i64)).ok()?;
    let value = if place == latest.len() { c.time(value) } else { *latest.get(place)? };
    to_front(latest, place.min(3), value);
    Some(value)
}
