"""Imports over a database, with one plugin whose shelves can be imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sqlalchemy import select
from sqlmodel import Field, SQLModel

from host import ImportField, ImportRecord, ImportTarget, table_base
from host.accounts.account import AccountUser
from host.accounts.rights import Rights
from host.contract.models import ModelType
from host.contract.progress import PROGRESS
from host.contract.values import User
from host.importing.files import DataFile, ImportLimits
from host.importing.service import Importing
from host.importing.tables import ROWS, SESSIONS
from host.plugins.calls import Calls
from host.plugins.imports import ImportPlugins
from host.plugins.transactions import transaction
from host.records.content_types import ContentTypes
from host.records.notifications import NOTIFICATIONS, Notifications
from host.records.states import States
from host.storage.engine import Database
from host.storage.files import FileStore
from tests.records.registries import FixedRegistry, loaded, registry_of

Base: Any = table_base()
ANN = User(id=1, username="ann", is_superuser=True)


class Shelf(Base, table=True):  # type: ignore[call-arg, misc]  # the base is made by a call
    """Where things lie."""

    __tablename__ = "bench_shelf"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(max_length=50, unique=True)
    room: str = ""
    width: int | None = None
    above_id: int | None = None


class Killed(BaseException):
    """Ends a task as a killed process would."""


class ImportBench:
    """The services, the plugin's functions, and what has happened."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database = database
        self.store = FileStore(folder)
        self.tasks: list[tuple[str, dict[str, Any]]] = []
        self.events: list[tuple[str, Any]] = []
        self.reports: list[tuple[str, str]] = []
        self.wrong: dict[str, str] = {}
        """Name of a shelf → what the plugin has against it."""
        self.failure: Exception | None = None
        self.while_saving: Callable[[], object] = lambda: None
        self.gone: set[int] = set()
        """Accounts that were switched off."""
        Shelf.metadata.create_all(database.engine)
        with database.write() as session:
            email = "ann@example.org"
            session.add(AccountUser(id=1, username="ann", username_folded="ann", email=email, is_superuser=True))
        self.registries = FixedRegistry(registry_of(self._plugin()))
        calls = Calls(lambda path, info, _data: self.reports.append((path, info)), {"default": 5.0})
        self.importing = Importing(
            database,
            self.store,
            plugins=ImportPlugins(self.registries, calls, database),
            registries=self.registries,
            states=States(database, self.registries, ContentTypes(database, self.registries)),
            rights=Rights(database, lambda: {"shelf": "stock_location"}),
            notifications=Notifications(database),
            enqueue=self._enqueue,
            emit=lambda _session, name, data, _user=None: self.events.append((name, dict(data))),
            limits=ImportLimits(rows=lambda: 3000),
            find_user=self._find_user,
        )

    def _find_user(self, key: int) -> User | None:
        return ANN if key == ANN.id and key not in self.gone else None

    # -- what the plugin does -------------------------------------------------------------------------------------

    def _plugin(self) -> Any:
        target = ImportTarget(
            model_type="shelf",
            fields=[
                ImportField(name="name", required=True, max_length=50, help_text="Inscription"),
                ImportField(name="room", default="Hall"),
                ImportField(name="width", type="integer", minimum=1, null=True),
                ImportField(
                    name="above", type="related field", null=True, model="shelf", lookup_fields=("name", "room")
                ),
            ],
            save=self.save,
            validate=self.validate,
            lookup=self.lookup,
        )
        types = [ModelType(name="shelf", label="Shelf", role="stock_location")]
        return replace(loaded("shelves", model_types=types), import_targets=[target])

    def validate(self, records: Sequence[ImportRecord]) -> list[dict[str, list[str]]]:
        if self.failure is not None:
            raise self.failure
        names = [one.values.get("name") for one in records]
        return [{"name": [self.wrong[name]]} if name in self.wrong else {} for name in names]

    def lookup(self, field: str, by: str, texts: Sequence[str], filters: Mapping[str, Any]) -> dict[str, list[int]]:
        assert field == "above"
        columns = Shelf.__table__.c
        wanted = [int(text) for text in texts] if by == "id" else list(texts)
        statement = select(columns[by], columns.id).where(columns[by].in_(wanted))
        for name, value in filters.items():
            statement = statement.where(columns[name] == value)
        found: dict[str, list[int]] = {}
        with self.database.read() as connection:
            for value, key in connection.execute(statement):
                found.setdefault(str(value), []).append(key)
        return found

    def save(self, records: Sequence[ImportRecord]) -> list[int]:
        self.while_saving()
        saved: list[SQLModel] = []
        with transaction(self.database, "shelves") as session:
            for one in records:
                values = {"above_id" if name == "above" else name: value for name, value in one.values.items()}
                row: Any = Shelf() if one.id is None else session.get(Shelf, one.id)
                session.add(row.sqlmodel_update(values))
                saved.append(row)
            session.flush()
            return [row.id for row in saved]  # type: ignore[attr-defined]

    # -- what the test does ---------------------------------------------------------------------------------------

    def begin(self, text: str, name: str = "shelves.csv", **values: Any) -> int:
        """Begin a session with a file."""
        file = DataFile(name, BytesIO(text.encode()))
        return self.importing.sessions.create({"model_type": "shelf", "data_file": file, **values}, by=ANN)

    def read(self, text: str, **values: Any) -> int:
        """Begin a session, and read its rows."""
        key = self.begin(text, **values)
        self.importing.columns.accept(key, by=ANN)
        self.work()
        return key

    def work(self, *, killed_after: int | None = None) -> list[str]:
        """Run the tasks that were put off; killed ones stay, as in the queue."""
        done = []

        def note(progress: int, _total: int) -> None:
            if killed_after is not None and progress >= killed_after:
                raise Killed

        token = PROGRESS.set(note)
        try:
            while self.tasks:
                name, data = self.tasks[0]
                work: Any = {
                    "importing.read_rows": self.importing.extracting.read,
                    "importing.accept_rows": self.importing.accepting.all,
                }[name]
                done.append(work(**data))
                self.tasks.pop(0)
        finally:
            PROGRESS.reset(token)
        return done

    def session(self, key: int) -> Any:
        """Return a session as it is stored."""
        with self.database.read() as connection:
            row = connection.execute(select(SESSIONS).where(SESSIONS.c.id == key)).mappings().one()
        return SimpleNamespace(**row)

    def rows(self, key: int) -> list[Any]:
        """Return the rows of a session in their order."""
        statement = select(ROWS).where(ROWS.c.session_id == key).order_by(ROWS.c.row_index)
        with self.database.read() as connection:
            return [SimpleNamespace(**row) for row in connection.execute(statement).mappings()]

    def shelves(self) -> list[tuple[Any, ...]]:
        """Return name, room and width of every shelf."""
        columns = Shelf.__table__.c
        with self.database.read() as connection:
            rows = connection.execute(select(columns.name, columns.room, columns.width).order_by(columns.id))
            return [tuple(row) for row in rows]

    def told(self) -> list[str]:
        """Return what Ann was told."""
        with self.database.read() as connection:
            return list(connection.execute(select(NOTIFICATIONS.c.name).order_by(NOTIFICATIONS.c.id)).scalars())

    def _enqueue(self, session: Any, name: str, data: Mapping[str, Any]) -> str:
        assert session.in_transaction()
        self.tasks.append((name, dict(data)))
        return f"task{len(self.tasks)}"

    def drop(self) -> None:
        """Remove the plugin's table."""
        Shelf.metadata.drop_all(self.database.engine)
