//! Payload that reached its application soon: timely throughput (Hou, Borkar and Kumar, *A Theory of Quality
//! of Service for Wireless*, 2009).

use multihop_core::{Segment, Span, Time};
use multihop_transport::Delivered;
use std::collections::VecDeque;

/// From the first time that a payload byte is sent until the application has it: the one-way delay that ITU-T
/// G.114 sets as the limit for planning.
const DEADLINE: Span = Span::from_ms(400);

/// The counters of a flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Timely {
    /// Of a stream: segments that the application does not have, by their ends, and when each was first sent.
    waiting: VecDeque<(u64, Time)>,
    /// One past the last byte of the last segment that it has whole.
    delivered: u64,
}

impl Timely {
    /// The transport emitted a segment with data.
    pub fn sent(&mut self, segment: &Segment, now: Time) {
        let end = segment.seq + u64::from(segment.payload);
        if is_stream(segment) && self.waiting.back().map_or(self.delivered, |(last, _)| *last) < end {
            self.waiting.push_back((end, now));
        }
    }

    /// A segment with data arrived that was emitted at `created`, and the application got this: how many of
    /// the bytes came in time? A byte that waited for one before it counts by when both came.
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

/// "Once a connection is established, [ACK] is always sent" (RFC 9293, section 3.1); datagrams have no such
/// thing.
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

    /// A segment of 100 bytes.
    fn segment(seq: u64, ack: bool) -> Segment {
        Segment { seq, payload: 100, flags: Flags { ack, ..Flags::default() }, ..Segment::default() }
    }

    /// The second of four segments is lost, and sent again after 300 ms: it is in time 50 ms later, and so is
    /// what waited for it. Had it taken 150 ms, only the last one would be, which was sent at 60 ms.
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
