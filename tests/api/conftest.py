"""An application with demo endpoints, and clients of every kind."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert
from starlette.testclient import TestClient

from api.application import assemble
from api.authentication import Authentication
from api.context import Context, Options
from host.contract.values import User
from host.errors import NotSignedInError
from host.storage.engine import Database
from host.storage.rows import Rows
from tests.api import demo
from tests.api.accounts_service import AccountsService
from tests.api.service import Service, running_service
from tests.databases import make_tables

USERS = {
    "user": User(id=1, username="user"),
    "staff": User(id=2, username="staff", is_staff=True),
    "superuser": User(id=3, username="superuser", is_staff=True, is_superuser=True),
}
ClientOf = Callable[[str], TestClient]


def by_token(text: str) -> User:
    """Accept ``<name>-token``."""
    try:
        return USERS[text.removesuffix("-token")]
    except KeyError:
        raise NotSignedInError("Invalid token.") from None


def by_password(name: str, password: str, _address: str) -> User:
    """Accept the password ``pass:word`` of everyone."""
    if name not in USERS or password != "pass:word":
        raise NotSignedInError("Invalid username/password.")
    return USERS[name]


@pytest.fixture
def demo_url(sqlite_url: str) -> str:
    """Where the demo database is, with its tables; modules replace the fixture."""
    make_tables(sqlite_url, demo.METADATA)
    return sqlite_url


@pytest.fixture
def database(demo_url: str) -> Iterator[Database]:
    """A database with three owners and no shelf."""
    database = Database(demo_url)
    with database.write() as session:
        for user in USERS.values():
            session.connection().execute(insert(demo.OWNERS).values(id=user.id, username=user.username))
    yield database
    database.close()


@pytest.fixture
def reports() -> list[tuple[str, str, str]]:
    """Error reports that were made."""
    return []


@pytest.fixture
def options() -> Options:
    """Settings; tests replace the fixture."""
    return Options(version="1.2.3", origins=frozenset({"https://shop.example.org"}), max_body=200_000)


@pytest.fixture
def context(database: Database, reports: list[Any], options: Options) -> Context:
    """The context of the demo application."""
    return Context(
        host=None,  # type: ignore[arg-type]  # the framework asks nothing of the host
        installs=None,  # type: ignore[arg-type]  # as above
        options=options,
        rows=Rows(database),
        authentication=Authentication(
            by_token=by_token,
            by_password=by_password,
            by_session=lambda key: USERS.get(key.removesuffix("-session")),
        ),
        report=lambda *report: reports.append(report),
    )


@pytest.fixture
def app_with(context: Context, database: Database) -> Callable[..., Any]:
    """Make the demo application with other settings."""
    resource = demo.shelves(database)

    def make(**changes: Any) -> Any:
        return assemble(replace(context, **changes), [*demo.ENDPOINTS, *resource.endpoints])

    return make


@pytest.fixture
def client_of(app_with: Callable[..., Any]) -> Iterator[ClientOf]:
    """Make clients: ``anonymous``, ``user``, ``staff``, ``superuser``."""
    with TestClient(app_with(), raise_server_exceptions=False) as shared:

        def make(caller: str) -> TestClient:
            client = TestClient(shared.app, raise_server_exceptions=False)
            if caller != "anonymous":
                client.headers["Authorization"] = f"Token {caller}-token"
            return client

        yield make


@pytest.fixture
def anonymous(client_of: ClientOf) -> TestClient:
    """Nobody."""
    return client_of("anonymous")


@pytest.fixture
def user(client_of: ClientOf) -> TestClient:
    """A plain user."""
    return client_of("user")


@pytest.fixture
def superuser(client_of: ClientOf) -> TestClient:
    """A superuser."""
    return client_of("superuser")


@pytest.fixture(scope="session")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One whole host for all tests that leave it as they found it, and look only at what they made themselves."""
    with running_service(tmp_path_factory.mktemp("shared") / "home") as service:
        yield service


def basic(name: str, password: str) -> str:
    """Return a header for basic authentication."""
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A host with sample plugins, shared by the tests of a module."""
    with running_service(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture
def fresh_service(tmp_path: Path) -> Iterator[Service]:
    """A host of the test's own; packages come from the folder ``links`` alone."""
    links = tmp_path / "links"
    links.mkdir()
    with running_service(tmp_path / "home", find_links=str(links), index_url=links.as_uri()) as running:
        yield running


@pytest.fixture
def accounts(sqlite_url: str) -> Iterator[AccountsService]:
    """The accounts' endpoints, with accounts of every kind."""
    yield from _accounts_at(sqlite_url)


@pytest.fixture(scope="module")
def shared_accounts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AccountsService]:
    """The same, shared by the tests of a module that change nothing."""
    yield from _accounts_at(f"sqlite:///{tmp_path_factory.mktemp('accounts') / 'plugyard.db'}")


@pytest.fixture
def accounts_on_both(tables_url: str) -> Iterator[AccountsService]:
    """The same, on a database of each kind in turn."""
    yield from _accounts_over(tables_url)


def _accounts_at(url: str) -> Iterator[AccountsService]:
    make_tables(url)
    yield from _accounts_over(url)


def _accounts_over(url: str) -> Iterator[AccountsService]:
    database = Database(url)
    service = AccountsService(database)
    yield service
    database.close()
    assert not service.reports
