"""Congestion control over multi-hop IEEE 802.11: simulated, measured, compared.

>>> import multihop
>>> result = multihop.run("scenarios/chain.toml", seed=1)       # doctest: +SKIP
>>> result.flows[["name", "goodput_bps", "delay_p95_s"]]         # doctest: +SKIP
>>> both = multihop.compare("scenarios/chain.toml", ["tcp-newreno", "recn"], seeds=10)   # doctest: +SKIP
>>> both.report("report.html")                                   # doctest: +SKIP

`run` simulates one seed, `compare` several schemes over common seeds, and a `Study` a scenario over factors
and seeds, with claims that are tested. A `Run` goes on in steps, and takes packets from outside. `check`
reads a scenario without running it, `bound` says what its channel can carry at all, and `optimum` what a fair
share of it would be. The work is done in Rust with the GIL released; columns arrive as NumPy arrays and are
handed out as DataFrames.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multihop._core import ScenarioError
    from multihop.api import bound, catalogue, check, compare, optimum, run, schema
    from multihop.api.results import Comparison, Result
    from multihop.api.stepping import Run
    from multihop.base.errors import UserError
    from multihop.claims.study import Study, StudyResult
    from multihop.emulation.client import emulate
    from multihop.framelog.captured import capture_frames
    from multihop.framelog.reading import frames
    from multihop.measurement import Measurement, measure
    from multihop.optima.capacity import Bound
    from multihop.optima.optimum import Optimum
    from multihop.results.provenance import commit, engine, version

    __version__: str

#: Where each public name is. They are imported when first used: all of them take most of a second, in which
#: the command has to be able to see Ctrl-C, and a study's need not be there for one run.
_HOMES = {
    "Bound": "optima.capacity",
    "Comparison": "api.results",
    "Measurement": "measurement",
    "Optimum": "optima.optimum",
    "Result": "api.results",
    "Run": "api.stepping",
    "ScenarioError": "_core",
    "Study": "claims.study",
    "StudyResult": "claims.study",
    "UserError": "base.errors",
    "bound": "api",
    "catalogue": "api",
    "check": "api",
    "commit": "results.provenance",
    "compare": "api",
    "emulate": "emulation.client",
    "engine": "results.provenance",
    "capture_frames": "framelog.captured",
    "frames": "framelog.reading",
    "measure": "measurement",
    "optimum": "api",
    "run": "api",
    "schema": "api",
    "version": "results.provenance",
}

__all__ = [
    "Bound",
    "Comparison",
    "Measurement",
    "Optimum",
    "Result",
    "Run",
    "ScenarioError",
    "Study",
    "StudyResult",
    "UserError",
    "bound",
    "capture_frames",
    "catalogue",
    "check",
    "commit",
    "compare",
    "emulate",
    "engine",
    "frames",
    "measure",
    "optimum",
    "run",
    "schema",
    "version",
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
