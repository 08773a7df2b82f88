"""What a run writes besides tables: a capture, a frame log, and of which part of the run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from multihop import _core
from multihop.base.errors import UserError, instead_of
from multihop.base.files import whole_file

_NS = 1_000_000_000
#: No run and no capture is longer: nanoseconds until then are whole numbers of 64 bits.
_MOST_S = 9e9


@dataclass(frozen=True)
class Selection:
    """Names of nodes and flows (empty: all), and an interval in nanoseconds (none: the whole run)."""

    nodes: tuple[str, ...] = ()
    between: tuple[int, int] | None = None
    flows: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self != Selection()

    def flow_indices(self, view: _core.ScenarioView) -> list[int]:
        """The flows' indices in a scenario.

        Raises:
            UserError: if the scenario has no flow of such a name.
        """
        return sorted(_places(self.flows, [flow["name"] for flow in view["flows"]], "flow", view))

    def indices(self, view: _core.ScenarioView) -> list[int]:
        """The nodes' indices in a scenario, with those of their further radios.

        Raises:
            UserError: if the scenario has no node of such a name.
        """
        wanted = _places(self.nodes, [node["name"] for node in view["nodes"]], "node", view)
        return [index for index, node in enumerate(view["nodes"]) if {index, node["node"]} & wanted]


def _places(wanted: tuple[str, ...], names: list[str], what: str, view: _core.ScenarioView) -> set[int]:
    """Indices of the wanted names; an error names the option, which is the plural of `what`."""
    for name in wanted:
        if name not in names:
            raise UserError(f"--{what}s: {view['name']} has no {what} {name!r}; {instead_of(name, names)}")
    return {index for index, name in enumerate(names) if name in wanted}


@dataclass(frozen=True)
class Logs:
    """Where a capture and a frame log go, and what they are of."""

    pcap: Path | None = None
    frames: Path | None = None
    selection: Selection = Selection()

    def __bool__(self) -> bool:
        return self.pcap is not None or self.frames is not None

    @contextmanager
    def whole(self, source: Path | None) -> Iterator[Logs]:
        """The same at other paths, moved here once the files are whole; never over the file `source`."""
        with ExitStack() as files:
            parts = [
                None if path is None else files.enter_context(whole_file(path, source))
                for path in (self.pcap, self.frames)
            ]
            yield replace(self, pcap=parts[0], frames=parts[1])

    def part(self, view: _core.ScenarioView) -> tuple[list[int], tuple[int, int] | None, list[int]]:
        """What the core wants to know of the selection."""
        return self.selection.indices(view), self.selection.between, self.selection.flow_indices(view)


#: What writes nothing.
NO_LOGS = Logs()


def selection(nodes: str | None, between: str | None, flows: str | None = None) -> Selection:
    """What the options `--nodes`, `--between` and `--flows` say.

    Raises:
        UserError: naming the option, what was found and what would do.
    """
    window = None if between is None else interval(between)
    return Selection(_names("--nodes", nodes, "n0,n1"), window, _names("--flows", flows, "left,right"))


def _names(option: str, text: str | None, example: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    if text is not None and not names:
        raise UserError(f"{option}: none given; name at least one, as in {option} {example}")
    return names


def interval(text: str) -> tuple[int, int]:
    """An interval as in "10 s, 12.5 s", in nanoseconds.

    Raises:
        UserError: if it is none.
    """
    ends = [part.strip() for part in text.split(",")]
    try:
        first, last = (_core.seconds(_with_space(end)) for end in ends)
    except ValueError:
        raise UserError(f'--between: found {text!r}; needs two instants, as in --between "10 s, 12.5 s"') from None
    return nanoseconds("--between", text, first, last)


def nanoseconds(option: str, found: object, first: float, last: float) -> tuple[int, int]:
    """An interval of seconds in nanoseconds.

    Raises:
        UserError: if it is none; the message says what was found in which option.
    """
    if not 0 <= first < last:
        raise UserError(
            f"{option}: found {found!r}; the first instant must be before the second, and neither below 0 s"
        )
    if last > _MOST_S:
        raise UserError(f"{option}: found {found!r}; needs instants up to {_MOST_S:g} s")
    return round(first * _NS), round(last * _NS)


def _with_space(text: str) -> str:
    return re.sub(r"^([\d.]+)([a-z]+)$", r"\1 \2", text)
