"""Rates of links, if the file has them, as rates of the PHY in use."""

from __future__ import annotations

import re
from typing import Any

from multihop.importers.mesh import Mesh
from multihop.importers.radios import phy_of

_UNITS = {"b": 1.0, "kb": 1e3, "Mb": 1e6, "Gb": 1e9}
_RATE = re.compile(r"\s*([0-9.]+)\s*(b|kb|Mb|Gb)/s\s*")


def link_rates(mesh: Mesh, standard: str, data_rate: str | None) -> tuple[dict[tuple[str, str], str], str | None]:
    """Returns rates of links below the data rate, as scenarios name them, and a line about the file's rates.

    A link has the lower rate of its directions, rounded down to a rate or scheme of the PHY. Rates above the
    data rate are replaced by the data rate.
    """
    given = sorted({(min(pair), max(pair)) for pair in mesh.rates if pair in mesh.links})
    phy = phy_of(standard)
    if not given or phy is None:
        return {}, None
    known, nominal = _rates(phy, data_rate)
    made: dict[tuple[str, str], str] = {}
    for a, b in given:
        rate = min(mesh.rates[pair] for pair in ((a, b), (b, a)) if pair in mesh.rates and pair in mesh.links)
        nearest, name = max((candidate for candidate in known if candidate[0] <= rate), default=known[0])
        if nearest < nominal:
            made[a, b] = name
    return made, (
        f"rates of {len(given)} links are in the file: {len(made)} are below the data rate and have the nearest of "
        f"{standard} that is not above their own, the others have the data rate"
    )


def split_throughputs(mesh: Mesh, standard: str, data_rate: str | None, *, has_rates: bool) -> str | None:
    """Splits the throughputs of directions into rates and deliveries, and returns a line about them.

    Both directions of a link have the lowest rate of the PHY that neither throughput exceeds, at most the
    data rate; without `has_rates`, the data rate. Delivery is the throughput over the rate, at most 1.
    """
    phy = phy_of(standard)
    if not mesh.throughputs or phy is None:
        return None
    known, nominal = _rates(phy, data_rate)
    faster = 0
    for (a, b), throughput in mesh.throughputs.items():
        least = max(throughput, mesh.throughputs.get((b, a), 0.0), mesh.rates.get((b, a), 0.0))
        enough = [bps for bps, _ in known if least <= bps < nominal]
        rate = min(enough) if has_rates and enough else nominal
        faster += throughput > rate
        mesh.links[a, b] = min(1.0, throughput / rate)
        if has_rates:
            mesh.rates[a, b] = rate
    return (
        f"throughputs of {len(mesh.throughputs)} directions are in the file: a link has the lowest rate of {standard} "
        f"that is enough, and delivers the rest; {faster} are above the data rate and lose nothing"
    )


def _rates(phy: dict[str, Any], data_rate: str | None) -> tuple[list[tuple[float, str]], float]:
    """Returns rates in b/s with names in ascending order, and the data rate in b/s."""
    known = _named(phy)
    nominal = next((bps for bps, name in known if name == data_rate), _bps(data_rate) or phy["default_rate_bps"])
    return known, nominal


def _named(phy: dict[str, Any]) -> list[tuple[float, str]]:
    """Returns rates in b/s in ascending order with names; of equal rates the one with fewest streams."""
    schemes: dict[float, str] = {}
    for scheme in phy["schemes"]:
        schemes.setdefault(scheme["bps"], scheme["name"])
    return sorted(schemes.items()) or [(bps, f"{bps / 1e6:g} Mb/s") for bps in sorted(phy["rates_bps"])]


def _bps(text: str | None) -> float | None:
    match = _RATE.fullmatch(text or "")
    return float(match[1]) * _UNITS[match[2]] if match else None
