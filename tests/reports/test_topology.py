"""The picture of the network: maps and layouts of small and of large networks."""

import re
import tracemalloc
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest

from multihop.report import layout, topology


def network(count, pairs, places=None, flows=()):
    """What the picture reads of a scenario."""
    nodes = []
    for index in range(count):
        x, y = (None, None) if places is None else places[index]
        nodes.append({"name": f"n{index}", "x": x, "y": y, "moves": False})
    links = [link for a, b in pairs for link in ((a, b, 1.0), (b, a, 0.8))]
    return {"nodes": nodes, "links": links, "flows": list(flows), "seed": 1}


def grid(columns, rows):
    """Neighbours in a grid, by number."""
    across = [(n, n + 1) for n in range(columns * rows) if (n + 1) % columns]
    return across + [(n, n + columns) for n in range(columns * (rows - 1))]


def flow(source, destination):
    return {"name": "f", "source": f"n{source}", "destination": f"n{destination}", "path": [], "hops": 0}


def drawn(view):
    return ET.fromstring(topology.Topology(view).picture())


def circles(drawing):
    return [tuple(float(circle.get(name)) for name in ("cx", "cy", "r")) for circle in drawing.iter("circle")]


@pytest.fixture(scope="module")
def city():
    """Ten thousand nodes 200 m apart."""
    places = [(200.0 * (n % 100), 200.0 * (n // 100)) for n in range(10_000)]
    return network(10_000, grid(100, 100), places)


@pytest.fixture(scope="module")
def drawn_city(city):
    return drawn(city)


def test_the_nodes_of_a_city_are_drawn_where_they_are(city, drawn_city):
    assert all(layout.layout(city)[1])
    assert "too close" not in topology.Topology(city).caption()
    drawn = circles(drawn_city)
    steps = {round(b[0] - a[0], 1) for a, b in pairwise(drawn[:100])}
    assert steps <= {4.7, 4.8, 4.9}, "a row of 100 nodes over the 480 px of a square"
    assert max(radius for _, _, radius in drawn) < 4.8 / 2, "no node covers the next one"


def test_all_links_of_a_city_are_drawn(drawn_city):
    paths = [path.get("d") for path in drawn_city.find("./g[@class='links']")]
    assert len(paths) < 12
    ends = [re.findall(r"M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)", path) for path in paths]
    assert len({link for path in ends for link in path}) == 19_800


def test_links_have_the_opacity_of_what_they_deliver():
    view = network(100, [(a, b) for a in range(100) for b in range(a)])
    view["links"][1] = (0, 1, 0.31)
    drawing = drawn(view)
    shown = {path.get("stroke-opacity"): path.get("d").count("M") for path in drawing.find("./g[@class='links']")}
    assert shown == {"0.16": 4949, "0.08": 1}, "0.52 and 0.27, faint as links cover the picture"


def test_of_more_links_than_a_page_holds_some_are_drawn():
    view = network(300, [(a, b) for a in range(300) for b in range(a)], [(n % 20, n // 20) for n in range(300)])
    drawing = drawn(view)
    assert sum(path.get("d").count("M") for path in drawing.find("./g[@class='links']")) == 22_425
    assert "44850 links (the fainter, the less they deliver; one in 2 is drawn)" in topology.Topology(view).caption()


def test_a_town_that_far_nodes_press_together_is_laid_out():
    places = [(n % 30, n // 30) for n in range(900)]
    view = network(903, grid(30, 30), [*places, (3_000, 0), (0, 3_000), (3_000, 3_000)])
    assert not any(layout.layout(view)[1])
    assert "too close together for a map" in topology.Topology(view).caption()


def cells(count, each):
    """Cells in each of which all hear all."""
    return [(first + a, first + b) for first in range(0, count * each, each) for a in range(each) for b in range(a)]


@pytest.mark.parametrize(
    ("count", "each", "least"),
    [
        (1, 401, 10.0),
        pytest.param(1, 600, 7.0, marks=pytest.mark.long),
        (60, 10, 1.2),
        pytest.param(2, 300, 1.2, marks=pytest.mark.long),
    ],
)
def test_nodes_of_a_large_cell_are_seen_apart(count, each, least):
    view = network(count * each, cells(count, each))
    xs, ys, _ = layout.fit(layout.layout(view)[0])
    assert layout.distance_apart(xs, ys) > least
    assert min(radius for _, _, radius in circles(drawn(view))) >= 1.0


def test_what_lies_among_many_links_can_be_seen():
    opacities = {path.get("stroke-opacity") for path in drawn(network(401, cells(1, 401))).find("./g[@class='links']")}
    assert opacities == {f"{0.3 * 0.52:.2f}"}


@pytest.mark.parametrize("columns", [pytest.param(40, marks=pytest.mark.long), 8])
def test_a_large_grid_without_positions_is_unfolded(columns):
    rows = 1600 // columns
    view = network(1600, grid(columns, rows))
    places, measured = layout.layout(view)
    assert not any(measured)
    assert np.array_equal(places, layout.layout(view)[0]), "the same picture each time"
    pairs = np.random.default_rng(1).integers(0, 1600, (2000, 2))
    numbers = np.column_stack([pairs % columns, pairs // columns])
    true = np.hypot(numbers[:, 0] - numbers[:, 1], numbers[:, 2] - numbers[:, 3])
    drawn = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
    assert np.corrcoef(true, drawn)[0, 1] > 0.95


@pytest.mark.parametrize(
    "pairs",
    [[(0, n) for n in range(1, 600)], [(n, n + 1) for n in range(599)], [(n, n + 2) for n in range(590)], []],
    ids=["star", "chain", "two chains and single nodes", "no links"],
)
def test_few_nodes_of_any_large_network_are_at_one_place(pairs):
    places, _ = layout.layout(network(600, pairs))
    assert np.isfinite(places).all()
    xs, ys, _ = layout.fit(places)
    assert len(set(zip(xs.round(1), ys.round(1), strict=True))) > 570


@pytest.mark.long
def test_a_layout_needs_memory_in_proportion_to_nodes():
    view = network(2500, grid(50, 50))
    tracemalloc.start()
    try:
        layout.layout(view)
        assert tracemalloc.get_traced_memory()[1] < 25e6, "half of a number for each pair of nodes"
    finally:
        tracemalloc.stop()


def test_one_node_without_a_place_is_drawn():
    assert len(circles(drawn(network(1, [])))) == 1


def test_up_to_forty_destinations_are_named():
    for count in (40, 41):
        view = network(200, grid(20, 10), flows=[flow(100 + n, n) for n in range(count)])
        assert len(drawn(view).findall(".//text")) == (40 if count == 40 else 0)
