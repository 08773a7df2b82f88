"""Names of stations in a capture: from a file, from announced networks, and by vendor."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from multihop.base import extras
from multihop.base.errors import UserError
from multihop.simulation.scenario import read_text

_ADDRESS = re.compile(r"[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}", re.IGNORECASE)

#: Bit of the first byte of a locally administered address, as random addresses are.
_LOCAL = 0x02

#: Most characters of a name, and of a vendor.
_MOST_OF_NAME, _MOST_OF_VENDOR = 40, 20


@dataclass(frozen=True)
class StationNames:
    """Names of stations, by address in lower case with colons."""

    given: Mapping[str, str] = field(default_factory=dict)

    def before(self, networks: Mapping[str, str]) -> StationNames:
        """Returns these names, and for other stations the names of the networks that they announce."""
        announced = {address: _printable(name) for address, name in networks.items()}
        return StationNames({**announced, **self.given})

    def short(self, address: str) -> str:
        """Returns a unique name, otherwise the address, for the ends of a link."""
        name = self.given.get(address.lower())
        return name if name is not None and self._stations_of[name] == 1 else address

    @cached_property
    def _stations_of(self) -> Counter[str]:
        return Counter(self.given.values())

    def label(self, address: str) -> str:
        """Returns name and address; without a name, the address with its vendor or "(random)"."""
        name = self.given.get(address.lower())
        if name is not None:
            return f"{name} {address}"
        about = vendor(address)
        return f"{address} {about}" if about else address


def read_names(path: Path) -> StationNames:
    """Reads names of stations: one line for each, with its address, a comma or a space, and its name.

    Empty lines, lines that begin with `#`, and a first line of headings are skipped.

    Raises:
        UserError: if the file cannot be read, or a line has no address or no name.
    """
    made: dict[str, str] = {}
    for number, line in enumerate(read_text(path, "names of stations").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        address, _, name = line.strip().replace(",", " ", 1).partition(" ")
        address, name = address.strip('"'), name.strip().strip('"')
        if not _ADDRESS.fullmatch(address):
            if number == 1 and re.search("address|mac", line, re.IGNORECASE):
                continue
            raise UserError(
                f"{path}:{number}: found {line!r}; needs an address and a name, as in 00:11:22:33:44:55 roof"
            )
        if not name:
            raise UserError(f"{path}:{number}: {address} has no name; write it after the address")
        made[address.lower().replace("-", ":")] = name[:_MOST_OF_NAME]
    return StationNames(made)


def _printable(name: str) -> str:
    r"""Returns a name on one line: it is untrusted, and may contain line breaks."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


@cache
def vendor(address: str) -> str:
    """Returns the vendor of an address in brackets, or that it is random; empty if neither is known.

    Vendors are from the IEEE registry in netaddr; without netaddr, none are known.
    """
    if not _ADDRESS.fullmatch(address):
        return ""
    if int(address[:2], 16) & _LOCAL:
        return "(random)"
    if not extras.has("vendors"):
        return ""
    import netaddr

    try:
        found = str(netaddr.EUI(address).oui.registration().org)
    except netaddr.NotRegisteredError:
        return ""
    return f"({found[:_MOST_OF_VENDOR].strip(' ,.')})" if found else ""
