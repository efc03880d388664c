"""How each plugin is, as the database says: the same for a command as for a running server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import select
from sqlmodel import col

from host.plugins.manifest import Origin, PluginManifest
from host.plugins.records import PluginRecord, Records
from host.storage.engine import Database


class State(StrEnum):
    """How a plugin is."""

    MANDATORY = "mandatory"
    ACTIVE = "active"
    INACTIVE = "inactive"
    BROKEN = "broken"
    QUARANTINED = "quarantined"
    NOT_INSTALLED = "not installed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginState:
    """One plugin."""

    key: str
    title: str
    version: str
    state: State
    active: bool
    """Switched on, also where it cannot be loaded."""
    origin: str
    package: str | None
    mixins: tuple[str, ...]
    message: str
    """Why it is broken or quarantined."""


def plugin_states(database: Database, known: Mapping[str, PluginManifest] | None = None) -> list[PluginState]:
    """Read how each plugin is, the built-in ones first.

    ``known`` are the plugins of the registry, which tell where a package lies.
    """
    failures = {failure.name: failure.message for failure in Records(database).errors()}
    columns = [
        col(getattr(PluginRecord, name))
        for name in (
            "key", "name", "package_name", "active", "meta", "mixins", "is_builtin", "is_sample", "is_mandatory",
            "is_installed", "quarantined", "quarantine_reason",
        )
    ]  # fmt: skip
    with database.read() as connection:
        rows = connection.execute(select(*columns)).mappings().all()
    ordered = sorted(rows, key=lambda row: (not row["is_builtin"], not row["is_sample"], row["key"]))
    return [_state(dict(row), failures.get(row["key"], ""), (known or {}).get(row["key"])) for row in ordered]


def _state(row: Mapping[str, Any], failure: str, manifest: PluginManifest | None) -> PluginState:
    message = ""
    if not row["is_installed"]:
        state = State.NOT_INSTALLED
    elif row["quarantined"]:
        state, message = State.QUARANTINED, row["quarantine_reason"]
    elif failure:
        state, message = State.BROKEN, failure
    elif row["is_mandatory"]:
        state = State.MANDATORY
    else:
        state = State.ACTIVE if row["active"] else State.INACTIVE
    return PluginState(
        key=row["key"],
        title=row["meta"].get("human_name") or row["name"] or row["key"],
        version=row["meta"].get("version") or "",
        state=state,
        active=row["active"],
        origin=_origin(row, manifest),
        package=row["package_name"],
        mixins=tuple(sorted(set(row["mixins"]) - {"base"})),
        message=message,
    )


def _origin(row: Mapping[str, Any], manifest: PluginManifest | None) -> str:
    if row["is_builtin"]:
        return "built-in"
    if row["is_sample"]:
        return "sample"
    return "environment" if manifest is not None and manifest.origin is Origin.ENVIRONMENT else "package"
