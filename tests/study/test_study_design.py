"""From factors to points: grid, zip, cases, what each point sets and in which order."""

import numpy as np
import pytest

from multihop.base.errors import UserError
from multihop.experiments.parsers import validate
from multihop.experiments.points import points
from multihop.experiments.studies import Study
from studies import NETWORK, SCENARIO, study


def spec(**keys):
    return validate({"name": "s", "scenario": "x.toml", **keys}, "s.toml")


def labels(made):
    return [tuple(point.labels.values()) for point in points(made)]


def fails(**keys):
    with pytest.raises(UserError) as caught:
        study(**keys)
    return str(caught.value)


def test_a_grid_has_every_combination_and_the_last_factor_varies_fastest():
    made = spec(factors={"a": {"values": [1, 2]}, "b": {"values": ["x", "y", "z"]}})
    assert labels(made) == [(1, "x"), (1, "y"), (1, "z"), (2, "x"), (2, "y"), (2, "z")]


def test_no_factors_make_one_point():
    made = points(spec(set={"duration": "9 s"}))
    assert [point.settings for point in made] == [{"duration": "9 s"}]
    assert made[0].name == "scenario"


def test_factors_that_advance_together():
    made = spec(
        factors={"a": {"values": [1, 2]}, "b": {"values": ["x", "y"]}, "c": {"values": [10, 20]}}, zip=[["a", "c"]]
    )
    assert labels(made) == [(1, "x", 10), (1, "y", 10), (2, "x", 20), (2, "y", 20)]


def test_cases_list_what_exists_and_others_are_crossed_with_them():
    made = spec(
        factors={"a": {"values": [1, 2]}, "b": {"values": ["x", "y"]}, "c": {"values": [0, 9]}},
        cases=[{"a": 1, "b": "x"}, {"a": 2, "b": "y"}],
    )
    assert labels(made) == [(1, "x", 0), (1, "x", 9), (2, "y", 0), (2, "y", 9)]


def test_labels_are_what_points_are_called_and_values_what_is_set():
    made = spec(
        factors={"load": {"key": ["p.rate", "q.rate"], "values": ["1 Mb/s", "9 Mb/s"], "labels": ["low", "high"]}}
    )
    assert labels(made) == [("low",), ("high",)]
    assert [point.settings for point in points(made)] == [
        {"p.rate": "1 Mb/s", "q.rate": "1 Mb/s"},
        {"p.rate": "9 Mb/s", "q.rate": "9 Mb/s"},
    ]


def test_named_cases_of_a_factor_set_what_they_say():
    made = spec(factors={"reading": {"cases": {"as it is": {}, "far": {"topology.spacing": "240 m", "seed": 1}}}})
    assert labels(made) == [("as it is",), ("far",)]
    assert [dict(point.settings) for point in points(made)] == [{}, {"topology.spacing": "240 m", "seed": 1}]


def test_settings_come_in_order_the_study_first_then_factors_then_what_is_quick():
    made = study(
        set={"duration": "4 s", "flows[*].start": "0 s"},
        factors={"flows.length": [1], "topology.hops": [3]},
        quick={"set": {"duration": "2 s"}},
    )
    assert list(made.plan.points[0].settings) == ["duration", "flows[*].start", "flows.length", "topology.hops"]
    quick = made.quick().plan.points[0].settings
    assert list(quick.items())[-1] == ("duration", "2 s")


def test_a_quick_look_also_changes_what_a_factor_adds():
    extra = {"name": "more", "from": "n0", "to": "n1", "scheme": "udp", "stop": "2.5 s"}
    made = study(
        factors={"more": {"key": "flows.append", "values": [[extra]], "labels": ["one"]}},
        quick={"set": {"duration": "2 s", "flows[more].stop": "1.5 s"}},
    )
    assert len(made.quick().plan.views[0]["flows"]) == 3


def test_a_factor_replaces_what_the_study_sets():
    made = spec(set={"k": 1, "m": 2}, factors={"k": {"values": [7]}})
    assert points(made)[0].settings == {"k": 7, "m": 2}


def test_quick_keeps_some_values_and_the_papers_numbers_of_those():
    claim = {"id": "c", "where": "", "says": "", "kind": "value", "metric": "jain", "over": "flows"}
    made = study(
        factors={"flows": {"key": "flows.length", "values": [1, 2]}},
        claims=[{**claim, "values": [0.25, 0.75]}],
        quick={"keep": {"flows": [2]}, "seeds": 1},
    ).quick()
    assert [point.labels for point in made.plan.points] == [{"flows": 2}]
    assert made.spec.claims[0].values == [0.75]
    assert made.plan.seeds == [1]


def test_quick_takes_the_first_seeds_of_a_list():
    assert study(seeds=[9, 4, 7], quick={"seeds": 2}).quick().plan.seeds == [9, 4]


def test_seeds_count_up_from_the_scenarios():
    assert study(scenario={**NETWORK, "seed": 40}, seeds=2).plan.seeds == [40, 41]


def test_from_python_plain_values_and_paths_will_do():
    made = study(
        factors={"topology.spacing": ("150 m", "200 m"), "flows.length": range(1, 3), "mac.queue": np.array([5, 10])},
        seeds=range(3),
    )
    assert list(made.spec.factors) == ["topology-spacing", "flows-length", "mac-queue"]
    assert len(made.plan.points) == 8
    assert made.plan.points[-1].settings == {"topology.spacing": "200 m", "flows.length": 2, "mac.queue": 10}
    assert made.plan.seeds == [0, 1, 2]


def test_a_study_from_python_is_the_same_study_as_its_file(tmp_path):
    made = study(
        metrics={"m": {"column": "flows.goodput_bps", "where": {"name": ["long", "!short"]}}},
        claims=[
            {
                "id": "c",
                "where": "",
                "says": "",
                "kind": "value",
                "metric": "m",
                "over": "scheme",
                "values": [1.5, float("nan")],
            }
        ],
    )
    assert made.spec.claims[0].values == [1.5, None]
    made.run(tmp_path / "s", jobs=2)
    again = Study.load(tmp_path / "s")
    assert again.plan == made.plan
    assert again.spec.claims == made.spec.claims


def test_points_know_what_they_share():
    made = points(spec(factors={"a": {"values": [1, 2]}, "b": {"values": ["x", "y"]}}))
    assert made[0].without("b") == made[1].without("b") == (("a", 1),)
    assert made[2].matches({"a": 2, "b": ["x", "z"]})
    assert not made[3].matches({"a": 2, "b": "x"})


WRONG = {
    "no values": ({"factors": {"a": {"values": []}}}, ["factors.a.values", "at least 1"]),
    "neither values nor cases": ({"factors": {"a": {}}}, ["factors.a", "either values or cases"]),
    "both": ({"factors": {"a": {"values": [1], "cases": {"x": {}}}}}, ["factors.a", "either values or cases"]),
    "a value twice": ({"factors": {"a": {"values": [1, 2, 1]}}}, ["factors.a", "1", "more than once"]),
    "a label twice": ({"factors": {"a": {"values": [1, 2], "labels": ["x", "x"]}}}, ["'x'", "more than once"]),
    "labels for others": ({"factors": {"a": {"values": [1, 2], "labels": ["x"]}}}, ["2 values", "1 labels"]),
    "cases with a key": ({"factors": {"a": {"cases": {"x": {}}, "key": "k"}}}, ["factors.a", "remove key"]),
    "no key": ({"factors": {"a": {"values": [1], "key": []}}}, ["factors.a", "key"]),
    "a name with a blank": ({"factors": {"a b": {"values": [1], "key": "k"}}}, ["factors", "a b"]),
    "names that fall together": ({"factors": {"a.b": [1], "a-b": [2]}}, ["a-b", "another"]),
    "zip of a stranger": ({"zip": [["scheme", "b"]]}, ["zip[0]", "'b'", "scheme"]),
    "zip of unequal lengths": (
        {"factors": {"a": [1, 2], "b": [1, 2, 3]}, "zip": [["a", "b"]]},
        ["zip[0]", "a has 2", "b has 3"],
    ),
    "zip twice": ({"zip": [["scheme", "topology-spacing"], ["scheme"]]}, ["zip", "scheme", "more than once"]),
    "a case of a stranger": ({"cases": [{"b": 1}]}, ["cases[0]", "'b'"]),
    "a case of an unknown value": ({"cases": [{"scheme": "udp"}]}, ["cases[0]", "'udp'", "tcp-newreno, recn"]),
    "cases that differ in their factors": (
        {"cases": [{"scheme": "recn"}, {"topology-spacing": "150 m"}]},
        ["cases[1]", "scheme"],
    ),
    "a case twice": ({"cases": [{"scheme": "recn"}, {"scheme": "recn"}]}, ["cases[1]", "more than once"]),
    "an empty case": ({"cases": [{}]}, ["cases[0]", "no factor"]),
    "cases and zip": ({"zip": [["scheme", "topology-spacing"]], "cases": [{"scheme": "recn"}]}, ["scheme", "zip"]),
    "two factors for one key": (
        {"factors": {"a": {"key": "x.y", "values": [1]}, "b": {"cases": {"c": {"x.y": 2}}}}},
        ["factors.b", "x.y", "a sets as well"],
    ),
    "millions of points": ({"factors": {f"f{i}": list(range(10)) for i in range(8)}}, ["100000000 points"]),
    "compare a stranger": ({"compare": "b"}, ["compare", "'b'", "scheme"]),
    "keep nothing": ({"quick": {"keep": {"scheme": []}}}, ["quick.keep.scheme"]),
    "keep a stranger": ({"quick": {"keep": {"scheme": ["udp"]}}}, ["quick.keep", "'udp'"]),
    "seeds as text": ({"seeds": "5"}, ["seeds", "'5'"]),
    "seeds as a truth": ({"seeds": True}, ["seeds"]),
    "seeds as a fraction": ({"seeds": 2.5}, ["seeds", "2.5"]),
    "factors as a list": ({"factors": [1]}, ["factors"]),
    "no scenario": ({"scenario": None}, ["either scenario or model"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_is_reported(case):
    keys, words = WRONG[case]
    message = fails(**keys)
    for word in words:
        assert word in message, message


def test_cases_of_which_a_quick_look_keeps_none():
    made = study(
        cases=[{"scheme": "recn", "topology-spacing": "150 m"}],
        quick={"keep": {"topology-spacing": ["200 m"]}},
    )
    with pytest.raises(UserError, match=r"quick\.keep: no case has all these values"):
        made.quick()


@pytest.mark.parametrize(("seeds", "word"), [(0, "0"), (-3, "-3"), ([1, 1], "repeated"), ([-1], "-1"), ([], "none")])
def test_seeds_that_cannot_be(seeds, word):
    with pytest.raises(UserError, match=r"<study>: seed") as caught:
        _ = study(seeds=seeds).plan
    assert word in str(caught.value)


def test_what_a_point_cannot_set_is_said_with_the_point():
    with pytest.raises(UserError) as caught:
        _ = study(factors={"topology.hops": [3, 0], "scheme": ["udp"]}).plan
    assert "at topology-hops=0, scheme=udp: " in str(caught.value)
    assert "--set topology.hops" in str(caught.value)


def test_the_setting_that_is_wrong_is_found_by_its_path_and_not_by_its_beginning(tmp_path):
    text = """name = "s"
scenario = "chain.toml"
[set]
"flows[0].start_jitter" = "-1 s"
[factors.start]
key = "flows[0].start"
values = ["0 s", "1 s"]
"""
    (tmp_path / "chain.toml").write_text(SCENARIO, encoding="utf-8")
    path = tmp_path / "s.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        _ = Study.load(path).plan
    assert f"{path}:3: at start=0 s: --set flows[0].start_jitter" in str(caught.value)


COVERED = {
    "a table after its key": [("mac.queue", [5, 6]), ("mac", [{"queue": 7}])],
    "all entries after one": [("flows[0].start", ["1 s"]), ("flows[*].start", ["0 s"])],
    "entries by a wider name": [("flows[long].start", ["1 s"]), ("flows[lo*].start", ["0 s"])],
    "the list after an entry": [("flows[long].start", ["1 s"]), ("flows", [[]])],
    "a quoted key": [('schemes."a.b".threshold', [0.5]), ('schemes."a.b"', [{"base": "recn"}])],
    "the scheme after one flow's": [("flows[0].scheme", ["recn"]), ("scheme", ["tcp-sack"])],
    "the scheme before one flow's": [("scheme", ["tcp-sack"]), ("flows[0].scheme", ["recn"])],
}


@pytest.mark.parametrize("case", COVERED)
def test_a_factor_that_a_later_one_replaces_is_refused(case):
    pairs = COVERED[case]
    factors = {f"f{index}": {"key": key, "values": values} for index, (key, values) in enumerate(pairs)}
    lost, kept = (1, 0) if pairs[0][0] == "scheme" else (0, 1)
    with pytest.raises(UserError) as caught:
        study(factors=factors)
    assert f"factors.f{lost}: sets {pairs[lost][0]}, which f{kept} replaces by setting {pairs[kept][0]}" in str(
        caught.value
    )


def test_a_factor_may_refine_what_an_earlier_one_set():
    asked = study(
        factors={
            "mac": {"values": [{"queue": 7}, {"queue": 8}]},
            "retries": {"key": "mac.short_retry_limit", "values": [5, 6]},
            "start": {"key": "flows[*].start", "values": ["0 s"]},
            "first": {"key": "flows[0].start", "values": ["1 s", "2 s"]},
            "other": {"key": "flows[short].scheme", "values": ["recn", "tcp-sack"]},
        }
    )
    assert len({view["hash"] for view in asked.plan.views}) == 16


def test_a_value_that_no_file_can_say_is_refused_and_named():
    for value in (object(), [object()], {"a": object()}, {"a": None}):
        asked = study(factors={"mac.queue": [value, 5]})
        with pytest.raises(UserError, match=r"mac\.queue: found"):
            asked.plan  # noqa: B018 - made when it is asked for
