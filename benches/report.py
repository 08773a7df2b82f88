"""Tables of measurements on a terminal or as Markdown."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

OURS = "multihop"

#: Note under the first table.
MEMORY_NOTE = (
    "Memory is the growth of the process during the run. With few nodes it is mostly what a run needs anyway: "
    "look at the largest networks for the cost of a node."
)
#: Note under the second table.
PEERS_NOTE = (
    "User CPU without set-up (of ns-2, also without the convergence of routes), of runs that were made one after the "
    "other, of as many simulated seconds and the same seed; times is the median over such pairs, with the least and "
    "the most. Goodput, a mean over runs, shows how far the same work was done. ns-2 has our rules, but finds routes "
    "of its own, which in a grid depend on the seed; ns-3 has our routes, but the standard's rules, its own TCP, and "
    "cumulative interference. Where goodputs differ, the work differs as well, and CPU per delivered bit is the better "
    "measure, though a rough one."
)


def print_tables(results: dict[str, Any], console: Console) -> None:
    """Prints the tables."""
    console.print(f"{results['machine']}; {versions(results)}; {runs(results)}", highlight=False)
    tables = [(own_table(results), MEMORY_NOTE)]
    if len(results["versions"]) > 1:
        tables.append((peer_table(results), PEERS_NOTE))
    for (header, rows), note in tables:
        table = Table(*header[:1], box=None, pad_edge=False)
        for title in header[1:]:
            table.add_column(title, justify="right")
        for row in rows:
            table.add_row(*row)
        console.print()
        console.print(table, highlight=False)
        console.print(note, style="dim", highlight=False)


def markdown(results: dict[str, Any]) -> str:
    """Page with the tables, without anything but measurements that changes from day to day."""
    parts = ["# Speed and memory", f"{results['machine']}; {versions(results)}; {runs(results)}."]
    parts += [as_markdown(*own_table(results)), MEMORY_NOTE]
    if len(results["versions"]) > 1:
        parts += ["## Beside ns-2 and ns-3", as_markdown(*peer_table(results)), PEERS_NOTE]
    parts += ["## Scenarios", "\n".join(f"- `{case['name']}`: {case['description']}" for case in results["cases"])]
    return "\n\n".join(parts) + "\n"


def own_table(results: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: speed and memory of our runs."""
    header = ["scenario", "nodes", "flows", "simulated s", "events", "M events/s"]
    header += ["CPU ms/simulated s", "min to max", "set-up ms", "memory MB", "kB/node"]
    rows = []
    for case in results["cases"]:
        if OURS not in case["simulators"]:
            rows.append([case["name"], "failed", *["-"] * 9])
            continue
        found = case["simulators"][OURS]
        cost = found["cpu_ms_per_simulated_s"]
        rows.append(
            [
                case["name"],
                f"{found['nodes']}",
                f"{found['flows']}",
                f"{found['simulated_s']:g}",
                f"{found['events']:,}",
                f"{found['events_per_cpu_s'] / 1e6:.1f}",
                digits(cost["median"]),
                f"{digits(cost['min'])} to {digits(cost['max'])}",
                f"{found['setup_cpu_ms']:.1f}",
                f"{found['run_kb'] / 1e3:.1f}",
                f"{found['run_kb_per_node']:.1f}",
            ]
        )
    return header, rows


def peer_table(results: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: cost and deliveries of each peer and of multihop in the same simulated seconds."""
    header = ["scenario", "peer", "simulated s", "peer ms/s", "ours ms/s", "times", "min to max"]
    header += ["peer kb/s", "ours kb/s", "peer ns/bit", "ours ns/bit", "times per bit"]
    rows = []
    for case in results["cases"]:
        for name, found in case["peers"].items():
            multiple = found["multiple"]
            rows.append(
                [
                    case["name"],
                    name,
                    f"{found['simulated_s']:g}",
                    *(digits(found[who]["cpu_ms_per_simulated_s"]["median"]) for who in ("peer", OURS)),
                    digits(multiple["median"]),
                    f"{digits(multiple['min'])} to {digits(multiple['max'])}",
                    *(f"{found[who]['goodput_kbps']:.0f}" for who in ("peer", OURS)),
                    *(digits(found[who]["cpu_ns_per_bit"]) for who in ("peer", OURS)),
                    digits(found["multiple_per_bit"]),
                ]
            )
        rows += [[case["name"], name, "failed", *["-"] * 9] for name in case["failed"] if name != OURS]
    return header, rows


def versions(results: dict[str, Any]) -> str:
    """Versions of the simulators, as text."""
    return ", ".join(f"{name} {version}" for name, version in results["versions"].items())


def runs(results: dict[str, Any]) -> str:
    """Number of runs, as text."""
    count = results["repetitions"]
    return "one run each" if count == 1 else f"median of {count} runs"


def digits(value: float) -> str:
    """Formats a number with three significant digits, without an exponent."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"


def as_markdown(header: list[str], rows: list[list[str]]) -> str:
    """Formats a table in GitHub's Markdown."""
    rule = ["---", *("---:" for _ in header[1:])]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, rule, *rows])
