//! What a run found out. Everything counts from the end of the warm-up, unless it says otherwise.
//!
//! The columns of the tables are declared here, each beside the row that it is read off.

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
    /// The results of one run.
    #[derive(Clone, Debug, Default, PartialEq)]
    Outcome, "summary", "one row":

    /// seed of every random stream of the run
    seed(""): u64;
    /// time that results cover: duration less warm-up
    measured_s("s"): f64;
    /// sum of the flows' goodput
    derived goodput_total_bps("bit/s");
    /// Jain's fairness index of the goodput of flows that want the same, of the largest group of such: 1 is
    /// equal, 1/n is one flow taking all
    derived jain("1");
    /// mean delay, each data packet that arrived counting once
    derived delay_mean_s("s");
    /// median delay of the data packets of flows that want the same, of the largest group of such, each
    /// packet counting once; from `delays`, within 3 %
    derived delay_p50_s("s");
    /// 95th percentile of the same delays
    derived delay_p95_s("s");
    /// mean round-trip time, mean over the flows that measured it
    derived rtt_mean_s("s");
    /// data packets lost in the network, of those that were lost or arrived, all flows together
    derived loss_ratio("1");
    /// acknowledgements lost in the network, any cause, all flows together
    derived feedback_dropped("packets");
    /// segments that repeated payload per data packet emitted, all flows together
    derived retransmission_ratio("1");
    /// `rate_cv` of flows, mean over those that have one
    derived rate_cv("1");
    /// `late_ratio` of the frames of all flows with a video together; missing without, as are the next two
    derived late_ratio("1");
    /// `stall_time_s` of flows, mean over those with a video
    derived stall_time_s("s");
    /// `video_frame_delay_p95_s` of flows, mean over those with a video
    derived video_frame_delay_p95_s("s");
    /// flows that delivered nothing
    derived flows_starved("1");
    /// share of the airtime that all radios sent that is not `payload_airtime` of flows: headers and
    /// preambles, RTS, CTS and ACK, repetitions of MACs and transports, acknowledgements of transports,
    /// signalling, routing, and packets that were lost on their way; missing where no radio sent
    derived overhead("1");
    /// events processed
    events("1"): u64;
    /// A number that changes when any event of the run changes: two runs did the same if it is the same.
    fingerprint: u64;
    /// changes when any event of the run changes: equal means the same run
    column fingerprint(""): String = |at| format!("{:016x}", at.row.fingerprint); // 64 bits do not survive JSON as a number
    /// Conservation, from the start of the run; it was asserted.
    conservation: Conservation;
    /// packets of any kind that transports emitted, from the start of the run
    column sent("packets"): u64 = |at| at.row.conservation.sent;
    /// of these, packets that reached the other end
    column delivered("packets"): u64 = |at| at.row.conservation.delivered;
    /// of these, packets in queues and MACs at the end
    column queued("packets"): u64 = |at| at.row.conservation.queued;
    ..losses("of these, packets", |outcome: &Outcome| &outcome.conservation.dropped);
    /// One per flow.
    flows: Vec<FlowOutcome>;
    /// One per node.
    nodes: Vec<NodeOutcome>;
    /// One per directed link that carried at least one unicast attempt.
    links: Vec<LinkOutcome>;
    /// One per direction of a wire, in the order of the configuration.
    wires: Vec<WireOutcome>;
    /// One per node and access category, the lowest first; empty without such.
    categories: Vec<CategoryOutcome>;
    /// One row per flow and step, from the start of the run.
    series: Vec<SeriesRow>;
    /// One row per flow and non-empty bin of delay.
    delays: Vec<DelayRow>;
    /// One row per step, node and measurement, from the start of the run.
    measurements: Vec<MeasurementRow>;
    /// Why flows got what they got; empty unless [`crate::config::Config::causes`] asks for it.
    causes: Causes;
}

/// Where every packet of the flows went, transport segments and acknowledgements alike, from the start of the
/// run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conservation {
    /// Packets that transports emitted.
    pub sent: u64,
    /// Packets that reached the other end.
    pub delivered: u64,
    /// Packets lost, by cause, in the order of [`DropCause::ALL`].
    pub dropped: [u64; DropCause::ALL.len()],
    /// Packets still in queues and MACs at the end.
    pub queued: u64,
}

/// A distribution in six numbers: of delays, in seconds.
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

/// A column for each cause of loss.
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
