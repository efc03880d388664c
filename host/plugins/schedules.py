"""Schedules of plugins: what active plugins do again and again, as work for the host's workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from host.contract.schedules import ScheduledTask
from host.plugins.calls import Calls
from host.plugins.current import Registries
from host.plugins.registry import Registry
from host.tasks.jobs import Work
from host.tasks.schedules import Schedule
from host.tasks.timing import Timing


def _always() -> bool:
    return True


class PluginSchedules:
    """Gives what the active plugins do again and again; nothing while schedules of plugins are switched off.

    Args:
        registries: gives the registry in force.
        calls: calls the functions.
        enabled: whether plugins may do anything by themselves.

    """

    def __init__(self, registries: Registries, calls: Calls, *, enabled: Callable[[], bool] = _always) -> None:
        self._registries = registries
        self._calls = calls
        self._enabled = enabled
        self._known: tuple[Registry | None, Sequence[Schedule]] = (None, ())

    def __call__(self) -> Sequence[Schedule]:
        """Return the schedules, named ``plugin.<key>.<name>``."""
        if not self._enabled():
            return ()
        registry = self._registries.current
        before, found = self._known
        if before is not registry:
            found = [
                self._schedule(key, task) for key, plugin in registry.plugins.items() for task in plugin.scheduled_tasks
            ]
            self._known = (registry, found)
        return found

    def is_unsure(self, name: str) -> bool:
        """Tell whether a schedule is of an active plugin that could not be loaded here, but perhaps elsewhere."""
        registry = self._registries.current
        # Only what is active is loaded; what could be loaded nowhere has its failure in the manifest.
        failed = {failure.name for failure in registry.failures} - set(registry.plugins)
        loadable = [key for key in failed if key in registry.known and registry.known[key].failure is None]
        return self._enabled() and any(name.startswith(f"plugin.{key}.") for key in loadable)

    def _schedule(self, key: str, task: ScheduledTask) -> Schedule:
        work = Work(
            run=partial(self._run, key, task),
            attempts=task.attempts,
            is_repeatable=task.repeatable,
        )
        timing = Timing(kind=task.schedule, minutes=task.minutes or 1, cron=task.cron)
        return Schedule(
            name=f"plugin.{key}.{task.name}", func=_path(task), work=work, timing=timing, repeats=task.repeats
        )

    def _run(self, key: str, task: ScheduledTask) -> object:
        return self._calls.call(key, f"schedule.{task.name}", task.function, seconds=task.timeout)


def _path(task: ScheduledTask) -> str:
    function = task.function
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    return f"{module}.{name}"[:255] if isinstance(module, str) and isinstance(name, str) else type(function).__name__
