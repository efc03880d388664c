"""Ending tokens and asking about them, on Authlib's server parts."""

from __future__ import annotations

from typing import Any

from authlib.oauth2.rfc6749.errors import InvalidRequestError
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7662 import IntrospectionEndpoint

from host.accounts.oauth.grants import ANY_CLIENT, WITH_SECRET
from host.accounts.oauth.known import KnownClient, KnownToken


def _check_token(request: Any) -> None:
    # A hint is never needed to find a token, so a wrong one does no harm.
    if "token" not in request.form:
        raise InvalidRequestError("The parameter 'token' is missing.")


class Revocation(RevocationEndpoint):  # type: ignore[misc]  # Authlib ships no types
    """A client ends a token of its own."""

    CLIENT_AUTH_METHODS = ANY_CLIENT

    def check_params(self, request: Any, client: KnownClient) -> None:  # noqa: ARG002 - the base class's signature
        """Check that a token is named."""
        _check_token(request)

    def query_token(self, token_string: str, token_type_hint: str | None) -> KnownToken | None:  # noqa: ARG002 - as above
        """Find the token."""
        found: KnownToken | None = self.server.work.token(token_string)
        return found

    def revoke_token(self, token: KnownToken, request: Any) -> None:  # noqa: ARG002 - as above
        """End it."""
        self.server.work.revoke(token)


class Introspection(IntrospectionEndpoint):  # type: ignore[misc]  # Authlib ships no types
    """A service that is a client asks what a token, which somebody sent it, is worth."""

    CLIENT_AUTH_METHODS = WITH_SECRET

    def check_params(self, request: Any, client: KnownClient) -> None:  # noqa: ARG002 - the base class's signature
        """Check that a token is named."""
        _check_token(request)

    def query_token(self, token_string: str, token_type_hint: str | None) -> KnownToken | None:  # noqa: ARG002 - as above
        """Find the token."""
        found: KnownToken | None = self.server.work.token(token_string)
        return found

    def check_permission(self, token: KnownToken, client: KnownClient, request: Any) -> bool:  # noqa: ARG002 - as above
        """Tell whether the client may know: of access tokens all, of refresh tokens its own."""
        return token.kind == "access_token" or token.check_client(client)

    def introspect_token(self, token: KnownToken) -> dict[str, Any]:
        """Describe a token that can be used."""
        if token.user is None:
            return {"active": False}
        return {
            "active": True,
            "scope": token.get_scope(),
            "client_id": token.client_id,
            "username": token.user.username,
            "sub": str(token.user.id),
            "token_type": "Bearer" if token.kind == "access_token" else "refresh_token",
            "iat": int(token.created.timestamp()),
            "exp": int(token.expires.timestamp()),
        }
