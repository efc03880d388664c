"""Texts of strangers, made into short plain lines."""

from __future__ import annotations

import re
import unicodedata
from html import unescape
from typing import Final

import nh3

_LOOKED_AT: Final = 20_000
_ROUNDS: Final = 5
_TAG: Final = re.compile(r"<[^<>]{0,2000}>|<(?=[a-zA-Z/!?])")
# Direction marks can make a text read otherwise than it is written.
_DROPPED: Final = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
_JOINERS: Final = "\u200c\u200d"
_LOOSE: Final = " ,;:.-\u2013"


def plain(html: str) -> str:
    """Return what people read of a piece of HTML: one line of text without tags and control characters."""
    text = html[:_LOOKED_AT].encode("utf-8", "replace").decode("utf-8")
    for _ in range(_ROUNDS):
        # Tags that were escaped, maybe more than once, would be tags wherever somebody unescapes them once more.
        cleaned = unescape(nh3.clean(text, tags=set(), attributes={}))
        if cleaned == text:
            break
        text = cleaned
    text = _DROPPED.sub("", _TAG.sub(" ", text))
    return " ".join("".join(" " if _is_control(one) else one for one in text).split())


def cut(text: str, most: int) -> str:
    """Return at most so many characters, ending with a whole word and ``…`` where something is left out."""
    if len(text) <= most:
        return text
    end = most - 1
    space = text.rfind(" ", 0, end)
    if space >= most // 2:
        end = space
    while end and _continues(text, end):
        end -= 1
    return f"{text[:end].rstrip(_LOOSE)}…"


def _continues(text: str, index: int) -> bool:
    # An accent, or a part of one picture of several: what stands before it would be another character without it.
    return text[index] in _JOINERS or text[index - 1] in _JOINERS or unicodedata.category(text[index])[0] == "M"


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}
