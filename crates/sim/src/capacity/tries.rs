//! Expected attempts of an exchange until a packet is delivered over a link, and waiting times between them,
//! on a lossy channel without contention.

use crate::mac::Timing;
use crate::medium::RateSet;
use crate::routing::Arrivals;
use multihop_core::Span;
use multihop_dot11::{AccessCategory, EifsRule, ResponseTimeout};
use std::collections::BTreeMap;

/// Expected frames of DCF per packet that it starts, until the packet is acknowledged or given up (9.3.2.8,
/// 9.3.4.4). Every frame arrives with its probability in [`Arrivals`], independently of all others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tries {
    /// Number of RTS sent; 0 without RTS/CTS.
    pub rts: f64,
    /// Number of CTS sent.
    pub cts: f64,
    /// Number of DATA sent.
    pub data: f64,
    /// Number of ACK sent.
    pub ack: f64,
    /// Probability that the receiver has the packet in the end.
    pub delivered: f64,
    /// Probabilities that RTS and CTS of an attempt succeed, and that DATA and ACK arrive; the first is 1
    /// without RTS/CTS.
    handshake: f64,
    answered: f64,
    /// Numbers of consecutive failures of RTS/CTS, and of DATA/ACK, after which the packet is given up.
    limits: [u32; 2],
}

impl Tries {
    /// Computes the expected frames on a link with these arrival probabilities.
    pub fn new(arrivals: Arrivals, with_rts: bool, timing: &Timing) -> Tries {
        let handshake = if with_rts { arrivals.rts * arrivals.cts } else { 1.0 };
        let answered = arrivals.data * arrivals.ack;
        // Without RTS the short retry limit counts failures of DATA (9.3.4.4).
        let limits = [
            timing.short_retry_limit,
            if with_rts { timing.long_retry_limit } else { timing.short_retry_limit },
        ];
        let rts_per_data = geometric(1.0 - handshake, limits[0]);
        // Probability that DATA is sent before that many consecutive RTS failed.
        let gets_through = handshake * rts_per_data;
        let rounds = geometric(gets_through * (1.0 - answered), limits[1]);
        let unseen = geometric(gets_through * (1.0 - arrivals.data), limits[1]);
        let data = gets_through * rounds;
        let rts = if with_rts { rounds * rts_per_data } else { 0.0 };
        Tries {
            rts,
            cts: rts * arrivals.rts,
            data,
            ack: data * arrivals.data,
            delivered: gets_through * arrivals.data * unseen,
            handshake,
            answered,
            limits,
        }
    }

    /// Share of attempts that succeed.
    pub fn succeed(&self) -> f64 {
        self.handshake * self.answered
    }

    /// Expected waiting time of the sender besides frames and SIFS, in nanoseconds:
    ///
    /// * interframe space and back-off before each attempt, from a window that doubles with each failure,
    ///   once per transmission opportunity;
    /// * propagation;
    /// * timeouts of missing responses, and EIFS after corrupted ones.
    ///
    /// `success` is the duration of a successful exchange.
    pub fn access(
        &self,
        arrivals: Arrivals,
        timing: &Timing,
        rates: RateSet,
        category: AccessCategory,
        exchange: Span,
    ) -> f64 {
        let link = timing.on(rates);
        let tries = if self.rts > 0.0 { self.rts } else { self.data };
        let frames = self.rts + self.cts + self.data + self.ack;
        let silent = |timeout: Span| ns(timing.pause_after(None, timeout));
        let broken = |response: Span, timeout: Span| ns(timing.pause_after(Some(response), timeout));
        let contention = tries * ns(timing.access(category).aifs) + self.backoff(tries, timing, category);
        let of_one = if self.rts > 0.0 { 4 } else { 2 };
        between(timing, contention, timing.exchanges_at_once(category, exchange, of_one))
            + frames * ns(timing.propagation)
            + lost(self.rts, arrivals.rts) * silent(link.cts_timeout)
            + lost(self.cts, arrivals.cts) * broken(link.cts, link.cts_timeout)
            + lost(self.data, arrivals.data) * silent(link.ack_timeout)
            + lost(self.ack, arrivals.ack) * broken(link.ack, link.ack_timeout)
    }

    /// Expected back-off before all attempts, in nanoseconds, weighted by the probability of each number of
    /// failures until the window is largest.
    fn backoff(&self, tries: f64, timing: &Timing, category: AccessCategory) -> f64 {
        let access = timing.access(category);
        let largest = ns(timing.mean_backoff(access.cw_max));
        let mut waited = tries * largest;
        let mut window = access.cw_min;
        // Probability of an attempt after so many consecutive failures of the handshake, and of DATA.
        let mut at = BTreeMap::from([([0, 0], 1.0)]);
        while window < access.cw_max {
            waited += at.values().sum::<f64>() * (ns(timing.mean_backoff(window)) - largest);
            let mut next = BTreeMap::new();
            for ([short, long], chance) in at {
                let failures = [
                    ([short + 1, long], 1.0 - self.handshake),
                    ([0, long + 1], self.handshake * (1.0 - self.answered)),
                ];
                let is_retried = |failed: &[u32; 2]| failed[0] < self.limits[0] && failed[1] < self.limits[1];
                for (failed, share) in failures.into_iter().filter(|(failed, _)| is_retried(failed)) {
                    *next.entry(failed).or_insert(0.0) += chance * share;
                }
            }
            at = next;
            window = access.next_cw(window);
        }
        waited
    }
}

impl Timing {
    /// Extra time beyond DIFS, from the last bit on the air to the start of the back-off, if no response came
    /// within the timeout or if the given response was corrupted.
    fn pause_after(&self, response: Option<Span>, timeout: Span) -> Span {
        let last_bit = response.map_or(Span::ZERO, |response| self.sifs + response);
        let waits_for_end = response.is_some() && self.rules.response_timeout == ResponseTimeout::FirstBit;
        let failed = if waits_for_end { last_bit } else { timeout.max(last_bit) };
        let eifs = if response.is_some() { self.eifs } else { Span::ZERO };
        let as_nav = self.rules.eifs == EifsRule::AsNav;
        let idle_from = last_bit + if as_nav { eifs } else { Span::ZERO };
        let after_difs = if self.rules.fresh_difs {
            idle_from.max(failed) + self.difs
        } else {
            (idle_from + self.difs).max(failed)
        };
        let until_correct = self.rules.eifs == EifsRule::UntilCorrectFrame;
        let start = if until_correct { after_difs.max(last_bit + eifs) } else { after_difs };
        start.saturating_sub(last_bit + self.difs)
    }
}

/// Mean waiting time before an exchange of an opportunity with `at_once` exchanges: `first` before the first,
/// SIFS before the others.
fn between(timing: &Timing, first: f64, at_once: u64) -> f64 {
    let at_once = at_once as f64;
    first / at_once + ns(timing.sifs) * (at_once - 1.0) / at_once
}

/// Geometric sum `1 + x + x² + ...` with `terms` terms.
pub(super) fn geometric(x: f64, terms: u32) -> f64 {
    if x < 1.0 { (1.0 - x.powf(f64::from(terms))) / (1.0 - x) } else { f64::from(terms) }
}

fn lost(sent: f64, arrive: f64) -> f64 {
    sent * (1.0 - arrive)
}

/// Duration in nanoseconds, as a number that adds up without rounding where nothing is lost.
pub(super) fn ns(span: Span) -> f64 {
    span.ns() as f64
}
