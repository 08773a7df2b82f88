"""Where files go: through links, to devices and pipes, under any name; and what is said of a disk that is full."""

import errno
import os
import shutil
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from conftest import CHAIN
from multihop.base import files
from multihop.base.errors import OutputError, UserError
from multihop.base.files import announce_waiting, part_of, require_writable_file, write_text
from multihop.base.names import file_name, file_names

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX files")

#: Each option that names one file to write, with the rest of its command.
WRITERS = {
    "report": ["run", "chain.toml", "--report"],
    "pcap": ["run", "chain.toml", "--pcap"],
    "page": ["view", "run.frames", "--out"],
    "page of a capture": ["view", "run.pcapng", "--out"],
    "trace": ["view", "run.frames", "--perfetto"],
    "mesh": ["import", "mesh.csv", "--out"],
    "export": ["export", "chain.toml", "--as", "netjson", "--out"],
}


#: Each option that names a folder of a frame log.
LOGGERS = {
    "frames": ["run", "chain.toml", "--frames"],
    "log of a capture": ["measure", "run.pcapng", "--frames"],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with what the commands read."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "chain.toml").write_text(CHAIN.replace('"5 s"', '"2 s"'))
    (folder / "mesh.csv").write_text("source,target,delivery\na,b,0.9\nb,a,0.9\nb,c,0.9\nc,b,0.9\n")
    words = ["run", "chain.toml", "--pcap", "run.pcapng", "--frames", "run.frames", "-q"]
    subprocess.run([sys.executable, "-m", "multihop", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder


@pytest.fixture
def folder(tmp_path, made):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture(params=WRITERS)
def words(request):
    return WRITERS[request.param]


@pytest.fixture(params=LOGGERS)
def logger(request):
    return LOGGERS[request.param]


def no_parts(folder):
    return not [path for path in folder.rglob("*") if path.name.endswith(".part")]


# Links


def test_a_file_is_written_through_links(inline, folder, words):
    (folder / "there").mkdir()
    (folder / "there" / "old").write_text("old")
    (folder / "there" / "link").symlink_to("old")
    (folder / "link").symlink_to("there/link")
    assert inline(*words, "link").code == 0
    assert (folder / "link").is_symlink()
    assert (folder / "there" / "link").is_symlink()
    assert (folder / "there" / "old").read_bytes() not in {b"old", b""}
    assert no_parts(folder)


def test_a_link_that_leads_to_nothing_yet_gets_its_file(inline, folder, words):
    (folder / "link").symlink_to("new")
    assert inline(*words, "link").code == 0
    assert (folder / "link").is_symlink()
    assert (folder / "new").stat().st_size > 0


def test_links_in_a_circle_are_said(inline, folder, words):
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    assert "a: cannot be written: " in inline(*words, "a").fails_cleanly()


def test_results_are_written_through_links(inline, folder):
    """Of a whole folder, and of a file in it."""
    (folder / "there").mkdir()
    (folder / "out").symlink_to("there")
    assert inline("run", "chain.toml", "--out", "out").code == 0
    (folder / "there" / "flows.csv").rename(folder / "elsewhere.csv")
    (folder / "there" / "flows.csv").symlink_to("../elsewhere.csv")
    (folder / "elsewhere.csv").write_text("old")
    assert inline("run", "chain.toml", "--out", "out").code == 0
    assert (folder / "out").is_symlink()
    assert (folder / "there" / "flows.csv").is_symlink()
    assert (folder / "elsewhere.csv").read_text() != "old"


def test_a_link_into_a_folder_that_is_read_only_is_said(folder):
    if os.geteuid() == 0:
        target = Path("/proc/nothing")
    else:
        target = folder / "locked" / "file"
        target.parent.mkdir(mode=0o555)
    (folder / "link").symlink_to(target)
    with pytest.raises(UserError, match=rf"link: leads to {target}; {target.parent}: cannot be written"):
        write_text(folder / "link", "text")
    assert (folder / "link").is_symlink()


def test_what_others_may_not_read_stays_so(folder):
    file = folder / "private"
    file.write_text("old")
    file.chmod(0o600)
    write_text(file, "new")
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("new", 0o600)


# Devices and pipes


def test_a_pipe_is_written_and_stays(inline, folder, words):
    os.mkfifo(folder / "pipe")
    reader = subprocess.Popen(["cat", folder / "pipe"], stdout=subprocess.PIPE)
    read = []
    thread = threading.Thread(target=lambda: read.append(reader.communicate()[0]))
    thread.start()
    done = inline(*words, "pipe")
    thread.join(timeout=20)
    reader.terminate()
    assert done.code == 0, done.err
    assert (folder / "pipe").is_fifo()
    assert len(read[0]) > 100
    if "--report" not in words:  # whose command says where it goes
        inline(*words, "file")
        assert read == [(folder / "file").read_bytes()]


def test_what_is_waited_for_is_said(folder):
    os.mkfifo(folder / "pipe")
    said = []
    announce_waiting(said.append)
    thread = threading.Thread(target=lambda: write_text(folder / "pipe", "text"))
    thread.start()
    deadline = time.monotonic() + 20
    while not said and time.monotonic() < deadline:
        time.sleep(0.01)
    assert (folder / "pipe").read_bytes() == b"text"
    thread.join(timeout=20)
    assert said == [f"{folder / 'pipe'}: waiting for a reader of this pipe"]


def test_a_link_that_leads_nowhere_is_named_as_such(inline, chain, folder):
    (folder / "link").symlink_to("absent/results")
    for place in ("link", "link/results"):
        said = inline("run", chain, "--out", folder / place).fails_cleanly()
        assert "link: this symbolic link leads to absent/results, which does not exist; make that directory" in said


def test_a_pipe_is_written_through_a_link(folder):
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("pipe")
    reader = subprocess.Popen(["cat", folder / "pipe"], stdout=subprocess.PIPE)
    assert write_text(folder / "link", "text") == folder / "link"
    assert reader.communicate(timeout=20)[0] == b"text"
    assert (folder / "pipe").is_fifo()


@pytest.mark.parametrize("way", ["pipe", "file"])
def test_standard_output_is_written(folder, way):
    """By a name of the test's own, as root could replace that of the system."""
    words = WRITERS["pcap"]
    (folder / "stdout").symlink_to("/proc/self/fd/1")
    command = [sys.executable, "-m", "multihop", *words, "stdout"]
    if way == "pipe":
        out = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE).stdout
    else:
        with (folder / "said").open("wb") as said:
            said.write(b"before\n")
            said.flush()
            subprocess.run(command, cwd=folder, check=True, stdout=said)
        out = (folder / "said").read_bytes()
        assert out.startswith(b"before\n")
    assert (folder / "run.pcapng").read_bytes() in out
    assert b"goodput" in out
    assert (folder / "stdout").is_symlink()


def test_the_null_device_and_a_full_one_stay(inline, folder, words):
    if os.geteuid() != 0:
        pytest.skip("only root can make devices")
    for name, number in (("null", 3), ("full", 7)):
        os.mknod(folder / name, 0o666 | stat.S_IFCHR, os.makedev(1, number))
    try:
        (folder / "null").write_bytes(b"")
    except OSError:
        pytest.skip("devices cannot be used here")
    assert inline(*words, "null").code == 0
    full = inline(*words, "full")
    assert full.code == 1
    assert "full: cannot be written: No space left on device" in full.err
    assert all(stat.S_ISCHR((folder / name).stat().st_mode) for name in ("null", "full"))
    assert no_parts(folder)


def test_a_frame_log_replaces_a_frame_log_and_nothing_else(inline, folder, logger):
    os.mkfifo(folder / "pipe")
    (folder / "file").write_text("old")
    (folder / "folder").mkdir()
    (folder / "folder" / "notes").write_text("mine")
    (folder / "empty").mkdir()
    for name in ("pipe", "file"):
        assert f"{name}: is there, and is no folder" in inline(*logger, name).fails_cleanly()
    assert "folder: is there, and is no frame log" in inline(*logger, "folder").fails_cleanly()
    assert (folder / "folder" / "notes").read_text() == "mine"
    shutil.copytree(folder / "run.frames", folder / "old.frames")
    (folder / "old.frames" / "drops.parquet").write_bytes(b"damaged")
    (folder / "link").symlink_to("linked")
    for name in ("empty", "old.frames", "link"):
        assert inline(*logger, name).code == 0
        assert inline("view", name, "--out", "page.html").code == 0
    assert (folder / "link").is_symlink()
    assert no_parts(folder)


@pytest.mark.usefixtures("folder")
def test_a_frame_log_needs_a_name_and_not_that_of_its_source(inline):
    assert "names no folder of its own" in inline(*LOGGERS["frames"], ".").fails_cleanly()
    assert "would be lost" in inline(*LOGGERS["frames"], "chain.toml").fails_cleanly()
    assert "would be lost" in inline(*LOGGERS["log of a capture"], "run.pcapng").fails_cleanly()


@pytest.mark.usefixtures("folder")
def test_a_disk_that_is_full_is_said_of_the_frame_log(inline, small_disk, logger):
    done = inline(*logger, "disk/log")
    assert done.code == 1, done.err
    assert "disk/log" in done.err.splitlines()[-1]
    assert "cannot be written: No space left on device" in done.err.splitlines()[-1]
    assert list(small_disk.iterdir()) == []


def test_capture_and_frame_log_are_two_files(inline, folder):
    (folder / "link").symlink_to("log")
    assert "--frames: found link" in inline("run", "chain.toml", "--pcap", "log", "--frames", "link").fails_cleanly()


# Folders and files in the place of each other, and what cannot be written


def test_a_folder_where_a_file_should_be(inline, folder, words):
    (folder / "folder").mkdir()
    assert "folder: this is a directory" in inline(*words, "folder").fails_cleanly()


def test_a_file_where_a_folder_should_be(inline, folder, words):
    (folder / "file").write_text("")
    assert "file is in the way" in inline(*words, "file/in").fails_cleanly()


def test_a_socket_is_not_replaced(inline, folder, words):
    import socket

    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(folder / "socket"))
        assert "this is a socket" in inline(*words, "socket").fails_cleanly()
    assert (folder / "socket").is_socket()


def test_a_file_that_is_read_only_stays(folder, monkeypatch):
    file = folder / "locked"
    file.write_text("old")
    monkeypatch.setattr(files.os, "access", lambda path, _: Path(path) != file)
    with pytest.raises(UserError, match="locked: cannot be written: it is read-only"):
        write_text(file, "new")
    assert file.read_text() == "old"


def test_an_empty_name_is_refused(inline, folder):
    before = sorted(folder.iterdir())
    for words in (["--out", ""], ["--out="], ["--report", ""], ["--pcap="]):
        message = inline("run", "chain.toml", *words).fails_cleanly()
        assert message == f"{words[0].rstrip('=')}: found ''; give a value, or leave {message.split('leave ')[1]}"
    assert "found ''" in inline("init", "").fails_cleanly()
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("name", ["-", "-x", "a b", "ü", "%", "'", "x" * 250, "é" * 120])
def test_files_of_any_name_are_written(inline, folder, name):
    done = inline("run", "chain.toml", f"--frames={name}", "-q")
    assert done.code == 0, done.err
    assert (folder / name / "transmissions.parquet").is_file()
    assert no_parts(folder)


def test_parts_of_long_names_differ():
    names = [f"{'x' * 240}{n}" for n in range(3)]
    assert len({part_of(Path(name)) for name in names}) == 3
    assert all(len(part_of(Path(name)).name) < 200 for name in names)


# Disks that are full


@pytest.fixture
def small_disk(tmp_path):
    """A folder that has room for a few kilobytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", disk], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("nothing can be mounted here")
    yield disk
    subprocess.run(["umount", disk], check=True)


@pytest.mark.usefixtures("folder")
def test_a_disk_that_is_full_is_said_of_the_file(inline, small_disk, words):
    if words[0] in {"export", "import"}:
        (small_disk / "filler").write_bytes(bytes(4_096))
    done = inline(*words, "disk/file")
    assert done.code == 1, done.err
    assert "disk/file: cannot be written: No space left on device" in done.err.splitlines()[-1]
    assert {path.name for path in small_disk.iterdir()} <= {"filler"}


def test_of_two_logs_the_one_whose_disk_is_full_is_named(inline, folder, small_disk):
    for full, whole in (("--pcap", "--frames"), ("--frames", "--pcap")):
        done = inline("run", "chain.toml", full, "disk/file", whole, "other")
        assert done.err.splitlines()[-1].startswith("multihop: disk/file")
        assert done.err.splitlines()[-1].endswith(": cannot be written: No space left on device")
        assert done.code == 1
        assert list(small_disk.iterdir()) == []
        assert not (folder / "other").exists()


def test_results_on_a_full_disk_name_the_file(inline, folder, small_disk):
    subprocess.run(["mount", "-o", "remount,size=64k", small_disk], check=True)
    done = inline("run", "chain.toml", "--out", "disk/o")
    assert done.code == 1
    assert "disk/o/" in done.err.splitlines()[-1]
    assert "standard output" not in done.err
    assert no_parts(folder)


def test_standard_output_that_is_full_is_said(made):
    with Path("/dev/full").open("wb") as full:
        words = [sys.executable, "-m", "multihop", "list"]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, cwd=made, check=False)
    assert (done.returncode, done.stderr) == (1, "multihop: standard output: No space left on device\n")


def test_errors_of_other_files_keep_their_name(tmp_path):
    with pytest.raises(FileNotFoundError) as raised, files.whole_file(tmp_path / "out"):
        (tmp_path / "absent").read_bytes()
    assert raised.value.filename == str(tmp_path / "absent")
    with pytest.raises(OutputError, match="out: cannot be written: No space"), files.whole_file(tmp_path / "out"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert list(tmp_path.iterdir()) == []


# Names that become names of files

NAMES = ["tcp-newreno", "", ".", "..", "../../evil", "a/b", "a%2Fb", "a\\b", "nul\0byte", "con", "CON", "aux.txt"]
NAMES += ["x" * 300, "x" * 301, "ü" * 120, "ü" * 121, "-rf", "A", "a", "\u00d6", "O\u0308", "\ud800", "a:b", "a ", " a"]
NAMES += ["%", ".hidden", "a\nb", "\u202ea", "~", "*?", '"<>|']


def test_names_of_files_are_different_and_in_their_folder(tmp_path):
    made = file_names(NAMES)
    assert made.keys() == set(NAMES)
    for name, file in made.items():
        path = tmp_path / f"{file}.frames"
        assert path.resolve().parent == tmp_path
        with path.open("x", encoding="utf-8") as opened:
            opened.write(ascii(name))
        assert not file.startswith((".", "-"))
        assert not set(file) & set('/\\:*?"<>|\0\n')
    assert len({file.casefold() for file in made.values()}) == len(NAMES)
    assert file_names(reversed(NAMES)) == made, "the order does not matter"
    assert (file_name("tcp-newreno"), file_name("a/b")) == ("tcp-newreno", "a%2Fb")


def test_schemes_of_any_name_stay_in_their_folder(inline, folder):
    schemes = "".join(f'\n[schemes."{name}"]\nbase = "udp"\n' for name in ("../../evil", "a/b", "A", "a"))
    (folder / "chain.toml").write_text(CHAIN.replace('"5 s"', '"2 s"') + schemes)
    before = set(folder.iterdir())
    done = inline(
        "compare", "chain.toml", "--schemes", "../../evil,a/b,A,a", "--seeds", "1", "--out", "in/out", "--frames", "1"
    )
    assert done.code == 0, done.err
    assert set(folder.iterdir()) - before == {folder / "in"}
    assert [path.name for path in (folder / "in").iterdir()] == ["out"]
    logs = list((folder / "in" / "out" / "frames").iterdir())
    assert len(logs) == 8
    report = (folder / "in" / "out" / "report.html").read_text()
    assert 'href="frames/a%252Fb.html"' in report
    shown = inline("explain", "in/out", "--variant", "a/b", "--no-try", "--report", "e.html")
    assert shown.code == 0, shown.err


def test_require_writable_file_follows_links(tmp_path):
    source = tmp_path / "source"
    source.write_text("")
    (tmp_path / "link").symlink_to("source")
    with pytest.raises(UserError, match="would be lost"):
        require_writable_file(tmp_path / "link", source)


# Folders that are missing


@pytest.mark.parametrize("words", [*WRITERS.values(), *LOGGERS.values()])
def test_every_output_makes_the_folders_on_its_way_and_says_so(inline, folder, words):
    made = inline(*words, "new/deep/file")
    assert made.code == 0
    assert (folder / "new" / "deep" / "file").exists()
    assert "new folder: new\n" in made.err


def test_a_folder_that_was_there_or_was_named_is_not_said_to_be_new(inline, folder, words):
    (folder / "there").mkdir()
    assert "new folder" not in inline(*words, "there/file").err
    assert "new folder" not in inline("run", "chain.toml", "--out", "named").err
    assert "new folder: a\n" in inline("run", "chain.toml", "--out", "a/b").err
    assert inline("run", "chain.toml", "--pcap", "other/x", "-q").err == ""
