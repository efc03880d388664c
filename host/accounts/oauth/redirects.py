"""Redirect URIs: where a client may have people sent back to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from host.accounts.oauth.tables import URI_LENGTH

_TEXT = re.compile(r"[!$%&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~]+", re.ASCII)
_LOOPBACK = re.compile(r"(http://(?:127\.0\.0\.1|\[::1\]))(?::(\d{1,5}))?([/?].*)?", re.ASCII)
_HOST = re.compile(r"[a-z0-9.:-]+", re.ASCII)
_LOCAL_HOSTS: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_LARGEST_PORT: Final = 65_535


def redirect_problem(uri: str, *, public: bool) -> str | None:
    """Say why a URI cannot be registered; ``None`` when it can.

    Only https, http to the same machine and, for public clients, schemes of apps such as ``org.example.app:`` are
    good: everything else could be read on the way or run by a browser.
    """
    if len(uri) > URI_LENGTH:
        return f"A redirect URI has at most {URI_LENGTH} characters."
    if not _TEXT.fullmatch(uri):
        return f"'{uri}' has characters that a redirect URI cannot have. Percent-encode them; leave out a fragment."
    try:
        parts = urlsplit(uri)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return f"'{uri}' is no URI."
    if parts.scheme in {"http", "https"}:
        if not _HOST.fullmatch(host or "") or "@" in parts.netloc:
            return f"'{uri}' must name a host, and no user."
        good = parts.scheme == "https" or host in _LOCAL_HOSTS
        return None if good else f"'{uri}' must begin with https; http is for 127.0.0.1, [::1] and localhost."
    good = public and "." in parts.scheme and bool(parts.path or parts.netloc)
    return None if good else f"'{uri}' must begin with https or, for a public client, a scheme like org.example.app:/."


def is_registered(uri: str, registered: Iterable[str], *, public: bool) -> bool:
    """Tell whether a client may be answered at a URI: one that is registered, character for character.

    Public clients may use any port of the loopback addresses, since an app takes the one that is free.
    """
    return any(uri == one or (public and _same_but_for_the_port(uri, one)) for one in registered)


def _same_but_for_the_port(uri: str, registered: str) -> bool:
    asked, known = _LOOPBACK.fullmatch(uri), _LOOPBACK.fullmatch(registered)
    if asked is None or known is None or not _TEXT.fullmatch(uri):
        return False
    port = int(asked[2] or 80)
    return (asked[1], asked[3]) == (known[1], known[3]) and 0 < port <= _LARGEST_PORT
