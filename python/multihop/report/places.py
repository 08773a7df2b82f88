"""Where in the viewer of a frame log what is said of a flow can be seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import pandas as pd

from multihop.explanation.causes import DROP_KINDS, Place
from multihop.framelog.reading import FrameLog, decode

#: What a link shows: as long as this many of the log's longest frames.
_LONGEST = 4

#: What the overlap of a collision is called in a frame log.
_OVERLAPS = {"hidden": "hidden", "together": "simultaneous", "sensed": "sensed"}
#: Causes that a frame log calls as `explain` does.
_OUTCOMES = ("receiver-sending", "channel", "weak", "off")
#: What the cause of a drop is called in a frame log.
_DROPS = {kind: name.replace("_", "-") for name, kind in DROP_KINDS.items()} | {"given-up": "retry-limit"}


@dataclass(frozen=True)
class Shown:
    """A frame log, and the page that shows it: its address beside the report, or none if the report shows it itself."""

    log: bytes
    page: str = ""

    def places(self) -> Places:
        """What of it can be linked to."""
        return Places(decode(self.log), self.page)


class Places:
    """Finds in a frame log what is said: the first example after the warm-up, or before, if there is none after."""

    def __init__(self, log: FrameLog, page: str = "") -> None:
        self._page = page
        self._warmup = log.head["warmup_ns"] or 0
        self._names = [node["name"] for node in log.head["nodes"]]
        self._sent = log.transmissions
        self._span_s = _LONGEST * float(log.tables["sorts"]["airtime"].max()) / 1e9 if len(self._sent) else 0.0
        self._drops = log.in_words(log.tables["drops"])

    def of(self, flow: str, place: Place) -> str | None:
        """The address of what is said of a flow; none if the log has nothing of it."""
        kind, *ends = place
        sender, receiver, interferer = (None if node is None else self._names[node] for node in ends)
        if kind in _DROPS:
            dropped = self._dropped(flow, kind, sender)
            if dropped is not None:
                return dropped
        rows = self._frames(flow, kind, sender, receiver, interferer)
        return None if rows.empty else self._address(flow, self._first(rows, "start"))

    def _frames(
        self, flow: str, kind: str, sender: str | None, receiver: str | None, interferer: str | None
    ) -> pd.DataFrame:
        """The frames that show it; if none does so, lost ones there; if none was lost, all."""
        there = self._there(flow, sender, receiver)
        match kind:
            case "flow" | "transport":
                return there
            case "hidden" | "together" | "sensed":
                # Answers collide at the sender.
                back = self._there(flow, receiver, sender)
                found = [
                    rows[(rows["overlap"] == _OVERLAPS[kind]) & (rows["collided"] == interferer)]
                    for rows in (there, back)
                ]
            case "contention":
                found = [there.nlargest(1, "frozen")]
            case "unanswered" | "late":
                again = there.groupby(["flow", "carries", "packet", "kind"])["try"].shift(-1)
                found = [there[(there["outcome"] == "arrived") & (again > there["try"])]]
            case _:
                found = [there[there["outcome"] == kind]] if kind in _OUTCOMES else []
        lost = there[~there["outcome"].isin(["arrived", "broadcast"])]
        return next((rows for rows in (*found, lost) if not rows.empty), there)

    def _there(self, flow: str, sender: str | None, receiver: str | None) -> pd.DataFrame:
        """What a hop, or a node, or else the flow sent; the flow's own frames, if there are any."""
        rows = self._sent
        for column, node in (("from", sender), ("to", receiver)):
            rows = rows if node is None else rows[rows[column] == node]
        own = rows[rows["flow"] == flow]
        return rows if own.empty and sender is not None else own

    def _dropped(self, flow: str, kind: str, node: str | None) -> str | None:
        drops = self._drops
        rows = drops[(drops["flow"] == flow) & (drops["cause"] == _DROPS[kind])]
        rows = rows if node is None else rows[rows["node"] == node]
        if rows.empty:
            return None
        first = self._first(rows, "time")
        return self._address(flow, pd.concat([first, pd.Series({"start": first["time"], "from": first["node"]})]))

    def _first(self, rows: pd.DataFrame, time: str) -> pd.Series[Any]:
        after = rows[rows[time] >= self._warmup]
        return (rows if after.empty else after).iloc[0]

    def _address(self, flow: str, row: pd.Series[Any]) -> str:
        place = {"t": f"{row['start'] / 1e9:.9f}", "span": f"{self._span_s:.6g}", "flow": flow, "node": row["from"]}
        if row["flow"] == flow and row["packet"] > 0 and row["carries"] in ("data", "feedback"):
            place |= {"packet": row["packet"]} | ({"of": "feedback"} if row["carries"] == "feedback" else {})
        return f"{quote(self._page)}#{urlencode(place)}"
