"""The pages of clients to which a login through a provider returns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

from host.accounts.providers.failures import Failure

_PORTS = {"http": 80, "https": 443}
# Browsers turn other characters of a host into these, each in its own way.
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")


def allowed_callback(url: str, *, origin: str, trusted: Iterable[str] = ()) -> str | None:
    """Return where to send the browser at last, or ``None`` where that would be a foreign place.

    Args:
        url: what the client asked for: relative, on our own host, or on a trusted one.
        origin: our own scheme, host and port.
        trusted: further hosts: ``host``, ``host:port``, ``https://host:port``, or ``*.domain`` for all below it.

    """
    # Browsers drop line breaks and read a backslash as a slash; nobody needs either.
    if not url or not url.isprintable() or " " in url or "\\" in url:
        return None
    try:
        whole = urljoin(f"{origin.rstrip('/')}/", url)
        target = _place(whole)
        allowed = target is not None and (target == _place(origin) or any(_matches(target, one) for one in trusted))
    except ValueError:
        return None
    if not allowed:
        return None
    # A path stays one: the host may be reached by names that it does not know of.
    return url if url.startswith("/") and not url.startswith("//") else whole


def with_error(url: str, failure: Failure, process: str) -> str:
    """Return an address that tells its page what went wrong."""
    parts = urlsplit(url)
    query = [
        pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] not in {"error", "error_process"}
    ]
    query += [("error", failure.value), ("error_process", process if process in {"login", "connect"} else "login")]
    return urlunsplit(parts._replace(query=urlencode(query)))


def _place(url: str) -> tuple[str, str, int] | None:
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme not in _PORTS or not _HOST.fullmatch(host) or "@" in parts.netloc:
        return None
    return parts.scheme, host.rstrip("."), parts.port or _PORTS[parts.scheme]


def _matches(target: tuple[str, str, int], pattern: str) -> bool:
    scheme, host, port = target
    if "://" in pattern:
        wanted_scheme, _, rest = pattern.partition("://")
    else:
        # Without a scheme only what nobody on the way can read.
        wanted_scheme, rest = ("https", pattern)
    wanted = urlsplit(f"{wanted_scheme}://{rest}")
    if wanted.scheme != scheme or (wanted.port or _PORTS.get(scheme)) != port:
        return False
    name = (wanted.hostname or "").rstrip(".")
    return host.endswith(name[1:]) and len(host) > len(name) - 1 if name.startswith("*.") else host == name
