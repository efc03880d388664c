"""Every code block of the documentation works as the page says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.checks.markdown import Page
from tests.checks.problems import ROOT, pages
from tests.checks.reference import NOTE
from tests.databases import put_host_database
from tests.docs.reader import INDEX, WHEELS, Reader, can_be_run, is_left_out
from tests.e2e.hosts import plugyard

_LANGUAGES = {"console", "html", "ini", "javascript", "json", "nginx", "python", "sh", "text", "toml"}
_MOST_LEFT_OUT = 8
_OFFERED = ("lamp-1.0", "lamp-1.1", "greeter", "misspelt-hook", "raises-in-hook")
"""The packages that pages install."""


def _written_pages() -> list[Page]:
    found = (Page.read(path) for path in pages())
    return [page for page in found if not page.text.startswith(NOTE)]


_PAGES = _written_pages()
_RUNNABLE = [page for page in _PAGES if any(can_be_run(block) for block in page.blocks())]


@pytest.fixture(scope="session")
def manifests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give what a host has found in the plugins that come with it: looking takes half a second, and finds the same."""
    home = tmp_path_factory.mktemp("first") / "home"
    home.mkdir()
    done = plugyard(home, "plugin", "list")
    assert done.returncode == 0, done.stderr
    return home / "manifests"


@pytest.mark.e2e
@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", [pytest.param(page, id=str(page.path.relative_to(ROOT))) for page in _RUNNABLE])
def test_the_blocks_of_a_page_work(page: Page, tmp_path: Path, wheels, index, manifests):
    """Whoever follows the page from top to bottom gets what it promises."""
    stand_ins = {
        WHEELS: str(wheels.into(tmp_path / "wheels", *_OFFERED)),
        INDEX: index(*_OFFERED).url if INDEX in page.text else INDEX,
    }
    shutil.copytree(manifests, tmp_path / "home" / manifests.name)
    if "plugyard migrate" not in page.text:
        put_host_database(tmp_path / "home")
    with Reader(page, tmp_path, stand_ins) as reader:
        for block in page.blocks():
            reader.follow(block)


@pytest.mark.parametrize("page", [pytest.param(page, id=str(page.path.relative_to(ROOT))) for page in _PAGES])
def test_blocks_are_of_a_known_kind(page: Page):
    """No block escapes the tests through a language that they do not know or a missing prompt."""
    for block in page.blocks():
        where = f"{page.path}:{block.line}"
        assert block.language in _LANGUAGES, f"{where}: the language '{block.language}' is not known"
        if block.language in {"console", "sh"} and not is_left_out(block):
            assert block.text.startswith("$ "), f"{where}: a command begins with '$ '; or say why it is not run"


def test_few_blocks_are_left_out():
    """Blocks that are not run stay the exception."""
    left_out = [f"{page.path}:{block.line}" for page in _PAGES for block in page.blocks() if is_left_out(block)]

    assert len(left_out) <= _MOST_LEFT_OUT, left_out
