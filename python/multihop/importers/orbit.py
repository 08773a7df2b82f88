"""Link measurements on the ORBIT grid: CSV with `noise_dbm,tx_x,tx_y,rx_x,rx_y,received,sent`.

Each row counts the probes that one node received of those that another sent, while noise of the given power
was injected. Nodes stand on a grid with one metre between neighbours. The RSSI of that card is in dB above
its own noise floor, not in dBm; it is not used.
"""

from multihop.base.errors import UserError
from multihop.importers.mesh import Mesh, Node
from multihop.importers.tables import Row, Table

_COLUMNS = {"noise_dbm", "tx_x", "tx_y", "rx_x", "rx_y", "received", "sent"}


def matches(columns: tuple[str, ...]) -> bool:
    """Is this a list of ORBIT measurements?"""
    return set(columns) >= _COLUMNS


def read(table: Table, noise_level: float | None) -> Mesh:
    """Reads the links at one noise level, by default the lowest.

    Raises:
        UserError: if that level was not measured, or a row is incomplete.
    """
    levels = sorted({level for row in table.rows if (level := row.number("noise_dbm")) is not None})
    if not levels:
        raise UserError(f"{table.origin}: no row has a noise_dbm; there is nothing to read")
    level = levels[0] if noise_level is None else noise_level
    if level not in levels:
        known = ", ".join(f"{v:g}" for v in levels)
        raise UserError(f"{table.origin}: --noise-level: found {level:g}; the file has {known}")
    mesh = Mesh("orbit", f"probes received of those sent, with {level:g} dBm of injected noise")
    for row in table.rows:
        if row.number("noise_dbm") != level:
            mesh.left_out["measurements at other noise levels"] += 1
            continue
        sent, received = row.number("sent"), row.number("received")
        if sent is None or received is None or sent <= 0:
            raise UserError(f"{row.where}: received or sent is missing; needs counts, sent above 0")
        ends = [_node(mesh, row, side) for side in ("tx", "rx")]
        mesh.add_link(ends[0], ends[1], received / sent)
    return mesh


def _node(mesh: Mesh, row: Row, side: str) -> str:
    x, y = row.number(f"{side}_x"), row.number(f"{side}_y")
    if x is None or y is None:
        raise UserError(f"{row.where}: {side}_x or {side}_y is missing; needs the position on the grid")
    id = f"{x:g}-{y:g}"
    if id not in mesh.nodes:
        mesh.add_node(Node(id, label=id, x=x, y=y))
    return id
