"""`run` and `compare`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multihop.base import extras
from multihop.base.errors import Interrupted, UserError
from multihop.base.files import (
    require_writable_directory,
    require_writable_file,
    require_writable_folder,
    what_is_written,
)
from multihop.base.names import file_names
from multihop.cli import completion, console
from multihop.cli.figures import Figures, FiguresOption, FontSizeOption, MetricsOption, WidthOption, asked
from multihop.cli.screen import as_json_value, print_comparison, print_run
from multihop.cli.settings import SetOption, read
from multihop.simulation.logs import FRAMES_MARK, NO_LOGS, Logs, Selection, selection
from multihop.simulation.scenario import Scenario, load
from multihop.simulation.seeds import MAX_SEEDS, seed_list, seed_number

if TYPE_CHECKING:
    from multihop.api.results import Comparison
    from multihop.simulation.store import Store

#: Name of the folder of finished runs, inside the folder of results.
STORE = "store"

ScenarioArgument = Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario (TOML).", show_default=False)]
SeedOption = Annotated[int | None, typer.Option("--seed", help="First seed; the scenario's by default.")]
DurationOption = Annotated[str | None, typer.Option(help='Replaces the duration, as in "60 s".')]
WarmupOption = Annotated[str | None, typer.Option(help='Replaces the warm-up, as in "10 s".')]
StepOption = Annotated[str | None, typer.Option("--record-interval", help='Step of the time series, as in "1 s".')]
JobsOption = Annotated[int | None, typer.Option("--jobs", "-j", help="Runs at once; all cores by default.")]
OutOption = Annotated[
    Path | None, typer.Option(help="Write tables (Parquet, CSV), manifest and report to this directory.")
]
ReportOption = Annotated[Path | None, typer.Option(help="Write the HTML report to this file.")]
PcapOption = Annotated[
    Path | None,
    typer.Option(
        "--pcap",
        metavar="FILE.pcapng",
        help="Write the frames at each node's radio to this file: 802.11 with radiotap, one interface per node.",
        show_default=False,
    ),
]
FramesOption = Annotated[
    Path | None,
    typer.Option(
        "--frames",
        metavar="LOG.frames",
        help="Write every transmission to this frame log, a folder, for `multihop view`.",
        show_default=False,
    ),
]
NodesOption = Annotated[
    str | None,
    typer.Option("--nodes", help="Logs: only frames that these nodes send or receive, comma-separated."),
]
FlowsOption = Annotated[
    str | None,
    typer.Option(
        "--flows", help="Logs: only frames with packets of these flows, and their responses, comma-separated."
    ),
]
BetweenOption = Annotated[
    str | None,
    typer.Option("--between", help='Logs: only frames in this interval, as in "10 s, 12 s".'),
]
VaryOption = Annotated[
    str | None,
    typer.Option(
        help="Flows that take the scheme: comma-separated names, * for any text, all for every flow. By default flows "
        "without congestion control (udp) keep their scheme if a given scheme has congestion control."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress bar and no remarks.")]


def run(
    scenario: ScenarioArgument,
    seed: SeedOption = None,
    seeds: Annotated[int, typer.Option(help="Number of seeds, counted up from the first.")] = 1,
    scheme: Annotated[
        str | None, typer.Option(help="Replaces the scheme of the flows.", autocompletion=completion.scheme)
    ] = None,
    vary: VaryOption = None,
    duration: DurationOption = None,
    warmup: WarmupOption = None,
    record_interval: StepOption = None,
    set: SetOption = None,
    jobs: JobsOption = None,
    out: OutOption = None,
    report: ReportOption = None,
    pcap: PcapOption = None,
    frames: FramesOption = None,
    nodes: NodesOption = None,
    between: BetweenOption = None,
    flows: FlowsOption = None,
    figures: FiguresOption = None,
    width: WidthOption = None,
    font_size: FontSizeOption = None,
    metrics: MetricsOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Simulate a scenario and report goodput, delay and losses of each flow."""
    for option, file in (("--pcap", pcap), ("--frames", frames)):
        if file is not None and seeds > 1:
            raise UserError(f"{option}: found --seeds {seeds}, and one file holds one run; leave --seeds out")
    logs = Logs(pcap, frames, selection(nodes, between, flows))
    if logs.selection and not logs:
        raise UserError(
            "--nodes, --flows and --between select the frames of a log; add --frames LOG.frames or --pcap FILE.pcapng"
        )
    name = scheme or "scenario"
    replaced = {"duration": duration, "warmup": warmup, "record_interval": record_interval, "set": read(set)}
    if vary is not None and scheme is None:
        raise UserError("--vary: found without --scheme, which it restricts to flows; add --scheme")
    from multihop.api import scheme_variants

    source = load(scenario)
    variants = [(name, replaced)] if scheme is None else scheme_variants(source, replaced, [scheme], vary)
    drawn = asked(figures, width, font_size, metrics, out)
    comparison = _simulate(source, variants, seed, seeds, jobs, out, report, logs, drawn=drawn, quiet=quiet or as_json)
    if as_json:
        console.print_json(as_json_value(comparison))
    else:
        print_run(comparison, why=True)


def compare(
    scenario: ScenarioArgument,
    schemes: Annotated[
        list[str],
        typer.Option(
            help="Schemes to compare, comma-separated.", show_default=False, autocompletion=completion.schemes
        ),
    ],
    vary: VaryOption = None,
    seed: SeedOption = None,
    seeds: Annotated[int, typer.Option(help="Number of seeds, counted up from the first.")] = 10,
    duration: DurationOption = None,
    warmup: WarmupOption = None,
    record_interval: StepOption = None,
    set: SetOption = None,
    jobs: JobsOption = None,
    out: OutOption = None,
    report: ReportOption = None,
    frames: Annotated[
        int | None,
        typer.Option(help="Run this seed once more with each scheme, and write frame logs to the folder of --out."),
    ] = None,
    figures: FiguresOption = None,
    width: WidthOption = None,
    font_size: FontSizeOption = None,
    metrics: MetricsOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Compare schemes on a scenario over common seeds, and test the differences for significance."""
    from multihop._core import ScenarioError
    from multihop.api import scheme_variants

    names = _scheme_names(schemes)
    if frames is not None and out is None:
        raise UserError("--frames: frame logs go to the directory of the results; add --out DIR")
    replaced = {"duration": duration, "warmup": warmup, "record_interval": record_interval, "set": read(set)}
    source = load(scenario)
    variants = scheme_variants(source, replaced, names, vary)
    drawn = asked(figures, width, font_size, metrics, out)
    write_logs = None
    if frames is not None and out is not None:
        write_logs = partial(_frame_logs, source, variants, seed_number(frames), out / "frames")
    try:
        comparison = _simulate(
            source,
            variants,
            seed,
            seeds,
            jobs,
            out,
            report,
            write_logs=write_logs,
            drawn=drawn,
            quiet=quiet or as_json,
        )
    except ScenarioError as error:
        if error.setting != "scheme":
            raise
        raise UserError(f"--schemes: {error.found}; {error.remedy}") from error
    if as_json:
        console.print_json(as_json_value(comparison))
    else:
        print_comparison(comparison)


def _scheme_names(schemes: list[str]) -> list[str]:
    """Returns the names given by `--schemes`.

    Raises:
        UserError: if no name is given, or one twice.
    """
    if len(schemes) > 1:
        raise UserError(f"--schemes: found {len(schemes)} times; give it once: --schemes {','.join(schemes)}")
    names = [name.strip() for name in schemes[0].split(",") if name.strip()]
    if not names:
        raise UserError("--schemes: none given; name at least one, as in --schemes tcp-newreno,recn")
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated:
        raise UserError(f"--schemes: {repeated} is given more than once; give it once")
    return names


def _note_logs(logs: Logs, *, quiet: bool) -> None:
    """Names the log files of a run."""
    if logs.pcap is not None:
        console.note(f"capture: {logs.pcap}", quiet=quiet)
    if logs.frames is not None:
        console.note(f"frame log: {logs.frames}; to see it: multihop view {logs.frames}", quiet=quiet)
        _note_empty(logs.frames, logs.selection)


def _note_empty(log: Path, part: Selection) -> None:
    """Reports a frame log of selected frames that has none."""
    from multihop.framelog.reading import read

    if not part:
        return
    found = read(log)
    if found.tables["transmissions"].empty:
        until = f"{found.head['duration_ns'] / 1e9:g} s"
        console.note(f"{log}: no frame matches --nodes, --flows and --between; the run lasts {until}")


def _frame_logs(
    scenario: Scenario, variants: list[tuple[str, dict[str, Any]]], seed: int, folder: Path
) -> dict[str, Path]:
    """Runs one seed of each variant for its frame log, and writes a page of it unless that is too large."""
    from multihop.api import run_variants
    from multihop.cli.view import write_page

    require_writable_directory(folder)
    written = {}
    files = file_names(name for name, _ in variants)
    for variant in variants:
        file = folder / f"{files[variant[0]]}.frames"
        run_variants(scenario, [variant], seeds=[seed], logs=Logs(frames=file))
        try:
            write_page(file, file.with_suffix(".html"))
        except UserError as error:
            console.note(f"no page: {error}")
        else:
            written[variant[0]] = file
    return written


def _simulate(
    scenario: Scenario,
    variants: list[tuple[str, dict[str, Any]]],
    first_seed: int | None,
    seeds: int,
    jobs: int | None,
    out: Path | None,
    report: Path | None,
    logs: Logs = NO_LOGS,
    *,
    write_logs: Callable[[], dict[str, Path]] | None = None,
    drawn: Figures | None = None,
    quiet: bool,
) -> Comparison:
    """Checks all arguments, runs the variants, and writes tables, logs, report and figures."""
    from multihop.api import run_variants
    from multihop.cli.progress import RunProgress
    from multihop.results.folders import RESULT_NAMES, require_results_directory
    from multihop.simulation.store import Store

    if jobs is not None and jobs < 1:
        raise UserError(f"--jobs: found {jobs}; needs at least 1")
    if not 1 <= seeds <= MAX_SEEDS:
        raise UserError(f"--seeds: found {seeds}; needs 1 to {MAX_SEEDS}")
    seed_list(seeds, first_seed or 0)
    if out is not None:
        require_results_directory(out)
        if report is not None and report.name in RESULT_NAMES[:2] + RESULT_NAMES[3:] and _is_in(report, out):
            raise UserError(f"--report: found {report}, which --out writes as well; name another file")
    if report is not None:
        extras.require("report", "--report")
    elif out is not None:
        report = report_in(out, quiet=quiet)
    if report is not None:
        require_writable_file(report, scenario.file)
    _require_own_files(logs, scenario, report, out)
    # A log needs a run that is simulated now, not one from the store.
    store = Store(out / STORE) if out is not None and not logs else None
    if store is not None:
        store.check()
    with runs_are_kept(out, store) if out is not None and store is not None else _nothing_is_kept(logged=bool(logs)):
        with RunProgress(seeds * len(variants), quiet=quiet) as progress:
            comparison = run_variants(
                scenario,
                variants,
                seeds=seeds,
                first_seed=first_seed,
                threads=jobs,
                on_done=progress.done,
                on_tick=progress.tick,
                logs=logs,
                store=store,
            )
            console.note(progress.summary(), quiet=quiet)
        if store is not None:
            report_damaged(store, "and these runs were repeated", quiet=quiet)
        _note_logs(logs, quiet=quiet)
        if out is not None:
            _report_replaced(comparison, out, quiet=quiet)
            console.note(f"tables: {comparison.save(out)}", quiet=quiet)
        frames: Path | dict[str, Path] | None = logs.frames
        if write_logs is not None and out is not None:
            frames = write_logs()
            what = "frame logs and their pages" if frames else "frame logs"
            console.note(f"{what}: {out / 'frames'}", quiet=quiet)
        if report is not None:
            console.note(f"report: {comparison.report(report, frames)}", quiet=quiet)
        if drawn is not None:
            drawn.write(comparison, quiet=quiet)
    return comparison


def report_in(out: Path, *, quiet: bool) -> Path | None:
    """Path of the report, or `None` with a note if the packages for reports are not installed."""
    if not extras.has("report"):
        lacking = ", ".join(extras.missing("report"))
        console.note(f"no report: {lacking} is not installed; {extras.install('report')}", quiet=quiet)
        return None
    return out / "report.html"


@contextmanager
def runs_are_kept(where: Path, store: Store | None = None) -> Iterator[None]:
    """On Ctrl-C, reports the finished runs in the store instead of "nothing was written"."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise Interrupted(what_is_kept(where, 0 if store is None else store.kept)) from error


def what_is_kept(where: Path, runs: int) -> str:
    """Sentence with the folder of finished runs, their number if known, and the command that resumes."""
    count = "" if not runs else "1 finished run is" if runs == 1 else f"{runs} finished runs are"
    return f"{count or 'finished runs are'} kept in {where}; to go on: {shlex.join(['multihop', *sys.argv[1:]])}"


@contextmanager
def _nothing_is_kept(*, logged: bool) -> Iterator[None]:
    """On Ctrl-C, reports the written files and how to keep finished runs."""
    try:
        yield
    except KeyboardInterrupt as error:
        hint = "" if logged else "; with --out DIR finished runs are kept"
        raise Interrupted(f"{what_is_written()}{hint}") from error


def _report_replaced(comparison: Comparison, out: Path, *, quiet: bool) -> None:
    """Names the scenario whose results are replaced, if it is another one."""
    from multihop.experiments.exports import other_results

    before = other_results(comparison, out)
    if before is not None:
        console.note(f"{out}: results of {before} are replaced; their runs stay in {out / STORE}", quiet=quiet)


def report_damaged(store: Store, consequence: str, *, quiet: bool) -> None:
    """Reports at most ten damaged places of the store."""
    for place in store.damaged[:10]:
        console.note(f"damaged: {place}", quiet=quiet)
    if store.damaged:
        count = len(store.damaged)
        what = "1 damaged place of runs was" if count == 1 else f"{count} damaged places of runs were"
        console.note(f"{what} skipped and left unchanged, {consequence}", quiet=quiet)


def _require_own_files(logs: Logs, scenario: Scenario, report: Path | None, out: Path | None) -> None:
    """Checks that each log can be written, and that no other output goes to the same file."""
    for option, file in (("--pcap", logs.pcap), ("--frames", logs.frames)):
        if file is not None:
            _require_own_file(option, file, report, out)
    if logs.pcap is not None:
        require_writable_file(logs.pcap, scenario.file)
    if logs.frames is not None:
        require_writable_folder(logs.frames, FRAMES_MARK, scenario.file)
    if logs.pcap is not None and logs.frames is not None and _are_one(logs.pcap, logs.frames):
        raise UserError(f"--frames: found {logs.frames}, which --pcap writes as well; name another file")


def _require_own_file(option: str, file: Path, report: Path | None, out: Path | None) -> None:
    from multihop.results.folders import RESULT_NAMES

    if report is not None and _are_one(file, report):
        raise UserError(f"{option}: found {file}, which --report writes as well; name another file")
    if out is not None and file.name in RESULT_NAMES and _is_in(file, out):
        raise UserError(f"{option}: found {file}, which --out writes as well; name another file")


def _are_one(a: Path, b: Path) -> bool:
    # Several outputs may go to the null device.
    return a.resolve() == b.resolve() != Path(os.devnull)


def _is_in(file: Path, directory: Path) -> bool:
    return file.resolve().parent == directory.resolve()
