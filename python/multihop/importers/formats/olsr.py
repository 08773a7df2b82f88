"""OLSR: olsrd's jsoninfo, its txtinfo, and CSV exports of its links with link qualities.

OLSR counts HELLO messages: a node's *link quality* (LQ) is the share of the neighbour's HELLOs that it
received, and the *neighbour link quality* (NLQ) the share of its own that the neighbour received. So NLQ is
the delivery ratio from the node to the neighbour, and LQ that of the reverse link. HELLOs are short
broadcasts at a low basic rate.
"""

import re
from collections.abc import Iterable
from typing import Any

from multihop.base.errors import UserError
from multihop.importers.mesh import Mesh, Node
from multihop.importers.parsing.records import BrokenRecordError, json_records, number, shown, text_id
from multihop.importers.parsing.tables import Row, Table
from multihop.importers.reports import power_over_noise, unicast_rate

READING = "OLSR link quality: NLQ is delivery towards the neighbour, LQ of the reverse link"

#: Band of interfaces whose name has none.
_LOWER_BAND = "2.4 GHz"
_BAND = re.compile(r"(?:-|mesh|adhoc|radio)(2(?:[.]?4)?|5)(?:g(?:hz)?)?$", re.IGNORECASE)

#: First line of a table of txtinfo, and names of columns, some of which contain a space.
_TABLE = re.compile(r"^[ \t]*Table: *(\S[^\t\r\n]*?)[ \t\r]*$", re.MULTILINE)
_COLUMN = re.compile(r"Dest\. IP|Last hop IP|Local IP|Remote IP|IP address|\S+")
_VALIDITY = re.compile(r":\d+\.\d{3}$")

#: Address, address of the neighbour, LQ and NLQ.
_Row = tuple[str, str, float | None, float | None]

_WIRELESS = re.compile(r"^(wlan|wl|ath|wifi|mesh|radio|adhoc|ra)\d*", re.IGNORECASE)


def matches(data: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether the value is output of the jsoninfo plugin."""
    if not isinstance(data, dict):
        return False
    return any(
        isinstance(data.get(key), list) and any(isinstance(e, dict) and "linkQuality" in e for e in data[key])
        for key in ("topology", "links")
    )


def read(data: dict[str, Any], origin: str) -> Mesh:
    """Reads the topology table; if the table is absent or empty, reads the node's own links.

    Addresses in the `mid` table are aliases of their node. jsoninfo does not tell which interfaces are
    wireless: all are read.

    Raises:
        UserError: if the table is no list.
    """
    mesh = Mesh("olsr", READING)
    key, ends = ("topology", ("lastHopIP", "destinationIP"))
    if not data.get("topology"):
        key, ends = ("links", ("localIP", "remoteIP"))
    rows: list[_Row] = []
    for where, row in json_records(mesh.tally, data.get(key), origin, key):
        with mesh.tally.record():
            a, b = (text_id(row.get(end)) for end in ends)
            if a is None or b is None:
                raise BrokenRecordError(where, f"{ends[0]} or {ends[1]} is missing; needs both addresses")
            rows.append((a, b, number(row.get("linkQuality")), number(row.get("neighborLinkQuality"))))
    return _filled(mesh, rows, _main_addresses(data))


def matches_text(text: str) -> bool:
    """Whether the text is output of the txtinfo plugin."""
    return _TABLE.search(text) is not None


def read_text(text: str, origin: str) -> Mesh:
    """Reads the tables of txtinfo: Topology, or the node's own Links without one.

    Addresses in the table MID are aliases of their node. Own links over interfaces that are not WLAN, by the
    table Interfaces, are left out. Other tables are ignored.

    Raises:
        UserError: if no table has links with LQ and NLQ.
    """
    mesh = Mesh("olsr", READING)
    tables = _text_tables(text, origin)
    main = {
        _bare(alias): _bare(cells[0])
        for _, cells in tables.get("MID", ((), []))[1]
        for cell in cells[1:]
        for alias in cell.split(";")
        if alias
    }
    wired = {cells[4] for _, cells in tables.get("Interfaces", ((), []))[1] if len(cells) > 4 and cells[3] == "No"}
    for name, ends in (("Topology", ("Last hop IP", "Dest. IP")), ("Links", ("Local IP", "Remote IP"))):
        columns, lines = tables.get(name, ((), []))
        if not lines or not {*ends, "LQ", "NLQ"} <= set(columns):
            continue
        at = {column: columns.index(column) for column in (*ends, "LQ", "NLQ")}
        rows: list[_Row] = []
        for where, cells in lines:
            with mesh.tally.record():
                if len(cells) < len(columns):
                    needed = f"the table {name} has {len(columns)} columns"
                    raise BrokenRecordError(where, f"found {len(cells)} cells; {needed}")
                a, b, lq, nlq = (cells[at[column]] for column in at)
                if a in wired:
                    mesh.left_out["links over wires, bridges or tunnels"] += 1
                    continue
                rows.append((a, b, number(lq), number(nlq)))
        return _filled(mesh, rows, main)
    found = shown(", ".join(tables), 80)
    raise UserError(f"{origin}: found the tables {found}; needs rows of Topology or Links with LQ and NLQ")


def _filled(mesh: Mesh, rows: Iterable[_Row], main: dict[str, str]) -> Mesh:
    """Fills a mesh with the links of rows of address, address of the neighbour, LQ and NLQ."""
    pairs = [(main.get(a, a), main.get(b, b), lq, nlq) for a, b, lq, nlq in rows]
    for id in dict.fromkeys(id for a, b, *_ in pairs for id in (a, b)):
        mesh.add_node(Node(id, label=id))
    for a, b, lq, nlq in pairs:
        mesh.add_link(a, b, nlq)
        if a != b:
            mesh.add_link(b, a, lq)
    return mesh


def _text_tables(text: str, origin: str) -> dict[str, tuple[tuple[str, ...], list[tuple[str, list[str]]]]]:
    """Returns the columns and rows of each table, each row with its place. A blank line ends a table."""
    found: dict[str, tuple[tuple[str, ...], list[tuple[str, list[str]]]]] = {}
    name, columns = None, False
    for at, line in enumerate(text.splitlines(), 1):
        begin = _TABLE.match(line)
        if begin:
            name, columns = begin[1], False
        elif not line.strip():
            # A blank line before the column names does not end a table.
            name = None if columns else name
        elif name is not None and not columns:
            found.setdefault(name, (tuple(_COLUMN.findall(line)), []))
            columns = True
        elif name is not None:
            found[name][1].append((f"{origin}:{at}", line.split()))
    return found


def _bare(address: str) -> str:
    """Returns an address of the table MID without its validity time."""
    return _VALIDITY.sub("", address)


def matches_csv(columns: tuple[str, ...]) -> bool:
    """Whether the columns are those of OLSR links."""
    return {"src", "dst", "lq", "nlq"} <= set(columns)


def read_csv(table: Table, nodes: Table | None) -> Mesh:
    """Reads links with `src, dst, lq, nlq`; `nodes` may have `node, lat, lon`.

    With a column `ifname`, links over an interface that is not wireless, or not named, are left out. If names
    end in a band, such as `wlan1-mesh-5`, links of 2.4 and 5 GHz are of different radios. The ratio of
    `signal_dbm` to `noise_dbm`, measured by `src` for reception from `dst`, is the power. `tx_rate_kbps` and
    `rx_rate_kbps` are rates of the latest frames; 1 Mb/s or less is a broadcast rate, which is ignored. A
    column with MCS shows that the links are 802.11n.
    """
    mesh = Mesh("olsr", READING)
    for row in nodes.rows if nodes else []:
        with mesh.tally.record():
            id = row.text("node") or row.text("id") or row.text("name")
            if id is None:
                raise BrokenRecordError(row.where, "node is empty; needs the id that links use")
            mesh.add_node(Node(id, label=id, latitude=row.number("lat"), longitude=row.number("lon")))
    for row in table.rows:
        with mesh.tally.record():
            _csv_link(mesh, row, listed=nodes is not None)
    return mesh


def _csv_link(mesh: Mesh, row: Row, *, listed: bool) -> None:
    a, b, interface = row.text("src"), row.text("dst"), row.text("ifname")
    if a is None or b is None:
        raise BrokenRecordError(row.where, "src or dst is empty; needs the ids of both ends")
    lq, nlq, signal, noise = (row.number(column) for column in ("lq", "nlq", "signal_dbm", "noise_dbm"))
    rates = [_rate(row, column) for column in ("tx_rate_kbps", "rx_rate_kbps")]
    for id in () if listed else (a, b):
        if id not in mesh.nodes:
            mesh.add_node(Node(id, label=id))
    if "ifname" in row.columns:
        if interface is None:
            mesh.left_out["links over an interface without a name"] += 1
            return
        if not _WIRELESS.match(interface):
            mesh.left_out["links over wires, bridges or tunnels"] += 1
            return
    if any(row.text(column) is not None for column in ("tx_mcs", "rx_mcs")):
        mesh.standard = "802.11n"
    band = _band(interface)
    mesh.are_named |= band is not None
    radio = band or _LOWER_BAND
    mesh.add_link(a, b, nlq, rate=rates[0], radio=radio)
    if a != b:
        mesh.add_link(b, a, lq, power_over_noise(signal, noise), rates[1], radio)


def _band(interface: str | None) -> str | None:
    """Returns the band in the name of an interface, such as `wlan0-adhoc-2`, `wlan1-mesh-5` or `mesh5`."""
    found = _BAND.search(interface or "")
    return None if found is None else _LOWER_BAND if found[1].startswith("2") else "5 GHz"


def _rate(row: Row, column: str) -> float | None:
    kbps = row.number(column)
    return None if kbps is None else unicast_rate(kbps * 1e3)


def _main_addresses(data: dict[str, Any]) -> dict[str, str]:
    """Returns main addresses by alias. Newer versions of jsoninfo nest addresses."""
    found: dict[str, str] = {}
    mid = data.get("mid")
    for entry in mid if isinstance(mid, list) else []:
        if not isinstance(entry, dict):
            continue
        main = _address(entry.get("main", entry.get("ipAddress")))
        aliases = entry.get("aliases")
        for alias in aliases if isinstance(aliases, list) else []:
            address = _address(alias)
            if main and address:
                found[address] = main
    return found


def _address(value: Any) -> str | None:  # noqa: ANN401 - any JSON value
    return text_id(value.get("ipAddress")) if isinstance(value, dict) else text_id(value)
