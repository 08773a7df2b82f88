//! BMCC (Qazi, Andrew and Znati 2009): routers signal their load factor, as a number, in the two ECN bits of
//! many packets.
//!
//! The papers' texts could not be retrieved. What is public is what its abstract and the paper on capacity
//! estimation say; constants and the form of the laws are those of MLCP and of the program for its ancestor
//! VCP, as the documentation of the scheme says.

use super::header::{LoadEcho, LoadHeader};
use crate::capacity::CapacityParameters;
use crate::load::router::{Code, LoadConstants, LoadRouter};
use crate::load::sender::{LoadSender, LoadSenderOptions};
use crate::tcp::TcpParameters;
use crate::xcp::no_ecn;
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_config::parameter_error::{Found, Wanted};
use multihop_config::quantity::Duration;
use multihop_core::{Ecn, Header, HeaderFormat, NodeId};
use multihop_link::{EgressQueue, RouterPolicy};
use multihop_transport::{CongestionHeader, Controller, Echo, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Gain of multiplicative increase (`kappa`).
const KAPPA: f64 = 0.35;
/// Share of the mean queue that counts as demand (`kappa_1`).
const QUEUE_SHARE: f64 = 0.5;
/// The round-trip time at which the increase is not scaled (`t_d`).
const TYPICAL_RTT: Duration = Duration(0.1);

keys! {
    /// A reliable transport whose window is multiplied while the path has room, opened by addition near its
    /// capacity, and cut above that, by a load factor that routers mark packets with.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct Bmcc {
        /// The capacity of links.
        #[serde(flatten)]
        pub capacity: CapacityParameters,
        /// Weights by number of the node, as the topology lists them from 0 on, for service differentiation:
        /// { 1 = 3, 2 = 1.5 }. A node divides its capacity among next hops with traffic by their weights (1
        /// for others), and gives each a load factor of its own. A node that is listed takes its own capacity
        /// to be less, by its weight over the largest. Default: none, and one load factor.
        pub weights: BTreeMap<u32, f64>,
        /// Time between load factors (`t_p`), in steps of 10 ms.
        pub interval: Duration ["10 ms", "1 min"] = Duration(0.2),
        /// Share of the capacity that is aimed at (`gamma`).
        pub utilization: f64 [0.01, 2] = 1.0,
        /// Segments that additive increase adds in a round trip of `typical_rtt` (`alpha`), but no more than
        /// a cut takes back, which is `1 - backoff` of the window. The default is small because several flows
        /// add between two cuts, and that is not to be more than a cut takes back either. The authors'
        /// program for VCP has 1, and the limit below.
        pub alpha: f64 [0, 1000] = 0.1,
        /// What one acknowledgement adds is limited to between a tenth of a segment, at a window of one, and
        /// a fiftieth, at 1000, as in the authors' program for VCP. Of small windows that is in proportion to
        /// the window, and shares do not become equal.
        pub limit_addition: bool,
        /// Routers mark acknowledgements as well as data, and the sender takes the larger load factor of the
        /// two directions, so that a queue of acknowledgements holds it back too. Costs no bytes: pure
        /// acknowledgements are ECN capable, as in RFC 5690.
        pub mark_acks: bool = true,
        /// What is left of the window after a cut (`beta`).
        pub backoff: f64 [0.5, 1] = 0.875,
        /// By how much less than `backoff` is left for each unit of load above one, down to a half. With the
        /// same cut at any overload, many small windows add more between two cuts than these take back, and a
        /// queue that is full stays so.
        pub backoff_slope: f64 [0, 100] = 0.5,
        /// The connection: repaired from selective acknowledgements, with a receive window of 1024 segments
        /// unless `window` is given, and 4 more bytes in acknowledgements.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

/// Weights that clients may have.
const WEIGHTS: std::ops::RangeInclusive<f64> = 1e-3..=1e3;

impl Parameters for Bmcc {
    const NAME: &str = "bmcc";
    const SUMMARY: &str = "BMCC: routers signal their load factor in the two ECN bits of many packets";
    const REFERENCE: &str =
        "Qazi, Andrew and Znati 2009; Qazi, Znati and Mosse (capacity estimation, section III)";
    const HEADERS: &[HeaderFormat] = &[HeaderFormat::of::<LoadHeader>()];

    fn check(&self) -> Result<(), ParameterError> {
        self.capacity.check()?;
        if let Some((node, weight)) = self.weights.iter().find(|(_, weight)| !WEIGHTS.contains(*weight)) {
            let found = Found::OutOfRange(format!("{weight} of node {node}"));
            return Err(ParameterError::new(
                "weights",
                found,
                Wanted::Between(*WEIGHTS.start(), *WEIGHTS.end()),
            ));
        }
        no_ecn(&self.tcp)?;
        self.tcp.check()
    }
}

impl TcpScheme for Bmcc {
    fn options(&self) -> TcpOptions {
        let ack_codepoint = if self.mark_acks { Ecn::Ect0 } else { Ecn::NotCapable };
        let header = CongestionHeader::marks(Ecn::Ect0, LoadHeader::LAYOUT.air as u32);
        self.tcp.router_assisted(CongestionHeader { ack_codepoint, ..header })
    }

    fn control(&self) -> Box<dyn Controller> {
        let options = self.options();
        let sender = LoadSender::new(LoadSenderOptions {
            segment_size: options.segment_size,
            initial_window: self.tcp.first_window(),
            max_window: options.receive_window(),
            interval: self.interval.span(),
            kappa: KAPPA,
            alpha: self.alpha,
            typical_rtt: TYPICAL_RTT.0,
            backoff: self.backoff,
            backoff_slope: self.backoff_slope,
            limits_addition: self.limit_addition,
            limits_multiplication: false,
        });
        Box::new(sender)
    }

    fn echo(&self) -> Option<Box<dyn Echo>> {
        Some(Box::new(LoadEcho::default()))
    }

    fn policy(&self, node: NodeId, egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        let capacity = self.capacity.at(egress, self.options().packet_size());
        let constants = LoadConstants {
            interval: self.interval.span(),
            utilization: self.utilization,
            queue_share: QUEUE_SHARE,
            weights: self.weights.clone(),
            code: Code::Number,
        };
        Some(Box::new(LoadRouter::new(node, capacity, constants)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scheme;
    use multihop_core::{Ecn, Time};
    use serde_json::json;

    /// The codepoint with which the first acknowledgement leaves.
    fn ack(bmcc: &Bmcc) -> Ecn {
        let (mut sender, mut receiver) = (bmcc.sender(), bmcc.receiver());
        sender.push(Time::ZERO, 5_000);
        receiver.on_segment(Time::ZERO, &sender.poll_segment(Time::ZERO).unwrap());
        sender.on_segment(Time::ZERO, &receiver.poll_segment(Time::ZERO).unwrap());
        for _ in 0..2 {
            receiver.on_segment(Time::ZERO, &sender.poll_segment(Time::ZERO).unwrap());
        }
        receiver.poll_segment(Time::ZERO).unwrap().ecn
    }

    #[test]
    fn acknowledgements_can_be_marked_unless_they_are_not_to_be() {
        assert_eq!(ack(&Bmcc::default()), Ecn::Ect0);
        assert_eq!(ack(&Bmcc { mark_acks: false, ..Bmcc::default() }), Ecn::NotCapable);
    }

    /// 4 bytes in acknowledgements and none in data; what comes back is what marks of a load say.
    #[test]
    fn a_receiver_returns_the_load_that_marks_say() {
        let header = TcpScheme::options(&Bmcc::default()).congestion_header;
        assert_eq!((header.bytes, header.bytes_with_data, header.codepoint), (4, 0, Some(Ecn::Ect0)));
        let mut echo = TcpScheme::echo(&Bmcc::default()).unwrap();
        let ecn = Ecn::CongestionExperienced;
        echo.note(&multihop_core::Segment { payload: 1_000, ecn, ..multihop_core::Segment::default() });
        assert_eq!(echo.take().parse::<LoadHeader>().map(LoadHeader::load), Some(1.0));
    }

    /// Three segments at first and five at most; of 10 segments a load of 1 leaves 0.875 and one of 1.1 0.05
    /// less, unless other shares are given.
    #[test]
    fn senders_have_the_windows_and_the_cuts_of_their_parameters() {
        let left = |parameters: serde_json::Value, load: u16| {
            let scheme: Bmcc = serde_json::from_value(parameters).unwrap();
            let mut sender = TcpScheme::control(&scheme);
            let before = sender.allowance().window;
            let rtt = Some(multihop_core::Span::from_ms(100));
            sender.on_feedback(&crate::testing::returned(&LoadHeader { load }, rtt));
            (before, sender.allowance().window)
        };
        let ten = json!({ "segment_size": "1000 B", "initial_window": 10 });
        assert_eq!(left(ten.clone(), 10_000), (10_000, 8_750));
        assert_eq!(left(ten, 11_000), (10_000, 8_250));
        let other =
            json!({ "segment_size": "1000 B", "initial_window": 10, "backoff": 0.75, "backoff_slope": 0.25 });
        assert_eq!(left(other, 15_000), (10_000, 6_250));
    }
}
