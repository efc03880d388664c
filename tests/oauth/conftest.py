"""An authorization server behind a small application, with people, clients and a clock that can be moved."""

from __future__ import annotations

import base64
import hashlib
import html
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from sqlalchemy import select, update
from starlette.testclient import TestClient

from api.answers import Json
from api.application import assemble
from api.authentication import Authentication
from api.context import Context, Options
from api.endpoint import Endpoint
from api.oauth import authorize, clients, tokens
from api.operations import Operation
from api.request import ApiRequest
from host.accounts.account import USERS
from host.accounts.oauth.server import OAuth
from host.accounts.oauth.tables import CODES, GRANTS, TOKENS
from host.accounts.passwords import Passwords
from host.accounts.users import Users
from host.contract.values import User
from host.errors import NotSignedInError
from host.storage.engine import Database
from host.storage.rows import Rows
from tests.databases import make_tables

CALLBACK = "https://app.example.org/callback"
VERIFIER = "v" * 50
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
CSRF = "c" * 32
FLAGS: dict[str, dict[str, bool]] = {
    "ada": {},
    "sam": {"is_staff": True},
    "root": {"is_staff": True, "is_superuser": True},
}


def _who(request: ApiRequest) -> Json:
    user = request.user
    flags = None if user is None else [user.is_staff, user.is_superuser]
    return Json({"user": user and user.username, "flags": flags, "scheme": request.scheme})


def _endpoint(path: str, **access: Any) -> Endpoint:
    methods = ("GET", "POST", "PATCH", "DELETE")
    operations = {
        method: Operation(id=f"{path}{method}", summary="Say who", access=access.get(method, "user"), handler=_who)
        for method in methods
    }
    return Endpoint(path, name="Who", tag="Demo", operations=operations)


DEMO = (
    _endpoint("/api/who/"),
    _endpoint("/api/open/", GET="anyone"),
    _endpoint("/api/staff/", GET="staff", POST="superuser"),
    _endpoint("/api/plugins/{key}/"),
    *(_endpoint(f"/api/settings/{path}/") for path in ("global", "global/LOGIN_ENABLE_REG", "user/SHOW_SPOTLIGHT")),
    *(_endpoint(path) for path in ("/api/user/token/", "/api/user/tokens/", "/api/user/me/", "/api/user/me/profile/")),
)


class World:
    """Everything that a test talks to."""

    def __init__(self, database: Database, portal: BlockingPortal) -> None:
        self.database = database
        self._portal = portal
        self.moment = datetime(2026, 5, 1, 12, tzinfo=UTC)
        self.events: list[tuple[str, Any, int | None]] = []
        self.oauth = OAuth(database, self._emit, clock=lambda: self.moment)
        with database.read() as connection:
            columns = [USERS.c[name] for name in ("id", "username", "email", "is_staff", "is_superuser")]
            self.users = {row.username: User(**row._asdict()) for row in connection.execute(select(*columns))}
        self.config = SimpleNamespace(
            instance="Plugyard",
            site_url="",
            headless_frontend_urls={},
            session_cookie_secure="auto",
            session_cookie_samesite="lax",
        )
        self.context = self._context()
        self.app = assemble(self.context, [*DEMO, *clients.ENDPOINTS], others=(*authorize.PATHS, *tokens.PATHS))

    def _context(self) -> Context:
        return Context(
            host=SimpleNamespace(  # type: ignore[arg-type]  # all that is asked
                oauth=self.oauth, config=self.config, instance=self.config.instance
            ),
            options=Options(),
            rows=Rows(self.database),
            authentication=Authentication(
                by_token=self._named,
                by_password=lambda name, _password, _address: self._named(name),
                by_session=lambda key: self.users.get(key.removesuffix("-session")),
                by_bearer=self.oauth.bearers.find,
            ),
            report=lambda *report: pytest.fail(f"an error was reported: {report}"),
            installs=None,  # type: ignore[arg-type]  # nothing is installed here
        )

    def _named(self, name: str) -> User:
        if name not in self.users:
            raise NotSignedInError("unknown")
        return self.users[name]

    def _emit(self, session: Any, name: str, data: Any, user_id: int | None = None) -> None:
        assert session.in_transaction()
        self.events.append((name, data, user_id))

    @property
    def event_names(self) -> list[str]:
        return [name for name, _, _ in self.events]

    def wait(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)

    def browser(self, name: str | None = "ada") -> TestClient:
        """Return a client without credentials, or with the session of somebody."""
        client = self._client()
        client.cookies.set("csrftoken", CSRF)
        if name is not None:
            client.cookies.set("sessionid", f"{name}-session")
        return client

    def caller(self, access_token: str) -> TestClient:
        return self._client(f"Bearer {access_token}")

    def program(self, name: str) -> TestClient:
        """Return a client with a token of somebody; nobody's when the name is empty."""
        return self._client(f"Token {name}" if name else "")

    def _client(self, authorization: str = "") -> TestClient:
        headers = {"Authorization": authorization} if authorization else {}
        client = TestClient(self.app, headers=headers, follow_redirects=False)
        client.portal = self._portal  # one event loop for all: to start one takes longer than to answer
        return client

    def switch_off(self, name: str) -> None:
        self.set_user(name, is_active=False)

    def set_user(self, name: str, **values: bool) -> None:
        with self.database.write() as session:
            session.connection().execute(update(USERS).where(USERS.c.id == self.users[name].id).values(values))

    def client(self, owner: str | None = "root", **values: Any) -> tuple[str, str]:
        """Register a client; return its identifier and its secret, which is empty for a public one."""
        given: dict[str, Any] = {"redirect_uris": [CALLBACK], "scopes": ["read", "write", "plugins", "staff"]} | values
        owner_id = None if owner is None else self.users[owner].id
        record, secret = self.oauth.clients.create("Shelf app", owner_id=owner_id, **given)
        return record.client_id, secret or ""

    def rows(self, table: Any) -> list[Any]:
        with self.database.read() as connection:
            return list(connection.execute(select(table).order_by(table.c.id)))

    @property
    def stored(self) -> tuple[int, int, int]:
        """How many live grants, unused codes and live access tokens there are."""
        alive = {row.id for row in self.rows(GRANTS) if row.revoked is None}
        codes = [row for row in self.rows(CODES) if row.used is None and row.grant_id in alive]
        found = [row for row in self.rows(TOKENS) if row.revoked is None and row.grant_id in alive]
        return len(alive), len(codes), len(found)

    def request(self, client_id: str, /, **changes: str | None) -> dict[str, str]:
        """Return the parameters of a request for a code."""
        parameters: dict[str, str | None] = {
            "response_type": "code",
            "client_id": client_id,
            "redirect_uri": CALLBACK,
            "scope": "read",
            "state": "xyz",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
        }
        return {name: value for name, value in (parameters | changes).items() if value is not None}

    def code(self, client_id: str, /, name: str = "ada", **changes: str | None) -> str:
        """Let somebody allow a client, and return the code."""
        answer = self.oauth.decide(
            self.request(client_id, **changes).items(), self.users[name], "https://host.example", allowed=True
        )
        assert answer.location is not None
        return parse_qs(urlsplit(answer.location).query)["code"][0]

    def token(self, **form: str) -> Any:
        """Ask for tokens."""
        return self.browser(None).post("/o/token/", data=form)

    def redeem(self, client: tuple[str, str], code: str, /, **changes: str) -> Any:
        """Exchange a code for tokens."""
        client_id, secret = client
        form = {
            "grant_type": "authorization_code",
            "client_id": client_id,
            "code": code,
            "redirect_uri": CALLBACK,
            "code_verifier": VERIFIER,
        }
        return self.token(**form | ({"client_secret": secret} if secret else {}) | changes)

    def refresh(self, client: tuple[str, str], refresh_token: str, **more: str) -> Any:
        """Exchange a refresh token."""
        client_id, secret = client
        form = {"grant_type": "refresh_token", "client_id": client_id, "refresh_token": refresh_token, **more}
        return self.token(**form | ({"client_secret": secret} if secret else {}))

    def tokens(self, client: tuple[str, str], name: str = "ada", **changes: str | None) -> dict[str, Any]:
        """Go the whole way from consent to tokens."""
        response = self.redeem(client, self.code(client[0], name, **changes))
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer


def form_of(page: str) -> dict[str, str]:
    """Return the hidden members of the form on a page."""
    found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', page)
    return {html.unescape(name): html.unescape(value) for name, value in found}


def query_of(response: Any) -> dict[str, str]:
    """Return the parameters with which a browser is sent back to a client."""
    query = parse_qs(urlsplit(response.headers["location"]).query, strict_parsing=True)
    assert all(len(values) == 1 for values in query.values())
    return {name: values[0] for name, values in query.items()}


def add_people(database: Database) -> None:
    """Make the accounts."""
    users = Users(database, Passwords(time_cost=1, memory_kib=32, parallelism=1))
    for name, flags in FLAGS.items():
        users.create({"username": name, "email": f"{name}@example.org"}, password=None, flags=flags)


@pytest.fixture(scope="session")
def peopled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give an SQLite database with all tables and the accounts, to be copied."""
    path = tmp_path_factory.mktemp("oauth") / "plugyard.db"
    make_tables(f"sqlite:///{path}")
    database = Database(f"sqlite:///{path}")
    add_people(database)
    database.close()
    return path


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    """Give an event loop in a thread of its own."""
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture
def world(peopled: Path, sqlite_url: str, tmp_path: Path, open_database, portal) -> World:
    """Give a world of the test's own, on SQLite."""
    shutil.copy(peopled, tmp_path / "plugyard.db")
    return World(open_database(sqlite_url), portal)


@pytest.fixture
def each_world(database: Database, portal) -> World:
    """Give a world on each kind of database in turn."""
    add_people(database)
    return World(database, portal)
