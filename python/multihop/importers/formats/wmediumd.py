"""wmediumd.cfg of wmediumd, which emulates a medium for mac80211_hwsim (github.com/bcopeland/wmediumd).

`ifaces.ids` are the nodes. Links are read as wmediumd does (its `config.c`):

- `ifaces.links`, or `model.links` with `model.type = "snr"`: signal-to-noise ratios in dB, relative to the
  noise of the engine. At 0 dB and below nothing is delivered, and the pair at most interferes. Unlisted pairs
  have 30 dB.
- `model.links` with `model.type = "prob"`: frame error probabilities; the delivery ratio is the complement.
  Unlisted pairs have `model.default_prob`, or no errors.
- `model.type = "path_loss"`: the ratio follows from `positions` in metres, `tx_powers` in dBm and a law
  (`log_distance`, `free_space`, `itu`) at 2412 MHz, with noise of -91 dBm.
- `prob.matrix_list` of cozybit's older wmediumd: the matrix of the lowest rate, by sender and receiver.

An unlisted direction has the value of the reverse direction, if that is listed. Motion and fading are
ignored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from multihop.base.errors import UserError
from multihop.importers.mesh import NOISE_DBM, Mesh, Node
from multihop.importers.parsing import libconfig
from multihop.importers.parsing.records import BrokenRecordError, json_type, number, objects, text_id

_GROUP = re.compile(r"^[ \t]*ifaces[ \t\r\n]*[:=][ \t\r\n]*\{", re.MULTILINE)

#: Constants of wmediumd: `SNR_DEFAULT`, `NOISE_LEVEL` and `FREQ_1CH`.
_DEFAULT_SNR_DB = 30
_NOISE_DBM = -91
_FREQUENCY_HZ = 2.412e9
_LIGHT_M_S = 2.99792458e8

#: Most nodes, since each pair has a value, listed or not.
_NODES_MAX = 2000

_NOT_TAKEN = ("directions", "fading_coefficient")

_Values = dict[tuple[int, int], float | None]


def matches_text(text: str) -> bool:
    """Whether the text has wmediumd's group of interfaces."""
    return _GROUP.search(text) is not None


def read_text(text: str, origin: str) -> Mesh:
    """Reads interfaces and the links of any model.

    Raises:
        UserError: if the file is none of wmediumd, or has an unknown model.
    """
    settings = libconfig.parse(text, origin)
    interfaces, model = objects(settings, "ifaces"), objects(settings, "model")
    mesh = Mesh("wmediumd", "")
    ids = _list(interfaces.get("ids"), f"{origin}: ifaces.ids")
    if len(ids) > _NODES_MAX:
        raise UserError(f"{origin}: ifaces.ids: found {len(ids)}; needs at most {_NODES_MAX}, since all pairs count")
    names = [text_id(id) or f"interface {at}" for at, id in enumerate(ids)]
    places = _list(model["positions"], f"{origin}: model.positions") if "positions" in model else []
    for at, name in enumerate(names):
        x, y = _pair(places[at]) if at < len(places) else (None, None)
        mesh.add_node(Node(name, label=name, x=x, y=y))
    for key in _NOT_TAKEN:
        if model.get(key):
            mesh.left_out[f"settings of the model that are not taken over ({key})"] += 1
    values = _values(mesh, settings, origin, len(names))
    silent = "directions with a signal-to-noise ratio of 0 dB or less, at which wmediumd delivers nothing"
    for (a, b), value in values.items():
        if mesh.quantity == "rssi" and value is not None and value <= 0.0:
            mesh.left_out[silent] += 1
            mesh.signals[names[a], names[b]] = NOISE_DBM + value
        else:
            there = value if value is None or mesh.quantity == "delivery" else NOISE_DBM + value
            mesh.add_link(names[a], names[b], there)
    return mesh


def _values(mesh: Mesh, settings: dict[str, Any], origin: str, nodes: int) -> _Values:
    """Returns the ratio in dB or the delivery ratio of each direction, and sets the mesh's quantity."""
    interfaces, model = objects(settings, "ifaces"), objects(settings, "model")
    kind = str(model.get("type", "snr"))
    ratio = f"signal-to-noise ratio in dB, over noise of {NOISE_DBM:g} dBm"
    if "prob" in settings:
        mesh.reading = "probability of an error of a frame at the lowest rate: the rest is delivery"
        return _of_matrix(objects(settings, "prob").get("matrix_list"), origin, nodes)
    if "links" in interfaces or kind.startswith("snr"):
        mesh.quantity, mesh.reading = "rssi", f"{ratio}; {_DEFAULT_SNR_DB} dB where none is listed"
        key = "ifaces.links" if "links" in interfaces else "model.links"
        links = interfaces.get("links", model.get("links", []))
        return _listed(mesh, links, f"{origin}: {key}", nodes, _DEFAULT_SNR_DB, lambda snr: float(int(snr)))
    if kind.startswith("prob"):
        default = number(model.get("default_prob", 0.0))
        if default is None or not 0.0 <= default <= 1.0:
            raise UserError(f"{origin}: model.default_prob: found {model['default_prob']!r}; needs 0 to 1")
        mesh.reading = f"probability of an error of a frame, {default:g} where none is listed: the rest is delivery"
        return _listed(mesh, model.get("links", []), f"{origin}: model.links", nodes, 1.0 - default, lambda p: 1.0 - p)
    if kind.startswith("path_loss"):
        mesh.quantity, mesh.reading = "rssi", f"{ratio}, from positions by the law of the model"
        return _of_path_loss(model, origin, nodes)
    raise UserError(f"{origin}: model.type: found {kind[:40]!r}; needs snr, prob or path_loss")


def _listed(
    mesh: Mesh,
    links: Any,  # noqa: ANN401 - any value in a file
    where: str,
    nodes: int,
    default: float,
    reading: Callable[[float], float],
) -> _Values:
    """Returns values of links `(from, to, value)`; an unlisted direction has the reverse one's value."""
    needed = f"needs indexes from 0 to {nodes - 1}"
    found: dict[tuple[int, int], float | None] = {}
    for at, link in enumerate(_list(links, where)):
        with mesh.tally.record():
            if not isinstance(link, list) or len(link) != 3:
                raise BrokenRecordError(f"{where}[{at}]", f"found {str(link)[:40]!r}; needs (from, to, value)")
            a, b, value = link
            if not all(isinstance(end, int) and not isinstance(end, bool) and 0 <= end < nodes for end in (a, b)):
                raise BrokenRecordError(f"{where}[{at}]", f"found {str(link)[:40]!r}; {needed}")
            plain = number(value)
            if plain is None or not math.isfinite(plain):
                raise BrokenRecordError(f"{where}[{at}]", f"found {str(value)[:40]!r}; needs a number as value")
            if a == b:
                mesh.left_out["links from a node to itself"] += 1
                continue
            found[a, b] = reading(plain)
    return {(a, b): found.get((a, b), found.get((b, a), default)) for a in range(nodes) for b in range(nodes) if a != b}


def _of_matrix(matrices: Any, origin: str, nodes: int) -> _Values:  # noqa: ANN401 - any value in a file
    first = next(iter(_list(matrices, f"{origin}: prob.matrix_list")), None)
    if not isinstance(first, list) or len(first) != nodes * nodes:
        raise UserError(
            f"{origin}: prob.matrix_list[0]: found {len(first) if isinstance(first, list) else json_type(first)}; "
            f"needs {nodes * nodes} probabilities, by sender and receiver"
        )
    values = [number(value) for value in first]
    return {
        (a, b): None if (error := values[nodes * a + b]) is None else 1.0 - error
        for a in range(nodes)
        for b in range(nodes)
        if a != b
    }


def _of_path_loss(model: dict[str, Any], origin: str, nodes: int) -> _Values:
    powers = [number(power) for power in _list(model.get("tx_powers"), f"{origin}: model.tx_powers")]
    places = [_pair(place) for place in _list(model.get("positions"), f"{origin}: model.positions")]
    for key, found in (("tx_powers", len(powers)), ("positions", len(places))):
        if found != nodes:
            raise UserError(f"{origin}: model.{key}: found {found}; needs one for each of {nodes} interfaces")
    loss = _law(model, origin)
    values: _Values = {}
    for a, (ax, ay) in enumerate(places):
        for b, (bx, by) in enumerate(places):
            power = powers[a]
            if a == b:
                continue
            if power is None or ax is None or ay is None or bx is None or by is None or (ax, ay) == (bx, by):
                values[a, b] = None
                continue
            # wmediumd truncates both to whole decibels.
            ratio = power - math.trunc(loss(math.dist((ax, ay), (bx, by)))) - _NOISE_DBM
            values[a, b] = float(math.trunc(ratio)) if math.isfinite(ratio) else None
    return values


def _law(model: dict[str, Any], origin: str) -> Callable[[float], float]:
    """Returns path loss in dB by distance in metres."""

    def parameter(key: str) -> float:
        value = number(model.get(key))
        if value is None or not math.isfinite(value) or abs(value) > 1e6:
            raise UserError(f"{origin}: model.{key}: found {str(model.get(key))[:40]!r}; needs a number")
        return value

    at_1m = 20.0 * math.log10(4.0 * math.pi * _FREQUENCY_HZ / _LIGHT_M_S)
    name = str(model.get("model_name", ""))
    if name.startswith("log_distance"):
        exponent, shadowing = parameter("path_loss_exp"), parameter("xg")
        return lambda d: at_1m + 10.0 * exponent * math.log10(d) + shadowing
    if name.startswith("free_space"):
        return lambda d: at_1m + 20.0 * math.log10(d)
    if name.startswith("itu"):
        floors = parameter("LF") * parameter("nFLOORS")
        return lambda d: 20.0 * math.log10(_FREQUENCY_HZ) + (38 if d > 16 else 28) * math.log10(d) + floors - 28.0
    raise UserError(f"{origin}: model.model_name: found {name[:40]!r}; needs log_distance, free_space or itu")


def _pair(place: Any) -> tuple[float | None, float | None]:  # noqa: ANN401 - any value in a file
    """Returns the first two coordinates of a position; a third is the height."""
    return (number(place[0]), number(place[1])) if isinstance(place, list) and len(place) >= 2 else (None, None)


def _list(value: Any, where: str) -> list[Any]:  # noqa: ANN401 - any value in a file
    if not isinstance(value, list):
        raise UserError(f"{where}: found {json_type(value)}; needs a list")
    return value
