"""What a shell offers for options."""

import os
import subprocess
import sys

import pytest

from multihop import api
from multihop.cli import completion

SCHEMES = [entry["name"] for entry in api.catalogue()["schemes"]]


def test_schemes():
    assert completion.scheme("") == SCHEMES
    assert completion.scheme("tcp-n") == [name for name in SCHEMES if name.startswith("tcp-n")]
    assert completion.scheme("nonsense") == []


def test_of_several_schemes_the_last_is_completed_and_none_twice():
    assert completion.schemes("rec") == completion.scheme("rec")
    offered = completion.schemes("recn,tcp-newreno,")
    assert len(offered) == len(SCHEMES) - 2
    assert all(each.startswith("recn,tcp-newreno,") for each in offered)
    assert completion.schemes("recn,rec") == [f"recn,{name}" for name in completion.scheme("rec") if name != "recn"]


def test_papers_then_their_items():
    assert completion.paper("re") == ["recn", "retfrc"]
    assert "all" in completion.paper("")
    items = completion.paper("recn/")
    assert items
    assert all(item.startswith("recn/") for item in items)
    assert completion.paper("nonsense/") == []


def test_kinds_formats_and_phys():
    assert {"schemes", "routing"} <= set(completion.kind(""))
    assert completion.kind("routing") == ["routing_protocols", "routing"]
    assert completion.format("au") == ["auto"]
    assert len(completion.format("")) > 5
    assert "802.11b" in completion.phy("802")
    assert completion.of("to-gateway", "random-pairs")("r") == ["random-pairs"]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("multihop run x.toml --scheme tcp-newr", "tcp-newreno"),
        ("multihop compare x.toml --schemes recn,tcp-newr", "recn,tcp-newreno"),
        ("multihop league --schemes tcp-newr", "tcp-newreno"),
        ("multihop when --schemes tcp-newr", "tcp-newreno"),
        ("multihop reproduce rec", "recn"),
        ("multihop list schem", "schemes"),
        ("multihop schema stu", "study"),
        ("multihop import x.json --format au", "auto"),
        ("multihop import x.json --traffic rand", "random-pairs"),
        ("multihop measure x.pcap --stamps be", "begin"),
        ("multihop optimum x.toml --level har", "hard"),
    ],
)
def test_the_shell_gets_them(line, offered):
    environment = {
        **os.environ,
        "_MULTIHOP_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split()) - 1),
    }
    code = "import sys; sys.argv = ['multihop']; from multihop.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert offered in done.stdout.split(), done.stderr
