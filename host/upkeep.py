"""Upkeep: what the host does by itself, again and again, and what it puts off until after the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from host.exporting.exports import TASK as EXPORT
from host.importing.accepting import ACCEPT_TASK
from host.importing.columns import READ_TASK
from host.record_services import RecordServices
from host.storage.tables import now
from host.tasks.jobs import Job, Work, daily

_OFTEN = 5


def jobs(records: RecordServices) -> Sequence[Job]:
    """Return what is done again and again."""
    return (
        Job(
            name="error_reports.forget",
            run=lambda: records.error_reports.forget(_days_ago(records, "INVENTREE_DELETE_ERRORS_DAYS")),
            minutes=daily,
        ),
        Job(name="data_outputs.expire", run=records.data_outputs.expire, minutes=daily),
        Job(name="exports.settle", run=records.exports.settle, minutes=lambda: 5),
        Job(
            name="news.refresh",
            run=records.news.refresh,
            minutes=lambda: daily() if records.news.is_on else 0,
        ),
        Job(name="mail.forget", run=records.mail_log.forget, minutes=daily),
        Job(name="attachments.sweep", run=records.attachments.sweep.run, minutes=daily),
        Job(name="importing.expire", run=records.importing.sessions.expire, minutes=daily),
        Job(name="importing.settle", run=records.importing.extracting.settle, minutes=lambda: _OFTEN),
        Job(name="files.sweep", run=records.files.sweep, minutes=daily),
        Job(
            name="notifications.forget",
            run=lambda: records.notifications.forget(_days_ago(records, "INVENTREE_DELETE_NOTIFICATIONS_DAYS")),
            minutes=daily,
        ),
        Job(
            name="exchange_rates.refresh",
            run=records.exchange_rates.keep_up,
            minutes=records.exchange_rates.minutes,
        ),
        Job(
            name="packages.update_check",
            run=records.update_check.run,
            minutes=lambda: daily() if records.settings.flag("PLUGIN_UPDATE_CHECK") else 0,
        ),
    )


def tasks(records: RecordServices) -> Mapping[str, Work | Callable[..., Any]]:
    """Return what can be put off: name of the task → function; its keyword arguments are JSON.

    A function alone is tried five times, five minutes apart, and also runs again when a worker died in it; what cannot
    bear that says so with :class:`host.tasks.jobs.Work`. Never rename a task: some may be waiting.
    """
    return {
        "attachments.thumbnail": records.attachments.pictures.make,
        # What fails is said at once to whoever waits for it; only what was interrupted is begun again.
        EXPORT: Work(run=records.exports.make, attempts=3, pause=20.0),
        READ_TASK: Work(run=records.importing.extracting.read, pause=20.0),
        ACCEPT_TASK: Work(run=records.importing.accepting.all, pause=20.0),
    }


def _days_ago(records: RecordServices, setting: str) -> datetime:
    return now() - timedelta(days=records.settings.number(setting))
