"""Causes, hops and remedies in sentences with numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from multihop.experiments.services import Status, Yardstick
from multihop.explanation.account import Cause, FlowAccount, Hop
from multihop.explanation.causes import LEAST_SCORE
from multihop.results.statistics import estimate
from multihop.results.words import percent, rate, several, three_digits

Names = Callable[[int], str]

#: Short name of each kind of cause.
TITLES = {
    "hidden": "collisions with a hidden sender",
    "together": "collisions of stations that began in the same slot",
    "sensed": "collisions with frames sent despite carrier sense",
    "receiver-sending": "a receiver that was sending",
    "channel": "a lossy link",
    "weak": "a link below the receiver's sensitivity",
    "off": "a radio that was off",
    "unanswered": "a receiver that does not respond",
    "late": "responses after the sender's timeout",
    "queue": "a full queue",
    "aqm": "drops of a queue discipline",
    "policy": "drops of a router policy",
    "lifetime": "packets too old for the queue",
    "no-route": "packets without a route",
    "broken": "a broken next hop",
    "hop-limit": "packets beyond the hop limit",
    "wire-loss": "random losses on wires",
    "wire-full": "a full wire",
    "waiting": "waiting in queues",
    "reordering": "timeouts of a reordering buffer",
    "multicast": "group-addressed frames that were not decoded",
    "given-up": "frames given up after the retry limit",
    "contention": "a medium that others use",
    "turns": "a node that serves other neighbours",
    "transport": "the transport, which leaves the path unused",
}

#: Words before the reference goodput of a flow.
_YARDSTICKS = {
    Yardstick.FAIR: "its proportionally fair share is",
    Yardstick.ALIKE: "the mean of flows with equal demand is",
    Yardstick.PATH: "its path can carry",
    Yardstick.OFFERED: "it offers",
    Yardstick.BEST: "its best seed has",
}

_FRAMES = {"rts": "an RTS", "cts": "a CTS", "data": "a DATA frame", "ack": "an ACK"}


def amount(value: float) -> str:
    """Formats packets or milliseconds with three digits and at most two decimals."""
    return three_digits(round(value, 2))


def count(frames: float) -> str:
    """Formats a number of frames or packets per run."""
    return f"{frames:.0f}" if frames >= 10 else f"{frames:.2g}"


def place(cause: Cause, names: Names) -> str:
    """Returns the node or link of a cause; empty without one."""
    if cause.sender is None:
        return ""
    return names(cause.sender) if cause.receiver is None else f"{names(cause.sender)} to {names(cause.receiver)}"


def title(cause: Cause, names: Names) -> str:
    """Returns a cause in a few words, with its place and the interferer."""
    where = place(cause, names)
    match cause.kind:
        case "hidden" if cause.interferer is not None:
            return _hidden(cause, names)
        case "waiting":
            return f"waiting {_in_front(cause, names)}"
        case "no-route":
            return f"{where} has no route and drops packets"
        case "wire-loss":
            return f"random losses on the wire {where}" if cause.receiver is not None else TITLES[cause.kind]
        case "wire-full":
            return f"the full wire {where}"
    preposition = "on" if cause.receiver is not None else "at"
    return f"{TITLES[cause.kind]} {preposition} {where}" if where else TITLES[cause.kind]


def _hidden(cause: Cause, names: Names) -> str:
    """Returns which frames collide where, and which node does not sense which."""
    sender, receiver = names(cause.sender or 0), names(cause.receiver or 0)
    if cause.facts.get("answers", 0) > 0.5:
        sender, receiver = receiver, sender
    interferer = names(cause.interferer or 0)
    frames = f"{sender}'s frames with those of {interferer}"
    return f"collisions at {receiver} of {frames}, which {sender} does not sense (hidden sender)"


def of_what(account: FlowAccount) -> str:
    """Returns the quantity that the causes of a flow are shares of."""
    match account.basis:
        case "delay":
            return f"the delay of {account.name}"
        case "losses":
            return f"the packets that {account.name} loses"
    return f"what holds {account.name} back"


def sentence(cause: Cause, names: Names, flows: Sequence[str]) -> str:
    """Returns a cause with its numbers as a sentence."""
    facts, where = cause.facts, place(cause, names)
    frames = f"{percent(facts['share'])} of the tries ({count(facts['frames'])} per run)" if "share" in facts else ""
    match cause.kind:
        case "hidden" | "together" | "sensed" if cause.interferer is not None:
            return _collision(cause, names, frames)
        case "receiver-sending":
            return f"On {where}, {frames} arrived while {names(cause.receiver or 0)} was sending."
        case "channel":
            return f"On {where}, {frames} were lost to errors of the channel, without interference."
        case "weak":
            return f"On {where}, {frames} were too weak to be decoded at all."
        case "off":
            return f"On {where}, {frames} failed as a radio was off."
        case "unanswered":
            return (
                f"On {where}, {frames} were decoded, but {names(cause.receiver or 0)} did not respond: its NAV was set "
                "by frames of others, or it was busy."
            )
        case "late":
            return f"On {where}, {frames} were answered after the sender's timeout."
        case "queue":
            return _queue(cause, names, flows)
        case "wire-full":
            others = ", ".join(f"{flows[flow]} {rate(got)}" for flow, got in facts["others"])
            busy = f"The wire {where} of {rate(facts['rate_bps'])} is busy {percent(facts['utilisation'])} of the time"
            return f"{busy}{f'; it also carries {others}' if others else ''}."
        case "waiting":
            queue = f"{amount(facts['queue_mean'])} packets wait there on average"
            others = ", ".join(f"{flows[flow]} {rate(got)}" for flow, got in facts["others"])
            also = f", which also carries {others}" if others else ""
            return f"A packet waits {amount(1e3 * facts['wait_s'])} ms {_in_front(cause, names)}{also}; {queue}."
        case "contention":
            return _contention(cause, names, flows)
        case "turns":
            others = ", ".join(f"{whom} ({percent(share)} of the air)" for whom, share in facts["others"])
            sender, receiver = names(cause.sender or 0), names(cause.receiver or 0)
            return f"While the flow's packets for {receiver} wait, {sender} serves other neighbours: {others}."
        case "transport" if not facts["sent"]:
            return (
                "The transport sent nothing in the measured time: it waits for its retransmission timer after earlier "
                "losses, or for its application."
            )
        case "transport":
            return "The transport sends less than the path can carry: its window, rate or application limits it."
        case "no-route":
            return f"{count(facts['packets'])} packets per run were dropped at {where}, which had no route."
        case "wire-loss" if cause.receiver is not None:
            what = "acknowledgements" if facts["feedback"] else "packets"
            return f"{count(facts['packets'])} {what} per run were lost at random on the wire {where}."
    packets = f"{count(facts['packets'])} packets per run" if "packets" in facts else "Packets"
    return f"{packets} were lost to {TITLES[cause.kind]}{f' at {where}' if where else ''}."


def _in_front(cause: Cause, names: Names) -> str:
    """Returns the queue of a cause."""
    if cause.receiver is None:
        return f"in the queue of {names(cause.sender or 0)}"
    what = "wire" if cause.facts.get("wire", True) else "radio link"
    return f"in front of the {what} {place(cause, names)}"


def _collision(cause: Cause, names: Names, frames: str) -> str:
    facts = cause.facts
    sender, receiver = names(cause.sender or 0), names(cause.receiver or 0)
    interferer = names(cause.interferer or 0)
    at = sender if facts.get("answers", 0) > 0.5 else receiver
    to = f" to {facts['whom']}" if facts.get("whom") else ""
    doing = _FRAMES.get(str(facts.get("doing")), "a frame")
    busy = f"{interferer} was sending {doing}{to} ({percent(facts.get('doing_share', 0.0))} of the cases)"
    lost = f"On {sender} to {receiver}, {frames} were destroyed at {at} by {interferer}"
    match cause.kind:
        case "hidden":
            cts = (
                ""
                if facts.get("warned", 1.0) >= 0.5
                else f" {interferer} cannot decode frames of {receiver}, such as its CTS."
            )
            return (
                f"{lost}, which {receiver if at == sender else sender} does not sense (a hidden sender): {busy}.{cts}"
            )
        case "together":
            return f"{lost}, which began in the same slot: {busy}."
    return f"{lost}, although the two sense each other: {busy}."


def _queue(cause: Cause, names: Names, flows: Sequence[str]) -> str:
    facts = cause.facts
    if cause.receiver is not None:
        return (
            f"{count(facts['packets'])} packets per run found the queue full {_in_front(cause, names)}, where "
            f"{amount(facts['queue_mean'])} packets wait {amount(1e3 * facts['wait_s'])} ms on average."
        )
    node = names(cause.sender or 0)
    others = ", ".join(
        f"{flows[flow]} with {percent(share)}" for flow, share in facts.get("others", []) if share >= 0.02
    )
    whose = f"the flow sends {percent(facts['own_share'])} of the packets for it" + (
        f", others are {others}" if others else ""
    )
    return (
        f"The queue of {node} was full for {percent(facts['lost_share'])} of the flow's packets "
        f"({count(facts['packets'])} per run); {whose}; "
        f"{amount(facts['queue_mean'])} packets wait in it on average."
    )


def _contention(cause: Cause, names: Names, flows: Sequence[str]) -> str:
    facts = cause.facts
    others = ", ".join(f"{a} to {b} of {flows[flow]} ({percent(share)})" for flow, a, b, share in facts["others"])
    own = f" Other hops of the flow itself take {percent(facts['own_hops'])}." if facts["own_hops"] >= 0.02 else ""
    most = f" Most of the air near it goes to {others}." if others else ""
    where = names(cause.sender or 0)
    busy = percent(facts["busy"])
    return f"{where} waits for the medium, which it finds busy with others {busy} of the time.{most}{own}"


def status(account: FlowAccount) -> str:
    """Returns the goodput of a flow next to its reference."""
    got = estimate(account.goodput_bps)
    service = account.service
    head = rate(got.mean)
    if got.half_width is not None:
        head = f"{head.removesuffix(' Mb/s')} ± {rate(got.half_width)}"
    if not account.view["path"]:
        return f"{head}: it has no path."
    limit = f"{_YARDSTICKS[service.yardstick]} {rate(service.fair_bps)}"
    if account.status == Status.FINE:
        alone = f", and alone it could have {rate(account.alone_bps)}" if service.yardstick == Yardstick.FAIR else ""
        return f"{head}: this flow is fine; {limit}{alone}."
    word = "it starves" if account.status == Status.STARVING else account.status
    return f"{head}: {word}: {service.sentence()}; {limit}."


def hop_sentence(hop: Hop, back: Hop | None, names: Names, airtime: Mapping[int, tuple[float, float, float]]) -> str:
    """Returns the numbers of a hop, of acknowledgements back over it, and of its senders' time."""
    head = f"{names(hop.sender)} to {names(hop.receiver)}{' (acknowledgements)' if hop.feedback else ''}: "
    text = head + "; ".join(_numbers(hop)) + "."
    if back is not None:
        text += f" Acknowledgements back: {'; '.join(_numbers(back))}."
    for node in [
        each.sender for each in (hop, back) if each is not None and each.wire is None and each.sender in airtime
    ]:
        own, busy, idle = airtime[node]
        text += f" {names(node)} sends {percent(own)} of the time, finds the medium busy {percent(busy)},"
        text += f" idle {percent(idle)}."
    return text


def _numbers(hop: Hop) -> list[str]:
    """Returns the numbers of a hop for a flow."""
    if hop.wire:
        wire = hop.wire
        random = [f"{percent(wire.lost_ratio)} of its packets lost at random"] if wire.lost_ratio else []
        return [
            f"a wire of {rate(wire.rate_bps)}, busy {percent(wire.utilisation)} of the time",
            f"{amount(wire.queue_mean)} packets wait {amount(1e3 * wire.wait_s)} ms in front of it",
            *random,
        ]
    if hop.counters is None or hop.counters.frames == 0:
        return ["no frame of the flow ended here"]
    counters = hop.counters
    parts = [f"{hop.tries:.3g} tries per frame"]
    lost = sorted(_by_kind(hop).items(), key=lambda item: -item[1])
    parts += [
        f"{percent(hop.share(frames))} lost to {TITLES[kind]}" for kind, frames in lost if hop.share(frames) >= 0.01
    ]
    if counters.given_up:
        parts.append(f"{percent(counters.given_up / counters.frames)} of its frames given up")
    wait, service = (amount(1e3 * seconds) for seconds in (counters.wait_s, counters.service_s))
    parts.append(f"{wait} ms in the queue and {service} ms at its head")
    if hop.alone_bps:
        parts.append(f"alone it would carry {rate(hop.alone_bps)}")
    return parts


def causes_heading(account: FlowAccount) -> str:
    """Returns the heading of a flow's causes, with the seeds that they describe."""
    if account.status == Status.FINE:
        return "What limits it"
    seeds, starved = len(account.goodput_bps), account.service.starved_seeds
    if 0 < starved < seeds:
        return f"What holds it back in the {'seed' if starved == 1 else f'{starved} seeds'} in which it starves"
    return "What holds it back"


def both_ways(hops: Sequence[Hop]) -> list[tuple[Hop, Hop | None]]:
    """Returns the hops of a flow's data, each with the hop of its acknowledgements over the same nodes.

    Hops of acknowledgements over other nodes follow without a partner.
    """
    back = {(hop.receiver, hop.sender): hop for hop in hops if hop.feedback}
    data = [(hop, back.pop((hop.sender, hop.receiver), None)) for hop in hops if not hop.feedback]
    return [*data, *((hop, None) for hop in back.values())]


def _by_kind(hop: Hop) -> dict[str, int]:
    made: dict[str, int] = {}
    for blame, failure in hop.failures.items():
        made[blame.kind] = made.get(blame.kind, 0) + failure.frames
    return made


def path(account: FlowAccount, names: Names, *, changes: bool) -> str:
    """Returns the path of packets: the shortest, or the hops that routing used instead."""
    shortest = account.view["path"]
    shown = " > ".join(names(node) for node in shortest) or "no path"
    scheme = f"; scheme {account.view['scheme']}."
    on_path = set(pairwise(shortest))
    data = [hop for hop in account.hops if not hop.feedback and hop.wire is None]
    used = [(hop, hop.counters.frames) for hop in data if hop.counters is not None and hop.counters.frames]
    idle = any((hop.sender, hop.receiver) in on_path for hop in data if hop not in [hop for hop, _ in used])
    if not used or (all((hop.sender, hop.receiver) in on_path for hop, _ in used) and not idle):
        return f"Path: {shown}{scheme}"
    most = max(frames for _, frames in used)
    hops = [f"{names(hop.sender)} to {names(hop.receiver)} {percent(frames / most)}" for hop, frames in used]
    start = " at the start" if changes else ""
    return f"Shortest path{start}: {shown}; packets went over {several(hops, 6)} of the busiest hop's frames{scheme}"


def clique(account: FlowAccount, names: Names) -> str:
    """Returns the links that limit a flow together."""
    if not account.clique:
        return ""
    shown = [f"{names(a)}>{names(b)}" for a, b in account.clique[:8]]
    more = f" and {len(account.clique) - 8} more" if len(account.clique) > 8 else ""
    if len(account.clique) == 1:
        took = percent(account.clique_airtime)
        return f"No other link in use excludes {shown[0]}, whose exchanges took {took} of the time."
    over = "; more than all of it, as they overlapped" if account.clique_airtime > 1 else ""
    return (
        f"Links that cannot be used at once limit it: {', '.join(shown)}{more}; their exchanges took "
        f"{percent(account.clique_airtime)} of the time, without back-off{over}."
    )


def main_causes(account: FlowAccount) -> list[Cause]:
    """Returns the causes that sentences name, at most five."""
    return [cause for cause in account.causes if cause.score >= LEAST_SCORE][:5]
