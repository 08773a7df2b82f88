//! Known headers of packets from outside.

use crate::external::PacketOutcome;
use multihop_core::{Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// Maximum time for which a sender without an acknowledgement retransmits a packet after its outcome.
const RETRANSMISSION_TIME: Span = Span::from_ms(1_000);

/// IPv4 and transport headers of packets in the network, by packet number.
#[derive(Debug, Default)]
pub(super) struct OutsideHeaders {
    known: BTreeMap<u64, Box<[u8]>>,
    /// Packets with an outcome, and its time.
    finished: VecDeque<(Time, u64)>,
    /// Number of unpolled outcomes that `finished` contains.
    tracked: usize,
}

impl OutsideHeaders {
    /// Registers the headers of a packet.
    pub(super) fn register_headers(&mut self, number: u64, headers: &[u8]) {
        self.known.insert(number, headers.into());
    }

    /// Adds new unpolled outcomes. The time of polling has no influence on the capture.
    pub(super) fn track(&mut self, outcomes: &VecDeque<PacketOutcome>) {
        let new = outcomes.range(self.tracked..).map(|outcome| (outcome.at(), outcome.number()));
        self.finished.extend(new);
        self.tracked = outcomes.len();
    }

    /// Records that the first unpolled outcome is polled.
    pub(super) fn outcome_polled(&mut self) {
        self.tracked -= 1;
    }

    /// Removes the headers of packets that no sender retransmits any more.
    pub(super) fn expire(&mut self, now: Time) {
        while let Some((_, old)) = self.finished.front().filter(|(at, _)| *at + RETRANSMISSION_TIME < now) {
            self.known.remove(old);
            self.finished.pop_front();
        }
    }

    /// Returns the headers of a packet.
    pub(super) fn of(&self, number: u64) -> Option<&[u8]> {
        self.known.get(&number).map(AsRef::as_ref)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::{DropCause, NodeId};

    #[test]
    fn headers_are_kept_while_a_packet_can_be_retransmitted() {
        let ms = |ms| Time::ZERO + Span::from_ms(ms);
        let lost = |number, at_ms| PacketOutcome::Lost {
            number,
            at: ms(at_ms),
            node: NodeId(0),
            cause: DropCause::RetryLimit,
        };
        for polls in [false, true] {
            let mut headers = OutsideHeaders::default();
            (1..4).for_each(|number| headers.register_headers(number, &[number as u8]));
            let mut outcomes = VecDeque::from([lost(1, 0), lost(2, 500)]);
            headers.track(&outcomes);
            headers.expire(ms(1_000));
            assert_eq!(headers.of(1), Some(&[1][..]));
            if polls {
                headers.outcome_polled();
                outcomes.pop_front();
            }
            outcomes.push_back(lost(3, 501));
            headers.track(&outcomes);
            headers.expire(ms(1_001));
            assert_eq!([1, 2, 3].map(|number| headers.of(number).is_some()), [false, true, true], "{polls}");
            headers.expire(ms(1_502));
            assert!(headers.known.is_empty() && headers.finished.is_empty());
        }
    }
}
