"""Whatever order the operations of a login come in: nobody gets in without every proof that their account asks for."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pyotp
import pytest
from sqlalchemy import update

from host.accounts.account import Account
from host.accounts.area import Area
from host.accounts.emails.table import EMAILS
from host.accounts.limits import Limits
from host.accounts.services import SignIn
from host.accounts.sessions.state import Caller, Client
from host.accounts.sessions.visit import Visit
from host.config import Config
from host.errors import HostError
from host.server import Host
from tests.auth.server import Clock

SEQUENCES = int(os.environ.get("PLUGYARD_TEST_SEQUENCES", "180"))
STEPS = 9
PASSWORD = "correct horse battery"
OPTIONS = {
    "plain": {},
    "mandatory": {"account_email_verification": "mandatory", "account_email_verification_by_code_enabled": "true"},
    "code at every login": {"account_login_by_code_required": "true"},
    "everything": {
        "account_email_verification": "mandatory",
        "account_email_verification_by_code_enabled": "true",
        "account_login_by_code_required": "true",
    },
    "no trust": {"mfa_trust_enabled": "false"},
    "a reset signs in": {"account_login_on_password_reset": "true", "account_logout_on_password_change": "false"},
}


@dataclass
class Person:
    """An account, and what only its owner knows."""

    account: Account
    verified: bool
    secret: str = ""
    active: bool = True
    codes: dict[str, str] = field(default_factory=dict)
    """What was mailed last, by the mail's kind."""

    @property
    def email(self) -> str:
        return self.account.email


class World:
    """A host's sign-in without sockets: mail goes into a dictionary, time is moved by hand."""

    def __init__(self, sign_in: SignIn, area: Area, clock: Clock) -> None:
        self.area = area
        self.clock = clock
        self.people: list[Person] = []
        self.sign_in = sign_in
        self.mails: dict[tuple[str, str], str] = {}

    def add(self, name: str, *, verified: bool, factor: bool = False, active: bool = True) -> None:
        values = {"username": name, "email": f"{name}@example.org"}
        account = self.area.users.create(
            values, password=PASSWORD, flags={"is_active": active}, check_rules=False, verified=verified
        )
        person = Person(account, verified, active=active)
        if factor:
            factors = self.sign_in.factors
            person.secret = factors.totp.new_secret()
            with self.area.database.write() as session:
                factors.add_totp(session.connection(), account.id, person.secret)
        self.people.append(person)

    def restore(self, person: Person) -> None:
        """Undo what a sequence may have proved of an address."""
        with self.area.database.write() as session:
            mine = EMAILS.c.user_id == person.account.id
            session.connection().execute(update(EMAILS).where(mine).values(verified=person.verified))


class Sequence:
    """One browser or app that does anything in any order, and a book of what it has really proved since it began."""

    def __init__(self, world: World, chance: random.Random, options: Config) -> None:
        self.world = world
        self.chance = chance
        self.options = options
        self.client = chance.choice(list(Client))
        self.key = ""
        self.trust = ""
        self.proved: set[str] = set()
        self.whose: Person | None = None
        self.trusted: set[int] = set()
        self.addresses: set[int] = set()
        """Accounts whose address this client has proved; that outlasts a login."""
        self.done: list[str] = []

    def run(self) -> None:
        before: Account | None = None
        for _ in range(STEPS):
            name = self.chance.choice(list(STEPS_OF))
            self.done.append(name)
            with suppress(HostError):
                STEPS_OF[name](self)
            after = self._account()
            if after is not None and before is None:
                self._check(after)
            before = after

    def visit(self) -> Visit:
        caller = Caller(client=self.client, key=self.key, address="203.0.113.9", trust=self.trust, origin="http://x")
        try:
            return self.world.sign_in.sessions.visit(caller)
        except HostError:
            self.key = ""
            return self.world.sign_in.sessions.visit(replace(caller, key=""))

    def act(self, do: Callable[[Visit], object]) -> None:
        """Do something in a request of its own, and keep the key as a client would."""
        visit = self.visit()
        try:
            do(visit)
        finally:
            self.key = visit.new_key or ("" if visit.is_over else self.key)
            self.trust = visit.new_trust or self.trust

    def _account(self) -> Account | None:
        return self.visit().account

    def _check(self, account: Account) -> None:
        person, story = self.whose, f"{self.client}: {self.done}, proved {self.proved}"
        assert person is not None, story
        assert person.account.id == account.id, story
        assert person.active, story
        assert self.proved & {"password", "code", "reset"}, story
        if self.options.account_login_by_code_required:
            assert "code" in self.proved, story
        if self.options.account_email_verification == "mandatory":
            assert person.verified or person.account.id in self.addresses, story
        if person.secret:
            assert "factor" in self.proved or person.account.id in self.trusted, story
            if "factor" in self.proved and self.client is Client.BROWSER and self.options.mfa_trust_enabled:
                assert "trust" in self.proved, story

    # -- what a client may do ---------------------------------------------------------------------------------------

    def begin(self, person: Person, proof: str) -> None:
        self.whose, self.proved = person, {proof} if proof else set()

    def log_in(self) -> None:
        person = self.chance.choice(self.world.people)
        right = self.chance.random() < 0.7
        values = {"username": person.account.username, "password": PASSWORD if right else "not the password"}
        self.act(lambda visit: self.world.sign_in.password_login.sign_in(visit, values))
        self.begin(person, "password")  # a wrong password has raised

    def ask_for_code(self) -> None:
        person = self.chance.choice(self.world.people)
        was_signed_in = self._account() is not None
        self.act(lambda visit: self.world.sign_in.code_login.request(visit, {"email": person.email}))
        if not was_signed_in:
            self.begin(person, "")

    def confirm_code(self) -> None:
        self.prove_by_mail("login_code", "code", self.world.sign_in.code_login.confirm)

    def verify_email(self) -> None:
        self.prove_by_mail("email_verification", "email", self.world.sign_in.email_verification.verify)

    def prove_by_mail(self, template: str, proof: str, use: Callable[[Visit, str], object]) -> None:
        mailed = self.world.mails.get((template, self.whose.email)) if self.whose else None
        code = mailed if mailed and self.chance.random() < 0.8 else "BCDF-GHJK"
        self.act(lambda visit: use(visit, code))
        if self.whose and code == mailed:  # a wrong one has raised
            self.proved.add(proof)
            self.addresses.add(self.whose.account.id)

    def use_factor(self) -> None:
        person = self.whose
        self.world.clock.forward(30)
        right = person is not None and person.secret and self.chance.random() < 0.7
        owner = person if right else self.chance.choice(self.world.people)
        secret = owner.secret if owner and owner.secret and right else pyotp.random_base32()
        code = pyotp.TOTP(secret).at(self.world.clock())
        self.act(lambda visit: self.world.sign_in.second_factors.sign_in_by_code(visit, code))
        self.proved.add("factor")

    def decide_trust(self) -> None:
        trusted = self.chance.random() < 0.5
        before = self.trust
        self.act(lambda visit: self.world.sign_in.second_factors.decide_trust(visit, trusted=trusted))
        self.proved.add("trust")
        if self.trust != before and self.whose:
            self.trusted.add(self.whose.account.id)

    def reset_password(self) -> None:
        person = self.chance.choice(self.world.people)
        reset = self.world.sign_in.password_reset
        self.act(lambda visit: reset.request(visit, person.email))
        key = self.world.mails.pop(("password_reset", person.email), "nonsense")
        if self._account() is None:
            self.begin(person, "reset")
        self.act(lambda visit: reset.reset(visit, key, PASSWORD))

    def sign_out(self) -> None:
        self.act(self.world.sign_in.sessions.sign_out)
        self.proved = set()

    def wait(self) -> None:
        self.world.clock.forward(self.chance.choice([5, 200, 1000]))


STEPS_OF: dict[str, Callable[[Sequence], None]] = {
    "log in": Sequence.log_in,
    "ask for a code": Sequence.ask_for_code,
    "confirm the code": Sequence.confirm_code,
    "verify the address": Sequence.verify_email,
    "use the factor": Sequence.use_factor,
    "decide on trust": Sequence.decide_trust,
    "reset the password": Sequence.reset_password,
    "sign out": Sequence.sign_out,
    "wait": Sequence.wait,
}


@pytest.fixture(params=OPTIONS, ids=list(OPTIONS))
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[World, Config]]:
    """The services of a host with some options, and people of every kind."""
    environment = {
        "PLUGYARD_HOME": str(tmp_path),
        "PLUGYARD_PLUGINS_ENABLED": "false",
        "PLUGYARD_ACCOUNT_PASSWORD_TIME_COST": "1",
        "PLUGYARD_ACCOUNT_PASSWORD_MEMORY_KIB": "32",
        **{f"PLUGYARD_{name.upper()}": value for name, value in OPTIONS[request.param].items()},
    }
    clock = Clock()
    host = Host(Config.load(environment), clock=clock)
    host.open()
    mails: dict[tuple[str, str], str] = {}

    def keep(session: Any, *, to: str, template: str, context: Any, secrets: tuple[str, ...] = ()) -> None:
        if secrets:
            found = re.search(r"key=(\S+)", str(context.get("link", "")))
            mails[template, to] = found.group(1) if found else secrets[0]

    unlimited = Limits(host.database, False, secret="x" * 32)
    area = replace(host.sign_in.area, mail=keep, limits=unlimited)
    world = World(SignIn(area, providers=host.entrance.providers), area, clock)
    world.mails = mails
    world.add("plain", verified=True)
    world.add("unproved", verified=False)
    world.add("guarded", verified=True, factor=True)
    world.add("unproved-guarded", verified=False, factor=True)
    world.add("gone", verified=True, active=False)
    yield world, host.config
    host.close()


def test_nobody_gets_in_without_every_proof(machine: tuple[World, Config]) -> None:
    """No sequence of operations, right and wrong ones mixed, skips a stage."""
    world, options = machine
    chance = random.Random(20)  # noqa: S311 - chance only decides what is tried
    entered = 0
    moment: datetime = world.clock()
    for _ in range(SEQUENCES // len(OPTIONS) + 1):
        sequence = Sequence(world, chance, options)
        sequence.run()
        entered += sequence._account() is not None
        for person in world.people:
            world.restore(person)

    assert world.clock() > moment
    assert entered > SEQUENCES // len(OPTIONS) // 50, "hardly any sequence got in, so little was tried"
