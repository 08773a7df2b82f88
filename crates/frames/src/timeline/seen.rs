//! What transmissions bring about beside others: instants from which those of drops, windows and entries
//! mostly follow.

use super::queues::Taken;
use super::rows::{ACK, BLOCK_ACK, DATA, Mpdu, Sort};
use super::state::{Brief, OfSort};
use crate::beside::Cause;
use std::collections::BTreeMap;

/// Packets that arrive: receiver, flow, what they are.
type Arrival = [i64; 3];

/// What was seen of the transmissions of a block.
#[derive(Default)]
pub struct Seen {
    /// By node: when its frames began and ended.
    frames: Vec<Vec<[i64; 2]>>,
    /// By node: when its last frame ended.
    last_ends: Vec<i64>,
    /// By node: when answers to it were over that say that DATA arrived.
    answers: Vec<Vec<Cause>>,
    places: BTreeMap<Arrival, usize>,
    /// By these places.
    arrivals: Vec<Vec<Cause>>,
    /// What aggregates brought, in their order.
    parts: Vec<Part>,
}

/// Packets that an aggregate brought.
struct Part {
    /// Which transmission of the block.
    at: usize,
    place: usize,
    packets: i64,
}

impl Seen {
    /// Forgets all but places.
    pub fn restart(&mut self) {
        self.frames.iter_mut().for_each(Vec::clear);
        self.last_ends.fill(i64::MIN);
        self.answers.iter_mut().for_each(Vec::clear);
        self.arrivals.iter_mut().for_each(Vec::clear);
        self.parts.clear();
    }

    /// There are so many nodes.
    pub fn resize(&mut self, nodes: usize) {
        self.frames.resize(nodes, Vec::new());
        self.last_ends.resize(nodes, i64::MIN);
        self.answers.resize(nodes, Vec::new());
    }

    /// The place of what arrives by frames of a sort, if there is one packet in each.
    pub fn place_of(&mut self, sort: &Sort) -> usize {
        self.place([sort.to, sort.flow, sort.carries])
    }

    fn place(&mut self, arrival: Arrival) -> usize {
        let known = self.arrivals.len();
        let place = *self.places.entry(arrival).or_insert(known);
        if place == known {
            self.arrivals.push(Vec::new());
        }
        place
    }

    /// A frame was sent.
    #[inline]
    pub fn sent(&mut self, from: u32, end: i64) {
        self.last_ends[from as usize] = end;
    }

    /// An aggregate of a sort arrived, which is this transmission of the block; what comes by frames of the
    /// sort has this place.
    pub fn aggregate(&mut self, at: usize, sort: &Sort, place: usize, mpdus: &[Mpdu]) {
        let own = [sort.flow, sort.carries];
        let mut packets = 0;
        let mut others = mpdus;
        while let Some(first) = others.first() {
            let same = others.iter().take_while(|mpdu| mpdu.stream == first.stream).count();
            let there = others[..same].iter().filter(|mpdu| mpdu.outcome == 0).count() as i64;
            if first.stream == own {
                packets += there;
            } else if there > 0 {
                let place = self.place([sort.to, first.stream[0], first.stream[1]]);
                self.parts.push(Part { at, place, packets: there });
            }
            others = &others[same..];
        }
        if packets > 0 {
            self.parts.push(Part { at, place, packets });
        }
    }

    /// Looks at the transmissions of a block, once all are known: at those of and to the nodes that are
    /// wanted. `of_sorts` says of a sort what is asked most often, and the place of what comes by it.
    pub fn look(&mut self, all: &[Taken], of_sorts: &[OfSort], arrival_of: &[usize], wanted: &[bool]) {
        let is_wanted = |node: u32| wanted.get(node as usize).is_some_and(|wanted| *wanted);
        let mut parts = self.parts.iter().peekable();
        for (at, taken) in all.iter().enumerate() {
            let Brief { from, to, airtime, kind, carries, .. } = of_sorts[taken.sort as usize].brief;
            let end = taken.start.wrapping_add(airtime);
            if is_wanted(from) {
                self.frames[from as usize].push([taken.start, end]);
            }
            if !taken.has_arrived() || !is_wanted(to) {
                continue;
            }
            let kind = i64::from(kind);
            if kind == ACK || kind == BLOCK_ACK {
                self.answers[to as usize].push(Cause { time: end, packets: 1 });
            } else if kind == DATA && carries && taken.mpdus() == 0 {
                self.arrivals[arrival_of[taken.sort as usize]].push(Cause { time: end, packets: 1 });
            } else if kind == DATA && carries {
                while parts.next_if(|part| part.at < at).is_some() {}
                while let Some(part) = parts.next_if(|part| part.at == at) {
                    self.arrivals[part.place].push(Cause { time: end, packets: part.packets });
                }
            }
        }
    }

    /// Nodes the latest frames of which end later than this.
    pub fn that_send(&self, now: i64) -> impl Iterator<Item = usize> {
        let ends = self.last_ends.iter().enumerate();
        ends.filter(move |(_, end)| **end > now).map(|(node, _)| node)
    }

    /// When frames of a node began.
    pub fn starts(&self, node: i64) -> Vec<Cause> {
        self.frames_of(node, 0)
    }

    /// When frames of a node ended.
    pub fn ends(&self, node: i64) -> Vec<Cause> {
        self.frames_of(node, 1)
    }

    fn frames_of(&self, node: i64, at: usize) -> Vec<Cause> {
        let frames = usize::try_from(node).ok().and_then(|node| self.frames.get(node));
        let frames = frames.map_or(&[][..], Vec::as_slice);
        frames.iter().map(|times| Cause { time: times[at], packets: 0 }).collect()
    }

    /// What may bring packets by an ingress: to its other end, those packets; to a source, those of the other
    /// direction; where there are none, answers to it.
    pub fn brings(&self, [flow, carries, node, from]: [i64; 4]) -> Vec<Cause> {
        let carries = if node == from { 3_i64.wrapping_sub(carries) } else { carries };
        let place = self.places.get(&[from, flow, carries]);
        let arrivals = place.map(|place| &self.arrivals[*place]).filter(|arrivals| !arrivals.is_empty());
        let answers = || usize::try_from(from).ok().and_then(|node| self.answers.get(node));
        arrivals.or_else(answers).cloned().unwrap_or_default()
    }
}
