"""The ways to a token, on Authlib's server parts."""

from __future__ import annotations

import hmac
from typing import Any, Final

from authlib.oauth2.rfc6749 import grants
from authlib.oauth2.rfc6749.errors import InvalidRequestError
from authlib.oauth2.rfc7636 import CodeChallenge, create_s256_code_challenge

from host.accounts.oauth.known import KnownCode, KnownToken
from host.accounts.oauth.work import new_secret
from host.contract.values import User

WITH_SECRET: Final = ["client_secret_basic", "client_secret_post"]
ANY_CLIENT: Final = [*WITH_SECRET, "none"]


class AuthorizationCode(grants.AuthorizationCodeGrant):  # type: ignore[misc]  # Authlib ships no types
    """A person consents in the browser; the client exchanges the code that it gets."""

    TOKEN_ENDPOINT_AUTH_METHODS = ANY_CLIENT

    def generate_authorization_code(self) -> str:
        """Make a code."""
        return new_secret()

    def save_authorization_code(self, code: str, request: Any) -> None:
        """Keep a code with the account's consent."""
        grant_id = self.server.work.allow(request.client, request.user.id)
        if grant_id is None:
            raise InvalidRequestError("The client or the account has just been removed.")
        self.server.work.save_code(
            code,
            grant_id,
            redirect_uri=request.payload.redirect_uri or "",
            challenge=request.payload.data.get("code_challenge", ""),
            scopes=request.scope.split(),
        )

    def query_authorization_code(self, code: str, client: Any) -> KnownCode | None:
        """Return a code that the client may use."""
        found: KnownCode | None = self.server.work.take_code(code, client)
        return found

    def delete_authorization_code(self, authorization_code: KnownCode) -> None:
        """Note that the code was used; it stays, so that a second use is noticed."""
        self.server.work.use_code(authorization_code)

    def authenticate_user(self, authorization_code: KnownCode) -> User | None:
        """Return who consented, unless the account was switched off since."""
        return authorization_code.user


class RefreshToken(grants.RefreshTokenGrant):  # type: ignore[misc]  # Authlib ships no types
    """A client exchanges its refresh token, once, for new tokens."""

    TOKEN_ENDPOINT_AUTH_METHODS = ANY_CLIENT
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token: str) -> KnownToken | None:
        """Return a token that the client may use."""
        found: KnownToken | None = self.server.work.take_refresh_token(refresh_token, self.request.client)
        return found

    def authenticate_user(self, refresh_token: KnownToken) -> User | None:
        """Return who consented."""
        return refresh_token.user

    def revoke_old_credential(self, refresh_token: KnownToken) -> None:
        """Note that the token was used."""
        self.server.work.use_refresh_token(refresh_token)


class ClientCredentials(grants.ClientCredentialsGrant):  # type: ignore[misc]  # Authlib ships no types
    """A client acts for its owner, with nothing but its own secret."""

    TOKEN_ENDPOINT_AUTH_METHODS = WITH_SECRET


class S256Challenge(CodeChallenge):  # type: ignore[misc]  # Authlib ships no types
    """Ties a code to the client that asked for it; by S256 only, and without exception for public clients."""

    SUPPORTED_CODE_CHALLENGE_METHOD: Final = ["S256"]
    CODE_CHALLENGE_METHODS: Final = {
        "S256": lambda verifier, challenge: hmac.compare_digest(create_s256_code_challenge(verifier), challenge)
    }

    def validate_code_challenge(self, grant: Any, redirect_uri: Any) -> None:
        """Check the challenge of a request for a code.

        Raises:
            InvalidRequestError: it is missing, malformed or of another method.

        """
        parameters = grant.request.payload.data
        if "code_challenge" not in parameters:
            if grant.request.client.public:
                raise InvalidRequestError("A 'code_challenge' is needed, by the method S256.")
        elif parameters.get("code_challenge_method") != "S256":
            raise InvalidRequestError("The 'code_challenge_method' must be S256.")
        super().validate_code_challenge(grant, redirect_uri)
