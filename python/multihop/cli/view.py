"""Command `view`: all transmissions of a frame log on one self-contained page."""

from __future__ import annotations

import tempfile
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multihop.base.errors import UserError
from multihop.base.files import require_writable_file, whole_file, write_text
from multihop.cli import console
from multihop.simulation.logs import interval

if TYPE_CHECKING:
    from multihop.framelog.reading import FrameLog, Packed

#: Maximum number of transmissions on a page, which opens within seconds and pans smoothly.
_MAX_TRANSMISSIONS = 5_000_000


def view(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="LOG|RESULTS|CAPTURE",
            help="A frame log, a folder of results with frame logs, or a monitor-mode capture.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Write the page to this file; next to the log by default.", show_default=False)
    ] = None,
    between: Annotated[
        str | None,
        typer.Option("--between", help='Only transmissions that begin in this interval, as in "10 s, 12 s".'),
    ] = None,
    perfetto: Annotated[
        Path | None,
        typer.Option(
            "--perfetto",
            metavar="FILE.json",
            help="Write the log as Chrome trace events to this file, instead of a page.",
            show_default=False,
        ),
    ] = None,
    interface: Annotated[
        int | None,
        typer.Option(help="Interface of a capture, by its number; the one with the most frames by default."),
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Show every transmission of a frame log, a results folder or a capture on one HTML page."""
    if not source.exists():
        raise UserError(f"{source}: no such file; name a frame log, a folder of results, or a capture")
    window = None if between is None else interval(between)
    if source.is_file() and not _is_log(source):
        page = out or _page_path(source, f"{source.name}.html")
        require_writable_file(perfetto or page, source)
        with tempfile.TemporaryDirectory() as folder:
            log = _capture_log(source, Path(folder) / "capture.frames", interface, window)
            _show([log], page, perfetto, None, open_=open_)
        return
    if interface is not None:
        raise UserError(f"--interface: {source} is not a capture; leave the option out")
    _show(_logs(source), out, perfetto, window, open_=open_)


def _show(
    logs: list[Path], out: Path | None, perfetto: Path | None, window: tuple[int, int] | None, *, open_: bool
) -> None:
    """Writes the pages of logs, or a trace of one log."""
    if perfetto is not None:
        _perfetto(logs, perfetto, window)
        return
    if out is not None and len(logs) > 1:
        raise UserError(f"--out: found {len(logs)} frame logs for one file; name one of the logs: {logs[0]}")
    for log in logs:
        page = out or _page_path(log, f"{log.stem}.html", f"{log.name}.html")
        write_page(log, page, window)
        console.say(f"page: {page}")
        if open_:
            webbrowser.open(page.resolve().as_uri())


def _page_path(source: Path, *names: str) -> Path:
    """Returns the first of these files that does not exist, or is itself the page of a frame log.

    Raises:
        UserError: if all of them are other files.
    """
    from multihop.report.viewer import is_page

    files = [source.with_name(name) for name in names]
    found = next((file for file in files if not file.exists() or is_page(file)), None)
    if found is None:
        raise UserError(f"{files[-1]}: exists and is not the page of a frame log; name another file: --out FILE.html")
    return found


def _is_log(source: Path) -> bool:
    """Whether a path is a frame log, or is unreadable, which the log reader reports."""
    from multihop.framelog.reading import is_log

    return is_log(source)


def _capture_log(source: Path, log: Path, interface: int | None, window: tuple[int, int] | None) -> Path:
    """Writes the frame log of a capture to `log`, with notes about the interface and the channel."""
    from multihop.framelog.captured import write_capture_log

    written = write_capture_log(source, log, interface=interface, between=window, limit=_MAX_TRANSMISSIONS)
    if written.interfaces > 1:
        console.note(
            f"{source}: {written.name}, interface {written.interface} of {written.interfaces}; others: --interface"
        )
    if written.channel_mhz is not None:
        console.note(f"{source}: the radio changed its channel; the page shows {written.channel_mhz} MHz")
    if written.broken is not None:
        console.note(f"{source}: {written.broken}; the page shows the frames before that")
    return log


def write_page(log: Path, file: Path, window: tuple[int, int] | None = None) -> None:
    """Writes the page of a frame log, or of an interval of it.

    Args:
        log: frame log.
        file: HTML file to write.
        window: begin and end of the interval [ns].

    Raises:
        UserError: if the log cannot be read or has too many transmissions for a page, or the page cannot be
            written.
    """
    from multihop.framelog.reading import packed
    from multihop.report.viewer import page

    require_writable_file(file, log)
    found = packed(log, window, _MAX_TRANSMISSIONS)
    _note_gaps(log, found, found.transmissions, window)
    write_text(file, page(found.data, found.head["name"], window))


def _note_gaps(log: Path, found: Packed | FrameLog, transmissions: int, window: tuple[int, int] | None) -> None:
    """Prints notes about missing parts of a log."""
    from multihop.framelog.reading import gap_message

    if found.cut_short:
        console.note(gap_message(log, found.cut_short))
    if transmissions == 0 and window is not None:
        console.note(
            f"{log}: no transmission begins in --between; the log covers {found.head['duration_ns'] / 1e9:g} s"
        )


def _perfetto(logs: list[Path], out: Path, window: tuple[int, int] | None) -> None:
    """Writes a log as trace events."""
    from multihop.framelog.perfetto import write_perfetto
    from multihop.framelog.reading import read

    if len(logs) > 1:
        raise UserError(f"--perfetto: found {len(logs)} frame logs; name one of them: {logs[0]}")
    require_writable_file(out, logs[0])
    log = read(logs[0], window)
    _note_gaps(logs[0], log, len(log.tables["transmissions"]), window)
    with whole_file(out, logs[0]) as part:
        write_perfetto(log, part)
    console.say(f"trace: {out}; open it at https://ui.perfetto.dev")


def _logs(source: Path) -> list[Path]:
    """Returns the frame logs of a path: the log itself, or those in a folder of results."""
    if not source.is_dir() or _is_log(source):
        return [source]
    found = sorted([*source.glob("*.frames"), *source.glob("frames/*.frames")])
    if not found:
        raise UserError(f"{source}: contains no frame log; write one: multihop run SCENARIO --frames LOG.frames")
    return found
