"""Scripts of motion in the format of ns-2's setdest, which multihop and ns-2 read."""

from __future__ import annotations

import math
import random

#: Side of the square in metres, and speeds in m/s, as in Barreto 2015.
SIDE = 1000.0
SPEEDS = (10.0, 30.0)


def setdest(nodes: int, duration: float, seed: int = 1) -> str:
    """Script of random waypoints without pauses for nodes 0 to `nodes` - 1, up to `duration` seconds."""
    draw = random.Random(seed)
    places, legs = [], []
    for node in range(nodes):
        here = (draw.uniform(0, SIDE), draw.uniform(0, SIDE))
        places += [f"$node_({node}) set {axis}_ {value:.6f}" for axis, value in zip("XYZ", (*here, 0.0), strict=True)]
        time = 0.0
        while time < duration:
            there, speed = (draw.uniform(0, SIDE), draw.uniform(0, SIDE)), draw.uniform(*SPEEDS)
            command = f"$node_({node}) setdest {there[0]:.6f} {there[1]:.6f} {speed:.6f}"
            legs.append((time, f'$ns_ at {time:.6f} "{command}"'))
            time += math.dist(here, there) / speed + 1e-6
            here = there
    return "\n".join([*places, *(line for _, line in sorted(legs))]) + "\n"
