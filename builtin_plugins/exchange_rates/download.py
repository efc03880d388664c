"""Get JSON from another server without ever waiting or reading for long."""

from __future__ import annotations

import json
from decimal import Decimal
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import requests
from urllib3.exceptions import HTTPError, ReadTimeoutError

_MOST_REDIRECTS = 3
_PIECE = 16 * 1024
# What is not compressed cannot grow while it is read.
_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "plugyard"}


class NoAnswerError(Exception):
    """The service gave no answer that could be used; the text says why."""


def download(address: str, *, seconds: float, most_bytes: int) -> Any:
    """Return what a server answers, as JSON; numbers with a fraction are decimals.

    Raises:
        NoAnswerError: it cannot be reached, takes too long, or answers too much or something else.

    """
    # Neither the address nor the answer is quoted: both may hold what is nobody else's business.
    name = urlsplit(address).hostname
    until = monotonic() + seconds
    try:
        with requests.Session() as session:
            session.max_redirects = _MOST_REDIRECTS
            with session.get(address, headers=_HEADERS, timeout=seconds / 3, stream=True) as response:
                if response.status_code != requests.codes.ok:
                    msg = f"{name} answered with status {response.status_code}"
                    raise NoAnswerError(msg)
                text = _body(response.raw, name, until, most_bytes)
    except requests.TooManyRedirects:
        msg = f"{name} redirects more than {_MOST_REDIRECTS} times"
        raise NoAnswerError(msg) from None
    except (requests.Timeout, ReadTimeoutError):
        msg = f"{name} takes too long to answer"
        raise NoAnswerError(msg) from None
    except (requests.RequestException, HTTPError, OSError, ValueError) as error:
        msg = f"{name} cannot be reached: {type(error).__name__}"
        raise NoAnswerError(msg) from None
    try:
        return json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError):
        msg = f"{name} answered something that is no JSON"
        raise NoAnswerError(msg) from None


def _body(raw: Any, name: str | None, until: float, most_bytes: int) -> bytes:
    text = bytearray()
    # As much as has arrived at a time: who sends a byte now and then is not waited for.
    while piece := raw.read1(_PIECE, decode_content=False):
        text += piece
        if len(text) > most_bytes:
            msg = f"{name} answered more than {most_bytes // 1024} KiB"
            raise NoAnswerError(msg)
        if monotonic() > until:
            msg = f"{name} takes too long to answer"
            raise NoAnswerError(msg)
    return bytes(text)
