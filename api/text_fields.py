"""Fields that hold text, and how text is cleaned."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlsplit

from api.fields import Field, FieldError, Schema

_CONTROL = re.compile("[\x01-\x1f\x7f-\x9f\u2028\u2029]")
_CONTROL_IN_LONG_TEXT = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
# A tag that is closed, or that is left open but has attributes; `a < b & c` is neither.
_HTML = re.compile(r"<[a-zA-Z/!?][^<>]*>|<[a-zA-Z][\w:-]*\s+[\w:-]+\s*=", re.ASCII)
_EMAIL = re.compile(
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    r"@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])"
    r"|[A-Za-z0-9._+-]+@localhost",
)
_SCHEMES = frozenset({"http", "https", "ftp", "ftps"})


def clean_text(text: str, *, long: bool = False, trim: bool = True) -> str:
    """Trim a text and drop its control characters; ``long`` keeps line breaks and tabs.

    Raises:
        FieldError: the text holds HTML tags, null characters or half a surrogate pair.

    """
    if "\0" in text:
        raise FieldError("Null characters are not allowed.")
    if _has_surrogates(text):
        raise FieldError("Not a valid string: it holds characters that no text can hold.")
    text = (_CONTROL_IN_LONG_TEXT if long else _CONTROL).sub("", text)
    if trim:
        text = text.strip()
    if _HTML.search(text):
        raise FieldError("Remove HTML tags from this value.")
    return text


def _has_surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


@dataclass(frozen=True, kw_only=True)
class Text(Field):
    """One line of text."""

    kind: ClassVar[str] = "string"
    long: ClassVar[bool] = False

    max_length: int | None = None
    min_length: int | None = None
    blank: bool = False
    pattern: str | None = None
    """A regular expression that the whole cleaned text must match."""
    trim: bool = True
    raw: bool = False
    """Take the text as it is, for passwords and code."""

    def clean(self, value: Any, *, form: bool) -> str:
        """Clean a text; a number counts as its text."""
        del form
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise FieldError("Not a valid string.")
        text = self._cleaned(str(value))
        if not text:
            if self.blank:
                return ""
            raise FieldError("This field may not be blank.")
        if self.max_length is not None and len(text) > self.max_length:
            raise FieldError(f"Ensure this field has no more than {self.max_length} characters.")
        if self.min_length is not None and len(text) < self.min_length:
            raise FieldError(f"Ensure this field has at least {self.min_length} characters.")
        if self.pattern is not None and not re.fullmatch(self.pattern, text):
            raise FieldError("Enter a valid value.")
        return text

    @property
    def _keeps_blank(self) -> bool:
        return self.blank

    def _cleaned(self, text: str) -> str:
        if not self.raw:
            return clean_text(text, long=self.long, trim=self.trim)
        if "\0" in text:
            raise FieldError("Null characters are not allowed.")
        if _has_surrogates(text):
            raise FieldError("Not a valid string: it holds characters that no text can hold.")
        return text

    def _limits(self) -> dict[str, Any]:
        limits: dict[str, Any] = {}
        if self.max_length is not None:
            limits["max_length"] = self.max_length
        if self.min_length is not None:
            limits["min_length"] = self.min_length
        if self.blank:
            limits["allow_blank"] = True
        return limits

    def _schema(self, *, answer: bool) -> Schema:
        schema: Schema = {"type": "string"}
        if self.max_length is not None:
            schema["maxLength"] = self.max_length
        if not answer and not self.blank:
            schema["minLength"] = self.min_length or 1
        if self.pattern is not None and not answer:
            schema["pattern"] = f"^(?:{self.pattern})$"
        return schema


@dataclass(frozen=True, kw_only=True)
class LongText(Text):
    """Text of several lines."""

    long: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class Email(Text):
    """An e-mail address."""

    kind: ClassVar[str] = "email"

    max_length: int | None = 254

    def clean(self, value: Any, *, form: bool) -> str:
        """Accept one address without a display name."""
        text = super().clean(value, form=form)
        if text and not _EMAIL.fullmatch(text):
            raise FieldError("Enter a valid email address.")
        return text

    def _schema(self, *, answer: bool) -> Schema:
        schema = super()._schema(answer=answer)
        return schema if answer or self.blank else schema | {"format": "email"}


@dataclass(frozen=True, kw_only=True)
class Url(Text):
    """An absolute address."""

    kind: ClassVar[str] = "url"

    def clean(self, value: Any, *, form: bool) -> str:
        """Accept an address of the web or of an FTP server."""
        text = super().clean(value, form=form)
        if text and not is_url(text):
            raise FieldError("Enter a valid URL.")
        return text

    def _schema(self, *, answer: bool) -> Schema:
        schema = super()._schema(answer=answer)
        return schema if answer or self.blank else schema | {"format": "uri"}


def is_url(text: str) -> bool:
    """Tell whether a text is an absolute address of the web or of an FTP server."""
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    return parts.scheme.lower() in _SCHEMES and bool(host) and not re.search(r"\s", text)
