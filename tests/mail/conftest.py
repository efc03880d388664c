"""Mailers on real databases, and real SMTP servers that they talk to."""

from __future__ import annotations

import email
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.policy import default
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword
from cryptography import x509
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from sqlalchemy import select

from host.config.mail import MailOptions
from host.mail.log import MAIL
from host.mail.mailer import Mailer
from host.storage.engine import Database


class Clock:
    """A moment that stands still until the test moves it."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 5, 3, 14, 5, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def move(self, **time: float) -> None:
        self.moment += timedelta(**time)


class Seals:
    """Encrypts for one purpose and no other."""

    def __init__(self) -> None:
        self._fernet = Fernet(Fernet.generate_key())

    def seal(self, purpose: str, text: str) -> str:
        return self._fernet.encrypt(f"{purpose}\0{text}".encode()).decode()

    def open(self, purpose: str, text: str) -> str:
        try:
            sealed_for, _, opened = self._fernet.decrypt(text).decode().partition("\0")
        except InvalidToken:
            raise ValueError(purpose) from None
        if sealed_for != purpose:
            raise ValueError(purpose)
        return opened


class Inbox:
    """What an SMTP server does with mails: keeps them, unless answers are set, which it gives first, one a mail."""

    def __init__(self) -> None:
        self.envelopes: list[Any] = []
        self.sessions: list[Any] = []
        self.logins: list[tuple[bytes, bytes]] = []
        self.to_senders: list[str] = []
        self.to_recipients: list[str] = []
        self.to_data: list[str] = []
        self.arrived = threading.Event()
        self.on_arrival: Callable[[], object] = lambda: None

    async def handle_MAIL(  # noqa: N802 - aiosmtpd's name
        self, _server: Any, _session: Any, envelope: Any, address: str, _options: Any
    ) -> str:
        if self.to_senders:
            return self.to_senders.pop(0)
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(  # noqa: N802 - as above
        self, _server: Any, _session: Any, envelope: Any, address: str, _options: Any
    ) -> str:
        if self.to_recipients:
            return self.to_recipients.pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - as above
        if self.to_data:
            return self.to_data.pop(0)
        self.envelopes.append(envelope)
        self.sessions.append(session)
        self.on_arrival()
        self.arrived.set()
        return "250 Taken"

    def authenticate(self, _server: Any, _session: Any, _envelope: Any, _mechanism: str, data: Any) -> AuthResult:
        assert isinstance(data, LoginPassword)
        self.logins.append((data.login, data.password))
        return AuthResult(success=data.password == b"s3cret p@ss", handled=False)

    @property
    def mails(self) -> list[EmailMessage]:
        return [self.read(envelope) for envelope in self.envelopes]

    @staticmethod
    def read(envelope: Any) -> EmailMessage:
        message = email.message_from_bytes(envelope.content, policy=default)
        assert isinstance(message, EmailMessage)
        return message


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def free_port() -> Callable[[], int]:
    def find() -> int:
        with closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            return int(probe.getsockname()[1])

    return find


@pytest.fixture(scope="session")
def tls(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """Give a server's context with a certificate that nobody vouches for."""
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    today = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - timedelta(days=1))
        .not_valid_after(today + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form = serialization.PrivateFormat.PKCS8
    text = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(text)
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    return context


@pytest.fixture
def serve(inbox: Inbox, free_port: Callable[[], int]) -> Iterator[Callable[..., int]]:
    """Give a function that starts an SMTP server with the inbox and returns its port."""
    with ExitStack() as running:

        def start(**options: Any) -> int:
            port = free_port()
            controller = Controller(inbox, hostname="127.0.0.1", port=port, **options)
            controller.start()
            running.callback(controller.stop)
            return port

        yield start


@pytest.fixture
def reports() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def new_mailer(clock: Clock, reports: list[tuple[str, str]]) -> Iterator[Callable[..., Mailer]]:
    """Give a function that makes mailers; they are stopped after the test."""
    made: list[Mailer] = []
    seals = Seals()

    def make(database: Database, port: int | None = None, **settings: Any) -> Mailer:
        own = ("instance", "subject_prefix", "seals", "couriers")
        keywords = {name: settings.pop(name) for name in own if name in settings}
        if port is not None:
            settings.setdefault("smtp_url", f"smtp://127.0.0.1:{port}")
        mailer = Mailer(
            database,
            MailOptions.model_validate({"mail_timeout": 5, **settings}),
            site="https://yard.example.org",
            report=lambda path, info: reports.append((path, info)),
            clock=clock,
            **{"instance": "Yard", "seals": seals, **keywords},
        )
        made.append(mailer)
        return mailer

    yield make
    for mailer in made:
        mailer.stop()


@pytest.fixture
def send() -> Callable[..., str]:
    """Give a function that queues a mail in a transaction of its own."""

    def queue(mailer: Mailer, to: str = "ada@example.org", template: str = "test", **values: Any) -> str:
        secrets: Sequence[str] = values.pop("secrets", ())
        with mailer._database.write() as session:
            return str(mailer.send(session, to=to, template=template, context=values, secrets=tuple(secrets)))

    return queue


@pytest.fixture
def stored() -> Callable[..., Any]:
    """Give a function that reads the log."""

    def read(database: Database, mail_id: str | None = None) -> Any:
        statement = select(MAIL).order_by(MAIL.c.timestamp)
        with database.read() as connection:
            if mail_id is None:
                return connection.execute(statement).all()
            return connection.execute(statement.where(MAIL.c.global_id == mail_id)).one()

    return read


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give an empty folder for templates of an administrator."""
    folder = tmp_path / "templates"
    folder.mkdir()
    return folder
