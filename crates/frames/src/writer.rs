//! Collects rows in batches, and hands each batch over.

use crate::columns::Tables;
use crate::head::Head;
use crate::layout::{TABLES, Table};
use crate::sets::Sets;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Transmissions of a batch.
pub const ROWS: usize = 1 << 16;
/// Rows of any other table that end a batch early.
const MOST_OTHERS: usize = 1 << 18;

/// Destination of a log.
pub trait Sink: Send {
    /// Takes the description, before any rows.
    ///
    /// # Errors
    /// If it cannot be written.
    fn begin(&mut self, head: &Head) -> io::Result<()>;

    /// Takes a batch of rows.
    ///
    /// # Errors
    /// If it cannot be written.
    fn write(&mut self, rows: &Tables) -> io::Result<()>;

    /// Ends the log.
    ///
    /// # Errors
    /// If it cannot be written.
    fn finish(&mut self) -> io::Result<()>;

    /// Transmissions of a batch.
    fn batch(&self) -> usize {
        ROWS
    }
}

/// A transmission. The layout of `transmissions` says what its values mean; indices are those of the
/// description, and -1 is none.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Transmission {
    pub start: i64,
    pub from: i64,
    pub to: i64,
    pub kind: i64,
    pub airtime: i64,
    pub bytes: i64,
    pub rate: i64,
    pub nav: i64,
    pub flow: i64,
    pub carries: i64,
    pub tries: i64,
    pub frozen: i64,
    pub waited: i64,
    pub contended: i64,
    pub queue: i64,
    pub packet: i64,
    pub outcome: i64,
    pub collided: i64,
    pub overlap: i64,
}

/// A packet of an aggregate.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Mpdu {
    /// Index of its flow, and its place in the enumeration `carries`.
    pub stream: [i64; 2],
    /// Number of the packet.
    pub packet: i64,
    /// Place in the enumeration `outcome`; 0 if it arrived.
    pub outcome: i64,
}

/// Writes a log as a run goes on.
pub struct Writer {
    out: Box<dyn Sink>,
    rows: Tables,
    sets: Sets,
    batch: usize,
    transmissions: u64,
}

impl Writer {
    /// Begins a log with this description.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn new(mut out: Box<dyn Sink>, head: &Head) -> io::Result<Writer> {
        out.begin(head)?;
        let batch = out.batch();
        Ok(Writer { out, rows: Tables::default(), sets: Sets::default(), batch, transmissions: 0 })
    }

    /// Adds a transmission, none of which may begin before an earlier one; the nodes that set their NAV by
    /// it, each with the NAV's length beyond the end of the frame; and the packets of an aggregate.
    ///
    /// # Errors
    /// If a batch is full and cannot be written.
    #[inline]
    pub fn transmission(
        &mut self,
        row: &Transmission,
        reserves: &mut [(u32, i64)],
        mpdus: &[Mpdu],
    ) -> io::Result<()> {
        let set = self.sets.number(reserves, &mut self.rows);
        let t = row;
        self.rows.push(
            Table::Transmissions,
            [
                t.start,
                t.from,
                t.to,
                t.kind,
                t.airtime,
                t.bytes,
                t.rate,
                t.nav,
                t.flow,
                t.carries,
                t.tries,
                t.frozen,
                t.waited,
                t.contended,
                t.queue,
                t.packet,
                t.outcome,
                t.collided,
                t.overlap,
                set,
            ],
        );
        for mpdu in mpdus {
            let [flow, carries] = mpdu.stream;
            self.rows.push(Table::Mpdus, [t.start, t.from, flow, carries, mpdu.packet, mpdu.outcome]);
        }
        self.transmissions += 1;
        if self.rows.rows(Table::Transmissions) >= self.batch || self.rows.rows(Table::Mpdus) >= MOST_OTHERS {
            self.end_batch()?;
        }
        Ok(())
    }

    /// Adds rows to other tables.
    ///
    /// # Errors
    /// If a batch is full and cannot be written.
    pub fn append(&mut self, rows: &Tables) -> io::Result<()> {
        self.rows.append(rows);
        if TABLES.iter().any(|(table, _)| self.rows.rows(*table) >= MOST_OTHERS) {
            self.end_batch()
        } else {
            Ok(())
        }
    }

    /// Writes what is left, and the end. Returns the number of transmissions.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<u64> {
        self.end_batch()?;
        self.out.finish()?;
        Ok(self.transmissions)
    }

    fn end_batch(&mut self) -> io::Result<()> {
        self.out.write(&self.rows)?;
        self.rows.clear();
        self.sets.forget();
        Ok(())
    }
}

/// A log in memory.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Description, as JSON.
    pub head: String,
    /// Rows of all tables.
    pub tables: Tables,
    /// Reason why only the beginning of the log is there; none if it is whole.
    pub cut_short: Option<String>,
}

/// A destination in memory, of which one copy is written and another one read.
#[derive(Clone, Debug)]
pub struct Memory {
    log: Arc<Mutex<Log>>,
    batch: usize,
    most_bytes: usize,
}

impl Memory {
    /// Creates an empty log, which takes batches of so many transmissions until it has so many bytes.
    pub fn new(batch: usize, most_bytes: usize) -> Memory {
        Memory { log: Arc::default(), batch, most_bytes }
    }

    /// Returns what was written so far.
    pub fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new(ROWS, usize::MAX)
    }
}

impl Sink for Memory {
    fn begin(&mut self, head: &Head) -> io::Result<()> {
        let cut_short = Some("it has not ended".into());
        *self.log() = Log { head: head.json(), tables: Tables::default(), cut_short };
        Ok(())
    }

    fn write(&mut self, rows: &Tables) -> io::Result<()> {
        let mut log = self.log();
        if log.tables.bytes() + rows.bytes() <= self.most_bytes {
            log.tables.append(rows);
        } else {
            // What comes later would leave a gap before it.
            drop(log);
            self.most_bytes = 0;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.log().cut_short = (self.most_bytes == 0).then(|| "there was no room for the rest".into());
        Ok(())
    }

    fn batch(&self) -> usize {
        self.batch
    }
}
