"""Plain CSV of links, with an optional CSV of nodes: the format for what no other importer reads.

Links: `source,target` and either `delivery` (0 to 1, source to target) with an optional `reverse_delivery`,
or `rssi_dbm` with an optional `reverse_rssi_dbm`; both may be there, and `rate_mbps`, the rate of the link,
and `channel`,
the number of its channel. Nodes: `name` with `lat,lon` (degrees) or `x,y` (metres), and
optionally `gateway` (yes/no).
"""

from multihop.base.errors import UserError
from multihop.importers.mesh import Mesh, Node, Quantity
from multihop.importers.tables import Row, Table

_YES = {"1", "true", "y", "yes"}


def matches(columns: tuple[str, ...]) -> bool:
    """Is this a list of links?"""
    return {"source", "target"} <= set(columns)


def read(table: Table, nodes: Table | None, assume_delivery: float | None) -> Mesh:
    """Reads links and, if given, nodes.

    Raises:
        UserError: if columns are missing, or a row has no ends.
    """
    columns = set(table.columns)
    quantity: Quantity = "delivery"
    if "delivery" in columns:
        value, reverse, reading = "delivery", "reverse_delivery", "delivery probability, as given"
    elif "rssi_dbm" in columns:
        quantity = "rssi"
        value, reverse, reading = "rssi_dbm", "reverse_rssi_dbm", "received power in dBm, as given"
    elif assume_delivery is not None:
        value, reverse, reading = "", "", f"every link is assumed to deliver {assume_delivery:g} in both directions"
    else:
        raise UserError(
            f"{table.origin}:1: links have no quality: found columns {', '.join(table.columns)}; "
            "needs delivery or rssi_dbm, or use --assume-delivery 0.9"
        )
    mesh = Mesh("csv", reading, quantity, assumed=not value, are_named="channel" in columns)
    for row in nodes.rows if nodes else []:
        mesh.add_node(node(row))
    for row in table.rows:
        a, b = row.text("source"), row.text("target")
        if a is None or b is None:
            raise UserError(f"{row.where}: source or target is empty; needs the names of both ends")
        if not nodes:
            for id in (a, b):
                if id not in mesh.nodes:
                    mesh.add_node(Node(id, label=id))
        there, back = (_power(row, column, value) for column in ("rssi_dbm", "reverse_rssi_dbm"))
        rate = row.number("rate_mbps")
        rate = rate * 1e6 if rate is not None and rate > 0.0 else None
        channel = _channel(row) if "channel" in columns else None
        mesh.add_link(a, b, row.number(value) if value else assume_delivery, there, rate, channel)
        if a != b and (not value or reverse in columns):
            mesh.add_link(b, a, row.number(reverse) if reverse else assume_delivery, back, rate, channel)
    return mesh


def _power(row: Row, column: str, value: str) -> float | None:
    """A power beside the quality that is read."""
    return row.number(column) if value != "rssi_dbm" else None


def _channel(row: Row) -> str:
    """The number of a link's channel, in a file that has them."""
    found = row.text("channel")
    if found is None or not found.isdecimal():
        raise UserError(f"{row.where}: channel: found {found or 'nothing'}; needs the number of the link's channel")
    return str(int(found))


def node(row: Row) -> Node:
    """The node of a row.

    Raises:
        UserError: if it has no name.
    """
    id = row.text("name") or row.text("node") or row.text("id")
    if id is None:
        raise UserError(f"{row.where}: name is empty; needs the name that links use")
    return Node(
        id,
        label=id,
        latitude=row.number("lat"),
        longitude=row.number("lon"),
        x=row.number("x"),
        y=row.number("y"),
        gateway=(row.text("gateway") or "").lower() in _YES,
    )
