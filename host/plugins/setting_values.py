"""The rules for setting values, the same for plugin, global and user settings."""

from __future__ import annotations

import logging
import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import orjson

from host.contract.settings import Setting, SettingError, SettingValue
from host.contract.values import Json
from host.errors import InvalidInputError
from host.plugins.plain import plain

VALUE_LENGTH = 2000
KEY_LENGTH = 50
MASK = "***"

_LOG = logging.getLogger("plugyard.settings")
_TRUE = frozenset({"1", "true", "t", "yes", "y", "on"})
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_TAG = re.compile(r"</?[A-Za-z][^>]*>|<!--|<![A-Za-z]|<\?[A-Za-z]")
_BIGGEST = 2**63 - 1
_EXACT = 2**53
_CONTROLS = frozenset({"Cc", "Cs", "Zl", "Zp"})
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


def clean_text(text: str) -> str:
    """Trim a text and take out line breaks and other control characters.

    Raises:
        InvalidInputError: on ``value``, when the text contains HTML tags.

    """
    kept = "".join(character for character in text if unicodedata.category(character) not in _CONTROLS).strip()
    if _TAG.search(kept):
        raise InvalidInputError({"value": ["Remove the HTML tags from this value."]})
    return kept


def to_text(value: object) -> str:
    """Return a value as it is stored; ``None`` is the empty text."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        value = int(value)
    if isinstance(value, int):
        # Numbers beyond this cannot be said in JSON, and much longer ones cannot be turned into text.
        return str(value) if abs(value) <= _BIGGEST else "too large"
    try:
        return orjson.dumps(value).decode() if isinstance(value, (dict, list, tuple)) else repr(value)
    except TypeError:
        return repr(value)


def convert(setting: Setting, text: str) -> SettingValue:
    """Turn a stored text into the type of its setting.

    A boolean is false unless its text says otherwise.

    Raises:
        InvalidInputError: the text is no integer or no number where the setting is one.

    """
    if setting.type == "boolean":
        return text.strip().lower() in _TRUE
    if setting.type == "integer":
        if not _INTEGER.fullmatch(text.strip()) or abs(int(text)) > _BIGGEST:
            raise InvalidInputError.of(f"{setting.name or setting.key}: give a whole number.")
        return int(text)
    if setting.type == "float":
        return _float(setting, text)
    return text


def _float(setting: Setting, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or "_" in text:
        raise InvalidInputError.of(f"{setting.name or setting.key}: give a number.")
    return number


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
            return None if value is None else convert(setting, _sayable(to_text(value)))
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
        plain(found)
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
        return _sayable(str(error))
    except Exception:  # noqa: BLE001 - a plugin's class may say anything
        return "This value was refused."


def confirm(setting: Setting, *, confirmed: object) -> None:
    """Refuse the change of a setting that asks for confirmation, unless ``confirmed`` is true.

    Raises:
        ConfirmationNeededError: with the text that asks for it.

    """
    if setting.confirm and to_text(confirmed).strip().lower() not in _TRUE:
        raise ConfirmationNeededError(setting.confirm_text or _CONFIRM)


def is_mask(setting: Setting, value: object) -> bool:
    """Tell whether a client sent back the mask of a protected value, which leaves the value as it is."""
    return setting.protected and value == MASK


def _sayable(text: str) -> str:
    """Return the text, or raise where JSON cannot say it, as half of a surrogate pair."""
    text.encode()
    return text


def _type(setting: Setting) -> str:
    if setting.model is not None:
        return "related field"
    return setting.type if setting.type in {"boolean", "integer"} else "string"
