"""Packages that are wrong: each is refused with its cause, leaves no trace, and troubles nobody else."""

from __future__ import annotations

import base64
import hashlib
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from tests.e2e.hosts import RunningHost
from tests.packages_catalogue import Kind, Package, Stage, packages

pytestmark = pytest.mark.e2e


@contextmanager
def healthy(host: RunningHost) -> Iterator[None]:
    """Ask for ``/health`` all the while, and fail when an answer took longer than three seconds."""
    stop, slowest, faults = threading.Event(), [0.0], list[str]()

    def watch() -> None:
        with host.client(None, timeout=10) as client:
            while not stop.wait(0.1):
                began = time.monotonic()
                try:
                    if client.get("/health").status_code != 200:
                        faults.append("not healthy")
                except httpx2.HTTPError as error:
                    faults.append(repr(error))
                slowest[0] = max(slowest[0], time.monotonic() - began)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()
    assert faults == []
    assert slowest[0] < 3


def state(host: RunningHost, client: httpx2.Client) -> dict[str, object]:
    """Return everything that an installation could leave behind."""
    file = host.home / "plugins.txt"
    folders = {name: sorted(path.name for path in (host.home / name).glob("*")) for name in ("store", "tmp")}
    wheels = sorted(path.name for path in (host.home / "files").rglob("*.whl"))
    return folders | {
        "plugins.txt": file.read_text() if file.exists() else "",
        "wheels": wheels,
        "plugins": sorted(one["key"] for one in client.get("/api/plugins/").json()),
        "generations": [one["number"] for one in client.get("/api/plugins/generations/").json()],
        "errors": client.get("/api/plugins/status/").json()["registry_errors"],
    }


def message(answer: httpx2.Response) -> str:
    """Return all text of a refusal, in lower case."""
    return answer.text.lower()


@pytest.mark.parametrize("package", packages(Kind.BAD, Stage.INSTALL), ids=lambda package: package.name)
def test_what_can_never_work_is_not_installed(package: Package, shared_host: RunningHost, client, index):
    """The refusal names the cause, and everything is as it was before."""
    offered = index(package.name, *package.requires)
    before = state(shared_host, client)

    with healthy(shared_host):
        answer = client.post(
            "/api/plugins/install/", json={"packagename": package.distribution, "url": offered.url, "confirm": True}
        )

    assert answer.status_code == 400, answer.text
    assert package.cause in message(answer)
    assert state(shared_host, client) == before


@pytest.mark.parametrize("package", packages(Kind.BAD, Stage.ACTIVATE), ids=lambda package: package.name)
def test_what_cannot_be_loaded_is_not_activated(package: Package, shared_host: RunningHost, client, index):
    """Activation names the cause, the status shows it, and an uninstall takes everything away."""
    offered = index(package.name, *package.requires)
    before = state(shared_host, client)
    (key,) = package.keys

    with healthy(shared_host):
        installed = client.post(
            "/api/plugins/install/", json={"packagename": package.distribution, "url": offered.url, "confirm": True}
        )
        assert installed.status_code == 201, installed.text
        refused = client.patch(f"/api/plugins/{key}/activate/", json={"active": True})

    assert refused.status_code == 400, refused.text
    assert package.cause in message(refused)
    assert client.get(f"/api/plugins/{key}/").json()["active"] is False
    errors = client.get("/api/plugins/status/").json()["registry_errors"]
    shown = next(error for error in errors if error["name"] == key)
    assert shown["stage"]
    assert package.cause in shown["message"].lower()

    removed = client.patch(f"/api/plugins/{key}/uninstall/", json={"delete_config": True})
    assert removed.status_code == 200, removed.text
    after = state(shared_host, client)
    # Generations that can be restored keep their folders and wheels.
    for kept in ("generations", "store", "wheels"):
        before.pop(kept), after.pop(kept)
    assert after == before


@pytest.mark.parametrize("package", packages(Kind.BAD, Stage.CALL), ids=lambda package: package.name)
def test_what_fails_when_called_fails_alone(package: Package, shared_host: RunningHost, client, index):
    """The caller gets an answer within the deadline, other plugins go on, and the failure is reported."""
    offered = index(package.name, "greeter")
    # The other plugin stays for the next package.
    is_there = client.get("/api/plugins/greeter/").status_code == 200
    for distribution in (package.distribution, *(() if is_there else ("plugyard-greeter",))):
        body = {"packagename": distribution, "url": offered.url, "confirm": True}
        assert client.post("/api/plugins/install/", json=body).status_code == 201
    for key in (*package.keys, "greeter"):
        assert client.patch(f"/api/plugins/{key}/activate/").status_code == 200

    with healthy(shared_host):
        began = time.monotonic()
        answer = client.post("/api/action/", json={"action": package.name, "data": {}})
        assert time.monotonic() - began < 8
        other = client.post("/api/action/", json={"action": "greet", "data": {"name": "Ann"}})

    assert answer.status_code == 404
    assert answer.json()["action"] == package.name
    assert other.status_code == 200
    for key in package.keys:
        assert client.patch(f"/api/plugins/{key}/activate/", json={"active": False}).status_code == 200
        assert client.patch(f"/api/plugins/{key}/uninstall/").status_code == 200


def test_conflicting_plugins_are_refused(shared_host: RunningHost, client, index):
    """A plugin whose requirement contradicts that of an installed one is refused, naming both."""
    offered = index("needs-helper-1", "needs-helper-2", "helper-lib-1.0", "helper-lib-2.0")
    body = {"packagename": "plugyard-needs-helper-1", "url": offered.url, "confirm": True}
    assert client.post("/api/plugins/install/", json=body).status_code == 201
    before = state(shared_host, client)

    body["packagename"] = "plugyard-needs-helper-2"
    refused = client.post("/api/plugins/install/", json=body)

    assert refused.status_code == 400
    text = message(refused)
    assert "plugyard-needs-helper-1" in text
    assert "plugyard-needs-helper-2" in text
    assert "helper-lib" in text
    assert state(shared_host, client) == before


def test_an_upgrade_that_cannot_be_loaded_is_refused(tmp_path, shared_host: RunningHost, client, wheels):
    """A working plugin stays when its new version is broken."""
    installed = client.post("/api/plugins/install/", json={"packagename": str(wheels["lamp-1.0"]), "confirm": True})
    assert installed.status_code == 201, installed.text
    assert client.patch("/api/plugins/lamp/activate/").status_code == 200
    broken = spoiled(wheels["lamp-1.1"], tmp_path)
    before = state(shared_host, client)

    refused = client.post("/api/plugins/install/", json={"packagename": str(broken), "confirm": True})

    assert refused.status_code == 400, refused.text
    assert "syntaxerror" in message(refused)
    assert state(shared_host, client) == before
    action = client.post("/api/action/", json={"action": "lamp.switch"})
    assert action.json()["info"]["light"] == "dim"


def spoiled(wheel, folder):
    """Return a copy of a wheel whose plugin module is no Python, with a RECORD that agrees."""
    copy = folder / wheel.name
    with zipfile.ZipFile(wheel) as opened:
        members = {name: opened.read(name) for name in opened.namelist()}
    members["lamp/plugin.py"] = b"def broken(:\n"
    digest = base64.urlsafe_b64encode(hashlib.sha256(members["lamp/plugin.py"]).digest()).rstrip(b"=").decode()
    record = next(name for name in members if name.endswith("RECORD"))
    lines = [line for line in members[record].decode().splitlines() if not line.startswith("lamp/plugin.py,")]
    lines.append(f"lamp/plugin.py,sha256={digest},{len(members['lamp/plugin.py'])}")
    members[record] = ("\n".join(lines) + "\n").encode()
    with zipfile.ZipFile(copy, "w") as written:
        for name, content in members.items():
            written.writestr(name, content)
    return copy
