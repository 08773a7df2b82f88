"""Kinds of flows, by which sentences count flows.

Flows of different kinds are not averaged: the delay of a download says nothing about a call.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from multihop import _core
from multihop.results.words import listed

#: Plural name of the flows of each application; flows of other applications are transfers.
_KINDS = {"cbr": "calls", "poisson": "calls", "video": "videos", "external": "flows from outside"}


def flows_by_kind(flows: Sequence[_core.FlowView]) -> dict[str, list[int]]:
    """Returns the indices of flows by kind, in the order of first occurrence.

    Flows that only carry acknowledgements are left out. A kind with one flow has the flow's name.
    """
    return {_label(flows, word, of): of for word, of in _by_word(flows).items()}


def flow_words(flows: Sequence[_core.FlowView], which: Sequence[int], most: int) -> str:
    """Returns the names of flows, or of more than `most` flows their numbers by kind: all 10 calls."""
    return listed([flows[index]["name"] for index in which] if len(which) <= most else counts_by_kind(flows, which))


def counts_by_kind(flows: Sequence[_core.FlowView], which: Collection[int]) -> list[str]:
    """Returns the number of these flows of each kind, out of all flows of the kind."""
    by_word = _by_word(flows)
    said = []
    for word, of in by_word.items():
        number = len(set(which) & set(of))
        if number and len(of) == 1:
            said.append(flows[of[0]]["name"])
        elif number:
            what = "flows" if len(by_word) == 1 else word
            said.append(f"all {number} {what}" if number == len(of) else f"{number} of {len(of)} {what}")
    return said


def _by_word(flows: Sequence[_core.FlowView]) -> dict[str, list[int]]:
    """Returns the indices of flows by the plural name of their kind."""
    found: dict[str, list[int]] = {}
    for index, flow in enumerate(flows):
        if not flow.get("acknowledges", False):
            found.setdefault(_KINDS.get(flow["app"], "transfers"), []).append(index)
    words = [_own_word([flows[index]["name"] for index in of]) or word for word, of in found.items()]
    return dict(zip(words, found.values(), strict=True)) if len(set(words)) == len(words) else found


def _own_word(names: Sequence[str]) -> str:
    """Returns the common stem of numbered names in the plural, such as `downloads`; empty without one."""
    stems = {re.sub(r"[\W\d_]+$", "", name) for name in names}
    stem = next(iter(stems)) if len(stems) == 1 and len(names) > 1 else ""
    if not stem.isalpha() or len(stem) < 3 or stem.lower() in {"flow", "flows"}:
        return ""
    return stem if stem.endswith("s") else f"{stem[:-1]}ies" if re.search("[^aeiou]y$", stem) else f"{stem}s"


def _label(flows: Sequence[_core.FlowView], word: str, which: Sequence[int]) -> str:
    return flows[which[0]]["name"] if len(which) == 1 else f"{len(which)} {word}"
