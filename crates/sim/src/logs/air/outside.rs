//! What packets from outside have in front of their payload, where that is known.

use crate::external::PacketOutcome;
use multihop_core::{Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// A sender that has not heard that its packet arrived may repeat it for no longer than this.
const REPEATED: Span = Span::from_ms(1_000);

/// The headers of IPv4 and transport of packets in the network, by the number of the packet.
#[derive(Debug, Default)]
pub(super) struct OutsideHeaders {
    known: BTreeMap<u64, Box<[u8]>>,
    /// Of these, packets of which something became, and when.
    settled: VecDeque<(Time, u64)>,
    /// So many of the outcomes that nobody has asked for yet are among them.
    noted: usize,
}

impl OutsideHeaders {
    /// A packet has these.
    pub(super) fn register_headers(&mut self, number: u64, headers: &[u8]) {
        self.known.insert(number, headers.into());
    }

    /// Notes the outcomes that nobody has asked for yet. When they are asked for makes no difference.
    pub(super) fn note(&mut self, outcomes: &VecDeque<PacketOutcome>) {
        let more = outcomes.range(self.noted..).map(|outcome| (outcome.at(), outcome.number()));
        self.settled.extend(more);
        self.noted = outcomes.len();
    }

    /// The first of them is asked for.
    pub(super) fn ask(&mut self) {
        self.noted -= 1;
    }

    /// Forgets what nothing repeats from this instant on.
    pub(super) fn forget(&mut self, now: Time) {
        while let Some((_, old)) = self.settled.front().filter(|(at, _)| *at + REPEATED < now) {
            self.known.remove(old);
            self.settled.pop_front();
        }
    }

    /// Those of a packet.
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
            headers.note(&outcomes);
            headers.forget(ms(1_000));
            assert_eq!(headers.of(1), Some(&[1][..]));
            if asks {
                headers.ask();
                outcomes.pop_front();
            }
            outcomes.push_back(lost(3, 501));
            headers.note(&outcomes);
            headers.forget(ms(1_001));
            assert_eq!([1, 2, 3].map(|number| headers.of(number).is_some()), [false, true, true], "{asks}");
            headers.forget(ms(1_502));
            assert!(headers.known.is_empty() && headers.settled.is_empty());
        }
    }
}
