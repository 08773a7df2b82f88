"""HTML page of a report, from figures, tables and sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from multihop.experiments.comparisons import Contrast, VariantRuns
from multihop.experiments.verdicts import about_optimum, sentences
from multihop.explanation.explain import Explanation
from multihop.framelog.reading import packed
from multihop.report import charts, explained, flow_tables, topology, viewer
from multihop.report.charts.figures import Figure
from multihop.report.charts.html import html
from multihop.report.markup import disclosure, document, facts, paragraphs, remark, section, table
from multihop.report.markup import escape as _e
from multihop.report.numbers import in_script
from multihop.report.places import Shown
from multihop.report.svg import colours, style
from multihop.results.folders import MOTION_FILE
from multihop.results.provenance import build
from multihop.results.words import signed, with_interval


def page(
    comparison: VariantRuns, explanation: Explanation | None = None, frames: Mapping[str, Shown] | None = None
) -> str:
    """Returns the report as HTML, with the explanation of its runs, and frame logs or links to them."""
    shown = frames or {}
    first = comparison.first
    title = first.view["name"]
    description = first.view.get("description") or ""
    drawn = {figure.name: figure for figure in charts.every(comparison)}
    network = topology.Topology(first.view, first.positions)
    seeds = len(comparison.seeds)
    intervals = "Bars are means, intervals Student t at 95 %, cut where the quantity ends." if seeds > 1 else ""
    sections = [
        f"<header><h1>{_e(title)}</h1>{paragraphs(description)}{_subtitle(comparison)}</header>{_subjects(comparison)}",
        section("Verdict", _verdict(comparison)),
        section(
            "Topology",
            f'<div class="scroll" tabindex="0">{network.picture()}</div>',
            network.caption() + " " + _path_note(comparison),
        ),
        *_flows(comparison),
        *_figures("Goodput and delay", drawn, ["goodput-delay", "goodput-flows", "delay-cdf"], _marks_note(comparison)),
        *_figures("Metrics by scheme", drawn, ["metrics"], intervals),
        *explained.sections(comparison, explanation, {variant: log.places() for variant, log in shown.items()}),
        *_figures("Where packets are lost", drawn, ["losses"], _feedback(comparison)),
        *_losses(comparison),
        *_figures("Over time", drawn, [f"{name}-time" for name in charts.times.QUANTITIES], _time_note(comparison)),
        *_figures(
            "How nodes spend their time",
            drawn,
            ["airtime"],
            "Transmitting; receiving frames meant for the node; sensing anything else on the medium; idle. "
            "Means over seeds. Point at a bar for its node.",
        ),
        *_transmissions(shown),
        section("Numbers", _metric_table(comparison) + _about_optimum(comparison) + _paired_table(comparison)),
        section("Provenance", _provenance(comparison)),
    ]
    return document(title, "\n".join(sections))


def _figures(title: str, drawn: Mapping[str, Figure], names: Sequence[str], note: str = "") -> list[str]:
    """Returns a section of the figures that exist, or none; a single figure takes the section's title."""
    there = [drawn[name] for name in names if name in drawn]
    with style():
        pictures = "".join(html(figure, captioned=len(there) > 1) for figure in there)
    return [section(title, f'<div class="figures">{pictures}</div>', note)] if there else []


def _transmissions(frames: Mapping[str, Shown]) -> list[str]:
    """Returns the viewer of the logs that this page shows, and links to the pages of the others."""
    own = [packed(log.log).data for log in frames.values() if not log.page]
    pages = ", ".join(
        f'<a href="{_e(quote(log.page))}">{_e(variant)}</a>' for variant, log in frames.items() if log.page
    )
    made = []
    if own:
        hosts = "".join(viewer.embedded(log, f"frames{number}") for number, log in enumerate(own))
        content = f"<style>\n{viewer.styles()}</style>{hosts}{viewer.inline_module()}"
        note = "Click a frame to follow its packet; the address carries the place."
        made.append(section("Every transmission", content, note))
    if pages:
        made.append(section("Every transmission", f"<p>One seed each, on pages next to this one: {pages}.</p>"))
    return made


def _subjects(comparison: VariantRuns) -> str:
    """Returns the page's variants, flows and nodes by number, for the script that highlights paths."""
    view = comparison.view
    nodes = [node["name"] for node in view["nodes"]]
    flows = []
    for flow in view["flows"]:
        path = flow["path"] or [nodes.index(flow[end]) for end in ("source", "destination")]
        flows.append({"name": flow["name"], "path": path})
    about = json.dumps({"variants": comparison.variants, "flows": flows, "nodes": nodes}, ensure_ascii=False)
    return f'<script type="application/json" id="subjects">{in_script(about)}</script>'


def _subtitle(comparison: VariantRuns) -> str:
    view = comparison.view
    palette = colours(comparison.variants)
    chips = "".join(
        f'<span class="chip"><i style="background:{palette[v]}"></i>{_e(v)}</span>' for v in comparison.variants
    )
    measured = view["duration"] - view["warmup"]
    seeds = f"{len(comparison.seeds)} seeds" if len(comparison.seeds) > 1 else "one seed"
    varied = f" {_e(comparison.varied)}" if comparison.varied else ""
    times = f"{measured:g} s measured after {view['warmup']:g} s of warm-up"
    return f"<p>{chips}</p><p class='note'>{times}, {seeds}.{varied}</p>"


def _verdict(comparison: VariantRuns) -> str:
    items = []
    for sentence in sentences(comparison):
        head, colon, rest = sentence.partition(":")
        commands = re.sub(r"`([^`]+)`", r"<code>\1</code>", _e(rest))
        items.append(f"<li><b>{_e(head)}{'.' if colon else ''}</b>{commands}</li>")
    note = (
        "Schemes are compared seed by seed (paired t-test, adjusted by Holm's method for several pairs); "
        "a difference counts as significant if p is below 0.05."
        if len(comparison.variants) > 1 and len(comparison.seeds) > 1
        else "There is one seed, so no interval."
        if len(comparison.seeds) == 1
        else ""
    )
    return f'<ul class="verdict">{"".join(items)}</ul>' + remark(note)


def _path_note(comparison: VariantRuns) -> str:
    view = comparison.view
    without = [flow for flow in view["flows"] if not flow["path"]]
    lost = ", ".join(flow["name"] for flow in without if "group" not in flow)
    far = ", ".join(flow["name"] for flow in without if "group" in flow)
    when = " at the start" if any(node["moves"] for node in view["nodes"]) else ""
    said = [f"No route{when} for {lost}."] if lost else []
    said += [f"Receivers out of reach{when} of multicast flows: {far}."] if far else []
    return " ".join(said) or "Thick lines are the paths of flows at the start."


def _flows(comparison: VariantRuns) -> list[str]:
    """Returns a table of the flows of a single scheme, for which bars would add nothing."""
    if len(comparison.variants) > 1:
        return []
    return [section("Flows", flow_tables.service(comparison), _optimum_note(comparison))]


def _losses(comparison: VariantRuns) -> list[str]:
    """Returns a table of the losses of a single scheme; nothing without losses."""
    if len(comparison.variants) > 1 or not charts.bars.lost_causes(comparison):
        return []
    return [section("Where packets are lost", flow_tables.losses(comparison), _feedback(comparison))]


def _marks_note(comparison: VariantRuns) -> str:
    """Explains the marks of optima, where they are drawn."""
    return _optimum_note(comparison) if len(comparison.variants) > 1 else ""


def _optimum_note(comparison: VariantRuns) -> str:
    why = comparison.not_comparable
    if why is not None:
        return f"No optimum is drawn: {why}."
    return (
        "Fair optimum: goodputs that maximise the sum of log(goodput) within the airtime, with the headers and "
        "acknowledgements of their transport. Stations that count back-off down together may exceed it."
    )


def _feedback(comparison: VariantRuns) -> str:
    lost = ", ".join(f"{v} {comparison.values(v, 'feedback_dropped').mean():.4g}" for v in comparison.variants)
    seeds = ", means over seeds" if len(comparison.seeds) > 1 else ""
    return (
        "Of the data packets that were lost or arrived, the share that the network lost, by cause. "
        f"Acknowledgements lost as well{seeds}: {lost}."
    )


def _time_note(comparison: VariantRuns) -> str:
    return "Means over seeds; bands are 95 % intervals (Student t)." if len(comparison.seeds) > 1 else ""


def _metric_table(comparison: VariantRuns) -> str:
    rows = [
        [m.heading, *(with_interval(comparison.estimate(v, m.name), m) for v in comparison.variants)]
        for m in comparison.metrics
    ]
    return table(["", *comparison.variants], rows)


def _about_optimum(comparison: VariantRuns) -> str:
    """Explains the last rows of the table, if they are about the optimum."""
    return remark(" ".join(about_optimum(comparison))) if comparison.not_comparable is None else ""


def _paired_table(comparison: VariantRuns) -> str:
    contrasts = [contrast for metric in comparison.metrics for contrast in comparison.contrasts(metric)]
    if not contrasts or len(comparison.seeds) == 1:
        return ""
    heads = ["", "difference", "mean", "95 % interval", "p (adjusted)"]
    significant = {number for number, contrast in enumerate(contrasts) if contrast.significant}
    return disclosure("Paired differences", table(heads, map(_paired_row, contrasts), "", 2, significant))


def _paired_row(contrast: Contrast) -> list[str]:
    d, m = contrast.difference, contrast.metric
    interval = "" if d.low is None or d.high is None else f"{signed(m, d.low)} to {signed(m, d.high)}"
    p = "" if contrast.adjusted_p is None else f"{contrast.adjusted_p:.2g}"
    return [m.heading, f"{contrast.a} - {contrast.b}", signed(m, d.mean), interval, p]


def _provenance(comparison: VariantRuns) -> str:
    view = comparison.view
    known = {
        "multihop": build(),
        "scenario": f"{view['name']}, hash {view['hash']}",
        "seeds": ", ".join(str(seed) for seed in comparison.seeds),
    }
    motion = f", and its file of motion as {MOTION_FILE}" if view["motion_file"] is not None else ""
    return (
        f"{facts(known.items())}<p>To run it again, in the folder with the results or wherever the "
        f"scenario below is saved as scenario.toml{motion}:</p><pre>{_e(comparison.command)}</pre>"
        f"<details><summary>The scenario</summary><pre>{_e(comparison.scenario.text)}</pre></details>"
    )
