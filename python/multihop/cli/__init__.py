"""The command line.

Exit codes: 0 done; 1 a run failed, or what it found cannot be written; 2 what was asked for cannot be done
(one message on standard error says why); 70 a bug of ours; 130 interrupted; 141 the reader of the output went
away; 143 terminated.

Folders that are missing on the way to an output are made, and the command names each new one. A command that
fails leaves no empty folder.
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
    """Runs the command that was typed and exits."""
    signals.leave_at_once()
    has_output = _prepare_streams()
    try:
        code = _code(has_output)
        signals.ignore()
    except KeyboardInterrupt:
        code = _interrupted()
    if code in {signals.EXIT_INTERRUPTED, signals.EXIT_TERMINATED}:
        # Runs in other threads cannot be stopped halfway; leaving without waiting for them is safe, as
        # whatever is written is written under another name first.
        sys.stdout.flush()
        sys.stderr.flush()
        signals.end(code)
    sys.exit(code)


def _code(has_output: bool) -> int:
    try:
        code = _run() if has_output else _fail("standard output is closed; results have nowhere to go", EXIT_FAILED)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return EXIT_BROKEN_PIPE
    except OSError as error:
        _discard_output()
        return _fail(_cannot_write(error), EXIT_FAILED)
    return code


#: Streams in whose place others stand. A stream that nothing refers to closes its descriptor.
_replaced: list[io.TextIOWrapper] = []


def _prepare_streams() -> bool:
    """Makes the standard streams usable, and says whether standard output was open."""
    has_output = sys.stdout is not None
    # A closed descriptor would be given to the next file that is opened, which messages would then end up in.
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - stays open until the end
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - stays open until the end
    for stream in (sys.stdout, sys.stderr):
        # A result with a question mark in it is better than none.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if isinstance(sys.stdout, io.TextIOWrapper):
        own = sys.stdout
        _replaced.append(own)
        sys.stdout = _Output(own.buffer, own.encoding, own.errors, line_buffering=own.line_buffering)
    return has_output


class _Output(io.TextIOWrapper):
    """Standard output, which is named in the errors of writing to it."""

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
    """Sends what is still buffered to the null device, or the interpreter would complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _cannot_write(error: OSError) -> str:
    return f"{error.filename or 'a file'}: {error.strerror or error}"


def _run() -> int:
    """Runs the command; one that fails leaves no directory that it made and wrote nothing into."""
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

    from multihop._core import InternalError, ScenarioError
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
    except typer.TyperException as error:
        return _fail(f"{_usage(error, arguments)} (multihop --help lists what there is)", EXIT_USER_ERROR)
    except SystemExit as leaving:
        # Typer leaves by itself with 1 where the reader of its output went away, otherwise after shell
        # completion.
        return EXIT_BROKEN_PIPE if leaving.code == 1 else int(leaving.code or 0)
    except typer.Abort:
        return _interrupted()
    except Interrupted as interrupted:
        return _interrupted(str(interrupted))
    except InternalError as error:
        return _fail(_internal(str(error)), EXIT_INTERNAL)
    except MemoryError:
        return _fail("there is not enough memory for this; use fewer seeds or a longer record_interval", EXIT_FAILED)
    except (OSError, KeyboardInterrupt):
        raise
    except Exception as error:
        # Python 3.11 wraps what a signal raises while a class is made.
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise error.__cause__ from None
        if os.environ.get("MULTIHOP_TRACEBACK"):
            raise
        return _fail(_internal(f"{type(error).__name__}: {error}"), EXIT_INTERNAL)
    return _interrupted() if code == signals.EXIT_INTERRUPTED else int(code or 0)


def _usage(error: Exception, arguments: list[str]) -> str:
    """What is wrong with the arguments; of a value, also what it was."""
    message = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
    if "unexpected extra argument" in message and "--schemes" in arguments:
        return f"{message}; schemes have commas between, as in --schemes tcp-newreno,recn"
    # An argument that has no dashes cannot be distinguished from other words.
    options = [name for name in getattr(getattr(error, "param", None), "opts", []) if name.startswith("-")]
    for option in options:
        for word, following in zip(arguments, [*arguments[1:], ""], strict=True):
            if word == option or word.startswith(f"{option}="):
                found = following if word == option else word.partition("=")[2]
                return f"{message}, found {found!r}"
    return message


def _with_dashes(message: str, arguments: list[str]) -> str:
    """A message that begins with the name of an argument, as one about the option that was typed."""
    name, colon, rest = message.partition(": ")
    option = f"--{name.replace('_', '-')}"
    typed = any(word == option or word.startswith(f"{option}=") for word in arguments)
    return f"{option}: {rest}" if colon and typed else message


def _fail(message: str, code: int) -> int:
    # If standard error is full or gone as well, the exit code is all that is left to tell.
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
