"""A whole host behind a test client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.testclient import TestClient

from api.app import create_app
from host.config import Config
from host.server import Host

FLAGS = {
    "user": {},
    "staff": {"is_staff": True},
    "superuser": {"is_staff": True, "is_superuser": True},
}


class Service:
    """A running host, and clients of every kind of caller."""

    def __init__(self, host: Host, app: TestClient) -> None:
        self.host = host
        self._app = app.app
        self._tokens: dict[str, str] = {}
        for name, flags in FLAGS.items():
            account = host.users.create(
                {"username": name, "email": f"{name}@example.org"}, password="correct horse battery", flags=flags
            )
            self._tokens[name], _ = host.tokens.issue(account.id, "tests")

    def client(self, caller: str) -> TestClient:
        """Return a client: ``anonymous``, ``user``, ``staff`` or ``superuser``."""
        client = TestClient(self._app, raise_server_exceptions=False)
        if caller != "anonymous":
            client.headers["Authorization"] = f"Token {self._tokens[caller]}"
        return client


@contextmanager
def running_service(home: Path, **settings: str) -> Iterator[Service]:
    """Run a host with its sample plugins."""
    home.mkdir(parents=True, exist_ok=True)
    environment = {
        "PLUGYARD_HOME": str(home),
        "PLUGYARD_PLUGINS_FILE": str(home / "plugins.txt"),
        "PLUGYARD_SAMPLE_PLUGINS": "true",
        **{f"PLUGYARD_{name.upper()}": value for name, value in settings.items()},
    }
    host = Host(Config.load(environment))
    with TestClient(create_app(host), raise_server_exceptions=False) as client:
        yield Service(host, client)
