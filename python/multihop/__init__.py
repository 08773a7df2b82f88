"""Congestion control over multi-hop IEEE 802.11: simulated, measured, compared.

Functions, named as the commands:

    run             simulates a scenario once
    compare         runs several schemes over common seeds, and tests the differences
    explain         explains why flows starve or are slow, and tests remedies
    check           reads a scenario without running it
    bound           computes upper bounds and an estimate of goodput
    optimum         computes the flow rates that maximise a sum of utilities
    league          ranks every scheme on common networks
    when            finds which scheme helps in which regime
    import_mesh     converts a measured mesh to a scenario
    export          returns a network as NetJSON, or a run as iperf3 or flent write it
    measure         measures airtime, links and stations of a monitor-mode capture
    frames          reads a frame log; `capture_frames` makes one from a capture
    emulate         runs real programs over the simulated air
    catalogue       lists schemes, PHYs, applications and other names; `schema` returns JSON Schemas
    version         of the package; `commit` and `engine` name the build

`Study` runs a scenario over factors and seeds, and tests claims. `Run` simulates in steps, with packets from
outside.

>>> import multihop
>>> result = multihop.run("scenarios/chain.toml", seed=1, duration=30, warmup=10)        # doctest: +SKIP
>>> result.flows[["name", "goodput_bps", "delay_p95_s"]]         # doctest: +SKIP
>>> both = multihop.compare("scenarios/chain.toml", ["tcp-newreno", "recn"], seeds=10)   # doctest: +SKIP
>>> both.report("report.html")                                   # doctest: +SKIP

Results display themselves in terminals and notebooks, have tables as DataFrames, and draw themselves:
`plot()` returns Matplotlib axes. Times are seconds, or text with a unit. The engine is Rust and releases the
GIL while it runs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multihop._core import CallbackError, Controller, Estimator, RouterPolicy, ScenarioError
    from multihop.api import bound, catalogue, check, compare, optimum, run, schema
    from multihop.api.bounds import Bound, Optimum
    from multihop.api.exports import export
    from multihop.api.leagues import League, When, league, when
    from multihop.api.measuring import Measurement, measure
    from multihop.api.meshes import ImportedMesh, import_mesh
    from multihop.api.results import Comparison, Result
    from multihop.api.stepping import Run
    from multihop.api.studies import Study, StudyResult
    from multihop.base.errors import UserError
    from multihop.emulation.client import emulate
    from multihop.explaining import Explanation, explain
    from multihop.framelog.captured import capture_frames
    from multihop.framelog.reading import frames
    from multihop.results.provenance import commit, engine, version

    __version__: str

#: Module of each public name. They are imported on first use: importing all takes most of a second, during
#: which Ctrl-C must work, and one run does not need the modules of studies.
_HOMES = {
    "run": "api",
    "compare": "api",
    "explain": "explaining",
    "check": "api",
    "bound": "api",
    "optimum": "api",
    "league": "api.leagues",
    "when": "api.leagues",
    "import_mesh": "api.meshes",
    "export": "api.exports",
    "measure": "api.measuring",
    "frames": "framelog.reading",
    "capture_frames": "framelog.captured",
    "emulate": "emulation.client",
    "catalogue": "api",
    "schema": "api",
    "version": "results.provenance",
    "commit": "results.provenance",
    "engine": "results.provenance",
    "Result": "api.results",
    "Comparison": "api.results",
    "Run": "api.stepping",
    "Study": "api.studies",
    "StudyResult": "api.studies",
    "Explanation": "explaining",
    "Bound": "api.bounds",
    "Optimum": "api.bounds",
    "League": "api.leagues",
    "When": "api.leagues",
    "ImportedMesh": "api.meshes",
    "Measurement": "api.measuring",
    "Controller": "_core",
    "RouterPolicy": "_core",
    "Estimator": "_core",
    "CallbackError": "_core",
    "ScenarioError": "_core",
    "UserError": "base.errors",
}

# Functions in the order of the module's docstring, then classes and errors.
__all__ = [  # noqa: RUF022
    "run",
    "compare",
    "explain",
    "check",
    "bound",
    "optimum",
    "league",
    "when",
    "import_mesh",
    "export",
    "measure",
    "frames",
    "capture_frames",
    "emulate",
    "catalogue",
    "schema",
    "version",
    "commit",
    "engine",
    "Result",
    "Comparison",
    "Run",
    "Study",
    "StudyResult",
    "Explanation",
    "Bound",
    "Optimum",
    "League",
    "When",
    "ImportedMesh",
    "Measurement",
    "Controller",
    "RouterPolicy",
    "Estimator",
    "CallbackError",
    "ScenarioError",
    "UserError",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any attribute of a module
    if name == "__version__":
        from multihop.results.provenance import version

        return version()
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
