"""`python -m validation.ns3.aggregates PROGRAM [CELL...]`: what ns-3 says of cells of 802.11n, ac and ax.

PROGRAM is `sinr.cc` beside this file, compiled as `sinr.py` says. The facts are in `aggregates.toml`.
"""

from __future__ import annotations

import math
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from validation.ns3 import sinr

FACTS = Path(__file__).with_name("aggregates.toml")
HEAD = """# What ns-3.37 (Debian's packages ns3 and libns3-dev) says of `sinr.cc`: kb/s of each flow, and for UDP its
# mean delay in milliseconds, by seed. `python -m validation.ns3.aggregates PROGRAM` writes it down.
"""
SEEDS = 3
#: Of cells with a load below what they carry, whose delays scatter, and of TCP with a rate control: seeds of ns-3's
#: Minstrel-HT differ by up to a factor of two.
MANY_SEEDS = 10

#: Metres between neighbours of a chain: 28 dB above noise; who is three hops away is sensed, who is four is not. Frames
#: are taken from neighbours alone, so that routes go by all of them.
HOP_M, HOP_TAKEN_DBM = 15.0, -72
#: Bytes of the longest A-MPDU of HT (802.11-2016, 9.4.2.56.3), for all standards alike.
AMPDU = 65535


@dataclass(frozen=True)
class Phy:
    """Standard and mode of DATA at 5 GHz, with guard intervals of 800 ns; control frames are at 24 Mb/s."""

    standard: str
    mcs: int
    width_mhz: int = 20
    streams: int = 1

    @property
    def mode(self) -> str:
        """As ns-3 names it: HT counts streams in its MCS."""
        if self.standard == "802.11n":
            return f"HtMcs{self.mcs + 8 * (self.streams - 1)}"
        return f"{'Vht' if self.standard == '802.11ac' else 'He'}Mcs{self.mcs}"

    def __str__(self) -> str:
        """As pages have it."""
        streams = f", {self.streams} streams" if self.streams > 1 else ""
        return f"{self.standard} MCS {self.mcs}, {self.width_mhz} MHz{streams}"


N1, N2, N3, N7 = (Phy("802.11n", mcs) for mcs in (1, 2, 3, 7))
AC8, AX11 = Phy("802.11ac", 8, 80, 2), Phy("802.11ax", 11, 80, 2)
AC9 = Phy("802.11ac", 9, 80)
#: Rate controls by their names in scenarios, and in ns-3.
RATES = {"minstrel-ht": "MinstrelHt", "ideal": "Ideal"}
#: Metres of links with a rate control, and of stations around an access point.
DISTANCES = (5, 25, 30, 35, 38, 42, 46, 48, 50)
NEAR_AND_FAR = (5.0, 25.0, 40.0)

#: The octet of IP that means each access category, of RFC 8325's table and of ns-3's (its three highest bits alone).
TOS = {"BK": 0x20, "BE": 0x00, "VI": 0xA0, "VO": 0xC0}


@dataclass(frozen=True)
class Flow:
    """From a node to another; of UDP what is offered in Mb/s, saturated if none."""

    source: int
    sink: int
    transport: str = "udp"
    category: str = "BE"
    load_mbps: float | None = None


@dataclass(frozen=True)
class Cell:
    """Stations of one PHY."""

    name: str
    phy: Phy
    places: tuple[tuple[float, float], ...]
    flows: tuple[Flow, ...]
    ampdu: int = AMPDU
    #: The probability that an MPDU with data is lost, besides collisions.
    lost: float = 0.0
    rts: bool = False
    #: TXOP limits are 0 in all access categories, and not only in those where ns-3 has 0 by itself.
    one_exchange: bool = False
    seconds: int = 3
    #: The weakest frame that is taken; weaker ones, down to -82 dBm, keep the medium busy.
    taken_dbm: int = -82
    #: The rate control of each station, which then does not send at the MCS of its PHY.
    rates: str | None = None
    #: Of ns-3.
    seeds: int = SEEDS

    @property
    def payload(self) -> int:
        """Bytes of a packet of 1500."""
        return sinr.PAYLOAD if self.flows[0].transport == "udp" else sinr.SEGMENT

    @property
    def offered_mbps(self) -> float:
        """Of each flow: all together more than the PHY carries, and one of a few more than its share."""
        carried = {N1: 40, N2: 40, N3: 40, N7: 80, AC9: 450, AC8: 800, AX11: 1300}[self.phy]
        return carried * min(1.0, 4 / len(self.flows))

    def case(self) -> str:
        """What the program reads."""
        mode = f"mode {self.phy.mode}" if self.rates is None else f"rates {RATES[self.rates]}"
        lines = [f"standard {self.phy.standard.removeprefix('802.11')}", mode, "control 24"]
        lines += [f"width {self.phy.width_mhz}", f"streams {self.phy.streams}", f"ampdu {self.ampdu}"]
        lines += [f"payload {self.payload}", f"lost {self.lost:g}", f"taken {self.taken_dbm}"]
        lines += ["rts 0"] if self.rts else []
        lines += ["txop 0"] if self.one_exchange else []
        lines += [f"node {x:g} {y:g} 0 0" for x, y in self.places]
        if self.hops > 1:
            lines += [f"route {i} {self.hops} {i + 1}" for i in range(self.hops - 1)]
            lines += [f"route {i} 0 {i - 1}" for i in range(2, self.hops + 1)]
        for flow in self.flows:
            load = self.offered_mbps if flow.load_mbps is None else flow.load_mbps
            lines.append(f"flow {flow.source} {flow.sink} {flow.transport} tos {TOS[flow.category]} load {load:g}")
        return "\n".join(lines) + "\n"

    @property
    def hops(self) -> int:
        """Of a chain: as many as it has neighbours in a row. Other flows have one."""
        last = len(self.places) - 1
        return last if (self.flows[0].source, self.flows[0].sink) == (0, last) else 1


def circle(stations: int) -> tuple[tuple[float, float], ...]:
    """Stations around the one that they send to."""
    angles = [2 * math.pi * i / stations for i in range(stations)]
    return ((0.0, 0.0), *((round(3 * math.cos(a), 3), round(3 * math.sin(a), 3)) for a in angles))


def _saturated(phy: Phy, stations: int, ampdu: int) -> Cell:
    aggregated = "A-MPDU" if ampdu else "no A-MPDU"
    flows = tuple(Flow(i + 1, 0) for i in range(stations))
    # A station that collided with an A-MPDU is silent for long: goodput of seconds scatters by several per cent.
    seconds = 12 if ampdu and stations >= 10 else 3
    return Cell(f"{phy}, {aggregated}, {stations} stations", phy, circle(stations), flows, ampdu, seconds=seconds)


def _lossy(lost: float, load_mbps: float | None) -> Cell:
    load = "saturated" if load_mbps is None else f"{load_mbps:g} Mb/s"
    flows = (Flow(1, 0, load_mbps=load_mbps),)
    return Cell(f"{N7}, {lost:g} of MPDUs lost, {load}", N7, circle(1), flows, lost=lost, seconds=9)


def _paced(phy: Phy, stations: int, lost: float, load_mbps: float) -> Cell:
    """Stations that offer less than the cell carries, so that delays are those of aggregates and not of queues."""
    name = f"{phy}, {stations} stations of {load_mbps:g} Mb/s, {lost:g} of MPDUs lost"
    flows = tuple(Flow(i + 1, 0, load_mbps=load_mbps) for i in range(stations))
    return Cell(name, phy, circle(stations), flows, lost=lost, seconds=5, seeds=MANY_SEEDS)


def _shared(phy: Phy, receivers: int, lost: float, load_mbps: float) -> Cell:
    """One that sends to several, with one queue for all."""
    name = f"{phy}, one to {receivers} of {load_mbps:g} Mb/s, {lost:g} of MPDUs lost"
    flows = tuple(Flow(0, i + 1, load_mbps=load_mbps) for i in range(receivers))
    return Cell(name, phy, circle(receivers), flows, lost=lost, seconds=5, seeds=MANY_SEEDS)


def _categories(
    stations: dict[str, int], ampdu: int, *, one_exchange: bool = False, phy: Phy = N7, rts: bool = False
) -> Cell:
    kinds = [category for category, count in stations.items() for _ in range(count)]
    flows = tuple(Flow(i + 1, 0, category=category) for i, category in enumerate(kinds))
    who = ", ".join(f"{count} {category}" for category, count in stations.items())
    name = f"EDCA, {who}, {'A-MPDU' if ampdu else 'no A-MPDU'}{', TXOP 0' if one_exchange else ''}"
    name += f"{', RTS' if rts else ''}{f', {phy}' if phy != N7 else ''}"
    # Of a category that is starved there are few packets in a second, and ns-3 is quick where stations are few.
    seconds = 60 if len(kinds) <= 4 else 20
    places = circle(len(kinds))
    # One that collided with an A-MPDU is silent for long, as above.
    seeds = MANY_SEEDS if ampdu else SEEDS
    return Cell(name, phy, places, flows, ampdu, rts=rts, one_exchange=one_exchange, seconds=seconds, seeds=seeds)


def _chain(phy: Phy, hops: int, transport: str, *, rts: bool = False) -> Cell:
    places = tuple((HOP_M * i, 0.0) for i in range(hops + 1))
    return Cell(
        f"chain, {phy}, {hops} hops, {transport}{', RTS' if rts else ''}",
        phy,
        places,
        (Flow(0, hops, transport),),
        rts=rts,
        seconds=9,
        taken_dbm=HOP_TAKEN_DBM,
    )


def _hidden(phy: Phy, metres: int) -> Cell:
    """Two stations at either side of the one that they send to, which do not sense each other."""
    places = ((0.0, 0.0), (float(metres), 0.0), (2.0 * metres, 0.0))
    return Cell(f"{phy}, two hidden stations", phy, places, (Flow(0, 1), Flow(2, 1)), seconds=9)


def _link(metres: int) -> Cell:
    places = ((0.0, 0.0), (float(metres), 0.0))
    return Cell(f"rates, link of {metres} m", N7, places, (Flow(0, 1),), rates="minstrel-ht", seconds=10)


def _wide_link(metres: float, rates: str) -> Cell:
    """What each station of a WLAN has alone."""
    name = f"rates, link of {metres:g} m, 802.11ac, {rates}"
    return Cell(name, AC9, ((0.0, 0.0), (metres, 0.0)), (Flow(0, 1),), rates=rates, seconds=3, seeds=MANY_SEEDS)


def _rated_chain(phy: Phy, hops: int, rates: str = "minstrel-ht") -> Cell:
    name = f"rates, chain, {phy.standard}, {hops} hops, tcp, {rates}"
    places = tuple((HOP_M * i, 0.0) for i in range(hops + 1))
    flows = (Flow(0, hops, "tcp"),)
    return Cell(name, phy, places, flows, taken_dbm=HOP_TAKEN_DBM, rates=rates, seconds=8, seeds=MANY_SEEDS)


def _rated_wlan(phy: Phy, rates: str = "minstrel-ht", *, download: bool) -> Cell:
    """Stations near and far around an access point, which all sense each other."""
    name = f"rates, WLAN, {phy.standard}, {'downloads' if download else 'uploads'} by tcp, {rates}"
    places = ((0.0, 0.0), *((metres, 0.0) for metres in NEAR_AND_FAR))
    ends = [(0, i + 1) if download else (i + 1, 0) for i in range(len(NEAR_AND_FAR))]
    flows = tuple(Flow(*pair, "tcp") for pair in ends)
    return Cell(name, phy, places, flows, rates=rates, seconds=8, seeds=MANY_SEEDS)


#: In saturated cells.
STATIONS = (1, 2, 5, 10, 20, 50)
SATURATED = (
    *(_saturated(N7, stations, ampdu) for ampdu in (0, AMPDU) for stations in STATIONS),
    # ns-3.37 ends with "Invalid WifiPhy state" where 20 stations of these collide.
    *(_saturated(phy, stations, AMPDU) for phy in (AC8, AX11) for stations in (1, 5)),
    *(_hidden(phy, 30) for phy in (N1, N2)),
)
LOSSY = tuple(_lossy(lost, load) for load in (None, 10.0) for lost in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5))
PACED = (
    *(_paced(N7, 1, lost, 40) for lost in (0.0, 0.1, 0.25)),
    *(_paced(N7, 5, lost, 5) for lost in (0.0, 0.1)),
    *(_paced(N3, 3, lost, 5) for lost in (0.0, 0.2)),
    *(_paced(AC8, 1, lost, 300) for lost in (0.0, 0.1)),
    *(_paced(AX11, 2, lost, 200) for lost in (0.0, 0.1)),
    *(_shared(N7, 3, lost, 12) for lost in (0.0, 0.2)),
    _shared(N7, 2, 0.3, 12),
    _shared(AC8, 3, 0.1, 100),
)
PAIRS = ({"VO": 1, "BE": 1}, {"VI": 1, "BE": 1}, {"BE": 1, "BK": 1})
CROWDS = ({"VO": 5, "BE": 5}, {"VI": 5, "BE": 5}, {"BE": 5, "BK": 5})
#: As many of each as the mechanisms were built with, and other numbers.
ALL, UNEQUAL = {"VO": 1, "VI": 1, "BE": 1, "BK": 1}, {"VO": 1, "VI": 2, "BE": 4, "BK": 3}
CATEGORIES = (
    *(_categories(stations, 0) for stations in (*PAIRS, *CROWDS, ALL, UNEQUAL)),
    *(_categories(stations, AMPDU) for stations in (*PAIRS[1:], *CROWDS[1:])),
    *(_categories(stations, 0, one_exchange=True) for stations in (CROWDS[0], CROWDS[1], ALL, UNEQUAL)),
    *(_categories(stations, AMPDU, one_exchange=True) for stations in (PAIRS[1], CROWDS[1])),
    # What a fresh reader tried.
    _categories({"VO": 2, "BE": 3}, 0, one_exchange=True, phy=N3),
    *(_categories({"VO": 2, "VI": 2}, ampdu) for ampdu in (0, AMPDU)),
    _categories({"VI": 2, "BE": 3}, 0, rts=True),
    _categories({"VO": 1, "BE": 3}, AMPDU, rts=True),
    _categories({"VI": 3, "BE": 2, "BK": 1}, 0),
)
CHAINS = (
    *(_chain(phy, hops, kind) for phy in (N3, N7) for kind in ("udp", "tcp") for hops in range(1, 6)),
    *(_chain(phy, hops, kind, rts=True) for phy in (N3, N7) for kind in ("udp", "tcp") for hops in (3, 5)),
)
LINKS = tuple(_link(metres) for metres in DISTANCES)
RATED = (
    *(_rated_chain(phy, hops) for phy in (N7, AC9) for hops in (1, 2, 4)),
    *(_rated_chain(phy, 4, "ideal") for phy in (N7, AC9)),
    *(_rated_wlan(phy, download=download) for phy in (N7, AC9) for download in (False, True)),
    *(_rated_wlan(AC9, "ideal", download=download) for download in (False, True)),
    *(_wide_link(metres, rates) for rates in RATES for metres in NEAR_AND_FAR),
)
CELLS = SATURATED + LOSSY + PACED + CATEGORIES + CHAINS + LINKS + RATED


@dataclass(frozen=True)
class Said:
    """What ns-3 said of one seed: of each flow goodput in kb/s and mean delay in milliseconds, 0 for TCP."""

    kbps: list[float]
    delay_ms: list[float]


def run(program: str, cell: Cell, seed: int) -> Said:
    """One seed."""
    rows = sinr.flows(program, cell.case(), seed, cell.seconds)
    return Said([int(row[0]) * 8 / cell.seconds / 1e3 for row in rows], [float(row[1]) for row in rows])


def recorded() -> dict[str, list[Said]]:
    """What is written down, by cell and seed."""
    facts: dict[str, Any] = tomllib.loads(FACTS.read_text())
    return {
        row["cell"]: [Said(*pair) for pair in zip(row["kbps"], row["delay_ms"], strict=True)] for row in facts["run"]
    }


def _text(cell: Cell, said: list[Said]) -> str:
    command = f"sinr CASE SEED {sinr.WARMUP} {sinr.WARMUP + cell.seconds}"
    kbps = [", ".join(f"{number:.1f}" for number in one.kbps) for one in said]
    delay_ms = [", ".join(f"{number:.3f}" for number in one.delay_ms) for one in said]
    lines = ["", "[[run]]", f'cell = "{cell.name}"', f'command = "{command}"']
    for key, rows in (("kbps", kbps), ("delay_ms", delay_ms)):
        lines += [f"{key} = [", *(f"  [{row}]," for row in rows), "]"]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Runs what is asked for, by the beginning of its name, and writes it down; what was said of others stays."""
    program, *names = sys.argv[1:]
    said = recorded() if FACTS.exists() else {}
    for cell in CELLS:
        if not names or cell.name.startswith(tuple(names)):
            said[cell.name] = [run(program, cell, seed) for seed in range(1, cell.seeds + 1)]
            print(cell.name, [round(sum(one.kbps)) for one in said[cell.name]], flush=True)
        FACTS.write_text(HEAD + "".join(_text(known, said[known.name]) for known in CELLS if known.name in said))


if __name__ == "__main__":
    main()
