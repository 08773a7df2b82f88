"""What tests of importers share."""

import json
import tomllib

from multihop.importers import Options, read
from multihop.importers.to_scenario import Plan, write


def scenario(tmp_path, content, plan=None, name="mesh.json", **options):
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return write(read(path, Options(**options)), plan or Plan(), name)


def links_of(imported):
    """(from, to) -> delivery, both directions."""
    found = {}
    for link in tomllib.loads(imported.text)["topology"]["links"]:
        if "delivery" not in link:
            continue  # it is only sensed
        found[link["from"], link["to"]] = link["delivery"]
        if "reverse" in link:
            found[link["to"], link["from"]] = link["reverse"]
    return found


def names_of(imported):
    return [node["name"] for node in tomllib.loads(imported.text)["topology"]["nodes"]]


def meshviewer(links, nodes="abcd", **more):
    """Nodes, and links as (source, target, source_tq, target_tq, type); `more` has keys of single nodes."""
    return {
        "nodes": [{"node_id": n, "is_online": True, **more.get(n, {})} for n in nodes],
        "links": [
            {"source": a, "target": b, "source_tq": s, "target_tq": t, "type": kind} for a, b, s, t, kind in links
        ],
    }
