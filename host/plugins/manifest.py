"""What is known of plugins without importing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from host.contract.values import Identity


class Origin(StrEnum):
    """Where a distribution that holds plugins comes from."""

    HOST = "host"
    """The host's own distribution: built-in and sample plugins."""
    STORE = "store"
    """Installed by the host into its package store."""
    ENVIRONMENT = "environment"
    """Put by hand into the host's own environment; the host never touches it."""


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """One line of the group ``plugyard``: the plugin's key, and ``module`` or ``module:object``."""

    key: str
    value: str

    @property
    def module(self) -> str:
        """The dotted module that the entry point names."""
        return self.value.partition(":")[0].strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """An installed distribution that declares plugins, read from its metadata files alone."""

    name: str
    version: str
    origin: Origin
    path: Path
    """The folder that stands on ``sys.path``."""
    info: Path
    """The ``.dist-info`` folder."""
    fingerprint: str
    """Hash of RECORD; manifests are kept under it."""
    entry_points: tuple[EntryPoint, ...]
    summary: str = ""
    author: str = ""
    website: str = ""
    license: str = ""
    editable: bool = False
    source: Path | None = None
    """Where the code of an editable install is kept."""
    has_extensions: bool = False
    """Holds compiled modules, which a running process cannot load afresh."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a plugin or a distribution is not in use; a row of ``registry_errors``."""

    stage: str
    """``discovery``, ``import``, ``validate``, ``init``, ``quarantine``, ``boot``, ``restart`` …"""
    name: str
    """Key of the plugin, else name of the distribution."""
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginManifest:
    """One plugin as its probe saw it."""

    identity: Identity
    entry_point: str
    hooks: tuple[str, ...] = ()
    mixins: Mapping[str, str] = field(default_factory=dict)
    """Family key → human name of every family of which the plugin implements a hook, and ``base``."""
    settings: tuple[str, ...] = ()
    user_settings: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    unmarked: tuple[str, ...] = ()
    """Functions that are named like a hook and lack ``@hookimpl``."""
    is_builtin: bool = False
    is_sample: bool = False
    is_mandatory: bool = False
    is_package: bool = False
    """Installed as a distribution of its own, rather than with the host."""
    origin: Origin = Origin.STORE
    fingerprint: str = ""
    """That of the distribution: tells whether the code is the same."""
    failure: Failure | None = None
    """Why the plugin cannot be loaded; ``None`` when it can."""

    @property
    def key(self) -> str:
        """The plugin's key."""
        return self.identity.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What the probe of one distribution found."""

    distribution: Distribution
    plugins: tuple[PluginManifest, ...]
