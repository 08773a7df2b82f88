"""sysinfo.json of AREDN nodes (`/a/sysinfo?link_info=1&lqm=1`), of one node or a list of several.

The quality of a link of type RF is the first of these that the file has:

- `linkQuality` and `neighborLinkQuality` (firmware with OLSR): delivery from the neighbour and towards it;
- `lq` and `rev_lq` of the Link Quality Manager (firmware with Babel): per cent of HELLOs that arrive here and
  at the neighbour;
- `signal` over `noise` in dB, or `snr` and `rev_snr`: power, relative to the noise of the engine; the reverse
  direction has the same power if it is unknown.

Links of type DTD, TUN and others are wires or tunnels. `tx_rate` and `rx_rate` are in Mb/s. Positions are
those of the node, and of neighbours if the Link Quality Manager has them. `nodes` and `hosts` only list
names, and are ignored.
"""

from __future__ import annotations

import re
from typing import Any

from multihop.base.errors import UserError
from multihop.importers.mesh import NOISE_DBM, Mesh, Node
from multihop.importers.parsing.geography import Coordinates, coordinates
from multihop.importers.parsing.records import BrokenRecordError, json_records, number, objects, shown, text_id
from multihop.importers.reports import Report, Reports, power_over_noise, unicast_rate

#: Prefixes and suffixes of host names around the node's name.
_PREFIX = re.compile(r"^(?:mid\d+|dtdlink|xlink\d*)\.", re.IGNORECASE)
_SUFFIX = re.compile(r"\.local\.mesh\.?$|\.mesh\.?$", re.IGNORECASE)

_READINGS = {
    "olsr": "OLSR link quality: neighborLinkQuality is delivery towards the neighbour, linkQuality of the reverse link",
    "lqm": "per cent of HELLOs that arrive, as delivery: lq from the neighbour, rev_lq towards it",
    "snr": f"signal over noise in dB, over noise of {NOISE_DBM:g} dBm; the reverse direction as strong where unknown",
}

#: Type of a radio link.
_RADIO = "RF"

#: Channel width of the scenario in MHz.
_WIDTH_MHZ = 20.0


def matches(data: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether the value is a sysinfo.json, or a list of several."""
    if isinstance(data, list):
        return any(map(matches, data[:10])) if not any(isinstance(item, list) for item in data[:10]) else False
    return isinstance(data, dict) and "node" in data and bool({"meshrf", "link_info", "api_version"} & data.keys())


def read(data: Any, origin: str) -> Mesh:  # noqa: ANN401 - any JSON value
    """Reads the radio links of each node.

    Raises:
        UserError: if no node has a list of links.
    """
    mesh = Mesh("aredn", "")
    items = [(origin, data)] if isinstance(data, dict) else list(json_records(mesh.tally, data, origin, "nodes"))
    links: list[tuple[str, str, dict[str, Any]]] = []
    places: dict[str, Coordinates] = {}
    labels: dict[str, str] = {}
    widths: set[float] = set()
    asked = False
    for where, item in items:
        with mesh.tally.record():
            own = _name(item.get("node"))
            if own is None:
                raise BrokenRecordError(where, "has no node; needs the name of the node")
            labels[_id(own)] = own
            places[_id(own)] = coordinates(item.get("location"), item)
            widths |= {width for radio in _radios(item) if (width := number(radio.get("chanbw"))) is not None}
        asked = asked or "link_info" in item or bool(objects(item, "lqm", "info"))
        links += [(place, own, link) for place, link in _links(item, where)] if own is not None else []
    if not asked:
        raise UserError(f"{origin}: has no link_info; fetch it with ?link_info=1&lqm=1")
    radio_of = {_id(own): _channels(item) for _, item in items if (own := _name(item.get("node"))) is not None}
    wireless = _by_radio(mesh, links)
    kind = _kind([link for *_, link in wireless])
    mesh.quantity = "rssi" if kind == "snr" else "delivery"
    narrow = sorted(width for width in widths if width != _WIDTH_MHZ)
    mesh.reading = _READINGS[kind] + (
        f"; channels of {', '.join(f'{width:g}' for width in narrow)} MHz are simulated as {_WIDTH_MHZ:g} MHz"
        if narrow
        else ""
    )
    for *_, other, link in wireless:
        labels.setdefault(_id(other), other)
        if places.get(_id(other), (None, None)) == (None, None):
            places[_id(other)] = coordinates(link)
    for id, label in labels.items():
        latitude, longitude = places.get(id, (None, None))
        mesh.add_node(Node(id, label, latitude, longitude))
    mesh.are_named = any(len(channels) > 1 for channels in radio_of.values())
    reports = Reports()
    for where, own, other, link in wireless:
        with mesh.tally.record():
            _report(reports, kind, _id(own), _id(other), link, where, radio_of[_id(own)])
    return reports.fill(mesh)


def _by_radio(mesh: Mesh, links: list[tuple[str, str, dict[str, Any]]]) -> list[tuple[str, str, str, dict[str, Any]]]:
    """Returns place, node, neighbour and data of each radio link; other links are left out."""
    found = []
    for where, own, link in links:
        kind = str(link.get("linkType", link.get("type", ""))).upper()
        if not kind:
            kind = _RADIO if str(link.get("olsrInterface", "")).startswith("wlan") else "none"
        if kind != _RADIO:
            mesh.left_out[f"links of type {shown(kind)}"] += 1
            continue
        with mesh.tally.record():
            other = _name(link.get("hostname")) or _name(link.get("address"))
            if other is None:
                raise BrokenRecordError(where, "has no hostname; needs the name of the neighbour")
            if link.get("blocked") is True or link.get("user_blocks") is True:
                mesh.left_out["links that the node blocks"] += 1
                continue
            found.append((where, own, other, link))
    return found


def _links(item: dict[str, Any], where: str) -> list[tuple[str, dict[str, Any]]]:
    """Returns the links of a node: those of `link_info`, with data of the Link Quality Manager."""
    trackers = [tracker for tracker in objects(item, "lqm", "info", "trackers").values() if isinstance(tracker, dict)]
    if not isinstance(item.get("link_info"), dict):
        return [(f"{where}: lqm.info.trackers[{at}]", tracker) for at, tracker in enumerate(trackers)]
    known = {
        (_id(name), str(tracker.get("type", "")).upper()): tracker
        for tracker in trackers
        if (name := _name(tracker.get("hostname"))) is not None
    }
    found = []
    for address, info in item["link_info"].items():
        link = info if isinstance(info, dict) else {}
        key = (_id(_name(link.get("hostname")) or address), str(link.get("linkType", "")).upper())
        found.append((f"{where}: link_info[{address[:60]!r}]", {**known.get(key, {}), **link, "address": address}))
    return found


def _kind(links: list[dict[str, Any]]) -> str:
    def any_has(*keys: str) -> bool:
        return any(number(link.get(key)) is not None for link in links for key in keys)

    if any_has("linkQuality", "neighborLinkQuality"):
        return "olsr"
    return "lqm" if any_has("lq", "rev_lq") else "snr"


def _report(
    reports: Reports, kind: str, own: str, other: str, link: dict[str, Any], where: str, channels: dict[str, str]
) -> None:
    """Adds a node's data on both directions of a link."""
    snr, back_snr = number(link.get("snr")), number(link.get("rev_snr"))
    power = power_over_noise(number(link.get("signal")), number(link.get("noise")))
    power = NOISE_DBM + snr if power is None and snr is not None else power
    there = NOISE_DBM + back_snr if back_snr is not None else None
    if kind == "olsr":
        arriving, leaving = number(link.get("linkQuality")), number(link.get("neighborLinkQuality"))
    elif kind == "lqm":
        arriving, leaving = (
            None if (share := number(link.get(key))) is None else share / 100.0 for key in ("lq", "rev_lq")
        )
    else:
        if power is None and there is None:
            raise BrokenRecordError(where, "has no signal; needs the received power in dBm")
        arriving, leaving = power, power if there is None else there
    rates = [
        unicast_rate(None if (rate := number(link.get(key, link.get(also)))) is None else rate * 1e6)
        for key, also in (("rx_rate", "rx_bitrate"), ("tx_rate", "tx_bitrate"))
    ]
    interface = text_id(link.get("olsrInterface", link.get("interface", link.get("device"))))
    radio = channels.get(interface or "", interface) if len(channels) > 1 else None
    reports.add(other, own, Report(arriving, power, rates[0], radio), measured=True)
    reports.add(own, other, Report(leaving, there, rates[1], radio), measured=False)


def _radios(item: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the active radios of the mesh: `meshrf`, `meshrf1`, and so on, or a list of them."""
    found: list[dict[str, Any]] = []
    for key, value in item.items():
        if key.startswith("meshrf"):
            radios = value if isinstance(value, list) else [value]
            found += [radio for radio in radios if isinstance(radio, dict) and radio.get("status") != "off"]
    return found


def _channels(item: dict[str, Any]) -> dict[str, str]:
    """Returns the channel of each radio by its interface."""
    found = {}
    for radio in _radios(item):
        interface, channel = text_id(radio.get("iface")), text_id(radio.get("channel"))
        if interface is not None and channel is not None:
            found[interface] = channel
    return found


def _name(value: Any) -> str | None:  # noqa: ANN401 - any JSON value
    """Returns a node's own name."""
    text = text_id(value)
    return None if text is None else _PREFIX.sub("", _SUFFIX.sub("", text)) or None


def _id(name: str) -> str:
    """Returns the id of a host name, which ignores case."""
    return name.upper()
