"""Congestion control over multi-hop IEEE 802.11: simulated, measured, compared.

>>> import multihop
>>> result = multihop.run("scenarios/chain.toml", seed=1)       # doctest: +SKIP
>>> result.flows[["name", "goodput_bps", "delay_p95_s"]]         # doctest: +SKIP
>>> both = multihop.compare("scenarios/chain.toml", ["tcp-newreno", "recn"], seeds=10)   # doctest: +SKIP
>>> both.report("report.html")                                   # doctest: +SKIP

`run` simulates one seed, `compare` several schemes over common seeds, `check` reads a scenario without running it, and
`bound` says what its channel can carry at all. The work is done in Rust with the GIL released; columns arrive as NumPy
arrays and are handed out as DataFrames.
"""

from multihop._core import ScenarioError
from multihop.api import bound, catalogue, check, compare, run, schema
from multihop.capacity import Bound
from multihop.comparison import Comparison
from multihop.errors import UserError
from multihop.provenance import commit, version
from multihop.results import Result

__all__ = [
    "Bound",
    "Comparison",
    "Result",
    "ScenarioError",
    "UserError",
    "bound",
    "catalogue",
    "check",
    "commit",
    "compare",
    "run",
    "schema",
    "version",
]

__version__ = version()
