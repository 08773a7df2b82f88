"""What an agent sets: window, pace or both, by factors of their present values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from multihop._core import Controller
from multihop.base.errors import UserError

#: Quantities that an action sets.
SETS = ("window", "pace", "both")

#: Limits of the window [segments] and of the pace [bit/s].
_WINDOW, _PACE = (1.0, 1e5), (1e4, 1e11)

#: Pace at which a sender begins that has none [bit/s].
_FIRST_PACE = 1e6


@dataclass(frozen=True)
class Actions:
    """Actions of an agent.

    Attributes:
        sets: "window", "pace" or "both".
        factors: factors of discrete actions; without them, an action is a power of two from -1 to 1.
    """

    sets: str = "window"
    factors: Sequence[float] | None = None

    def __post_init__(self) -> None:
        """Checks the values.

        Raises:
            UserError: if one is invalid.
        """
        if self.sets not in SETS:
            raise UserError(f"actions: found {self.sets!r}; needs {', '.join(SETS)}")
        if self.factors is not None and (
            len(self.factors) < 2 or not all(np.isfinite(factor) and factor > 0 for factor in self.factors)
        ):
            raise UserError(f"factors: found {self.factors!r}; needs at least two positive numbers")

    @property
    def space(self) -> spaces.Space[Any]:
        """Space of actions."""
        count = 2 if self.sets == "both" else 1
        if self.factors is None:
            return spaces.Box(-1.0, 1.0, (count,), np.float32)
        return spaces.Discrete(len(self.factors)) if count == 1 else spaces.MultiDiscrete([len(self.factors)] * 2)

    def apply(self, action: Any, controller: Controller) -> None:  # noqa: ANN401 - a number or an array
        """Sets window and pace by an action.

        Raises:
            UserError: if the action is not in the space.
        """
        given = np.atleast_1d(np.asarray(action, dtype=float))
        if given.shape != ((2,) if self.sets == "both" else (1,)) or not np.isfinite(given).all():
            raise UserError(f"action: found {action!r}; needs an element of {self.space}")
        if self.factors is None:
            factors = [2.0 ** float(np.clip(each, -1.0, 1.0)) for each in given]
        else:
            indices = given.astype(int)
            if (indices != given).any() or (indices < 0).any() or (indices >= len(self.factors)).any():
                raise UserError(f"action: found {action!r}; needs an element of {self.space}")
            factors = [float(self.factors[index]) for index in indices]
        if self.sets != "pace":
            segment = controller.segment_bytes
            segments = min(max(controller.window_bytes * factors[0] / segment, _WINDOW[0]), _WINDOW[1])
            controller.window_bytes = segments * segment
        if self.sets != "window":
            controller.pace_bps = min(max((controller.pace_bps or _FIRST_PACE) * factors[-1], _PACE[0]), _PACE[1])
        if self.sets == "pace":
            controller.window_bytes = _WINDOW[1] * controller.segment_bytes
