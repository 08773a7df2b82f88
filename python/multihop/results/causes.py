"""Tables of causes: delay sources of each hop, packet drops by place, and frame losses by cause.

The engine records them on request, as `run`, `compare` and `explain` do. Studies omit them, since recording
slows a run by some percent. `crates/sim/src/outcome/causes.rs` declares their columns.
"""

from __future__ import annotations

from multihop import _core
from multihop.results.columns import Column

#: Columns of the tables that a run's output contains on request.
CAUSE_TABLES: dict[str, dict[str, Column]] = {
    table: {name: Column(unit, meaning) for name, unit, meaning in columns}
    for table, _, columns in _core.columns(causes=True)
}

#: Causes for which a unicast frame failed: columns of the table `losses`.
LOSS_CAUSES = tuple(name for name in CAUSE_TABLES["losses"] if name not in {"sender", "receiver", "frame"})
