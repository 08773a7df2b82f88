//! What is reported to the frame log of a run, until it is written: transmissions in the order in which they
//! begin, and what belongs to them in lists.

use multihop_core::{Span, Time};
use multihop_frames::{Mpdu, Table, Tables, Transmission, Writer};
use std::io;

/// A NAV: the place in its batch of the transmission that sets it, the node, and how long it lasts after the
/// end of that.
pub type Nav = (u32, (u32, i64));

/// A transmission. Its columns are those of the log.
#[derive(Clone, Copy, Debug, Default)]
pub struct Event {
    pub start: i64,
    /// When it is over at its nearest listener.
    pub end: Time,
    pub airtime: i64,
    pub rate: i64,
    pub nav: i64,
    pub waited: i64,
    pub contended: i64,
    pub frozen: i64,
    pub packet: i64,
    pub from: u32,
    pub to: i32,
    pub bytes: u32,
    pub flow: i32,
    pub queue: u32,
    pub collided: i32,
    pub tries: u16,
    /// Place in the enumeration; [`Event::NOT_THERE`] of one that is not to be written.
    pub kind: u8,
    pub carries: u8,
    pub outcome: u8,
    pub overlap: u8,
}

impl Event {
    const NOT_THERE: u8 = u8::MAX;

    fn row(&self) -> Transmission {
        let Event { start, airtime, rate, nav, waited, contended, frozen, packet, .. } = *self;
        Transmission {
            start,
            from: self.from.into(),
            to: self.to.into(),
            kind: self.kind.into(),
            airtime,
            bytes: self.bytes.into(),
            rate,
            nav,
            flow: self.flow.into(),
            carries: self.carries.into(),
            tries: self.tries.into(),
            frozen,
            waited,
            contended,
            queue: self.queue.into(),
            packet,
            outcome: self.outcome.into(),
            collided: self.collided.into(),
            overlap: self.overlap.into(),
        }
    }
}

/// What was reported, and is not written yet.
#[derive(Debug, Default)]
pub struct Batch {
    pub events: Vec<Event>,
    /// Rows of other tables, and their number.
    rows: Tables,
    pub others: usize,
    pub navs: Vec<Nav>,
    /// Packets in the aggregate that it is.
    mpdus: Vec<(u32, Mpdu)>,
    /// Those of one transmission.
    navs_of_one: Vec<(u32, i64)>,
    mpdus_of_one: Vec<Mpdu>,
    /// The log ends with it.
    pub is_last: bool,
}

impl Batch {
    pub fn mpdus(&mut self, at: u32, mpdus: impl Iterator<Item = Mpdu>) {
        self.mpdus.extend(mpdus.map(|mpdu| (at, mpdu)));
    }

    /// Adds a row to another table.
    #[inline]
    pub fn row<const N: usize>(&mut self, table: Table, row: [i64; N]) {
        self.rows.push(table, row);
        self.others += 1;
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
            event.kind = Event::NOT_THERE;
        }
        self.is_last = true;
    }

    /// Writes all of it, and empties it.
    pub fn write(&mut self, writer: &mut Writer) -> io::Result<()> {
        // They are in the order in which transmissions end.
        self.navs.sort_by_key(|(at, _)| *at);
        self.mpdus.sort_by_key(|(at, _)| *at);
        let (mut navs, mut mpdus) = (&self.navs[..], &self.mpdus[..]);
        for (at, event) in self.events.iter().enumerate() {
            take_of(at, &mut navs, &mut self.navs_of_one);
            take_of(at, &mut mpdus, &mut self.mpdus_of_one);
            if event.kind != Event::NOT_THERE {
                writer.transmission(&event.row(), &mut self.navs_of_one, &self.mpdus_of_one)?;
            }
        }
        writer.append(&self.rows)?;
        self.events.clear();
        self.rows.clear();
        self.others = 0;
        self.navs.clear();
        self.mpdus.clear();
        Ok(())
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
        Event { start, end: Time::from_ns(end), ..Event::default() }
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
