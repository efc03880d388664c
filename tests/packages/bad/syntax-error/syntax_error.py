"""Is not Python."""

from __future__ import annotations


class Wrong(
    pass
