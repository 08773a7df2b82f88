"""The layers of the Python package: what may know what."""

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import multihop

PACKAGE = Path(multihop.__file__).parent

#: The order of layers, the lowest first: each knows itself and those before it. ARCHITECTURE.md says what they are.
LAYERS = [
    "_core",
    "base",
    "examples",
    "results",
    "simulation",
    "framelog",
    "optima",
    "models",
    "importers",
    "stations",
    "measurement",
    "experiments",
    "exporters",
    "explanation",
    "papers",
    "report",
    "leagues",
    "api",
    "learning",
    "emulation",
    "explaining",
    "cli",
    "__init__",
    "__main__",
]


def modules():
    """Module -> its source; a package is called by its name, and `multihop` itself `__init__`."""
    found = {"_core": ""}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts if len(parts) == 1 or parts[-1] != "__init__" else parts[:-1])
        found[name] = file.read_text(encoding="utf-8")
    return found


def imports(name, source, known):
    """Modules of ours that a module names in any import: at the top, in functions, and for types alone."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {_module(alias.name, known) for alias in node.names if _is_ours(alias.name)}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno}: a relative import"
            if _is_ours(node.module):
                found |= {_module(f"{node.module}.{alias.name}", known) for alias in node.names}
    return found - {name}


def _is_ours(name):
    return name.split(".")[0] == "multihop"


def _module(name, known):
    """The module that holds a dotted name: the name itself, or what is left without its last part."""
    inner = name.removeprefix("multihop").removeprefix(".")
    while inner and inner not in known:
        inner = inner.rpartition(".")[0]
    return inner or "__init__"


def upwards(known):
    """Each arrow from a layer to one above it."""
    rank = {layer: number for number, layer in enumerate(LAYERS)}
    arrows = [(name, to) for name, source in known.items() for to in imports(name, source, known)]
    return [f"{a} -> {b}" for a, b in arrows if rank[b.split(".")[0]] > rank[a.split(".")[0]]]


def cycle(known):
    """Modules that import each other in a circle, if there are any."""
    try:
        TopologicalSorter({name: imports(name, source, known) for name, source in known.items()}).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_every_layer_has_its_place():
    assert sorted({name.split(".")[0] for name in modules()}) == sorted(LAYERS)


def test_no_layer_knows_one_above_it():
    assert upwards(modules()) == []


def test_no_modules_import_each_other():
    assert cycle(modules()) == []


@pytest.mark.parametrize(
    ("into", "planted", "arrow"),
    [
        ("experiments.runs", "from multihop.report import write", "experiments.runs -> report"),
        (
            "experiments.comparisons",
            "def f():\n    from multihop.report.charts import every",
            "experiments.comparisons -> report.charts",
        ),
        (
            "experiments.outcomes",
            "if TYPE_CHECKING:\n    from multihop import papers",
            "experiments.outcomes -> papers",
        ),
        ("base.errors", "import multihop.results.columns as columns", "base.errors -> results.columns"),
        ("models", "from multihop import bound", "models -> __init__"),
    ],
)
def test_an_arrow_upwards_is_found(into, planted, arrow):
    known = modules()
    known[into] += f"\n{planted}\n"
    assert upwards(known) == [arrow]


def test_a_cycle_within_a_layer_is_found():
    known = modules()
    known["experiments.plans"] += "\ndef f():\n    from multihop.experiments.outcomes import StudyRuns\n"
    assert upwards(known) == []
    assert {"experiments.plans", "experiments.outcomes"} <= set(cycle(known))


def test_imports_are_statements():
    # Others would not be seen here. `multihop` itself finds its public names when first used, and the commands,
    # of which nothing but the command line knows, theirs. Modules of users, with their classes, are none of ours.
    known = modules()
    assert [name for name, source in known.items() if "cli.app" in imports(name, source, known)] == ["cli"]
    texts = {
        name: source for name, source in known.items() if name not in {"__init__", "cli.app", "simulation.classes"}
    }
    assert [
        name for name, source in texts.items() if re.search(r"\bimportlib\.import_|import_module|__import__", source)
    ] == []


def test_no_layer_hides_a_public_name():
    # A package that is imported becomes an attribute of `multihop`, in the place of a function of that name.
    assert set(LAYERS) & set(multihop.__all__) == set()


def test_the_architecture_names_the_layers_in_their_order():
    text = (PACKAGE.parents[1] / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `(\w+)(?:/|\.py)` \|", text.partition("## The Python package")[2].partition("\n## ")[0], re.MULTILINE
    )
    assert rows == [layer for layer in reversed(LAYERS) if not layer.startswith("_")]


def test_importing_multihop_loads_nothing_else():
    code = "import sys; old = set(sys.modules); import multihop; print(*sorted(set(sys.modules) - old))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "multihop" in loaded
    assert [name for name in loaded if name.startswith("multihop.")] == []
    assert {name.split(".")[0] for name in loaded} <= {"multihop", *sys.stdlib_module_names}


@pytest.mark.parametrize("name", multihop.__all__)
def test_every_public_name_is_there(name):
    assert getattr(multihop, name) is not None
