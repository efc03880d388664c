"""Exports of one list, with plugins that a test defines, over a real database and real files."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from host import ExportColumn, ExportFormat, ExportPlan, ExportSheet, Json, User, hookimpl
from host.accounts.account import USERS, AccountUser
from host.accounts.users import Users
from host.exporting.exports import TASK, Exports
from host.exporting.making import Needs
from host.exporting.sources import Reading
from host.plugins.exports import ExportPlugins
from host.records.data_outputs import OUTPUTS, DataOutputs
from host.records.notifications import NOTIFICATIONS, Notifications
from host.storage.engine import Database
from host.storage.files import FileStore
from host.tasks.log import TaskLog
from host.tasks.table import TASK as TASKS
from tests.plugins.bench import Bench

ADA = User(id=1, username="ada", is_staff=True)
COLUMNS = (ExportColumn(name="pk", label="ID", type="integer"), ExportColumn(name="owner.name", label="Owner name"))


@dataclass
class Lamps:
    """A list of lamps."""

    batches: Iterable[Sequence[Mapping[str, Any]]] = ([{"pk": 1, "owner": {"name": "Ada"}}], [{"pk": 2, "owner": None}])
    columns: Sequence[ExportColumn] = COLUMNS
    optional: Sequence[str] = ()
    error: Exception | None = None
    opened: list[tuple[User, str]] = field(default_factory=list)
    closed: int = 0
    name: str = "lamps"
    label: str = "lamps"

    def may_read(self, user: User) -> bool:
        """Allow the staff."""
        return user.is_staff

    def open(self, user: User, query: str) -> Reading:
        """Note who reads."""
        self.opened.append((user, query))
        if self.error is not None:
            raise self.error
        total = sum(map(len, self.batches)) if isinstance(self.batches, (list, tuple)) else 0
        return Reading(columns=self.columns, optional=self.optional, total=total, batches=self._read())

    def _read(self) -> Generator[Sequence[Mapping[str, Any]]]:
        try:
            yield from self.batches
        finally:
            self.closed += 1


class LineWriter:
    """Writes a row as a line of JSON."""

    def __init__(self, file: BinaryIO, sheet: ExportSheet) -> None:
        self.file = file
        (sheet.folder / "scrap").write_text("of no use any more")
        self.write([[column.heading for column in sheet.columns]])

    def write(self, rows: Sequence[Sequence[Json]]) -> None:
        """Write some rows."""
        for row in rows:
            self.file.write(json.dumps(row).encode() + b"\n")

    def close(self) -> None:
        """Write an end."""
        self.file.write(b"end\n")


class Lines:
    """Exports as lines of JSON; ``plan`` is what it answers."""

    def __init__(self, plan: Any = None, open_: Any = LineWriter) -> None:
        self.plan = plan
        self.format = ExportFormat(name="lines", label="Lines", ending="jsonl", open=open_)
        self.jobs: list[Any] = []

    @hookimpl
    def export_formats(self):
        return [self.format]

    @hookimpl
    def plan_export(self, job):
        self.jobs.append(job)
        if isinstance(self.plan, Exception):
            raise self.plan
        return self.plan


class Doubling(Lines):
    """Writes every row twice, with names in capitals."""

    @hookimpl
    def export_rows(self, job, rows):
        assert job.format == "lines"
        return [{"who": str(row["owner.name"]).upper(), "pk": row["pk"]} for row in rows for _ in range(2)]


class Workshop:
    """Exports, and what there is to see of them."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database = database
        self.folder = folder / "scratch"
        self.bench = Bench()
        self.files = FileStore(folder / "files")
        self.lamps = Lamps()
        self.log = TaskLog(database, lease=60, scrub=str)
        self.outputs = DataOutputs(database, self.files)
        with database.write() as session:
            session.add(AccountUser(id=ADA.id, username="ada", username_folded="ada", is_staff=True))
        users = Users(database, None)  # type: ignore[arg-type]  # nobody's password is asked for
        self.needs = Needs(
            plugins=ExportPlugins(self.bench, self.bench.calls, self.bench.report),
            outputs=self.outputs,
            files=self.files,
            notifications=Notifications(database),
            find_user=users.user,
            folder=self.folder,
        )
        self.exports = self.make_exports()
        self.load(exporter=Lines())

    def make_exports(self, **changes: Any) -> Exports:
        """Return the service, with other parts of the host."""

        def enqueue(session: Session, name: str, data: Mapping[str, Json]) -> str:
            return self.log.add(session, name, data)

        exports = Exports(self.database, enqueue, replace(self.needs, **changes))
        exports.sources = {"lamps": self.lamps}
        return exports

    def load(self, **plugins: Any) -> None:
        """Make these plugins the active ones."""
        registry = self.bench.load(plugins)
        for key, plugin in plugins.items():
            declared: dict[str, Any] = {
                name: getattr(plugin, name)()
                for name in ("export_formats", "export_options", "export_lists")
                if hasattr(plugin, name)
            }
            registry.plugins[key] = replace(registry.plugins[key], **declared)  # type: ignore[index]  # a dictionary here

    def begin(self, by: User = ADA, plugin: str | None = None) -> int:
        """Begin an export of the lamps."""
        return self.exports.begin("lamps", self.exports.choose("lamps", None, plugin), {"export_a": 1}, "a=1", by=by)

    def run(self, exports: Exports | None = None) -> list[str]:
        """Do what was put off, and return what came of it."""
        with self.database.read() as connection:
            tasks = connection.execute(select(TASKS.c.task_id).order_by(TASKS.c.id)).scalars().all()
        found = []
        for task_id in tasks:
            task = self.log.claim(task_id, "here")
            if task is not None:
                assert task.func == TASK
                found.append((exports or self.exports).make(**task.data))
                self.log.succeeded(task, "")
        return found

    def output(self, key: int) -> Any:
        """Return a data output."""
        with self.database.read() as connection:
            return connection.execute(select(OUTPUTS).where(OUTPUTS.c.id == key)).first()

    def text(self, key: int) -> str:
        """Return the file of a data output."""
        return b"".join(self.files.read(self.output(key).output)).decode()

    def told(self) -> list[tuple[str, str, str]]:
        """Return what Ada was told: name, message, link."""
        columns = (NOTIFICATIONS.c.name, NOTIFICATIONS.c.message, NOTIFICATIONS.c.target_link)
        with self.database.read() as connection:
            return [tuple(row) for row in connection.execute(select(*columns).order_by(NOTIFICATIONS.c.id))]

    def stored(self) -> list[str]:
        """Return the paths of all files."""
        return sorted(info.path for info in self.files.walk())

    def change_ada(self, **values: Any) -> None:
        """Change Ada's account."""
        with self.database.write() as session:
            session.connection().execute(update(USERS).where(USERS.c.id == ADA.id).values(values))


PLAN = ExportPlan(
    columns=[ExportColumn(name="who", label="Who"), ExportColumn(name="pk")], file_name="../../x/<b>\x00 lamps"
)
