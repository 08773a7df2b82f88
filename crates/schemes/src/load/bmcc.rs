//! BMCC (Qazi, Andrew and Znati 2009): routers signal their load factor as a number in the two ECN bits of
//! many packets.
//!
//! The texts of the paper and of its journal version (2012) could not be retrieved. Sources of what is here:
//!
//! | part | source |
//! |---|---|
//! | load factor; three responses by the load; ECN bits alone | Qazi, Znati and Mosse, Table I, section III |
//! | `interval` of 200 ms | the same, section VI.A |
//! | a number from the marks of many packets | abstracts of both versions |
//! | a cut that grows with the load (`backoff_slope`) | abstract of MLCP, without a value |
//! | laws of increase, scaling with round trips | program of VCP, `vcp-src.cc` in `zxxia/ns-2.29` |
//! | [`KAPPA`], [`QUEUE_SHARE`], `utilization`, `backoff` | from memory of MLCP and BMCC, not verified |
//! | `alpha`, value of `backoff_slope`, `mark_acks`, `carry_fractions` | this project |
//!
//! `addition_limit = "table"` is a table of VCP's program, which the sender of the public copy does not read.

use super::header::{LoadEcho, LoadHeader};
use crate::capacity::CapacityParameters;
use crate::load::router::{Code, LoadConstants, LoadRouter};
use crate::load::sender::{AdditionLimit, LoadSender, LoadSenderOptions};
use crate::tcp::TcpParameters;
use crate::xcp::reject_ecn;
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

/// Gain of multiplicative increase, `kappa`.
const KAPPA: f64 = 0.35;
/// Share of the mean queue that counts as demand, `kappa_1`.
const QUEUE_SHARE: f64 = 0.5;
/// Round-trip time at which the increase is not scaled, `t_d`.
const TYPICAL_RTT: Duration = Duration(0.1);

keys! {
    /// Reliable transport controlled by the load factor that routers signal. The window grows by
    /// multiplication at a low load and by addition near the capacity. It is cut above the capacity.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct Bmcc {
        /// Capacity of links at routers.
        #[serde(flatten)]
        pub capacity: CapacityParameters,
        /// Weights for service differentiation, by node number as in the topology from 0: { 1 = 3, 2 = 1.5 }.
        /// A node divides its capacity among active next hops by their weights (1 for others) and gives each
        /// its own load factor. A listed node scales its own capacity by its weight over the largest.
        /// Default: none, with one load factor.
        pub weights: BTreeMap<u32, f64>,
        /// Time between load factors (`t_p`), in steps of 10 ms.
        pub interval: Duration ["10 ms", "1 min"] = Duration(0.2),
        /// Target share of the capacity (`gamma`).
        pub utilization: f64 [0.01, 2] = 1.0,
        /// Segments that additive increase adds in a round trip of 100 ms (`alpha`). The default is small,
        /// because several flows add between two cuts, and their sum should not exceed a cut. The authors'
        /// program for VCP uses 1.
        pub alpha: f64 [0, 1000] = 0.1,
        /// Upper limit of the additive increase: "cut", `1 - backoff` of the window in a round trip, which a
        /// cut takes back; "none"; or "table", by a table of the authors' program for VCP: a tenth of a
        /// segment for each acknowledged segment at a window of one, down to a fiftieth at 1000. With small
        /// windows the increase is then in proportion to the window, and shares do not become equal.
        pub addition_limit: AdditionLimit,
        /// Whether the fraction of a segment in the window is carried over to the next round trip. A window
        /// of 1.5 segments then sends one and two segments in turn. If false, windows are rounded down: of
        /// two senders with 1.9 and 2.1 segments, one sends twice as much as the other.
        pub carry_fractions: bool = true,
        /// Whether routers also mark acknowledgements. The sender then uses the larger load factor of the two
        /// directions, so that a queue of acknowledgements limits it too. Pure acknowledgements are then ECN
        /// capable, as in RFC 5690, without additional bytes.
        pub mark_acks: bool = true,
        /// Share of the window that remains after a cut (`beta`).
        pub backoff: f64 [0.5, 1] = 0.875,
        /// Reduction of `backoff` for each unit of load above one, down to a remaining share of 0.5. With 0
        /// every cut is equal: many small windows then add more between two cuts than a cut takes back, and a
        /// full queue remains full.
        pub backoff_slope: f64 [0, 100] = 0.5,
        /// TCP connection with SACK recovery and 4 more bytes in acknowledgements. The receive window is 1024
        /// segments unless `window` is given.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

/// Allowed range of weights.
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
        reject_ecn(&self.tcp)?;
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
            addition_limit: self.addition_limit,
            limits_multiplication: false,
            carries_fractions: self.carry_fractions,
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

    /// Returns the ECN codepoint of the first acknowledgement.
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
    fn acknowledgements_are_ecn_capable_unless_switched_off() {
        assert_eq!(ack(&Bmcc::default()), Ecn::Ect0);
        assert_eq!(ack(&Bmcc { mark_acks: false, ..Bmcc::default() }), Ecn::NotCapable);
    }

    /// 4 bytes in acknowledgements and none in data. The receiver returns the load factor of the marks.
    #[test]
    fn a_receiver_returns_the_load_of_the_marks() {
        let header = TcpScheme::options(&Bmcc::default()).congestion_header;
        assert_eq!((header.bytes, header.bytes_with_data, header.codepoint), (4, 0, Some(Ecn::Ect0)));
        let mut echo = TcpScheme::echo(&Bmcc::default()).unwrap();
        let ecn = Ecn::CongestionExperienced;
        echo.note(&multihop_core::Segment { payload: 1_000, ecn, ..multihop_core::Segment::default() });
        assert_eq!(echo.take().parse::<LoadHeader>().map(LoadHeader::load), Some(1.0));
    }

    /// From 10 segments, a load of 1 leaves a share of 0.875, and a load of 1.1 leaves 0.05 less, unless
    /// other values are given.
    #[test]
    fn senders_cut_as_their_parameters_say() {
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
