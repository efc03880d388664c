"""Call plugins: the only place in the host where plugin code is called.

Whatever an implementation does (raise anything, hang, block, answer nonsense), the others are still asked and the host
goes on: the failure is logged, reported and counted towards the plugin's error budget. pluggy's own loop is not used,
because it ends at the first exception; pluggy keeps specifications and registrations.

How a call is bounded: in a request (a :class:`Scope` is in the context) it runs inline and the watchdog ends it;
elsewhere it runs in a thread of its own, which is left behind when it does not come back; ``async def`` runs on the
plugin loop.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from threading import get_ident
from time import monotonic
from typing import Any, TypeVar

import pluggy

from host.plugins.bounded import Exited, run_apart, run_bounded
from host.plugins.budget import ErrorBudget
from host.plugins.complaints import Complaints, Report, path_of
from host.plugins.failures import PluginFailedError, PluginQuarantinedError, PluginStuckError, summary
from host.plugins.implementations import Answer, Implementation, ImplementationStatistics, implementations_of
from host.plugins.plugin_loop import Submission, in_plugin_loop, run_on_plugin_loop
from host.plugins.results import check, is_right
from host.plugins.specs import specs
from host.plugins.watchdog import WATCHDOG, Scope, current_scope
from host.plugins.watched import Overdue, ScopeAbandoned, Statistics, Watched

__all__ = [
    "Answer",
    "Calls",
    "Implementation",
    "PluginFailedError",
    "PluginQuarantinedError",
    "PluginStuckError",
    "Scope",
    "run_bounded",
]

T = TypeVar("T")

DEFAULT_DEADLINE = 10.0
"""Seconds that a hook may take, where ``deadlines`` says nothing else."""

_new = tuple.__new__  # makes an Answer in half the time
_run_inline = WATCHDOG.run


class Calls:
    """Asks plugins.

    Args:
        report: writes an error report (path, info, data). Called in the thread that asks, so that the report is there
            when the answer is; keep questions outside of write transactions.
        deadlines: family key → seconds; ``default`` for the families that are not named.
        strict: raise what a plugin raises instead of going on, for tests.
        budget: counts failures; a plugin over its budget is quarantined in this process at once.
        scrub: takes secrets out of what plugins raise, before anybody is told.

    """

    def __init__(
        self,
        report: Report,
        deadlines: Mapping[str, float] | None = None,
        *,
        strict: bool = False,
        budget: ErrorBudget | None = None,
        scrub: Callable[[str], str] = str,
    ) -> None:
        self._complaints = Complaints(report, budget or ErrorBudget(), strict=strict, scrub=scrub)
        self._deadlines = dict(deadlines or {})
        self._statistics: dict[tuple[str, str], Statistics] = {}
        self._functions: dict[tuple[str, str], Watched] = {}
        self._table: Mapping[str, tuple[Implementation, ...]] = {}

    def table(self, manager: pluggy.PluginManager, order: Sequence[str]) -> Mapping[str, tuple[Implementation, ...]]:
        """Return hook name → implementations in the order to ask them, for every hook.

        Args:
            manager: holds the plugins, registered under their keys.
            order: the keys in registry order; ``tryfirst`` and ``trylast`` go before it.

        """
        found = implementations_of(manager, order)
        self._table = {
            name: tuple(self._implementation(name, item.plugin_name, item.function) for item in items)
            for name, items in found.items()
        }
        return self._table

    def ask_all(self, implementations: Sequence[Implementation], /, **arguments: Any) -> list[Answer]:
        """Ask every plugin and return the answers in the same order.

        Plugins that fail are left out, as is the answer ``None``; of a list, items of the wrong kind are.
        """
        answers = []
        for implementation in implementations:
            try:
                value = self._ask(implementation, arguments)
            except PluginFailedError as failure:
                self._complaints.tolerate(failure)
            else:
                if value is not None:
                    answers.append(_new(Answer, (implementation.plugin, value)))
        return answers

    def ask_first(self, implementations: Sequence[Implementation], /, **arguments: Any) -> Answer | None:
        """Ask plugins in turn until one answers something else than ``None``; those that fail are passed over."""
        for implementation in implementations:
            try:
                value = self._ask(implementation, arguments)
            except PluginFailedError as failure:
                self._complaints.tolerate(failure)
            else:
                if value is not None:
                    return _new(Answer, (implementation.plugin, value))
        return None

    def ask_one(self, implementation: Implementation, /, **arguments: Any) -> Any:
        """Ask one plugin and return its answer.

        Raises:
            PluginFailedError: it raised, took too long, answered nonsense, is busy with a call that was given up, or
                (:class:`PluginQuarantinedError`) is in quarantine.

        """
        return self._ask(implementation, arguments)

    def call(
        self,
        plugin: str,
        name: str,
        function: Callable[..., T],
        /,
        *arguments: Any,
        expected: tuple[type[Exception], ...] = (),
        seconds: float | None = None,
    ) -> T:
        """Call a function that a plugin handed over, such as a validator, bounded like a hook.

        Args:
            plugin: the plugin's key.
            name: what is called, for messages and the error report; while one call under this name is stuck, the
                others are refused.
            function: the function.
            arguments: passed by position.
            expected: exceptions that are part of the agreement; they pass through and are no failures.
            seconds: how long it may take, where that is not the default.

        Raises:
            PluginFailedError: it raised anything else, took too long, is busy or in quarantine.

        """
        if self._complaints.gate(plugin).shut:
            raise _quarantined(plugin, name)
        subject = self._functions.get((plugin, name))
        deadline = self._deadline("default") if seconds is None else seconds
        if subject is None or (subject.deadline != deadline and not subject.stuck):
            if subject is not None:
                self._functions.pop((plugin, name), None)
            subject = Watched(plugin, name, deadline, on_stuck=self._complaints.stuck)
            subject = self._functions.setdefault((plugin, name), subject)
        if subject.stuck:
            raise self._complaints.refused(subject)
        try:
            result: T = self._run(subject, lambda given: function(*given), arguments)
            if inspect.isawaitable(result):
                result = self._await(subject, result)
        except expected:
            raise
        except BaseException as error:
            raise self._complaints.failed(subject, error) from error
        return result

    def apart(self, function: Callable[[], T], *, deadline: float, name: str) -> T:
        """Run a function in a thread of its own and wait for it; for imports, constructors and the like.

        Nothing is reported: that is up to the caller.

        Raises:
            PluginFailedError: it did not come back in time, or raised what is no ``Exception`` (``SystemExit``).
            Exception: whatever the function raised.

        """
        try:
            return run_apart(Watched(name, "call", deadline), lambda _nothing: function())
        except Overdue as overdue:
            raise PluginFailedError(name, "call", f"did not come back within {deadline:g} s") from overdue
        except Exited as exited:
            raise PluginFailedError(name, "call", f"raised {summary(exited.error)}") from exited.error

    @property
    def quarantined(self) -> frozenset[str]:
        """Keys of the plugins that are not asked."""
        return self._complaints.quarantined

    def quarantine(self, plugin: str) -> None:
        """Ask a plugin no more, in this process and at once."""
        self._complaints.gate(plugin).shut = True

    def release(self, plugin: str) -> None:
        """Ask a plugin again, and give it a whole error budget."""
        self._complaints.budget.reset(plugin)
        self._complaints.gate(plugin).shut = False

    def statistics(self, table: Mapping[str, Sequence[Implementation]] | None = None) -> list[ImplementationStatistics]:
        """Return the counts of every implementation of a table, from the start of this process on.

        Without a table it is the one made last, which need not be that of the registry in force.
        """
        return [
            ImplementationStatistics(
                plugin=item.plugin,
                hook=item.hook,
                calls=item.statistics.calls,
                failures=item.statistics.failures,
                seconds=item.statistics.seconds,
                slowest=item.statistics.slowest,
                busy=bool(item.stuck),
            )
            for items in (self._table if table is None else table).values()
            for item in items
        ]

    def _implementation(self, hook: str, plugin: str, function: Callable[..., Any]) -> Implementation:
        spec = specs()[hook]
        return Implementation(
            plugin,
            spec,
            function,
            deadline=self._deadline(spec.key),
            gate=self._complaints.gate(plugin),
            statistics=self._statistics.setdefault((plugin, hook), Statistics()),
            on_stuck=self._complaints.stuck,
        )

    def _deadline(self, family: str) -> float:
        deadline = self._deadlines.get(family, self._deadlines.get("default", DEFAULT_DEADLINE))
        WATCHDOG.hasten(deadline)
        return deadline

    def _ask(self, implementation: Implementation, arguments: dict[str, Any]) -> Any:
        if implementation.gate.shut:
            raise _quarantined(implementation.plugin, implementation.hook)
        if implementation.stuck:
            raise self._complaints.refused(implementation)
        scope = current_scope()
        try:
            if scope is None or scope.ident != get_ident() or scope.dead or implementation.is_async:
                value = self._run(implementation, implementation.invoke, arguments)
            else:
                value = _run_inline(implementation, implementation.invoke, arguments, scope)
        except BaseException as error:
            _require(implementation, arguments, error)
            raise self._complaints.failed(implementation, error) from error
        if value is None:
            if implementation.may_be_none:
                return None
        elif type(value) is implementation.exact or is_right(implementation.info, value):
            return value
        return self._checked(implementation, value)

    def _run(self, subject: Watched, function: Callable[[Any], Any], argument: object) -> Any:
        scope = current_scope()
        if scope is not None and scope.dead:
            raise ScopeAbandoned
        if isinstance(subject, Implementation) and subject.is_async:
            return self._await(subject, function(argument))
        if scope is None or scope.ident != get_ident():
            return run_apart(subject, function, argument)
        return WATCHDOG.run(subject, function, argument, scope)

    def _await(self, subject: Watched, awaitable: Awaitable[Any]) -> Any:
        coroutine = awaitable if inspect.iscoroutine(awaitable) else _whole(awaitable)
        if in_plugin_loop():  # which must not wait for itself
            return run_apart(subject, lambda _nothing: asyncio.run(coroutine))
        started = monotonic()
        try:
            return run_on_plugin_loop(
                coroutine,
                deadline=subject.deadline,
                name=path_of(subject),
                on_stuck=partial(_hold, subject),
            )
        except BaseException:
            subject.statistics.failures += 1
            raise
        finally:
            subject.statistics.add(monotonic() - started)

    def _checked(self, implementation: Implementation, value: object) -> object:
        if value is not None and not isinstance(value, (list, tuple)) and inspect.isawaitable(value):
            try:
                value = self._await(implementation, value)
            except BaseException as error:
                raise self._complaints.failed(implementation, error) from error
        checked = check(implementation.info, value)
        if checked.problem:
            implementation.statistics.failures += 1
            self._complaints.record(implementation, checked.problem, "")
            if self._complaints.strict or not checked.usable:
                raise PluginFailedError(implementation.plugin, implementation.hook, checked.problem)
        return checked.value


async def _whole(awaitable: Awaitable[T]) -> T:
    return await awaitable


def _hold(subject: Watched, submission: Submission) -> None:
    subject.stuck.add(submission)
    submission.future.add_done_callback(lambda _future: subject.stuck.discard(submission))


def _quarantined(plugin: str, hook: str) -> PluginQuarantinedError:
    return PluginQuarantinedError(plugin, hook, "it is in quarantine; an administrator can release it")


def _require(implementation: Implementation, arguments: Mapping[str, Any], error: BaseException) -> None:
    missing = set(implementation.argnames) - set(arguments)
    if missing and isinstance(error, KeyError):
        raise TypeError(f"{implementation.hook} was called without {', '.join(sorted(missing))}") from error
