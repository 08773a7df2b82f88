"""Ctrl-C and SIGTERM at any instant of the command, from its first line on: one line, the exit code, no traceback."""

import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")

#: Sends this process a signal when a module is about to be imported, then goes on as the command would.
_AT_IMPORT = """
import os, runpy, sys
class Signalling:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            {then}
sys.meta_path.insert(0, Signalling())
sys.argv[1:] = ["list"]
{command}
"""

_COMMANDS = {
    "module": "runpy.run_module('multihop', run_name='__main__', alter_sys=True)",
    "script": "from multihop.__main__ import main; main()",
}

#: Modules that the command imports, its own and others', from its first lines to its last import.
_EARLY = ["multihop.cli", "typer", "multihop._core", "multihop.cli.app", "numpy", "pandas"]
_EARLY += [
    "pandas._libs.lib",
    "pandas.core.frame",
    "rich.console",
    "multihop.results.student",
    "pydantic",
    "multihop.cli.inspect",
]


def _code(module, then, command="module"):
    return _AT_IMPORT.format(module=module, then=then, command=_COMMANDS[command])


def _run(module, number=signal.SIGINT, command="module"):
    code = _code(module, f"os.kill(os.getpid(), {int(number)})", command)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("module", _EARLY)
def test_ctrl_c_during_imports_is_one_line(module):
    done = _run(module)
    assert (done.returncode, done.stderr, done.stdout) == (130, "multihop: interrupted; nothing was written\n", "")


@pytest.mark.parametrize("command", _COMMANDS)
@pytest.mark.parametrize(
    ("number", "code", "what"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_either_signal_in_either_way_to_call_it(command, number, code, what):
    done = _run("numpy", number, command)
    assert (done.returncode, done.stderr, done.stdout) == (code, f"multihop: {what}; nothing was written\n", "")


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.15, 0.3, 0.5, 0.7, 0.9, 1.1, 1.4])
def test_ctrl_c_at_any_instant_leaves_no_traceback(delay):
    # The dot says that the interpreter's own start, in which no line of ours is there, is over.
    code = _code("multihop.cli", "print('.', file=sys.stderr, flush=True)")
    process = subprocess.Popen(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    assert process.stderr.readline() == ".\n"
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) in [(130, "multihop: interrupted; nothing was written\n"), (0, "")]


#: The first interrupt comes in the callback of a weak reference, where Python drops exceptions.
_SWALLOWED = """
import signal, time, weakref
from multihop.base import signals

class Thing:
    pass

signals.interrupt()
thing = Thing()
reference = weakref.ref(thing, lambda _: signal.raise_signal(signal.{name}))
try:
    del thing
    for _ in range(1000):
        time.sleep(0.01)
except KeyboardInterrupt:
    print(signals.ended())
"""


@pytest.mark.parametrize(("name", "what"), [("SIGINT", "interrupted"), ("SIGTERM", "terminated")])
def test_an_interrupt_that_a_callback_swallows_comes_again(name, what):
    code = _SWALLOWED.format(name=name)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", f"{what}\n")
