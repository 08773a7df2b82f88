"""CNML, the community network markup language of guifi.net: nodes, their devices, radios and links.

The file lists links without their quality. Nodes and links of status `Working` are read. Planned, built,
tested or inactive ones are left out, and so are cables. A link is in the file twice, once at each end. If
every link has the channel of one of its radios, in MHz or by number, links of different channels are of
different radios. Positions are latitude and longitude; `antenna_elevation` in metres is not used, since
positions of a scenario have no height.
"""

from __future__ import annotations

from multihop.base.errors import UserError
from multihop.importers.mesh import Mesh, Node
from multihop.importers.parsing.geography import coordinates
from multihop.importers.parsing.records import BrokenRecordError, shown
from multihop.importers.parsing.xml_tree import Element

_WORKING = "working"

#: Types of radio links.
_WIRELESS = {"ap/client", "wds", "wds/p2p", "mesh", "wlan", "wireless"}

#: Amendments of radios, the newest first.
_STANDARDS = ("802.11ax", "802.11ac", "802.11n", "802.11a", "802.11g", "802.11b")

Link = dict[str, str]


def matches(root: str) -> bool:
    """Whether the root element is that of CNML."""
    return root == "cnml"


def read(root: Element, origin: str, assume_delivery: float | None) -> Mesh:
    """Reads working nodes and links, with the same delivery ratio for all.

    Raises:
        UserError: if no delivery ratio is assumed.
    """
    if assume_delivery is None:
        raise UserError(f"{origin}: links have no quality in CNML; use --assume-delivery 0.9 to give all the same")
    mesh = Mesh("cnml", f"every link is assumed to deliver {assume_delivery:g} in both directions", assumed=True)
    out_of_work: set[str] = set()
    links: list[tuple[str, Link]] = []
    protocols: set[str] = set()
    for element in (element for element in root.all() if element.name == "node"):
        with mesh.tally.record():
            id = element.attributes.get("id", "").strip()
            if not id:
                raise BrokenRecordError(element.where, "<node> has no id; needs the one that links use")
            status = element.attributes.get("status", "Working").strip()
            if status.lower() != _WORKING:
                mesh.omit_node(f"nodes of status {shown(status)}")
                out_of_work.add(id)
                continue
            latitude, longitude = coordinates(element.attributes)
            mesh.add_node(Node(id, element.attributes.get("title", "").strip(), latitude, longitude))
            links += _links_of(element, id)
            protocols |= {e.attributes.get("protocol", "").strip() for e in element.all() if e.name == "radio"}
    _add(mesh, _joined(mesh, links, out_of_work), assume_delivery)
    known = next((standard for standard in _STANDARDS if standard in protocols), None)
    # If all radios have one amendment, it is that of the scenario.
    mesh.standard = known if len(protocols - {""}) == 1 else None
    return mesh


def _links_of(node: Element, id: str) -> list[tuple[str, Link]]:
    """Returns the links of a node, each with its place, its node, and the channel of its radio."""
    found = []
    stack = [(node, "")]
    while stack:
        element, channel = stack.pop()
        if element.name == "radio":
            channel = element.attributes.get("channel", "")
        if element.name == "link":
            found.append((element.where, {**element.attributes, "node": id, "channel": channel}))
        stack += [(child, channel) for child in reversed(element.children)]
    return found


def _joined(mesh: Mesh, links: list[tuple[str, Link]], out_of_work: set[str]) -> list[tuple[str, str, str]]:
    """Returns both nodes and the channel of each working radio link; a link has the same id at both ends."""
    found: dict[str, tuple[str, str, str]] = {}
    left: dict[str, str] = {}
    for where, link in links:
        with mesh.tally.record():
            other = link.get("linked_node_id", "").strip()
            if not other:
                raise BrokenRecordError(where, "<link> has no linked_node_id; needs the id of the other node")
            id = link.get("id") or f"{min(link['node'], other)} {max(link['node'], other)}"
            kind = link.get("link_type", "").strip().lower()
            states = [link.get(key, "Working").strip() for key in ("link_status", "linked_status")]
            state = next((state for state in states if state.lower() != _WORKING), None)
            if kind and kind not in _WIRELESS:
                left[id] = f"links of type {shown(kind)}"
            elif state is not None:
                left[id] = f"links of status {shown(state)}"
            elif other in out_of_work:
                left[id] = "links to nodes that do not work"
            else:
                known = found.get(id)
                channel = _channel(link["channel"]) or (known[2] if known else "")
                found[id] = (known[0], known[1], channel) if known else (link["node"], other, channel)
    for id, why in left.items():
        if id not in found:
            mesh.left_out[why] += 1
    return list(found.values())


def _add(mesh: Mesh, links: list[tuple[str, str, str]], delivery: float) -> None:
    named = bool(links) and all(channel for *_, channel in links)
    mesh.are_named = named
    for a, b, channel in links:
        mesh.add_link(a, b, delivery, radio=channel if named else None)
        if a != b:
            mesh.add_link(b, a, delivery, radio=channel if named else None)


def _channel(text: str) -> str:
    """Returns a channel number, given as such or as a centre frequency in MHz; empty for other text.

    Centre frequencies are those of IEEE 802.11-2020, 15.4.4.3 and 17.3.8.4.2.
    """
    text = text.strip()
    if not text.isdecimal() or len(text) > 4:
        return ""
    value = int(text)
    if value == 2484:
        return "14"
    if 2412 <= value <= 2472:
        return str((value - 2407) // 5)
    if 5000 < value < 5900:
        return str((value - 5000) // 5)
    return str(value) if 0 < value < 200 else ""
