"""`multihop study` as a stranger uses it: what goes well, and one clear message for whatever does not."""

import errno
import resource
import subprocess
from pathlib import Path

import pytest

from conftest import Outcome
from studies import SCENARIO, STUDY, break_disk, kept, start, tree, write_study

#: A study without anything but what it must have; cases add to it.
BARE = 'name = "bare"\nscenario = "tiny.toml"\nseeds = 1\n'


@pytest.fixture
def command(tmp_path, inline):
    """The command line, beside a study and its scenario."""
    write_study(tmp_path)
    return inline


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# What goes well


def test_a_study_from_beginning_to_end(tmp_path, command):
    status = command("study", "status", "small.toml")
    assert "4 points, 0 runs finished, 12 missing, 0 failed" in status.out
    assert not (tmp_path / "results").exists()

    ran = command("study", "run", "small.toml")
    assert ran.code == 0
    assert "small: 12 runs made, 0 were there" in ran.err
    assert "report and figures: multihop study report results/small" in ran.err
    heads, *rows = [line.split() for line in ran.out.splitlines()[:5]]
    assert heads == ["spacing", "scheme", "seeds", "goodput", "[kb/s]", "long", "[ms]"]
    assert [row[:4] for row in rows[::2]] == [["150", "m", "tcp-newreno", "3"], ["200", "m", "tcp-newreno", "3"]]
    assert "small/bound  nowhere  reproduced  4 of 4 hold" in ran.out

    # Everything is in the folder: it can be named instead of the file, wherever it is moved.
    Path("results/small").rename("elsewhere")
    for name in ("small.toml", "tiny.toml"):
        Path(name).unlink()
    status = command("study", "status", "elsewhere", "--json").json()
    assert (status["finished"], status["missing"], status["failed"], status["failures"]) == (12, 0, 0, [])
    assert status["bytes"] == sum(map(len, kept(Path("elsewhere")).values()))
    again = command("study", "run", "elsewhere")
    assert again.out == ran.out
    assert "0 runs made, 12 were there" in again.err

    report = command("study", "report", "elsewhere")
    assert report.err.splitlines()[0] == "written: elsewhere/report.html"
    assert "small" in Path("elsewhere/report.html").read_text()
    exported = command("study", "export", "elsewhere", "-q")
    assert (exported.out, exported.err) == ("", "")
    assert Path("elsewhere/tables/estimates.csv").exists()


def test_results_as_json(command):
    record = command("study", "run", "small.toml", "--json").json()
    assert record["study"] == "small"
    assert [point["seeds"] for point in record["points"]] == [[1, 2, 3]] * 4
    assert record["points"][0]["point"] == {"spacing": "150 m", "scheme": "tcp-newreno"}
    assert set(record["points"][0]["metrics"]) == {"goodput", "long"}
    assert [claim["verdict"] for claim in record["claims"]] == ["reproduced"]
    assert record["failures"] == []


def test_a_quick_look_runs_less_and_stays_beside_the_whole(tmp_path, command):
    quick = command("study", "run", "small.toml", "--quick", "--out", "s")
    assert "4 runs made" in quick.err
    # What it says to type works as it stands.
    words = quick.err.splitlines()[1].partition("multihop ")[2].split()
    assert words == ["study", "report", "s", "--quick"]
    assert command(*words).code == 0
    assert "150 m" not in quick.out
    kept = tree(tmp_path / "s")
    assert "12 missing" in command("study", "status", "small.toml", "--out", "s").out
    assert "4 other runs are in the store" in command("study", "status", "small.toml", "--out", "s").out
    assert command("study", "run", "small.toml", "--out", "s").code == 0
    assert kept.items() <= tree(tmp_path / "s").items()
    assert "4 runs finished, 0 missing" in command("study", "status", "s", "--quick").out


def test_studies_may_share_a_store(tmp_path, command):
    command("study", "run", "small.toml", "--out", "a", "--store", "store")
    Path("other.toml").write_text(STUDY.replace('"small"', '"other"').replace("seeds = 3", "seeds = 4"))
    ran = command("study", "run", "other.toml", "--out", "b", "--store", "store")
    assert "4 runs made, 12 were there" in ran.err
    assert len(tree(tmp_path / "store")) == 16
    assert "16 runs finished, 0 missing" in command("study", "status", "b").out
    assert command("study", "report", "a").code == 0


def test_a_study_goes_on_with_more_seeds(command):
    command("study", "run", "small.toml")
    Path("small.toml").write_text(STUDY.replace("seeds = 3", "seeds = 5"))
    assert "8 runs made, 12 were there" in command("study", "run", "small.toml").err


def test_failures_are_reported_and_the_exit_code_says_so(command, monkeypatch):
    from multihop import _core

    run = _core.run

    def sometimes(text, origin, overrides):
        if overrides["seed"] == 2:
            raise _core.InternalError("the queue is upside down")
        return run(text, origin, overrides)

    monkeypatch.setattr(_core, "run", sometimes)
    ran = command("study", "run", "small.toml", "--out", "s")
    assert ran.code == 1
    assert "tcp-newreno      2" in ran.out
    lines = ran.err.splitlines()
    assert "8 runs made, 0 were there, 4 failed" in lines[0]
    assert lines[2] == "failed: spacing=150 m, scheme=tcp-newreno seed 2: InternalError: the queue is upside down"
    assert lines[3] == (
        "  repeat it: multihop run s/scenario.toml --set 'topology.spacing=\"150 m\"' --scheme tcp-newreno --seed 2"
    )
    status = command("study", "status", "s")
    assert status.code == 0
    assert "8 runs finished, 4 missing, 4 failed" in status.out
    assert status.err.count("repeat it") == 4
    failures = command("study", "status", "s", "--json").json()["failures"]
    assert [failure["seed"] for failure in failures] == [2] * 4
    monkeypatch.undo()


def test_ctrl_c_after_the_runs_says_that_they_are_kept(tmp_path, inline, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    write_study(tmp_path)
    for module, arguments, folder in (
        ("studies", ["study", "run", "small.toml", "--out", "s", "-q"], "s"),
        ("reproduce", ["reproduce", "recn/channel", "--out", "out", "-q"], "out/recn"),
    ):
        monkeypatch.setattr(f"multihop.cli.{module}.print_judgements", interrupt)
        ended = inline(*arguments)
        assert ended.code == 130
        again = " ".join(["multihop", *arguments])
        assert ended.err == f"multihop: interrupted; finished runs are kept in {folder}; to go on: {again}\n"
    assert len(tree(tmp_path / "s")) == 12


def test_an_export_or_report_needs_runs(command):
    for what in ("report", "export"):
        message = command("study", what, "small.toml").fails_cleanly()
        assert "no finished runs of this study; run them with multihop study run" in message
    assert not Path("results").exists()


# What does not


def factor(body):
    return f"{BARE}[factors.f]\n{body}\n"


def claim(**keys):
    made = {"id": '"c"', "where": '"w"', "says": '"s"', "kind": '"bound"', "metric": '"jain"', "at_least": "1", **keys}
    return BARE + "[[claims]]\n" + "\n".join(f"{key} = {value}" for key, value in made.items())


# Study, and what the message must name.
STUDIES = {
    "empty": ("", ["name", "missing"]),
    "not TOML": ("name = \n", ["not valid TOML", "line 1"]),
    "not UTF-8": (b'name = "\xff"', ["not UTF-8", "byte 8"]),
    "a scenario": (SCENARIO, [":3", "duration", "unknown key", "scenario"]),
    "no scenario": ('name = "x"\n', ["needs either scenario or model"]),
    "scenario and model": (BARE + 'model = "chain-capacity"', ["either scenario or model"]),
    "a scenario that is not there": (BARE.replace("tiny", "absent"), [":2", "absent.toml", "no such file"]),
    "a scenario that is a folder": (BARE.replace("tiny.toml", "."), [":2", "directory"]),
    "a broken scenario": (BARE.replace("tiny.toml", "bad.toml"), [":2", "name"]),
    "unknown key": (BARE + "factor = {}", [":4", "factor", "factors"]),
    "unknown key of a table": (factor('keys = "mac.queue"\nvalues = [5]'), ["factors.f.keys", "key", "values"]),
    "unknown key of the scenario": (factor('key = "mac.quueue"\nvalues = [5]'), [":4", "mac.quueue", '"queue"']),
    "a factor without values": (factor(""), [":4", "factors.f", "values or cases"]),
    "an empty grid": (factor('key = "mac.queue"\nvalues = []'), ["factors.f.values", "at least 1"]),
    "no cases": (factor('key = "mac.queue"\nvalues = [5]').replace("[f", "cases = []\n[f", 1), ["cases", "at least 1"]),
    "a value twice": (factor('key = "mac.queue"\nvalues = [5, 5]'), [":4", "5 more than once"]),
    "an impossible value": (factor('key = "mac.queue"\nvalues = [5, -1]'), [":4", "f=-1", "mac.queue", "-1"]),
    "not a number": (factor('key = "mac.queue"\nvalues = [nan]'), [":4", "mac.queue", "nan"]),
    "infinity": (factor('key = "mac.queue"\nvalues = [inf]'), [":4", "mac.queue"]),
    "a date": (factor('key = "duration"\nvalues = [1979-05-27]'), [":4", "duration", "dates do not occur"]),
    "a number beyond 64 bits": (factor(f'key = "mac.queue"\nvalues = [{10**30}]'), [":4", "64 bits"]),
    "a scheme that is a number": (BARE + "[factors.scheme]\nvalues = [5]", [":4", "found 5", "name of a scheme"]),
    "an unknown scheme": (BARE + '[factors.scheme]\nvalues = ["tcp-newrino"]', [":4", "tcp-newrino", "tcp-newreno"]),
    "a seed that varies": (BARE + "[factors.seed]\nvalues = [1, 2]", [":4", "seed"]),
    "a key that is lost": (
        BARE + '[factors.a]\nkey = "mac.queue"\nvalues = [5]\n[factors.mac]\nvalues = [{ queue = 6 }]',
        [":4", "factors.a", "mac.queue", "replaces"],
    ),
    "no seeds": (BARE.replace("seeds = 1", "seeds = 0"), [":3", "seeds", "found 0"]),
    "seeds below zero": (BARE.replace("seeds = 1", "seeds = [1, -1]"), [":3", "-1"]),
    "an empty list of seeds": (BARE.replace("seeds = 1", "seeds = []"), [":3", "at least one"]),
    "seeds twice": (BARE.replace("seeds = 1", "seeds = [4, 4]"), [":3", "repeated"]),
    "seeds beyond 64 bits": (BARE.replace("seeds = 1", "seeds = [18446744073709551616]"), [":3", "2^64"]),
    "half a seed": (BARE.replace("seeds = 1", "seeds = 1.5"), [":3", "1.5"]),
    "a billion seeds": (BARE.replace("seeds = 1", "seeds = 1000000000"), [":3", "1000000000", "100000"]),
    "a billion points": (
        BARE + "".join(f"[factors.f{i}]\nkey = 'mac.k{i}'\nvalues = {list(range(1000))}\n" for i in range(3)),
        ["factors", "1000000000 points", "100000"],
    ),
    "too many runs": (
        factor(f'key = "mac.queue"\nvalues = {list(range(1, 22))}').replace("seeds = 1", "seeds = 50000"),
        ["1050000 runs", "1000000"],
    ),
    "a name that is a path": (BARE.replace('"bare"', '"../bare"'), [":1", "name", "../bare"]),
    "a name that is too long": (BARE.replace('"bare"', f'"{"a" * 81}"'), [":1", "name", "80"]),
    "a factor's name with a slash": (BARE + "[factors.'a/b']\nvalues = [1]", [":4", "a/b"]),
    "a claim on a metric that is not there": (claim(metric='"speed"'), [":4", "speed", "jain", "[metrics]"]),
    "a claim at a value that is not there": (
        claim(at="{ f = 6 }") + '\n[factors.f]\nkey = "mac.queue"\nvalues = [5]',
        ["claims[0] c", "f has no value 6", "5"],
    ),
    "two claims of one name": (claim() + claim()[len(BARE) - 1 :], ["claims[1].id", "c is given more than once"]),
    "a metric of no column": (BARE + '[metrics.m]\ncolumn = "flows.speed"', [":4", "flows", "speed", "goodput_bps"]),
    "a metric of no table": (BARE + '[metrics.m]\ncolumn = "cars.speed"', ["metrics.m.column", "cars.speed"]),
    "zip of unequal lengths": (
        BARE + 'zip = [["a", "b"]]\n[factors.a]\nvalues = [1]\n[factors.b]\nvalues = [1, 2]',
        [":4", "zip[0]", "a has 1", "b has 2"],
    ),
    "compare what does not vary": (BARE + 'compare = "scheme"', [":4", "compare", "scheme"]),
    "a stop rule that is no share": (
        BARE + '[stop]\nmetric = "jain"\nhalf_width = "narrow"',
        ["stop.half_width", "narrow"],
    ),
    "nothing quick to keep": (
        factor('key = "mac.queue"\nvalues = [5]') + "[quick]\nkeep = { f = [7] }",
        ["quick.keep", "f has no value 7"],
    ),
    "a quick look that replaces a factor": (
        factor('key = "flows[0].start"\nvalues = ["0 s", "1 s"]') + '[quick]\nset = { "flows[*].start" = "0 s" }',
        ["quick.set", "flows[*].start", "f varies", "quick.keep"],
    ),
    "a tolerance that is no number": (
        claim(kind='"value"', over='"f"', values="[1]", tolerance='"nan %"') + "\n[factors.f]\nvalues = [1]",
        [":4", "claims[0]", "nan %"],
    ),
    "an unknown closed form": ('name = "m"\nmodel = "chain"', [":2", "closed form 'chain'", "chain-capacity"]),
    "an unknown argument of a closed form": (
        'name = "m"\nmodel = "chain-capacity"\n[factors.hop]\nvalues = [1]',
        ["hop=1", "no argument 'hop'", "hops"],
    ),
    "an impossible argument of a closed form": (
        'name = "m"\nmodel = "chain-capacity"\n[factors.hops]\nvalues = [1, 0]',
        ["hops=0", "topology.hops", "from 1"],
    ),
    "brackets without end": ("a = " + "[" * 100_000, ["TOML"]),
}


@pytest.mark.parametrize("case", STUDIES)
def test_broken_studies(tmp_path, command, case):
    text, names = STUDIES[case]
    Path("bad.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    before = files(tmp_path)
    done = command("study", "run", "bad.toml", "--out", "s")
    # Of a scenario, several mistakes are named, each on a line.
    message = done.err.removeprefix("multihop: ") if case == "a broken scenario" else done.fails_cleanly()
    assert (done.code, done.out) == (2, "")
    assert message.startswith("bad.toml:")
    for name in names:
        assert name in message, message
    assert files(tmp_path) == before
    assert not Path("s").exists()


# Arguments, and what the message must name.
OPTIONS = {
    "no study": (["run"], ["Missing argument 'STUDY' (multihop"]),
    "no command": ([], ["Missing command", "multihop --help"]),
    "an unknown command": (["walk"], ["walk"]),
    "no such file": (["run", "absent.toml"], ["absent.toml", "no such file"]),
    "a folder that is none": (["run", "."], ["directory without study.toml"]),
    "a device": (["run", "/dev/null"], ["/dev/null", "not a file"]),
    "no threads": (["run", "small.toml", "--jobs", "0"], ["--jobs", "found 0"]),
    "threads that are no number": (["run", "small.toml", "--jobs", "many"], ["--jobs", "many"]),
    "a folder that is a file": (["run", "small.toml", "--out", "tiny.toml"], ["tiny.toml", "a file is in the way"]),
    "a folder below a file": (["run", "small.toml", "--out", "tiny.toml/s"], ["tiny.toml/s", "a file is in the way"]),
    "a folder of another program": (["run", "small.toml", "--out", "."], ["not a study folder", "--out"]),
    "a store that is a file": (["run", "small.toml", "--store", "tiny.toml"], ["tiny.toml", "a file is in the way"]),
    "a store of another program": (["run", "small.toml", "--store", "."], ["not a study folder"]),
    "a name that is too long": (["run", "small.toml", "--out", "x" * 300], ["xxx", "too long"]),
    "no address": (["run", "small.toml", "--dask", "nonsense"], ["--dask", "nonsense", "port"]),
    "an address of another kind": (["run", "small.toml", "--dask", "foo://x:1"], ["--dask", "foo://x:1", "tcp"]),
    "an address without a scheduler": (["run", "small.toml", "--dask", "127.0.0.1:9"], ["--dask", "127.0.0.1:9"]),
    "a report over the study": (["report", "s", "--to", "s/study.toml"], ["s/study.toml", "would be lost"]),
    "a report over the scenario": (["report", "s", "--to", "s/scenario.toml"], ["s/scenario.toml", "would be lost"]),
    "a report over the mark": (["report", "s", "--to", "s/store.json"], ["s/store.json", "would be lost"]),
    "a report over the file": (["report", "small.toml", "--out", "s", "--to", "small.toml"], ["would be lost"]),
    "a report over a folder": (["report", "s", "--to", "s"], ["directory"]),
    "an export over a file": (["export", "s", "--to", "tiny.toml"], ["tiny.toml", "a file is in the way"]),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_broken_options(tmp_path, command, monkeypatch, case):
    arguments, names = OPTIONS[case]
    if "--dask" in arguments:
        pytest.importorskip("distributed", reason="Dask is not installed: pip install distributed")
        monkeypatch.setattr("multihop.experiments.clusters._CONNECT_WITHIN_S", 0.5)
    if "s" in arguments:
        assert command("study", "run", "small.toml", "--out", "s").code == 0
    before = files(tmp_path)
    message = command("study", *arguments).fails_cleanly()
    for name in names:
        assert name in message, message
    assert files(tmp_path) == before


MARKS = {
    "an older version's": ('{"what": "multihop study", "format": 1}', ["format 1", "format 2", "name another place"]),
    "another version's": ('{"what": "multihop study", "format": 3}', ["format 3", "format 2", "nothing was touched"]),
    "another program's": ('{"what": "groceries"}', ["store.json", "not the mark of a study folder"]),
    "unreadable": ("{", ["store.json", "cannot be read as the mark"]),
}


@pytest.mark.parametrize("what", ["run", "status", "report", "export"])
@pytest.mark.parametrize("mark", MARKS)
def test_a_store_that_is_not_ours_is_left_alone(tmp_path, command, mark, what):
    text, names = MARKS[mark]
    command("study", "run", "small.toml", "--quick", "--out", "s", "-q")
    (tmp_path / "s" / "store.json").write_text(text)
    before = files(tmp_path)
    for arguments in (["--out", "s"], ["--out", "t", "--store", "s"]):
        message = command("study", what, "small.toml", *arguments).fails_cleanly()
        for name in names:
            assert name in message, message
        assert files(tmp_path) == before


def test_a_store_that_may_not_be_read_is_one_message(tmp_path, command, monkeypatch):
    command("study", "run", "small.toml", "--out", "s", "-q")
    before = tree(tmp_path / "s")
    as_it_is = Path.open

    def refuse(path, *arguments, **options):
        if path.suffix == ".shard":
            raise PermissionError(errno.EACCES, "Permission denied")
        return as_it_is(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    for what in ("run", "report", "export"):
        message = command("study", what, "s").fails_cleanly()
        assert "cannot be read: Permission denied; it was left unchanged" in message
    monkeypatch.undo()
    assert tree(tmp_path / "s") == before


# A full disk


def assert_full_disk(done, folder, limit):
    """One message, and a folder of whole runs."""
    assert done.code == 1, done.err
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert line.startswith(f"multihop: {folder.name}/")
    assert limit in line
    assert not list(folder.rglob("*.part"))


def test_a_full_disk_is_one_message_and_space_lets_it_go_on(tmp_path, command, monkeypatch):
    with monkeypatch.context() as full:
        break_disk(full, 5, OSError(errno.ENOSPC, "No space left on device"))
        done = command("study", "run", "small.toml", "--out", "s")
    assert_full_disk(done, tmp_path / "s", "No space left on device")
    before = tree(tmp_path / "s")
    assert len(before) == 5
    assert "7 runs made, 5 were there" in command("study", "run", "small.toml", "--out", "s").err
    assert before.items() <= tree(tmp_path / "s").items()


def test_a_file_system_that_is_really_full(tmp_path, multihop):
    write_study(tmp_path)
    folder = tmp_path / "s"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=32k", "none", folder], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"needs a small file system, which may not be mounted here: {mounted.stderr.strip()}")
    try:
        done = multihop("study", "run", "small.toml", "--out", "s")
        assert_full_disk(done, folder, "No space left on device; free some space and run again")
        kept = tree(folder)
        assert 0 < len(kept) < 12
        subprocess.run(["mount", "-o", "remount,size=1m", folder], check=True)
        done = multihop("study", "run", "small.toml", "--out", "s")
        assert done.code == 0, done.err
        assert f"{len(kept)} were there" in done.err
        assert kept.items() <= tree(folder).items()
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_limit_on_the_size_of_files(tmp_path):
    write_study(
        tmp_path, STUDY.replace("seeds = 3", "seeds = 3\nset = { duration = '60 s', record_interval = '100 ms' }")
    )

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    process = start("study", "run", "small.toml", "--out", "s", cwd=tmp_path, preexec_fn=limit)
    out, err = process.communicate(timeout=60)
    assert_full_disk(Outcome(process.returncode, out, err), tmp_path / "s", "File too large")


# Large and odd


def test_thousands_of_points_are_no_trouble(command):
    Path("many.toml").write_text(factor(f'key = "mac.queue"\nvalues = {list(range(1, 5001))}'))
    assert "5000 points, 0 runs finished, 5000 missing" in command("study", "status", "many.toml").out


def test_odd_names_and_labels_go_through_everything(tmp_path, command):
    Path("odd.toml").write_text(
        factor('key = "mac.queue"\nvalues = [5, 6]\nlabels = ["a/b \\"c\\" [red]é[/red]", "<script>&\\n"]')
        + '[factors.g.cases]\n"../x" = { "flows[sh*].start" = "1 s" }\n"it\'s" = {}\n',
        encoding="utf-8",
    )
    folder = Path("a folder/with ü and 'quotes'")
    ran = command("study", "run", "odd.toml", "--out", folder)
    assert ran.code == 0, ran.err
    assert '"c" [red]é[/red]' in ran.out
    assert len(tree(tmp_path / folder)) == 4
    for what in ("report", "export"):
        assert command("study", what, folder).code == 0
    assert "<script>&" not in (folder / "report.html").read_text(encoding="utf-8").partition("</header>")[2]
    estimates = (folder / "tables" / "estimates.csv").read_text(encoding="utf-8")
    assert "../x" in estimates
    assert {path.name for path in tmp_path.iterdir()} == {"small.toml", "tiny.toml", "odd.toml", "a folder"}


def test_a_study_of_a_closed_form_has_no_runs(command):
    Path("model.toml").write_text('name = "m"\nmodel = "chain-capacity"\n[factors.hops]\nvalues = [1, 2]\n')
    ran = command("study", "run", "model.toml", "--out", "m")
    assert ran.code == 0, ran.err
    heads, *rows = [line.split() for line in ran.out.splitlines() if line]
    assert heads[0] == "hops"
    assert "seeds" not in heads
    assert [row[0] for row in rows] == ["1", "2"]
    points = command("study", "run", "model.toml", "--out", "m", "--json").json()["points"]
    assert [point["point"] for point in points] == [{"hops": 1}, {"hops": 2}]
    values = [point["metrics"]["end_to_end"]["mean"] for point in points]
    assert values[0] == pytest.approx(2 * values[1])
    assert "2 points, 0 runs finished, 0 missing" in command("study", "status", "m").out
    for what in ("report", "export"):
        assert command("study", what, "m").code == 0
    assert Path("m/tables/manifest.json").exists()


def test_a_store_within_the_new_folder_of_its_study(inline, tmp_path):
    write_study(tmp_path)
    where = ("--quick", "--out", tmp_path / "x")
    done = inline("study", "run", tmp_path / "small.toml", *where, "--store", tmp_path / "x" / "store")
    assert done.code == 0, done.err
    again = inline("study", "status", tmp_path / "small.toml", *where)
    assert "0 missing" in again.out


def test_the_status_of_a_file(inline, tmp_path):
    path = write_study(tmp_path)
    done = inline("study", "status", path, "--out", path)
    assert done.code == 2
    assert "a file is in the way" in done.err
