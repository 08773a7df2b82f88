"""A run that goes on step by step, and takes packets from outside."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from multihop import _core
from multihop.api import replacements
from multihop.api.results import Result
from multihop.base.display import Displayed, Overview
from multihop.base.errors import UserError
from multihop.simulation.scenario import Scenario, ScenarioLike, TimeLike, for_core, load
from multihop.simulation.seeds import seed_number


@dataclass(frozen=True)
class PacketOutcome:
    """What became of a packet that was injected."""

    #: The number that `Run.inject` returned.
    number: int
    #: When, in seconds of virtual time.
    time_s: float
    #: The node at which it was lost; none if it was delivered.
    lost_at: str | None
    #: Why, as the columns of drops are called; none if it was delivered.
    cause: str | None
    #: It arrived with congestion experienced.
    marked: bool


class Run(Displayed):
    """A run in steps.

    `step` lets virtual time pass; between steps, `result` has the tables so far, and `inject` sends packets
    over flows whose `app` is `external`. Into which steps a run is divided makes no difference to it.

    >>> run = multihop.Run("scenarios/chain.toml", seed=1)          # doctest: +SKIP
    >>> while run.step(run.now_s + 1.0) is not None:                # doctest: +SKIP
    ...     goodput_bps = run.result().summary["goodput_total_bps"]

    Args:
        scenario: a path, TOML text, or a dictionary of the same shape.
        seed: replaces the scenario's seed; 0 to 2**64 - 1.
        set: replaces or adds any keys, as in `run`.
        **overrides: `duration`, `warmup`, `record_interval`, in seconds or as text with a unit; `scheme` for
            all flows.

    Raises:
        ScenarioError: naming file, line, key, what was found and what would do.
        UserError: if the file cannot be read, or an override is unknown.
    """

    def __init__(
        self,
        scenario: ScenarioLike,
        *,
        seed: int | None = None,
        set: Mapping[str, Any] | None = None,
        **overrides: TimeLike | None,
    ) -> None:
        self._scenario: Scenario = load(scenario)
        self._overrides = replacements({**overrides, "set": set})
        if seed is not None:
            self._overrides["seed"] = seed_number(seed)
        self._view = self._scenario.check(self._overrides)
        self._stepper = _core.Stepper(self._scenario.text, self._scenario.origin, for_core(self._overrides))
        self._flows = {flow["name"]: index for index, flow in enumerate(self._view["flows"])}

    @property
    def now_s(self) -> float:
        """Seconds of virtual time that have passed; while another thread steps, until a moment ago."""
        return self._stepper.now()

    @property
    def duration_s(self) -> float:
        """When the run is over, in seconds of virtual time."""
        return self._view["duration"]

    def step(self, until_s: float) -> float | None:
        """Lets everything happen up to this second of virtual time, included.

        A second that has passed changes nothing. Returns when the next event is due; none when the run is
        over. Other threads go on meanwhile. Ctrl-C ends the step, and the next one goes on from there.

        Raises:
            UserError: if this is no number of seconds from 0.
        """
        if not isinstance(until_s, int | float) or math.isnan(until_s) or until_s < 0:
            raise UserError(f"until_s: found {until_s!r}; needs seconds of virtual time, from 0")
        return self._stepper.step(float(until_s))

    def inject(self, flow: str, payload: int, *, header: int = 28, ecn: bool = False, stream: int = 0) -> int:
        """Sends a packet from a flow's source to its destination now; returns its number, from 1.

        Args:
            flow: name of a flow whose `app` is `external`.
            payload: bytes that goodput counts.
            header: bytes of network and transport headers.
            ecn: its transport understands ECN, so that it is marked where others are dropped.
            stream: 0 to 65535. Queues that keep flows apart keep streams apart.

        Raises:
            UserError: if there is no such flow, a number is out of range, the packet is larger than an MSDU,
                or the run is over.
        """
        index = self._flows.get(flow)
        if index is None or self._view["flows"][index]["app"] != "external":
            what = "there is no such flow" if index is None else f"its app is {self._view['flows'][index]['app']}"
            raise UserError(f"flow: found {flow!r}, but {what}; needs the name of a flow whose app is external")
        for name, value, most in (("payload", payload, 65_535), ("header", header, 65_535), ("stream", stream, 65_535)):
            if not isinstance(value, int) or not 0 <= value <= most:
                raise UserError(f"{name}: found {value!r}; needs a whole number from 0 to {most}")
        try:
            return self._stepper.inject(index, payload, header, ecn, stream)
        except ValueError as error:
            raise UserError(str(error)) from error

    def outcomes(self) -> list[PacketOutcome]:
        """What became of injected packets since the last call, in the order in which it happened."""
        ended = self._stepper.outcomes()
        return [
            PacketOutcome(number, time_s, lost and lost[0], lost and lost[1], marked)
            for number, time_s, lost, marked in ended
        ]

    def result(self) -> Result:
        """The run so far: tables as they would be if it ended now."""
        return Result(self._scenario, self._view, dict(self._overrides), self._stepper.tables())

    def overview(self, *, whole: bool = True) -> Overview:
        """How far the run is; `whole` includes what its flows have so far."""
        title = f"{self._view['name']}, {self.now_s:g} s of {self.duration_s:g} s have passed"
        if not whole:
            return Overview(title)
        so_far = self.result().overview()
        return Overview(title, so_far.heads, so_far.rows)

    def finish(self) -> Result:
        """Runs to the end; the result is that of `run`."""
        self.step(math.inf)
        return self.result()
