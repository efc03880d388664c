"""GitHub, and its edition for own servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from host.accounts.providers.fetching import fetch_json, fetch_object
from host.accounts.providers.identity import Identity, identity_of
from host.accounts.providers.oauth2 import Endpoints, Provider

_PUBLIC = "https://github.com"
_PUBLIC_API = "https://api.github.com"


class GithubProvider(Provider):
    """Speaks OAuth 2.0; the addresses of a person are a question of their own."""

    default_scope = ("read:user", "user:email")
    default_auth_method = "client_secret_post"

    @property
    def _site(self) -> str:
        return self.settings.server_url.rstrip("/") or _PUBLIC

    @property
    def _api(self) -> str:
        return _PUBLIC_API if self._site == _PUBLIC else f"{self._site}/api/v3"

    def endpoints(self) -> Endpoints:
        """Return what GitHub documents."""
        return Endpoints(f"{self._site}/login/oauth/authorize", f"{self._site}/login/oauth/access_token")

    def _identify(self, token: Mapping[str, Any], private: Mapping[str, Any]) -> Identity:
        del private
        bearer = self._access_token(token)
        profile = fetch_object(self.id, f"{self._api}/user", bearer=bearer)
        # The profile shows an address that its owner chose, verified or not.
        profile |= {"email": None, "email_verified": False} | self._email(bearer)
        return identity_of(self.settings, profile)

    def _email(self, bearer: str) -> dict[str, Any]:
        if not {"user", "user:email"} & set(self.settings.scope or self.default_scope):
            return {}
        found = fetch_json(self.id, f"{self._api}/user/emails", bearer=bearer)
        addresses = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
        addresses.sort(key=lambda one: (one.get("primary") is True, one.get("verified") is True), reverse=True)
        if not addresses:
            return {}
        return {"email": addresses[0].get("email"), "email_verified": addresses[0].get("verified") is True}
