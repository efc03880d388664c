"""Icons: supply packs of glyphs that clients can show."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from host.contract.markers import Asked, MaybeAwaitable, hookspec

_PREFIX = re.compile(r"[a-z][a-z0-9_-]{0,19}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_POINT = re.compile(r"[0-9A-Fa-f]{1,6}")
_LAST_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
_MOST_ICONS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Icon:
    """One icon, in one or more variants; ``name``, ``category`` and ``tags`` are what people search by."""

    name: str
    variants: Mapping[str, str]
    """Variant, as ``outline`` → code point of its glyph in the pack's font, in hexadecimal digits."""
    category: str = ""
    tags: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Refuse an icon that no client could show.

        Raises:
            ValueError: it has no variant, a variant has other characters than letters, digits, ``_``, ``.`` and ``-``,
                or a code point is none.

        """
        if not self.variants:
            msg = f"icon {self.name!r} has no variant"
            raise ValueError(msg)
        for variant, point in self.variants.items():
            if not _NAME.fullmatch(variant):
                msg = f"icon {self.name!r}: variant {variant!r} must be letters, digits, _, . and -"
                raise ValueError(msg)
            if not _is_character(point):
                msg = f"icon {self.name!r}: {variant} needs the code point of a character in hexadecimal, as f25f"
                raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class IconPack:
    """A font, and the icons in it. An icon is referred to as ``prefix:icon:variant``, as in ``ti:plug:outline``."""

    name: str
    """For people."""
    prefix: str
    """Begins every reference; the first pack of a prefix wins."""
    fonts: Mapping[str, str]
    """Format as CSS names it (``woff2``, ``woff``, ``truetype``) → file in the plugin's static folder."""
    icons: Mapping[str, Icon]
    """Name as it stands in references → icon."""

    def __post_init__(self) -> None:
        """Refuse a pack that no client could use.

        Raises:
            ValueError: the prefix is not lower case or longer than 20 characters, there is no font, there are more than
                20,000 icons, or the name of an icon has other characters than letters, digits, ``_``, ``.`` and ``-``.

        """
        if not _PREFIX.fullmatch(self.prefix):
            msg = f"icon prefix {self.prefix!r} must be lower case letters, digits, _ and -, at most 20 characters"
            raise ValueError(msg)
        if not self.fonts:
            msg = f"icon pack {self.prefix!r} needs a font"
            raise ValueError(msg)
        if len(self.icons) > _MOST_ICONS:
            msg = f"icon pack {self.prefix!r} has {len(self.icons)} icons; at most {_MOST_ICONS} are possible in a pack"
            raise ValueError(msg)
        for name in self.icons:
            if not _NAME.fullmatch(name):
                msg = f"icon pack {self.prefix!r}: icon {name!r} must be letters, digits, _, . and -"
                raise ValueError(msg)


def _is_character(text: object) -> bool:
    if not isinstance(text, str) or not _POINT.fullmatch(text):
        return False
    point = int(text, 16)
    return 0 < point <= _LAST_POINT and point not in _SURROGATES


class IconHooks:
    """Hooks of plugins that bring icons."""

    key = "icon_pack"
    human_name = "Icon pack"

    @hookspec(asked=Asked.ALL, returns=IconPack, many=True)
    def icon_packs(self) -> MaybeAwaitable[Sequence[IconPack]]:
        """Give packs of icons.

        When: somebody reads ``/api/icons/`` for the first time after plugins were loaded, in each process. The host
        keeps the answer in the form in which it sends it, so a plugin need not keep anything.
        Return: the packs. Of two with one prefix the first is taken, in registry order.
        Failure: an error report is written; the plugin's packs are missing, and it is asked again after a minute.
        Since: 0.1.
        """
        raise NotImplementedError
