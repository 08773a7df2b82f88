//! Contents of a transmission opportunity of a backlogged station on an idle channel.

use super::tries::ns;
use crate::config::AggregationConfig;
use crate::mac::{Fullest, Timing};
use crate::medium::{RateClass, RateSet};
use multihop_core::Span;
use multihop_dot11::AccessCategory;

/// Exchanges of a transmission opportunity, or a single one without a TXOP limit; sums in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Opportunity {
    /// Number of packets in all frames.
    pub packets: f64,
    /// Airtime of PSDUs, and of their preambles, of handshakes before them, and of responses with the spaces
    /// before them.
    pub payload: f64,
    pub preambles: f64,
    pub handshakes: f64,
    pub answers: f64,
    /// Time between exchanges, and propagation delays.
    pub between: f64,
}

impl Opportunity {
    /// Fills the opportunity as the MAC does: each frame holds as many packets as the limits and the
    /// remaining TXOP allow.
    pub fn new(
        limits: &AggregationConfig,
        timing: &Timing,
        rates: RateSet,
        category: AccessCategory,
        size: u32,
        first: &Fullest,
    ) -> Opportunity {
        let (limit, link) = (timing.access(category).txop_limit, timing.on(rates));
        let single = timing.data_bytes(size);
        let least =
            timing.exchange_with(rates, link.psdu_airtime(single), link.ack, timing.needs_rts(single));
        let (mut made, mut full, mut used) = (Opportunity::default(), *first, Span::ZERO);
        loop {
            used += made.add(&full, limits, timing, rates);
            if used + timing.sifs + least > limit {
                return made;
            }
            used += timing.sifs;
            made.between += ns(timing.sifs);
            let longest = timing.longest_psdu_within(rates, limits, limit - used);
            full = Fullest::within(limits, timing, rates, size, longest);
        }
    }

    /// Creates an opportunity of a single exchange.
    pub fn of_one(
        full: &Fullest,
        limits: &AggregationConfig,
        timing: &Timing,
        rates: RateSet,
    ) -> Opportunity {
        let mut made = Opportunity::default();
        made.add(full, limits, timing, rates);
        made
    }

    /// Adds an exchange. Returns its duration at the sender.
    fn add(&mut self, full: &Fullest, limits: &AggregationConfig, timing: &Timing, rates: RateSet) -> Span {
        let link = timing.on(rates);
        let preamble = ns(link.overhead(RateClass::Data));
        let response = if full.mpdus > 1 { link.block_ack } else { link.ack };
        let with_rts = full.needs_rts(limits, timing);
        let propagation = timing.propagation * if with_rts { 4 } else { 2 };
        self.packets += f64::from(full.packets);
        self.payload += ns(link.airtime(RateClass::Data, full.bytes)) - preamble;
        self.preambles += preamble;
        let protection = ns(link.protection(RateClass::Data));
        self.handshakes +=
            if with_rts { ns(link.rts) + ns(link.cts) + 2.0 * ns(timing.sifs) } else { protection };
        self.answers += ns(timing.sifs) + ns(response);
        self.between += ns(propagation);
        timing.exchange_with(rates, link.psdu_airtime(full.bytes), response, with_rts) + propagation
    }
}
