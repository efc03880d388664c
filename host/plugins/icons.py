"""Icons: the packs of all plugins, in the form in which clients get them."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from weakref import WeakKeyDictionary

import orjson

from host.contract.icons import Icon, IconPack
from host.contract.values import Json
from host.plugins.calls import Calls
from host.plugins.current import Registries
from host.plugins.failures import summary
from host.plugins.registry import LoadedPlugin, Registry
from host.plugins.sources import static_url
from host.plugins.static_files import version_of

_HOOK = "icon_packs"
_AGAIN_SECONDS = 60.0
_LEVEL = 6
_MOST_BYTES = 8 * 1024 * 1024  # of a pack; anybody may ask for all packs, and every process keeps them
_FORMAT = re.compile(r"[a-z][a-z0-9-]{0,29}")
# Clients put it between the brackets of a style sheet's url().
_ADDRESS = re.compile(r"[^\s\"'()<>\\\x00-\x1f\x7f]+")


@dataclass(frozen=True, slots=True)
class EncodedPacks:
    """All packs as JSON: one by one, and the whole list, compressed."""

    packs: tuple[bytes, ...]
    gzipped: bytes
    digest: str
    """Tells the whole list from any other."""

    @property
    def whole(self) -> bytes:
        """The whole list; few want it like this, so it is not kept a second time."""
        return _list(self.packs)


@dataclass(frozen=True, slots=True)
class _Kept:
    encoded: EncodedPacks
    until: float


class Icons:
    """Collects icon packs.

    They are asked for at the first use and kept, encoded, as long as the registry stays the same.

    Args:
        registries: gives the registry in force.
        calls: calls the hooks.
        report: writes an error report (path, message, details).
        clock: seconds that never go backwards.

    """

    def __init__(
        self,
        registries: Registries,
        calls: Calls,
        report: Callable[[str, str, str], None],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._registries = registries
        self._calls = calls
        self._report = report
        self._clock = clock
        self._kept: WeakKeyDictionary[Registry, _Kept] = WeakKeyDictionary()

    def packs(self) -> EncodedPacks:
        """Return the packs of all active plugins, in registry order.

        Of two packs with one prefix the second is left out with an error report, as are packs that cannot be sent.
        """
        registry = self._registries.current
        kept = self._kept.get(registry)
        if kept is None or kept.until < self._clock():
            # Without a lock, which a plugin that hangs would hold: at worst two requests do the same at once.
            kept = self._kept[registry] = self._collected(registry)
        return kept.encoded

    def _collected(self, registry: Registry) -> _Kept:
        hooks = registry.hooks.get(_HOOK, ())
        answers = self._calls.ask_all(hooks)
        found: dict[str, bytes] = {}
        for answer in answers:
            for pack in answer.value:
                try:
                    _add(found, registry.plugins[answer.plugin], pack)
                except Exception as error:  # noqa: BLE001 - the pack is of a class of the plugin
                    message = f"An icon pack is left out. {summary(error)}"
                    self._report(f"plugin.{answer.plugin}.{_HOOK}", message, "")
        until = float("inf") if len(answers) == len(hooks) else self._clock() + _AGAIN_SECONDS
        return _Kept(_encoded(tuple(found.values())), until)


def _add(found: dict[str, bytes], plugin: LoadedPlugin, pack: IconPack) -> None:
    encoded = orjson.dumps(_shape(plugin, pack))
    if len(encoded) > _MOST_BYTES:
        msg = f"The pack '{pack.prefix}' has {len(encoded)} bytes as JSON; at most {_MOST_BYTES} can be sent."
        raise ValueError(msg)
    if pack.prefix in found:
        msg = f"The prefix '{pack.prefix}' is taken by a pack before it."
        raise ValueError(msg)
    found[pack.prefix] = encoded


def _encoded(packs: tuple[bytes, ...]) -> EncodedPacks:
    whole = _list(packs)
    return EncodedPacks(
        packs=packs,
        gzipped=gzip.compress(whole, _LEVEL, mtime=0),
        digest=hashlib.sha256(whole).hexdigest()[:32],
    )


def _list(packs: tuple[bytes, ...]) -> bytes:
    return b"[" + b",".join(packs) + b"]"


def _shape(plugin: LoadedPlugin, pack: IconPack) -> dict[str, Json]:
    return {
        "name": _text(pack.name),
        "prefix": _text(pack.prefix),
        "fonts": {form: _address(plugin, form, path) for form, path in pack.fonts.items()},
        "icons": {_text(name): _icon(icon) for name, icon in pack.icons.items()},
    }


def _icon(icon: Icon) -> Mapping[str, Json]:
    return {
        "name": _text(icon.name),
        "category": _text(icon.category),
        "tags": [_text(tag) for tag in icon.tags],
        "variants": {_text(variant): _text(point) for variant, point in icon.variants.items()},
    }


def _text(value: object) -> str:
    if not isinstance(value, str):
        msg = f"{value!r} should be text"
        raise TypeError(msg)
    return value


def _address(plugin: LoadedPlugin, form: str, path: str) -> str:
    if not _FORMAT.fullmatch(form):
        msg = f"{form!r} is no font format, as woff2 or truetype"
        raise ValueError(msg)
    address = static_url(plugin.key, path)
    if address != path:
        # With its version in the address, the file can be kept by whoever has loaded it once.
        version = version_of(plugin.static_folder, path)
        if version is None:
            msg = f"there is no file {path!r} in the static folder of the plugin"
            raise ValueError(msg)
        address = f"{address}?v={version}"
    if not _ADDRESS.fullmatch(address):
        msg = f"{path!r} cannot stand in a style sheet"
        raise ValueError(msg)
    return address
