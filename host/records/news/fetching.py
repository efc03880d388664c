"""Fetching a feed: in bounded time, of bounded size, by few redirects, and only when it has changed."""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote, urljoin, urlsplit

import requests
import urllib3
from requests.auth import AuthBase, HTTPBasicAuth

from host.records.news.entry import FeedError

LARGEST: Final = 5 * 1024 * 1024
"""Most bytes of a feed, unpacked."""
LONGEST: Final = 30.0
"""Most seconds for the whole of an answer."""
_TIMEOUT: Final = (5.0, 10.0)
_REDIRECTS: Final = 5
_CHUNK: Final = 64 * 1024
_TAG_LENGTH: Final = 250
_SCHEMES: Final = ("http", "https")
_HEADERS: Final = {
    "Accept": "application/atom+xml, application/rss+xml, application/xml;q=0.9, text/xml;q=0.8, */*;q=0.1",
    "User-Agent": "plugyard",
}


@dataclass(frozen=True, slots=True)
class Fetched:
    """What the server answered; ``content`` is ``None`` when the feed has not changed."""

    content: bytes | None
    url: str
    """Where it was in the end, without credentials."""
    charset: str = ""
    etag: str = ""
    modified: str = ""


def fetch(url: str, etag: str = "", modified: str = "") -> Fetched:
    """Ask for a feed.

    Credentials in the address are sent to that server only. A redirect may neither leave encryption nor lead from a
    public server into a private network.

    Args:
        url: of the feed.
        etag: what the server said with its last answer; likewise ``modified``.

    Raises:
        FeedError: there is no feed to be had.

    """
    until = time.monotonic() + LONGEST
    headers = dict(_HEADERS)
    if etag:
        headers["If-None-Match"] = etag
    if modified:
        headers["If-Modified-Since"] = modified
    bare, auth = _apart(url)
    try:
        with requests.Session() as session:
            for _ in range(_REDIRECTS + 1):
                fetched = _ask(session, bare, auth, headers, until)
                if isinstance(fetched, Fetched):
                    return fetched
                target, _ = _apart(urljoin(bare, fetched))
                _check_redirect(bare, target)
                if _origin(target) != _origin(bare):
                    auth = _NoCredentials()
                bare = target
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
        # Not the error's own text: it can hold the address with all that stands in it.
        raise FeedError(f"The server cannot be reached or gave no useful answer ({type(error).__name__}).") from None
    raise FeedError(f"The server redirects more than {_REDIRECTS} times.")


def _ask(
    session: requests.Session, url: str, auth: AuthBase, headers: Mapping[str, str], until: float
) -> Fetched | str:
    """Return the answer, or where it redirects to."""
    with session.get(url, headers=headers, auth=auth, timeout=_TIMEOUT, stream=True, allow_redirects=False) as response:
        location = response.headers.get("Location")
        if response.is_redirect and location:
            return location
        if response.status_code == requests.codes.not_modified:
            return Fetched(None, url)
        if response.status_code != requests.codes.ok:
            raise FeedError(f"The server answers with status {response.status_code}.")
        return Fetched(
            _read(response.raw, until),
            url,
            _charset(response.headers.get("Content-Type", "")),
            _kept(response.headers.get("ETag", "")),
            _kept(response.headers.get("Last-Modified", "")),
        )


def _read(raw: Any, until: float) -> bytes:
    content = bytearray()
    while piece := raw.read1(_CHUNK, decode_content=True):
        content += piece
        if len(content) > LARGEST:
            raise FeedError(f"The feed has more than {LARGEST} bytes.")
        if time.monotonic() > until:
            raise FeedError(f"The feed takes more than {LONGEST:.0f} seconds.")
    return bytes(content)


def _apart(url: str) -> tuple[str, AuthBase]:
    """Return an address without credentials, and what sends those."""
    parts = urlsplit(url)
    if parts.scheme.lower() not in _SCHEMES or not parts.hostname:
        raise FeedError("Only addresses that begin with http:// or https:// can be read.")
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    if parts.username is None:
        return bare, _NoCredentials()
    return bare, HTTPBasicAuth(unquote(parts.username), unquote(parts.password or ""))


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.hostname, parts.port


def _check_redirect(old: str, new: str) -> None:
    before, after = urlsplit(old), urlsplit(new)
    if before.scheme.lower() == "https" and after.scheme.lower() != "https":
        raise FeedError("The server redirects to an address without encryption.")
    if before.hostname != after.hostname and _is_private(after.hostname) and not _is_private(before.hostname):
        raise FeedError("The server redirects into a private network.")


def _is_private(host: str | None) -> bool:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return any(not ipaddress.ip_address(str(address[0]).partition("%")[0]).is_global for *_, address in found)


def _charset(content_type: str) -> str:
    _, _, rest = content_type.lower().partition("charset=")
    return rest.partition(";")[0].strip(" \"'")


def _kept(text: str) -> str:
    # A value that was cut would never match.
    return text if len(text) <= _TAG_LENGTH and text.isprintable() and text.isascii() else ""


class _NoCredentials(AuthBase):
    # Without any, requests would look for credentials in a file of the machine.
    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        return request
