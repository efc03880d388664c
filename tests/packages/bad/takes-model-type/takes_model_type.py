"""Has a model type of a built-in plugin."""

from __future__ import annotations

from collections.abc import Sequence

from host import ModelType, Plugin, hookimpl


class Wrong(Plugin):
    @hookimpl
    def model_types(self) -> Sequence[ModelType]:
        return [ModelType(name="part", label="My part")]
