"""What reading a feed yields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

TEXT_LENGTH: Final = 250
"""Most characters of each text."""


class FeedError(Exception):
    """A feed cannot be read; the text says why, without its address."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a feed, with texts that can be kept and shown."""

    feed_id: str
    title: str
    link: str
    published: datetime
    author: str
    summary: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What a feed says now; without entries when it has not changed."""

    entries: Sequence[Entry] | None
    etag: str = ""
    modified: str = ""
    """As the server names it, for the next time."""
