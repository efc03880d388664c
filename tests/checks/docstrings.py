"""Turn docstrings into Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_ROLE = re.compile(r":(?:class|func|meth|mod|data):`~?(?P<name>[^`]+)`")
_LITERAL = re.compile(r"``(?P<text>[^`]+)``")
_SECTION = re.compile(r"^(?P<name>[A-Z][a-z]+): ?(?P<rest>.*)$")
_INDENT = "    "


def markdown(text: str) -> str:
    """Return a docstring's text as Markdown: its literal blocks become Python, its sections lists."""
    return "\n\n".join(_parts(text.splitlines()))


def sections(docstring: str) -> tuple[str, Mapping[str, str]]:
    """Split the docstring of a hook into its first sentence and its sections by name, each as one line."""
    summary, _, rest = docstring.partition("\n\n")
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in rest.splitlines():
        if match := _SECTION.match(line):
            current = found.setdefault(match["name"], [])
            current.append(match["rest"])
        elif line.strip():
            current.append(line.strip())
    return inline(summary), {name: inline(" ".join(lines)) for name, lines in found.items()}


def inline(text: str) -> str:
    """Return a paragraph as one line of Markdown."""
    one_line = " ".join(text.split())
    plain = _ROLE.sub(lambda match: f"`{match['name']}`", one_line)
    return _LITERAL.sub(lambda match: f"`{match['text']}`", plain)


def _parts(lines: list[str]) -> Iterator[str]:
    start = 0
    while start < len(lines):
        end = next((index for index in range(start, len(lines)) if not lines[index].strip()), len(lines))
        paragraph = lines[start:end]
        start = end + 1
        if not paragraph:
            continue
        if paragraph[-1].rstrip().endswith("::"):
            end = _end_of_code(lines, start)
            code = "\n".join(line.removeprefix(_INDENT) for line in lines[start:end]).strip("\n")
            yield inline(" ".join(paragraph)).removesuffix(":")
            yield f"```python\n{code}\n```"
            start = end
        else:
            yield _section(paragraph) or inline(" ".join(paragraph))


def _section(lines: list[str]) -> str:
    """Write ``Raises:`` and the like, whose entries are indented, as a list."""
    head, *entries = lines
    if not entries or not re.fullmatch(r"[A-Z][a-z]+:", head.strip()) or not entries[0].startswith(_INDENT):
        return ""
    items: list[str] = []
    for line in entries:
        if line.startswith(_INDENT * 2) and items:
            items[-1] += f" {line.strip()}"
        else:
            name, _, text = line.strip().partition(": ")
            items.append(f"- `{name}`: {text}")
    return "\n".join([head.strip(), "", *map(inline, items)])


def _end_of_code(lines: list[str], start: int) -> int:
    end = start
    while end < len(lines) and (not lines[end].strip() or lines[end].startswith(_INDENT)):
        end += 1
    return end
