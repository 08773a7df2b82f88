"""Frame logs of captures: what a sniffer saw, in lanes; what it cannot have seen is inferred or absent."""

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

#: A log of a capture has no more transmissions than these: a page holds no more.
MOST = 5_000_000


@dataclass(frozen=True, repr=False)
class CapturedLog(Displayed):
    """What was written: which interface of how many, how much, and why the capture ends early, if so.

    `channel_mhz` is the frequency of the channel, where the interface was on several.
    """

    interface: int
    interfaces: int
    name: str
    channel_mhz: int | None
    transmissions: int
    broken: str | None

    def overview(self, *, whole: bool = True) -> Overview:
        """How many transmissions of which interface."""
        del whole
        at = "" if self.channel_mhz is None else f" at {self.channel_mhz} MHz"
        broken = [] if self.broken is None else [self.broken]
        of = f"{self.name}{at}, interface {self.interface} of {self.interfaces}"
        return Overview(f"{self.transmissions} transmissions of {of}", sentences=broken)


def capture_frames(
    capture: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    interface: int | None = None,
    channel: int | None = None,
    between: tuple[float, float] | None = None,
    stamps: Literal["begin", "mpdu", "end"] | None = None,
) -> CapturedLog:
    """Writes the transmissions that an interface of a monitor-mode capture saw to the frame log `out`.

    Args:
        capture: pcap or pcapng, plain or gzip.
        out: the frame log, a folder, which `multihop.frames` and `multihop view` read. `inferred` of its
            description names what was concluded.
        interface: its number in the file; by default the one that saw most.
        channel: frequency in MHz of one channel of a radio that changed its channel; by default the one on
            which it saw most.
        between: only what begins between these instants, in seconds after the first frame.
        stamps: what stamps mark; found out by default.

    Raises:
        UserError: if it cannot be read, has no frame that can be placed in time, or has more than five
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
    most: int = MOST,
) -> CapturedLog:
    """The same with an interval in nanoseconds, and `most` transmissions.

    Raises:
        UserError: as `capture_frames`.
    """
    for name, number, most_of_it in (("interface", interface, 2**32 - 1), ("channel", channel, 2**16 - 1)):
        if number is not None and not (is_whole(number) and 0 <= number <= most_of_it):
            raise UserError(f"{name}: found {number!r}; needs a whole number from 0 to {most_of_it}")
    try:
        number, channel_mhz, found, names, broken = _core.capture_frames(
            capture, out, text_of(capture.name), stamps, interface, channel, between, most
        )
    except _core.CaptureError as error:
        raise UserError(f"{capture}: {error}") from error
    if found > most:
        raise UserError(
            f"{capture}: {found} transmissions are more than the {most} of a frame log of a capture; "
            'name a window of time after its first frame, as in --between "10 s, 12 s"'
        )
    if found == 0:
        where = "" if between is None else " in this interval"
        raise UserError(f"{capture}: no frame with a time stamp{where}; needs a capture of monitor mode")
    name = names[number] or f"interface {number}"
    return CapturedLog(number, len(names), name, channel_mhz, found, broken)
