"""The schema of scenarios: it accepts what the reader accepts, and refuses what the reader refuses."""

import json
import tomllib

import jsonschema
import pytest

import multihop
from conftest import SCENARIOS

CHAIN = (SCENARIOS / "chain.toml").read_text("utf-8")

ROUTINGS = [
    'metric = "etx"',
    'protocol = "static"',
    'protocol = "dsdv"\nuse_mac = true',
    'protocol = "dsr"\nfailures = 3',
    'protocol = "aodv"\nlocal_repair = "rfc3561"',
]

BREAKS = [
    ("hops = 7", "hop = 7"),
    ("warmup =", "warm_up ="),
    ("hops = 7", "hops = 0"),
    ('kind = "bulk"', 'kind = "bulky"'),
    ('duration = "100 s"', "duration = 100"),
    ('duration = "100 s"', ""),
    ('generator = "chain"', 'generator = "chian"'),
    ('rules = "ieee"', 'rules = "iee"'),
    ('from = "n0"', ""),
    ('spacing = "200 m"', 'spacing = "200 s"'),
    ("[topology]", '[routing]\nprotocol = "dsvd"\n[topology]'),
    ("[topology]", '[routing]\nprotocol = "dsdv"\nmetric = "etx"\n[topology]'),
    ("[topology]", '[routing]\nupdate_period = "15 s"\n[topology]'),
    ("[topology]", '[routing]\nprotocol = "dsr"\nfailures = 0\n[topology]'),
    ("[topology]", '[routing]\nprotocol = "aodv"\nlocal_repair = true\n[topology]'),
]


@pytest.fixture(scope="module")
def errors():
    """What the schema says against a scenario."""
    schema = multihop.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)

    def errors_of(text):
        return [error.message for error in validator.iter_errors(tomllib.loads(text))]

    return errors_of


@pytest.mark.parametrize("path", sorted(SCENARIOS.rglob("*.toml")), ids=lambda path: path.name)
def test_it_accepts_every_shipped_scenario(errors, path):
    assert errors(path.read_text("utf-8")) == []


@pytest.mark.parametrize("keys", ROUTINGS)
def test_it_takes_a_routing_table_without_protocol_for_static_routes(errors, keys):
    assert errors(f"{CHAIN}\n[routing]\n{keys}\n") == []


@pytest.mark.parametrize(("sound", "broken"), BREAKS)
def test_it_refuses_what_the_reader_refuses(errors, sound, broken):
    assert sound in CHAIN
    text = CHAIN.replace(sound, broken, 1)
    assert errors(text), f"the schema accepts {broken!r}"
    with pytest.raises(multihop.ScenarioError):
        multihop.check(text)


@pytest.mark.parametrize("kind", ["scenario", "study"])
def test_it_names_itself_and_its_version(kind):
    schema = multihop.schema(kind)
    assert list(schema)[:2] == ["$schema", "$id"]
    assert schema["$id"] == f"urn:multihop:{kind}:{multihop.version()}"


def test_examples_name_the_schema_that_they_keep(inline, tmp_path):
    assert inline("init", "start").code == 0
    files = sorted((tmp_path / "start").rglob("*.toml"))
    assert {file.parent.name for file in files} == {"scenarios", "problems", "studies"}
    for file in files:
        first = file.read_text("utf-8").partition("\n")[0]
        schema = json.loads((file.parent / first.removeprefix("#:schema ")).read_text("utf-8"))
        # Editors convert TOML to JSON, which has null for nan.
        value = json.loads(json.dumps(tomllib.loads(file.read_text("utf-8"))).replace("NaN", "null"))
        jsonschema.validate(value, schema)
