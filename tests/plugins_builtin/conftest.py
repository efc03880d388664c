"""A stand-in for the host, so that a plugin can be tried by itself: real database, real routes, no registry."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlmodel import Session
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from host import Identity, Json, Plugin, Services, Setting, User
from host.contract.mail import MailOutcome
from host.contract.services import Audience
from host.contract.settings import SettingValue
from host.storage.engine import Database


class FakeSettings:
    """Settings in memory; values are taken as they come."""

    def __init__(self, plugin: Any) -> None:
        self._defaults = {setting.key: setting for setting in _asked(plugin, "plugin_settings")}
        self._user_defaults = {setting.key: setting for setting in _asked(plugin, "user_settings")}
        self._values: dict[object, SettingValue] = {}

    def get(self, key: str) -> SettingValue | None:
        return self._values.get(key, _default(self._defaults[key]))

    def set(self, key: str, value: SettingValue) -> None:
        assert key in self._defaults
        self._values[key] = value

    def get_for_user(self, key: str, user_id: int) -> SettingValue | None:
        return self._values.get((key, user_id), _default(self._user_defaults[key]))

    def set_for_user(self, key: str, user_id: int, value: SettingValue) -> None:
        assert key in self._user_defaults
        self._values[key, user_id] = value


class FakeMail:
    """Keeps what is told of mail; only mails that were received are known."""

    def __init__(self) -> None:
        self.received: dict[UUID, bytes] = {}
        self.noted: list[tuple[str, str, str]] = []

    def receive(self, message: bytes) -> UUID:
        if not message:
            raise ValueError("The mail is empty.")
        mail_id = uuid4()
        self.received[mail_id] = message
        return mail_id

    def note(self, message_id: str, outcome: MailOutcome, reason: str = "") -> bool:
        self.noted.append((message_id, outcome, reason))
        return message_id != "unknown"


class FakeServices:
    """What a plugin gets from the host."""

    def __init__(self, key: str, plugin: Any, database: Database | None = None) -> None:
        self._database = database
        self._settings = FakeSettings(plugin)
        self._mail = FakeMail()
        self._identity = Identity(key=key, name=type(plugin).__name__, title=getattr(plugin, "title", key))
        self.emitted: list[tuple[str, dict[str, Json], int | None]] = []
        self.notified: list[tuple[Audience, str, str, str]] = []

    @property
    def identity(self) -> Identity:
        return self._identity

    @property
    def settings(self) -> FakeSettings:
        return self._settings

    @property
    def mail(self) -> FakeMail:
        return self._mail

    @property
    def log(self) -> logging.Logger:
        return logging.getLogger(f"plugyard.plugin.{self._identity.key}")

    @contextmanager
    def session(self) -> Iterator[Session]:
        assert self._database is not None, "the test gave no database"
        with Session(self._database.engine, expire_on_commit=False) as session, session.begin():
            yield session

    def emit(self, name: str, data: dict[str, Json] | None = None, *, user_id: int | None = None) -> None:
        self.emitted.append((f"{self._identity.key}.{name}", data or {}, user_id))

    def notify(self, to: Audience, name: str, message: str = "", *, link: str = "") -> None:
        self.notified.append((to, name, message, link))

    def static_url(self, path: str) -> str:
        return f"/static/plugins/{self._identity.key}/{path}"


def _asked(plugin: Any, hook: str) -> list[Setting]:
    # The base class has the hooks only for type checkers.
    return list(getattr(plugin, hook, list)())


def _default(setting: Setting) -> SettingValue | None:
    return setting.default() if callable(setting.default) else setting.default


@pytest.fixture
def load() -> Callable[..., FakeServices]:
    """Load a plugin as the host does: services first, then its tables."""

    def load_one(plugin: Plugin, key: str, database: Database | None = None) -> FakeServices:
        fake = FakeServices(key, plugin, database)
        services: Services = fake
        plugin.bind(services)
        if database is not None:
            for model in plugin.models():  # type: ignore[union-attr]  # no plugin here answers it asynchronously
                model.metadata.create_all(database.engine)
        return fake

    return load_one


@pytest.fixture
def staff() -> User:
    """A member of staff."""
    return User(id=2, username="bob", is_staff=True)


@pytest.fixture
def user() -> User:
    """Somebody with no rights of their own."""
    return User(id=3, username="eve")


@pytest.fixture
def superuser() -> User:
    """Somebody who may do everything, without being staff."""
    return User(id=1, username="root", is_superuser=True)


@pytest.fixture
def client_of(staff: User) -> Callable[..., TestClient]:
    """Serve the routes of a plugin below ``/plugin/<key>/`` to one caller; who may call is the host's business."""

    def serve(plugin: Any, key: str, caller: User = staff) -> TestClient:
        app = Starlette(routes=[Mount(f"/plugin/{key}", routes=plugin.routes())])

        async def with_caller(scope: Scope, receive: Receive, send: Send) -> None:
            await app({**scope, "user": caller}, receive, send)

        return TestClient(with_caller)

    return serve
