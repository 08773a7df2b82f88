//! Known headers of packets from outside, for the capture.

use crate::external::PacketOutcome;
use multihop_core::{Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// Longest time for which a transmitter may retransmit a packet that has arrived, because it missed the ACK.
const REPEATED: Span = Span::from_ms(1_000);

/// IPv4 and transport headers of injected packets in the network, by packet number.
#[derive(Debug, Default)]
pub(super) struct OutsideHeaders {
    known: BTreeMap<u64, Box<[u8]>>,
    /// Outcomes of these packets: time and packet number.
    settled: VecDeque<(Time, u64)>,
    /// Number of unpolled outcomes that `settled` already contains.
    noted: usize,
}

impl OutsideHeaders {
    /// Stores the headers of a packet.
    pub(super) fn register_headers(&mut self, number: u64, headers: &[u8]) {
        self.known.insert(number, headers.into());
    }

    /// Copies new outcomes to `settled`. The result does not depend on when the caller polls outcomes.
    pub(super) fn copy_outcomes(&mut self, outcomes: &VecDeque<PacketOutcome>) {
        let more = outcomes.range(self.noted..).map(|outcome| (outcome.at(), outcome.number()));
        self.settled.extend(more);
        self.noted = outcomes.len();
    }

    /// Notes that the caller polls the first outcome.
    pub(super) fn ask(&mut self) {
        self.noted -= 1;
    }

    /// Removes the headers of packets that no node can retransmit from `now` on.
    pub(super) fn forget(&mut self, now: Time) {
        while let Some((_, old)) = self.settled.front().filter(|(at, _)| *at + REPEATED < now) {
            self.known.remove(old);
            self.settled.pop_front();
        }
    }

    /// Headers of a packet, if known.
    pub(super) fn of(&self, number: u64) -> Option<&[u8]> {
        self.known.get(&number).map(AsRef::as_ref)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::{DropCause, NodeId};

    #[test]
    fn headers_are_known_until_nothing_repeats_them() {
        let ms = |ms| Time::ZERO + Span::from_ms(ms);
        let lost = |number, at_ms| PacketOutcome::Lost {
            number,
            at: ms(at_ms),
            node: NodeId(0),
            cause: DropCause::RetryLimit,
        };
        for asks in [false, true] {
            let mut headers = OutsideHeaders::default();
            (1..4).for_each(|number| headers.register_headers(number, &[number as u8]));
            let mut outcomes = VecDeque::from([lost(1, 0), lost(2, 500)]);
            headers.copy_outcomes(&outcomes);
            headers.forget(ms(1_000));
            assert_eq!(headers.of(1), Some(&[1][..]));
            if asks {
                headers.ask();
                outcomes.pop_front();
            }
            outcomes.push_back(lost(3, 501));
            headers.copy_outcomes(&outcomes);
            headers.forget(ms(1_001));
            assert_eq!([1, 2, 3].map(|number| headers.of(number).is_some()), [false, true, true], "{asks}");
            headers.forget(ms(1_502));
            assert!(headers.known.is_empty() && headers.settled.is_empty());
        }
    }
}
