//! Timely throughput (Hou, Borkar and Kumar, *A Theory of Quality of Service for Wireless*, 2009).

use multihop_core::{Segment, Span, Time};
use multihop_transport::Delivered;
use std::collections::VecDeque;

/// Largest delay of a timely byte, from its first transmission to its delivery to the application: the
/// planning limit for one-way delay of ITU-T G.114.
const DEADLINE: Span = Span::from_ms(400);

/// Timely throughput counters of a flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Timely {
    /// Segments of a stream that are not delivered yet: end in the stream, and time of the first
    /// transmission.
    waiting: VecDeque<(u64, Time)>,
    /// End in the stream of the last segment delivered whole.
    delivered: u64,
}

impl Timely {
    /// Records a segment with data that the transport sent.
    pub fn sent(&mut self, segment: &Segment, now: Time) {
        let end = segment.seq + u64::from(segment.payload);
        if is_stream(segment) && self.waiting.back().map_or(self.delivered, |(last, _)| *last) < end {
            self.waiting.push_back((end, now));
        }
    }

    /// Counts a segment with data that arrived, sent at `created`, and the bytes that were delivered with it.
    /// Returns the number of timely bytes. A byte that waited for an earlier one counts by the times of both.
    pub fn delivered(&mut self, segment: &Segment, created: Time, got: Delivered, now: Time) -> u64 {
        let in_time = |sent: Time| now.since(sent) <= DEADLINE;
        if !is_stream(segment) {
            return if in_time(created) { got.bytes } else { 0 };
        }
        let mut bytes = 0;
        while let Some((end, sent)) = self.waiting.front().copied()
            && end <= got.offset + got.bytes
        {
            bytes += if in_time(sent) { end - self.delivered } else { 0 };
            self.delivered = end;
            self.waiting.pop_front();
        }
        bytes
    }
}

/// Whether a segment belongs to a stream. "Once a connection is established, \[ACK\] is always sent" (RFC
/// 9293, section 3.1); datagrams have no ACK bit.
fn is_stream(segment: &Segment) -> bool {
    segment.flags.ack
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::Flags;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Segment of 100 bytes.
    fn segment(seq: u64, ack: bool) -> Segment {
        Segment { seq, payload: 100, flags: Flags { ack, ..Flags::default() }, ..Segment::default() }
    }

    /// The second of four segments is lost, and retransmitted after 300 ms. If it arrives 50 ms later, all
    /// waiting segments are timely; after 150 ms, only the last one is, which was sent at 60 ms.
    #[test]
    fn a_stream_waits_for_what_is_missing() {
        for (arrives, in_time) in [(350, 300), (450, 100), (461, 0)] {
            let mut timely = Timely::default();
            for (number, sent) in [(0, 0), (1, 20), (2, 40), (3, 60)] {
                timely.sent(&segment(100 * number, true), at(sent));
            }
            let got = |offset, bytes| Delivered { offset, bytes };
            assert_eq!(timely.delivered(&segment(0, true), at(0), got(0, 100), at(70)), 100);
            assert_eq!(timely.delivered(&segment(200, true), at(40), got(100, 0), at(80)), 0);
            let again = segment(100, true);
            timely.sent(&again, at(300));
            assert_eq!(timely.delivered(&again, at(300), got(100, 300), at(arrives)), in_time, "{arrives}");
            assert!(timely.waiting.is_empty());
        }
    }

    #[test]
    fn a_datagram_counts_for_itself() {
        let mut timely = Timely::default();
        let datagram = segment(7, false);
        timely.sent(&datagram, at(100));
        assert!(timely.waiting.is_empty());
        let got = Delivered { offset: 700, bytes: 100 };
        assert_eq!(timely.delivered(&datagram, at(100), got, at(500)), 100);
        assert_eq!(timely.delivered(&datagram, at(100), got, at(501)), 0);
    }
}
