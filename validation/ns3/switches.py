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
    "time": "samples by time",
    "filter": "the low-pass filter",
}
#: The original, the first three alone and together, and the rule of Linux since 5.12.
SETS = (
    (),
    ("width",),
    ("packets",),
    ("single",),
    ("width", "packets"),
    ("width", "packets", "single"),
    ("width", "single", "time"),
    ("width", "single", "time", "filter"),
)

_HEAD = "#include <iomanip>\n"
_IS_ON = f"""#include <map>

/// By station, when it may sample again; by rate, the probability of one update before.
static std::map<const void*, ns3::Time> g_nextSample;
static std::map<const void*, double> g_before;

static bool
IsOn(const std::string& name)
{{
    const char* names = getenv("{SWITCHES}");
    return names && std::string(names).find(name) != std::string::npos;
}}
"""
_WIDTH = "            if (GetChannelWidth(station) < m_minstrelGroups[groupId].chWidth)\n"
_PACKETS = "        station->m_sampleWait--;\n"
_SAMPLE = "    // If we have waited enough, then sample.\n"
_UPDATED = "    station->m_nextStatsUpdate = Simulator::Now() + m_updateStats;\n\n"
_AVERAGED = """                            tempProb =
                                (tempProb * (100 - m_ewmaLevel) +
                                 station->m_groupsTable[j].m_ratesTable[i].ewmaProb * m_ewmaLevel) /
                                100;
"""
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
    # Three times in 50 ms, of one group: by turns the next faster rate, any faster one, one between those of the chain.
    _SAMPLE: """    static const bool byTime = IsOn("time");
    if (byTime && Simulator::Now() < g_nextSample[station])
        return station->m_maxTpRate;
    if (byTime)
    {
        g_nextSample[station] = Simulator::Now() + MilliSeconds(20);
        static std::map<const void*, uint32_t> turns;
        const char kind = "IJIJIS"[turns[station]++ % 6];
        auto chain = {station->m_maxTpRate, station->m_maxTpRate2, station->m_maxProbRate};
        const int fastest = GetRateId(std::max(chain)), slowest = GetRateId(std::min(chain));
        uint8_t group = GetGroupId(station->m_maxTpRate);
        std::vector<int> fit;
        for (int i = 0; i < m_numRates && (kind != 'I' || fit.empty()); i++)
        {
            const auto& rate = station->m_groupsTable[group].m_ratesTable[i];
            bool between = i > slowest && i < fastest && rate.ewmaProb <= 95;
            if (rate.supported && (kind == 'S' ? between : i > fastest))
                fit.push_back(i);
        }
        if (fit.empty())
            return station->m_maxTpRate;
        static Ptr<UniformRandomVariable> draw = CreateObject<UniformRandomVariable>();
        station->m_isSampling = true;
        station->m_sampleRate = GetIndex(group, fit[draw->GetInteger(0, fit.size() - 1)]);
        return station->m_sampleRate;
    }
"""
    + _SAMPLE,
    _UPDATED: _UPDATED + "    g_nextSample[station] = Simulator::Now();\n",
    _AVERAGED: """                            static const bool filtered = IsOn("filter");
                            auto& known = station->m_groupsTable[j].m_ratesTable[i];
                            if (filtered)
                            {
                                bool begins = known.ewmaProb == 0;
                                double last = begins ? tempProb : known.ewmaProb;
                                auto before = g_before.try_emplace(&known, last).first;
                                double sum = 1173 * tempProb + 5273 * last - 2350 * (begins ? last : before->second);
                                tempProb = std::clamp(sum / 4096, 0.0, 100.0);
                                before->second = last;
                            }
                            else
                                tempProb = (tempProb * (100 - m_ewmaLevel) + known.ewmaProb * m_ewmaLevel) / 100;
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
    """Of 802.11ac with Minstrel-HT: the WLAN, what its stations carry alone, and chains."""
    known = {cell.name: cell for cell in aggregates.RATED if cell.phy is AC9 and cell.rates == "minstrel-ht"}
    chosen = {f"{way}s": known[f"rates, WLAN, 802.11ac, {way}s by tcp, minstrel-ht"] for way in ("upload", "download")}
    for metres in NEAR_AND_FAR:
        chosen[f"{metres:g} m alone"] = known[f"rates, link of {metres:g} m, 802.11ac, minstrel-ht"]
    for hops in (1, 2, 4):
        chosen[f"{hops} hops"] = known[f"rates, chain, 802.11ac, {hops} hops, tcp, minstrel-ht"]
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
