//! The estimators of `multihop-link`, run on a capture.

use crate::profile::Profile;
use crate::reconstruction::Reconstruction;
use crate::{CapturedFrame, Seen, Settled, StationId};
use multihop_core::{Interval, LinkEvent, Span, Time};
use multihop_link::{
    BusyRatioOptions, Estimator, EstimatorConfig, IdleGapOptions, LinkView, PacketThroughputOptions,
    RtWinfOptions, RtWinfProbeOptions, ServiceDelayOptions,
};

/// An estimator, and what results call it.
#[derive(Clone, Debug, PartialEq)]
pub struct Gauge {
    /// Its name in results.
    pub name: String,
    /// What it is.
    pub estimator: EstimatorConfig,
}

impl Gauge {
    /// Those that a capture has enough for, with the options that are the default of scenarios. (`AdHoc`
    /// Probe needs to know when probes were sent.)
    pub fn standard() -> Vec<Gauge> {
        [
            ("rt-winf", EstimatorConfig::RtWinf(RtWinfOptions::default())),
            ("rt-winf-probe", EstimatorConfig::RtWinfProbe(RtWinfProbeOptions::default())),
            ("idlegap", EstimatorConfig::IdleGap(IdleGapOptions::default())),
            ("busy-ratio", EstimatorConfig::BusyRatio(BusyRatioOptions::default())),
            ("fsd", EstimatorConfig::ServiceDelay(ServiceDelayOptions::default())),
            ("fte", EstimatorConfig::TransmissionEfficiency),
            ("packet-throughput", EstimatorConfig::PacketThroughput(PacketThroughputOptions::default())),
        ]
        .map(|(name, estimator)| Gauge { name: name.into(), estimator })
        .into()
    }
}

/// What an estimator said at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// When, on the sniffer's time line.
    pub at: Time,
    /// Which one, as an index.
    pub gauge: usize,
    /// What it said.
    pub view: LinkView,
}

/// Instants beyond so many make steps twice as long.
const MOST_INSTANTS: u64 = 2_048;

/// Estimators at one node, and the time series of what they say.
pub(crate) struct Gauges {
    reconstruction: Reconstruction,
    estimators: Vec<Box<dyn Estimator>>,
    readings: Vec<Reading>,
    step: Span,
    next: Time,
}

impl Gauges {
    /// Asked at whole multiples of `step` on the capture's time line: first when it has gone on for a step
    /// since `start`, or nearly so, as simulations begin a little after zero.
    pub fn new(
        gauges: &[Gauge],
        reconstruction: Reconstruction,
        profile: &Profile,
        start: Time,
        step: Span,
    ) -> Gauges {
        let phy = profile.times;
        let full = (start + step - step / 64).since(Time::ZERO);
        Gauges {
            reconstruction,
            estimators: gauges.iter().map(|gauge| gauge.estimator.build(phy)).collect(),
            readings: Vec::new(),
            step,
            next: Time::ZERO + full.rounded_up(step),
        }
    }

    /// The station is this one.
    pub fn set_station(&mut self, me: StationId) {
        self.reconstruction.set_station(me);
    }

    /// The next instant at which the estimators are to be asked, if it lies before the end of a frame on the
    /// air at `air`.
    pub fn due(&mut self, air: Interval) -> Option<Time> {
        if air.end.since(self.next).whole(self.step) >= MOST_INSTANTS {
            self.lengthen_step(air.end);
        }
        (self.next < air.end).then_some(self.next)
    }

    /// Asks the estimators at that instant. A frame that began before is heard by then.
    pub fn read_during(&mut self, air: Interval) {
        if air.start < self.next {
            let Gauges { reconstruction, estimators, .. } = self;
            reconstruction.begin(air, &mut |event| report(estimators, event));
        }
        self.read();
    }

    /// An exchange is over of which no more frames came.
    pub fn exchange(&mut self, over: &Seen) {
        let Gauges { reconstruction, estimators, .. } = self;
        reconstruction.on_own_attempt(over, None, &mut |event| report(estimators, event));
    }

    /// A frame: as [`Reconstruction::frame`].
    pub fn frame(
        &mut self,
        frame: &CapturedFrame,
        air: Interval,
        sender: Option<StationId>,
        ends: (Option<&Seen>, Option<&Settled>),
    ) {
        let Gauges { reconstruction, estimators, .. } = self;
        reconstruction.frame(frame, air, sender, ends, &mut |event| report(estimators, event));
    }

    /// The capture is over. Returns the readings, and the step between them.
    pub fn finish(mut self, end: Time) -> (Vec<Reading>, Span) {
        while self.next <= end {
            self.read();
        }
        (self.readings, self.step)
    }

    fn read(&mut self) {
        let (now, step) = (self.next, self.step);
        let Gauges { reconstruction, estimators, readings, .. } = self;
        reconstruction.advance(now, &mut |event| report(estimators, event));
        for (gauge, estimator) in estimators.iter().enumerate() {
            let mut view = LinkView::default();
            estimator.write(now, &mut view);
            readings.push(Reading { at: now, gauge, view });
        }
        self.next = now + step;
        if self.readings.len() as u64 > MOST_INSTANTS * self.estimators.len().max(1) as u64 {
            self.lengthen_step(self.next);
        }
    }

    /// Makes steps longer, at least twice, until those up to `until` are not too many; readings in between
    /// go.
    fn lengthen_step(&mut self, until: Time) {
        let first = self.readings.first().map_or(self.next, |reading| reading.at);
        loop {
            self.step = self.step * 2;
            if until.since(first).whole(self.step) < MOST_INSTANTS {
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
