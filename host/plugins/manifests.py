"""Manifests: what a probe saw, kept under the fingerprint of its distribution until code or contract change."""

from __future__ import annotations

import hashlib
import logging
import math
import sys
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from packaging.utils import canonicalize_name

from host.contract.values import Identity
from host.plugins.manifest import Distribution, Failure, Manifest, Origin, PluginManifest
from host.plugins.metadata import HOST_DISTRIBUTION
from host.plugins.objects import name_of_object
from host.plugins.specs import specs
from host.storage.atomic import write_atomically

_LONGEST_TEXT = 2000
_LOG = logging.getLogger("plugyard.plugins.manifests")

_FORMAT = 1
_BUILTIN, _SAMPLE = "builtin_plugins", "sample_plugins"

Seen = Mapping[str, Mapping[str, Any]]
"""What the probe saw of each plugin by its key: ``{"manifest": …}`` or ``{"failure": [stage, message]}``."""


@cache
def contract_hash(host_version: str) -> str:
    """Return a hash that changes with everything a manifest depends on beside the distribution."""
    hooks = sorted(f"{spec.key}.{spec.signature}" for spec in specs().values())
    text = "\n".join([str(_FORMAT), host_version, f"{sys.version_info[0]}.{sys.version_info[1]}", *hooks])
    return hashlib.sha256(text.encode()).hexdigest()


class ManifestStore:
    """Keeps what probes saw as files in one folder."""

    def __init__(self, folder: Path, *, host_version: str) -> None:
        self._folder = folder
        self._contract = contract_hash(host_version)

    def age(self, distribution: Distribution) -> float:
        """Return how many seconds ago the distribution was probed."""
        try:
            return time.time() - self._path(distribution).stat().st_mtime
        except OSError:
            return math.inf

    def load(self, distribution: Distribution) -> Seen | None:
        """Return what was seen of this distribution's code, or ``None`` when it has to be probed."""
        path = self._path(distribution)
        try:
            kept = orjson.loads(path.read_bytes())
            fits = kept["contract"] == self._contract and kept["distribution"] == _who(distribution)
            seen: dict[str, dict[str, Any]] = kept["plugins"]
            whole = all(_is_whole(seen[entry.key]) for entry in distribution.entry_points)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            _LOG.warning("The manifest %s cannot be read and is made anew.", path)
            return None
        return seen if fits and whole else None

    def save(self, distribution: Distribution, seen: Seen) -> None:
        """Keep what was seen; where that fails, the next start probes again."""
        kept = {"contract": self._contract, "distribution": _who(distribution), "plugins": seen}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path(distribution), orjson.dumps(kept, option=orjson.OPT_INDENT_2))
        except OSError as error:
            _LOG.warning("The manifest of %s cannot be kept: %s", distribution.name, error)

    def _path(self, distribution: Distribution) -> Path:
        return self._folder / f"{distribution.fingerprint}.json"


def _who(distribution: Distribution) -> list[str]:
    return [canonicalize_name(distribution.name), distribution.version]


def _is_whole(plugin: Mapping[str, Any]) -> bool:
    """Tell whether what was kept of a plugin has the shape that it was kept in."""
    failure, found = plugin.get("failure"), plugin.get("manifest")
    if failure is not None:
        return isinstance(failure, list) and len(failure) == 2 and all(isinstance(one, str) for one in failure)  # noqa: PLR2004 - stage and message
    if not isinstance(found, dict) or not isinstance(found.get("mixins", {}), dict):
        return False
    lists = [found.get(name, []) for name in ("hooks", "settings", "user_settings", "actions")]
    texts = [found[name] for name in ("name", "title", "description", "website", "published") if found.get(name)]
    return all(isinstance(one, list) for one in lists) and all(
        isinstance(one, str) for one in [*texts, *(item for one in lists for item in one)]
    )


def has_failed(seen: Seen) -> bool:
    """Tell whether any plugin of the distribution could not be described."""
    return any("failure" in plugin for plugin in seen.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Composer:
    """Puts together what metadata say, what the probe saw and what the configuration wants."""

    mandatory: Collection[str] = ()
    samples: bool = False

    def manifest(self, distribution: Distribution, seen: Seen) -> Manifest:
        """Return the manifest of a distribution; sample plugins are left out unless they are wanted."""
        plugins = []
        for entry in distribution.entry_points:
            is_host = distribution.origin is Origin.HOST
            is_sample = is_host and _is_in(entry.module, _SAMPLE)
            if is_sample and not self.samples:
                continue
            plugin = _compose(distribution, entry.key, entry.value, seen[entry.key])
            is_builtin = is_host and _is_in(entry.module, _BUILTIN)
            is_mandatory = entry.key in self.mandatory
            plugins.append(replace(plugin, is_builtin=is_builtin, is_sample=is_sample, is_mandatory=is_mandatory))
        return Manifest(distribution=distribution, plugins=tuple(plugins))


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _compose(distribution: Distribution, key: str, entry_point: str, seen: Mapping[str, Any]) -> PluginManifest:
    found: Mapping[str, Any] = seen.get("manifest") or {}
    name = _brief(found.get("name") or name_of_object(entry_point))
    failure = seen.get("failure")
    return PluginManifest(
        identity=Identity(
            key=key,
            name=name,
            title=_brief(found.get("title") or name),
            description=_brief(found.get("description") or distribution.summary),
            author=_brief(distribution.author),
            version=distribution.version,
            website=_address(found.get("website") or "") or _address(distribution.website),
            license=_brief(distribution.license),
            published=found.get("published"),
            distribution=distribution.name,
        ),
        entry_point=entry_point,
        hooks=tuple(found.get("hooks", ())),
        mixins=dict(found.get("mixins", {})),
        settings=tuple(found.get("settings", ())),
        user_settings=tuple(found.get("user_settings", ())),
        actions=tuple(found.get("actions", ())),
        unmarked=tuple(found.get("unmarked", ())),
        is_package=canonicalize_name(distribution.name) != HOST_DISTRIBUTION,
        origin=distribution.origin,
        fingerprint=distribution.fingerprint,
        failure=Failure(failure[0], key, failure[1]) if failure else None,
    )


def _brief(text: str) -> str:
    # These are part of every list of plugins, which one endless text would make useless.
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"


def _address(text: str) -> str:
    # Clients make a link of it, which must not run a script.
    return text if len(text) <= _LONGEST_TEXT and text.lower().startswith(("http://", "https://")) else ""


def arrange(manifests: Iterable[Manifest]) -> tuple[dict[str, PluginManifest], tuple[Failure, ...]]:
    """Put plugins into registry order: built-in, sample, then the others, each by key.

    Of two with the same key the first counts; the other comes back as a failure.
    """
    order = sorted(
        (plugin for manifest in manifests for plugin in manifest.plugins),
        key=lambda plugin: (not plugin.is_builtin, not plugin.is_sample, plugin.key),
    )
    known: dict[str, PluginManifest] = {}
    failures = []
    for plugin in order:
        holder = known.setdefault(plugin.key, plugin)
        if holder is not plugin:
            failures.append(clash(plugin, holder))
    return known, tuple(failures)


def clash(plugin: PluginManifest, holder: PluginManifest) -> Failure:
    """Say that a key is taken."""
    ours, theirs = plugin.identity.distribution, holder.identity.distribution
    message = f"The key '{plugin.key}' of {ours} is taken by {theirs}; uninstall one of them."
    return Failure("discovery", plugin.key, message)
