"""A trained policy as a congestion controller, which stands in a comparison beside all schemes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from multihop._core import Controller
from multihop.base.errors import UserError
from multihop.learning import observations as observed

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Policy = Callable[[npt.NDArray[np.float32]], Any]


def controller_of(
    policy: Policy,
    *,
    name: str = "Learned",
    interval: float = 0.1,
    actions: str = "window",
    factors: Sequence[float] | None = None,
    observations: Sequence[str] = observed.USUAL,
    transport: Mapping[str, Any] | None = None,
) -> type[Controller]:
    """Returns a class of controllers that act by a policy, as in `CongestionControl` with the same arguments.

    Args:
        policy: function of an observation that returns an action.
        name: name of the class in results.
        interval: virtual time between actions [s].
        actions: as in `CongestionControl`.
        factors: as in `CongestionControl`.
        observations: as in `CongestionControl`.
        transport: as in `CongestionControl`.

    Raises:
        UserError: if an argument is invalid.
    """
    from multihop.learning.actions import Actions

    if not callable(policy):
        raise UserError(f"policy: found {policy!r}; needs a function of an observation")
    if not 1e-6 <= float(interval) <= 1e6:
        raise UserError(f"interval: found {interval!r}; needs seconds from 1e-6 to 1e6")
    acting, names = Actions(actions, factors), tuple(observations)

    class Learned(Controller):
        estimators: ClassVar[Sequence[str | Mapping[str, Any]]] = observed.estimators(names)

        def start(self) -> None:
            self.before = self.counts
            self.since = self.now_s
            acting.apply(policy(observed.nothing(names)), self)
            self.timer_s = self.now_s + interval

        def on_timer(self) -> None:
            after, now = self.counts, self.now_s
            seen = observed.Interval(self.before, after, now - self.since, self)
            self.before, self.since = after, now
            acting.apply(policy(observed.vector(names, seen)), self)
            self.timer_s = now + interval

    Learned.transport = dict(transport or {})
    Learned.__name__ = Learned.__qualname__ = name
    return Learned
