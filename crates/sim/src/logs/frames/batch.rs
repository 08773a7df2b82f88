//! Batch of rows that are not written yet: transmissions in the order of their start, with lists of their
//! NAVs and packets.

use multihop_core::{Span, Time};
use multihop_frames::{Mpdu, Table, Tables, Transmission, Writer};
use std::io;

/// NAV: index in the batch of the transmission that sets it, node, and duration after the end of the
/// transmission.
pub type Nav = (u32, (u32, i64));

/// Row of a transmission; the fields are columns of the log.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransmissionRow {
    pub start: i64,
    /// End of the frame at its nearest listener.
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
    /// Code in the enumeration `kind`; [`TransmissionRow::OMITTED`] for a transmission that is not written.
    pub kind: u8,
    pub carries: u8,
    pub outcome: u8,
    pub overlap: u8,
}

impl TransmissionRow {
    const OMITTED: u8 = u8::MAX;

    fn transmission(&self) -> Transmission {
        let TransmissionRow { start, airtime, rate, nav, waited, contended, frozen, packet, .. } = *self;
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

/// Rows that are not written yet.
#[derive(Debug, Default)]
pub struct Batch {
    pub transmissions: Vec<TransmissionRow>,
    /// Rows of other tables.
    rows: Tables,
    /// Number of rows of other tables.
    pub others: usize,
    pub navs: Vec<Nav>,
    /// Packets of aggregates, with the index of their transmission.
    mpdus: Vec<(u32, Mpdu)>,
    /// Buffers for the NAVs and the packets of one transmission.
    navs_of_one: Vec<(u32, i64)>,
    mpdus_of_one: Vec<Mpdu>,
    /// Whether the log ends with this batch.
    pub is_last: bool,
}

impl Batch {
    /// Adds the packets of the transmission at an index.
    pub fn add_mpdus(&mut self, index: u32, mpdus: impl Iterator<Item = Mpdu>) {
        self.mpdus.extend(mpdus.map(|mpdu| (index, mpdu)));
    }

    /// Adds a row to another table.
    #[inline]
    pub fn add_row<const N: usize>(&mut self, table: Table, row: [i64; N]) {
        self.rows.push(table, row);
        self.others += 1;
    }

    /// Moves the first transmission that may not have ended at all listeners before `now`, and all later
    /// ones, to an empty batch, with their NAVs and packets. Returns the number of transmissions that remain.
    pub fn split(&mut self, now: Time, spread: Span, next: &mut Batch) -> usize {
        let has_ended = |row: &TransmissionRow| row.end + spread < now;
        let ended = self.transmissions.iter().take_while(|row| has_ended(row)).count();
        next.transmissions.extend(self.transmissions.drain(ended..));
        let first = ended as u32;
        if !next.transmissions.is_empty() {
            let later = self.navs.iter().filter(|(index, _)| *index >= first);
            next.navs.extend(later.map(|(index, nav)| (index - first, *nav)));
            self.navs.retain(|(index, _)| *index < first);
            let later = self.mpdus.iter().filter(|(index, _)| *index >= first);
            next.mpdus.extend(later.map(|(index, mpdu)| (index - first, *mpdu)));
            self.mpdus.retain(|(index, _)| *index < first);
        }
        ended
    }

    /// Ends the log of a run that ends now; frames that are still on the air are omitted.
    pub fn end(&mut self, now: Time) {
        for row in self.transmissions.iter_mut().filter(|row| row.end > now) {
            row.kind = TransmissionRow::OMITTED;
        }
        self.is_last = true;
    }

    /// Writes all rows and clears the batch.
    pub fn write(&mut self, writer: &mut Writer) -> io::Result<()> {
        // The lists are in the order in which transmissions end.
        self.navs.sort_by_key(|(index, _)| *index);
        self.mpdus.sort_by_key(|(index, _)| *index);
        let (mut navs, mut mpdus) = (&self.navs[..], &self.mpdus[..]);
        for (index, row) in self.transmissions.iter().enumerate() {
            take_of(index, &mut navs, &mut self.navs_of_one);
            take_of(index, &mut mpdus, &mut self.mpdus_of_one);
            if row.kind != TransmissionRow::OMITTED {
                writer.transmission(&row.transmission(), &mut self.navs_of_one, &self.mpdus_of_one)?;
            }
        }
        writer.append(&self.rows)?;
        self.transmissions.clear();
        self.rows.clear();
        self.others = 0;
        self.navs.clear();
        self.mpdus.clear();
        Ok(())
    }
}

/// Moves the entries of the transmission at an index from a sorted list to `to`.
fn take_of<T: Copy>(index: usize, list: &mut &[(u32, T)], to: &mut Vec<T>) {
    to.clear();
    while let Some(((owner, value), rest)) = list.split_first()
        && *owner as usize == index
    {
        to.push(*value);
        *list = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(start: i64, end: u64) -> TransmissionRow {
        TransmissionRow { start, end: Time::from_ns(end), ..TransmissionRow::default() }
    }

    #[test]
    fn a_split_moves_unfinished_transmissions_with_their_navs_and_packets() {
        let (mut batch, mut next) = (Batch::default(), Batch::default());
        batch.transmissions.extend([row(0, 10), row(1, 30), row(2, 12)]);
        batch.navs.extend([(0, (7, 70)), (2, (8, 80)), (1, (9, 90))]);
        batch.add_mpdus(2, [Mpdu { stream: [0, 1], packet: 5, outcome: 0 }].into_iter());
        assert_eq!(batch.split(Time::from_ns(20), Span::from_ns(5), &mut next), 1);
        assert_eq!((batch.transmissions.len(), &batch.navs[..]), (1, &[(0, (7, 70))][..]));
        assert_eq!(next.transmissions.iter().map(|row| row.start).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(next.navs, [(1, (8, 80)), (0, (9, 90))]);
        assert_eq!((batch.mpdus.len(), next.mpdus[0].0), (0, 1));
    }
}
