"""`multihop.explain`: causes that hold flows of results or of an emulation back, and remedies."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from multihop.api.results import Comparison, Result
from multihop.base.display import Displayed, Overview
from multihop.base.errors import UserError
from multihop.base.names import file_names
from multihop.emulation.replay import explain as explain_journal
from multihop.explanation import explain as explanation
from multihop.explanation.explain import OnTick

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Explanation(Displayed):
    """Explanation of slow flows.

    Attributes:
        results: explained folder of results, or journal.
        found: accounts of all flows, and outcomes of remedies.
    """

    results: Path
    found: explanation.Explanation

    @cached_property
    def _record(self) -> dict[str, Any]:
        return self.found.record()

    @cached_property
    def flows(self) -> pd.DataFrame:
        """Table with a row per flow: its name, its status, and its share of the fair goodput."""
        return pd.DataFrame(self._record["flows"])

    @cached_property
    def causes(self) -> pd.DataFrame:
        """Table with a row per cause of each explained flow, by flow and falling score.

        Columns: `kind`, `score` (share), nodes.

        `without_bps` estimates the goodput of the flow without the cause in bit/s, if it is known.
        """
        return self._rows("causes", ["kind", "score", "sender", "receiver", "interferer", "without_bps"])

    @cached_property
    def hops(self) -> pd.DataFrame:
        """Table with a row per explained flow and hop: frames, airtime, attempts, and its goodput alone."""
        return self._rows("hops", ["sender", "receiver", "feedback", "wire", "frames", "airtime", "tries", "alone_bps"])

    @cached_property
    def remedies(self) -> pd.DataFrame:
        """Table with a row per explained flow and remedy that was run: the remedy and its outcome."""
        return self._rows("remedies", ["remedy", "effort", "set", "scheme", "verdict", "judged_by", "change", "status"])

    def _rows(self, what: str, first: list[str]) -> pd.DataFrame:
        rows = [{"flow": each["name"], **row} for each in self._record["explained"] for row in each[what] or []]
        others = dict.fromkeys(key for row in rows for key in row if key not in ("flow", *first))
        return pd.DataFrame(rows, columns=["flow", *first, *others])

    def headline(self) -> str:
        """Returns a sentence with the main cause."""
        return self.found.headline()

    def sentences(self, flow: str) -> list[str]:
        """Returns the sentences on an explained flow.

        Raises:
            UserError: if the flow is not explained.
        """
        named = {self.found.flows[index].name: index for index in self.found.explained}
        if flow not in named:
            raise UserError(f"flow: found {flow!r}; explained are: {', '.join(named) or 'none'}")
        return [each.text for _, said in self.found.paragraphs(named[flow]) for each in said]

    def record(self) -> dict[str, Any]:
        """Returns the explanation as plain data (JSON), rates in bit/s."""
        return self.found.record()

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes an HTML report of the runs with the explanation. Returns its path."""
        from multihop.report import Shown, write

        found = self.found
        runs = tuple(Result(run.scenario, run.view, run.overrides, run.output) for run in found.runs)
        log = self.results / "frames" / f"{file_names([*found.others, found.variant])[found.variant]}.frames"
        frames = {found.variant: Shown(log)} if log.is_dir() else None
        return write(Comparison(runs[0].scenario, {found.variant: runs}), Path(path), found, frames)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the causes of each explained flow, on `ax` or a new figure of 3.5 in. Returns the axes.

        Raises:
            UserError: if Matplotlib is not installed, or no cause was found.
        """
        from multihop.report.charts import causes
        from multihop.report.plot import on_axes

        return on_axes(causes.causes(self.found), ax, self.headline().rstrip("."))

    def overview(self, *, whole: bool = True) -> Overview:
        """Returns the headline, and the main cause of each explained flow."""
        del whole
        rows = []
        for index in self.found.explained:
            account = self.found.flows[index]
            kind = account.causes[0].kind if account.causes else "none seen"
            rows.append([account.name, str(account.status), f"{account.goodput_mean_bps / 1e6:.3f}", kind])
        heads = ["flow", "status", "goodput Mb/s", "main cause"]
        title = f"{self.results}, {self.found.variant}, {len(self.found.seeds)} seeds"
        return Overview(title, heads, rows, [self.headline()])


def explain(
    results: str | os.PathLike[str],
    flow: str | None = None,
    *,
    variant: str | None = None,
    seeds: int | None = None,
    no_try: bool = False,
    jobs: int | None = None,
    on_tick: OnTick | None = None,
) -> Explanation:
    """Explains slow flows, and runs remedies.

    Args:
        results: folder that `run --out`, `compare --out` or `save` wrote, or journal of an emulation.
        flow: flow to explain; all that are not fine by default.
        variant: scheme of a comparison to explain; the first by default.
        seeds: number of seeds; as many as the results have by default, and at least 5 with remedies.
        no_try: whether to run no remedies.
        jobs: number of concurrent runs; all cores by default. Results do not depend on it.
        on_tick: callback with the current step and its finished share.

    Raises:
        UserError: if this is neither a folder of results nor a journal, or has no such variant or flow.
    """
    path = Path(results)
    if jobs is not None and jobs < 1:
        raise UserError(f"--jobs: found {jobs}; needs at least 1")
    if path.suffix == ".toml" and path.is_file():
        raise UserError(
            f"{path}: this is no result; run it first: multihop run {path} --out results, then multihop explain results"
        )
    if not path.is_file():
        tries = not no_try
        found = explanation.explain(
            path, flow, variant=variant, seeds=seeds, try_remedies=tries, threads=jobs, on_tick=on_tick
        )
        return Explanation(path, found)
    if variant is not None or seeds is not None:
        raise UserError("--variant, --seeds: a journal is one run, with one seed")
    return Explanation(path, explain_journal(path, flow))
