"""The background tasks, put together."""

from __future__ import annotations

from collections.abc import Callable

from host import upkeep
from host.assembly.ground import Ground
from host.assembly.plugins import PluginParts
from host.plugins.schedules import PluginSchedules
from host.record_services import RecordServices
from host.records.scrubbing import scrub
from host.tasks.background import BackgroundTasks, TaskOptions, TaskSources


def make_tasks(ground: Ground, plugins: PluginParts, records: Callable[[], RecordServices]) -> BackgroundTasks:
    """Return the background tasks; ``records`` gives the services that do the work, which are made later."""
    config, settings, registries = ground.config, ground.settings, plugins.registries
    schedules = PluginSchedules(registries, plugins.calls, enabled=settings.flag_of("ENABLE_PLUGINS_SCHEDULE"))
    return BackgroundTasks(
        ground.database,
        TaskOptions(
            queue_url=config.queue,
            home=ground.home,
            threads=config.worker_threads,
            stop_seconds=config.worker_stop_timeout,
        ),
        sources=TaskSources(
            work=lambda: upkeep.tasks(records()),
            jobs=lambda: upkeep.jobs(records()),
            plugin_schedules=schedules,
            is_unsure=schedules.is_unsure,
            is_up_to_date=lambda: registries.current.generation == plugins.convergence.state().generation,
            prepare=plugins.follow,
            catch_up=registries.catch_up,
            keep_days=settings.number_of("INVENTREE_DELETE_TASKS_DAYS"),
        ),
        report=ground.report,
        scrub=scrub,
    )
