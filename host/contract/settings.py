"""Settings: declare typed settings of the plugin and of each of its users."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from host.contract.markers import Asked, MaybeAwaitable, hookspec
from host.contract.values import Json

SettingValue: TypeAlias = bool | int | float | str
SettingType: TypeAlias = Literal["boolean", "integer", "float", "string"]
Choices: TypeAlias = Sequence[tuple[SettingValue, str]]

_KEY = re.compile(r"[A-Z_][A-Z0-9_]{0,49}")
_PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "integer": (int,),
    "float": (int, float),
    "string": (str,),
}


class SettingError(ValueError):
    """Raised by a validator to refuse a value; its text is shown to the person who set it."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The definition of one setting.

    ``default`` and ``choices`` may be callables without arguments; they are called when the setting is read.
    ``validators`` get the converted value and raise :class:`SettingError`. A ``protected`` value is never shown again,
    not even to staff; the plugin itself reads it. ``model`` (``app.model``) makes the setting a reference to a record.
    ``before_save`` and ``after_save`` get the converted value; where one fails, an error report is written and the
    value is stored all the same. To refuse a value, use a validator.
    """

    key: str
    name: str
    description: str = ""
    type: SettingType = "string"
    default: SettingValue | Callable[[], SettingValue] | None = None
    units: str = ""
    choices: Choices | Callable[[], Choices] = ()
    validators: Sequence[Callable[[SettingValue], None]] = ()
    protected: bool = False
    required: bool = False
    hidden: bool = False
    confirm: bool = False
    confirm_text: str = ""
    model: str | None = None
    model_filters: Mapping[str, Json] | None = None
    api_url: str | None = None
    before_save: Callable[[SettingValue], None] | None = None
    after_save: Callable[[SettingValue], None] | None = field(default=None)

    def __post_init__(self) -> None:
        """Refuse a definition that could never work.

        Raises:
            ValueError: the key is not upper case, the type is unknown, or the default is of another type.

        """
        if not _KEY.fullmatch(str(self.key)):
            msg = f"setting key {self.key!r} must be upper case letters, digits and _, at most 50 characters"
            raise ValueError(msg)
        if self.type not in _PYTHON_TYPES:
            msg = f"setting {self.key}: type {self.type!r} is none of {', '.join(_PYTHON_TYPES)}"
            raise ValueError(msg)
        if self.default is None or callable(self.default):
            return
        wrong_kind = isinstance(self.default, bool) and self.type != "boolean"
        if wrong_kind or not isinstance(self.default, _PYTHON_TYPES[self.type]):
            msg = f"setting {self.key}: default {self.default!r} is not of type {self.type}"
            raise ValueError(msg)


class SettingsHooks:
    """Hooks of plugins that have settings."""

    key = "settings"
    human_name = "Settings"

    @hookspec(asked=Asked.ONCE, returns=Setting, many=True)
    def plugin_settings(self) -> MaybeAwaitable[Sequence[Setting]]:
        """Declare the settings of the plugin, one value each for the whole host.

        When: once, as the plugin is loaded.
        Return: the definitions, in the order to show them.
        Failure: the plugin is not loaded and the registry status says why.
        Since: 0.1.
        """
        raise NotImplementedError


class UserSettingsHooks:
    """Hooks of plugins that have settings for each user."""

    key = "usersettings"
    human_name = "User settings"

    @hookspec(asked=Asked.ONCE, returns=Setting, many=True)
    def user_settings(self) -> MaybeAwaitable[Sequence[Setting]]:
        """Declare settings of which each user has own values.

        When: once, as the plugin is loaded.
        Return: the definitions, in the order to show them.
        Failure: the plugin is not loaded and the registry status says why.
        Since: 0.1.
        """
        raise NotImplementedError
