//! What transmissions bring about beside others: instants from which those of drops, windows and entries
//! mostly follow.

use super::rows::{ACK, BLOCK_ACK, DATA, Mpdu, Sort};
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
}

impl Seen {
    /// Forgets all but places.
    pub fn restart(&mut self) {
        self.frames.iter_mut().for_each(Vec::clear);
        self.last_ends.fill(i64::MIN);
        self.answers.iter_mut().for_each(Vec::clear);
        self.arrivals.iter_mut().for_each(Vec::clear);
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

    /// When a frame began and ended.
    #[inline]
    pub fn frame(&mut self, from: u32, times: [i64; 2]) {
        self.frames[from as usize].push(times);
    }

    /// One of a sort, which has this place, arrived.
    #[inline]
    pub fn arrived(&mut self, sort: &Sort, place: usize, end: i64, mpdus: &[Mpdu]) {
        if sort.kind == ACK || sort.kind == BLOCK_ACK {
            self.answers[sort.to as usize].push(Cause { time: end, packets: 1 });
        }
        if sort.kind != DATA || sort.carries == 0 {
            return;
        }
        let own = [sort.flow, sort.carries];
        let mut packets = i64::from(mpdus.is_empty());
        let mut others = mpdus;
        while let Some(first) = others.first() {
            let same = others.iter().take_while(|mpdu| mpdu.stream == first.stream).count();
            let there = others[..same].iter().filter(|mpdu| mpdu.outcome == 0).count() as i64;
            if first.stream == own {
                packets += there;
            } else if there > 0 {
                let place = self.place([sort.to, first.stream[0], first.stream[1]]);
                self.arrivals[place].push(Cause { time: end, packets: there });
            }
            others = &others[same..];
        }
        if packets > 0 {
            self.arrivals[place].push(Cause { time: end, packets });
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
