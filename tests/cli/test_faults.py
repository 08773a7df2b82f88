"""Whatever breaks below a command: nothing is lost, nothing is torn, and it goes on to the same bytes."""

import errno
import gzip
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from multihop.experiments.studies import Study
from multihop.simulation.shards import Place
from studies import break_disk, contents, keep_only, kept, overwrite, places, start, tree, wait_for_runs, write_study

#: Part of the message about damaged runs.
LEFT = "skipped and left unchanged"


# Damaged entries


def rewritten(change):
    """What is kept of a run: read, changed as JSON, and compressed again as it should be."""

    def damage(content: bytes) -> bytes:
        plain = json.loads(gzip.decompress(content))
        change(plain)
        return gzip.compress(json.dumps(plain).encode(), mtime=0)

    return damage


def flip(content: bytes) -> bytes:
    at = len(content) // 2
    return content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :]


#: Unpacks to a gigabyte.
BLANKS = gzip.compress(b" " * 1_000_000) * 1_000

#: What may have become of what is kept of a run.
DAMAGES = {
    "empty": lambda _: b"",
    "cut": lambda content: content[:-20],
    "a flipped bit": flip,
    "zeros": lambda content: bytes(len(content)),
    "no gzip": gzip.decompress,
    "half of the JSON": lambda content: gzip.compress(gzip.decompress(content)[:-99]),
    "not JSON": lambda _: gzip.compress(b"{broken"),
    "a gigabyte of blanks": lambda _: BLANKS,
    "other JSON": lambda _: gzip.compress(b"[1, 2]"),
    "a table less": rewritten(lambda plain: plain.pop("flows")),
    "the summary less": rewritten(lambda plain: plain.pop("summary")),
    "another format": rewritten(lambda plain: plain.update(format=1)),
    "another engine": rewritten(lambda plain: plain["run"].update(engine="0.0.1+0123")),
    "another seed": rewritten(lambda plain: plain["summary"].update(seed=99)),
}

#: What may have become of the head of an entry, 48 bytes before its content: mark, key, length, check sum.
HEADS = {"mark": -48, "key": -40, "length": -8, "sum": -1}


def in_order(folder: Path) -> list[Place]:
    """Where a store of one shard keeps its runs, in the order in which they ended."""
    return sorted(places(folder).values(), key=lambda place: place.offset)


def spoil(folder: Path, number: int, damage: str) -> Place:
    """Damages what a store keeps of one of its runs, which is not the last; where that is."""
    place = in_order(folder)[number]
    overwrite(place, DAMAGES[damage](place.read()))
    return place


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A study that was run, and its folder."""
    folder = tmp_path_factory.mktemp("whole")
    Study.load(write_study(folder)).run(folder / "s")
    return folder / "s"


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_run_is_said_and_made_again(tmp_path, inline, whole, damage):
    write_study(tmp_path)
    shutil.copytree(whole, tmp_path / "s")
    before = tree(tmp_path / "s")
    victim = spoil(tmp_path / "s", 3, damage)
    assert_made_again(inline, tmp_path, victim, before)


@pytest.mark.parametrize("part", HEADS)
def test_a_damaged_head_is_said_and_its_run_made_again(tmp_path, inline, whole, part):
    write_study(tmp_path)
    shutil.copytree(whole, tmp_path / "s")
    before = tree(tmp_path / "s")
    victim = in_order(tmp_path / "s")[3]
    content = bytearray(victim.path.read_bytes())
    content[victim.offset + HEADS[part]] ^= 4
    victim.path.write_bytes(content)
    assert_made_again(inline, tmp_path, victim, before)


def assert_made_again(inline, folder, victim, before):
    done = inline("study", "run", "small.toml", "--out", "s")
    assert done.code == 0
    assert "small: 1 runs made, 11 were there" in done.err
    assert f"damaged: {victim.path.relative_to(folder)}, byte {victim.offset - 48}\n" in done.err
    assert f"1 damaged place of runs was {LEFT}, and these runs were repeated" in done.err
    assert tree(folder / "s") == before
    again = inline("study", "run", "small.toml", "--out", "s")
    assert "0 runs made, 12 were there" in again.err
    assert "damaged" not in again.err


@pytest.mark.parametrize("left", [1, 30, 48, 60, -1])
def test_a_run_of_which_only_the_beginning_was_written_is_made_again(tmp_path, inline, whole, left):
    write_study(tmp_path)
    shutil.copytree(whole, tmp_path / "s")
    before = tree(tmp_path / "s")
    last = in_order(tmp_path / "s")[-1]
    os.truncate(last.path, last.offset + last.length + left if left < 0 else last.offset - 48 + left)
    done = inline("study", "run", "small.toml", "--out", "s")
    assert "small: 1 runs made, 11 were there" in done.err
    assert "damaged" not in done.err
    assert tree(tmp_path / "s") == before


def test_what_is_damaged_is_missing_in_every_look_at_a_study(tmp_path, inline, whole):
    for index, command in enumerate(("status", "report", "export")):
        folder = tmp_path / command
        shutil.copytree(whole, folder)
        spoil(folder, index, "not JSON")
        done = inline("study", command, folder)
        assert done.code == 0
        assert f"1 damaged place of runs was {LEFT}, and these runs are missing" in done.err
        again = inline("study", "status", folder, "--json").json()
        assert (again["finished"], again["missing"]) == (11, 1)


# Comparisons go on


COMPARE = ("compare", "chain.toml", "--schemes", "tcp-newreno,recn", "--seeds", "6", "--duration", "8 s")


@pytest.mark.parametrize(
    ("number", "code", "what"),
    [(signal.SIGINT, 130, "interrupted"), pytest.param(signal.SIGTERM, 143, "terminated", marks=pytest.mark.long)],
)
@pytest.mark.usefixtures("chain")
def test_an_interrupted_comparison_goes_on_to_the_same_bytes(tmp_path, multihop, number, code, what):
    whole = multihop(*COMPARE, "--out", "a")
    assert whole.code == 0
    process = start(*COMPARE, "--jobs", 1, "--out", "b", cwd=tmp_path)
    wait_for_runs(tmp_path / "b" / "store", 3, process)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (code, "")
    made = len(places(tmp_path / "b" / "store"))
    assert 3 <= made < 12
    # One more may be finished while this is said.
    again = shlex.join(["multihop", *COMPARE, "--jobs", "1", "--out", "b"])
    said = [f"multihop: {what}; {n} finished runs are kept in b; to go on: {again}\n" for n in (made - 1, made)]
    assert err in said
    assert {path.name for path in (tmp_path / "b").iterdir()} == {"store"}
    again = multihop(*COMPARE, "--out", "b")
    assert f"{12 - made} runs made, {made} were there" in again.err
    assert again.out == whole.out
    assert contents(tmp_path / "b") == contents(tmp_path / "a")
    # More seeds are only those that are missing; a capture is of a run that is made.
    more = multihop(*COMPARE, "--seeds", "7", "--out", "b")
    assert "2 runs made, 12 were there" in more.err


def test_a_comparison_that_is_kept_nowhere_says_how_it_would_have_been(inline, chain, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("multihop.api.run_variants", interrupt)
    ended = inline("compare", chain, "--schemes", "udp")
    assert (ended.code, ended.out) == (130, "")
    assert ended.err == "multihop: interrupted; nothing was written; with --out DIR finished runs are kept\n"


def test_another_scenario_in_the_same_folder_is_said_and_loses_no_run(tmp_path, inline, chain):
    other = tmp_path / "other.toml"
    other.write_text(chain.read_text().replace("small-chain", "other-chain").replace("200 m", "150 m"))
    options = ("--schemes", "udp,recn", "--seeds", "2", "--out", "a")
    assert inline("compare", chain, *options).code == 0
    before = contents(tmp_path / "a")
    said = "a: results of small-chain (udp, recn; 2 seeds) are replaced; their runs stay in a/store\n"
    assert said in inline("compare", other, *options).err
    more = inline("compare", other, *options, "--seeds", "3")
    assert "are replaced" not in more.err, "the same scenario with more seeds is no other one"
    assert "2 runs made, 4 were there" in more.err
    back = inline("compare", chain, *options)
    assert "results of other-chain (udp, recn; 3 seeds) are replaced" in back.err
    assert "0 runs made, 4 were there" in back.err
    after = contents(tmp_path / "a")
    assert {name: after[name] for name in before} == before


@pytest.mark.usefixtures("chain")
def test_a_damaged_run_of_a_comparison_is_made_again(tmp_path, inline):
    assert inline(*COMPARE, "--out", "a").code == 0
    before = contents(tmp_path / "a")
    spoil(tmp_path / "a" / "store", 0, "half of the JSON")
    done = inline(*COMPARE, "--out", "a")
    assert "1 run made, 11 were there" in done.err
    assert f"1 damaged place of runs was {LEFT}, and these runs were repeated" in done.err
    assert contents(tmp_path / "a") == before


# Disks and clocks


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
@pytest.mark.parametrize("what", ["study", "compare"])
@pytest.mark.usefixtures("chain")
def test_a_disk_that_takes_no_more_is_one_message_and_it_goes_on(tmp_path, inline, monkeypatch, what, code):
    write_study(tmp_path)
    command = COMPARE if what == "compare" else ("study", "run", "small.toml")
    with monkeypatch.context() as broken:
        break_disk(broken, 4, OSError(code, os.strerror(code)))
        done = inline(*command, "--jobs", 1, "--out", "o")
    assert (done.code, done.out) == (1, "")
    (line,) = done.err.splitlines()
    assert line.startswith("multihop: o/")
    assert os.strerror(code) in line
    assert not list((tmp_path / "o").rglob("*.part"))
    again = inline(*command, "--out", "o")
    assert again.code == 0
    # In this process, a run that was under way when the disk was full may be kept once it no longer is.
    made, found = map(int, re.search(r"(\d+) runs made, (\d+) were there", again.err).groups())
    assert found in {4, 5}
    assert made + found == 12
    assert inline(*command, "--out", "whole").code == 0
    assert contents(tmp_path / "o") == contents(tmp_path / "whole")


@pytest.fixture
def read_only(tmp_path, whole):
    """A study's folder on a file system that is mounted read-only: permissions would not keep root from writing."""
    folder = tmp_path / "s"
    shutil.copytree(whole, folder)

    def mount(*words):
        return subprocess.run(["mount", *words], capture_output=True, text=True, check=False)

    bound = mount("--bind", folder, folder)
    if bound.returncode == 0 and mount("-o", "remount,ro,bind", folder).returncode == 0:
        yield folder
        subprocess.run(["umount", folder], check=True)
        return
    if bound.returncode == 0:
        subprocess.run(["umount", folder], check=True)
    if os.geteuid() == 0:
        pytest.skip(f"nothing can be mounted read-only here, and root may write anyway: {bound.stderr.strip()}")
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield folder
    for path in [folder, *(p for p in folder.rglob("*") if p.is_dir())]:
        path.chmod(0o755)


def test_a_store_that_is_read_only_can_be_looked_at_and_says_why_it_cannot_be_used(tmp_path, inline, read_only):
    before = contents(read_only)
    assert "12 runs finished, 0 missing" in inline("study", "status", read_only).out
    assert inline("study", "report", read_only, "--to", tmp_path / "page.html").code == 0
    assert inline("study", "export", read_only, "--to", tmp_path / "tables").code == 0
    for command in ("run", "report", "export"):
        message = inline("study", command, read_only).fails_cleanly()
        assert str(read_only) in message
        assert "cannot be written" in message
    assert contents(read_only) == before


def test_damage_in_a_store_that_is_read_only_is_still_missing(inline, tmp_path, whole, monkeypatch):
    shutil.copytree(whole, tmp_path / "s")
    spoil(tmp_path / "s", 0, "not JSON")
    break_disk(monkeypatch, 0, OSError(errno.EROFS, "Read-only file system"))
    for _ in range(2):
        done = inline("study", "status", tmp_path / "s")
        assert "11 runs finished, 1 missing" in done.out
        assert f"1 damaged place of runs was {LEFT}, and these runs are missing" in done.err


@pytest.mark.parametrize("step_s", [-1e9, -3600.0, 3600.0, 1e9])
def test_steps_of_the_clock_change_nothing(tmp_path, inline, monkeypatch, whole, step_s):
    write_study(tmp_path)
    now, calls = time.time, [0]

    def stepping():
        calls[0] += 1
        return now() + step_s * (calls[0] % 2)

    shutil.copytree(whole, tmp_path / "s")
    keep_only(tmp_path / "s", dict(list(kept(tmp_path / "s").items())[::2]))
    for path in (tmp_path / "s").rglob("*"):
        os.utime(path, (now() + step_s, now() + step_s))
    # Of a process that is alive, in the making.
    part = tmp_path / "s" / f".x.json.gz.{socket.gethostname().replace('.', '-')}.{os.getpid()}.part"
    part.write_text("half")
    monkeypatch.setattr(time, "time", stepping)
    done = inline("study", "run", "small.toml", "--out", "s")
    assert done.code == 0
    assert "6 runs made, 6 were there" in done.err
    assert part.exists()
    assert tree(tmp_path / "s") == tree(whole)


@pytest.mark.usefixtures("chain")
def test_two_processes_may_make_the_same_comparison(tmp_path, multihop):
    both = [start(*COMPARE, "--jobs", 1, "--out", "b", cwd=tmp_path) for _ in range(2)]
    ended = [process.communicate(timeout=100) for process in both]
    assert [process.returncode for process in both] == [0, 0], ended
    assert ended[0][0] == ended[1][0]
    assert multihop(*COMPARE, "--out", "a").code == 0
    assert contents(tmp_path / "b") == contents(tmp_path / "a")
