//! How long queues are: of each transmission, once packets that came and were lost are known.

use super::rows::{ACK, DATA, RTS, Sort, Transmission};
use crate::beside::{Beside, QUEUE_FULL, RETRY_LIMIT, Run};
use crate::coding::{unzigzag, zigzag};
use crate::streams::{Coder, Stream};

/// What a queue depends on of a transmission.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    pub start: i64,
    pub queue: i64,
    /// Its place.
    pub sort: u32,
    /// Packets of an aggregate, and [`ARRIVED`] if it arrived.
    mpdus: u16,
    /// How many of these were not in the last one.
    fresh: u16,
}

/// An aggregate has fewer packets than this.
const ARRIVED: u16 = 1 << 15;

impl Taken {
    pub fn new(row: &Transmission, place: usize, fresh: i64, arrived: bool) -> Taken {
        let arrived = if arrived { ARRIVED } else { 0 };
        Taken {
            start: row.start,
            queue: row.queue,
            sort: place as u32,
            mpdus: row.mpdus.len() as u16 | arrived,
            fresh: fresh as u16,
        }
    }

    #[inline]
    pub fn has_arrived(&self) -> bool {
        self.mpdus & ARRIVED > 0
    }

    #[inline]
    pub fn mpdus(&self) -> u16 {
        self.mpdus & !ARRIVED
    }
}

/// Packets that come to a queue, or leave it otherwise than by a frame.
struct Flux<'r> {
    runs: &'r [Run],
    sign: i64,
    /// Those before were counted, and so many of the next.
    at: usize,
    of_next: i64,
}

impl Flux<'_> {
    /// Until this instant there are none, beyond those that were counted.
    fn next(&self) -> i64 {
        let time = |run: &Run| match run.step {
            1.. => run.time.saturating_add(self.of_next.saturating_mul(run.step)),
            _ => run.time,
        };
        self.runs.get(self.at).map_or(i64::MAX, time)
    }

    /// How many there are until an instant, beyond those that were counted.
    fn until(&mut self, now: i64) -> i64 {
        let mut found = 0;
        while let Some(run) = self.runs.get(self.at).filter(|run| run.time <= now) {
            let passed = now.wrapping_sub(run.time).checked_div(run.step).unwrap_or(run.more);
            let count = passed.clamp(0, run.more) + 1 - self.of_next;
            found += count.max(0);
            self.of_next += count.max(0);
            if self.of_next <= run.more {
                break;
            }
            (self.at, self.of_next) = (self.at + 1, 0);
        }
        found * self.sign
    }
}

/// A node's queue.
#[derive(Default)]
struct Queue<'r> {
    length: i64,
    /// Has the MAC a packet that it took out?
    serves: bool,
    /// It takes packets when a frame begins, for an aggregate.
    aggregates: bool,
    fluxes: Vec<Flux<'r>>,
    /// Packets that were tried in vain: the next one is taken out.
    given_up: Vec<Flux<'r>>,
    /// Until this instant neither says anything.
    next: i64,
}

impl Queue<'_> {
    #[inline]
    fn pass(&mut self, now: i64) {
        if self.next <= now {
            self.pass_fluxes(now);
        }
    }

    fn pass_fluxes(&mut self, now: i64) {
        let came: i64 = self.fluxes.iter_mut().map(|flux| flux.until(now)).sum();
        self.come(came);
        let given_up: i64 = self.given_up.iter_mut().map(|flux| flux.until(now)).sum();
        (0..given_up.min(self.length + 1)).for_each(|_| self.served());
        let fluxes = self.fluxes.iter().chain(&self.given_up);
        self.next = fluxes.map(Flux::next).min().unwrap_or(i64::MAX);
    }

    fn come(&mut self, packets: i64) {
        let takes = packets > 0 && !self.serves && !self.aggregates;
        self.serves |= takes;
        self.length = (self.length.wrapping_add(packets) - i64::from(takes)).max(0);
    }

    /// The MAC is done with a packet.
    fn served(&mut self) {
        self.serves = self.length > 0;
        self.length -= i64::from(self.serves);
    }
}

/// Codes the queues of the transmissions of a block. `last_hop` says whether what a sort carries goes no
/// further than to its receiver.
pub fn code<C: Coder>(
    c: &mut C,
    all: &mut [Taken],
    sorts: &[Sort],
    nodes: usize,
    (beside, ingresses): (&Beside, &[[i64; 4]]),
    last_hop: impl Fn(&Sort) -> bool,
) {
    let mut queues = queues_of(nodes, beside, ingresses);
    // How many are as expected, of a writer so far, of a reader from here on.
    let mut run = if C::WRITES { 0 } else { c.varint(Stream::QueueRuns, 0) };
    for taken in all {
        let sort = &sorts[taken.sort as usize];
        let queue = &mut queues[sort.from as usize];
        queue.pass(taken.start);
        if taken.mpdus() > 0 {
            queue.aggregates = true;
            queue.length -= i64::from(taken.fresh);
        } else if (sort.kind == DATA || sort.kind == RTS) && !queue.aggregates && !queue.serves {
            queue.served();
            queue.serves = true;
        }
        let guess = queue.length;
        if C::WRITES && taken.queue == guess {
            run += 1;
        } else if !C::WRITES && run > 0 {
            (taken.queue, run) = (guess, run - 1);
        } else {
            if C::WRITES {
                c.varint(Stream::QueueRuns, run);
            }
            let number = c.varint(Stream::Queues, zigzag(taken.queue.wrapping_sub(guess)));
            taken.queue = guess.wrapping_add(unzigzag(number));
            run = if C::WRITES { 0 } else { c.varint(Stream::QueueRuns, 0) };
        }
        queue.length = taken.queue.max(0);
        if !taken.has_arrived() || sort.to < 0 {
            continue;
        }
        let queue = &mut queues[sort.to as usize];
        if sort.kind == ACK {
            queue.served();
        } else if sort.kind == DATA && !last_hop(sort) {
            queue.come(taken.mpdus().max(1).into());
        }
    }
    if C::WRITES {
        c.varint(Stream::QueueRuns, run);
    }
}

fn queues_of<'r>(nodes: usize, beside: &'r Beside, ingresses: &[[i64; 4]]) -> Vec<Queue<'r>> {
    let mut queues: Vec<Queue> = (0..nodes).map(|_| Queue::default()).collect();
    let flux = |runs: &'r [Run], sign| Flux { runs, sign, at: 0, of_next: 0 };
    let place = |node: i64| usize::try_from(node).ok().filter(|node| *node < nodes);
    for group in &beside.entries.all {
        let ingress = usize::try_from(group.key[0]).ok().and_then(|ingress| ingresses.get(ingress));
        let Some([_, _, node, from]) = ingress else { continue };
        if let Some(node) = place(*node) {
            queues[node].fluxes.push(flux(&group.runs, 1));
        }
        if let Some(from) = place(*from).filter(|_| from != node) {
            queues[from].fluxes.push(flux(&group.runs, -1));
        }
    }
    for group in &beside.drops.all {
        let Some(node) = place(group.key[2]) else { continue };
        match group.key[3] {
            QUEUE_FULL => queues[node].fluxes.push(flux(&group.runs, -1)),
            RETRY_LIMIT => queues[node].given_up.push(flux(&group.runs, 1)),
            _ => (),
        }
    }
    queues
}
