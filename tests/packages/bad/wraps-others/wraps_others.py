"""Wraps the implementations of other plugins."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from host import Json, User, hookimpl


class Wrong:
    @hookimpl(wrapper=True)
    def perform_action(self, action: str, data: Json, user: User) -> Generator[None, Any, Any]:
        return (yield)
