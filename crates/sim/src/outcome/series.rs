//! Time series.

use super::table::{At, Cell, Column, Table, Values, table};
use crate::mobility::Place;
use multihop_link::LinkView;

table! {
    /// A step of a flow's time series.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    SeriesRow, "series", "a row per flow and step of `record_interval`":

    /// end of the step, from the start of the run (warm-up included)
    time_s("s"): f64;
    /// index of the flow
    flow("1"): u32;
    /// name of the flow
    derived name("");
    /// payload delivered during the step, over its length
    derived goodput_bps("bit/s");
    /// payload delivered during the step
    delivered_bytes("byte"): u64;
    /// payload that the transport emitted during the step, retransmissions included, over its length
    derived sending_rate_bps("bit/s");
    /// that payload
    sent_bytes("byte"): u64;
    /// rate that the sender allows itself at the end of the step, payload; missing without TFRC's transport
    rate_bps("bit/s"): Option<f64>;
    /// loss event rate that was last reported at the end of the step (RFC 5348)
    loss_event_rate("1"): Option<f64>;
    /// congestion window at the end of the step; missing for datagrams
    window_bytes("byte"): Option<u64>;
    /// latest round-trip sample at the end of the step
    rtt_s("s"): Option<f64>;
    /// smoothed round-trip time at the end of the step (RFC 6298, TFRC: RFC 5348); missing for datagrams
    srtt_s("s"): Option<f64>;
    /// queue of the flow's source at the end of the step: its interface queue, or that of a wire
    source_queue("packets"): u32;
    /// frame transmission efficiency, mean over the frames of its data packets that were acknowledged during
    /// the step, at any hop; missing if there were none
    transmission_efficiency("1"): Option<f64>;
}

table! {
    /// A step of an estimator's time series.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    MeasurementRow, "measurements", "a row per estimator of `[[measure]]`, node and step of `record_interval`":

    /// end of the step, from the start of the run (warm-up included)
    time_s("s"): f64;
    /// Index into [`crate::config::Config::measurements`].
    measurement: u32;
    /// name of the measurement: that of the estimator, unless the scenario gives another
    column estimator(""): String = |at| at.config.measurements[at.row.measurement as usize].name.clone();
    /// index of the node
    node("1"): u32;
    /// name of the node
    derived name("");
    /// What the estimator wrote at the end of the step.
    view: LinkView;
    ..ESTIMATES.map(|(name, unit, meaning, value)| {
        Column::new(name, unit, meaning, Cell::values(move |at: &At<MeasurementRow>| value(&at.row.view)))
    });
    /// share of time that the estimates call busy, for comparison with the truth: `busy_ratio`, or else one
    /// less `available_bps` over `capacity_bps`; missing if the estimator makes neither
    derived implied_busy_ratio("1");
    /// the truth, as the simulator knows it: share of the step during which the node could not use the
    /// medium, physically busy or held back by the network allocation vector
    true_busy_ratio("1"): f64;
}

/// Name, unit, meaning and value of an estimate.
pub type Estimate = (&'static str, &'static str, &'static str, fn(&LinkView) -> Option<f64>);

/// What estimators write, of runs and of captures.
pub const ESTIMATES: [Estimate; 6] = [
    (
        "capacity_bps",
        "bit/s",
        "estimate of what the link carries at the end of the step; missing if the estimator makes none",
        |view| view.capacity_bps,
    ),
    ("available_bps", "bit/s", "estimate of the part of it that is unused", |view| view.available_bps),
    ("packet_throughput_bps", "bit/s", "bits of packets per time that the MAC had them, smoothed", |view| {
        view.packet_throughput_bps
    }),
    (
        "service_delay_s",
        "s",
        "from the head of the line to the acknowledgement, smoothed over frames",
        |view| view.service_delay_s,
    ),
    ("transmission_efficiency", "1", "frame transmission efficiency, smoothed over frames", |view| {
        view.transmission_efficiency
    }),
    ("busy_ratio", "1", "estimate of the channel busyness ratio", |view| view.busy_ratio),
];

impl Table for Place {
    const NAME: &'static str = "positions";
    const ROW: &'static str =
        "a row per node that moves or is off for a while, at the beginning and after each `record_interval`";

    fn columns() -> Vec<Column<Place>> {
        let off = "1 while it is off, by `[[outages]]` or because its vehicle is not there; 0 otherwise";
        let place = "its place then, to the millimetre";
        let coordinate =
            |axis: usize| Cell::values(move |at: &At<Place>| at.row.position.map(|place| place[axis]));
        let time = Cell::values(|at: &At<Place>| at.row.time_s);
        let node = Cell::values(|at: &At<Place>| at.row.node.0);
        vec![
            Column::new("time_s", "s", "instant since the start of the run", time),
            Column::new("node", "1", "number of the node, from 0", node),
            Column::new("name", "", "its name in the scenario", Values::Derived),
            Column::new("x_m", "m", place, coordinate(0)),
            Column::new("y_m", "m", place, coordinate(1)),
            Column::new("off", "1", off, Cell::values(|at: &At<Place>| at.row.off)),
        ]
    }
}
