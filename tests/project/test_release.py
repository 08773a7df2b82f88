"""What a release says of the package outside of pyproject.toml: the page on an index, the citation, the recipe."""

import re
import tomllib

import pytest
from tools.page_steps import read

from conftest import ROOT
from multihop.base import extras

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]["version"]
RECIPE = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text("utf-8")


def relative_targets(text):
    """Targets of links and pictures that lead nowhere on a package index."""
    return [target for target in re.findall(r"\]\(([^)\s]+)", text) if not re.match(r"https?:", target)]


def test_the_page_on_an_index_has_no_link_into_the_repository():
    page = (ROOT / PROJECT["readme"]).read_text("utf-8")
    assert relative_targets(page) == []
    assert relative_targets((ROOT / "README.md").read_text("utf-8")), "the README could be that page"


def test_the_page_on_an_index_names_every_extra_and_commands_that_exist():
    page = ROOT / PROJECT["readme"]
    assert all(f"`{extra}`" in page.read_text("utf-8") for extra in extras.EXTRAS)
    commands = [step.text for step in read(page).steps if step.kind == "command"]
    assert [command.split()[1] for command in commands] == ["doctor", "init", "compare", "explain", "list"]


@pytest.mark.parametrize("text", [RECIPE, (ROOT / "CITATION.cff").read_text("utf-8")])
def test_citation_and_recipe_are_of_this_version(text):
    assert re.findall(r'^ *version: "?([\d.]+)"?$', text, re.MULTILINE) == [VERSION]


def test_the_recipe_requires_what_the_package_requires():
    run = RECIPE.partition("\n  run:\n")[2].partition("\n\n")[0]
    required = [line.strip().removeprefix("- ").replace(" ", "") for line in run.splitlines()]
    assert required == [f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]]
