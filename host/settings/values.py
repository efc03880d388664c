"""The rules for setting values, the same for plugin, global and user settings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import orjson

from host.contract.settings import Setting, SettingError, SettingValue
from host.contract.values import Json
from host.errors import InvalidInputError
from host.settings.texts import clean_text, convert, is_true, sayable, to_text

VALUE_LENGTH = 2000
KEY_LENGTH = 50
MASK = "***"

_LOG = logging.getLogger("plugyard.settings")
_CONFIRM = "Confirm this change: send manual_confirm with the value true."

T = TypeVar("T")


class ConfirmationNeededError(InvalidInputError):
    """The setting is changed only on purpose; the answer is ``{"manual_confirm": text}``, with a text, not a list."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__({"manual_confirm": [text]})


class Run(Protocol):
    """Calls a function of a setting's definition: ``SIZE.default`` and the like, the function, its arguments.

    Lets :class:`host.SettingError` through, and raises some ``Exception`` for all else that goes wrong.
    """

    def __call__(self, what: str, function: Callable[..., T], /, *arguments: Any) -> T:
        """Return what the function returns."""


def directly(_what: str, function: Callable[..., T], /, *arguments: Any) -> T:
    """Call a function of the host's own definitions."""
    return function(*arguments)


def _log_failure(what: str, error: Exception) -> None:
    _LOG.error("%s failed", what, exc_info=error)


@dataclass(frozen=True, slots=True)
class Stored:
    """What the database holds of a setting."""

    pk: int
    text: str


@dataclass(frozen=True, slots=True)
class Checked:
    """A value that may be stored: as text, and as the plugin sees it."""

    text: str
    value: SettingValue


class SettingRules:
    """Checks and describes the values of settings.

    Args:
        run: calls the functions of a definition (default, choices, validators, before and after saving); plugins'
            definitions need one that is bounded in time.
        failed: is told what failed, as ``DEFAULT.default``, and why.

    """

    def __init__(self, run: Run = directly, failed: Callable[[str, Exception], None] = _log_failure) -> None:
        self._run = run
        self._failed = failed

    def default(self, setting: Setting) -> SettingValue | None:
        """Return the default; ``None`` where there is none, or where it cannot be had, which is reported."""
        if setting.default is None:
            return None
        try:
            value: object = setting.default
            if callable(setting.default):
                value = self._run(f"{setting.key}.default", setting.default)
            return None if value is None else convert(setting, sayable(to_text(value)))
        except Exception as error:  # noqa: BLE001 - a definition is a hook's answer
            self._failed(f"{setting.key}.default", error)
            return None

    def choices(self, setting: Setting) -> list[dict[str, Json]]:
        """Return the choices as ``{"value", "display_name"}``; none where they cannot be had, which is reported."""
        try:
            return self._choices(setting)
        except Exception as error:  # noqa: BLE001 - a definition is a hook's answer
            self._failed(f"{setting.key}.choices", error)
            return []

    def typed(self, setting: Setting, text: str | None) -> SettingValue | None:
        """Return the value of a stored text, else the default; a text that fits the definition no longer counts not."""
        if text is not None:
            try:
                return convert(setting, text)
            except InvalidInputError:
                pass
        return self.default(setting)

    def check(self, setting: Setting, value: object) -> Checked:
        """Clean, convert and check a value that someone wants to store.

        Raises:
            InvalidInputError: on ``value`` or ``non_field_errors``; the messages never repeat the value.

        """
        text = clean_text(to_text(value))
        if len(text) > VALUE_LENGTH:
            raise InvalidInputError({"value": [f"Give at most {VALUE_LENGTH} characters."]})
        if setting.model is not None and (text == "" or setting.type == "string"):
            return self._validated(setting, Checked(text, text))
        converted = convert(setting, text)
        text = text if setting.type == "string" else to_text(converted)
        self._check_choice(setting, converted)
        return self._validated(setting, Checked(text, converted))

    def before_save(self, setting: Setting, value: SettingValue) -> None:
        """Call the definition's ``before_save``; what fails in it is reported.

        Raises:
            InvalidInputError: on ``value``, when it raised :class:`host.SettingError`.

        """
        function = setting.before_save
        if function is None:
            return
        try:
            self._run(f"{setting.key}.before_save", function, value)
        except SettingError as error:
            raise InvalidInputError({"value": [refusal(error)]}) from None
        except Exception as error:  # noqa: BLE001 - a hook
            self._failed(f"{setting.key}.before_save", error)

    def after_save(self, setting: Setting, value: SettingValue) -> None:
        """Call the definition's ``after_save``; what fails in it is reported, and the value stays stored."""
        function = setting.after_save
        if function is None:
            return
        try:
            self._run(f"{setting.key}.after_save", function, value)
        except Exception as error:  # noqa: BLE001 - a hook
            self._failed(f"{setting.key}.after_save", error)

    def describe(self, setting: Setting, stored: Stored | None) -> dict[str, Json]:
        """Return the definition and the present value as clients see them; the owner's members are for the caller."""
        return {
            "pk": stored.pk if stored else None,
            "key": setting.key,
            "value": self._shown(setting, stored),
            "name": setting.name,
            "description": setting.description,
            "type": _type(setting),
            "units": setting.units,
            "required": setting.required,
            "choices": self.choices(setting),
            "model_name": setting.model,
            "model_filters": dict(setting.model_filters) if setting.model_filters is not None else None,
            "api_url": setting.api_url,
            "confirm": setting.confirm,
            "confirm_text": setting.confirm_text,
        }

    def _shown(self, setting: Setting, stored: Stored | None) -> Json:
        if setting.model is not None:
            value: SettingValue | None = stored.text if stored else to_text(self.default(setting))
        else:
            value = self.typed(setting, stored.text if stored else None)
        if value is None:
            value = False if setting.type == "boolean" else ""
        return MASK if setting.protected and value != "" else value

    def _choices(self, setting: Setting) -> list[dict[str, Json]]:
        pairs: Sequence[Any] = setting.choices if isinstance(setting.choices, Sequence) else ()
        if callable(setting.choices):
            pairs = self._run(f"{setting.key}.choices", setting.choices)
        found: list[dict[str, Json]] = []
        for value, label in pairs or ():
            if not isinstance(value, (bool, int, float, str)):
                msg = f"the choice {value!r} is neither text, number nor boolean"
                raise TypeError(msg)
            found.append({"value": value, "display_name": str(label)})
        orjson.dumps(found)  # raises where JSON cannot say it
        return found

    def _check_choice(self, setting: Setting, value: SettingValue) -> None:
        if not setting.choices:
            return
        try:
            choices = self._choices(setting)
            allowed = [convert(setting, to_text(choice["value"])) for choice in choices]
        except Exception as error:  # noqa: BLE001 - a definition is a hook's answer
            self._failed(f"{setting.key}.choices", error)
            raise InvalidInputError({"value": ["The choices of this setting cannot be determined now."]}) from None
        if choices and value not in allowed:
            raise InvalidInputError({"value": ["Give one of the choices of this setting."]})

    def _validated(self, setting: Setting, checked: Checked) -> Checked:
        for validator in setting.validators:
            try:
                self._run(f"{setting.key}.validators", validator, checked.value)
            except SettingError as error:
                raise InvalidInputError({"value": [refusal(error)]}) from None
            except Exception as error:  # noqa: BLE001 - a hook
                self._failed(f"{setting.key}.validators", error)
                raise InvalidInputError({"value": ["The check of this value failed."]}) from None
        return checked


def refusal(error: SettingError) -> str:
    """Return the text of a refusal; a plugin's exception may have one that cannot be shown."""
    try:
        return sayable(str(error))[:VALUE_LENGTH]
    except Exception:  # noqa: BLE001 - a plugin's class may say anything
        return "This value was refused."


def confirm(setting: Setting, *, confirmed: object) -> None:
    """Refuse the change of a setting that asks for confirmation, unless ``confirmed`` is true.

    Raises:
        ConfirmationNeededError: with the text that asks for it.

    """
    if setting.confirm and not is_true(to_text(confirmed)):
        raise ConfirmationNeededError(setting.confirm_text or _CONFIRM)


def is_mask(setting: Setting, value: object) -> bool:
    """Tell whether a client sent back the mask of a protected value, which leaves the value as it is."""
    return setting.protected and value == MASK


def _type(setting: Setting) -> str:
    if setting.model is not None:
        return "related field"
    return setting.type if setting.type in {"boolean", "integer"} else "string"
