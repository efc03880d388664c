"""A package's life over HTTP, against an index on this machine: how long an administrator waits for each step."""

from __future__ import annotations

import base64
import http.client
import json
import statistics
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from benchmarks.figures import Figure
from benchmarks.serving import PLUGYARD, Served
from tests.e2e.hosts import ADMIN, environment
from tests.packages_catalogue import PACKAGES
from tests.packages_fixture import Index, Wheels

BASE = "beacon"
ROUNDS = ("lamp-1.0", "greeter", "thermostat")
_WHOLE_RELOAD = {"full_reload": True, "force_reload": True, "collect_plugins": True}


class _Administrator:
    """Asks the host as an administrator does, and notes how long each step took."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=90)
        proof = base64.b64encode(":".join(ADMIN).encode()).decode()
        token = self._ask("GET", "/api/user/token/", None, f"Basic {proof}")["token"]
        self._authorization = f"Token {token}"
        self.seconds: dict[str, list[float]] = {}

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        return self._ask(method, path, body, self._authorization)

    def step(self, name: str, method: str, path: str, body: Any = None) -> Any:
        began = perf_counter()
        answer = self.ask(method, path, body)
        self.seconds.setdefault(name, []).append(perf_counter() - began)
        return answer

    def _ask(self, method: str, path: str, body: Any, authorization: str) -> Any:
        headers = {"Authorization": authorization}
        content = None
        if body is not None:
            content = json.dumps(body)
            headers["Content-Type"] = "application/json"
        self._connection.request(method, path, content, headers)
        response = self._connection.getresponse()
        text = response.read()
        assert response.status in {200, 201}, (method, path, response.status, text)
        return json.loads(text)


def run() -> list[Figure]:
    """Plan, install, activate, call, reload and roll back, with one package after the other."""
    with TemporaryDirectory(prefix="plugyard-bench-") as name, ExitStack() as running:
        home = Path(name) / "home"
        home.mkdir()
        index = Index(Wheels(Path(name) / "wheels"), [BASE, *ROUNDS])
        running.callback(index.stop)
        serve = [PLUGYARD, "serve", "--port", "{port}"]
        served = running.enter_context(Served(serve, environment(home), "/health", home))
        administrator = _Administrator(served.port)
        administrator.ask("POST", "/api/plugins/install/", _wanted(BASE, index) | {"confirm": True})
        for package in ROUNDS:
            _live(administrator, package, index)
    return [Figure(name, statistics.median(seconds), "s") for name, seconds in administrator.seconds.items()]


def _live(administrator: _Administrator, package: str, index: Index) -> None:
    (key,) = PACKAGES[package].keys
    wanted = _wanted(package, index)
    before = next(one["number"] for one in administrator.ask("GET", "/api/plugins/generations/") if one["current"])
    planned = administrator.step("plan", "POST", "/api/plugins/plan/", wanted)
    assert planned["changes"], planned
    administrator.step("install", "POST", "/api/plugins/install/", wanted | {"confirm": True})
    administrator.step("activate", "PATCH", f"/api/plugins/{key}/activate/", {"active": True})
    administrator.step("reload all modules", "POST", "/api/plugins/reload/", _WHOLE_RELOAD)
    assert administrator.ask("GET", f"/api/plugins/{key}/")["active"]
    administrator.step("deactivate", "PATCH", f"/api/plugins/{key}/activate/", {"active": False})
    administrator.step("roll back", "POST", f"/api/plugins/generations/{before}/restore/")
    assert not administrator.ask("GET", f"/api/plugins/{key}/")["is_installed"]


def _wanted(package: str, index: Index) -> dict[str, str]:
    return {"packagename": PACKAGES[package].distribution, "url": index.url}
