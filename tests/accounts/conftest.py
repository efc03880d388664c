"""Accounts on databases of both kinds, with passwords that cost nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import event

from host.accounts.account import Account
from host.accounts.authenticate import Authenticate
from host.accounts.digests import VerifiedPasswords
from host.accounts.groups import Groups
from host.accounts.passwords import Passwords
from host.accounts.sightings import Sightings
from host.accounts.tokens import Tokens
from host.accounts.users import Users
from host.storage.engine import Database

PASSWORD = "correct horse battery"


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


class CountedPasswords(Passwords):
    """Counts full checks."""

    def __init__(
        self, *, time_cost: int = 1, concurrent: int | None = None, patience: float = 15, crowd: int = 16
    ) -> None:
        super().__init__(
            time_cost=time_cost, memory_kib=8, parallelism=1, concurrent=concurrent, patience=patience, crowd=crowd
        )
        self.verified = 0

    def _verify(self, password_hash: str, password: str) -> bool:
        self.verified += 1
        return super()._verify(password_hash, password)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def passwords() -> CountedPasswords:
    return CountedPasswords()


@pytest.fixture
def users(database: Database, passwords: Passwords) -> Users:
    return Users(database, passwords, username_blacklist=["Root"])


@pytest.fixture
def groups(database: Database) -> Groups:
    return Groups(database)


@pytest.fixture
def tokens(database: Database) -> Tokens:
    return Tokens(database)


@pytest.fixture
def sightings(database: Database) -> Iterator[Sightings]:
    sightings = Sightings(database, delay=3600)
    yield sightings
    sightings.flush()


@pytest.fixture
def authenticate(database: Database, passwords: Passwords, clock: Clock, sightings: Sightings) -> Authenticate:
    return Authenticate(database, passwords, verified=VerifiedPasswords(clock=clock), sightings=sightings)


@pytest.fixture
def new_user(users: Users) -> Callable[..., Account]:
    def make(username: str = "ada", *, password: str | None = PASSWORD, email: str = "", **flags: bool) -> Account:
        return users.create({"username": username, "email": email}, password=password, flags=flags)

    return make


@pytest.fixture
def statements(database: Database) -> Callable[[], object]:
    """Give a context that collects the SQL run within it."""

    @contextmanager
    def collect() -> Iterator[list[str]]:
        seen: list[str] = []

        def note(_connection, _cursor, statement, *_rest) -> None:
            if not statement.startswith("BEGIN"):
                seen.append(statement)

        event.listen(database.engine, "before_cursor_execute", note)
        try:
            yield seen
        finally:
            event.remove(database.engine, "before_cursor_execute", note)

    return collect
