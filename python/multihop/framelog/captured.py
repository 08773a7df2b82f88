"""Frame logs of captures: transmissions that a sniffer received. Other values are inferred or missing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from multihop import _core
from multihop.base.display import Displayed, Overview
from multihop.base.errors import UserError
from multihop.base.files import whole_folder
from multihop.framelog.reading import window_of
from multihop.simulation.logs import FRAMES_MARK
from multihop.simulation.scenario import text_of
from multihop.simulation.seeds import is_whole

#: Maximum number of transmissions in the log of a capture, which is that of a page.
MAX_TRANSMISSIONS = 5_000_000


@dataclass(frozen=True, repr=False)
class CapturedLog(Displayed):
    """Result of writing the frame log of a capture.

    Attributes:
        interface: number of the interface in the capture.
        interfaces: number of interfaces in the capture.
        name: name of the interface.
        channel_mhz: frequency of the channel, if the interface used several; otherwise None.
        transmissions: number of transmissions in the log.
        broken: reason why the capture could not be read to its end, or None.
    """

    interface: int
    interfaces: int
    name: str
    channel_mhz: int | None
    transmissions: int
    broken: str | None

    def overview(self, *, whole: bool = True) -> Overview:
        """Returns the number of transmissions and the interface."""
        del whole
        channel = "" if self.channel_mhz is None else f" at {self.channel_mhz} MHz"
        broken = [] if self.broken is None else [self.broken]
        source = f"{self.name}{channel}, interface {self.interface} of {self.interfaces}"
        return Overview(f"{self.transmissions} transmissions of {source}", sentences=broken)


def capture_frames(
    capture: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    interface: int | None = None,
    channel: int | None = None,
    between: tuple[float, float] | None = None,
    stamps: Literal["begin", "mpdu", "end"] | None = None,
) -> CapturedLog:
    """Writes the transmissions that one interface of a monitor-mode capture received to the frame log `out`.

    Args:
        capture: pcap or pcapng, plain or gzip.
        out: folder of the frame log, for `multihop.frames` and `multihop view`. `inferred` in its description
            names the inferred values.
        interface: number of the interface in the file; by default the one with the most frames.
        channel: frequency in MHz, for a radio that changed its channel; by default the channel with the most
            frames.
        between: interval in seconds after the first frame; only transmissions that begin in it are written.
        stamps: instant that time stamps mark; detected by default.

    Raises:
        UserError: if the capture cannot be read, has no frame with a time stamp, or has more than five
            million transmissions in the interval.
    """
    path = Path(capture)
    window = None if between is None else window_of(between)
    with whole_folder(Path(out), FRAMES_MARK, path) as part:
        return write_capture_log(path, part, interface=interface, channel=channel, between=window, stamps=stamps)


def write_capture_log(
    capture: Path,
    out: Path,
    *,
    interface: int | None = None,
    channel: int | None = None,
    between: tuple[int, int] | None = None,
    stamps: str | None = None,
    limit: int = MAX_TRANSMISSIONS,
) -> CapturedLog:
    """Writes the frame log of a capture, as `capture_frames` does, with `between` in nanoseconds.

    `limit` is the maximum number of transmissions.

    Raises:
        UserError: as `capture_frames`.
    """
    for name, number, maximum in (("interface", interface, 2**32 - 1), ("channel", channel, 2**16 - 1)):
        if number is not None and not (is_whole(number) and 0 <= number <= maximum):
            raise UserError(f"{name}: found {number!r}; needs a whole number from 0 to {maximum}")
    try:
        number, channel_mhz, found, names, broken = _core.capture_frames(
            capture, out, text_of(capture.name), stamps, interface, channel, between, limit
        )
    except _core.CaptureError as error:
        raise UserError(f"{capture}: {error}") from error
    if found > limit:
        raise UserError(
            f"{capture}: found {found} transmissions; the frame log of a capture has at most {limit}; "
            'name an interval after the first frame, as in --between "10 s, 12 s"'
        )
    if found == 0:
        where = "" if between is None else " in this interval"
        raise UserError(f"{capture}: found no frame with a time stamp{where}; needs a capture in monitor mode")
    name = names[number] or f"interface {number}"
    return CapturedLog(number, len(names), name, channel_mhz, found, broken)
