"""The tables of causes: what hops did for flows, where packets were dropped, and why frames were lost.

The engine keeps these books, and a run's output has them, if they are asked for, as `run`, `compare` and
`explain` do. Studies do not: they cost some percent of a run. `crates/sim/src/outcome/causes.rs` declares
them.
"""

from __future__ import annotations

from multihop import _core
from multihop.results.columns import Column

#: What a run's output has besides, if it is asked for: table -> column -> definition.
CAUSE_TABLES: dict[str, dict[str, Column]] = {
    table: {name: Column(unit, meaning) for name, unit, meaning in columns}
    for table, _, columns in _core.columns(causes=True)
}

#: Why a unicast frame did not do what it was sent for: columns of the table `losses`.
LOSS_CAUSES = tuple(name for name in CAUSE_TABLES["losses"] if name not in {"sender", "receiver", "frame"})
