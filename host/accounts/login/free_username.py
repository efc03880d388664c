"""Making up a username for those who are not asked for one."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Sequence

from sqlalchemy import Connection

from host.accounts.changes import has_username
from host.accounts.usernames import MAX_LENGTH, clean_username, fold_username

_FALLBACK = "user"
_OTHERS = re.compile(r"[^\w.+-]+")
_ROUNDS = 12


def free_username(
    connection: Connection, wishes: Sequence[str], *, blacklist: Collection[str] = (), min_length: int = 1
) -> str:
    """Return a username that nobody has: the first wish that can be had, else the first one with a number.

    Args:
        connection: reads; another transaction can still be faster.
        wishes: such as names, or an e-mail address, of which the part before the ``@`` counts.
        blacklist: usernames that nobody may take.
        min_length: shortest username.

    """
    forbidden = {fold_username(name) for name in blacklist}
    stems = [stem for stem in (_stem(wish) for wish in wishes) if stem] or [_FALLBACK]
    for name in stems:
        if len(name) >= min_length and _is_free(connection, name, forbidden):
            return name
    for digits in range(2, _ROUNDS):
        name = stems[0] + str(secrets.randbelow(10**digits)).zfill(max(digits, min_length - len(stems[0])))
        if _is_free(connection, name, forbidden):
            return name
    return f"{_FALLBACK}{secrets.token_hex(16)}"


def _stem(wish: str) -> str:
    # Room for the number, also where folding makes a name longer.
    return _OTHERS.sub("", clean_username(wish.partition("@")[0]))[: MAX_LENGTH // 3]


def _is_free(connection: Connection, name: str, forbidden: Collection[str]) -> bool:
    folded = fold_username(name)
    return folded not in forbidden and not has_username(connection, folded)
