"""Controllers that tests run: those of the engine, written in Python, and faulty ones."""

from __future__ import annotations

import random
import time

import multihop


class Reno(multihop.Controller):
    """Reno (RFC 5681) with byte counting of one segment (RFC 3465), as the engine has it with flavour rfc."""

    transport = {"flavour": "rfc", "recovery": "newreno"}

    def __init__(self, maximum_bytes: float = 1024 * 1460.0):
        self.maximum = maximum_bytes

    def start(self):
        self.window_bytes = min(4 * self.segment_bytes, max(2 * self.segment_bytes, 4380))
        self.threshold_bytes = self.maximum
        self.initial = self.window_bytes
        self.before_loss = 0.0, 0.0

    def on_acked(self, acked):
        segment, window = self.segment_bytes, self.window_bytes
        if acked.marked or acked.app_limited:
            return
        if window < self.threshold_bytes:
            opens = min(acked.bytes, segment)
        else:
            opens = segment * min(acked.bytes, window) / window
        self.window_bytes = min(window + opens, self.maximum)

    def on_lost(self, lost):
        if not lost.again:
            self.before_loss = self.window_bytes, self.threshold_bytes
        if lost.timeout:
            if not lost.again and lost.in_flight_bytes > 0:
                self.halve(lost)
            self.window_bytes = self.segment_bytes
        else:
            self.halve(lost)
            self.window_bytes = self.threshold_bytes

    def halve(self, lost):
        self.threshold_bytes = max(lost.in_flight_bytes / 2, 2 * self.segment_bytes)

    def on_recovered(self, recovered):
        self.window_bytes = max(min(self.window_bytes, recovered.window_bytes), self.segment_bytes)

    def on_undone(self):
        self.window_bytes = max(self.window_bytes, self.before_loss[0])
        self.threshold_bytes = max(self.threshold_bytes, self.before_loss[1])

    def on_idle(self):
        self.window_bytes = min(self.window_bytes, self.initial)

    def on_marked(self, marked):
        self.halve(marked)
        self.window_bytes = min(self.window_bytes, self.threshold_bytes)


class Constant(multihop.Controller):
    """Window and pace that do not change."""

    def __init__(self, window: float = 20_000.0, pace: float | None = None):
        self.window_bytes, self.pace_bps = window, pace

    def on_acked(self, acked):
        pass


class Listening(multihop.Controller):
    """Paces at half of what its MAC measures, every tenth of a second."""

    estimators = ("busy-ratio", {"estimator": "packet-throughput"}, "fsd")
    seen: list[multihop.Controller] = []

    def start(self):
        self.rng = random.Random(self.seed)
        self.macs = []
        self.timer_s = 0.1
        Listening.seen.append(self)

    def on_timer(self):
        mac = self.mac
        self.macs.append((self.now_s, mac))
        if mac.packet_throughput_bps is not None:
            self.pace_bps = mac.packet_throughput_bps * (0.4 + 0.2 * self.rng.random())
        self.timer_s = self.now_s + 0.1


class NotANumber(multihop.Controller):
    def on_acked(self, acked):
        if acked.now_s > 2:
            self.window_bytes = float("nan")


class Negative(multihop.Controller):
    def on_sent(self, sent):
        self.pace_bps = -1


class Huge(multihop.Controller):
    def on_acked(self, acked):
        self.window_bytes = 1e300


class InThePast(multihop.Controller):
    def on_acked(self, acked):
        self.timer_s = acked.now_s - 0.001


class Raises(multihop.Controller):
    def on_acked(self, acked):
        raise KeyError("lost my notes")


class RaisesAtOnce(multihop.Controller):
    def __init__(self):
        raise RuntimeError("no luck today")

    def on_acked(self, acked):
        pass


class Mutates(multihop.Controller):
    def on_acked(self, acked):
        acked.bytes = 0


class Endless(multihop.Controller):
    def on_acked(self, acked):
        while True:
            time.sleep(0.01)


class Silent(multihop.Controller):
    """A controller without methods."""


class Required(multihop.Controller):
    def __init__(self, gain):
        self.gain = gain

    def on_acked(self, acked):
        pass


class NoController:
    def on_acked(self, acked):
        pass


class MarksWhenBusy(multihop.RouterPolicy):
    """Marks data while the medium is busy for more than three quarters of the time, as the engine's ecn-busy."""

    estimators = ({"estimator": "busy-ratio", "window": "100 ms"},)

    def on_data(self, packet, link):
        if packet.payload_bytes and link.busy_ratio is not None and link.busy_ratio > 0.75:
            return "mark"
        return None


class EcnReno(Reno):
    transport = {"flavour": "rfc", "recovery": "newreno", "ecn": True}
    router = MarksWhenBusy


class WritesQueue(multihop.RouterPolicy):
    """Writes the longest queue of the path, in bytes, into the header of data."""

    def on_head_of_line(self, packet, link):
        if not packet.is_feedback and packet.header:
            longest = max(int.from_bytes(packet.header, "big"), link.queue_bytes)
            packet.header = longest.to_bytes(4, "big")


class QueuePrice(multihop.Controller):
    """Paces so that the longest queue of the path holds about three packets."""

    transport = {"delayed_ack": "0 s"}
    header_bytes = 4
    router = WritesQueue
    queues: list[int] = []

    def start(self):
        self.window_bytes, self.pace_bps = 100 * self.segment_bytes, 5e5
        self.at = 0.0

    def on_feedback(self, feedback):
        queue = int.from_bytes(feedback.header, "big")
        QueuePrice.queues.append(queue)
        if feedback.now_s - self.at > 0.05:
            self.at = feedback.now_s
            self.pace_bps = max(self.pace_bps * (1 + 0.05 * (1 - queue / 4500)), 5e4)


class DropsAll(multihop.RouterPolicy):
    def on_arrival(self, packet, link):
        return "drop" if packet.now_s > 5 else None


class Dropped(Reno):
    router = DropsAll


class Misspelt(multihop.RouterPolicy):
    def on_arrival(self, packet, link):
        return "marked"


class Undecided(Reno):
    router = Misspelt


class LongHeader(multihop.RouterPolicy):
    def on_arrival(self, packet, link):
        packet.header = b"12345"


class TooLong(QueuePrice):
    router = LongHeader
