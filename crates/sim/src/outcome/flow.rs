//! Results of a flow.

use super::table::{At, Cell, Column, Table, Values, table};
use super::{Quantiles, losses};
use crate::config::FlowConfig;
use multihop_core::{DropCause, NodeId};

table! {
    /// Results of a flow.
    #[derive(Clone, Debug, Default, PartialEq)]
    FlowOutcome, "flows", "a row per flow":

    /// index of the flow
    column flow("1"): u32 = |at| at.index as u32;
    /// name of the flow
    column name(""): String = |at| of(at).name.clone();
    /// name of the node that sends
    column source(""): String = |at| node_name(at, of(at).source);
    /// name of the node that receives
    column destination(""): String = |at| node_name(at, of(at).destination);
    /// index of the first flow of its multicast group, which sends for all of them; missing for unicast flows
    column multicast_group("1"): Option<u64> = |at| of(at).group.map(|first| u64::from(first.0));
    /// congestion control
    column scheme(""): String = |at| at.config.traffic.schemes[of(at).scheme].name.clone();
    /// application
    column app(""): String = |at| of(at).app.name().to_owned();
    /// hops of the flow's shortest path, initially where nodes move; static routes follow it, routing
    /// protocols may use others, and multicast flows take one hop from their sender or its relay
    hops("1"): u32;
    /// payload delivered in order to the application, divided by the measured time
    derived goodput_bps("bit/s");
    /// timely throughput: goodput delivered to the application within 400 ms (the limit of ITU-T G.114) of
    /// its first transmission; bytes of a stream wait for all earlier bytes
    column timely_bps("bit/s"): f64 = |at| (at.row.timely_bytes * 8) as f64 / at.measured_s;
    /// Payload bytes delivered to the application within 400 ms of their first transmission.
    timely_bytes: u64;
    /// payload delivered in order, without duplicates
    delivered_bytes("byte"): u64;
    /// payload that the transport sent, retransmissions included, divided by the measured time
    derived offered_bps("bit/s");
    /// payload that the transport sent, retransmissions included
    sent_bytes("byte"): u64;
    /// data packets that the transport sent, retransmissions included
    packets_sent("packets"): u64;
    /// data packets that reached the other end, duplicates included
    packets_delivered("packets"): u64;
    /// Data packets lost in the network, by cause, in the order of [`DropCause::ALL`].
    dropped: [u64; DropCause::ALL.len()];
    ..losses("data packets", |flow: &FlowOutcome| &flow.dropped);
    /// data packets lost in the network, any cause: the sum of the causes
    derived packets_lost("packets");
    /// share of data packets lost in the network, any cause, among those lost or delivered
    derived loss_ratio("1");
    /// acknowledgements lost in the network, any cause
    feedback_dropped("packets"): u64;
    /// One-way delays of data packets; zero if nothing arrived.
    delay: Quantiles;
    ..delays();
    /// mean of the transport's round-trip samples; missing without samples
    rtt_mean_s("s"): Option<f64>;
    /// segments that repeated payload
    retransmissions("packets"): u64;
    /// segments that repeated payload per data packet sent
    derived retransmission_ratio("1");
    /// expiries of the retransmission timer
    timeouts("1"): u64;
    /// entries into fast recovery
    recoveries("1"): u64;
    /// window reductions because of ECN
    ecn_reductions("1"): u64;
    /// data packets that arrived with congestion experienced
    marked("packets"): u64;
    /// congestion window, mean over time; missing for senders without one
    window_mean_bytes("byte"): Option<f64>;
    /// share of time in which the receive window, and not the congestion window, held data back; missing for
    /// senders without a window
    receive_limited("1"): Option<f64>;
    /// allowed sending rate of the sender, payload, mean over time; missing for senders without one
    rate_mean_bps("bit/s"): Option<f64>;
    /// latest reported loss event rate (RFC 5348), mean over time; missing without TFRC's transport
    loss_event_rate("1"): Option<f64>;
    /// transfers completed, from the start of the run
    transfers("1"): u64;
    /// duration of the completed transfers, mean; from the start to the arrival of the last byte at the
    /// receiver
    transfer_mean_s("s"): Option<f64>;
    /// the same, median
    transfer_p50_s("s"): Option<f64>;
    /// the same, 95th percentile
    transfer_p95_s("s"): Option<f64>;
    /// the same, 99th percentile
    transfer_p99_s("s"): Option<f64>;
    /// frame transmission efficiency, mean over the acknowledged frames of the flow's data packets at every
    /// hop (He et al. 2017, Eq. 2); frames of acknowledgements do not count, nor in `service_delay_mean_s`,
    /// `rts_retransmissions_mean` and `rts_frames`
    transmission_efficiency("1"): Option<f64>;
    /// time from the head of the line to the MAC's acknowledgement, mean over the same frames (He et al.
    /// 2017, Eq. 6)
    service_delay_mean_s("s"): Option<f64>;
    /// RTS without a CTS, mean over the frames of the flow's data packets that used RTS, at every hop, frames
    /// given up included; missing without RTS
    rts_retransmissions_mean("1"): Option<f64>;
    /// Frames of the flow's data packets that used RTS, by the number of RTS without a CTS: none, one, and so
    /// on; the last entry also counts higher numbers.
    rts_unanswered: [u64; RTS_COUNTS];
    ..rts_frames();
    /// `busy_ratio` of the nodes that sent the flow's data frames, mean weighted by the number of frames
    busy_ratio("1"): Option<f64>;
    /// share of time that the delivered payload was on the air, counted once on each radio hop, without
    /// headers, preambles and retransmissions
    payload_airtime("1"): f64;
    /// variability of the sending rate: coefficient of variation of the payload bytes sent in each whole
    /// second, retransmissions included; missing without two seconds, or if nothing was sent
    rate_cv("1"): Option<f64>;
    /// interarrival jitter of the data packets (RFC 3550, section 6.4.1), mean over arrivals; missing without
    /// two arrivals
    jitter_s("s"): Option<f64>;
    /// Video results, if the flow has a video.
    video: Option<VideoOutcome>;
    ..VideoOutcome::columns().into_iter().map(|column| Column::of_part(column, |flow: &FlowOutcome| flow.video.as_ref()));
}

table! {
    /// Outcome of the frames of a video that were made after the warm-up.
    ///
    /// Each frame was sent or skipped. A frame that was sent was on time, late or lost, or is still on its
    /// way before its deadline.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    VideoOutcome, "videos", "a row per flow with a video":

    /// frames that the flow's camera made, skipped frames included; missing for other applications, as are
    /// all columns that follow
    video_frames_sent("1"): u64;
    /// frames that the encoder skipped because of the sender's backlog
    video_frames_skipped("1"): u64;
    /// frames delivered whole within the deadline
    video_frames_on_time("1"): u64;
    /// frames delivered whole after the deadline
    video_frames_late("1"): u64;
    /// frames not delivered whole by the end of the run although their deadline had passed
    video_frames_lost("1"): u64;
    /// share of frames late, lost or skipped among those with a known outcome: the frames that a player
    /// without buffering misses
    late_ratio("1"): Option<f64>;
    /// interruptions of a player that waits for frames
    stalls("1"): u64;
    /// total duration of the interruptions
    stall_time_s("s"): f64;
    /// time from the creation of a frame to the delivery of its last byte, mean over frames delivered whole
    video_frame_delay_mean_s("s"): Option<f64>;
    /// 95th percentile of that time
    video_frame_delay_p95_s("s"): Option<f64>;
}

/// Number of counters of frames by unanswered RTS, from none up to seven, the retry limit of the standard.
pub const RTS_COUNTS: usize = 8;

fn of<'a>(at: &At<'a, FlowOutcome>) -> &'a FlowConfig {
    &at.config.traffic.flows[at.index]
}

fn node_name(at: &At<FlowOutcome>, node: NodeId) -> String {
    at.config.topology.nodes[at.config.topology.radios.node_of(node).index()].name.clone()
}

fn delays() -> Vec<Column<FlowOutcome>> {
    type Quantile = fn(&Quantiles) -> f64;
    let quantiles: [(&str, &str, &str, Quantile); 6] = [
        ("mean", "mean", "; missing if nothing arrived", |delay| delay.mean),
        ("p50", "median", "", |delay| delay.p50),
        ("p90", "90th percentile", "", |delay| delay.p90),
        ("p95", "95th percentile", "", |delay| delay.p95),
        ("p99", "99th percentile", "", |delay| delay.p99),
        ("max", "maximum", "", |delay| delay.max),
    ];
    let column = |(name, title, note, value): (&str, &str, &str, Quantile)| {
        let what = "of the one-way delays of data packets, from transmission by the transport to arrival at the other end";
        let name = format!("delay_{name}_s");
        let value = move |at: &At<FlowOutcome>| value(&at.row.delay);
        Column::new(name, "s", format!("{title} {what}{note}"), Cell::values(value))
    };
    quantiles.into_iter().map(column).collect()
}

fn rts_frames() -> Vec<Column<FlowOutcome>> {
    let with_rts =
        "data packets for which a MAC sent an RTS, counted at every hop, packets given up included";
    let all = |at: &At<FlowOutcome>| at.row.rts_unanswered.iter().sum::<u64>();
    let mut made = vec![Column::new("rts_frames", "packets", with_rts, Cell::values(all))];
    made.extend((0..RTS_COUNTS - 1).map(|most| {
        let name = format!("rts_at_most_{most}");
        let meaning = format!("of these, packets with at most {most} RTS without a CTS");
        let sum = move |at: &At<FlowOutcome>| at.row.rts_unanswered[..=most].iter().sum::<u64>();
        Column::new(name, "packets", meaning, Cell::values(sum))
    }));
    made
}
