//! Results of a run. Everything counts from the end of the warm-up unless stated otherwise.
//!
//! The columns of the tables are declared here, next to the fields that they show.

mod causes;
mod delays;
mod flow;
mod node;
mod series;
mod table;

pub use causes::{
    Causes, CollisionOutcome, DropOutcome, HopOutcome, LossCause, LossOutcome, Overlap, cause_tables,
};
pub use delays::{DelayRow, delay_rows};
pub use flow::{FlowOutcome, RTS_COUNTS, VideoOutcome};
pub use node::{CategoryOutcome, ControlOutcome, LinkOutcome, NodeOutcome, WireOutcome};
pub use series::{ESTIMATES, Estimate, MeasurementRow, SeriesRow};
pub use table::{At, Cell, Column, Description, Table, Value, Values};

use crate::mobility::Place;
use multihop_core::DropCause;
use table::table;

table! {
    /// Results of one run.
    #[derive(Clone, Debug, Default, PartialEq)]
    Outcome, "summary", "one row":

    /// seed of every random stream of the run
    seed(""): u64;
    /// time that results cover: duration minus warm-up
    measured_s("s"): f64;
    /// sum of the flows' goodput
    derived goodput_total_bps("bit/s");
    /// Jain's fairness index of goodput within the largest group of flows with equal demand: 1 is equal, 1/n
    /// is one flow taking everything
    derived jain("1");
    /// mean delay over all data packets that arrived
    derived delay_mean_s("s");
    /// median delay over the data packets of the largest group of flows with equal demand; from `delays`,
    /// within 3 %
    derived delay_p50_s("s");
    /// 95th percentile of the same delays
    derived delay_p95_s("s");
    /// mean round-trip time, mean over the flows that measured it
    derived rtt_mean_s("s");
    /// share of data packets lost in the network, among those lost or delivered, all flows together
    derived loss_ratio("1");
    /// acknowledgements lost in the network, any cause, all flows together
    derived feedback_dropped("packets");
    /// segments that repeated payload per data packet sent, all flows together
    derived retransmission_ratio("1");
    /// mean of `rate_cv` over the flows that have it
    derived rate_cv("1");
    /// `late_ratio` over the video frames of all flows; missing without video, as are the next two columns
    derived late_ratio("1");
    /// mean of `stall_time_s` over the flows with video
    derived stall_time_s("s");
    /// mean of `video_frame_delay_p95_s` over the flows with video
    derived video_frame_delay_p95_s("s");
    /// flows that delivered nothing
    derived flows_starved("1");
    /// share of the airtime of all radios that is not `payload_airtime` of flows: headers and preambles, RTS,
    /// CTS and ACK, retransmissions by MACs and transports, transport acknowledgements, signalling, routing,
    /// and packets that were lost; missing if no radio sent
    derived overhead("1");
    /// events processed
    events("1"): u64;
    /// Hash of all events of the run: two runs with the same value are identical.
    fingerprint: u64;
    /// hash of all events of the run: equal values mean identical runs
    column fingerprint(""): String = |at| format!("{:016x}", at.row.fingerprint); // 64 bits do not survive JSON as a number
    /// Conservation of packets from the start of the run, which was asserted.
    conservation: Conservation;
    /// packets of any kind that transports sent, from the start of the run
    column sent("packets"): u64 = |at| at.row.conservation.sent;
    /// of these, packets that reached the other end
    column delivered("packets"): u64 = |at| at.row.conservation.delivered;
    /// of these, packets in queues and MACs at the end
    column queued("packets"): u64 = |at| at.row.conservation.queued;
    ..losses("of these, packets", |outcome: &Outcome| &outcome.conservation.dropped);
    /// Results by flow.
    flows: Vec<FlowOutcome>;
    /// Results by node.
    nodes: Vec<NodeOutcome>;
    /// Results by directed link, for links with at least one unicast attempt.
    links: Vec<LinkOutcome>;
    /// Results by direction of a wire, in the order of the configuration.
    wires: Vec<WireOutcome>;
    /// Results by node and access category, the lowest first; empty without access categories.
    categories: Vec<CategoryOutcome>;
    /// Rows by flow and step, from the start of the run.
    series: Vec<SeriesRow>;
    /// Rows by flow and non-empty bin of delay.
    delays: Vec<DelayRow>;
    /// Rows by step, node and measurement, from the start of the run.
    measurements: Vec<MeasurementRow>;
    /// Causes of the flows' results; empty unless [`crate::config::RecordingConfig::causes`] is set.
    causes: Causes;
}

/// Balance of all packets of the flows, transport segments and acknowledgements alike, from the start of the
/// run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conservation {
    /// Packets that transports sent.
    pub sent: u64,
    /// Packets that reached the other end.
    pub delivered: u64,
    /// Packets lost, by cause, in the order of [`DropCause::ALL`].
    pub dropped: [u64; DropCause::ALL.len()],
    /// Packets in queues and MACs at the end.
    pub queued: u64,
}

/// Distribution in six numbers, of delays in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quantiles {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Maximum.
    pub max: f64,
}

/// All tables of results, in the order in which they are written.
pub fn tables() -> Vec<Description> {
    vec![
        Description::of::<FlowOutcome>(),
        Description::of::<NodeOutcome>(),
        Description::of::<LinkOutcome>(),
        Description::of::<WireOutcome>(),
        Description::of::<CategoryOutcome>(),
        Description::of::<SeriesRow>(),
        Description::of::<DelayRow>(),
        Description::of::<MeasurementRow>(),
        Description::of::<Place>(),
        Description::of::<Outcome>(),
    ]
}

/// Columns of packets lost, one for each cause.
fn losses<Row: 'static>(
    of: &'static str,
    counts: fn(&Row) -> &[u64; DropCause::ALL.len()],
) -> impl Iterator<Item = Column<Row>> {
    (0..).zip(DropCause::ALL).map(move |(index, cause): (usize, _)| {
        let meaning = format!("{of} lost because {}", cause.meaning());
        let value = move |at: &At<Row>| counts(at.row)[index];
        Column::new(format!("dropped_{}", cause.name()), "packets", meaning, Cell::values(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const UNITS: [&str; 8] = ["", "1", "s", "m", "bit/s", "byte", "packets", "frames"];

    #[test]
    fn every_column_has_a_name_of_its_own_a_unit_and_a_meaning() {
        for table in tables() {
            let mut names = BTreeSet::new();
            for (name, unit, meaning) in table.columns {
                let place = format!("{}.{name}", table.name);
                assert!(UNITS.contains(&unit), "{place}: {unit}");
                assert!(
                    !meaning.is_empty() && meaning == meaning.trim() && !meaning.ends_with('.'),
                    "{place}: {meaning}"
                );
                for (end, wanted) in [("_s", "s"), ("_bps", "bit/s"), ("_bytes", "byte"), ("_m", "m")] {
                    assert!(!name.ends_with(end) || unit == wanted, "{place}: {unit}");
                }
                assert!(names.insert(name), "{place} is there twice");
            }
        }
    }
}
