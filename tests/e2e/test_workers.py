"""Background tasks in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e.hosts import RunningHost, environment

pytestmark = pytest.mark.e2e

TASKS = "/api/background-task/"
HELLO = "plugin.sample-schedules.hello"


def _until(condition: Callable[[], object], what: str, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited too long for {what}"
        time.sleep(0.05)


@contextmanager
def _worker(home: Path, **settings: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    command = [str(Path(sys.executable).with_name("plugyard")), "worker", "--json", "--threads", "3"]
    with (
        (home.parent / "worker.log").open("a") as errors,
        subprocess.Popen(
            command,
            env=environment(home, **settings),
            cwd=home,
            stdout=subprocess.PIPE,
            stderr=errors,
            stdin=subprocess.DEVNULL,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            yield process, json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
        finally:
            process.kill()


def _schedules(client: httpx2.Client) -> dict[str, dict[str, Any]]:
    found = {one["name"]: one for one in client.get(f"{TASKS}scheduled/").json()}
    return {name: one for name, one in found.items() if name.startswith("plugin.")}


def test_a_worker_runs_what_plugins_have_scheduled_while_they_are_active(tmp_path: Path):
    """The service leaves tasks to a worker, which follows what is activated, and ends when it is asked to."""
    settings = {"sample_plugins": "true"}
    with RunningHost(tmp_path / "home", "--no-tasks", **settings) as host, host.client() as client:
        activate = "/api/plugins/sample-schedules/activate/"
        assert client.patch(activate, json={"active": True}).status_code == 200
        _until(lambda: len(_schedules(client)) == 3, "the schedules")
        assert client.get(TASKS).json()["is_running"] is False
        assert _schedules(client)[HELLO]["task"] is None

        with _worker(host.home, **settings) as (process, said):
            assert said["threads"] == 3
            assert said["pid"] == process.pid
            _until(lambda: _schedules(client)[HELLO]["success"], "the first run")
            hello = _schedules(client)[HELLO]
            assert (hello["func"], hello["next_run"], hello["repeats"]) == (
                "sample_plugins.schedules.SampleSchedules.hello",
                None,
                -1,
            )
            assert client.get(f"{TASKS}{hello['task']}/").json()["success"] is True
            assert client.get("/api/").json()["worker_count"] == 3
            kinds = [one["kind"] for one in client.get("/api/plugins/status/").json()["processes"]]
            assert sorted(kinds) == ["web", "worker"]

            assert client.patch(activate, json={"active": False}).status_code == 200
            _until(lambda: not _schedules(client), "the end of the schedules")
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
        assert client.get(TASKS).json()["is_running"] is False
        assert "Traceback" not in (tmp_path / "worker.log").read_text() + host.log()


def test_of_several_web_processes_one_runs_tasks_and_another_takes_over(tmp_path: Path):
    """The service with several processes has one set of workers, also after that process was killed."""
    with RunningHost(tmp_path / "home", "--workers", "2", worker_threads="2") as host, host.client() as client:
        _until(lambda: client.get(TASKS).json()["is_running"], "a worker")
        _until(lambda: client.get("/api/").json()["worker_count"] == 2, "one set of workers")

        holders = [
            pid
            for pid in (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
            if (host.home / "tasks.lock") in _open_files(pid)
        ]
        assert len(holders) == 1
        os.kill(holders[0], signal.SIGKILL)

        _until(lambda: _runs_elsewhere(client), "the next worker")


def _runs_elsewhere(client: httpx2.Client) -> bool:
    try:
        return client.get(TASKS).json()["is_running"] is True
    except httpx2.TransportError:  # the connection was to the process that was killed
        return False


def _open_files(pid: int) -> list[Path]:
    try:
        return [link.readlink() for link in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return []
