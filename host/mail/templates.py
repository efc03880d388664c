"""The texts of mails: made from templates, each of which a folder of the administrator may replace."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from jinja2 import (
    BaseLoader,
    Environment,
    FileSystemLoader,
    StrictUndefined,
    TemplateError,
    TemplateNotFound,
    select_autoescape,
)

from host.mail.letters import Letter, one_line

_PACKAGED = Path(__file__).with_name("templates")
_NOTICE = ("when", "address", "user_agent")

MAILS: Mapping[str, tuple[str, ...]] = {
    "account_already_exists": (),
    "email_changed": ("email", *_NOTICE),
    "email_removed": ("email", *_NOTICE),
    "email_verification": ("link|code",),
    "factor_added": ("factor", *_NOTICE),
    "factor_removed": ("factor", *_NOTICE),
    "login_code": ("code",),
    "password_changed": _NOTICE,
    "password_reset": ("link", "username"),
    "password_reset_code": ("code",),
    "password_reset_done": _NOTICE,
    "password_set": _NOTICE,
    "provider_connected": ("provider", *_NOTICE),
    "provider_disconnected": ("provider", *_NOTICE),
    "recovery_codes_made": _NOTICE,
    "sign_in_link": ("link",),
    "test": (),
    "unknown_account": ("email",),
}
"""Every mail, and the values that it needs; of ``a|b`` one."""
OPTIONAL: Mapping[str, Any] = {
    "code": "",
    "email": "",
    "expires": None,
    "link": "",
    "name": "",
    "username": "",
}
"""Values that any mail may use, and what they are where nobody gives them."""

Report = Callable[[str, str], object]


class Templates:
    """Makes the texts of mails.

    A mail ``x`` is made from the files ``x.subject.txt``, ``x.txt`` and ``x.html``. One that cannot be used is
    reported, and the text that comes with the host takes its place.

    Args:
        folder: where an administrator keeps files that replace those of the host.
        report: takes a path and a text for an error report.
        clock: gives the time.

    """

    def __init__(self, folder: Path | None, report: Report, clock: Callable[[], datetime]) -> None:
        self._report = report
        self._clock = clock
        packaged = FileSystemLoader(_PACKAGED)
        self._packaged = self._environment(packaged, reload=False)
        self._replaced: Environment | None = None
        if folder is not None:
            self._replaced = self._environment(_ReplacingLoader(folder, packaged), reload=True)

    def letter(self, name: str, context: Mapping[str, Any]) -> Letter:
        """Make a mail.

        Raises:
            LookupError: there is no such mail, or the context lacks a value that it needs.

        """
        if name not in MAILS:
            raise LookupError(f"There is no mail '{name}'. There are: {', '.join(MAILS)}.")
        missing = [one for one in MAILS[name] if not any(key in context for key in one.split("|"))]
        if missing:
            raise LookupError(f"The mail '{name}' needs {', '.join(missing)}.")
        values = {**OPTIONAL, **context}
        values["subject"] = subject = one_line(self._render(f"{name}.subject.txt", values))
        text = re.sub(r"\n{3,}", "\n\n", self._render(f"{name}.txt", values)).strip() + "\n"
        return Letter(subject=subject, text=text, html=self._render(f"{name}.html", values).strip() + "\n")

    def _render(self, file: str, values: Mapping[str, Any]) -> str:
        if self._replaced is None:
            return self._packaged.get_template(file).render(values)
        try:
            return self._replaced.get_template(file).render(values)
        except Exception as error:  # noqa: BLE001 - a template of the administrator may do anything
            text = self._packaged.get_template(file).render(values)
            self._report(f"mail.templates.{file}", _explain(file, error))
            return text

    def _environment(self, loader: BaseLoader, *, reload: bool) -> Environment:
        environment = Environment(
            loader=loader,
            autoescape=select_autoescape(["html"], default=False),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=reload,
        )
        environment.filters["moment"] = moment
        environment.filters["lasts"] = self._lasts
        return environment

    def _lasts(self, end: datetime) -> str:
        return duration(end - self._clock())


class _ReplacingLoader(BaseLoader):
    """Loads from a folder what is there, and the rest from elsewhere."""

    def __init__(self, folder: Path, rest: BaseLoader) -> None:
        self._folder = folder
        self._replaced = FileSystemLoader(folder)
        self._rest = rest

    def get_source(self, environment: Environment, template: str) -> tuple[str, str | None, Callable[[], bool] | None]:
        try:
            return self._replaced.get_source(environment, template)
        except TemplateNotFound:
            text, name, _ = self._rest.get_source(environment, template)
            path = self._folder / template
            # A file that the administrator adds later counts at once.
            return text, name, lambda: not path.exists()


def moment(value: datetime | str) -> str:
    """Write a moment for people: ``3 May 2026, 14:05 UTC``."""
    if isinstance(value, str):
        return value
    value = value.astimezone(UTC)
    return f"{value.day} {value:%B %Y}, {value:%H:%M} UTC"


def duration(time: timedelta) -> str:
    """Write a duration for people, in the largest unit that does not make it longer: ``3 minutes``."""
    seconds = max(0, round(time.total_seconds()))
    for unit, length in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            return _counted(seconds // length, unit)
    return _counted(seconds, "second")


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _explain(file: str, error: Exception) -> str:
    where = ""
    if isinstance(error, TemplateError):
        line = getattr(error, "lineno", None)
        where = f" (line {line} of {getattr(error, 'name', None) or file})" if line else ""
    return f"The mail template {file} cannot be used{where}, so that of the host was taken: {error}"
