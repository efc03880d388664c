"""Tabler Icons: more than five thousand icons, as outlines and filled.

The names, the font and the licence (MIT) are those of https://tabler.io/icons, made ready by `.ci/tabler-icons.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from host import Icon, IconPack, Plugin, hookimpl

_NAMES = Path(__file__).with_name("icons.tsv")
_VARIANTS = ("outline", "filled")


class TablerIcons(Plugin):
    """Brings the icons that the host's own pages and most plugins refer to, as ``ti:plug:outline``."""

    title = "Tabler Icons"
    description = "More than five thousand icons for clients to show, with the prefix ti"

    @hookimpl
    def icon_packs(self) -> Sequence[IconPack]:
        # Nothing is read before somebody wants icons, and nothing kept: the host keeps what it sends.
        pack = IconPack(
            name="Tabler Icons", prefix="ti", fonts={"woff2": "tabler-icons.woff2"}, icons=dict(_icons_of(_NAMES))
        )
        return [pack]


def _icons_of(names: Path) -> Iterator[tuple[str, Icon]]:
    with names.open(encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#"):
                continue
            name, category, *points, tags = line.rstrip("\n").split("\t")
            variants = {variant: point for variant, point in zip(_VARIANTS, points, strict=True) if point}
            icon = Icon(name=name, category=category, tags=tags.split(",") if tags else (), variants=variants)
            yield name, icon
