"""Starting and stopping."""

from __future__ import annotations

import re
import socket
import time
from pathlib import Path

import httpx2
import pytest

from tests.e2e.hosts import FreshHost, RunningHost, plugyard

pytestmark = pytest.mark.e2e


def test_the_first_start_shows_a_password_once(tmp_path: Path):
    """Without a configured password one is made, shown, works, and is not shown at the second start."""
    host = FreshHost(tmp_path / "home", admin_password="")
    with host:
        shown = re.search(r"shown only this once: (\S+)", host.log())
        assert shown is not None, host.log()
        assert f"ready on {host.url}" in host.log()
        with host.client(("admin", shown[1])) as client:
            assert client.get("/api/user/me/").json()["is_superuser"] is True
            keys = [one["key"] for one in client.get("/api/plugins/", params={"active": "true"}).json()]
            assert keys == [
                "audit-log",
                "core-navigation",
                "exchange-rates",
                "exporter",
                "inventory",
                "sms-log",
                "tabler-icons",
            ]
        assert host.stop() == 0
    assert "Traceback" not in host.log()

    host.output.unlink()
    with host, host.client(("admin", shown[1])) as client:
        assert "once" not in host.log()
        assert client.get("/api/user/me/").status_code == 200


def test_a_port_in_use_is_one_line(tmp_path: Path):
    """The message names the port and the remedy."""
    (tmp_path / "home").mkdir()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = plugyard(tmp_path / "home", "serve", "--port", str(port))

    assert done.returncode == 1
    assert f"Port {port}" in done.stderr
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_setting_is_named(tmp_path: Path):
    """A value that cannot be used ends the start with the variable's name."""
    (tmp_path / "home").mkdir()
    done = plugyard(tmp_path / "home", "serve", "--port", "0", pip_timeout="soon")

    assert done.returncode == 1
    assert "PLUGYARD_PIP_TIMEOUT" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.postgres
def test_workers_and_nodes_follow_each_other(tmp_path: Path, postgres_url: str, wheels):
    """Two nodes on one PostgreSQL serve the same plugins soon after a change on one; workers of one node at once."""
    first = RunningHost(tmp_path / "one", "--workers", "2", database_url=postgres_url)
    second = RunningHost(tmp_path / "two", database_url=postgres_url, find_links=str(wheels["greeter"].parent))
    with first, second, first.client() as here, second.client() as there:
        assert there.patch("/api/plugins/core-navigation/activate/", json={"active": False}).status_code == 200
        end = time.monotonic() + 30
        while any(navigation(here) for _ in range(10)):
            assert time.monotonic() < end, "the first node does not follow the second"
        assert here.patch("/api/plugins/core-navigation/activate/", json={"active": True}).status_code == 200
        for _ in range(10):
            assert navigation(here) != []
        status = here.get("/api/plugins/status/").json()
        assert len(status["processes"]) == 3
        assert first.stop() == 0
        assert second.stop() == 0


def navigation(client: httpx2.Client) -> list[object]:
    """Return the links of the menu, with a new connection, so that any worker may answer."""
    answer = client.get("/api/plugins/ui/features/navigation/", headers={"Connection": "close"})
    assert answer.status_code == 200
    return list(answer.json())
