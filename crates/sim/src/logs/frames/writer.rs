//! Writes a frame log: in turn with the run, or beside it on a thread of its own. Either way
//! the same is reported to it in the same order.

use super::batch::{Batch, Event};
use multihop_core::{Span, Time};
use multihop_frames::Writer;
use std::io;
use std::mem::{replace, swap, take};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{JoinHandle, spawn};

/// So many transmissions are handed over at once: to wake a thread takes as long as to simulate some of
/// them.
const IN_TURN: usize = 64;
const ON_A_THREAD: usize = 512;
/// Or so many rows of other tables.
const MOST_OTHERS: usize = 4096;
/// A thread may be behind by so many times as many.
const BEHIND: usize = 4;

/// Who writes.
enum Target {
    InTurn(Box<Writer>),
    OnAThread {
        to: SyncSender<Batch>,
        /// Batches that were written, which are used again.
        back: Receiver<Batch>,
        thread: JoinHandle<io::Result<()>>,
    },
    /// It failed, or is done.
    None,
}

/// Writes a frame log.
pub struct LogWriter {
    target: Target,
    /// What was reported lately.
    batch: Batch,
    /// An empty one.
    next: Batch,
    /// The number of the first transmission of the batch.
    first: u64,
    /// So many make it full, and so many at least.
    room: usize,
    least: usize,
    /// The first failure; nothing is written after it.
    failure: Option<io::Error>,
}

impl LogWriter {
    /// The number of no transmission.
    pub const NONE: u64 = u64::MAX;

    /// One that writes once enough is reported.
    pub fn in_turn(writer: Writer) -> LogWriter {
        LogWriter::with(Target::InTurn(Box::new(writer)), IN_TURN)
    }

    /// The same on a thread of its own.
    pub fn on_a_thread(writer: Writer) -> LogWriter {
        let (to, batches) = sync_channel(BEHIND);
        let (written, back) = channel();
        let thread = spawn(move || write_all(writer, &batches, &written));
        LogWriter::with(Target::OnAThread { to, back, thread }, ON_A_THREAD)
    }

    fn with(target: Target, room: usize) -> LogWriter {
        let (batch, next) = (Batch::default(), Batch::default());
        LogWriter { target, batch, next, first: 0, room, least: room, failure: None }
    }

    /// What was reported lately.
    #[inline]
    pub fn batch(&mut self) -> &mut Batch {
        &mut self.batch
    }

    /// The number that the next transmission has.
    #[inline]
    pub fn next(&self) -> u64 {
        self.first + self.batch.events.len() as u64
    }

    /// The place in the batch of the transmission with a number; none if it is not there.
    #[inline]
    pub fn place(&self, number: u64) -> Option<usize> {
        Some(number.wrapping_sub(self.first) as usize).filter(|place| *place < self.batch.events.len())
    }

    /// The transmission with a number; none if it is not there.
    #[inline]
    pub fn event(&mut self, number: u64) -> Option<&mut Event> {
        self.batch.events.get_mut(number.wrapping_sub(self.first) as usize)
    }

    /// Writes transmissions that are over everywhere before this instant, once there are many.
    #[inline]
    pub fn write_before(&mut self, now: Time, spread: Span) {
        if self.batch.events.len() >= self.room || self.batch.others >= MOST_OTHERS {
            self.hand_over(now, spread);
        }
    }

    /// Did writing fail?
    pub fn has_failed(&self) -> bool {
        matches!(self.target, Target::None)
    }

    /// Writes what is left of a run that ends now, and the end.
    pub fn finish(mut self, now: Time) -> io::Result<()> {
        self.batch.end(now);
        self.write();
        self.failure.take().map_or(Ok(()), Err)
    }

    #[inline(never)]
    fn hand_over(&mut self, now: Time, spread: Span) {
        let mut next = take(&mut self.next);
        self.first += self.batch.split(now, spread, &mut next) as u64;
        self.room = self.least.max(2 * next.events.len());
        self.write();
        swap(&mut self.batch, &mut next);
        self.next = next;
    }

    /// Writes the batch. What is there then is empty.
    fn write(&mut self) {
        let is_last = self.batch.is_last;
        let written = match replace(&mut self.target, Target::None) {
            Target::InTurn(mut writer) => {
                let written = self.batch.write(&mut writer);
                if written.is_ok() && is_last {
                    writer.finish().map(drop)
                } else {
                    if written.is_ok() {
                        self.target = Target::InTurn(writer);
                    }
                    written
                }
            }
            Target::OnAThread { to, back, thread } => {
                let empty = back.try_recv().unwrap_or_default();
                let is_told = to.send(replace(&mut self.batch, empty)).is_ok();
                if is_told && !is_last {
                    self.target = Target::OnAThread { to, back, thread };
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

/// What was reported is written when a run is given up, too.
impl Drop for LogWriter {
    fn drop(&mut self) {
        if let Target::OnAThread { to, thread, .. } = replace(&mut self.target, Target::None) {
            drop(to);
            let _ = thread.join(); // nobody asks any more what became of it
        }
    }
}

/// Writes batches as they come. If the run ends without a last one, as one that fails, the log has no end.
fn write_all(mut writer: Writer, batches: &Receiver<Batch>, written: &Sender<Batch>) -> io::Result<()> {
    while let Ok(mut batch) = batches.recv() {
        batch.write(&mut writer)?;
        if batch.is_last {
            return writer.finish().map(drop);
        }
        let _ = written.send(batch); // the run may be over
    }
    Ok(())
}
