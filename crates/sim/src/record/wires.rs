//! Counters of wires.

use super::Recorder;
use super::occupancy::Occupancy;
use crate::outcome::WireOutcome;
use multihop_core::{Interval, Span, Time};

/// Counters of one direction of a wire.
#[derive(Clone, Debug, Default)]
pub struct WireCounters {
    sent: u64,
    sent_bytes: u64,
    delivered: u64,
    dropped: u64,
    lost: u64,
    sending: Span,
    queue: Occupancy,
}

impl Recorder {
    /// Adds counters for this number of directions of wires.
    #[must_use]
    pub fn with_wires(mut self, wires: usize) -> Recorder {
        self.wires = vec![WireCounters::default(); wires];
        self
    }

    /// Counts a packet whose last bit was sent; `sending` is its transmission interval.
    pub fn wire_sent(&mut self, wire: u32, bytes: u32, sending: Interval) {
        let counts = self.counts(sending.end);
        let counted = self.after_warmup(sending, sending.end);
        let counters = &mut self.wires[wire as usize];
        counters.sending += counted;
        if counts {
            counters.sent += 1;
            counters.sent_bytes += u64::from(bytes);
        }
    }

    /// Counts a packet that reached the other end.
    pub fn wire_delivered(&mut self, wire: u32, now: Time) {
        let counts = self.counts(now);
        self.wires[wire as usize].delivered += u64::from(counts);
    }

    /// Counts a packet lost before it was sent.
    pub fn wire_dropped(&mut self, wire: u32, now: Time) {
        let counts = self.counts(now);
        self.wires[wire as usize].dropped += u64::from(counts);
    }

    /// Counts a packet lost at random after it was sent.
    pub fn wire_lost(&mut self, wire: u32, now: Time) {
        let counts = self.counts(now);
        self.wires[wire as usize].lost += u64::from(counts);
    }

    /// Sets the queue length from now on, without the packet being sent.
    pub fn wire_queue(&mut self, wire: u32, length: usize, now: Time) {
        let counts = self.counts(now);
        self.wires[wire as usize].queue.set(length, self.from, now, counts);
    }

    /// Results of a wire up to `end`; `sending_since` is the start of the transmission in progress at `end`.
    pub fn wire_outcome(
        &mut self,
        wire: u32,
        (from, to): (u32, u32),
        sending_since: Option<Time>,
        end: Time,
    ) -> WireOutcome {
        let unfinished =
            sending_since.map_or(Span::ZERO, |start| self.after_warmup(Interval { start, end }, end));
        let measured = end.since(self.from).ns().max(1) as f64;
        let counters = &mut self.wires[wire as usize];
        let queue_mean = counters.queue.mean(self.from, end);
        WireOutcome {
            from,
            to,
            sent: counters.sent,
            sent_bytes: counters.sent_bytes,
            delivered: counters.delivered,
            dropped: counters.dropped,
            lost: counters.lost,
            queue_mean,
            queue_max: counters.queue.max,
            utilisation: (counters.sending + unfinished).ns() as f64 / measured,
        }
    }
}
