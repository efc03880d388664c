"""What the server says of itself, and the own account."""

from __future__ import annotations

import pytest

STAFF_ONLY = ("system_health", "database", "platform", "installer", "target", "django_admin", "framework_admin")
FOR_ALL = (
    "server",
    "id",
    "version",
    "instance",
    "apiVersion",
    "worker_running",
    "worker_count",
    "worker_pending_tasks",
    "plugins_enabled",
    "plugins_install_disabled",
    "email_configured",
    "debug_mode",
    "docker_mode",
    "default_locale",
    "customize",
    "settings",
    "active_plugins",
)


@pytest.mark.parametrize("caller", ["anonymous", "user", "staff", "superuser"])
def test_all_members_are_always_there(service, caller):
    """What only staff may know is null for others."""
    info = service.client(caller).get("/api/").json()

    assert set(info) == {*STAFF_ONLY, *FOR_ALL}
    assert info["server"] == "Plugyard"
    assert info["apiVersion"] == 530
    assert set(info["customize"]) == {"logo", "splash", "login_message", "navbar_message", "disable_theme_storage"}
    assert set(info["settings"]) == {"sso_registration", "registration_enabled", "password_forgotten_enabled"}
    assert all(set(plugin) == {"name", "slug", "version"} for plugin in info["active_plugins"])
    if caller in {"anonymous", "user"}:
        assert {info[name] for name in STAFF_ONLY} == {None}
    else:
        assert info["system_health"] is True
        assert info["database"] == "sqlite"


def test_the_own_account(service):
    """Names and address can be changed; flags cannot; roles are shown when asked for."""
    client = service.client("user")

    me = client.patch("/api/user/me/", json={"first_name": " Ann ", "is_superuser": True, "pk": 99}).json()

    assert (me["username"], me["first_name"], me["is_superuser"]) == ("user", "Ann", False)
    assert "roles" not in client.get("/api/user/me/").json()
    assert {"roles", "permissions"} <= set(client.get("/api/user/me/?roles=true").json())
    assert "email" in client.patch("/api/user/me/", json={"email": "nonsense"}).json()
    assert set(client.put("/api/user/me/", json={}).json()) == {"username"}


def test_tokens(service):
    """Each call makes a token that works, and earlier ones go on working."""
    client, anonymous = service.client("user"), service.client("anonymous")

    made = [client.get(f"/api/user/{path}/?name= my tool").json() for path in ("token", "me/token")]

    assert made[0]["token"] != made[1]["token"]
    for token in made:
        assert set(token) == {"token", "name", "expiry"}
        assert token["name"] == "my-tool"
        me = anonymous.get("/api/user/me/", headers={"Authorization": f"Token {token['token']}"})
        assert me.json()["username"] == "user"
    assert client.get("/api/user/token/?name=<b>").status_code == 400
    assert client.post("/api/user/token/").status_code == 405


def test_basic_authentication(service):
    """Name and password do as well as a token."""
    anonymous = service.client("anonymous")

    assert anonymous.get("/api/user/me/", auth=("staff", "correct horse battery")).json()["username"] == "staff"
    assert anonymous.get("/api/", auth=("staff", "wrong")).status_code == 401


@pytest.mark.parametrize(
    ("path", "method", "members"),
    [
        ("/api/action/", "POST", {"action", "data"}),
        ("/api/locate/", "POST", {"plugin", "item", "location"}),
        ("/api/user/token/", "GET", {"token", "name", "expiry"}),
    ],
)
def test_forms_can_be_built_from_what_options_tells(service, path, method, members):
    """Every member that can be sent is described, also where the handler reads the body itself."""
    described = service.client("user").options(path).json()["actions"][method]

    assert members <= set(described)
    assert all(info["label"] for info in described.values())
