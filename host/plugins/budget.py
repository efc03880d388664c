"""The error budget: how many failures a plugin may have within a while."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from time import monotonic

_log = logging.getLogger(__name__)


class ErrorBudget:
    """Counts failures of each plugin in a sliding window.

    Args:
        limit: this many failures are tolerated; the next one exhausts the budget.
        window: seconds after which a failure no longer counts.
        on_exhausted: called once with the plugin's key and a reason, in the thread in which the last failure happened.
        clock: seconds that never go backwards.

    """

    def __init__(
        self,
        limit: int = 20,
        window: float = 300.0,
        on_exhausted: Callable[[str, str], None] | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.limit = limit
        self.window = window
        self.on_exhausted = on_exhausted
        self._clock = clock
        self._failures: dict[str, deque[float]] = {}
        self._exhausted: set[str] = set()
        self._lock = threading.Lock()

    def count(self, plugin: str, message: str) -> bool:
        """Count a failure; return whether it is the one that exhausts the budget."""
        with self._lock:
            failures = self._failures.setdefault(plugin, deque(maxlen=self.limit + 1))
            now = self._clock()
            failures.append(now)
            while failures[0] < now - self.window:
                failures.popleft()
            if len(failures) <= self.limit or plugin in self._exhausted:
                return False
            self._exhausted.add(plugin)
        reason = f"more than {self.limit} failures within {self.window:g} s; the last one: {message}"
        if self.on_exhausted is not None:
            try:
                self.on_exhausted(plugin, reason)
            except Exception:  # noqa: BLE001 - the host goes on, and the log says it
                _log.exception("the quarantine of plugin %s could not be recorded", plugin)
        return True

    def spent(self, plugin: str) -> int:
        """Return how many failures count at this moment."""
        with self._lock:
            return sum(1 for time in self._failures.get(plugin, ()) if time >= self._clock() - self.window)

    def reset(self, plugin: str) -> None:
        """Forget the failures of a plugin, so that its budget is whole again."""
        with self._lock:
            self._failures.pop(plugin, None)
            self._exhausted.discard(plugin)
