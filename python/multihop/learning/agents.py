"""PettingZoo's parallel environment: an agent for each of several flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import ParallelEnv

from multihop.learning import observations as observed
from multihop.learning import rewards
from multihop.learning.actions import Actions
from multihop.learning.rewards import Reward
from multihop.learning.session import Scenarios, Session

Observed = dict[str, npt.NDArray[np.float32]]


class CongestionControlAgents(ParallelEnv[str, npt.NDArray[np.float32], Any]):  # type: ignore[misc]
    """Agents that are the congestion controllers of flows of one run; each is named as its flow.

    Arguments are those of `CongestionControl`, but `flows` are the names of flows, by default all of the
    scenario. A function cannot draw the scenario, since the agents are known before the first run.

    Raises:
        UserError: if an argument is invalid.
    """

    metadata: dict[str, Any] = {"name": "multihop_congestion_control_v0", "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenarios,
        *,
        flows: Sequence[str] | None = None,
        interval: float = 0.1,
        actions: str = "window",
        factors: Sequence[float] | None = None,
        observations: Sequence[str] = observed.USUAL,
        reward: str | Reward = "utility",
        transport: Mapping[str, Any] | None = None,
        set: Mapping[str, Any] | None = None,
        duration: float | str | None = None,
    ) -> None:
        from multihop.api import check

        self.render_mode = None
        self.actions_of_agent = Actions(actions, factors)
        self.names = tuple(observations)
        self._reward = rewards.reward(reward)
        known = [flow["name"] for flow in check(scenario, set=set)["flows"]]  # type: ignore[arg-type]
        self.possible_agents = list(flows) if flows is not None else known
        self._session = Session(scenario, self.possible_agents, interval, self.names, transport, set, duration)
        self._rng = np.random.default_rng()
        self.agents: list[str] = []
        self.action_spaces = dict.fromkeys(self.possible_agents, self.actions_of_agent.space)
        self.observation_spaces = dict.fromkeys(self.possible_agents, observed.space(self.names))

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Space of observations of an agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Space of actions of an agent."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, dict[str, Any]]]:
        """Begins a run. Returns zeros, and `info`, of each agent."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        run_seed = int(seed if seed is not None else self._rng.integers(2**31))
        self._session.reset(run_seed, self._rng, (options or {}).get("scenario"))
        self.agents = list(self.possible_agents)
        return {name: self._session.nothing() for name in self.agents}, {name: {} for name in self.agents}

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[Observed, dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Acts for each agent, and runs one interval."""
        for name, action in actions.items():
            self.actions_of_agent.apply(action, self._session.controllers[name])
        intervals = self._session.advance()
        agents, over = list(self.agents), self._session.over
        if over:
            self.agents = []
        return (
            {name: observed.vector(self.names, intervals[name]) for name in agents},
            {name: float(self._reward(intervals[name])) for name in agents},
            dict.fromkeys(agents, False),
            dict.fromkeys(agents, over),
            {name: {"time_s": self._session.run.now_s} for name in agents},
        )


def parallel_env(scenario: Scenarios, **keywords: Any) -> CongestionControlAgents:  # noqa: ANN401
    """Returns the parallel environment, by the name that PettingZoo's users expect."""
    return CongestionControlAgents(scenario, **keywords)
