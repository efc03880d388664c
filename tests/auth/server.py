"""A whole host on a real socket, with a mail server, whose clock the tests move."""

from __future__ import annotations

import email
import email.policy
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import uvicorn
from aiosmtpd.controller import Controller
from sqlalchemy import select
from sqlalchemy.sql import Select

from api.app import create_app
from host.accounts.account import USERS, Account
from host.config import Config
from host.server import Host
from tests.auth.clients import App, Browser, Client
from tests.databases import put_host_database

PASSWORD = "correct horse battery"
_WAIT = 15.0
_CODE_SECONDS = 30
# Looking into the plugins that come with the host takes a second; all hosts of a run find the same.
_MANIFESTS: dict[str, bytes] = {}


class Clock:
    """The present moment, plus what a test adds to it."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Return to the present, or just after it: to the next moment at which one-time codes change.

        So none changes between the moment in which a test makes it up and that in which the host looks at it.
        """
        self.ahead = timedelta(seconds=-time.time() % _CODE_SECONDS)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def forward(self, seconds: float) -> None:
        """Let time pass."""
        self.ahead += timedelta(seconds=seconds)


class Mailbox:
    """A mail server's handler that keeps what arrives."""

    def __init__(self) -> None:
        self._arrived = threading.Condition()
        # Beside each mail the addresses it is for: to read them again at every question takes longer than the tests.
        self._mails: list[tuple[str, EmailMessage]] = []

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        """Keep a mail."""
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        with self._arrived:
            self._mails.append((str(message["To"]), message))
            self._arrived.notify_all()
        return "250 kept"

    def to(self, address: str) -> list[EmailMessage]:
        """List what has arrived for an address."""
        with self._arrived:
            return self._of(address)

    def text(self, address: str, *, number: int = 1) -> str:
        """Return the text of the mail of this number for an address, once it is there."""
        end = time.monotonic() + _WAIT
        with self._arrived:
            while True:
                found = self._of(address)
                if len(found) >= number:
                    body = found[number - 1].get_body(("plain",))
                    assert body is not None
                    return str(body.get_content())
                assert self._arrived.wait(end - time.monotonic()), f"no mail {number} for {address}"

    def find(self, address: str, pattern: str) -> str:
        """Return what a pattern finds in the newest mail for an address in which it does, once there is one."""
        end = time.monotonic() + _WAIT
        with self._arrived:
            while True:
                for mail in reversed(self._of(address)):
                    body = mail.get_body(("plain",))
                    if body is not None and (found := re.search(pattern, str(body.get_content()))):
                        return found.group(found.lastindex or 0)
                assert self._arrived.wait(end - time.monotonic()), f"no mail for {address} with {pattern}"

    def _of(self, address: str) -> list[EmailMessage]:
        return [mail for to, mail in self._mails if address in to]

    def code(self, address: str, *, number: int = 1) -> str:
        """Return the code in a mail."""
        found = re.search(r"\b[A-Z]{4}-[A-Z]{4}\b", self.text(address, number=number))
        assert found
        return found.group()

    def link(self, address: str, *, number: int = 1) -> str:
        """Return the first link in a mail."""
        found = re.search(r"https?://\S+", self.text(address, number=number))
        assert found
        return found.group()


class AuthServer:
    """A running host."""

    def __init__(self, host: Host, url: str, mailbox: Mailbox, clock: Clock) -> None:
        self.host = host
        self.url = url
        self.mailbox = mailbox
        self.clock = clock
        self._clients: list[Client] = []

    def browser(self, **options: Any) -> Browser:
        """Return a new browser."""
        browser = Browser(self.url, **options)
        self._clients.append(browser)
        return browser

    def app(self, **options: Any) -> App:
        """Return a new app."""
        app = App(self.url, **options)
        self._clients.append(app)
        return app

    def client(self, kind: str) -> Browser | App:
        """Return a new client of a kind: ``browser`` or ``app``."""
        return self.browser() if kind == "browser" else self.app()

    def new_user(self, username: str, *, password: str | None = PASSWORD, email: str = "", **flags: bool) -> Account:
        """Make an account."""
        values = {"username": username, "email": email}
        return self.host.users.create(values, password=password, flags=flags, check_rules=False)

    def rows(self, statement: Select[Any]) -> list[Any]:
        """Return what is stored."""
        with self.host.database.read() as connection:
            return list(connection.execute(statement).all())

    def user_row(self, username: str) -> Any:
        """Return an account as it is stored."""
        [row] = self.rows(select(USERS).where(USERS.c.username == username))
        return row

    def close(self) -> None:
        """Close every client."""
        for client in self._clients:
            client.http.close()


@contextmanager
def running_mail_server() -> Iterator[tuple[str, Mailbox]]:
    """Run a mail server, and give its URL with what arrives."""
    mailbox = Mailbox()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    controller = Controller(mailbox, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield f"smtp://127.0.0.1:{port}", mailbox
    finally:
        controller.stop()


@contextmanager
def running_server(home: Path, smtp: tuple[str, Mailbox], **options: str) -> Iterator[AuthServer]:
    """Run a host with some options, by their names without the prefix."""
    url, mailbox = smtp
    environment = {
        "PLUGYARD_HOME": str(home),
        "PLUGYARD_PLUGINS_ENABLED": "false",
        "PLUGYARD_SMTP_URL": url,
        "PLUGYARD_ACCOUNT_PASSWORD_TIME_COST": "1",
        "PLUGYARD_ACCOUNT_PASSWORD_MEMORY_KIB": "32",
        "PLUGYARD_ACCOUNT_RATE_LIMITS": "false",
        **{f"PLUGYARD_{name.upper()}": value for name, value in options.items()},
    }
    put_host_database(home)
    clock = Clock()
    host = Host(Config.load(environment), clock=clock)
    for name, content in _MANIFESTS.items():
        (host.home / "manifests").mkdir(parents=True, exist_ok=True)
        (host.home / "manifests" / name).write_bytes(content)
    with _served(create_app(host)) as url:
        _MANIFESTS.update({file.name: file.read_bytes() for file in (host.home / "manifests").iterdir()})
        server = AuthServer(host, url, mailbox, clock)
        try:
            yield server
        finally:
            server.close()


@contextmanager
def _served(app: Any) -> Iterator[str]:
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_config=None, lifespan="on", ws="none", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, name="auth-server")
    thread.start()
    try:
        _until(lambda: server.started or not thread.is_alive())
        assert server.started, "the server did not start"
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(_WAIT)
        bound.close()


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + _WAIT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
