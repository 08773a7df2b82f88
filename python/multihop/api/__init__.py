"""What scripts and notebooks call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from multihop import _core
from multihop.api.results import Comparison, Result
from multihop.base.display import Plain
from multihop.base.errors import UserError
from multihop.comparison.varying import varying
from multihop.optima import capacity
from multihop.optima import optimum as optima
from multihop.optima.utility import Utility
from multihop.simulation.logs import NO_LOGS, Logs
from multihop.simulation.runner import Job, run_all
from multihop.simulation.scenario import Scenario, ScenarioLike, TimeLike, load, registered, settings, time_text
from multihop.simulation.scenario import schema as schema_of_scenarios
from multihop.simulation.seeds import is_whole, seed_list, seed_number
from multihop.simulation.store import Store

#: Keys that `run` and `compare` accept besides the seed.
TIMES = ("duration", "warmup", "record_interval")
OVERRIDES = (*TIMES, "scheme")


def run(
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    pcap: str | os.PathLike[str] | None = None,
    frames: str | os.PathLike[str] | None = None,
    set: Mapping[str, Any] | None = None,
    **overrides: TimeLike | None,
) -> Result:
    """Runs a scenario once.

    Args:
        scenario: a path, TOML text, or a dictionary of the same shape.
        seed: replaces the scenario's seed; 0 to 2**64 - 1.
        pcap: writes what each node's radio saw to this file, as pcapng with radiotap.
        frames: writes every transmission to this file, as a frame log, which `multihop.frames` reads.
        set: replaces or adds any keys: paths as messages show them with TOML values, as in
            `{"topology.hops": 5}`. Times are text with a unit. `flows[*].start` is a key of every flow;
            `flows.length` keeps that many first flows. Applied in this order.
        **overrides: `duration`, `warmup` and `record_interval`, in seconds or as text with a unit (`"60 s"`);
            `scheme` for all flows.

    Raises:
        ScenarioError: naming file, line, key, what was found and what would do.
        UserError: if a file cannot be read or written, or an override is unknown.
        OutputError: if the disk is full.
    """
    source = load(scenario)
    replaced = replacements({**overrides, "set": set})
    if seed is not None:
        replaced["seed"] = seed_number(seed)
    job = Job(source, replaced, source.check(replaced), causes=True)
    for name, given in (("pcap", pcap), ("frames", frames)):
        if given is not None and not isinstance(given, str | os.PathLike):
            raise UserError(f"{name}: found {given!r}; needs the path of a file")
    logs = Logs(None if pcap is None else Path(pcap), None if frames is None else Path(frames))
    with logs.whole(source.file) as parts:
        return _result(job, run_all([replace(job, logs=parts)])[0])


def compare(
    scenario: ScenarioLike,
    schemes: Sequence[str],
    *,
    seeds: int | Iterable[int] = 10,
    jobs: int | None = None,
    on_done: Callable[[Result], None] | None = None,
    vary: str | None = None,
    set: Mapping[str, Any] | None = None,
    **overrides: TimeLike | None,
) -> Comparison:
    """Runs a scenario with each scheme, over common seeds.

    Args:
        scenario: a path, TOML text, or a dictionary of the same shape.
        schemes: names from `multihop list schemes`, or of variants that the scenario defines.
        seeds: how many, counted up from the scenario's seed; or the seeds themselves.
        jobs: threads; all cores by default. Results do not depend on it.
        on_done: called after each run, from a worker thread.
        vary: names of the flows that have the scheme, with commas between; `*` stands for any text, `all`
            for every flow. By default flows without congestion control keep theirs where schemes with it
            are compared.
        set: replaces or adds any keys, as in `run`.
        **overrides: `duration`, `warmup`, `record_interval`, in seconds or as text with a unit.

    Raises:
        ScenarioError: naming file, line, key, what was found and what would do.
        UserError: if the file cannot be read, or an argument makes no sense.
    """
    if isinstance(schemes, str):
        raise UserError(f"schemes: found the text {schemes!r}; needs a list, as in [{schemes!r}]")
    other = next((name for name in schemes if not isinstance(name, str)), None)
    if other is not None:
        raise UserError(f"schemes: found {other!r} in the list; needs names")
    if jobs is not None and (not is_whole(jobs) or jobs < 1):
        raise UserError(f"jobs: found {jobs!r}; needs a whole number from 1")
    if not schemes:
        raise UserError("schemes: none given; name at least one, as in --schemes tcp-newreno,recn")
    repeated = sorted({name for name in schemes if list(schemes).count(name) > 1})
    if repeated:
        raise UserError(f"schemes: {', '.join(repeated)} given more than once")
    source = load(scenario)
    variants = scheme_variants(source, {**overrides, "set": set}, schemes, vary)
    return run_variants(source, variants, seeds=seeds, threads=jobs, on_done=on_done)


def scheme_variants(
    scenario: Scenario, overrides: dict[str, Any], schemes: Sequence[str], vary: str | None
) -> list[tuple[str, dict[str, Any]]]:
    """A variant for each scheme (its name and overrides), on the flows that vary."""
    chosen = varying(scenario, replacements(overrides), schemes, vary)
    return [(name, {**overrides, "scheme": name, "varying": chosen}) for name in schemes]


def run_variants(
    scenario: Scenario,
    variants: Sequence[tuple[str, dict[str, Any]]],
    *,
    seeds: int | Iterable[int],
    first_seed: int | None = None,
    threads: int | None = None,
    on_done: Callable[[Result], None] | None = None,
    on_tick: Callable[[float], None] | None = None,
    logs: Logs = NO_LOGS,
    store: Store | None = None,
) -> Comparison:
    """Runs each variant (a name and its overrides) over common seeds, after all have been checked.

    `logs` are of one run: then there must be one only, and no store. A `store` has runs that need not be
    repeated, and keeps each other run when it is finished.
    """
    views = [(name, replacements(given)) for name, given in variants]
    checked = [(name, replaced, scenario.check(replaced)) for name, replaced in views]
    common = seed_list(seeds, checked[0][2]["seed"] if first_seed is None else first_seed)
    jobs = [
        Job(scenario, {**replaced, "seed": seed}, view, causes=True) for _, replaced, view in checked for seed in common
    ]
    if store is not None:
        store.open()

    def done(job: Job, output: _core.Output) -> None:
        if on_done is not None:
            on_done(_result(job, output))

    if not logs:
        outputs = run_all(jobs, threads, done, on_tick, store)
    else:
        (job,) = jobs
        with logs.whole(scenario.file) as parts:
            outputs = run_all([replace(job, logs=parts)], threads, done, on_tick)
    results = [_result(job, output) for job, output in zip(jobs, outputs, strict=True)]
    count = len(common)
    grouped = {name: tuple(results[index * count : (index + 1) * count]) for index, (name, _, _) in enumerate(checked)}
    return Comparison(scenario, grouped)


def check(
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    set: Mapping[str, Any] | None = None,
    **overrides: TimeLike | None,
) -> _core.ScenarioView:
    """Reads and resolves a scenario without running it: nodes, links, flows with their paths.

    Arguments as in `run`.
    """
    replaced = replacements({**overrides, "set": set})
    if seed is not None:
        replaced["seed"] = seed_number(seed)
    view = load(scenario).check(replaced)
    return cast("_core.ScenarioView", Plain(dict(view), f"{view['name']}, a scenario"))


def bound(scenario: ScenarioLike, *, set: Mapping[str, Any] | None = None, scheme: str | None = None) -> capacity.Bound:
    """What the stated channel can carry at all: upper bounds on goodput from airtime; nothing is run.

    Args:
        scenario: a path, TOML text, or a dictionary of the same shape.
        set: replaces or adds any keys, as in `run`.
        scheme: replaces the scheme of every flow.

    Raises:
        ScenarioError: naming file, line, key, what was found and what would do.
        UserError: if the file cannot be read.
    """
    found = capacity.bound(load(scenario), replacements({"set": set, "scheme": scheme}))
    capacity.require_unicast(found.view, "bound")
    return found


def optimum(
    scenario: ScenarioLike,
    *,
    utility: Utility | str | float = "log",
    constraints: optima.Constraints = "cliques",
    level: str = "idle-channel",
    feedback: bool = True,
    weights: Mapping[str, float] | None = None,
    set: Mapping[str, Any] | None = None,
    scheme: str | None = None,
) -> optima.Optimum:
    """The rates that maximise a sum of utilities under the limits of airtime; nothing is run.

    Args:
        scenario: a path, TOML text, or a dictionary of the same shape.
        utility: `log` (proportional fairness), `max-min`, or `alpha=2` for x^(1 - alpha) / (1 - alpha).
        constraints: `cliques` of the conflict graph, or `interference-sets` as in EWCCP's program (13).
        level: what is charged, as in `bound`.
        feedback: charges the transport's acknowledgements.
        weights: flow -> what its utility is multiplied by, 1 by default; in max-min, rates over weights are
            compared.
        set: replaces or adds any keys, as in `run`.
        scheme: replaces the scheme of every flow.

    Raises:
        ScenarioError: naming file, line, key, what was found and what would do.
        UserError: if the file cannot be read, or an argument makes no sense.
    """
    question = optima.Question(Utility.of(utility), constraints, level, feedback)
    source, replaced = load(scenario), replacements({"set": set, "scheme": scheme})
    capacity.require_unicast(source.check(replaced), "optimum")
    return optima.optimum(source, replaced, question, weights)


def schema(of: str = "scenario") -> dict[str, Any]:
    """The JSON Schema of scenarios, or `of="study"` of study files.

    Raises:
        UserError: if there are no files of that kind.
    """
    if of == "study":
        from multihop.study.spec import schema as schema_of_studies

        return Plain(schema_of_studies(), "JSON Schema of studies")
    if of != "scenario":
        raise UserError(f"schema: found {of!r}; there is a schema of: scenario, study")
    return Plain(schema_of_scenarios(), "JSON Schema of scenarios")


def catalogue() -> dict[str, list[dict[str, Any]]]:
    """What can be named.

    By scenarios; by studies: `tables` and `reductions`, of which metrics are made, and `models`; by `multihop
    reproduce`: `papers`.

    Kind -> entries, each with at least a name and a summary.
    """
    from multihop import models, papers
    from multihop.results import columns
    from multihop.study.spec import REDUCTIONS

    made = {"tables": columns.catalogue(), "reductions": [{"name": n, "summary": s} for n, s in REDUCTIONS.items()]}
    found = {**registered(), **made, "models": models.catalogue(), "papers": papers.catalogue()}
    return Plain(found, "what scenarios, studies and commands can name")


def _result(job: Job, output: _core.Output) -> Result:
    """What came of a job."""
    return Result(job.scenario, job.view, dict(job.overrides), output)


def replacements(given: dict[str, Any]) -> dict[str, Any]:
    """What replaces keys; `set` is there if it has entries."""
    replaced = settings(given.get("set"))
    texts = {name: value for name, value in given.items() if name not in {"set", "varying"}}
    for name, value in texts.items():
        if name not in OVERRIDES:
            raise UserError(f"{name}: cannot be overridden; what can is {', '.join(OVERRIDES)}, seed, and keys by set")
        if name not in TIMES and not isinstance(value, str | None):
            raise UserError(f"{name}: found {value!r}; needs the name of a scheme")
    kept: dict[str, Any] = {name: value for name, value in texts.items() if value is not None}
    kept |= {name: time_text(name, kept[name]) for name in TIMES if name in kept}
    if given.get("varying") is not None:
        kept["varying"] = list(given["varying"])
    return {**kept, "set": replaced} if replaced else kept
