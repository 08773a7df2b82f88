"""Where in the viewer of a frame log a sentence about a flow can be seen."""

from __future__ import annotations

from urllib.parse import urlencode

from multihop.framelog.reading import FrameLog

#: What such a link shows, in seconds: some exchanges.
_SPAN_S = 0.02


class Places:
    """Finds places in a frame log."""

    def __init__(self, log: FrameLog) -> None:
        self._sent = log.transmissions
        self._names = [node["name"] for node in log.head["nodes"]]

    def of(self, flow: str, sentence: str) -> str | None:
        """The fragment of an address: the first frame that was lost on the first hop that the sentence names.

        If it names none, the flow's own first loss; without a loss, the first frame; none if there is no frame.
        """
        hop = self._hop(sentence)
        frames = self._sent[self._sent["flow"] == flow]
        if hop is not None:
            on_hop = (self._sent["from"] == hop[0]) & (self._sent["to"] == hop[1])
            frames = self._sent[on_hop] if on_hop.any() else frames
        lost = frames[~frames["outcome"].isin(["arrived", "broadcast"])]
        shown = lost if len(lost) else frames
        if not len(shown):
            return None
        first = shown.iloc[0]
        place = {"t": f"{first['start'] / 1e9:.9f}", "span": _SPAN_S, "flow": flow, "node": first["from"]}
        return "#" + urlencode(place)

    def _hop(self, sentence: str) -> tuple[str, str] | None:
        """The pair of nodes that is named first, as in `n0 to n1` or `n0>n1`."""
        padded = f" {sentence} "
        found = [
            (padded.find(text), (one, other))
            for one in self._names
            if one in padded
            for other in self._names
            for text in (f" {one} to {other}", f" {one}>{other}")
            if text in padded
        ]
        return min(found)[1] if found else None
