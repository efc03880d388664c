"""Declares a setting that could never work."""

from __future__ import annotations

from collections.abc import Sequence

from host import Plugin, Setting, hookimpl


class Wrong(Plugin):
    @hookimpl
    def plugin_settings(self) -> Sequence[Setting]:
        return [Setting(key="lower case", name="Wrong")]
