"""What the watchdog watches: plugin code with a deadline, its calls, and the signals that end them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from host.plugins.watchdog import Scope


class HookDeadline(BaseException):
    """Raised inside of plugin code whose time is up; ``except Exception`` must not stop it."""


class ScopeAbandoned(HookDeadline):
    """Unwinds a handler whose request was given up meanwhile, so that it does nothing more."""


class Overdue(Exception):  # noqa: N818 - never leaves this package
    """A call did not come back in time."""

    def __init__(self, seconds: float, *, stack: str = "", blocked_by: str = "") -> None:
        super().__init__(seconds)
        self.seconds = seconds
        self.stack = stack
        """Where the thread was when it was given up; the cause tells it of a call that came back."""
        self.blocked_by = blocked_by
        """Another call that took the time; the plugin that was asked is not to blame."""


class Statistics:
    """Counts of one implementation. Exact under the GIL: nothing switches threads within an increment."""

    __slots__ = ("calls", "failures", "seconds", "slowest")

    def __init__(self) -> None:
        self.calls = 0
        self.failures = 0
        self.seconds = 0.0
        self.slowest = 0.0

    def add(self, seconds: float) -> None:
        """Count a call that took this long."""
        self.calls += 1
        self.seconds += seconds
        self.slowest = max(self.slowest, seconds)


def _ignore(call: Call) -> None:
    del call


class Watched:
    """Plugin code that is called under a deadline."""

    __slots__ = ("deadline", "hook", "on_stuck", "plugin", "statistics", "stuck")

    def __init__(
        self,
        plugin: str,
        hook: str,
        deadline: float,
        statistics: Statistics | None = None,
        on_stuck: Callable[[Call], None] = _ignore,
    ) -> None:
        self.plugin = plugin
        self.hook = hook
        self.deadline = deadline
        self.statistics = statistics or Statistics()
        self.on_stuck = on_stuck
        """Called in the watchdog's thread with a call that was given up."""
        self.stuck: set[object] = set()
        """Calls whose threads were given up and that have not come back."""


NOTHING = Watched("", "", 0.0)


class Call:
    """One call that is running; calls of one thread are nested through ``parent``."""

    __slots__ = ("claimed", "done", "expires", "injected", "parent", "scope", "stack", "subject")
    # Set by the watchdog alone, and only for calls that are overdue.
    injected: float
    stack: str

    def __init__(self, subject: Watched, scope: Scope, parent: Call | None, expires: float) -> None:
        self.subject = subject
        self.scope = scope
        self.parent = parent
        self.expires = expires
        self.done = False
        self.claimed = False
