"""The tables of causes: what hops did for flows, where packets were dropped, and why frames were lost.

The engine keeps these books, and a run's output has them, if they are asked for, as `run`, `compare` and `explain` do.
Studies do not: they cost some percent of a run.
"""

from __future__ import annotations

from multihop.results.columns import DROP_CAUSES, Column

#: Why a unicast frame did not do what it was sent for: column -> meaning.
LOSS_CAUSES: dict[str, str] = {
    "lost_collision": "another signal overlapped it at the receiver, without which it would have been decoded",
    "lost_receiver_sending": "the receiver was itself transmitting",
    "lost_channel": "noise, or an error model: it would have been lost alone as well",
    "lost_weak": "it arrived too weak to be decoded, or not at all",
    "lost_off": "the radio of the sender or of the receiver was off",
    "unanswered": "it was decoded, but the receiver gave no answer: its NAV was set, or it was at something else",
    "late": "an answer that was no longer awaited; under ns-2's rules also a CTS after which the medium was not idle",
}

_LINK = {
    "sender": Column("1", "index of the node that sends"),
    "receiver": Column("1", "index of the node that receives"),
}
_FLOW = {
    "flow": Column("1", "index of the flow"),
    "feedback": Column("1", "1 if this is of its acknowledgements (packets without payload), 0 if of its data"),
}

#: What a run's output has besides, if it is asked for.
CAUSE_TABLES: dict[str, dict[str, Column]] = {
    "hops": {
        **_FLOW,
        **_LINK,
        "rts": Column("1", "RTS transmissions"),
        "data": Column("1", "DATA transmissions"),
        "acknowledged": Column("1", "frames acknowledged"),
        "given_up": Column("1", "frames given up after the retry limit"),
        "wait_mean_s": Column("s", "from a frame's arrival in the queue to the head of the line, mean"),
        "service_mean_s": Column("s", "from the head of the line to its end, acknowledged or given up, mean"),
        "airtime": Column("1", "share of time that its exchanges took, once for each DATA transmission"),
    },
    "drops": {
        **_FLOW,
        "node": Column("1", "index of the node where packets were dropped"),
        **{f"dropped_{cause}": Column("packets", f"packets lost because {why}") for cause, why in DROP_CAUSES.items()},
    },
    "losses": {
        **_LINK,
        "frame": Column("", "what was sent: rts, cts, data or ack"),
        **{name: Column("1", f"frames: {why}") for name, why in LOSS_CAUSES.items()},
    },
    "collisions": {
        "receiver": Column("1", "index of the node that the lost frames were for"),
        "sender": Column("1", "index of the node that sent them"),
        "frame": Column("", "what they were"),
        "interferer": Column("1", "index of the node whose frames destroyed them: the strongest of several"),
        "interferer_frame": Column("", "what those frames were"),
        "interferer_to": Column("1", "index of the node that those were for; missing for broadcasts"),
        "overlap": Column(
            "",
            "`hidden`: the sender does not sense the interferer; `simultaneous`: it does, but both began within a slot;"
            " `sensed`: it does, and one of them sent nevertheless, as answers do",
        ),
        "warned": Column("1", "1 if the interferer can decode frames of the receiver, its CTS above all"),
        "lost": Column("1", "how many frames were lost so"),
    },
}
