"""Markdown page of the league, generated from its results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from multihop.experiments.derived_metrics import question_of
from multihop.experiments.studies import StudyResult
from multihop.leagues import League, Network, base_form, coexistence, flavour, headers, rules, scheme_of, settings
from multihop.leagues.coexistence import Pair
from multihop.leagues.table import Standing, decided, main_metric, overtaken, standings
from multihop.leagues.worst import Worst
from multihop.leagues.worst import rows as worst_rows
from multihop.report.study.provenance import spans
from multihop.results.columns import Metric
from multihop.results.provenance import build
from multihop.results.statistics import Estimate
from multihop.results.words import markdown_table, with_interval

WITHOUT_MESH = (
    "The community mesh is left out, since measured meshes are not part of this project. Any file that multihop import "
    "reads can be used, such as the meshviewer.json that Freifunk communities publish, or a scenario: multihop league "
    "--mesh FILE"
)

#: Explanation of the ranks in a summary.
RANK = (
    "Ranks among schemes of a kind, by the gap of useful goodput to the proportionally fair optimum, or without an "
    "optimum by its sum: for reliable transports goodput, for datagrams goodput within 400 ms. A rank is one more than "
    "the number of significantly better schemes, so that schemes share a rank if the seeds do not separate them."
)

#: Metrics of the table over all networks, in this order.
_MEASURES = ("gap", "timely_gap", "goodput", "timely", "jain", "delay", "loss", "overhead")

#: Metrics in which equal runs agree.
_SAME = ("goodput", "jain", "delay", "loss", "overhead")

#: Most decimals on the page, however narrow an interval is; tables have all.
_DECIMALS = 3


def markdown(league: League, command: str, pairs: Sequence[Pair], worst: Sequence[Worst]) -> str:
    """Returns the page: ranks over networks, each network in full, and equal and unequal conditions.

    Args:
        league: league with its results.
        command: command that reproduces it.
        pairs: shares of schemes beside others.
        worst: worst network of each scheme with its cause.
    """
    table, said = standings(league), rules()["page"]
    made_by = f"with multihop {build()}"
    lines = [
        "# The league of schemes",
        "",
        f"Written from the runs of `{command}`, {made_by}. The same command reproduces the numbers.",
        "",
        *_extent(league),
        "## Which scheme is better where",
        "",
        *_paragraphs(said["ranks"]),
        *_exceptions(league, table),
        *markdown_table(*summary(league, table)),
        *_forms(league),
        *_worst(league, worst),
        *(coexistence.markdown(pairs) if pairs else []),
        *_aggregation(league, table),
        "## By metric",
        "",
        *_paragraphs(said["measures"]),
        *markdown_table(*by_measure(league, table)),
    ]
    for network, result in zip(league.networks, league.results, strict=True):
        lines += [f"## {network.title}", "", *_network(network, result, table)]
    if league.without_mesh:
        lines += [f"## {rules()['community']['title']}", "", f"{WITHOUT_MESH}.", ""]
    lines += ["## What was equal, and what was not", "", *said["fair"], "", *markdown_table(*_terms(league))]
    text = "\n".join(lines).rstrip() + "\n"
    for name, value in _numbers().items():
        text = text.replace(name, value)
    return text


def _numbers() -> dict[str, str]:
    """Returns numbers of `league.toml` by their names in its texts."""
    said = rules()
    common = {key.upper(): str(value) for key, value in said["acknowledgements"].items()}
    causes = str(said["causes"]["seeds"])
    return {"PACKET": str(said["packet"]), "WINDOW": str(said["receive_window"]), "CAUSE_SEEDS": causes, **common}


def summary(league: League, table: Sequence[Standing] | None = None) -> tuple[list[str], list[list[str]]]:
    """Returns heads and rows: ranks within a kind by network, the best schemes first."""
    table = standings(league) if table is None else table
    main = {
        (network.name, kind): main_metric(table, network.name, kind)
        for network in league.networks
        for kind in league.kinds
    }
    chosen = [standing for standing in table if standing.metric == main[standing.network, standing.kind]]
    ranks = {(standing.network, standing.scheme): str(standing.rank) for standing in chosen}
    rows = []
    for kind, names in league.kinds.items():
        for scheme, better, worse in _ordered(names, chosen):
            places = [ranks.get((network.name, scheme), "none") for network in league.networks]
            rows.append([kind, scheme, *places, str(better), str(worse)])
    return ["kind", "scheme", *(network.title for network in league.networks), "better than", "worse than"], rows


def _forms(league: League) -> list[str]:
    """Returns the section on ranked forms: schemes by flavour of TCP, and additions to published forms."""
    forms: Mapping[str, str] = rules()["form"]
    rows = [[name, forms[name]] for name in league.schemes if name in forms]
    own = [name for name in league.schemes if scheme_of(name) != name]
    rows += [[name, "receivers acknowledge by the scheme's defaults"] for name in own]
    flavours: dict[str, list[str]] = {}
    for name in dict.fromkeys(scheme_of(name) for name in league.schemes):
        if found := flavour(name):
            flavours.setdefault(found, []).append(name)
    lines = ["### Ranked forms", "", *_paragraphs(rules()["page"]["forms"])]
    lines += _paragraphs(f"Defaults of flavour `{found}`: {', '.join(names)}." for found, names in flavours.items())
    return [*lines, *(markdown_table(["scheme", "ranked form"], rows) if rows else [])]


def _worst(league: League, worst: Sequence[Worst]) -> list[str]:
    """Returns the section on the worst network of each scheme."""
    titles = {network.name: network.title for network in league.networks}
    lines = ["### Where each scheme is worst, and why", "", *_paragraphs(rules()["page"]["worst"])]
    return [*lines, *markdown_table(*worst_rows(worst, titles))]


#: A network, the same network with aggregating radios, pairs of schemes whose order is reversed there, and
#: number of pairs with an order on both.
_Change = tuple[str, str, set[tuple[str, str]], int]


def _moved(
    table: Sequence[Standing], kinds: Mapping[str, Sequence[str]], changes: Sequence[_Change]
) -> list[list[str]]:
    """Returns rows with the rank of each scheme on a network, without and with aggregating radios.

    Each cell also counts schemes that it overtakes and is overtaken by, by differences that are significant
    on both. The largest changes of rank are first.
    """
    rows = []
    for kind, names in kinds.items():
        ranks = {
            (standing.network, standing.scheme): standing.rank
            for standing in table
            if standing.kind == kind and standing.metric == main_metric(table, standing.network, kind)
        }
        found = []
        for scheme in names:
            most, cells = 0, []
            for before, after, passed, _ in changes:
                was, became = ranks.get((before, scheme)), ranks.get((after, scheme))
                if was and became:
                    most = max(most, abs(became - was))
                overtakes, falls = (sum(pair[place] == scheme for pair in passed) for place in (0, 1))
                cells.append(f"{was or 'none'} → {became or 'none'} (+{overtakes} -{falls})")
            found.append((most, [kind, scheme, *cells]))
        rows += [row for _, row in sorted(found, key=lambda change: -change[0])]
    return rows


def _aggregation(league: League, table: Sequence[Standing]) -> list[str]:
    """Returns the section about aggregation, if the league has networks with and without."""
    titles = {network.name: network.title for network in league.networks}
    changes: list[_Change] = [
        (network.base_network, network.name, *overtaken(league, table, network.base_network, network.name))
        for network in league.networks
        if network.base_network in titles
    ]
    if not changes:
        return []
    heads = [f"{titles[before]} → {titles[after]}" for before, after, _, _ in changes]
    shares = [f"{len(change[2])} of {change[3]} ({head})" for head, change in zip(heads, changes, strict=True)]
    return [
        "## What aggregation changes",
        "",
        *_paragraphs(rules()["page"]["aggregation"]),
        f"Pairs of schemes that seeds order on both networks, and whose order is reversed: {', '.join(shares)}.",
        "",
        *markdown_table(["kind", "scheme", *heads], _moved(table, league.kinds, changes)),
    ]


def decision(league: League, table: Sequence[Standing] | None = None) -> str:
    """Returns a sentence with the number of pairs that the seeds separate; empty without pairs."""
    found, pairs = decided(league, standings(league) if table is None else table)
    if not pairs:
        return ""
    seeds = max(len(seeds) for result in league.results for seeds in result.seeds.values())
    if found:
        return f"{seeds} seeds separate {found} of {pairs} pairs of schemes, over all networks."
    few = "One seed separates" if seeds == 1 else f"{seeds} seeds separate"
    return f"Nothing is decided: {few} no two schemes on any network; use --seeds 10 or more."


def by_measure(league: League, table: Sequence[Standing]) -> tuple[list[str], list[list[str]]]:
    """Returns heads and rows of wins and losses within a kind of schemes, per scheme and metric.

    Counts are over all networks.
    """
    counts = {
        measure: {
            scheme: f"+{better} -{worse}"
            for scheme, better, worse in _ordered(league.schemes, [one for one in table if one.metric == measure])
        }
        for measure in _MEASURES
    }
    first = league.results[0]
    heads = ["kind", "scheme", *(first.metric(measure).title for measure in _MEASURES)]
    rows = [
        [kind, scheme, *(counts[measure][scheme] for measure in _MEASURES)]
        for kind, names in league.kinds.items()
        for scheme in names
    ]
    return heads, rows


def _ordered(schemes: Sequence[str], chosen: Sequence[Standing]) -> list[tuple[str, int, int]]:
    """Returns each scheme with its numbers of wins and losses, the largest difference first."""
    made = []
    for scheme in schemes:
        own = [standing for standing in chosen if standing.scheme == scheme]
        made.append((scheme, sum(one.better_than for one in own), sum(one.worse_than for one in own)))
    return sorted(made, key=lambda entry: entry[2] - entry[1])


def _extent(league: League) -> list[str]:
    lines = []
    for network, result in zip(league.networks, league.results, strict=True):
        view = result.study.plan.views[0]
        seeds = sorted({seed for found in result.seeds.values() for seed in found})
        flows = "1 flow" if len(view["flows"]) == 1 else f"{len(view['flows'])} flows"
        measured = f"{view['duration']:g} s, of which {view['warmup']:g} s warm-up"
        lines.append(f"- {network.title}: {len(view['nodes'])} nodes, {flows}, {measured}, seeds {spans(seeds)}")
    return [f"{len(league.schemes)} schemes, on each network with the same seeds:", "", *lines, ""]


def _exceptions(league: League, table: Sequence[Standing]) -> list[str]:
    """Returns sentences about networks without an optimum, and about seeds that decide nothing."""
    lines = []
    there = {standing.network for standing in table if standing.metric == "gap"}
    others = [network.title for network in league.networks if network.name not in there]
    if others:
        lines += [
            f"No single optimum exists for: {', '.join(others)}. Ranks there are by the sum of useful goodput.",
            "",
        ]
    if any(standing.found.n < 2 for standing in table):
        lines += ["**One seed cannot separate schemes**; use `--seeds 10` or more.", ""]
    elif not decided(league, table)[0] and (said := decision(league, table)):
        lines += [f"**{said}**", ""]
    return lines


def _network(network: Network, result: StudyResult, table: Sequence[Standing]) -> list[str]:
    """Returns a table per kind of transport, with the best scheme by the main metric first."""
    description = result.study.spec.description
    lines = [f"{description[:1].upper()}{description[1:].rstrip('.')}.", ""] if description else []
    why = result.optimum(0, question_of(result.study.spec.metrics["gap"])).not_comparable
    if why is not None:
        lines += [f"Runs cannot be compared with an optimum: {why}.", ""]
    for kind, about in rules()["kinds"].items():
        own = [one for one in table if (one.network, one.kind) == (network.name, kind)]
        if own:
            heads, rows = _full(result, own, main_metric(table, network.name, kind))
            lines += [f"### {network.title}: {about['title']}", "", *markdown_table(heads, rows)]
    return [*lines, *_alike(result)]


def _full(result: StudyResult, own: Sequence[Standing], main: str) -> tuple[list[str], list[list[str]]]:
    """Returns heads and rows of all metrics of a kind's schemes on a network."""
    found = {(one.metric, one.scheme): one for one in own}
    is_single = len(result.study.plan.views[0]["flows"]) == 1
    # A single flow is always fair, and its distance equals its gap.
    left_out = {"jain", "distance"} if is_single else set()
    if not any(one.found.mean for one in found.values() if one.metric == "starved"):
        left_out.add("starved")
    there = {name for name, _ in found} - left_out
    metrics = [result.metric(name) for name in result.metric_names if name in there]
    sign = -1.0 if result.metric(main).higher_is_better else 1.0
    mains = {scheme: one for (name, scheme), one in found.items() if name == main}

    def place(scheme: str) -> float:
        return sign * mains[scheme].found.mean if scheme in mains else float("inf")

    rows = []
    for scheme in sorted(dict.fromkeys(one.scheme for one in own), key=place):
        rank = str(mains[scheme].rank) if scheme in mains else "none"
        standing = [found.get((metric.name, scheme)) for metric in metrics]
        cells = [_number(one.found, m) if one else "none" for one, m in zip(standing, metrics, strict=True)]
        rows.append([rank, scheme, *cells])
    return ["rank", "scheme", *(metric.heading for metric in metrics)], rows


def _alike(result: StudyResult) -> list[str]:
    """Names schemes with equal runs, to the last number, whose differences had no effect."""
    same: dict[bytes, list[str]] = {}
    for index, point in enumerate(result.points):
        numbers = np.array([result.values(index, name).to_numpy(dtype=float) for name in _SAME])
        same.setdefault(numbers.tobytes(), []).append(str(point.labels["scheme"]))
    groups = [", ".join(names) for names in same.values() if len(names) > 1]
    return [f"Runs are equal to the last number for {'; for '.join(groups)}.", ""] if groups else []


def _terms(league: League) -> tuple[list[str], list[list[str]]]:
    """Returns heads and rows: packets of each scheme, and its configuration or needs."""
    knowledge: Mapping[str, str] = rules()["knowledge"]
    rows = []
    for name in league.schemes:
        said, scheme = settings(name), scheme_of(name)
        payload = said.get(f"schemes.{scheme}.segment_size", "its own")
        window = "yes" if f"schemes.{scheme}.window" in said else "none"
        every = said.get(f"schemes.{scheme}.ack_every")
        acks = f"{every}, {said[f'schemes.{scheme}.delayed_ack']}" if every else "its own"
        needs = knowledge.get(scheme, knowledge.get(base_form(scheme), ""))
        rows.append([name, payload, f"{headers(scheme)} B", window, acks, needs])
    heads = ["scheme", "payload", "headers", "receive window", "acknowledgements", "needs, or is configured with"]
    return heads, rows


def _number(found: Estimate, metric: Metric) -> str:
    """Formats `mean ± half width` in the unit of display, without decimals that no comparison needs."""
    half = None if found.half_width is None else metric.shown(found.half_width)
    if half is None or half == 0.0 or half >= 10 ** (1 - _DECIMALS):
        return with_interval(found, metric)
    return f"{metric.shown(found.mean):.{_DECIMALS}f} ± {half:.{_DECIMALS}f}"


def _paragraphs(texts: Iterable[str]) -> list[str]:
    return [line for text in texts for line in (text, "")]
