"""Map of a network: nodes, links by quality, and flows along their paths."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from multihop import _core
from multihop.report.charts.figures import Facet, Figure, Key, ink
from multihop.report.layout import layout
from multihop.report.notes import Notes
from multihop.report.svg import PALETTE

#: Nodes above which only ends of flows have names.
_MOST_NAMES = 40

#: Most names.
_MOST_NAMED = 60

#: Width of the map, range of its height, and height of the labels of its axes, in heights of text.
_WIDTH, _HEIGHTS, _LABELS = 27.0, (7.0, 30.0), 4.0

#: Marker and size of each role of a node.
_ROLES = {"destination": ("s", 5.0), "source": ("o", 5.0), "relay": ("o", 2.5)}


def network(view: _core.ScenarioView) -> Figure:
    """Returns the map of a network, whose nodes need no positions."""
    keys = [Key("link, the fainter the less it delivers", "thin")]
    if view["flows"]:
        keys = [Key("path of a flow", "line", PALETTE[0]), *keys]
        keys += [Key(role, marker, PALETTE[0]) for role, (marker, _) in _ROLES.items() if role != "relay"]
    points, measured = layout(view)
    wide, high = np.maximum(np.ptp(points, axis=0), 1e-9)
    height = (_LABELS if any(measured) else 0.0) + float(np.clip(_WIDTH * high / wide, *_HEIGHTS))
    return Figure(
        "map", "Map of the network", [Facet("", {"map"}, partial(draw_network, view=view))], keys, height=height
    )


def draw_network(notes: Notes, axis: Any, *, view: _core.ScenarioView) -> None:  # noqa: ANN401 - an Axes
    """Draws links, paths and nodes, in metres where the scenario gives positions."""
    del notes
    from matplotlib.collections import LineCollection

    points, measured = layout(view)
    worst: dict[tuple[int, int], list[float]] = {}
    for sender, receiver, delivery in view["links"]:
        worst.setdefault((min(sender, receiver), max(sender, receiver)), []).append(delivery)
    # A link in one direction delivers nothing in the other one.
    opacity = [0.12 + 0.6 * (min(both) if len(both) > 1 else 0.0) for both in worst.values()]
    lines = [points[list(pair)] for pair in worst]
    axis.add_collection(LineCollection(lines, colors=ink(), linewidths=0.6, alpha=opacity, zorder=1))
    paths = [points[flow["path"]] for flow in view["flows"] if len(flow["path"]) > 1]
    axis.add_collection(LineCollection(paths, colors=PALETTE[0], linewidths=1.4, alpha=0.7, zorder=2))
    ends = {flow["source"]: "source" for flow in view["flows"]}
    ends |= {flow["destination"]: "destination" for flow in view["flows"]}
    names = [node["name"] for node in view["nodes"]]
    roles = np.array([ends.get(name, "relay") for name in names])
    for role, (marker, size) in _ROLES.items():
        of = points[roles == role]
        axis.plot(of[:, 0], of[:, 1], marker, color=ink() if role == "relay" else PALETTE[0], markersize=size, zorder=3)
    named = [index for index, name in enumerate(names) if len(names) <= _MOST_NAMES or name in ends]
    for index in named if len(named) <= _MOST_NAMED else []:
        place = {"xytext": (0, 5), "textcoords": "offset points", "ha": "center", "fontsize": "x-small"}
        # Lines below a name are faint.
        box = {"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.5}
        axis.annotate(names[index], points[index], bbox=box, **place)
    axis.set_aspect("equal", adjustable="datalim")
    axis.margins(0.1)
    axis.grid(visible=False)
    if any(measured):
        axis.set_xlabel("m")
        axis.set_ylabel("m")
    else:
        axis.spines[:].set_visible(False)
        axis.set_xticks([])
        axis.set_yticks([])
