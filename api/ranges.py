"""Which part of a file a client asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

_RANGE: Final = re.compile(rb"bytes\s*=\s*([0-9]*)\s*-\s*([0-9]*)", re.IGNORECASE)
_LARGEST: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Part:
    """The bytes from ``start`` up to, not including, ``end``."""

    start: int
    end: int


class Unsatisfiable(Enum):
    """A part of which the file has nothing."""

    YES = "yes"


def find_part(asked: Mapping[bytes, bytes], *, size: int, etag: bytes, modified: bytes) -> Part | Unsatisfiable | None:
    """Return the part that the headers of a request ask for; ``None`` means the whole file.

    Several ranges at once, other units and what cannot be read count as no range, which HTTP allows; and so does a
    range of another state of the file, as ``If-Range`` says it.
    """
    named = _RANGE.fullmatch(asked.get(b"range", b"").strip())
    if named is None or asked.get(b"if-range", etag).strip() not in {etag, modified}:
        return None
    first, last = (_number(digits) for digits in named.groups())
    if first is None:
        if last is None:
            return None
        return Part(max(size - last, 0), size) if last and size else Unsatisfiable.YES
    if last is not None and last < first:
        return None
    if first >= size:
        return Unsatisfiable.YES
    return Part(first, size if last is None else min(last + 1, size))


def _number(digits: bytes) -> int | None:
    if not digits:
        return None
    return min(int(digits[:19]) if len(digits) < 20 else _LARGEST, _LARGEST)  # noqa: PLR2004 - digits of 64 bits
