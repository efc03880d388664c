"""A running host with records that a module of tests makes, and takes away again."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Table, delete, insert, select
from starlette.testclient import TestClient

from host.contract.values import User
from host.storage.tables import METADATA
from tests.api.service import FLAGS, Service

CALLERS: Final = ("anonymous", *FLAGS)


class Yard:
    """A running host with the records that a module has made, all of which go in the end."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.host = service.host
        self.users: dict[str, User] = {}
        for account in self.host.directory.list()[0]:
            if account.username in FLAGS:
                self.users[account.username] = self.host.users.get(account.id).as_user()
        self._made: list[tuple[Table, str, Any]] = []
        self._last_task = max(self.keys("background_task", "id"), default=0)
        self.mappings: list[int] = []
        """Mappings of an import that nobody has used."""
        self.read_row: dict[str, Any] = {}
        """A row of an import, as it was read."""

    def client(self, caller: str) -> TestClient:
        """Return a client of a caller."""
        return self.service.client(caller)

    def root(self, method: str, path: str, **sent: Any) -> Any:
        """Do something as superuser, and return the answer."""
        answer = self.client("superuser").request(method, path, **sent)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def keys(self, table: str, column: str) -> list[Any]:
        """Return what a column holds."""
        with self.host.database.read() as connection:
            return list(connection.execute(select(METADATA.tables[table].c[column])).scalars())

    def row(self, table: str, column: str, value: Any) -> dict[str, Any] | None:
        """Return one row as it is stored."""
        found = METADATA.tables[table]
        with self.host.database.read() as connection:
            row = connection.execute(select(found).where(found.c[column] == value)).mappings().first()
        return None if row is None else dict(row)

    def insert(self, table: str, column: str, **values: Any) -> Any:
        """Store a row, and return what it has in a column."""
        found = METADATA.tables[table]
        with self.host.database.write() as session:
            key = session.connection().execute(insert(found).values(values).returning(found.c[column])).scalar_one()
        return self.keep(table, column, key)

    def keep(self, table: str, column: str, key: Any) -> Any:
        """Remember a row, which goes in the end, and return its key."""
        self._made.append((METADATA.tables[table], column, key))
        return key

    def close(self) -> None:
        """Delete everything that was made."""
        tasks = METADATA.tables["background_task"]
        imports = [key for table, _, key in self._made if table.name == "import_session"]
        if set(imports) & set(self.keys("import_session", "id")):
            # Their files have to go, too.
            self.root("DELETE", "/api/importer/session/", json={"items": imports})
        with self.host.database.write() as session:
            for table, column, key in reversed(self._made):
                session.connection().execute(delete(table).where(table.c[column] == key))
            session.connection().execute(delete(tasks).where(tasks.c.id > self._last_task))
