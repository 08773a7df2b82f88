"""The section of a report that says why flows starve or are slow."""

from __future__ import annotations

from multihop.base import extras
from multihop.comparison.runs import Runs
from multihop.explanation.explain import Explanation, of_runs
from multihop.report.markup import disclosure, escape, section
from multihop.report.places import Places

#: Flows that are explained in a report at most, of each variant; those that get the least of their share come first.
MOST_FLOWS = 8


def sections(comparison: Runs, explanation: Explanation | None, places: Places | None = None) -> list[str]:
    """The section, made of what was explained, or else of the runs if these kept books of causes; otherwise none.

    With places of a frame log, each sentence has a link to the viewer.
    """
    made = [explanation] if explanation is not None else _of_runs(comparison)
    content = "".join(_variant(each, places, several=len(made) > 1) for each in made if each.explained)
    note = (
        "Shares are of the time that packets take at the hop that is occupied most, and of packets that were dropped. "
        "Remedies, tried by runs: multihop explain RESULTS."
    )
    return [section("Why flows starve or are slow", content, note)] if content else []


def _of_runs(comparison: Runs) -> list[Explanation]:
    if not extras.has("optimum"):
        return []  # what a flow's fair share is, is not known
    found = (of_runs(results, variant) for variant, results in comparison.results.items())
    return [each for each in found if each is not None]


def _variant(found: Explanation, places: Places | None, *, several: bool) -> str:
    """What is slow in one variant."""
    head = f"<h3>{escape(found.variant)}</h3>" if several else ""
    remark = found.remark()
    said = "".join(f"<p>{escape(text)}</p>" for text in (found.headline(), remark) if text)
    worst = sorted(found.explained, key=lambda index: found.flows[index].share)
    shown = "".join(_flow(found, index, places) for index in worst[:MOST_FLOWS])
    left = len(worst) - MOST_FLOWS
    more = f"<p>{left} more flows are below half of their fair share; explain names each.</p>" if left > 0 else ""
    return head + said + shown + more


def _flow(found: Explanation, index: int, places: Places | None) -> str:
    parts = []
    for heading, sentences in found.paragraphs(index):
        items = "".join(
            f"<li>{escape(sentence)}{_link(places, found.flows[index].name, sentence)}</li>" for sentence in sentences
        )
        parts.append((f"<h4>{escape(heading)}</h4>" if heading else "") + f"<ul>{items}</ul>")
    account = found.flows[index]
    return disclosure(f"{account.name} ({account.status})", "".join(parts), "explained")


def _link(places: Places | None, flow: str, sentence: str) -> str:
    place = None if places is None else places.of(flow, sentence)
    return "" if place is None else f' <a href="{escape(place)}">see it</a>'
