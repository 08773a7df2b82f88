"""Logs of a run, a capture and a frame log, and the selection of the run that they cover."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from multihop import _core
from multihop.base.errors import UserError, instead_of
from multihop.base.files import whole_file, whole_folder

_NS = 1_000_000_000
#: File that every frame log has.
FRAMES_MARK = "transmissions.parquet"
#: Latest time of an interval: times in nanoseconds must fit into 64 bits.
_MAX_S = 9e9


@dataclass(frozen=True)
class Selection:
    """Nodes and flows by name (empty: all), and an interval in nanoseconds (`None`: the whole run)."""

    nodes: tuple[str, ...] = ()
    between: tuple[int, int] | None = None
    flows: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self != Selection()

    def flow_indices(self, view: _core.ScenarioView) -> list[int]:
        """Returns the indices of the selected flows in a scenario.

        Raises:
            UserError: if the scenario has no flow of such a name.
        """
        return sorted(_places(self.flows, [flow["name"] for flow in view["flows"]], "flow", view))

    def indices(self, view: _core.ScenarioView) -> list[int]:
        """Returns the indices of the selected nodes in a scenario, with those of their further radios.

        Raises:
            UserError: if the scenario has no node of such a name.
        """
        wanted = _places(self.nodes, [node["name"] for node in view["nodes"]], "node", view)
        return [index for index, node in enumerate(view["nodes"]) if {index, node["node"]} & wanted]


def _places(wanted: tuple[str, ...], names: list[str], what: str, view: _core.ScenarioView) -> set[int]:
    """Returns the indices of names; an error names the option, the plural of `what`."""
    for name in wanted:
        if name not in names:
            raise UserError(f"--{what}s: {view['name']} has no {what} {name!r}; {instead_of(name, names)}")
    return {index for index, name in enumerate(names) if name in wanted}


@dataclass(frozen=True)
class Logs:
    """Files of a capture and a frame log, and the selection that they cover."""

    pcap: Path | None = None
    frames: Path | None = None
    selection: Selection = Selection()

    def __bool__(self) -> bool:
        return self.pcap is not None or self.frames is not None

    @contextmanager
    def whole(self, source: Path | None) -> Iterator[Logs]:
        """Yields the logs at temporary paths, then moves the files into place; never over `source`."""
        with ExitStack() as files:
            pcap, frames = self.pcap, self.frames
            if pcap is not None:
                pcap = files.enter_context(whole_file(pcap, source))
            if frames is not None:
                frames = files.enter_context(whole_folder(frames, FRAMES_MARK, source))
            yield replace(self, pcap=pcap, frames=frames)

    def part(self, view: _core.ScenarioView) -> tuple[list[int], tuple[int, int] | None, list[int]]:
        """Returns the selection as the engine takes it: nodes, interval and flows."""
        return self.selection.indices(view), self.selection.between, self.selection.flow_indices(view)


#: Logs of a run that writes none.
NO_LOGS = Logs()


def selection(nodes: str | None, between: str | None, flows: str | None = None) -> Selection:
    """Returns the selection of the options `--nodes`, `--between` and `--flows`.

    Raises:
        UserError: if an option is invalid; the message names the option, the value and what is needed.
    """
    window = None if between is None else interval(between)
    return Selection(_names("--nodes", nodes, "n0,n1"), window, _names("--flows", flows, "left,right"))


def _names(option: str, text: str | None, example: str) -> tuple[str, ...]:
    """Parses a list of names separated by commas."""
    names = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    if text is not None and not names:
        raise UserError(f"{option}: no name is given; name at least one, as in {option} {example}")
    return names


def interval(text: str) -> tuple[int, int]:
    """Parses an interval such as "10 s, 12.5 s" to nanoseconds.

    Raises:
        UserError: if the text is no interval.
    """
    ends = [part.strip() for part in text.split(",")]
    try:
        first, last = (_core.seconds(_with_space(end)) for end in ends)
    except ValueError:
        raise UserError(f'--between: found {text!r}; needs two times, as in --between "10 s, 12.5 s"') from None
    return nanoseconds("--between", text, first, last)


def nanoseconds(option: str, found: object, first: float, last: float) -> tuple[int, int]:
    """Converts an interval from seconds to nanoseconds.

    Raises:
        UserError: if the interval is empty or out of range; the message quotes `found` and the option.
    """
    if not 0 <= first < last:
        raise UserError(f"{option}: found {found!r}; needs a first time of at least 0 s before a second one")
    if last > _MAX_S:
        raise UserError(f"{option}: found {found!r}; needs times up to {_MAX_S:g} s")
    return round(first * _NS), round(last * _NS)


def _with_space(text: str) -> str:
    """Inserts the space between a number and its unit."""
    return re.sub(r"^([\d.]+)([a-z]+)$", r"\1 \2", text)
