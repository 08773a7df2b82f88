"""Who uses the medium where: counters of causes by place, and the cliques of links that share airtime."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypeVar

from multihop.explanation.counters import CauseCounters, HopCounters
from multihop.optima.optimum import Optimum

Link = tuple[int, int]
#: What a link did for a flow: the flow, whether its acknowledgements are meant, sender and receiver; with
#: counters.
HopEntry = tuple[tuple[int, bool, int, int], HopCounters]
#: The packets of a flow that were dropped at a node: the flow, whether its acknowledgements are meant, and
#: the node; with how many by cause.
DropEntry = tuple[tuple[int, bool, int], dict[str, int]]

_Entry = TypeVar("_Entry")
_Group = TypeVar("_Group")


class Sharing:
    """What accounts of flows look up, found once for all of them."""

    def __init__(self, counters: CauseCounters, best: Optimum) -> None:
        hops, drops = counters.hops.items(), counters.drops.items()
        self._by_flow = _grouped(hops, lambda entry: entry[0][:2])
        self._by_sender = _grouped(hops, lambda entry: entry[0][2])
        self._by_link = _grouped(hops, lambda entry: entry[0][2:])
        self._drops_by_flow = _grouped(drops, lambda entry: entry[0][0])
        self._drops_by_node = _grouped(drops, lambda entry: entry[0][2])
        #: Links that flows may use, and by such a link its number.
        self.links: list[Link] = [(a, b) for a, b in best.capacity["links"]]
        self._numbers = {link: number for number, link in enumerate(self.links)}
        self._excluded: dict[int, set[int]] = defaultdict(set)
        for a, b in best.capacity["sensing_conflicts"]:
            self._excluded[a].add(b)
            self._excluded[b].add(a)
        self._cliques = best.shares.cliques
        self._cliques_of: dict[int, list[int]] = defaultdict(list)
        for number, clique in enumerate(self._cliques):
            for link in clique:
                self._cliques_of[link].append(number)
        self._airtime_of = self._airtimes()

    def of_flow(self, flow: int, *, feedback: bool) -> dict[Link, HopCounters]:
        """What the links did for the packets, or the acknowledgements, of a flow."""
        return {key[2:]: hop for key, hop in self._by_flow[flow, feedback]}

    def from_node(self, node: int) -> list[HopEntry]:
        """What a node sent, by flow and receiver."""
        return self._by_sender[node]

    def drops_of(self, flow: int) -> list[DropEntry]:
        """The packets of a flow that were dropped."""
        return self._drops_by_flow[flow]

    def drops_at(self, node: int) -> list[DropEntry]:
        """The packets that were dropped at a node."""
        return self._drops_by_node[node]

    def around(self, link: Link) -> list[HopEntry]:
        """What links did that cannot be used while this one is, as far as flows know them."""
        near = self._excluded[self._numbers[link]] if link in self._numbers else ()
        entries = (entry for number in near for entry in self._by_link[self.links[number]])
        return sorted(entries, key=lambda entry: entry[0])

    def busiest_clique(self, links: set[int]) -> tuple[tuple[int, ...], float]:
        """Of the cliques with one of these links, that with the most airtime in the runs; empty if none."""
        found = {clique for link in links for clique in self._cliques_of[link]}
        most, clique = max(((self._airtime_of[number], self._cliques[number]) for number in found), default=(0.0, ()))
        return clique, most

    def _airtimes(self) -> list[float]:
        """Of the links of each clique, together."""
        used: dict[Link, float] = {
            link: sum(hop.airtime for _, hop in entries) for link, entries in self._by_link.items()
        }
        return [float(sum(used.get(self.links[link], 0.0) for link in clique)) for clique in self._cliques]


def _grouped(entries: Iterable[_Entry], group: Callable[[_Entry], _Group]) -> dict[_Group, list[_Entry]]:
    """Entries by group, in their order; there is an empty list for a group without any."""
    made: dict[_Group, list[_Entry]] = defaultdict(list)
    for entry in entries:
        made[group(entry)].append(entry)
    return made
