"""Pages are read as they are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.markdown import Page, slug

PAGE = Page(
    Path("page.md"),
    """\
# Lamps & shelves

See [below](#again), [another page](other.md#part) and `[no](link)`.

<!-- not run: it needs
     a lamp -->
```console
$ lamp on
# no heading
```

## Again

Text.

```python title="lamp/plugin.py"
x = "[no](link)"
```

## Again
""",
)


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        pytest.param("With plugins.txt", "with-pluginstxt", id="signs go"),
        pytest.param("`action_names`", "action_names", id="code keeps its words"),
        pytest.param("URLs (`urls`)", "urls-urls", id="brackets go"),
        pytest.param("See [the page](page.md)", "see-the-page", id="links keep their text"),
    ],
)
def test_a_heading_has_the_anchor_that_github_gives_it(heading, anchor):
    """Links that work in the repository work in the check."""
    assert slug(heading) == anchor


def test_headings_that_repeat_are_counted():
    """Two headings of the same text have two anchors; what stands in a block is no heading."""
    assert PAGE.anchors() == {"lamps--shelves", "again", "again-1"}


def test_links_in_code_are_none():
    """Only what is shown as a link is one."""
    assert [link.target for link in PAGE.links()] == ["#again", "other.md#part"]


def test_a_block_knows_its_language_title_and_comment():
    """The comment right before a block belongs to it, however many lines it has."""
    console, python = PAGE.blocks()

    assert (console.language, console.line) == ("console", 7)
    assert console.comment.startswith("not run: it needs")
    assert (python.language, python.title, python.comment) == ("python", "lamp/plugin.py", "")
    assert python.text == 'x = "[no](link)"\n'
