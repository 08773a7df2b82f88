"""Congestion control over multi-hop IEEE 802.11: simulated, measured, compared.

>>> import multihop
>>> result = multihop.run("scenarios/chain.toml", seed=1)       # doctest: +SKIP
>>> result.flows[["name", "goodput_bps", "delay_p95_s"]]         # doctest: +SKIP
>>> both = multihop.compare("scenarios/chain.toml", ["tcp-newreno", "recn"], seeds=10)   # doctest: +SKIP
>>> both.report("report.html")                                   # doctest: +SKIP

`run` simulates one seed, `compare` several schemes over common seeds, and a `Study` a scenario over factors and seeds,
with claims that are tested. `check` reads a scenario without running it, `bound` says what its channel can carry at
all, and `optimum` what a fair share of it would be. The work is done in Rust with the GIL released; columns arrive as
NumPy arrays and are handed out as DataFrames.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multihop._core import ScenarioError
from multihop.api import bound, catalogue, check, compare, optimum, run, schema
from multihop.capacity import Bound
from multihop.comparison import Comparison
from multihop.errors import UserError
from multihop.optima import Optimum
from multihop.provenance import commit, engine, version
from multihop.results import Result

if TYPE_CHECKING:
    from multihop.measurement import Measurement, measure
    from multihop.study import Study, StudyResult

__all__ = [
    "Bound",
    "Comparison",
    "Measurement",
    "Optimum",
    "Result",
    "ScenarioError",
    "Study",
    "StudyResult",
    "UserError",
    "bound",
    "catalogue",
    "check",
    "commit",
    "compare",
    "engine",
    "measure",
    "optimum",
    "run",
    "schema",
    "version",
]

__version__ = version()


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any attribute of a module
    # Studies bring pydantic with them, which one run does not need.
    if name in ("Study", "StudyResult"):
        from multihop import study

        return getattr(study, name)
    if name in ("Measurement", "measure"):
        from multihop import measurement

        return getattr(measurement, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
