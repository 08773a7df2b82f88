"""The playground in a browser."""

import gzip
import re
import tomllib

import pytest
from tools import playground

import multihop

#: The tests need the WebAssembly build of the engine, `make playground`.
pytestmark = pytest.mark.long

ENDLESS = 'duration = "10000000 s"\nrecord_interval = "100000 s"\n'


def run(page):
    page.click("#run")
    page.wait_for_selector("#run:enabled")
    page.wait_for_selector("#fingerprint")
    return page.inner_text("#fingerprint").split()[-1]


def write(page, text):
    """Writes a text into the editor and waits for its check."""
    page.fill("#text", text)
    page.evaluate("document.getElementById('text').dispatchEvent(new Event('input'))")
    page.wait_for_timeout(700)


def test_the_page_is_one_small_file(playground_file):
    text = playground_file.read_bytes()
    assert len(gzip.compress(text)) < playground.MOST_BYTES
    assert not re.search(rb"(src|href)=\"(?!data:)", text)


def test_runs_equal_native_runs(opened, tmp_path):
    page = opened("#scene=hidden")
    text = page.input_value("#text")
    (tmp_path / "hidden.toml").write_text(text)
    here = multihop.run(tmp_path / "hidden.toml")
    assert run(page) == here.summary["fingerprint"]
    assert page.locator("#charts figure").count() == 2
    first = page.locator("#flows tbody tr").first.inner_text().split("\t")
    assert first[:3] == ["left", "udp", f"{here.flows['goodput_bps'][0] / 1e3:.3g} kb/s"]
    page.fill("#seed", "7")
    page.select_option("#scheme", "tcp-newreno")
    here = multihop.run(tmp_path / "hidden.toml", seed=7, scheme="tcp-newreno", frames=tmp_path / "hidden.frames")
    assert run(page) == here.summary["fingerprint"]
    assert page.locator("#charts figure").count() == 4
    page.wait_for_selector("#viewer .viewer > canvas")
    frames = multihop.frames(tmp_path / "hidden.frames")
    assert f"of {len(frames)} transmissions" in page.inner_text("#viewer .viewer-status")
    page.click("#viewer >> text=next collision")
    assert page.locator("#viewer .viewer-words li").count() > 1
    assert page.evaluate("location.hash") == "#scene=hidden", "the viewer does not change the address"
    page.uncheck("#frames")
    assert run(page) == here.summary["fingerprint"], "a log changes nothing"
    assert page.is_hidden("#viewer")


def wanted(name, scene, tmp_path):
    """Returns the right choice and its value, from native runs."""
    measure, numbers = scene["measure"], []
    (tmp_path / f"{name}.toml").write_text(scene["text"])
    for variant in scene["runs"]:
        settings = {path: tomllib.loads(f"value = {value}")["value"] for path, value in variant.get("set", [])}
        table = getattr(multihop.run(tmp_path / f"{name}.toml", set=settings), measure["table"])
        values = table[measure["column"]]
        meant = values
        for column, value in measure.get("where", {}).items():
            meant = meant[table[column] == value]
        numbers.append(
            {
                "sum": lambda meant=meant: meant.sum(),
                "share": lambda meant=meant, values=values: meant.sum() / values.sum(),
                "quotient": lambda values=values: values[0] / values[1],
                "mean": lambda meant=meant, table=table: (
                    (meant * table[measure["weight"]]).sum() / table[measure["weight"]][meant.notna()].sum()
                ),
            }[measure["fold"]]()
        )
    value = numbers[-1] / numbers[0] if scene["compare"] == "ratio" else numbers[-1]
    return next(i for i, choice in enumerate(scene["choices"]) if value < choice.get("below", float("inf"))), value


@pytest.mark.parametrize("name", ["constructor", "__proto__", "toString", "%", "nothing"])
def test_an_unknown_scene_is_reported(opened, name):
    page = opened(f"#scene={name}")
    page.wait_for_function("document.body.innerText.includes('Found no scene')")
    assert f"Found no scene {name}." in page.inner_text("body")


@pytest.mark.parametrize("name", playground.scenes())
def test_the_answer_of_a_scene_comes_from_its_runs(opened, tmp_path, name):
    page = opened(f"#scene={name}")
    choice, value = wanted(name, playground.scenes()[name], tmp_path)
    page.check(f"input[name=choice][value='{choice}']")
    page.click("text=Check by running")
    page.wait_for_selector("#answer .verdict")
    answer = page.locator("#answer")
    assert answer.inner_text().startswith("Right: ")
    assert answer.get_attribute("data-choice") == str(choice)
    assert float(answer.get_attribute("data-value")) == pytest.approx(value, rel=1e-9)


def test_the_answer_follows_the_network(opened):
    page = opened("#scene=hidden")
    text = page.input_value("#text")
    write(page, text.replace('"400 m", "0 m"', '"210 m", "0 m"'))
    page.check("input[name=choice][value='3']")
    page.click("text=Check by running")
    page.wait_for_selector("#answer .verdict")
    assert page.inner_text("#answer").startswith("Wrong: ")


def test_dragging_a_node_changes_the_text(opened):
    page = opened("#scene=hidden")
    before = page.input_value("#text")
    box = page.locator('[data-node="2"] circle').first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 40, y + 30, steps=4)
    page.mouse.up()
    page.wait_for_function("(text) => document.getElementById('text').value !== text", arg=before)
    after = page.input_value("#text")
    moved = tomllib.loads(after)["topology"]["nodes"][2]["position"]
    assert float(moved[0].split()[0]) < 400
    assert float(moved[1].split()[0]) < 0
    written = f'{{ name = "c", position = ["{moved[0]}", "{moved[1]}"] }}'
    assert after == before.replace('{ name = "c", position = ["400 m", "0 m"] }', written)


def test_a_node_of_a_generated_topology_is_listed_before_it_moves(opened):
    page = opened()
    chain = 'duration = "5 s"\n[topology]\ngenerator = "chain"\nhops = 2\nspacing = "200 m"\n'
    write(page, chain + '[traffic]\npattern = "canonical"\nscheme = "udp"\n')
    page.focus('[data-node="1"]')
    page.keyboard.press("ArrowUp")
    page.wait_for_function("document.getElementById('text').value.includes('\"10 m\"')")
    made = tomllib.loads(page.input_value("#text"))
    assert [node["position"] for node in made["topology"]["nodes"]][1] == ["200 m", "10 m"]
    assert [(flow["from"], flow["to"]) for flow in made["flows"]] == [("n0", "n2")]
    page.wait_for_timeout(300)
    assert page.locator('[data-node="1"]').evaluate("(node) => node === document.activeElement")
    write(page, chain.replace("chain", "dumbbell"))
    assert page.is_visible("#mistake")


def test_the_form_writes_the_text(opened):
    page = opened("#scene=hidden")
    page.click("#tab-form")
    page.fill('[data-path="duration"]', "3 s")
    page.keyboard.press("Tab")
    page.wait_for_function("document.getElementById('text').value.includes('\"3 s\"')")
    page.click("summary >> text=/^mac$/")
    page.select_option('[data-path="mac.discipline"]', "fq-codel")
    page.wait_for_function("document.getElementById('text').value.includes('fq-codel')")
    page.click("text=Add an entry to flows")
    page.wait_for_function("document.getElementById('text').value.split('[[flows]]').length === 4")
    made = tomllib.loads(page.input_value("#text"))
    assert made["mac"]["discipline"] == "fq-codel"
    assert made["flows"][2] == {"from": "a", "to": "b", "scheme": "udp"}
    page.click("summary >> text='a → b'")
    page.click("text=Remove a → b")
    page.wait_for_function("document.getElementById('text').value.split('[[flows]]').length === 3")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("duration = \n", "Line 1: syntax: not valid TOML"),
        ('duration = "5 s"\n[topology]\nnodes = []\n', "Line 3: topology.nodes"),
        ('duration = "5 s"\n[mac]\nqueu = 3\n', 'did you mean "queue"'),
        ('duration = "<b>5 s</b>"\n', "<b>5 s</b>"),
    ],
)
def test_an_error_in_the_text_is_shown_with_its_line(opened, wrong, said):
    page = opened()
    write(page, wrong)
    assert said in page.inner_text("#mistake")
    assert page.locator("#lines .wrong").count() == 1
    assert page.is_disabled("#run")


def test_an_endless_run_can_be_cancelled(opened):
    page = opened("#scene=hidden")
    text = page.input_value("#text")
    write(page, re.sub('duration = "20 s"\n', ENDLESS, text))
    page.click("#run")
    page.wait_for_selector("#results:visible")
    page.click("#cancel")
    page.wait_for_selector("#run:enabled")
    assert page.inner_text("#status").startswith("Cancelled")
    write(page, text)
    assert len(run(page)) == 16


def test_results_of_an_earlier_run_are_not_shown_for_the_current_one(opened):
    page = opened("#scene=hidden")
    text = page.input_value("#text")
    run(page)
    page.wait_for_selector("#viewer .viewer > canvas")
    write(page, re.sub('duration = "20 s"\n', ENDLESS, text).replace('"a"', '"zzz"'))
    assert "a" in page.locator("#viewer option").all_inner_texts()
    page.click("#run")
    page.wait_for_selector("#cancel:enabled")
    # The viewer is empty or shows the first part of the current run.
    assert "a" not in page.locator("#viewer option").all_inner_texts()
    page.wait_for_function("document.getElementById('flows').innerText.includes('left')")
    page.wait_for_selector("#results:not(.old)")
    page.click("#cancel")
    page.wait_for_selector("#run:enabled")
    assert "a" not in page.locator("#viewer option").all_inner_texts()
    page.uncheck("#frames")
    page.click("#run")
    assert page.is_hidden("#viewer")
    page.click("#cancel")
    page.wait_for_selector("#run:enabled")
    assert page.is_hidden("#viewer")


def test_the_viewer_shows_runs_in_progress_and_cancelled_runs(opened):
    page = opened("#scene=hidden")
    write(page, re.sub('duration = "20 s"\n', ENDLESS, page.input_value("#text")).replace('"a"', '"zzz"'))
    page.click("#run")
    page.wait_for_selector("#viewer .viewer > canvas")
    assert page.is_enabled("#cancel"), "the run is in progress"
    assert "The log contains the run so far" in page.inner_text("#viewer .viewer-note")
    page.click("#cancel")
    page.wait_for_selector("#run:enabled")
    # The last part of the log may still be drawn.
    status = "document.querySelector('#viewer .viewer-status')?.innerText"
    page.wait_for_function(f"/^[0-9.]+ s to [0-9.]+ s /.test({status})")
    words = page.evaluate(status).split()
    begin, end = float(words[0]), float(words[3])
    assert 0 <= begin < end < 1e6, "the view covers the run so far, not its whole duration"
    assert page.inner_text("#status") == "Cancelled; the results until then are shown below."
    assert "zzz" in page.inner_text("#viewer .viewer") + page.inner_html("#viewer .viewer")


#: Marks the log as incomplete, as the engine does with a log that is too large.
CUT = """
const Real = Worker;
globalThis.Worker = class extends Real {
  set onmessage(act) {
    super.onmessage = (event) => {
      const { progress } = event.data;
      if (progress?.frames) {
        const header = new TextDecoder("latin1").decode(progress.frames.subarray(0, 1e6));
        const at = header.indexOf('"cutShort":null') + 11;
        progress.frames.set(new TextEncoder().encode("true"), at);
      }
      act(event);
    };
  }
};
"""


def test_a_log_that_is_too_large_has_a_note(playground_file, shown):
    page = shown(playground_file.as_uri() + "#scene=hidden", before=CUT)
    page.wait_for_selector("html[data-ready]")
    run(page)
    page.wait_for_selector("#viewer .viewer-note")
    note = page.inner_text("#viewer .viewer-note")
    assert note.startswith("The log is full: the page stores about ")
    assert "multihop run --frames" in note


def test_a_check_during_a_run_does_not_enable_another(opened):
    page = opened("#scene=hidden")
    text = re.sub('duration = "20 s"\n', ENDLESS, page.input_value("#text"))
    write(page, text)
    page.click("#run")
    write(page, text + "# read again\n")
    assert page.is_disabled("#run")
    write(page, 'duration = "3 apples"\n')
    page.click("#cancel")
    page.wait_for_selector("#cancel:disabled")
    assert page.is_disabled("#run")
    write(page, text)
    page.wait_for_selector("#run:enabled")


def test_a_link_contains_the_state_of_the_page(opened):
    page = opened("#scene=nav")
    text = page.input_value("#text").replace('"20 s"', '"7 s"') + "# käse <b>\n"
    write(page, text)
    page.fill("#seed", "12")
    page.click("#share")
    page.wait_for_function("location.hash.startsWith('#s=')")
    again = opened(page.evaluate("location.hash"))
    assert again.input_value("#text") == text
    assert again.input_value("#seed") == "12"
    assert again.input_value("#scene") == "nav"
    assert run(again) == run(page)


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        ("#s=" + "A" * 1_000_000, "The link is too long (found 1.0 MB, at most 64 kB)."),
        ("#s=AAAA", "The link is damaged"),
        ("#s=%%%", "The link is damaged"),
        ("#scene=nowhere", "Found no scene nowhere."),
    ],
)
def test_an_invalid_link_is_refused(opened, fragment, said):
    page = opened(fragment)
    assert said in page.inner_text("#message")
    assert page.is_enabled("#run")


def test_a_scenario_too_long_for_a_link_is_refused(opened):
    page = opened("#scene=nav")
    write(page, page.input_value("#text") + "# " + page.evaluate(RANDOM))
    page.click("#share")
    page.wait_for_selector("#message:not(:empty)")
    assert "too long for a link" in page.inner_text("#message")


#: Text that cannot be compressed.
RANDOM = "Array.from({ length: 40000 }, () => Math.random().toString(36).slice(2, 6)).join('')"


def test_the_scenario_can_be_downloaded_and_opened(opened, tmp_path):
    page = opened("#scene=anomaly")
    with page.expect_download() as waiting:
        page.click("#download")
    waiting.value.save_as(tmp_path / "x.toml")
    assert waiting.value.suggested_filename == "anomaly.toml"
    text = (tmp_path / "x.toml").read_text("utf-8")
    assert text == page.input_value("#text")
    (tmp_path / "x.toml").write_text("# mine\n" + text)
    page.set_input_files("#file", tmp_path / "x.toml")
    page.wait_for_function("document.getElementById('text').value.startsWith('# mine')")
    assert page.input_value("#scene") == ""
    assert page.locator(".question").is_hidden()


def test_without_webassembly_an_error_is_shown(playground_file, shown):
    page = shown(playground_file.as_uri(), before="delete globalThis.WebAssembly")
    page.wait_for_selector("#missing:visible")
    assert page.inner_text("#missing").startswith("This browser has no WebAssembly")


def test_the_page_fits_a_telephone_and_controls_have_names(opened):
    page = opened("#scene=unfairness", viewport={"width": 400, "height": 800}, color_scheme="dark")
    run(page)
    page.click("#tab-form")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    nameless = """() => [...document.querySelectorAll("button, select, input, textarea, [role=img], [role=button]")]
        .filter((each) => !(each.labels?.length || each.getAttribute("aria-label") || each.textContent.trim()))
        .map((each) => each.outerHTML.slice(0, 80))"""
    assert page.evaluate(nameless) == []


#: A question for the scene "hidden", whose answer is not one of the scene's.
QUESTION = """question = "How many packets does flow left lose, beside flow right?"
measure = { what = "losses of left over right", table = "flows", column = "packets_lost", fold = "quotient" }
compare = "last"
runs = [{ label = "long packets" }, { label = "short packets", set = [["schemes.udp.segment_size", '"300 B"']] }]
choices = [{ text = "Half or less", below = 0.5 }, { text = "About as many", below = 2 }, { text = "Twice or more" }]
"""


def test_a_question_is_answered_only_after_a_choice(opened):
    page = opened("#scene=hidden")
    page.click("text=Check by running")
    page.wait_for_timeout(500)
    assert page.inner_text("#answer") == ""
    assert page.is_hidden("#results"), "nothing was run"
    page.check("input[name=choice][value='0']")
    page.click("text=Check by running")
    page.wait_for_selector("#answer .verdict")


def test_a_link_contains_a_question(opened):
    page = opened("#scene=hidden")
    page.click("text=Write a question")
    assert page.input_value("#asked").startswith('title = "Hidden terminals"\n')
    page.fill("#asked", QUESTION)
    page.click("text=Show the question")
    page.wait_for_function("document.querySelector('.question').innerText.includes('How many packets')")
    page.click("#share")
    page.wait_for_function("location.hash.startsWith('#s=')")
    again = opened(page.evaluate("location.hash"))
    assert "How many packets" in again.inner_text(".question legend")
    again.check("input[name=choice][value='1']")
    again.click("text=Check by running")
    again.wait_for_selector("#answer .verdict")
    assert again.inner_text("#answer").startswith("Right: About as many.")
    again.select_option("#scene", "nav")
    again.wait_for_function("document.querySelector('.question').innerText.includes('hear nothing')")
    assert again.evaluate("document.getElementById('asked').value").startswith('title = "The NAV"\n')


def test_an_error_in_a_question_is_shown(opened):
    page = opened("#scene=hidden")
    page.click("text=Write a question")
    for wrong, said in (
        (
            QUESTION.replace("packets_lost", "packets_lsot"),
            'measure.column: found "packets_lsot"; needs a column of flows',
        ),
        (QUESTION.replace("runs = [", "runs = "), "Question: line"),
    ):
        page.fill("#asked", wrong)
        page.click("text=Show the question")
        page.wait_for_function(
            "(said) => document.getElementById('asked-mistake').textContent.includes(said)", arg=said
        )
    assert "Hidden terminals" in page.inner_text(".question")
