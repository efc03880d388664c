"""Providers that speak OpenID Connect and describe themselves."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from host.accounts.problems import Problem, RefusedValuesError
from host.accounts.providers.discovery import Discovery
from host.accounts.providers.failures import ProviderError
from host.accounts.providers.fetching import fetch_object, reaching
from host.accounts.providers.id_tokens import BadTokenError, Expected, IdToken, UnknownKeyError, read_id_token
from host.accounts.providers.identity import Identity, identity_of
from host.accounts.providers.oauth2 import Endpoints, Provider
from host.accounts.providers.seen import FirstUse
from host.accounts.providers.settings import ProviderSettings
from host.contract.values import Json


class OpenIdConnectProvider(Provider):
    """Checks ID tokens by the provider's published keys, and accepts each of them once."""

    takes_tokens = True
    default_scope = ("openid", "profile", "email")

    def __init__(self, settings: ProviderSettings, clock: Callable[[], datetime], first_use: FirstUse) -> None:
        super().__init__(settings, clock)
        self._first_use = first_use
        self._discovery = Discovery(settings, clock)

    def as_json(self) -> dict[str, Json]:
        """Return what clients are told of it."""
        return super().as_json() | {"openid_configuration_url": self.settings.configuration_url}

    def endpoints(self) -> Endpoints:
        """Return what the provider publishes."""
        metadata = self._discovery.metadata()
        return Endpoints(metadata.authorize, metadata.token)

    def from_token(self, token: Mapping[str, Any]) -> Identity:
        """Return whom a token is about that an app got from the provider.

        Args:
            token: ``client_id``, and ``id_token`` or ``access_token`` or both; a lone access token is accepted where
                the provider tells (RFC 7662) for whom it was made.

        Raises:
            RefusedValuesError: it is not to be trusted, or cannot be checked now.

        """
        client_id, id_token, access_token = (token.get(name) for name in ("client_id", "id_token", "access_token"))
        if client_id not in (self.settings.client_id, *self.settings.app_client_ids):
            raise _refused(f"The client is none that {self.name} is configured for.")
        if id_token is None and access_token is None:
            raise _refused("Give an id_token or an access_token.", "token_required")
        if not isinstance(id_token, str | None) or not isinstance(access_token, str | None):
            raise _refused("The tokens must be texts.")
        try:
            if id_token is not None:
                claims = self._claims(id_token, client_id, access_token=access_token)
            else:
                claims = self._claims_by_access(access_token or "", client_id)
            return identity_of(self.settings, claims)
        except ProviderError as error:
            raise _refused(str(error)) from error

    def _asked(self, private: Mapping[str, Any]) -> dict[str, str]:
        return {"nonce": str(private["nonce"])}

    def _check_answer(self, params: Mapping[str, str]) -> None:
        metadata = self._discovery.metadata()
        issuer = params.get("iss")
        # Another provider's answer must not be taken to this one (RFC 9207).
        if issuer != metadata.issuer and (issuer is not None or metadata.tells_issuer):
            raise ProviderError(f"The answer does not come from the provider '{self.id}'. Begin anew.")

    def _auth_method(self) -> str:
        if self.settings.secret.get_secret_value() and not self.settings.token_auth_method:
            offered = self._discovery.metadata().auth_methods
            usable = [name for name in ("client_secret_basic", "client_secret_post") if name in offered]
            return usable[0] if usable else self.default_auth_method
        return super()._auth_method()

    def _identify(self, token: Mapping[str, Any], private: Mapping[str, Any]) -> Identity:
        id_token = token.get("id_token")
        if not isinstance(id_token, str):
            raise ProviderError(f"The provider '{self.id}' gave no ID token. Is openid in its scope?")
        access_token = self._access_token(token) if token.get("access_token") else None
        claims = self._claims(id_token, self.settings.client_id, nonce=str(private["nonce"]), access_token=access_token)
        return identity_of(self.settings, claims)

    def _claims(
        self, id_token: str, client_id: str, *, nonce: str | None = None, access_token: str | None = None
    ) -> dict[str, Any]:
        expected = Expected(
            issuer=self._discovery.metadata().issuer, client_id=client_id, nonce=nonce, access_token=access_token
        )
        try:
            token = self._read(id_token, expected)
        except (BadTokenError, UnknownKeyError) as error:
            raise ProviderError(f"The ID token of the provider '{self.id}' is refused. {error}") from error
        claims = token.claims
        if access_token and self.settings.fetch_userinfo and self._discovery.metadata().userinfo:
            claims = _together(claims, self._userinfo(access_token, str(claims["sub"])))
        # Last: a provider that is down for a moment must not use the token up.
        if not self._first_use(token.digest, token.expiry):
            raise ProviderError(f"This ID token of the provider '{self.id}' was used before. Get a new one.")
        return claims

    def _read(self, id_token: str, expected: Expected) -> IdToken:
        try:
            return read_id_token(id_token, self._discovery.keys(), expected, self._clock())
        except UnknownKeyError:
            return read_id_token(id_token, self._discovery.keys(fresh=True), expected, self._clock())

    def _userinfo(self, access_token: str, subject: str) -> dict[str, Any]:
        found = fetch_object(self.id, self._discovery.metadata().userinfo, bearer=access_token)
        told = found.get("sub")
        if not isinstance(told, str) or not hmac.compare_digest(told.encode("utf-8", "replace"), subject.encode()):
            raise ProviderError(f"The provider '{self.id}' told of somebody else than it had signed in.")
        return found

    def _claims_by_access(self, access_token: str, client_id: str) -> dict[str, Any]:
        metadata = self._discovery.metadata()
        if not metadata.introspection or not metadata.userinfo:
            # Anybody whose app somebody uses has access tokens of theirs; only the provider knows whose app it was.
            raise ProviderError(f"{self.name} does not tell for whom an access token was made. Give an id_token.")
        if not access_token.isascii() or not access_token.isprintable():
            raise ProviderError("The access token holds characters that none can hold.")
        with reaching(self.id), self._session() as session:
            answer = session.introspect_token(metadata.introspection, access_token, "access_token")
            told = answer.json() if answer.ok else {}
        if not isinstance(told, dict) or told.get("active") is not True or not _is_for(told, client_id):
            raise ProviderError("The access token is not valid, or was made for another client.")
        subject = told.get("sub")
        if not isinstance(subject, str):
            raise ProviderError(f"{self.name} does not tell whose access token it is. Give an id_token.")
        return self._userinfo(access_token, subject)


def _is_for(told: Mapping[str, Any], client_id: str) -> bool:
    if "client_id" in told:
        return bool(told["client_id"] == client_id)
    audience = told.get("aud")
    return audience == client_id or (isinstance(audience, list) and client_id in audience)


def _together(claims: dict[str, Any], userinfo: dict[str, Any]) -> dict[str, Any]:
    if "email" in userinfo and userinfo["email"] != claims.get("email"):
        # That one address is verified says nothing of the other.
        claims = {name: value for name, value in claims.items() if name != "email_verified"}
    return claims | userinfo


def _refused(message: str, code: str = "invalid_token") -> RefusedValuesError:
    return RefusedValuesError({"token": [Problem(code, message)]})
