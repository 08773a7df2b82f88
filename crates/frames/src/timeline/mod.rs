//! What transmissions are expected to be, and how they differ: the coding of the largest table.
//!
//! A model looks at transmissions in their order and says of the next one what it should be: the answer to
//! one that arrived, after as long as such an answer came the last time, with the queue that its sender had.
//! Only what is otherwise is written: how many transmissions are as expected, and then a mask of what
//! differs. [`Model::code`] is run alike by writer and reader, which differ in a [`Coder`] alone, so that
//! both know the same. Everything that a model has learned is forgotten at the end of a block.

mod access;
mod aggregates;
mod reserved;
mod rows;
mod state;

pub use rows::{Mpdu, Sort, Transmission};

use crate::coding::to_front;
use crate::streams::{Coder, Stream};
use reserved::Places;
use rows::{ACK, CTS, DATA, RTS};
use state::{Expected, LATEST, MOST_NODES, OfNode, OfSort};

/// What of a transmission is not as expected. The two lowest bits say which of the answers that are awaited
/// it is, from 1; 0 if it is none.
const ANSWERS: u8 = 3;
/// The next answer, and all of it.
const AS_EXPECTED: u8 = 1;
const QUEUE: u8 = 1 << 2;
const LOSS: u8 = 1 << 3;
const RESERVES: u8 = 1 << 4;
const PACKET: u8 = 1 << 5;
const MPDUS: u8 = 1 << 6;
const RARE: u8 = 1 << 7;
/// And of what is rare.
const TRIES: u8 = 1;
const FROZEN: u8 = 2;
const WAITED: u8 = 4;
/// So many answers are awaited at once.
const MOST_AWAITED: usize = 8;

/// What does not change in a log, of what its description says.
#[derive(Clone, Debug)]
pub struct Constants {
    slot: i64,
    propagation: i64,
    /// An answer begins no later than this after the end of what it answers.
    answered_within: i64,
    /// Source and destination of each flow.
    flows: Vec<[i64; 2]>,
}

impl Constants {
    /// Times are in nanoseconds.
    pub fn new(slot: u64, propagation: u64, flows: Vec<[i64; 2]>) -> Constants {
        const MOST: u64 = 1 << 40;
        let (slot, propagation) = (slot.clamp(1, MOST) as i64, propagation.min(MOST) as i64);
        Constants { slot, propagation, answered_within: 3 * slot + 2 * propagation, flows }
    }
}

/// What transmissions are expected to be.
pub struct Model {
    constants: Constants,
    sorts: Vec<Sort>,
    of_sorts: Vec<OfSort>,
    nodes: Vec<OfNode>,
    /// In the order of their times.
    expected: Vec<Expected>,
    /// The latest end of all.
    last_end: i64,
    /// By how much what began an exchange was not whole slots after that, the latest first.
    rests: [i64; 4],
    /// By how much NAVs lasted longer than frames said, the latest first.
    offsets: [i64; 8],
    places: Places,
    /// Nodes at which DATA arrived lately.
    arrivals: [usize; 4],
    /// Of a writer: how many were as expected; of a reader: how many will be.
    run: Option<i64>,
    run_stream: Stream,
}

/// What a transmission of a known sort should have.
#[derive(Default)]
struct Guess {
    tries: i64,
    packet: i64,
}

impl Model {
    pub fn new(constants: Constants) -> Model {
        Model {
            constants,
            sorts: Vec::new(),
            of_sorts: Vec::new(),
            nodes: Vec::new(),
            expected: Vec::new(),
            last_end: 0,
            rests: [0; 4],
            offsets: [0; 8],
            places: Places::default(),
            arrivals: [0; 4],
            run: None,
            run_stream: Stream::RunAlone,
        }
    }

    /// Makes another sort known, the place of which is the next one. None if it cannot be one.
    pub fn learn(&mut self, sort: Sort) -> Option<usize> {
        let nodes = sort.from.max(sort.to).checked_add(1)?;
        if sort.from < 0 || sort.to < -1 || nodes > MOST_NODES {
            return None;
        }
        if nodes as usize > self.nodes.len() {
            self.nodes.resize(nodes as usize, OfNode::default());
        }
        self.sorts.push(sort);
        self.of_sorts.push(OfSort::default());
        Some(self.sorts.len() - 1)
    }

    /// The sort at a place.
    pub fn sort(&self, place: usize) -> &Sort {
        &self.sorts[place]
    }

    /// Is this sort at this place?
    #[inline]
    pub fn is(&self, place: usize, sort: &Sort) -> bool {
        self.sorts.get(place) == Some(sort)
    }

    /// Forgets all but the sorts.
    pub fn restart(&mut self) {
        self.of_sorts.fill(OfSort::default());
        self.nodes.fill(OfNode::default());
        self.expected.clear();
        (self.last_end, self.run) = (0, None);
        (self.rests, self.offsets, self.arrivals) = ([0; 4], [0; 8], [0; 4]);
    }

    /// Of a writer: writes how many were as expected since the last one that was not.
    pub fn flush<C: Coder>(&mut self, c: &mut C) {
        if let Some(run) = self.run.take() {
            c.number(self.run_stream, run);
        }
    }

    /// Writes a transmission of a sort, or reads it. None if there is none.
    pub fn code<C: Coder>(&mut self, c: &mut C, place: &mut usize, row: &mut Transmission) -> Option<()> {
        let run = if let Some(run) = self.run {
            run
        } else {
            let streams = [Stream::RunAlone, Stream::RunAwaited, Stream::RunSeveral];
            self.run_stream = streams[self.expected.len().min(2)];
            if C::WRITES { 0 } else { c.number(self.run_stream, 0) }
        };
        let (mask, rare, known) = if C::WRITES { self.mask(*place, row) } else { Default::default() };
        if C::WRITES && mask == AS_EXPECTED {
            self.run = Some(run + 1);
            if !row.mpdus.is_empty() {
                // As it has what is expected, it stays as it is.
                let guess = Guess { tries: row.tries, packet: row.packet };
                self.code_rest(c, 0, *place, &guess, row)?;
            }
            self.follow(1, *place, row);
            return Some(());
        }
        if !C::WRITES && run > 0 {
            self.run = Some(run - 1);
            self.fill(c, place, row)?;
            self.follow(1, *place, row);
            return Some(());
        }
        if C::WRITES {
            c.number(self.run_stream, run);
        }
        self.run = None;
        let mask =
            c.byte(if self.expected.is_empty() { Stream::MaskAlone } else { Stream::MaskAwaited }, mask);
        let awaited = usize::from(mask & ANSWERS);
        if awaited == 0 {
            *place = self.code_sort(c, *place)?;
        } else if !C::WRITES {
            *place = self.expected.get(awaited - 1)?.sort;
        }
        let guess = if C::WRITES { known } else { self.guess(*place, awaited > 0) };
        let rare = if mask & RARE > 0 { c.byte(Stream::Rare, rare) } else { 0 };
        if awaited == 0 {
            self.code_access(c, *place, guess.tries > 1, row)?;
        } else if !C::WRITES {
            (row.start, row.frozen, row.waited) = (self.expected[awaited - 1].time, 0, -1);
        }
        let or = |c: &mut C, bit, value, usual| {
            if rare & bit > 0 { c.near(Stream::Rare, value, usual) } else { usual }
        };
        row.tries = or(c, TRIES, row.tries, guess.tries);
        if rare & (FROZEN | WAITED) > 0 {
            row.frozen = or(c, FROZEN, row.frozen, 0);
            row.waited = or(c, WAITED, row.waited, -1);
        }
        self.code_rest(c, mask, *place, &guess, row)?;
        self.follow(awaited, *place, row);
        Some(())
    }

    /// What is not as expected, and which of the awaited answers it is; what of the rare; and what it should
    /// have.
    fn mask(&self, place: usize, row: &Transmission) -> (u8, u8, Guess) {
        let is = |expected: &Expected| expected.time == row.start && expected.sort == place;
        let awaited = self.expected.iter().take(3).position(is).map_or(0, |place| place as u8 + 1);
        let (sort, of_sort) = (&self.sorts[place], &self.of_sorts[place]);
        let node = &self.nodes[sort.from as usize];
        let guess = self.guess(place, awaited > 0);
        let arrived = row.outcome == sort.usual();
        let (same, fresh) = aggregates::look(node, sort.to, (of_sort.mpdus, arrived), &row.mpdus);
        let bit = |is: bool, bit: u8| if is { bit } else { 0 };
        let is_access = awaited == 0 && self.begins(place, row.start);
        let rare = bit(row.tries != guess.tries, TRIES)
            | bit(!is_access && row.frozen != 0, FROZEN)
            | bit(!is_access && row.waited != -1, WAITED);
        let mask = awaited
            | bit(row.queue != node.queue.wrapping_sub(fresh), QUEUE)
            | bit(!arrived || row.collided != -1 || row.overlap != 0, LOSS)
            | bit(row.reserves != of_sort.reserves, RESERVES)
            | bit(row.packet != guess.packet, PACKET)
            | bit(!same, MPDUS)
            | bit(rare > 0, RARE);
        (mask, rare, guess)
    }

    /// All of a transmission that is as expected.
    fn fill<C: Coder>(&mut self, c: &mut C, place: &mut usize, row: &mut Transmission) -> Option<()> {
        let Expected { time, sort } = *self.expected.first()?;
        *place = sort;
        let guess = self.guess(sort, true);
        (row.start, row.frozen, row.waited, row.tries) = (time, 0, -1, guess.tries);
        self.code_rest(c, 0, sort, &guess, row)
    }

    /// Everything but when, from which node, and after what.
    fn code_rest<C: Coder>(
        &mut self,
        c: &mut C,
        mask: u8,
        place: usize,
        guess: &Guess,
        row: &mut Transmission,
    ) -> Option<()> {
        let (sort, of_sort) = (&self.sorts[place], &mut self.of_sorts[place]);
        let node = &mut self.nodes[sort.from as usize];
        if mask & LOSS > 0 {
            let loss = c.number(Stream::Loss, row.outcome.wrapping_mul(4).wrapping_add(row.overlap));
            (row.outcome, row.overlap) = (loss.div_euclid(4), loss.rem_euclid(4));
            row.collided = c.number(Stream::Collided, row.collided.wrapping_add(1)).wrapping_sub(1);
        } else {
            (row.outcome, row.overlap, row.collided) = (sort.usual(), 0, -1);
        }
        let arrived = row.outcome == sort.usual();
        let signalled = (mask & MPDUS > 0, of_sort.mpdus, arrived);
        let fresh = aggregates::code(c, node, sort, signalled, &mut row.mpdus)?;
        let queue = node.queue.wrapping_sub(fresh);
        row.queue = if mask & QUEUE > 0 { c.near(Stream::Queue, row.queue, queue) } else { queue };
        row.packet =
            if mask & PACKET > 0 { c.near(Stream::Packet, row.packet, guess.packet) } else { guess.packet };
        if mask & RESERVES > 0 {
            reserved::code(c, node, sort.nav, &mut self.offsets, &mut self.places, &mut row.reserves)?;
            of_sort.reserves.clone_from(&row.reserves);
        } else if !C::WRITES {
            row.reserves.clone_from(&of_sort.reserves);
        }
        if arrived {
            of_sort.mpdus = row.mpdus.len();
        }
        Some(())
    }

    /// Its transmitter, and which of its latest sorts it is.
    fn code_sort<C: Coder>(&mut self, c: &mut C, place: usize) -> Option<usize> {
        let from = if C::WRITES { self.sorts[place].from } else { 0 };
        let from = c.number(Stream::Who, from);
        let latest = &mut self.nodes.get_mut(usize::try_from(from).ok()?)?.sorts;
        // 0: none of these.
        let known = if C::WRITES {
            latest.iter().position(|known| *known == place).map_or(0, |at| at + 1)
        } else {
            0
        };
        let signalled = usize::try_from(c.number(Stream::Which, known as i64)).ok()?;
        let place = if signalled == 0 {
            c.wide(place as u64) as usize
        } else if signalled <= latest.len() {
            latest[signalled - 1]
        } else {
            return None;
        };
        if signalled == 0 && latest.len() < LATEST {
            latest.push(place);
        }
        let back = if signalled == 0 { latest.len() } else { signalled };
        to_front(latest, back - 1, place);
        (self.sorts.get(place)?.from == from).then_some(place)
    }

    /// What a transmission of this sort should have.
    fn guess(&self, place: usize, awaited: bool) -> Guess {
        let sort = &self.sorts[place];
        let node = &self.nodes[sort.from as usize];
        if sort.is_answer() {
            return Guess { tries: 0, packet: 0 };
        }
        let (last, answered) = node.tries[usize::from(sort.kind != RTS)];
        let tries = if sort.to < 0 {
            0
        } else if answered || last == 0 {
            1
        } else {
            last.wrapping_add(1)
        };
        let packet = if sort.carries == 0 {
            0
        } else if awaited || tries > 1 {
            node.packet
        } else {
            let again = node.link(sort.to).and_then(|link| link.again.first());
            let next = node.stream(sort).map_or(1, |place| node.streams[place].1.wrapping_add(1));
            again.map_or(next, |(_, packet)| *packet)
        };
        Guess { tries, packet }
    }

    /// Learns from a transmission, which was this one of the awaited, from 1.
    fn follow(&mut self, awaited: usize, place: usize, row: &Transmission) {
        // Those that did not come, and it.
        let mut at = 0;
        self.expected.retain(|expected| {
            at += 1;
            at != awaited && expected.time >= row.start
        });
        let sort = self.sorts[place];
        let end = row.start.wrapping_add(sort.airtime);
        let arrived = row.outcome == sort.usual();
        self.last_end = self.last_end.max(end);
        if awaited == 0 {
            self.learn_answer(place, row.start);
        }
        let node = &mut self.nodes[sort.from as usize];
        node.queue = row.queue;
        if !sort.is_answer() {
            node.end = end;
            node.packet = row.packet;
            if sort.to >= 0 {
                node.tries[usize::from(sort.kind != RTS)] = (row.tries, false);
            }
            if sort.carries != 0 && node.link(sort.to).is_none() {
                match node.stream(&sort) {
                    Some(place) => node.streams[place].1 = row.packet,
                    None => node.streams.push(([sort.flow, sort.carries], row.packet)),
                }
            }
        }
        if sort.to >= 0 {
            self.reaches(&sort, place, (row.start, end), arrived, row);
        }
    }

    /// The same, of the node that it is for.
    fn reaches(
        &mut self,
        sort: &Sort,
        place: usize,
        (start, end): (i64, i64),
        arrived: bool,
        row: &Transmission,
    ) {
        let node = &mut self.nodes[sort.to as usize];
        node.addressed = Some((place, start, end));
        if sort.is_answer() {
            node.end = end;
        }
        if !arrived {
            return;
        }
        if sort.is_answer() {
            node.tries[0].1 = true;
            node.tries[1].1 |= sort.kind != CTS;
            if sort.kind == ACK && node.queue > 0 {
                node.queue -= 1;
            }
        }
        if sort.kind == DATA {
            node.arrived = end.wrapping_add(self.constants.propagation);
            let last = match usize::try_from(sort.flow).ok().and_then(|flow| self.constants.flows.get(flow)) {
                Some([source, destination]) => *if sort.carries == 1 { destination } else { source },
                None => sort.to,
            };
            if node.queue > 0 && last != sort.to {
                node.queue = node.queue.wrapping_add(row.mpdus.len().max(1) as i64);
            }
            to_front(&mut self.arrivals, 3, sort.to as usize);
        }
        if let Some((after, sort)) = self.of_sorts[place].answer {
            let time = start.wrapping_add(after);
            let at = self.expected.partition_point(|expected| expected.time <= time);
            self.expected.insert(at, Expected { time, sort });
            if self.expected.len() > MOST_AWAITED {
                self.expected.remove(0);
            }
        }
    }

    /// If it begins soon after the end of a frame to its sender, it answers that.
    fn learn_answer(&mut self, place: usize, start: i64) {
        let sort = &self.sorts[place];
        if let Some((to, began, _)) = self.just_addressed(sort.from as usize, start)
            && self.sorts[to].from == sort.to
            && (sort.is_answer() || self.sorts[to].kind == CTS)
        {
            self.of_sorts[to].answer = Some((start.wrapping_sub(began), place));
        }
    }

    /// The frame that was for a node and ended no more than three slots before this instant.
    fn just_addressed(&self, node: usize, start: i64) -> Option<(usize, i64, i64)> {
        let (_, _, end) = self.nodes[node].addressed?;
        let after = start.wrapping_sub(end);
        self.nodes[node].addressed.filter(|_| (0..=self.constants.answered_within).contains(&after))
    }

    /// Does a transmission that was not awaited begin an exchange?
    fn begins(&self, place: usize, start: i64) -> bool {
        let sort = &self.sorts[place];
        let answers = || {
            self.just_addressed(sort.from as usize, start)
                .is_some_and(|(to, _, _)| self.sorts[to].kind == CTS)
        };
        !sort.is_answer() && !answers()
    }
}
