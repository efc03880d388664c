"""Incoming mail: reading what anybody may have written, with bounded effort and without trust."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesHeaderParser
from email.utils import getaddresses
from typing import Any, Final, NamedTuple, TypeAlias
from uuid import UUID

from host.contract.mail import IncomingMail
from host.mail.letters import one_line
from host.mail.log import ADDRESS_LENGTH, KEY_LENGTH, SUBJECT_LENGTH, MailPriority
from host.mail.queue import Claimed

MOST_BYTES: Final = 10 * 1024 * 1024
"""A longer mail is refused."""
# Beyond these it is not looked at: reading costs time, and everything for people stands in the beginning.
_READ_BYTES: Final = 256 * 1024
_MOST_PARTS: Final = 20
_MOST_HEADERS: Final = 100
_HEADER_LENGTH: Final = 2000
_NAME_LENGTH: Final = 100
_TEXT_LENGTH: Final = 100_000
_SHOWN_LENGTH: Final = 256 * 1024
_MOST_ANSWERED: Final = 20

_PARTS: Final = re.compile(rb"multipart/|message/", re.IGNORECASE)
_ID: Final = re.compile(r"<[^<>\s]{1,248}>")
_ADDRESS: Final = re.compile(r"[^\s@<>,;\"]+@[^\s@<>,;\"]+")
_FIRST_NUMBER: Final = re.compile(r"\s*([1-5])(?!\d)")
# These take time that grows with the length and no faster, whatever the text is.
_TAG: Final = re.compile(r"(<[/!?a-zA-Z][^<>]*>)")
_TAG_NAME: Final = re.compile(r"<(/?[a-zA-Z][a-zA-Z0-9]*)")
_HIDDEN: Final = frozenset({"head", "script", "style", "title"})
_ENDS_LINE: Final = frozenset({"br", "/p", "/div", "/tr", "/li", "/h1", "/h2", "/h3", "/h4", "/h5", "/h6"})
_LINE_ENDS: Final = re.compile(r"\r\n?")
_UNSAID: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

_Read: TypeAlias = "Message[str, str]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """What was read of a mail; every text is fit to be stored and shown."""

    message_id: str
    answers: tuple[str, ...]
    """Identifiers of the mails that it answers, the nearest first."""
    sender: str
    recipients: tuple[str, ...]
    subject: str
    priority: int
    headers: dict[str, Any]
    """Name → text, or a list of texts where it stands several times."""
    text: str
    shown: str
    """The whole mail as people read it, or its beginning."""

    @property
    def to(self) -> str:
        """The recipients, as many as a row of the log holds."""
        kept = ""
        for address in self.recipients:
            longer = f"{kept}, {address}" if kept else address
            if len(longer) > ADDRESS_LENGTH:
                break
            kept = longer
        return kept


def read(raw: bytes) -> Received:
    """Read a mail; whatever is in it, something comes of it."""
    mail, text = _parsed(raw[:_READ_BYTES])
    texts = _headers(mail)
    answered = (*_ID.findall(_first(texts, "in-reply-to")), *reversed(_ID.findall(_first(texts, "references"))))
    priority = _FIRST_NUMBER.match(_first(texts, "x-priority"))
    return Received(
        message_id=next(iter(_ID.findall(_first(texts, "message-id"))), "")[:KEY_LENGTH],
        answers=tuple(dict.fromkeys(answered))[:_MOST_ANSWERED],
        sender=next(iter(_addresses(texts, "from", "sender")), ""),
        recipients=_addresses(texts, "to", "cc"),
        subject=one_line(_first(texts, "subject"))[:SUBJECT_LENGTH],
        priority=int(priority[1]) if priority else MailPriority.NORMAL,
        headers=_as_object(texts),
        text=text,
        shown=_shown(raw),
    )


def incoming(mail: Claimed, raw: bytes) -> IncomingMail:
    """Return a mail of the log as plugins see it; ``raw`` is what was handed in."""
    found = read(raw)
    return IncomingMail(
        id=UUID(mail.id),
        message_id=found.message_id,
        thread=UUID(mail.thread or mail.id),
        sender=found.sender,
        recipients=found.recipients,
        subject=found.subject,
        text=found.text,
        message=raw,
    )


def packed(raw: bytes) -> str:
    """Return a mail as a text that can be sealed."""
    return base64.b64encode(raw).decode("ascii")


def unpacked(text: str) -> bytes:
    """Return the mail that was packed."""
    return base64.b64decode(text)


def _parsed(start: bytes) -> tuple[_Read, str]:
    # Parts in parts without end would take the library much time, or all of its stack.
    if len(_PARTS.findall(start)) <= _MOST_PARTS:
        with suppress(Exception):  # it fails in many ways at what no mail should hold
            mail = message_from_bytes(start)
            return mail, _text(mail)
    return BytesHeaderParser().parsebytes(start), ""


class _Header(NamedTuple):
    name: str
    raw: str
    text: str


_Headers: TypeAlias = Sequence[_Header]


def _headers(mail: _Read) -> _Headers:
    found: list[_Header] = []
    for name, value in mail.raw_items():
        if len(found) == _MOST_HEADERS:
            break
        # Signs beyond ASCII, which have no place in a header, are kept by the parser as halves of surrogate pairs.
        raw = str(value)[:_HEADER_LENGTH].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        found.append(_Header(one_line(_clean(name))[:_NAME_LENGTH], raw, one_line(_decoded(raw))))
    return found


def _first(headers: _Headers, wanted: str) -> str:
    return next((header.text for header in headers if header.name.lower() == wanted), "")


def _as_object(headers: _Headers) -> dict[str, Any]:
    found: dict[str, Any] = {}
    spelt: dict[str, str] = {}
    for name, _, value in headers:
        known = spelt.setdefault(name.lower(), name)
        if known not in found:
            found[known] = value
        elif isinstance(found[known], list):
            found[known].append(value)
        else:
            found[known] = [found[known], value]
    return found


def _addresses(headers: _Headers, *wanted: str) -> tuple[str, ...]:
    # Undecoded: a name in a code of its own could hold what looks like the address.
    texts = [_clean(header.raw) for header in headers if header.name.lower() in wanted]
    found: list[tuple[str, str]] = []
    with suppress(Exception):  # as above
        found = getaddresses(texts)
    kept = (address for _, address in found if len(address) <= ADDRESS_LENGTH and _ADDRESS.fullmatch(address))
    return tuple(dict.fromkeys(kept))


def _decoded(value: str) -> str:
    with suppress(Exception):  # as above
        value = str(make_header(decode_header(value)))
    return _clean(value)[:_HEADER_LENGTH]


def _text(mail: _Read) -> str:
    rest = ""
    for part in mail.walk():
        kind = part.get_content_type()
        if part.is_multipart() or part.get_content_disposition() == "attachment":
            continue
        if kind == "text/plain":
            return _cut(_content(part))
        if kind == "text/html" and not rest:
            rest = _without_html(_content(part))
    return _cut(rest)


def _content(part: _Read) -> str:
    payload: Any = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    for charset in (part.get_content_charset(), "utf-8", "windows-1252"):
        # Also names of codecs that make no text, or text of a very different length.
        with suppress(LookupError, ValueError, TypeError):
            return data.decode(_known(charset))
    return data.decode("ascii", "replace")


def _known(charset: str | None) -> str:
    if charset is None or not charset.isascii() or "\0" in charset or charset in {"idna", "punycode"}:
        raise LookupError(charset)
    return charset


def _without_html(text: str) -> str:
    kept: list[str] = []
    hidden = ""
    for place, piece in enumerate(_TAG.split(text)):  # every second piece is a tag
        tag = _TAG_NAME.match(piece) if place % 2 else None
        name = tag[1].lower() if tag else ""
        if hidden:
            hidden = "" if name == f"/{hidden}" else hidden
        elif name in _HIDDEN:
            hidden = name
        elif name in _ENDS_LINE:
            kept.append("\n")
        elif not place % 2:
            kept.append(piece)
    return html.unescape("".join(kept)).strip()


def _shown(raw: bytes) -> str:
    text = _clean(_LINE_ENDS.sub("\n", raw[:_SHOWN_LENGTH].decode("utf-8", "replace")))
    left_out = len(raw) - _SHOWN_LENGTH
    return text if left_out <= 0 else f"{text}\n[{left_out} more bytes]"


def _cut(text: str) -> str:
    text = _clean(_LINE_ENDS.sub("\n", text))
    return text if len(text) <= _TEXT_LENGTH else f"{text[:_TEXT_LENGTH]}…"


def _clean(text: str) -> str:
    """Return a text without what a database or an answer cannot hold, and what does more than show a sign."""
    return _UNSAID.sub("", text)
