"""Where files are kept, as an address says it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote

_S3: Final = "s3://"
_FILE: Final = "file://"
_EXAMPLE: Final = "s3://bucket/prefix?endpoint_url=https://s3.example.org"
_OPTIONS: Final = frozenset({"endpoint_url", "key", "secret", "token", "region", "addressing_style"})
_STYLES: Final = frozenset({"auto", "path", "virtual"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """A place in an S3-compatible store."""

    bucket: str
    prefix: str = ""
    """Stands before each path; empty, or without slashes at its ends."""
    endpoint_url: str = ""
    key: str = ""
    secret: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    region: str = ""
    addressing_style: str = ""

    def __str__(self) -> str:
        return f"{_S3}{self.bucket}/{self.prefix}".rstrip("/")


def parse_files_url(url: str) -> Path | Bucket | None:
    """Return the place that an address names; ``None`` for the empty one, which leaves the choice to the host.

    The address is ``s3://bucket/prefix``, with options after a question mark, or ``file:///folder``.

    Raises:
        ValueError: it cannot be used. The text says why, without what may be secret in it.

    """
    if not url:
        return None
    place, _, query = url.partition("?")
    if place.startswith(_S3):
        return _bucket(place.removeprefix(_S3), query)
    if place.startswith(f"{_FILE}/") and not query:
        return Path(unquote(place.removeprefix(_FILE)))
    raise ValueError(f"must be {_EXAMPLE} or file:///folder, or empty for the folder 'files' in the home folder")


def _bucket(place: str, query: str) -> Bucket:
    bucket, _, prefix = place.partition("/")
    if not bucket or "@" in bucket or ":" in bucket:
        raise ValueError(f"must name a bucket, and nothing else, before the first slash: {_EXAMPLE}")
    prefix = unquote(prefix).strip("/")
    if any(part in {"", ".", ".."} for part in prefix.split("/")) and prefix:
        raise ValueError("must have a prefix without empty parts, '.' and '..'")
    options = _options(query)
    if bool(options.get("key")) != bool(options.get("secret")):
        raise ValueError("must have both of the options key and secret, or none to use the usual AWS variables")
    if options.get("addressing_style", "auto") not in _STYLES:
        raise ValueError(f"must have one of {', '.join(sorted(_STYLES))} as addressing_style")
    if not options.get("endpoint_url", "https://").startswith(("http://", "https://")):
        raise ValueError("must have an endpoint_url that begins with https:// or http://")
    return Bucket(bucket=bucket, prefix=prefix, **options)


def _options(query: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        name, equals, value = part.partition("=")
        # A plus sign means itself: many secrets have one.
        name = unquote(name)
        if name not in _OPTIONS or not equals:
            raise ValueError(f"has an option that is none of {', '.join(sorted(_OPTIONS))}")
        options[name] = unquote(value)
    return options
