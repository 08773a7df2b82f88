"""`multihop list keys`: every key of a scenario, from the schema."""

import pytest

import multihop
from multihop.cli import completion
from multihop.simulation import keys
from multihop.simulation.scenario import registered


@pytest.fixture(scope="module")
def found():
    return keys.every()


def listed(inline, *words):
    return {entry["name"]: entry for entry in inline("list", "keys", *words, "--json").json()["keys"]}


def test_every_key_of_the_schema_and_every_parameter_of_a_scheme_is_there(found):
    paths = {key.path for key in found}
    assert set(multihop.schema()["properties"]) - {"schemes"} <= paths
    for scheme in registered()["schemes"]:
        assert {f"schemes.{scheme['name']}.{name}" for name in scheme["parameters"].get("properties", {})} <= paths
    assert {
        "flows[].app.rate",
        "mac.aggregation.a_mpdu",
        "topology.nodes[].name",
        "topology.wires[].discipline",
    } <= paths


def test_every_key_has_a_meaning_and_says_what_it_takes(found):
    assert not [key.path for key in found if not key.meaning or not key.takes]
    assert {key.path for key in found if key.required} >= {"duration", "topology"}


def test_keys_of_one_path_are_told_apart(found):
    seen = [(key.path, *key.only_with, key.meaning) for key in found]
    assert len(seen) == len(set(seen))
    (payload, mean, video) = [key for key in found if key.path == "flows[].app.rate"]
    assert payload.only_with == ['app.kind = "cbr"']
    assert 'app.kind = "poisson"' in mean.only_with
    assert video.only_with == ['app.kind = "video"']
    # One that all the tables have has no condition.
    assert not next(key for key in found if key.path == "flows[].app.dscp").only_with


def test_a_default_that_is_listed_is_the_default_of_the_engine(found):
    shown = {key.path: key.default for key in found}
    assert shown["seed"] == "1"
    assert shown["warmup"] == '"0 s"'
    assert shown["mac.aggregation.rts"] == "false"


def test_a_prefix_filters_and_else_a_word(inline):
    assert set(listed(inline, "mac.aggregation")) == {
        key.path for key in keys.every() if f"{key.path}.".startswith("mac.aggregation.")
    }
    for place in ("flows[0].app", "flows[*].app.", "flows[].app", "FLOWS[].APP"):
        assert "flows[].app.rate" in listed(inline, place), place
    assert "mac.retry_limit" not in listed(inline, "mac.aggregation")
    within = listed(inline, "spatial")
    assert within
    assert all("spatial" in (name + entry["summary"]).lower() for name, entry in within.items())


def test_a_key_is_shown_with_type_range_default_and_meaning(inline):
    shown = inline("list", "keys", "flows[].app.frame_rate").out
    assert shown == (
        'flows[].app.frame_rate  (with app.kind = "video")\n'
        "    number; 0.1 to 1000; default 25.0\n"
        "    Frames per second.\n"
    )
    assert "required" in inline("list", "keys", "duration").out.splitlines()[1]


def test_what_is_no_key_names_the_nearest(inline):
    assert 'did you mean "duration"?' in inline("list", "keys", "durashun").fails_cleanly()
    assert 'did you mean "keys"?' in inline("list", "kyes").fails_cleanly()


def test_other_kinds_are_filtered_as_well(inline):
    names = [entry["name"] for entry in inline("list", "schemes", "tcp-b", "--json").json()["schemes"]]
    assert names
    assert all(name.startswith("tcp-b") for name in names)


def test_the_list_of_everything_leaves_keys_out(inline):
    assert "keys" not in inline("list", "--json").json()


def test_completion_knows_kind_and_keys():
    assert completion.kind("key") == ["keys"]
    assert completion.key("mac.aggregation.a_m") == ["mac.aggregation.a_mpdu", "mac.aggregation.a_msdu"]
