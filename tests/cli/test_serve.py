"""The service as a process: how it starts, what it prints and how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

_PLUGYARD = Path(sys.executable).with_name("plugyard")

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start the service: its standard output is read, its errors are kept in a file."""
    started: list[subprocess.Popen[str]] = []

    def begin(*arguments: str, password: str = "correct horse battery staple") -> subprocess.Popen[str]:
        with Path("errors.txt").open("w") as errors:
            process = subprocess.Popen(
                [_PLUGYARD, "serve", *arguments],
                stdout=subprocess.PIPE,
                stderr=errors,
                stdin=subprocess.DEVNULL,
                text=True,
                env=os.environ | {"PLUGYARD_ADMIN_PASSWORD": password},
            )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait(10)
        if process.stdout:
            process.stdout.close()


def _ready(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if " is ready on " in line:
            return line.rpartition(" ")[2].strip()
    raise AssertionError(Path("errors.txt").read_text())


def _health(url: str) -> int:
    with urllib.request.urlopen(f"{url}/health", timeout=20) as answer:  # noqa: S310 - our own server
        return int(answer.status)


def _refused(url: str) -> bool:
    try:
        _health(url)
    except urllib.error.URLError:
        return True
    return False


def _children(pid: int) -> set[int]:
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            command = (folder / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile
        if parent == pid and b"spawn_main" in command:
            found.add(int(folder.name))
    return found


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, Path("errors.txt").read_text()
        time.sleep(0.05)


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("number", "more"),
    [pytest.param(signal.SIGTERM, [], id="SIGTERM"), pytest.param(signal.SIGINT, ["--no-tasks"], id="Ctrl-C")],
)
def test_the_service_answers_once_it_is_ready_and_ends_cleanly(number, more, start, home):
    """The line with the URL comes when requests are answered; the end is no failure and leaves no traceback.

    The request of a connection that was accepted before the end may still be on the way, and is answered.
    """
    process = start("--port", "0", *more)
    url = _ready(process)
    with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=20) as early:
        assert _health(url) == 200  # connections are accepted in turn, so the early one is too
        process.send_signal(number)
        _until(lambda: _refused(url))
        early.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = early.recv(1000)

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert process.wait(30) == 0
    assert "Traceback" not in Path("errors.txt").read_text()


@pytest.mark.e2e
def test_the_first_start_tells_the_password_once(start, home):
    """Where none was given one is made up; a second start says nothing of it. Nothing follows the document."""
    shown = []
    for _ in range(2):
        process = start("--port", "0", "--json", password="")
        text = ""
        while not text.endswith("\n}\n"):
            line = process.stdout.readline()
            assert line, Path("errors.txt").read_text()
            text += line
        shown.append(json.loads(text))
        process.terminate()
        assert (process.wait(30), process.stdout.read()) == (0, "")

    assert shown[0]["administrator"]["username"] == "admin"
    assert len(shown[0]["administrator"]["password"]) >= 20
    assert set(shown[1]) == {"url", "version", "pid"}


@pytest.mark.e2e
def test_workers_are_replaced_one_by_one(start, home):
    """SIGHUP gives every worker a successor while requests go on; the end of the parent is the end of all."""
    process = start("--port", "0", "--workers", "2")
    url = _ready(process)
    before = _children(process.pid)
    process.send_signal(signal.SIGHUP)

    def replaced() -> bool:
        assert _health(url) == 200
        after = _children(process.pid)
        return len(after) == 2 and not after & before

    _until(replaced)
    after = _children(process.pid)
    process.send_signal(signal.SIGTERM)

    assert process.wait(30) == 0
    assert len(before) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in after)
    assert "Traceback" not in Path("errors.txt").read_text()


@pytest.mark.e2e
def test_workers_end_with_their_parent(start, home):
    """A parent that is killed leaves nobody behind who holds the port."""
    process = start("--port", "0", "--workers", "2")
    _ready(process)
    workers = _children(process.pid)

    process.kill()

    _until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
    assert len(workers) == 2


def test_a_port_in_use_is_one_clear_line(run, tmp_path):
    """It is found out before anything is made."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        answer = run("serve", "--port", port)

    assert answer.code == 1
    assert answer.err.startswith(f"Error: Port {port} on 127.0.0.1 is in use already.")
    assert len(answer.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        pytest.param("DATABASE_URL", "postgresql://ada:sesame@127.0.0.1:1/x", "cannot be used", id="database"),
        pytest.param("DATABASE_URL", "sqlite:////", "permissions and free space of PLUGYARD_HOME", id="database file"),
        pytest.param("DATABASE_URL", "sesame", "is no database URL", id="database URL"),
        pytest.param("PIP_TIMEOUT", "soon", "PLUGYARD_PIP_TIMEOUT", id="configuration"),
        pytest.param("ADMIN_EMAIL", "nowhere", "PLUGYARD_ADMIN_EMAIL", id="administrator"),
    ],
)
def test_a_service_that_cannot_start_says_why(name, value, words, run, home, monkeypatch):
    """Two lines with a remedy, no traceback and no password."""
    monkeypatch.setenv(f"PLUGYARD_{name}", value)

    answer = run("serve", "--port", 0)

    assert answer.code == 1
    assert words in answer.err
    assert "sesame" not in answer.err
    assert len(answer.err.splitlines()) <= 2


def test_a_host_that_nobody_has_is_refused(run, tmp_path):
    """The address is named, and how to choose another."""
    answer = run("serve", "--host", "nowhere.invalid", "--json")

    assert answer.code == 1
    assert "--host" in answer.document["error"]
