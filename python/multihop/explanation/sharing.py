"""Use of the medium by place: counters by flow, node and link, and cliques of links that share airtime."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypeVar

from multihop.explanation.counters import CauseCounters, HopCounters
from multihop.optima.optimum import Optimum

Link = tuple[int, int]
#: Counters of a link for a flow, by flow, whether for its acknowledgements, sender and receiver.
HopEntry = tuple[tuple[int, bool, int, int], HopCounters]
#: Dropped packets by cause, by flow, whether acknowledgements, and node.
DropEntry = tuple[tuple[int, bool, int], dict[str, int]]

_Entry = TypeVar("_Entry")
_Group = TypeVar("_Group")


class Sharing:
    """Index of counters and cliques, made once for the accounts of all flows."""

    def __init__(self, counters: CauseCounters, best: Optimum) -> None:
        hops, drops = counters.hops.items(), counters.drops.items()
        self._by_flow = _grouped(hops, lambda entry: entry[0][:2])
        self._by_sender = _grouped(hops, lambda entry: entry[0][2])
        self._by_link = _grouped(hops, lambda entry: entry[0][2:])
        self._drops_by_flow = _grouped(drops, lambda entry: entry[0][0])
        self._drops_by_node = _grouped(drops, lambda entry: entry[0][2])
        #: Links that flows may use.
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
        """Returns the counters of links for the packets of a flow, or for its acknowledgements."""
        return {key[2:]: hop for key, hop in self._by_flow[flow, feedback]}

    def from_node(self, node: int) -> list[HopEntry]:
        """Returns the counters of a sending node, by flow and receiver."""
        return self._by_sender[node]

    def drops_of(self, flow: int) -> list[DropEntry]:
        """Returns the dropped packets of a flow."""
        return self._drops_by_flow[flow]

    def drops_at(self, node: int) -> list[DropEntry]:
        """Returns the packets dropped at a node."""
        return self._drops_by_node[node]

    def around(self, link: Link) -> list[HopEntry]:
        """Returns the counters of links that exclude this one."""
        near = self._excluded[self._numbers[link]] if link in self._numbers else ()
        entries = (entry for number in near for entry in self._by_link[self.links[number]])
        return sorted(entries, key=lambda entry: entry[0])

    def busiest_clique(self, links: set[int]) -> tuple[tuple[int, ...], float]:
        """Returns the clique with one of these links and the most airtime, and that airtime."""
        found = {clique for link in links for clique in self._cliques_of[link]}
        most, clique = max(((self._airtime_of[number], self._cliques[number]) for number in found), default=(0.0, ()))
        return clique, most

    def _airtimes(self) -> list[float]:
        """Returns the total airtime of the links of each clique."""
        used: dict[Link, float] = {
            link: sum(hop.airtime for _, hop in entries) for link, entries in self._by_link.items()
        }
        return [float(sum(used.get(self.links[link], 0.0) for link in clique)) for clique in self._cliques]


def _grouped(entries: Iterable[_Entry], group: Callable[[_Entry], _Group]) -> dict[_Group, list[_Entry]]:
    """Returns entries by group, in their order; an empty list for a group without entries."""
    made: dict[_Group, list[_Entry]] = defaultdict(list)
    for entry in entries:
        made[group(entry)].append(entry)
    return made
