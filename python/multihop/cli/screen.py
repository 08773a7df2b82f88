"""Output of `run` and `compare`: a summary in sentences, then tables; or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from multihop.cli import console
from multihop.results.provenance import record

if TYPE_CHECKING:
    from multihop.api.results import Comparison
    from multihop.results.columns import Metric

#: Maximum number of lines of the summary.
_MAX_LINES = 12

#: Maximum number of flows in the table of a comparison.
_MAX_FLOWS = 12


def print_run(comparison: Comparison, *, why: bool = False) -> None:
    """Prints the output of `run`: summary, flows, metrics of the network."""
    _print_summary(comparison, "", why=why)
    _print_flows(comparison)
    _print_metrics(comparison, comparison.measured_metrics)
    _print_remarks(comparison)


def _print_remarks(comparison: Comparison) -> None:
    from multihop.experiments.verdicts import remarks

    for sentence in remarks(comparison):
        console.paragraph(sentence)


def print_comparison(comparison: Comparison) -> None:
    """Prints the output of `compare`: summary, then tables."""
    significance = ""
    if len(comparison.seeds) > 1 and len(comparison.variants) > 1:
        significance = "; better means beyond chance (p < 0.05, table below)"
    _print_summary(comparison, significance, why=True)
    _print_rates(comparison)
    _print_metrics(comparison, comparison.metrics)
    _print_differences(comparison)
    for sentence in comparison.about_optimum():
        console.say(sentence)
    _print_remarks(comparison)


def _print_summary(comparison: Comparison, significance: str, *, why: bool) -> None:
    """Prints a summary of at most twelve lines."""
    from multihop.experiments.verdicts import first_screen, shortened
    from multihop.explanation.explain import causes_of
    from multihop.results.words import counted

    view = comparison.view
    schemes = f"{', '.join(comparison.variants)}; " if len(comparison.variants) > 1 else ""
    flows, seeds = counted(len(view["flows"]), "flow"), counted(len(comparison.seeds), "seed")
    head = [f"{view['name']}: {schemes}{flows}, {seeds}{significance}."]
    head += [comparison.varied] if comparison.varied is not None else []
    *findings, last = first_screen(comparison)
    sentences = [*findings, *(causes_of(comparison) if why else []), last]
    room = _MAX_LINES - sum(len(console.lines(sentence)) for sentence in head)
    for sentence in (*head, *shortened(sentences, room, lambda sentence: len(console.lines(sentence)))):
        console.paragraph(sentence)
    console.say()


def _print_flows(comparison: Comparison) -> None:
    """Prints a table of flows: means over seeds, and loss ratio over the packets of all seeds."""
    from multihop.results.words import fixed

    flows = comparison.flows
    # Where nodes move, the number of hops is that at the start, which may differ between seeds.
    moving = any(node["moves"] for results in comparison.results.values() for node in results[0].view["nodes"])
    columns = ["hops", "goodput_bps", "delay_p50_s", "delay_p95_s", "retransmission_ratio"]
    keys = ["flow", "name", "scheme"]
    means = flows.groupby(keys, sort=False)[columns].mean().reset_index()
    lost = comparison.loss_ratios(comparison.variants[0])
    rows = [
        [
            str(row["name"]),
            str(row["scheme"]),
            f"{row['hops']:.3g}",
            fixed(row["goodput_bps"] / 1e6, 3),
            _milliseconds(row["delay_p50_s"]),
            _milliseconds(row["delay_p95_s"]),
            fixed(lost[row["flow"]] * 100, 2),
            fixed(row["retransmission_ratio"] * 100, 2),
        ]
        for row in means.to_dict("records")
    ]
    heads = [
        "flow",
        "scheme",
        "hops at first" if moving else "hops",
        "goodput Mb/s",
        "delay p50 ms",
        "p95 ms",
        "lost %",
        "repeated %",
    ]
    console.out().print(console.table(heads, rows))
    console.say()


def _print_rates(comparison: Comparison) -> None:
    """Prints goodput and loss ratio by flow and scheme; of many flows, those with the lowest goodput."""
    from multihop.results.words import fixed

    flows = comparison.view["flows"]
    rates = {variant: comparison.rates(variant).mean(axis=0) for variant in comparison.variants}
    lost = {variant: comparison.loss_ratios(variant) for variant in comparison.variants}
    by_rate = sorted(range(len(flows)), key=lambda flow: max(rate[flow] for rate in rates.values()))
    rows = [
        [
            flows[flow]["name"],
            str(flows[flow]["hops"]),
            *(f"{fixed(rates[v][flow] / 1e6, 3)} ({fixed(lost[v][flow] * 100, 1)} %)" for v in comparison.variants),
        ]
        for flow in sorted(by_rate[:_MAX_FLOWS])
    ]
    console.out().print(console.table(["goodput Mb/s (packets lost)", "hops", *comparison.variants], rows))
    if len(flows) > _MAX_FLOWS:
        console.say(f"these {_MAX_FLOWS} of {len(flows)} flows have the lowest goodput; --out and --json list all")
    console.say()


def _print_metrics(comparison: Comparison, metrics: Sequence[Metric]) -> None:
    """Prints a table of metrics by variant: mean and 95 % interval."""
    from multihop.results.words import SCREEN_DIGITS, fixed, with_interval

    seeds = len(comparison.seeds)
    rows = []
    for m in metrics:
        if m.name == "loss_ratio" and seeds > 1:
            # As in the sentences and the table of flows, each seed is weighted by its packets.
            lost = (comparison.loss_ratios(v)[-1] for v in comparison.variants)
            rows.append([f"{m.title}, all seeds together [{m.unit}]", *(fixed(100 * each, 2) for each in lost)])
        else:
            estimates = (comparison.estimate(v, m.name) for v in comparison.variants)
            rows.append([m.heading, *(with_interval(each, m, SCREEN_DIGITS) for each in estimates)])
    heading = f"mean ± 95 % interval over {seeds} seeds" if seeds > 1 else "one seed, so no interval"
    console.out().print(console.table([heading, *comparison.variants], rows))
    console.say()


def _print_differences(comparison: Comparison) -> None:
    """Prints a table of differences: each pair of schemes, paired by seed."""
    from multihop.experiments.verdicts import differences
    from multihop.results.words import signed

    rows = []
    for each in differences(comparison):
        found, metric = each.difference, each.metric
        known = found.low is not None and found.high is not None and each.adjusted_p is not None
        interval = f"{signed(metric, found.low or 0.0)} to {signed(metric, found.high or 0.0)}" if known else "none"
        p = "none" if each.adjusted_p is None else "< 0.001" if each.adjusted_p < 0.001 else f"{each.adjusted_p:.2g}"
        rows.append([metric.heading, f"{each.a} - {each.b}", signed(metric, found.mean), interval, p])
    if rows:
        console.out().print(console.table(["difference", "of", "mean", "95 % interval", "p (Holm)"], rows))
        console.say()


def _milliseconds(seconds: float) -> str:
    """Formats a delay in milliseconds, with more digits below 1 ms, where single hops are."""
    from multihop.results.words import fixed

    return fixed(seconds * 1e3, 3 if seconds < 1e-3 else 1)


def as_json_value(comparison: Comparison) -> dict[str, Any]:
    """Returns the JSON output of runs."""
    first = comparison.first
    return {
        **record(),
        "command": comparison.command,
        "scenario": {"name": first.view["name"], "hash": first.view["hash"]},
        "seeds": comparison.seeds,
        "varied": comparison.varied,
        "runs": [
            {
                "variant": name,
                "seed": result.seed,
                "summary": result.summary,
                "flows": result.flows.to_dict("records"),
            }
            for name, results in comparison.results.items()
            for result in results
        ],
        "statistics": comparison.statistics(),
        "verdict": comparison.verdict(),
    }
