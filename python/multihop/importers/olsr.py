"""OLSR: olsrd's jsoninfo, and CSV exports of its links with link qualities.

OLSR counts HELLO messages: a node's *link quality* (LQ) is the share of the neighbour's HELLOs that it
received, and the *neighbour link quality* (NLQ) the share of its own that the neighbour received. So NLQ is
the delivery probability from the node to the neighbour, and LQ that of the reverse link. HELLOs are short
broadcasts at a low basic rate.
"""

import re
from typing import Any

from multihop.base.errors import UserError
from multihop.importers.mesh import NOISE_DBM, Mesh, Node, number, records, text_id
from multihop.importers.tables import Row, Table

READING = "OLSR link quality: NLQ is delivery towards the neighbour, LQ of the reverse link"

#: The rate of broadcasts at 2.4 GHz, which drivers name where a link is idle.
_BROADCAST_KBPS = 1_000.0

#: What interfaces without a band in their name count as.
_LOWER_BAND = "2.4 GHz"
_BAND = re.compile(r"(?:-|mesh|adhoc|radio)(2(?:[.]?4)?|5)(?:g(?:hz)?)?$", re.IGNORECASE)

_WIRELESS = re.compile(r"^(wlan|wl|ath|wifi|mesh|radio|adhoc|ra)\d*", re.IGNORECASE)


def matches(data: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Does this look like the output of the jsoninfo plugin?"""
    if not isinstance(data, dict):
        return False
    return any(
        isinstance(data.get(key), list) and any(isinstance(e, dict) and "linkQuality" in e for e in data[key])
        for key in ("topology", "links")
    )


def read(data: dict[str, Any], origin: str) -> Mesh:
    """Reads the topology table; if there is none, the node's own links.

    Addresses that the `mid` table lists as aliases count as the node that they belong to. jsoninfo does not
    say which interfaces are wireless: all are taken.

    Raises:
        UserError: if a row lacks an address.
    """
    mesh = Mesh("olsr", READING)
    main = _main_addresses(data)
    key, ends = ("topology", ("lastHopIP", "destinationIP"))
    if not data.get("topology"):
        key, ends = ("links", ("localIP", "remoteIP"))
    rows = records(data.get(key), origin, key)
    pairs = []
    for index, row in enumerate(rows):
        a, b = (text_id(row.get(end)) for end in ends)
        if a is None or b is None:
            raise UserError(f"{origin}: {key}[{index}]: {ends[0]} or {ends[1]} is missing; needs both addresses")
        pairs.append((main.get(a, a), main.get(b, b), row))
    for id in dict.fromkeys(id for a, b, _ in pairs for id in (a, b)):
        mesh.add_node(Node(id, label=id))
    for a, b, row in pairs:
        mesh.add_link(a, b, number(row.get("neighborLinkQuality")))
        if a != b:
            mesh.add_link(b, a, number(row.get("linkQuality")))
    return mesh


def matches_csv(columns: tuple[str, ...]) -> bool:
    """Is this a list of OLSR links?"""
    return {"src", "dst", "lq", "nlq"} <= set(columns)


def read_csv(table: Table, nodes: Table | None) -> Mesh:
    """Reads links with `src, dst, lq, nlq`; `nodes` may give `node, lat, lon`.

    If there is an `ifname`, links over an interface that is not wireless, or not named, are left out; where
    names end in a band, as `wlan1-mesh-5` does, links of 2.4 and 5 GHz are those of different radios. Of a
    row's `signal_dbm` and `noise_dbm`, which `src` measures of what `dst` sends, the ratio is taken;
    `tx_rate_kbps` and `rx_rate_kbps` are the rates of the latest frames, which of 1 Mb/s or less is that of a
    broadcast, not of the link. MCS say the same as the rates: that there are any says that these are links of
    802.11n.

    Raises:
        UserError: if a row has no ends.
    """
    mesh = Mesh("olsr", READING)
    for row in nodes.rows if nodes else []:
        id = row.text("node") or row.text("id")
        if id is None:
            raise UserError(f"{row.where}: node is empty; needs the id that links use")
        mesh.add_node(Node(id, label=id, latitude=row.number("lat"), longitude=row.number("lon")))
    for row in table.rows:
        a, b = row.text("src"), row.text("dst")
        if a is None or b is None:
            raise UserError(f"{row.where}: src or dst is empty; needs the ids of both ends")
        if not nodes:
            for id in (a, b):
                if id not in mesh.nodes:
                    mesh.add_node(Node(id, label=id))
        interface = row.text("ifname")
        if "ifname" in table.columns:
            if interface is None:
                mesh.left_out["links over an interface without a name"] += 1
                continue
            if not _WIRELESS.match(interface):
                mesh.left_out["links over wires, bridges or tunnels"] += 1
                continue
        if any(row.text(column) is not None for column in ("tx_mcs", "rx_mcs")):
            mesh.standard = "802.11n"
        band = _band(interface)
        mesh.are_named |= band is not None
        radio = band or _LOWER_BAND
        mesh.add_link(a, b, row.number("nlq"), rate=_rate(row, "tx_rate_kbps"), radio=radio)
        if a != b:
            mesh.add_link(b, a, row.number("lq"), _power(row), _rate(row, "rx_rate_kbps"), radio)
    return mesh


def _band(interface: str | None) -> str | None:
    """The band that an interface is named after, as `wlan0-adhoc-2`, `wlan1-mesh-5` and `mesh5` are."""
    found = _BAND.search(interface or "")
    return None if found is None else _LOWER_BAND if found[1].startswith("2") else "5 GHz"


def _power(row: Row) -> float | None:
    """Power of what arrives, with the engine's noise instead of that of the card."""
    signal, noise = row.number("signal_dbm"), row.number("noise_dbm")
    if signal is None or not -120.0 <= signal < 0.0:
        return None
    return signal + (NOISE_DBM - noise if noise is not None and -110.0 <= noise < signal else 0.0)


def _rate(row: Row, column: str) -> float | None:
    kbps = row.number(column)
    return kbps * 1e3 if kbps is not None and kbps > _BROADCAST_KBPS else None


def _main_addresses(data: dict[str, Any]) -> dict[str, str]:
    """Alias -> main address. jsoninfo nests addresses in newer versions."""
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
