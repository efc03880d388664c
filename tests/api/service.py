"""A whole host behind a test client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.testclient import TestClient

from api.app import create_app
from host.config import Config
from host.server import Host
from tests.databases import put_host_database

FLAGS = {
    "user": {},
    "staff": {"is_staff": True},
    "superuser": {"is_staff": True, "is_superuser": True},
}
# Looking into the plugins that come with the host takes a second; all hosts of a run find the same.
_MANIFESTS: dict[str, bytes] = {}


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
    put_host_database(home)
    environment = {
        "PLUGYARD_HOME": str(home),
        "PLUGYARD_PLUGINS_FILE": str(home / "plugins.txt"),
        "PLUGYARD_SAMPLE_PLUGINS": "true",
        # No test asks a server out there.
        "PLUGYARD_PLUGIN_SETTINGS": '{"exchange-rates": {"URL": "http://127.0.0.1:9/"}}',
        # Cheap hashes: the cost of good ones is no subject here.
        "PLUGYARD_ACCOUNT_PASSWORD_TIME_COST": "1",
        "PLUGYARD_ACCOUNT_PASSWORD_MEMORY_KIB": "32",
        **{f"PLUGYARD_{name.upper()}": value for name, value in settings.items()},
    }
    host = Host(Config.load(environment))
    manifests = home / "manifests"
    for name, content in _MANIFESTS.items():
        manifests.mkdir(exist_ok=True)
        (manifests / name).write_bytes(content)
    with TestClient(create_app(host), raise_server_exceptions=False) as client:
        _MANIFESTS.update({file.name: file.read_bytes() for file in manifests.iterdir()})
        yield Service(host, client)
