"""Plugins over the interface: records, life cycle, actions, locating, settings, metadata and what they serve."""

from __future__ import annotations

import json

import pytest

P = "/api/plugins/"
META = {
    "slug",
    "human_name",
    "description",
    "author",
    "pub_date",
    "version",
    "website",
    "license",
    "package_path",
    "settings_url",
}


@pytest.fixture
def admin(service):
    """A superuser's client."""
    return service.client("superuser")


@pytest.fixture
def user(service):
    """A plain user's client."""
    return service.client("user")


@pytest.fixture
def switched_on(admin):
    """Switch plugins on for the time of a test."""
    keys = []

    def switch(key):
        assert admin.patch(f"{P}{key}/activate/", json={"active": True}).status_code == 200
        keys.append(key)

    yield switch
    for key in keys:
        admin.patch(f"{P}{key}/activate/", json={"active": False})


def keys_of(response):
    """Return the keys of the plugins in an answer."""
    assert response.status_code == 200, response.text
    return [plugin["key"] for plugin in response.json()]


def test_a_record_has_the_documented_members(user):
    """Members of the seed, with the ten members of meta and the families in mixins."""
    plugin = user.get(f"{P}inventory/").json()

    assert set(plugin) == {
        "pk",
        "key",
        "name",
        "package_name",
        "active",
        "meta",
        "mixins",
        "is_builtin",
        "is_sample",
        "is_installed",
        "is_package",
        "is_mandatory",
    }
    assert set(plugin["meta"]) == META
    assert plugin["mixins"]["base"] == {"key": "base", "human_name": plugin["mixins"]["base"]["human_name"]}
    assert plugin["is_builtin"] is plugin["is_mandatory"] is plugin["active"] is True


@pytest.mark.parametrize(
    ("query", "has", "lacks"),
    [
        ("builtin=true", "inventory", "sample-action"),
        ("sample=true", "sample-action", "inventory"),
        ("mandatory=true", "inventory", "sample-action"),
        ("active=false", "sample-action", "inventory"),
        ("installed=true", "inventory", None),
        ("mixin=action", "sample-action", "sample-locate"),
        ("mixin=Base,ACTION", "sample-action", "sample-locate"),
        ("mixin=locate,action", None, "sample-action"),
        ("mixin=unknown", None, "inventory"),
        ("mixin=%25", None, "inventory"),
        ("mixin=" + "action," * 2000, "sample-action", "sample-locate"),
        ("mixin=" + ",".join(f"m{number}" for number in range(2000)), None, "inventory"),
        ("search=sample", "sample-action", "inventory"),
        ("search=SampleSettings", "sample-settings", "inventory"),
    ],
)
def test_plugins_are_filtered_and_searched(user, query, has, lacks):
    """Filters and search of the seed choose plugins."""
    found = keys_of(user.get(f"{P}?{query}"))

    assert has is None or has in found
    assert lacks not in found


def test_plugins_are_ordered(user):
    """Active ones first, then by name; other orders by query."""
    plugins = user.get(P).json()

    assert plugins == sorted(plugins, key=lambda plugin: (not plugin["active"], plugin["name"], plugin["key"]))
    keys = keys_of(user.get(f"{P}?ordering=-key"))
    assert keys == sorted(keys, reverse=True)


def test_switching_on_shows_everywhere(admin, user, switched_on):
    """An active plugin is listed by the server and answers; inactive, it does neither."""
    action = {"action": "sample.add", "data": {"numbers": [1, 2]}}
    assert user.post("/api/action/", json=action).status_code == 404

    switched_on("sample-action")

    assert user.get(f"{P}sample-action/").json()["active"] is True
    assert "sample-action" in [plugin["slug"] for plugin in user.get("/api/").json()["active_plugins"]]
    assert user.post("/api/action/", json=action).json() == {
        "action": "sample.add",
        "result": True,
        "info": {"sum": 3},
    }
    assert admin.patch(f"{P}sample-action/activate/", json={}).json() == {"active": True}


@pytest.mark.parametrize("value", ["maybe", None, [], 5])
def test_active_must_be_a_boolean(admin, value):
    """Anything else is 400 on the member."""
    response = admin.patch(f"{P}sample-action/activate/", json={"active": value})

    assert response.status_code == 400
    assert set(response.json()) == {"active"}


def test_a_mandatory_plugin_stays(admin):
    """It can neither be switched off nor deleted nor uninstalled."""
    off = admin.patch(f"{P}inventory/activate/", json={"active": False})
    deleted = admin.delete(f"{P}inventory/")

    assert (off.status_code, set(off.json())) == (400, {"non_field_errors"})
    assert deleted.status_code == 400
    assert isinstance(deleted.json()["detail"], list)


def test_deleting_the_record_of_an_installed_plugin(admin):
    """It comes back at the next reload with another pk."""
    before = admin.get(f"{P}sample-locate/").json()["pk"]

    assert admin.delete(f"{P}sample-locate/").status_code == 204
    assert admin.get(f"{P}sample-locate/").status_code == 404
    answer = admin.post(f"{P}reload/", json={"collect_plugins": True, "force_reload": "yes"})

    assert answer.status_code == 201
    assert answer.json() == {"full_reload": False, "force_reload": True, "collect_plugins": True}
    assert admin.get(f"{P}sample-locate/").json()["pk"] > before


def test_reload_wants_booleans(admin):
    """Anything else is 400 on the member."""
    assert set(admin.post(f"{P}reload/", json={"full_reload": "x"}).json()) == {"full_reload"}


def test_actions(user, switched_on):
    """Names are compared exactly, data are handed on, failures name the action."""
    switched_on("sample-action")

    answer = user.post("/api/action/", json={"action": "sample.echo", "data": {"a": [None, 1.5]}})
    assert answer.json()["info"]["said"] == {"a": [None, 1.5]}
    assert user.post("/api/action/", json={"action": "sample.echo"}).json()["info"]["said"] is None
    for name in ("SAMPLE.echo", 5, ["sample.echo"], {"a": 1}, "", True):
        response = user.post("/api/action/", json={"action": name})
        assert response.status_code == 404
        assert response.json()["action"] == name
        assert response.json()["error"]
    for body in ({}, {"action": None}, {"data": 1}):
        response = user.post("/api/action/", json=body)
        assert response.status_code == 400
        assert set(response.json()) == {"error"}


def test_a_form_tells_actions_and_settings_the_same_as_json(admin, user, switched_on):
    """Objects and lists are JSON text in a form; other text reaches the plugin letter by letter."""
    switched_on("sample-action")
    switched_on("sample-settings")

    for sent, said in (('{"a": [1]}', {"a": [1]}), ("[1]", [1]), ("1.10", "1.10"), ("null", "null")):
        answer = user.post("/api/action/", data={"action": "sample.echo", "data": sent})
        assert answer.json()["info"]["said"] == said
    path = f"{P}sample-settings"
    assert admin.patch(f"{path}/user-settings/NICKNAME/", data={"value": "1.10"}).json()["value"] == "1.10"
    confirmed = admin.patch(f"{path}/settings/DESTRUCTIVE/", data={"value": "yes", "manual_confirm": "true"})
    assert confirmed.json()["value"] is True


@pytest.mark.parametrize("member", ["action", "data", "plugin", "item"])
def test_files_and_depths_never_reach_a_plugin(user, switched_on, member):
    """A member that is a file of a form, or nested without end, is refused before anybody is asked."""
    switched_on("sample-action")
    switched_on("sample-locate")
    path = "/api/action/" if member in {"action", "data"} else "/api/locate/"
    members = {"action": "sample.echo", "plugin": "sample-locate", "item": "7"}
    others = {name: value for name, value in members.items() if name != member}
    deep = json.dumps(others)[:-1] + f', "{member}": ' + "[" * 900 + "]" * 900 + "}"

    file = user.post(path, data=others, files={member: ("a.txt", b"{}")})
    nested = user.post(path, content=deep, headers={"Content-Type": "application/json"})

    assert file.status_code == nested.status_code == 400
    assert f"'{member}' cannot be used" in file.text
    assert f"'{member}' cannot be used" in nested.text


def test_locate(user, switched_on):
    """The plugin is named in what is wrong; 0 and null count as missing; an item wins."""
    switched_on("sample-locate")
    key = "sample-locate"

    found = user.post("/api/locate/", json={"plugin": key, "item": 7, "location": 8})
    assert found.status_code == 200
    assert found.json()["success"]
    assert {name: found.json().get(name) for name in ("plugin", "item")} == {"plugin": key, "item": 7}
    assert user.post("/api/locate/", json={"plugin": key, "location": 8}).json()["location"] == 8
    for body in (
        {"item": 7},
        {"plugin": "nothing", "item": 7},
        {"plugin": "sample-action", "item": 7},
        {"plugin": key},
        {"plugin": key, "item": 0, "location": None},
    ):
        response = user.post("/api/locate/", json=body)
        assert response.status_code == 400
        assert set(response.json()) == {"detail"}
    assert user.post("/api/locate/", json={"plugin": key, "item": "x"}).status_code == 404


def test_settings(service, admin, user, switched_on):
    """Settings are listed in their order, read by users, written by staff, checked, and never shown when protected."""
    path = f"{P}sample-settings/settings/"
    assert user.get(path).status_code == 404
    switched_on("sample-settings")

    listed = user.get(path).json()
    assert [setting["key"] for setting in listed][:3] == ["ENABLED", "RETRIES", "THRESHOLD"]
    assert set(listed[0]) == {
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
        "plugin",
        "read_only",
    }
    assert (listed[0]["pk"], listed[0]["value"], listed[0]["type"]) == (None, True, "boolean")
    staff = service.client("staff")
    written = staff.patch(f"{path}RETRIES/", json={"value": "6", "name": "ignored"})
    assert (written.status_code, written.json()["value"]) == (200, 6)
    assert isinstance(written.json()["pk"], int)
    assert staff.patch(f"{path}RETRIES/", json={"value": 5}).status_code == 400
    assert staff.patch(f"{path}RETRIES/", json={}).json()["value"] == 6
    assert set(staff.put(f"{path}RETRIES/", json={}).json()) == {"value"}
    assert user.get(f"{path}retries/").status_code == 404
    assert user.patch(f"{path}RETRIES/", json={"value": 6}).status_code == 403
    assert staff.post(f"{path}RETRIES/", json={"value": 6}).status_code == 405

    refused = staff.patch(f"{path}DESTRUCTIVE/", json={"value": True})
    assert refused.status_code == 400
    assert isinstance(refused.json()["manual_confirm"], str)
    assert staff.patch(f"{path}DESTRUCTIVE/", json={"value": True, "manual_confirm": True}).json()["value"] is True

    assert staff.patch(f"{path}API_TOKEN/", json={"value": "swordfish"}).json()["value"] == "***"
    for response in (user.get(path), user.get(f"{path}API_TOKEN/"), admin.get(f"{P}settings/")):
        assert "swordfish" not in response.text

    page = staff.get(f"{P}settings/?limit=1&plugin__key=sample-settings&plugin__active=true").json()
    assert page["count"] == 3
    assert page["results"][0]["plugin"] == "sample-settings"
    assert staff.get(f"{P}settings/?plugin__key=inventory").json() == []


def test_user_settings_are_ones_own(service, user, switched_on):
    """Each user reads and writes own values."""
    switched_on("sample-settings")
    path = f"{P}sample-settings/user-settings/NICKNAME/"

    written = user.patch(path, json={"value": "Sam"}).json()
    other = service.client("staff").get(path).json()

    assert (written["value"], other["value"]) == ("Sam", "")
    assert written["typ"] == "plugin_user"
    assert written["user"] != other["user"]
    assert "read_only" not in written


def test_status_names_errors_and_counts(admin):
    """The status has the members of the seed, whatever else it says."""
    status = admin.get(f"{P}status/").json()

    assert status["active_plugins"] == len([plugin for plugin in admin.get(P).json() if plugin["active"]])
    assert isinstance(status["registry_errors"], list)


def test_ui_features_and_admin(user, service, switched_on):
    """Features of active plugins are offered; an unknown type has none."""
    switched_on("sample-ui")
    switched_on("sample-admin")

    for kind in ("panel", "dashboard"):
        offered = user.get(f"{P}ui/features/{kind}/?target_model=part&target_id=1&format=json").json()
        assert {feature["feature_type"] for feature in offered} == {kind}
        assert {"plugin_name", "feature_type", "key", "title", "description", "icon", "options", "context"} <= set(
            offered[0]
        )
    assert user.get(f"{P}ui/features/unknown/?limit=1").json() == []
    page = service.client("staff").get(f"{P}sample-admin/admin/").json()
    assert set(page) == {"source", "context"}
    assert page["source"]


@pytest.mark.parametrize(
    "path", [f"{P}inventory/metadata/", "/api/metadata/pluginconfig/key/inventory/", "/api/metadata/pluginconfig/1/"]
)
def test_metadata(admin, path):
    """PUT replaces, PATCH merges the top level, and both want an object."""
    if path.endswith("1/"):
        path = path.replace("/1/", f"/{admin.get(f'{P}inventory/').json()['pk']}/")

    assert admin.put(path, json={"metadata": {"a": {"b": 1}, "c": 2}}).json() == {"metadata": {"a": {"b": 1}, "c": 2}}
    assert admin.patch(path, json={"metadata": {"a": {"d": None}}}).json() == {"metadata": {"a": {"d": None}, "c": 2}}
    assert admin.get(path).json() == {"metadata": {"a": {"d": None}, "c": 2}}
    for body in ({"other": 1}, {"metadata": None}, {"metadata": ["x"]}, {"metadata": "x"}):
        for method in ("PUT", "PATCH"):
            response = admin.request(method, path, json=body)
            assert response.status_code == 400
            assert set(response.json()) == {"metadata"}
    assert admin.put(path, json={"metadata": {}}).json() == {"metadata": {}}


@pytest.mark.parametrize(
    "path",
    [
        "/api/metadata/unknown/1/",
        "/api/metadata/pluginconfig/999/",
        "/api/metadata/pluginconfig/name/inventory/",
        "/api/metadata/pluginconfig/key/nothing/",
    ],
)
def test_metadata_of_nothing(admin, path):
    """Unknown models, records and look-ups are 404."""
    assert admin.get(path).status_code == 404


def test_what_plugins_serve(service, user, admin, switched_on):
    """Routes and static files of active plugins are reached, with the host's headers and rights."""
    anonymous = service.client("anonymous")
    assert anonymous.get("/plugin/sample-routes/hello/").status_code == 404
    switched_on("sample-routes")

    greeting = anonymous.get("/plugin/sample-routes/hello/?name=Ann")
    assert greeting.text == "Hello, Ann!"
    assert greeting.headers["x-plugyard-version"]
    assert anonymous.get("/plugin/sample-routes/whoami/").status_code == 401
    assert user.get("/plugin/sample-routes/whoami/").json()["username"] == "user"
    assert user.post("/plugin/sample-routes/words/", content=b"a b").status_code == 403
    assert admin.post("/plugin/sample-routes/words/", content=b"a b").json() == {"words": 2}
    assert anonymous.get("/plugin/sample-routes/hello/", headers={"Authorization": "Token x"}).status_code == 401
    assert anonymous.get("/plugin/sample-routes/nowhere/").status_code == 404
    assert anonymous.get("/static/plugins/sample-routes/index.html").status_code == 200
    assert anonymous.get("/static/plugins/sample-routes/nothing.js").status_code == 404
    assert anonymous.post("/static/plugins/sample-routes/index.html").status_code == 405
    assert anonymous.get("/static/plugins/sample-routes/../routes/plugin.py").status_code in {401, 404}


def test_fixed_paths_win_over_plugins(admin):
    """A plugin of a reserved key could never hide a fixed path."""
    assert admin.get(f"{P}install/").status_code == 405
    assert admin.get(f"{P}status/").json()["active_plugins"] > 0
