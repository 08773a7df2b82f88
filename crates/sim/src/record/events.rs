//! What is reported to the frame log of a run, until it is coded: a line of a cache for each transmission, in
//! the order in which they begin, and what belongs to them in lists.

use multihop_core::{Span, Time};
use multihop_frames::{Mpdu, Sort, Table, Transmission, Writer};
use std::io::{self, Write};

/// Where a log goes.
pub type Out = Box<dyn Write + Send>;

/// A NAV: the place in its batch of the transmission that sets it, the node, and how long it lasts after the
/// end of that.
pub type Nav = (u32, (u32, i64));

/// A row of another table has no more columns.
const COLUMNS: usize = 6;

/// A transmission. Its columns are those of the log.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Event {
    pub start: i64,
    /// When it is over at its nearest listener.
    pub end: Time,
    pub waited: i64,
    pub frozen: i64,
    pub packet: i64,
    /// The place of its sort in the log; [`Event::NOT_THERE`] of one that is not to be written.
    pub sort: u32,
    pub queue: u32,
    pub collided: i32,
    pub tries: u16,
    pub outcome: u8,
    pub overlap: u8,
}

impl Event {
    const NOT_THERE: u32 = u32::MAX;

    /// Puts its columns into a row, and leaves the sets there as they are.
    fn fill(&self, row: &mut Transmission) {
        row.start = self.start;
        row.tries = self.tries.into();
        row.frozen = self.frozen;
        row.waited = self.waited;
        row.queue = self.queue.into();
        row.packet = self.packet;
        row.outcome = self.outcome.into();
        row.collided = self.collided.into();
        row.overlap = self.overlap.into();
    }
}

/// A row of another table.
#[derive(Clone, Copy, Debug)]
struct Beside {
    /// So many of the transmissions had begun.
    after: usize,
    table: Table,
    values: [i64; COLUMNS],
}

impl Beside {
    fn values(&self) -> &[i64] {
        &self.values[..self.table.columns().len()]
    }

    /// Is the writer to know of it before a transmission that begins then, which is this one of the batch?
    fn is_before(&self, at: usize, start: i64) -> bool {
        self.after <= at || self.table.time().is_none_or(|time| self.values[time] <= start)
    }
}

/// What was reported, and is not coded yet.
#[derive(Debug, Default)]
pub struct Batch {
    pub events: Vec<Event>,
    /// Sorts that are new.
    sorts: Vec<Sort>,
    beside: Vec<Beside>,
    pub navs: Vec<Nav>,
    /// Packets in the aggregate that it is.
    mpdus: Vec<(u32, Mpdu)>,
    /// The log ends with it.
    pub is_last: bool,
}

impl Batch {
    pub fn sort(&mut self, sort: Sort) {
        self.sorts.push(sort);
    }

    #[inline]
    pub fn row<const N: usize>(&mut self, table: Table, row: [i64; N]) {
        let mut values = [0; COLUMNS];
        values[..N].copy_from_slice(&row);
        self.beside.push(Beside { after: self.events.len(), table, values });
    }

    pub fn mpdus(&mut self, at: u32, mpdus: impl Iterator<Item = Mpdu>) {
        self.mpdus.extend(mpdus.map(|mpdu| (at, mpdu)));
    }

    /// How many rows of other tables there are.
    pub fn beside(&self) -> usize {
        self.beside.len()
    }

    /// Moves transmissions from the first on that may not be over before this instant to an empty batch, with
    /// what belongs to them. Returns how many stay.
    pub fn split(&mut self, now: Time, spread: Span, next: &mut Batch) -> usize {
        let is_over = |event: &Event| event.end + spread < now;
        let over = self.events.iter().take_while(|event| is_over(event)).count();
        next.events.extend(self.events.drain(over..));
        let first = over as u32;
        if !next.events.is_empty() {
            let later = self.navs.iter().filter(|(at, _)| *at >= first);
            next.navs.extend(later.map(|(at, nav)| (at - first, *nav)));
            self.navs.retain(|(at, _)| *at < first);
            let later = self.mpdus.iter().filter(|(at, _)| *at >= first);
            next.mpdus.extend(later.map(|(at, mpdu)| (at - first, *mpdu)));
            self.mpdus.retain(|(at, _)| *at < first);
        }
        over
    }

    /// The run ends: what is still on the air is no transmission.
    pub fn end(&mut self, now: Time) {
        for event in self.events.iter_mut().filter(|event| event.end > now) {
            event.sort = Event::NOT_THERE;
        }
        self.is_last = true;
    }

    /// Writes all of it, by a row whose memory is used again, and empties it.
    pub fn write(&mut self, writer: &mut Writer<Out>, row: &mut Transmission) -> io::Result<()> {
        self.sorts.drain(..).for_each(|sort| {
            writer.sort(&sort);
        });
        // They are in the order in which transmissions end.
        self.navs.sort_by_key(|(at, _)| *at);
        self.mpdus.sort_by_key(|(at, _)| *at);
        let (mut navs, mut mpdus) = (&self.navs[..], &self.mpdus[..]);
        let mut beside = self.beside.iter().peekable();
        for (at, event) in self.events.iter().enumerate() {
            while let Some(other) = beside.next_if(|other| other.is_before(at, event.start)) {
                writer.add(other.table, other.values())?;
            }
            event.fill(row);
            take_of(at, &mut navs, &mut row.reserves);
            take_of(at, &mut mpdus, &mut row.mpdus);
            if event.sort != Event::NOT_THERE {
                writer.transmission_of(event.sort as usize, row)?;
            }
        }
        beside.try_for_each(|other| writer.add(other.table, other.values()))?;
        self.clear();
        Ok(())
    }

    fn clear(&mut self) {
        self.events.clear();
        self.sorts.clear();
        self.beside.clear();
        self.navs.clear();
        self.mpdus.clear();
    }
}

/// Takes what belongs to the transmission at a place from a list in the order of these.
fn take_of<T: Copy>(at: usize, list: &mut &[(u32, T)], to: &mut Vec<T>) {
    to.clear();
    while let Some(((of, value), rest)) = list.split_first()
        && *of as usize == at
    {
        to.push(*value);
        *list = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(start: i64, end: u64) -> Event {
        Event {
            start,
            end: Time::from_ns(end),
            waited: -1,
            frozen: 0,
            packet: 0,
            sort: 0,
            queue: 0,
            collided: -1,
            tries: 0,
            outcome: 0,
            overlap: 0,
        }
    }

    #[test]
    fn an_event_is_a_line_of_a_cache() {
        assert_eq!(size_of::<Event>(), 64);
    }

    #[test]
    fn what_may_be_on_the_air_goes_on_with_all_that_belongs_to_it() {
        let (mut batch, mut next) = (Batch::default(), Batch::default());
        batch.events.extend([event(0, 10), event(1, 30), event(2, 12)]);
        batch.navs.extend([(0, (7, 70)), (2, (8, 80)), (1, (9, 90))]);
        batch.mpdus(2, [Mpdu { stream: [0, 1], packet: 5, outcome: 0 }].into_iter());
        assert_eq!(batch.split(Time::from_ns(20), Span::from_ns(5), &mut next), 1);
        assert_eq!((batch.events.len(), &batch.navs[..]), (1, &[(0, (7, 70))][..]));
        assert_eq!(next.events.iter().map(|event| event.start).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(next.navs, [(1, (8, 80)), (0, (9, 90))]);
        assert_eq!((batch.mpdus.len(), next.mpdus[0].0), (0, 1));
    }
}
