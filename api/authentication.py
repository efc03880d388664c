"""Who is calling: by the header ``Authorization``, by a session of an app or a browser, by a bearer token."""

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
from api.oauth.scopes import check_scopes
from host.accounts.oauth.bearers import Bearer
from host.accounts.refusals import FactorNeededError, SessionGoneError
from host.contract.values import Access, User
from host.errors import NotSignedInError

if TYPE_CHECKING:
    from api.request import ApiRequest

Scheme: TypeAlias = Literal["token", "basic", "session", "bearer"]

SESSION_COOKIE: Final = "sessionid"
CSRF_COOKIE: Final = "csrftoken"
SESSION_HEADER: Final = b"x-session-token"
_CSRF_HEADER = b"x-csrftoken"
_INVALID_TOKEN: Final = ((b"www-authenticate", b'Bearer error="invalid_token"'),)
_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Authentication:
    """The ways to prove who one is.

    Each is a callable of the accounts area that returns the account, or raises ``NotSignedInError`` when the proof is
    not good (unknown, wrong, expired, revoked, or of an account that is switched off). A session in which nobody is
    signed in yet is no proof at all: ``None``; and so is a cookie whose session is over. Ways that are ``None`` are not
    offered.

    ``by_bearer`` returns ``None`` for a text that is no token of this host at all. While ``needs_factor`` is true, a
    password alone is not enough; sessions say so themselves. Tokens go on working: whoever made them had to use the
    factor.
    """

    by_token: Callable[[str], User]
    by_password: Callable[[str, str, str], User]
    """By name, password, and the address of the client."""
    by_session: Callable[[str], User | None] | None = None
    by_bearer: Callable[[str], Bearer | None] | None = None
    needs_factor: Callable[[], bool] = _never

    def identify(self, request: ApiRequest, *, foreign: bool = False) -> tuple[User | None, Scheme | None]:
        """Return who is calling and how they said so; nobody is ``(None, None)``.

        Whoever has yet to use a second factor is nobody either, and ``request.obstacle`` says so: they may do what
        anybody may.

        The scheme ``bearer`` means that an account has lent a part of its rights. A bearer token without scopes stands
        for a session and is called one.

        Args:
            request: the request.
            foreign: a bearer token that is none of this host counts as nothing: plugins may have tokens of their own.

        Raises:
            NotSignedInError: the credentials are not good.
            Refusal: 401 when the header cannot be read or names no good bearer token, 403 for a session without its
                CSRF token and for a bearer token whose scopes do not cover the request.

        """
        try:
            return self._identify(request, foreign=foreign)
        except FactorNeededError as error:
            request.obstacle = error
            return None, None

    def _identify(self, request: ApiRequest, *, foreign: bool) -> tuple[User | None, Scheme | None]:
        header = request.headers.get(b"authorization")
        if header:
            scheme, _, rest = header.decode("latin-1").strip().partition(" ")
            word = scheme.lower()
            if word == "token":
                return self._token(rest), "token"
            if word == "basic":
                return self._basic(request, rest), "basic"
        user = self._session(request)
        if user is not None:
            return user, "session"
        if SESSION_HEADER in request.headers:
            return None, None
        if header and self.by_bearer is not None and word == "bearer":
            return self._bearer(request, rest.strip(), foreign=foreign)
        return None, None

    def of_session(self, request: ApiRequest) -> User | None:
        """Return who is signed in by the session cookie. That a page of ours sent the request is not checked."""
        try:
            return self._by_cookie(request)
        except FactorNeededError:
            return None

    def _by_cookie(self, request: ApiRequest) -> User | None:
        if self.by_session is None or b"cookie" not in request.headers:
            return None
        key = request.cookies.get(SESSION_COOKIE)
        try:
            return self.by_session(key) if key else None
        except SessionGoneError:
            return None

    def _bearer(self, request: ApiRequest, text: str, *, foreign: bool) -> tuple[User | None, Scheme | None]:
        try:
            found = None if self.by_bearer is None else self.by_bearer(text)
        except FactorNeededError:
            raise
        except NotSignedInError as error:
            raise Refusal(401, str(error), headers=_INVALID_TOKEN) from None
        if found is None:
            if foreign:
                return None, None
            raise Refusal(401, "This is no access token of this server.", headers=_INVALID_TOKEN)
        if found.scopes is None:
            return found.user, "session"
        check_scopes(found.scopes, request.method, request.path)
        return found.user, "bearer"

    def _token(self, text: str) -> User:
        text = text.strip()
        if not text:
            _refuse("Invalid token header. No credentials provided.")
        if " " in text:
            _refuse("Invalid token header. Token string should not contain spaces.")
        return self.by_token(text)

    def _basic(self, request: ApiRequest, text: str) -> User:
        text = text.strip()
        if not text:
            _refuse("Invalid basic header. No credentials provided.")
        if " " in text:
            _refuse("Invalid basic header. Credentials string should not contain spaces.")
        name, colon, password = _decoded(text).partition(":")
        if not colon or "\0" in name + password:
            _refuse("Invalid basic header. Credentials not correctly base64 encoded.")
        peer = request.scope.get("client")
        user = self.by_password(name, password, peer[0] if peer else "")
        if self.needs_factor():
            raise FactorNeededError
        return user

    def _session(self, request: ApiRequest) -> User | None:
        token = request.headers.get(SESSION_HEADER)
        if token is not None:
            # An app: no page of another site can send this header, and cookies count for nothing beside it.
            key = token.decode("latin-1").strip()
            return self.by_session(key) if key and self.by_session is not None else None
        user = self._by_cookie(request)
        if user is not None and request.method not in _SAFE:
            _check_csrf(request.headers, request.cookies)
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


def demand(user: User | None, access: Access, obstacle: NotSignedInError | None = None) -> None:
    """Refuse someone who lacks a right.

    Args:
        user: who is calling.
        access: the right.
        obstacle: why it is nobody, where that has a reason of its own.

    Raises:
        NotSignedInError: the obstacle.
        Refusal: 401 for nobody, 403 for an account without the right.

    """
    if may(user, access):
        return
    if user is None and obstacle is not None:
        raise obstacle
    if user is None:
        _refuse("Authentication credentials were not provided.")
    raise Refusal(403, "You do not have permission to perform this action.")


def weakest(levels: Mapping[str, Access]) -> Access:
    """Return the least right among some; ``superuser`` when there are none."""
    return min(levels.values(), key=_RANK.__getitem__, default="superuser")
