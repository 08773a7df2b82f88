//! ECN from the number of RTS retransmissions: the first metric compared with RECN (He et al. 2017, section
//! 2, after Raghunathan and Kumar 2007).

use crate::marking::{EcnTcp, Metric};
use multihop_config::keys;
use multihop_link::{Departure, LinkView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// TCP with ECN whose nodes mark a data frame after several unanswered RTS.
pub type EcnRts = EcnTcp<RtsFailures>;

keys! {
    /// Number of the frame's RTS without a CTS when its DATA leaves. A frame sent without RTS has none and is
    /// never marked.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct RtsFailures {
        /// Number of unanswered RTS from which a frame is marked, at least 1. He et al. describe the rule as
        /// "greater than two" and run it with a "threshold of two". With means between 1.35 and 2.11 (Table
        /// 2), only the reading "two or more" has an effect, so that it is the default.
        pub threshold: u32 [1, 1000] = 2,
    }
}

impl Metric for RtsFailures {
    const NAME: &str = "ecn-rts";
    const SUMMARY: &str = "TCP NewReno with ECN, marked by nodes from the RTS retransmissions of each frame";
    const REFERENCE: &str = "He et al. 2017, section 5.1; Raghunathan and Kumar 2007; RFC 3168";

    fn value(&self, departure: &Departure, _view: &LinkView) -> Option<f64> {
        Some(f64::from(departure.rts_failures))
    }

    fn is_congested(&self, value: f64) -> bool {
        value >= f64::from(self.threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{departure, marks_of};

    #[test]
    fn a_frame_is_marked_when_two_rts_were_not_answered() {
        let departures = [0, 1, 2, 6].map(|failures| departure(60_000, failures));
        assert_eq!(marks_of(&EcnRts::default(), &departures), [false, false, true, true]);
        let strict = EcnRts { metric: RtsFailures { threshold: 3 }, ..EcnRts::default() };
        assert_eq!(marks_of(&strict, &departures), [false, false, false, true]);
    }

    /// A retransmission of DATA after an answered RTS does not count: the third DATA here had three answered
    /// RTS.
    #[test]
    fn lost_data_does_not_count_as_lost_rts() {
        let again = Departure { rts_tries: 3, data_tries: 2, ..departure(60_000, 0) };
        assert_eq!(marks_of(&EcnRts::default(), &[again]), [false]);
    }
}
