"""Rates of links, where a file knows them, as rates of the PHY in use."""

from __future__ import annotations

import re

from multihop.importers.mesh import Mesh
from multihop.simulation.scenario import registered

_UNITS = {"b": 1.0, "kb": 1e3, "Mb": 1e6, "Gb": 1e9}
_RATE = re.compile(r"\s*([0-9.]+)\s*(b|kb|Mb|Gb)/s\s*")


def link_rates(mesh: Mesh, standard: str, data_rate: str | None) -> tuple[dict[tuple[str, str], float], str | None]:
    """Rates of links in b/s that are slower than the data rate, and a line on what became of those in the file.

    A link has the lower rate of its directions, and of the PHY's rates the highest that is not above it. What is faster
    than the data rate stays at that.
    """
    given = sorted({(min(pair), max(pair)) for pair in mesh.rates if pair in mesh.links})
    phy = next((phy for phy in registered()["phys"] if phy["name"] == standard), None)
    if not given or phy is None:
        return {}, None
    known = sorted(phy["rates_bps"])
    nominal = _bps(data_rate) or known[-1]
    made: dict[tuple[str, str], float] = {}
    for a, b in given:
        rate = min(mesh.rates[pair] for pair in ((a, b), (b, a)) if pair in mesh.rates and pair in mesh.links)
        nearest = max((candidate for candidate in known if candidate <= rate), default=known[0])
        if nearest < nominal:
            made[a, b] = nearest
    return made, (
        f"rates of {len(given)} links are in the file: {len(made)} are below the data rate and have the nearest of "
        f"{standard} that is not above their own, the others have the data rate"
    )


def _bps(text: str | None) -> float | None:
    match = _RATE.fullmatch(text or "")
    return float(match[1]) * _UNITS[match[2]] if match else None
