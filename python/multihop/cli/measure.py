"""`measure`: airtime, links and stations of a capture."""

from __future__ import annotations

import textwrap
from collections.abc import Hashable
from pathlib import Path
from typing import Annotated, Any

import typer

from multihop import measurement
from multihop.api import measuring
from multihop.api.measuring import Measurement
from multihop.base.errors import UserError
from multihop.base.files import require_writable_folder, whole_folder
from multihop.cli import completion, console
from multihop.cli.runs import JsonOption
from multihop.measurement import Sniffer
from multihop.results.words import share, three_digits
from multihop.simulation.logs import FRAMES_MARK, interval

#: Rows, reasons, sniffers and compared sniffers that one screen shows; `--all` shows all.
_SCREEN, _SCREEN_REASONS, _SCREEN_SNIFFERS, _SCREEN_SIDES = 5, 3, 20, 4
#: Numbers of a screen for a capture with aggregates: links with aggregation, their most frequent bit rates,
#: and links in the table of capacities.
_SCREEN_AGGREGATES, _SCREEN_RATES, _SCREEN_BESIDE = 2, 2, 3
_ALL = 1_000_000
#: Width in characters of a line with a reason.
_REASON_WIDTH = 100
#: Bit rates on a line of a table cell.
_RATES_IN_LINE = 3

CapturesArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="CAPTURE...",
        help="Monitor-mode captures, pcap or pcapng; several of the same scene are compared.",
        show_default=False,
    ),
]
BinOption = Annotated[str, typer.Option(help="Width of time bins.")]
StampsOption = Annotated[
    str | None,
    typer.Option(
        help="Instant that time stamps mark: begin, mpdu or end of a frame; detected by default.",
        autocompletion=completion.of("begin", "mpdu", "end"),
    ),
]
StationOption = Annotated[
    str | None, typer.Option(help="Address of the station that estimators take as their own; the radio's by default.")
]
EstimatorsOption = Annotated[
    Path | None,
    typer.Option(help="A file with [[measure]] tables, as in scenarios: the estimators and their options."),
]
NamesOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Names of stations: one per line, its address and its name.", show_default=False),
]
OutOption = Annotated[Path | None, typer.Option(help="Write the tables (Parquet and CSV) into this folder.")]
FramesOption = Annotated[
    Path | None,
    typer.Option(
        "--frames",
        metavar="LOG.frames",
        help="Write every transmission that one interface received to this folder, for `multihop view`.",
        show_default=False,
    ),
]
InterfaceOption = Annotated[
    int | None, typer.Option(help="--frames: number of the interface; the one with the most frames by default.")
]
ChannelOption = Annotated[
    int | None,
    typer.Option(
        metavar="MHZ",
        help="--frames: channel, if the radio changed its channel; the one with the most frames by default.",
    ),
]
BetweenOption = Annotated[
    str | None, typer.Option(help='--frames: only this interval after the first frame, as in "10 s, 12 s".')
]
AllOption = Annotated[
    bool, typer.Option("--all", help="Print every station, link, interface and reason, not only one screen.")
]


def measure(
    captures: CapturesArgument,
    bin: BinOption = "1 s",
    stamps: StampsOption = None,
    station: StationOption = None,
    estimators: EstimatorsOption = None,
    names: NamesOption = None,
    out: OutOption = None,
    frames: FramesOption = None,
    interface: InterfaceOption = None,
    channel: ChannelOption = None,
    between: BetweenOption = None,
    everything: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Report airtime by station, link capacities and capture quality of monitor-mode captures."""
    if out is not None and len(captures) > 1:
        raise UserError("--out: found with several captures; give a single capture, or omit --out")
    if frames is not None and len(captures) > 1:
        raise UserError("--frames: found with several captures; needs one capture")
    if frames is not None:
        require_writable_folder(frames, FRAMES_MARK, captures[0])
    elif interface is not None or channel is not None or between is not None:
        raise UserError("--interface, --channel and --between select the frames of a log; add --frames LOG.frames")
    window = None if between is None else interval(between)
    measurements = []
    for capture in captures:
        found = measuring.measure(
            capture,
            bin=bin,
            stamps=stamps,  # type: ignore[arg-type]
            station=station,
            estimators=estimators,
            names=names,
        )
        measurements.append(found)
    if frames is not None:
        _write_frames(captures[0], frames, (interface, channel), window, stamps, quiet=as_json)
    if len(measurements) == 1 and not as_json:
        _require_frames(measurements)
    several = sum(len(found.sniffers) for found in measurements) > 1
    if not as_json and several and not everything:
        _print_sniffers(measurements)
    elif not as_json:
        for found in measurements:
            for sniffer in found.sniffers:
                _print(found, sniffer, found.path if len(captures) > 1 else None, everything=everything)
    if as_json:
        records = [found.record() for found in measurements]
        console.print_json(records if len(records) > 1 else records[0])
    elif several:
        _print_side_by_side(measurements, everything=everything)
    _require_frames(measurements)
    if out is not None:
        from multihop.report.measurement_files import save

        for path in save(measurements[0], out):
            console.note(f"written: {path}", quiet=as_json)
    broken = [f"{found.path}: {found.broken}" for found in measurements if found.broken is not None]
    if broken:
        raise UserError("; ".join(broken) + "; what was read before that is above")


def _require_frames(measurements: list[Measurement]) -> None:
    """Raises a `UserError` for captures in which no frame could be read."""
    nothing = []
    for found in measurements:
        counts = [sniffer.quality for sniffer in found.sniffers]
        if all(quality["records"] == quality["unreadable"] for quality in counts):
            why = next(
                (reason for sniffer in found.sniffers for reason in sniffer.reasons), "the capture has no records"
            )
            nothing.append(f"{found.path}: nothing could be measured: {why}")
    if nothing:
        raise UserError("; ".join(nothing))


def _write_frames(
    capture: Path,
    out: Path,
    sniffer: tuple[int | None, int | None],
    between: tuple[int, int] | None,
    stamps: str | None,
    *,
    quiet: bool,
) -> None:
    """Writes the frame log of one interface and channel of a capture."""
    from multihop.framelog.captured import write_capture_log

    with whole_folder(out, FRAMES_MARK, capture) as part:
        interface, channel = sniffer
        made = write_capture_log(capture, part, interface=interface, channel=channel, between=between, stamps=stamps)
    which = f" of {made.name}" if made.interfaces > 1 else ""
    which += f" at {made.channel_mhz} MHz" if made.channel_mhz is not None else ""
    console.note(f"frame log: {out}, {made.transmissions} transmissions{which}", quiet=quiet)


def _print_sniffers(measurements: list[Measurement]) -> None:
    """Prints a line for each interface of each capture."""
    all_of_them = [(found, sniffer) for found in measurements for sniffer in found.sniffers]
    rows = [
        [
            f"{number}: {found.path.name}, {sniffer.title}" if len(measurements) > 1 else f"{number}: {sniffer.title}",
            str(sniffer.quality["records"]),
            f"{sniffer.length_s:.3f}",
            str(len(found.of(found.stations, sniffer))),
            _busy(found, sniffer),
            sniffer.grade,
        ]
        for number, (found, sniffer) in enumerate(all_of_them[:_SCREEN_SNIFFERS], 1)
    ]
    console.out().print(console.table(["sniffer", "records", "length [s]", "stations", "busy", "quality"], rows))
    _tell_more(len(all_of_them), _SCREEN_SNIFFERS, "sniffers")
    console.say("each sniffer in full: --all")
    console.say()


def _print(found: Measurement, sniffer: Sniffer, capture: Path | None, *, everything: bool) -> None:
    records, stations = sniffer.quality["records"], len(found.of(found.stations, sniffer))
    where = f"{capture}, " if capture is not None else ""
    console.say(f"{where}{sniffer.title}: {records} records in {sniffer.length_s:.3f} s, {stations} stations")
    for sentence in found.summary(sniffer):
        console.say(textwrap.fill(sentence, _REASON_WIDTH, subsequent_indent="  "))
    console.say(f"capture quality: {sniffer.grade}")
    most = _ALL if everything else _SCREEN_REASONS
    for reason in _reasons(sniffer, most):
        console.say(textwrap.fill(reason, _REASON_WIDTH, initial_indent="  ", subsequent_indent="    "))
    console.say()
    rows = _ALL if everything else _SCREEN
    aggregates = bool((found.of(found.links, sniffer)["blocks"] > 0).any())
    _print_kinds(found, sniffer)
    _print_stations(found, sniffer, rows)
    _print_links(found, sniffer, _SCREEN_BESIDE if aggregates and not everything else rows)
    if aggregates or everything:
        _print_rates(found, sniffer, everything=everything)
    _print_estimates(found, sniffer, everything=everything)
    if not everything:
        console.say("more: --all prints everything, --out DIR writes tables and a page")


def _reasons(sniffer: Sniffer, most: int) -> list[str]:
    """Returns the most serious reasons, and always that of impossible time stamps."""
    shown = sniffer.reasons[:most]
    shown += [reason for reason in sniffer.reasons[most:] if "impossible time stamps" in reason]
    rest = len(sniffer.reasons) - len(shown)
    return [*shown, f"and {rest} more"] if rest else shown


def _busy(found: Measurement, sniffer: Sniffer) -> str:
    return share(found.busy_ratio(sniffer)) if found.knows_airtime(sniffer) else "unknown"


def _print_kinds(found: Measurement, sniffer: Sniffer) -> None:
    length = sniffer.length_s or float("nan")
    rows = [
        [row["kind"], f"{row['frames']}", f"{row['bytes']}", _airtime(row["airtime_s"], length)]
        for row in found.kinds(sniffer).to_dict("records")
    ]
    rest = share(1 - found.busy_ratio(sniffer))
    at_most = "at most " if sniffer.quality["unknown_airtime"] and rest else ""
    rows.append(["nothing that was decoded", "", "", at_most + rest if found.knows_airtime(sniffer) else "unknown"])
    console.out().print(console.table(["airtime", "frames", "bytes", "share"], rows))
    console.say()


def _print_stations(found: Measurement, sniffer: Sniffer, most: int) -> None:
    table = found.busiest(sniffer)
    if table.empty:
        return
    rows = [
        [
            found.names.label(str(row["station"])),
            str(row["frames"]),
            _airtime(row["airtime_s"], sniffer.length_s or float("nan")),
            share(row["retry_ratio"]),
            "" if row["signal_mean_dbm"] != row["signal_mean_dbm"] else f"{row['signal_mean_dbm']:.0f}",
            "" if row["service_mean_s"] != row["service_mean_s"] else f"{1e3 * row['service_mean_s']:.2f}",
        ]
        for row in table.head(most).to_dict("records")
    ]
    heads = ["station", "frames", "airtime", "retries", "signal [dBm]", "service [ms]"]
    console.out().print(console.table(heads, rows))
    _tell_more(len(table), most, "stations")
    console.say()


def _print_links(found: Measurement, sniffer: Sniffer, most: int) -> None:
    table = found.of(found.links, sniffer).sort_values("bytes", ascending=False)
    if table.empty:
        return
    rows = [
        [
            _link(found, row),
            f"{row['answered']} of {row['exchanges']}",
            _mbps(row["goodput_bps"]),
            _interval(row, "capacity"),
            _interval(row, "available"),
        ]
        for row in table.head(most).to_dict("records")
    ]
    heads = ["link [Mb/s]", "answered", "goodput", "capacity", "available"]
    console.out().print(console.table(heads, rows))
    _tell_more(len(table), most, "links")
    console.say()


def _print_rates(found: Measurement, sniffer: Sniffer, *, everything: bool) -> None:
    """Prints aggregate sizes, tries, airtime and bit rates of links."""
    table = found.of(found.links, sniffer).sort_values("bytes", ascending=False)
    if table.empty:
        return
    rates = found.of(found.rates, sniffer).sort_values("share", ascending=False)
    most, most_rates = (_ALL, _ALL) if everything else (_SCREEN_AGGREGATES, _SCREEN_RATES)
    rows = []
    for row in table.head(most).to_dict("records"):
        own = rates[(rates["sender"] == row["sender"]) & (rates["receiver"] == row["receiver"])].to_dict("records")
        shares = [f"{rate['rate_bps'] / 1e6:g}: {share(rate['share'])}" for rate in own[:most_rates]]
        shares += [f"{len(own) - most_rates} more"] if len(own) > most_rates else []
        numbers = ("" if n != n else f"{n:.2f}" for n in (row["aggregate_mean"], row["tries_mean"]))
        rows.append([_link(found, row), *numbers, share(row["airtime"]), _in_lines(shares)])
    console.out().print(console.table(["link", "MPDUs", "tries", "airtime", "rates [Mb/s]"], rows))
    console.say()


def _print_side_by_side(measurements: list[Measurement], *, everything: bool) -> None:
    """Prints capacities of the links that more than one sniffer received."""
    table = measurement.side_by_side(measurements)
    if table.empty:
        return
    most = _ALL if everything else 2 * _SCREEN
    sniffers = list(dict.fromkeys(table.columns.get_level_values(0)))
    # A screen has room for few sniffers, named by their numbers in the list above.
    shown = sniffers if everything else sniffers[:_SCREEN_SIDES]
    heads = shown if everything else _numbers(measurements, shown)
    left = f", the first {len(shown)} of {len(sniffers)}" if len(shown) < len(sniffers) else ""
    console.say(f"capacity / available [Mb/s] of each link, as each sniffer saw it{left}")
    columns = []
    for name in shown:
        both = zip(table[name, "capacity_bps"], table[name, "available_bps"], strict=True)
        columns.append(
            ["" if capacity != capacity else f"{_mbps(capacity)} / {_mbps(left)}" for capacity, left in both]
        )
    links = [f"{sender} > {receiver}" for sender, receiver in table.index.tolist()]
    rows = [list(row) for row in zip(links, *columns, strict=True)]
    console.out().print(console.table(["link", *heads], rows[:most]))
    _tell_more(len(rows), most, "links")


def _numbers(measurements: list[Measurement], names: list[str]) -> list[str]:
    """Returns the numbers under which sniffers were listed, in the order of `side_by_side`."""
    numbers = {}
    pairs = [(found, sniffer) for found in measurements for sniffer in found.sniffers]
    for number, (found, sniffer) in enumerate(pairs, 1):
        numbers[measurement.sniffer_name(measurements, found, sniffer)] = f"{number}"
    return [numbers[name] for name in names]


def _print_estimates(found: Measurement, sniffer: Sniffer, *, everything: bool) -> None:
    from multihop.report.measurement import QUANTITIES, summarised

    rows = []
    estimates = found.of(found.estimates_over_time, sniffer)
    # The screen omits capacities where an estimate of the available rate exists; the tables have both.
    available = set(estimates[estimates["quantity"] == "available_bps"]["estimator"])
    for row in estimates.to_dict("records"):
        if not everything and row["quantity"] == "capacity_bps" and row["estimator"] in available:
            continue
        name, scale, decimals = QUANTITIES[str(row["quantity"])]
        rows.append([str(row["estimator"]), name, *summarised(row, scale, decimals)])
    if not rows:
        console.say(f"no estimates: {found.why_no_estimates(sniffer)}")
        return
    where = f"estimates at {sniffer.at or 'a sniffer'}"
    console.out().print(console.table([where, "of", "mean", "5 %", "95 %"], rows))


def _link(found: Measurement, row: dict[Hashable, Any]) -> str:
    """Names of a link's ends, or their addresses."""
    return " > ".join(found.names.short(str(row[end])) for end in ("sender", "receiver"))


def _in_lines(entries: list[str]) -> str:
    """Joins entries with line breaks so that a narrow screen breaks none of them."""
    lines = (", ".join(entries[first : first + _RATES_IN_LINE]) for first in range(0, len(entries), _RATES_IN_LINE))
    return ",\n".join(lines)


def _tell_more(rows: int, most: int, what: str) -> None:
    if rows > most:
        console.say(f"and {rows - most} more {what}")


def _airtime(airtime_s: float, length_s: float) -> str:
    """Share of airtime, or "unknown" without airtime: a station that sent a frame used some."""
    return share(airtime_s / length_s) if airtime_s > 0 else "unknown"


def _mbps(value: float) -> str:
    if value != value:
        return ""
    return "< 0.001" if 0 < value < 500 else f"{value / 1e6:.3f}"


def _interval(row: dict[Hashable, Any], what: str) -> str:
    """A value in Mb/s with its confidence interval; with few exchanges, three digits and no interval."""
    value, low, high = (row[f"{what}{end}_bps"] for end in ("", "_low", "_high"))
    if row["answered"] < measurement.ENOUGH:
        return "" if value != value else three_digits(value / 1e6)
    return _mbps(value) if low != low else f"{_mbps(value)} ({low / 1e6:.1f}-{high / 1e6:.1f})"
