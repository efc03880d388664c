"""Who is calling: the header ``Authorization``, then the session cookie."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NoReturn, TypeAlias
from urllib.parse import unquote

from api.answers import Refusal
from api.errors import SIGN_IN
from host.contract.values import Access, User

if TYPE_CHECKING:
    from api.request import ApiRequest

Scheme: TypeAlias = Literal["token", "basic", "session", "bearer"]

SESSION_COOKIE: Final = "sessionid"
CSRF_COOKIE: Final = "csrftoken"
_CSRF_HEADER = b"x-csrftoken"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Authentication:
    """The ways to prove who one is.

    Each is a callable of the accounts area that returns the account, or raises ``NotSignedInError`` when the proof is
    not good (unknown, wrong, expired, revoked, or of an account that is switched off). A session that is unknown or
    over is no proof at all: ``None``. Ways that are ``None`` are not offered.
    """

    by_token: Callable[[str], User]
    by_password: Callable[[str, str], User]
    by_session: Callable[[str], User | None] | None = None
    by_bearer: Callable[[str], User] | None = None

    def identify(self, request: ApiRequest) -> tuple[User | None, Scheme | None]:
        """Return who is calling and how they said so; nobody is ``(None, None)``.

        Raises:
            NotSignedInError: the credentials are not good.
            Refusal: 401 when the header cannot be read, 403 for a session without its CSRF token.

        """
        header = request.headers.get(b"authorization")
        if header:
            scheme, _, rest = header.decode("latin-1").strip().partition(" ")
            word = scheme.lower()
            if word == "token":
                return self._token(rest), "token"
            if word == "basic":
                return self._basic(rest), "basic"
        user = self._session(request)
        if user is not None:
            return user, "session"
        if header and self.by_bearer is not None and scheme.lower() == "bearer":
            return self.by_bearer(rest.strip()), "bearer"
        return None, None

    def _token(self, text: str) -> User:
        text = text.strip()
        if not text:
            _refuse("Invalid token header. No credentials provided.")
        if " " in text:
            _refuse("Invalid token header. Token string should not contain spaces.")
        return self.by_token(text)

    def _basic(self, text: str) -> User:
        text = text.strip()
        if not text:
            _refuse("Invalid basic header. No credentials provided.")
        if " " in text:
            _refuse("Invalid basic header. Credentials string should not contain spaces.")
        name, colon, password = _decoded(text).partition(":")
        if not colon or "\0" in name + password:
            _refuse("Invalid basic header. Credentials not correctly base64 encoded.")
        return self.by_password(name, password)

    def _session(self, request: ApiRequest) -> User | None:
        if self.by_session is None or b"cookie" not in request.headers:
            return None
        cookies = request.cookies
        key = cookies.get(SESSION_COOKIE)
        user = self.by_session(key) if key else None
        if user is not None and request.method not in _SAFE:
            _check_csrf(request.headers, cookies)
        return user


def _decoded(text: str) -> str:
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error:
        _refuse("Invalid basic header. Credentials not correctly base64 encoded.")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _check_csrf(headers: Mapping[bytes, bytes], cookies: Mapping[str, str]) -> None:
    cookie = cookies.get(CSRF_COOKIE, "")
    sent = unquote(headers.get(_CSRF_HEADER, b"").decode("latin-1"))
    if not cookie or not hmac.compare_digest(cookie.encode(), sent.encode()):
        raise Refusal(403, "CSRF Failed: send the value of the cookie 'csrftoken' in the header X-CSRFToken.")


def _refuse(message: str) -> NoReturn:
    raise Refusal(401, message, headers=SIGN_IN)


_RANK: Mapping[Access, int] = {"anyone": 0, "user": 1, "staff": 2, "superuser": 3}


def may(user: User | None, access: Access) -> bool:
    """Tell whether someone has a right."""
    if access == "anyone":
        return True
    if user is None:
        return False
    if user.is_superuser or access == "user":
        return True
    return access == "staff" and user.is_staff


def demand(user: User | None, access: Access) -> None:
    """Refuse someone who lacks a right.

    Raises:
        Refusal: 401 for nobody, 403 for an account without the right.

    """
    if may(user, access):
        return
    if user is None:
        _refuse("Authentication credentials were not provided.")
    raise Refusal(403, "You do not have permission to perform this action.")


def weakest(levels: Mapping[str, Access]) -> Access:
    """Return the least right among some; ``superuser`` when there are none."""
    return min(levels.values(), key=_RANK.__getitem__, default="superuser")
