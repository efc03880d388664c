"""Calling providers: in bounded time, for answers of bounded size, without following redirects."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import requests
import urllib3
from authlib.common.errors import AuthlibBaseError
from requests.adapters import HTTPAdapter

from host.accounts.providers.failures import ProviderError

TIMEOUT = (5.0, 10.0)
"""To connect and to wait for the next bytes, in seconds."""

_LONGEST = 20.0
_LARGEST = 1024 * 1024
_CHUNK = 64 * 1024
_ACCEPT = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "plugyard"}


class BoundedAdapter(HTTPAdapter):
    """Reads answers whole, and gives up those that are too large or too slow."""

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - the signature of the base
        timeout: Any = None,
        verify: bool | str = True,  # noqa: FBT001, FBT002 - as above
        cert: Any = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Send a request; ``stream`` makes no difference."""
        del stream
        until = time.monotonic() + _LONGEST
        response = super().send(
            request, stream=True, timeout=timeout or TIMEOUT, verify=verify, cert=cert, proxies=proxies
        )
        raw = response.raw
        try:
            body = _read(raw, until)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise requests.ConnectionError(error, request=request) from error
        finally:
            raw.close()
        response.raw = BytesIO(body)
        return response


def _read(raw: Any, until: float) -> bytes:
    body = bytearray()
    while data := raw.read1(_CHUNK, decode_content=True):
        body += data
        if len(body) > _LARGEST:
            raise OSError(f"the answer has more than {_LARGEST} bytes")
        if time.monotonic() > until:
            raise OSError(f"the answer took more than {_LONGEST:.0f} seconds")
    return bytes(body)


def bound(session: requests.Session) -> requests.Session:
    """Put the bounds on a session."""
    adapter = BoundedAdapter()
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    session.max_redirects = 0
    session.headers.update(_ACCEPT)
    return session


@contextmanager
def reaching(provider: str) -> Iterator[None]:
    """Turn whatever goes wrong in a conversation with a provider into a ``ProviderError``."""
    try:
        yield
    except (requests.RequestException, AuthlibBaseError, ValueError, RecursionError) as error:
        # Not the error's own text: it can hold the addresses, the client and what the provider made of them.
        raise ProviderError(
            f"The provider '{provider}' could not be reached or gave no useful answer ({type(error).__name__}). "
            "Try again later."
        ) from error


def fetch_json(provider: str, url: str, *, bearer: str = "") -> Any:
    """Return the JSON behind an address of a provider.

    Raises:
        ProviderError: it cannot be had.

    """
    with reaching(provider), bound(requests.Session()) as session:
        response = session.get(url, auth=_Bearer(bearer))
        if response.status_code != requests.codes.ok:
            raise ValueError(f"status {response.status_code}")
        return response.json()


def fetch_object(provider: str, url: str, *, bearer: str = "") -> dict[str, Any]:
    """Return the JSON object behind an address of a provider.

    Raises:
        ProviderError: it cannot be had, or is no object.

    """
    found = fetch_json(provider, url, bearer=bearer)
    if not isinstance(found, dict):
        raise ProviderError(f"The provider '{provider}' gave no object where one belongs.")
    return found


class _Bearer(requests.auth.AuthBase):
    # Given even when there is no token: without any, requests would look for credentials in a file of the machine.
    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request
