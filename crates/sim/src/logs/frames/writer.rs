//! Writer of a frame log: on the thread of the run, or on a separate thread. Both write the same rows in the
//! same order.

use super::batch::{Batch, TransmissionRow};
use multihop_core::{Span, Time};
use multihop_frames::Writer;
use std::io;
use std::mem::{replace, swap, take};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{JoinHandle, spawn};

/// Transmissions in a batch that the thread of the run writes.
const INLINE_BATCH: usize = 64;
/// Transmissions in a batch for a separate thread. Waking a thread takes as long as simulating a few of them.
const THREAD_BATCH: usize = 512;
/// Number of rows of other tables that ends a batch early.
const MAX_OTHER_ROWS: usize = 4096;
/// Maximum number of batches that wait for a separate thread.
const QUEUED_BATCHES: usize = 4;

/// Destination of batches.
enum Target {
    Inline(Box<Writer>),
    Thread {
        to: SyncSender<Batch>,
        /// Written batches, whose memory is reused.
        back: Receiver<Batch>,
        thread: JoinHandle<io::Result<()>>,
    },
    /// Writing has failed or ended.
    None,
}

/// Writer of a frame log.
pub struct LogWriter {
    target: Target,
    /// Batch that collects rows.
    batch: Batch,
    /// Empty batch that replaces `batch` when that is written.
    next: Batch,
    /// Number of the first transmission in the batch.
    first: u64,
    /// Number of transmissions at which the batch is written.
    capacity: usize,
    /// Minimum of `capacity`.
    min_capacity: usize,
    /// First error; nothing is written after it.
    failure: Option<io::Error>,
}

impl LogWriter {
    /// Number that no transmission has.
    pub const NONE: u64 = u64::MAX;

    /// Creates a writer on the thread of the run.
    pub fn inline(writer: Writer) -> LogWriter {
        LogWriter::with(Target::Inline(Box::new(writer)), INLINE_BATCH)
    }

    /// Creates a writer on a separate thread.
    pub fn on_a_thread(writer: Writer) -> LogWriter {
        let (to, batches) = sync_channel(QUEUED_BATCHES);
        let (written, back) = channel();
        let thread = spawn(move || write_all(writer, &batches, &written));
        LogWriter::with(Target::Thread { to, back, thread }, THREAD_BATCH)
    }

    fn with(target: Target, capacity: usize) -> LogWriter {
        let (batch, next) = (Batch::default(), Batch::default());
        LogWriter { target, batch, next, first: 0, capacity, min_capacity: capacity, failure: None }
    }

    /// Returns the batch that collects rows.
    #[inline]
    pub fn batch(&mut self) -> &mut Batch {
        &mut self.batch
    }

    /// Returns the number of the next transmission.
    #[inline]
    pub fn next_number(&self) -> u64 {
        self.first + self.batch.transmissions.len() as u64
    }

    /// Returns the index of a transmission in the batch; none if the batch does not contain its number.
    #[inline]
    pub fn index(&self, number: u64) -> Option<usize> {
        Some(number.wrapping_sub(self.first) as usize).filter(|index| *index < self.batch.transmissions.len())
    }

    /// Returns a transmission; none if the batch does not contain its number.
    #[inline]
    pub fn row(&mut self, number: u64) -> Option<&mut TransmissionRow> {
        self.batch.transmissions.get_mut(number.wrapping_sub(self.first) as usize)
    }

    /// Writes the transmissions that ended at all listeners before `now`, if the batch is full.
    #[inline]
    pub fn write_before(&mut self, now: Time, spread: Span) {
        if self.batch.transmissions.len() >= self.capacity || self.batch.others >= MAX_OTHER_ROWS {
            self.flush(now, spread);
        }
    }

    /// Whether writing failed.
    pub fn has_failed(&self) -> bool {
        matches!(self.target, Target::None)
    }

    /// Writes the last batch of a run that ends now, and ends the log.
    pub fn finish(mut self, now: Time) -> io::Result<()> {
        self.batch.end(now);
        self.write();
        self.failure.take().map_or(Ok(()), Err)
    }

    #[inline(never)]
    fn flush(&mut self, now: Time, spread: Span) {
        let mut next = take(&mut self.next);
        self.first += self.batch.split(now, spread, &mut next) as u64;
        self.capacity = self.min_capacity.max(2 * next.transmissions.len());
        self.write();
        swap(&mut self.batch, &mut next);
        self.next = next;
    }

    /// Writes the batch and leaves an empty one.
    fn write(&mut self) {
        let is_last = self.batch.is_last;
        let written = match replace(&mut self.target, Target::None) {
            Target::Inline(mut writer) => {
                let written = self.batch.write(&mut writer);
                if written.is_ok() && is_last {
                    writer.finish().map(drop)
                } else {
                    if written.is_ok() {
                        self.target = Target::Inline(writer);
                    }
                    written
                }
            }
            Target::Thread { to, back, thread } => {
                let empty = back.try_recv().unwrap_or_default();
                let is_sent = to.send(replace(&mut self.batch, empty)).is_ok();
                if is_sent && !is_last {
                    self.target = Target::Thread { to, back, thread };
                    Ok(())
                } else {
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                }
            }
            Target::None => {
                self.batch = Batch::default();
                Ok(())
            }
        };
        self.failure = self.failure.take().or(written.err());
    }
}

/// An abandoned run also waits until its batches are written.
impl Drop for LogWriter {
    fn drop(&mut self) {
        if let Target::Thread { to, thread, .. } = replace(&mut self.target, Target::None) {
            drop(to);
            let _ = thread.join(); // nobody reads the result of an abandoned log
        }
    }
}

/// Writes batches until the last one. If the run fails before its last batch, the log has no end.
fn write_all(mut writer: Writer, batches: &Receiver<Batch>, written: &Sender<Batch>) -> io::Result<()> {
    while let Ok(mut batch) = batches.recv() {
        batch.write(&mut writer)?;
        if batch.is_last {
            return writer.finish().map(drop);
        }
        let _ = written.send(batch); // fails if the run has ended
    }
    Ok(())
}
