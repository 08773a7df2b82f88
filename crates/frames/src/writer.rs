//! Writer of logs: collects rows in batches and passes each batch to a sink.

use crate::columns::Tables;
use crate::head::Head;
use crate::layout::{TABLES, Table};
use crate::sets::Sets;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Default number of transmissions in a batch.
pub const ROWS: usize = 1 << 16;
/// Number of rows of any other table that ends a batch early.
const MAX_OTHER_ROWS: usize = 1 << 18;

/// Destination of a log.
pub trait Sink: Send {
    /// Writes the description, before any rows.
    ///
    /// # Errors
    /// If the description cannot be written.
    fn begin(&mut self, head: &Head) -> io::Result<()>;

    /// Writes a batch of rows.
    ///
    /// # Errors
    /// If the rows cannot be written.
    fn write(&mut self, rows: &Tables) -> io::Result<()>;

    /// Ends the log.
    ///
    /// # Errors
    /// If the end of the log cannot be written.
    fn finish(&mut self) -> io::Result<()>;

    /// Number of transmissions in a batch.
    fn batch(&self) -> usize {
        ROWS
    }
}

/// Row of the table `transmissions`, whose layout documents the values. Indices refer to the description; -1
/// means none.
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

/// Packet of an aggregate.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Mpdu {
    /// Index of its flow, and its code in the enumeration `carries`.
    pub stream: [i64; 2],
    /// Number of the packet within its flow and direction.
    pub packet: i64,
    /// Code in the enumeration `outcome`; 0 if the packet arrived.
    pub outcome: i64,
}

/// Writer of a log during a run.
pub struct Writer {
    out: Box<dyn Sink>,
    rows: Tables,
    sets: Sets,
    batch: usize,
    transmissions: u64,
}

impl Writer {
    /// Begins a log with a description.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn new(mut out: Box<dyn Sink>, head: &Head) -> io::Result<Writer> {
        out.begin(head)?;
        let batch = out.batch();
        Ok(Writer { out, rows: Tables::default(), sets: Sets::default(), batch, transmissions: 0 })
    }

    /// Adds a transmission, which must not begin before the previous one.
    ///
    /// `reserves` are the nodes that set their NAV by the frame, each with the duration of the NAV after the
    /// end of the frame; `mpdus` are the packets of an aggregate.
    ///
    /// # Errors
    /// If the batch is full and cannot be written.
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
        if self.rows.rows(Table::Transmissions) >= self.batch
            || self.rows.rows(Table::Mpdus) >= MAX_OTHER_ROWS
        {
            self.end_batch()?;
        }
        Ok(())
    }

    /// Adds rows to other tables.
    ///
    /// # Errors
    /// If the batch is full and cannot be written.
    pub fn append(&mut self, rows: &Tables) -> io::Result<()> {
        self.rows.append(rows);
        if TABLES.iter().any(|(table, _)| self.rows.rows(*table) >= MAX_OTHER_ROWS) {
            self.end_batch()
        } else {
            Ok(())
        }
    }

    /// Writes the last batch and ends the log. Returns the number of transmissions.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub fn finish(mut self) -> io::Result<u64> {
        self.end_batch()?;
        self.out.finish()?;
        Ok(self.transmissions)
    }

    fn end_batch(&mut self) -> io::Result<()> {
        self.out.write(&self.rows)?;
        self.rows.clear();
        self.sets.clear();
        Ok(())
    }
}

/// Log in memory.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Description, as JSON.
    pub head: String,
    /// Rows of all tables.
    pub tables: Tables,
    /// Reason why the log is incomplete; none for a complete log.
    pub cut_short: Option<String>,
}

/// Sink in memory. Clones share one log, so that one clone can be written and another read.
#[derive(Clone, Debug)]
pub struct Memory {
    log: Arc<Mutex<Log>>,
    batch: usize,
    max_bytes: usize,
}

impl Memory {
    /// Creates an empty log that takes batches of `batch` transmissions until its size is `max_bytes`.
    pub fn new(batch: usize, max_bytes: usize) -> Memory {
        Memory { log: Arc::default(), batch, max_bytes }
    }

    /// Returns the log that is written so far.
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
        let cut_short = Some("the run has not ended".into());
        *self.log() = Log { head: head.json(), tables: Tables::default(), cut_short };
        Ok(())
    }

    fn write(&mut self, rows: &Tables) -> io::Result<()> {
        let mut log = self.log();
        if log.tables.bytes() + rows.bytes() <= self.max_bytes {
            log.tables.append(rows);
        } else {
            // Later batches are refused too: the log must have no gaps.
            drop(log);
            self.max_bytes = 0;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.log().cut_short = (self.max_bytes == 0).then(|| "the limit of memory was reached".into());
        Ok(())
    }

    fn batch(&self) -> usize {
        self.batch
    }
}
