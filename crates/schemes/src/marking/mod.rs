//! TCP with ECN marks from a metric of the MAC, for RECN and the schemes compared with it (He et al. 2017,
//! section 5.1).
//!
//! The schemes differ in their [`Metric`] only. Each node judges a data packet when its DATA frame leaves,
//! again at each retransmission, and independently of other nodes. Acknowledgements, and packets whose
//! transport is not ECN capable, are not marked.

mod ecn_busy;
mod ecn_fsd;
mod ecn_rts;
mod recn;

pub use ecn_busy::{Busyness, EcnBusy};
pub use ecn_fsd::{EcnFsd, ServiceDelay};
pub use ecn_rts::{EcnRts, RtsFailures};
pub use recn::{FrameEfficiency, Recn};

use crate::tcp::TcpParameters;
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::parameter_error::{Found, Wanted};
use multihop_core::{NodeId, Packet};
use multihop_link::{Departure, EgressQueue, Estimator, LinkView, PhyTimes, RouterPolicy, Verdict};
use multihop_transport::{Controller, Recovery, TcpOptions};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Metric of congestion at a node, with its threshold.
pub trait Metric:
    Clone + Default + DeserializeOwned + JsonSchema + Send + Serialize + Sync + 'static
{
    /// Name of the scheme that marks by this metric.
    const NAME: &str;
    /// Summary of that scheme in one line.
    const SUMMARY: &str;
    /// Paper that defines the metric.
    const REFERENCE: &str;

    /// Returns the metric at a queue, with the defaults that depend on the link behind it.
    #[must_use]
    fn at(&self, _egress: &EgressQueue) -> Self {
        self.clone()
    }

    /// Returns the estimators that write the metric's inputs into link views.
    fn estimators(&self) -> Vec<Box<dyn Estimator>> {
        Vec::new()
    }

    /// Returns the metric's value for the DATA frame that is about to leave; none before the first
    /// measurement.
    fn value(&self, departure: &Departure, view: &LinkView) -> Option<f64>;

    /// Whether this value means that the medium is congested.
    fn is_congested(&self, value: f64) -> bool;
}

/// `tcp-newreno` with ECN. Nodes set Congestion Experienced on a data packet when a metric of the MAC shows
/// that the medium is congested.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default, bound = "")]
pub struct EcnTcp<M: Metric> {
    /// Metric that decides about marks.
    #[serde(flatten)]
    pub metric: M,
    /// Weight of the current frame in the exponentially weighted mean that is compared with the threshold.
    /// The mean covers the data frames of the scheme's flows at the node, with retries. 1 uses the current
    /// frame alone, as published.
    #[schemars(transform = multihop_config::bounds!(above 0, 1))]
    pub smoothing: f64,
    /// TCP connection.
    #[serde(flatten)]
    pub tcp: TcpParameters,
}

impl<M: Metric> Default for EcnTcp<M> {
    fn default() -> EcnTcp<M> {
        EcnTcp { metric: M::default(), smoothing: 1.0, tcp: TcpParameters::default() }
    }
}

impl<M: Metric> Parameters for EcnTcp<M> {
    const NAME: &str = M::NAME;
    const SUMMARY: &str = M::SUMMARY;
    const REFERENCE: &str = M::REFERENCE;

    fn check(&self) -> Result<(), ParameterError> {
        if self.tcp.ecn == Some(false) {
            return Err(ParameterError::new("ecn", Found::Truth(false), Wanted::LeaveOutOf(M::NAME)));
        }
        self.tcp.check()
    }
}

impl<M: Metric> TcpScheme for EcnTcp<M> {
    fn options(&self) -> TcpOptions {
        self.ecn_tcp().options(Recovery::NewReno)
    }

    fn control(&self) -> Box<dyn Controller> {
        Box::new(self.ecn_tcp().reno())
    }

    fn policy(&self, _node: NodeId, egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        Some(Box::new(MarkingPolicy {
            metric: self.metric.at(egress),
            weight: self.smoothing,
            smoothed: None,
        }))
    }
}

impl<M: Metric> EcnTcp<M> {
    fn ecn_tcp(&self) -> TcpParameters {
        TcpParameters { ecn: Some(true), ..self.tcp.clone() }
    }
}

/// Router policy that marks packets by a metric.
struct MarkingPolicy<M> {
    metric: M,
    weight: f64,
    smoothed: Option<f64>,
}

impl<M: Metric> RouterPolicy for MarkingPolicy<M> {
    fn senses_medium(&self) -> bool {
        false
    }

    fn estimators(&self, _phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        self.metric.estimators()
    }

    fn on_data(&mut self, departure: &Departure, packet: &mut Packet, view: &LinkView) -> Verdict {
        if !packet.carries_data() {
            return Verdict::Pass;
        }
        let Some(present) = self.metric.value(departure, view) else { return Verdict::Pass };
        let value = self.smoothed.map_or(present, |past| self.weight * present + (1.0 - self.weight) * past);
        self.smoothed = Some(value);
        if self.metric.is_congested(value) { Verdict::Mark } else { Verdict::Pass }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scheme;
    use crate::testing::{EGRESS, departure, marks_of, packet};
    use crate::{EcnBusy, EcnFsd, EcnRts, Recn};
    use multihop_core::{Ecn, Time};

    fn all() -> Vec<Box<dyn Scheme>> {
        let (recn, rts) = (Recn::default(), EcnRts::default());
        vec![Box::new(recn), Box::new(rts), Box::new(EcnFsd::default()), Box::new(EcnBusy::default())]
    }

    #[test]
    fn only_ecn_capable_data_is_marked() {
        let view = LinkView { busy_ratio: Some(1.0), ..LinkView::default() };
        for scheme in all() {
            let mut router = scheme.router(NodeId(0), &EGRESS).unwrap();
            let mut after = |payload: u32, ecn: Ecn| {
                let mut packet = packet(payload, ecn);
                if router.on_data(&departure(80_000, 6), &mut packet, &view) == Verdict::Mark {
                    packet.mark();
                }
                packet.segment.ecn
            };
            assert_eq!(after(1000, Ecn::Ect0), Ecn::CongestionExperienced);
            assert_eq!(after(1000, Ecn::NotCapable), Ecn::NotCapable);
            assert_eq!(after(0, Ecn::Ect0), Ecn::Ect0);
        }
    }

    #[test]
    fn both_ends_agree_on_ecn() {
        for scheme in all() {
            let (mut sender, mut receiver) = (scheme.sender(), scheme.receiver());
            sender.push(Time::ZERO, 5_000);
            let syn = sender.poll_segment(Time::ZERO).unwrap();
            receiver.on_segment(Time::ZERO, &syn);
            sender.on_segment(Time::ZERO, &receiver.poll_segment(Time::ZERO).unwrap());
            let data = sender.poll_segment(Time::ZERO).unwrap();
            assert_eq!((syn.ecn, data.ecn), (Ecn::NotCapable, Ecn::Ect0));
        }
    }

    /// With weight 1/2, service delays of 20, 50, 20 and 20 ms have the means 20, 35, 27.5 and 23.75 ms.
    #[test]
    fn a_smoothed_metric_remembers_the_frames_before() {
        let departures = [20_000, 50_000, 20_000, 20_000].map(|service| departure(service, 0));
        let smooth = EcnFsd { smoothing: 0.5, ..EcnFsd::default() };
        assert_eq!(marks_of(&smooth, &departures), [false, true, false, false]);
        let slow = EcnFsd { smoothing: 0.25, ..EcnFsd::default() };
        assert_eq!(marks_of(&slow, &departures), [false; 4]);
        assert_eq!(marks_of(&EcnFsd::default(), &departures), [false, true, false, false]);
        let lingering = [20_000, 80_000, 20_000].map(|service| departure(service, 0));
        assert_eq!(marks_of(&smooth, &lingering), [false, true, true]);
    }

    /// Packets without data do not enter the mean.
    #[test]
    fn acknowledgements_do_not_enter_the_mean() {
        let mut router = EcnFsd { smoothing: 0.5, ..EcnFsd::default() }.router(NodeId(0), &EGRESS).unwrap();
        let view = LinkView::default();
        router.on_data(&departure(80_000, 0), &mut packet(0, Ecn::NotCapable), &view);
        let verdict = router.on_data(&departure(20_000, 0), &mut packet(1000, Ecn::Ect0), &view);
        assert_eq!(verdict, Verdict::Pass);
    }
}
