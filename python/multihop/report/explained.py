"""Section of a report that explains slow flows."""

from __future__ import annotations

from collections.abc import Mapping

from multihop.base import extras
from multihop.experiments.comparisons import VariantRuns
from multihop.explanation.account import Place
from multihop.explanation.explain import Explanation, of_runs
from multihop.report.markup import disclosure, escape, section
from multihop.report.places import Places

#: Most flows of each variant that a report explains, those with the smallest share of their fair rate first.
MOST_FLOWS = 8


def sections(comparison: VariantRuns, explanation: Explanation | None, places: Mapping[str, Places]) -> list[str]:
    """Returns the section from the explanation, or else from runs with tables of causes; otherwise nothing.

    With places in the frame log of a variant, sentences about a run link to the viewer.
    """
    made = [explanation] if explanation is not None else _of_runs(comparison)
    content = "".join(
        _variant(each, places.get(each.variant), comparison.variants.index(each.variant), several=len(made) > 1)
        for each in made
        if each.explained
    )
    note = (
        "Shares are of the time that packets take at the hop that is occupied most, and of packets that were dropped. "
        "Remedies, tried by runs: multihop explain RESULTS."
    )
    return [section("What holds flows back", content, note)] if content else []


def _of_runs(comparison: VariantRuns) -> list[Explanation]:
    if not extras.has("optimum"):
        return []  # the fair share of a flow is unknown
    best = comparison.optima
    found = (of_runs(results, variant, best=best[variant]) for variant, results in comparison.results.items())
    return [each for each in found if each is not None]


def _variant(found: Explanation, places: Places | None, number: int, *, several: bool) -> str:
    """Returns the explanation of the slow flows of a variant, given by its number."""
    head = f"<h3>{escape(found.variant)}</h3>" if several else ""
    remark = found.remark()
    seen = _main_link(found, places)
    headline, *first = [sentence for sentence in found.first_screen() if sentence != remark]
    said = f"<p>{escape(headline)}{seen}</p>" + (f"<p>{escape(remark)}</p>" if remark else "")
    said += f"<ul>{''.join(f'<li>{escape(sentence)}</li>' for sentence in first)}</ul>" if first else ""
    worst = sorted(found.explained, key=lambda index: found.flows[index].share)
    shown = "".join(_flow(found, index, places, number) for index in worst[:MOST_FLOWS])
    left = len(worst) - MOST_FLOWS
    more = f"<p>{left} more flows are not fine; multihop explain RESULTS FLOW explains each.</p>" if left > 0 else ""
    return head + said + shown + more


def _main_link(found: Explanation, places: Places | None) -> str:
    """Returns a link to the main cause, for a flow that it affects at the place named by the headline."""
    if found.main_cause is None:
        return ""
    main = found.main_cause
    flows = [found.flows[index] for index in (main.flow, *main.held)]
    there = [flow for flow in flows if main.cause.place in (cause.place for cause in flow.causes)]
    return next((link for flow in there if (link := _link(places, flow.name, main.cause.place))), "")


def _flow(found: Explanation, index: int, places: Places | None, number: int) -> str:
    parts = []
    for heading, sentences in found.paragraphs(index):
        items = "".join(
            f"<li>{escape(sentence.text)}{_link(places, found.flows[index].name, sentence.place)}</li>"
            for sentence in sentences
        )
        parts.append((f"<h4>{escape(heading)}</h4>" if heading else "") + f"<ul>{items}</ul>")
    account = found.flows[index]
    shown = disclosure(f"{account.name} ({account.status})", "".join(parts), "explained")
    return f'<div data-of="v{number} f{index}">{shown}</div>'


def _link(places: Places | None, flow: str, place: Place | None) -> str:
    address = None if places is None or place is None else places.of(flow, place)
    return "" if address is None else f' <a class="seen" href="{escape(address)}">see it</a>'
