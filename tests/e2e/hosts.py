"""A host as its users start it: a process of its own, reached over a real socket."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

import httpx2

from tests.databases import put_host_database

ADMIN = ("admin", "correct horse battery staple")
_PLUGYARD = Path(sys.executable).with_name("plugyard")
# Looking into the plugins that come with the host takes a second; all hosts of a run find the same.
_MANIFESTS: dict[str, bytes] = {}


def environment(home: Path, **settings: str) -> dict[str, str]:
    """Return an environment without settings of this machine, for a host whose home is ``home``."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PLUGYARD_", "PIP_"))}
    return kept | {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PLUGYARD_HOME": str(home),
        "PLUGYARD_PLUGINS_FILE": str(home / "plugins.txt"),
        # Cheap hashes: the cost of good ones is no subject here.
        "PLUGYARD_ACCOUNT_PASSWORD_TIME_COST": "1",
        "PLUGYARD_ACCOUNT_PASSWORD_MEMORY_KIB": "32",
        "PLUGYARD_ADMIN_USER": ADMIN[0],
        "PLUGYARD_ADMIN_PASSWORD": ADMIN[1],
        "PYTHONUNBUFFERED": "1",
        **{f"PLUGYARD_{name.upper()}": value for name, value in settings.items()},
    }


def plugyard(home: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the ``plugyard`` command and wait for it."""
    return subprocess.run(
        [_PLUGYARD, *arguments],
        env=environment(home, **settings),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class RunningHost:
    """A host that serves; use it in a ``with`` statement."""

    migrates = False
    """Whether it makes its database itself, instead of finding one that is up to date."""

    def __init__(self, home: Path, *arguments: str, **settings: str) -> None:
        self.home = home
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._arguments = arguments
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self.output = home.parent / f"{home.name}-{self.port}.log"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, *, wait: bool = True) -> None:
        """Start the process and wait until it answers."""
        manifests = self.home / "manifests"
        is_new = not manifests.exists()
        manifests.mkdir(parents=True, exist_ok=True)
        if is_new:
            for name, content in _MANIFESTS.items():
                (manifests / name).write_bytes(content)
            if not self.migrates:
                put_host_database(self.home)
        with self.output.open("ab") as output:
            self._process = subprocess.Popen(
                [_PLUGYARD, "serve", "--port", str(self.port), *self._arguments],
                env=environment(self.home, **self._settings),
                cwd=self.home,
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        if wait:
            self.wait_until_healthy()
            if is_new and not (self.home / "store").exists():
                _MANIFESTS.update({file.name: file.read_bytes() for file in manifests.glob("*.json")})

    def wait_until_healthy(self, seconds: float = 60) -> None:
        """Wait until ``/health`` answers, or fail with what the process printed."""
        end = time.monotonic() + seconds
        with self.client(None) as client:
            while time.monotonic() < end:
                assert self.process.poll() is None, f"the host ended with {self.process.returncode}:\n{self.log()}"
                try:
                    if client.get("/health", timeout=2).status_code == 200:
                        return
                except httpx2.TransportError:
                    time.sleep(0.05)
        raise AssertionError(f"the host did not answer within {seconds} s:\n{self.log()}")

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The running process."""
        assert self._process is not None, "the host was not started"
        return self._process

    def log(self) -> str:
        """Return what the process printed so far."""
        return self.output.read_text("utf-8", "replace")

    def kill(self) -> None:
        """End the process and its children at once, as a power cut would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)

    def kill_alone(self) -> None:
        """End the process at once; its children find out by themselves."""
        self.process.kill()
        self.process.wait(10)

    def stop(self) -> int:
        """Ask the process to end, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
                raise AssertionError(f"the host did not stop within 20 s:\n{self.log()}") from None
        return self.process.returncode

    def client(self, user: tuple[str, str] | None = ADMIN, **options: Any) -> httpx2.Client:
        """Return a client that signs in with HTTP Basic."""
        # Reading the certificates of the world takes longer than most requests; there is only http here.
        return httpx2.Client(base_url=self.url, auth=user, **{"timeout": 90, "verify": False, **options})


class FreshHost(RunningHost):
    """A host that makes its database itself, as at the very first start."""

    migrates = True
