//! Acknowledgements on their way through the receiver's host.

use crate::TcpOptions;
use multihop_core::{Rng, Segment, Span, Time};
use std::collections::VecDeque;

/// Acknowledgements that the host still processes.
#[derive(Debug, Default)]
pub(super) struct HostQueue {
    /// Acknowledgements with the times at which they leave the host.
    processed: VecDeque<(Time, Segment)>,
    /// Random numbers for the delays, from the first on.
    delays: Option<Rng>,
}

impl HostQueue {
    /// Time at which an acknowledgement that is made now leaves the host, after those before it; none if the
    /// host takes no time.
    pub fn departure(&mut self, now: Time, options: &TcpOptions) -> Option<Time> {
        let mean = options.host_delay?;
        let delay = if options.host_delay_varies { self.varied(now, mean) } else { mean };
        let before = self.processed.back().map_or(Time::ZERO, |(leaves, _)| *leaves);
        Some(before.max(now + delay))
    }

    /// Delay of the host between half and one and a half of its mean. The numbers depend on the time of the
    /// first one, which differs between connections: runs are repeatable.
    fn varied(&mut self, now: Time, mean: Span) -> Span {
        const STEPS: u32 = 1_000;
        let rng = self.delays.get_or_insert_with(|| Rng::at(now.ns(), &["host delay"]));
        mean / 2 + mean * u64::from(rng.below(STEPS)) / u64::from(STEPS)
    }

    /// Adds an acknowledgement with its [`departure`](HostQueue::departure).
    pub fn push(&mut self, leaves: Time, acknowledgement: Segment) {
        self.processed.push_back((leaves, acknowledgement));
    }

    /// Next acknowledgement that has left the host.
    pub fn poll(&mut self, now: Time) -> Option<Segment> {
        self.next_departure().filter(|leaves| *leaves <= now)?;
        self.processed.pop_front().map(|(_, acknowledgement)| acknowledgement)
    }

    /// Time at which the next acknowledgement leaves the host.
    pub fn next_departure(&self) -> Option<Time> {
        self.processed.front().map(|(leaves, _)| *leaves)
    }

    pub fn is_empty(&self) -> bool {
        self.processed.is_empty()
    }
}
