"""Providers that speak OAuth 2.0: the authorization code flow with PKCE."""

from __future__ import annotations

import hmac
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

from authlib.integrations.requests_client import OAuth2Session

from host.accounts.problems import Problem, RefusedValuesError
from host.accounts.providers.failures import Failure, ProviderError
from host.accounts.providers.fetching import bound, fetch_object, reaching
from host.accounts.providers.identity import Identity, identity_of
from host.accounts.providers.settings import STATE_LIFE, ProviderSettings
from host.contract.values import Json

# The errors of RFC 6749 and OpenID Connect that say something about the person rather than about the two hosts.
_FAILURES = {
    "access_denied": Failure.CANCELLED,
    "user_cancelled_login": Failure.CANCELLED,
    "user_cancelled_authorize": Failure.CANCELLED,
    "account_selection_required": Failure.DENIED,
    "consent_required": Failure.DENIED,
    "interaction_required": Failure.DENIED,
    "login_required": Failure.DENIED,
    "unauthorized_client": Failure.DENIED,
    "unmet_authentication_requirements": Failure.DENIED,
}


class Endpoints(NamedTuple):
    """Where a flow takes place."""

    authorize: str
    token: str


class Provider(ABC):
    """A third party that vouches for people.

    Args:
        settings: what is configured of it.
        clock: the present moment.

    """

    takes_tokens: ClassVar[bool] = False
    """Whether apps may hand over tokens that they got from it themselves."""
    default_scope: ClassVar[tuple[str, ...]] = ()
    default_auth_method: ClassVar[str] = "client_secret_basic"

    def __init__(self, settings: ProviderSettings, clock: Callable[[], datetime]) -> None:
        self.settings = settings
        self._clock = clock

    @property
    def id(self) -> str:
        """Its id in the interface and in stored accounts."""
        return self.settings.id

    @property
    def name(self) -> str:
        """What people know it by."""
        return self.settings.title

    def as_json(self) -> dict[str, Json]:
        """Return what clients are told of it."""
        flows = ["provider_redirect", *(["provider_token"] if self.takes_tokens else [])]
        return {"id": self.id, "name": self.name, "flows": flows, "client_id": self.settings.client_id}

    def begin(self, redirect_uri: str) -> tuple[str, dict[str, Any]]:
        """Return where to send the browser, and what the session must keep until it comes back.

        Args:
            redirect_uri: our own address to which the provider sends the browser.

        Raises:
            ProviderError: the provider is down.

        """
        private = {
            "provider": self.id,
            "state": secrets.token_urlsafe(32),
            "nonce": secrets.token_urlsafe(32),
            "code_verifier": secrets.token_urlsafe(48),
            "at": self._clock().timestamp(),
        }
        endpoints = self.endpoints()
        extra = dict(self.settings.auth_params) | self._asked(private)
        with reaching(self.id), self._session(redirect_uri) as session:
            url, _ = session.create_authorization_url(
                endpoints.authorize, state=private["state"], code_verifier=private["code_verifier"], **extra
            )
        return str(url), private

    def finish(self, private: Mapping[str, Any], redirect_uri: str, params: Mapping[str, str]) -> Identity:
        """Return who came back from the provider.

        Args:
            private: what ``begin`` gave the session to keep; the caller forgets it before this.
            redirect_uri: the same as at the beginning.
            params: the query with which the browser came back.

        Raises:
            ProviderError: nobody did, or the provider is down; ``failure`` says what to tell the page.

        """
        if not self._is_ours(private, params):
            raise ProviderError("This login was not begun here, or too long ago. Begin anew.")
        self._check_answer(params)
        if error := params.get("error"):
            failure = _FAILURES.get(error, Failure.UNKNOWN)
            raise ProviderError(f"The provider '{self.id}' did not sign anybody in.", failure)
        code = params.get("code")
        if not code:
            raise ProviderError(f"The provider '{self.id}' sent no code. Begin anew.")
        return self._identify(self._exchange(redirect_uri, code, private), private)

    def from_token(self, token: Mapping[str, Any]) -> Identity:
        """Return whom a token is about that an app got from the provider.

        Raises:
            RefusedValuesError: the provider takes none, or not this one.

        """
        del token
        message = f"{self.name} takes no tokens of apps. Sign in by redirect."
        raise RefusedValuesError({"provider": [Problem("token_authentication_not_supported", message)]})

    @abstractmethod
    def endpoints(self) -> Endpoints:
        """Return where the flow takes place.

        Raises:
            ProviderError: the provider does not tell.

        """

    @abstractmethod
    def _identify(self, token: Mapping[str, Any], private: Mapping[str, Any]) -> Identity:
        """Return whom the answer of the token endpoint is about."""

    def _asked(self, private: Mapping[str, Any]) -> dict[str, str]:
        """Return further parameters of the request for authorization."""
        del private
        return {}

    def _check_answer(self, params: Mapping[str, str]) -> None:
        """Check what else the browser brought back."""
        del params

    def _auth_method(self) -> str:
        if not self.settings.secret.get_secret_value():
            return "none"
        return self.settings.token_auth_method or self.default_auth_method

    def _session(self, redirect_uri: str | None = None) -> Any:
        secret = self.settings.secret.get_secret_value()
        return bound(
            OAuth2Session(
                self.settings.client_id,
                secret or None,
                token_endpoint_auth_method=self._auth_method(),
                scope=" ".join(self.settings.scope or self.default_scope) or None,
                redirect_uri=redirect_uri,
                code_challenge_method="S256",
            )
        )

    def _is_ours(self, private: Mapping[str, Any], params: Mapping[str, str]) -> bool:
        state = params.get("state", "")
        age = self._clock().timestamp() - private["at"]
        return (
            private["provider"] == self.id
            and 0 <= age <= STATE_LIFE
            and hmac.compare_digest(state.encode("utf-8", "replace"), str(private["state"]).encode())
        )

    def _exchange(self, redirect_uri: str, code: str, private: Mapping[str, Any]) -> Mapping[str, Any]:
        endpoints = self.endpoints()
        with reaching(self.id), self._session(redirect_uri) as session:
            token: Mapping[str, Any] = session.fetch_token(
                endpoints.token,
                grant_type="authorization_code",
                code=code,
                code_verifier=private["code_verifier"],
            )
        return token

    def _access_token(self, token: Mapping[str, Any]) -> str:
        text = token.get("access_token")
        if not isinstance(text, str) or not text.isascii() or not text.isprintable():
            raise ProviderError(f"The provider '{self.id}' gave no usable access token.")
        return text


class OAuth2Provider(Provider):
    """A provider whose three addresses are configured."""

    def endpoints(self) -> Endpoints:
        """Return what is configured."""
        return Endpoints(self.settings.authorize_url, self.settings.token_url)

    def _identify(self, token: Mapping[str, Any], private: Mapping[str, Any]) -> Identity:
        del private
        profile = fetch_object(self.id, self.settings.userinfo_url, bearer=self._access_token(token))
        return identity_of(self.settings, profile)
