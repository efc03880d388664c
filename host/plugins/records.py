"""The record of each plugin: what is stored of it, kept in step with the plugins that are installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Text, delete, func, insert, select, update
from sqlalchemy.orm import Session
from sqlmodel import Field

from host.errors import NotFoundError
from host.plugins.manifest import Failure, PluginManifest
from host.plugins.registry_errors import stored_errors
from host.storage.engine import Database
from host.storage.tables import HostTable, JsonColumn, UtcDateTime, now

BOOT_REASON = "The host died while loading it; activate it again to retry."
"""Why a plugin is left out that killed a boot."""

_LONGEST = 255
_META = (
    "slug",
    "human_name",
    "description",
    "author",
    "pub_date",
    "version",
    "website",
    "license",
    "package_path",
    "settings_url",
)


class PluginRecord(HostTable, table=True):
    """What is stored of a plugin; it may outlive the plugin's code."""

    __tablename__ = "plugin_config"
    # A record that is found again after it was deleted has another id.
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012  # SQLAlchemy's way

    id: int | None = Field(default=None, primary_key=True)
    key: str = Field(max_length=_LONGEST, unique=True)
    name: str | None = Field(default=None, max_length=_LONGEST)
    package_name: str | None = Field(default=None, max_length=_LONGEST)
    active: bool = False
    meta: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JsonColumn, nullable=False))
    mixins: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JsonColumn, nullable=False))
    mixin_keys: str = Field(default=",", sa_type=Text)
    """Keys of ``mixins`` for queries: ``,action,base,``."""
    is_builtin: bool = False
    is_sample: bool = False
    is_mandatory: bool = False
    is_installed: bool = False
    is_package: bool = False
    metadata_: dict[str, Any] = Field(default_factory=dict, sa_column=Column("metadata", JsonColumn, nullable=False))
    quarantined: bool = False
    """Left out although it is active, until an administrator says otherwise."""
    quarantine_reason: str = Field(default="", sa_type=Text)
    created: datetime = Field(default_factory=now, sa_type=UtcDateTime)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is stored that decides which plugins are loaded."""

    active: frozenset[str] = frozenset()
    quarantined: Mapping[str, str] | None = None
    """Key → reason."""

    def is_quarantined(self, key: str) -> bool:
        """Tell whether a plugin is left out."""
        return key in (self.quarantined or {})


@dataclass(frozen=True, slots=True)
class Stored:
    """The switches of one record."""

    id: int
    key: str
    active: bool
    is_mandatory: bool
    is_installed: bool
    quarantined: bool


_RECORD = PluginRecord.__table__.c  # type: ignore[attr-defined]  # SQLModel does not declare it
_KEPT_IN_STEP = (
    "name",
    "package_name",
    "meta",
    "mixins",
    "mixin_keys",
    "is_builtin",
    "is_sample",
    "is_mandatory",
    "is_installed",
    "is_package",
)


class Records:
    """Reads and writes what is stored of plugins.

    Args:
        database: the host's database.

    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def sync(self, session: Session, known: Mapping[str, PluginManifest], *, as_guest: bool = False) -> None:
        """Bring the records in step with the plugins that are installed; rows that say the same are left alone.

        A new plugin is switched off. Only on a host that has no records at all, built-in plugins begin switched on.
        A guest, which may have another configuration than the host that runs, has no say in which samples are offered
        and which plugins are mandatory.
        """
        query = select(_RECORD.id, _RECORD.key, _RECORD.active, *(_RECORD[name] for name in _KEPT_IN_STEP))
        rows: dict[str, Mapping[Any, Any]] = {row["key"]: row for row in session.execute(query).mappings()}
        is_first = not rows
        for key, plugin in known.items():
            values = _values(plugin)
            row = rows.pop(key, None)
            if row is None:
                values["active"] = plugin.is_mandatory or (is_first and plugin.is_builtin)
                session.execute(insert(PluginRecord).values({**_NEW, **values, "key": key, "created": now()}))
            else:
                if as_guest:
                    values["is_mandatory"] = row["is_mandatory"]
                _change(session, row, values)
        for row in rows.values():
            if row["is_package"] or not as_guest:
                _change(session, row, _GONE)

    def wanted(self) -> Wanted:
        """Read which plugins are to be loaded, and which are left out."""
        query = select(_RECORD.key, _RECORD.active, _RECORD.quarantined, _RECORD.quarantine_reason)
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        return Wanted(
            active=frozenset(row.key for row in rows if row.active),
            quarantined={row.key: row.quarantine_reason for row in rows if row.quarantined},
        )

    def get(self, key: str, session: Session | None = None) -> Stored:
        """Read the switches of one record, in the session's transaction where one is given.

        Raises:
            NotFoundError: there is no such record.

        """
        query = select(*(_RECORD[field.name] for field in fields(Stored))).where(_RECORD.key == key)
        if session is not None:
            row = session.execute(query).one_or_none()
        else:
            with self._database.read() as connection:
                row = connection.execute(query).one_or_none()
        if row is None:
            raise unknown(key)
        return Stored(*row)

    def exists(self, key: str) -> bool:
        """Tell whether there is a record of this plugin."""
        with self._database.read() as connection:
            return connection.execute(select(_RECORD.id).where(_RECORD.key == key)).first() is not None

    def count_active(self) -> int:
        """Count the records that are switched on."""
        query = select(func.count()).select_from(PluginRecord).where(_RECORD.active.is_(True))
        with self._database.read() as connection:
            return int(connection.execute(query).scalar_one())

    def set_active(self, session: Session, key: str, *, active: bool) -> None:
        """Switch a plugin on or off; switching on also ends its quarantine.

        Raises:
            NotFoundError: there is no such record.

        """
        values: dict[str, Any] = {"active": active}
        if active:
            values |= {"quarantined": False, "quarantine_reason": ""}
        if _updated(session, update(PluginRecord).where(_RECORD.key == key).values(**values)) == 0:
            raise unknown(key)

    def quarantine(self, session: Session, key: str, reason: str) -> None:
        """Leave a plugin out until an administrator says otherwise."""
        values = {"quarantined": True, "quarantine_reason": reason}
        session.execute(update(PluginRecord).where(_RECORD.key == key).values(**values))

    def end_quarantines(self, session: Session) -> None:
        """Take plugins back that failed too often; those that killed a boot stay out."""
        condition = (_RECORD.quarantined.is_(True), _RECORD.quarantine_reason != BOOT_REASON)
        session.execute(update(PluginRecord).where(*condition).values(quarantined=False, quarantine_reason=""))

    def delete(self, session: Session, key: str) -> None:
        """Remove a record that is neither active nor mandatory.

        Raises:
            NotFoundError: there is no such record.

        """
        condition = (_RECORD.key == key, _RECORD.active.is_(False), _RECORD.is_mandatory.is_(False))
        if _updated(session, delete(PluginRecord).where(*condition)) == 0:
            raise unknown(key)

    def metadata(self, key: str) -> dict[str, Any]:
        """Read the metadata of one record.

        Raises:
            NotFoundError: there is no such record.

        """
        with self._database.read() as connection:
            row = connection.execute(select(_RECORD.metadata).where(_RECORD.key == key)).one_or_none()
        if row is None:
            raise unknown(key)
        return dict(row[0] or {})

    def set_metadata(self, key: str, data: Mapping[str, Any], *, merge: bool) -> dict[str, Any]:
        """Replace the metadata of one record, or merge the top level.

        Raises:
            NotFoundError: there is no such record.

        """
        with self._database.write() as session:
            query = select(_RECORD.metadata).where(_RECORD.key == key).with_for_update()
            row = session.execute(query).one_or_none()
            if row is None:
                raise unknown(key)
            value = {**(row[0] or {}), **data} if merge else dict(data)
            session.execute(update(PluginRecord).where(_RECORD.key == key).values(metadata_=value))
        return value

    def errors(self) -> list[Failure]:
        """Read the registry's errors, in the order in which they came up."""
        return stored_errors(self._database)


def unknown(key: str) -> NotFoundError:
    """Say that there is no such plugin."""
    return NotFoundError(f"There is no plugin '{key}'. Install it, or look the key up in the list of plugins.")


def _updated(session: Session, statement: Any) -> int:
    return int(session.execute(statement).rowcount)  # type: ignore[attr-defined]  # of a statement that changes rows


_NEW = {
    "metadata_": {},
    "quarantined": False,
    "quarantine_reason": "",
}
_GONE: Mapping[str, Any] = {
    "meta": dict.fromkeys(_META),
    "mixins": {},
    "mixin_keys": ",",
    "is_installed": False,
    "is_mandatory": False,
}


def _change(session: Session, row: Mapping[Any, Any], values: Mapping[str, Any]) -> None:
    wanted = {**values, "active": True} if values["is_mandatory"] else dict(values)
    changed = {name: value for name, value in wanted.items() if row[name] != value}
    if changed:
        session.execute(update(PluginRecord).where(_RECORD.id == row["id"]).values(**changed))


def _values(plugin: PluginManifest) -> dict[str, Any]:
    identity = plugin.identity
    return {
        "name": identity.name[:_LONGEST],
        "package_name": identity.distribution[:_LONGEST] if plugin.is_package else None,
        "meta": _meta(plugin),
        "mixins": {key: {"key": key, "human_name": name} for key, name in plugin.mixins.items()},
        "mixin_keys": f",{','.join(sorted(plugin.mixins))},",
        "is_builtin": plugin.is_builtin,
        "is_sample": plugin.is_sample,
        "is_mandatory": plugin.is_mandatory,
        "is_installed": True,
        "is_package": plugin.is_package,
    }


def _meta(plugin: PluginManifest) -> dict[str, str | None]:
    identity = plugin.identity
    # The module's path within the distribution: where on the machine it lies is nobody's business.
    path = plugin.entry_point.partition(":")[0].replace(".", "/")
    settings = f"/api/plugins/{identity.key}/settings/" if plugin.settings else None
    values = (
        identity.key,
        identity.title,
        identity.description or None,
        identity.author or None,
        identity.published,
        identity.version or None,
        identity.website or None,
        identity.license or None,
        path,
        settings,
    )
    return dict(zip(_META, values, strict=True))
