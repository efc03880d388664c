"""A package's whole life over HTTP: install, activate, use, upgrade, roll back, remove."""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path
from typing import Self

import httpx2
import pytest

from tests.e2e.hosts import ADMIN, RunningHost

pytestmark = pytest.mark.e2e


class Load:
    """Asks the host for things, again and again, and counts the answers."""

    def __init__(self, host: RunningHost, token: str, *, rate: int) -> None:
        self.answers: Counter[tuple[str, int]] = Counter()
        self.lights: Counter[str] = Counter()
        self._stop = threading.Event()
        self._host = host
        self._headers = {"Authorization": f"Token {token}"}
        self._threads = [threading.Thread(target=self._run, args=(2 / rate, which)) for which in (0, 1)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, pause: float, which: int) -> None:
        with self._host.client(None, headers=self._headers, timeout=30) as client:
            while not self._stop.is_set():
                began = time.monotonic()
                if which:
                    self.answers["/api/", client.get("/api/").status_code] += 1
                else:
                    answer = client.post("/api/action/", json={"action": "lamp.switch", "data": {}})
                    self.answers["/api/action/", answer.status_code] += 1
                    if answer.status_code == 200:
                        self.lights[answer.json()["info"]["light"]] += 1
                self._stop.wait(max(0.0, pause - (time.monotonic() - began)))


def tree(folder: Path) -> list[str]:
    """List what is in a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) if folder.exists() else []


def test_a_package_lives_without_a_restart(tmp_path: Path, index):  # noqa: PLR0915 - one story
    """Install, activate, call, upgrade a submodule under load, roll back without an index, uninstall, delete."""
    offered = index("lamp-1.0")
    with RunningHost(tmp_path / "home") as host, host.client() as client:
        before = (host.home / "plugins.txt").read_bytes() if (host.home / "plugins.txt").exists() else None
        store_before = tree(host.home / "store")

        def act() -> httpx2.Response:
            return client.post("/api/action/", json={"action": "lamp.switch", "data": {"to": 1}})

        assert act().status_code == 404

        installed = client.post(
            "/api/plugins/install/", json={"packagename": "plugyard-lamp", "url": offered.url, "confirm": True}
        )
        assert installed.status_code == 201, installed.text
        assert installed.json()["version"] == "1.0"
        assert client.get("/api/plugins/lamp/").json()["active"] is False
        assert act().status_code == 404

        assert client.patch("/api/plugins/lamp/activate/", json={"active": True}).json() == {"active": True}
        answer = act()
        assert answer.status_code == 200
        assert answer.json() == {
            "action": "lamp.switch",
            "result": True,
            "info": {"light": "dim", "for": ADMIN[0], "data": {"to": 1}},
        }

        offered.add("lamp-1.1")
        token = client.get("/api/user/token/", params={"name": "load"}).json()["token"]
        with Load(host, token, rate=200) as load:
            upgraded = client.post(
                "/api/plugins/install/",
                json={"packagename": "plugyard-lamp", "url": offered.url, "version": "1.1", "confirm": True},
            )
            assert upgraded.status_code == 201, upgraded.text
            reloaded = client.post("/api/plugins/reload/", json={"full_reload": True, "force_reload": True})
            assert reloaded.status_code == 201, reloaded.text
            assert act().json()["info"]["light"] == "bright"
        assert {status for _, status in load.answers} == {200}, load.answers
        assert load.lights["dim"] > 0
        record = client.get("/api/plugins/lamp/").json()
        assert (record["active"], record["meta"]["version"]) == (True, "1.1")

        offered.stop()
        generations = client.get("/api/plugins/generations/").json()
        first = next(one for one in generations if "plugyard-lamp" in one["requirements"])
        oldest = min(one["number"] for one in generations if "plugyard-lamp" in one["requirements"])
        assert first["number"] >= oldest
        restored = client.post(f"/api/plugins/generations/{oldest}/restore/")
        assert restored.status_code in {200, 201}, restored.text
        assert act().json()["info"]["light"] == "dim"
        assert client.get("/api/plugins/lamp/").json()["meta"]["version"] == "1.0"

        refused = client.patch("/api/plugins/lamp/uninstall/", json={"delete_config": False})
        assert refused.status_code == 400
        assert client.patch("/api/plugins/lamp/activate/", json={"active": False}).status_code == 200
        removed = client.patch("/api/plugins/lamp/uninstall/", json={"delete_config": False})
        assert removed.status_code == 200, removed.text
        assert client.get("/api/plugins/lamp/").json()["is_installed"] is False
        assert client.delete("/api/plugins/lamp/").status_code == 204
        assert client.get("/api/plugins/lamp/").status_code == 404
        assert act().status_code == 404

        assert "lamp" not in (host.home / "plugins.txt").read_text().lower()
        if before is not None:
            assert (host.home / "plugins.txt").read_bytes() == before
        assert [name for name in tree(host.home / "store") if name in store_before] == store_before
        assert host.stop() == 0


def test_a_second_start_keeps_everything(tmp_path: Path, index):
    """What was installed, activated and set is there after a restart, and the password is not shown again."""
    offered = index("thermostat")
    host = RunningHost(tmp_path / "home")
    with host, host.client() as client:
        body = {"packagename": "plugyard-thermostat", "url": offered.url, "confirm": True}
        assert client.post("/api/plugins/install/", json=body).status_code == 201
        assert client.patch("/api/plugins/thermostat/activate/").status_code == 200
        settings = client.get("/api/plugins/thermostat/settings/").json()
        number = next(one for one in settings if one["type"] == "integer")
        changed = client.patch(
            f"/api/plugins/thermostat/settings/{number['key']}/", json={"value": 21, "manual_confirm": True}
        )
        assert changed.status_code == 200, changed.text

    offered.stop()
    with host, host.client() as client:
        assert client.get("/api/plugins/thermostat/").json()["active"] is True
        again = client.get(f"/api/plugins/thermostat/settings/{number['key']}/").json()
        assert again["value"] == 21
