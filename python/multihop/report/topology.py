"""Picture of the network: nodes at their positions, links by quality, flows along their paths."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from multihop.report.layout import MARGIN, WIDTH, distance_apart, fit, layout
from multihop.results.words import counted

if TYPE_CHECKING:
    import pandas as pd

    from multihop import _core

#: Most links with tooltips.
_MOST_LINKS = 4000
#: Most links that are drawn.
_MOST_LINES = 40_000
_QUALITY_STEPS = 10
#: Least opacity of links that cover the picture.
_FAINTEST = 0.3
#: Distance in the picture below which nodes are drawn smaller.
_FULL_SIZE_DISTANCE = 10.0
#: Least radius at which the pointer can hit a node.
_LEAST_RADIUS = 1.0
_MOST_NAMES = 40
_MOST_OFF = 8
_MOST_PLACES = 5000
#: Dashes of paths of flows, which have no colours, since colours are schemes.
_DASHES = ("none", "9 4", "3 3", "12 3 3 3", "6 2")


@dataclass(frozen=True)
class Topology:
    """Picture of a network; `positions` is the table of that name, for trajectories of moving nodes."""

    view: _core.ScenarioView
    positions: pd.DataFrame | None = None

    @cached_property
    def _layout(self) -> tuple[np.ndarray, list[bool]]:
        return layout(self.view)

    def picture(self) -> str:
        """Returns an `<svg>` element."""
        view = self.view
        points, measured = self._layout
        trajectories = _trajectories(self.positions) if all(measured) and self.positions is not None else {}
        count = len(points)
        xs, ys, scale = fit(np.vstack([points, *trajectories.values()]))
        height = float(ys.max() + MARGIN)
        size = _size(xs[:count], ys[:count])
        dense = " dense" if size < 1.0 else ""
        box = f'viewBox="0 0 {WIDTH:g} {height:.0f}"'
        parts = [
            f'<svg class="chart topology{dense}" role="img" aria-label="Topology" {box}>',
            *_drawn_trajectories(view, trajectories, xs[count:], ys[count:]),
            *_links(view, xs, ys),
            *_paths(view, xs, ys, size),
            *_nodes(view, xs, ys, measured, size),
            *(_scale_bar(scale, height) if any(measured) else []),
            "</svg>",
        ]
        return "\n".join(parts)

    def caption(self) -> str:
        """Returns a description of the picture."""
        text = self._what_is_drawn()
        if any(node["moves"] for node in self.view["nodes"]):
            text += f" Nodes move (dotted, seed {self.view['seed']}): everything else is shown as at the start."
        if self.positions is not None and self.positions["off"].any():
            names = list(self.positions.loc[self.positions["off"] == 1, "name"].unique())
            more = f" and {len(names) - _MOST_OFF} more" if len(names) > _MOST_OFF else ""
            text += f" Off for a while: {', '.join(names[:_MOST_OFF])}{more}."
        return text

    def _what_is_drawn(self) -> str:
        nodes = self.view["nodes"]
        placed = sum(node["x"] is not None for node in nodes)
        links = len({frozenset(link[:2]) for link in self.view["links"]})
        stride = _stride(links)
        some = f"; one in {stride} is drawn" if stride > 1 else ""
        about_links = f"{counted(links, 'link')} (the fainter, the less they deliver{some})"
        flows = f"{counted(len(self.view['flows']), 'flow')} (from dots to rings)"
        text = f"{counted(len(nodes), 'node')}, {about_links}, {flows}"
        _, drawn_as_given = self._layout
        if placed == 0:
            return f"{text}. The scenario gives no positions: nodes are drawn where the picture is clearest."
        if not any(drawn_as_given):
            return f"{text}. Most nodes are too close together for a map: they are drawn where the picture is clearest."
        if placed < len(nodes):
            verb = "is" if len(nodes) - placed == 1 else "are"
            left = counted(len(nodes) - placed, "node")
            return f"{text}. {left} without a position (hollow) {verb} drawn near the neighbours."
        return f"{text}."


def _trajectories(positions: pd.DataFrame) -> dict[int, np.ndarray]:
    """Returns the positions of each moving node in the order of time, thinned out if there are many."""
    stride = -(-len(positions) // _MOST_PLACES) or 1
    trajectories = {}
    for node in np.unique(positions["node"].to_numpy(dtype=int)):
        places = positions.loc[positions["node"] == node, ["x_m", "y_m"]].to_numpy(dtype=np.float64)
        if (places != places[0]).any():
            trajectories[int(node)] = np.vstack([places[:-1:stride], places[-1:]])
    return trajectories


def _drawn_trajectories(
    view: _core.ScenarioView, trajectories: dict[int, np.ndarray], xs: np.ndarray, ys: np.ndarray
) -> list[str]:
    parts = ['<g class="trajectories">']
    begin = 0
    for node, places in trajectories.items():
        end = begin + len(places)
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs[begin:end], ys[begin:end], strict=True))
        parts.append(
            f'<polyline class="tip" data-of="n{node}" points="{points}"'
            + _tip(f"trajectory of {view['nodes'][node]['name']}", "polyline")
        )
        begin = end
    return [*parts, "</g>"]


def _links(view: _core.ScenarioView, xs: np.ndarray, ys: np.ndarray) -> list[str]:
    qualities: dict[tuple[int, int], list[float]] = {}
    for a, b, quality in view["links"]:
        qualities.setdefault((min(a, b), max(a, b)), []).append(quality)
    if len(qualities) > _MOST_LINKS:
        return _many_links(qualities, xs, ys)
    names = [node["name"] for node in view["nodes"]]
    parts = ['<g class="links">']
    for (a, b), both in sorted(qualities.items(), key=lambda item: -max(item[1])):
        said = " and ".join(f"{100 * q:.0f} %" for q in both)
        one_way = "" if len(both) > 1 else ", one way"
        parts.append(
            f'<line class="tip" data-of="n{a} n{b}" '
            f'x1="{xs[a]:.1f}" y1="{ys[a]:.1f}" x2="{xs[b]:.1f}" y2="{ys[b]:.1f}" '
            f'stroke-opacity="{0.12 + 0.5 * _worst(both):.2f}"'
            + _tip(f"{names[a]} to {names[b]}: delivers {said}{one_way}", "line")
        )
    return [*parts, "</g>"]


def _many_links(qualities: dict[tuple[int, int], list[float]], xs: np.ndarray, ys: np.ndarray) -> list[str]:
    """Returns links without tooltips; links of similar quality are one element, to keep the page small."""
    steps: dict[int, list[str]] = {}
    length = 0.0
    links, count = list(qualities.items()), len(qualities)
    kept = np.random.default_rng(0).permutation(count)[: count // _stride(count)]
    for (a, b), both in (links[index] for index in np.sort(kept)):
        line = f"M{xs[a]:.1f} {ys[a]:.1f}L{xs[b]:.1f} {ys[b]:.1f}"
        steps.setdefault(round(_QUALITY_STEPS * _worst(both)), []).append(line)
        length += math.hypot(xs[a] - xs[b], ys[a] - ys[b])
    # Links that cover the area between nodes would hide what is below, so they are drawn fainter.
    faint = min(1.0, max(_FAINTEST, float(np.ptp(xs) * np.ptp(ys)) / max(length, 1.0)))
    paths = [
        f'<path d="{"".join(lines)}" stroke-opacity="{faint * (0.12 + 0.5 * step / _QUALITY_STEPS):.2f}"/>'
        for step, lines in sorted(steps.items(), reverse=True)
    ]
    return ['<g class="links">', *paths, "</g>"]


def _stride(links: int) -> int:
    """Returns n if one in n links is drawn."""
    return -(-links // _MOST_LINES)


def _worst(both: list[float]) -> float:
    """Returns the delivery ratio of a link in its worse direction."""
    return min(both) if len(both) > 1 else 0.0


def _paths(view: _core.ScenarioView, xs: np.ndarray, ys: np.ndarray, size: float) -> list[str]:
    names = [node["name"] for node in view["nodes"]]
    parts = ['<g class="paths">']
    for index, flow in enumerate(view["flows"]):
        # Flows that share a hop are drawn side by side.
        shift = 2.2 * size * ((index % 5) - 2)
        points = " ".join(f"{xs[n] + shift:.1f},{ys[n] + shift:.1f}" for n in flow["path"])
        said = f"flow {flow['name']} ({flow['hops']} hops): {' > '.join(names[n] for n in flow['path'])}"
        dash = _DASHES[index % len(_DASHES)]
        parts.append(
            f'<polyline class="tip" data-of="f{index}" points="{points}" stroke-dasharray="{dash}"'
            + _tip(said, "polyline")
        )
    return [*parts, "</g>"]


def _nodes(view: _core.ScenarioView, xs: np.ndarray, ys: np.ndarray, measured: list[bool], size: float) -> list[str]:
    sources = {flow["source"] for flow in view["flows"]}
    sinks = {flow["destination"] for flow in view["flows"]}
    some_measured = any(measured)
    many = len(view["nodes"]) > _MOST_NAMES
    named = sinks if len(sinks) <= _MOST_NAMES else set()
    parts, labels = ['<g class="nodes">'], []
    for index, node in enumerate(view["nodes"]):
        name = node["name"]
        role = "sink" if name in sinks else "source" if name in sources else "relay"
        hollow = " hollow" if some_measured and not measured[index] else ""
        words = {"sink": ", a destination", "source": ", a source", "relay": ""}[role]
        radius = max({"sink": 8, "source": 6.5, "relay": 3.5 if many else 5}[role] * size, _LEAST_RADIUS)
        parts.append(
            f'<circle class="tip {role}{hollow}" data-of="n{index}" '
            f'cx="{xs[index]:.1f}" cy="{ys[index]:.1f}" r="{radius:.3g}"' + _tip(f"{name}{words}", "circle")
        )
        if not many or name in named:
            place = f'x="{xs[index]:.1f}" y="{ys[index] - 12:.1f}"'
            labels.append(f'<text data-of="n{index}" {place}>{html.escape(name)}</text>')
    return [*parts, *labels, "</g>"]


def _size(xs: np.ndarray, ys: np.ndarray) -> float:
    """Returns the size factor of nodes, smaller where many nodes are close together."""
    return min(1.0, distance_apart(xs, ys) / _FULL_SIZE_DISTANCE) if len(xs) > _MOST_NAMES else 1.0


def _scale_bar(scale: float, height: float) -> list[str]:
    """Returns a scale bar of a round number of metres, about a tenth of the width."""
    wanted = WIDTH / 8 / scale
    power = 10 ** math.floor(math.log10(wanted))
    metres = next(m * power for m in (5, 2, 1) if m * power <= wanted)
    label = f"{metres / 1000:g} km" if metres >= 1000 else f"{metres:g} m"
    x, y, length = 12.0, height - 10, metres * scale
    return [
        f'<path class="scale" d="M{x:g},{y - 5:.1f} V{y:.1f} H{x + length:.1f} V{y - 5:.1f}"/>',
        f'<text class="scale" x="{x + length + 6:.1f}" y="{y:.1f}">{label}</text>',
    ]


def _tip(text: str, tag: str) -> str:
    said = html.escape(text, quote=True)
    return f' data-tip="{said}"><title>{said}</title></{tag}>'
