//! Random early detection (Floyd and Jacobson 1993): dropping or marking data at random before a queue is
//! full.

mod lred;
pub(crate) mod nred;

pub use lred::Lred;
pub use nred::Nred;

use multihop_config::parameter_error::{Clash, Found, ParameterError, Wanted};
use multihop_core::{Ecn, Packet, Rng};
use multihop_link::{EgressQueue, Verdict};

/// Random decision about each data packet.
#[derive(Clone, Debug)]
pub(crate) struct EarlyDrop {
    rng: Rng,
}

impl EarlyDrop {
    /// Creates the decision for the policy at this egress queue.
    pub(crate) fn new(egress: &EgressQueue) -> EarlyDrop {
        EarlyDrop { rng: Rng::at(egress.seed, &["early drop"]) }
    }

    /// Decides about a packet with this probability: marks it, or drops it if its transport is not ECN
    /// capable (RFC 3168, section 5). Packets without payload pass.
    pub(crate) fn decide(&mut self, packet: &Packet, probability: f64) -> Verdict {
        let spared = !packet.carries_data() || probability <= 0.0;
        if spared || self.rng.unit() >= probability {
            Verdict::Pass
        } else if packet.segment.ecn == Ecn::NotCapable {
            Verdict::Drop
        } else {
            Verdict::Mark
        }
    }
}

/// Checks that the thresholds of a ramp are in order.
///
/// # Errors
/// Names the parameter, the value found and a remedy.
pub(crate) fn check_order(min: f64, max: f64) -> Result<(), ParameterError> {
    if min < max {
        Ok(())
    } else {
        let found = Found::NotAbove(Clash::new(max, "min_threshold", min));
        Err(ParameterError::new("max_threshold", found, Wanted::RaiseOrLower("min_threshold")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{EGRESS, packet};

    fn verdicts(payload: u32, ecn: Ecn, probability: f64) -> [usize; 3] {
        let mut coin = EarlyDrop::new(&EGRESS);
        let mut counts = [0; 3];
        for _ in 0..10_000 {
            counts[match coin.decide(&packet(payload, ecn), probability) {
                Verdict::Pass => 0,
                Verdict::Mark => 1,
                Verdict::Drop => 2,
            }] += 1;
        }
        counts
    }

    /// With 10000 packets and a probability of 0.3, the mean is 3000 with a standard deviation of 46.
    #[test]
    fn data_is_marked_if_ecn_capable_and_dropped_if_not() {
        let [passed, marked, dropped] = verdicts(1000, Ecn::Ect0, 0.3);
        assert!(marked.abs_diff(3_000) < 200 && passed + marked == 10_000 && dropped == 0, "{marked}");
        assert_eq!(verdicts(1000, Ecn::NotCapable, 0.3), [passed, 0, marked]);
        assert_eq!(verdicts(1000, Ecn::CongestionExperienced, 1.0), [0, 10_000, 0]);
    }

    #[test]
    fn packets_without_data_pass() {
        assert_eq!(verdicts(0, Ecn::NotCapable, 1.0), [10_000, 0, 0]);
        assert_eq!(verdicts(1000, Ecn::NotCapable, 0.0), [10_000, 0, 0]);
    }

    #[test]
    fn each_seed_has_draws_of_its_own() {
        let draws = |seed| {
            let mut coin = EarlyDrop::new(&EgressQueue { seed, ..EGRESS });
            (0..64).map(|_| coin.decide(&packet(1000, Ecn::NotCapable), 0.5)).collect::<Vec<_>>()
        };
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
    }
}
