"""Remedies are judged by what a flow needs, matched by name, and recommended with their effort and their price."""

import numpy as np
import pandas as pd
import pytest

import multihop
from conftest import SCENARIOS
from multihop.experiments.services import Service, Status, Yardstick
from multihop.explanation.explain import of_runs
from multihop.explanation.needs import Need, SeedTables, need_of
from multihop.explanation.recommendations import recommendations, shown, trial_sentence
from multihop.explanation.remedies import Effort, Remedy, Settings, candidates
from multihop.explanation.trials import Outcome

FRAMES = ("on_time", "late", "lost", "skipped")

#: Shares of a call's packets that are late and lost.
IN_TIME, LATE, LOSSY = (0.0, 0.0), (0.9, 0.0), (0.0, 0.2)


def tables(flows, seeds=4):
    """Tables of flows: by name goodput in Mb/s by seed, or a call's or a video's shares that are late and lost."""
    made, delays = [], []
    for seed in range(seeds):
        rows, bins = [], []
        for name, what in flows.items():
            late, lost = what if isinstance(what, tuple) else (0.0, 0.0)
            late += 0.001 * seed if late else 0.0
            goodput = 0.06 if isinstance(what, tuple) else what[seed % len(what)]
            video = name.startswith("video")
            frames = {"on_time": 1 - late - lost, "late": late, "lost": lost, "skipped": 0.0}
            rows.append(
                {
                    "name": name,
                    "goodput_bps": 1e6 * goodput,
                    "delay_p95_s": 0.9 if late > 0.05 else 0.01,
                    "packets_lost": 0 if video else 1000 * lost,
                    "packets_delivered": 1000 * (1 - lost),
                    **{f"video_frames_{how}": 1000 * frames[how] if video else np.nan for how in FRAMES},
                }
            )
            bins += [(name, 0.9, 1000 * late), (name, 0.01, 1000 * (1 - late - lost))]
        made.append(pd.DataFrame(rows))
        delays.append(pd.DataFrame(bins, columns=["name", "delay_s", "packets"]))
    return SeedTables(made, delays)


def outcome(before, after, words="a change", effort=Effort.SETTING):
    """The outcome of a remedy for flows with a fair share of 1 Mb/s; calls send 0.06 Mb/s."""
    services = []
    for index, (name, what) in enumerate(before.items()):
        fair = 0.06e6 if isinstance(what, tuple) else 1e6
        is_call = name.startswith("call")
        nothing = (float("nan"),) * 4
        services.append(Service(index, name, np.ones(1), fair, Yardstick.FAIR, *nothing, is_call))
    with_it = None if after is None else tables(after)
    return Outcome(Remedy(words, {}, effort=effort), services, tables(before), with_it, None if with_it else "no")


def views(names):
    apps = {"call": "cbr", "video": "video"}
    return [{"name": n, "app": apps.get(n.split()[0], "saturated"), "offered_bps": None, "path": [0, 1]} for n in names]


@pytest.mark.parametrize(
    ("before", "need", "good", "bad"),
    [
        ({"call": LATE}, Need.PACKETS, IN_TIME, (0.9, 0.05)),
        ({"call": LOSSY}, Need.LOSS, IN_TIME, (0.0, 0.4)),
        ({"video": LATE}, Need.FRAMES, IN_TIME, (0.9, 0.09)),
        ({"download": [0.30, 0.31]}, Need.GOODPUT, [0.80, 0.81], [0.20, 0.21]),
    ],
)
def test_a_remedy_is_judged_by_what_the_flow_needs(before, need, good, bad):
    (name,) = before
    helped = outcome(before, {name: good}).trial(0)
    assert (helped.need, helped.verdict) == (need, "helps")
    assert helped.after.status == Status.FINE
    assert outcome(before, {name: bad}).trial(0).verdict == "harms"
    assert outcome(before, dict(before)).trial(0).verdict == "no effect"
    assert trial_sentence(helped, views([name])).startswith("a change (setting): ")


def test_late_packets_decide_and_not_goodput():
    """The goodput of a call is the same with and without; a hundredth fewer late packets is no help."""
    found = outcome({"call": LATE}, {"call": IN_TIME}).trial(0)
    assert found.gain.mean == 0.0
    assert found.verdict == "helps"
    assert "from 90 % to 0 % of its packets late or lost, delay from 900 to 10 ms" in trial_sentence(
        found, views(["call"])
    )
    assert outcome({"call": (0.9, 0.0)}, {"call": (0.895, 0.0)}).trial(0).verdict == "no effect"


def test_a_flow_that_starves_in_single_seeds_is_judged_seed_by_seed():
    """The mean falls from 1.5 to 0.7 Mb/s, and no seed starves any more."""
    found = outcome({"a": [2.0, 2.0, 2.0, 0.01]}, {"a": [0.7, 0.7, 0.7, 0.6]}).trial(0)
    assert (found.need, found.verdict) == (Need.EVERY_SEED, "helps")
    assert found.gain.mean < 0
    said = trial_sentence(found, views(["a"]))
    assert (
        said == "a change (setting): starves in 0 instead of 1 of 4 seeds, worst seed from 0.01 to 0.6 Mb/s, then fine."
    )
    assert outcome({"a": [2.0, 2.0, 2.0, 0.01]}, {"a": [2.0, 2.0, 0.01, 0.01]}).trial(0).verdict == "harms"


def test_settings_come_before_hardware_and_both_are_named():
    before = {"a": [1.0, 0.01], "b": [0.01, 1.0]}
    radios = outcome(before, {"a": [3.0, 3.0], "b": [3.0, 3.0]}, "radios", Effort.HARDWARE)
    weak = outcome(before, {"a": [0.9, 0.9], "b": [0.9, 0.2]}, "weak")
    rts = outcome(before, {"a": [0.6, 0.6], "b": [0.6, 0.6]}, "rts")
    found = recommendations([radios, weak, rts], [0, 1])
    assert [each.outcome.remedy.words for each in found] == ["rts", "weak", "radios"]
    assert [each.outcome.remedy.words for each in shown(found, 1)] == ["rts", "radios"]
    assert found[0].sentence(views(["a", "b"])) == (
        "rts (setting): a and b starve in 0 instead of 4 of 4 seeds, worst seed from 0.01 to 0.6 Mb/s, then fine; "
        "goodput of all flows from 1.01 to 1.2 Mb/s"
    )


def test_what_a_remedy_costs_others_is_said_and_more_harm_than_help_is_not_recommended():
    before = {"call": LATE, "x": [1.0], "y": [1.0]}
    flows = views(before)
    one = outcome(before, {"call": IN_TIME, "x": [1.0], "y": [0.3]})
    (found,) = recommendations([one], [0])
    assert found.sentence(flows).endswith("then fine; makes y slow; goodput of all flows from 2.06 to 1.36 Mb/s")
    both = outcome(before, {"call": IN_TIME, "x": [0.3], "y": [0.3]})
    assert recommendations([both], [0]) == []


def test_kinds_that_a_remedy_leaves_are_counted():
    calls, videos = {f"call {i}": LATE for i in range(5)}, {f"video {i}": LATE for i in range(5)}
    helped = outcome(calls | videos, dict.fromkeys(calls, IN_TIME) | videos)
    (found,) = recommendations([helped], range(10))
    said = found.sentence(views(calls | videos))
    assert "all 5 calls from 90 % to 0 % of their packets late or lost" in said
    assert "all 5 videos still late" in said


def test_flows_are_matched_by_name_where_a_remedy_changes_which_there_are():
    before = {"a": [0.3, 0.31], "b": [1.0], "gone": [1.0]}
    found = outcome(before, {"new": [5.0], "b": [1.0], "a": [0.8, 0.81]})
    assert found.trial(0).verdict == "helps"
    assert found.trial(0).means == pytest.approx((0.305e6, 0.805e6))
    gone = found.trial(2)
    assert (gone.verdict, gone.problem) == ("impossible", "the scenario has no flow gone with it")
    assert trial_sentence(gone, views(before)).endswith("cannot be tried here (the scenario has no flow gone with it).")
    assert need_of(found.before[2]) == Need.GOODPUT
    assert outcome(before, None).trial(0).verdict == "impossible"


@pytest.fixture(scope="module")
def hidden():
    """Uploads of stations that do not hear each other, of which one starves in some seeds."""
    return multihop.compare(SCENARIOS / "problems" / "hidden-uploads.toml", ["tcp-cubic"], seeds=5)


def test_a_flow_that_starves_in_some_seeds_is_explained_by_these(hidden):
    (results,) = hidden.results.values()
    found = of_runs(results, "tcp-cubic", best=hidden.optima["tcp-cubic"])
    account = next(flow for flow in found.flows if 0 < flow.service.starved_seeds < 5)
    first = account.causes[0]
    assert first.kind == "hidden"
    assert first.score > 0.5
    headings = [heading for heading, _ in found.paragraphs(account.flow)]
    assert "What holds it back in the seed in which it starves" in headings


def test_rts_helps_uploads_that_starve_by_turns_although_their_mean_falls(hidden):
    (results,) = hidden.results.values()
    found = of_runs(results, "tcp-cubic", best=hidden.optima["tcp-cubic"])
    account = next(flow for flow in found.flows if 0 < flow.service.starved_seeds < 5)
    settings = Settings(hidden.scenario, {}, hidden.view)
    rts = next(r for r in candidates(account, hidden.view["nodes"], settings) if r.set == {"mac.rts_threshold": "0 B"})
    after = multihop.compare(hidden.scenario.file, ["tcp-cubic"], seeds=5, set=dict(rts.set)).results["tcp-cubic"]
    services = [flow.service for flow in found.flows]
    tried = Outcome(rts, services, SeedTables.of(results), SeedTables.of(after)).trial(account.flow)
    assert (tried.need, tried.verdict, tried.after.starved_seeds) == (Need.EVERY_SEED, "helps", 0)
    assert tried.gain.mean < 0


def test_acknowledgements_are_said_with_the_hop_that_they_return_over(hidden):
    found = of_runs(hidden.results["tcp-cubic"], "tcp-cubic", best=hidden.optima["tcp-cubic"])
    (hops,) = [said for heading, said in found.paragraphs(found.explained[0]) if heading == "Hop by hop in these seeds"]
    rows = [each.text for each in hops if each.place and each.place[0] == "hop"]
    assert len(rows) == 1
    assert "Acknowledgements back: " in rows[0]
