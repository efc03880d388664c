"""Requests to the authorization server and its answers, as Authlib's server parts know them."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from authlib.common.urls import add_params_to_uri
from authlib.oauth2.rfc6749.errors import InvalidClientError, InvalidRequestError
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload, OAuth2Request

# What may stand in an error's description, which repeats some parameters. ``state`` is handed back as it came.
_PLAIN = re.compile(r"[ !#-\[\]-~]*", re.ASCII)
_LONGEST = 4000
# Whether people reach the host by https is not to be seen behind a proxy.
_ADDRESS: Final = "https://localhost/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What to answer: JSON, or a redirect when there is a location."""

    status: int
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def location(self) -> str | None:
        """Where to send the browser."""
        return self.headers.get("Location")

    def naming(self, issuer: str) -> Answer:
        """Return the answer with its redirect naming the server (RFC 9207), so that clients can tell servers apart."""
        if self.location is None:
            return self
        location = add_params_to_uri(self.location, [("iss", issuer)])
        return Answer(status=self.status, headers={**self.headers, "Location": location})


def answer(status: int, body: Any, headers: Iterable[tuple[str, str]]) -> Answer:
    """Return an answer of Authlib's parts as ours."""
    return Answer(status=status, body=body or {}, headers=dict(headers))


class Request(OAuth2Request):  # type: ignore[misc]  # Authlib ships no types
    """A request whose parameters came in the query or in a form."""

    def __init__(self, method: str, parameters: Mapping[str, str], authorization: str | None = None) -> None:
        super().__init__(method, _ADDRESS, headers={"Authorization": authorization} if authorization else {})
        self.payload = BasicOAuth2Payload(dict(parameters))

    @property
    def form(self) -> Mapping[str, str]:
        """The parameters."""
        parameters: Mapping[str, str] = self.payload.data
        return parameters


def read_parameters(items: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the parameters by name; those without a value count as absent.

    Raises:
        InvalidRequestError: one is there twice, too long, or has characters that none can have.

    """
    found: dict[str, str] = {}
    for name, value in items:
        if not value:
            continue
        if name in found:
            raise InvalidRequestError("A parameter is there more than once.")
        if len(value) > _LONGEST or (name != "state" and not _PLAIN.fullmatch(value)):
            raise InvalidRequestError("A parameter is too long or has characters that it cannot have.")
        found[name] = value
    return found


def check_basic(authorization: str | None) -> None:
    """Refuse a header for HTTP Basic that cannot be read.

    Raises:
        InvalidClientError: it cannot.

    """
    scheme, _, rest = (authorization or "").strip().partition(" ")
    if scheme.lower() != "basic":
        return
    try:
        base64.b64decode(rest.strip(), validate=True).decode()
    except ValueError:
        raise InvalidClientError("The Authorization header cannot be read.", status_code=401) from None
