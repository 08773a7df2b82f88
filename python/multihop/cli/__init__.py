"""The command line.

Exit codes: 0 done; 1 a run failed; 2 what was asked for cannot be done (one message on standard error says why);
70 a bug of ours; 130 interrupted; 141 whoever read the output went away.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

EXIT_FAILED = 1
EXIT_USER_ERROR = 2
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


def main() -> NoReturn:
    """Runs the command that was typed and exits."""
    try:
        code = _run()
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still buffered has nowhere to go; without this the interpreter would complain on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = EXIT_BROKEN_PIPE
    except KeyboardInterrupt:
        code = _interrupted()
    if code == EXIT_INTERRUPTED:
        # Runs in other threads cannot be stopped halfway; leaving without waiting for them is safe, as results are
        # only written once all runs are done.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _run() -> int:
    # Imports take most of a second; inside the handlers, so that Ctrl-C during them is clean as well.
    import typer

    from multihop._core import InternalError, ScenarioError
    from multihop.cli.app import app
    from multihop.errors import UserError

    arguments = sys.argv[1:] or ["--help"]
    try:
        code = app(arguments, standalone_mode=False, prog_name="multihop")
    except (ScenarioError, UserError) as error:
        return _fail(str(error), EXIT_USER_ERROR)
    except typer.TyperException as error:
        return _fail(f"{_usage(error, arguments)} (multihop --help lists what there is)", EXIT_USER_ERROR)
    except SystemExit as leaving:
        # Typer leaves by itself with 1 where the reader of its output went away, otherwise after shell completion.
        return EXIT_BROKEN_PIPE if leaving.code == 1 else int(leaving.code or 0)
    except typer.Abort:
        return _interrupted()
    except InternalError as error:
        return _fail(_internal(str(error)), EXIT_INTERNAL)
    except MemoryError:
        return _fail("there is not enough memory for this; use fewer seeds or a longer record_interval", EXIT_FAILED)
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:
        if os.environ.get("MULTIHOP_TRACEBACK"):
            raise
        return _fail(_internal(f"{type(error).__name__}: {error}"), EXIT_INTERNAL)
    if code == EXIT_INTERRUPTED:
        return _interrupted()
    return int(code or 0)


def _usage(error: Exception, arguments: list[str]) -> str:
    """What is wrong with the arguments; of a value, also what it was."""
    message = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
    for option in getattr(getattr(error, "param", None), "opts", []):
        for word, following in zip(arguments, [*arguments[1:], ""], strict=True):
            if word == option or word.startswith(f"{option}="):
                found = following if word == option else word.partition("=")[2]
                return f"{message}, found {found!r}"
    return message


def _fail(message: str, code: int) -> int:
    print(f"multihop: {message}", file=sys.stderr)
    return code


def _internal(what: str) -> str:
    return (
        f"internal error: {what}\nThis is a bug in multihop. Please report it with the command, the seed and "
        "the scenario (MULTIHOP_TRACEBACK=1 shows where it happened)."
    )


def _interrupted() -> int:
    print("multihop: interrupted; nothing was written", file=sys.stderr)
    return EXIT_INTERRUPTED
