"""Rate controls on one link, beside the best of fixed rates, ns-3's and Linux's rule."""

from __future__ import annotations

import argparse
import functools

from multihop import Result, ScenarioError, run
from multihop.results.statistics import estimate
from validation import page
from validation.aggregation import CHAINS, compared
from validation.interference import MEDIUM
from validation.minstrel_ht import Link, share_of_best
from validation.ns3 import aggregates
from validation.page import shown, table
from validation.scenarios import Scenario

SCHEMES = range(8)
KBPS = (6_500, 13_000, 19_500, 26_000, 39_000, 52_000, 58_500, 65_000)
#: MPDUs of the longest A-MPDU at each scheme: 5.484 ms, or 64 KiB.
MPDUS = (2, 5, 8, 11, 17, 22, 25, 28)
#: Streams, and metres of links at the steps between rates; below -82 dBm, the least at which stations of the other
#: tables hear, too.
STEPS = (
    *((1, metres) for metres in (21.5, 22.5, 24.0, 26.0, 37.0, 37.6, 47.6, 64.0, 72.0, 80.0)),
    *((2, metres) for metres in (17.0, 20.0, 30.0, 38.0, 50.0, 60.0, 80.0)),
)
#: Metres, and metres per second, of links that fade.
FADING = tuple((metres, speed) for metres in (15, 25, 35) for speed in (0.1, 1.0, 10.0))


def scenario(distance: float, scheme: int, algorithm: str | None = None, speed: float | None = None) -> Scenario:
    """One saturated link of this many metres: at a fixed scheme, or with a rate control; Rayleigh fading at a speed."""
    control = {} if algorithm is None else {"rate_control": {"algorithm": algorithm, "streams": 1}}
    fading = {} if speed is None else {"fading": {"speed": f"{speed} m/s"}}
    return {
        "duration": "11 s",
        "warmup": "1 s",
        "record_interval": "50 ms",
        "topology": {"generator": "chain", "hops": 1, "spacing": f"{distance:g} m"},
        "phy": {"standard": "802.11n", "data_rate": f"MCS {scheme}"},
        "mac": {"queue": 500} | control,
        "medium": MEDIUM | {"sensitivity": "-82 dBm"} | fading,
        "schemes": {"udp": {"segment_size": "1472 B"}},
        "flows": [{"from": "n0", "to": "n1", "scheme": "udp", "app": {"kind": "saturated"}}],
    }


def fixed(distance: int, speed: float | None = None, seed: int = 1) -> list[Result | None]:
    """The link at each fixed scheme; nothing where it is no link."""
    runs: list[Result | None] = []
    for scheme in SCHEMES:
        try:
            runs.append(run(scenario(distance, scheme, speed=speed), seed=seed))
        except ScenarioError:
            runs.append(None)
    return runs


def goodput_mbps(result: Result | None) -> float:
    """What the link carries."""
    return 0.0 if result is None else float(result.flows["goodput_bps"].iloc[0]) / 1e6


def best_of(seeds: list[list[Result | None]]) -> tuple[float, int]:
    """The most in Mb/s over seeds of fixed schemes, and its scheme."""
    totals = [sum(map(goodput_mbps, runs)) for runs in zip(*seeds, strict=True)]
    return max((total / len(seeds), scheme) for scheme, total in enumerate(totals))


def controlled(distance: int, algorithm: str, seeds: int, speed: float | None = None) -> list[Result]:
    """The link with a rate control."""
    asked = scenario(distance, 0, algorithm, speed)
    return [run(asked, seed=seed) for seed in range(1, seeds + 1)]


def of_rule(runs: list[Result | None]) -> Link:
    """The link as Linux's rule without a simulator has it: what it loses is what fixed rates lost."""

    def arrives(result: Result | None) -> float:
        return 0.0 if result is None else float(result.links["acknowledged"].iloc[0] / result.links["data"].iloc[0])

    return Link(KBPS, tuple(map(arrives, runs)), MPDUS)


def converged_ms(result: Result, final_mbps: float) -> float:
    """From the first packet until the end of the first 100 ms with nine tenths of the final goodput."""
    rates = (result.series["goodput_bps"] / 1e6).rolling(2).mean()
    reached = result.series["time_s"][rates >= 0.9 * final_mbps]
    return float(reached.iloc[0]) * 1e3 if len(reached) else float("inf")


def links(seeds: int) -> str:
    """Links that do not fade: best, `ideal`, `minstrel-ht`, Linux's rule, and ns-3's, at each distance."""
    said, rows = aggregates.recorded(), []
    for cell in aggregates.LINKS:
        distance = int(cell.places[1][0])
        runs = fixed(distance)
        best, scheme = best_of([runs])
        ideal = goodput_mbps(run(scenario(distance, 0, "ideal")))
        found = controlled(distance, "minstrel-ht", seeds)
        minstrel = estimate([goodput_mbps(result) for result in found])
        rule = estimate([share_of_best(of_rule(runs), 10, seed) for seed in range(1, seeds + 1)])
        ready = max(converged_ms(result, minstrel.mean) for result in found)
        theirs = estimate([sum(one.kbps) / 1e3 for one in said[cell.name]]) if cell.name in said else None
        rows.append(
            [
                f"{distance} m",
                f"{best:.1f}",
                f"MCS {scheme}",
                f"{ideal:.1f}",
                shown(minstrel, 1),
                f"{minstrel.mean / best:.2f}",
                shown(rule, 2),
                "" if theirs is None else shown(theirs, 1),
                f"{ready:.0f} ms",
            ]
        )
    head = ["distance", "best", "", "`ideal`", "`minstrel-ht`", "of best", "Linux's rule", "ns-3's", "found within"]
    return table(head, rows)


def steps(seeds: int) -> str:
    """Links at the steps between rates: best, `ideal`, `minstrel-ht`, and with one stream Linux's rule."""
    rows = []
    for streams, distance in STEPS:
        mine = functools.partial(at_step, streams, distance)
        names = [f"MCS {scheme}" for scheme in SCHEMES]
        names += [f"{name} NSS {more}" for more in range(2, streams + 1) for name in names[: len(SCHEMES)]]
        found = {name: mine(name) for name in names}
        name = max(found, key=lambda name: goodput_mbps(found[name]))
        best = goodput_mbps(found[name])
        minstrel = estimate([goodput_mbps(mine("MCS 0", "minstrel-ht", seed)) for seed in range(1, seeds + 1)])
        link = of_rule([found[f"MCS {scheme}"] for scheme in SCHEMES])
        rule = [] if streams > 1 else [share_of_best(link, 10, seed) for seed in range(1, seeds + 1)]
        rows.append(
            [
                f"{distance:g} m",
                str(streams),
                f"{best:.1f}",
                name,
                f"{goodput_mbps(mine('MCS 0', 'ideal')):.1f}",
                shown(minstrel, 1),
                f"{minstrel.mean / best:.2f}",
                shown(estimate(rule), 2) if rule else "",
            ]
        )
    return table(["distance", "streams", "best", "", "`ideal`", "`minstrel-ht`", "of best", "Linux's rule"], rows)


def at_step(streams: int, distance: float, rate: str, algorithm: str | None = None, seed: int = 1) -> Result | None:
    """A link whose stations hear what the lowest rate needs; nothing where it is none."""
    asked = scenario(distance, 0, algorithm)
    asked["phy"] |= {"data_rate": rate}
    asked["medium"] |= {"sensitivity": "-92 dBm"}
    if algorithm is not None:
        asked["mac"]["rate_control"]["streams"] = streams
    try:
        return run(asked, seed=seed)
    except ScenarioError:
        return None


def fades(seeds: int) -> str:
    """Links with Rayleigh fading: the best fixed rate and `minstrel-ht`."""
    rows = []
    for distance, speed in FADING:
        best, scheme = best_of([fixed(distance, speed, seed) for seed in range(1, seeds + 1)])
        goodput = {
            algorithm: estimate([goodput_mbps(result) for result in controlled(distance, algorithm, seeds, speed)])
            for algorithm in ("ideal", "minstrel-ht")
        }
        minstrel = goodput["minstrel-ht"]
        rows.append(
            [
                f"{distance} m, {speed:g} m/s",
                f"{best:.1f}",
                f"MCS {scheme}",
                shown(goodput["ideal"], 1),
                shown(minstrel, 1),
                f"{minstrel.mean / best:.2f}",
            ]
        )
    return table(["link", "best", "", "`ideal`", "`minstrel-ht`", "of best"], rows)


def tcp(seeds: int) -> str:
    """TCP over chains and WLANs with rate controls, beside ns-3."""
    return page.aggregation(compared(aggregates.RATED, seeds, CHAINS), "ns-3")


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(prog="python -m validation.rate_control", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="of runs with a rate control")
    options = parser.parse_args()
    print(links(options.seeds), steps(options.seeds), fades(options.seeds), tcp(options.seeds), sep="\n\n")


if __name__ == "__main__":
    main()
