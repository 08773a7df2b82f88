"""What a plain install can do, and what it says where an extra is needed: modules are hidden, as if not installed."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pandas as pd
import pytest
from scipy import special

from conftest import repository
from multihop import examples
from multihop.base import extras
from multihop.base.errors import UserError
from multihop.results import student

ROOT = Path(__file__).parent.parent

_HIDDEN = """
import sys
from importlib.machinery import PathFinder
hidden = {hidden!r}
class Hiding:
    find_distributions = PathFinder.find_distributions
    @staticmethod
    def find_spec(name, path=None, target=None):
        return None if name.partition(".")[0] in hidden else PathFinder.find_spec(name, path, target)
sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not PathFinder] + [Hiding]
sys.argv = ["multihop", *{arguments!r}]
from multihop.__main__ import main
main()
"""

_SCENARIO = """
duration = "1 s"
[topology]
generator = "chain"
hops = 2
spacing = "200 m"
[[flows]]
from = "n0"
to = "n2"
scheme = "tcp-newreno"
"""


def without(hidden, *arguments, cwd):
    modules = {module for extra in hidden for module in extras.EXTRAS[extra]}
    code = _HIDDEN.format(hidden=modules, arguments=[str(argument) for argument in arguments])
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=cwd, env=environment, timeout=120, check=False
    )


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(_SCENARIO)
    return path


def test_a_plain_install_runs_compares_and_writes_tables(scenario, tmp_path):
    every = tuple(extras.EXTRAS)
    command = ["compare", scenario, "--schemes", "tcp-newreno,recn", "--seeds", "3", "--quiet"]
    done = without(every, *command, "--out", "plain", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    whole = without((), *command, "--out", "whole", cwd=tmp_path)
    assert (whole.returncode, whole.stderr) == (0, "")
    why = "it needs scipy, clarabel, networkx: pip install scipy clarabel networkx"
    optimum = f"Optimum: not drawn, as {why}."
    rest = done.stdout.splitlines()
    rest.remove(optimum)
    assert {line.split("  ")[0] for line in rest} <= {line.split("  ")[0] for line in whole.stdout.splitlines()}
    assert not list((tmp_path / "plain").glob("*.parquet"))
    assert (tmp_path / "whole" / "report.html").exists()
    for name, file in json.loads((tmp_path / "plain" / "manifest.json").read_text())["tables"].items():
        assert file == f"{name}.csv"
        one, other = (pd.read_csv(tmp_path / folder / file) for folder in ("plain", "whole"))
        pd.testing.assert_frame_equal(one, other, check_dtype=False)


def test_no_report_is_said_in_one_line(scenario, tmp_path):
    done = without(("report",), "run", scenario, "--out", "o", cwd=tmp_path)
    said = [line for line in done.stderr.splitlines() if "report" in line]
    assert said == ["no report: matplotlib is not installed; pip install matplotlib"]
    assert (tmp_path / "o" / "flows.parquet").exists()


@pytest.mark.parametrize(
    ("hidden", "arguments", "message"),
    [
        ("report", ["run", "s.toml", "--report", "r.html"], "--report needs matplotlib, which is not installed"),
        ("optimum", ["optimum", "s.toml"], "needs scipy, clarabel, networkx, which are not installed"),
        ("optimum", ["bound", "s.toml"], "needs scipy, clarabel, networkx, which are not installed"),
        ("mesh", ["import", "mesh.csv"], "import without --sensing listed needs scipy, which is not installed"),
        (
            "cluster",
            ["study", "run", str(ROOT / "studies" / "loss-table.toml"), "--dask", "tcp://127.0.0.1:1", "--out", "o"],
            "--dask needs distributed, which is not installed",
        ),
    ],
)
def test_what_needs_an_extra_names_it(hidden, arguments, message, scenario, tmp_path):
    (tmp_path / "mesh.csv").write_text("source,target,delivery\na,b,0.9\nb,a,0.9\n")
    done = without((hidden,), *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.endswith(f"; pip install {' '.join(extras.EXTRAS[hidden])}\n")
    assert done.stderr.count("\n") == 1
    assert scenario.exists()


def test_doctor_says_which_extras_are_there(tmp_path):
    done = without(("parquet", "optimum"), "doctor", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "extra        report: installed\n" in done.stdout
    assert "extra        parquet: lacks pyarrow; pip install pyarrow\n" in done.stdout
    found = json.loads(without(("parquet",), "doctor", "--json", cwd=tmp_path).stdout)
    assert found["extras"] == {"report": True, "parquet": False, "mesh": True, "optimum": True, "cluster": True} | {
        "vendors": extras.has("vendors"),
        "learning": extras.has("learning"),
    }


def test_list_and_help_need_no_extra(tmp_path):
    for arguments in (["list"], ["--help"], ["init", "there", "--quiet"]):
        done = without(tuple(extras.EXTRAS), *arguments, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), arguments


def test_extras_are_those_that_can_be_installed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra, modules in extras.EXTRAS.items():
        named = {line.partition(">")[0] for line in project["optional-dependencies"][extra]}
        assert named == set(modules)
        assert not any(line.startswith(tuple(named)) for line in project["dependencies"])


def test_importing_the_package_is_light():
    code = "import sys, multihop; print(*sorted({'numpy', 'pandas', 'typer', 'rich', 'pydantic'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


def test_examples_are_the_scenarios_and_studies_of_the_repository(tmp_path):
    schemas = {"scenarios": "{}\n", "studies": "{}\n"}
    made = {path.relative_to(tmp_path / "e").as_posix() for path in examples.write(tmp_path / "e", schemas)}
    assert {name for name in made if name.endswith(".json")} == {"scenarios.schema.json", "studies.schema.json"}
    made = {name for name in made if not name.endswith(".json")}
    ours = [path for folder in ("scenarios", "studies") for path in (ROOT / folder).rglob("*.toml")]
    here = {path.relative_to(ROOT).as_posix() for path in ours}
    assert made == here, "each needs a link: ln -s ../../../../scenarios/NAME.toml python/multihop/examples/scenarios/"
    for name in here:
        first, _, rest = (tmp_path / "e" / name).read_bytes().partition(b"\n")
        assert first.startswith(b"#:schema ../")
        assert rest == (ROOT / name).read_bytes()


def test_init_replaces_nothing(tmp_path):
    (tmp_path / "scenarios").mkdir()
    mine = tmp_path / "scenarios" / "chain.toml"
    mine.write_text("mine")
    with pytest.raises(UserError, match=r"chain\.toml: exists; name another directory"):
        examples.write(tmp_path, {})
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [mine]
    with pytest.raises(UserError, match="a file is in the way"):
        examples.write(mine, {})
    assert mine.read_text() == "mine"


@pytest.mark.parametrize("freedom", [1, 2, 4, 9, 30, 400])
def test_student_t_is_that_of_scipy(freedom):
    for t in (0.0, 1e-6, 0.4, 2.0, 12.7, 300.0):
        expected = 2 * special.stdtr(freedom, -t)
        assert student.two_sided(-t, freedom) == pytest.approx(expected, rel=1e-10, abs=1e-300)
    for confidence in (0.5, 0.95, 0.999):
        expected = special.stdtrit(freedom, (1 + confidence) / 2)
        assert student.quantile(confidence, freedom) == pytest.approx(expected, rel=1e-12)


def test_student_t_by_hand():
    # Of one degree of freedom, Cauchy's distribution: tan(pi 0.95 / 2).
    assert student.quantile(0.95, 1) == pytest.approx(12.706204736174698, rel=1e-13)
    assert student.two_sided(1.0, 1) == pytest.approx(0.5, rel=1e-14)


def test_no_hint_names_an_index_that_has_no_multihop():
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in repository()
        if path.suffix in {".py", ".md", ".toml", ".rs", ".js", ""} and path.name != Path(__file__).name
        for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), 1)
        if re.search(r"pip install ['\"]?multihop\b", line)
    ]
    assert not found
    # What is missing is named, and only that.
    assert extras.install("report") == "pip install matplotlib"
