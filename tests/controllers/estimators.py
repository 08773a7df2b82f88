"""Estimators in Python for the tests."""

import pytest

import multihop


class Delay(multihop.Estimator):
    """Frame service delay, as the engine's `fsd`."""

    def __init__(self, smoothing=1 / 8):
        self.smoothing = smoothing

    def on_exchange(self, exchange):
        if exchange.fate == "acknowledged":
            sample, before = exchange.service_delay_s, self.service_delay_s
            self.service_delay_s = sample if before is None else before + self.smoothing * (sample - before)


class Busy(multihop.Estimator):
    """Channel busyness ratio, as the engine's `busy-ratio`: the union of busy periods and reservations."""

    def __init__(self, window=1.0):
        self.window = window
        self.taken = []

    def on_busy(self, busy):
        self.taken.append([busy.start_s, busy.end_s])

    def on_nav(self, reserved):
        self.taken.append([reserved.start_s, reserved.end_s])

    def on_nav_reset(self):
        for interval in self.taken:
            interval[1] = min(interval[1], self.now_s)

    def on_read(self):
        since = self.now_s - self.window
        if since < 0:
            return
        self.taken = [interval for interval in self.taken if interval[1] > since]
        open_now = [] if self.busy_since_s is None else [[self.busy_since_s, self.now_s]]
        total, at = 0.0, since
        for start, end in sorted(self.taken + open_now):
            total += max(min(end, self.now_s) - max(start, at), 0)
            at = max(at, end)
        self.busy_ratio = min(total / self.window, 1)


class Counting(multihop.Estimator):
    """Counts events of each kind, in place of a capacity."""

    kinds: dict[str, int] = {}

    def count(self, kind):
        Counting.kinds[kind] = Counting.kinds.get(kind, 0) + 1

    def on_attempt(self, attempt):
        self.count("attempt")
        assert attempt.data_s is None or attempt.data_s[0] < attempt.data_s[1]
        assert attempt.contention_window >= 15

    def on_exchange(self, exchange):
        self.count(exchange.fate)
        assert exchange.enqueued_s <= exchange.head_of_line_s < exchange.done_s <= self.now_s
        assert exchange.queueing_delay_s >= 0
        assert exchange.airtime_s > 0

    def on_mpdu(self, mpdu):
        self.count("mpdu")
        assert mpdu.size_bytes > 0

    def on_decoded(self, frame):
        self.count(frame.kind)
        assert self.now_s == frame.end_s > frame.start_s

    def on_nav(self, reserved):
        self.count("nav")
        assert reserved.start_s < reserved.end_s

    def on_dropped(self, dropped):
        self.count(dropped.cause)

    def on_arrived(self, arrived):
        self.count("arrived")
        assert arrived.sent_s < arrived.now_s

    def on_read(self):
        self.count("read")
        self.capacity_bps = self.data_rate_bps
        assert 0 < self.slot_s < self.sifs_s + 2 * self.slot_s == pytest.approx(self.difs_s)


class NoNumber(multihop.Estimator):
    def on_busy(self, busy):
        self.busy_ratio = float("nan")


class Above(multihop.Estimator):
    def on_exchange(self, exchange):
        self.busy_ratio = 1.5


class Negative(multihop.Estimator):
    def on_read(self):
        self.capacity_bps = -1


class Raises(multihop.Estimator):
    def on_decoded(self, frame):
        raise KeyError("nothing")


class RaisesAtOnce(multihop.Estimator):
    def __init__(self):
        raise OSError("no file")

    def on_read(self):
        pass


class Methodless(multihop.Estimator):
    """An estimator without methods."""


class Reads(multihop.Controller):
    """Keeps what it reads of its own MAC, by the engine's estimators and those in Python."""

    estimators = ("fsd", {"estimator": "python", "class": Busy, "arguments": {"window": 0.5}})
    seen: list[tuple[float | None, float | None]] = []

    def on_acked(self, acked):
        self.seen.append((self.mac.service_delay_s, self.mac.busy_ratio))


class MarksByDelay(multihop.RouterPolicy):
    estimators = (Delay,)
    seen: list[float] = []

    def on_data(self, packet, link):
        if link.service_delay_s is not None:
            self.seen.append(link.service_delay_s)


class Routed(multihop.Controller):
    router = MarksByDelay

    def on_acked(self, acked):
        pass
