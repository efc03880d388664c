"""The registry in use: built, replaced as a whole, and kept in step with the other processes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from host.plugins.boot import BootGuard
from host.plugins.building import RESTART, Builder, Candidate, Known, ReloadFlags, older_than, reprobed
from host.plugins.convergence import COMMAND, Convergence, State
from host.plugins.manifest import Failure
from host.plugins.probing import Inspection, Retry
from host.plugins.records import BOOT_REASON, Records, Wanted
from host.plugins.registry import Registry
from host.plugins.registry_errors import replace_errors

__all__ = ["Registries", "ReloadFlags"]

_LOG = logging.getLogger("plugyard.plugins.reloading")

# Another process of this machine has probed what failed so shortly before.
_PROBED_ELSEWHERE_SECONDS = 60.0

Write = Callable[[Session], None]


class Registries:
    """Holds the registry of this process.

    Args:
        builder: builds registries.
        records: what is stored of plugins.
        convergence: this process's view of the common generation.
        guard: remembers what was being loaded when a boot dies; the loader has the same one.
        package_generation: gives the number of the package generation that is in force.

    """

    def __init__(
        self,
        *,
        builder: Builder,
        records: Records,
        convergence: Convergence,
        guard: BootGuard,
        package_generation: Callable[[], int] = lambda: 0,
    ) -> None:
        self._builder = builder
        self._records = records
        self._convergence = convergence
        self._database = convergence.database
        self._guard = guard
        self._package_generation = package_generation
        self._packages_reached = 0
        self._current = Registry()
        self._lock = threading.RLock()
        self._tickets = count(1)
        self._last: tuple[int, ReloadFlags, bool] = (0, ReloadFlags(), False)
        self.on_quarantine: Callable[[str, str], object] = _ignore
        """Is told the key and the reason once a quarantine is stored, outside of any transaction."""

    @property
    def current(self) -> Registry:
        """The registry in use; a request keeps the one it started with."""
        return self._current

    @property
    def records(self) -> Records:
        """What is stored of plugins."""
        return self._records

    def is_stale(self) -> bool:
        """Tell whether another process may have changed something; cheap enough for each request."""
        return self._convergence.is_stale()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold off other reloads of this process."""
        with self._lock:
            yield

    def boot(self) -> Registry:
        """Load the plugins as the process starts, without the one that killed an earlier boot."""
        with self._lock:
            self._convergence.open()
            casualties = self._guard.casualties()
            killers = {one.plugin for one in casualties if one.plugin is not None}
            with self._guard.booting():
                flags = ReloadFlags(collect_plugins=True)
                known = self._builder.look(flags)
                is_new = self._prepare_boot(known, killers)
                self._guard.clear(casualties)
                mark, state = self._convergence.mark(), self._convergence.state()
                candidate = self._candidate(flags, state, known=known)
            if (is_new or not self._is_guest()) and list(candidate.errors) != self._records.errors():
                with self._database.write() as session:
                    self._convergence.lock(session)
                    replace_errors(session, candidate.errors)
            self._packages_reached = state.package_generation
            self._use(candidate, candidate.registry, mark)
        if is_new:
            self._convergence.announce()
        return self._current

    def reload(self, flags: ReloadFlags | None = None, *, by_administrator: bool = False) -> Registry:
        """Build the registry anew and replace the one in use; the other processes follow.

        Registry errors of earlier are forgotten. ``by_administrator`` also ends quarantines. One reload runs at a time;
        a caller that had to wait gets the result of one that began after the call and did all that was asked for.
        """
        flags = flags or ReloadFlags()
        ticket = next(self._tickets)
        with self._lock:
            began, done, ended_quarantines = self._last
            if began > ticket and done.covers(flags) and ended_quarantines >= by_administrator:
                return self._current
            began = next(self._tickets)
            if by_administrator:
                with self._database.write() as session:
                    self._convergence.lock(session)
                    self._records.end_quarantines(session)
            retry = older_than(0) if flags.force_reload else None
            candidate = self._candidate(flags, self._convergence.state(), retry=retry)
            registry = self.adopt(candidate, lambda session: replace_errors(session, candidate.errors))
            self._last = (began, flags, by_administrator)
            return registry

    def catch_up(self, timeout: float = 30.0) -> Registry:
        """Bring this process to the common generation, where it is behind; wait for another reload at most so long."""
        if not self._lock.acquire(timeout=timeout):
            return self._current
        try:
            mark, state = self._convergence.mark(), self._convergence.state()
            reached = self._current.generation
            if state.generation == reached:
                self._convergence.settle(mark)
                return self._current
            flags = ReloadFlags(
                collect_plugins=True,
                force_reload=state.forced_generation > reached,
                full_reload=state.full_generation > reached or state.package_generation != self._packages_reached,
            )
            retry = older_than(_PROBED_ELSEWHERE_SECONDS) if flags.force_reload else None
            candidate = self._candidate(flags, state, retry=retry)
            self._packages_reached = state.package_generation
            self._use(candidate, candidate.registry, mark)
            return self._current
        finally:
            self._lock.release()

    def attempt(self, key: str, *, active: bool) -> Candidate:
        """Build a registry with or without one plugin, and leave the one in use as it is.

        Follow up with :meth:`adopt` or :meth:`abandon`, all within :meth:`exclusive`.
        """
        retry = reprobed([key]) if active else None
        state = self._convergence.state()
        return self._candidate(ReloadFlags(), state, retry=retry, switched=(key, active))

    def adopt(self, candidate: Candidate, write: Write) -> Registry:
        """Use a registry that was built: store it as the next generation, then replace the one in use.

        ``write`` takes part in the transaction.
        """
        mark, before = self._convergence.mark(), candidate.state
        packages, as_guest = self._package_generation(), self._is_guest()
        try:
            with self._database.write() as session:
                generation = self._convergence.bump(
                    session,
                    package_generation=packages,
                    force=candidate.flags.force_reload,
                    full=candidate.flags.full_reload,
                )
                self._records.sync(session, candidate.registry.known, as_guest=as_guest)
                write(session)
        except BaseException:
            self.abandon(candidate)
            raise
        # What others have changed since the candidate was begun is not in it: then this process is behind.
        reached = generation if generation == before.generation + 1 else before.generation
        self._packages_reached = packages
        self._use(candidate, replace(candidate.registry, generation=reached), mark)
        self._convergence.announce()
        return self._current

    def abandon(self, candidate: Candidate) -> None:
        """Let go of a registry that was built and is not used."""
        self._stop(candidate.registry, self._current)
        self._builder.loader.refresh(self._current)

    def inspect(self, folders: Sequence[Path], name: str) -> Inspection:
        """Probe a distribution that lies in store folders and is not installed yet."""
        return self._builder.inspect(folders, name, self._current.known)

    def rehearse(self, key: str) -> Failure | None:
        """Find out in another process whether loading a plugin would end or hold up this one."""
        message = self._builder.rehearse(self._current.known[key])
        return Failure("start", key, message) if message else None

    def quarantine(self, key: str, reason: str) -> None:
        """Leave a plugin out, in every process, until an administrator says otherwise.

        Returns at once and stores it in a thread: the caller may be in the midst of a transaction.
        """
        _LOG.error("Plugin %s is quarantined: %s", key, reason)
        threading.Thread(target=self._quarantine, args=(key, reason), name="plugyard-quarantine", daemon=True).start()

    def status(self) -> dict[str, Any]:
        """Describe the registry: its errors and those who follow it; the same from every process."""
        state, wanted = self._convergence.state(), self._records.wanted()
        processes = self._convergence.processes()
        restart = sorted({name for process in processes for name in process.pop("restart_required")})
        quarantined = dict(wanted.quarantined or {})
        errors = [
            *self._records.errors(),
            *(Failure("boot" if why == BOOT_REASON else "quarantine", key, why) for key, why in quarantined.items()),
            *(Failure(RESTART, name, f"'{name}' was replaced: restart required.") for name in restart),
        ]
        return {
            "active_plugins": self._records.count_active(),
            "registry_errors": [{"stage": one.stage, "name": one.name, "message": one.message} for one in errors],
            "generation": state.generation,
            "package_generation": state.package_generation,
            "processes": [{**one, "last_seen": one["last_seen"].isoformat()} for one in processes],
            "quarantined": [{"key": key, "reason": why} for key, why in quarantined.items()],
            "restart_required": restart,
        }

    def stop(self) -> None:
        """Stop every plugin and sign this process out."""
        with self._lock:
            former, self._current = self._current, Registry(generation=self._current.generation)
            self._stop(former, self._current)
            self._builder.close()
            self._convergence.leave()

    def _prepare_boot(self, known: Known, killers: set[str]) -> bool:
        """Store what the other processes have to know before anything is loaded; tell whether there was anything."""
        packages, as_guest = self._package_generation(), self._is_guest()
        with self._database.write() as session:
            before = self._convergence.lock(session)
            self._records.sync(session, known.plugins, as_guest=as_guest)
            for key in sorted(killers):
                self._records.quarantine(session, key, BOOT_REASON)
            is_new = bool(killers) or before.package_generation != packages
            if is_new:
                self._convergence.bump(session, package_generation=packages)
        return is_new

    def _is_guest(self) -> bool:
        """Tell whether this is a command, made with an environment of its own, beside a host that runs."""
        convergence = self._convergence
        return convergence.kind == COMMAND and any(one["kind"] != COMMAND for one in convergence.processes())

    def _candidate(
        self,
        flags: ReloadFlags,
        state: State,
        *,
        known: Known | None = None,
        retry: Retry | None = None,
        switched: tuple[str, bool] | None = None,
    ) -> Candidate:
        wanted = self._records.wanted()
        if switched is not None:
            wanted = _switched(wanted, *switched)
        known = known or self._builder.look(flags, retry)
        return self._builder.build(known, flags, current=self._current, wanted=wanted, state=state)

    def _use(self, candidate: Candidate, registry: Registry, mark: int) -> None:
        former, self._current = self._current, registry
        self._convergence.acknowledge(registry.generation, self._packages_reached, candidate.restart_required)
        self._convergence.settle(mark)
        self._stop(former, registry)

    def _stop(self, former: Registry, present: Registry) -> None:
        staying = [plugin.object for plugin in present.plugins.values()]
        replaced = [key for key, plugin in former.plugins.items() if not any(plugin.object is one for one in staying)]
        self._builder.loader.stop(former, replaced)

    def _quarantine(self, key: str, reason: str) -> None:
        try:
            with self._database.write() as session:
                self._convergence.bump(session)
                self._records.quarantine(session, key, reason)
            self._convergence.announce()
            self.on_quarantine(key, reason)
            self.catch_up()
        except SQLAlchemyError:
            _LOG.exception("The quarantine of plugin %s could not be stored; in this process it holds.", key)


def _ignore(_key: str, _reason: str) -> None:
    """Tell nobody."""


def _switched(wanted: Wanted, key: str, active: bool) -> Wanted:  # noqa: FBT001  # unpacked from a pair
    if not active:
        return replace(wanted, active=wanted.active - {key})
    quarantined = {other: reason for other, reason in (wanted.quarantined or {}).items() if other != key}
    return Wanted(active=wanted.active | {key}, quarantined=quarantined)
