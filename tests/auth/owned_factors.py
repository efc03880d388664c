"""Accounts with second factors, and what they prove by them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import Any

import pyotp
from sqlalchemy import Row, select

from host.accounts.account import Account
from host.accounts.factors.authenticators import AUTHENTICATORS
from host.accounts.sessions.state import Caller
from host.accounts.sessions.table import PENDING, SESSIONS
from host.accounts.sessions.visit import Visit
from host.mail.log import MAIL
from tests.auth.clients import Answer, App, Browser
from tests.auth.server import PASSWORD, AuthServer
from tests.factors.software_authenticator import ORIGIN, SoftwareAuthenticator

WRONG = "000000"
WRONG_ANSWERS: list[tuple[object, str]] = [
    (None, "required"),
    ({}, "required"),
    ("", "required"),
    ("nonsense", "invalid"),
    ([1], "invalid"),
    (7, "invalid"),
    ({"id": "x"}, "incorrect_code"),
    ({"id": "\x00"}, "incorrect_code"),
    ({"id": ["x"]}, "incorrect_code"),
    ({"id": "x" * 5000, "response": 5}, "incorrect_code"),
    ('{"id": "\\ud800"}', "incorrect_code"),
]
"""What is no answer of a key, with the code of its refusal."""
_PERIOD, _LATE = 30, 20
_NUMBERS = itertools.count()


@dataclass(kw_only=True)
class Owner:
    """An account of a test's own, and the devices of the person."""

    server: AuthServer
    account: Account
    device: SoftwareAuthenticator = field(default_factory=SoftwareAuthenticator)
    secret: str = ""
    codes: list[str] = field(default_factory=list)

    @property
    def id(self) -> int:
        """The account's id."""
        return self.account.id

    @property
    def name(self) -> str:
        """The account's name."""
        return self.account.username

    @property
    def email(self) -> str:
        """The account's address."""
        return self.account.email

    def code(self, secret: str = "", *, digits: int = 6) -> str:
        """Return what the app shows now; it goes on showing it while the test goes on."""
        clock = self.server.clock
        late = clock().timestamp() % _PERIOD
        if late > _LATE:
            clock.forward(_PERIOD + 1 - late)
        return pyotp.TOTP(secret or self.secret, digits=digits).at(clock())

    def next_code(self) -> str:
        """Return what the app shows next, once it does."""
        self.server.clock.forward(_PERIOD)
        return self.code()

    def sign_in(self, client: Browser | App) -> Answer:
        """Sign in by password, as far as that goes."""
        return client.login(self.name, PASSWORD)

    def factors(self) -> list[Row[Any]]:
        """Return the authenticators as they are stored."""
        mine = select(AUTHENTICATORS).where(AUTHENTICATORS.c.user_id == self.id)
        return self.server.rows(mine.order_by(AUTHENTICATORS.c.id))

    def kinds(self) -> list[str]:
        """Return the kinds of the authenticators that are stored."""
        return [row.type for row in self.factors()]

    def steps(self) -> list[list[str]]:
        """Return the steps of each session that is stored."""
        rows = self.server.rows(select(SESSIONS.c.methods).where(SESSIONS.c.user_id == self.id).order_by(SESSIONS.c.id))
        return [[step["method"] for step in row.methods] for row in rows]

    def waits(self) -> list[str]:
        """Return the stages at which logins wait."""
        return [row.stage for row in self.server.rows(select(PENDING.c.stage).where(PENDING.c.user_id == self.id))]

    def mails(self) -> list[str]:
        """Return the templates of the mails to the account."""
        mine = select(MAIL.c.template).where(MAIL.c.to == self.email).order_by(MAIL.c.timestamp)
        return [row.template for row in self.server.rows(mine)]


def new_owner(
    server: AuthServer,
    *,
    totp: bool = False,
    codes: bool = False,
    key: bool = False,
    passkey: bool = False,
    email: bool = False,
    password: str | None = PASSWORD,
) -> Owner:
    """Make an account that owns some factors; ``email`` gives it a verified address."""
    name = f"owner{next(_NUMBERS)}"
    values = {"username": name, "email": f"{name}@example.org" if email else ""}
    account = server.host.users.create(values, password=password, check_rules=False, verified=True)
    owner = Owner(server=server, account=account)
    factors = server.host.sign_in.factors
    with server.host.database.write() as session:
        connection = session.connection()
        if totp:
            owner.secret = factors.totp.new_secret()
            factors.add_totp(connection, owner.id, owner.secret)
        for passwordless in [False] * key + [True] * passkey:
            add_key(server, connection, owner, passwordless=passwordless)
        if codes:
            made = factors.ensure_recovery_codes(connection, owner.id)
            assert made
            owner.codes = factors.show(made, with_codes=True)["unused_codes"]
    return owner


def add_key(server: AuthServer, connection: Any, owner: Owner, *, passwordless: bool = False) -> int:
    """Give an account a key of its device."""
    factors = server.host.sign_in.factors
    options, state = factors.keys.begin_registration(
        owner.account,
        (),
        passwordless=passwordless,
        rp_id=ORIGIN.removeprefix("https://"),
        rp_name="Plugyard",
    )
    made = factors.keys.finish_registration(state, owner.device.create(options))
    assert made
    added = factors.add_key(connection, owner.id, made)
    assert added
    return added.id


def heard(server: AuthServer, **caller: Any) -> tuple[Visit, list[tuple[str, Any, int | None]]]:
    """Return a view of a new session whose events are kept in the list."""
    told: list[tuple[str, Any, int | None]] = []
    area = replace(server.host.sign_in.area, emit=lambda _session, *event: told.append(event))
    return Visit(area, Caller(address="192.0.2.1", user_agent="test", origin=ORIGIN, **caller)), told
