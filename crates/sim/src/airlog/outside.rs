//! What packets from outside have in front of their payload, where that is known.

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
}

impl OutsideHeaders {
    /// A packet has these.
    pub(super) fn know(&mut self, number: u64, headers: &[u8]) {
        self.known.insert(number, headers.into());
    }

    /// The packet has arrived by now, or is lost.
    pub(super) fn settle(&mut self, number: u64, now: Time) {
        self.settled.push_back((now, number));
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

    #[test]
    fn headers_are_known_until_nothing_repeats_them() {
        let ms = |ms| Time::ZERO + Span::from_ms(ms);
        let mut headers = OutsideHeaders::default();
        (1..4).for_each(|number| headers.know(number, &[number as u8]));
        headers.settle(1, ms(0));
        headers.settle(2, ms(1_000));
        assert_eq!(headers.of(1), Some(&[1][..]));
        headers.settle(3, ms(1_001));
        assert_eq!([1, 2, 3].map(|number| headers.of(number).is_some()), [false, true, true]);
    }
}
