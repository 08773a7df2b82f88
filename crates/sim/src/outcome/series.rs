//! Time series of flows and estimators.

use super::table::{At, Cell, Column, Table, Values, table};
use crate::mobility::Place;
use multihop_link::LinkView;

table! {
    /// Step of a flow's time series.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    SeriesRow, "series", "a row per flow and step of `record_interval`":

    /// end of the step, from the start of the run (warm-up included)
    time_s("s"): f64;
    /// index of the flow
    flow("1"): u32;
    /// name of the flow
    derived name("");
    /// payload delivered during the step, divided by its length
    derived goodput_bps("bit/s");
    /// payload delivered during the step
    delivered_bytes("byte"): u64;
    /// payload that the transport sent during the step, retransmissions included, divided by its length
    derived sending_rate_bps("bit/s");
    /// payload that the transport sent during the step, retransmissions included
    sent_bytes("byte"): u64;
    /// allowed sending rate at the end of the step, payload; missing for senders without one
    rate_bps("bit/s"): Option<f64>;
    /// latest reported loss event rate at the end of the step (RFC 5348)
    loss_event_rate("1"): Option<f64>;
    /// congestion window at the end of the step; missing for senders without one
    window_bytes("byte"): Option<u64>;
    /// latest round-trip sample at the end of the step
    rtt_s("s"): Option<f64>;
    /// smoothed round-trip time at the end of the step (RFC 6298, TFRC: RFC 5348); missing without round-trip
    /// samples
    srtt_s("s"): Option<f64>;
    /// queue length of the flow's source at the end of the step, of its interface queue or wire
    source_queue("packets"): u32;
    /// frame transmission efficiency, mean over the frames of the flow's data packets that were acknowledged
    /// during the step, at any hop; missing if there were none
    transmission_efficiency("1"): Option<f64>;
}

table! {
    /// Step of an estimator's time series.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    MeasurementRow, "measurements", "a row per estimator of `[[measure]]`, node and step of `record_interval`":

    /// end of the step, from the start of the run (warm-up included)
    time_s("s"): f64;
    /// Index into [`crate::config::RecordingConfig::measurements`].
    measurement: u32;
    /// name of the measurement: that of the estimator, unless the scenario gives another
    column estimator(""): String = |at| at.config.recording.measurements[at.row.measurement as usize].name.clone();
    /// index of the node
    node("1"): u32;
    /// name of the node
    derived name("");
    /// Estimates at the end of the step.
    view: LinkView;
    ..ESTIMATES.map(|(name, unit, meaning, value)| {
        Column::new(name, unit, meaning, Cell::values(move |at: &At<MeasurementRow>| value(&at.row.view)))
    });
    /// estimated share of time that the medium is busy, for comparison with `true_busy_ratio`: `busy_ratio`,
    /// or else 1 - `available_bps` / `capacity_bps`; missing if the estimator makes neither
    derived implied_busy_ratio("1");
    /// simulated share of the step during which the node could not use the medium, physically busy or
    /// deferring to the network allocation vector
    true_busy_ratio("1"): f64;
}

/// Name, unit, meaning and value of an estimate.
pub type Estimate = (&'static str, &'static str, &'static str, fn(&LinkView) -> Option<f64>);

/// Estimates that estimators make, in runs and in captures.
pub const ESTIMATES: [Estimate; 6] = [
    (
        "capacity_bps",
        "bit/s",
        "estimated capacity of the link at the end of the step; missing if the estimator makes none",
        |view| view.capacity_bps,
    ),
    ("available_bps", "bit/s", "estimated unused part of the capacity", |view| view.available_bps),
    (
        "packet_throughput_bps",
        "bit/s",
        "bits of packets divided by the time that the MAC held them, smoothed",
        |view| view.packet_throughput_bps,
    ),
    (
        "service_delay_s",
        "s",
        "time from the head of the line to the acknowledgement, smoothed over frames",
        |view| view.service_delay_s,
    ),
    ("transmission_efficiency", "1", "frame transmission efficiency, smoothed over frames", |view| {
        view.transmission_efficiency
    }),
    ("busy_ratio", "1", "estimated channel busyness ratio", |view| view.busy_ratio),
];

impl Table for Place {
    const NAME: &'static str = "positions";
    const ROW: &'static str =
        "a row per node that moves or is off at times, at the start and after each `record_interval`";

    fn columns() -> Vec<Column<Place>> {
        let off = "1 while the node is off, by `[[outages]]` or because its vehicle is absent from the trace; 0 otherwise";
        let place = "position of the node, to the millimetre";
        let coordinate =
            |axis: usize| Cell::values(move |at: &At<Place>| at.row.position.map(|place| place[axis]));
        let time = Cell::values(|at: &At<Place>| at.row.time_s);
        let node = Cell::values(|at: &At<Place>| at.row.node.0);
        vec![
            Column::new("time_s", "s", "instant since the start of the run", time),
            Column::new("node", "1", "number of the node, from 0", node),
            Column::new("name", "", "name of the node in the scenario", Values::Derived),
            Column::new("x_m", "m", place, coordinate(0)),
            Column::new("y_m", "m", place, coordinate(1)),
            Column::new("off", "1", off, Cell::values(|at: &At<Place>| at.row.off)),
        ]
    }
}
