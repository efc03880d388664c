"""What a client may ask of the log: query parameters, pages and their links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from starlette.datastructures import URL

from builtin_plugins.audit_log.entries import Filter

_GREATEST_INTEGER = 2**63 - 1  # of a database

DEFAULT_LIMIT = 100
GREATEST_LIMIT = 1000


class QueryError(Exception):
    """A query parameter could not be understood."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self.fields = {name: [message] for name, message in fields.items()}
        super().__init__("; ".join(f"{name}: {message}" for name, message in fields.items()))


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of a list is wanted. A log has no natural end, so there always is a limit."""

    limit: int = DEFAULT_LIMIT
    offset: int = 0

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Page:
        """Read ``limit`` and ``offset``; what cannot be read counts as absent."""
        limit = _whole(query.get("limit"), default=DEFAULT_LIMIT) or DEFAULT_LIMIT
        return cls(min(limit, GREATEST_LIMIT), _whole(query.get("offset"), default=0))

    def links(self, url: URL, total: int) -> tuple[str | None, str | None]:
        """Return the addresses of the next and of the previous page."""
        after, before = self.offset + self.limit, self.offset - self.limit
        following = _with(url, limit=self.limit, offset=after) if after < total else None
        preceding = _with(url, limit=self.limit, offset=max(before, 0)) if self.offset else None
        return following, preceding


def filter_of(query: Mapping[str, str]) -> Filter:
    """Read ``name``, ``user``, ``since`` and ``until``.

    Moments are ISO 8601, in UTC where they name no zone. A mere date means its beginning in ``since`` and its end in
    ``until``.

    Raises:
        QueryError: naming every parameter that cannot be read.

    """
    errors: dict[str, str] = {}
    moments: dict[str, datetime | None] = {}
    for name in ("since", "until"):
        try:
            moments[name] = _moment(query.get(name), end=name == "until")
        except (OverflowError, ValueError):
            errors[name] = "Write a date or a moment as ISO 8601, such as 2025-01-31 or 2025-01-31T08:30:00Z."
    user = query.get("user") or None
    user_id = None if user is None else _whole(user, default=-1)
    if user_id == -1:
        errors["user"] = "Write the number of an account."
    if errors:
        raise QueryError(errors)
    return Filter(
        name=query.get("name") or None,
        user_id=user_id,
        since=moments["since"],
        until=moments["until"],
    )


def _moment(text: str | None, *, end: bool) -> datetime | None:
    if not text:
        return None
    # A "+" that was not escaped arrives as a blank.
    text = text.strip().replace(" ", "+") if "T" in text else text.strip()
    if len(text) == len("2025-01-31"):
        day = date.fromisoformat(text)
        moment = datetime(day.year, day.month, day.day, tzinfo=UTC)
        return moment + timedelta(days=1) if end else moment
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _whole(text: str | None, *, default: int) -> int:
    try:
        number = int(text or "")
    except ValueError:
        return default
    return number if 0 <= number <= _GREATEST_INTEGER else default


def _with(url: URL, **parameters: int) -> str:
    changed = url.include_query_params(**parameters)
    if not parameters.get("offset", 1):
        changed = changed.remove_query_params("offset")
    return str(changed.replace(query="&".join(sorted(changed.query.split("&")))))
