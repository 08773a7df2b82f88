//! Estimators of `multihop-link`, run on a capture.

use crate::profile::Profile;
use crate::reconstruction::Reconstruction;
use crate::{BlockAckOutcome, CapturedFrame, ObservedExchange, StationId};
use multihop_core::{Interval, LinkEvent, Span, Time};
use multihop_link::{
    BusyRatioOptions, Estimator, EstimatorConfig, IdleGapOptions, LinkView, PacketThroughputOptions,
    RtWinfOptions, RtWinfProbeOptions, ServiceDelayOptions,
};

/// Estimator with its label in results.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedEstimator {
    /// Label of the estimator in results.
    pub name: String,
    /// Type and options of the estimator.
    pub estimator: EstimatorConfig,
}

impl NamedEstimator {
    /// Estimators for which a capture has enough data, with the defaults of scenarios. (`AdHoc` Probe needs
    /// the send times of probes.)
    pub fn standard() -> Vec<NamedEstimator> {
        [
            ("rt-winf", EstimatorConfig::RtWinf(RtWinfOptions::default())),
            ("rt-winf-probe", EstimatorConfig::RtWinfProbe(RtWinfProbeOptions::default())),
            ("idlegap", EstimatorConfig::IdleGap(IdleGapOptions::default())),
            ("busy-ratio", EstimatorConfig::BusyRatio(BusyRatioOptions::default())),
            ("fsd", EstimatorConfig::ServiceDelay(ServiceDelayOptions::default())),
            ("fte", EstimatorConfig::TransmissionEfficiency),
            ("packet-throughput", EstimatorConfig::PacketThroughput(PacketThroughputOptions::default())),
        ]
        .map(|(name, estimator)| NamedEstimator { name: name.into(), estimator })
        .into()
    }
}

/// Output of an estimator at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Time on the sniffer's time line.
    pub at: Time,
    /// Index of the estimator.
    pub estimator: usize,
    /// Output of the estimator.
    pub view: LinkView,
}

/// Limit on the number of readings per estimator; beyond it the interval doubles.
const MAX_READINGS: u64 = 2_048;

/// Estimators at one node, with the time series of their outputs.
pub(crate) struct EstimatorSeries {
    reconstruction: Reconstruction,
    estimators: Vec<Box<dyn Estimator>>,
    readings: Vec<Reading>,
    step: Span,
    next: Time,
}

impl EstimatorSeries {
    /// Reads the estimators at whole multiples of `step` on the capture's time line. The first reading is a
    /// step after `start`, or slightly less, as simulations begin a little after zero.
    pub fn new(
        estimators: &[NamedEstimator],
        reconstruction: Reconstruction,
        profile: &Profile,
        start: Time,
        step: Span,
    ) -> EstimatorSeries {
        let phy = profile.times;
        let full = (start + step - step / 64).since(Time::ZERO);
        EstimatorSeries {
            reconstruction,
            estimators: estimators.iter().map(|estimator| estimator.estimator.build(phy)).collect(),
            readings: Vec::new(),
            step,
            next: Time::ZERO + full.rounded_up(step),
        }
    }

    /// Sets the station of the estimators.
    pub fn set_station(&mut self, me: StationId) {
        self.reconstruction.set_station(me);
    }

    /// Time of the next reading, if it is before the end of a frame on the air at `air`.
    pub fn due(&mut self, air: Interval) -> Option<Time> {
        if air.end.since(self.next).whole(self.step) >= MAX_READINGS {
            self.lengthen_step(air.end);
        }
        (self.next < air.end).then_some(self.next)
    }

    /// Reads the estimators at that time. A frame that has begun makes the medium busy.
    pub fn read_during(&mut self, air: Interval) {
        if air.start < self.next {
            let EstimatorSeries { reconstruction, estimators, .. } = self;
            reconstruction.begin(air, &mut |event| report(estimators, event));
        }
        self.read();
    }

    /// Reports an exchange that ended without further frames.
    pub fn exchange(&mut self, over: &ObservedExchange) {
        let EstimatorSeries { reconstruction, estimators, .. } = self;
        reconstruction.on_own_attempt(over, None, &mut |event| report(estimators, event));
    }

    /// Processes a frame, as [`Reconstruction::frame`] does.
    pub fn frame(
        &mut self,
        frame: &CapturedFrame,
        air: Interval,
        sender: Option<StationId>,
        ends: (Option<&ObservedExchange>, Option<&BlockAckOutcome>),
    ) {
        let EstimatorSeries { reconstruction, estimators, .. } = self;
        reconstruction.frame(frame, air, sender, ends, &mut |event| report(estimators, event));
    }

    /// Ends the series at the end of the capture. Returns the readings, and the interval between them.
    pub fn finish(mut self, end: Time) -> (Vec<Reading>, Span) {
        while self.next <= end {
            self.read();
        }
        (self.readings, self.step)
    }

    fn read(&mut self) {
        let (now, step) = (self.next, self.step);
        let EstimatorSeries { reconstruction, estimators, readings, .. } = self;
        reconstruction.advance(now, &mut |event| report(estimators, event));
        for (index, estimator) in estimators.iter().enumerate() {
            let mut view = LinkView::default();
            estimator.write(now, &mut view);
            readings.push(Reading { at: now, estimator: index, view });
        }
        self.next = now + step;
        if self.readings.len() as u64 > MAX_READINGS * self.estimators.len().max(1) as u64 {
            self.lengthen_step(self.next);
        }
    }

    /// Lengthens the interval, at least twice, until the number of readings up to `until` is within the
    /// limit. Readings in between are removed.
    fn lengthen_step(&mut self, until: Time) {
        let first = self.readings.first().map_or(self.next, |reading| reading.at);
        loop {
            self.step = self.step * 2;
            if until.since(first).whole(self.step) < MAX_READINGS {
                break;
            }
        }
        let is_whole = |at: Time| at.since(Time::ZERO).ns().is_multiple_of(self.step.ns());
        self.readings.retain(|reading| is_whole(reading.at));
        self.next = Time::ZERO + self.next.since(Time::ZERO).rounded_up(self.step);
    }
}

fn report(estimators: &mut [Box<dyn Estimator>], event: &LinkEvent) {
    for estimator in estimators {
        estimator.on_link(event);
    }
}
