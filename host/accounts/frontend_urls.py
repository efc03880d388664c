"""The pages of the web client that mails and redirects lead to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from host.config.accounts import AccountOptions

CONFIRM_EMAIL: Final = "account_confirm_email"
RESET_REQUEST: Final = "account_reset_password"
RESET_FROM_KEY: Final = "account_reset_password_from_key"
SIGNUP: Final = "account_signup"
PROVIDER_ERROR: Final = "socialaccount_login_error"
SIGNED_IN: Final = "account_signed_in"

_DEFAULTS: Final[Mapping[str, str]] = {
    CONFIRM_EMAIL: "/web/verify-email/{key}",
    RESET_REQUEST: "/web/reset-password",
    RESET_FROM_KEY: "/web/set-password?key={key}",
    SIGNUP: "/web/register",
    PROVIDER_ERROR: "/web/social-login-error",
    SIGNED_IN: "/web/logged-in",
}


class FrontendUrls:
    """Addresses of the pages.

    Args:
        options: name the pages that are elsewhere; one that begins with a slash lies below the site.
        site: where the host is reached; empty means wherever the caller asked it.

    """

    def __init__(self, options: AccountOptions, site: str = "") -> None:
        self._pages = {**_DEFAULTS, **options.headless_frontend_urls}
        self._site = site.rstrip("/")

    def site(self, origin: str) -> str:
        """Return scheme and host of the host; ``origin`` are those under which the caller asked."""
        return self._site or origin

    def url(self, name: str, origin: str, **members: str) -> str:
        """Return the address of a page.

        Args:
            name: which page.
            origin: scheme and host under which the caller asked.
            members: what stands in its address; quoted here.

        """
        page = self._pages[name]
        # Not by str.format: a page's own braces or percent signs mean nothing here.
        for member, value in members.items():
            page = page.replace("{" + member + "}", quote(value, safe=""))
        return self.site(origin) + page if page.startswith("/") else page
