"""GraphML (graphml.graphdrawing.org), as NetworkX, Gephi, igraph, Cytoscape and yEd write it.

Attributes of nodes and edges are named by `<key>`; `graphs` selects the one that is a link's quality. An
undeclared key is its own name. The namespace may be missing. yEd's geometry and Gephi's coordinates with
colours are drawings, not positions. Edges to ports are edges to their nodes; hyperedges are left out.
"""

from multihop.base.errors import UserError
from multihop.importers import graphs
from multihop.importers.graphs import Edge, Vertex
from multihop.importers.mesh import Mesh
from multihop.importers.parsing.records import BrokenRecordError
from multihop.importers.parsing.xml_tree import Element

#: Node attributes that only drawings have.
_DRAWN = {"r", "g", "b", "size"}

#: Node attributes with a name.
_LABELS = ("label", "name", "hostname")


def matches(root: str) -> bool:
    """Whether the root element is that of GraphML."""
    return root == "graphml"


def read(root: Element, origin: str, assume_delivery: float | None) -> Mesh:
    """Reads the nodes and edges of all graphs in the file, and of those nested in nodes.

    Raises:
        UserError: if there is no graph, or edges have no quality and none is assumed.
    """
    keys: dict[str, str] = {}
    defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
    for key in root.named("key"):
        id = key.attributes.get("id", "")
        name = keys[id] = (key.attributes.get("attr.name") or key.attributes.get("name") or id).strip().lower()
        for default in key.named("default"):
            for of in ("node", "edge"):
                if key.attributes.get("for", "all") in {of, "all"}:
                    defaults[of][name] = default.text.strip()
    mesh = Mesh("graphml", "")
    edges: list[Edge] = []
    elements = list(root.all())
    if not any(element.name == "graph" for element in elements):
        raise UserError(f"{origin}: has no graph; needs <graph> with nodes and edges")
    nodes = [(element, _attributes(element, keys, defaults["node"])) for element in elements if element.name == "node"]
    drawn = any(_DRAWN & found.keys() for _, found in nodes)
    for element, found in nodes:
        with mesh.tally.record():
            label = next((found[key] for key in _LABELS if found.get(key)), "")
            graphs.add_node(mesh, Vertex(_attribute(element, "id"), label, found, drawn))
    for graph in (element for element in elements if element.name == "graph"):
        directed = graph.attributes.get("edgedefault") == "directed"
        for element in graph.named("edge"):
            with mesh.tally.record():
                own = element.attributes.get("directed")
                ends = [_attribute(element, end) for end in ("source", "target")]
                found = _attributes(element, keys, defaults["edge"])
                edges.append(Edge(ends[0], ends[1], found, directed if own is None else own in {"true", "1"}))
        for _ in graph.named("hyperedge"):
            mesh.left_out["hyperedges"] += 1
    return graphs.fill(mesh, origin, edges, assume_delivery)


def _attributes(element: Element, keys: dict[str, str], defaults: dict[str, str]) -> dict[str, str]:
    """Returns the attributes of a node or an edge from `<data>` and its defaults."""
    found = dict(defaults)
    for data in element.named("data"):
        key = data.attributes.get("key", "")
        found[keys.get(key, key.lower())] = data.text.strip()
    return found


def _attribute(element: Element, name: str) -> str:
    value = element.attributes.get(name, "").strip()
    if not value:
        raise BrokenRecordError(element.where, f"<{element.name}> has no {name}; needs the id of a node")
    return value
