"""Complaints about plugins: log and report each failure, count it, and quarantine plugins that fail too often."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import partial

from host.plugins.bounded import Exited
from host.plugins.budget import ErrorBudget
from host.plugins.failures import PluginFailedError, PluginQuarantinedError, details, hushed, shortened, summary
from host.plugins.implementations import Gate, Implementation
from host.plugins.watchdog import WATCHDOG, current_scope
from host.plugins.watched import Call, HookDeadline, Overdue, Watched
from host.plugins.workers import WORKERS

Report = Callable[[str, str, str], object]

_log = logging.getLogger(__name__)


class Complaints:
    """Knows what to do about failures; the arguments are those of :class:`host.plugins.calls.Calls`."""

    def __init__(self, report: Report, budget: ErrorBudget, *, strict: bool, scrub: Callable[[str], str]) -> None:
        self.report = report
        self.scrub = scrub
        self.budget = budget
        self.strict = strict
        self._gates: dict[str, Gate] = {}

    def gate(self, plugin: str) -> Gate:
        """Return the gate that all implementations of a plugin share."""
        return self._gates.setdefault(plugin, Gate())

    @property
    def quarantined(self) -> frozenset[str]:
        """Keys of the plugins whose gates are shut."""
        return frozenset(key for key, gate in list(self._gates.items()) if gate.shut)

    def failed(self, subject: Watched, error: BaseException) -> PluginFailedError:
        """Report what was raised, and return what the host is told; raise what concerns more than this call."""
        scope = current_scope()
        if isinstance(error, HookDeadline):  # else the plugin raised it itself
            WATCHDOG.check()
            if scope is not None and scope.dead:
                raise error
        if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
            raise error  # signals arrive in the main thread: it is the user's
        if isinstance(error, Exited):
            error = error.error
        message, data, charge = _described(subject, error)
        message = self.scrub(message)  # it is told to whoever asked
        self.record(subject, message, data, charge=charge)
        WATCHDOG.check()
        if self.strict and not isinstance(error, Overdue):
            raise error
        return PluginFailedError(subject.plugin, subject.hook, message)

    def refused(self, subject: Watched) -> PluginFailedError:
        """Report that a call was not made, because an earlier one holds its thread."""
        # Not charged: the call that was given up has been, and the plugin may yet come back.
        message = "is still busy with a call that was given up earlier"
        self.record(subject, message, "", charge=False)
        return PluginFailedError(subject.plugin, subject.hook, message)

    def stuck(self, call: Call) -> None:
        """Take notice of a call that was given up; called by the watchdog."""
        call.subject.statistics.failures += 1
        if not call.scope.reports:
            # The watchdog cannot wait until a report is written.
            message = f"did not answer within {call.subject.deadline:g} s and holds the thread of a request"
            WORKERS.submit(partial(self.record, call.subject, message, shortened(call.stack)))

    def record(self, subject: Watched, message: str, data: str, *, charge: bool = True) -> None:
        """Log and report a failure, and count it when the plugin is to blame."""
        path = path_of(subject)
        message, data = self.scrub(message), self.scrub(data)
        _log.error("%s: %s%s", path, message, f"\n{data}" if data else "")
        try:
            self.report(path, message, data)
        except Exception:  # noqa: BLE001 - the host goes on, and the log says it
            _log.exception("the error report of %s could not be written", path)
        if charge and self.budget.count(subject.plugin, f"{subject.hook}: {message}"):
            _log.error("plugin %s is quarantined: it has failed too often", subject.plugin)
            self.gate(subject.plugin).shut = True

    def tolerate(self, failure: PluginFailedError) -> None:
        """Go on after a failure that has been reported, unless everything is strict."""
        if self.strict and not isinstance(failure, PluginQuarantinedError):
            raise failure


def path_of(subject: Watched) -> str:
    """Return the path of error reports about this code."""
    return f"plugin.{subject.plugin}.{subject.hook}"


def _described(subject: Watched, error: BaseException) -> tuple[str, str, bool]:
    """Return message, details, and whether the plugin is to blame."""
    is_secret = isinstance(subject, Implementation) and subject.info.secret
    if not isinstance(error, Overdue):
        return *(hushed(error) if is_secret else (summary(error), details(error))), True
    if error.__cause__ is None:
        data = shortened(error.stack)
    else:
        data = hushed(error.__cause__)[1] if is_secret else details(error.__cause__)
    if error.blocked_by:
        return f"did not answer in time, because {error.blocked_by} took it", data, False
    return f"did not answer within {subject.deadline:g} s", data, True
