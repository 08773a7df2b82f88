"""The network as a picture: nodes where they stand, links by quality, flows along their paths."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

import numpy as np

from multihop.report.svg import PALETTE

if TYPE_CHECKING:
    import pandas as pd

    from multihop import _core

_WIDTH, _HEIGHT, _MARGIN = 1000.0, 560.0, 40.0
_MOST_LINKS = 4000
_MOST_NAMES = 40
_LEAST_DISTANCE = 7.0
_MOST_OFF = 8
_MOST_PLACES = 5000


def picture(view: _core.ScenarioView, positions: pd.DataFrame | None = None) -> str:
    """An `<svg>` element; `positions` is the table of that name, for the trajectories of nodes that move."""
    points, measured = _layout(view)
    trajectories = _trajectories(positions) if all(measured) and positions is not None else {}
    count = len(points)
    xs, ys, scale = _fit(np.vstack([points, *trajectories.values()]))
    height = float(ys.max() + _MARGIN)
    parts = [
        f'<svg class="chart topology" role="img" aria-label="Topology" viewBox="0 0 {_WIDTH:g} {height:.0f}">',
        *_drawn_trajectories(view, trajectories, xs[count:], ys[count:]),
        *_links(view, xs, ys),
        *_paths(view, xs, ys),
        *_nodes(view, xs, ys, measured),
        *(_scale_bar(scale, height) if any(measured) else []),
        "</svg>",
    ]
    return "\n".join(parts)


def caption(view: _core.ScenarioView, positions: pd.DataFrame | None = None) -> str:
    """What the picture shows."""
    text = _what_is_drawn(view)
    if any(node["moves"] for node in view["nodes"]):
        text += f" Nodes move (dotted, seed {view['seed']}): all else is shown as it is at the start."
    if positions is not None and positions["off"].any():
        names = list(positions.loc[positions["off"] == 1, "name"].unique())
        shown = ", ".join(names[:_MOST_OFF]) + (f" and {len(names) - _MOST_OFF} more" if len(names) > _MOST_OFF else "")
        text += f" Off for a while: {shown}."
    return text


def _what_is_drawn(view: _core.ScenarioView) -> str:
    placed = sum(node["x"] is not None for node in view["nodes"])
    _, drawn_as_given = _layout(view)
    links = len({frozenset(link[:2]) for link in view["links"]})
    text = f"{len(view['nodes'])} nodes, {links} links (the fainter, the less they deliver), {len(view['flows'])} flows"
    if placed == 0:
        return f"{text}. The scenario gives no positions: nodes are drawn where the picture is clearest."
    if not any(drawn_as_given):
        return f"{text}. Most nodes are too close together for a map: they are drawn where the picture is clearest."
    if placed < len(view["nodes"]):
        return (
            f"{text}. {len(view['nodes']) - placed} nodes without a position (hollow) are drawn near their neighbours."
        )
    return f"{text}."


def _layout(view: _core.ScenarioView) -> tuple[np.ndarray, list[bool]]:
    """Positions, and for each node whether it is drawn where the scenario puts it."""
    nodes = view["nodes"]
    points, measured = _as_given(view)
    if any(measured) and not _too_dense(points):
        return points, measured
    return _spring(len(nodes), view["links"]), [False] * len(nodes)


def _too_dense(points: np.ndarray) -> bool:
    """Would most nodes be drawn on top of another? A few far away ones do that to a town."""
    if len(points) < 3:
        return False
    xs, ys, _ = _fit(points)
    distance = np.hypot(xs[:, None] - xs[None, :], ys[:, None] - ys[None, :])
    np.fill_diagonal(distance, np.inf)
    return float(np.median(distance.min(axis=1))) < _LEAST_DISTANCE


def _as_given(view: _core.ScenarioView) -> tuple[np.ndarray, list[bool]]:
    """Positions of the scenario; nodes without one are put beside their neighbours."""
    nodes = view["nodes"]
    measured = [node["x"] is not None and node["y"] is not None for node in nodes]
    if not any(measured):
        return np.zeros((len(nodes), 2)), measured
    points = np.array([[node["x"], node["y"]] for node in nodes], dtype=np.float64)
    neighbours: dict[int, list[int]] = {}
    for a, b, _ in view["links"]:
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    span = float(np.nanmax(points) - np.nanmin(points)) or 1.0
    for index, known in enumerate(measured):
        if known:
            continue
        near = [points[n] for n in neighbours.get(index, []) if measured[n]]
        middle = np.mean(near, axis=0) if near else np.nanmean(points[measured], axis=0)
        angle = 2.399963 * index  # the golden angle keeps several such nodes apart
        points[index] = middle + 0.02 * span * np.array([math.cos(angle), math.sin(angle)])
    return points, measured


def _spring(count: int, links: list[tuple[int, int, float]]) -> np.ndarray:
    """A force-directed layout (Fruchterman and Reingold 1991), the same for the same graph."""
    angle = 2.399963 * np.arange(count)
    points = np.sqrt(np.arange(count) + 0.5)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    pairs = np.array(sorted({(min(a, b), max(a, b)) for a, b, _ in links}), dtype=int).reshape(-1, 2)
    temperature = math.sqrt(count)
    for _ in range(300 if count <= 400 else 60):
        delta = points[:, None, :] - points[None, :, :]
        distance = np.maximum(np.linalg.norm(delta, axis=2), 0.01)
        force = (delta / distance[:, :, None] ** 2).sum(axis=1)
        if len(pairs):
            pull = points[pairs[:, 0]] - points[pairs[:, 1]]
            pull *= np.linalg.norm(pull, axis=1)[:, None]
            np.add.at(force, pairs[:, 0], -pull)
            np.add.at(force, pairs[:, 1], pull)
        length = np.maximum(np.linalg.norm(force, axis=1), 1e-9)[:, None]
        points += force / length * np.minimum(length, temperature)
        temperature = max(temperature * 0.97, 0.01)
    # The longest direction goes across the page.
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    turned: np.ndarray = centred @ axes.T
    return turned


def _fit(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Coordinates in the picture, y downwards, and pixels per metre."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = np.maximum(high - low, 1e-9)
    room = np.array([_WIDTH - 2 * _MARGIN, _HEIGHT - 2 * _MARGIN])
    scale = float((room / extent).min())
    xs = _MARGIN + (points[:, 0] - low[0]) * scale + (room[0] - extent[0] * scale) / 2
    ys = _MARGIN + (high[1] - points[:, 1]) * scale
    return xs, ys, scale


def _trajectories(positions: pd.DataFrame) -> dict[int, np.ndarray]:
    """The places of each node that moves, in the order of time; of many, every second, third, ... one."""
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
    best: dict[tuple[int, int], list[float]] = {}
    for a, b, quality in view["links"]:
        best.setdefault((min(a, b), max(a, b)), []).append(quality)
    names = [node["name"] for node in view["nodes"]]
    drawn = sorted(best.items(), key=lambda item: -max(item[1]))[:_MOST_LINKS]
    parts = ['<g class="links">']
    for (a, b), qualities in drawn:
        worst = min(qualities) if len(qualities) > 1 else 0.0
        said = " and ".join(f"{100 * q:.0f} %" for q in qualities)
        one_way = "" if len(qualities) > 1 else ", one way"
        parts.append(
            f'<line class="tip" data-of="n{a} n{b}" '
            f'x1="{xs[a]:.1f}" y1="{ys[a]:.1f}" x2="{xs[b]:.1f}" y2="{ys[b]:.1f}" '
            f'stroke-opacity="{0.12 + 0.5 * worst:.2f}"'
            + _tip(f"{names[a]} to {names[b]}: delivers {said}{one_way}", "line")
        )
    return [*parts, "</g>"]


def _paths(view: _core.ScenarioView, xs: np.ndarray, ys: np.ndarray) -> list[str]:
    names = [node["name"] for node in view["nodes"]]
    parts = ['<g class="paths">']
    for index, flow in enumerate(view["flows"]):
        # Flows that share a hop are drawn side by side.
        shift = 2.2 * ((index % 5) - 2)
        points = " ".join(f"{xs[n] + shift:.1f},{ys[n] + shift:.1f}" for n in flow["path"])
        said = f"flow {flow['name']} ({flow['hops']} hops): {' > '.join(names[n] for n in flow['path'])}"
        parts.append(
            f'<polyline class="tip" data-of="f{index}" points="{points}" stroke="{PALETTE[index % len(PALETTE)]}"'
            + _tip(said, "polyline")
        )
    return [*parts, "</g>"]


def _nodes(view: _core.ScenarioView, xs: np.ndarray, ys: np.ndarray, measured: list[bool]) -> list[str]:
    sources = {flow["source"] for flow in view["flows"]}
    sinks = {flow["destination"] for flow in view["flows"]}
    some_measured = any(measured)
    many = len(view["nodes"]) > _MOST_NAMES
    parts = ['<g class="nodes">']
    for index, node in enumerate(view["nodes"]):
        name = node["name"]
        role = "sink" if name in sinks else "source" if name in sources else "relay"
        hollow = " hollow" if some_measured and not measured[index] else ""
        words = {"sink": ", a destination", "source": ", a source", "relay": ""}[role]
        radius = {"sink": 8, "source": 6.5, "relay": 3.5 if many else 5}[role]
        parts.append(
            f'<circle class="tip {role}{hollow}" data-of="n{index}" '
            f'cx="{xs[index]:.1f}" cy="{ys[index]:.1f}" r="{radius}"' + _tip(f"{name}{words}", "circle")
        )
        if not many or role == "sink":
            place = f'x="{xs[index]:.1f}" y="{ys[index] - 12:.1f}"'
            parts.append(f'<text data-of="n{index}" {place}>{html.escape(name)}</text>')
    return [*parts, "</g>"]


def _scale_bar(scale: float, height: float) -> list[str]:
    """A bar of a round number of metres, about a tenth of the width."""
    wanted = _WIDTH / 8 / scale
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
