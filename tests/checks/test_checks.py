"""The documentation says what the code does, and the checks would notice if it did not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from api.errors import RULES
from tests.checks import completeness, links, problems, record_operations, reference, sign_in_operations, words
from tests.checks.__main__ import CHECKS
from tests.checks.docstrings import markdown, sections
from tests.checks.problems import DOCS, Problem


@pytest.mark.parametrize("check", [pytest.param(check, id=check.__module__.rpartition(".")[2]) for check in CHECKS])
def test_the_documentation_has_no_problems(check: Callable[[], Iterator[Problem]]):
    """Pages that drifted from the code, dead links and names that are not documented fail the tests."""
    assert [str(problem) for problem in check()] == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A missing file, a missing heading and a folder are named with their line."""
    (tmp_path / "part").mkdir()
    page = tmp_path / "index.md"
    page.write_text("# Index\n\n[a](gone.md)\n[b](#gone)\n[c](part)\n[d](#index)\n[e](index.md#index)\n")
    monkeypatch.setattr(links, "pages", lambda: [page])
    monkeypatch.setattr(links, "DOCS", tmp_path)

    assert [problem.line for problem in links.check() if problem.line] == [3, 4, 5]


def test_a_page_that_nobody_links_to_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Whoever starts at the index finds every page."""
    for name, text in {"index.md": "[a](a.md)", "a.md": "[index](index.md)", "b.md": ""}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(links, "pages", lambda: sorted(tmp_path.glob("*.md")))
    monkeypatch.setattr(links, "DOCS", tmp_path)

    assert [problem.path.name for problem in links.check()] == ["b.md"]


def test_a_generated_page_that_was_edited_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The problem names the line, the difference and the command that mends it."""
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "hooks.md").write_text(reference.text_of("hooks.md").replace("## Actions", "## Deeds"))
    monkeypatch.setattr(reference, "DOCS", tmp_path)
    monkeypatch.setattr(reference, "PAGES", {"hooks.md": reference.PAGES["hooks.md"]})

    (problem,) = reference.check()

    assert problem.line > 0
    assert "make reference" in problem.message
    assert "## Deeds" in problem.message


def test_banned_words_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The line of each is named."""
    file = tmp_path / "notes.txt"
    file.write_text("fine\nTO" + "DO: more\nof /work" + "/ and framework/\n")
    monkeypatch.setattr(words, "project_files", lambda: [file])

    assert sorted(problem.line for problem in words.check()) == [2, 3]


def test_the_errors_page_has_every_status():
    """A class of errors that the API answers in its own way is documented."""
    text = (DOCS / "reference" / "errors.md").read_text("utf-8")

    assert [rule.status for rule in RULES.values() if f"| {rule.status} |" not in text] == []


def test_the_files_of_the_project_are_known():
    """The search for banned words covers code, documentation and lock files."""
    names = {path.name for path in problems.project_files()}

    assert {"requirements.lock", "README.md", "pyproject.toml", "markdown.py"} <= names


def test_a_docstring_becomes_markdown():
    """Roles and literals become code, sections lists, and literal blocks Python."""
    text = (
        "Take :class:`host.Plugin`.\n\nDo so::\n\n    a = 1\n\n\n    b = 2\n\n"
        "Raises:\n    KeyError: none is\n        there.\n"
    )

    assert markdown(text) == (
        "Take `host.Plugin`.\n\nDo so:\n\n```python\na = 1\n\n\nb = 2\n```\n\nRaises:\n\n- `KeyError`: none is there."
    )


def test_the_documentation_of_a_hook_has_sections():
    """Lines that go on belong to their section."""
    summary, found = sections("Do it.\n\nWhen: now and\nthen.\nReturn: ``None``.")

    assert summary == "Do it."
    assert found == {"When": "now and then.", "Return": "`None`."}


def test_a_test_that_is_gone_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The page of the sign-in operations names tests that exist, answers that are given, and misses no operation."""
    page = tmp_path / "operations.md"
    page.write_text(
        "| operation | answer | when | tests |\n|---|---|---|---|\n"
        "| `GET /config` | 200 | always | `checks/test_checks.py::test_banned_words_are_found` |\n"
        "| `GET /config` | 200 | always | `checks/test_checks.py::test_nothing` |\n"
        "| `GET /config` | 302 | never | `checks/test_checks.py::test_banned_words_are_found` |\n"
        "| `GET /nowhere` | 200 | always | untested |\n"
    )
    monkeypatch.setattr(sign_in_operations, "PAGE", page)

    found = list(sign_in_operations.check())

    assert [problem.line for problem in found if problem.line] == [4, 5, 6, 6]
    assert any("POST /auth/login answers 200" in problem.message for problem in found)
    assert not any("GET /config answers" in problem.message for problem in found)


def test_an_operation_that_nobody_tests_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The page of the record operations misses none, and names parameters without their kind."""
    page = tmp_path / "operations.md"
    page.write_text(
        "| operation | answer | who | tests |\n|---|---|---|---|\n"
        "| `GET /api/news/{id}/` | 200 | the staff | `checks/test_checks.py::test_banned_words_are_found` |\n"
        "| `GET /api/auth/v1/config` | 200 | anyone | `checks/test_checks.py::test_banned_words_are_found` |\n"
    )
    monkeypatch.setattr(record_operations, "PAGE", page)

    found = list(record_operations.check())

    assert [problem.line for problem in found if problem.line] == [4]
    assert any("DELETE /api/news/{id}/ answers 204" in problem.message for problem in found)
    assert not any("GET /api/news/{id}/ answers" in problem.message for problem in found)
    assert not any("/api/auth/v1" in problem.message for problem in found if not problem.line)


def test_a_setting_that_does_not_exist_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """By its variable in a text, and by its name in a file."""
    page = tmp_path / "page.md"
    page.write_text("Set `PLUGYARD_HOME` or `PLUGYARD_HOUSE`.\n\n```toml\nhome = 'a'\nhouse = 'b'\n```\n")
    monkeypatch.setattr(completeness, "pages", lambda: [page])

    assert [problem.line for problem in completeness.check()] == [1, 3]
