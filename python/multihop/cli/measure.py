"""`measure`: airtime, links and stations of a capture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from multihop import measurement
from multihop.base.errors import UserError
from multihop.cli import console
from multihop.cli.runs import JsonOption
from multihop.measurement import Measurement, Sniffer

#: Stations and links of each interface that are printed.
_MOST_ROWS = 20


def measure(
    captures: Annotated[
        list[Path],
        typer.Argument(
            metavar="CAPTURE...",
            help="Monitor-mode captures, pcap or pcapng; several of the same scene are compared.",
            show_default=False,
        ),
    ],
    bin: Annotated[str, typer.Option(help="Width of the bins of time.")] = "1 s",
    stamps: Annotated[
        str | None, typer.Option(help="What stamps mark: begin, mpdu or end of a frame; found out by default.")
    ] = None,
    station: Annotated[
        str | None, typer.Option(help="Address of the station whose estimators are run; that of the radio by default.")
    ] = None,
    estimators: Annotated[
        Path | None,
        typer.Option(help="A file with [[measure]] tables, as in scenarios: the estimators, and their options."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the tables (Parquet and CSV) into this folder.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Report airtime by station, link capacities and capture quality of monitor-mode captures."""
    if out is not None and len(captures) > 1:
        raise UserError("--out: found with several captures; measure one at a time, or leave it out")
    seen = []
    for capture in captures:
        found = measurement.measure(capture, bin=bin, stamps=stamps, station=station, estimators=estimators)  # type: ignore[arg-type]
        seen.append(found)
        if not as_json:
            for sniffer in found.sniffers:
                _print(found, sniffer, capture if len(captures) > 1 else None)
    if as_json:
        records = [found.record() for found in seen]
        console.print_json(records if len(records) > 1 else records[0])
    elif sum(len(found.sniffers) for found in seen) > 1:
        _print_side_by_side(seen)
    if out is not None:
        from multihop.report.measurement_files import save

        for path in save(seen[0], out):
            console.note(f"written: {path}", quiet=as_json)
    broken = [f"{found.path}: {found.broken}" for found in seen if found.broken is not None]
    if broken:
        raise UserError("; ".join(broken) + "; what was read before it is above")


def _print(found: Measurement, sniffer: Sniffer, capture: Path | None) -> None:
    records, stations = sniffer.quality["records"], len(_of(found.stations, sniffer))
    where = f"{capture}, " if capture is not None else ""
    console.say(f"{where}{sniffer.title}: {records} records in {sniffer.length_s:.3f} s, {stations} stations")
    console.say(f"capture quality: {sniffer.grade}")
    for reason in sniffer.reasons:
        console.say(f"  {reason}")
    console.say()
    _print_kinds(found, sniffer)
    _print_stations(found, sniffer)
    _print_links(found, sniffer)
    _print_estimates(found, sniffer)


def _print_kinds(found: Measurement, sniffer: Sniffer) -> None:
    length = sniffer.length_s or float("nan")
    rows = [
        [row["kind"], f"{row['frames']}", f"{row['bytes']}", _share(row["airtime_s"] / length)]
        for row in found.kinds(sniffer).to_dict("records")
    ]
    rows.append(["nothing that was decoded", "", "", _share(1 - found.busy_ratio(sniffer))])
    console.out().print(console.table(["airtime", "frames", "bytes", "share"], rows))
    console.say()


def _print_stations(found: Measurement, sniffer: Sniffer) -> None:
    table = _of(found.stations, sniffer).sort_values(["airtime_s", "frames"], ascending=False)
    rows = [
        [
            str(row["station"]),
            str(row["frames"]),
            _share(row["share"]),
            _share(row["retry_ratio"]),
            "" if row["signal_mean_dbm"] != row["signal_mean_dbm"] else f"{row['signal_mean_dbm']:.0f}",
            "" if row["service_mean_s"] != row["service_mean_s"] else f"{1e3 * row['service_mean_s']:.2f}",
        ]
        for row in table.head(_MOST_ROWS).to_dict("records")
    ]
    heads = ["station", "frames", "airtime", "retries", "signal [dBm]", "service [ms]"]
    console.out().print(console.table(heads, rows))
    _tell_more(len(table))


def _print_links(found: Measurement, sniffer: Sniffer) -> None:
    table = _of(found.links, sniffer).sort_values("bytes", ascending=False)
    rows = [
        [
            f"{row['sender']} > {row['receiver']}",
            str(row["exchanges"]),
            str(row["answered"]),
            _mbps(row["goodput_bps"]),
            _mbps(row["capacity_bps"]) + _half(row["capacity_high_bps"] - row["capacity_bps"]),
            _mbps(row["available_bps"]) + _half(row["available_high_bps"] - row["available_bps"]),
        ]
        for row in table.head(_MOST_ROWS).to_dict("records")
    ]
    heads = ["link", "exchanges", "answered", "goodput [Mb/s]", "capacity [Mb/s]", "available [Mb/s]"]
    console.out().print(console.table(heads, rows))
    _tell_more(len(table))


def _print_side_by_side(seen: list[Measurement]) -> None:
    """Links as each sniffer saw them, for those that more than one saw."""
    table = measurement.side_by_side(seen)
    if table.empty:
        return
    console.say("capacity / available [Mb/s] of each link, as each sniffer saw it")
    sniffers = list(dict.fromkeys(table.columns.get_level_values(0)))
    columns = []
    for name in sniffers:
        both = zip(table[name, "capacity_bps"], table[name, "available_bps"], strict=True)
        columns.append(
            ["" if capacity != capacity else f"{_mbps(capacity)} / {_mbps(left)}" for capacity, left in both]
        )
    links = [f"{sender} > {receiver}" for sender, receiver in table.index.tolist()]
    rows = [list(row) for row in zip(links, *columns, strict=True)]
    console.out().print(console.table(["link", *sniffers], rows[:_MOST_ROWS]))
    _tell_more(len(rows))


def _print_estimates(found: Measurement, sniffer: Sniffer) -> None:
    from multihop.report.measurement import QUANTITIES

    rows = []
    for row in _of(found.estimates_over_time, sniffer).to_dict("records"):
        name, scale, decimals = QUANTITIES[str(row["quantity"])]
        values = (f"{scale * row[key]:.{decimals}f}" for key in ("mean", "q05", "q95"))
        rows.append([str(row["estimator"]), name, *values])
    where = f"estimates at {sniffer.at or 'a sniffer'}"
    console.out().print(console.table([where, "of", "mean", "5 %", "95 %"], rows))
    console.say()


def _of(table: pd.DataFrame, sniffer: Sniffer) -> pd.DataFrame:
    return table[table["interface"] == sniffer.interface]


def _tell_more(rows: int) -> None:
    if rows > _MOST_ROWS:
        console.say(f"... and {rows - _MOST_ROWS} more: see --json or --out")
    console.say()


def _share(value: float) -> str:
    return "" if value != value else f"{100 * value:.1f} %"


def _mbps(value: float) -> str:
    return "" if value != value else f"{value / 1e6:.3f}"


def _half(value: float) -> str:
    return "" if value != value else f" ± {value / 1e6:.3f}"
