"""The validation page, from the rows of the checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from multihop.results.statistics import Estimate
from validation.aggregation import AggregationRow
from validation.checks import CellRow, ChainRow, DsdvRow, RecnRow, XcpRow
from validation.interference import InterferenceRow

#: He et al. 2017, Table 3: total throughput in kb/s and mean frame transmission efficiency, with RECN and without ECN.
PAPER = {
    "recn": ([244.58, 556.11, 707.89, 640.80, 727.27], [0.761, 0.760, 0.758, 0.756, 0.753]),
    "tcp-newreno": ([232.39, 317.64, 323.81, 399.18, 373.71], [0.645, 0.640, 0.646, 0.613, 0.624]),
}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, numbers to the right."""
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(["---"] + ["--:"] * (len(head) - 1)) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def shown(value: Estimate, digits: int) -> str:
    """A mean with the half-width of its interval."""
    half = value.half_width
    return f"{value.mean:.{digits}f}" + ("" if half is None else f" ± {half:.{digits}f}")


def chains(rows: list[ChainRow], peer: str, goodput_tolerance: float) -> str:
    """Chains beside a peer."""

    def cells(row: ChainRow) -> list[str]:
        rtt = ["", "", ""]
        if row.rtt is not None:
            rtt = [f"{row.rtt.measured.mean:.3f}", f"{row.rtt.reference:.3f}", f"{row.rtt.off:+.1%}"]
        goodput = row.goodput
        reference = f"{goodput.reference:.1f} ± {goodput.reference_ci:.1f}"
        return [
            f"{row.flow}, {row.hops}",
            shown(goodput.measured, 1),
            reference,
            f"{goodput.off:+.1%}",
            *rtt,
            row.agreement(goodput_tolerance),
        ]

    head = ["flow, hops", "goodput [kb/s]", peer, "off", "RTT [s]", peer, "off", "agrees"]
    return table(head, map(cells, rows))


def saturation(rows: list[CellRow], reference: str) -> str:
    """Saturated cells beside a reference."""

    def cells(row: CellRow) -> list[str]:
        access = "RTS/CTS" if row.rts else "basic"
        goodput = row.goodput
        collision: list[str] = []
        if row.collision is not None:
            measured, model = row.collision
            collision = [f"{measured.mean:.4f}", f"{model:.4f}", f"{(measured.mean - model) * 100:+.2f}"]
        ours = shown(goodput.measured, 4)
        return [f"{row.stations}, {access}", ours, f"{goodput.reference:.4f}", f"{goodput.off:+.2%}", *collision]

    head = ["stations", "goodput [Mb/s]", reference, "off"]
    if rows and rows[0].collision is not None:
        head += ["collisions", reference, "points"]
    return table(head, map(cells, rows))


def recn(rows: list[RecnRow]) -> str:
    """RECN's chain beside the paper and beside ns-2."""

    def cells(row: RecnRow) -> list[str]:
        at = row.flows - 1
        out = [f"{row.flows}"]
        for scheme in ("tcp-newreno", "recn"):
            goodput, efficiency = PAPER[scheme]
            out += [shown(row.goodput[scheme], 1), f"{goodput[at]:.1f}", f"{row.efficiency[scheme].mean:.3f}"]
            delay = f"{row.delay_p95_s[scheme].mean:.2f}"
            out += [f"{efficiency[at]:.3f}", f"{row.jain[scheme].mean:.2f}", delay]
        peer = row.ns2
        return [*out, "" if peer is None else f"{peer.reference:.1f} ± {peer.reference_ci:.1f}"]

    head = ["flows"]
    for name in ("no ECN", "RECN"):
        head += [f"{name} [kb/s]", "paper", "R_FTE", "paper", "Jain", "p95 delay [s]"]
    text = []
    for at_w1, title in ((True, "Sources at w1 (three hops)"), (False, "Sources 150 m left of w1 (four hops)")):
        text += [f"**{title}**", table([*head, "ns-2, no ECN"], [cells(row) for row in rows if row.at_w1 is at_w1])]
    return "\n\n".join(text)


def recn_dsdv(rows: list[DsdvRow]) -> str:
    """RECN's chain over live DSDV beside ns-2."""

    def cells(row: DsdvRow) -> list[str]:
        goodput = row.goodput
        return [
            f"{row.flows}, {'w1' if row.at_w1 else '150 m left'}",
            shown(goodput.measured, 1),
            f"{goodput.reference:.1f} ± {goodput.reference_ci:.1f}",
            f"{goodput.off:+.1%}",
            row.agreement,
        ]

    return table(["flows, from", "goodput [kb/s]", "ns-2", "off", "agrees"], map(cells, rows))


def xcp(rows: list[XcpRow]) -> str:
    """XCP over chains beside ns-2's."""

    def cells(row: XcpRow) -> list[str]:
        numbers = [
            text
            for against in (row.goodput, row.timeouts)
            for text in (
                shown(against.measured, 1),
                f"{against.reference:.1f} ± {against.reference_ci:.1f}",
                f"{against.off:+.1%}",
            )
        ]
        return [str(row.hops), *numbers, row.goodput.agreement(0.05)]

    head = ["hops", "goodput [kb/s]", "ns-2", "off", "timeouts in 200 s", "ns-2", "off", "goodput agrees"]
    return table(head, map(cells, rows))


def interference(rows: list[InterferenceRow]) -> str:
    """Cells in which interference decides beside ns-3."""

    def cells(row: InterferenceRow) -> list[str]:
        goodput, shares = row.goodput, row.jain
        return [
            row.cell,
            shown(goodput.measured, 0),
            f"{goodput.reference:.0f} ± {goodput.reference_ci:.0f}",
            f"{goodput.off:+.1%}",
            shown(shares.measured, 3),
            f"{shares.reference:.3f} ± {shares.reference_ci:.3f}",
            f"{shares.off:+.1%}",
            row.agreement,
        ]

    return table(["cell", "goodput [kb/s]", "ns-3", "off", "Jain", "ns-3", "off", "agrees"], map(cells, rows))


def aggregation(rows: list[AggregationRow], reference: str) -> str:
    """Cells of 802.11n, ac and ax beside a reference."""

    def cells(row: AggregationRow) -> list[str]:
        numbers = []
        for against, digits in ((row.goodput, 0), (row.delay, 3)):
            theirs = "" if against is None else f"{against.reference:.{digits}f}"
            if against is not None and against.reference_ci > 0:
                theirs += f" ± {against.reference_ci:.{digits}f}"
            ours = "" if against is None else shown(against.measured, digits)
            numbers += [ours, theirs, "" if against is None else f"{against.off:+.1%}"]
        return [row.cell, *(numbers if delays else numbers[:3]), row.agreement]

    delays = any(row.delay is not None for row in rows)
    head = ["cell", "goodput [kb/s]", reference, "off"]
    head += ["delay [ms]", reference, "off"] if delays else []
    return table([*head, "agrees"], map(cells, rows))


def fill(**parts: str) -> str:
    """The whole page: `templates/validation.md` with each `@name@` replaced."""
    text = (Path(__file__).parent / "templates" / "validation.md").read_text()
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    made = "Made by `make validation` from validation/templates/validation.md; changes made here are lost."
    return f"<!-- {made} -->\n{text}"
