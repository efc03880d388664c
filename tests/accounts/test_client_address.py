"""Where requests come from, and whom the service believes about it."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
import uvicorn
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from host.accounts.client_address import counted_address, plain_address, trusted_proxies
from host.cli.output import CommandError
from host.cli.serving import Address, _config


@pytest.mark.parametrize(
    ("text", "plain", "counted"),
    [
        pytest.param("192.0.2.7", "192.0.2.7", "192.0.2.7", id="IPv4"),
        pytest.param("::ffff:192.0.2.7", "192.0.2.7", "192.0.2.7", id="IPv4 within IPv6"),
        pytest.param("::FFFF:c000:207", "192.0.2.7", "192.0.2.7", id="the same in hexadecimal"),
        pytest.param("2001:DB8:0:1::5", "2001:db8:0:1::5", "2001:db8:0:1::/64", id="IPv6"),
        pytest.param("2001:db8:0:1:ffff::1", "2001:db8:0:1:ffff::1", "2001:db8:0:1::/64", id="its neighbour"),
        pytest.param("2001:db8:0:2::5", "2001:db8:0:2::5", "2001:db8:0:2::/64", id="the next network"),
        pytest.param("fe80::1%eth0", "fe80::1", "fe80::/64", id="with a zone"),
        pytest.param(" 192.0.2.7 ", "192.0.2.7", "192.0.2.7", id="with blanks"),
        pytest.param("010.0.0.1", "", "unknown", id="leading zero"),
        pytest.param("192.0.2.7:80", "", "unknown", id="with a port"),
        pytest.param("testclient", "", "unknown", id="a name"),
        pytest.param("", "", "unknown", id="empty"),
        pytest.param(None, "", "unknown", id="none"),
    ],
)
def test_an_address_has_one_spelling(text, plain, counted):
    """Whatever way an address is written, it is shown and counted as one."""
    assert plain_address(text) == plain
    assert counted_address(text) == counted


def test_proxies_are_read():
    """Addresses and networks, IPv4 ones also in the form of a socket for both."""
    assert trusted_proxies("10.0.0.7, 192.0.2.0/24,2001:db8::1,") == [
        "10.0.0.7/32",
        "::ffff:a00:7/128",
        "192.0.2.0/24",
        "::ffff:c000:200/120",
        "2001:db8::1/128",
    ]
    assert trusted_proxies("") == []


@pytest.mark.parametrize("text", ["*", "10.0.0.1,*", "proxy.example.org", "10.0.0.1/8", "10.0.0.1/33", "/run/socket"])
def test_other_proxies_are_refused(text):
    """A proxy that could never match, or that would let anybody choose an address, is refused at the start."""
    with pytest.raises(ValueError, match="is no address of a proxy"):
        trusted_proxies(text)
    with pytest.raises(CommandError, match=r"--trusted-proxies: .* is no address of a proxy"):
        Address(host="127.0.0.1", port=0, trusted_proxies=text)


def _seen(trusted: str, peer: str, *forwarded: str) -> str:
    """Return the client that an application sees behind the server's own middleware."""
    seen: list[str] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["client"][0])

    config = _config(application, Address(host="127.0.0.1", port=0, trusted_proxies=trusted))
    assert config.proxy_headers is bool(trusted)
    served: Any = (
        ProxyHeadersMiddleware(application, config.forwarded_allow_ips) if config.proxy_headers else application
    )
    headers = [(b"x-forwarded-for", line.encode()) for line in forwarded]
    scope = {"type": "http", "client": (peer, 5), "headers": headers, "scheme": "http"}
    anyio.run(served, scope, None, None)
    return plain_address(seen[0])


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded", "client"),
    [
        pytest.param("", "203.0.113.9", ["1.2.3.4"], "203.0.113.9", id="no proxy is trusted"),
        pytest.param("", "127.0.0.1", ["1.2.3.4"], "127.0.0.1", id="not even a local one"),
        pytest.param("10.0.0.7", "203.0.113.9", ["1.2.3.4"], "203.0.113.9", id="the peer is no proxy"),
        pytest.param("10.0.0.7", "10.0.0.7", ["203.0.113.9"], "203.0.113.9", id="the peer is the proxy"),
        pytest.param("10.0.0.7", "10.0.0.7", [], "10.0.0.7", id="the proxy itself"),
        pytest.param("10.0.0.7", "10.0.0.7", ["1.2.3.4, 203.0.113.9"], "203.0.113.9", id="the client adds one"),
        pytest.param("10.0.0.7", "10.0.0.7", ["1.2.3.4", "203.0.113.9"], "203.0.113.9", id="in a header of its own"),
        pytest.param("10.0.0.7", "10.0.0.7", ["10.0.0.7, 203.0.113.9"], "203.0.113.9", id="the client plays proxy"),
        pytest.param("10.0.0.0/8", "10.0.0.7", ["1.2.3.4, 203.0.113.9, 10.0.0.8"], "203.0.113.9", id="two proxies"),
        pytest.param("10.0.0.7", "::ffff:10.0.0.7", ["203.0.113.9"], "203.0.113.9", id="a socket for both"),
        pytest.param("10.0.0.7", "10.0.0.7", ["1.2.3.4, 203.0.113.9:4711"], "203.0.113.9", id="with a port"),
        pytest.param("10.0.0.7", "10.0.0.7", ["1.2.3.4, [2001:db8::5]:4711"], "2001:db8::5", id="IPv6 with a port"),
        pytest.param("10.0.0.7", "10.0.0.7", ["1.2.3.4, "], "10.0.0.7", id="an empty end"),
        pytest.param("10.0.0.7", "10.0.0.7", ["1.2.3.4, nonsense"], "", id="nonsense"),
    ],
)
def test_the_last_hop_that_is_no_proxy_is_the_client(trusted, peer, forwarded, client):
    """What a client writes into the header never counts, only what a trusted proxy adds to it."""
    assert _seen(trusted, peer, *forwarded) == client


def test_the_server_puts_its_middleware_around_the_application():
    """The configuration of the server really has the proxies that it was given."""
    config = _config(lambda *_: None, Address(host="127.0.0.1", port=0, trusted_proxies="10.0.0.7"))
    without = _config(lambda *_: None, Address(host="127.0.0.1", port=0))

    assert isinstance(config, uvicorn.Config)
    assert config.forwarded_allow_ips == ["10.0.0.7/32", "::ffff:a00:7/128"]
    assert (without.proxy_headers, without.forwarded_allow_ips) == (False, [])
