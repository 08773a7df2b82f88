//! Ranges of columns.

use multihop_core::Span;
use multihop_sim::config::Config;
use multihop_sim::outcome::{FlowOutcome, MeasurementRow, NodeOutcome, Outcome, SeriesRow};

/// Name of a column, its range, and its value, if there is one.
type Cell = (&'static str, Range, Option<f64>);

/// Range of a column.
#[derive(Clone, Copy)]
enum Range {
    /// From 0 to 1.
    Share,
    /// At least 0, and finite.
    Amount,
}

use Range::{Amount, Share};

const SLACK: f64 = 1e-9;

/// A column with a value out of its range, if there is one.
pub fn out_of_range(config: &Config, outcome: &Outcome) -> Option<String> {
    let cells = (outcome.nodes.iter().flat_map(node))
        .chain(outcome.flows.iter().flat_map(flow))
        .chain(outcome.series.iter().flat_map(step))
        .chain(outcome.measurements.iter().flat_map(measurement))
        .chain(outcome.wires.iter().map(|wire| ("utilisation", Share, Some(wire.utilisation))))
        .chain(outcome.wires.iter().map(|wire| ("queue_mean of a wire", Amount, Some(wire.queue_mean))));
    let wrong = |(_, range, value): &Cell| match (range, value) {
        (_, None) => false,
        (Share, Some(value)) => !(-SLACK..=1.0 + SLACK).contains(value),
        (Amount, Some(value)) => !(*value >= 0.0 && value.is_finite()),
    };
    let mut cells = cells;
    let found = cells.find(wrong).map(|(what, _, value)| format!("{what} {}", value.unwrap_or_default()));
    found.or_else(|| contradiction(config, outcome).map(str::to_owned))
}

fn node(node: &NodeOutcome) -> impl Iterator<Item = Cell> {
    let shares = [
        ("transmitting", node.transmitting),
        ("receiving", node.receiving),
        ("sensing", node.sensing),
        ("idle", node.idle),
        ("nav_only", node.nav_only),
        ("busy_ratio", node.busy_ratio),
        ("routing airtime", node.routing.airtime),
        ("signalling airtime", node.signalling.airtime),
    ];
    let others = [
        ("transmission_efficiency of a node", Share, node.transmission_efficiency),
        ("service_delay_mean of a node", Amount, node.service_delay_mean_s),
        ("queue_mean", Amount, Some(node.queue_mean)),
    ];
    shares.into_iter().map(|(what, value)| (what, Share, Some(value))).chain(others)
}

fn flow(flow: &FlowOutcome) -> impl Iterator<Item = Cell> {
    [
        ("payload_airtime", Amount, Some(flow.payload_airtime)),
        ("delay_mean", Amount, Some(flow.delay.mean)),
        ("rtt_mean", Amount, flow.rtt_mean_s),
        ("window_mean", Amount, flow.window_mean_bytes),
        ("rate_mean", Amount, flow.rate_mean_bps),
        ("transfer_mean", Amount, flow.transfer_mean_s),
        ("service_delay_mean", Amount, flow.service_delay_mean_s),
        ("rts_retransmissions_mean", Amount, flow.rts_retransmissions_mean),
        ("rate_cv", Amount, flow.rate_cv),
        ("jitter", Amount, flow.jitter_s),
        ("loss_event_rate", Share, flow.loss_event_rate),
        ("transmission_efficiency", Share, flow.transmission_efficiency),
        ("busy_ratio of a flow", Share, flow.busy_ratio),
        ("late_ratio", Share, flow.video.and_then(|video| video.late_ratio)),
    ]
    .into_iter()
}

fn step(row: &SeriesRow) -> impl Iterator<Item = Cell> {
    [
        ("loss_event_rate of a row", Share, row.loss_event_rate),
        ("rate of a row", Amount, row.rate_bps),
        ("rtt of a row", Amount, row.rtt_s),
        ("smoothed rtt of a row", Amount, row.srtt_s),
        ("transmission_efficiency of a row", Share, row.transmission_efficiency),
    ]
    .into_iter()
}

fn measurement(row: &MeasurementRow) -> impl Iterator<Item = Cell> {
    let view = &row.view;
    [
        ("true_busy_ratio", Share, Some(row.true_busy_ratio)),
        ("estimated busy_ratio", Share, view.busy_ratio),
        ("estimated transmission_efficiency", Share, view.transmission_efficiency),
        ("estimated capacity", Amount, view.capacity_bps),
        ("estimated available bandwidth", Amount, view.available_bps),
        ("packet throughput", Amount, view.packet_throughput_bps),
        ("service delay", Amount, view.service_delay_s),
    ]
    .into_iter()
}

/// Columns that contradict each other, if there are any.
fn contradiction(config: &Config, outcome: &Outcome) -> Option<&'static str> {
    let flow = outcome.flows.iter().find_map(|flow| {
        let delay = flow.delay;
        let ranks = [0.0, delay.p50, delay.p90, delay.p95, delay.p99, delay.max];
        let wrong = [
            (!ranks.is_sorted(), "quantiles of delay are not sorted"),
            (delay.max > config.duration.seconds(), "a delay is longer than the run"),
            (flow.timely_bytes > flow.delivered_bytes, "timely_bytes are more than delivered_bytes"),
        ];
        wrong.into_iter().find(|(wrong, _)| *wrong).map(|(_, what)| what)
    });
    // Packets sent before the end of the warm-up may arrive after it.
    let all = config.recording.warmup == Span::ZERO;
    let decided = |flow: &FlowOutcome| flow.packets_delivered + flow.dropped.iter().sum::<u64>();
    let mut multicast =
        config.traffic.flows.iter().zip(&outcome.flows).filter(|(flow, _)| flow.group.is_some());
    let wrong = [
        (
            multicast.any(|(_, flow)| all && decided(flow) > flow.packets_sent),
            "a receiver has more multicast packets, delivered and lost, than were sent",
        ),
        (
            outcome.wires.iter().any(|wire| all && wire.delivered + wire.lost > wire.sent),
            "a wire delivers more than it sent",
        ),
        (
            outcome.links.iter().any(|link| link.acknowledged > link.data),
            "more is acknowledged than was sent",
        ),
        (
            outcome.nodes.iter().any(|node| node.queue_mean > node.queue_max as f64 + SLACK),
            "queue_mean is above queue_max",
        ),
    ];
    flow.or_else(|| wrong.into_iter().find(|(wrong, _)| *wrong).map(|(_, what)| what))
}
