"""Addresses as the mail system writes them."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from email.utils import parseaddr
from urllib.parse import urlsplit

import idna

from host.mail.log import ADDRESS_LENGTH

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LOCAL = re.compile(rf"{_ATOM}(\.{_ATOM})*")
_LITERAL = re.compile(r"\[[0-9A-Za-z.:]+\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Whom mail comes from."""

    name: str
    address: str

    @property
    def host(self) -> str:
        """The host of the address."""
        return self.address.rpartition("@")[2]


def sender_of(configured: str, site: str, instance: str) -> Sender:
    """Return the sender: the configured one, such as ``Workshop <shop@example.org>``, else ``plugyard@`` the site.

    Raises:
        ValueError: the configured one is no address.

    """
    if not configured:
        return Sender(name=instance, address=f"plugyard@{_host_of(site)}")
    name, address = parseaddr(configured)
    try:
        return Sender(name=name or instance, address=ascii_address(address))
    except ValueError as error:
        raise ValueError(f"PLUGYARD_MAIL_FROM cannot be used: {error}") from None


def ascii_address(text: str) -> str:
    """Return an address as it is handed to a mail server: the domain in its ASCII form.

    Raises:
        ValueError: it is no address that a mail can be sent to.

    """
    local, _, domain = text.rpartition("@")
    try:
        address = f"{local}@{domain if _LITERAL.fullmatch(domain) else _ascii_host(domain)}"
    except ValueError:
        address = ""
    if not _LOCAL.fullmatch(local) or not address or len(address) > ADDRESS_LENGTH:
        raise ValueError(f"{text[:ADDRESS_LENGTH]!r} is no address that mail can be sent to.")
    return address


def _host_of(site: str) -> str:
    host = urlsplit(site).hostname or "localhost"
    try:
        return f"[{ipaddress.IPv4Address(host)}]"
    except ValueError:
        pass
    try:
        return f"[IPv6:{ipaddress.IPv6Address(host)}]"
    except ValueError:
        pass
    try:
        return _ascii_host(host)
    except ValueError:
        # A name that works inside of one network, such as one with an underscore, is none for mail.
        return "localhost"


def _ascii_host(host: str) -> str:
    # IDNA 2008: the older form, which Python has, turns some names into those of somebody else.
    return idna.encode(host, uts46=True).decode("ascii")
