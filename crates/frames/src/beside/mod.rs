//! What a block has beside transmissions: packets that were lost, states of senders, and packets that came to
//! a node otherwise than by a frame.

mod instants;
mod runs;
mod windows;

pub use instants::Cause;
pub use runs::Run;

use crate::Table;
use crate::coding::{unzigzag, zigzag};
use crate::streams::{Coder, Stream};
use crate::timeline::Model;
use instants::Streams;
use runs::{Groups, KEYS};

/// The place in the enumeration `cause` of what was tried in vain.
pub const RETRY_LIMIT: i64 = 1;
/// The same of what found its queue full.
pub const QUEUE_FULL: i64 = 0;
/// A block has no more flows with windows than these.
const MOST_FLOWS: i64 = 1 << 20;

const DROPS: Streams = Streams {
    packet: Stream::Drops,
    choice: Stream::DropChoices,
    step: Stream::DropSteps,
    said: Stream::DropSaid,
    count: Stream::DropCounts,
};
const ENTRIES: Streams = Streams {
    packet: Stream::Entries,
    choice: Stream::EntryChoices,
    step: Stream::EntrySteps,
    said: Stream::EntrySaid,
    count: Stream::EntryCounts,
};

/// Rows of drops, windows and entries that are in no block yet, or those of one block that was read.
#[derive(Debug, Default)]
pub struct Beside {
    /// By flow, carries, node, cause, and whether they are known before the transmissions.
    pub drops: Groups,
    /// By ingress.
    pub entries: Groups,
    /// Places of these groups, by ingress, as far as they are known.
    of_ingress: Vec<usize>,
    /// By flow.
    windows: Vec<Vec<windows::Row>>,
    window_rows: usize,
    /// The first and the last instant.
    pub times: Option<[i64; 2]>,
}

impl Beside {
    /// Adds a row to one of the tables. `is_early` says of a drop that no transmission of the block was
    /// written that began at this instant or later.
    #[inline]
    pub fn add(&mut self, table: Table, row: &[i64], is_early: bool) {
        let time = row[table.time().expect("it has times")];
        let [first, last] = self.times.unwrap_or([time; 2]);
        self.times = Some([first.min(time), last.max(time)]);
        match (table, row) {
            (Table::Entries, [ingress, packet, time]) => {
                let known = usize::try_from(*ingress).ok().and_then(|ingress| self.of_ingress.get(ingress));
                let place = match known {
                    Some(place) => *place,
                    None => self.learn_ingress(*ingress),
                };
                self.entries.add_to(place, *packet, *time);
            }
            (Table::Drops, [flow, carries, node, cause, packet, time]) => {
                let is_early = is_early && *cause != RETRY_LIMIT;
                self.drops.add([*flow, *carries, *node, *cause, is_early.into()], *packet, *time);
            }
            (Table::Windows, [time, flow, window, rtt, timeouts]) => {
                let flow = usize::try_from(*flow).expect("flows have an index");
                if flow >= self.windows.len() {
                    self.windows.resize(flow + 1, Vec::new());
                }
                self.windows[flow].push([*time, *window, *rtt, *timeouts]);
                self.window_rows += 1;
            }
            _ => unreachable!("it is no table beside transmissions, or has other columns"),
        }
    }

    /// The place of the entries of an ingress.
    fn learn_ingress(&mut self, ingress: i64) -> usize {
        let place = self.entries.place_of([ingress, 0, 0, 0, 0]);
        if usize::try_from(ingress) == Ok(self.of_ingress.len()) {
            self.of_ingress.push(place);
        }
        place
    }

    /// Is it time for a block, where this is the most that is to be kept?
    pub fn are_many(&self, most: usize) -> bool {
        self.drops.are_many(most) || self.entries.are_many(most) || self.window_rows >= most
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.drops.clear();
        self.entries.clear();
        self.windows.iter_mut().for_each(Vec::clear);
        (self.window_rows, self.times) = (0, None);
    }

    /// Codes the drops that are known before the transmissions of the block. None if they cannot be.
    pub fn code_early<C: Coder>(&mut self, c: &mut C) -> Option<()> {
        groups(c, &mut self.drops, (DROPS, KEYS), |key| key[4] == 1, |_| Vec::new())
    }

    /// Codes everything beside transmissions, of a writer.
    pub fn code<C: Coder>(&mut self, c: &mut C, model: &mut Model, ingresses: &[[i64; 4]]) -> Option<()> {
        self.code_early(c)?;
        self.code_rest(c, model, ingresses)
    }

    /// Codes all that comes after the transmissions. `ingresses` are the rows of that table.
    pub fn code_rest<C: Coder>(
        &mut self,
        c: &mut C,
        model: &mut Model,
        ingresses: &[[i64; 4]],
    ) -> Option<()> {
        self.see::<C>(model, ingresses);
        let seen = &model.seen;
        groups(c, &mut self.drops, (DROPS, KEYS), |key| key[4] == 0, |key| seen.ends(key[2]))?;
        groups(
            c,
            &mut self.entries,
            (ENTRIES, 1),
            |_| true,
            |key| {
                let ingress = usize::try_from(key[0]).ok().and_then(|ingress| ingresses.get(ingress));
                ingress.map_or(Vec::new(), |ingress| seen.brings(*ingress))
            },
        )?;
        self.code_windows(c, model, ingresses)?;
        model.code_queues(c, self, ingresses);
        Some(())
    }

    /// Of a writer: has the model look at those nodes that something here may follow from.
    fn see<C: Coder>(&self, model: &mut Model, ingresses: &[[i64; 4]]) {
        let dropping = self.drops.all.iter().map(|group| group.key[2]);
        let ingress = |place: i64| usize::try_from(place).ok().and_then(|place| ingresses.get(place));
        let entering = self.entries.all.iter().filter_map(|group| Some(ingress(group.key[0])?[3]));
        let flows = (0..).zip(&self.windows).filter(|(_, rows)| !rows.is_empty());
        let sources: Vec<i64> = flows.filter_map(|(flow, _)| model.source(flow)).collect();
        model.see::<C>(dropping.chain(entering).chain(sources));
    }

    fn code_windows<C: Coder>(&mut self, c: &mut C, model: &Model, ingresses: &[[i64; 4]]) -> Option<()> {
        let with_rows = self.windows.iter().filter(|rows| !rows.is_empty()).count();
        let mut flow = 0;
        for _ in 0..c.varint(Stream::Groups, with_rows as u64) {
            if C::WRITES {
                flow += self.windows[flow as usize..].iter().position(|rows| !rows.is_empty())? as i64;
            }
            flow = i64::try_from(c.varint(Stream::Groups, flow as u64)).ok()?;
            if !(0..MOST_FLOWS).contains(&flow) {
                return None;
            }
            if flow as usize >= self.windows.len() {
                self.windows.resize(flow as usize + 1, Vec::new());
            }
            let rows = &mut self.windows[flow as usize];
            let count = usize::try_from(c.varint(Stream::Groups, rows.len() as u64)).ok()?;
            if count == 0 || !c.holds(Stream::WindowChoices, count) || !c.has_room(count) {
                return None;
            }
            rows.resize(count, windows::Row::default());
            let source = model.source(flow);
            let is_source =
                |ingress: &[i64; 4]| Some(*ingress) == source.map(|source| [flow, 1, source, source]);
            let place = ingresses.iter().position(is_source);
            let packets = place.and_then(|place| self.entries.of([place as i64, 0, 0, 0, 0]));
            let packets = packets.map_or(&[][..], |group| &group.runs);
            windows::code(c, rows, &source.map_or(Vec::new(), |source| model.seen.starts(source)), packets)?;
            flow += 1;
        }
        Some(())
    }

    /// The columns of a table, in the order of its times.
    pub fn columns(&self, table: Table) -> Vec<Vec<i64>> {
        let mut columns = vec![Vec::new(); table.columns().len()];
        let mut push =
            |row: &[i64]| columns.iter_mut().zip(row).for_each(|(column, value)| column.push(*value));
        match table {
            Table::Drops => self.drops.sorted(|[flow, carries, node, cause, _], packet, time| {
                push(&[*flow, *carries, *node, *cause, packet, time]);
            }),
            Table::Entries => self.entries.sorted(|key, packet, time| push(&[key[0], packet, time])),
            _ => {
                let mut rows: Vec<_> = (0..)
                    .zip(&self.windows)
                    .flat_map(|(flow, rows)| rows.iter().map(move |row| (flow, row)))
                    .collect();
                rows.sort_by_key(|(_, row)| row[0]);
                for (flow, row) in rows {
                    push(&[row[0], flow, row[1], row[2], row[3]]);
                }
            }
        }
        columns
    }
}

/// Codes the groups of a table that are meant: how many have rows, and of each its key and its runs.
fn groups<C: Coder>(
    c: &mut C,
    groups: &mut Groups,
    (streams, keys): (Streams, usize),
    is_meant: impl Fn(&[i64; KEYS]) -> bool,
    causes: impl Fn(&[i64; KEYS]) -> Vec<Cause>,
) -> Option<()> {
    let mut meant: Vec<usize> = (0..groups.all.len()).collect();
    meant.retain(|place| !groups.all[*place].runs.is_empty() && is_meant(&groups.all[*place].key));
    if C::WRITES {
        c.varint(Stream::Groups, meant.len() as u64);
        for place in meant {
            let group = &mut groups.all[place];
            for value in &group.key[..keys] {
                c.varint(Stream::Groups, zigzag(*value));
            }
            c.varint(Stream::Groups, group.runs.len() as u64);
            instants::code(c, streams, &mut group.runs, &causes(&group.key))?;
        }
        return Some(());
    }
    let count = c.varint(Stream::Groups, 0);
    for _ in 0..count {
        let mut key = [0; KEYS];
        key[..keys].iter_mut().for_each(|value| *value = unzigzag(c.varint(Stream::Groups, 0)));
        let count = usize::try_from(c.varint(Stream::Groups, 0)).ok()?;
        if count == 0 || !is_meant(&key) || !c.holds(streams.choice, count) {
            return None;
        }
        let mut runs = vec![Run::default(); count];
        instants::code(c, streams, &mut runs, &causes(&key))?;
        let rows = runs
            .iter()
            .try_fold(0_usize, |rows, run| rows.checked_add(usize::try_from(run.more).ok()? + 1))?;
        if !c.has_room(rows) {
            return None;
        }
        groups.read(key, runs)?;
    }
    Some(())
}
