"""Carrying a plan out: fetch, unpack, look for the plugin, and switch in one transaction."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from host.contract.markers import ENTRY_POINT_GROUP
from host.errors import BusyError, HostError, UnavailableError
from host.packages.failures import PackageRefusedError
from host.packages.fetch import Fetched, Fetcher, relabelled
from host.packages.generations import Generations
from host.packages.lock import Lease
from host.packages.lockfile import Lock
from host.packages.operations import Recorder
from host.packages.options import PackageCallbacks
from host.packages.plan import Plan, Target
from host.packages.plugins_file import digest_of
from host.packages.store import PackageStore
from host.packages.text_files import check_writable, read_text, write_text
from host.packages.unpack import inspect_wheel
from host.packages.wheels import Wheels
from host.storage.engine import Database

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an operation does, for the record."""

    action: str
    user_id: int | None
    index_url: str = ""


class Applier:
    """Carries plans out, so that each leaves everything or nothing."""

    def __init__(
        self, *, database: Database, generations: Generations, store: PackageStore, wheels: Wheels, fetcher: Fetcher,
        plugins_file: Path, callbacks: PackageCallbacks,
    ) -> None:  # fmt: skip
        self._database = database
        self._generations = generations
        self._store = store
        self._wheels = wheels
        self._fetcher = fetcher
        self._path = plugins_file
        self._callbacks = callbacks

    def apply(self, plan: Plan, change: Change, *, folder: Path, recorder: Recorder, lease: Lease) -> int:
        """Carry a plan out and return the number of the generation in force.

        Raises:
            HostError: it was refused or failed, and nothing was changed.

        """
        check_writable(self._path)
        with self._all_or_nothing():
            recorder.stage("fetching", 40)
            fetched = self._fetcher.fetch(
                plan, index_url=change.index_url, folder=folder / "wheels", on_line=recorder.line
            )
            self._check_plugins(plan, fetched)
            recorder.stage("unpacking", 60)
            kept = [relabelled(target.kept, plan) for target in plan.targets if target.kept]
            lock = Lock.of([*kept, *(one.package for one in fetched)])
            self._unpack(lock, fetched)
            recorder.stage("inspecting", 75)
            self._inspect_plugins(lock, fetched)
            recorder.stage("switching", 90)
            number = self._switch(plan, lock, change, lease)
        self._follow_switch(number, recorder)
        return number

    def restore(self, number: int, *, recorder: Recorder, lease: Lease) -> None:
        """Put an older generation into force, from the kept wheels.

        Raises:
            NotFoundError: there is no such generation.
            UnavailableError: a wheel of it is not kept.

        """
        check_writable(self._path)
        generation = self._generations.get(number)
        with self._all_or_nothing():
            recorder.stage("unpacking", 40)
            self._store.repair(generation.lock)
            recorder.stage("switching", 80)
            text = read_text(self._path)
            with self._database.write() as session:
                lease.confirm(session)
                self._generations.switch(session, number, based_on=digest_of(text) if text is not None else "")
        self._follow_switch(number, recorder)

    def finish_write(self) -> str:
        """Write the plugins file if the generation in force still asks for it; return what was done, or nothing."""
        pending = self._generations.pending_write()
        if pending is None:
            return ""
        text = read_text(self._path)
        message = ""
        if text == pending.text:
            pass
        elif _may_replace(text, pending.text, pending.based_on):
            write_text(self._path, pending.text)
            message = f"{self._path.name} was brought up to date."
        else:
            message = f"{self._path.name} was edited meanwhile and was left as it is; synchronise to follow it."
        self._generations.written()
        return message

    def sweep(self) -> int:
        """Remove folders and wheels that no generation names; return how many."""
        packages = [package for generation in self._generations.all() for package in generation.lock]
        removed = self._store.prune({package.folder for package in packages})
        hashes = {package.sha256 for package in packages}
        for sha256, _ in list(self._wheels.entries()):
            if sha256 not in hashes:
                self._wheels.remove(sha256)
                removed += 1
        return removed

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._clean_up()
            reason = error.strerror or str(error)
            raise UnavailableError(f"The packages could not be written ({reason}); nothing was changed.") from error
        except BaseException:
            self._clean_up()
            raise

    def _clean_up(self) -> None:
        try:
            self.sweep()
        except (HostError, SQLAlchemyError, OSError) as error:
            _log.warning("What a failed package operation left will be removed at the next start: %s", error)

    def _check_plugins(self, plan: Plan, fetched: Sequence[Fetched]) -> None:
        points = {one.package.name: one.entry_points for one in fetched}
        for target in plan.targets:
            if target.kept and target.name in plan.must_hold_plugin:
                path = self._wheels.local(target.kept.sha256, target.kept.filename)
                points[target.name] = inspect_wheel(path).entry_points
        for target in plan.targets:
            if target.name in plan.must_hold_plugin:
                _check_plugin(target, points[target.name])

    def _unpack(self, lock: Lock, fetched: Sequence[Fetched]) -> None:
        for one in fetched:
            self._wheels.add(one.path, one.package.sha256)
        self._store.repair(lock)

    def _inspect_plugins(self, lock: Lock, fetched: Sequence[Fetched]) -> None:
        folders = [self._store.path(package) for package in lock]
        holders = [one.package for one in fetched if ENTRY_POINT_GROUP in one.entry_points]
        problems = [problem for package in holders for problem in self._callbacks.inspect(folders, package.name)]
        if problems:
            raise PackageRefusedError(problems[0], problems[1:])

    def _switch(self, plan: Plan, lock: Lock, change: Change, lease: Lease) -> int:
        text = read_text(self._path)
        if (digest_of(text) if text is not None else "") != plan.based_on:
            raise BusyError(f"{self._path.name} was edited while the packages were prepared; try again.")
        with self._database.write() as session:
            lease.confirm(session)
            return self._generations.add(
                session,
                lock=lock,
                requirements=plan.text,
                action=change.action,
                created_by=change.user_id,
                based_on=plan.based_on,
            )

    def _follow_switch(self, number: int, recorder: Recorder) -> None:
        """Do what a switch leads to; whatever happens here, the switch stays."""
        recorder.stage("writing", 92)
        try:
            message = self.finish_write()
        except OSError as error:
            # The switch is done and stays; the next operation, or the next start, writes the file.
            message = f"{self._path} could not be written yet: {error}."
        if message:
            recorder.line(message)
        recorder.stage("loading", 95)
        try:
            self._callbacks.after_switch(number)
        except HostError as error:
            recorder.line(f"The packages are in force, and their plugins could not be loaded yet: {error}")


def _check_plugin(target: Target, entry_points: Mapping[str, tuple[str, ...]]) -> None:
    if entry_points.get(ENTRY_POINT_GROUP):
        return
    groups = ", ".join(sorted(entry_points))
    found = f"its entry points are in {groups}" if groups else "it declares no entry points"
    raise PackageRefusedError(
        f"{target.name} {target.version} holds no plugin: {found}; a plugin declares the group '{ENTRY_POINT_GROUP}'."
    )


def _may_replace(present: str | None, wanted: str, based_on: str) -> bool:
    if present is None:
        return True
    # A file that could only be written in place may have been cut short by a crash.
    return digest_of(present) == based_on or wanted.startswith(present)
