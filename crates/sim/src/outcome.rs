//! What a run found out. Everything counts from the end of the warm-up, unless it says otherwise.

mod causes;

pub use causes::{Causes, CollisionOutcome, DropOutcome, HopOutcome, LossCause, LossOutcome, Overlap};

use multihop_core::DropCause;
use multihop_link::LinkView;

/// The results of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Seed of the run.
    pub seed: u64,
    /// Seconds that results cover: duration less warm-up.
    pub measured_s: f64,
    /// Events processed, from the start of the run.
    pub events: u64,
    /// A number that changes when any event of the run changes: two runs did the same if it is the same.
    pub fingerprint: u64,
    /// One per flow.
    pub flows: Vec<FlowOutcome>,
    /// One per node.
    pub nodes: Vec<NodeOutcome>,
    /// One per directed link that carried at least one unicast attempt.
    pub links: Vec<LinkOutcome>,
    /// One per direction of a wire, in the order of the configuration.
    pub wires: Vec<WireOutcome>,
    /// Time series, one row per flow and step, from the start of the run.
    pub series: Vec<SeriesRow>,
    /// Time series of estimators, one row per step, node and measurement, from the start of the run.
    pub measurements: Vec<MeasurementRow>,
    /// Why flows got what they got; empty unless [`crate::config::Config::causes`] asks for it.
    pub causes: Causes,
    /// Conservation, from the start of the run; it was asserted.
    pub conservation: Conservation,
}

/// Where every packet of the flows went, transport segments and acknowledgements alike, from the start of the run.
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

/// What a flow got.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowOutcome {
    /// Payload bytes delivered to the application, in order, without duplicates.
    pub delivered_bytes: u64,
    /// Those of them that the application had within 400 ms of their first emission.
    pub timely_bytes: u64,
    /// Share of time that the delivered bytes were on the air, once on each radio hop that they took, without headers and preambles.
    pub payload_airtime: f64,
    /// Data packets that the transport emitted, retransmissions included.
    pub packets_sent: u64,
    /// Their payload bytes.
    pub sent_bytes: u64,
    /// Data packets that reached the other end, duplicates included.
    pub packets_delivered: u64,
    /// Data packets lost in the network, by cause, in the order of [`DropCause::ALL`].
    pub dropped: [u64; DropCause::ALL.len()],
    /// Feedback packets (acknowledgements) lost in the network, any cause.
    pub feedback_dropped: u64,
    /// One-way delays of data packets from emission to arrival, in seconds: mean, median, 90th, 95th, 99th percentile, maximum.
    /// Zero if nothing arrived.
    pub delay: Quantiles,
    /// Mean of the transport's round-trip samples, in seconds; none for datagrams.
    pub rtt_mean_s: Option<f64>,
    /// Segments that repeated payload.
    pub retransmissions: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Entries into fast recovery.
    pub recoveries: u64,
    /// Window reductions because of ECN.
    pub ecn_reductions: u64,
    /// Data packets that arrived with congestion experienced.
    pub marked: u64,
    /// Mean congestion window over time, in bytes; none without one.
    pub window_mean: Option<f64>,
    /// Mean over time of the rate that the sender allowed itself, in payload bits per second; none of senders that go by no rate.
    pub rate_mean_bps: Option<f64>,
    /// Mean over time of the loss event rate that was last reported (RFC 5348, section 5); none without such reports.
    pub loss_event_rate: Option<f64>,
    /// Hops of its shortest path by `routing.metric`, which static routes take; those of a routing protocol may differ.
    pub hops: u32,
    /// Transfers completed, from the start of the run, and their mean duration in seconds.
    pub transfers: u64,
    /// Mean duration of the completed transfers, in seconds.
    pub transfer_mean_s: Option<f64>,
    /// Mean frame transmission efficiency of its data packets' acknowledged frames at every hop (He et al. 2017, Eq. 2). This
    /// and what follows leaves out the flow's acknowledgements.
    pub transmission_efficiency: Option<f64>,
    /// Mean service delay of these frames, from the head of the line to the MAC's acknowledgement, in seconds (Eq. 6).
    pub service_delay_mean_s: Option<f64>,
    /// Mean number of RTS that no CTS answered, over the frames that used RTS, frames given up included; none without RTS.
    pub rts_retransmissions_mean: Option<f64>,
    /// Frames of its data packets that used RTS, by how many RTS no CTS answered: none, one, and so on; the last one as many or more.
    pub rts_unanswered: [u64; RTS_COUNTS],
    /// Mean of [`NodeOutcome::busy_ratio`] over the stations that sent its data frames, each weighted by how many.
    pub busy_ratio: Option<f64>,
    /// Coefficient of variation of the payload bytes that its transport emitted in each whole second, retransmissions included, from
    /// its start or the end of the warm-up until it stops; none without two of them, or if nothing was sent.
    pub rate_cv: Option<f64>,
    /// Interarrival jitter of its data packets in seconds (RFC 3550, section 6.4.1), mean over arrivals; none without two arrivals.
    pub jitter_s: Option<f64>,
    /// Of its video, if it has one.
    pub video: Option<VideoOutcome>,
}

/// Frames are counted by up to one less unanswered RTS than this: up to seven, the retry limit of the standard.
pub const RTS_COUNTS: usize = 8;

/// What became of the frames of a video that were made after the warm-up.
///
/// Each was sent or skipped; each that was sent was on time, late, lost, or is still on its way with its deadline ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VideoOutcome {
    /// Frames that the camera made, those that were skipped included.
    pub sent: u64,
    /// Those that the encoder did not hand to the transport, because too much waited there.
    pub skipped: u64,
    /// Those of which all bytes were delivered within the deadline.
    pub on_time: u64,
    /// Those that were complete after it.
    pub late: u64,
    /// Those that were not complete at the end of the run though their deadline had passed.
    pub lost: u64,
    /// Late, lost and skipped frames as a share of all whose fate was decided; none if there was none.
    pub late_ratio: Option<f64>,
    /// How often a player that waits for frames stopped.
    pub stalls: u64,
    /// For how long in all, in seconds.
    pub stall_time_s: f64,
    /// From the making of a frame to its last byte's delivery, mean over the frames that were complete.
    pub frame_delay_mean_s: Option<f64>,
    /// 95th percentile of that.
    pub frame_delay_p95_s: Option<f64>,
}

/// A distribution in six numbers.
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

/// What a node sent that belongs to no flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControlOutcome {
    /// Packets handed to the interface queue.
    pub sent: u64,
    /// Their bytes, IP header included.
    pub bytes: u64,
    /// Packets that were lost before they were sent: the queue was full, or they waited too long.
    pub dropped: u64,
    /// Share of time that their frames were on the air, control frames of the MAC not counted.
    pub airtime: f64,
}

/// How a node spent its time, and what its queue did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeOutcome {
    /// Share of time transmitting.
    pub transmitting: f64,
    /// Share of time receiving frames that it decoded, and that were for it.
    pub receiving: f64,
    /// Share of time sensing the medium busy with anything else.
    pub sensing: f64,
    /// Share of time physically idle; the four add up to 1.
    pub idle: f64,
    /// Share of time physically idle but with the NAV set.
    pub nav_only: f64,
    /// Share of time not free to be used: physically busy, own transmissions included, or with the NAV set (the channel
    /// busyness ratio of Zhai, Chen and Fang 2007).
    pub busy_ratio: f64,
    /// Mean packets in the interface queue over time; wires have queues of their own.
    pub queue_mean: f64,
    /// Most packets in the interface queue.
    pub queue_max: u64,
    /// Packets of flows lost here, by cause, in the order of [`DropCause::ALL`].
    pub dropped: [u64; DropCause::ALL.len()],
    /// What its routing protocol sent.
    pub routing: ControlOutcome,
    /// What its router policies told those of the neighbours.
    pub signalling: ControlOutcome,
    /// Mean frame transmission efficiency of its acknowledged frames.
    pub transmission_efficiency: Option<f64>,
    /// Mean service delay of its acknowledged frames, in seconds.
    pub service_delay_mean_s: Option<f64>,
}

/// What a directed link did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkOutcome {
    /// Index of the sender.
    pub from: u32,
    /// Index of the receiver.
    pub to: u32,
    /// RTS transmissions.
    pub rts: u64,
    /// DATA transmissions.
    pub data: u64,
    /// Frames acknowledged.
    pub acknowledged: u64,
    /// Frames given up.
    pub given_up: u64,
}

/// What one direction of a wire did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WireOutcome {
    /// Index of the sender.
    pub from: u32,
    /// Index of the receiver.
    pub to: u32,
    /// Packets whose last bit was sent.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets that reached the other end.
    pub delivered: u64,
    /// Packets that were lost at its sending end: the queue was full, a router policy or the discipline dropped them, or the node was
    /// switched off while they were being sent.
    pub dropped: u64,
    /// Packets that it lost at random, of those that were sent.
    pub lost: u64,
    /// Mean packets in its queue over time, without the one that was being sent.
    pub queue_mean: f64,
    /// Most packets in its queue.
    pub queue_max: u64,
    /// Share of time during which it was sending.
    pub utilisation: f64,
}

/// A step of a flow's time series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SeriesRow {
    /// End of the step, in seconds.
    pub time_s: f64,
    /// Index of the flow.
    pub flow: u32,
    /// Payload bytes delivered during the step.
    pub delivered_bytes: u64,
    /// Payload bytes that the transport emitted during the step, retransmissions included.
    pub sent_bytes: u64,
    /// Rate that the sender allows itself at the end of the step, in payload bits per second.
    pub rate_bps: Option<f64>,
    /// Loss event rate that was last reported at the end of the step.
    pub loss_event_rate: Option<f64>,
    /// Congestion window at the end of the step, in bytes.
    pub window: Option<u64>,
    /// Latest round-trip sample at the end of the step, in seconds.
    pub rtt_s: Option<f64>,
    /// Packets in the queue that the flow's packets wait in at its source, at the end of the step: the interface queue, or that
    /// of a wire.
    pub source_queue: u32,
    /// Mean frame transmission efficiency of its data packets' frames that were acknowledged during the step, at any hop.
    pub transmission_efficiency: Option<f64>,
}

/// A step of an estimator's time series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeasurementRow {
    /// End of the step, in seconds.
    pub time_s: f64,
    /// Index into [`crate::config::Config::measurements`].
    pub measurement: u32,
    /// Index of the node.
    pub node: u32,
    /// What the estimator wrote at the end of the step.
    pub view: LinkView,
    /// The truth: the share of the step during which the node could not use the medium, as in [`NodeOutcome::busy_ratio`].
    pub busy_ratio: f64,
}
