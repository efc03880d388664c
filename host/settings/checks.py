"""What values of global settings must look like; each check says what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from host.contract.settings import SettingError, SettingValue

Check = Callable[[SettingValue], None]

_CURRENCY: Final = re.compile(r"[A-Z]{3}")
_DOMAIN: Final = re.compile(r"@?(?=.{1,253}$)[^\W_]([\w-]{0,61}[^\W_])?(\.[^\W_]([\w-]{0,61}[^\W_])?)+")
_ENDING: Final = re.compile(r"\.?[A-Za-z0-9]{1,20}(\.[A-Za-z0-9]{1,20})?")


def names(text: str) -> tuple[str, ...]:
    """Return the members of a list that is separated by commas."""
    return tuple(part for part in (part.strip() for part in text.split(",")) if part)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Accepts whole numbers from ``least`` to ``most``."""

    least: int
    most: int

    def __call__(self, value: SettingValue) -> None:
        """Check one.

        Raises:
            SettingError: it is none of them.

        """
        if not isinstance(value, int) or not self.least <= value <= self.most:
            msg = f"Give a whole number from {self.least} to {self.most}."
            raise SettingError(msg)


def not_empty(value: SettingValue) -> None:
    """Refuse the empty text."""
    if not value:
        msg = "Give a text that is not empty."
        raise SettingError(msg)


def at_most(length: int) -> Check:
    """Accept texts of at most so many characters."""

    def check(value: SettingValue) -> None:
        if len(str(value)) > length:
            msg = f"Give at most {length} characters."
            raise SettingError(msg)

    return check


def currency_codes(value: SettingValue) -> None:
    """Accept a list of currency codes, each once."""
    codes = names(str(value))
    wrong = sorted({code for code in codes if not _CURRENCY.fullmatch(code)})
    if wrong or not codes:
        named = f" These are none: {', '.join(wrong)[:200]}." if wrong else ""
        msg = f"Give codes of three capital letters, separated by commas, such as EUR,USD.{named}"
        raise SettingError(msg)
    doubled = sorted({code for code in codes if codes.count(code) > 1})
    if doubled:
        msg = f"Give each code once; these stand there more often: {', '.join(doubled)}."
        raise SettingError(msg)


def mail_domains(value: SettingValue) -> None:
    """Accept a list of domains."""
    wrong = [name for name in names(str(value)) if not _DOMAIN.fullmatch(name)]
    if wrong:
        msg = f"Give domains such as @example.org, separated by commas. These are none: {', '.join(wrong)[:200]}."
        raise SettingError(msg)


def file_endings(value: SettingValue) -> None:
    """Accept a list of file name endings."""
    wrong = [name for name in names(str(value)) if not _ENDING.fullmatch(name)]
    if wrong:
        msg = f"Give file endings such as pdf,png, separated by commas. These are none: {', '.join(wrong)[:200]}."
        raise SettingError(msg)
