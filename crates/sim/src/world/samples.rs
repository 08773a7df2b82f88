//! Periodic samples of flows: time series, and means of windows and rates.

use super::World;
use super::build::SlotPlan;
use super::purpose::Purpose;
use crate::agenda::{Lane, Slot};
use crate::config::{Config, FlowConfig};
use crate::outcome::SeriesRow;
use multihop_core::Span;
use multihop_transport::Progress;

/// Periodic samples of flows.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    pub slot: u32,
    pub every: Span,
    per_row: u64,
    taken: u64,
    pub series: Vec<SeriesRow>,
    delivered_before: Vec<u64>,
    sent_before: Vec<u64>,
    pub window: Vec<WindowMean>,
    pub rates: Vec<RateMeans>,
    /// Counters of senders at the end of the warm-up.
    pub baseline: Vec<Progress>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowMean {
    pub sum: u128,
    pub count: u64,
}

/// Means of the samples of rate-based senders.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateMeans {
    pub allowed: SampleMean,
    pub loss_event: SampleMean,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SampleMean {
    pub sum: f64,
    pub count: u64,
}

impl Samples {
    /// Creates the samples. Windows are sampled about every 100 ms, or more often if the record interval is
    /// shorter.
    pub fn new(config: &Config, plan: &mut SlotPlan) -> Samples {
        let (row, flows) = (config.recording.interval, config.traffic.flows.len());
        let per_row = row.ns().div_ceil(Span::from_ms(100).ns()).max(1);
        Samples {
            slot: plan.add(u32::MAX - 1, Purpose::Sample).0,
            every: Span::from_ns((row.ns() / per_row).max(1)),
            per_row,
            delivered_before: vec![0; flows],
            sent_before: vec![0; flows],
            window: vec![WindowMean::default(); flows],
            rates: vec![RateMeans::default(); flows],
            ..Samples::default()
        }
    }
}

impl SampleMean {
    fn add(&mut self, sample: Option<f64>) {
        self.sum += sample.unwrap_or(0.0);
        self.count += u64::from(sample.is_some());
    }

    pub fn get(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// Converts bytes per second to bits per second.
fn bits(rate: f64) -> f64 {
    8.0 * rate
}

impl World {
    /// Takes a sample of all flows.
    pub(super) fn sample(&mut self) {
        let now = self.now;
        let progress = self.progress();
        self.samples.taken += 1;
        if self.record.counts(now) {
            for (mean, progress) in self.samples.window.iter_mut().zip(&progress) {
                mean.sum += u128::from(progress.window.unwrap_or(0));
                mean.count += u64::from(progress.window.is_some());
            }
            for (means, progress) in self.samples.rates.iter_mut().zip(&progress) {
                means.allowed.add(progress.allowed_rate.map(bits));
                means.loss_event.add(progress.loss_event_rate);
            }
        }
        if self.samples.taken.is_multiple_of(self.samples.per_row) {
            for (index, progress) in progress.iter().enumerate() {
                let delivered = self.record.flows[index].delivered_bytes_ever;
                let sent = self.record.flows[index].sent_bytes_ever;
                let FlowConfig { source, destination, .. } = self.config.traffic.flows[index];
                let next_hop = self.network.routes.next_hop(source, destination);
                self.samples.series.push(SeriesRow {
                    time_s: now.seconds(),
                    flow: index as u32,
                    delivered_bytes: delivered
                        - std::mem::replace(&mut self.samples.delivered_before[index], delivered),
                    sent_bytes: sent - std::mem::replace(&mut self.samples.sent_before[index], sent),
                    rate_bps: progress.allowed_rate.map(bits),
                    loss_event_rate: progress.loss_event_rate,
                    window_bytes: progress.window,
                    rtt_s: progress.rtt.map(Span::seconds),
                    srtt_s: progress.srtt.map(Span::seconds),
                    source_queue: self.node(source).stack.queue_towards(next_hop) as u32,
                    transmission_efficiency: std::mem::take(&mut self.record.flows[index].step_efficiency)
                        .get(),
                });
            }
            let step = self.samples.every * self.samples.per_row;
            self.measurements.take(now, step, &self.nodes, &self.order);
        }
        self.agenda.arm(Slot(self.samples.slot), now + self.samples.every, Lane::Record);
    }
}
