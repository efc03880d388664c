"""Accounts that may own authenticators, and a time that passes when the test says so."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import Connection, func, select

from host.accounts.account import Account
from host.accounts.changes import insert_account
from host.accounts.factors.authenticators import AUTHENTICATORS
from host.accounts.factors.factors import Factors
from host.accounts.factors.security_keys import NewKey
from host.accounts.seals import Seals
from host.config.accounts import AccountOptions
from host.storage.engine import Database
from tests.factors.software_authenticator import SoftwareAuthenticator

RP_ID = "plugyard.example"
RACERS = 32


class Clock:
    """A present moment that the test moves."""

    def __init__(self) -> None:
        self.moment = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def pass_by(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def seals(clock: Clock) -> Seals:
    return Seals("the secret key of these tests", clock=clock)


@pytest.fixture
def factors_with(seals: Seals, clock: Clock) -> Callable[..., Factors]:
    def make(**options: Any) -> Factors:
        return Factors(options_of(**options), seals, clock)

    return make


@pytest.fixture
def factors(factors_with: Callable[..., Factors]) -> Factors:
    return factors_with()


def options_of(**options: Any) -> AccountOptions:
    """Return the defaults but for these."""
    return AccountOptions.model_validate(options)


def new_account(database: Database, username: str = "ada", **columns: str) -> Account:
    """Write an account without the cost of a password."""
    person = {"username": username, "username_folded": username.casefold(), **columns}
    with database.write() as session:
        return insert_account(session.connection(), person, {}, "a hash that no password fits")


def new_key(
    factors: Factors, account: Account, authenticator: SoftwareAuthenticator, *, passwordless: bool = False
) -> NewKey:
    """Take a key through its registration, up to where it would be stored."""
    options, state = factors.keys.begin_registration(
        account, (), passwordless=passwordless, rp_id=RP_ID, rp_name="Plugyard"
    )
    key = factors.keys.finish_registration(state, authenticator.create(options))
    assert key is not None
    return key


def stored(database: Database, authenticator_id: int) -> dict[str, Any]:
    """Return an authenticator's row."""
    with database.read() as connection:
        row = connection.execute(select(AUTHENTICATORS).where(AUTHENTICATORS.c.id == authenticator_id)).one()
        return dict(row._mapping)


def how_many(database: Database) -> int:
    """Return how many authenticators are stored."""
    with database.read() as connection:
        return int(connection.execute(select(func.count()).select_from(AUTHENTICATORS)).scalar_one())


def race(database: Database, act: Callable[[Connection, int], Any], racers: int = RACERS) -> list[Any]:
    """Let transactions begin at the same time and return what each of them got."""
    barrier = Barrier(racers)

    def run(number: int) -> Any:
        barrier.wait()
        with database.write() as session:
            return act(session.connection(), number)

    with ThreadPoolExecutor(racers) as pool:
        return list(pool.map(run, range(racers)))
