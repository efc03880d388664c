"""Where a request comes from: how addresses are shown and counted, and which proxies are believed about them."""

from __future__ import annotations

from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

_IPV6_PREFIX = 64
_IPV4_IN_IPV6 = int(IPv6Address("::ffff:0:0"))
_IPV4_IN_IPV6_PREFIX = 96


def plain_address(text: str | None) -> str:
    """Return an address in its one usual spelling; nothing for what is none, such as the name of a socket.

    An IPv4 address within IPv6, which is how a socket for both gives it, is shown as IPv4; a zone is left out.
    """
    address = _read(text)
    return "" if address is None else str(address)


def counted_address(text: str | None) -> str:
    """Return what rate limits count for a client: an IPv4 address, or the /64 network of an IPv6 address.

    Whoever has one IPv6 address commonly has all of its /64. Clients without an address count as one.
    """
    address = _read(text)
    if address is None:
        return "unknown"
    if isinstance(address, IPv4Address):
        return str(address)
    return str(IPv6Network((int(address), _IPV6_PREFIX), strict=False))


def trusted_proxies(text: str) -> list[str]:
    """Read a list of proxies, separated by commas, and return the addresses and networks to believe.

    An IPv4 one stands in it a second time as IPv6, since a socket for both shows it so.

    Raises:
        ValueError: a part is neither an address nor a network. That includes ``*``: with every hop believed, a client
            could write any address of its choice.

    """
    trusted = []
    for part in filter(None, map(str.strip, text.split(","))):
        try:
            network = ip_network(part)
        except ValueError:
            raise ValueError(
                f"{part!r} is no address of a proxy. Write addresses or networks such as 10.0.0.7 or 10.0.0.0/8,"
                " separated by commas."
            ) from None
        trusted.append(str(network))
        if isinstance(network, IPv4Network):
            start = _IPV4_IN_IPV6 + int(network.network_address)
            trusted.append(str(IPv6Network((start, _IPV4_IN_IPV6_PREFIX + network.prefixlen))))
    return trusted


def _read(text: str | None) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address((text or "").strip().partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address
