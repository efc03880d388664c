"""The life of an account, from its sign-up to its last address, with a real mail server and either kind of client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyotp
import pytest

from tests.auth.clients import Answer, App, Browser
from tests.auth.server import Mailbox, running_mail_server
from tests.e2e.hosts import RunningHost
from tests.factors.software_authenticator import SoftwareAuthenticator

pytestmark = pytest.mark.e2e

FIRST, SECOND, THIRD = "a first long password", "a second long password", "a third long password"


@pytest.fixture(scope="module")
def mailed_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Mailbox]]:
    """A host that sends its mail to a real server."""
    home: Path = tmp_path_factory.mktemp("accounts") / "home"
    with running_mail_server() as (smtp, mailbox), RunningHost(home, smtp_url=smtp) as host:
        yield host.url.replace("127.0.0.1", "localhost"), mailbox


def one_time_code(secret: str) -> str:
    """Return the code of this moment, or of the next one where this one is about to end."""
    left = -time.time() % 30
    if left < 3:
        time.sleep(left)
    return pyotp.TOTP(secret).now()


class Person:
    """Somebody with an account, a browser or an app, an authenticator app and a security key."""

    def __init__(self, new_client: Callable[[], Browser | App], mailbox: Mailbox, url: str) -> None:
        self.new_client = new_client
        self.client = new_client()
        self.mailbox = mailbox
        self.name = f"{self.client.kind}-user"
        self.email = f"{self.name}@example.org"
        self.key = SoftwareAuthenticator(url)
        self.password = FIRST
        self.secret = ""
        self.recovery_codes: list[str] = []

    def sign_up(self) -> None:
        answer = self.client.post(
            "/auth/signup", {"username": self.name, "email": self.email, "password": self.password}
        )
        assert (answer.status, answer.data["methods"]) == (200, [])
        key = self.mailbox.find(self.email, r"verify-email/(\S+)")
        assert self.client.post("/auth/email/verify", {"key": key}).status == 200
        assert self.client.get("/account/email").data == [{"email": self.email, "verified": True, "primary": True}]

    def add_factors(self) -> None:
        client = self.client
        self.secret = client.get("/account/authenticators/totp").meta["secret"]
        code = {"code": one_time_code(self.secret)}
        refused = client.post("/account/authenticators/totp", code)
        assert (refused.status, refused.flows) == (401, ["reauthenticate"])
        assert client.post("/auth/reauthenticate", {"password": self.password}).status == 200
        assert client.post("/account/authenticators/totp", code).data["type"] == "totp"
        self.recovery_codes = client.get("/account/authenticators/recovery-codes").data["unused_codes"]
        assert len(self.recovery_codes) == 10
        options = client.get("/account/authenticators/webauthn?passwordless").data["creation_options"]
        body = {"name": "My key", "credential": self.key.create(options)}
        assert client.post("/account/authenticators/webauthn", body).data["name"] == "My key"
        types = [one["type"] for one in client.get("/account/authenticators").data]
        assert types == ["totp", "recovery_codes", "webauthn"]
        self.mailbox.find(self.email, "(?i)authenticator")

    def sign_out(self) -> None:
        assert self.client.delete("/auth/session").status == 401
        assert self.client.get("/auth/session").status in {401, 410}

    def begin(self, client: Browser | App | None = None) -> Answer:
        answer = (client or self.client).login(self.name, self.password)
        assert (answer.status, answer.pending) == (401, ["mfa_authenticate"])
        return answer

    def complete(self, answer: Answer, client: Browser | App | None = None) -> Answer:
        """Decline to trust the browser; apps are not asked."""
        client = client or self.client
        if client.kind == "browser":
            assert (answer.status, answer.pending) == (401, ["mfa_trust"])
            answer = client.post("/auth/2fa/trust", {"trust": False})
        assert answer.status == 200, answer
        assert answer.data["user"]["username"] == self.name
        return answer

    def use_recovery_code(self, client: Browser | App | None = None) -> Answer:
        client = client or self.client
        return self.complete(client.post("/auth/2fa/authenticate", {"code": self.recovery_codes.pop()}), client)

    def use_key(self, path: str) -> Answer:
        options: dict[str, Any] = self.client.get(path).data["request_options"]
        return self.client.post(path, {"credential": self.key.get(options)})


@pytest.mark.parametrize("kind", [Browser, App], ids=["browser", "app"])
def test_an_account_lives(kind: type[Browser | App], mailed_host: tuple[str, Mailbox]) -> None:
    """Sign up, verify, add factors, sign in with each, change and reset the password, and end what was begun."""
    url, mailbox = mailed_host
    with ExitStack() as opened:

        def new_client() -> Browser | App:
            client = kind(url)
            opened.enter_context(client.http)
            return client

        _live(Person(new_client, mailbox, url), mailbox)


def _live(person: Person, mailbox: Mailbox) -> None:
    person.sign_up()
    person.add_factors()

    person.sign_out()
    person.begin()
    totp = person.client.post("/auth/2fa/authenticate", {"code": one_time_code(person.secret)})
    assert person.complete(totp).methods == ["password", "mfa"]

    person.sign_out()
    person.begin()
    assert person.use_recovery_code().data["methods"][1]["type"] == "recovery_codes"

    person.sign_out()
    person.begin()
    assert person.complete(person.use_key("/auth/webauthn/authenticate")).data["methods"][1]["type"] == "webauthn"

    person.sign_out()
    passkey = person.use_key("/auth/webauthn/login")
    assert (passkey.status, passkey.data["methods"][0]["passwordless"]) == (200, True)

    person.sign_out()
    assert person.client.post("/auth/code/request", {"email": person.email}).pending == ["login_by_code"]
    code = mailbox.find(person.email, r"\b[A-Z]{4}-[A-Z]{4}\b")
    assert person.client.post("/auth/code/confirm", {"code": code}).pending == ["mfa_authenticate"]
    assert person.use_recovery_code().methods == ["code", "mfa"]

    change = {"current_password": FIRST, "new_password": SECOND}
    assert person.client.post("/account/password/change", change).status == 401
    person.password = SECOND
    assert person.client.get("/auth/session").status in {401, 410}
    mailbox.find(person.email, "(?i)password")
    person.begin()
    person.use_recovery_code()

    person.sign_out()
    assert person.client.post("/auth/password/request", {"email": person.email}).status == 200
    key = mailbox.find(person.email, r"key=(\S+)")
    assert person.client.post("/auth/password/reset", {"key": key, "password": THIRD}).status == 401
    again = person.client.post("/auth/password/reset", {"key": key, "password": THIRD})
    assert again.errors == [("invalid_password_reset", "key")]
    assert person.client.get("/auth/session").status in {401, 410}
    person.password = THIRD
    person.begin()
    person.use_recovery_code()

    other = person.new_client()
    person.begin(other)
    person.use_recovery_code(other)
    sessions = person.client.get("/auth/sessions").data
    ended = [session["id"] for session in sessions if not session["is_current"]]
    assert len(ended) == 1
    assert len(person.client.delete("/auth/sessions", {"sessions": ended}).data) == 1
    assert other.get("/auth/session").status == (410 if other.kind == "app" else 401)

    assert person.client.delete("/account/email", {"email": person.email}).data == []
    assert "email" not in person.client.get("/auth/session").data["user"]
    assert person.client.get("/api/user/me/").body["email"] == ""
