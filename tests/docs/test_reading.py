"""The tests of the code blocks would notice a page that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.markdown import Page
from tests.docs.outputs import matches
from tests.docs.reader import Reader
from tests.docs.shell import Command, commands_in


@pytest.mark.parametrize(
    ("expected", "printed", "is_right"),
    [
        pytest.param("a\nb", "a  \nb\n\n", True, id="blanks at ends do not count"),
        pytest.param("a  b", "a     b", True, id="the width of columns does not count"),
        pytest.param("a b", "a     b", False, id="a blank is no column"),
        pytest.param("a...c", "a\nb\nc", True, id="a wildcard spans lines"),
        pytest.param('{"a":1,...}', '{"a":1,"b":2}', True, id="a wildcard within a line"),
        pytest.param("a", "a\nb", False, id="more than expected"),
        pytest.param("a.c", "abc", False, id="a dot is a dot"),
    ],
)
def test_outputs_are_compared_leniently_and_wholly(expected, printed, is_right):
    """What the page leaves open may be anything, all else must be there."""
    assert matches(expected, printed) is is_right


def test_a_block_is_split_into_commands_and_outputs():
    """A command may go on in further lines; what follows is its output."""
    text = "$ one \\\n>   two\nprinted\n> printed too\n$ three\n"

    assert list(commands_in(text)) == [Command("one \\\n  two", "printed\n> printed too"), Command("three", "")]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("```console\n$ echo a\nb\n```", id="another output"),
        pytest.param("```console\n$ false\n```", id="a command fails"),
        pytest.param("```python\nassert 1 == 2\n```", id="Python fails"),
        pytest.param('```python title="../a.py"\n```', id="a file outside of the folder"),
    ],
)
def test_a_wrong_block_fails(text, tmp_path: Path):
    """A page that promises something else than happens is not accepted."""
    page = Page(Path("page.md"), text)

    (block,) = page.blocks()

    with Reader(page, tmp_path, {}) as reader, pytest.raises(AssertionError):
        reader.follow(block)


def test_blocks_of_a_page_belong_together(tmp_path: Path):
    """Files, names and variables of earlier blocks are there in later ones; a block may be left out with a reason."""
    page = Page(
        Path("page.md"),
        """
```python title="lamp/bulb.py"
LIGHT = "dim"
```

```python
from lamp.bulb import LIGHT
```

```python
assert LIGHT == "dim"
```

```console
$ cd lamp
$ WHO=ada
```

```console
$ echo "$WHO" && ls bulb.py && pwd
ada
bulb.py
.../lamp
```

<!-- not run: it would fail -->
```console
$ false
```
""",
    )
    with Reader(page, tmp_path, {}) as reader:
        for block in page.blocks():
            reader.follow(block)
