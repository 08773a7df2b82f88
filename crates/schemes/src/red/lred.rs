//! LRED, link-layer RED with adaptive pacing. Nodes respond to the MAC's retransmissions (Fu et al. 2003).

use crate::red::{EarlyDrop, check_order};
use crate::tcp::TcpParameters;
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_core::{Exchange, Fate, LinkEvent, NodeId, Packet, Span, Time};
use multihop_link::{EgressQueue, Hop, LinkView, RouterPolicy, Verdict};
use multihop_transport::{Controller, Recovery, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Weight of the latest frame in the mean of retransmissions, which starts at 0. Recalled from the paper, not
/// verified.
const RETRY_WEIGHT: f64 = 0.125;
/// Retransmissions counted for a frame that the MAC gave up: the short retry limit of the standard.
const GIVEN_UP_RETRIES: u32 = 7;

keys! {
    /// `tcp-newreno` with nodes that drop data at random, or mark it with `ecn`, when their frames needed
    /// many transmissions. Nodes also defer each frame by one more exchange.
    ///
    /// The authors' abstract confirms the two parts (link RED and adaptive pacing) and throughput gains of 5
    /// to 30 %. The published thresholds could not be read. The defaults of `min_threshold`, `max_threshold`
    /// and `max_probability` are proposals of this project.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct Lred {
        /// Mean retransmissions per frame from which data is dropped or marked and frames are paced
        /// (`min_th`). The default is a proposal: the published value could not be verified.
        pub min_threshold: f64 [0, 1000] = 1.0,
        /// Mean retransmissions per frame at which the probability would reach 1 without `max_probability`
        /// (`max_th`). The default is a proposal: the published value could not be verified.
        pub max_threshold: f64 [0, 1000] = 4.0,
        /// Maximum probability of a drop or mark (`max_P`). The default is a proposal: the published value
        /// could not be verified.
        pub max_probability: f64 [0, 1] = 0.5,
        /// Whether frames are paced. While the mean is at or above `min_threshold`, the backoff before a
        /// frame is longer by the airtime of the previous frame's exchange.
        pub pacing: bool = true,
        /// TCP connection.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

impl Parameters for Lred {
    const NAME: &str = "lred";
    const SUMMARY: &str = "TCP NewReno; nodes drop or mark data and pace frames by the MAC's retransmissions (thresholds unverified)";
    const REFERENCE: &str = "Fu, Zerfos, Luo, Lu, Zhang and Gerla 2003 (INFOCOM); RFC 3168";

    fn check(&self) -> Result<(), ParameterError> {
        check_order(self.min_threshold, self.max_threshold)?;
        self.tcp.check()
    }
}

impl TcpScheme for Lred {
    fn options(&self) -> TcpOptions {
        self.tcp.options(Recovery::NewReno)
    }

    fn control(&self) -> Box<dyn Controller> {
        Box::new(self.tcp.reno())
    }

    fn policy(&self, _node: NodeId, egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        if egress.is_wired {
            return None;
        }
        Some(Box::new(LredPolicy {
            parameters: self.clone(),
            retries: 0.0,
            previous: Span::ZERO,
            early_drop: EarlyDrop::new(egress),
        }))
    }
}

/// Router policy of LRED.
struct LredPolicy {
    parameters: Lred,
    /// Mean retransmissions per frame (`avg_retry`).
    retries: f64,
    /// Airtime of the previous frame's exchange.
    previous: Span,
    early_drop: EarlyDrop,
}

impl LredPolicy {
    /// Returns the probability with which a data packet is dropped or marked.
    fn probability(&self) -> f64 {
        let Lred { min_threshold: min, max_threshold: max, max_probability, .. } = self.parameters;
        ((self.retries - min) / (max - min)).clamp(0.0, max_probability)
    }

    /// Returns the retransmissions of a unicast frame: of its RTS, or of DATA without RTS.
    fn retries_of(exchange: &Exchange) -> u32 {
        match exchange.fate {
            Fate::GivenUp => GIVEN_UP_RETRIES,
            _ => exchange.rts_tries.max(exchange.data_tries).saturating_sub(1),
        }
    }
}

impl RouterPolicy for LredPolicy {
    fn senses_medium(&self) -> bool {
        false
    }

    fn on_head_of_line(&mut self, _hop: Hop, packet: &mut Packet, _view: &LinkView) -> Verdict {
        let probability = self.probability();
        self.early_drop.decide(packet, probability)
    }

    fn extra_backoff(&self, _packet: &Packet) -> Span {
        let paced = self.parameters.pacing && self.retries >= self.parameters.min_threshold;
        if paced { self.previous } else { Span::ZERO }
    }

    fn on_link(&mut self, event: &LinkEvent) {
        let LinkEvent::Exchange(exchange) = event else { return };
        if exchange.fate == Fate::Broadcast {
            return;
        }
        let retries = f64::from(Self::retries_of(exchange));
        self.retries += RETRY_WEIGHT * (retries - self.retries);
        self.previous = exchange.airtime;
    }

    fn on_restart(&mut self, _now: Time) {
        (self.retries, self.previous) = (0.0, Span::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{EGRESS, hop, packet};
    use multihop_core::{Ecn, FlowId, Rate};

    /// Airtime of 9.4 ms.
    const AIRTIME: Span = Span::from_us(9_406);

    fn exchange(fate: Fate, rts_tries: u32, data_tries: u32) -> LinkEvent {
        LinkEvent::Exchange(Exchange {
            node: NodeId(0),
            peer: NodeId(1),
            flow: FlowId(0),
            size: 1000,
            rate: Rate::from_kbps(1_000),
            payload: 960,
            enqueued: Time::ZERO,
            head_of_line: Time::ZERO,
            done: Time::ZERO,
            fate,
            rts_tries,
            rts_failures: rts_tries.saturating_sub(data_tries),
            data_tries,
            slots: 0,
            airtime: AIRTIME,
            mpdus: 1,
        })
    }

    fn at(scheme: &Lred) -> LredPolicy {
        LredPolicy {
            parameters: scheme.clone(),
            retries: 0.0,
            previous: Span::ZERO,
            early_drop: EarlyDrop::new(&EGRESS),
        }
    }

    #[test]
    fn the_mean_of_retransmissions_by_hand() {
        let mut node = at(&Lred::default());
        node.on_link(&exchange(Fate::GivenUp, 7, 0));
        assert_eq!(node.retries, 0.875);
        node.on_link(&exchange(Fate::Acknowledged, 1, 1));
        assert_eq!(node.retries, 0.765_625);
        node.on_link(&exchange(Fate::Acknowledged, 3, 2)); // one RTS and one DATA lost
        assert_eq!(node.retries, 0.765_625 * 7.0 / 8.0 + 2.0 / 8.0);
        let before = node.retries;
        node.on_link(&exchange(Fate::Acknowledged, 0, 5)); // without RTS
        assert_eq!(node.retries, before * 7.0 / 8.0 + 4.0 / 8.0);
        let before = node.retries;
        node.on_link(&exchange(Fate::Broadcast, 0, 1));
        assert_eq!(node.retries, before);
    }

    /// A mean from 1 to 4 gives a probability from 0 to 1, cut off at 0.5.
    #[test]
    fn the_probability_is_a_ramp_with_an_upper_limit() {
        let mut node = at(&Lred::default());
        for (retries, expected) in [(0.0, 0.0), (1.0, 0.0), (1.75, 0.25), (2.5, 0.5), (4.0, 0.5), (7.0, 0.5)]
        {
            node.retries = retries;
            assert_eq!(node.probability(), expected, "{retries}");
        }
    }

    #[test]
    fn data_is_dropped_before_it_is_sent_or_marked_with_ecn() {
        let counts = |ecn: Ecn| {
            let mut node = at(&Lred::default());
            (0..20).for_each(|_| node.on_link(&exchange(Fate::GivenUp, 7, 0)));
            let mut verdicts = [0; 3];
            for _ in 0..1_000 {
                let verdict =
                    node.on_head_of_line(hop(Time::ZERO), &mut packet(1000, ecn), &LinkView::default());
                verdicts[verdict as usize] += 1;
            }
            verdicts
        };
        let [_, marked, dropped] = counts(Ecn::NotCapable);
        assert!(marked == 0 && (450..550).contains(&dropped), "{dropped}");
        let [_, marked, dropped] = counts(Ecn::Ect0);
        assert!(dropped == 0 && (450..550).contains(&marked), "{marked}");
    }

    #[test]
    fn frames_are_paced_by_the_previous_exchange_while_the_mean_is_high() {
        let paced = |scheme: &Lred, given_up: u32| {
            let mut node = at(scheme);
            (0..given_up).for_each(|_| node.on_link(&exchange(Fate::GivenUp, 7, 0)));
            node.extra_backoff(&packet(1000, Ecn::NotCapable))
        };
        assert_eq!(paced(&Lred::default(), 1), Span::ZERO);
        assert_eq!(paced(&Lred::default(), 2), AIRTIME);
        assert_eq!(paced(&Lred { pacing: false, ..Lred::default() }, 2), Span::ZERO);
    }

    #[test]
    fn a_restart_clears_the_mean() {
        let mut node = at(&Lred::default());
        (0..9).for_each(|_| node.on_link(&exchange(Fate::GivenUp, 7, 0)));
        node.on_restart(Time::ZERO);
        assert_eq!((node.probability(), node.extra_backoff(&packet(1000, Ecn::Ect0))), (0.0, Span::ZERO));
    }

    #[test]
    fn wires_have_no_policy() {
        assert!(Lred::default().policy(NodeId(0), &EgressQueue { is_wired: true, ..EGRESS }).is_none());
    }
}
