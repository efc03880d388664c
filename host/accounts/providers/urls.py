"""Addresses of providers: which may be called."""

from __future__ import annotations

import ipaddress
from urllib.parse import SplitResult, urlsplit


def split_address(url: str) -> SplitResult:
    """Return the parts of an address that the host may call.

    Raises:
        ValueError: it is no plain http or https address, or it goes unencrypted to a public place.

    """
    # Blanks and control characters are dropped by some readers of addresses and kept by others.
    if not url.isprintable() or " " in url or "\\" in url:
        raise ValueError("an address holds neither blanks nor control characters")
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("an address begins with https:// and names a host")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise ValueError("an address holds neither credentials nor a fragment")
    # Reading the port raises the error of a wrong one.
    if parts.port == 0:
        raise ValueError("an address has a port between 1 and 65535")
    if parts.scheme == "http" and not is_private(parts.hostname):
        raise ValueError("a public address begins with https://")
    return parts


def check_advertised(url: str, configured: str) -> None:
    """Check an address that a provider names for one of its services.

    A provider on the public internet must not be able to make the host call its own network.

    Raises:
        ValueError: the address is none that may be called, or leads from a public to a private place.

    """
    host = split_address(url).hostname or ""
    if is_private(host) and not is_private(split_address(configured).hostname or ""):
        raise ValueError("the provider is public, and the address is in a private network")


def is_private(host: str) -> bool:
    """Tell whether a host's name or address means something in a private network only. Asks no name server."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        name = host.rstrip(".").lower()
        return "." not in name or name.endswith((".localhost", ".local", ".internal", ".lan", ".home.arpa"))
    return not address.is_global
