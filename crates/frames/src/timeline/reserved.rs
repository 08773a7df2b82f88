//! Which stations set the NAV by a frame: nearly always the same nodes for as long as the frame says.

use super::state::{Listener, MOST_NODES, OfNode};
use crate::streams::{Coder, Stream};

/// Codes a set that is not that of the last frame of its sort. None if it cannot be.
pub fn code<C: Coder>(
    c: &mut C,
    node: &mut OfNode,
    nav: i64,
    offsets: &mut [i64; 8],
    set: &mut Vec<(u32, i64)>,
) -> Option<()> {
    let listeners = &mut node.listeners;
    let known = listeners.len();
    if C::WRITES {
        for (node, _) in set.iter() {
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
    bits(c, listeners, set);
    let others = c.number(Stream::Navs, i64::from(C::WRITES && set.iter().any(|(_, until)| *until != nav)));
    for listener in listeners.iter() {
        if let Some((_, until)) = set.iter_mut().find(|(node, _)| *node == listener.node) {
            *until =
                nav.wrapping_add(if others > 0 { offset(c, offsets, until.wrapping_sub(nav))? } else { 0 });
        }
    }
    Some(())
}

/// How much longer a NAV lasts than the frame says: one of the latest such lengths, or another.
fn offset<C: Coder>(c: &mut C, latest: &mut [i64; 8], value: i64) -> Option<i64> {
    let known = latest.iter().position(|known| *known == value).unwrap_or(latest.len());
    let place = usize::try_from(c.number(Stream::Navs, known as i64)).ok()?;
    let value = if place == latest.len() { c.time(value) } else { *latest.get(place)? };
    latest[..=place.min(7)].rotate_right(1);
    latest[0] = value;
    Some(value)
}

/// A bit for each listener: is it otherwise than it mostly was?
fn bits<C: Coder>(c: &mut C, listeners: &mut [Listener], set: &mut Vec<(u32, i64)>) {
    for eight in listeners.chunks_mut(8) {
        let mut byte = 0;
        if C::WRITES {
            for (place, listener) in eight.iter().enumerate() {
                let hears = set.iter().any(|(node, _)| *node == listener.node);
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
