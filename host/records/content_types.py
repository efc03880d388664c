"""Content types: a stable number for every kind of record, those of the host and those of its plugins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection, Table, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Field

from host.plugins.current import Registries
from host.plugins.registry import Registry
from host.storage.engine import Database
from host.storage.listing import Listing
from host.storage.tables import METADATA, HostTable

_LABEL_LENGTH: Final = 255
_AT_ONCE: Final = 500


class ContentType(HostTable, table=True):
    """One kind of record. A row is never deleted, so that its number keeps its meaning."""

    __tablename__ = "content_type"

    id: int | None = Field(default=None, primary_key=True)
    app_label: str = Field(max_length=_LABEL_LENGTH)
    model: str = Field(max_length=_LABEL_LENGTH, unique=True)
    app_labeled_name: str = Field(max_length=2 * _LABEL_LENGTH + 3)
    is_plugin: bool = False


CONTENT_TYPES: Final[Table] = METADATA.tables["content_type"]
CONTENT_TYPE_LIST: Final = Listing(
    table=CONTENT_TYPES,
    key=CONTENT_TYPES.c.id,
    members={
        "pk": CONTENT_TYPES.c.id,
        "app_label": CONTENT_TYPES.c.app_label,
        "model": CONTENT_TYPES.c.model,
        "app_labeled_name": CONTENT_TYPES.c.app_labeled_name,
        "is_plugin": CONTENT_TYPES.c.is_plugin,
    },
    search=(CONTENT_TYPES.c.app_label, CONTENT_TYPES.c.model),
)
"""All that ever were; :attr:`ContentTypes.listing` shows those that there are."""

# Table → app, model, label. The names are those that clients know, where they know one.
_OF_THE_HOST: Final[Mapping[str, tuple[str, str, str]]] = {
    "account_user": ("auth", "user", "User"),
    "account_group": ("auth", "group", "Group"),
    "account_ruleset": ("users", "ruleset", "Rule Set"),
    "account_token": ("users", "apitoken", "API Token"),
    "account_email": ("account", "emailaddress", "Email Address"),
    "account_phone": ("account", "phonenumber", "Phone Number"),
    "account_authenticator": ("mfa", "authenticator", "Authenticator"),
    "account_provider_account": ("socialaccount", "socialaccount", "Social Account"),
    "account_session": ("usersessions", "usersession", "User Session"),
    "oauth_client": ("oauth2_provider", "application", "Application"),
    "attachment": ("common", "attachment", "Attachment"),
    "background_task": ("background", "backgroundtask", "Background Task"),
    "content_type": ("contenttypes", "contenttype", "Content Type"),
    "custom_state": ("common", "inventreecustomuserstatemodel", "Custom State"),
    "data_output": ("common", "dataoutput", "Data Output"),
    "mail_message": ("common", "emailmessage", "Email Message"),
    "news_entry": ("common", "newsfeedentry", "News Feed Entry"),
    "notification": ("common", "notificationmessage", "Notification Message"),
    "setting": ("common", "inventreesetting", "Global Setting"),
    "user_setting": ("common", "inventreeusersetting", "User Setting"),
    "exchange_rates": ("exchange", "exchangebackend", "Exchange Rates"),
    "task_schedule": ("background", "scheduledtask", "Scheduled Task"),
    "error_report": ("error_report", "error", "Error"),
    "import_session": ("importer", "dataimportsession", "Data Import Session"),
    "import_column_map": ("importer", "dataimportcolumnmap", "Data Import Column Map"),
    "import_row": ("importer", "dataimportrow", "Data Import Row"),
    "plugin_config": ("plugin", "pluginconfig", "Plugin Configuration"),
    "plugin_setting": ("plugin", "pluginsetting", "Plugin Setting"),
    "plugin_user_setting": ("plugin", "pluginusersetting", "Plugin User Setting"),
}
_TITLES: Final[Mapping[str, str]] = {
    "auth": "Authentication and Authorization",
    "contenttypes": "Content Types",
    "mfa": "MFA",
    "oauth2_provider": "OAuth2 Provider",
    "socialaccount": "Social Accounts",
    "usersessions": "User Sessions",
}


@dataclass(frozen=True, slots=True)
class _Known:
    app_label: str
    app_labeled_name: str
    is_plugin: bool


class ContentTypes:
    """Numbers the kinds of record, and knows which there are at present.

    Those of a plugin are shown while it is active; they keep their numbers until it comes back. What this process's
    registry brings is written down when somebody first asks, once for each registry.

    Args:
        database: where the numbers are.
        registries: gives the registry in force.

    """

    def __init__(self, database: Database, registries: Registries) -> None:
        self._database = database
        self._registries = registries
        self._settled: tuple[Registry, frozenset[str]] | None = None
        self._listing = replace(CONTENT_TYPE_LIST, view=lambda _user: CONTENT_TYPES.c.model.in_(sorted(self.present())))

    @property
    def listing(self) -> Listing:
        """The content types that there are at present."""
        self.present()
        return self._listing

    def present(self) -> frozenset[str]:
        """Return the models that there are at present; each of them has its number.

        Ask before a transaction is opened: this may write.
        """
        registry, settled = self._registries.current, self._settled
        if settled is None or settled[0] is not registry:
            known = kinds_of_record(registry)
            self._number(known)
            settled = self._settled = (registry, frozenset(known))
        return settled[1]

    def _number(self, known: Mapping[str, _Known]) -> None:
        with self._database.read() as connection:
            stored = {row.model: _Known(*row[1:]) for row in connection.execute(_stored())}
        new = [model for model in known if model not in stored]
        changed = [model for model in known if model in stored and stored[model] != known[model]]
        if not new and not changed:
            return
        insert_ = sqlite.insert if self._database.is_sqlite else postgresql.insert
        with self._database.write() as session:
            connection = session.connection()
            for start in range(0, len(new), _AT_ONCE):
                rows = [_row(model, known[model]) for model in new[start : start + _AT_ONCE]]
                # Another process may number the same at this moment.
                connection.execute(insert_(CONTENT_TYPES).on_conflict_do_nothing(), rows)
            for model in sorted(changed):
                values = _row(model, known[model])
                connection.execute(update(CONTENT_TYPES).where(CONTENT_TYPES.c.model == model).values(values))


def kinds_of_record(registry: Registry) -> dict[str, _Known]:
    """Return what there is at present: model name → what is shown of it.

    Where two have the same name the first one counts: the host's, then the model types of plugins, then their tables.
    """
    found: dict[str, _Known] = {}
    for app_label, model, label, is_plugin in (*_host_records(), *_model_types(registry), *_plugin_tables(registry)):
        app, model_name = _short(app_label), _short(model)
        known = _Known(app, f"{_short(_title(app))} | {_short(label)}", is_plugin)
        found.setdefault(model_name, known)
    return found


def _host_records() -> Iterator[tuple[str, str, str, bool]]:
    for table, (app_label, model, label) in _OF_THE_HOST.items():
        if table in METADATA.tables:
            yield app_label, model, label, False


def _model_types(registry: Registry) -> Iterator[tuple[str, str, str, bool]]:
    for key, plugin in registry.plugins.items():
        for one in plugin.model_types:
            yield one.app_label or key, one.name, one.label, not plugin.manifest.is_builtin


def _plugin_tables(registry: Registry) -> Iterator[tuple[str, str, str, bool]]:
    for key, plugin in registry.plugins.items():
        for model in plugin.models:
            table: Table = model.__table__  # type: ignore[attr-defined]  # the loader has seen that it is a table
            yield key, table.name.lower(), _words(model.__name__), not plugin.manifest.is_builtin


def _short(text: object) -> str:
    """Return what a plugin gives as a text that every database can store."""
    cleaned = str(text).replace("\0", "").encode("utf-8", "replace").decode("utf-8")
    return " ".join(cleaned.split())[:_LABEL_LENGTH]


def _title(app_label: str) -> str:
    return _TITLES.get(app_label) or re.sub(r"[-_\s]+", " ", app_label).strip().title()


def _words(name: str) -> str:
    """Return the words of a class's name: ``StockItem`` is ``Stock Item``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).replace("_", " ").strip()


def _stored() -> Any:
    table = CONTENT_TYPES.c
    return select(table.model, table.app_label, table.app_labeled_name, table.is_plugin)


def _row(model: str, known: _Known) -> dict[str, Any]:
    return {
        "model": model,
        "app_label": known.app_label,
        "app_labeled_name": known.app_labeled_name,
        "is_plugin": known.is_plugin,
    }


def model_of(connection: Connection, key: int) -> str | None:
    """Return which model has a number."""
    return connection.execute(select(CONTENT_TYPES.c.model).where(CONTENT_TYPES.c.id == key)).scalar()
