//! The tables of a run as columns: numbers as `NumPy` arrays, names as lists. What was not measured is NaN.

use crate::columns::{Columns, dropped};
use multihop_core::DropCause;
use multihop_sim::config::{AppConfig, Config};
use multihop_sim::mobility::{Place, places};
use multihop_sim::outcome::{
    FlowOutcome, LinkOutcome, MeasurementRow, NodeOutcome, Outcome, RTS_COUNTS, SeriesRow, VideoOutcome,
    WireOutcome,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// All tables; those of wires, measurements and positions only if there are any in the configuration.
pub fn output<'py>(py: Python<'py>, config: &Config, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let made = PyDict::new(py);
    made.set_item("summary", summary(py, outcome)?)?;
    made.set_item("flows", flows(py, config, &outcome.flows)?)?;
    made.set_item("nodes", nodes(py, config, &outcome.nodes)?)?;
    made.set_item("links", links(py, &outcome.links)?)?;
    if !config.wires.is_empty() {
        made.set_item("wires", wires(py, config, &outcome.wires)?)?;
    }
    made.set_item("series", series(py, &outcome.series)?)?;
    if !config.measurements.is_empty() {
        made.set_item("measurements", measurements(py, config, &outcome.measurements)?)?;
    }
    let places = places(config);
    if !places.is_empty() {
        made.set_item("positions", positions(py, &places)?)?;
    }
    Ok(made)
}

/// The name of an application in scenarios.
pub fn app_name(app: &AppConfig) -> &'static str {
    match app {
        AppConfig::Saturated => "saturated",
        AppConfig::Bulk { .. } => "bulk",
        AppConfig::Cbr { .. } => "cbr",
        AppConfig::Poisson { .. } => "poisson",
        AppConfig::Transfers { .. } => "transfers",
        AppConfig::Video(_) => "video",
    }
}

fn summary<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let made = PyDict::new(py);
    made.set_item("seed", outcome.seed)?;
    made.set_item("measured_s", outcome.measured_s)?;
    made.set_item("events", outcome.events)?;
    // 64 bits do not survive JSON as a number.
    made.set_item("fingerprint", format!("{:016x}", outcome.fingerprint))?;
    made.set_item("sent", outcome.conservation.sent)?;
    made.set_item("delivered", outcome.conservation.delivered)?;
    made.set_item("queued", outcome.conservation.queued)?;
    for (cause, count) in DropCause::ALL.iter().zip(outcome.conservation.dropped) {
        made.set_item(dropped(*cause), count)?;
    }
    Ok(made)
}

fn flows<'py>(py: Python<'py>, config: &Config, flows: &[FlowOutcome]) -> PyResult<Bound<'py, PyDict>> {
    let node = |id: multihop_core::NodeId| config.nodes[id.index()].name.as_str();
    let settings = &config.flows;
    let mut table = Columns::new(py, flows);
    table.column("flow", (0..flows.len() as u32).collect())?;
    table.names("name", settings.iter().map(|flow| flow.name.as_str()))?;
    table.names("source", settings.iter().map(|flow| node(flow.source)))?;
    table.names("destination", settings.iter().map(|flow| node(flow.destination)))?;
    table.names("scheme", settings.iter().map(|flow| config.schemes[flow.scheme].name.as_str()))?;
    table.names("app", settings.iter().map(|flow| app_name(&flow.app)))?;
    table.each("hops", |flow| flow.hops)?;
    table.each("delivered_bytes", |flow| flow.delivered_bytes)?;
    table.each("packets_sent", |flow| flow.packets_sent)?;
    table.each("sent_bytes", |flow| flow.sent_bytes)?;
    table.each("packets_delivered", |flow| flow.packets_delivered)?;
    table.drops(|flow| &flow.dropped)?;
    table.each("feedback_dropped", |flow| flow.feedback_dropped)?;
    table.each("delay_mean_s", |flow| flow.delay.mean)?;
    table.each("delay_p50_s", |flow| flow.delay.p50)?;
    table.each("delay_p90_s", |flow| flow.delay.p90)?;
    table.each("delay_p95_s", |flow| flow.delay.p95)?;
    table.each("delay_p99_s", |flow| flow.delay.p99)?;
    table.each("delay_max_s", |flow| flow.delay.max)?;
    table.optional("rtt_mean_s", |flow| flow.rtt_mean_s)?;
    table.each("retransmissions", |flow| flow.retransmissions)?;
    table.each("timeouts", |flow| flow.timeouts)?;
    table.each("recoveries", |flow| flow.recoveries)?;
    table.each("ecn_reductions", |flow| flow.ecn_reductions)?;
    table.each("marked", |flow| flow.marked)?;
    table.optional("window_mean_bytes", |flow| flow.window_mean)?;
    table.optional("rate_mean_bps", |flow| flow.rate_mean_bps)?;
    table.optional("loss_event_rate", |flow| flow.loss_event_rate)?;
    table.each("transfers", |flow| flow.transfers)?;
    table.optional("transfer_mean_s", |flow| flow.transfer_mean_s)?;
    table.optional("transmission_efficiency", |flow| flow.transmission_efficiency)?;
    table.optional("service_delay_mean_s", |flow| flow.service_delay_mean_s)?;
    table.optional("rts_retransmissions_mean", |flow| flow.rts_retransmissions_mean)?;
    table.each("rts_frames", |flow| flow.rts_unanswered.iter().sum::<u64>())?;
    for most in 0..RTS_COUNTS - 1 {
        let name = format!("rts_at_most_{most}");
        table.each(&name, move |flow| flow.rts_unanswered[..=most].iter().sum::<u64>())?;
    }
    table.optional("busy_ratio", |flow| flow.busy_ratio)?;
    table.each("payload_airtime", |flow| flow.payload_airtime)?;
    media(&mut table)?;
    Ok(table.made)
}

/// How evenly flows send, and what became of videos.
fn media(table: &mut Columns<'_, '_, FlowOutcome>) -> PyResult<()> {
    table.optional("rate_cv", |flow| flow.rate_cv)?;
    table.optional("jitter_s", |flow| flow.jitter_s)?;
    let of = |what: fn(&VideoOutcome) -> f64| move |flow: &FlowOutcome| flow.video.as_ref().map(what);
    table.optional("frames_sent", of(|video| video.sent as f64))?;
    table.optional("frames_skipped", of(|video| video.skipped as f64))?;
    table.optional("frames_on_time", of(|video| video.on_time as f64))?;
    table.optional("frames_late", of(|video| video.late as f64))?;
    table.optional("frames_lost", of(|video| video.lost as f64))?;
    table.optional("late_ratio", |flow| flow.video?.late_ratio)?;
    table.optional("stalls", of(|video| video.stalls as f64))?;
    table.optional("stall_time_s", of(|video| video.stall_time_s))?;
    table.optional("frame_delay_mean_s", |flow| flow.video?.frame_delay_mean_s)?;
    table.optional("frame_delay_p95_s", |flow| flow.video?.frame_delay_p95_s)
}

fn nodes<'py>(py: Python<'py>, config: &Config, nodes: &[NodeOutcome]) -> PyResult<Bound<'py, PyDict>> {
    let coordinate = |axis: usize| -> Vec<f64> {
        config.nodes.iter().map(|node| node.position.map_or(f64::NAN, |position| position[axis])).collect()
    };
    let mut table = Columns::new(py, nodes);
    table.column("node", (0..nodes.len() as u32).collect())?;
    table.names("name", config.nodes.iter().map(|node| node.name.as_str()))?;
    table.column("x_m", coordinate(0))?;
    table.column("y_m", coordinate(1))?;
    table.each("transmitting", |node| node.transmitting)?;
    table.each("receiving", |node| node.receiving)?;
    table.each("sensing", |node| node.sensing)?;
    table.each("idle", |node| node.idle)?;
    table.each("nav_only", |node| node.nav_only)?;
    table.each("busy_ratio", |node| node.busy_ratio)?;
    table.each("queue_mean", |node| node.queue_mean)?;
    table.each("queue_max", |node| node.queue_max)?;
    table.drops(|node| &node.dropped)?;
    table.each("routing_sent", |node| node.routing.sent)?;
    table.each("routing_bytes", |node| node.routing.bytes)?;
    table.each("routing_dropped", |node| node.routing.dropped)?;
    table.each("routing_airtime", |node| node.routing.airtime)?;
    table.each("signalling_sent", |node| node.signalling.sent)?;
    table.each("signalling_bytes", |node| node.signalling.bytes)?;
    table.each("signalling_dropped", |node| node.signalling.dropped)?;
    table.each("signalling_airtime", |node| node.signalling.airtime)?;
    table.optional("transmission_efficiency", |node| node.transmission_efficiency)?;
    table.optional("service_delay_mean_s", |node| node.service_delay_mean_s)?;
    Ok(table.made)
}

fn links<'py>(py: Python<'py>, links: &[LinkOutcome]) -> PyResult<Bound<'py, PyDict>> {
    let mut table = Columns::new(py, links);
    table.each("sender", |link| link.from)?;
    table.each("receiver", |link| link.to)?;
    table.each("rts", |link| link.rts)?;
    table.each("data", |link| link.data)?;
    table.each("acknowledged", |link| link.acknowledged)?;
    table.each("given_up", |link| link.given_up)?;
    Ok(table.made)
}

fn wires<'py>(py: Python<'py>, config: &Config, wires: &[WireOutcome]) -> PyResult<Bound<'py, PyDict>> {
    let mut table = Columns::new(py, wires);
    table.each("sender", |wire| wire.from)?;
    table.each("receiver", |wire| wire.to)?;
    table.column("rate_bps", config.wires.iter().map(|wire| wire.rate.bps() as f64).collect())?;
    table.column("delay_s", config.wires.iter().map(|wire| wire.delay.seconds()).collect())?;
    table.column("loss", config.wires.iter().map(|wire| wire.loss).collect())?;
    table.each("sent", |wire| wire.sent)?;
    table.each("sent_bytes", |wire| wire.sent_bytes)?;
    table.each("delivered", |wire| wire.delivered)?;
    table.each("dropped", |wire| wire.dropped)?;
    table.each("lost", |wire| wire.lost)?;
    table.each("queue_mean", |wire| wire.queue_mean)?;
    table.each("queue_max", |wire| wire.queue_max)?;
    table.each("utilisation", |wire| wire.utilisation)?;
    Ok(table.made)
}

fn series<'py>(py: Python<'py>, rows: &[SeriesRow]) -> PyResult<Bound<'py, PyDict>> {
    let mut table = Columns::new(py, rows);
    table.each("time_s", |row| row.time_s)?;
    table.each("flow", |row| row.flow)?;
    table.each("delivered_bytes", |row| row.delivered_bytes)?;
    table.each("sent_bytes", |row| row.sent_bytes)?;
    table.optional("rate_bps", |row| row.rate_bps)?;
    table.optional("loss_event_rate", |row| row.loss_event_rate)?;
    table.optional("window_bytes", |row| row.window.map(|bytes| bytes as f64))?;
    table.optional("rtt_s", |row| row.rtt_s)?;
    table.each("source_queue", |row| row.source_queue)?;
    table.optional("transmission_efficiency", |row| row.transmission_efficiency)?;
    Ok(table.made)
}

fn measurements<'py>(
    py: Python<'py>,
    config: &Config,
    rows: &[MeasurementRow],
) -> PyResult<Bound<'py, PyDict>> {
    let estimator = |row: &MeasurementRow| config.measurements[row.measurement as usize].name.as_str();
    let mut table = Columns::new(py, rows);
    table.each("time_s", |row| row.time_s)?;
    table.names("estimator", rows.iter().map(estimator))?;
    table.each("node", |row| row.node)?;
    table.view(|row| row.view)?;
    table.each("true_busy_ratio", |row| row.busy_ratio)?;
    Ok(table.made)
}

fn positions<'py>(py: Python<'py>, places: &[Place]) -> PyResult<Bound<'py, PyDict>> {
    let coordinate = |axis: usize| move |place: &Place| place.position.map(|position| position[axis]);
    let mut table = Columns::new(py, places);
    table.each("time_s", |place| place.time_s)?;
    table.each("node", |place| place.node.0)?;
    table.optional("x_m", coordinate(0))?;
    table.optional("y_m", coordinate(1))?;
    table.each("off", |place| u8::from(place.off))?;
    Ok(table.made)
}
