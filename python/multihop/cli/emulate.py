"""`emulate` and `replay`."""

from __future__ import annotations

import math
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL, Popen
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer

from multihop import _core
from multihop.api.results import Comparison
from multihop.base import extras, signals
from multihop.base.errors import UserError
from multihop.base.files import clear_left_overs, in_namespace, require_writable_file
from multihop.cli import EXIT_FAILED, completion, console, runs, screen
from multihop.cli.settings import SetOption, read
from multihop.cli.watching import Watch
from multihop.emulation.isolate import command, hold_signals, is_isolated, number_outside, take_signals
from multihop.emulation.outcome import ANSWERING_SHARE, Emulated
from multihop.emulation.replay import replay as run_again
from multihop.emulation.script import Measured, Script, Step, read_script
from multihop.emulation.session import Session, Settings, index_of, overriding
from multihop.results.folders import require_results_directory
from multihop.results.provenance import engine
from multihop.simulation.scenario import load

#: Exit code of an invalid emulation: its packets were later than allowed, or were lost undetected.
EXIT_INVALID = 3

#: Most programs whose failures are named one by one.
_MOST_REMARKS = 10

#: Most pairs of neighbours that are printed, those with the most bytes.
_MOST_PAIRS = 20

#: Signals that end an emulation, with the words for a message.
_SIGNALS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}

CommandArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[-- COMMAND...]",
        help="A command to run at the first node; the emulation ends with it.",
        show_default=False,
    ),
]
AtOption = Annotated[
    list[str] | None,
    typer.Option(
        "--at",
        metavar="NODE:COMMAND",
        help="A command to run at one or more nodes, as in 'n1,n2:iperf3 -s'; may be given repeatedly.",
        show_default=False,
    ),
]
ScriptOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Programs at nodes and their start times (TOML); the emulation ends with them."),
]
ShellOption = Annotated[str | None, typer.Option(metavar="NODE", help="A shell at a node; the emulation ends with it.")]
ModeOption = Annotated[str, typer.Option(help="ip: the run routes; ethernet: programs route, over frames of one hop.")]
SchemeOption = Annotated[
    str | None,
    typer.Option(
        help="Scheme whose router policies process the packets; udp has none.", autocompletion=completion.scheme
    ),
]
WarmupOption = Annotated[str, typer.Option(help="Time at the start that results exclude.")]
TrafficOption = Annotated[bool, typer.Option("--traffic", help="Simulate the flows of the scenario as well.")]
ShimOption = Annotated[
    bool, typer.Option("--shim", help="Regulate the kernel's TCP by sender and receiver of --scheme, placed below it.")
]
UplinkOption = Annotated[
    str | None,
    typer.Option(
        metavar="NODE",
        help="This node connects to the host's networks and is the gateway of the others; needs slirp4netns.",
        show_default=False,
    ),
]
SlowOption = Annotated[float, typer.Option(help="Real seconds for each virtual one.")]
MaxLagOption = Annotated[
    str, typer.Option(help=f"Limit of the lag's p99; above it the result is invalid, exit code {EXIT_INVALID}.")
]
SysctlOption = Annotated[
    list[str] | None,
    typer.Option(
        "--sysctl",
        metavar="NAME=VALUE",
        help="A kernel setting of every node, as in net.ipv4.tcp_ecn=1; may be given repeatedly.",
        show_default=False,
    ),
]
RecordOption = Annotated[
    Path | None, typer.Option(metavar="FILE.journal", help="Record the injected packets; multihop replay repeats them.")
]
StatusOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a line of JSON each second: lag, goodput, queues.")
]
LiveOption = Annotated[
    bool, typer.Option("--live", help="Show lag, goodput and queues during the run, instead of the programs' output.")
]


def emulate(
    scenario: runs.ScenarioArgument,
    words: CommandArgument = None,
    at: AtOption = None,
    script: ScriptOption = None,
    shell: ShellOption = None,
    mode: ModeOption = "ip",
    seed: runs.SeedOption = None,
    scheme: SchemeOption = None,
    duration: runs.DurationOption = None,
    warmup: WarmupOption = "0 s",
    record_interval: runs.StepOption = None,
    set: SetOption = None,
    traffic: TrafficOption = False,
    shim: ShimOption = False,
    uplink: UplinkOption = None,
    slow: SlowOption = 1.0,
    max_lag: MaxLagOption = "2 ms",
    sysctl: SysctlOption = None,
    record: RecordOption = None,
    status: StatusOption = None,
    live: LiveOption = False,
    pcap: runs.PcapOption = None,
    out: runs.OutOption = None,
    report: runs.ReportOption = None,
    as_json: runs.JsonOption = False,
    quiet: runs.QuietOption = False,
) -> None:
    """Run real programs over the simulated air, in real time: each node is a network namespace of Linux."""
    if live and shell is not None:
        raise UserError("--live: a shell needs the terminal; use --status FILE")
    if sum([bool(words), shell is not None, script is not None]) > 1:
        raise UserError("the emulation ends with a command, with --shell, or with --script; needs only one of them")
    times = {"duration": duration, "warmup": warmup, "record_interval": record_interval}
    replaced = overriding({**times, "scheme": scheme, "set": read(set)}, seed, traffic=traffic)
    settings = Settings(
        load(scenario), replaced, slow, _seconds("--max-lag", max_lag), _pairs(sysctl), pcap, record, mode, shim, uplink
    )
    view = settings.check()
    where = _where_to(settings, (record, status, pcap), out, report, quiet=quiet or as_json)
    commands = [_at(view, text) for text in at or []]
    if shell is not None:
        index_of(view, shell)
    steps = [] if script is None else read_script(script, [node["name"] for node in view["nodes"]])
    if not is_isolated():
        _isolate(with_uplink=uplink is not None)
    in_namespace(number_outside())
    streams: dict[str, Any] = {"stdout": DEVNULL, "stderr": DEVNULL} if live else {}
    if as_json and not live:
        streams = {"stdout": sys.stderr}
    with _stopping() as stopped, Session(settings) as session, Watch(status, table=live) as watch:
        background = [_start(session, node, program, **streams) for nodes, program in commands for node in nodes]
        waited = _foreground(session, words, shell, **streams)
        programs = Script(steps, session)
        _wait(session, programs.go_on if steps else lambda: _go_on(waited or background), stopped, watch)
        measured = [*programs.measured(), *(Measured(step, program.poll()) for step, program in (*waited, *background))]
        ended = session.finish()
    failures = [*ended.failures, *watch.failures]
    written = [path for path in (record, pcap, status) if path is not None]
    try:
        written = [*_write(ended.comparison, out, where, quiet=quiet or as_json), *written]
    except UserError as error:
        failures.append(str(error))
    _show(ended, measured, as_json=as_json)
    for failure in failures:
        console.note(f"multihop: {failure}")
    if stopped:
        _leave(stopped[0], written)
    _judge(ended, measured, are_alone=not waited and not steps, has_failed=bool(failures), quiet=quiet)


def replay(
    journal: Annotated[Path, typer.Argument(metavar="FILE.journal", help="Journal of --record.", show_default=False)],
    pcap: runs.PcapOption = None,
    out: runs.OutOption = None,
    report: runs.ReportOption = None,
    as_json: runs.JsonOption = False,
    quiet: runs.QuietOption = False,
) -> None:
    """Repeat a recorded emulation from its journal, without its programs; results are equal to the bit."""
    if pcap is not None:
        require_writable_file(pcap, journal)
    if out is not None:
        require_results_directory(out)
        report = report or runs.report_in(out, quiet=quiet)
    replayed = run_again(journal, pcap)
    result, fingerprint = replayed.result, replayed.fingerprint
    comparison = Comparison(result.scenario, {"scenario": (result,)})
    found = result.summary["fingerprint"]
    _write(comparison, out, report, quiet=quiet)
    if as_json:
        console.print_json({"journal_fingerprint": fingerprint, **screen.as_json_value(comparison)})
    else:
        console.say(f"fingerprint {found}" + (", as in the journal" if fingerprint == found else ""))
        _print_run(comparison)
    if fingerprint is None:
        console.note(f"{journal}: incomplete, its writer was killed; the run ends there", quiet=quiet)
    elif fingerprint != found:
        writer, own = replayed.made_by, engine()
        other = "" if writer == own else f"; engine {writer} wrote it, this is {own}"
        console.note(f"multihop: {journal}: found fingerprint {found}, and {fingerprint} in the journal{other}")
        raise typer.Exit(1)


def _isolate(*, with_uplink: bool) -> NoReturn:
    """Replaces this process by the same command line in namespaces of its own."""
    sys.stdout.flush()
    hold_signals()
    words = [sys.executable, "-m", "multihop", *sys.argv[1:]]
    os.execv(sys.executable, command(words, with_uplink=with_uplink))


def _start(
    session: Session,
    node: str,
    words: Sequence[str],
    *,
    background: bool = True,
    **streams: Any,  # noqa: ANN401 - streams of Popen
) -> tuple[Step, Popen[bytes]]:
    """Starts a program at a node; the emulation ends with programs that are not in the background."""
    return Step(node, node, list(words), 0.0, background), session.start(session.node(node), words, **streams)


def _foreground(
    session: Session,
    words: Sequence[str] | None,
    shell: str | None,
    **streams: Any,  # noqa: ANN401 - streams of Popen
) -> list[tuple[Step, Popen[bytes]]]:
    """Starts the command or shell that ends the emulation, and returns it."""
    if shell is not None:
        return [_start(session, shell, [os.environ.get("SHELL", "/bin/sh")], background=False)]
    if words:
        return [_start(session, session.view["nodes"][0]["name"], words, background=False, **streams)]
    return []


def _go_on(waited: Sequence[tuple[Step, Popen[bytes]]]) -> bool:
    """Whether any of these programs runs, or there are none."""
    return not waited or any(program.poll() is None for _, program in waited)


def _wait(session: Session, goes_on: Callable[[], bool], stopped: list[int], watch: Watch) -> None:
    """Waits until the programs have ended, the scenario is over, or a signal arrives."""
    while not session.is_over and not stopped and goes_on():
        watch.look(session)
        time.sleep(0.02)


@contextmanager
def _stopping() -> Iterator[list[int]]:
    """Collects the signals that end the emulation; its results up to that time are still written."""
    received: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        received.append(number)

    for number in _SIGNALS:
        signal.signal(number, note)
    take_signals()
    yield received
    signals.ignore()


def _leave(number: int, written: Sequence[Path]) -> NoReturn:
    """Exits with the code of a signal, and names the files that were written."""
    what = f"kept: {', '.join(map(str, written))}" if written else "these are the results until then"
    console.note(f"multihop: {_SIGNALS[signal.Signals(number)]}; {what}")
    # An exit through Typer would report that nothing was written.
    sys.exit(128 + number)


def _judge(ended: Emulated, measured: Sequence[Measured], *, are_alone: bool, has_failed: bool, quiet: bool) -> None:
    """Reports the programs that failed, and exits with the code of the emulation.

    Background programs may be servers that run until the end. Each is named only if no other program runs.
    """
    virtual_s = ended.live["virtual_s"]
    for one in measured if are_alone else []:
        if one.ending == "stopped":
            console.note(
                f"multihop: {one.command} ran until the end, at {virtual_s:.2f} s of virtual time", quiet=quiet
            )
    remarks = [text for one in measured if (text := one.remark(virtual_s)) is not None]
    for remark in remarks[:_MOST_REMARKS]:
        console.note(f"multihop: {remark}")
    if len(remarks) > _MOST_REMARKS:
        console.note(f"multihop: and {len(remarks) - _MOST_REMARKS} more such programs")
    if not ended.is_valid:
        raise typer.Exit(EXIT_INVALID)
    if remarks or has_failed:
        raise typer.Exit(EXIT_FAILED)


def _show(ended: Emulated, measured: Sequence[Measured], *, as_json: bool) -> None:
    comparison, rows = ended.comparison, [one.row() for one in measured]
    scripted = [row for row in rows if "output" in row]
    if as_json:
        live = {**ended.live, "removed": list(ended.removed), "cpu_s": ended.cpu_s}
        live["valid"], live["why_invalid"] = ended.is_valid, ended.why_invalid
        live["delivered_bytes"], live["queues"] = sum(ended.live["delivered_bytes"]), sum(ended.live["queues"])
        live["delivered_bytes_by_pair"] = dict(ended.delivered_bytes)
        console.print_json({"live": live, "programs": rows, **screen.as_json_value(comparison)})
        return
    for sentence in ended.sentences():
        console.say(sentence)
    console.say()
    if scripted:
        heads = ["program", "node", "exit code", "goodput Mb/s", "RTT ms", "repeated", "lost %"]
        console.out().print(console.table(heads, [_program(row) for row in scripted]))
        console.say()
    if ended.mode == "ethernet":
        rows_of = sorted(ended.delivered_bytes.items(), key=lambda pair: -pair[1])[:_MOST_PAIRS]
        seconds = ended.live["virtual_s"] or math.nan
        cells = [[name, str(count), f"{count * 8e-6 / seconds:.3f}"] for name, count in rows_of]
        console.out().print(console.table(["pair of neighbours", "bytes in unicast frames", "Mb/s"], cells))
        console.say()
    _print_run(comparison)


def _print_run(comparison: Comparison) -> None:
    """Prints the tables of `run`, if the run has flows."""
    if len(comparison.flows):
        screen.print_run(comparison)
        flows = comparison.view["flows"]
        answering = [flow["name"] for flow in flows if flow.get("acknowledges", False)]
        if answering:
            console.say(
                f"not in fairness and delays, since they sent less than {ANSWERING_SHARE:.0%} of the bytes of the "
                f"other direction: {', '.join(answering)}"
            )
        return
    console.say(
        "no flows: no payload was sent end to end, or programs routed (--mode ethernet), whose frames belong to no "
        "flow; the tables of --out list what nodes and links carried"
    )


def _program(row: Mapping[str, Any]) -> list[str]:
    code = row["ending"] if row["exit_code"] is None else str(row["exit_code"])
    scales = {"goodput_bps": (1e-6, 3), "rtt_mean_s": (1e3, 1), "retransmissions": (1, 0), "loss_ratio": (100, 2)}
    cells = [f"{row[key] * scale:.{digits}f}" if key in row else "" for key, (scale, digits) in scales.items()]
    return [row["name"], row["node"], code, *cells]


def _write(comparison: Comparison, out: Path | None, report: Path | None, *, quiet: bool) -> list[Path]:
    """Writes tables and report, and returns their paths."""
    if out is not None:
        console.note(f"tables: {comparison.save(out)}", quiet=quiet)
    if report is not None:
        console.note(f"report: {comparison.report(report)}", quiet=quiet)
    return [path for path in (out, report) if path is not None]


def _where_to(
    settings: Settings, files: Sequence[Path | None], out: Path | None, report: Path | None, *, quiet: bool
) -> Path | None:
    """Checks that outputs can be written, deletes files of killed emulations, and returns the report path."""
    for file in files:
        if file is not None and not file.is_char_device() and not file.is_fifo():
            require_writable_file(file, settings.scenario.file)
    if out is not None:
        require_results_directory(out)
    if report is not None:
        extras.require("report", "--report")
        require_writable_file(report, settings.scenario.file)
    elif out is not None:
        report = runs.report_in(out, quiet=quiet or not is_isolated())
    # Only outside the namespaces are all processes visible, which shows whether a file's writer still runs.
    for folder in () if is_isolated() else (out, report and report.parent):
        if folder is not None:
            clear_left_overs(folder, ".*.part")
    return report


def _at(view: _core.ScenarioView, text: str) -> tuple[list[str], list[str]]:
    names, colon, rest = text.partition(":")
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise UserError(f"--at: found {text!r}; its quotes are not closed") from error
    if not colon or not words:
        raise UserError(f"--at: found {text!r}; needs NODE:COMMAND, as in 'n3:iperf3 -s'")
    nodes = [name.strip() for name in names.split(",")]
    for node in nodes:
        index_of(view, node)
    return nodes, words


def _pairs(options: Sequence[str] | None) -> dict[str, str]:
    made = {}
    for option in options or []:
        name, equals, value = option.partition("=")
        if not equals:
            raise UserError(f"--sysctl: found {option!r}; needs NAME=VALUE, as in net.ipv4.tcp_ecn=1")
        made[name.strip()] = value.strip()
    return made


def _seconds(option: str, text: str) -> float:
    try:
        return math.inf if text == "off" else _core.seconds(text)
    except ValueError as error:
        raise UserError(f"{option}: {error}") from error
