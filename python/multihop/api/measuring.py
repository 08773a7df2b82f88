"""`multihop.measure`: airtime, links, stations and quality of a monitor-mode capture.

>>> import multihop
>>> found = multihop.measure("capture.pcapng")              # doctest: +SKIP
>>> found.links[["sender", "receiver", "capacity_bps", "available_bps"]]     # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from multihop import _core, measurement
from multihop.base.errors import UserError
from multihop.measurement import Sniffer, Stamps
from multihop.simulation.classes import ClassError, measure_tables
from multihop.simulation.scenario import TimeLike, read_text, time_text
from multihop.stations import StationNames, read_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Measurement(measurement.Measurement):  # noqa: D101 - has the docstring of its base
    __doc__ = measurement.Measurement.__doc__

    def plot(self, ax: Axes | None = None, *, sniffer: Sniffer | None = None) -> Axes:
        """Draws airtime over time, stacked by kind of frame. Returns the axes.

        Args:
            ax: axes to draw on; those of a new figure of 3.5 in by default.
            sniffer: one of `sniffers`; the one with most records by default.

        Raises:
            UserError: if Matplotlib is not installed, or no airtime is known.
        """
        from multihop.report.charts import captured
        from multihop.report.plot import on_axes

        if not self.sniffers:
            raise UserError("plot: there is nothing to draw: the capture has no record")
        chosen = sniffer or self.main_sniffer
        return on_axes(captured.airtime(self, chosen), ax, self.why_no_estimates(chosen))


def measure(
    capture: str | Path,
    *,
    bin: TimeLike = "1 s",
    stamps: Stamps | None = None,
    station: str | None = None,
    estimators: str | Path | Sequence[str | Mapping[str, Any] | type[_core.Estimator]] | None = None,
    names: str | Path | None = None,
    watch: Callable[[int], object] | None = None,
) -> Measurement:
    """Measures a monitor-mode capture of 802.11.

    Args:
        capture: pcap or pcapng, plain or gzip, with radiotap, Prism, AVS, PPI or bare headers, or of Ethernet
            or IP with datagrams of remote sniffers (TZSP, PEEKREMOTE, Aruba ERM).
        bin: width of time bins, in seconds or as text with a unit.
        stamps: instant that stamps mark; detected by default.
        station: address of the station that estimators take as their own, as far as frames of it and its
            neighbours were captured. Default: the capturing station if the capture shows it, else a sniffer
            that sends nothing.
        estimators: file with `[[measure]]` tables, as in scenarios; or a list of names, of such tables, or of
            subclasses of `Estimator`. Default: all estimators for which the capture has enough data, with
            their default options.
        names: file with names of stations: lines of an address and a name. A station without one has the name
            of the network that it announces.
        watch: callback now and then with the number of bytes read.

    Raises:
        UserError: if the file cannot be read as a capture of 802.11, or an argument is invalid.
    """
    if stamps not in (None, "begin", "mpdu", "end"):
        raise UserError(f"stamps: found {stamps!r}; needs begin, mpdu or end")
    station_names = StationNames() if names is None else read_names(Path(names))
    path = Path(capture)
    if path.is_dir():
        raise UserError(f"{path}: this is a directory; name a capture (pcap or pcapng)")
    tables = None if estimators is None else _tables(estimators)
    try:
        found = _core.measure(path, _seconds(bin), stamps, station, tables, watch)
    except _core.ScenarioError as error:
        raise UserError(str(error)) from error
    except _core.CaptureError as error:
        raise UserError(f"{path}: {error}") from error
    except ValueError as error:
        raise UserError(str(error)) from error
    sniffers = [_sniffer(raw) for raw in found["interfaces"]]
    if station is not None and not any(sniffer.at for sniffer in sniffers):
        heard = sorted({name for raw in found["interfaces"] for name in raw["stations"]["station"]})
        some = ", ".join(heard[:5]) or "none"
        raise UserError(f"station: found {station!r}, which no frame of {path} has; the capture has {some}")
    station_names = station_names.before(
        {
            address: network
            for raw in found["interfaces"]
            for address, network in zip(raw["stations"]["station"], raw["stations"]["network"], strict=True)
            if network
        }
    )
    return Measurement(
        path, found["records"], found["bytes"], found["broken"], sniffers, found["interfaces"], station_names
    )


def _tables(
    estimators: str | Path | Sequence[str | Mapping[str, Any] | type[_core.Estimator]],
) -> tuple[str, str]:
    """Returns `[[measure]]` tables as text, and its name in messages."""
    if isinstance(estimators, str | Path):
        return read_text(Path(estimators), "a file with estimators (TOML)"), str(estimators)
    try:
        return measure_tables(estimators), "<estimators>"
    except ClassError as error:
        raise UserError(f"estimators: {error.found}; {error.remedy}") from error


def _sniffer(raw: dict[str, Any]) -> Sniffer:
    """Returns a sniffer from the engine's record of an interface on a channel."""
    return Sniffer(
        interface=raw["interface"],
        channel_mhz=raw["channel_mhz"],
        name=raw["name"] or "",
        start_s=raw["start_s"],
        length_s=raw["length_s"],
        bin_s=raw["bin_s"],
        step_s=raw["step_s"],
        stamps=raw["stamps"],
        stamp_pairs=raw["stamp_pairs"],
        own=raw["own"],
        at=raw["at"],
        grade=raw["quality"]["grade"],
        reasons=raw["quality"]["reasons"],
        quality={key: value for key, value in raw["quality"].items() if key not in ("grade", "reasons")},
    )


def _seconds(bin: TimeLike) -> float:
    try:
        seconds = _core.seconds(time_text("bin", bin))
    except ValueError as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"bin: {error}") from error
    if not 1e-6 <= seconds <= 1e6:
        raise UserError(f"bin: found {bin!r}; needs a time from 1 us to 1e6 s")
    return seconds
