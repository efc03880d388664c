"""Settings of plugins, and those that each user has of a plugin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from host.contract.settings import Setting, SettingError, SettingValue
from host.contract.values import Json, User
from host.errors import InvalidInputError, NotFoundError
from host.plugins.calls import Calls, PluginFailedError
from host.plugins.current import Registries
from host.plugins.failures import summary
from host.plugins.registry import LoadedPlugin
from host.plugins.setting_store import all_of, settings_of
from host.plugins.transactions import transaction
from host.settings.store import SettingStore, Values
from host.settings.texts import to_text
from host.settings.values import SettingRules, Stored, confirm, is_mask
from host.storage.engine import Database

T = TypeVar("T")

Definitions = Mapping[str, Setting]
Description = dict[str, Json]
Descriptions = list[Description]
Emit = Callable[[Session, str, Mapping[str, Json], int | None], None]

_STORING: ContextVar[frozenset[tuple[str, int | None, str]]] = ContextVar("plugyard_storing", default=frozenset())
"""Plugin, user and key of the settings that are being stored around this point."""


class PluginSettings:
    """Reads and writes the settings of plugins.

    Args:
        database: where values are stored.
        registries: gives the registry in force, which knows the definitions.
        calls: runs the functions of definitions in a bounded time.
        store: the stored values.
        report: writes an error report (path, message, details).
        emit: sends an event as part of a session's transaction (session, name, data, user id).
        overrides: values fixed by the configuration, by plugin and setting; ``read_only`` for clients.

    """

    def __init__(
        self,
        database: Database,
        registries: Registries,
        calls: Calls,
        store: SettingStore,
        *,
        report: Callable[[str, str, str], None],
        emit: Emit | None = None,
        overrides: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._database = database
        self._registries = registries
        self._calls = calls
        self._store = store
        self._report = report
        self._emit = emit
        self._overrides = overrides or {}

    def list(self, key: str) -> Descriptions:
        """Describe all settings of an active plugin, in the order of their definition.

        Raises:
            NotFoundError: no active plugin has this key.

        """
        plugin = self._loaded(key)
        stored = self._store.read(settings_of(key))
        return [self._describe(key, one, stored) for one in plugin.settings.values()]

    def get(self, key: str, setting: str) -> Description:
        """Describe one setting of an active plugin.

        Raises:
            NotFoundError: no active plugin has this key, or it has no such setting.

        """
        definition = _definition(key, self._loaded(key).settings, setting)
        return self._describe(key, definition, self._store.read(settings_of(key)))

    def write(
        self, key: str, setting: str, value: object, *, manual_confirm: object = False, by: User | None = None
    ) -> Description:
        """Store a value and describe the setting as it is now; without effect where the configuration fixes the value.

        Raises:
            NotFoundError: no active plugin has this key, or it has no such setting.
            ConfirmationNeededError: the setting asks for confirmation and ``manual_confirm`` is not true.
            InvalidInputError: the value was refused.

        """
        definition = _definition(key, self._loaded(key).settings, setting)
        if setting not in self._overrides.get(key, {}) and not is_mask(definition, value):
            confirm(definition, confirmed=manual_confirm)
            self.store_value(key, None, definition, value, by=by.id if by else None)
        return self._describe(key, definition, self._store.read(settings_of(key)))

    def list_for_user(self, key: str, user: User) -> Descriptions:
        """Describe all user settings of an active plugin with the values of one user.

        Raises:
            NotFoundError: no active plugin has this key.

        """
        plugin = self._loaded(key)
        stored = self._store.read(settings_of(key, user.id))
        return [self._describe_for_user(key, one, stored, user.id) for one in plugin.user_settings.values()]

    def get_for_user(self, key: str, setting: str, user: User) -> Description:
        """Describe one user setting of an active plugin with the value of one user.

        Raises:
            NotFoundError: no active plugin has this key, or it has no such user setting.

        """
        definition = _definition(key, self._loaded(key).user_settings, setting)
        return self._describe_for_user(key, definition, self._store.read(settings_of(key, user.id)), user.id)

    def write_for_user(
        self, key: str, setting: str, value: object, user: User, *, manual_confirm: object = False
    ) -> Description:
        """Store one user's value and describe the setting as it is now.

        Raises:
            NotFoundError: no active plugin has this key, or it has no such user setting.
            ConfirmationNeededError: the setting asks for confirmation and ``manual_confirm`` is not true.
            InvalidInputError: the value was refused.

        """
        definition = _definition(key, self._loaded(key).user_settings, setting)
        if not is_mask(definition, value):
            confirm(definition, confirmed=manual_confirm)
            self.store_value(key, user.id, definition, value, by=user.id)
        return self._describe_for_user(key, definition, self._store.read(settings_of(key, user.id)), user.id)

    def describe_stored(self, plugin_key: str, key: str, pk: int, value: str) -> Description:
        """Describe one row of the table ``plugin_setting``, for the list over all plugins.

        The definition is known while the plugin is active; without it the value is masked, as it may be a secret.
        """
        plugin = self._registries.current.plugins.get(plugin_key)
        definition = plugin.settings.get(key) if plugin else None
        if definition is None:
            definition = Setting(key=key, name=key, protected=True)
        return self._describe(plugin_key, definition, {key: Stored(pk, value)})

    def forget(self, session: Session, plugin_key: str) -> None:
        """Delete all values of a plugin, those of its users included, as part of the session's transaction."""
        for scope in all_of(plugin_key):
            self._store.delete(session, scope)

    def value(
        self, key: str, user_id: int | None, definition: Setting, session: Session | None = None
    ) -> SettingValue | None:
        """Return a value as the plugin sees it, protected or not: fixed, else stored, else the default."""
        if user_id is None and definition.key in self._overrides.get(key, {}):
            text: str | None = to_text(self._overrides[key][definition.key])
        else:
            scope = settings_of(key, user_id)
            values = self._store.read(scope, session) if session else self._store.cached(scope)
            stored = values.get(definition.key)
            text = stored.text if stored else None
        return self._rules(key, definition).typed(definition, text)

    def store_value(
        self, key: str, user_id: int | None, definition: Setting, value: object, *, by: int | None = None
    ) -> None:
        """Check and store a value, as part of the transaction that the plugin has open here, if it has one.

        Raises:
            InvalidInputError: the value was refused.

        """
        storing = _STORING.get()
        mine = (key, user_id, definition.key)
        if mine in storing:
            # Its own functions would be called again, and again.
            raise InvalidInputError.of(f"{definition.key} is being stored; its own functions cannot store it.")
        token = _STORING.set(storing | {mine})
        try:
            self._check_and_store(key, user_id, definition, value, by)
        finally:
            _STORING.reset(token)

    def _check_and_store(
        self, key: str, user_id: int | None, definition: Setting, value: object, by: int | None
    ) -> None:
        rules = self._rules(key, definition)
        checked = rules.check(definition, value)
        rules.before_save(definition, checked.value)
        with transaction(self._database, key) as session:
            self._store.write(session, settings_of(key, user_id), definition.key, checked.text)
            if self._emit is not None:
                data: dict[str, Json] = {"plugin": key, "key": definition.key}
                name = "plugin.setting_changed"
                if user_id is not None:
                    name, data = "plugin.user_setting_changed", {**data, "user": user_id}
                self._emit(session, name, data, by)
        rules.after_save(definition, checked.value)

    def is_fixed(self, key: str, setting: str) -> bool:
        """Tell whether the configuration fixes a setting of a plugin."""
        return setting in self._overrides.get(key, {})

    def _loaded(self, key: str) -> LoadedPlugin:
        return self._registries.current.loaded(key)

    def _describe(self, key: str, definition: Setting, stored: Values) -> Description:
        fixed = self.is_fixed(key, definition.key)
        present = stored.get(definition.key)
        rules = self._rules(key, definition)
        described = rules.describe(definition, present)
        if fixed:
            shown = rules.describe(definition, Stored(0, to_text(self._overrides[key][definition.key])))
            described["value"] = shown["value"]
        return {**described, "typ": "plugin", "plugin": key, "read_only": fixed}

    def _describe_for_user(self, key: str, definition: Setting, stored: Values, user_id: int) -> Description:
        described = self._rules(key, definition).describe(definition, stored.get(definition.key))
        return {**described, "typ": "plugin_user", "plugin": key, "user": user_id}

    def _rules(self, key: str, definition: Setting) -> SettingRules:
        return SettingRules(partial(self._run, key, definition), partial(self._failed, key, definition))

    def _run(self, key: str, definition: Setting, what: str, function: Callable[..., T], /, *arguments: Any) -> T:
        if definition.protected:
            function = partial(_hushed, function)
        return self._calls.call(key, f"settings.{what}", function, *arguments, expected=(SettingError,))

    def _failed(self, key: str, definition: Setting, what: str, error: Exception) -> None:
        if not isinstance(error, PluginFailedError):  # else reported already
            info = type(error).__name__ if definition.protected else summary(error)
            self._report(f"plugin.{key}.settings.{what}", info, "")


def _hushed(function: Callable[..., T], /, *arguments: Any) -> T:
    # The text of an error may hold the value that caused it, and error reports are read by many.
    try:
        return function(*arguments)
    except SettingError:
        raise
    except Exception as error:  # noqa: BLE001 - raised again without its text
        failure = type(error).__name__
    msg = f"{failure}; the setting is protected, so its text is left out"
    raise RuntimeError(msg)


def _definition(plugin: str, definitions: Definitions, key: str) -> Setting:
    if key not in definitions:
        msg = f"Plugin '{plugin}' has no setting '{key}'."
        raise NotFoundError(msg)
    return definitions[key]
