"""Large uploads and downloads, and what is left of them when either side is killed half-way.

``PLUGYARD_TEST_UPLOAD_MB`` says how large, 64 MiB by default.
"""

from __future__ import annotations

import base64
import hashlib
import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.hosts import ADMIN, RunningHost

pytestmark = pytest.mark.e2e

MIB = 1024 * 1024
SIZE = int(os.environ.get("PLUGYARD_TEST_UPLOAD_MB", "64"))
GROWTH = min(64, SIZE // 2) * MIB
BOUNDARY = "the-edge-of-a-part"
HEAD = (
    "".join(
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in (("model_type", "part"), ("model_id", "1"))
    )
    + f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="attachment"; filename="large.bin"\r\n'
    "Content-Type: application/octet-stream\r\n\r\n"
).encode()
FOOT = f"\r\n--{BOUNDARY}--\r\n".encode()
FORM = f"multipart/form-data; boundary={BOUNDARY}"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """A host that takes files of this size."""
    with RunningHost(tmp_path_factory.mktemp("uploads") / "home", max_body_mb=str(SIZE + 1)) as host:
        with host.client() as client:
            answer = client.patch("/api/settings/global/INVENTREE_UPLOAD_MAX_SIZE/", json={"value": SIZE})
            assert answer.status_code == 200, answer.text
        yield host


def forget_peak(host: RunningHost) -> int:
    """Begin to measure anew, and return how many bytes of memory the process has now."""
    Path(f"/proc/{host.process.pid}/clear_refs").write_text("5")
    return peak(host)


def peak(host: RunningHost) -> int:
    """Return how many bytes of memory the process had at most."""
    lines = Path(f"/proc/{host.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def stored(host: RunningHost) -> set[str]:
    """Return every file in the folder for files and in the one for uploads that are received, finished or not."""
    folders = (host.home / "files", host.home / "tmp")
    return {str(path) for folder in folders for path in folder.rglob("*") if path.is_file()}


def eventually(holds: Callable[[], bool]) -> bool:
    """Wait until something holds, for ten seconds at most."""
    end = time.monotonic() + 10
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def count(host: RunningHost) -> int:
    """Return how many attachments there are."""
    with host.client() as client:
        return int(client.get("/api/attachment/", params={"limit": 1}).json()["count"])


def test_a_large_file_takes_little_memory(host: RunningHost):
    """A file goes to the disk as it comes, and from there as it is fetched; every byte is the same."""
    block = os.urandom(MIB)
    digest = hashlib.sha256()

    def body():
        yield HEAD
        for _ in range(SIZE):
            digest.update(block)
            yield block
        yield FOOT

    with host.client() as client:
        count(host)
        before = forget_peak(host)
        answer = client.post("/api/attachment/", content=body(), headers={"Content-Type": FORM})
        assert answer.status_code == 201, answer.text
        record = answer.json()
        assert record["file_size"] == SIZE * MIB
        assert peak(host) - before < GROWTH

        before = forget_peak(host)
        got = hashlib.sha256()
        with client.stream("GET", record["attachment"]) as download:
            assert download.headers["content-length"] == str(SIZE * MIB)
            for piece in download.iter_bytes():
                got.update(piece)
        assert got.digest() == digest.digest()
        assert peak(host) - before < GROWTH

        assert client.delete(f"/api/attachment/{record['pk']}/").status_code == 204
        assert client.get(record["attachment"]).status_code == 404
    assert stored(host) == set()


def request_line(length: int) -> bytes:
    """Return the beginning of an upload of some bytes."""
    return (
        f"POST /api/attachment/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: {FORM}\r\n"
        f"Authorization: Basic {base64.b64encode(':'.join(ADMIN).encode()).decode()}\r\n"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


def begin_upload(host: RunningHost) -> socket.socket:
    """Send the first half of a file, and wait until the host has received some of it."""
    line = socket.create_connection(("127.0.0.1", host.port), timeout=30)
    line.sendall(request_line(len(HEAD) + SIZE * MIB + len(FOOT)) + HEAD)
    for _ in range(SIZE // 2):
        line.sendall(b"x" * MIB)
    assert eventually(lambda: any(name.startswith(str(host.home / "tmp")) for name in opened(host)))
    return line


def opened(host: RunningHost) -> list[str]:
    """Return what the process has open."""
    names = []
    for link in Path(f"/proc/{host.process.pid}/fd").iterdir():
        try:
            names.append(str(link.readlink()))
        except FileNotFoundError:
            continue
    return names


def test_a_killed_client_leaves_nothing(host: RunningHost):
    """An upload that ends half-way makes neither row nor file, and nothing of it stays open."""
    before = stored(host), count(host)

    begin_upload(host).close()

    assert eventually(lambda: not any(name.startswith(str(host.home / "tmp")) for name in opened(host)))
    assert (stored(host), count(host)) == before


def test_a_client_that_goes_while_it_downloads(host: RunningHost):
    """The file is closed when nobody wants the rest."""
    with host.client() as client:
        files = {"attachment": ("a.bin", b"x" * (SIZE * MIB // 4))}
        record = client.post("/api/attachment/", data={"model_type": "part", "model_id": 1}, files=files).json()
        with client.stream("GET", record["attachment"]) as download:
            next(download.iter_bytes())

        assert eventually(lambda: not any("attachments" in name for name in opened(host)))
        client.delete(f"/api/attachment/{record['pk']}/")


def test_a_killed_server_leaves_nothing(host: RunningHost):
    """After a power cut in the middle of an upload there is neither row nor file, before and after the next start."""
    before = stored(host), count(host)

    with begin_upload(host):
        host.kill()

    assert stored(host) == before[0]
    host.start()
    assert (stored(host), count(host)) == before


def test_more_than_a_body_may_have_is_refused(host: RunningHost):
    """The refusal comes before any of the body was sent, and says how more can be allowed."""
    with socket.create_connection(("127.0.0.1", host.port), timeout=30) as line:
        line.sendall(request_line((SIZE + 2) * MIB))
        answer = b"".join(iter(lambda: line.recv(65536), b""))

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"PLUGYARD_MAX_BODY_MB" in answer
