"""Data imports, put together: each part is made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from host.accounts.events import Emit
from host.accounts.rights import Rights
from host.contract.values import User
from host.importing.accepting import Accepting
from host.importing.columns import Columns
from host.importing.extracting import Extracting
from host.importing.files import DataFiles, ImportLimits
from host.importing.keeping import Completion
from host.importing.rows import Rows
from host.importing.sessions import Sessions
from host.importing.targets import Targets
from host.plugins.current import Registries
from host.plugins.imports import ImportPlugins
from host.records.notifications import Notifications
from host.records.states import States
from host.storage.engine import Database
from host.storage.files import FileStore
from host.tasks.jobs import Enqueue


def _five() -> int:
    return 5


class Importing:
    """Lets files of rows become records.

    Args:
        database: where the sessions and their rows are.
        files: where their files are.
        plugins: knows what plugins import.
        registries: gives the registry in force.
        states: keeps custom states, which can be imported too.
        rights: knows what accounts may do.
        notifications: tells people what came of their imports.
        enqueue: puts off what takes long.
        emit: tells plugins of completed imports.
        limits: how large files may be.
        find_user: gives an active account by its id.
        days: how long sessions are kept; asked each time.

    """

    def __init__(  # noqa: PLR0913 - each is a part of the host of its own
        self,
        database: Database,
        files: FileStore,
        *,
        plugins: ImportPlugins,
        registries: Registries,
        states: States,
        rights: Rights,
        notifications: Notifications,
        enqueue: Enqueue,
        emit: Emit,
        limits: ImportLimits,
        find_user: Callable[[int], User | None],
        days: Callable[[], int] = _five,
    ) -> None:
        self._database = database
        self._enqueue = enqueue
        self._days = days
        self._find_user = find_user
        self.targets = Targets(plugins, registries, states, rights)
        self.files = DataFiles(database, files, limits)
        self._completion = Completion(notifications, emit, self._label)

    @cached_property
    def sessions(self) -> Sessions:
        """Files on their way to become records."""
        return Sessions(self._database, self.files, self.targets, days=self._days)

    @cached_property
    def columns(self) -> Columns:
        """From which columns fields are taken."""
        return Columns(self._database, self.targets, self._enqueue)

    @cached_property
    def rows(self) -> Rows:
        """The rows of the files."""
        return Rows(self._database, self.targets, self._completion)

    @cached_property
    def extracting(self) -> Extracting:
        """What reads the rows."""
        return Extracting(self._database, self.files, self.targets, self._completion)

    @cached_property
    def accepting(self) -> Accepting:
        """What makes records of them."""
        return Accepting(self._database, self.targets, self._completion, self._enqueue, self._find_user)

    def _label(self, model_type: str) -> str:
        target = self.targets.find(model_type)
        return model_type if target is None else self.targets.label(target)
