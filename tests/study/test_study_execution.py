"""Running a study: what is missing and no more, whatever fails, on any executor."""

import json
import os
import shlex
import signal
import subprocess
import sys
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import pytest

import multihop
from multihop.base.errors import OutputError, UserError
from multihop.experiments.runner import execute
from studies import NETWORK, keep_only, kept, study, tree


class Watched(ThreadPoolExecutor):
    """Threads that remember what they were given, and fail with these seeds."""

    def __init__(self, bad=(), error=RuntimeError, **options):
        super().__init__(**options)
        self.seeds = []
        self._bad, self._error = bad, error

    def submit(self, function, text, origin, overrides, run):
        self.seeds.append(overrides["seed"])
        if overrides["seed"] in self._bad:
            return super().submit(self._raise)
        return super().submit(function, text, origin, overrides, run)

    def _raise(self):
        raise self._error("the wheels came off")


class Breaking(Executor):
    """Runs a few at once, in the caller's thread, and then no more, in one way or another."""

    def __init__(self, after, how):
        self._left, self._how = after, how

    def submit(self, function, *arguments):
        future = Future()
        if self._left > 0:
            self._left -= 1
            future.set_result(function(*arguments))
        elif self._how == "refuses":
            raise RuntimeError("cannot schedule new futures after shutdown")
        elif self._how == "cancels":
            future.cancel()
        else:
            future.set_exception(BrokenExecutor("a worker is gone"))
        return future


def last_progress(asked, folder, **options):
    """How far a run of the study has come in the end: finished, found, failed, total."""
    reported = []
    asked.run(folder, on_progress=lambda p: reported.append((p.finished, p.found, p.failed, p.total)), **options)
    return reported[-1]


# Seeds


def test_all_points_get_the_same_seeds(tmp_path):
    asked = study(scenario={**NETWORK, "seed": 40})
    result = asked.run(tmp_path / "s")
    assert {tuple(seeds) for seeds in result.seeds.values()} == {(40, 41, 42)}
    table = result.table("summary")
    assert sorted(table.groupby("scheme")["seed"].agg(tuple).to_list()) == [(40, 41, 42, 40, 41, 42)] * 2
    # A pair is a difference of the same seeds: it is exactly the mean of the differences.
    values = [result.values(point, "goodput_total_bps") for point in (0, 1)]
    difference = result.difference(0, 1, "goodput_total_bps")
    assert difference.mean == pytest.approx((values[0] - values[1]).mean())
    assert difference.n == 3


def test_the_first_seeds_are_a_part_of_all(tmp_path):
    asked = study(seeds=3)
    first = asked.with_seeds(1).run(tmp_path / "s")
    assert {tuple(seeds) for seeds in first.seeds.values()} == {(1,)}
    assert not first.has_all_seeds
    assert not asked.result(tmp_path / "s").has_all_seeds, "nor for the whole study"
    assert last_progress(asked, tmp_path / "s") == (8, 4, 0, 12), "four of twelve runs were there"
    assert asked.result(tmp_path / "s").has_all_seeds
    assert asked.with_seeds(9).result(tmp_path / "s").has_all_seeds, "it asks for no more than three"


def test_a_run_of_a_study_is_the_run_of_its_scenario(tmp_path):
    result = study(seeds=[9]).run(tmp_path / "s")
    for index, point in enumerate(result.points):
        alone = multihop.run(
            NETWORK, seed=9, scheme=point.labels["scheme"], set={"topology.spacing": point.labels["topology-spacing"]}
        )
        kept = result.point_table(index, "summary")["fingerprint"].to_list()
        assert kept == [alone.summary["fingerprint"]]


# The stop rule


def stopping(half_width, **options):
    return {"metric": "goodput_total_bps", "half_width": half_width, **options}


def interval_share(values):
    from multihop.results.statistics import estimate

    found = estimate(values.to_numpy())
    return found.half_width / abs(found.mean)


@pytest.mark.parametrize(("at_least", "step"), [(3, 1), (2, 4)])
def test_seeds_are_added_until_the_interval_is_narrow(tmp_path, at_least, step):
    asked = study(seeds=20, stop=stopping("10 %", at_least=at_least, step=step))
    result = asked.run(tmp_path / "s")
    assert result.missing == 0
    everything = study(seeds=20).run(tmp_path / "all")
    for members in ([0, 1], [2, 3]):
        # Of all points of a comparison the interval is narrow at the first look at which it is for both.
        looks = [*range(at_least, 20, step), 20]
        for seeds in looks:
            shares = [interval_share(everything.values(m, "goodput_total_bps")[:seeds]) for m in members]
            if max(shares) <= 0.1:
                break
        assert [len(result.seeds[m]) for m in members] == [seeds, seeds]
    lengths = [len(result.seeds[m]) for m in (0, 2)]
    assert len(tree(tmp_path / "s")) == 2 * sum(lengths)
    assert min(lengths) < 20


def test_a_goal_out_of_reach_ends_at_the_most_seeds(tmp_path):
    result = study(seeds=5, stop=stopping("0.001 %")).run(tmp_path / "s")
    assert {len(seeds) for seeds in result.seeds.values()} == {5}
    assert result.missing == 0


def test_runs_that_were_there_do_not_change_where_a_stop_rule_ends(tmp_path):
    asked = study(seeds=12, stop=stopping("10 %"))
    alone = asked.run(tmp_path / "a")
    study(seeds=12).run(tmp_path / "b")
    assert last_progress(asked, tmp_path / "b")[0] == 0
    assert asked.result(tmp_path / "b").seeds == alone.seeds
    # A stricter goal only adds.
    stricter = study(seeds=12, stop=stopping("5 %"))
    finished, found, _, _ = last_progress(stricter, tmp_path / "a")
    assert found == sum(len(seeds) for seeds in alone.seeds.values())
    assert finished > 0


def test_failures_do_not_keep_a_stop_rule_waiting(tmp_path):
    asked = study(seeds=6, stop=stopping("0.001 %"))
    with Watched(bad={2, 5}) as pool:
        result = asked.run(tmp_path / "s", executor=pool)
    assert len(result.failures) == 8
    assert len(tree(tmp_path / "s")) == 16


# Only what is missing


def test_only_what_is_missing_runs(tmp_path):
    folder = tmp_path / "s"
    assert last_progress(study(seeds=2), folder) == (8, 0, 0, 8)
    first = tree(folder)
    assert last_progress(study(seeds=2), folder) == (0, 8, 0, 8)
    with Watched() as pool:
        more = study(seeds=3, factors={"topology.spacing": ["150 m", "200 m"], "scheme": ["recn", "tcp-sack"]})
        assert last_progress(more, folder, executor=pool) == (8, 4, 0, 12)
    assert sorted(pool.seeds) == [1, 1, 2, 2, 3, 3, 3, 3]
    assert first.items() <= tree(folder).items()
    victim = next(iter(first))
    keep_only(folder, {key: content for key, content in kept(folder).items() if key != victim})
    assert last_progress(study(seeds=2), folder) == (1, 7, 0, 8)
    assert first.items() <= tree(folder).items()


def test_runs_that_points_share_are_made_and_counted_once(tmp_path):
    twice = {"warmup": ["1 s", "1000 ms"], "scheme": ["tcp-newreno", "recn"]}
    for compare in ("scheme", "warmup"):
        asked = study(factors=twice, compare=compare)
        assert last_progress(asked, tmp_path / compare) == (6, 0, 0, 6)
        assert last_progress(asked, tmp_path / compare) == (0, 6, 0, 6)
        result = asked.result(tmp_path / compare)
        assert result.missing == 0
        assert len(result.table("summary")) == 12
    for compare in ("scheme", "warmup"):
        with Watched(bad={2}) as pool:
            reported = last_progress(
                study(factors=twice, compare=compare), tmp_path / f"failing-{compare}", executor=pool
            )
        assert reported == (4, 0, 2, 6)
        assert sorted(pool.seeds) == [1, 1, 2, 2, 3, 3]


def test_comparisons_that_share_runs_try_a_failing_one_once(tmp_path):
    # The first comparison asks for one seed after the other, long before the second does.
    asked = study(
        factors={"warmup": ["1 s", "1000 ms"], "length": {"key": "duration", "values": ["2 s", "3 s"]}},
        compare="length",
        seeds=6,
        stop=stopping("0.001 %", at_least=2),
    )
    with Watched(bad={2, 4}, max_workers=1) as pool:
        assert last_progress(asked, tmp_path / "s", executor=pool) == (8, 0, 4, 12)
    assert sorted(pool.seeds) == sorted([1, 2, 3, 4, 5, 6] * 2)


# Failures


def test_a_failure_is_kept_with_what_replays_it(tmp_path, monkeypatch):
    folder = tmp_path / "has a space"
    asked = study(
        scenario={**NETWORK, "schemes": {"mine": {"base": "recn"}}},
        factors={
            "scheme": ["tcp-newreno", "mine"],
            "case": {
                "cases": {
                    "it's": {"flows[0].start": "100 ms", "mac": {"queue": 7}, "schemes.mine.threshold": 0.5},
                    "all": {"flows[*].start_jitter": "1 s", "topology.hops": 4, "flows[s*].to": "n4"},
                }
            },
        },
        zip=[["scheme", "case"]],
        seeds=[2**63 + 5, 1],
    )
    with Watched(bad={2**63 + 5}) as pool:
        result = asked.run(folder, executor=pool)
    failures = result.failures
    assert [dict(f.point) for f in failures] == [dict(p.labels) for p in asked.plan.points]
    assert {f.seed for f in failures} == {2**63 + 5}
    assert {f.error for f in failures} == {"RuntimeError: the wheels came off"}
    # What went wrong is over: the next attempt makes the runs, and the notes go.
    reported = []
    result = asked.run(folder, on_progress=lambda p: reported.append((p.finished, p.failed)))
    assert reported[-1] == (2, 0)
    assert result.failures == []
    assert not list((folder / "failures").iterdir())
    monkeypatch.chdir(tmp_path)
    for index, failure in enumerate(failures):
        words = shlex.split(failure.command)
        assert words[0] == "multihop"
        done = subprocess.run(
            [sys.executable, "-m", *words, "--json"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        replayed = json.loads(done.stdout)["runs"][0]["summary"]["fingerprint"]
        table = result.point_table(index, "summary")
        assert table.set_index("seed")["fingerprint"][2**63 + 5] == replayed


def test_one_failure_does_not_stop_the_others(tmp_path):
    with Watched(bad={2}) as pool:
        result = study().run(tmp_path / "s", executor=pool)
    assert len(result.failures) == 4
    assert len(tree(tmp_path / "s")) == 8
    assert {tuple(seeds) for seeds in result.seeds.values()} == {(1, 3)}
    assert result.missing == 4
    assert result.estimate(0, "goodput_total_bps").n == 2


def test_fail_fast_begins_no_further_run(tmp_path):
    asked = study(seeds=50)
    with Watched(bad={3}, max_workers=1) as pool:
        result = asked.run(tmp_path / "s", executor=pool, fail_fast=True)
    assert {failure.seed for failure in result.failures} == {3}
    # Seed by seed, all points of a comparison: two seeds come before the failure, and little is made beyond.
    made = len(tree(tmp_path / "s"))
    assert 4 <= made < 100
    assert last_progress(asked, tmp_path / "s") == (200 - made, made, 0, 200)
    assert asked.result(tmp_path / "s").failures == []


@pytest.mark.parametrize("error", [RuntimeError, ValueError, MemoryError, RecursionError, KeyError])
def test_whatever_a_run_dies_of_is_kept(tmp_path, error):
    with Watched(bad={1}, error=error) as pool:
        result = study(factors={}, seeds=2).run(tmp_path / "s", executor=pool)
    (failure,) = result.failures
    assert failure.error.startswith(error.__name__)
    assert failure.seed == 1


# Executors


def test_any_executor_makes_the_same_files(tmp_path):
    asked = study()
    asked.run(tmp_path / "threads")
    with ProcessPoolExecutor(2) as pool:
        asked.run(tmp_path / "processes", executor=pool)
    asked.run(tmp_path / "made-up", executor=Breaking(100, "refuses"))
    runs = tree(tmp_path / "threads")
    assert len(runs) == 12
    assert tree(tmp_path / "processes") == runs
    assert tree(tmp_path / "made-up") == runs


def test_an_executor_of_the_callers_is_left_open(tmp_path):
    with ThreadPoolExecutor(1) as pool:
        study(factors={}).run(tmp_path / "s", executor=pool)
        assert pool.submit(int, "3").result() == 3


@pytest.mark.parametrize("how", ["refuses", "cancels", "breaks"])
@pytest.mark.parametrize("after", [0, 5])
def test_an_executor_that_breaks_leaves_what_is_finished(tmp_path, how, after):
    asked = study()
    with pytest.raises(OutputError, match="the workers are lost") as caught:
        asked.run(tmp_path / "s", executor=Breaking(after, how))
    assert "run again" in str(caught.value)
    kept = tree(tmp_path / "s")
    assert how == "refuses" or len(kept) == after
    asked.run(tmp_path / "s")
    asked.run(tmp_path / "unbroken")
    assert tree(tmp_path / "s") == tree(tmp_path / "unbroken")
    assert kept.items() <= tree(tmp_path / "s").items()


def kill_with_seed_two(*arguments):
    """What a worker process runs: the run, unless the process is killed."""
    if arguments[2]["seed"] == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return execute(*arguments)


class Killing(ProcessPoolExecutor):
    """Processes of which one is killed when it receives the second seed."""

    def submit(self, _function, *arguments):
        return super().submit(kill_with_seed_two, *arguments)


def test_a_killed_worker_process_is_one_message(tmp_path):
    asked = study(seeds=4)
    with Killing(1) as pool, pytest.raises(OutputError, match=r"the workers are lost .*terminated abruptly"):
        asked.run(tmp_path / "s", executor=pool)
    kept = tree(tmp_path / "s")
    assert asked.result(tmp_path / "s").failures == []
    asked.run(tmp_path / "s")
    asked.run(tmp_path / "unbroken")
    assert kept.items() <= tree(tmp_path / "s").items()
    assert tree(tmp_path / "s") == tree(tmp_path / "unbroken")


def test_a_worker_of_another_build_is_refused(tmp_path):
    class Elsewhere(ThreadPoolExecutor):
        def submit(self, function, *arguments):
            return super().submit(function, *arguments[:3], replace(arguments[3], engine="0.0.1+0123"))

    with Elsewhere(1) as pool, pytest.raises(OutputError, match=r"multihop .*0\.0\.1\+0123.*install the same build"):
        study().run(tmp_path / "s", executor=pool)
    assert tree(tmp_path / "s") == {}
    assert study().result(tmp_path / "s").failures == []


@pytest.mark.parametrize("jobs", [0, -1])
def test_no_threads_are_no_way_to_run(tmp_path, jobs):
    with pytest.raises(UserError, match=f"jobs: found {jobs}"):
        study().run(tmp_path / "s", jobs=jobs)
    assert not (tmp_path / "s").exists()


def test_an_error_of_the_callers_own_ends_it_and_keeps_what_is_there(tmp_path):
    def complain(progress):
        if progress.finished == 3:
            raise ArithmeticError("enough")

    asked = study()
    with pytest.raises(ArithmeticError):
        asked.run(tmp_path / "s", jobs=1, on_progress=complain)
    assert len(tree(tmp_path / "s")) == 3
    asked.run(tmp_path / "s")
    assert asked.result(tmp_path / "s").missing == 0


@pytest.mark.parametrize("result", [None, "text", 5])
def test_an_executor_whose_results_are_no_bytes_is_said(tmp_path, result):
    class Odd:
        def submit(self, *_, **__):
            future = Future()
            future.set_result(result)
            return future

    with pytest.raises(OutputError, match=f"the result of a run is {type(result).__name__}"):
        study().run(tmp_path / "s", executor=Odd())
