"""Functions of the Python interface: run, compare, check, bound, optimum, schema and catalogue."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from multihop import _core
from multihop.api.bounds import Bound, Optimum
from multihop.api.results import Comparison, Result
from multihop.base.display import Plain
from multihop.base.errors import UserError
from multihop.experiments.runner import Job, run_all
from multihop.experiments.runs import FinishedRun
from multihop.experiments.varied_flows import varying
from multihop.optima import capacity
from multihop.optima import optimum as optima
from multihop.optima.utility import Utility
from multihop.simulation import classes
from multihop.simulation.logs import NO_LOGS, Logs
from multihop.simulation.scenario import Scenario, ScenarioLike, TimeLike, load, registered, settings, time_text
from multihop.simulation.scenario import schema as schema_of_scenarios
from multihop.simulation.seeds import is_whole, seed_list, seed_number
from multihop.simulation.store import Store

#: Keys that `run` and `compare` accept as keyword arguments, besides the seed.
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
        pcap: file for the frames at each node's radio, as pcapng with radiotap.
        frames: folder for every transmission, a frame log that `multihop.frames` reads.
        set: keys to replace or add, by the paths that messages show and with TOML values, as in
            `{"topology.hops": 5}`. Times are text with a unit. `flows[*].start` is a key of every flow;
            `flows.length` keeps that many first flows. Entries apply in their order.
        **overrides: `duration`, `warmup` and `record_interval`, in seconds or as text with a unit (`"60 s"`);
            `scheme` for all flows: a name, or a class as in `compare`.

    Raises:
        ScenarioError: naming file, line, key, the value found and what is needed.
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
        return _result(run_all([replace(job, logs=parts)])[0])


def compare(
    scenario: ScenarioLike,
    schemes: Sequence[str | type[_core.Controller]],
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
        schemes: names from `multihop list schemes`, or of variants that the scenario defines; subclasses of
            `Controller`, or their names, as in `my.py:MyScheme`.
        seeds: number of seeds, counted up from the scenario's seed; or the seeds themselves.
        jobs: number of threads; all cores by default. Results do not depend on it.
        on_done: callback after each run, from a worker thread.
        vary: comma-separated names of the flows that take the scheme; `*` matches any text, `all` every flow.
            By default flows without congestion control keep their scheme if a given scheme has congestion
            control.
        set: keys to replace or add, as in `run`.
        **overrides: `duration`, `warmup`, `record_interval`, in seconds or as text with a unit.

    Raises:
        ScenarioError: naming file, line, key, the value found and what is needed.
        UserError: if the file cannot be read, or an argument is invalid.
    """
    if isinstance(schemes, str):
        raise UserError(f"schemes: found the text {schemes!r}; needs a list, as in [{schemes!r}]")
    other = next((scheme for scheme in schemes if not isinstance(scheme, str | type)), None)
    if other is not None:
        raise UserError(f"schemes: found {other!r} in the list; needs names, or subclasses of multihop.Controller")
    if jobs is not None and (not is_whole(jobs) or jobs < 1):
        raise UserError(f"jobs: found {jobs!r}; needs a whole number from 1")
    if not schemes:
        raise UserError("schemes: none given; name at least one, as in --schemes tcp-newreno,recn")
    names = [scheme if isinstance(scheme, str) else scheme.__name__ for scheme in schemes]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise UserError(f"schemes: {', '.join(repeated)} given more than once; give each once")
    source = load(scenario)
    variants = scheme_variants(source, {**overrides, "set": set}, schemes, vary)
    return run_variants(source, variants, seeds=seeds, threads=jobs, on_done=on_done)


def scheme_variants(
    scenario: Scenario, overrides: dict[str, Any], schemes: Sequence[str | type[_core.Controller]], vary: str | None
) -> list[tuple[str, dict[str, Any]]]:
    """Returns a variant for each scheme or class: its name, and overrides for the flows that vary."""
    made = [classes.variant(scheme) for scheme in schemes]
    given = dict(overrides.get("set") or {})
    every = {key: value for _, settings in made for key, value in settings.items()}
    chosen = varying(scenario, replacements({**overrides, "set": {**every, **given}}), [name for name, _ in made], vary)
    return [
        (name, {**overrides, "set": {**settings, **given}, "scheme": name, "varying": chosen})
        for name, settings in made
    ]


def with_class(given: dict[str, Any]) -> dict[str, Any]:
    """Returns overrides in which a class, or the name of one, as `scheme` is a variant of `python`."""
    if not isinstance(given.get("scheme"), str | type):
        return given
    name, settings = classes.variant(given["scheme"])
    return {**given, "scheme": name, "set": {**settings, **(given.get("set") or {})}} if settings else given


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
    """Checks all variants, then runs each over common seeds.

    Args:
        scenario: scenario to run.
        variants: name and overrides of each variant.
        seeds: number of seeds, or the seeds themselves.
        first_seed: first seed, if `seeds` is a number; the scenario's by default.
        threads: number of threads; all cores by default.
        on_done: callback after each run, from a worker thread.
        on_tick: callback with the share of virtual time that has been simulated.
        logs: logs of the run; allowed only for a single run without a store.
        store: store of finished runs, which are not repeated; other runs are added when finished.
    """
    views = [(name, replacements(given)) for name, given in variants]
    checked = [(name, replaced, scenario.check(replaced)) for name, replaced in views]
    common = seed_list(seeds, checked[0][2]["seed"] if first_seed is None else first_seed)
    jobs = [
        Job(scenario, {**replaced, "seed": seed}, view, causes=True) for _, replaced, view in checked for seed in common
    ]
    if store is not None:
        store.open()

    def done(run: FinishedRun) -> None:
        if on_done is not None:
            on_done(_result(run))

    if not logs:
        runs = run_all(jobs, threads, done, on_tick, store)
    else:
        (job,) = jobs
        with logs.whole(scenario.file) as parts:
            runs = run_all([replace(job, logs=parts)], threads, done, on_tick)
    results = list(map(_result, runs))
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
    """Resolves a scenario without running it: nodes, links, flows with their paths.

    Arguments are those of `run`.
    """
    replaced = replacements({**overrides, "set": set})
    if seed is not None:
        replaced["seed"] = seed_number(seed)
    view = load(scenario).check(replaced)
    return cast("_core.ScenarioView", Plain(dict(view), f"{view['name']}, a scenario"))


def bound(scenario: ScenarioLike, *, set: Mapping[str, Any] | None = None, scheme: str | None = None) -> Bound:
    """Returns upper bounds and an estimate of goodput from frames' airtime, without running the scenario.

    Args:
        scenario: a path, TOML text, or a dictionary of the same shape.
        set: keys to replace or add, as in `run`.
        scheme: scheme for every flow.

    Raises:
        ScenarioError: naming file, line, key, the value found and what is needed.
        UserError: if the file cannot be read.
    """
    found = capacity.bound(load(scenario), replacements({"set": set, "scheme": scheme}))
    capacity.require_unicast(found.view, "bound")
    return Bound(found.view, found.capacity)


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
) -> Optimum:
    """Returns the rates that maximise a sum of utilities within airtime limits, without running the scenario.

    Args:
        scenario: a path, TOML text, or a dictionary of the same shape.
        utility: `log` (proportional fairness), `max-min`, or `alpha=2` for x^(1 - alpha) / (1 - alpha).
        constraints: `cliques` of the conflict graph, or `interference-sets` as in EWCCP's program (13).
        level: model of the airtime charged, as in `bound`.
        feedback: whether the transport's acknowledgements are charged.
        weights: weight of each flow's utility, 1 by default; max-min compares rates divided by weights.
        set: keys to replace or add, as in `run`.
        scheme: scheme for every flow.

    Raises:
        ScenarioError: naming file, line, key, the value found and what is needed.
        UserError: if the file cannot be read, or an argument is invalid.
    """
    question = optima.Question(Utility.of(utility), constraints, level, feedback)
    source, replaced = load(scenario), replacements({"set": set, "scheme": scheme})
    capacity.require_unicast(source.check(replaced), "optimum")
    found = optima.optimum(source, replaced, question, weights)
    return Optimum(found.view, found.capacity, found.question, found.shares, found.allocation, found.weights)


def schema(of: str = "scenario") -> dict[str, Any]:
    """Returns the JSON Schema of scenarios, or with `of="study"` of studies.

    Raises:
        UserError: if `of` is another kind.
    """
    if of == "study":
        from multihop.experiments.specs import schema as schema_of_studies

        return Plain(schema_of_studies(), "JSON Schema of studies")
    if of != "scenario":
        raise UserError(f"schema: found {of!r}; needs scenario or study")
    return Plain(schema_of_scenarios(), "JSON Schema of scenarios")


def catalogue() -> dict[str, list[dict[str, Any]]]:
    """Returns the names that scenarios, studies and commands accept, by kind.

    Studies use `tables` and `reductions`, of which metrics are made, and `models`. `multihop reproduce` uses
    `papers`. Scenarios use the other kinds. Each entry has at least a name and a summary.
    """
    from multihop import models, papers
    from multihop.experiments.specs import REDUCTIONS
    from multihop.results import columns

    made = {"tables": columns.catalogue(), "reductions": [{"name": n, "summary": s} for n, s in REDUCTIONS.items()]}
    found = {**registered(), **made, "models": models.catalogue(), "papers": papers.catalogue()}
    return Plain(found, "what scenarios, studies and commands can name")


def _result(run: FinishedRun) -> Result:
    """Returns a run with report and files."""
    return Result(run.scenario, run.view, dict(run.overrides), run.output)


def replacements(given: dict[str, Any]) -> dict[str, Any]:
    """Returns the overrides of a run; `set` is present only with entries, and `scheme` is a name."""
    given = with_class(given)
    replaced = settings(given.get("set"))
    texts = {name: value for name, value in given.items() if name not in {"set", "varying"}}
    for name, value in texts.items():
        if name not in OVERRIDES:
            raise UserError(f"{name}: cannot be overridden; needs {', '.join(OVERRIDES)}, seed, or a key in set")
        if name not in TIMES and not isinstance(value, str | None):
            raise UserError(f"{name}: found {value!r}; needs the name of a scheme")
    kept: dict[str, Any] = {name: value for name, value in texts.items() if value is not None}
    kept |= {name: time_text(name, kept[name]) for name in TIMES if name in kept}
    if given.get("varying") is not None:
        kept["varying"] = list(given["varying"])
    return {**kept, "set": replaced} if replaced else kept
