"""The site: pages of schemes, descriptions, the sitemap, copy buttons."""

import os
import re
import subprocess
import sys

import pytest
from docs import generate

import multihop
from conftest import ROOT

SCHEMES = {scheme["name"]: scheme for scheme in multihop.catalogue()["schemes"]}

PAGE = """# A page

Read this first:

It holds one fact. Its second sentence is followed by a list:

- with an entry

Another paragraph.

```console
$ multihop --version
multihop 0.1.0
```

```text
output
```
"""


@pytest.fixture(scope="module")
def pages():
    return generate.scheme_pages(multihop.catalogue()["schemes"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Builds a site of one page with the project's settings and an address."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    (source / "index.md").write_text(PAGE)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-c", ROOT / "docs", source, target]
    subprocess.run(command, check=True, cwd=ROOT, env=os.environ | {"SITE_URL": "https://site.test/multihop"})
    return target


def keys_of(page):
    return re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)


def test_the_table_of_schemes_links_a_page_of_each(pages):
    linked = re.findall(r"^\| \[`([\w-]+)`\]\(schemes/\1\.md\) \|", pages["schemes.md"], re.MULTILINE)
    assert linked == list(SCHEMES)
    assert {name for name in pages if "/" in name} == {f"schemes/{name}.md" for name in SCHEMES}


def test_every_scheme_but_udp_has_an_explanation(pages):
    missing = [name for name, scheme in SCHEMES.items() if not generate.explanation(scheme["preset_of"] or name)]
    assert missing == ["udp"], "name the schemes in `_EXPLAINED` of docs/generate.py"
    assert "- Explained in: [RECN](../../../explanation/schemes/recn.md)\n" in pages["schemes/ecn-rts.md"]


def test_parameters_of_tcp_have_one_page(pages):
    shared = keys_of(pages["tcp-parameters.md"])
    assert {"min_rto", "keep_sacked", "window"} <= set(shared)
    own, other = pages["schemes/rcp.md"].split("## Parameters of TCP")
    assert not set(keys_of(own)) & set(shared)
    assert "| `window` | `1024` |" in other
    assert "(../tcp-parameters.md)" in other
    # Every key of the schema is on one of the two pages, and datagrams have none of TCP.
    for name in ("rcp", "tcp-cubic", "tfrc"):
        page = pages[f"schemes/{name}.md"].split("## Parameters of TCP")
        found = keys_of(page[0]) + (shared if len(page) > 1 else [])
        assert sorted(found) == sorted(SCHEMES[name]["parameters"]["properties"])


def test_a_preset_is_a_short_page_that_links_its_base(pages):
    page = pages["schemes/recn-published.md"]
    assert "[`recn`](recn.md) with these defaults:" in page
    assert 'access = "contention"' in page
    assert not keys_of(page)
    assert "- Presets: [`recn-published`](recn-published.md)\n" in pages["schemes/recn.md"]


def test_a_page_has_its_first_sentences_as_description(site):
    page = (site / "index.html").read_text("utf-8")
    assert re.findall(r'<meta name="description" content="(.*?)"', page) == ["It holds one fact."]


def test_an_address_makes_a_sitemap_and_canonical_addresses(site):
    listed = re.findall("<loc>(.*?)</loc>", (site / "sitemap.xml").read_text("utf-8"))
    assert listed == ["https://site.test/multihop/index.html"]
    assert '<link rel="canonical" href="https://site.test/multihop/index.html"' in (site / "index.html").read_text()


def test_commands_are_copied_without_prompt_and_output(site, shown):
    before = "navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }; "
    before += "document.execCommand = () => { globalThis.copied = getSelection().toString(); return true; };"
    page = shown((site / "index.html").as_uri(), before=before)
    page.wait_for_selector("button.copybtn", state="attached")
    assert page.locator("button.copybtn").count() == 1, "output alone has no button"
    page.locator("button.copybtn").dispatch_event("click")
    page.wait_for_function("globalThis.copied !== undefined")
    assert page.evaluate("globalThis.copied") == "multihop --version"
