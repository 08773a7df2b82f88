//! Catalogue of all estimators with their options.

use crate::{
    AdHocProbe, AdHocProbeOptions, BusyRatio, BusyRatioOptions, CustomEstimator, Estimator, IdleGap,
    IdleGapOptions, ModelledCapacity, ModelledCapacityOptions, PacketThroughput, PacketThroughputOptions,
    PhyTimes, RtWinf, RtWinfOptions, RtWinfProbe, RtWinfProbeOptions, ServiceDelay, ServiceDelayOptions,
    TransmissionEfficiency,
};
use serde::Serialize;

/// Estimator with its options, not yet installed at a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum EstimatorConfig {
    /// [`RtWinf`].
    RtWinf(RtWinfOptions),
    /// [`RtWinfProbe`].
    RtWinfProbe(RtWinfProbeOptions),
    /// [`IdleGap`].
    IdleGap(IdleGapOptions),
    /// [`AdHocProbe`].
    AdHocProbe(AdHocProbeOptions),
    /// [`BusyRatio`].
    BusyRatio(BusyRatioOptions),
    /// [`ServiceDelay`].
    ServiceDelay(ServiceDelayOptions),
    /// [`TransmissionEfficiency`].
    TransmissionEfficiency,
    /// [`PacketThroughput`].
    PacketThroughput(PacketThroughputOptions),
    /// [`ModelledCapacity`].
    ModelledCapacity(ModelledCapacityOptions),
    /// [`CustomEstimator`].
    Custom(CustomEstimator),
}

impl EstimatorConfig {
    /// Creates the estimator for a node with this PHY.
    pub fn build(&self, phy: PhyTimes) -> Box<dyn Estimator> {
        match self {
            EstimatorConfig::Custom(custom) => custom.build(phy),
            EstimatorConfig::RtWinf(options) => Box::new(RtWinf::new(*options, phy)),
            EstimatorConfig::RtWinfProbe(options) => Box::new(RtWinfProbe::new(*options, phy)),
            EstimatorConfig::IdleGap(IdleGapOptions { window }) => {
                Box::new(IdleGap::new(*window, phy.data_rate))
            }
            EstimatorConfig::AdHocProbe(options) => Box::new(AdHocProbe::new(*options)),
            EstimatorConfig::BusyRatio(BusyRatioOptions { window }) => Box::new(BusyRatio::new(*window)),
            EstimatorConfig::ServiceDelay(ServiceDelayOptions { smoothing }) => {
                Box::new(ServiceDelay::new(*smoothing))
            }
            EstimatorConfig::TransmissionEfficiency => Box::new(TransmissionEfficiency::default()),
            EstimatorConfig::PacketThroughput(options) => Box::new(PacketThroughput::new(*options)),
            EstimatorConfig::ModelledCapacity(options) => Box::new(ModelledCapacity::new(*options, phy)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Elapsed;
    use crate::LinkView;
    use crate::phy_times::testing::dot11b;
    use crate::testing::{A, B, exchange, us};
    use multihop_core::{Arrived, Attempt, Fate, FlowId, Interval, LinkEvent, Report, Reported, Span, Time};

    /// Values that an estimator writes after these events.
    fn view(config: &EstimatorConfig, events: &[LinkEvent], now: Time) -> (LinkView, Option<Report>) {
        let mut estimator = config.build(dot11b());
        for event in events {
            estimator.on_link(event);
        }
        let mut view = LinkView::default();
        estimator.write(now, &mut view);
        (view, estimator.report(now))
    }

    fn close(got: Option<f64>, expected: f64) {
        assert!(got.is_some_and(|got| (got / expected - 1.0).abs() < 1e-9), "{got:?} is not {expected}");
    }

    /// 1000 bytes in 16 ms: 0.5 Mb/s; the exchange alone takes 1 ms.
    #[test]
    fn each_estimator_writes_what_it_estimates_and_nothing_else() {
        let sent = [LinkEvent::Exchange(exchange(1000, 1_000, 17_000, Fate::Acknowledged))];
        let at = us(200_000);
        let (delay, _) =
            view(&EstimatorConfig::ServiceDelay(ServiceDelayOptions { smoothing: 1.0 }), &sent, at);
        assert_eq!(delay, LinkView { service_delay_s: Some(0.016), ..LinkView::default() });
        let (share, _) = view(&EstimatorConfig::TransmissionEfficiency, &sent, at);
        close(share.transmission_efficiency, 1.0 / 16.0);
        let (got, _) =
            view(&EstimatorConfig::PacketThroughput(PacketThroughputOptions::default()), &sent, at);
        close(got.packet_throughput_bps, 5e5);
        let busy = Interval { start: us(100_000), end: us(125_000) };
        let sensed = [LinkEvent::BusyFrom(busy.start), LinkEvent::Busy(busy)];
        let (share, _) =
            view(&EstimatorConfig::BusyRatio(BusyRatioOptions { window: Span::from_ms(100) }), &sensed, at);
        close(share.busy_ratio, 0.25);
        let elapsed = Elapsed::Window(Span::from_ms(100));
        let (idle, _) = view(&EstimatorConfig::IdleGap(IdleGapOptions { window: elapsed }), &sent, at);
        assert_eq!((idle.capacity_bps, idle.available_bps), (Some(11e6), Some(11e6)));
        let (flow, sent) = (FlowId(3), us(0));
        let arrived = [(4, 10_000), (5, 12_000)].map(|(number, at)| {
            LinkEvent::Arrived(Arrived { node: A, flow, number, size: 1500, sent, at: us(at) })
        });
        let (path, _) = view(&EstimatorConfig::AdHocProbe(AdHocProbeOptions::default()), &arrived, at);
        close(path.capacity_bps, 12_000.0 / 2e-3);
    }

    /// Eq. 3 without back-off: 1528 bytes at 11 Mb/s, and 50 + 192 + 10 + 304 us.
    #[test]
    fn the_modelled_capacity_is_one() {
        let data = Interval { start: us(1_000), end: us(2_000) };
        let flow = FlowId(0);
        let (rts, cts, ack) = (None, None, None);
        let attempt = Attempt { node: A, peer: B, flow, cw: 31, slots: 0, rts, cts, data: Some(data), ack };
        let sent = LinkEvent::Exchange(exchange(1500, 0, 3_000, Fate::Acknowledged));
        let config = EstimatorConfig::ModelledCapacity(ModelledCapacityOptions::default());
        let (model, report) = view(&config, &[LinkEvent::Attempt(attempt), sent], us(200_000));
        let expected = 12_000e6 / (1_528.0 * 8.0 / 11.0 + 556.0);
        close(model.capacity_bps, expected);
        assert_eq!(report, None);
        assert_eq!(view(&config, &[sent], us(200_000)).0.capacity_bps, None, "no try, no back-off to take");
    }

    /// Eq. 11: the smaller of both ends, each of capacity and available bandwidth, if ACKs say so.
    #[test]
    fn rt_winf_takes_what_its_receivers_report_where_they_do() {
        let report = Report { capacity_bps: 5e6, available_bps: 2e6 };
        let reported = [LinkEvent::Reported(Reported { from: B, at: us(100), report })];
        let own = Report { capacity_bps: 11e6, available_bps: 11e6 };
        for peers in [false, true] {
            for config in [
                EstimatorConfig::RtWinf(RtWinfOptions { ack_report: peers, ..RtWinfOptions::default() }),
                EstimatorConfig::RtWinfProbe(RtWinfProbeOptions {
                    ack_report: peers,
                    ..RtWinfProbeOptions::default()
                }),
            ] {
                let (seen, said) = view(&config, &reported, us(200));
                let expected = if peers { report } else { own };
                assert_eq!(seen.capacity_bps, Some(expected.capacity_bps), "{config:?}");
                assert_eq!(seen.available_bps, Some(expected.available_bps), "{config:?}");
                assert_eq!(said, peers.then_some(own), "its own view alone: {config:?}");
            }
        }
    }
}
