//! ATCP: a layer below TCP for mobile ad hoc networks (Liu and Singh 2001).

use crate::tcp::TcpParameters;
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_config::parameter_error::{Found, Wanted};
use multihop_config::quantity::Duration;
use multihop_core::{NodeId, Packet};
use multihop_link::{EgressQueue, Hop, LinkView, RouterPolicy, Verdict};
use multihop_transport::{Controller, Recovery, Standby, TcpOptions, WindowAfterFailure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// `tcp-newreno` with ECN above a layer that decides which events are congestion.
    ///
    /// - Congested: after an ECN-Echo TCP acts alone, until it sends new data.
    /// - Loss: third duplicate acknowledgement, or expiry of the timer, without a mark. TCP is frozen and the
    ///   layer retransmits, until new data is acknowledged. Window and timeout stay.
    /// - Disconnected: the route failed, as for `tcp-elfn`. TCP is frozen and probes; it continues with a
    ///   window of one segment.
    /// - Normal: the layer does nothing.
    ///
    /// The paper leaves marks to routers. Here a node marks data that enters a queue of at least
    /// `marking_queue` full packets. Without marks nothing but a failure of the route slows a sender down.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct Atcp {
        /// Interval between probes while the route is down. The paper does not give it; this is the value of
        /// TCP-ELFN.
        pub probe_interval: Duration ["1 ms", "1 h"] = Duration(2.0),
        /// Length of a queue, in full packets, from which data is marked. Not in the paper.
        pub marking_queue: u32 [1, 1_000_000] = 10,
        /// TCP connection. Losses are detected by duplicate acknowledgements with each `flavour`.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

impl Parameters for Atcp {
    const NAME: &str = "atcp";
    const SUMMARY: &str =
        "TCP NewReno above a layer that hides losses without a mark, and freezes while the route is down";
    const REFERENCE: &str = "Liu and Singh 2001; RFC 3168, RFC 5681, RFC 6298, RFC 6582";

    fn check(&self) -> Result<(), ParameterError> {
        if self.tcp.ecn == Some(false) {
            return Err(ParameterError::new("ecn", Found::Truth(false), Wanted::LeaveOutOf(Self::NAME)));
        }
        if self.tcp.accurate_ecn == Some(true) {
            let instead = Wanted::LeaveOutOr("base", "\"tcp-prague\"");
            return Err(ParameterError::new("accurate_ecn", Found::Truth(true), instead));
        }
        self.connection().check_common()
    }
}

impl TcpScheme for Atcp {
    fn options(&self) -> TcpOptions {
        let standby = Standby {
            probe_interval: self.probe_interval.span(),
            window: WindowAfterFailure::OneSegment,
            hides_losses: true,
        };
        TcpOptions { standby: Some(standby), ..self.connection().options_with(Recovery::NewReno) }
    }

    fn control(&self) -> Box<dyn Controller> {
        Box::new(self.connection().reno())
    }

    fn policy(&self, _node: NodeId, _egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        let packet = u64::from(TcpScheme::options(self).packet_size());
        Some(Box::new(QueueMarking { from: u64::from(self.marking_queue) * packet }))
    }
}

impl Atcp {
    fn connection(&self) -> TcpParameters {
        TcpParameters { ecn: Some(true), ..self.tcp.clone() }
    }
}

/// Router policy that marks data by the length of the queue.
struct QueueMarking {
    /// Bytes in the queue from which data is marked.
    from: u64,
}

impl RouterPolicy for QueueMarking {
    fn senses_medium(&self) -> bool {
        false
    }

    fn on_arrival(&mut self, _hop: Hop, packet: &mut Packet, view: &LinkView) -> Verdict {
        if packet.carries_data() && view.queue_bytes >= self.from { Verdict::Mark } else { Verdict::Pass }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{EGRESS, hop, packet};
    use multihop_core::{Ecn, Time};
    use serde_json::{from_value, json};

    /// Three packets of 1500 bytes. Acknowledgements are not marked.
    #[test]
    fn data_is_marked_from_a_queue_length_on() {
        let scheme: Atcp = from_value(json!({ "marking_queue": 3 })).unwrap();
        let mut router = scheme.policy(NodeId(0), &EGRESS).unwrap();
        let mut verdict = |payload, queue_bytes| {
            let view = LinkView { queue_bytes, ..LinkView::default() };
            router.on_arrival(hop(Time::ZERO), &mut packet(payload, Ecn::Ect0), &view)
        };
        assert_eq!([verdict(1_460, 4_499), verdict(1_460, 4_500)], [Verdict::Pass, Verdict::Mark]);
        assert_eq!(verdict(0, 9_000), Verdict::Pass);
    }

    /// With recovery by time, as in Linux, no count of duplicates would reach the layer.
    #[test]
    fn duplicates_are_counted_with_every_flavour() {
        for flavour in ["rfc", "ns2", "linux"] {
            let scheme: Atcp = from_value(json!({ "flavour": flavour })).unwrap();
            let options = TcpScheme::options(&scheme);
            assert_eq!((options.recovery, options.ecn), (Recovery::NewReno, true), "{flavour}");
        }
    }
}
