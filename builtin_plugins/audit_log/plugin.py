"""The audit log: keeps what happened, for staff to read."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

from sqlmodel import SQLModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from builtin_plugins.audit_log import entries
from builtin_plugins.audit_log.entries import Entry, Filter
from builtin_plugins.audit_log.queries import Page, QueryError, filter_of
from host import DashboardItem, Event, Plugin, Setting, SettingError, UIContext, access, hookimpl

RETENTION = "RETENTION_DAYS"
PATTERNS = "EVENT_PATTERNS"

_CLEAN_EVERY_SECONDS = 3600.0
_ROWS_AT_ONCE = 500
_CSV_COLUMNS = ("pk", "event", "time", "name", "user", "data")


def _not_negative(value: object) -> None:
    if isinstance(value, int) and value < 0:
        msg = "Write 0 to keep entries for ever, or the number of days to keep them."
        raise SettingError(msg)


class AuditLog(Plugin):
    """Records events and shows them to staff."""

    title = "Audit log"
    description = "Keeps what happened, and who did it, for staff to read, filter and download"

    def __init__(self) -> None:
        self._clean_at = 0.0

    @hookimpl
    def models(self) -> Sequence[type[SQLModel]]:
        return [Entry]

    @hookimpl
    def plugin_settings(self) -> Sequence[Setting]:
        return [
            Setting(
                key=RETENTION,
                name="Keep entries for",
                description="Older entries are removed. 0 keeps them for ever.",
                type="integer",
                default=90,
                units="days",
                validators=[_not_negative],
            ),
            Setting(
                key=PATTERNS,
                name="Events to record",
                description="Patterns such as plugin.* or user.login_failed, separated by blanks or commas",
                default="*",
            ),
        ]

    # The patterns are a setting that may change at any time, so the host sends every event.
    @hookimpl
    def on_event(self, event: Event) -> None:
        if self._is_wanted(event.name):
            with self.session() as session:
                entries.record(session, event)
        self._clean_now_and_then()

    @hookimpl
    def routes(self) -> Sequence[Route]:
        return [
            Route("/entries/", self.list_entries, methods=["GET"]),
            Route("/entries.csv", self.download_entries, methods=["GET"]),
        ]

    @access("staff")
    def list_entries(self, request: Request) -> Response:
        """Answer one page of the log, newest first."""
        try:
            wanted = filter_of(request.query_params)
        except QueryError as error:
            return JSONResponse(error.fields, status_code=400)
        page = Page.of(request.query_params)
        with self.session() as session:
            total = entries.count(session, wanted)
            results = entries.page(session, wanted, limit=page.limit, offset=page.offset)
        following, preceding = page.links(request.url, total)
        return JSONResponse({"count": total, "next": following, "previous": preceding, "results": results})

    @access("staff")
    def download_entries(self, request: Request) -> Response:
        """Answer the whole log, or what the filters leave of it, as CSV."""
        try:
            wanted = filter_of(request.query_params)
        except QueryError as error:
            return JSONResponse(error.fields, status_code=400)
        return StreamingResponse(
            self._csv(wanted),
            media_type="text/csv",
            headers={"Content-Disposition": 'attachment; filename="audit-log.csv"'},
        )

    @hookimpl
    def ui_dashboard_items(self, context: UIContext) -> Sequence[DashboardItem]:
        if not (context.user.is_staff or context.user.is_superuser):
            return []
        return [
            DashboardItem(
                key="audit-log",
                title="Latest events",
                description="What happened last, from the audit log",
                icon="ti:history:outline",
                source="dashboard.js",
                context={"url": f"/plugin/{self.identity.key}/entries/", "limit": 8},
                width=4,
                height=3,
            )
        ]

    def _is_wanted(self, name: str) -> bool:
        patterns = str(self.settings.get(PATTERNS) or "").replace(",", " ").split()
        return any(fnmatchcase(name, pattern) for pattern in patterns)

    def _clean_now_and_then(self) -> None:
        if time.monotonic() < self._clean_at:
            return
        self._clean_at = time.monotonic() + _CLEAN_EVERY_SECONDS
        days = self.settings.get(RETENTION)
        if not isinstance(days, int) or days <= 0:
            return
        try:
            oldest = datetime.now(UTC) - timedelta(days=days)
        except OverflowError:  # longer ago than any calendar
            return
        with self.session() as session:
            removed = entries.remove_before(session, oldest)
        if removed:
            self.log.info("removed %s entries older than %s days", removed, days)

    def _csv(self, wanted: Filter) -> Iterator[str]:
        yield _line(_CSV_COLUMNS)
        last: int | None = None
        while True:
            # One short transaction each: a slow client must not hold up everybody who writes.
            with self.session() as session:
                rows = entries.recorded_before(session, wanted, last=last, limit=_ROWS_AT_ONCE)
            if not rows:
                return
            last = rows[-1]["pk"]
            yield "".join(_line([_cell(row[column]) for column in _CSV_COLUMNS]) for row in rows)


def _line(cells: Sequence[object]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue()


def _cell(value: Any) -> object:
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    # A spreadsheet would take such a text for a formula.
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return value
