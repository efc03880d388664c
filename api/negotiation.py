"""Content negotiation: what the client accepts, and what it sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from api.answers import JSON_TYPE, Refusal

FORM: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"
PARSES: Final = (JSON_TYPE, FORM, MULTIPART)
_LONGEST_ACCEPT = 2000


def check_accept(accept: bytes | None, produces: Sequence[str]) -> None:
    """Refuse a client that wants none of the media types that the operation can answer.

    Raises:
        Refusal: 406.

    """
    if accept is None or accept == b"*/*" or accept == b"application/json":  # noqa: PLR1714 - told apart faster
        return
    if not _accepts(accept[:_LONGEST_ACCEPT], tuple(produces)):
        raise Refusal(406, f"Could not satisfy the request Accept header. Available: {', '.join(produces)}.")


@lru_cache(256)
def _accepts(accept: bytes, produces: tuple[str, ...]) -> bool:
    text = accept.decode("latin-1").strip()
    if not text:
        return True
    for member in text.split(","):
        kind, *options = (part.strip().lower() for part in member.split(";"))
        if any(_is_zero(option) for option in options):
            continue
        if any(_matches(kind, media_type) for media_type in produces):
            return True
    return False


def _matches(wanted: str, media_type: str) -> bool:
    return wanted in {"*/*", "*", media_type, media_type.partition("/")[0] + "/*"}


def accepts_gzip(header: bytes) -> bool:
    """Tell whether a header ``Accept-Encoding`` allows gzip; what says nothing of it does not."""
    return b"gzip" in header and _allows_gzip(header[:_LONGEST_ACCEPT])


@lru_cache(256)
def _allows_gzip(header: bytes) -> bool:
    for member in header.decode("latin-1").split(","):
        coding, *options = (part.strip().lower() for part in member.split(";"))
        if coding in {"gzip", "x-gzip"}:
            return not any(_is_zero(option) for option in options)
    return False


def _is_zero(option: str) -> bool:
    return option == "q=0" or (option.startswith("q=0.") and not option[4:].strip("0"))


def check_format(query: Mapping[str, str]) -> None:
    """Refuse a query parameter ``format`` that names anything but JSON.

    Raises:
        Refusal: 404.

    """
    wanted = query.get("format")
    if wanted and wanted != "json":
        raise Refusal(404, "Not found. The only format is 'json'.")


def media_type(header: bytes | None) -> str:
    """Return the media type that a header ``Content-Type`` names, without its parameters."""
    if header is None:
        return ""
    return header.partition(b";")[0].strip().lower().decode("latin-1")
