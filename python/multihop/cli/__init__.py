"""Command line of multihop.

Exit codes:

- 0: success.
- 1: a run failed, or its results cannot be written.
- 2: the request is invalid; one message on standard error says why.
- 70: internal error, a bug in multihop.
- 130: interrupted.
- 141: the reader of the output closed the pipe.
- 143: terminated.

Missing parent folders of an output are created, and the command names each new one. A command that fails
removes the folders that it created and left empty.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from multihop.base import signals

EXIT_FAILED = 1
EXIT_USER_ERROR = 2
EXIT_INTERNAL = 70
EXIT_BROKEN_PIPE = 141


def main() -> NoReturn:
    """Runs the command line of this process and exits with its exit code."""
    signals.leave_at_once()
    has_output = _prepare_streams()
    try:
        code = _code(has_output)
        signals.ignore()
    except KeyboardInterrupt:
        code = _interrupted()
    if code in {signals.EXIT_INTERRUPTED, signals.EXIT_TERMINATED}:
        # Simulation threads cannot be stopped midway. Exiting without them is safe, since every output file
        # is written under a temporary name first.
        sys.stdout.flush()
        sys.stderr.flush()
        signals.end(code)
    sys.exit(code)


def _code(has_output: bool) -> int:
    try:
        code = (
            _run() if has_output else _fail("standard output is closed; needs an open output for results", EXIT_FAILED)
        )
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return EXIT_BROKEN_PIPE
    except OSError as error:
        _discard_output()
        return _fail(_cannot_write(error), EXIT_FAILED)
    return code


#: Original standard streams that were replaced. A stream without references would close its descriptor.
_replaced: list[io.TextIOWrapper] = []


def _prepare_streams() -> bool:
    """Makes the standard streams usable. Returns whether standard output was open."""
    has_output = sys.stdout is not None
    # The next file that is opened would take a closed descriptor, and messages would go into that file.
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - stays open until the end
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - stays open until the end
    for stream in (sys.stdout, sys.stderr):
        # Characters that the terminal's encoding lacks are printed as question marks.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if isinstance(sys.stdout, io.TextIOWrapper):
        own = sys.stdout
        _replaced.append(own)
        sys.stdout = _Output(own.buffer, own.encoding, own.errors, line_buffering=own.line_buffering)
    return has_output


class _Output(io.TextIOWrapper):
    """Standard output whose write errors name it."""

    def write(self, text: str) -> int:
        with _named():
            return super().write(text)

    def flush(self) -> None:
        with _named():
            super().flush()


@contextmanager
def _named() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        error.filename = "standard output"
        raise


def _discard_output() -> None:
    """Redirects buffered output to the null device, so that the interpreter reports no error at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _cannot_write(error: OSError) -> str:
    return f"{error.filename or 'a file'}: {error.strerror or error}"


def _run() -> int:
    """Runs the command. If it fails, removes the directories that it created and left empty."""
    from multihop.base.files import announce_waiting, forget_written, remove_empty_directories
    from multihop.cli.console import note

    forget_written()
    announce_waiting(note)
    code = EXIT_FAILED
    try:
        code = _command()
    finally:
        if code:
            remove_empty_directories()
    return code


def _command() -> int:
    import typer

    from multihop._core import CallbackError, InternalError, ScenarioError
    from multihop.base.errors import Interrupted, OutputError, UserError
    from multihop.cli.app import app

    arguments = sys.argv[1:] or ["--help"]
    try:
        code = app(arguments, standalone_mode=False, prog_name="multihop")
    except OutputError as error:
        return _fail(str(error), EXIT_FAILED)
    except (ScenarioError, UserError) as error:
        first = _fail(_with_dashes(str(error), arguments), EXIT_USER_ERROR)
        for further in getattr(error, "__notes__", ()):
            _fail(further, EXIT_USER_ERROR)
        return first
    except CallbackError as error:
        sys.stderr.write(_traceback_of_cause(error))
        return _fail(str(error), EXIT_USER_ERROR)
    except typer.TyperException as error:
        return _fail(f"{_usage(error, arguments)} (multihop --help lists commands and options)", EXIT_USER_ERROR)
    except SystemExit as leaving:
        # Typer exits with code 1 after a broken pipe, and with another code after shell completion.
        return EXIT_BROKEN_PIPE if leaving.code == 1 else int(leaving.code or 0)
    except typer.Abort:
        return _interrupted()
    except Interrupted as interrupted:
        return _interrupted(str(interrupted))
    except InternalError as error:
        return _fail(_internal(str(error)), EXIT_INTERNAL)
    except MemoryError:
        return _fail("not enough memory for this run; use fewer seeds or a longer record_interval", EXIT_FAILED)
    except (OSError, KeyboardInterrupt):
        raise
    except Exception as error:
        # Python 3.11 wraps a KeyboardInterrupt that is raised while a class body is executed.
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise error.__cause__ from None
        if os.environ.get("MULTIHOP_TRACEBACK"):
            raise
        return _fail(_internal(f"{type(error).__name__}: {error}"), EXIT_INTERNAL)
    return _interrupted() if code == signals.EXIT_INTERRUPTED else int(code or 0)


def _traceback_of_cause(error: BaseException) -> str:
    """Returns the traceback of an exception's cause; of another process, without that process's own calls."""
    import traceback

    if error.__cause__ is None:
        return ""
    text = "".join(traceback.format_exception(error.__cause__))
    remote = text.split('"""')
    return f"{remote[1].partition(chr(10) * 2 + 'The above exception')[0].strip()}\n" if len(remote) > 2 else text


def _usage(error: Exception, arguments: list[str]) -> str:
    """Returns the error message for invalid arguments, with the value found where an option has one."""
    message = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
    if "unexpected extra argument" in message and "--schemes" in arguments:
        return f"{message}; schemes have commas between, as in --schemes tcp-newreno,recn"
    # The value of an argument without dashes cannot be identified among the words of the command line.
    options = [name for name in getattr(getattr(error, "param", None), "opts", []) if name.startswith("-")]
    for option in options:
        for word, following in zip(arguments, [*arguments[1:], ""], strict=True):
            if word == option or word.startswith(f"{option}="):
                found = following if word == option else word.partition("=")[2]
                return f"{message}, found {found!r}"
    return message


def _with_dashes(message: str, arguments: list[str]) -> str:
    """Returns the message with the option's name in place of the parameter's, if that option was given."""
    name, colon, rest = message.partition(": ")
    option = f"--{name.replace('_', '-')}"
    typed = any(word == option or word.startswith(f"{option}=") for word in arguments)
    return f"{option}: {rest}" if colon and typed else message


def _fail(message: str, code: int) -> int:
    # If standard error is full or closed too, only the exit code reports the failure.
    from multihop.cli import console

    with suppress(OSError):
        console.note(f"multihop: {message}")
    return code


def _internal(what: str) -> str:
    return (
        f"internal error: {what}\nThis is a bug in multihop. Please report it with the command, the seed and "
        "the scenario (MULTIHOP_TRACEBACK=1 shows where it happened)."
    )


def _interrupted(what: str | None = None) -> int:
    from multihop.base.files import what_is_written

    signals.ignore()
    return _fail(f"{signals.ended()}; {what or what_is_written()}", signals.exit_code())
