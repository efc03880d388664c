"""Second factors that many requests use at the same time: of all that use one proof, one wins."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import text

from host.accounts.own_passwords.replacing import lock_active, replace_password
from tests.auth.clients import Answer, App
from tests.auth.owned_factors import new_owner
from tests.auth.server import AuthServer, running_server
from tests.factors.software_authenticator import ORIGIN, SoftwareAuthenticator

AUTHENTICATE, LOGIN, SIGNUP = "/auth/2fa/authenticate", "/auth/webauthn/login", "/auth/webauthn/signup"
OWN = "/account/authenticators"
RACERS = 32

Act = Callable[[App, int], Answer]


class Races:
    """A host, and clients that all start at once."""

    def __init__(self, server: AuthServer, pool: ThreadPoolExecutor) -> None:
        self.server = server
        self._pool = pool
        self._apps = [server.app() for _ in range(RACERS)]

    def run(self, act: Act, *sessions: App, racers: int = RACERS // 2) -> list[Answer]:
        """Let clients act, in the sessions in turn."""
        keys, barrier = [session.session_key for session in sessions], Barrier(racers)

        def start(number: int) -> Answer:
            app = self._apps[number]
            app.session_key = keys[number % len(keys)]
            barrier.wait()
            return act(app, number)

        return list(self._pool.map(start, range(racers)))

    def signed_in(self, *owners: Any) -> list[App]:
        """Return clients that signed in by password, as far as that goes."""
        apps = [self.server.app() for _ in owners]
        for owner, app in zip(owners, apps, strict=True):
            owner.sign_in(app)
        return apps


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def races(request: pytest.FixtureRequest, smtp: Any, tmp_path: Any) -> Iterator[Races]:
    options = {"database_url": request.getfixturevalue("host_postgres_url")} if request.param == "postgres" else {}
    options |= {"site_url": ORIGIN, "mfa_passkey_signup_enabled": "true"}
    with running_server(tmp_path, smtp, **options) as server, ThreadPoolExecutor(RACERS) as pool:
        yield Races(server, pool)


def _won(answers: list[Answer], *lost: int) -> None:
    """Check that one of them succeeded, and all others were refused as they should be."""
    statuses = [answer.status for answer in answers]
    assert statuses.count(200) == 1, statuses
    assert {*statuses} - {200} <= {*lost}, statuses


def test_of_all_that_use_one_proof_one_wins(races: Races) -> None:
    """Codes, secrets and answers of keys; in one session, and in several."""
    for race in (_codes, _apps, _removal, _sets, _keys, _passkeys):
        race(races)


def _codes(races: Races) -> None:
    owner = new_owner(races.server, totp=True, codes=True)
    for code in (owner.code(), owner.codes[0]):
        waiting = races.signed_in(*[owner] * 4)

        def use(app: App, _: int, code: str = code) -> Answer:
            return app.post(AUTHENTICATE, {"code": code})

        _won(races.run(use, *waiting, racers=RACERS), 400, 401, 410)
    assert owner.steps() == [["password", "mfa"]] * 2
    assert owner.factors()[1].data["used"] == [0]


def _apps(races: Races) -> None:
    owner = new_owner(races.server)
    sessions = races.signed_in(*[owner] * 4)
    codes = [owner.code(app.get(f"{OWN}/totp").meta["secret"]) for app in sessions]

    _won(races.run(lambda app, number: app.post(f"{OWN}/totp", {"code": codes[number % 4]}), *sessions), 400)

    assert owner.kinds() == ["totp", "recovery_codes"]


def _removal(races: Races) -> None:
    # Logins use the app while it is removed; neither keeps the other waiting for ever.
    owner = new_owner(races.server, codes=False)
    [session] = races.signed_in(owner)
    secret = session.get(f"{OWN}/totp").meta["secret"]
    session.post(f"{OWN}/totp", {"code": owner.code(secret)})
    waiting, code = races.signed_in(owner), owner.code(secret)

    def act(app: App, number: int) -> Answer:
        return app.post(AUTHENTICATE, {"code": code}) if number % 2 else app.delete(f"{OWN}/totp")

    statuses = [answer.status for answer in races.run(act, session, *waiting)]

    assert {*statuses[::2]} == {200}
    assert statuses[1::2].count(200) <= 1
    assert {*statuses[1::2]} <= {200, 400, 401, 410}
    assert owner.factors() == []


def _sets(races: Races) -> None:
    owner = new_owner(races.server, totp=True, codes=True)
    [session] = races.signed_in(owner)
    session.post(AUTHENTICATE, {"code": owner.code()})

    answers = races.run(lambda app, _: app.post(f"{OWN}/recovery-codes"), session)

    assert {answer.status for answer in answers} == {200}
    assert session.get(f"{OWN}/recovery-codes").data in [answer.data for answer in answers]
    assert owner.kinds() == ["totp", "recovery_codes"]


def _keys(races: Races) -> None:
    owner = new_owner(races.server)
    [session] = races.signed_in(owner)
    options = session.get(f"{OWN}/webauthn").data["creation_options"]
    made = [owner.device.create(options) for _ in range(RACERS // 2)]
    _won(races.run(lambda app, number: app.post(f"{OWN}/webauthn", {"credential": made[number]}), session), 400)

    [waiting] = races.signed_in(owner)
    for app, purpose in ((session, "reauthenticate"), (waiting, "authenticate")):
        path = f"/auth/webauthn/{purpose}"
        used = owner.device.get(app.get(path).data["request_options"])

        def use(one: App, _: int, path: str = path, used: Any = used) -> Answer:
            return one.post(path, {"credential": used})

        _won(races.run(use, app), 400, 401, 410)

    assert owner.kinds() == ["webauthn", "recovery_codes"]
    assert sorted(owner.steps()) == [["password", "mfa"]] * 2


def _passkeys(races: Races) -> None:
    newcomer, app, device = races.server.app(), races.server.app(), SoftwareAuthenticator()
    newcomer.post(SIGNUP, {"username": "racer"})
    made = device.create(newcomer.get(SIGNUP).data["creation_options"])
    _won(races.run(lambda one, _: one.put(SIGNUP, {"credential": made}), newcomer), 400, 409, 410)
    for strange in ("\x00", "\U0001f511", "x" * 10_000):
        assert app.post(LOGIN, {"credential": {"id": strange}}).status == 400
    used = device.get(app.get(LOGIN).data["request_options"])
    _won(races.run(lambda one, _: one.post(LOGIN, {"credential": used}), app), 400, 410)

    assert races.server.user_row("racer").last_login is not None


@pytest.mark.postgres
def test_a_password_that_is_replaced_meanwhile_ends_the_login(smtp: Any, tmp_path: Any, host_postgres_url: str) -> None:
    """Whoever waited for the account while somebody replaced its password is not signed in with the old one."""
    with running_server(tmp_path, smtp, database_url=host_postgres_url) as server, ThreadPoolExecutor(1) as pool:
        owner, database = new_owner(server, totp=True), server.host.database
        app, code = server.app(), owner.code()
        owner.sign_in(app)

        with database.write() as session:
            moment = server.clock()
            lock_active(session.connection(), owner.id)
            replace_password(session.connection(), owner.id, "another hash", moment)
            answer = pool.submit(app.post, AUTHENTICATE, {"code": code})
            _until_somebody_waits(server)

        assert (answer.result().status, answer.result().pending) == (401, [])
        assert owner.steps() == []
        assert owner.factors()[0].last_used is None


def _until_somebody_waits(server: AuthServer) -> None:
    waiting = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    end = time.monotonic() + 10
    while time.monotonic() < end:
        with server.host.database.read() as connection:
            if connection.execute(waiting).scalar():
                return
        time.sleep(0.01)
    raise AssertionError("nobody waits for the account")
