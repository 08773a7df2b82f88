"""babeld's local interface (`dump`), and FRR's `show babel neighbor`: the neighbours of a node.

On a link with estimated quality, a cost of Babel is 256 / p with p the share of HELLOs that arrive (RFC 8966,
appendix A.2.2). `rxcost` is of reception from the neighbour, `txcost` of reception there, as the neighbour
reports it. 65535 is infinity: nothing arrives. A cost below 256 is that of an interface without an estimate,
such as a wire (96), and left out. A higher cost may have been raised by configuration, which the file does
not tell.

Dumps of several nodes may follow each other in one file: a neighbour is identified by the address that its
own dump has for an interface. Routes are ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from multihop.importers.mesh import Mesh, Node
from multihop.importers.parsing.records import BrokenRecordError, number
from multihop.importers.reports import Report, Reports

READING = "Babel's costs of reception: a direction delivers 256/cost"

#: Cost of one transmission, and infinite cost.
_ONE = 256.0
_INFINITY = 65535.0

_HEADER = re.compile(r"^\s*BABEL \d", re.MULTILINE)
_FRR = re.compile(r"^\s*Neighbour \S+ dev \S+ reach \S+ rxcost ", re.MULTILINE)
_EVENT = re.compile(r"(add|change|flush) (interface|neighbour|self) (\S+)(.*)")
_FRR_LINE = re.compile(r"Neighbour (\S+) dev (\S+) (reach .*)")


@dataclass
class _Dump:
    """Dump of one node: its name, addresses by interface, and neighbours by their handle."""

    name: str
    addresses: dict[str, str] = field(default_factory=dict)
    neighbours: dict[str, tuple[str, dict[str, str]]] = field(default_factory=dict)


def matches_text(text: str) -> bool:
    """Whether the text is a dump of babeld or FRR."""
    return _HEADER.search(text) is not None or _FRR.search(text) is not None


def read_text(text: str, origin: str) -> Mesh:
    """Reads the neighbours in one or several dumps."""
    mesh = Mesh("babel", READING)
    dumps = _dumps(mesh, text, origin)
    owner = {address: dump.name for dump in dumps for address in dump.addresses.values()}
    for dump in dumps:
        if dump.name not in mesh.nodes:
            mesh.add_node(Node(dump.name, label=dump.name))
    reports = Reports()
    for dump in dumps:
        for where, found in dump.neighbours.values():
            with mesh.tally.record():
                costs = [number(found.get(key)) for key in ("rxcost", "txcost")]
                if "address" not in found or None in costs:
                    raise BrokenRecordError(where, "address, rxcost or txcost is missing; needs all three")
                rx, tx = (cost for cost in costs if cost is not None)
                if min(rx, tx) < _ONE:
                    mesh.left_out["neighbours over interfaces without an estimate of quality (cost below 256)"] += 1
                    continue
                address = _bare(found["address"])
                other = owner.get(address, address)
                if other not in mesh.nodes:
                    mesh.add_node(Node(other, label=other))
                radio = found.get("if")
                reports.add(other, dump.name, Report(_delivery(rx), radio=radio), measured=True)
                reports.add(dump.name, other, Report(_delivery(tx), radio=radio), measured=False)
    return reports.fill(mesh)


def _dumps(mesh: Mesh, text: str, origin: str) -> list[_Dump]:
    dumps: list[_Dump] = []
    for at, line in enumerate(text.splitlines(), 1):
        where, line = f"{origin}:{at}", line.strip()
        if line.startswith("BABEL "):
            dumps.append(_Dump(_nameless(len(dumps))))
        elif line.startswith("host ") and dumps:
            dumps[-1].name = line[5:].strip()[:200] or dumps[-1].name
        elif frr := _FRR_LINE.match(line):
            dumps = dumps or [_Dump(_nameless(0))]
            found = {"address": frr[1], "if": frr[2], **_pairs(frr[3])}
            dumps[-1].neighbours[where] = (where, found)
        elif event := _EVENT.match(line):
            dumps = dumps or [_Dump(_nameless(0))]
            _take(mesh, dumps[-1], event, where)
    return dumps


def _take(mesh: Mesh, dump: _Dump, event: re.Match[str], where: str) -> None:
    kind, what, handle = event[1], event[2], event[3]
    found = _pairs(event[4])
    if what == "interface" and kind != "flush" and "ipv6" in found:
        dump.addresses[handle] = _bare(found["ipv6"])
    elif what == "neighbour":
        if kind == "flush":
            dump.neighbours.pop(handle, None)
        elif len(event[4].split()) % 2:
            mesh.tally.add_broken(where, f"found {event[0][:60]!r}; needs pairs of a key and its value")
        else:
            dump.neighbours[handle] = (where, found)


def _nameless(dumps: int) -> str:
    return "this node" if dumps == 0 else f"node {dumps + 1}"


def _pairs(text: str) -> dict[str, str]:
    words = text.replace(",", " ").rstrip(". ").split()
    return dict(zip(words[::2], words[1::2], strict=False))


def _bare(address: str) -> str:
    """Returns an address without its zone, which is local to its node."""
    return address.partition("%")[0].lower()


def _delivery(cost: float) -> float:
    return 0.0 if cost >= _INFINITY else _ONE / cost
