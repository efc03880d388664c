"""Who a provider says somebody is, cleaned of what cannot be trusted or kept."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from host.accounts.addresses import clean_email, email_problems
from host.accounts.persons import MAX_NAME_LENGTH
from host.accounts.providers.failures import ProviderError
from host.accounts.providers.settings import ProviderSettings
from host.accounts.usernames import clean_username, username_problems
from host.contract.values import Json

MAX_UID = 255
MAX_DISPLAY = 255

_DROPPED = frozenset({"Cc", "Cs", "Zl", "Zp"})
_MAX_TEXT = 1000
_MAX_ITEMS = 100
_MAX_INTEGER = 2**53
# What is kept for those who look after accounts. Never whole answers: they can carry tokens.
_WHO = ("iss", "sub", "id", "login", "preferred_username", "nickname", "name", "given_name", "family_name")
_ABOUT = ("email", "email_verified", "picture", "avatar_url", "profile", "html_url", "website", "company")
_FURTHER = ("locale", "zoneinfo", "groups", "roles")
_KEPT = (*_WHO, *_ABOUT, *_FURTHER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Somebody, as one provider knows them."""

    provider: str
    uid: str
    """Never changes, and never means somebody else at the same provider."""
    email: str = ""
    email_verified: bool = False
    username: str = ""
    """What they are called there; empty where no username could be made of it. It may be taken here."""
    first_name: str = ""
    last_name: str = ""
    display: str = ""
    extra: Mapping[str, Json] = field(default_factory=dict, repr=False)


def identity_of(settings: ProviderSettings, claims: Mapping[str, Any]) -> Identity:
    """Return who the claims of a provider are about.

    Raises:
        ProviderError: they do not say.

    """
    email = clean_email(_text(claims.get("email"), _MAX_TEXT))
    if email_problems(email):
        email = ""
    username = _username(claims)
    first, last = _names(claims)
    uid = _uid(settings, claims)
    shown = (username, email, f"{first} {last}".strip(), uid)
    return Identity(
        provider=settings.id,
        uid=uid,
        email=email,
        # Some providers say it with a text.
        email_verified=bool(email) and (settings.verified_email or claims.get("email_verified") in (True, "true")),
        username=username,
        first_name=first,
        last_name=last,
        display=next(filter(None, shown))[:MAX_DISPLAY],
        extra={name: kept for name in _KEPT if (kept := _plain(claims.get(name))) is not None},
    )


def _uid(settings: ProviderSettings, claims: Mapping[str, Any]) -> str:
    names = (
        [settings.uid_field] if settings.uid_field else ["sub"] if settings.type == "openid_connect" else ["id", "sub"]
    )
    value = next((claims[name] for name in names if claims.get(name) is not None), None)
    uid = str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    # Cleaning it could make one person of two.
    if not uid or len(uid) > MAX_UID or uid != _text(uid, MAX_UID):
        raise ProviderError(f"The provider '{settings.id}' gave no usable {' or '.join(names)} of the person.")
    return uid


def _username(claims: Mapping[str, Any]) -> str:
    for name in ("preferred_username", "login", "username", "nickname"):
        username = clean_username(_text(claims.get(name), _MAX_TEXT))
        if username and not username_problems(username):
            return username
    return ""


def _names(claims: Mapping[str, Any]) -> tuple[str, str]:
    first = _text(claims.get("given_name", claims.get("first_name")), MAX_NAME_LENGTH)
    last = _text(claims.get("family_name", claims.get("last_name")), MAX_NAME_LENGTH)
    if not first and not last:
        first, _, last = _text(claims.get("name"), 2 * MAX_NAME_LENGTH).partition(" ")
    return first[:MAX_NAME_LENGTH].strip(), last[:MAX_NAME_LENGTH].strip()


def _text(value: object, limit: int) -> str:
    if not isinstance(value, str):
        return ""
    # PostgreSQL keeps no NUL, nothing can encode half a character, and no name has line breaks.
    return "".join(one for one in value[: 2 * limit] if unicodedata.category(one) not in _DROPPED).strip()[:limit]


def _plain(value: object) -> Json:
    if isinstance(value, str):
        return _text(value, _MAX_TEXT)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _MAX_INTEGER else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_text(item, _MAX_TEXT) for item in value[:_MAX_ITEMS] if isinstance(item, str)]
    return None
