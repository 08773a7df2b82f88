"""olsrd2 (OONF): `olsrv2info edge` and `nhdpinfo link` with `ff_dat_metric`, as JSON or as a table.

`olsrv2info edge` has the topology: costs from `node` to `edge`. `nhdpinfo link` has the links of one node,
which it does not name: `domain_metric_out_raw` is the cost of the direction to `neighbor_originator`, and
`domain_metric_in_raw` of the reverse one. `domain_metric_internal` has measurements of the reverse direction:
packets received (`p_recv`) of those sent (`p_total`), and the bit rate that the driver reports (`speed`).

A table has tabs, in the order of nhdpinfo.c and olsrv2info.c, and names of columns only if `head` printed
them. `dat` explains the costs. Other metrics say nothing about delivery.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from multihop.base.errors import UserError
from multihop.importers import dat
from multihop.importers.mesh import Mesh, Node
from multihop.importers.parsing.records import BrokenRecordError, json_records, number, shown, text_id
from multihop.importers.reports import unicast_rate

_METRIC, _OUT, _IN, _INTERNAL = (f"domain_metric{end}" for end in ("", "_out_raw", "_in_raw", "_internal"))

#: Columns around the one with the metric's name, by their distance from it.
_EDGE_COLUMNS = {"node": -4, "edge": -3, _METRIC: 0, _OUT: 2}
_LINK_COLUMNS = {"neighbor_originator": -3, _METRIC: 0, _IN: 2, _OUT: 4, _INTERNAL: 5}
_EDGE_METRIC_AT = 4

_LINE = re.compile(rf"^(?:[^\t\n]*\t){{4,}}{dat.NAME}\t", re.MULTILINE)
_SENT = re.compile(r"p_recv=(\d+),p_total=(\d+),speed=(-?\d+)")

#: Name of the node that `nhdpinfo` describes.
_OWN = "this node"

_Record = tuple[str, Mapping[str, Any]]


def matches(data: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether the value is output of olsrv2info or nhdpinfo with metrics."""
    return isinstance(data, dict) and any(
        isinstance(data.get(key), list) and any(isinstance(item, dict) and _METRIC in item for item in data[key])
        for key in ("edge", "link")
    )


def matches_text(text: str) -> bool:
    """Whether the text is a table of olsrv2info or nhdpinfo."""
    return _LINE.search(text) is not None


def read(data: dict[str, Any], origin: str) -> Mesh:
    """Reads the topology, or without one the links of one node.

    Raises:
        UserError: if a list is something else, or no record has the metric of directional airtime.
    """
    mesh = Mesh("olsrv2", dat.READING)
    key = "edge" if data.get("edge") else "link"
    return _filled(mesh, list(json_records(mesh.tally, data.get(key), origin, key)), origin)


def read_text(text: str, origin: str) -> Mesh:
    """Reads a table, with a line of column names or without.

    Raises:
        UserError: if no line has the metric of directional airtime.
    """
    mesh = Mesh("olsrv2", dat.READING)
    records: list[_Record] = []
    for line_number, line in enumerate(text.splitlines(), 1):
        cells = line.split("\t")
        if not line.strip() or _METRIC in cells:
            continue
        where = f"{origin}:{line_number}"
        at = cells.index(dat.NAME) if dat.NAME in cells else -1
        columns = _EDGE_COLUMNS if at == _EDGE_METRIC_AT else _LINK_COLUMNS
        if at < _EDGE_METRIC_AT or len(cells) <= at + columns[_OUT]:
            mesh.tally.add_broken(where, f"found {len(cells)} cells; needs those of olsrv2info edge or nhdpinfo link")
            continue
        records.append((where, {key: cells[at + by] for key, by in columns.items() if at + by < len(cells)}))
    return _filled(mesh, records, origin)


def _filled(mesh: Mesh, records: Iterable[_Record], origin: str) -> Mesh:
    """Fills a mesh with the directions of records."""
    directions: list[tuple[str, str, dat.Direction]] = []
    metrics: set[str] = set()
    for where, record in records:
        with mesh.tally.record():
            metric = str(record.get(_METRIC))
            metrics.add(metric)
            if metric != dat.NAME:
                mesh.left_out["links whose metric says nothing about delivery"] += 1
                continue
            ends = ("node", "edge") if "edge" in record else ("neighbor_originator",)
            names = [text_id(record.get(end)) for end in ends]
            if None in names or number(record.get(_OUT)) is None:
                raise BrokenRecordError(where, f"{', '.join(ends)} or {_OUT} is missing; needs addresses and the cost")
            if "-" in names:
                mesh.left_out["links to neighbours without an OLSRv2 originator"] += 1
                continue
            there = dat.direction(number(record[_OUT]))
            source, target = names if len(names) > 1 else (_OWN, names[0])
            directions.append((str(source), str(target), there))
            if len(names) == 1:
                directions.append((str(target), _OWN, _measured(record)))
    if metrics and dat.NAME not in metrics:
        found = shown(", ".join(sorted(metrics)))
        raise UserError(f"{origin}: {_METRIC}: found {found}, which says nothing about delivery; needs {dat.NAME}")
    for id in dict.fromkeys(end for source, target, _ in directions for end in (source, target)):
        mesh.add_node(Node(id, label=id))
    for source, target, direction in directions:
        direction.add_to(mesh, source, target)
    return mesh


def _measured(record: Mapping[str, Any]) -> dat.Direction:
    """Returns the direction from a neighbour: as measured, else as its cost."""
    counts = _SENT.search(str(record.get(_INTERNAL)))
    received, sent, rate = map(int, counts.groups()) if counts else (0, 0, 0)
    if 0 < received <= sent and rate > 0:
        return dat.Direction(received / sent, unicast_rate(float(rate)))
    return dat.direction(number(record.get(_IN)))
