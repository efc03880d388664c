"""The providers that people can sign in with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from host.accounts.problems import Problem, RefusedValuesError
from host.accounts.providers.identity import Identity
from host.accounts.providers.seen import FirstUse
from host.accounts.providers.settings import ProviderSettings
from host.contract.values import Json
from host.storage.tables import now

if TYPE_CHECKING:
    from host.accounts.providers.oauth2 import Provider


def _always() -> bool:
    return True


class Providers:
    """All providers: those that are configured, and those that come while the host runs.

    Args:
        settings: those that are configured.
        first_use: remembers accepted ID tokens.
        more: asked each time for further ones; one whose id is configured is left out.
        enabled: whether people can sign in by a provider at all; without it there is none.
        clock: the present moment.

    """

    def __init__(
        self,
        settings: Iterable[ProviderSettings],
        *,
        first_use: FirstUse,
        more: Callable[[], Iterable[ProviderSettings]] = tuple,
        enabled: Callable[[], bool] = _always,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self._first_use = first_use
        self._more = more
        self._enabled = enabled
        self._clock = clock
        self._made: dict[str, Provider] = {}
        self._configured = {one.id: one for one in settings}

    def all(self) -> list[Provider]:
        """Return every provider, by name."""
        providers = [self._provider(one) for one in self._settings().values()]
        return sorted(providers, key=lambda one: (one.name.casefold(), one.id))

    def with_flow(self, flow: str) -> list[Provider]:
        """Return the providers with which one can sign in that way, ``provider_redirect`` or ``provider_token``."""
        return [one for one in self.all() if flow == "provider_redirect" or one.takes_tokens]

    def get(self, provider_id: str) -> Provider | None:
        """Return the provider with an id."""
        settings = self._settings().get(provider_id)
        return None if settings is None else self._provider(settings)

    def describe(self, provider_id: str) -> dict[str, Json]:
        """Return what clients are told of a provider, also of one that is gone while accounts still name it."""
        provider = self.get(provider_id)
        return {"id": provider_id, "name": provider_id, "flows": []} if provider is None else provider.as_json()

    def from_token(self, provider_id: str, token: object) -> Identity:
        """Return whom a token is about that an app got from a provider.

        Args:
            provider_id: which provider.
            token: ``client_id``, and ``id_token`` or ``access_token``.

        Raises:
            RefusedValuesError: it is not to be trusted, or cannot be checked now.

        """
        if not isinstance(token, Mapping):
            raise _refused("invalid_token", "Give an object with client_id, and id_token or access_token.")
        given: Mapping[str, Any] = token
        if not isinstance(given.get("client_id"), str) or not given["client_id"]:
            raise _refused("client_id_required", "Give the client_id for which the provider made the token.")
        provider = self.get(provider_id)
        if provider is None:
            raise _refused("invalid_token", f"There is no provider '{provider_id}'.")
        return provider.from_token(given)

    def _settings(self) -> dict[str, ProviderSettings]:
        if not self._enabled():
            return {}
        return {one.id: one for one in self._more()} | self._configured

    def _provider(self, settings: ProviderSettings) -> Provider:
        made = self._made.get(settings.id)
        # Kept for what it has learned of the other side; changed settings begin anew.
        if made is None or made.settings != settings:
            made = self._make(settings)
            self._made[settings.id] = made
        return made

    def _make(self, settings: ProviderSettings) -> Provider:
        # Loaded here: most hosts have no providers, and an HTTP client takes long to load.
        match settings.type:
            case "openid_connect":
                from host.accounts.providers.openid_connect import OpenIdConnectProvider  # noqa: PLC0415 - as said above

                return OpenIdConnectProvider(settings, self._clock, self._first_use)
            case "github":
                from host.accounts.providers.github import GithubProvider  # noqa: PLC0415 - as said above

                return GithubProvider(settings, self._clock)
            case "oauth2":
                from host.accounts.providers.oauth2 import OAuth2Provider  # noqa: PLC0415 - as said above

                return OAuth2Provider(settings, self._clock)


def _refused(code: str, message: str) -> RefusedValuesError:
    return RefusedValuesError({"token": [Problem(code, message)]})
