"""The page of the comparison, from its rows."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from multihop import __version__
from validation.kernel.cells import MEASURED_S, WARMUP_S
from validation.kernel.recorded import MOST_LAG_MS
from validation.kernel.verdicts import GOODPUT_TOLERANCE, QUANTILE_TOLERANCE, RTT_TOLERANCE, Compared, Means, Row
from validation.measure import Agreement
from validation.page import shown, table

TEMPLATE = Path(__file__).parents[1] / "templates" / "kernel.md"


def page(rows: Sequence[Row], releases: Sequence[str]) -> str:
    """The whole page."""
    values = {
        "version": __version__,
        "kernel": ", ".join(sorted(releases)),
        "warmup": f"{WARMUP_S:g}",
        "seconds": f"{MEASURED_S:g}",
        "runs": _span([row.runs for row in rows]),
        "lag": f"{MOST_LAG_MS:g}",
        "most_lag": f"{max((row.lag_ms for row in rows), default=0.0):.2f}",
        "goodput_tolerance": f"{GOODPUT_TOLERANCE:.0%}",
        "rtt_tolerance": f"{RTT_TOLERANCE:.0%}",
        "quantile_tolerance": f"{QUANTILE_TOLERANCE:.0%}",
        "summary": summary(rows),
        "bulk": bulk([row for row in rows if not row.cell.is_short]),
        "transfers": transfers([row for row in rows if row.cell.is_short]),
    }
    text = TEMPLATE.read_text(encoding="utf-8")
    return re.sub(r"@(\w+)@", lambda found: values[found[1]], text)


def summary(rows: Sequence[Row]) -> str:
    """Number of cells by congestion control, traffic and verdict."""
    kinds = {Agreement.YES: "yes", Agreement.NO: "no", Agreement.OPEN: "open", None: "not judged"}
    lines = []
    for is_short, traffic in ((False, "bulk"), (True, "transfers")):
        for transport in dict.fromkeys(row.cell.transport for row in rows):
            chosen = [row for row in rows if row.cell.is_short is is_short and row.cell.transport == transport]
            count = Counter(row.agreement for row in chosen)
            if chosen:
                lines.append([f"{traffic}, {transport}", *(str(count[kind]) for kind in kinds)])
    return table(["traffic", *kinds.values()], lines)


def bulk(rows: Sequence[Row]) -> str:
    """Cells with bulk flows."""
    head = ["cell", "goodput [Mb/s]", "kernel", "off", "RTT [ms]", "kernel", "off"]
    head += ["retransmissions", "kernel", "RTOs", "kernel", "lag [ms]", "agrees"]
    return table(
        head,
        ([row.cell.label, *_means(row.goodput, 2), *_means(row.rtt, 1), *_counts(row), *_ends(row)] for row in rows),
    )


def transfers(rows: Sequence[Row]) -> str:
    """Cells with transfers."""
    head = ["cell", "transfers"]
    for name in ("p50", "p95", "p99"):
        head += [f"{name} [ms]", "kernel", "off"]
    head += ["retransmissions", "kernel", "RTOs", "kernel", "lag [ms]", "agrees"]
    lines = []
    for row in rows:
        times = [text for at, each in row.completions.items() for text in _quantile(each, decides=at == row.decisive)]
        count = f"{row.transfers}"
        if any(row.unfinished):
            count += f" (cut off: {row.unfinished[1]}, kernel {row.unfinished[0]})"
        lines.append([row.cell.label, count, *times, *_counts(row), *_ends(row)])
    return table(head, lines)


def _means(means: Means | None, digits: int) -> list[str]:
    if means is None:
        return ["", "", ""]
    off = f"{means.off:+.1%}"
    if means.interval is not None:
        off += f" ± {means.interval[1] - means.off:.1%}"
    return [shown(means.ours, digits), shown(means.kernel, digits), off]


def _quantile(compared: Compared, *, decides: bool) -> list[str]:
    low, high = compared.interval
    off = "" if math.isnan(compared.off) else f"{compared.off:+.0%}"
    if decides:
        off = f"**{off}** ({low:+.0%} to {high:+.0%})"
    return [f"{compared.ours.value:.0f}", f"{compared.kernel.value:.0f}", off]


def _counts(row: Row) -> list[str]:
    return [f"{each.mean:.1f}" for kernel, ours in (row.retransmissions, row.timeouts) for each in (ours, kernel)]


def _ends(row: Row) -> list[str]:
    return [f"{row.lag_ms:.2f}", row.not_judged or str(row.agreement)]


def _span(counts: Sequence[int]) -> str:
    least, most = min(counts, default=0), max(counts, default=0)
    return f"{least}" if least == most else f"{least} to {most}"
