//! Compression of acknowledgements that report data beyond a gap (`__tcp_ack_snd_check` in Linux's
//! `net/ipv4/tcp_input.c`).

use multihop_core::{Span, Time};

/// Number of acknowledgements beyond a gap that are sent at once, and number of segments that a compressed
/// one covers at most (`TCP_FASTRETRANS_THRESH`, `tcp_comp_sack_nr` of Linux).
const AT_ONCE: u32 = 3;
const MOST_COMPRESSED: u32 = 44;

/// Most time between compressed acknowledgements (`tcp_comp_sack_delay_ns` of Linux).
const MAX_COMPRESSION: Span = Span::from_ms(1);

/// Retransmission timeout before the first round-trip sample, and minimum above the round-trip time
/// (`TCP_TIMEOUT_INIT`, `TCP_RTO_MIN`).
const FIRST_TIMEOUT: Span = Span::from_ms(1_000);
const MIN_TIMEOUT: Span = Span::from_ms(200);

/// State of acknowledgements of data beyond a gap.
#[derive(Debug, Default)]
pub(super) struct AckCompression {
    /// Next expected byte when the count began.
    next: u64,
    /// Number of acknowledgements that were sent at once since.
    at_once: u32,
    /// Number of segments that the next acknowledgement covers.
    waiting: u32,
    /// Time of the SYN-ACK, and then the round-trip time to the first data.
    syn_ack: Option<Time>,
    round_trip: Option<Span>,
}

impl AckCompression {
    /// Records that a SYN-ACK is sent.
    pub fn on_syn_ack(&mut self, now: Time) {
        self.syn_ack = Some(now);
    }

    /// Records the arrival of data; the first ends the round trip of the SYN-ACK.
    pub fn on_data(&mut self, now: Time) {
        if let Some(sent) = self.syn_ack.take() {
            self.round_trip = Some(now.since(sent));
        }
    }

    /// Retransmission timeout after the round trip of the SYN-ACK, or before it.
    pub fn retransmission_timeout(&self) -> Span {
        self.round_trip.map_or(FIRST_TIMEOUT, |rtt| rtt + MIN_TIMEOUT.max(rtt * 2))
    }

    /// Records that everything received is acknowledged.
    pub fn on_acknowledged(&mut self) {
        self.waiting = 0;
    }

    /// Time for which the acknowledgement of another segment beyond a gap may wait, given the next expected
    /// byte; none if it is sent at once.
    pub fn delay(&mut self, next: u64) -> Option<Span> {
        if self.next != next {
            (self.next, self.at_once) = (next, 0);
        }
        if self.waiting >= MOST_COMPRESSED {
            return None;
        }
        if self.at_once < AT_ONCE {
            self.at_once += 1;
            return None;
        }
        self.waiting += 1;
        let twentieth = self.round_trip.map(|rtt| Span::from_ns(rtt.ns() / 20));
        Some(twentieth.map_or(MAX_COMPRESSION, |wait| wait.min(MAX_COMPRESSION)))
    }
}
