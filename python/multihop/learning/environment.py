"""Gymnasium's environment of one flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from multihop.api.results import Result
from multihop.learning import observations as observed
from multihop.learning import rewards
from multihop.learning.actions import Actions
from multihop.learning.rewards import Reward
from multihop.learning.session import Scenarios, Session


class CongestionControl(gymnasium.Env[npt.NDArray[np.float32], Any]):
    """An agent is the congestion controller of a flow of TCP, and acts once in an interval.

    `reset(seed=...)` begins a run with this seed, which is bit-identical each time; without one, the seed is
    drawn. `options={"scenario": ...}` replaces the scenario. An episode is truncated at the end of the run.
    `info` has `time_s`.

    Args:
        scenario: a path, TOML text or a dictionary; or a function of a NumPy generator that draws one.
        flow: name of the agent's flow; by default the first one. Other flows keep their schemes.
        interval: virtual time between actions [s]; `None` for one action at each acknowledgement of new data.
        actions: "window", "pace" or "both".
        factors: factors of discrete actions; by default an action is a power of two from -1 to 1.
        observations: names of observations (`multihop.learning.observations.OBSERVATIONS`).
        reward: name of a reward, or a function of an `Interval`.
        transport: keys of the TCP connection, as in `{"flavour": "rfc"}`.
        set: keys of the scenario to replace, as in `multihop.run`.
        duration: duration of a run, in place of the scenario's.

    Raises:
        UserError: if an argument is invalid.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        scenario: Scenarios,
        *,
        flow: str | None = None,
        interval: float | None = 0.1,
        actions: str = "window",
        factors: Sequence[float] | None = None,
        observations: Sequence[str] = observed.USUAL,
        reward: str | Reward = "utility",
        transport: Mapping[str, Any] | None = None,
        set: Mapping[str, Any] | None = None,
        duration: float | str | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.render_mode = render_mode
        self.actions = Actions(actions, factors)
        self.names = tuple(observations)
        self._reward = rewards.reward(reward)
        wanted = None if flow is None else [flow]
        self._session = Session(scenario, wanted, interval, self.names, transport, set, duration)
        self.action_space = self.actions.space
        self.observation_space = observed.space(self.names)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Begins a run. Returns zeros, and `info`."""
        super().reset(seed=seed)
        run_seed = int(seed if seed is not None else self.np_random.integers(2**31))
        self._session.reset(run_seed, self.np_random, (options or {}).get("scenario"))
        (self._name,) = self._session.controllers
        return self._session.nothing(), self._info(run_seed)

    def step(self, action: Any) -> tuple[npt.NDArray[np.float32], float, bool, bool, dict[str, Any]]:  # noqa: ANN401
        """Acts, and runs one interval."""
        self.actions.apply(action, self._session.run.controllers[self._name])
        interval = self._session.advance()[self._name]
        value = float(self._reward(interval))
        return observed.vector(self.names, interval), value, False, self._session.over, self._info()

    def result(self) -> Result:
        """Returns the tables of the run so far."""
        return self._session.run.result()

    def _info(self, seed: int | None = None) -> dict[str, Any]:
        info: dict[str, Any] = {"time_s": self._session.run.now_s}
        return info if seed is None else {**info, "seed": seed}
