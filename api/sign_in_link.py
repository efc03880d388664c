"""Signing in by a link that is mailed."""

from __future__ import annotations

from typing import Final

from starlette.responses import RedirectResponse, Response

from api.answers import Json
from api.auth.answers import add_cookies
from api.auth.call import AuthCall, caller_of, mail_origin
from api.endpoint import Endpoint
from api.operations import Operation, Parameter
from api.request import ApiRequest
from api.shapes import Shape
from api.text_fields import Text
from host.accounts.frontend_urls import SIGNED_IN

_TAG: Final = "Sign-in"
_PATH: Final = "/api/email/login/"
_SECRET: Final = "sesame"  # noqa: S105 - the name of a parameter

_ASK: Final = Shape("SignInLink", email=Text(raw=True, help_text="Address of the account."))
_ASKED: Final = Shape(
    "SignInLinkAnswer", email=Text(read_only=True), status=Text(read_only=True, help_text="Always `ok`.")
)


def send_link(request: ApiRequest) -> Response:
    """Mail a link that signs in to the account with an address; whether there is one is not told."""
    services = request.host.sign_in
    email = request.data["email"]
    link = f"{services.site or mail_origin(request)}{_PATH}?{_SECRET}="
    services.link_login.send(caller_of(request), email, link)
    return Json({"email": email, "status": "ok"})


def follow_link(request: ApiRequest) -> Response:
    """Sign the browser in by a link from a mail, and go on to the web client, which shows what comes next.

    A link that is no good signs nobody in, and goes there too.
    """
    call = AuthCall(request, b"")
    # Programs that look at links in mails ask for the headers first.
    if request.method != "HEAD":
        call.services.link_login.sign_in(call.visit, request.query.get(_SECRET, ""))
    response = RedirectResponse(call.services.urls.url(SIGNED_IN, ""), 302, {"cache-control": "no-store"})
    add_cookies(response, call, request.host.config)
    return response


ENDPOINTS: Final = (
    Endpoint(
        "/api/email/generate/",
        name="Sign-in link",
        tag=_TAG,
        operations={
            "POST": Operation(
                id="email_generate",
                summary="Mail a sign-in link",
                access="anyone",
                handler=send_link,
                body=_ASK,
                answers={200: _ASKED},
                faults={400: "The address is missing or no text."},
            )
        },
    ),
    Endpoint(
        _PATH,
        name="Sign-in by link",
        tag=_TAG,
        operations={
            "GET": Operation(
                id="email_login",
                summary="Sign in by a link from a mail",
                access="anyone",
                handler=follow_link,
                answers={302: None},
                parameters=(Parameter(name=_SECRET, field=Text(required=False, blank=True, raw=True), lenient=True),),
                produces=("text/html",),
            )
        },
    ),
)
