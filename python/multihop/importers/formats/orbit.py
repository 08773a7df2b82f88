"""Link measurements on the ORBIT grid: CSV with `noise_dbm,tx_x,tx_y,rx_x,rx_y,received,sent`.

Each row counts the probes received by one node of those sent by another, with injected noise of the given
power. Nodes are on a grid with one metre between neighbours. The RSSI of that card is in dB above its own
noise floor, not in dBm, and is not used.
"""

from multihop.base.errors import UserError
from multihop.importers.mesh import Mesh, Node
from multihop.importers.parsing.records import BrokenRecordError, RecordTally
from multihop.importers.parsing.tables import Row, Table

_COLUMNS = {"noise_dbm", "tx_x", "tx_y", "rx_x", "rx_y", "received", "sent"}


def matches(columns: tuple[str, ...]) -> bool:
    """Whether the columns are those of ORBIT measurements."""
    return set(columns) >= _COLUMNS


def read(table: Table, noise_level: float | None) -> Mesh:
    """Reads the links at one noise level, by default the lowest.

    Raises:
        UserError: if that level was not measured, or a row is incomplete.
    """
    found: list[tuple[float, Row]] = []
    tally = RecordTally()
    for row in table.rows:
        with tally.record():
            noise = row.number("noise_dbm")
            if noise is not None:
                found.append((noise, row))
    tally.require_most_sound()
    levels = sorted({noise for noise, _ in found})
    if not levels:
        raise UserError(f"{table.origin}: no row has a noise_dbm; needs rows with noise_dbm")
    level = levels[0] if noise_level is None else noise_level
    if level not in levels:
        known = ", ".join(f"{v:g}" for v in levels)
        raise UserError(f"{table.origin}: --noise-level: found {level:g}; needs one of {known}")
    mesh = Mesh("orbit", f"probes received of those sent, with {level:g} dBm of injected noise", tally=tally)
    for noise, row in found:
        if noise != level:
            mesh.left_out["measurements at other noise levels"] += 1
            continue
        with tally.record():
            sent, received = row.number("sent"), row.number("received")
            if sent is None or received is None or sent <= 0:
                raise BrokenRecordError(row.where, "received or sent is missing; needs counts, sent above 0")
            places = [_place(row, side) for side in ("tx", "rx")]
            ends = [_node(mesh, x, y) for x, y in places]
            mesh.add_link(ends[0], ends[1], received / sent)
    return mesh


def _place(row: Row, side: str) -> tuple[float, float]:
    x, y = row.number(f"{side}_x"), row.number(f"{side}_y")
    if x is None or y is None:
        raise BrokenRecordError(row.where, f"{side}_x or {side}_y is missing; needs the position on the grid")
    return x, y


def _node(mesh: Mesh, x: float, y: float) -> str:
    id = f"{x:g}-{y:g}"
    if id not in mesh.nodes:
        mesh.add_node(Node(id, label=id, x=x, y=y))
    return id
