//! Which stations set the NAV by a frame: nearly always the same nodes for as long as the frame says.

use super::state::{Listener, MOST_NODES, OfNode};
use crate::coding::to_front;
use crate::streams::{Coder, Stream};

/// Codes a set that is not that of the last frame of its sort. None if it cannot be.
pub fn code<C: Coder>(
    c: &mut C,
    node: &mut OfNode,
    nav: i64,
    offsets: &mut [i64; 8],
    places: &mut Places,
    set: &mut Vec<(u32, i64)>,
) -> Option<()> {
    let listeners = &mut node.listeners;
    let known = listeners.len();
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
    let new = c.number(Stream::Listeners, (listeners.len() - known) as i64);
    if !(0..MOST_NODES).contains(&new) {
        return None;
    }
    for at in known..known + new as usize {
        let index =
            c.number(Stream::Listeners, listeners.get(at).map_or(0, |listener| i64::from(listener.node)));
        if !C::WRITES {
            if !(0..MOST_NODES).contains(&index) {
                return None;
            }
            listeners.push(Listener { node: index as u32, ..Listener::default() });
        }
    }
    bits(c, listeners, places, set);
    let others = c.number(Stream::Navs, i64::from(C::WRITES && set.iter().any(|(_, until)| *until != nav)));
    if others > 0 {
        // A reader has them in the order of the listeners.
        let order = (0..set.len()).filter(|_| !C::WRITES);
        let noted = listeners.iter().filter(|_| C::WRITES).filter_map(|listener| places.of(listener.node));
        for place in order.chain(noted) {
            let (_, until) = &mut set[place];
            *until = nav.wrapping_add(offset(c, offsets, until.wrapping_sub(nav))?);
        }
    } else if !C::WRITES {
        for (_, until) in set.iter_mut() {
            *until = nav;
        }
    }
    places.forget(set);
    Some(())
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

/// How much longer a NAV lasts than the frame says: one of the latest such lengths, or another.
fn offset<C: Coder>(c: &mut C, latest: &mut [i64; 8], value: i64) -> Option<i64> {
    let known = latest.iter().position(|known| *known == value).unwrap_or(latest.len());
    let place = usize::try_from(c.number(Stream::Navs, known as i64)).ok()?;
    let value = if place == latest.len() { c.time(value) } else { *latest.get(place)? };
    to_front(latest, place.min(7), value);
    Some(value)
}

/// A bit for each listener: is it otherwise than it mostly was?
fn bits<C: Coder>(c: &mut C, listeners: &mut [Listener], places: &Places, set: &mut Vec<(u32, i64)>) {
    for eight in listeners.chunks_mut(8) {
        let mut byte = 0;
        if C::WRITES {
            for (place, listener) in eight.iter().enumerate() {
                let hears = places.of(listener.node).is_some();
                byte |= u8::from(hears != (listener.lean >= 0)) << place;
            }
        }
        let byte = c.byte(Stream::Bits, byte);
        for (place, listener) in eight.iter_mut().enumerate() {
            let hears = (byte >> place & 1 == 1) != (listener.lean >= 0);
            listener.lean = (listener.lean + if hears { 1 } else { -1 }).clamp(-4, 3);
            if hears && !C::WRITES {
                set.push((listener.node, 0));
            }
        }
    }
}
