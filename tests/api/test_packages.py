"""Packages over the interface: plan, install, upload, follow, uninstall and restore."""

from __future__ import annotations

import json
import time

import pytest

from tests.api.service import running_service
from tests.packages_fixture import Wheels

P = "/api/plugins/"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Wheels of the projects that tests keep."""
    return Wheels(tmp_path_factory.mktemp("wheels"))


@pytest.fixture
def admin(fresh_service):
    """A superuser's client on a host of the test's own."""
    return fresh_service.client("superuser")


@pytest.fixture(scope="module")
def shared_admin(tmp_path_factory):
    """A superuser's client on a host that nothing can be installed from, for what changes nothing."""
    folder = tmp_path_factory.mktemp("shared")
    links = folder / "links"
    links.mkdir()
    with running_service(folder / "home", find_links=str(links), index_url=links.as_uri()) as service:
        yield service.client("superuser")


@pytest.mark.parametrize(
    ("body", "members"),
    [
        ({"packagename": "greeter"}, {"confirm"}),
        ({"packagename": "greeter", "confirm": False}, {"confirm"}),
        ({"packagename": "greeter", "confirm": "maybe"}, {"confirm"}),
        ({"packagename": "greeter", "confirm": None}, {"confirm"}),
        ({"confirm": True}, {"packagename", "url"}),
        ({"confirm": True, "packagename": " ", "url": ""}, {"packagename", "url"}),
        ({"confirm": True, "packagename": "<b>x</b>"}, {"packagename"}),
        ({"confirm": True, "packagename": "a; b"}, {"non_field_errors"}),
        ({"confirm": True, "packagename": "a", "version": "$(b)"}, {"non_field_errors"}),
        ({"confirm": True, "url": "https://example.org/simple"}, {"non_field_errors"}),
        ({"confirm": True, "packagename": "no-such-package-anywhere"}, {"non_field_errors"}),
    ],
)
@pytest.mark.parametrize("wait", ["", "?wait=false"])
def test_refused_installs(shared_admin, body, members, wait):
    """Each refusal names its member, whether or not the caller wants to wait."""
    response = shared_admin.post(f"{P}install/{wait}", json=body)

    if wait and members == {"non_field_errors"} and "no-such" in body.get("packagename", ""):
        assert response.status_code == 202
        return
    assert response.status_code == 400
    assert set(response.json()) == members


def test_installing_can_be_switched_off(tmp_path):
    """Then every change of packages is 400."""
    with running_service(tmp_path / "home", plugins_install_disabled="true") as service:
        client = service.client("superuser")
        response = client.post(f"{P}install/", json={"packagename": "greeter", "confirm": True})

        assert client.get("/api/").json()["plugins_install_disabled"] is True
    assert response.status_code == 400
    assert set(response.json()) == {"non_field_errors"}


def test_the_life_of_a_package(admin, built, tmp_path):
    """Plan, install, activate, upgrade, go back and uninstall, all through the interface."""
    links = tmp_path / "links"
    built.into(links, "lamp-1.0")

    planned = admin.post(f"{P}plan/", json={"packagename": "plugyard-lamp"}).json()
    assert [package["name"] for package in planned["add"]] == ["plugyard-lamp"]
    installed = admin.post(f"{P}install/", json={"packagename": "plugyard-lamp", "confirm": True})
    assert installed.status_code == 201, installed.text
    said = installed.json()
    assert said["version"] == "1.0"
    assert said["success"] == said["result"]
    assert said["input"] == {"packagename": "plugyard-lamp", "confirm": True}
    assert (said["packagename"], said["url"], said["confirm"]) == ("plugyard-lamp", "", True)

    plugin = admin.get(f"{P}lamp/").json()
    assert (plugin["active"], plugin["is_package"], plugin["package_name"]) == (False, True, "plugyard-lamp")
    assert admin.patch(f"{P}lamp/activate/", json={}).status_code == 200
    assert set(admin.patch(f"{P}lamp/uninstall/", json={}).json()) == {"non_field_errors"}

    built.into(links, "lamp-1.1")
    newer = admin.post(f"{P}install/", json={"packagename": "plugyard-lamp", "version": "1.1", "confirm": "yes"})
    assert newer.json()["version"] == "1.1"
    assert admin.get(f"{P}lamp/").json()["meta"]["version"] == "1.1"
    assert admin.get(f"{P}lamp/").json()["active"] is True

    generations = admin.get(f"{P}generations/").json()
    assert [one["current"] for one in generations] == [True, False]
    restored = admin.post(f"{P}generations/{generations[1]['number']}/restore/")
    assert restored.status_code == 200, restored.text
    assert admin.get(f"{P}lamp/").json()["meta"]["version"] == "1.0"

    assert admin.patch(f"{P}lamp/activate/", json={"active": False}).status_code == 200
    gone = admin.patch(f"{P}lamp/uninstall/", json={"delete_config": True})
    assert (gone.status_code, gone.json()) == (200, {"delete_config": True})
    assert admin.get(f"{P}lamp/").status_code == 404

    operations = admin.get(f"{P}operations/?limit=10").json()
    assert [one["kind"] for one in operations["results"]] == ["uninstall", "restore", "install", "install"]
    assert {one["status"] for one in operations["results"]} == {"succeeded"}
    assert len(admin.get(f"{P}operations/?kind=install&status=succeeded").json()) == 2
    shown = admin.get(f"{P}operations/{said['operation']}/").json()
    assert shown["progress"] == 100
    assert "log" in shown


def test_keeping_the_record(admin, built, tmp_path):
    """With delete_config false the record stays, without code."""
    built.into(tmp_path / "links", "greeter")
    name = built["greeter"].name.partition("-")[0]
    assert admin.post(f"{P}install/", json={"packagename": name, "confirm": True}).status_code == 201
    [key] = [plugin["key"] for plugin in admin.get(P).json() if plugin["is_package"]]

    assert admin.put(f"{P}{key}/uninstall/", json={"delete_config": False}).json() == {"delete_config": False}

    assert admin.get(f"{P}{key}/").json()["is_installed"] is False
    assert admin.delete(f"{P}{key}/").status_code == 204


def test_uploading_a_wheel(admin, built):
    """A wheel can be sent as a file of a form."""
    wheel = built["lamp-1.0"]
    with wheel.open("rb") as file:
        response = admin.post(f"{P}install/", data={"confirm": "true"}, files={"wheel": (wheel.name, file)})

    assert response.status_code == 201, response.text
    assert response.json()["version"] == "1.0"
    assert admin.get(f"{P}lamp/").json()["is_installed"] is True


@pytest.mark.parametrize("name", ["lamp.exe", "../lamp-1.0-py3-none-any.whl", "x.whl", "a b-1-py3-none-any.whl"])
def test_uploading_something_else(shared_admin, name):
    """What is no wheel by its name or content is refused, and nothing is installed."""
    response = shared_admin.post(f"{P}install/", data={"confirm": "true"}, files={"wheel": (name, b"no wheel")})

    assert response.status_code == 400
    assert shared_admin.get(f"{P}generations/").json() == []


def test_following_an_operation(admin, built, tmp_path):
    """Without waiting the caller gets an id at once, and can follow the work to its end."""
    built.into(tmp_path / "links", "lamp-1.0")

    started = admin.post(f"{P}install/?wait=false", json={"packagename": "plugyard-lamp", "confirm": True})
    assert started.status_code == 202
    with admin.stream("GET", f"{started.json()['url']}events/") as events:
        assert events.headers["content-type"].startswith("text/event-stream")
        text = events.read().decode()

    blocks = [block.split("\n") for block in text.strip().split("\n\n") if not block.startswith(":")]
    named = [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]
    assert named[0][0] == "progress"
    assert named[-1][0] == "result"
    assert named[-1][1]["status"] == "succeeded"
    assert named[-1][1]["result"]["version"] == "1.0"
    assert admin.get(started.json()["url"]).json()["status"] == "succeeded"


def test_a_failed_operation_says_why(admin):
    """Its events end with the error."""
    started = admin.post(f"{P}install/?wait=false", json={"packagename": "no-such-package-anywhere", "confirm": True})
    url = started.json()["url"]
    for _ in range(500):
        if admin.get(url).json()["status"] == "failed":
            break
        time.sleep(0.02)

    text = admin.get(f"{url}events/").text

    assert '"status":"failed"' in text
    assert "no-such-package-anywhere" in text
