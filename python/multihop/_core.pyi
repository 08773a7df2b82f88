"""The compiled extension of crates/py, without logic of its own.

Scenarios live in crates/scenario, the engine in crates/sim.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NotRequired, Self, TypedDict

import numpy as np
import numpy.typing as npt

Column = np.ndarray[Any, Any] | list[str]

class NodeView(TypedDict):
    """A radio of a resolved scenario, of the node of index `node`; coordinates at the beginning, in metres.

    `None` are coordinates that the scenario does not give, and the channel where all radios are on one.
    """

    name: str
    x: float | None
    y: float | None
    #: Index of the node that it is a radio of; its own of the first radio.
    node: int
    moves: bool
    channel: int | None

class FlowView(TypedDict):
    """A flow of a resolved scenario.

    `offered_bps` is the rate at which the application hands over data; none where it always has more, or
    takes the rate of its transport. `interval` is that of datagrams which are sent at equal intervals, in
    seconds; none of others.
    `path` holds node indices from source to destination; it is empty without a route. `acknowledges` is of
    emulations: the flow answers another in the reverse direction, and is none of those that share the medium.
    `group` is of multicast flows: index of the flow that sends for all receivers of its group; `path` is
    empty if frames do not reach the receiver.
    """

    name: str
    source: str
    destination: str
    scheme: str
    app: str
    offered_bps: float | None
    interval: float | None
    hops: int
    path: list[int]
    acknowledges: NotRequired[bool]
    group: NotRequired[int]

class WireView(TypedDict):
    """One direction of a wire: indices of its nodes, bits per second, seconds, and packets that may wait."""

    sender: int
    receiver: int
    rate_bps: int
    delay: float
    queue: int

class MeasurementView(TypedDict):
    """An estimator of a resolved scenario: what results call it, and the names of the nodes that have it."""

    name: str
    nodes: list[str]

class ScenarioView(TypedDict):
    """A resolved scenario.

    `links` holds [from, to, delivery probability of a full DATA frame without interference]; that of wires,
    which are among them, is 1. `wires` has each direction of a wire. `motion_file` is what nodes take their
    motion from, if it is a file. `queue` is how many packets the queue of a radio holds. `classes` are names
    of the Python classes of its schemes.
    """

    name: str
    description: str
    duration: float
    warmup: float
    seed: int
    hash: str
    nodes: list[NodeView]
    links: list[tuple[int, int, float]]
    queue: int
    wires: list[WireView]
    flows: list[FlowView]
    measurements: list[MeasurementView]
    motion_file: str | None
    classes: list[str]

class LinkTimeView(TypedDict):
    """Airtime on a link for one message of a flow, in seconds; of a wire, the time of sending.

    `link` indexes the list of links. What the channel loses without interference is sent again.

    The least that any MAC needs: `data_s`, DATA frames alone, and `exchange_s`, whole exchanges from the
    first bit to
    the last. What DCF does: `airtime_s`, all frames of all tries until a packet is at the end of the path;
    `access_s`, what a station that is alone waits besides, which is DIFS, the mean of back-offs, time-outs,
    and propagation.

    `delivery`: share of the tries with a full packet that succeed; `transmissions`: DATA frames for each
    packet that arrives at the end; `lost`: share of the packets that do not get across, as they are given up
    at the retry limit.
    """

    link: int
    data_s: float
    exchange_s: float
    airtime_s: float
    access_s: float
    delivery: float
    transmissions: float
    lost: float

class DemandView(TypedDict):
    """What a flow needs of the channel for each message of `payload_bytes`.

    `header_bytes` are the network and transport headers of each of its packets, the least that its transport
    uses.

    `offered_bps` is the payload rate of its application, `None` if that is without limit; `steady` whether it
    offers that during all of the measured time. `forward` holds the links of the path, none if nothing
    crosses it; `feedback` those of what the receiver sends back when every packet arrives once.
    """

    payload_bytes: int
    header_bytes: int
    offered_bps: float | None
    steady: bool
    forward: list[LinkTimeView]
    feedback: list[LinkTimeView]

class CapacityView(TypedDict):
    """What flows need of the channel, and which links share it.

    `links` holds the directed links in use as [from, to]; `demands` is in the order of the flows. The
    conflicts are pairs of indices of links: `data_conflicts`, whose DATA frames cannot both arrive if they
    overlap; `exchange_conflicts`, of which no two frames can; `sensing_conflicts`, which carrier sense or
    fatal interference keeps apart; `interference_conflicts`, of which an endpoint senses an endpoint of the
    other; `hidden`, whose DATA frames exclude each other though neither sender senses the other. `changes`
    says whether nodes move or are switched off, so that all this is of the start only.
    """

    links: list[tuple[int, int]]
    demands: list[DemandView]
    data_conflicts: list[tuple[int, int]]
    exchange_conflicts: list[tuple[int, int]]
    sensing_conflicts: list[tuple[int, int]]
    interference_conflicts: list[tuple[int, int]]
    hidden: list[tuple[int, int]]
    changes: bool

class AirtimesView(TypedDict):
    """Interframe spaces, slot and airtimes in seconds, preambles included; contention windows in slots."""

    slot: float
    sifs: float
    difs: float
    eifs: float
    rts: float
    cts: float
    data: float
    ack: float
    block_ack: float
    cw_min: int
    cw_max: int

class LinkCapacityView(TypedDict):
    """What the model of a link makes: seconds and bits per second."""

    backoff_s: float
    overhead_s: float
    transmission_s: float
    phy_bps: float
    capacity_bps: float
    goodput_bps: float

class Output(TypedDict):
    """The columns of a run's tables and its scalars.

    Wires, measurements and positions are there if it has some; hops, drops, losses and collisions if asked
    for. Runs that were kept by an older build have no delays.
    """

    summary: dict[str, int | float | str]
    flows: dict[str, Column]
    nodes: dict[str, Column]
    links: dict[str, Column]
    wires: NotRequired[dict[str, Column]]
    series: dict[str, Column]
    delays: NotRequired[dict[str, Column]]
    measurements: NotRequired[dict[str, Column]]
    positions: NotRequired[dict[str, Column]]
    hops: NotRequired[dict[str, Column]]
    drops: NotRequired[dict[str, Column]]
    losses: NotRequired[dict[str, Column]]
    collisions: NotRequired[dict[str, Column]]

#: Bytes of MAC header and FCS of a DATA frame (802.11-2012, 8.2.3).
MAC_HEADER: int

class ScenarioError(ValueError):
    """A scenario that cannot be run. The message is `file:line: key: value found; what is needed`."""

    #: The key path, such as `flows[1].stop`; as the others, None of what is found out later, as for a
    #: capture.
    key: str | None
    #: The value found, and what is needed.
    found: str | None
    remedy: str | None
    #: The line of the file, from 1, unless a setting or an option is to blame.
    line: int | None
    #: The key path that was set, as it was given, or the name of the option, such as `scheme`.
    setting: str | None
    #: Whether a key or a value does not fit by itself, whatever else the scenario has.
    is_parameter_error: bool | None

class InternalError(RuntimeError):
    """A broken invariant of the engine: a bug. The message says where."""

def check(text: str, origin: str, overrides: Mapping[str, Any] | None = None) -> ScenarioView:
    """Reads and resolves a scenario without running it.

    `overrides` may hold `seed`, `duration`, `warmup`, `record_interval`, `scheme`, `varying`: indices of the
    flows that have it, and `set`: a list of pairs of a key path and a TOML document whose key `value` is what
    replaces that key.
    """

def airtimes(text: str, origin: str, frame_bytes: int) -> AirtimesView:
    """Times of a scenario; `data` is that of a DATA frame of so many bytes, MAC header and FCS included."""

def link_capacity(
    text: str,
    origin: str,
    frame: float,
    loss: float,
    others: float,
    backoff: float | None,
    acknowledgement: tuple[float, float] | None,
    header: float,
) -> LinkCapacityView:
    """The model of a link's capacity (Qazi, Eqs. 1 to 3) with the PHY of a scenario.

    `frame` and `header` are bytes, `loss` and `others` shares; `backoff` is in seconds, `None` for the mean
    of the first one; `acknowledgement` is bytes of a frame that carries the transport's, and how many frames
    each answers.
    """

def snr_of_delivery(text: str, origin: str, shares: list[float]) -> list[float]:
    """SNR in dB at which each of these shares of probes arrives, at a scenario's data rate and probe size.

    Its medium is `matrix` with the quantity `delivery-and-rssi`.
    """

def contention_delay(
    text: str,
    origin: str,
    stations: int,
    hops: int,
    packet: int,
    feedback: int,
    handshake: bool,
    linear: bool,
    growing_windows: bool,
    propagation: float,
) -> dict[str, float]:
    """Delays in seconds among saturated stations with a scenario's PHY (Li et al. 2003, Eqs. 4 to 8)."""

def throughput_equation(
    packet_size: float,
    rtt: float,
    acknowledged: float,
    clamp: bool,
    loss_event_rate: float | None,
    rate: float | None,
) -> tuple[float, float]:
    """Rate in bytes per second and loss event rate of the throughput equation (RFC 5348, 3.1).

    One of the two is given.
    """

def capacity(text: str, origin: str, overrides: Mapping[str, Any] | None = None) -> CapacityView:
    """What the flows of a scenario need of the channel, and which links share it; nothing is run."""

def locate(text: str, path: list[str | int]) -> int | None:
    """The line, from 1, of a key in any TOML text, or of the innermost table around it that is there.

    `None` if the text is not TOML. An index counts the entries of a list from 0.
    """

def seconds(text: str) -> float:
    """A length of time in seconds, as scenarios write it: a number and a unit. `ValueError` if it is none."""

class Meter:
    """How far a run has come; any thread may look."""

    def __init__(self) -> None: ...
    @property
    def simulated_s(self) -> float:
        """Seconds of virtual time that have passed in the run."""

class Stepper:
    """A run in steps; its methods release the GIL."""

    def controllers(self) -> dict[int, Controller]:
        """The controllers in Python by index of their flow."""

    def __init__(self, text: str, origin: str, overrides: Mapping[str, Any] | None = None) -> None: ...
    def now(self) -> float:
        """Seconds of virtual time that have passed."""

    def step(self, until_s: float) -> float | None:
        """Lets everything happen up to this second; when the next event is due, none when the run is over."""

    def inject(self, flow: int, payload: int, header: int, ecn: bool, stream: int) -> int:
        """Injects a packet into the flow of this index now and returns the packet's number.

        `ValueError` if the flow takes none.
        """

    def outcomes(self) -> list[tuple[int, float, tuple[str, str] | None, bool]]:
        """Packets that ended since the last call: number, second, node and cause if lost, and CE mark."""

    def tables(self) -> Output:
        """The tables as they would be if the run ended now."""

class Acked:
    """New data that was acknowledged outside loss recovery.

    `bytes` are newly acknowledged. `rtt_s` is the round-trip sample of the acknowledgement, if it gave one
    (Karn); `smoothed_rtt_s` as of RFC 6298. `app_limited`: the sender had less to send than the window
    allowed. `marked`: the acknowledgement carried ECN-Echo.
    """

    now_s: float
    bytes: int
    rtt_s: float | None
    smoothed_rtt_s: float | None
    in_flight_bytes: int
    app_limited: bool
    marked: bool

class Delivered:
    """Data that an acknowledgement, cumulative or selective, reported for the first time.

    `total_bytes` counts from the start of the connection. `rate_bps` is a sample of the delivery rate
    (draft-cheng-iccrg-delivery-rate-estimation), a lower bound with `app_limited`. `lost_bytes` are those
    that the acknowledgement showed to be lost. `recovering`: losses are still being repaired.
    """

    now_s: float
    bytes: int
    total_bytes: int
    rate_bps: float | None
    rtt_s: float | None
    in_flight_bytes: int
    lost_bytes: int
    app_limited: bool
    recovering: bool

class Lost:
    """Indication of a loss, or of a congestion mark; once per window of data.

    `timeout`: the retransmission timer expired, `again` for the same segment; otherwise acknowledgements
    showed it.
    """

    now_s: float
    in_flight_bytes: int
    timeout: bool
    again: bool

class Recovered:
    """End of loss recovery after duplicate acknowledgements.

    `window_bytes` is the most that recovery would set.
    """

    now_s: float
    in_flight_bytes: int
    window_bytes: int

class Sent:
    """Segment that was sent; `bytes` are payload, `in_flight_bytes` include it."""

    now_s: float
    bytes: int
    in_flight_bytes: int
    retransmission: bool

class Estimates:
    """Values of estimators, `None` unless one that the class names has measured it.

    | value | estimators |
    |---|---|
    | `busy_ratio`: share of time in which the medium is busy | `busy-ratio` |
    | `service_delay_s`: from the head of the queue to the ACK | `fsd` |
    | `transmission_efficiency`: share of that time for the exchange itself | `fte` |
    | `packet_throughput_bps` | `packet-throughput` |
    | `capacity_bps` of a link, and its unused part `available_bps` | `rt-winf`, `rt-winf-probe` |
    | `capacity_bps` | `modelled-capacity` |
    | `available_bps` | `idlegap` |

    A subclass of `Estimator` may set any. `rate_bps` is the bit rate in use, if an estimator reports it.
    """

    busy_ratio: float | None
    rate_bps: float | None
    service_delay_s: float | None
    transmission_efficiency: float | None
    packet_throughput_bps: float | None
    capacity_bps: float | None
    available_bps: float | None

class Mac(Estimates):
    """Knowledge of the sender's own MAC. `queued_packets` of the flow have not left the node."""

    queued_packets: int

class Counts:
    """Counters of a sender since its first segment.

    `sent_bytes` are payload sent for the first time, `acked_bytes` payload acknowledged in order. `losses`
    counts episodes of losses, `timeouts` those by timeout. `rtt_s` is the latest round-trip sample,
    `rtt_min_s` the least.
    """

    sent_bytes: int
    acked_bytes: int
    retransmissions: int
    losses: int
    timeouts: int
    marks: int
    rtt_samples: int
    rtt_sum_s: float
    rtt_s: float | None
    rtt_min_s: float | None
    in_flight_bytes: int

class Feedback:
    """Congestion header that an acknowledgement, or the answer to the first segment, returned."""

    now_s: float
    header: bytes
    rtt_s: float | None
    app_limited: bool

class Packet:
    """Packet at a router, valid during a call.

    `flow`, `source` and `destination` are indices. `size_bytes` has all headers above the MAC,
    `payload_bytes` is 0 for acknowledgements, `is_feedback` says whether the packet goes to the flow's
    sender. `header` is the scheme's own congestion header, empty without one; what is assigned must have as
    many bytes.
    """

    now_s: float
    flow: int
    source: int
    destination: int
    size_bytes: int
    payload_bytes: int
    hops: int
    is_feedback: bool
    is_ecn_capable: bool
    is_marked: bool
    is_retransmission: bool
    header: bytes

class Link(Estimates):
    """State of a link at a router. `queue_bytes` does not count the packet of the call."""

    queue_bytes: int

class Attempt:
    """Attempt to deliver a frame to its next hop, reported when its outcome is known.

    `node`, `peer` and `flow` are indices. `slots` were counted down since the attempt before, of back-offs of
    at most `contention_window` slots each. `rts_s`, `cts_s`, `data_s` and `ack_s` are start and end in
    seconds, or `None` if the frame was not sent or not received.
    """

    node: int
    peer: int
    flow: int
    contention_window: int
    slots: int
    rts_s: tuple[float, float] | None
    cts_s: tuple[float, float] | None
    data_s: tuple[float, float] | None
    ack_s: tuple[float, float] | None

class Exchange:
    """Life of a frame at its sender, from the interface queue to its ACK; or of one MPDU of an aggregate.

    `size_bytes` have all headers above the MAC. `payload_bytes` is 0 for acknowledgements of the transport,
    and in captures. `enqueued_s`, `head_of_line_s` and `done_s` are times; the last is that of the ACK, or of
    giving up. `airtime_s` is the time of a successful exchange on the air, from the first bit of the RTS or
    the DATA to the last of the ACK. `fate` is `"acknowledged"`, `"broadcast"` or `"given-up"`. `mpdus` are
    those of the last PPDU.
    """

    node: int
    peer: int
    flow: int
    size_bytes: int
    payload_bytes: int
    rate_bps: int
    enqueued_s: float
    head_of_line_s: float
    done_s: float
    service_delay_s: float
    queueing_delay_s: float
    airtime_s: float
    fate: str
    rts_tries: int
    rts_failures: int
    data_tries: int
    slots: int
    mpdus: int

class Frame:
    """Frame that the node decoded, addressed to it or not, and not its own.

    `kind` is `"rts"`, `"cts"`, `"data"`, `"ack"` or `"cf-end"`. `receiver` is `None` for a broadcast, `flow`
    for control frames. `size_bytes` is 0 for control frames. `duration_s` is the Duration field.
    """

    node: int
    kind: str
    sender: int
    receiver: int | None
    flow: int | None
    size_bytes: int
    rate_bps: int
    start_s: float
    end_s: float
    duration_s: float

class Period:
    """Interval of time, in seconds."""

    start_s: float
    end_s: float

class Loss:
    """Loss of a packet at the node; `cause` is named as in the table of drops."""

    node: int
    flow: int
    size_bytes: int
    now_s: float
    cause: str

class Arrival:
    """Arrival of a data packet at its destination; `number` counts the flow's packets as sent."""

    node: int
    flow: int
    number: int
    size_bytes: int
    sent_s: float
    now_s: float

class Estimator:
    """Estimator of a node's links from what its own MAC sees, for subclasses.

    One object is created for each node that has the estimator. Methods set the values, `None` before. An
    invalid value raises `ValueError`; an exception ends the run as `CallbackError`. Times are those of the
    node, in seconds.
    """

    busy_ratio: float | None
    """Share of time in which the medium is busy, from 0 to 1."""
    transmission_efficiency: float | None
    """Share of the service delay that the exchange itself takes, from 0 to 1."""
    capacity_bps: float | None
    """Capacity of a link."""
    available_bps: float | None
    """Unused part of the capacity."""
    packet_throughput_bps: float | None
    """Throughput of the MAC while it serves packets."""
    rate_bps: float | None
    """Bit rate of DATA in use."""
    service_delay_s: float | None
    """Delay from the head of the queue to the ACK."""

    def __new__(cls, *arguments: object, **keywords: object) -> Self: ...
    @property
    def now_s(self) -> float:
        """Time of the event, or of the reading."""

    @property
    def busy_since_s(self) -> float | None:
        """Time since which the medium is busy, `None` while it is idle. Needs `on_busy` or `on_read`."""

    @property
    def data_rate_bps(self) -> int | None:
        """Nominal bit rate of DATA; this and the next three are `None` outside runs and captures."""

    @property
    def slot_s(self) -> float | None:
        """Slot time."""

    @property
    def sifs_s(self) -> float | None:
        """Short interframe space."""

    @property
    def difs_s(self) -> float | None:
        """Interframe space of the distributed coordination function."""

    def on_attempt(self, attempt: Attempt, /) -> None:
        """Called when the outcome of an attempt of the node's own is known."""

    def on_exchange(self, exchange: Exchange, /) -> None:
        """Called when a frame of the node's own was acknowledged or given up; once per PPDU."""

    def on_mpdu(self, mpdu: Exchange, /) -> None:
        """Called before `on_exchange` for each MPDU of an aggregate."""

    def on_decoded(self, frame: Frame, /) -> None:
        """Called at the end of each frame that the node decoded."""

    def on_busy(self, busy: Period, /) -> None:
        """Called when the medium turns idle. Own transmissions keep it busy."""

    def on_nav(self, reserved: Period, /) -> None:
        """Called when the network allocation vector is set, with the reserved time."""

    def on_nav_reset(self) -> None:
        """Called when the network allocation vector is reset before its end, at `now_s`."""

    def on_dropped(self, dropped: Loss, /) -> None:
        """Called when the node lost a packet."""

    def on_arrived(self, arrived: Arrival, /) -> None:
        """Called when a data packet reached its destination at this node."""

    def on_read(self) -> None:
        """Called before the values are read."""

class RouterPolicy:
    """Policy of a forwarding node for the packets of one scheme at one queue, for subclasses.

    One object is created for each queue of each node. Methods return `"mark"` (congestion experienced, if
    the transport has ECN), `"drop"`, or `None`, and may change `packet.header`. They must not return "drop"
    in `on_data`, where it has no effect.

    Attributes:
        estimators: as in `Controller`; their values are in `link`.
    """

    estimators: ClassVar[Sequence[str | Mapping[str, Any] | type[Estimator]]] = ()

    def __new__(cls, *arguments: object, **keywords: object) -> Self: ...
    @property
    def node(self) -> int:
        """Index of the node."""

    @property
    def rate_bps(self) -> int:
        """Bit rate of the link: the PHY's data rate, or that of a wire."""

    @property
    def is_wired(self) -> bool:
        """Whether the link is a wire, for which estimators measure nothing."""

    @property
    def queue_limit(self) -> int:
        """Length of the queue in packets."""

    @property
    def seed(self) -> int:
        """Seed for random numbers of the policy, unique within the run."""

    def on_arrival(self, packet: Packet, link: Link, /) -> str | None:
        """Called before the packet enters the queue."""

    def on_head_of_line(self, packet: Packet, link: Link, /) -> str | None:
        """Called after the MAC has dequeued the packet."""

    def on_data(self, packet: Packet, link: Link, /) -> str | None:
        """Called before each transmission of the packet's DATA frame."""

    def on_received(self, packet: Packet, link: Link, /) -> str | None:
        """Called when the packet was received by radio, before it is forwarded or delivered."""

class Controller:
    """Congestion controller of a TCP sender, for subclasses. The engine has reliability, timers and headers.

    One object is created for each flow. Methods set `window_bytes` and `pace_bps`; an invalid value raises
    `ValueError`. An exception ends the run as `CallbackError`.

    Attributes:
        estimators: names of estimators of the sender's own MAC (`multihop list estimators`), tables with
            `estimator` and its options, or subclasses of `Estimator`; their values are in `mac`.
        transport: keys of the TCP connection, as in `{"flavour": "rfc", "ecn": True}`.
        router: class of the policy that routers have for packets of this scheme.
        header_bytes: bytes of a congestion header of the class's own layout, up to `HEADER_MOST`. On the air
            it takes one byte more, for its type. Receivers return the latest header in acknowledgements.
    """

    estimators: ClassVar[Sequence[str | Mapping[str, Any] | type[Estimator]]] = ()
    transport: ClassVar[Mapping[str, Any]] = {}
    router: ClassVar[type[RouterPolicy] | None] = None
    header_bytes: ClassVar[int] = 0

    header: bytes
    """Congestion header of the segments that follow, `header_bytes` long. Initially zeros."""
    window_bytes: float
    """Congestion window, initially ten segments. At least one segment is allowed whatever its value."""
    pace_bps: float | None
    """Pace of packets with headers, in bit/s. Initially `None`: segments leave as the window allows."""
    threshold_bytes: float | None
    """Slow-start threshold, for the record alone."""
    timer_s: float | None
    """Virtual time at which `on_timer` is called, once. `None` stops the timer."""

    def __new__(cls, *arguments: object, **keywords: object) -> Self: ...
    @property
    def now_s(self) -> float:
        """Virtual time in seconds."""

    @property
    def segment_bytes(self) -> int:
        """Payload of a full segment."""

    @property
    def flow(self) -> int:
        """Index of the flow in the table of flows."""

    @property
    def seed(self) -> int:
        """Seed for random numbers of the controller, different for each flow and each seed of the run."""

    @property
    def mac(self) -> Mac:
        """Knowledge of the sender's own MAC at this time."""

    @property
    def counts(self) -> Counts:
        """Counters of the sender, also between steps of a run."""

    def start(self) -> None:
        """Called before the first segment."""

    def on_acked(self, acked: Acked, /) -> None:
        """Called when new data is acknowledged outside loss recovery."""

    def on_delivered(self, delivered: Delivered, /) -> None:
        """Called when data is delivered, in loss recovery or outside, after the other methods."""

    def on_lost(self, lost: Lost, /) -> None:
        """Called when a loss is detected, once per episode, before anything is retransmitted."""

    def on_marked(self, marked: Lost, /) -> None:
        """Called when a congestion mark is echoed, at most once per window of data. Needs `ecn`."""

    def on_sent(self, sent: Sent, /) -> None:
        """Called when a segment is sent. The pace that is set here applies to the next segment."""

    def on_recovered(self, recovered: Recovered, /) -> None:
        """Called when loss recovery ends without a timeout."""

    def on_undone(self) -> None:
        """Called when a loss proves to have been none."""

    def on_idle(self) -> None:
        """Called when the application sends again after a pause longer than a retransmission timeout."""

    def on_timer(self) -> None:
        """Called at `timer_s`."""

    def on_feedback(self, feedback: Feedback, /) -> None:
        """Called when a congestion header is returned."""

#: Most bytes of `Controller.header_bytes`.
HEADER_MOST: int

#: Names of the methods that subclasses define, at least one of them.
CONTROLLER_METHODS: list[str]
ESTIMATOR_METHODS: list[str]

class CallbackError(RuntimeError):
    """A method of a controller raised an exception, which is the cause of this one.

    The message has class, method, exception, virtual time and flow.
    """

class EmulationStatus(TypedDict):
    """Progress of an emulation: virtual and real seconds, lateness of packets, and what became of them.

    Lateness is real seconds from the instant at which the run delivers a packet to that at which its
    destination has it. Each packet that was `read` is refused, delivered (some of these marked with
    congestion experienced), lost, not taken by a full device, or queued; those that `overflowed` were dropped
    by the kernel before they were read. `delivered_bytes` are payload, by flow; `queues` packets at each
    node; `removed` the nodes whose device a program has removed.
    """

    virtual_s: float
    real_s: float
    lateness_p50_s: float
    lateness_p99_s: float
    lateness_max_s: float
    read: int
    delivered: int
    marked: int
    device_full: int
    queued: int
    overflowed: int
    lost: dict[str, int]
    refused: dict[str, int]
    delivered_bytes: list[int]
    queues: list[int]
    removed: list[int]

class Emulator:
    """A scenario with a network namespace per node, in a process that has isolated itself. Linux only."""

    def __init__(
        self,
        text: str,
        origin: str,
        overrides: Mapping[str, Any] | None,
        slow: float,
        ethernet: bool,
        shim: bool = False,
        pcap: Path | None = None,
        journal: tuple[Path, str] | None = None,
        gateway: int | None = None,
    ) -> None: ...
    def enter(self, node: int | None = None) -> None:
        """Moves this thread, and what it starts, into the namespaces of a node; without one, back."""

    def run(self) -> tuple[Output, EmulationStatus, list[str]]:
        """Runs until the end of the scenario, or until stopped. Also sentences on what has failed."""

    def stop(self) -> None:
        """Ends the run, soon; from another thread."""

    def status(self) -> EmulationStatus:
        """How far it has come, at most a tenth of a second ago."""

def replay(
    text: str, origin: str, overrides: Mapping[str, Any] | None, journal: Path, pcap: Path | None = None
) -> tuple[Output, str | None]:
    """Runs a journal again. Also the fingerprint that the journal states, if it does. Linux only."""

def node_address(node: int) -> str:
    """The address that the node of this index has in an emulation. Linux only."""

def isolate() -> None:
    """Gives this process, which must have one thread, namespaces of its own. Linux only."""

def die_with_parent() -> None:
    """The kernel kills this process when the one that has started it ends. Linux only."""

def private_mounts(files: list[tuple[Path, Path]]) -> None:
    """Mounts for this process only: a `/proc` of its own processes, and each first file over the second.

    Linux only.
    """

def run(
    text: str,
    origin: str,
    overrides: Mapping[str, Any] | None = None,
    meter: Meter | None = None,
    pcap: Path | None = None,
    causes: bool = False,
    frames: Path | None = None,
    part: tuple[list[int], tuple[int, int] | None, list[int]] = ...,
) -> Output:
    """Runs a scenario with the GIL released.

    `pcap` is the file for a capture of all radios, `frames` the folder for a frame log; an `OSError` reports
    that one cannot be written. `part` selects nodes by index, an interval in nanoseconds, and flows by index,
    for both. With `causes` the output contains the tables of causes
    (`multihop.results.causes`).
    """

def read_frames(
    path: str | Path, between: tuple[int, int] | None = None, limit: int = ...
) -> tuple[str, dict[str, dict[str, npt.NDArray[np.int64]]], str | None]:
    """Returns description (JSON) and tables' columns of a frame log, and why the log is incomplete, if so.

    `CaptureError` if the folder is not a frame log or is damaged; `OSError` if a file cannot be read.
    """

def pack_frames(
    path: str | Path, between: tuple[int, int] | None = None, limit: int = ...
) -> tuple[bytes, str, str | None, int]:
    """Returns a frame log packed for the viewer, its description (JSON), why it is incomplete, and its size.

    The size is the number of transmissions. A complete log has no reason. Errors are those of `read_frames`.
    """

def capture_frames(
    path: str | Path,
    out: str | Path,
    name: str,
    stamps: str | None = None,
    interface: int | None = None,
    channel: int | None = None,
    between: tuple[int, int] | None = None,
    most: int = ...,
) -> tuple[int, int | None, int, dict[int, str], str | None]:
    """Writes what an interface of a capture saw on a channel as a frame log.

    Returns the interface, the frequency of the channel in MHz if it has several, its number of transmissions,
    the names of interfaces by number, and why the capture could not be read to its end, if so.

    Nothing is written of more transmissions than `most`; `CaptureError` if it is no capture.
    """

def frame_layout() -> tuple[list[tuple[str, str, list[tuple[str, str, str]]]], dict[str, list[str]]]:
    """Tables of frame logs: name, row, columns (name, unit, meaning); and words of enumerations."""

def schema() -> str:
    """The JSON Schema of scenarios, as JSON text."""

def registry() -> str:
    """What a scenario can name, as JSON text: kind -> list of {name, summary, ...}."""

def columns(causes: bool = False) -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    """Every table of a run: its name, what a row is, and name, unit and meaning of each column, in order.

    With `causes`, the tables of causes instead.

    Outputs of `run` have all columns but those that `multihop.results.frames` derives from them.
    """

def congestion_header() -> tuple[int, list[tuple[int, int]]]:
    """The bits of a congestion header's first byte that are its type, and its IP protocols.

    Each protocol comes with that of the transport which follows.
    """

def instead_of(name: str, known: Sequence[str]) -> str:
    """The remedy for an unknown name: the nearest as a question, if one is near, and the known names."""

def version() -> str:
    """The version of the engine."""

def identity() -> str:
    """A name for the engine's sources: builds of equal sources have equal names, on whatever machine."""

def commit() -> str | None:
    """The commit that the engine was built from, with `-modified` if sources differed; `None` if unknown."""

class CaptureError(ValueError):
    """A file that is no capture of 802.11."""

def measure(
    path: str | Path,
    bin_s: float,
    stamps: str | None = None,
    station: str | None = None,
    estimators: tuple[str, str] | None = None,
    watch: Callable[[int], object] | None = None,
) -> dict[str, Any]:
    """Survey of a capture: records, bytes, broken, and columns for each interface; see crates/measure."""
