"""A run in steps of one interval, whose flows have agents as congestion controllers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from multihop._core import Controller
from multihop.api.stepping import Run
from multihop.base.errors import UserError, instead_of
from multihop.learning import observations
from multihop.learning.observations import Interval
from multihop.simulation import classes
from multihop.simulation.scenario import ScenarioLike

Scenarios = ScenarioLike | Callable[[np.random.Generator], ScenarioLike]

#: Most intervals of a step that waits for a delivery.
_MOST_WAITED_S = 10.0


class Agent(Controller):
    """Controller that an environment sets from outside."""

    def start(self) -> None:
        """Called before the first segment; the environment does everything."""


def agent_class(names: Sequence[str], transport: Mapping[str, Any] | None = None) -> type[Controller]:
    """Returns a class of agents with the estimators that the named observations need."""

    class Watching(Agent):
        estimators: ClassVar[Sequence[str | Mapping[str, Any]]] = observations.estimators(names)

    Watching.transport = dict(transport or {})
    return Watching


@dataclass
class Session:
    """Run whose flows have agents.

    Attributes:
        scenario: a scenario, or a function that draws one.
        wanted: names of the flows with agents; by default the first flow.
        interval_s: virtual time of a step [s]; none for a step until the next acknowledgement of new data.
        names: names of observations.
        transport: keys of the TCP connection of agents.
        set: keys of the scenario to replace.
        duration: duration of a run, in place of the scenario's.
    """

    scenario: Scenarios
    wanted: Sequence[str] | None
    interval_s: float | None
    names: Sequence[str]
    transport: Mapping[str, Any] | None = None
    set: Mapping[str, Any] | None = None
    duration: float | str | None = None

    def __post_init__(self) -> None:
        """Checks the interval and the observations.

        Raises:
            UserError: if one is invalid.
        """
        if self.interval_s is not None and not 1e-6 <= float(self.interval_s) <= 1e6:
            raise UserError(f"interval: found {self.interval_s!r}; needs seconds from 1e-6 to 1e6, or None")
        self._scheme, self._settings = classes.variant(agent_class(self.names, self.transport))
        self._run: Run | None = None

    @property
    def run(self) -> Run:
        """The run.

        Raises:
            UserError: before the first `reset`.
        """
        if self._run is None:
            raise UserError("step: there is no run yet; call reset first")
        return self._run

    def reset(self, seed: int, rng: np.random.Generator, scenario: ScenarioLike | None = None) -> None:
        """Begins a run.

        Args:
            seed: seed of the run.
            rng: random numbers for a drawn scenario.
            scenario: scenario in place of that of the session.

        Raises:
            UserError: if a flow does not exist.
        """
        chosen = scenario if scenario is not None else self.scenario
        if callable(chosen):
            chosen = chosen(rng)
        given: dict[str, Any] = {"scheme": self._scheme, "varying": self._indices(chosen)}
        every = {**self._settings, **(self.set or {})}
        self._run = Run(chosen, seed=seed, set=every, warmup=0, duration=self.duration, **given)
        self.controllers = self._run.controllers
        self.over = False
        self._before = {name: controller.counts for name, controller in self.controllers.items()}
        self._since = 0.0

    def _indices(self, scenario: ScenarioLike) -> list[int]:
        from multihop.api import check

        if self.wanted is None:
            return [0]
        names = [flow["name"] for flow in check(scenario, set=self.set)["flows"]]
        unknown = next((name for name in self.wanted if name not in names), None)
        if unknown is not None:
            raise UserError(f"flow: found {unknown!r}; {instead_of(str(unknown), names)}")
        return [names.index(name) for name in self.wanted]

    def advance(self) -> dict[str, Interval]:
        """Runs one interval. Returns the interval of each agent."""
        run, since = self.run, self._since
        if self.over:
            raise UserError("step: the run is over; call reset")
        if self.interval_s is not None:
            self.over = run.step(since + float(self.interval_s)) is None
        else:
            self._until_delivery(run, since)
        now = run.now_s
        made = {}
        for name, controller in self.controllers.items():
            after = controller.counts
            made[name] = Interval(self._before[name], after, max(now - since, 1e-9), controller)
            self._before[name] = after
        self._since = now
        return made

    def _until_delivery(self, run: Run, since: float) -> None:
        before = {name: controller.counts.acked_bytes for name, controller in self.controllers.items()}
        following: float | None = since
        while following is not None and following <= since + _MOST_WAITED_S:
            following = run.step(following)
            if any(controller.counts.acked_bytes > before[name] for name, controller in self.controllers.items()):
                break
        self.over = following is None

    def nothing(self) -> npt.NDArray[np.float32]:
        """Observation before the first interval."""
        return observations.nothing(self.names)
