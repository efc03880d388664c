"""The authorization server: lets people allow clients to act for them, and gives clients their tokens."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from authlib.oauth2.rfc6749 import AuthorizationServer, OAuth2Error
from authlib.oauth2.rfc6749.errors import InvalidClientError, InvalidRequestError
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from sqlalchemy.exc import SQLAlchemyError

from host.accounts.events import Emit
from host.accounts.oauth.bearers import Bearers
from host.accounts.oauth.clients import Clients
from host.accounts.oauth.endpoints import Introspection, Revocation
from host.accounts.oauth.exchange import Answer, Request, answer, check_basic, read_parameters
from host.accounts.oauth.grants import (
    ANY_CLIENT,
    WITH_SECRET,
    AuthorizationCode,
    ClientCredentials,
    RefreshToken,
    S256Challenge,
)
from host.accounts.oauth.known import KnownClient
from host.accounts.oauth.scopes import SCOPES
from host.accounts.oauth.work import ACCESS_PREFIX, REFRESH_PREFIX, Lifetimes, Work, new_secret
from host.contract.values import User
from host.storage.engine import Database
from host.storage.tables import now

_LOG = logging.getLogger("plugyard.oauth")

_FORGET_EVERY = timedelta(hours=1)
_KEEP = timedelta(days=1)
"""How long what is over is kept, so that a stolen token that comes back late is still known."""

# Its messages for debugging hold whole tokens.
logging.getLogger("authlib").setLevel(logging.INFO)

Parameters = Iterable[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """What an account is asked to allow."""

    client: str
    """Name of the client."""
    scopes: Sequence[str]
    redirect_uri: str
    parameters: Mapping[str, str]
    """Of the request; the decision is sent together with them."""


class OAuth:
    """Everything of the authorization server.

    ``clients`` registers clients, ``bearers`` finds the account behind an access token.

    Args:
        database: where everything is.
        emit: stores an event as part of a transaction.
        lifetimes: how long tokens can be used.
        clock: the present moment.

    """

    def __init__(
        self,
        database: Database,
        emit: Emit,
        *,
        lifetimes: Lifetimes | None = None,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self.clients = Clients(database, emit, clock)
        self.bearers = Bearers(database, clock)
        self._database = database
        self._emit = emit
        self._lifetimes = lifetimes or Lifetimes()
        self._clock = clock
        self._next_forgetting = clock()

    def ask(self, parameters: Parameters, issuer: str) -> Consent | Answer:
        """Return what to ask the account; an answer where the request is refused.

        The refusal is a redirect to the client only where both the client and the address are good.
        """
        with self._work() as work:
            try:
                cleaned = read_parameters(parameters)
                grant = _Server(work, self._lifetimes).get_consent_grant(Request("GET", cleaned))
            except OAuth2Error as error:
                return _refused(error).naming(issuer)
            return Consent(
                client=grant.client.name,
                scopes=tuple(grant.request.scope.split()),
                redirect_uri=grant.redirect_uri,
                parameters=cleaned,
            )

    def decide(self, parameters: Parameters, user: User, issuer: str, *, allowed: bool) -> Answer:
        """Return the redirect to the client with a code, or with the news that the account refused."""
        with self._work() as work:
            try:
                request = Request("POST", read_parameters(parameters))
                server = _Server(work, self._lifetimes)
                grant = server.get_consent_grant(request)
            except OAuth2Error as error:
                return _refused(error).naming(issuer)
            decided: Answer = server.create_authorization_response(request, user if allowed else None, grant)
        return decided.naming(issuer)

    def give_tokens(self, form: Parameters, authorization: str | None) -> Answer:
        """Answer a client that asks for tokens: by a code, by a refresh token, or on its own behalf."""
        given = self._answer(form, authorization, lambda server, request: server.create_token_response(request))
        self._forget_now_and_then()
        return given

    def revoke(self, form: Parameters, authorization: str | None) -> Answer:
        """Answer a client that ends a token; also a token that nobody knows is well ended."""
        return self._endpoint(Revocation.ENDPOINT_NAME, form, authorization)

    def introspect(self, form: Parameters, authorization: str | None) -> Answer:
        """Answer a client that asks what a token is worth."""
        return self._endpoint(Introspection.ENDPOINT_NAME, form, authorization)

    def _forget_now_and_then(self) -> None:
        moment = self._clock()
        if moment < self._next_forgetting:
            return
        self._next_forgetting = moment + _FORGET_EVERY
        try:
            self.clients.forget(moment - _KEEP)
        except SQLAlchemyError:
            _LOG.exception("Grants that are over could not be deleted; a later try will.")

    def metadata(self, issuer: str) -> dict[str, Any]:
        """Describe the server to clients (RFC 8414)."""
        return {
            "issuer": issuer,
            "authorization_endpoint": f"{issuer}/o/authorize/",
            "token_endpoint": f"{issuer}/o/token/",
            "revocation_endpoint": f"{issuer}/o/revoke_token/",
            "introspection_endpoint": f"{issuer}/o/introspect/",
            "scopes_supported": list(SCOPES),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "client_credentials", "refresh_token"],
            "token_endpoint_auth_methods_supported": ANY_CLIENT,
            "revocation_endpoint_auth_methods_supported": ANY_CLIENT,
            "introspection_endpoint_auth_methods_supported": WITH_SECRET,
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        }

    def _work(self) -> Work:
        return Work(self._database, self._emit, self._lifetimes, self._clock())

    def _endpoint(self, name: str, form: Parameters, authorization: str | None) -> Answer:
        return self._answer(form, authorization, lambda server, request: server.create_endpoint_response(name, request))

    def _answer(
        self, form: Parameters, authorization: str | None, respond: Callable[[_Server, Request], Answer]
    ) -> Answer:
        with self._work() as work:
            try:
                check_basic(authorization)
                request = Request("POST", read_parameters(form), authorization)
                return respond(_Server(work, self._lifetimes), request)
            except OAuth2Error as error:
                return _refused(error)


class _Server(AuthorizationServer):  # type: ignore[misc]  # Authlib ships no types
    """Authlib's server, for one request."""

    def __init__(self, work: Work, lifetimes: Lifetimes) -> None:
        super().__init__(scopes_supported=list(SCOPES))
        self.work = work
        self.register_token_generator(
            "default",
            BearerTokenGenerator(
                lambda **_: new_secret(ACCESS_PREFIX), lambda **_: new_secret(REFRESH_PREFIX), lifetimes.access
            ),
        )
        self.register_grant(AuthorizationCode, [S256Challenge()])
        self.register_grant(RefreshToken)
        self.register_grant(ClientCredentials)
        self.register_endpoint(Revocation)
        self.register_endpoint(Introspection)

    def query_client(self, client_id: str) -> KnownClient | None:
        return self.work.client(client_id)

    def save_token(self, token: Mapping[str, Any], request: Any) -> None:
        client = request.client
        given = request.authorization_code or request.refresh_token
        user = request.user if given is not None else self.work.owner(client)
        grant_id = self._grant(client, given, user)
        if user is None or grant_id is None:
            raise InvalidClientError("The client has just been removed, or its owner switched off.")
        self.work.save_tokens(
            (token["access_token"], token.get("refresh_token")),
            grant_id,
            token["scope"].split(),
            client_id=client.client_id,
            user=user,
            by=request.payload.grant_type,
        )

    def _grant(self, client: KnownClient, given: Any, user: User | None) -> int | None:
        if given is not None:
            return int(given.grant_id)
        return None if user is None else self.work.allow(client, user.id)

    def get_token_grant(self, request: Any) -> Any:
        if request.payload.grant_type is None:
            raise InvalidRequestError("The parameter 'grant_type' is missing.")
        return super().get_token_grant(request)

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Tell nobody: events are stored where things are done."""

    def create_oauth2_request(self, request: Any) -> Any:
        return request

    def handle_response(self, status: int, body: Any, headers: Iterable[tuple[str, str]]) -> Answer:
        return answer(status, body, headers)


def _refused(error: OAuth2Error) -> Answer:
    return answer(*error())
