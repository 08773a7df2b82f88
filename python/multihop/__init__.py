"""Congestion control over multi-hop IEEE 802.11: simulated, measured, compared.

>>> import multihop
>>> result = multihop.run("scenarios/chain.toml", seed=1)       # doctest: +SKIP
>>> result.flows[["name", "goodput_bps", "delay_p95_s"]]         # doctest: +SKIP
>>> both = multihop.compare("scenarios/chain.toml", ["tcp-newreno", "recn"], seeds=10)   # doctest: +SKIP
>>> both.report("report.html")                                   # doctest: +SKIP

`run` simulates one seed, `compare` several schemes over common seeds, `check` reads a scenario without running it. The
work is done in Rust with the GIL released; columns arrive as NumPy arrays and are handed out as DataFrames.
"""

from multihop._core import ScenarioError
from multihop.api import catalogue, check, compare, run, schema
from multihop.comparison import Comparison
from multihop.errors import UserError
from multihop.provenance import commit, version
from multihop.results import Result

__all__ = [
    "Comparison",
    "Result",
    "ScenarioError",
    "UserError",
    "catalogue",
    "check",
    "commit",
    "compare",
    "run",
    "schema",
    "version",
]

__version__ = version()
