"""The global settings: those of the whole host that the staff can change while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from host.contract.settings import Choices, Setting
from host.settings.checks import (
    Bounds,
    at_most,
    currency_codes,
    file_endings,
    mail_domains,
    names,
    not_empty,
)

ChoicesOf = Mapping[str, Callable[[], Choices]]
"""Setting key → what can be chosen; the host knows it, the definitions do not."""

_RETENTION: Final = Bounds(7, 36_500)
_DAYS: Final = Bounds(1, 36_500)


def definitions(choices: ChoicesOf, read: Callable[[str], str]) -> Sequence[Setting]:
    """Return the definitions, in the order to show them.

    Args:
        choices: what can be chosen where that depends on groups or plugins.
        read: gives the present text of a setting, for choices that depend on another one.

    """
    return (
        *_identity(),
        *_currency(choices, read),
        *_uploads(),
        *_imports(),
        *_sign_in(choices),
        *_retention(),
        *_plugins(),
    )


def _identity() -> Sequence[Setting]:
    return (
        Setting(
            key="INVENTREE_INSTANCE",
            name="Server instance name",
            description="The name of this server, shown to people and in mail.",
            default="Plugyard",
            validators=[not_empty, at_most(100)],
        ),
        Setting(
            key="INVENTREE_INSTANCE_ID",
            name="Instance identifier",
            description="Tells this server apart from all others; made at the first start.",
            default="",
            validators=[not_empty, at_most(100)],
            hidden=True,
        ),
        Setting(
            key="INVENTREE_ANNOUNCE_ID",
            name="Announce the identifier",
            description="The server information shows the identifier to everybody.",
            type="boolean",
            default=False,
        ),
    )


def _currency(choices: ChoicesOf, read: Callable[[str], str]) -> Sequence[Setting]:
    return (
        Setting(
            key="INVENTREE_DEFAULT_CURRENCY",
            name="Base currency",
            description="The currency that exchange rates relate to.",
            default="USD",
            choices=lambda: [(code, code) for code in names(read("CURRENCY_CODES"))],
        ),
        Setting(
            key="CURRENCY_CODES",
            name="Currencies",
            description="The currencies that have exchange rates, separated by commas.",
            default="AUD,CAD,CNY,EUR,GBP,JPY,NZD,USD",
            validators=[currency_codes],
        ),
        Setting(
            key="CURRENCY_UPDATE_PLUGIN",
            name="Exchange rate plugin",
            description="The plugin that supplies exchange rates; empty: the first that can.",
            default="",
            choices=choices.get("CURRENCY_UPDATE_PLUGIN", ()),
        ),
        Setting(
            key="CURRENCY_UPDATE_INTERVAL",
            name="Exchange rate interval",
            description="How often exchange rates are updated; 0: only when somebody asks.",
            type="integer",
            default=1,
            units="days",
            validators=[Bounds(0, 3650)],
        ),
    )


def _uploads() -> Sequence[Setting]:
    return (
        Setting(
            key="INVENTREE_UPLOAD_MAX_SIZE",
            name="Largest upload",
            description="The largest file that can be attached, in megabytes of 1024² bytes.",
            type="integer",
            default=10,
            units="MB",
            validators=[Bounds(1, 1_048_576)],
        ),
        Setting(
            key="UPLOAD_ALLOWED_TYPES",
            name="Allowed file types",
            description="File name endings that can be attached, separated by commas; empty: all.",
            default="",
            validators=[file_endings],
        ),
        Setting(
            key="UPLOAD_DENIED_TYPES",
            name="Refused file types",
            description="File name endings that cannot be attached, separated by commas.",
            default="",
            validators=[file_endings],
        ),
    )


def _imports() -> Sequence[Setting]:
    return (
        Setting(
            key="IMPORT_MAX_FILE_MB",
            name="Largest import file",
            description="The largest file that can be imported, in megabytes of 1024² bytes.",
            type="integer",
            default=32,
            units="MB",
            validators=[Bounds(1, 4096)],
        ),
        Setting(
            key="IMPORT_MAX_ROWS",
            name="Most rows of an import",
            description="How many rows a file to import may have.",
            type="integer",
            default=5000,
            validators=[Bounds(1, 10_000_000)],
        ),
        Setting(
            key="IMPORT_MAX_COLUMNS",
            name="Most columns of an import",
            description="How many columns a file to import may have.",
            type="integer",
            default=1000,
            validators=[Bounds(1, 16_384)],
        ),
    )


def _sign_in(choices: ChoicesOf) -> Sequence[Setting]:
    def switch(key: str, name: str, description: str, *, default: bool = True) -> Setting:
        return Setting(key=key, name=name, description=description, type="boolean", default=default)

    return (
        switch("LOGIN_ENABLE_REG", "Enable registration", "Anybody may sign up."),
        switch("LOGIN_ENABLE_PWD_FORGOT", "Enable password reset", "A forgotten password may be replaced by mail."),
        switch(
            "LOGIN_ENABLE_SSO", "Enable sign-in providers", "People may sign in by a provider such as their school."
        ),
        switch("LOGIN_ENABLE_SSO_REG", "Enable registration by providers", "Anybody may sign up by a provider."),
        Setting(
            key="LOGIN_SIGNUP_MAIL_RESTRICTION",
            name="Allowed domains",
            description="Domains whose addresses may sign up, such as @example.org, separated by commas; empty: all.",
            default="",
            validators=[mail_domains],
        ),
        switch(
            "LOGIN_ENFORCE_MFA",
            "Enforce a second factor",
            "Everybody must set up a second factor and use it.",
            default=False,
        ),
        Setting(
            key="SIGNUP_GROUP",
            name="Group of new accounts",
            description="The group that those who sign up join; empty: none.",
            default="",
            choices=choices.get("SIGNUP_GROUP", ()),
        ),
    )


def _retention() -> Sequence[Setting]:
    def days(key: str, name: str, description: str) -> Setting:
        return Setting(
            key=key,
            name=name,
            description=description,
            type="integer",
            default=30,
            units="days",
            validators=[_RETENTION],
        )

    def short(key: str, name: str, description: str) -> Setting:
        return Setting(
            key=key, name=name, description=description, type="integer", default=5, units="days", validators=[_DAYS]
        )

    return (
        Setting(
            key="INVENTREE_PROTECT_EMAIL_LOG",
            name="Protect the mail log",
            description="Nobody can delete entries of the mail log, and old ones are not removed either.",
            type="boolean",
            default=False,
        ),
        days("INVENTREE_DELETE_TASKS_DAYS", "Keep tasks", "Results of background tasks are removed after this time."),
        days("INVENTREE_DELETE_ERRORS_DAYS", "Keep error reports", "Error reports are removed after this time."),
        days("INVENTREE_DELETE_NOTIFICATIONS_DAYS", "Keep notifications", "Notifications are removed after this time."),
        days(
            "INVENTREE_DELETE_EMAIL_DAYS", "Keep the mail log", "Entries of the mail log are removed after this time."
        ),
        short("DATA_OUTPUT_DAYS", "Keep data outputs", "Exported files are removed after this time."),
        short("IMPORT_SESSION_DAYS", "Keep import sessions", "Sessions of data imports are removed after this time."),
    )


def _plugins() -> Sequence[Setting]:
    def switch(key: str, name: str, description: str, *, default: bool = True) -> Setting:
        return Setting(key=key, name=name, description=description, type="boolean", default=default)

    return (
        switch(
            "PLUGIN_ON_STARTUP",
            "Install plugins at the start",
            "What plugins.txt lists is installed as the server starts, where it is missing.",
            default=False,
        ),
        switch(
            "PLUGIN_UPDATE_CHECK",
            "Look for plugin updates",
            "The package index is asked once a day whether there are newer versions.",
            default=False,
        ),
        switch("ENABLE_PLUGINS_URL", "Enable routes of plugins", "Plugins may answer requests below /plugin/."),
        switch("ENABLE_PLUGINS_NAVIGATION", "Enable navigation by plugins", "Plugins may add to the navigation."),
        switch(
            "ENABLE_PLUGINS_APP",
            "Enable records of plugins",
            "Plugins may bring tables, model types and status sets; changing this reloads the plugins.",
        ),
        switch("ENABLE_PLUGINS_SCHEDULE", "Enable schedules of plugins", "Plugins may run periodic tasks."),
        switch("ENABLE_PLUGINS_EVENTS", "Enable events for plugins", "Plugins are told of what happens in the host."),
        switch("ENABLE_PLUGINS_INTERFACE", "Enable interface of plugins", "Plugins may add to the user interface."),
        switch("ENABLE_PLUGINS_MAILS", "Enable mail by plugins", "Plugins may see and deliver outgoing mail."),
    )
