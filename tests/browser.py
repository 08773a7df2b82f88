"""Fixtures: the page of `make playground`, a browser, Node.js; what is absent is said, and its tests are skipped."""

import shutil
import subprocess
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "target" / "playground" / "playground.html"
WASM = ROOT / "target" / "wasm32-unknown-unknown" / "web" / "multihop_web.wasm"

#: What a page may ask for.
LOCAL = ("file:", "blob:", "data:")


@pytest.fixture(scope="session")
def playground_file():
    """The page."""
    if not PAGE.exists():
        pytest.skip("there is no playground: Rust has no target wasm32-unknown-unknown, see `make playground`")
    return PAGE


@pytest.fixture(scope="session")
def in_node(playground_file):
    """Runs a script of tests/playground with Node.js, on the engine that the page has."""
    assert playground_file.exists()
    program = shutil.which("node")
    if program is None:
        pytest.skip("there is no node")

    def run(script, *arguments):
        command = [program, ROOT / "tests" / "playground" / script, WASM, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    return run


@contextmanager
def chromium():
    """Chromium of the system; None where there is none, or no driver of it."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None or find_spec("playwright") is None:
        yield None
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def browser():
    """Chromium of the system."""
    with chromium() as found:
        if found is None:
            pytest.skip("there is no Chromium, or no playwright")
        yield found


@pytest.fixture
def shown(browser):
    """Opens a file; in the end nothing may have been written to the console, or asked of a network."""
    contexts, wrong = [], []

    def show(address, before=None, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith(LOCAL) else wrong.append(request.url))
        if before:
            page.add_init_script(before)
        page.goto(address)
        return page

    yield show
    for context in contexts:
        context.close()
    assert not wrong


@pytest.fixture
def opened(playground_file, shown):
    """Opens the playground with a fragment, and waits until it is ready."""

    def open_page(fragment="", **options):
        page = shown(playground_file.as_uri() + fragment, **options)
        page.wait_for_selector("html[data-ready]")
        return page

    return open_page
