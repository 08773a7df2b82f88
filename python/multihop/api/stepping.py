"""Simulation in steps, with packets injected from outside."""

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
    """Outcome of an injected packet."""

    #: Number of the packet, from `Run.inject`.
    number: int
    #: Time of delivery or loss, in seconds of virtual time.
    time_s: float
    #: Node that lost the packet; `None` if it was delivered.
    lost_at: str | None
    #: Cause of the loss, named as the columns of drops; `None` if it was delivered.
    cause: str | None
    #: Whether the packet arrived with the mark Congestion Experienced.
    marked: bool


class Run(Displayed):
    """A simulation in steps.

    `step` advances virtual time. Between steps, `result` returns the tables so far, and `inject` sends
    packets over flows whose `app` is `external`. The division into steps does not change the results.

    >>> run = multihop.Run("scenarios/chain.toml", seed=1)          # doctest: +SKIP
    >>> while run.step(run.now_s + 1.0) is not None:                # doctest: +SKIP
    ...     goodput_bps = run.result().summary["goodput_total_bps"]

    Args:
        scenario: a path, TOML text, or a dictionary of the same shape.
        seed: replaces the scenario's seed; 0 to 2**64 - 1.
        set: keys to replace or add, as in `run`.
        **overrides: `duration`, `warmup`, `record_interval`, in seconds or as text with a unit; `scheme` for
            all flows.

    Raises:
        ScenarioError: naming file, line, key, the value found and what is needed.
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
        """Virtual time that has passed [s]; slightly old while another thread steps."""
        return self._stepper.now()

    @property
    def controllers(self) -> dict[str, _core.Controller]:
        """Controllers in Python by name of their flow, for reading and setting between steps."""
        names = {index: name for name, index in self._flows.items()}
        return {names[index]: controller for index, controller in self._stepper.controllers().items()}

    @property
    def duration_s(self) -> float:
        """Virtual time at which the run ends [s]."""
        return self._view["duration"]

    def step(self, until_s: float) -> float | None:
        """Advances virtual time to `until_s` [s], including events at that time.

        A time in the past changes nothing. Other threads run meanwhile. Ctrl-C ends the step, and the next
        step resumes there.

        Returns:
            Time of the next event [s], or `None` at the end of the run.

        Raises:
            UserError: if `until_s` is no number of seconds from 0.
        """
        if not isinstance(until_s, int | float) or math.isnan(until_s) or until_s < 0:
            raise UserError(f"until_s: found {until_s!r}; needs seconds of virtual time, from 0")
        return self._stepper.step(float(until_s))

    def inject(self, flow: str, payload: int, *, header: int = 28, ecn: bool = False, stream: int = 0) -> int:
        """Sends a packet from a flow's source to its destination now. Returns its number, counted from 1.

        Args:
            flow: name of a flow whose `app` is `external`.
            payload: bytes that goodput counts.
            header: bytes of network and transport headers.
            ecn: whether the transport supports ECN, so that queues mark the packet instead of dropping it.
            stream: number of the packet's stream, 0 to 65535, which queues with per-flow queueing separate.

        Raises:
            UserError: if no such flow exists, a number is out of range, the packet is larger than an MSDU, or
                the run is over.
        """
        index = self._flows.get(flow)
        if index is None or self._view["flows"][index]["app"] != "external":
            what = "no such flow exists" if index is None else f"its app is {self._view['flows'][index]['app']}"
            raise UserError(f"flow: found {flow!r}, but {what}; needs the name of a flow whose app is external")
        for name, value, most in (("payload", payload, 65_535), ("header", header, 65_535), ("stream", stream, 65_535)):
            if not isinstance(value, int) or not 0 <= value <= most:
                raise UserError(f"{name}: found {value!r}; needs a whole number from 0 to {most}")
        try:
            return self._stepper.inject(index, payload, header, ecn, stream)
        except ValueError as error:
            raise UserError(str(error)) from error

    def outcomes(self) -> list[PacketOutcome]:
        """Returns the outcomes of injected packets since the last call, in order of time."""
        ended = self._stepper.outcomes()
        return [
            PacketOutcome(number, time_s, lost and lost[0], lost and lost[1], marked)
            for number, time_s, lost, marked in ended
        ]

    def result(self) -> Result:
        """Returns the results so far: tables as if the run ended now."""
        return Result(self._scenario, self._view, dict(self._overrides), self._stepper.tables())

    def overview(self, *, whole: bool = True) -> Overview:
        """Returns the progress of the run; with `whole`, also the results of its flows so far."""
        title = f"{self._view['name']}, {self.now_s:g} s of {self.duration_s:g} s have passed"
        if not whole:
            return Overview(title)
        so_far = self.result().overview()
        return Overview(title, so_far.heads, so_far.rows)

    def finish(self) -> Result:
        """Runs to the end. Returns the same result as `run`."""
        self.step(math.inf)
        return self.result()
