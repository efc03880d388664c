"""Read Markdown as far as the checks need it: fenced blocks, headings and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>```+|~~~+)[ ]*(?P<info>[^`]*)$")
_HEADING = re.compile(r"^(?P<marks>#{1,6})\s+(?P<text>.+?)\s*#*$")
_LINK = re.compile(r"(?<!!)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^()\s]*(?:\([^()\s]*\))?)\)")
_CODE = re.compile(r"`+[^`]*`+")
_ANCHOR = re.compile(r"<a (?:id|name)=\"([^\"]+)\">")
_TITLE = re.compile(r"title=\"([^\"]*)\"")
_COMMENT = re.compile(r"<!--\s*(?P<text>.*?)\s*-->", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page."""

    line: int
    """Number of the line on which it opens."""
    language: str
    title: str
    """From ``title="…"`` after the language; the file that the block is."""
    text: str
    comment: str
    """What the comment on the lines right before it says, if there is one."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a page."""

    line: int
    target: str


@dataclass(frozen=True, slots=True)
class Page:
    """A page of Markdown."""

    path: Path
    text: str

    @classmethod
    def read(cls, path: Path) -> Page:
        """Read a page."""
        return cls(path, path.read_text("utf-8"))

    @property
    def title(self) -> str:
        """The first heading."""
        return next(self.headings(), "")

    def headings(self) -> Iterator[str]:
        """Iterate over the texts of the headings."""
        for _, line in self._prose():
            if match := _HEADING.match(line):
                yield match["text"]

    def anchors(self) -> set[str]:
        """Return what a link may name after ``#``: the slugs of headings, counted where they repeat, and anchors."""
        found: set[str] = set()
        for text in self.headings():
            plain, number = slug(text), 0
            name = plain
            while name in found:
                number += 1
                name = f"{plain}-{number}"
            found.add(name)
        return found | set(_ANCHOR.findall(self.text))

    def links(self) -> Iterator[Link]:
        """Iterate over the links, those in code left out."""
        for number, line in self._prose():
            for match in _LINK.finditer(_CODE.sub("", line)):
                yield Link(number, match["target"])

    def comments(self) -> Iterator[str]:
        """Iterate over the texts of HTML comments outside of blocks."""
        for match in _COMMENT.finditer("\n".join(line for _, line in self._prose())):
            yield match["text"]

    def blocks(self) -> Iterator[Block]:
        """Iterate over the fenced blocks."""
        opened: re.Match[str] | None = None
        start, before = 0, ""
        body: list[str] = []
        for number, line in enumerate(self.text.split("\n"), start=1):
            match = _FENCE.match(line)
            if opened is None and match:
                opened, start, body = match, number, []
            elif opened is not None and match and _closes(match, opened):
                yield _block(opened, start, body, before)
                opened, before = None, ""
            elif opened is not None:
                body.append(line.removeprefix(opened["indent"]))
            else:
                before = before if not line.strip() else f"{before}\n{line}" if _is_comment(before, line) else line

    def _prose(self) -> Iterator[tuple[int, str]]:
        opened: re.Match[str] | None = None
        for number, line in enumerate(self.text.split("\n"), start=1):
            match = _FENCE.match(line)
            if opened is None and match:
                opened = match
            elif opened is not None and match and _closes(match, opened):
                opened = None
            elif opened is None:
                yield number, line


def slug(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    plain = _LINK.sub(lambda match: match["text"], heading).replace("`", "").replace("*", "")
    kept = "".join(sign for sign in plain.strip().lower() if sign.isalnum() or sign in "-_ ")
    return kept.replace(" ", "-")


def _closes(match: re.Match[str], opened: re.Match[str]) -> bool:
    return not match["info"].strip() and match["fence"].startswith(opened["fence"])


def _is_comment(before: str, line: str) -> bool:
    # A comment may take several lines.
    return before.lstrip().startswith("<!--") and "-->" not in before and bool(line.strip())


def _block(opened: re.Match[str], start: int, body: list[str], before: str) -> Block:
    info = opened["info"].strip()
    title = _TITLE.search(info)
    comment = _COMMENT.fullmatch(before.strip())
    return Block(
        line=start,
        language=info.split(" ", 1)[0],
        title=title[1] if title else "",
        text="\n".join([*body, ""]) if body else "",
        comment=comment["text"] if comment else "",
    )
