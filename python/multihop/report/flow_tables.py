"""Tables of the flows and losses of a single scheme."""

from __future__ import annotations

import numpy as np

from multihop.experiments.comparisons import VariantRuns
from multihop.report.charts import bars
from multihop.report.markup import remark, table
from multihop.results.columns import METRIC, TABLES, Metric
from multihop.results.statistics import estimate_or_none
from multihop.results.words import three_digits, with_interval

#: Metric of each column of flows.
_METRICS = {
    "goodput_bps": Metric("", "goodput", "Mb/s", 1e-6, higher_is_better=True),
    "delay_p50_s": Metric("", "delay p50", "ms", 1e3, higher_is_better=False),
    "delay_p95_s": Metric("", "p95", "ms", 1e3, higher_is_better=False),
    "rtt_mean_s": Metric("", "RTT", "ms", 1e3, higher_is_better=False),
    "loss_ratio": Metric("", "lost", "%", 1e2, higher_is_better=False),
    "retransmission_ratio": Metric("", "repeated", "%", 1e2, higher_is_better=False),
}

#: Most flows in a table, those with the least goodput.
_MOST_FLOWS = 100


def service(runs: VariantRuns) -> str:
    """Returns a row per flow: means over seeds with 95 % intervals, and its optimum if known."""
    variant = runs.variants[0]
    results = runs.results[variant]
    flows = results[0].view["flows"]
    best = None if runs.not_comparable is not None else runs.optima[variant].rates_bps
    values = {name: np.array([run.flows[name].to_numpy(dtype=float) for run in results]) for name in _METRICS}
    least = np.argsort(values["goodput_bps"].mean(axis=0), kind="stable")[:_MOST_FLOWS]
    rows = []
    for flow in sorted(int(number) for number in least):
        cells = [_cell(values[name][:, flow], metric) for name, metric in _METRICS.items()]
        fair = [] if best is None else [three_digits(best[flow] / 1e6)]
        rows.append([flows[flow]["name"], flows[flow]["scheme"], str(flows[flow]["hops"]), cells[0], *fair, *cells[1:]])
    heads = [metric.heading for metric in _METRICS.values()]
    heads[1:1] = [] if best is None else ["fair optimum"]
    left = len(flows) - len(rows)
    seeds = "Means over seeds ± half of the 95 % interval (Student t). " if len(results) > 1 else ""
    more = f"The {len(rows)} flows with the least goodput; {left} more are in the tables." if left else ""
    return table(["flow", "scheme", "hops", *heads], rows, names=2) + remark(seeds + more)


def losses(runs: VariantRuns) -> str:
    """Returns a row per cause of lost data packets."""
    metric = METRIC["loss_ratio"]
    rows = [
        [
            cause.replace("_", " "),
            _cell(bars.loss_shares(runs, runs.variants[0], cause) / metric.scale, metric),
            TABLES["flows"][f"dropped_{cause}"].meaning,
        ]
        for cause in bars.lost_causes(runs)
    ]
    return table(["cause", "lost [%]", "meaning"], rows, "wrap")


def _cell(values: np.ndarray, metric: Metric) -> str:
    return with_interval(estimate_or_none(values), metric)
