"""A request to the account interface, as its handlers see it."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

import orjson

from api.answers import Refusal
from api.authentication import CSRF_COOKIE, SESSION_COOKIE, SESSION_HEADER
from api.request import ApiRequest
from host.accounts.refusals import SessionGoneError
from host.accounts.sessions.state import Caller, Client

if TYPE_CHECKING:
    from host.accounts.services import SignIn
    from host.accounts.sessions.visit import Visit

TRUST_COOKIE: Final = "mfa_trusted"
_CSRF_HEADER: Final = b"x-csrftoken"
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_BROWSER_MARKS: Final = (b"cookie", b"origin", b"referer", b"sec-fetch-site")


class UnreadableBodyError(Exception):
    """The body is no JSON object."""


class AuthCall:
    """One request; ``visit`` is its view of the session."""

    def __init__(self, request: ApiRequest, raw: bytes) -> None:
        self.request = request
        self.raw = raw
        self.caller = caller_of(request)
        self._visit: Visit | None = None

    @property
    def services(self) -> SignIn:
        """What signs people in."""
        return self.request.host.sign_in

    @property
    def visit(self) -> Visit:
        """The request's view of its session.

        Raises:
            SessionGoneError: an app names a session that is over.

        """
        if self._visit is None:
            self._visit = self._open()
        return self._visit

    def _open(self) -> Visit:
        visit = self.services.sessions.visit
        try:
            return visit(self.caller)
        except SessionGoneError:
            if SESSION_HEADER in self.request.headers:
                raise
        # A web token that outlived its session: it proves nothing, and nothing has to be dropped.
        self.caller = replace(self.caller, key="")
        return visit(self.caller)

    @property
    def has_visited(self) -> bool:
        """Tell whether there is a view already."""
        return self._visit is not None

    @property
    def may_be_app(self) -> bool:
        """Tell whether an app may be asking, which is to be told the key of its session; its first GET cannot say."""
        return self.caller.client is Client.APP or not has_browser_marks(self.request)

    @cached_property
    def data(self) -> Mapping[str, Any]:
        """The body; an empty one is an empty object.

        Raises:
            UnreadableBodyError: it is no JSON object.

        """
        if not self.raw.strip():
            return {}
        try:
            data = orjson.loads(self.raw)
        except orjson.JSONDecodeError as error:
            raise UnreadableBodyError from error
        if data is None:
            return {}
        if not isinstance(data, dict):
            raise UnreadableBodyError
        return data

    def text(self, name: str, *, strip: bool = True) -> str:
        """Return a member as text; a missing one is empty, one of another type is written out."""
        value = self.data.get(name)
        if value is None:
            return ""
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        return text.strip() if strip else text

    def header(self, name: bytes) -> str:
        """Return a header of the request, unquoted; a missing one is empty."""
        return unquote(self.request.headers.get(name, b"").decode("latin-1")).strip()


def caller_of(request: ApiRequest) -> Caller:
    """Return who is asking.

    A request with ``X-Session-Token`` or a web token comes from an app, and so does one that changes something and has
    nothing that a browser would send: it carries no cookie that a foreign page could abuse.
    """
    headers = request.headers
    client, key = Client.BROWSER, ""
    token = headers.get(SESSION_HEADER)
    web_token = _bearer(headers)
    if token is not None:
        client, key = Client.APP, token.decode("latin-1").strip()
    elif web_token and request.host.sign_in.web_tokens.enabled:
        client, key = Client.APP, request.host.sign_in.web_tokens.key_of(web_token)
    elif request.method not in _SAFE and not has_browser_marks(request):
        client = Client.APP
    else:
        key = request.cookies.get(SESSION_COOKIE, "")
    peer = request.scope.get("client")
    return Caller(
        client=client,
        key=key,
        address=peer[0] if peer else "",
        user_agent=headers.get(b"user-agent", b"").decode("latin-1"),
        origin=request.origin,
        mail_origin=mail_origin(request),
        trust=request.cookies.get(TRUST_COOKIE, ""),
    )


def mail_origin(request: ApiRequest) -> str:
    """Return scheme and host for links in mails, where no address of the site is set.

    A stranger who asks for somebody else's reset link chooses the header ``Host``, so it counts only where it names
    this machine or a place that is trusted; otherwise it is the address at which the connection arrived.
    """
    name = urlsplit(request.origin).hostname or ""
    trusted = {urlsplit(known).hostname or known.partition(":")[0] for known in request.context.options.own_origins}
    if name in _LOOPBACK | trusted:
        return request.origin
    server = request.scope.get("server") or ("localhost", None)
    host = f"[{server[0]}]" if ":" in server[0] else server[0]
    port = f":{server[1]}" if server[1] else ""
    return f"{request.scope.get('scheme', 'http')}://{host}{port}"


def has_browser_marks(request: ApiRequest) -> bool:
    """Tell whether a request has anything that only browsers send of themselves."""
    return any(mark in request.headers for mark in _BROWSER_MARKS)


def _bearer(headers: Mapping[bytes, bytes]) -> str:
    scheme, _, text = headers.get(b"authorization", b"").decode("latin-1").strip().partition(" ")
    return text.strip() if scheme.lower() == "bearer" else ""


def check_csrf(request: ApiRequest, caller: Caller, *, sent: str | None = None) -> None:
    """Let a browser change something only from a page that knows the cookie ``csrftoken``.

    Args:
        request: the request.
        caller: who is asking; apps send no cookies, so nothing can be abused.
        sent: the token as a form sent it, where it is no header.

    Raises:
        Refusal: 403.

    """
    if caller.client is Client.APP or request.method in _SAFE:
        return
    if sent is None:
        sent = unquote(request.headers.get(_CSRF_HEADER, b"").decode("latin-1"))
    cookie = request.cookies.get(CSRF_COOKIE, "")
    if not cookie or not hmac.compare_digest(cookie.encode(), sent.encode("utf-8", "surrogatepass")):
        raise Refusal(403, "CSRF Failed: send the value of the cookie 'csrftoken' in the header X-CSRFToken.")
    origin = request.headers.get(b"origin", b"").decode("latin-1")
    if origin and not _is_ours(request, origin):
        raise Refusal(403, f"CSRF Failed: pages of {origin} may not do this; PLUGYARD_TRUSTED_ORIGINS can allow it.")


def _is_ours(request: ApiRequest, origin: str) -> bool:
    # Only the host is compared: behind a proxy the scheme may be another one than the page's.
    try:
        place = urlsplit(origin).netloc
    except ValueError:
        return False
    options = request.context.options
    own = {urlsplit(request.origin).netloc, *(urlsplit(known).netloc or known for known in options.own_origins)}
    return bool(place) and (place in own or origin in options.origins)
