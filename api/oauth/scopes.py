"""Which scope a request needs: the one place where the scopes of a bearer token are enforced."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

from api.answers import Refusal
from host.accounts.oauth.scopes import PLUGINS, READ, WRITE

_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_PLUGINS: Final = "/api/plugins/"
# What is made or shown here would carry more than the token's scopes, or outlive it. No change of an account either:
# another e-mail address leads to a new password, another account or group to other rights.
_IN_PERSON: Final = ("/api/user/token/", "/api/user/tokens/", "/api/user/me/token/", "/api/oauth/", "/api/auth/")
_ACCOUNTS: Final = "/api/user/"
# Who can sign up and in, what new accounts may do, and what is installed at the next start.
_HOST: Final = "/api/settings/global/"
_OWN_PROFILE: Final = "/api/user/me/profile/"


def needed_scope(method: str, path: str) -> str | None:
    """Return the scope that a token needs for a request; ``None`` where only the account itself may come."""
    reads = method in _READS
    changes_accounts = path.startswith(_ACCOUNTS) and path != _OWN_PROFILE and not reads
    opens_doors = path.startswith(_HOST) and not reads
    if method != "OPTIONS" and (path.startswith(_IN_PERSON) or changes_accounts or opens_doors):
        return None
    if reads:
        return READ
    return PLUGINS if path.startswith(_PLUGINS) else WRITE


def check_scopes(scopes: AbstractSet[str], method: str, path: str) -> None:
    """Refuse a request that a token's scopes do not cover.

    Raises:
        Refusal: 403, naming the scope.

    """
    needed = needed_scope(method, path)
    if needed is None:
        raise Refusal(403, "No scope allows this: sign in as the account itself.", headers=_insufficient(""))
    if needed not in scopes:
        detail = f"The access token lacks the scope '{needed}'. Ask for a token with it."
        raise Refusal(403, detail, headers=_insufficient(needed))


def _insufficient(scope: str) -> tuple[tuple[bytes, bytes]]:
    named = f', scope="{scope}"' if scope else ""
    return ((b"www-authenticate", f'Bearer error="insufficient_scope"{named}'.encode()),)
