"""`iw dev IF station dump`: the stations that a node receives, with the power of each.

`signal avg` (else `signal`) is the received power in dBm. The node itself is not named: it is `this node`,
unless `iw dev` or `iw dev IF info` with its address precedes. Dumps of several nodes may follow each other in
one file: a repeated interface is that of another node. If the file lacks the dump of the station, the reverse
direction is taken to have the same power, since path and transmission powers are alike. `iw dev IF link` is
read as well.

`tx bitrate` and `rx bitrate` are rates of the latest frames; the name of their MCS shows the amendment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from multihop.importers.mesh import Mesh, Node
from multihop.importers.parsing.records import BrokenRecordError, number, shown
from multihop.importers.reports import Report, Reports, power_over_noise, unicast_rate

READING = "received power in dBm of each station; the reverse direction as strong where it was not measured"

_SELF = "this node"

_MAC = r"[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}"
_STATION = re.compile(rf"(?:Station|Connected to)\s+({_MAC})\s+\(on\s+([^\s)]+)\)")
_FIRST = re.compile(rf"^\s*(?:Station|Connected to)\s+{_MAC}\s+\(on\s", re.MULTILINE)
_INTERFACE = re.compile(r"Interface\s+(\S+)")
_ADDRESS = re.compile(rf"addr\s+({_MAC})$")
_CHANNEL = re.compile(r"channel\s+(\d+)\s+\(")
_DBM = re.compile(r"(-?\d+(?:\.\d+)?)\s*(?:\[[^\]]*\])?\s*(?:dBm)?$")
_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*MBit/s(.*)")

#: Names of MCS in rates, with the PHY of each, the newest first.
_STANDARDS = (("EHT-MCS", "802.11ax"), ("HE-MCS", "802.11ax"), ("VHT-MCS", "802.11ac"), ("MCS", "802.11n"))
_RANK = ("802.11n", "802.11ac", "802.11ax")


@dataclass
class _Owner:
    """Node whose stations are listed: its addresses and channels by interface."""

    id: str = _SELF
    addresses: dict[str, str] = field(default_factory=dict)
    channels: dict[str, str] = field(default_factory=dict)


@dataclass
class _Station:
    where: str
    owner: _Owner
    address: str
    interface: str
    fields: dict[str, str] = field(default_factory=dict)


def matches_text(text: str) -> bool:
    """Whether the text lists stations as iw does."""
    return _FIRST.search(text) is not None


def read_text(text: str, origin: str) -> Mesh:
    """Reads stations with an established peering."""
    mesh = Mesh("iw", READING, "rssi")
    stations, owners = _stations(text, origin)
    node_of = {address: owner.id for owner in owners for address in owner.addresses.values()}
    for owner in owners:
        if owner.id not in mesh.nodes:
            mesh.add_node(Node(owner.id, label=owner.id))
    # Interfaces of different nodes are related only by their channels.
    known = all(station.interface in station.owner.channels for station in stations)
    several = len({(station.owner.id, station.interface) for station in stations}) > len(owners)
    several = several and (known or len(owners) == 1)
    mesh.are_named = several
    reports = Reports()
    for station in stations:
        with mesh.tally.record():
            _report(mesh, station, node_of, reports, named=several)
    return reports.fill(mesh)


def _report(mesh: Mesh, station: _Station, node_of: dict[str, str], reports: Reports, *, named: bool) -> None:
    fields, own = station.fields, station.owner.id
    texts = [fields.get(key) for key in ("signal avg", "signal")]
    text = next((text for text in texts if text), None)
    if text is None:
        raise BrokenRecordError(station.where, "has no signal; needs the received power in dBm")
    dbm = _DBM.match(text)
    if dbm is None:
        raise BrokenRecordError(station.where, f"signal: found {text[:40]!r}; needs a power in dBm")
    other = node_of.get(station.address, station.address)
    if other not in mesh.nodes:
        mesh.add_node(Node(other, label=other))
    peering = fields.get("mesh plink", "ESTAB")
    if peering != "ESTAB":
        mesh.left_out[f"stations whose peering is {shown(peering)}"] += 1
        return
    power = power_over_noise(number(dbm[1]), None)
    radio = (station.owner.channels.get(station.interface) or station.interface) if named else None
    there, back = (_rate(mesh, fields.get(key, "")) for key in ("tx bitrate", "rx bitrate"))
    reports.add(other, own, Report(power, rate=back, radio=radio), measured=True)
    reports.add(own, other, Report(power, rate=there, radio=radio), measured=False)


def _stations(text: str, origin: str) -> tuple[list[_Station], list[_Owner]]:
    owners = [_Owner()]
    stations: list[_Station] = []
    interface = ""
    for at, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        owner = owners[-1]
        if found := _INTERFACE.match(line):
            interface = found[1]
        elif (found := _ADDRESS.match(line)) and interface:
            address = found[1].lower()
            if owner.addresses.get(interface, address) != address:
                owner = _Owner()
                owners.append(owner)
            owner.addresses[interface] = address
            owner.id = address if owner.id == _SELF else owner.id
        elif (found := _CHANNEL.match(line)) and interface:
            owner.channels[interface] = found[1]
        elif found := _STATION.match(line):
            stations.append(_Station(f"{origin}:{at}", owner, found[1].lower(), found[2]))
        elif stations and ":" in line:
            key, _, value = line.partition(":")
            stations[-1].fields.setdefault(key.strip().lower(), value.strip())
    listed = [owner for owner in owners if any(station.owner is owner for station in stations)]
    return stations, listed


def _rate(mesh: Mesh, text: str) -> float | None:
    """Returns the rate in b/s, and records the 802.11 amendment of its MCS."""
    found = _RATE.match(text)
    if found is None:
        return None
    standard = next((standard for name, standard in _STANDARDS if f" {name} " in f" {found[2]} "), None)
    if standard is not None and (mesh.standard is None or _RANK.index(standard) > _RANK.index(mesh.standard)):
        mesh.standard = standard
    rate = number(found[1])
    return unicast_rate(None if rate is None else rate * 1e6)
