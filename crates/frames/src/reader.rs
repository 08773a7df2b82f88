//! Reads a log back into columns.

use crate::beside::{Beside, Run};
use crate::blocks::{Block, Blocks, Fault, Gap};
use crate::coding::unpack_rows;
use crate::head::{constants, inflated, is_of_a_run};
use crate::layout::TABLES;
use crate::part::Part;
use crate::ranges::Ranges;
use crate::room::Room;
use crate::streams::{Coder, Read, STREAMS, Stream};
use crate::timeline::{Model, Sort, Transmission};
use crate::writer::{MOST_PARTS, ROWS};
use crate::{END, HEAD, Table, VERSION, rans};
use std::collections::BTreeMap;

/// The instants that a reader wants, in nanoseconds, both included.
pub type Window = [u64; 2];

/// A log that was read.
#[derive(Clone, Debug, Default)]
pub struct FrameLog {
    /// The description, as JSON.
    pub head: String,
    /// By [`Table`].
    pub tables: [Columns; TABLES.len()],
    /// Where the file ends before the log does, or is damaged behind the window: later rows are missing.
    pub cut_short: Option<Gap>,
    /// How many transmissions there are.
    pub transmissions: u64,
}

/// The columns of a table, in the order of its layout.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Columns(pub Vec<Vec<i64>>);

/// Why something is no frame log.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ReadError {
    /// It begins otherwise.
    #[error("no frame log: it does not begin with `mhframes`")]
    NoFrameLog,
    /// It was written by another version.
    #[error(
        "a frame log of version {0}; this build reads version {VERSION}: write it again, or read it with the \
         build that wrote it"
    )]
    Version(u32),
    /// A block is not what was written.
    #[error("damaged: {gap}; {}", gap.remedy())]
    Damaged {
        /// The first one.
        gap: Gap,
    },
    /// There are more transmissions than were asked for.
    #[error("{found} transmissions are more than {most}; name a window of time")]
    TooMany {
        /// In the window.
        found: u64,
        /// What there may be.
        most: u64,
    },
}

impl FrameLog {
    /// A column by its name.
    ///
    /// # Panics
    /// If the table has none of this name.
    pub fn column(&self, table: Table, name: &str) -> &[i64] {
        let index = table.columns().iter().position(|column| column.name == name);
        let index = index.unwrap_or_else(|| panic!("{} has no column {name}", table.name()));
        self.tables[table as usize].0.get(index).map_or(&[], Vec::as_slice)
    }
}

/// Reads a log; of a `window` only the transmissions, drops, windows and entries that begin in it, and at
/// most so many transmissions: those of all blocks that overlap it count.
///
/// # Errors
/// If it is no frame log, is damaged where it is wanted, or has too many transmissions. To be cut short is no
/// error: whole blocks are read.
pub fn read(bytes: &[u8], window: Option<Window>, most: u64) -> Result<FrameLog, ReadError> {
    let mut kept = Kept::new(true);
    kept.log.cut_short = walk(bytes, window, most, &mut kept)?;
    Ok(kept.log)
}

/// The same without the rows: reads everything and keeps no more than what later blocks need.
///
/// # Errors
/// As [`read`].
pub fn check(bytes: &[u8], window: Option<Window>, most: u64) -> Result<FrameLog, ReadError> {
    let mut kept = Kept::new(false);
    kept.log.cut_short = walk(bytes, window, most, &mut kept)?;
    Ok(kept.log)
}

/// What is done with what is read.
pub(crate) trait Take {
    /// The description comes first. None if it cannot be used.
    fn head(&mut self, head: String) -> Option<()>;
    /// A transmission of the sort at this place. None if that cannot be.
    fn transmission(&mut self, place: usize, sort: &Sort, row: &mut Transmission) -> Option<()>;
    /// Rows of a table that has no model.
    fn rows(&mut self, table: Table, columns: Vec<Vec<i64>>) -> Option<()>;
    /// That was a block of transmissions, and what is beside them.
    fn block_ends(&mut self) -> Option<()> {
        Some(())
    }
}

/// Reads block by block. Where is the end of the file missing?
pub(crate) fn walk(
    bytes: &[u8],
    window: Option<Window>,
    most: u64,
    to: &mut impl Take,
) -> Result<Option<Gap>, ReadError> {
    let blocks = Blocks::of_window(bytes, window)?;
    let wanted = |block: &&Block| block.is_in(window);
    let found = blocks
        .all
        .iter()
        .filter(|block| block.is_of_transmissions())
        .filter(wanted)
        .map(|block| u64::from(block.rows))
        .sum();
    if found > most {
        return Err(ReadError::TooMany { found, most });
    }
    let mut model = None;
    let mut ingresses = Vec::new();
    let mut part = Part::new(window);
    let mut limits = Limits { room: Room::of(bytes.len()), ranges: Ranges::default() };
    for block in blocks.all.iter().filter(wanted) {
        let damaged = || blocks.damaged(block);
        match block.table {
            END => (),
            HEAD => {
                let head = inflated(block.content)
                    .and_then(|json| String::from_utf8(json).ok())
                    .ok_or_else(damaged)?;
                part.contends = is_of_a_run(&head);
                model = Some(Model::new(constants(&head).ok_or_else(damaged)?));
                limits.ranges = Ranges::of(&head).ok_or_else(damaged)?;
                to.head(head).ok_or_else(damaged)?;
            }
            _ => {
                let model = model.as_mut().ok_or_else(damaged)?;
                if decode(block, (model, &mut ingresses), &mut limits, &mut part, to).is_none() {
                    let fault = if limits.room.is_spent() { Fault::TooMuch } else { Fault::Content };
                    return Err(Gap { fault, ..damaged() }.into());
                }
            }
        }
    }
    match (model, blocks.gap) {
        (Some(_), gap) => Ok(gap),
        (None, gap) => Err(gap.unwrap_or(Gap::HEAD).into()),
    }
}

/// How many bytes each stream of transmissions and each column has, by name, and the description.
///
/// # Errors
/// If it is no frame log, or is damaged.
pub fn sizes(bytes: &[u8]) -> Result<BTreeMap<String, usize>, ReadError> {
    let mut found = BTreeMap::new();
    let mut room = Room::of(bytes.len());
    let blocks = Blocks::of_window(bytes, None)?;
    for block in &blocks.all {
        let damaged = || blocks.damaged(block);
        let mut rest = block.content;
        let mut add = |name: String, after: &[u8], rest: &mut &[u8]| {
            *found.entry(name).or_insert(0) += rest.len() - after.len();
            *rest = &rest[rest.len() - after.len()..];
        };
        let Some((table, _)) = TABLES.get(usize::from(block.table)) else {
            add("description".into(), &[], &mut rest);
            continue;
        };
        let columns = |table: Table| table.columns().iter().map(move |column| column.name.to_owned());
        let streams: Vec<String> = match *table {
            Table::Transmissions => (0..STREAMS).map(|stream| format!("{:?}", Stream::ALL[stream])).collect(),
            table => columns(table).collect(),
        };
        for stream in streams {
            let (_, after) = rans::unpack(rest, &mut room).ok_or_else(damaged)?;
            add(format!("{}: {stream}", table.name()), after, &mut rest);
        }
    }
    Ok(found)
}

/// What is left that the log may unpack to, and what there is that it can name.
struct Limits {
    room: Room,
    ranges: Ranges,
}

/// Hands on the rows of a block; none if it is not what its header says.
fn decode(
    block: &Block,
    (model, ingresses): (&mut Model, &mut Vec<[i64; 4]>),
    limits: &mut Limits,
    part: &mut Part,
    to: &mut impl Take,
) -> Option<()> {
    let table = TABLES.get(usize::from(block.table))?.0;
    let rows = block.rows as usize;
    if table == Table::Transmissions {
        return decode_transmissions(rows, block.content, (model, ingresses), limits, part, to);
    }
    if table.is_with_transmissions() {
        return None;
    }
    let mut columns = vec![Vec::new(); table.columns().len()];
    let rest = unpack_rows(table, rows, block.content, &mut columns, &mut limits.room)?;
    if !limits.ranges.have(table, &columns) {
        return None;
    }
    let rows = 0..columns[0].len();
    match table {
        Table::Sorts => rows
            .map(|row| model.learn(Sort::of_row(std::array::from_fn(|column| columns[column][row]))))
            .try_for_each(|learned| learned.map(drop))?,
        Table::Ingress => {
            ingresses.extend(rows.map(|row| std::array::from_fn::<_, 4, _>(|column| columns[column][row])));
        }
        _ => (),
    }
    to.rows(table, columns)?;
    rest.is_empty().then_some(())
}

fn decode_transmissions(
    rows: usize,
    content: &[u8],
    (model, ingresses): (&mut Model, &[[i64; 4]]),
    limits: &mut Limits,
    part: &mut Part,
    to: &mut impl Take,
) -> Option<()> {
    let ranges = limits.ranges;
    let mut streams = Read::unpack(content, &mut limits.room).filter(|(_, rest)| rest.is_empty())?.0;
    if rows > ROWS || !streams.has_room(rows) {
        return None;
    }
    let mut beside = Beside::default();
    model.restart();
    beside.code_early(&mut streams)?;
    for group in &beside.drops.all {
        let [flow, carries, node, ..] = group.key;
        for (packet, time) in group.runs.iter().flat_map(Run::rows) {
            model.did_not_fit(node, [flow, carries], packet, time);
        }
    }
    let (mut parts, mut found) = (0, Vec::new());
    for _ in 0..rows {
        let (mut place, mut row) = (0, Transmission::default());
        model.code(&mut streams, &mut place, &mut row)?;
        let of_row = row.reserves.len() + row.mpdus.len();
        parts += of_row;
        if streams.failed || parts > MOST_PARTS || !streams.has_room(of_row) || !ranges.have_those_of(&row) {
            return None;
        }
        found.push((place, row));
    }
    beside.code_rest(&mut streams, model, ingresses)?;
    if !streams.is_over() {
        return None;
    }
    // A writer is to have the drops before transmissions that are coded by them.
    for table in [Table::Drops, Table::Windows, Table::Entries] {
        let mut columns = beside.columns(table);
        if !ranges.have(table, &columns) {
            return None;
        }
        part.cut(table, &mut columns);
        to.rows(table, columns)?;
    }
    let queues: Vec<i64> = model.queues().collect();
    for ((place, mut row), queue) in found.into_iter().zip(queues) {
        row.queue = queue;
        let sort = model.sort(place);
        if part.takes(sort, &mut row) {
            to.transmission(place, sort, &mut row)?;
        }
    }
    to.block_ends()
}

/// Keeps rows as columns.
struct Kept {
    log: FrameLog,
    sets: Sets,
    /// All of them, or only what later blocks need.
    all: bool,
}

/// Numbers of the sets of nodes that set the NAV, in the order of their first.
type Sets = BTreeMap<Vec<(u32, i64)>, i64>;

impl Kept {
    fn new(all: bool) -> Kept {
        let mut log = FrameLog::default();
        for (table, _) in TABLES {
            log.tables[table as usize].0 = vec![Vec::new(); table.columns().len()];
        }
        Kept { log, sets: BTreeMap::new(), all }
    }
}

impl Take for Kept {
    fn head(&mut self, head: String) -> Option<()> {
        self.log.head = head;
        Some(())
    }

    fn transmission(&mut self, place: usize, sort: &Sort, row: &mut Transmission) -> Option<()> {
        self.log.transmissions += 1;
        if !self.all {
            return Some(());
        }
        let tables = &mut self.log.tables;
        let set = set_of(&mut row.reserves, &mut self.sets, &mut tables[Table::Reservations as usize].0);
        let Transmission { start, tries, frozen, waited, queue, packet, outcome, collided, overlap, .. } =
            *row;
        let values =
            [start, place as i64, tries, frozen, waited, queue, packet, outcome, collided, overlap, set];
        push(&mut tables[Table::Transmissions as usize], values);
        for mpdu in &row.mpdus {
            let [flow, carries] = mpdu.stream;
            let values = [start, sort.from, flow, carries, mpdu.packet, mpdu.outcome];
            push(&mut tables[Table::Mpdus as usize], values);
        }
        Some(())
    }

    fn rows(&mut self, table: Table, columns: Vec<Vec<i64>>) -> Option<()> {
        if self.all || table == Table::Sorts {
            let known = &mut self.log.tables[table as usize].0;
            known.iter_mut().zip(columns).for_each(|(known, more)| known.extend(more));
        }
        Some(())
    }
}

fn push<const N: usize>(columns: &mut Columns, values: [i64; N]) {
    columns.0.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
}

/// The number of a set, which may be new; 0 if it is empty.
fn set_of(set: &mut [(u32, i64)], sets: &mut Sets, columns: &mut [Vec<i64>]) -> i64 {
    if set.is_empty() {
        return 0;
    }
    set.sort_unstable();
    if let Some(number) = sets.get(set) {
        return *number;
    }
    let number = sets.len() as i64 + 1;
    sets.insert(set.to_vec(), number);
    for (node, nav) in set {
        let values = [number, i64::from(*node), *nav];
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    number
}
