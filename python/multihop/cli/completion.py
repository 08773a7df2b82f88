"""Values that a shell offers for options: what there is, as `multihop list` has it.

The user waits after Tab: what is not needed for the names that are asked for is not imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from multihop.simulation.scenario import registered

#: What the documentation calls by one name, and the catalogue by several or by another.
ALIASES = {"routing": ("routing_protocols", "metrics", "link_failures"), "columns": ("tables",)}


def _of(kind: str) -> list[str]:
    return [entry["name"] for entry in registered()[kind]]


def _that_begin(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def of(*values: str) -> Callable[[str], list[str]]:
    """Completion of an option that takes one of these."""
    return lambda incomplete: _that_begin(values, incomplete)


def scheme(incomplete: str) -> list[str]:
    """Of a scheme."""
    return _that_begin(_of("schemes"), incomplete)


def schemes(incomplete: str) -> list[str]:
    """Of schemes with commas between: of the last one; those that are there already are not offered."""
    before, comma, last = incomplete.rpartition(",")
    there = before.split(",")
    return [f"{before}{comma}{name}" for name in _that_begin(_of("schemes"), last) if name not in there]


def kind(incomplete: str) -> list[str]:
    """Of what `multihop list` can list."""
    from multihop import api

    return _that_begin([*api.catalogue(), "keys", *ALIASES], incomplete)


def key(incomplete: str) -> list[str]:
    """Of the path of a scenario's key."""
    from multihop.simulation.keys import every

    return _that_begin(dict.fromkeys(each.path for each in every()), incomplete)


def paper(incomplete: str) -> list[str]:
    """Of a paper; once its name and a slash are there, of its items."""
    from multihop.papers import papers

    name, slash, _ = incomplete.partition("/")
    if not slash:
        return _that_begin(["all", *(each.name for each in papers())], incomplete)
    items = (f"{each.name}/{item}" for each in papers() if each.name == name for item in each.items)
    return _that_begin(items, incomplete)


def format(incomplete: str) -> list[str]:
    """Of a format of meshes."""
    from multihop import importers

    return _that_begin(["auto", *importers.FORMATS], incomplete)


def phy(incomplete: str) -> list[str]:
    """Of a standard."""
    return _that_begin(_of("phys"), incomplete)
