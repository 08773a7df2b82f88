"""Cost of the league's networks of modern radios compared with similar legacy networks.

    python benches/league.py                 every scheme of the league once on each network
    python benches/league.py --schemes tcp-newreno --seeds 20

User CPU of whole runs, set-up included: in all, and per simulated second.
"""

from __future__ import annotations

import argparse
import resource

from multihop import leagues, run
from multihop.results.words import markdown_table


def cost(network: leagues.Network, compared: list[str], seeds: int) -> tuple[float, float]:
    """User CPU time of the runs of all schemes, and simulated time of a run, in seconds."""
    study = leagues.study(network, compared)
    settings = [study.overrides(point) for point in range(len(study.plan.points))]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    for given in settings:
        for seed in range(1, seeds + 1):
            run(network.scenario, seed=seed, **given)
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime - before, study.plan.views[0]["duration"]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemes", help="only these, as in recn,tcp-newreno")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each scheme")
    options = parser.parse_args()
    compared = leagues.schemes(options.schemes.split(",") if options.schemes else None)
    networks = {network.name: network for network in leagues.networks()}
    pairs = [(networks[network.beside], network) for network in networks.values() if network.beside]
    costs = {network.name: cost(network, compared, options.seeds) for pair in pairs for network in pair}
    rows = []
    for legacy, modern in pairs:
        (before_s, legacy_s), (now_s, modern_s) = costs[legacy.name], costs[modern.name]
        cells = [f"{now_s:.2f} s", f"{before_s:.2f} s", f"{now_s / before_s:.1f}"]
        rows.append([modern.title, legacy.title, *cells, f"{now_s / modern_s * legacy_s / before_s:.1f}"])
    heads = ["network", "beside", "CPU", "CPU of that", "times", "per simulated second"]
    print("\n".join(markdown_table(heads, rows)))


if __name__ == "__main__":
    main()
