"""Plain CSV of links, with an optional CSV of nodes: the format for data that no other importer reads.

Links: `source,target` and either `delivery` (0 to 1, source to target) with an optional `reverse_delivery`,
or `rssi_dbm` with an optional `reverse_rssi_dbm`, or both. Optional are `rate_mbps`, the rate of the link,
and `channel`, the number of its channel. Nodes: `name` with `lat,lon` (degrees) or `x,y` (metres), and
optionally `gateway` (yes/no).
"""

from multihop.base.errors import UserError
from multihop.importers.mesh import Mesh, Node, Quantity
from multihop.importers.parsing.records import BrokenRecordError, shown
from multihop.importers.parsing.tables import Row, Table

_YES = {"1", "true", "y", "yes"}


def matches(columns: tuple[str, ...]) -> bool:
    """Whether the columns are those of links."""
    return {"source", "target"} <= set(columns)


def read(table: Table, nodes: Table | None, assume_delivery: float | None) -> Mesh:
    """Reads links and, if given, nodes.

    Raises:
        UserError: if columns are missing.
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
        with mesh.tally.record():
            mesh.add_node(node(row))
    for row in table.rows:
        with mesh.tally.record():
            _link(mesh, row, (value, reverse) if value else None, assume_delivery, listed=nodes is not None)
    return mesh


def _link(
    mesh: Mesh, row: Row, columns: tuple[str, str] | None, assume_delivery: float | None, *, listed: bool
) -> None:
    """Adds the directions of a row. `columns` are those of the qualities, or `None`."""
    a, b = row.text("source"), row.text("target")
    if a is None or b is None:
        raise BrokenRecordError(row.where, "source or target is empty; needs the names of both ends")
    there, back = (_power(row, column, columns) for column in ("rssi_dbm", "reverse_rssi_dbm"))
    rate = row.number("rate_mbps")
    rate = rate * 1e6 if rate is not None and rate > 0.0 else None
    channel = _channel(row) if mesh.are_named else None
    qualities = [row.number(column) if column in row.columns else None for column in columns or ()]
    for id in () if listed else (a, b):
        if id not in mesh.nodes:
            mesh.add_node(Node(id, label=id))
    mesh.add_link(a, b, qualities[0] if columns else assume_delivery, there, rate, channel)
    if a != b and (columns is None or columns[1] in row.columns):
        mesh.add_link(b, a, qualities[1] if columns else assume_delivery, back, rate, channel)


def _power(row: Row, column: str, columns: tuple[str, str] | None) -> float | None:
    """Returns a power, unless it is itself the quality."""
    return row.number(column) if columns is None or columns[0] != "rssi_dbm" else None


def _channel(row: Row) -> str:
    """Returns the channel number of a link, in a file with channels."""
    found = row.text("channel")
    if found is None or not found.isdecimal():
        raise BrokenRecordError(
            row.where, f"channel: found {shown(found or 'nothing')}; needs the number of the link's channel"
        )
    return str(int(found))


def node(row: Row) -> Node:
    """Returns the node of a row.

    Raises:
        BrokenRecordError: if the row has no name.
    """
    id = row.text("name") or row.text("node") or row.text("id")
    if id is None:
        raise BrokenRecordError(row.where, "name is empty; needs the name that links use")
    return Node(
        id,
        label=id,
        latitude=row.number("lat"),
        longitude=row.number("lon"),
        x=row.number("x"),
        y=row.number("y"),
        gateway=(row.text("gateway") or "").lower() in _YES,
    )
