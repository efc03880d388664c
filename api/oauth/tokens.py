"""What clients call: for tokens, to end them, to ask about them, and to learn where all this is."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.answers import Json
from api.oauth.forms import Form, FormEndpoint, issuer_of, respond
from api.request import ApiRequest


def give_tokens(request: ApiRequest, form: Form) -> Response:
    """Give tokens to a client."""
    return respond(request.host.oauth.give_tokens(form, _authorization(request)))


def revoke(request: ApiRequest, form: Form) -> Response:
    """End a token."""
    return respond(request.host.oauth.revoke(form, _authorization(request)))


def introspect(request: ApiRequest, form: Form) -> Response:
    """Tell a client what a token is worth."""
    return respond(request.host.oauth.introspect(form, _authorization(request)))


def metadata(request: ApiRequest, _form: Form) -> Response:
    """Describe the authorization server."""
    return Json(request.host.oauth.metadata(issuer_of(request)))


def _authorization(request: ApiRequest) -> str | None:
    header = request.headers.get(b"authorization")
    return None if header is None else header.decode("latin-1")


PATHS: Final = (
    FormEndpoint("/o/token/", {"POST": give_tokens}),
    FormEndpoint("/o/revoke_token/", {"POST": revoke}),
    FormEndpoint("/o/introspect/", {"POST": introspect}),
    FormEndpoint("/.well-known/oauth-authorization-server", {"GET": metadata}),
)
