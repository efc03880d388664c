"""Letters: the text of a mail, made into what mail servers carry."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from typing import Any
from urllib.parse import quote, quote_plus

from host.mail.addresses import Sender

MASK = "••••"

# Only ASCII and short lines, so that every server on the way can pass it on.
_CARRIED = policy.SMTP.clone(cte_type="7bit")
# For people who read the log.
_READABLE = policy.SMTP.clone(utf8=True, linesep="\n", max_line_length=None)
# They turn the order of what follows, and so make a text show something else than it says.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """The three texts of a mail."""

    subject: str
    text: str
    html: str


def one_line(text: str) -> str:
    """Return a text without line breaks and other signs that control rather than say something."""
    kept = (" " if unicodedata.category(sign) in {"Cc", "Zl", "Zp"} else sign for sign in text if _says_something(sign))
    return " ".join("".join(kept).split())


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return a value of lists and objects with every text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: with_texts(one, change) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [with_texts(one, change) for one in value]
    return value


def masking(secrets: Sequence[str]) -> Callable[[str], str]:
    """Return a function that masks some texts, also where they stand in a URL or in HTML."""
    forms = {form for secret in map(one_line, secrets) if secret for form in _forms(secret)}
    if not forms:
        return str
    pattern = re.compile("|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True)))
    return lambda text: pattern.sub(MASK, text)


def carried(letter: Letter, *, sender: Sender, to: str, headers: Mapping[str, str]) -> str:
    """Return a letter as mail servers carry it; ``to`` is an address in ASCII."""
    message = _message(letter, sender=sender, to=to, headers=headers, form=_CARRIED)
    return message.as_bytes().decode("ascii")


def readable(letter: Letter, *, sender: Sender, to: str, headers: Mapping[str, str]) -> str:
    """Return a letter as people read it in the log."""
    message = _message(letter, sender=sender, to=to, headers=headers, form=_READABLE)
    return message.as_bytes().decode("utf-8", "replace")


def _message(
    letter: Letter, *, sender: Sender, to: str, headers: Mapping[str, str], form: policy.EmailPolicy[EmailMessage]
) -> EmailMessage:
    encoding = "8bit" if form.utf8 else None
    message = EmailMessage(policy=form)
    message["From"] = Address(display_name=one_line(sender.name), addr_spec=sender.address)
    message["To"] = Address(addr_spec=to)
    message["Subject"] = one_line(letter.subject)
    for name, value in headers.items():
        message[name] = one_line(value)
    message.set_content(letter.text, cte=encoding)
    message.add_alternative(letter.html, subtype="html", cte=encoding)
    return message


def _says_something(sign: str) -> bool:
    return sign not in _TURNING and unicodedata.category(sign) != "Cs"


def _forms(secret: str) -> set[str]:
    written = {secret, quote(secret), quote(secret, safe=""), quote_plus(secret)}
    return written | {html.escape(one) for one in written} | {html.escape(one, quote=False) for one in written}
