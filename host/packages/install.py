"""Installing, changing and removing plugin packages: what the API, the command line and the start call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from packaging.utils import canonicalize_name

from host.contract.values import User
from host.errors import HostError
from host.packages.applying import Applier, Change
from host.packages.check import problems
from host.packages.environment import HostEnvironment
from host.packages.fetch import Fetcher
from host.packages.generations import CurrentGeneration, Generation, Generations
from host.packages.lock import Locks
from host.packages.node import new_owner
from host.packages.operations import OnProgress, Operation, Operations
from host.packages.options import Outcome, PackageCallbacks, PackageOptions
from host.packages.pip_process import Pip
from host.packages.plan import Plan
from host.packages.planning import Planner
from host.packages.requests import InstallRequest, Wanted, read_request
from host.packages.resolve import Index
from host.packages.resolving import Resolver, Work
from host.packages.situation import Situation
from host.packages.store import PackageStore
from host.packages.turns import Job, Turns, order, user_id
from host.packages.wheels import Wheels, WheelStore
from host.storage.engine import Database

__all__ = ["InstallRequest", "Outcome", "PackageCallbacks", "PackageOptions", "Packages"]


def _nothing(_line: str) -> None:
    pass


class Packages:
    """The plugin packages of one installation; the host's own environment is never changed."""

    def __init__(
        self,
        database: Database,
        options: PackageOptions,
        callbacks: PackageCallbacks,
        *,
        wheels: Wheels | None = None,
    ) -> None:
        self._options = options
        home = options.home.absolute()
        kept: Wheels = wheels or WheelStore(home / "files" / "wheels")
        self._store = PackageStore(home / "store", kept)
        self._generations = Generations(
            database, self._store.folder, on_switch=callbacks.on_switch, keep=options.keep_generations
        )
        self._operations = Operations(database)
        self._environment = HostEnvironment(self._store.folder, host=options.host)
        policy = options.policy
        pip = Pip(
            limit=options.pip_seconds,
            allow_builds=policy.allow_builds or policy.allow_vcs,
            environment=options.environment,
        )
        index = Index(index_url=options.index_url, find_links=tuple(options.find_links))
        self._planner = Planner(
            environment=self._environment,
            generations=self._generations,
            wheels=kept,
            resolver=Resolver(pip, index, builds=policy.allow_builds),
            policy=policy,
            plugins_file=options.plugins_file,
        )
        self._applier = Applier(
            database=database,
            generations=self._generations,
            store=self._store,
            wheels=kept,
            fetcher=Fetcher(pip, index),
            plugins_file=options.plugins_file,
            callbacks=callbacks,
        )
        self._turns = Turns(
            locks=Locks(database, lifetime=options.lease_seconds),
            operations=self._operations,
            generations=self._generations,
            applier=self._applier,
            folder=home / "tmp",
            wait=options.wait_seconds,
            report=callbacks.report,
        )

    # -- looking ----------------------------------------------------------------------------------------------

    def current(self) -> CurrentGeneration:
        """Return the generation in force: its number, and the folders for ``sys.path``."""
        return self._generations.current()

    def generations(self) -> list[Generation]:
        """Return the kept generations, the newest first."""
        return self._generations.all()

    def generation(self, number: int) -> Generation:
        """Return one generation.

        Raises:
            NotFoundError: there is none of this number, or it is no longer kept.

        """
        return self._generations.get(number)

    def operation(self, operation_id: str) -> Operation:
        """Return one operation, with its log so far.

        Raises:
            NotFoundError: there is none of this id, or it is no longer kept.

        """
        return self._operations.get(operation_id)

    def operations(self, limit: int = 50) -> list[Operation]:
        """Return the latest operations, the newest first."""
        return self._operations.latest(limit)

    def problems(self) -> list[str]:
        """Return what no longer fits: requirements that the host or the installed packages stopped meeting."""
        generation = self._generations.in_force()
        if generation is None:
            return []
        host = self._environment.distributions()
        return problems(generation.lock, host, self._environment.label(host))

    def follows_file(self) -> bool:
        """Tell, without an index, whether the plugins file says what it said when the generation in force was made."""
        situation = self._planner.situation()
        if situation.generation is None:
            return not any(line.requirement for line in situation.file.lines)
        return situation.generation.requirements == situation.file.text

    # -- planning ---------------------------------------------------------------------------------------------

    def plan(self, request: InstallRequest, *, on_line: Callable[[str], None] = _nothing) -> Plan:
        """Find out what an install would do; changes nothing.

        Raises:
            InvalidInputError: the install would be refused, and why.
            UnavailableError: the plugins file or the lock cannot be read.

        """
        wanted = read_request(request, self._options.policy, Path.cwd())
        with self._turns.temporary(new_owner()) as folder:
            return self._planner.install(self._planner.situation(), wanted, Work(folder, on_line))

    def plan_sync(self, *, on_line: Callable[[str], None] = _nothing) -> Plan:
        """Find out what following the plugins file would do; changes nothing.

        Raises:
            InvalidInputError: it would be refused, and why.

        """
        with self._turns.temporary(new_owner()) as folder:
            return self._planner.sync(self._planner.situation(), Work(folder, on_line))

    def plan_uninstall(self, name: str) -> Plan:
        """Find out what an uninstall would do; changes nothing.

        Raises:
            InvalidInputError: the package is not managed here.

        """
        return self._planner.uninstall(self._planner.situation(), canonicalize_name(name))

    # -- changing ---------------------------------------------------------------------------------------------

    def install(
        self, request: InstallRequest, *, by: User | None = None, on_progress: OnProgress | None = None,
        operation_id: str | None = None,
    ) -> Outcome:  # fmt: skip
        """Install a package, or move it to another version.

        Raises:
            InvalidInputError: it was refused, and why; nothing was changed.
            BusyError: another operation is at work.
            UnavailableError: a file could not be read or written; nothing was changed.

        """
        wanted = read_request(request, self._options.policy, Path.cwd())
        with self._turns.take(order("install", request.as_json(), by, on_progress, operation_id)) as job:
            return self._installed(job, wanted, by)

    def uninstall(
        self, name: str, *, by: User | None = None, on_progress: OnProgress | None = None,
        operation_id: str | None = None,
    ) -> Outcome:  # fmt: skip
        """Remove a package by the name of its distribution, and what only it needed; asks no index.

        Raises:
            InvalidInputError: the package is not managed here; nothing was changed.
            BusyError: another operation is at work.

        """
        self._options.policy.check_enabled()
        canonical = canonicalize_name(name.strip())
        with self._turns.take(order("uninstall", {"name": canonical}, by, on_progress, operation_id)) as job:
            situation = self._planner.situation()
            plan = self._planner.uninstall(situation, canonical)
            locked = situation.lock.by_name.get(canonical)
            version = locked.version if locked else ""
            number = self._apply(job, plan, Change(action=f"uninstall {canonical}", user_id=user_id(by)))
            text = f"{canonical} {version} was uninstalled." if version else f"{canonical} left the plugins file."
            return self._done(job, plan, text, number, version)

    def sync(
        self, *, by: User | None = None, on_progress: OnProgress | None = None, operation_id: str | None = None
    ) -> Outcome:
        """Make the packages what the plugins file says; all of it or nothing.

        Raises:
            InvalidInputError: a line cannot be followed, and why; nothing was changed.
            BusyError: another operation is at work.

        """
        self._options.policy.check_enabled()
        with self._turns.take(order("sync", {}, by, on_progress, operation_id)) as job:
            job.recorder.stage("resolving", 5)
            situation = self._planner.situation()
            plan = self._planner.sync(situation, job.work)
            if not plan.changes_packages and _is_as_written(situation, plan):
                return self._done(
                    job, plan, "Everything in the plugins file is installed already.", situation.number, ""
                )
            number = self._apply(job, plan, Change(action="sync", user_id=user_id(by)))
            return self._done(job, plan, f"The plugins file was followed: {_summary(plan)}.", number, "")

    def restore(
        self, number: int, *, by: User | None = None, on_progress: OnProgress | None = None,
        operation_id: str | None = None,
    ) -> Outcome:  # fmt: skip
        """Go back to a generation that is still kept, plugins file included; asks no index.

        Raises:
            NotFoundError: there is no such generation.
            UnavailableError: one of its wheels is missing.
            BusyError: another operation is at work.

        """
        self._options.policy.check_enabled()
        with self._turns.take(order("restore", {"generation": number}, by, on_progress, operation_id)) as job:
            situation = self._planner.situation()
            warnings: tuple[str, ...] = ()
            if situation.generation and situation.generation.requirements != situation.file.text:
                job.recorder.line(f"The plugins file had been edited; it said:\n{situation.file.text}")
                text = f"The plugins file had been edited since generation {situation.number}, and was replaced"
                warnings = (f"{text}; the log of operation {job.recorder.id} keeps what it said.",)
            self._applier.restore(number, recorder=job.recorder, lease=job.lease)
            plan = Plan(kind="restore", warnings=warnings)
            return self._done(
                job, plan, f"Generation {number} is in force again.", number, "", number != situation.number
            )

    def materialise(self, number: int | None = None) -> CurrentGeneration:
        """Make sure that the folders of a generation are there, of the one in force by default.

        Raises:
            NotFoundError: there is no such generation.
            UnavailableError: a wheel that is needed is not kept.

        """
        current = self.current()
        number = current.number if number is None else number
        if number == 0:
            return current
        generation = self._generations.get(number)
        self._store.repair(generation.lock)
        return CurrentGeneration(number, tuple(self._store.path(package) for package in generation.lock))

    def recover(self) -> str:
        """Put things in order at the start: finish or undo what a killed process left.

        Returns which generation is in force, and what was done; never fails because of a damaged package.
        """
        notes = self._turns.put_in_order()
        current = self.current()
        try:
            self.materialise()
        except (HostError, OSError) as error:
            notes.append(str(error))
        state = f"Generation {current.number} is in force ({len(current.folders)} packages)."
        return " ".join([state if current.number else "No packages are installed.", *notes])

    # -- inside -----------------------------------------------------------------------------------------------

    def _installed(self, job: Job, wanted: Wanted, by: User | None) -> Outcome:
        job.recorder.stage("resolving", 5)
        situation = self._planner.situation()
        plan = self._planner.install(situation, wanted, job.work)
        version = next((target.version for target in plan.targets if target.name == plan.name), "")
        if not plan.changes_packages and _is_as_written(situation, plan):
            return self._done(job, plan, f"{plan.name} {version} was installed already.", situation.number, version)
        change = Change(action=f"install {plan.requirement}", user_id=user_id(by), index_url=wanted.index_url)
        number = self._apply(job, plan, change)
        verb = "was installed" if plan.changes_packages else "was installed already; the plugins file was changed"
        return self._done(job, plan, f"{plan.name} {version} {verb}.", number, version)

    def _apply(self, job: Job, plan: Plan, change: Change) -> int:
        return self._applier.apply(plan, change, folder=job.folder, recorder=job.recorder, lease=job.lease)

    def _done(
        self,
        job: Job,
        plan: Plan,
        text: str,
        number: int,
        version: str,
        changed: bool | None = None,  # noqa: FBT001
    ) -> Outcome:
        outcome = Outcome(
            result=text,
            output=job.recorder.output,
            name=plan.name or "",
            version=version,
            generation=number,
            changed=plan.changes_packages if changed is None else changed,
            operation=job.recorder.id,
            warnings=plan.warnings,
        )
        record = {name: value for name, value in outcome.as_json().items() if name != "output"}
        job.recorder.succeeded(record, number)
        return outcome


def _is_as_written(situation: Situation, plan: Plan) -> bool:
    """Tell whether the plugins file is there and says what the plan wants, as does the generation in force."""
    generation = situation.generation
    is_there = bool(situation.based_on)
    return is_there and generation is not None and generation.requirements == plan.text == situation.file.text


def _summary(plan: Plan) -> str:
    counts = [(len(plan.add), "added"), (len(plan.change), "changed"), (len(plan.remove), "removed")]
    return ", ".join(f"{count} {word}" for count, word in counts if count) or "no package changed"
