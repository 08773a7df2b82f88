"""Provenance of a study's results, and how to reproduce them. Nothing depends on the machine."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Sequence

from multihop.experiments.studies import StudyResult
from multihop.report.charts.study_layout import point_words, text
from multihop.report.markup import disclosure, escape, facts, remark, table
from multihop.results.provenance import build


def runs(result: StudyResult) -> int:
    """Returns the number of finished runs behind the results."""
    plan = result.study.plan
    ids = {plan.run_id(point, seed) for point, seeds in result.seeds.items() for seed in seeds}
    return sum(result.store.has(run) for run in ids)


def incomplete(result: StudyResult) -> str:
    """Returns a warning about missing or failed runs, or nothing."""
    parts = []
    if result.missing:
        parts.append(f"{result.missing} runs are missing: multihop study run simulates them.")
    if result.failures:
        parts.append(f"{len(result.failures)} runs have failed; they are listed below.")
    if result.study.is_quick:
        parts.append("This is a quick run, with fewer seeds, shorter runs or fewer values than the study defines.")
    return f'<p class="warning">{escape(" ".join(parts))}</p>' if parts else ""


def provenance(result: StudyResult) -> str:
    """Returns versions, seeds, hashes of scenarios, failures, commands, and input files."""
    study = result.study
    known = [
        ("multihop", build()),
        ("study", study.spec.name),
    ]
    if study.spec.model is not None:
        known += [("closed form", study.spec.model), ("points", str(len(result.points)))]
        return f"{facts(known)}{_commands(result)}{_files(result)}"
    counts = sorted({len(result.seeds.get(point, [])) for point in range(len(result.points))})
    used = sorted({seed for seeds in result.seeds.values() for seed in seeds})
    per_point = "" if len(counts) == 1 else f" ({counts[0]} to {counts[-1]} per point)"
    known += [
        ("base scenario", f"{study.scenario.check({})['name']}, hash {study.scenario.check({})['hash']}"),
        ("points", str(len(result.points))),
        ("seeds", spans(used) + per_point),
        ("runs", f"{runs(result)} finished, {result.missing} missing, {len(result.failures)} failed"),
    ]
    return f"{facts(known)}{_failures(result)}{_commands(result)}{_points(result)}{_files(result)}"


def spans(numbers: Sequence[int]) -> str:
    """Formats ascending numbers, as in `1 to 20, 31`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{part[0]} to {part[-1]}" if len(part) > 2 else ", ".join(map(str, part)) for part in parts)


def _failures(result: StudyResult) -> str:
    if not result.failures:
        return ""
    rows = [
        [", ".join(f"{factor} {text(label)}" for factor, label in f.point.items()), str(f.seed), f.error, f.command]
        for f in result.failures
    ]
    return "<h4>Runs that failed</h4>" + table(["point", "seed", "error", "to repeat it"], rows, "wrap tall", 4)


def _commands(result: StudyResult) -> str:
    """Returns the commands to type, given the files below."""
    quick = " --quick" if result.study.is_quick else ""
    lines = [f"multihop study {what} study.toml{quick}" for what in ("run", "export", "report")]
    scenario = _scenario_name(result)
    files = "the study as study.toml" + (f" and the base scenario as {scenario}" if scenario else "")
    which = "both below" if scenario else "below"
    return (
        f"<h4>Exact commands</h4><p>Save {escape(files)} ({which}) in a folder, and type there:</p>"
        f"<pre>{escape(chr(10).join(lines))}</pre>"
        + remark("run simulates and judges, export writes the tables as Parquet and CSV, report writes this page.")
    )


def _points(result: StudyResult) -> str:
    plan = result.study.plan
    rows = [
        [point_words(result.study.spec, point.labels) or point.name, view["hash"], spans(result.seeds.get(index, []))]
        for index, (point, view) in enumerate(zip(plan.points, plan.views, strict=True))
    ]
    return disclosure(
        "hash of the scenario at every point", table(["point", "scenario hash", "seeds"], rows, "tall", 3)
    )


def _files(result: StudyResult) -> str:
    made = disclosure("the study: study.toml", f"<pre>{escape(result.study.file_text)}</pre>")
    if result.study.spec.model is None:
        name = _scenario_name(result)
        title = f"the base scenario: {name}" if name else "the base scenario, which the study file holds as well"
        made += disclosure(title, f"<pre>{escape(result.study.scenario.text)}</pre>")
    return made


def _scenario_name(result: StudyResult) -> str:
    """Returns the file that the study's text refers to; nothing if the study contains the scenario."""
    named = tomllib.loads(result.study.file_text).get("scenario")
    return shlex.quote(named) if isinstance(named, str) else ""
