"""Shell completion of option values, from the same catalogue as `multihop list`.

Completion imports only the modules that the requested names need, since the user waits after Tab.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from multihop.simulation.scenario import registered

#: Names of the documentation for catalogue entries that have another name or are several.
ALIASES = {"routing": ("routing_protocols", "metrics", "link_failures"), "columns": ("tables",)}


def _of(kind: str) -> list[str]:
    return [entry["name"] for entry in registered()[kind]]


def _that_begin(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def of(*values: str) -> Callable[[str], list[str]]:
    """Returns the completion of an option with these values."""
    return lambda incomplete: _that_begin(values, incomplete)


def scheme(incomplete: str) -> list[str]:
    """Returns schemes that begin with the typed text."""
    return _that_begin(_of("schemes"), incomplete)


def schemes(incomplete: str) -> list[str]:
    """Completes the last of several comma-separated schemes, without those already given."""
    before, comma, last = incomplete.rpartition(",")
    there = before.split(",")
    return [f"{before}{comma}{name}" for name in _that_begin(_of("schemes"), last) if name not in there]


def kind(incomplete: str) -> list[str]:
    """Returns the kinds that `multihop list` accepts."""
    from multihop import api

    return _that_begin([*api.catalogue(), "keys", *ALIASES], incomplete)


def key(incomplete: str) -> list[str]:
    """Returns paths of scenario keys that begin with the typed text."""
    from multihop.simulation.keys import every

    return _that_begin(dict.fromkeys(each.path for each in every()), incomplete)


def paper(incomplete: str) -> list[str]:
    """Returns papers that begin with the typed text; after a paper and a slash, the items of that paper."""
    from multihop.papers import papers

    name, slash, _ = incomplete.partition("/")
    if not slash:
        return _that_begin(["all", *(each.name for each in papers())], incomplete)
    items = (f"{each.name}/{item}" for each in papers() if each.name == name for item in each.items)
    return _that_begin(items, incomplete)


def format(incomplete: str) -> list[str]:
    """Returns mesh formats that begin with the typed text."""
    from multihop import importers

    return _that_begin(["auto", *importers.FORMATS], incomplete)


def phy(incomplete: str) -> list[str]:
    """Returns PHY standards that begin with the typed text."""
    return _that_begin(_of("phys"), incomplete)
