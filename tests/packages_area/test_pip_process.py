"""pip runs apart from the host: with its own environment, and never longer than the host."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

from host.packages.pip_process import Pip
from tests.packages_area.yard import HERMETIC

ROOT = Path(__file__).parents[2]


def test_the_hosts_secrets_and_odd_settings_stay_outside():
    """Pip sees the administrator's index settings, and neither the host's configuration nor what would redirect it."""
    given = {"PLUGYARD_SECRET_KEY": "s", "PIP_TARGET": "/x", "PIP_INDEX_URL": "https://x.example", "HOME": "/home/ann"}

    seen = Pip(environment=given)._variables()

    assert (seen["PIP_INDEX_URL"], seen["HOME"], seen["PIP_NO_INPUT"]) == ("https://x.example", "/home/ann", "1")
    assert not seen.keys() & {"PLUGYARD_SECRET_KEY", "PIP_TARGET"}


def test_lines_arrive_one_by_one():
    """Everything that pip prints is passed on and returned, with its exit code."""
    lines: list[str] = []

    run = Pip(environment=HERMETIC).run(["--version"], on_line=lines.append)

    assert (run.code, run.lines, run.timed_out) == (0, tuple(lines), False)
    assert run.output.startswith("pip ")


def test_pip_dies_with_its_parent():
    """When the host is killed pip ends as well, and lets go of its connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)
        index = f"http://127.0.0.1:{server.getsockname()[1]}/simple"
        script = (
            "from host.packages.pip_process import Pip\n"
            f"Pip().run(['download', 'x', '--index-url', {index!r}], on_line=lambda line: None)"
        )
        parent = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, env=HERMETIC)
        connection, _ = server.accept()
        with connection:
            connection.settimeout(30)
            assert connection.recv(65536)
            parent.send_signal(signal.SIGKILL)
            parent.wait()
            assert connection.recv(65536) == b""
