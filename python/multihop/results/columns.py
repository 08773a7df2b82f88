"""Every column of the result tables: its unit and its meaning, defined once.

The Parquet files carry this, and the documentation's results reference is generated from it.
"""

from dataclasses import dataclass
from typing import Any

#: Named causes of loss, as the engine counts them, with what they mean.
DROP_CAUSES: dict[str, str] = {
    "queue_full": "the interface queue was full, or that of a wire",
    "retry_limit": "the MAC gave up after its retry limit",
    "no_route": "the node had no route to the destination, or none was found for it in time",
    "policy": "a router policy dropped it",
    "link_broken": "it waited for a next hop that routing declared broken, or was on a wire whose end was switched off",
    "hop_limit": "it took more hops than packets may, or came back to the node that sent it first",
    "lifetime": "it waited in the interface queue for longer than `mac.lifetime`",
    "aqm": "the queue discipline, `fq-codel` or `stations`, found that packets wait too long",
    "wire_loss": "a wire lost it at random, with the probability `loss`",
}


@dataclass(frozen=True)
class Column:
    """A column: unit (`1` for counts and shares, empty for names) and meaning."""

    unit: str
    meaning: str


def _drops(of: str) -> dict[str, Column]:
    return {f"dropped_{cause}": Column("packets", f"{of} lost because {why}") for cause, why in DROP_CAUSES.items()}


_DELAY = "of the one-way delays of data packets, from emission by the transport to arrival at the other end"

_FLOWS: dict[str, Column] = {
    "flow": Column("1", "index of the flow"),
    "name": Column("", "name of the flow"),
    "source": Column("", "name of the node that sends"),
    "destination": Column("", "name of the node that receives"),
    "scheme": Column("", "congestion control"),
    "app": Column("", "application"),
    "hops": Column(
        "1",
        "hops of its shortest path, at the beginning where nodes move; static routes take it, routing protocols may "
        "take others",
    ),
    "goodput_bps": Column("bit/s", "payload delivered in order to the application, over the measured time"),
    "timely_bps": Column(
        "bit/s",
        "timely throughput: goodput that the application had within 400 ms (the limit of ITU-T G.114) of when it was "
        "first sent; of a stream, with whatever came before it",
    ),
    "delivered_bytes": Column("byte", "payload delivered in order, without duplicates"),
    "offered_bps": Column(
        "bit/s", "payload that the transport emitted, retransmissions included, over the measured time"
    ),
    "sent_bytes": Column("byte", "payload that the transport emitted, retransmissions included"),
    "packets_sent": Column("packets", "data packets that the transport emitted, retransmissions included"),
    "packets_delivered": Column("packets", "data packets that reached the other end, duplicates included"),
    **_drops("data packets"),
    "packets_lost": Column("packets", "data packets lost in the network, any cause: the sum of the causes"),
    "loss_ratio": Column(
        "1", "data packets lost in the network, any cause, of those whose fate was decided: lost or arrived"
    ),
    "feedback_dropped": Column("packets", "acknowledgements lost in the network, any cause"),
    "delay_mean_s": Column("s", f"mean {_DELAY}; missing if nothing arrived"),
    "delay_p50_s": Column("s", f"median {_DELAY}"),
    "delay_p90_s": Column("s", f"90th percentile {_DELAY}"),
    "delay_p95_s": Column("s", f"95th percentile {_DELAY}"),
    "delay_p99_s": Column("s", f"99th percentile {_DELAY}"),
    "delay_max_s": Column("s", f"maximum {_DELAY}"),
    "rtt_mean_s": Column("s", "mean of the transport's round-trip samples; missing for datagrams"),
    "retransmissions": Column("packets", "segments that repeated payload"),
    "retransmission_ratio": Column("1", "segments that repeated payload per data packet emitted"),
    "timeouts": Column("1", "expiries of the retransmission timer"),
    "recoveries": Column("1", "entries into fast recovery"),
    "ecn_reductions": Column("1", "window reductions because of ECN"),
    "marked": Column("packets", "data packets that arrived with congestion experienced"),
    "window_mean_bytes": Column("byte", "congestion window, mean over time; missing for datagrams"),
    "rate_mean_bps": Column(
        "bit/s", "rate that the sender allowed itself, payload, mean over time; missing without TFRC's transport"
    ),
    "loss_event_rate": Column(
        "1", "loss event rate that was last reported (RFC 5348), mean over time; missing without TFRC's transport"
    ),
    "transfers": Column("1", "transfers completed, from the start of the run"),
    "transfer_mean_s": Column("s", "mean duration of the completed transfers"),
    "transmission_efficiency": Column(
        "1",
        "frame transmission efficiency, mean over the acknowledged frames of its data packets at every hop"
        " (He et al. 2017, Eq. 2); frames of acknowledgements do not count, here and in the next three",
    ),
    "service_delay_mean_s": Column(
        "s",
        "from the head of the line to the MAC's acknowledgement, mean over the same frames (He et al. 2017, Eq. 6)",
    ),
    "rts_retransmissions_mean": Column(
        "1",
        "RTS that no CTS answered, mean over the frames of its data packets that used RTS, at every hop, frames given"
        " up included; missing without RTS",
    ),
    "rts_frames": Column(
        "packets",
        "data packets that a MAC began to send after an RTS, counted at every hop, those that it gave up included",
    ),
    **{
        f"rts_at_most_{most}": Column(
            "packets", f"of these, packets of which at most {most} RTS were not answered by a CTS"
        )
        for most in range(7)
    },
    "busy_ratio": Column(
        "1",
        "`busy_ratio` of the nodes that sent the frames of its data packets, mean, each weighted by how many it sent",
    ),
    "payload_airtime": Column(
        "1",
        "share of time that the payload that it delivered was on the air, once on each radio hop that it took, without"
        " headers, preambles and repetitions",
    ),
    "rate_cv": Column(
        "1",
        "how unevenly its transport sent: coefficient of variation of the payload bytes that it emitted in each whole"
        " second, retransmissions included; missing without two seconds, or if nothing was sent",
    ),
    "jitter_s": Column(
        "s",
        "interarrival jitter of its data packets (RFC 3550, section 6.4.1), mean over arrivals; missing without two",
    ),
    "frames_sent": Column(
        "1",
        "frames that the camera of its video made, those that were skipped included; missing for other applications, as"
        " is all that follows",
    ),
    "frames_skipped": Column("1", "frames that the encoder did not send, because too much waited at the sender"),
    "frames_on_time": Column("1", "frames that were delivered whole within the deadline"),
    "frames_late": Column("1", "frames that were delivered whole after the deadline"),
    "frames_lost": Column(
        "1", "frames that were not delivered whole by the end of the run, though their deadline had passed"
    ),
    "late_ratio": Column(
        "1",
        "frames late, lost or skipped, of those whose fate was decided: what a player misses that never waits",
    ),
    "stalls": Column("1", "how often a player stopped that waits for frames"),
    "stall_time_s": Column("s", "for how long it stood in all"),
    "frame_delay_mean_s": Column(
        "s", "from the making of a frame to its last byte's delivery, mean over frames that came whole"
    ),
    "frame_delay_p95_s": Column("s", "95th percentile of that"),
}

_NODES: dict[str, Column] = {
    "node": Column("1", "index of the node"),
    "name": Column("", "name of the node"),
    "x_m": Column("m", "position; missing where the scenario gives none"),
    "y_m": Column("m", "position; missing where the scenario gives none"),
    "transmitting": Column("1", "share of time transmitting"),
    "receiving": Column("1", "share of time receiving frames that it decoded and that were for it"),
    "sensing": Column("1", "share of time sensing the medium busy with anything else"),
    "idle": Column("1", "share of time physically idle; the four shares add up to 1"),
    "nav_only": Column("1", "share of time physically idle but held back by the network allocation vector"),
    "busy_ratio": Column(
        "1",
        "share of time that the medium could not be used: all but `idle`, and `nav_only` (the channel busyness ratio"
        " of Zhai, Chen and Fang 2007)",
    ),
    "queue_mean": Column("packets", "interface queue, mean over time"),
    "queue_max": Column("packets", "interface queue, maximum"),
    **_drops("packets of flows, data or feedback,"),
    "routing_sent": Column("packets", "packets of its routing protocol handed to the interface queue"),
    "routing_bytes": Column("byte", "their bytes, IP header included"),
    "routing_dropped": Column(
        "packets", "packets of its routing protocol lost before they were sent: no room in the queue, or too old"
    ),
    "routing_airtime": Column("1", "share of time that frames of its routing protocol were on the air"),
    "signalling_sent": Column("packets", "packets in which its router policies told their neighbours something"),
    "signalling_bytes": Column("byte", "their bytes, IP header included"),
    "signalling_dropped": Column("packets", "those lost before they were sent: no room in the queue, or too old"),
    "signalling_airtime": Column("1", "share of time that frames with such packets were on the air"),
    "transmission_efficiency": Column("1", "frame transmission efficiency, mean over its acknowledged frames"),
    "service_delay_mean_s": Column(
        "s", "from the head of the line to the acknowledgement, mean over acknowledged frames"
    ),
}

_LINKS: dict[str, Column] = {
    "sender": Column("1", "index of the sending node"),
    "receiver": Column("1", "index of the receiving node"),
    "sender_name": Column("", "name of the sending node"),
    "receiver_name": Column("", "name of the receiving node"),
    "rts": Column("frames", "RTS transmissions"),
    "data": Column("frames", "DATA transmissions"),
    "acknowledged": Column("frames", "frames acknowledged"),
    "given_up": Column("frames", "frames given up at the retry limit"),
}

_WIRES: dict[str, Column] = {
    "sender": Column("1", "index of the sending node"),
    "receiver": Column("1", "index of the receiving node"),
    "sender_name": Column("", "name of the sending node"),
    "receiver_name": Column("", "name of the receiving node"),
    "rate_bps": Column("bit/s", "rate of this direction of the wire"),
    "delay_s": Column("s", "its propagation delay"),
    "loss": Column("1", "probability with which it loses each packet at random"),
    "sent": Column("packets", "packets whose last bit was sent"),
    "sent_bytes": Column("byte", "their bytes, headers included"),
    "delivered": Column("packets", "packets that reached the other end"),
    "dropped": Column(
        "packets",
        "packets lost before they were sent: no room in the queue, a router policy or the discipline dropped them, or "
        "the node was switched off",
    ),
    "lost": Column("packets", "packets that it lost at random after they were sent"),
    "queue_mean": Column("packets", "packets that waited at its sending end, mean over time"),
    "queue_max": Column("packets", "packets that waited at its sending end, maximum"),
    "utilisation": Column("1", "share of time during which it was sending"),
}

_SERIES: dict[str, Column] = {
    "time_s": Column("s", "end of the step, from the start of the run (warm-up included)"),
    "flow": Column("1", "index of the flow"),
    "name": Column("", "name of the flow"),
    "goodput_bps": Column("bit/s", "payload delivered during the step, over its length"),
    "delivered_bytes": Column("byte", "payload delivered during the step"),
    "sending_rate_bps": Column(
        "bit/s", "payload that the transport emitted during the step, retransmissions included, over its length"
    ),
    "sent_bytes": Column("byte", "that payload"),
    "rate_bps": Column(
        "bit/s",
        "rate that the sender allows itself at the end of the step, payload; missing without TFRC's transport",
    ),
    "loss_event_rate": Column("1", "loss event rate that was last reported at the end of the step (RFC 5348)"),
    "window_bytes": Column("byte", "congestion window at the end of the step; missing for datagrams"),
    "rtt_s": Column("s", "latest round-trip sample at the end of the step"),
    "source_queue": Column(
        "packets", "queue of the flow's source at the end of the step: its interface queue, or that of a wire"
    ),
    "transmission_efficiency": Column(
        "1",
        "frame transmission efficiency, mean over the frames of its data packets that were acknowledged during the"
        " step, at any hop; missing if there were none",
    ),
}

_MEASUREMENTS: dict[str, Column] = {
    "time_s": Column("s", "end of the step, from the start of the run (warm-up included)"),
    "estimator": Column("", "name of the measurement: that of the estimator, unless the scenario gives another"),
    "node": Column("1", "index of the node"),
    "name": Column("", "name of the node"),
    "capacity_bps": Column(
        "bit/s", "estimate of what the link carries at the end of the step; missing if the estimator makes none"
    ),
    "available_bps": Column("bit/s", "estimate of the part of it that is unused"),
    "packet_throughput_bps": Column("bit/s", "bits of packets per time that the MAC had them, smoothed"),
    "service_delay_s": Column("s", "from the head of the line to the acknowledgement, smoothed over frames"),
    "transmission_efficiency": Column("1", "frame transmission efficiency, smoothed over frames"),
    "busy_ratio": Column("1", "estimate of the channel busyness ratio"),
    "implied_busy_ratio": Column(
        "1",
        "share of time that the estimates call busy, for comparison with the truth: `busy_ratio`, or else one less"
        " `available_bps` over `capacity_bps`; missing if the estimator makes neither",
    ),
    "true_busy_ratio": Column(
        "1",
        "the truth, as the simulator knows it: share of the step during which the node could not use the medium,"
        " physically busy or held back by the network allocation vector",
    ),
}

_POSITIONS: dict[str, Column] = {
    "time_s": Column("s", "instant since the start of the run"),
    "node": Column("1", "number of the node, from 0"),
    "name": Column("", "its name in the scenario"),
    "x_m": Column("m", "its place then, to the millimetre"),
    "y_m": Column("m", "its place then, to the millimetre"),
    "off": Column("1", "1 while it is off, by `[[outages]]` or because its vehicle is not there; 0 otherwise"),
}

_SUMMARY: dict[str, Column] = {
    "seed": Column("", "seed of every random stream of the run"),
    "measured_s": Column("s", "time that results cover: duration less warm-up"),
    "goodput_total_bps": Column("bit/s", "sum of the flows' goodput"),
    "jain": Column("1", "Jain's fairness index of the flows' goodput: 1 is equal, 1/n is one flow taking all"),
    "delay_mean_s": Column("s", "mean delay, each data packet that arrived counting once"),
    "delay_p50_s": Column("s", "median delay, mean over the flows that delivered"),
    "delay_p95_s": Column("s", "95th percentile of delay, mean over the flows that delivered"),
    "rtt_mean_s": Column("s", "mean round-trip time, mean over the flows that measured it"),
    "loss_ratio": Column(
        "1", "data packets lost in the network, of those that were lost or arrived, all flows together"
    ),
    "feedback_dropped": Column("packets", "acknowledgements lost in the network, any cause, all flows together"),
    "retransmission_ratio": Column("1", "segments that repeated payload per data packet emitted, all flows together"),
    "rate_cv": Column("1", "`rate_cv` of flows, mean over those that have one"),
    "late_ratio": Column(
        "1", "`late_ratio` of the frames of all flows with a video together; missing without, as are the next two"
    ),
    "stall_time_s": Column("s", "`stall_time_s` of flows, mean over those with a video"),
    "frame_delay_p95_s": Column("s", "`frame_delay_p95_s` of flows, mean over those with a video"),
    "flows_starved": Column("1", "flows that delivered nothing"),
    "overhead": Column(
        "1",
        "share of the airtime that all radios sent that is not `payload_airtime` of flows: headers and preambles, RTS,"
        " CTS and ACK, repetitions of MACs and transports, acknowledgements of transports, signalling, routing, and"
        " packets that were lost on their way; missing where no radio sent",
    ),
    "events": Column("1", "events processed"),
    "fingerprint": Column("", "changes when any event of the run changes: equal means the same run"),
    "sent": Column("packets", "packets of any kind that transports emitted, from the start of the run"),
    "delivered": Column("packets", "of these, packets that reached the other end"),
    "queued": Column("packets", "of these, packets in queues and MACs at the end"),
    **_drops("of these, packets"),
}

#: Table -> column -> definition, in the order in which they are written.
TABLES: dict[str, dict[str, Column]] = {
    "flows": _FLOWS,
    "nodes": _NODES,
    "links": _LINKS,
    "wires": _WIRES,
    "series": _SERIES,
    "measurements": _MEASUREMENTS,
    "positions": _POSITIONS,
    "summary": _SUMMARY,
}

#: What a row of each table is.
_ROWS = {
    "flows": "a row per flow",
    "nodes": "a row per node",
    "links": "a row per pair of nodes that exchanged frames",
    "wires": "a row per direction of a wire",
    "series": "a row per flow and step of `record_interval`",
    "measurements": "a row per estimator of `[[measure]]`, node and step of `record_interval`",
    "positions": "a row per node that moves or is off for a while, at the beginning and after each `record_interval`",
    "summary": "one row",
}


def catalogue() -> list[dict[str, Any]]:
    """Every table, and its columns with unit and meaning: what metrics of studies are made of."""
    return [
        {
            "name": table,
            "summary": _ROWS[table],
            "keys": {name: f"{c.meaning} [{c.unit}]" if c.unit else c.meaning for name, c in columns.items()},
        }
        for table, columns in TABLES.items()
    ]


#: What a comparison adds in front of each table.
RUN_COLUMNS: dict[str, Column] = {
    "variant": Column(
        "", "what was compared: the scheme that every flow used, or `scenario` for the scenario as written"
    ),
    "seed": Column("", "seed of the run"),
}


@dataclass(frozen=True)
class Metric:
    """A scalar of a run that schemes are compared by."""

    name: str
    title: str
    unit: str
    scale: float
    higher_is_better: bool | None

    def shown(self, value: float) -> float:
        """The value in the unit that people read."""
        return value * self.scale


#: What comparisons report, in this order. Names are columns of the summary.
METRICS: tuple[Metric, ...] = (
    Metric("goodput_total_bps", "Total goodput", "Mb/s", 1e-6, higher_is_better=True),
    Metric("jain", "Fairness (Jain index)", "", 1.0, higher_is_better=True),
    Metric("delay_p50_s", "Median delay", "ms", 1e3, higher_is_better=False),
    Metric("delay_p95_s", "95th percentile of delay", "ms", 1e3, higher_is_better=False),
    Metric("rtt_mean_s", "Round-trip time", "ms", 1e3, higher_is_better=False),
    Metric("loss_ratio", "Packets lost", "%", 1e2, higher_is_better=False),
    Metric("retransmission_ratio", "Retransmissions", "%", 1e2, higher_is_better=False),
)

#: What comparisons report besides, where a flow has a video.
VIDEO_METRICS: tuple[Metric, ...] = (
    Metric("late_ratio", "Late frames", "%", 1e2, higher_is_better=False),
    Metric("stall_time_s", "Stall time", "s", 1.0, higher_is_better=False),
    Metric("frame_delay_p95_s", "95th percentile of frame delay", "ms", 1e3, higher_is_better=False),
)

#: What comparisons report besides, where runs can be held against the optimum (`multihop.optima`).
OPTIMUM_METRICS: tuple[Metric, ...] = (
    Metric("optimum_distance", "Distance to the optimum", "%", 1e2, higher_is_better=False),
    Metric("optimum_gap", "Gap to the optimum", "%", 1e2, higher_is_better=False),
)

METRIC = {metric.name: metric for metric in METRICS}
