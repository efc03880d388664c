"""What an OpenID Connect provider publishes of itself: its addresses and its keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from joserfc.jwk import KeySet

from host.accounts.providers.failures import ProviderError
from host.accounts.providers.fetching import fetch_object
from host.accounts.providers.id_tokens import public_keys
from host.accounts.providers.settings import WELL_KNOWN, ProviderSettings
from host.accounts.providers.urls import check_advertised

KEEP = timedelta(hours=1)
"""How long what was published is believed."""
COOLDOWN = timedelta(seconds=30)
"""Keys are not asked for again within this time, whatever keys tokens claim to be signed with."""

_NEEDED = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_OPTIONAL = ("userinfo_endpoint", "introspection_endpoint")

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class _Kept(Generic[_Value]):
    value: _Value
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The discovery document, as far as it is used."""

    issuer: str
    authorize: str
    token: str
    keys: str
    userinfo: str = ""
    introspection: str = ""
    auth_methods: tuple[str, ...] = ("client_secret_basic",)
    tells_issuer: bool = False
    """Its answers name it (RFC 9207)."""


class Discovery:
    """Asks a provider for its addresses and keys, and remembers them for a while.

    Without a lock: threads that ask at the same time each wait for a slow provider once, not one after another.
    """

    def __init__(self, settings: ProviderSettings, clock: Callable[[], datetime]) -> None:
        self._settings = settings
        self._clock = clock
        self._metadata: _Kept[Metadata] | None = None
        self._keys: _Kept[KeySet] | None = None

    def metadata(self) -> Metadata:
        """Return the provider's addresses.

        Raises:
            ProviderError: it does not tell them, or they cannot be trusted.

        """
        kept, moment = self._metadata, self._clock()
        if kept is None or moment - kept.since >= KEEP:
            document = fetch_object(self._settings.id, self._settings.configuration_url)
            try:
                kept = _Kept(_read(self._settings, document), moment)
            except ValueError as error:
                raise ProviderError(f"The provider '{self._settings.id}' describes itself wrongly: {error}.") from error
            self._metadata = kept
        return kept.value

    def keys(self, *, fresh: bool = False) -> KeySet:
        """Return the provider's keys; ``fresh`` asks it again, unless that was done just now.

        Raises:
            ProviderError: it does not tell them.

        """
        kept, moment = self._keys, self._clock()
        if kept is None or moment - kept.since >= (COOLDOWN if fresh else KEEP):
            found = fetch_object(self._settings.id, self.metadata().keys).get("keys")
            keys = public_keys(found if isinstance(found, list) else [])
            if not keys:
                raise ProviderError(f"The provider '{self._settings.id}' publishes no key that can be used.")
            kept = _Kept(keys, moment)
            self._keys = kept
        return kept.value


def _read(settings: ProviderSettings, document: Mapping[str, Any]) -> Metadata:
    issuer = document.get("issuer")
    wanted = settings.issuer or settings.configuration_url.removesuffix(WELL_KNOWN)
    # Whoever could put up another provider's description here could pass for it.
    if not isinstance(issuer, str) or issuer.rstrip("/") != wanted.rstrip("/"):
        raise ValueError("its issuer differs from its address; if that is meant so, set issuer")
    urls = {name: _url(settings, document, name) for name in (*_NEEDED, *_OPTIONAL)}
    missing = [name for name in _NEEDED if not urls[name]]
    if missing:
        raise ValueError(f"{', '.join(missing)} is missing")
    methods = document.get("token_endpoint_auth_methods_supported")
    return Metadata(
        issuer=issuer,
        authorize=urls["authorization_endpoint"],
        token=urls["token_endpoint"],
        keys=urls["jwks_uri"],
        userinfo=urls["userinfo_endpoint"],
        introspection=urls["introspection_endpoint"],
        auth_methods=tuple(map(str, methods)) if isinstance(methods, list) else ("client_secret_basic",),
        tells_issuer=document.get("authorization_response_iss_parameter_supported") is True,
    )


def _url(settings: ProviderSettings, document: Mapping[str, Any], name: str) -> str:
    url = document.get(name)
    if not isinstance(url, str) or not url:
        return ""
    try:
        check_advertised(url, settings.server_url)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return url
