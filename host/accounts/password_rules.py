"""Which passwords are good enough."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

from host.accounts.problems import Problem
from host.contract.values import User

OWN_DATA = ("username", "first_name", "last_name", "email")
"""The members of an account that its password must not resemble."""

_LABELS = {"username": "username", "first_name": "first name", "last_name": "last name", "email": "e-mail address"}
_COMMON = Path(__file__).parent / "data" / "common-passwords.txt.gz"


@cache
def common_passwords() -> frozenset[str]:
    """Return the 20,000 passwords that attackers try first, in lower case; read from disk at the first call."""
    return frozenset(gzip.decompress(_COMMON.read_bytes()).decode().split())


class PasswordRules:
    """The rules for new passwords; existing ones are never checked again.

    Args:
        min_length: shortest password, in characters.
        max_length: longest password.
        max_similarity: a password this similar to the person's own data, or more, is refused; from 0 to 1.
        ask: says in sentences what else is wrong with a password; asked when the rules themselves find nothing.

    """

    def __init__(
        self,
        *,
        min_length: int = 8,
        max_length: int = 4096,
        max_similarity: float = 0.7,
        ask: Callable[[str, User | None], Sequence[str]] | None = None,
    ) -> None:
        self.min_length = min_length
        self.max_length = max_length
        self.max_similarity = max_similarity
        self._ask = ask

    def check(
        self, password: str, own: Mapping[str, str] | None = None, *, user: User | None = None, ask: bool = True
    ) -> list[Problem]:
        """List every rule that the password breaks, each with its code; the password is good when there is none.

        Args:
            password: the new password, as it will be kept.
            own: the person's username, first_name, last_name and email; without it nothing is compared.
            user: whose it shall be, where the account exists.
            ask: also ask whoever else has a say; that may take long, so keep it outside of transactions.

        """
        if not password:
            return [Problem("required", "Enter a password.")]
        if len(password) > self.max_length:
            return [Problem("max_length", f"The password is longer than {self.max_length} characters.")]
        if "\x00" in password:
            return [Problem("null_characters_not_allowed", "The password may not hold null characters.")]
        if not password.isprintable() and _is_no_text(password):
            return [Problem("invalid", "The password holds characters that are no text.")]
        problems = [*self._weaknesses(password), *self._similarities(password, own or {})]
        if problems or self._ask is None or not ask:
            return problems
        return [Problem("invalid", sentence) for sentence in self._ask(password, user)]

    def _weaknesses(self, password: str) -> list[Problem]:
        problems = []
        if len(password) < self.min_length:
            message = f"The password is too short. Use at least {self.min_length} characters."
            problems.append(Problem("password_too_short", message))
        if password.lower().strip() in common_passwords():
            message = "The password is among the most common ones. Choose one that is your own."
            problems.append(Problem("password_too_common", message))
        if password.isdigit():
            problems.append(Problem("password_entirely_numeric", "The password has digits only. Add other characters."))
        return problems

    def _similarities(self, password: str, own: Mapping[str, str]) -> list[Problem]:
        lower = password.lower()
        for member in OWN_DATA:
            value = own.get(member, "").lower()
            if any(self._is_similar(lower, part) for part in (*re.split(r"\W+", value), value)):
                message = f"The password is too similar to the {_LABELS[member]}. Choose a different one."
                return [Problem("password_too_similar", message)]
        return []

    def _is_similar(self, password: str, part: str) -> bool:
        # The quick ratio never lies below the full one and takes linear time, so a long password costs nothing.
        return bool(part) and SequenceMatcher(a=password, b=part).quick_ratio() >= self.max_similarity


def _is_no_text(password: str) -> bool:
    try:
        password.encode()
    except UnicodeEncodeError:
        return True
    return False
