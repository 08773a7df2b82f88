"""HTML page of a measured capture."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from multihop.measurement import ENOUGH, Measurement, Sniffer
from multihop.report.charts.captured import draw_airtime
from multihop.report.markup import document, escape, facts, section, table
from multihop.report.svg import Chart, legend_above, style
from multihop.results.provenance import build
from multihop.results.words import share, three_digits

#: Colours of lines of estimators.
_LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")

#: Stations in the overview.
_FIRST_ROWS = 5

#: Most stations and links in a table.
_MOST_ROWS = 50


def page(found: Measurement) -> str:
    """Returns the report as one HTML file that needs no network."""
    parts = [f"<header><h1>{escape(found.path.name)}</h1></header>"]
    if found.broken is not None:
        parts.append(section("Broken", f"<p>{escape(found.broken)}</p>"))
    parts.append(section("Overview", _first_screen(found)))
    if len(found.sniffers) > 1:
        parts.append(section("Sniffers", _overview(found)))
    if any(sniffer.hops for sniffer in found.sniffers):
        said = "The radio changed its channel: each channel is measured over the time that the radio listened there."
        parts.append(section("Channels", _channels(found), said))
    with style():
        for sniffer in found.sniffers:
            parts += _sniffer(found, sniffer)
    about = [
        ("multihop", build()),
        ("records", f"{found.records}"),
        ("bytes", f"{found.bytes}"),
        ("command", f"multihop measure {found.path.name}"),
    ]
    parts.append(section("Provenance", facts(about)))
    return document(f"{found.path.name}: measured", "\n".join(parts))


def _first_screen(found: Measurement) -> str:
    """Returns the overview: channel use, slowest link, busiest stations, quality and reasons.

    Of several sniffers, the one with the most records is described.
    """
    if not found.sniffers:
        return "<p>There is no record.</p>"
    sniffer = found.main_sniffer
    of = f"At {sniffer.title}, the sniffer with the most records: " if len(found.sniffers) > 1 else ""
    grade = "; ".join([f"Capture quality: {sniffer.grade}", *sniffer.reasons[:2]])
    said = " ".join(found.summary(sniffer))
    rows = [
        [found.names.label(str(row["station"])), f"{row['frames']}", share(row["share"]), share(row["retry_ratio"])]
        for row in found.busiest(sniffer).head(_FIRST_ROWS).to_dict("records")
    ]
    busiest = table(["busiest stations", "frames", "airtime", "data sent again"], rows, "stations") if rows else ""
    return f"<p>{escape(of + said)}</p>{busiest}<p>{escape(grade)}.</p>"


def _overview(found: Measurement) -> str:
    """Returns a row per sniffer: records, channel use, and the link with most bytes."""
    heads = ["sniffer", "records", "length [s]", "stations", "on the air", "quality", "link with most bytes", "Mb/s"]
    heads += ["capacity", "available"]
    cells = []
    for sniffer in found.sniffers[:_MOST_ROWS]:
        links = found.of(found.links, sniffer).nlargest(1, "bytes").to_dict("records")
        best = [
            [
                f"{link['sender']} to {link['receiver']}",
                *(_number(link[f"{name}_bps"] / 1e6, 3) for name in ("goodput", "capacity", "available")),
            ]
            for link in links
        ]
        cells.append(
            [
                sniffer.title,
                f"{sniffer.quality['records']}",
                f"{sniffer.length_s:.3f}",
                f"{len(found.of(found.stations, sniffer))}",
                _on_the_air(found, sniffer),
                sniffer.grade,
                *(best[0] if best else ["none", "", "", ""]),
            ]
        )
    more = len(found.sniffers) - _MOST_ROWS
    return table(heads, cells) + (f"<p>... and {more} more</p>" if more > 0 else "")


def _channels(found: Measurement) -> str:
    """Returns a row per channel: listening time and busy ratio."""
    rows = found.channels
    heads = [
        "interface",
        "channel",
        "MHz",
        "listened [s]",
        "of the time",
        "frames",
        "stations",
        "on the air",
        "quality",
    ]
    cells = [
        [
            f"{row['interface']}",
            f"{row['channel'] or ''}",
            f"{row['channel_mhz']}",
            f"{row['length_s']:.3f}",
            share(row["share"]),
            f"{row['frames']}",
            f"{row['stations']}",
            share(row["busy_ratio"]),
            row["grade"],
        ]
        for row in rows.head(_MOST_ROWS).to_dict("records")
    ]
    return table(heads, cells) + _rest(rows)


def _on_the_air(found: Measurement, sniffer: Sniffer) -> str:
    if not found.knows_airtime(sniffer):
        return "unknown"
    at_least = "at least " if sniffer.quality["unknown_airtime"] else ""
    return f"{at_least}{100 * found.busy_ratio(sniffer):.1f} %"


def _sniffer(found: Measurement, sniffer: Sniffer) -> list[str]:
    reasons = "".join(f"<li>{escape(reason)}</li>" for reason in sniffer.reasons)
    stamps = {"begin": "the beginning of frames", "mpdu": "the first bit of their MAC header", "end": "their end"}
    about = [
        ("capture quality", sniffer.grade),
        ("length", f"{sniffer.length_s:.3f} s"),
        ("on the air", f"{_on_the_air(found, sniffer)} of the time, by decoded frames"),
        ("stamps mark", f"{stamps[sniffer.stamps]}, by {sniffer.stamp_pairs} pairs of a frame and its response"),
        *([("the sniffer is", sniffer.own)] if sniffer.own else []),
    ]
    over_time = _over_time(found, sniffer)
    return [
        section(sniffer.title, facts(about) + (f"<ul>{reasons}</ul>" if reasons else "")),
        section(
            "Airtime over time", over_time, "Share of each bin, by kind of frame; the rest is idle or not decoded."
        ),
        section(
            "Stations",
            _stations(found, sniffer),
            "By airtime. Service: from the first transmission of a data frame to its ACK.",
        ),
        section(
            "Links",
            _links(found, sniffer),
            "By acknowledged bytes. Capacity: rt-Winf as printed (Barreto 2015, Eqs. 6 and 12), means of batches of "
            "16 exchanges with 95 % intervals. Available: capacity times the share of time without a frame on the air. "
            "MPDUs in each: per A-MPDU; tries: transmissions per acknowledged frame; airtime: of acknowledged "
            "exchanges; rate: mean over frames.",
        ),
        section(
            "Bit rates of data",
            _rates(found, sniffer),
            "All transmissions of data frames by the link.",
        ),
        section(
            "Estimates",
            _estimates(found, sniffer),
            f"Estimates at {sniffer.at or 'a sniffer that sends nothing'}: over time, and the mean with the 5 % and "
            "95 % quantiles. Estimators of links and service use the frames that this node sends and receives.",
        ),
    ]


def _over_time(found: Measurement, sniffer: Sniffer) -> str:
    chart = Chart(f"air{sniffer.interface}-{sniffer.channel_mhz}", f"Airtime over time at {sniffer.title}", 9.0, 2.8)
    axis: Any = chart.figure.subplots()
    draw_airtime(chart, axis, found=found, sniffer=sniffer)
    if len(axis.patches) > 0:
        legend_above(axis, 9.0)
    return chart.svg()


#: Heading, factor to the displayed unit, and decimals of each column of estimates.
QUANTITIES = {
    "capacity_bps": ("capacity [Mb/s]", 1e-6, 3),
    "available_bps": ("available [Mb/s]", 1e-6, 3),
    "packet_throughput_bps": ("packet throughput [Mb/s]", 1e-6, 3),
    "service_delay_s": ("service delay [ms]", 1e3, 3),
    "transmission_efficiency": ("transmission efficiency", 1.0, 3),
    "busy_ratio": ("busy ratio", 1.0, 3),
}


def summarised(row: dict[Hashable, Any], scale: float, decimals: int) -> list[str]:
    """Returns mean and quantiles of a quantity, with as many digits as the number of values justifies.

    Few values have three digits and no quantiles.
    """
    count = int(row["count"])
    if count < ENOUGH:
        return [three_digits(scale * row["mean"]), "", ""]
    return [_number(scale * row[key], decimals) for key in ("mean", "q05", "q95")]


#: Most points of a line; more are averaged.
_MOST_POINTS = 600


def _estimates(found: Measurement, sniffer: Sniffer) -> str:
    rows = found.of(found.estimates, sniffer)
    if rows.empty:
        return f"<p>None: {escape(found.why_no_estimates(sniffer))}.</p>"
    chart = Chart(
        f"estimates{sniffer.interface}-{sniffer.channel_mhz}",
        f"Available bandwidth over time at {sniffer.title}",
        9.0,
        2.8,
    )
    axis: Any = chart.figure.subplots()
    series = rows.dropna(subset="available_bps")
    panel = chart.panel(axis, "time [s]", "available [Mb/s]", cursor=True, zooms=True)
    for colour, (name, of) in zip(_LINES, series.groupby("estimator", sort=False), strict=False):
        group = np.arange(len(of)) // max(1, -(-len(of) // _MOST_POINTS))
        points = of[["time_s", "available_bps"]].groupby(group).mean()
        panel.line(str(name), colour).extend(points["time_s"], points["available_bps"] / 1e6)
        axis.plot(
            points["time_s"],
            points["available_bps"] / 1e6,
            color=colour,
            label=name,
            marker="." if len(points) < 3 else "",
        )
    axis.set_xlabel("time [s]")
    axis.set_ylabel("available [Mb/s]")
    axis.set_ylim(bottom=0)
    if axis.lines:
        legend_above(axis, 9.0)
    summary = found.estimates_over_time
    cells = []
    for row in found.of(summary, sniffer).to_dict("records"):
        name, scale, decimals = QUANTITIES[str(row["quantity"])]
        cells.append([str(row["estimator"]), name, *summarised(row, scale, decimals)])
    pictures = chart.svg() if axis.lines else ""
    return pictures + table(["estimator", "of", "mean", "5 %", "95 %"], cells, names=2)


def _stations(found: Measurement, sniffer: Sniffer) -> str:
    rows = found.busiest(sniffer)
    heads = ["station", "frames", "airtime", "data sent again", "signal [dBm]", "service [ms]"]
    cells = [
        [
            found.names.label(str(row["station"])),
            f"{row['frames']}",
            share(row["share"]) if row["airtime_s"] > 0 else "unknown",
            share(row["retry_ratio"]),
            _number(row["signal_mean_dbm"], 0),
            _number(1e3 * row["service_mean_s"], 2),
        ]
        for row in rows.head(_MOST_ROWS).to_dict("records")
    ]
    return table(heads, cells) + _rest(rows)


def _links(found: Measurement, sniffer: Sniffer) -> str:
    rows = found.of(found.links, sniffer).sort_values("bytes", ascending=False)
    heads = ["from", "to", "exchanges", "answered", "MPDUs in each", "tries", "airtime", "rate [Mb/s]"]
    heads += ["goodput [Mb/s]", "capacity [Mb/s]", "available [Mb/s]"]
    cells = [
        [
            *(found.names.short(str(row[end])) for end in ("sender", "receiver")),
            f"{row['exchanges']}",
            f"{row['answered']}",
            _number(row["aggregate_mean"], 1),
            _number(row["tries_mean"], 2),
            share(row["airtime"]),
            _number(row["rate_mean_bps"] / 1e6, 1),
            _number(row["goodput_bps"] / 1e6, 3),
            _rate(row, "capacity"),
            _rate(row, "available"),
        ]
        for row in rows.head(_MOST_ROWS).to_dict("records")
    ]
    return table(heads, cells, names=2) + _rest(rows)


def _rates(found: Measurement, sniffer: Sniffer) -> str:
    rows = found.of(found.rates, sniffer).sort_values(["sender", "receiver", "rate_bps"], ascending=[True, True, False])
    cells = [
        [
            *(found.names.short(str(row[end])) for end in ("sender", "receiver")),
            _number(row["rate_bps"] / 1e6, 1),
            f"{row['frames']}",
            share(row["share"]),
        ]
        for row in rows.head(_MOST_ROWS).to_dict("records")
    ]
    return table(["from", "to", "rate [Mb/s]", "frames", "share"], cells, names=2) + _rest(rows)


def _rate(row: dict[Hashable, Any], what: str) -> str:
    """Formats a rate in Mb/s with its interval; with few exchanges, three digits and no interval."""
    value, low, high = (row[f"{what}{end}_bps"] / 1e6 for end in ("", "_low", "_high"))
    if row["answered"] < ENOUGH:
        return "" if value != value else three_digits(value)
    return _number(value, 3) + ("" if low != low else f" ({low:.3f}-{high:.3f})")


def _rest(rows: pd.DataFrame) -> str:
    return f"<p>... and {len(rows) - _MOST_ROWS} more</p>" if len(rows) > _MOST_ROWS else ""


def _number(value: float, decimals: int) -> str:
    return "" if value != value else f"{value:.{decimals}f}"
