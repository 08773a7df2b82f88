"""Environments in which an agent is the congestion controller of a flow.

observations    what an agent observes: the interval of its own sender and MAC, by name
actions         what it sets: window, pace or both; as factors, continuous or discrete
rewards         rewards by name
session         a run in steps of one interval, for the environments
environment     Gymnasium's environment of one flow
agents          PettingZoo's parallel environment of several flows
policies        a trained policy as a `multihop.Controller`

`import multihop.learning` registers `multihop/CongestionControl-v0` with Gymnasium.
"""

from __future__ import annotations

from multihop.base.extras import require
from multihop.learning.policies import controller_of

require("learning", "multihop.learning")

import gymnasium  # noqa: E402

from multihop.learning.agents import CongestionControlAgents, parallel_env  # noqa: E402
from multihop.learning.environment import CongestionControl  # noqa: E402

ENVIRONMENT = "multihop/CongestionControl-v0"

if ENVIRONMENT not in gymnasium.registry:
    gymnasium.register(ENVIRONMENT, entry_point="multihop.learning.environment:CongestionControl")

__all__ = ["ENVIRONMENT", "CongestionControl", "CongestionControlAgents", "controller_of", "parallel_env"]
