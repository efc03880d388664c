"""The endpoints of error reports, news and data outputs without the rest of the host, on any database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from sqlalchemy import insert, select, update
from starlette.testclient import TestClient

from api import data_output, error_report, news
from api.application import assemble
from api.authentication import Authentication
from api.context import Context, Options
from host.accounts.account import AccountUser
from host.contract.values import User
from host.records.data_outputs import OUTPUTS, DataOutputs, OutputType
from host.records.errors import ErrorReports
from host.records.news.news import News
from host.records.news.table import ENTRIES
from host.storage.engine import Database
from host.storage.files import FileStore
from host.storage.rows import Rows
from host.storage.tables import METADATA
from tests.api.service import FLAGS

ERRORS: Final = "/api/error-report/"
NEWS: Final = "/api/news/"
OUTPUTS_PATH: Final = "/api/data-output/"
START: Final = datetime(2030, 5, 1, 12, tzinfo=UTC)


class KeptRecords:
    """Services and endpoints of the three records, and clients of every kind of caller."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database = database
        self.files = FileStore(folder)
        self.reports: list[tuple[str, str, str]] = []
        self.users: dict[str, User] = {}
        for number, (name, flags) in enumerate(FLAGS.items(), 1):
            is_staff, is_superuser = flags.get("is_staff", False), flags.get("is_superuser", False)
            self.users[name] = User(id=number, username=name, is_staff=is_staff, is_superuser=is_superuser)
        with database.write() as session:
            for name, user in self.users.items():
                email = f"{name}@example.org"
                session.add(AccountUser(id=user.id, username=name, username_folded=name, email=email))
        self.records = SimpleNamespace(
            error_reports=ErrorReports(database),
            data_outputs=DataOutputs(database, self.files),
            news=News(database, url="", report=lambda *_: None),
        )
        self._app = assemble(
            Context(
                host=SimpleNamespace(records=self.records),  # type: ignore[arg-type]  # the endpoints ask for no more
                installs=None,  # type: ignore[arg-type]  # nothing is installed here
                options=Options(),
                rows=Rows(database),
                authentication=Authentication(
                    by_token=lambda text: self.users[text],
                    by_password=lambda name, _password, _address: self.users[name],
                ),
                report=lambda *report: self.reports.append(report),
            ),
            [*error_report.ENDPOINTS, *news.ENDPOINTS, *data_output.ENDPOINTS],
        )

    def client(self, caller: str) -> TestClient:
        """Return a client: ``anonymous``, ``user``, ``staff`` or ``superuser``."""
        client = TestClient(self._app, raise_server_exceptions=False)
        if caller != "anonymous":
            client.headers["Authorization"] = f"Token {caller}"
        return client

    def keys(self, table: str) -> list[int]:
        """Return the keys of a table's rows, in their order."""
        key = METADATA.tables[table].c.id
        with self.database.read() as connection:
            return list(connection.execute(select(key).order_by(key)).scalars())

    def add_error(self, path: str, info: str, data: str = "") -> None:
        """Keep an error report."""
        self.records.error_reports.record(path, info, data)
        self.records.error_reports.flush()

    def add_news(self, name: str, **members: Any) -> int:
        """Keep a piece of news."""
        with self.database.write() as session:
            row = {"feed_id": name, "title": name.title(), "link": f"https://a.example/{name}", "author": "Ada",
                   "summary": f"About {name}", "published": START, "read": False} | members  # fmt: skip
            return int(session.connection().execute(insert(ENTRIES).values(row).returning(ENTRIES.c.id)).scalar_one())

    def add_output(self, caller: str | None, name: str, *, days: int = 0, plugin: str | None = None) -> int:
        """Make a complete data output with a file."""
        path = f"data_output/{name}"
        self.files.save(path, BytesIO(b"a"))
        outputs = self.records.data_outputs
        user = None if caller is None else self.users[caller]
        key = int(outputs.begin(user, OutputType.EXPORT, plugin=plugin, template_name="states"))
        outputs.complete(key, path)
        with self.database.write() as session:
            day = START.date() - timedelta(days=days)
            session.connection().execute(update(OUTPUTS).where(OUTPUTS.c.id == key).values(created=day))
        return key

    def close(self) -> None:
        """Stop what works in the background."""
        self.records.error_reports.stop()
