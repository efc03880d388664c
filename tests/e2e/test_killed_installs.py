"""A host that dies in the midst of an installation."""

from __future__ import annotations

import contextlib
import os
import random
import re
import threading
import time
from pathlib import Path

import httpx2
import pytest

from tests.e2e.hosts import RunningHost

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

_KILLS = int(os.environ.get("PLUGYARD_TEST_KILLS", "5"))


def test_a_killed_installation_is_whole_or_not_there(tmp_path: Path, index):
    """After ``kill -9`` at any moment the next start has the old or the new generation, says which, and works."""
    offered = index("lamp-1.0", "lamp-1.1")
    moments = random.Random(20)  # noqa: S311 - when to strike, not a secret
    host = RunningHost(tmp_path / "home")
    host.start()
    with host.client() as client:
        body = {"packagename": "plugyard-lamp", "url": offered.url, "version": "1.0", "confirm": True}
        began = time.monotonic()
        assert client.post("/api/plugins/install/", json=body).status_code == 201
        duration = time.monotonic() - began
        assert client.patch("/api/plugins/lamp/activate/").status_code == 200

    seen = set()
    expected = {"1.0"}
    for number in range(_KILLS):
        wanted = "1.1" if expected == {"1.0"} else "1.0"
        # Spread over the whole time, so that few kills hit both sides of the switch.
        moment = (number + moments.random()) / _KILLS * duration * 1.3
        strike(host, {**body, "version": wanted}, moment)
        host.start()

        version, light = look(host)
        assert version in expected | {wanted}
        assert light == {"1.0": "dim", "1.1": "bright"}[version]
        assert re.findall(r"plugyard-lamp==([\d.]+)", (host.home / "plugins.txt").read_text()) == [version]
        in_force = current(host)
        said = re.findall(r"Generation (\d+) is in force", host.log())
        assert int(said[-1]) == in_force
        assert list((host.home / "tmp").glob("*")) == []
        seen.add((moment, version == wanted))
        expected = {version}
    host.stop()
    assert {changed for _, changed in seen} == {True, False}, "the moments should hit both sides of the switch"


def strike(host: RunningHost, body: dict[str, object], moment: float) -> None:
    """Begin an installation and kill the host a moment later."""

    def ask() -> None:
        with contextlib.suppress(httpx2.HTTPError), host.client() as client:
            client.post("/api/plugins/install/", json=body)

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(moment)
    host.kill_alone()
    asking.join()


def look(host: RunningHost) -> tuple[str, str]:
    """Return the version of the lamp, and what its action says."""
    with host.client() as client:
        record = client.get("/api/plugins/lamp/").json()
        action = client.post("/api/action/", json={"action": "lamp.switch"}).json()
        assert client.get("/api/plugins/status/").json()["registry_errors"] == []
        return record["meta"]["version"], action["info"]["light"]


def current(host: RunningHost) -> int:
    """Return the number of the generation in force."""
    with host.client() as client:
        return int(next(one["number"] for one in client.get("/api/plugins/generations/").json() if one["current"]))
