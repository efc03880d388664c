"""Sample: bring icons.

The font is ``static/shapes.woff2`` beside this module; ``GET /api/icons/`` shows the pack. Others refer to its icons as
``shapes:square:filled``.
"""

from __future__ import annotations

from collections.abc import Sequence

from host import Icon, IconPack, Plugin, hookimpl


class SampleIcons(Plugin):
    """Three shapes, as outlines and filled."""

    title = "Sample: icons"
    description = "A tiny font with three shapes"

    @hookimpl
    def icon_packs(self) -> Sequence[IconPack]:
        return [
            IconPack(
                name="Sample shapes",
                prefix="shapes",
                fonts={"woff2": "shapes.woff2"},
                icons={
                    "square": _shape("Square", "e001", "e002", "box"),
                    "triangle": _shape("Triangle", "e003", "e004", "warning", "delta"),
                    "diamond": _shape("Diamond", "e005", "e006", "rhombus"),
                },
            )
        ]


def _shape(name: str, outline: str, filled: str, *tags: str) -> Icon:
    return Icon(name=name, category="Shapes", tags=tags, variants={"outline": outline, "filled": filled})
