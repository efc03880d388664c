"""Global settings and user settings over HTTP, and what follows them at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import select

from host.settings.tables import GLOBAL
from tests.api.service import Service, running_service

GLOBAL_PATH = "/api/settings/global/"
USER_PATH = "/api/settings/user/"
MEMBERS = {
    "pk",
    "key",
    "value",
    "name",
    "description",
    "type",
    "units",
    "required",
    "choices",
    "model_name",
    "model_filters",
    "api_url",
    "confirm",
    "confirm_text",
    "typ",
}


@pytest.fixture(scope="module")
def service(tmp_path_factory) -> Iterator[Service]:
    """A host of which one setting is fixed."""
    with running_service(tmp_path_factory.mktemp("settings"), signup_group="Members") as one:
        yield one


@pytest.fixture
def staff(service):
    return service.client("staff")


@pytest.fixture
def change(service) -> Iterator[Any]:
    """Change global settings as staff do; the values of before come back after the test."""
    client = service.client("superuser")
    token = client.headers["Authorization"]
    former: dict[str, Any] = {}

    def change_one(key: str, value: Any) -> Any:
        former.setdefault(key, service.host.global_settings.value(key))
        answer = client.patch(f"{GLOBAL_PATH}{key}/", json={"value": value}, headers={"Authorization": token})
        assert answer.status_code == 200, answer.text
        return answer.json()

    yield change_one
    for key, value in former.items():
        change_one(key, value)


def stored(service, key: str) -> str | None:
    """Return what the table holds."""
    with service.host.database.read() as connection:
        text = connection.execute(select(GLOBAL.table.c.value).where(GLOBAL.table.c.key == key)).scalar()
    return None if text is None else str(text)


@pytest.mark.parametrize(
    ("path", "typ", "more"),
    [
        pytest.param(GLOBAL_PATH, "inventree", {"read_only"}, id="global"),
        pytest.param(USER_PATH, "user", {"user"}, id="user"),
    ],
)
def test_every_setting_has_the_members_of_the_interface(service, path, typ, more):
    """The list without limit is an array of all, in the order of their definition, each as it is alone."""
    client = service.client("user")
    settings = client.get(path).json()

    assert {frozenset(one) for one in settings} == {frozenset(MEMBERS | more)}
    assert {one["typ"] for one in settings} == {typ}
    assert {one["type"] for one in settings} <= {"boolean", "integer", "string"}
    assert client.get(f"{path}{settings[3]['key']}/").json() == settings[3]


@pytest.mark.parametrize("path", [pytest.param(GLOBAL_PATH, id="global"), pytest.param(USER_PATH, id="user")])
def test_lists_have_pages_where_a_limit_is_given(service, path):
    """Pages put together are the whole list."""
    client = service.client("user")
    everything = client.get(path).json()

    page = client.get(path, params={"limit": 4, "offset": 2}).json()

    assert page["results"] == everything[2:6]
    assert page["count"] == len(everything)
    assert page["next"].endswith(f"{path}?limit=4&offset=6")
    assert page["previous"].endswith(f"{path}?limit=4")
    assert client.get(path, params={"limit": 2**63 - 1, "offset": 2**63 - 1}).json()["results"] == []
    assert client.get(path, params={"limit": "x"}).json() == everything


def test_options_describe_how_to_change_a_setting(service):
    """Staff see the members of a change, users those of a global setting without them."""
    path = f"{GLOBAL_PATH}INVENTREE_INSTANCE/"

    assert "value" in service.client("staff").options(path).json()["actions"]["PUT"]
    assert "PUT" not in service.client("user").options(path).json()["actions"]


@pytest.mark.parametrize(
    ("body", "status", "value"),
    [
        pytest.param({"value": 12}, 200, 12, id="number"),
        pytest.param({"value": "13"}, 200, 13, id="text"),
        pytest.param({}, 200, 10, id="nothing"),
        pytest.param({"key": "X", "name": "X", "pk": 1}, 200, 10, id="other members"),
        pytest.param({"value": 0}, 400, 10, id="too little"),
        pytest.param({"value": None}, 400, 10, id="null"),
        pytest.param({"value": [1]}, 400, 10, id="list"),
        pytest.param({"value": 1e300}, 400, 10, id="endless number"),
        pytest.param({"value": "9" * 5000}, 400, 10, id="endless text"),
        pytest.param({"value": "1\0"}, 400, 10, id="NUL"),
        pytest.param(["value"], 400, 10, id="no object"),
    ],
)
def test_a_change_is_stored_or_refused(service, staff, change, body, status, value):
    """The answer, the next look and the table agree."""
    change("INVENTREE_UPLOAD_MAX_SIZE", 10)
    path = f"{GLOBAL_PATH}INVENTREE_UPLOAD_MAX_SIZE/"

    answer = staff.patch(path, json=body)

    assert answer.status_code == status
    assert staff.get(path).json()["value"] == value
    assert stored(service, "INVENTREE_UPLOAD_MAX_SIZE") == str(value)


def test_a_complete_change_needs_the_value(staff):
    """PUT says so under the member."""
    answer = staff.put(f"{GLOBAL_PATH}INVENTREE_INSTANCE/", json={})

    assert (answer.status_code, list(answer.json())) == (400, ["value"])


def test_what_is_fixed_stays(service, staff):
    """A write is accepted and has no effect."""
    answer = staff.put(f"{GLOBAL_PATH}SIGNUP_GROUP/", json={"value": ""})

    assert (answer.status_code, answer.json()["value"], answer.json()["read_only"]) == (200, "Members", True)
    assert stored(service, "SIGNUP_GROUP") is None


@pytest.mark.parametrize("key", ["NO", "inventree_instance", "NO%00", "%ED%A0%80", "A" * 300])
def test_a_setting_that_does_not_exist_is_not_found(staff, key):
    """Whatever the key looks like."""
    for path in (GLOBAL_PATH, USER_PATH):
        assert staff.get(f"{path}{key}/").status_code == 404
        assert staff.patch(f"{path}{key}/", json={"value": 1}).status_code == 404


def test_the_server_information_follows(service, change):
    """Name, identifier and what is open to strangers."""
    client = service.client("anonymous")
    change("INVENTREE_INSTANCE", "Würkshop")
    change("INVENTREE_ANNOUNCE_ID", True)
    change("LOGIN_ENABLE_REG", False)
    change("LOGIN_ENABLE_PWD_FORGOT", False)
    change("LOGIN_ENABLE_SSO", False)

    info = client.get("/api/").json()

    assert info["instance"] == "Würkshop" == service.host.sign_in.area.instance
    assert info["id"] == stored(service, "INVENTREE_INSTANCE_ID")
    assert set(info["settings"].values()) == {False}


def test_closed_sign_up_refuses_at_once(service, change):
    """What the configuration tells clients and what is refused agree."""
    form = {"username": "eve", "email": "eve@example.org", "password": "correct horse battery"}
    change("LOGIN_ENABLE_REG", False)

    # Each request comes from an app of its own, without cookies.
    config = service.client("anonymous").get("/api/auth/v1/config").json()["data"]
    assert config["account"]["is_open_for_signup"] is False
    assert service.client("anonymous").post("/api/auth/v1/auth/signup", json=form).status_code == 403


@pytest.mark.parametrize("email", [pytest.param("eve@example.org", id="another domain"), pytest.param("", id="none")])
def test_sign_up_can_be_restricted_at_once(service, change, email):
    """Whoever gives an address of another domain, or none, is refused."""
    form = {"username": "eve", "email": email, "password": "correct horse battery"}
    change("LOGIN_SIGNUP_MAIL_RESTRICTION", "@works.example")

    answer = service.client("anonymous").post("/api/auth/v1/auth/signup", json=form)

    assert (answer.status_code, answer.json()["errors"][0]["param"]) == (400, "email")


def test_an_enforced_factor_stops_passwords_at_once(service, change):
    """Tokens go on working, so the staff can take it back."""
    client = service.client("anonymous")
    by_password = {"auth": ("user", "correct horse battery")}
    assert client.get(USER_PATH, **by_password).status_code == 200

    change("LOGIN_ENFORCE_MFA", True)

    answer = client.get(USER_PATH, **by_password)
    assert (answer.status_code, answer.json()["id"]) == (401, "mfa_register")
    change("LOGIN_ENFORCE_MFA", False)
    assert client.get(USER_PATH, **by_password).status_code == 200


def test_features_of_plugins_can_be_switched_off(service, change):
    """Navigation alone, or all of the interface."""
    client = service.client("user")
    path = "/api/plugins/ui/features/navigation/"
    assert client.get(path).json()

    change("ENABLE_PLUGINS_NAVIGATION", False)
    assert client.get(path).json() == []
    change("ENABLE_PLUGINS_NAVIGATION", True)
    change("ENABLE_PLUGINS_INTERFACE", False)
    assert client.get(path).json() == []


def test_routes_of_plugins_can_be_switched_off(service, change):
    """The 404 says which setting it is."""
    client = service.client("staff")
    path = "/plugin/audit-log/entries/"
    service.host.plugins.activate("audit-log", active=True)
    assert "ENABLE_PLUGINS_URL" not in client.get(path).text

    change("ENABLE_PLUGINS_URL", False)

    answer = client.get(path)
    assert (answer.status_code, "ENABLE_PLUGINS_URL" in answer.text) == (404, True)


def test_records_of_plugins_can_be_switched_off(service, change):
    """Those of the plugins that come with the host stay; the others return without a restart of their plugin."""
    registries = service.host.registries
    service.host.plugins.activate("sample-stockroom", active=True)
    before = registries.current
    plugin = before.plugins["sample-stockroom"]
    assert plugin.models

    change("ENABLE_PLUGINS_APP", False)

    without = registries.current
    gone = {one.name for one in plugin.model_types}
    assert gone
    assert set(without.model_types) == set(before.model_types) - gone
    assert without.plugins["sample-stockroom"].models == ()
    change("ENABLE_PLUGINS_APP", True)
    assert set(registries.current.model_types) == set(before.model_types)
    assert registries.current.plugins["sample-stockroom"].object is plugin.object


def test_events_are_skipped_while_they_are_off(service, change):
    """What happened meanwhile is not told later."""
    host = service.host
    host.plugins.activate("audit-log", active=True)
    change("ENABLE_PLUGINS_EVENTS", False)
    with host.database.write() as session:
        host.events.emit(session, "settings.test", {"number": 1})
    change("ENABLE_PLUGINS_EVENTS", True)
    with host.database.write() as session:
        host.events.emit(session, "settings.test", {"number": 2})
    assert host.events.drain(5)

    answer = service.client("staff").get("/plugin/audit-log/entries/", params={"event": "settings.test"}).json()
    entries = answer["results"] if isinstance(answer, dict) else answer
    assert [one["data"] for one in entries if one["name"] == "settings.test"] == [{"number": 2}]


def test_users_change_their_own_settings_only(service):
    """Others keep the default."""
    answer = service.client("user").patch(f"{USER_PATH}SEARCH_PREVIEW_RESULTS/", json={"value": 20})

    assert (answer.status_code, answer.json()["value"]) == (200, 20)
    assert service.client("user").get(f"{USER_PATH}SEARCH_PREVIEW_RESULTS/").json()["value"] == 20
    assert service.client("staff").get(f"{USER_PATH}SEARCH_PREVIEW_RESULTS/").json()["value"] == 10
