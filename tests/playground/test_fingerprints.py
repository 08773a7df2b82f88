"""Runs in WebAssembly equal native runs to the last bit, at a similar speed."""

import json
import resource
import subprocess
import sys

import pytest

import multihop
from conftest import SCENARIOS

#: The tests need the WebAssembly build of the engine, `make playground`.
pytestmark = pytest.mark.long

SEED = 3
FILES = sorted(SCENARIOS.rglob("*.toml"))

#: Runs the worker thread of the page with its own bytes.
IN_THE_PAGE = """
async ({ texts, seed }) => {
  const text = (id) => document.getElementById(id).textContent;
  const packed = Uint8Array.from(atob(text("engine").trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
  const worker = new Worker(URL.createObjectURL(new Blob([text("worker")], { type: "text/javascript" })));
  worker.postMessage({ module });
  const run = (text, id) => new Promise((resolve) => {
    worker.onmessage = ({ data }) => data.progress || resolve(data.ok?.summary.fingerprint ?? data.error.message);
    worker.postMessage({ id, run: { text, overrides: { seed } } });
  });
  const made = [];
  for (const text of texts) made.push(await run(text, made.length));
  return made;
}
"""


@pytest.fixture(scope="module")
def native():
    return {file.name: multihop.run(file, seed=SEED).summary["fingerprint"] for file in FILES}


@pytest.fixture(scope="module")
def there(in_node):
    return json.loads(in_node("fingerprints.mjs", str(SEED), *FILES))


def test_fingerprints_in_node_equal_native_ones(native, there):
    assert len(native) >= 20
    assert {name: run["fingerprint"] for name, run in there.items()} == native


@pytest.mark.long
def test_fingerprints_in_the_browser_equal_native_ones(native, opened):
    texts = [file.read_text("utf-8") for file in FILES]
    found = opened().evaluate(IN_THE_PAGE, {"texts": texts, "seed": SEED})
    assert dict(zip(native, found, strict=True)) == native


def test_the_engine_is_at_least_two_fifths_as_fast_in_node(there):
    code = "import sys, multihop\nfor file in sys.argv[1:]: multihop.run(file, seed=3)"
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([sys.executable, "-c", "import multihop"], check=True)
    started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([sys.executable, "-c", code, *map(str, FILES)], check=True)
    taken = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - started - (started - before)
    theirs = sum(run["user_s"] for run in there.values())
    assert taken / theirs >= 0.4, (taken, theirs)
    assert there["mesh-demo.toml"]["user_s"] < 1.0
