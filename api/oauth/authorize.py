"""The page on which a person allows a client to act for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final
from urllib.parse import quote

from starlette.responses import Response

from api.auth.answers import new_csrf_token
from api.auth.call import caller_of, check_csrf
from api.authentication import CSRF_COOKIE
from api.errors import SIGN_IN
from api.oauth.forms import Form, FormEndpoint, issuer_of, redirect
from api.oauth.pages import page, policy_source
from api.request import ApiRequest, quoted_path
from host.accounts.oauth.exchange import Answer
from host.accounts.oauth.scopes import SCOPES
from host.accounts.oauth.server import Consent
from host.accounts.sessions.state import Client
from host.contract.values import User

PATH: Final = "/o/authorize/"
SIGN_IN_PAGE: Final = "account_login"
"""Which of the web client's pages is the one to sign in on."""

_YEAR = 365 * 86_400
_CSRF_MEMBER = "csrfmiddlewaretoken"
_PARAMETERS = frozenset(
    {"response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method"}
)


def ask(request: ApiRequest, _form: Form) -> Response:
    """Show what a client asks for, to somebody who is signed in with this browser."""
    asked = request.host.oauth.ask(_known(request.query_list), issuer_of(request))
    if isinstance(asked, Answer):
        return _refused(request, asked)
    user = request.context.authentication.of_session(request)
    return _sign_in(request) if user is None else _consent(request, asked, user)


def decide(request: ApiRequest, form: Form) -> Response:
    """Send the person back to the client, with a code or with a refusal."""
    user = request.context.authentication.of_session(request)
    if user is None:
        return _sign_in(request)
    members = dict(form)
    # The session came by its cookie, whatever else the request carries.
    caller = replace(caller_of(request), client=Client.BROWSER)
    check_csrf(request, caller, sent=members.get(_CSRF_MEMBER, ""))
    allowed = members.get("decision") == "allow"
    answer = request.host.oauth.decide(_known(form), user, issuer_of(request), allowed=allowed)
    return _refused(request, answer)


def _known(items: Form) -> Form:
    return [(name, value) for name, value in items if name in _PARAMETERS]


def _refused(request: ApiRequest, answer: Answer) -> Response:
    if answer.location is not None:
        return redirect(answer.location)
    reason = answer.body.get("error_description") or "The request is not one that can be granted."
    return page("refused", 400, instance=_instance(request), reason=reason, error=answer.body.get("error"))


def _sign_in(request: ApiRequest) -> Response:
    query = request.scope["query_string"].decode("latin-1")
    again = quoted_path(request.scope) + (f"?{query}" if query else "")
    elsewhere = request.host.config.headless_frontend_urls.get(SIGN_IN_PAGE, "")
    if elsewhere and request.method != "POST":
        return redirect(f"{elsewhere}{'&' if '?' in elsewhere else '?'}next={quote(again, safe='')}")
    response = page("sign_in", 401, instance=_instance(request), again=again)
    response.raw_headers += SIGN_IN
    return response


def _consent(request: ApiRequest, consent: Consent, user: User) -> Response:
    csrf = request.cookies.get(CSRF_COOKIE, "")
    if not (csrf.isascii() and csrf.isalnum()):
        csrf = new_csrf_token()
    response = page(
        "consent",
        200,
        form_target=policy_source(consent.redirect_uri),
        instance=_instance(request),
        client=consent.client,
        username=user.username,
        scopes=[(name, SCOPES[name]) for name in consent.scopes],
        destination=policy_source(consent.redirect_uri),
        action=PATH,
        csrf=csrf,
        parameters=consent.parameters,
    )
    config = request.host.config
    secure = config.session_cookie_secure
    response.set_cookie(
        CSRF_COOKIE,
        csrf,
        max_age=_YEAR,
        samesite=config.session_cookie_samesite,
        secure=request.scope.get("scheme") == "https" if secure == "auto" else secure == "true",
    )
    return response


def _instance(request: ApiRequest) -> str:
    return request.host.instance


PATHS: Final = (FormEndpoint(PATH, {"GET": ask, "POST": decide}),)
