"""Why ns-3's Minstrel-HT carries less in WLANs of 802.11ac: its parts switched, for `rate-control.md`.

`python -m validation.ns3.switches derive SOURCE DIRECTORY` writes `switched.h` and `switched.cc` to DIRECTORY:
`MinstrelHtWifiManager` as `SwitchedMinstrelHtWifiManager`, with switches. SOURCE is `src/wifi/model` of ns-3.37.
`python -m validation.ns3.switches run PROGRAM [SEEDS]` prints the tables; PROGRAM is `sinr.cc` with `switched.cc`.
"""

from __future__ import annotations

import os
import re
import sys
from collections import defaultdict
from pathlib import Path

from multihop.results.statistics import estimate
from validation.ns3 import aggregates, sinr
from validation.ns3.aggregates import AC9, NEAR_AND_FAR, Cell
from validation.page import shown, table

#: The environment variable that has the names of switches.
SWITCHES = "MINSTREL_HT"
#: What each switch does, as the table has it.
NAMES = {
    "width": "the PHY's width alone",
    "packets": "the wait between samples in packets",
    "single": "samples of one MPDU",
}
#: The original, each switch alone, and all.
SETS = ((), *((name,) for name in NAMES), ("width", "packets"), tuple(NAMES))

_HEAD = "#include <iomanip>\n"
_IS_ON = f"""
static bool
IsOn(const std::string& name)
{{
    const char* names = getenv("{SWITCHES}");
    return names && std::string(names).find(name) != std::string::npos;
}}
"""
_WIDTH = "            if (GetChannelWidth(station) < m_minstrelGroups[groupId].chWidth)\n"
_PACKETS = "        station->m_sampleWait--;\n"
_SINGLE = "        station->m_txrate = UpdateRateAfterAllowedWidth(station->m_txrate, allowedWidth);\n"
#: Lines of ns-3, and what stands there instead.
_EDITS = {
    _HEAD: _HEAD + _IS_ON,
    _WIDTH: """            static const bool on = IsOn("width");
            if (GetChannelWidth(station) < m_minstrelGroups[groupId].chWidth ||
                (on && GetPhy()->GetChannelWidth() != m_minstrelGroups[groupId].chWidth))
""",
    _PACKETS: """        static const bool on = IsOn("packets");
        station->m_sampleWait -= std::min(station->m_sampleWait, on ? std::max(station->m_avgAmpduLen, 1u) : 1u);
""",
    _SINGLE: _SINGLE
    + f"""        static const bool on = IsOn("single");
        if (on)
            GetMac()->SetAttribute("BE_MaxAmpduSize", UintegerValue(station->m_isSampling ? 0 : {aggregates.AMPDU}));
""",
}


def derive(source: Path, directory: Path) -> None:
    """Writes ns-3's rate control with switches."""
    for ending in ("h", "cc"):
        text = (source / "rate-control" / f"minstrel-ht-wifi-manager.{ending}").read_text()
        if ending == "cc":
            for old, new in _EDITS.items():
                if text.count(old) != 1:
                    raise SystemExit(f"this is not ns-3.37: {old.strip()!r} is there {text.count(old)} times")
                text = text.replace(old, new)
        text = text.replace('"minstrel-ht-wifi-manager.h"', '"switched.h"')
        text = re.sub(r'#include "((?!switched|ns3/)[a-z-]+\.h)"', r'#include "ns3/\1"', text)
        text = re.sub(r"\bMinstrelHtWifi(Manager|RemoteStation)\b", r"SwitchedMinstrelHtWifi\1", text)
        text = text.replace("MINSTREL_HT_WIFI_MANAGER_H", "SWITCHED_MINSTREL_HT_WIFI_MANAGER_H")
        (directory / f"switched.{ending}").write_text(text)


def _said(program: str, cell: Cell, switches: tuple[str, ...], seed: int) -> list[list[str]]:
    os.environ[SWITCHES] = " ".join(switches)
    case = cell.case().replace("rates MinstrelHt\n", "rates SwitchedMinstrelHt\n")
    return sinr.lines(program, case, seed, cell.seconds)


def _goodput_mbps(said: list[list[str]], cell: Cell) -> float:
    return sum(int(words[1]) * 8 / cell.seconds / 1e6 for words in said if words[0] == "flow")


def switched(program: str, cells: dict[str, Cell], seeds: int) -> str:
    """Goodput in Mb/s of each cell by switches."""
    rows = []
    for switches in SETS:
        name = ", ".join(NAMES[switch] for switch in switches) or "as it is"
        row = [name]
        for cell in cells.values():
            goodput = [_goodput_mbps(_said(program, cell, switches, seed), cell) for seed in range(1, seeds + 1)]
            row.append(shown(estimate(goodput), 1))
        rows.append(row)
    return table(["ns-3's Minstrel-HT", *cells], rows)


def widths(program: str, cell: Cell, seeds: int) -> str:
    """Of data of each station of a WLAN: airtime by width, and packets of a PPDU."""
    airtime: dict[tuple[int, str], float] = defaultdict(float)
    ppdus: dict[int, int] = defaultdict(int)
    mpdus: dict[int, int] = defaultdict(int)
    arrived: dict[int, int] = defaultdict(int)
    for seed in range(1, seeds + 1):
        for words in _said(program, cell, (), seed):
            if words[0] == "sent" and words[2] == "0":
                station, width = int(words[1]), words[3].split("/")[1]
                airtime[station, width] += float(words[8]) / cell.seconds / seeds
                ppdus[station] += int(words[4])
                mpdus[station] += int(words[5])
                arrived[station] += int(words[7])
    rows = []
    for station, metres in enumerate(NEAR_AND_FAR, start=1):
        shares = [f"{airtime[station, width]:.1%}" for width in ("20", "40", "80")]
        lost = f"{1 - arrived[station] / mpdus[station]:.0%}"
        rows.append([f"{metres:g} m", *shares, f"{mpdus[station] / ppdus[station]:.1f}", lost])
    return table(["station", "20 MHz", "40 MHz", "80 MHz", "MPDUs of a PPDU", "lost"], rows)


def cells() -> dict[str, Cell]:
    """Of 802.11ac with Minstrel-HT: the WLAN, and what its stations carry alone."""
    known = {cell.name: cell for cell in aggregates.RATED if cell.phy is AC9 and cell.rates == "minstrel-ht"}
    chosen = {f"{way}s": known[f"rates, WLAN, 802.11ac, {way}s by tcp, minstrel-ht"] for way in ("upload", "download")}
    for metres in NEAR_AND_FAR:
        chosen[f"{metres:g} m alone"] = known[f"rates, link of {metres:g} m, 802.11ac, minstrel-ht"]
    return chosen


def main() -> None:
    """Writes the rate control, or prints the tables."""
    match sys.argv[1:]:
        case ["derive", source, directory]:
            derive(Path(source), Path(directory))
        case ["run", program, *seeds]:
            count = int(seeds[0]) if seeds else aggregates.SEEDS
            print(widths(program, cells()["uploads"], count), switched(program, cells(), count), sep="\n\n")
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
