"""NetJSON NetworkGraph (netjson.org) of a network, with the use of its links by a run.

A link of the graph is one direction of a two-way link. Its cost is ETX, 1 over the product of the deliveries
of full DATA frames in both directions (De Couto et al., MobiCom 2003).
`properties` have units in their names; those of runs are columns of the tables `links` and `nodes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multihop import _core
from multihop.base.finite import finite
from multihop.results.provenance import version

if TYPE_CHECKING:
    from multihop.exporters.runs import TabledRun

#: Columns of tables that become properties.
_OF_LINKS = ("rts", "data", "acknowledged", "given_up", "airtime", "aggregate_mean", "rate_mean_bps")
_OF_NODES = ("transmitting", "receiving", "busy_ratio", "queue_mean", "queue_max")


def graph(view: _core.ScenarioView, run: TabledRun | None = None) -> dict[str, Any]:
    """Returns the network of a resolved scenario at its start as a NetworkGraph.

    Each radio is a node, named as in tables: the second radio of node `a` is `a/1`.
    """
    names = [node["name"] for node in view["nodes"]]
    delivery = {(a, b): share for a, b, share in view["links"]}
    wires = {(wire["sender"], wire["receiver"]): wire for wire in view["wires"]}
    used = {} if run is None else {(row["sender"], row["receiver"]): row for row in run.rows("links")}
    of_nodes = {} if run is None else {row["node"]: row for row in run.rows("nodes")}
    nodes = []
    for index, node in enumerate(view["nodes"]):
        about = {"x_m": node["x"], "y_m": node["y"], "channel": node["channel"], "node": names[node["node"]]}
        nodes.append({"id": node["name"], "properties": _known({**about, **_taken(of_nodes.get(index), _OF_NODES)})})
    links = []
    for (a, b), share in delivery.items():
        there_and_back = share * delivery.get((b, a), 0.0)
        if there_and_back == 0.0:
            continue
        about = {"type": "wire" if (a, b) in wires else "radio", "delivery": share}
        if (a, b) in wires:
            about |= {"rate_bps": wires[a, b]["rate_bps"], "delay_s": wires[a, b]["delay"]}
        links.append(
            {
                "source": names[a],
                "target": names[b],
                "cost": 1.0 / there_and_back,
                "properties": _known({**about, **_taken(used.get((a, b)), _OF_LINKS)}),
            }
        )
    return {
        "type": "NetworkGraph",
        "protocol": "static",
        "version": version(),
        "metric": "ETX",
        "label": view["name"] if run is None else f"{view['name']}, {run.variant}, seed {run.seed}",
        "nodes": nodes,
        "links": links,
    }


def _taken(row: dict[str, Any] | None, columns: tuple[str, ...]) -> dict[str, Any]:
    return {} if row is None else {column: row[column] for column in columns}


def _known(properties: dict[str, Any]) -> dict[str, Any]:
    """Returns the properties that have a value."""
    return {key: value for key, value in finite(properties).items() if value is not None}
