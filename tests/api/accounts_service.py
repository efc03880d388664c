"""The accounts' endpoints without the rest of the host, on any database."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from api import groups, own_account, owners, rulesets, tokens, users
from api.application import assemble
from api.authentication import Authentication
from api.context import Context, Options
from host.accounts.authenticate import Authenticate
from host.accounts.directory import Directory
from host.accounts.groups import Groups
from host.accounts.oauth.bearers import Bearer
from host.accounts.own_account import OwnAccount
from host.accounts.rights import Rights
from host.accounts.sightings import Sightings
from host.accounts.tokens import Tokens
from host.accounts.users import Users
from host.storage.engine import Database
from host.storage.rows import Rows
from host.storage.tables import METADATA
from tests.accounts.conftest import PASSWORD, CountedPasswords
from tests.api.service import FLAGS

MODELS = {"part": "part", "gadget": ""}
ENDPOINTS = [
    *own_account.ENDPOINTS,
    *tokens.ENDPOINTS,
    *users.ENDPOINTS,
    *groups.ENDPOINTS,
    *rulesets.ENDPOINTS,
    *owners.ENDPOINTS,
]
U = "/api/user/"
# Path → method → status for: user, staff, superuser. Anonymous callers always get 401, other methods are 405.
RIGHTS: dict[str, dict[str, tuple[int, int, int]]] = {
    f"{U}me/": {"GET": (200, 200, 200), "PUT": (400, 400, 400), "PATCH": (200, 200, 200)},
    f"{U}me/profile/": {"GET": (200, 200, 200), "PUT": (200, 200, 200), "PATCH": (200, 200, 200)},
    f"{U}me/roles/": {"GET": (200, 200, 200)},
    f"{U}me/token/": {"GET": (200, 200, 200)},
    f"{U}token/": {"GET": (200, 200, 200)},
    f"{U}tokens/": {"GET": (200, 200, 200), "POST": (201, 201, 201)},
    f"{U}tokens/{{id:int}}/": {"GET": (404, 404, 404), "DELETE": (404, 404, 404)},
    U: {"GET": (200, 200, 200), "POST": (403, 403, 400)},
    f"{U}{{id:int}}/": {
        "GET": (404, 404, 404),
        "PUT": (403, 403, 400),
        "PATCH": (403, 403, 404),
        "DELETE": (403, 403, 404),
    },
    f"{U}{{id:int}}/set-password/": {"PUT": (403, 403, 400), "PATCH": (403, 403, 400)},
    f"{U}group/": {"GET": (200, 200, 200), "POST": (403, 403, 400)},
    f"{U}group/{{id:int}}/": {
        "GET": (404, 404, 404),
        "PUT": (403, 403, 400),
        "PATCH": (403, 403, 404),
        "DELETE": (403, 403, 404),
    },
    f"{U}ruleset/": {"GET": (200, 200, 200)},
    f"{U}ruleset/{{id:int}}/": {"GET": (404, 404, 404), "PUT": (403, 403, 404), "PATCH": (403, 403, 404)},
    f"{U}owner/": {"GET": (200, 200, 200)},
    f"{U}owner/{{id:int}}/": {"GET": (404, 404, 404)},
}


class AccountsService:
    """Services and endpoints of accounts, with an account for every kind of caller."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.events: list[tuple[str, dict[str, Any], int | None]] = []
        self.reports: list[tuple[str, str, str]] = []
        passwords = CountedPasswords()
        self.users = Users(database, passwords, emit=self._emit)
        self.groups = Groups(database, emit=self._emit)
        self.tokens = Tokens(database, emit=self._emit)
        self.rights = Rights(database, lambda: MODELS)
        self.sightings = Sightings(database, delay=3600, emit=self._emit)
        self.authenticate = Authenticate(database, passwords, sightings=self.sightings)
        self._app = assemble(self._context(), ENDPOINTS)
        self.pk: dict[str, int] = {}
        self.token: dict[str, str] = {}
        for name, flags in FLAGS.items():
            account = self.users.create(
                {"username": name, "email": f"{name}@example.org"}, password=PASSWORD, flags=flags
            )
            self.pk[name] = account.id
            self.token[name], _ = self.tokens.issue(account.id, "tests")
        self.events.clear()

    def client(self, caller: str) -> TestClient:
        """Return a client: ``anonymous``, ``user``, ``staff`` or ``superuser``."""
        if caller != "anonymous":
            return self.client_with(self.token[caller])
        return TestClient(self._app, raise_server_exceptions=False)

    def client_with(self, token: str) -> TestClient:
        """Return a client of whoever has this token."""
        client = TestClient(self._app, raise_server_exceptions=False)
        client.headers["Authorization"] = f"Token {token}"
        return client

    def rows(self, table: str, *columns: str, **where: Any) -> list[Any]:
        """Return what is stored in some columns, in the order of the rows' keys."""
        found = METADATA.tables[table]
        statement = select(*(found.c[name] for name in columns)).order_by(*found.primary_key.columns)
        for name, value in where.items():
            statement = statement.where(found.c[name] == value)
        with self.database.read() as connection:
            rows = connection.execute(statement).all()
        return [row[0] for row in rows] if len(columns) == 1 else [tuple(row) for row in rows]

    def stored(self, table: str, key: int, column: str) -> Any:
        """Return what one row holds in a column; ``None`` also where there is no such row."""
        return next(iter(self.rows(table, column, id=key)), None)

    def _emit(self, session: Session, name: str, data: Mapping[str, Any], user_id: int | None = None) -> None:
        assert session.in_transaction()
        self.events.append((name, dict(data), user_id))

    def _lent(self, text: str) -> Bearer:
        # The text names the scopes that a superuser has lent.
        return Bearer(user=self.users.get(self.pk["superuser"]).as_user(), scopes=frozenset(text.split("+")))

    def _context(self) -> Context:
        host: Any = SimpleNamespace(
            users=self.users,
            groups=self.groups,
            tokens=self.tokens,
            rights=self.rights,
            directory=Directory(self.database),
            own_account=OwnAccount(self.users, self.rights),
        )
        return Context(
            host=host,
            installs=None,  # type: ignore[arg-type]  # nothing is installed here
            options=Options(),
            rows=Rows(self.database),
            authentication=Authentication(
                by_token=lambda text: self.authenticate.by_token(text).user,
                by_password=lambda name, password, _address: self.authenticate.by_password(name, password).user,
                by_bearer=self._lent,
            ),
            report=lambda *report: self.reports.append(report),
        )
