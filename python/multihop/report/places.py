"""Places in the viewer of a frame log that show the cause of a flow's problem."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pandas as pd

from multihop.explanation.account import Place
from multihop.explanation.causes import DROP_KINDS
from multihop.framelog.reading import FrameLog, read

#: Span of a link, in multiples of the log's longest frame.
_LONGEST = 4

#: Names of collision overlaps in a frame log.
_OVERLAPS = {"hidden": "hidden", "together": "simultaneous", "sensed": "sensed"}
#: Causes with equal names in a frame log and in `explain`.
_OUTCOMES = ("receiver-sending", "channel", "weak", "off")
#: Kinds of response frames.
_ANSWERS = ("cts", "ack", "block-ack")
#: Names of drop causes in a frame log.
_DROPS = {kind: name.replace("_", "-") for name, kind in DROP_KINDS.items()} | {"given-up": "retry-limit"}


@dataclass(frozen=True)
class Shown:
    """Frame log, and the address of its page next to the report; empty if the report shows the log."""

    log: Path
    page: str = ""

    def places(self) -> Places:
        """Returns the places of the log that can be linked to."""
        return Places(read(self.log), self.page)


class Places:
    """Finds examples in a frame log: the first one after the warm-up, or else before it."""

    def __init__(self, log: FrameLog, page: str = "") -> None:
        self._page = page
        self._warmup = log.head["warmup_ns"] or 0
        self._names = [node["name"] for node in log.head["nodes"]]
        self._sent = log.transmissions
        self._span_s = _LONGEST * float(self._sent["airtime"].max()) / 1e9 if len(self._sent) else 0.0
        self._drops = log.in_words(log.tables["drops"])
        self._mpdus = log.in_words(log.tables["mpdus"])
        self._own: dict[str, pd.DataFrame] = {}

    def of(self, flow: str, place: Place) -> str | None:
        """Returns the address of a frame or drop of the flow at a place; `None` if there is none."""
        kind, *ends = place
        sender, receiver, interferer = (None if node is None else self._names[node] for node in ends)
        if kind in _DROPS:
            return self._dropped(flow, kind, sender)
        there = self._there(flow, sender, receiver)
        match kind:
            case "flow" | "hop":
                rows = there
            case "contention":
                rows = there[there["frozen"] > 0].nlargest(1, "frozen")
            case "unanswered" | "late":
                rows = self._tried_again(there, answered=kind == "late")
            case _ if kind in _OVERLAPS or kind in _OUTCOMES:
                # The lost frame of an exchange may be the response.
                shown = (self._lost(rows, kind, interferer) for rows in (there, self._answers_to(there)))
                rows = next((rows for rows in shown if not rows.empty), there.iloc[:0])
            case _:
                return None
        return None if rows.empty else self._address(flow, self._first(rows, "start"))

    def _lost(self, rows: pd.DataFrame, kind: str, interferer: str | None) -> pd.DataFrame:
        """Returns the rows that were lost by a cause."""
        if kind in _OUTCOMES:
            return rows[rows["outcome"] == kind]
        return rows[(rows["overlap"] == _OVERLAPS[kind]) & (rows["collided"] == interferer)]

    def _there(self, flow: str, sender: str | None, receiver: str | None) -> pd.DataFrame:
        """Returns the frames of a flow at a hop, a node, or anywhere."""
        if flow not in self._own:
            self._own[flow] = self._own_frames(flow)
        rows = self._own[flow]
        for column, node in (("from", sender), ("to", receiver)):
            rows = rows if node is None else rows[rows[column] == node]
        return rows

    def _own_frames(self, flow: str) -> pd.DataFrame:
        """Returns the frames with packets of a flow, or sent for them, each with such a packet."""
        own = self._sent[self._sent["flow"] == flow]
        packets = self._mpdus[self._mpdus["flow"] == flow].drop_duplicates(["start", "from"])
        others = self._sent[self._sent["flow"] != flow].drop(columns=["flow", "carries", "packet"])
        within = others.merge(packets[["start", "from", "flow", "carries", "packet"]], on=["start", "from"])
        return pd.concat([own, within]).sort_values("start")

    def _answers_to(self, frames: pd.DataFrame) -> pd.DataFrame:
        """Returns the responses to frames, each with the packet that it answers."""
        answers = self._sent[self._sent["kind"].isin(_ANSWERS) & self._sent["to"].isin(frames["from"])]
        begun = frames[["start", "from", "to", "flow", "carries", "packet"]].rename(
            columns={"start": "asked", "from": "to", "to": "from"}
        )
        asked = begun.dropna(subset=["from"])
        if answers.empty or asked.empty:
            return answers.iloc[:0].assign(asked=pd.Series(dtype="int64"))
        plain = answers.drop(columns=["flow", "carries", "packet"])
        joined = pd.merge_asof(plain, asked, left_on="start", right_on="asked", by=["from", "to"])
        # A response answers the last frame of its addressee before it.
        latest = self._sent.loc[self._sent["to"].notna() & ~self._sent["kind"].isin(_ANSWERS), ["start", "from", "to"]]
        latest = latest.rename(columns={"start": "last", "from": "to", "to": "from"})
        joined = pd.merge_asof(joined, latest, left_on="start", right_on="last", by=["from", "to"])
        return joined[joined["asked"] == joined["last"]]

    def _tried_again(self, there: pd.DataFrame, *, answered: bool) -> pd.DataFrame:
        """Returns frames that arrived and were sent again: without a response, or with a late one."""
        again = there.groupby(["from", "to", "carries", "packet", "kind"])["try"].shift(-1)
        rows = there[(there["outcome"] == "arrived") & (again > there["try"])]
        answers = self._answers_to(rows)
        wanted = answers[answers["outcome"] == "arrived"]["asked"] if answered else answers["asked"]
        return rows[rows["start"].isin(wanted) == answered]

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
        if row["packet"] > 0 and row["carries"] in ("data", "feedback"):
            place |= {"packet": row["packet"]} | ({"of": "feedback"} if row["carries"] == "feedback" else {})
        return f"{quote(self._page)}#{urlencode(place)}"
