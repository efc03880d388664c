"""Answers of the account interface: one envelope, and the cookies of browsers."""

from __future__ import annotations

import secrets
import string
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import Response

from api.answers import Json
from api.auth.call import TRUST_COOKIE, AuthCall
from api.authentication import CSRF_COOKIE, SESSION_COOKIE
from host.accounts.account import Account
from host.accounts.problems import Problem, RefusedValuesError
from host.accounts.sessions.state import Client

if TYPE_CHECKING:
    from host.config.accounts import AccountOptions

_PRIVATE: Final = (b"cache-control", b"max-age=0, no-cache, no-store, must-revalidate, private")
_YEAR: Final = 31_449_600
_WHOLE: Final = "non_field_errors"
_CSRF_ALPHABET: Final = string.ascii_letters + string.digits


class AuthJson(Json):
    """An answer in the envelope of the account interface; absent parts are left out."""

    def __init__(self, status: int = 200, *, data: Any = None, meta: Any = None, errors: Any = None) -> None:
        parts = {"data": data, "meta": meta, "errors": errors}
        body = {"status": status, **{name: part for name, part in parts.items() if part is not None}}
        super().__init__(body, status, (_PRIVATE,))


def authentication(call: AuthCall, *, proof: bool = False, unknown: bool = False) -> AuthJson:
    """Answer who is signed in, or what may be done to sign in.

    Args:
        call: the request.
        proof: the one who is signed in has to prove again who they are.
        unknown: the operation belongs to a stage that is not waiting; who is signed in does not matter then.

    """
    visit, flows = call.visit, call.services.flows
    if visit.account is None or unknown:
        known = None if unknown else False
        meta = {"is_authenticated": known} | session_token(call)
        return AuthJson(401, data={"flows": flows.to_sign_in(visit)}, meta=meta)
    methods = visit.state.methods if visit.state else []
    data = {"user": show_user(visit.account), "methods": methods}
    if proof:
        return AuthJson(401, data=data | {"flows": flows.to_prove(visit)}, meta={"is_authenticated": True})
    return AuthJson(200, data=data, meta={"is_authenticated": True} | session_token(call) | _tokens(call))


def gone(call: AuthCall) -> AuthJson:
    """Answer an app whose session is over."""
    services = call.services
    anew = services.sessions.visit(replace(call.caller, key=""))
    return AuthJson(410, data={"flows": services.flows.to_sign_in(anew)}, meta={"is_authenticated": None})


def refused(problems: Mapping[str, Sequence[Problem]], status: int = 400) -> AuthJson:
    """Answer what is wrong with an input: its members in order, then the whole of it."""
    errors = [
        {"message": problem.message, "code": problem.code} | ({} if member == _WHOLE else {"param": member})
        for member, found in sorted(problems.items(), key=lambda item: item[0] == _WHOLE)
        for problem in found
    ]
    return AuthJson(status, errors=errors)


def refusal(error: RefusedValuesError) -> AuthJson:
    """Answer a refused input."""
    return refused(error.problems)


def show_user(account: Account) -> dict[str, Any]:
    """Return an account as sign-in clients see it; what is missing is left out."""
    shown: dict[str, Any] = {
        "id": account.id,
        "display": account.username,
        "has_usable_password": account.has_usable_password,
        "username": account.username,
    }
    if account.email:
        shown["email"] = account.email
    return shown


def session_token(call: AuthCall) -> dict[str, Any]:
    """Return the member of ``meta`` by which a client learns a new key of its session, where it is to be told."""
    key = call.visit.new_key
    # A browser has its cookie; pages learn the key only from the login itself.
    shown = key is not None and (call.may_be_app or call.visit.account is not None)
    return {"session_token": key} if shown else {}


def _tokens(call: AuthCall) -> dict[str, Any]:
    # A new key, as after a new password, voids the tokens that were bound to the one before.
    if call.visit.new_key is None:
        return {}
    return dict(call.services.bearer_tokens(call.visit))


def add_cookies(response: Response, call: AuthCall, options: AccountOptions) -> None:
    """Give a browser the cookies that it is to keep."""
    if call.caller.client is Client.APP:
        return
    request = call.request
    cookies = _Cookies(response, options, https=request.scope.get("scheme") == "https")
    rotate = False
    if call.has_visited:
        visit = call.visit
        rotate = visit.signed_in_now
        if visit.new_key is not None:
            cookies.set(SESSION_COOKIE, visit.new_key, options.session_cookie_age)
        elif visit.is_over:
            cookies.delete(SESSION_COOKIE)
        if visit.new_trust is not None:
            cookies.set(TRUST_COOKIE, visit.new_trust, options.mfa_trust_cookie_age)
    token = "" if rotate else request.cookies.get(CSRF_COOKIE, "")
    if not _is_csrf_token(token):
        token = new_csrf_token()
    cookies.set(CSRF_COOKIE, token, _YEAR, readable=True)


def new_csrf_token() -> str:
    """Return a token that nobody can guess."""
    return "".join(secrets.choice(_CSRF_ALPHABET) for _ in range(32))


def _is_csrf_token(text: str) -> bool:
    return len(text) == 32 and text.isascii() and text.isalnum()  # noqa: PLR2004 - as new_csrf_token makes them


class _Cookies:
    def __init__(self, response: Response, options: AccountOptions, *, https: bool) -> None:
        self._response = response
        self._same_site = options.session_cookie_samesite
        secure = options.session_cookie_secure
        self._secure = https if secure == "auto" else secure == "true"

    def set(self, name: str, value: str, age: int, *, readable: bool = False) -> None:
        self._response.set_cookie(
            name, value, max_age=age, httponly=not readable, samesite=self._same_site, secure=self._secure
        )

    def delete(self, name: str) -> None:
        self._response.delete_cookie(name, httponly=True, samesite=self._same_site, secure=self._secure)
