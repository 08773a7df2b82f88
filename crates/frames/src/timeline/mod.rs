//! What transmissions are expected to be, and how they differ: the coding of the largest table.
//!
//! A model looks at transmissions in their order and says of the next one what it should be: the answer to
//! one that arrived, after as long as such an answer came the last time.
//! Only what is otherwise is written: how many transmissions are as expected, and then a mask of what
//! differs. [`Model::code`] is run alike by writer and reader, which differ in a [`Coder`] alone, so that
//! both know the same. Everything that a model has learned is forgotten at the end of a block.

mod access;
mod aggregates;
mod constants;
mod dropped;
mod next;
mod queues;
mod reserved;
mod rows;
mod seen;
mod state;

pub use constants::Constants;
pub use rows::{Mpdu, Sort, Transmission};
pub use seen::Seen;

use crate::beside::Beside;
use crate::coding::to_front;
use crate::streams::{Coder, Stream};
use queues::Taken;
use reserved::{Known, Places};
use rows::{CTS, DATA, RTS};
use state::{Awaited, Brief, Expected, LATEST, OfNode, OfSort};

/// What of a transmission is not as expected. The two lowest bits say which of the answers that are awaited
/// it is, from 1; 0 if it is none.
const ANSWERS: u8 = 3;
/// The next answer, and all of it.
const AS_EXPECTED: u8 = 1;
const LOSS: u8 = 1 << 3;
const RESERVES: u8 = 1 << 4;
const PACKET: u8 = 1 << 5;
const MPDUS: u8 = 1 << 6;
const RARE: u8 = 1 << 7;
/// And of what is rare.
const TRIES: u8 = 1;
const FROZEN: u8 = 2;
const WAITED: u8 = 4;

/// What transmissions are expected to be.
pub struct Model {
    constants: Constants,
    sorts: Vec<Sort>,
    of_sorts: Vec<OfSort>,
    nodes: Vec<OfNode>,
    expected: Awaited,
    /// The latest end of all.
    last_end: i64,
    /// By how much what began an exchange was not whole slots after that, the latest first.
    rests: [i64; 4],
    /// How long NAVs lasted otherwise than as frames said, the latest first.
    lengths: [i64; 4],
    places: Places,
    /// Nodes that may not hear a frame.
    covered: reserved::Set,
    /// Nodes at which DATA arrived lately.
    arrivals: [usize; 4],
    /// One more than the largest place of a sort of the block.
    next_sort: usize,
    /// How long after the arrival of a packet a node contended with it.
    delay: i64,
    /// What instants beside transmissions follow from; and by sort: its place there.
    pub seen: Seen,
    arrival_of: Vec<usize>,
    /// What queues depend on, of the transmissions of the block.
    taken: Vec<Taken>,
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
            expected: Awaited::default(),
            last_end: 0,
            rests: [0; 4],
            lengths: [0; 4],
            places: Places::default(),
            covered: reserved::Set::default(),
            arrivals: [0; 4],
            next_sort: 0,
            delay: 0,
            seen: Seen::default(),
            arrival_of: Vec::new(),
            taken: Vec::new(),
            run: None,
            run_stream: Stream::RunAlone,
        }
    }

    /// Makes another sort known, the place of which is the next one. None if it cannot be one.
    pub fn learn(&mut self, sort: Sort) -> Option<usize> {
        let nodes = sort.from.max(sort.to).checked_add(1)?;
        if sort.from < 0 || sort.to < -1 || nodes > self.constants.nodes {
            return None;
        }
        self.make_room(nodes as usize);
        self.arrival_of.push(self.seen.place_of(&sort));
        self.of_sorts.push(OfSort::new(Brief::new(&sort)));
        self.sorts.push(sort);
        Some(self.sorts.len() - 1)
    }

    /// There are at least so many nodes.
    #[inline]
    fn make_room(&mut self, nodes: usize) {
        if nodes > self.nodes.len() {
            self.nodes.resize(nodes, OfNode::default());
            self.seen.resize(nodes);
        }
    }

    /// The node that the data of a flow comes from.
    pub fn source(&self, flow: i64) -> Option<i64> {
        Some(self.constants.flows.get(usize::try_from(flow).ok()?)?[0])
    }

    /// A packet did not fit the queue of a node. It is known of transmissions that begin then or later.
    pub fn did_not_fit(&mut self, node: i64, stream: [i64; 2], packet: i64, time: i64) {
        if (0..self.constants.nodes).contains(&node) {
            self.make_room(node as usize + 1);
            self.nodes[node as usize].drops(stream).add(packet, time);
        }
    }

    /// The sort at a place.
    pub fn sort(&self, place: usize) -> &Sort {
        &self.sorts[place]
    }

    /// Forgets all but the sorts.
    pub fn restart(&mut self) {
        self.of_sorts.iter_mut().for_each(|of_sort| *of_sort = OfSort::new(of_sort.brief));
        self.nodes.fill(OfNode::default());
        self.expected.clear();
        self.seen.restart();
        self.taken.clear();
        (self.last_end, self.next_sort, self.delay, self.run) = (0, 0, 0, None);
        (self.rests, self.lengths, self.arrivals) = ([0; 4], [0; 4], [0; 4]);
    }

    /// Of a writer: writes how many were as expected since the last one that was not.
    pub fn flush<C: Coder>(&mut self, c: &mut C) {
        if let Some(run) = self.run.take() {
            c.number(self.run_stream, run);
        }
    }

    /// Writes a transmission of a sort, or reads it. None if there is none.
    #[inline]
    pub fn code<C: Coder>(&mut self, c: &mut C, place: &mut usize, row: &mut Transmission) -> Option<()> {
        if C::WRITES && self.is_next(*place, row) {
            self.begin_run();
            self.run = self.run.map(|run| run + 1);
            self.follow(1, *place, row, 0);
            return Some(());
        }
        self.code_any(c, place, row)
    }

    fn code_any<C: Coder>(&mut self, c: &mut C, place: &mut usize, row: &mut Transmission) -> Option<()> {
        let run = if let Some(run) = self.run {
            run
        } else {
            self.begin_run();
            if C::WRITES { 0 } else { c.number(self.run_stream, 0) }
        };
        let (mask, rare, known) = if C::WRITES { self.mask(*place, row) } else { Default::default() };
        if C::WRITES && mask == AS_EXPECTED {
            self.run = Some(run + 1);
            // An aggregate that has what is expected, and stays as it is.
            let guess = Guess { tries: row.tries, packet: row.packet };
            let fresh = self.code_rest(c, 0, *place, &guess, row)?;
            self.follow(1, *place, row, fresh);
            return Some(());
        }
        if !C::WRITES && run > 0 {
            self.run = Some(run - 1);
            let fresh = self.fill(c, place, row)?;
            self.follow(1, *place, row, fresh);
            return Some(());
        }
        if C::WRITES {
            c.number(self.run_stream, run);
        }
        self.run = None;
        let mask =
            c.byte(if self.expected.count() == 0 { Stream::MaskAlone } else { Stream::MaskAwaited }, mask);
        let awaited = usize::from(mask & ANSWERS);
        if awaited == 0 {
            *place = self.code_sort(c, *place)?;
        } else if !C::WRITES {
            *place = self.expected.get(awaited - 1)?.sort;
        }
        let mut guess = if C::WRITES { known } else { self.guess(*place) };
        let rare = if mask & RARE > 0 { c.byte(Stream::Rare, rare) } else { 0 };
        if awaited == 0 {
            self.code_access(c, *place, guess.tries, row)?;
        } else if !C::WRITES {
            (row.start, row.frozen, row.waited) = (self.expected.get(awaited - 1)?.time, 0, -1);
        }
        if !C::WRITES {
            guess.packet = self.guess_packet(*place, awaited > 0, guess.tries, row.start);
        }
        let or = |c: &mut C, bit, value, usual| {
            if rare & bit > 0 { c.near(Stream::Rare, value, usual) } else { usual }
        };
        row.tries = or(c, TRIES, row.tries, guess.tries);
        if rare & (FROZEN | WAITED) > 0 {
            row.frozen = or(c, FROZEN, row.frozen, 0);
            row.waited = or(c, WAITED, row.waited, -1);
        }
        let fresh = self.code_rest(c, mask, *place, &guess, row)?;
        self.follow(awaited, *place, row, fresh);
        Some(())
    }

    /// What is not as expected, and which of the awaited answers it is; what of the rare; and what it should
    /// have.
    fn mask(&self, place: usize, row: &Transmission) -> (u8, u8, Guess) {
        let is = |expected: &Expected| expected.time == row.start && expected.sort == place;
        let awaited =
            (1..4).find(|place| self.expected.get(usize::from(place - 1)).is_some_and(is)).unwrap_or(0);
        let (sort, of_sort) = (&self.sorts[place], &self.of_sorts[place]);
        let node = &self.nodes[sort.from as usize];
        let mut guess = self.guess(place);
        guess.packet = self.guess_packet(place, awaited > 0, guess.tries, row.start);
        let arrived = row.outcome == sort.usual();
        let same = aggregates::look(node, (sort.to, row.start), (of_sort.mpdus, arrived), &row.mpdus);
        let bit = |is: bool, bit: u8| if is { bit } else { 0 };
        let is_access = awaited == 0 && self.begins(place, row.start);
        let rare = bit(row.tries != guess.tries, TRIES)
            | bit(!is_access && row.frozen != 0, FROZEN)
            | bit(!is_access && row.waited != -1, WAITED);
        let mask = awaited
            | bit(!arrived || row.collided != -1 || row.overlap != 0, LOSS)
            | bit(row.reserves != of_sort.reserves, RESERVES)
            | bit(row.packet != guess.packet, PACKET)
            | bit(!same, MPDUS)
            | bit(rare > 0, RARE);
        (mask, rare, guess)
    }

    /// All of a transmission that is as expected.
    fn fill<C: Coder>(&mut self, c: &mut C, place: &mut usize, row: &mut Transmission) -> Option<i64> {
        let Expected { time, sort } = *self.expected.get(0)?;
        *place = sort;
        let mut guess = self.guess(sort);
        guess.packet = self.guess_packet(sort, true, guess.tries, time);
        (row.start, row.frozen, row.waited, row.tries) = (time, 0, -1, guess.tries);
        self.code_rest(c, 0, sort, &guess, row)
    }

    /// Everything but when, from which node, and after what. Returns how many packets of an aggregate were
    /// not in the last one.
    fn code_rest<C: Coder>(
        &mut self,
        c: &mut C,
        mask: u8,
        place: usize,
        guess: &Guess,
        row: &mut Transmission,
    ) -> Option<i64> {
        if mask & RESERVES > 0 {
            self.cover(self.sorts[place].from, row.start);
        }
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
        let fresh = aggregates::code(c, node, (sort, row.start), signalled, &mut row.mpdus)?;
        row.packet =
            if mask & PACKET > 0 { c.near(Stream::Packet, row.packet, guess.packet) } else { guess.packet };
        if mask & RESERVES > 0 {
            let known = Known {
                kind: sort.kind,
                nav: sort.nav,
                before: &of_sort.reserves,
                covered: &self.covered,
                nodes: self.constants.nodes,
            };
            reserved::code(c, node, &known, &mut self.lengths, &mut self.places, &mut row.reserves)?;
            of_sort.reserves.clone_from(&row.reserves);
        } else if !C::WRITES {
            row.reserves.clone_from(&of_sort.reserves);
        }
        if arrived {
            of_sort.mpdus = row.mpdus.len();
        }
        Some(fresh)
    }

    /// Finds the nodes that may not hear what begins: they send, or hear others that do.
    fn cover(&mut self, from: i64, start: i64) {
        let Model { nodes, seen, covered, .. } = self;
        covered.clear();
        for node in seen.that_send(start).filter(|node| *node != from as usize) {
            covered.add(node as u32);
            nodes[node].listeners.iter().for_each(|listener| covered.add(listener.node));
        }
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
            let next = self.next_sort as i64;
            next.wrapping_add(c.signed(Stream::Sorts, (place as i64).wrapping_sub(next))) as usize
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
        self.next_sort = self.next_sort.max(place.checked_add(1)?);
        (self.sorts.get(place)?.from == from).then_some(place)
    }

    /// What a transmission of this sort should have, but for its packet.
    fn guess(&self, place: usize) -> Guess {
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
        Guess { tries, packet: 0 }
    }

    /// The packet that a transmission of this sort should have, if it is expected to be this try.
    fn guess_packet(&self, place: usize, awaited: bool, tries: i64, now: i64) -> i64 {
        let sort = &self.sorts[place];
        let node = &self.nodes[sort.from as usize];
        if sort.is_answer() || sort.carries == 0 {
            return 0;
        }
        if awaited || tries > 1 {
            return node.packet;
        }
        let again = node.link(sort.to).and_then(|link| link.again.first());
        let next = || node.stream(sort).map_or(1, |place| node.next(place, now));
        again.map_or_else(next, |(_, packet)| *packet)
    }

    /// Learns from a transmission, which was this one of the awaited, from 1.
    fn follow(&mut self, awaited: usize, place: usize, row: &Transmission, fresh: i64) {
        // Those that did not come, and it.
        if awaited > 0 {
            self.expected.remove(awaited - 1);
        }
        self.expected.pass(row.start);
        if awaited == 0 {
            self.learn_answer(place, row.start);
        }
        let of_sort = &mut self.of_sorts[place];
        let brief = of_sort.brief;
        let end = row.start.wrapping_add(brief.airtime);
        let arrived = row.outcome == i64::from(brief.usual);
        self.last_end = self.last_end.max(end);
        if !brief.is_answer {
            let node = &mut self.nodes[brief.from as usize];
            node.end = end;
            node.packet = row.packet;
            if brief.to != Brief::NONE {
                node.tries[usize::from(i64::from(brief.kind) != RTS)] = (row.tries, false);
            }
            if brief.carries && node.link(self.sorts[place].to).is_none() {
                if of_sort.stream == 0 {
                    of_sort.stream = node.learn_stream(&self.sorts[place]) + 1;
                }
                node.streams[of_sort.stream - 1].1 = row.packet;
            }
        }
        self.seen.sent(brief.from, end);
        if brief.to != Brief::NONE {
            self.reaches(place, (row.start, end), arrived, &row.mpdus);
        }
        self.taken.push(Taken::new(row, place, fresh, arrived));
    }

    /// Looks at what transmissions bring about at these nodes, once all of the block are known; of a reader,
    /// which does not know yet what it will be asked for, at all.
    pub fn see<C: Coder>(&mut self, nodes: impl Iterator<Item = i64>) {
        let mut wanted = vec![!C::WRITES; self.nodes.len()];
        for node in nodes {
            if let Some(wanted) = usize::try_from(node).ok().and_then(|node| wanted.get_mut(node)) {
                *wanted = true;
            }
        }
        self.seen.look(&self.taken, &self.of_sorts, &self.arrival_of, &wanted);
    }

    /// Codes the queues of the transmissions of the block.
    pub fn code_queues<C: Coder>(&mut self, c: &mut C, beside: &Beside, ingresses: &[[i64; 4]]) {
        let Model { constants, sorts, nodes, taken, .. } = self;
        queues::code(c, taken, sorts, nodes.len(), (beside, ingresses), |sort| {
            constants.destination(sort) == sort.to
        });
    }

    /// The queue of each transmission of the block.
    pub fn queues(&self) -> impl Iterator<Item = i64> {
        self.taken.iter().map(|taken| taken.queue)
    }

    /// The same, of the node that it is for.
    fn reaches(&mut self, place: usize, (start, end): (i64, i64), arrived: bool, mpdus: &[Mpdu]) {
        let of_sort = &self.of_sorts[place];
        let brief = &of_sort.brief;
        let node = &mut self.nodes[brief.to as usize];
        node.addressed = Some((place, start, end));
        if brief.is_answer {
            node.end = end;
        }
        if !arrived {
            return;
        }
        if brief.is_answer {
            node.tries[0].1 = true;
            node.tries[1].1 |= i64::from(brief.kind) != CTS;
        }
        if i64::from(brief.kind) == DATA {
            node.arrived_before = node.arrived;
            node.arrived = end.wrapping_add(self.constants.propagation);
            to_front(&mut self.arrivals, 3, brief.to as usize);
        }
        if let Some((after, sort)) = of_sort.answer {
            self.expected.insert(Expected { time: start.wrapping_add(after), sort });
        }
        if !mpdus.is_empty() && i64::from(brief.kind) == DATA && brief.carries {
            self.seen.aggregate(self.taken.len(), &self.sorts[place], self.arrival_of[place], mpdus);
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
