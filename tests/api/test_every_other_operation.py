"""Operations of what is no list of records, for every kind of caller: the answer, and what is stored afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from tests.api.record_kinds import Statuses, import_session, read_import, task
from tests.api.record_yard import CALLERS, Yard
from tests.api.service import Service

ANYONE: Final = (200, 200, 200, 200)
USER: Final = (401, 200, 200, 200)
STAFF: Final = (401, 403, 200, 200)
ROOT: Final = (401, 403, 403, 200)
P: Final = "/api/plugins/"
SETTINGS: Final = f"{P}sample-settings/"
SWITCHED_ON: Final = ("sample-action", "sample-locate", "sample-settings", "sample-ui", "sample-admin")

Shows = Callable[[Any], bool]


@pytest.fixture(scope="module")
def yard(shared_service: Service) -> Iterator[Yard]:
    yard = Yard(shared_service)
    before = {key: (yard.row("plugin_config", "key", key) or {})["active"] for key in SWITCHED_ON}
    for key in SWITCHED_ON:
        yard.root("PATCH", f"{P}{key}/activate/", json={})
    yield yard
    for key, active in before.items():
        yard.root("PATCH", f"{P}{key}/activate/", json={"active": active})
    yard.close()


def check(yard: Yard, who: Statuses, ask: Callable[[Any], Any], *, then: Callable[[str, Any], None]) -> None:
    """Let every caller ask: who is refused learns the reason alone; ``then`` looks at each caller's answer."""
    for caller, status in zip(CALLERS, who, strict=True):
        response = ask(yard.client(caller))
        assert response.status_code == status, (caller, response.text)
        if status >= 400:
            assert list(response.json()) == ["detail"]
        then(caller, response)


def sending(method: str, path: str, body: Any = None) -> Callable[[Any], Any]:
    """Ask for one thing."""
    return lambda client: client.request(method, path, json=body)


READS: Final[list[tuple[str, Statuses, Shows]]] = [
    ("/api/", ANYONE, lambda found: found["server"] == "Plugyard" and found["apiVersion"] == 530),
    ("/api/admin/config/", ROOT, lambda found: "PLUGYARD_HOME" in {one["key"] for one in found}),
    ("/api/admin/config/home/", ROOT, lambda found: found["env_var"] == "PLUGYARD_HOME" and found["accessed"]),
    ("/api/license/", USER, lambda found: {"starlette", "pluggy"} <= {one["name"] for one in found["backend"]}),
    ("/api/contenttype/", USER, lambda found: "part" in {one["model"] for one in found}),
    ("/api/contenttype/model/part/", USER, lambda found: found["app_labeled_name"] == "Part | Part"),
    ("/api/icons/", ANYONE, lambda found: "ti" in {pack["prefix"] for pack in found}),
    ("/api/generic/status/", USER, lambda found: {"BuildStatus", "StockStatus"} <= set(found)),
    ("/api/generic/status/StockStatus/", USER, lambda found: found["values"]["LOST"]["key"] == 70),
    ("/api/importer/models/", USER, lambda found: "inventreecustomuserstatemodel" in {x["model_type"] for x in found}),
    (P, USER, lambda found: {*SWITCHED_ON, "inventory"} <= {plugin["key"] for plugin in found}),
    (f"{P}?active=true&sample=true&limit=50", USER, lambda found: found["count"] == len(SWITCHED_ON)),
    (f"{P}sample-action/", USER, lambda found: found["active"] and "action" in found["mixins"]),
    (f"{P}status/", ROOT, lambda found: found["active_plugins"] >= len(SWITCHED_ON)),
    (f"{P}sample-admin/admin/", STAFF, lambda found: set(found) == {"source", "context"} and found["source"]),
    (f"{P}ui/features/panel/?target_model=part&target_id=1", USER, lambda found: found[0]["feature_type"] == "panel"),
    (f"{SETTINGS}settings/", USER, lambda found: "RETRIES" in {one["key"] for one in found}),
    (f"{SETTINGS}settings/THRESHOLD/", USER, lambda found: (found["value"], found["units"]) == (21.5, "°C")),
    (f"{SETTINGS}user-settings/", USER, lambda found: "NICKNAME" in {one["key"] for one in found}),
    (f"{SETTINGS}user-settings/NICKNAME/", USER, lambda found: found["plugin"] == "sample-settings"),
]


@pytest.mark.parametrize(("path", "who", "shows"), [pytest.param(*read, id=read[0]) for read in READS])
def test_what_is_read(yard: Yard, path: str, who: Statuses, shows: Shows):
    """Whoever may read it gets what is really there."""

    def then(_caller: str, response: Any) -> None:
        assert response.status_code != 200 or shows(response.json()), response.text

    check(yard, who, lambda client: client.get(path), then=then)


def test_content_types_are_shown_by_number(yard: Yard):
    """The number that the list gives leads to the same record."""
    listed = yard.root("GET", "/api/contenttype/")[0]

    def then(_caller: str, response: Any) -> None:
        assert response.status_code != 200 or response.json() == listed

    check(yard, USER, lambda client: client.get(f"/api/contenttype/{listed['pk']}/"), then=then)


def test_actions_are_performed(yard: Yard):
    """The plugin gets what was sent, and is told who sent it."""

    def then(_caller: str, response: Any) -> None:
        assert response.status_code != 200 or response.json()["info"]["said"] == [1, None]

    body = {"action": "sample.echo", "data": [1, None]}
    check(yard, USER, lambda client: client.post("/api/action/", json=body), then=then)


def test_items_are_located(yard: Yard):
    """The answer repeats what was asked for."""
    body = {"plugin": "sample-locate", "item": 7}

    def then(_caller: str, response: Any) -> None:
        assert response.status_code != 200 or body.items() <= response.json().items()

    check(yard, USER, lambda client: client.post("/api/locate/", json=body), then=then)


def test_links_are_asked_for(yard: Yard):
    """Everybody gets the same answer; a link goes to the account that has the address, and to nobody else."""
    path, mails = "/api/email/generate/", set(yard.keys("mail_message", "global_id"))

    def then(_caller: str, response: Any) -> None:
        assert response.json() == {"email": "nobody@example.org", "status": "ok"}

    check(yard, ANYONE, lambda client: client.post(path, json={"email": "nobody@example.org"}), then=then)
    assert set(yard.keys("mail_message", "global_id")) == mails
    assert yard.client("anonymous").post(path, json={"email": "staff@example.org"}).status_code == 200
    (made,) = set(yard.keys("mail_message", "global_id")) - mails
    yard.keep("mail_message", "global_id", made)
    assert (yard.row("mail_message", "global_id", made) or {})["to"] == "staff@example.org"


def test_exchange_rates_are_refreshed_and_shown(yard: Yard):
    """The staff refreshes the rates, which are stored; users read them."""
    yard.root("PATCH", f"{P}sample-currency/activate/", json={})
    try:

        def refreshed(_caller: str, response: Any) -> None:
            stored = yard.keys("exchange_rates", "rates")
            assert bool(stored) == (response.status_code == 200)
            for key in yard.keys("exchange_rates", "id"):
                yard.keep("exchange_rates", "id", key)

        def shown(_caller: str, response: Any) -> None:
            assert response.status_code != 200 or response.json()["exchange_rates"]["USD"] == 1.0

        check(yard, STAFF, lambda client: client.post("/api/currency/refresh/"), then=refreshed)
        check(yard, USER, lambda client: client.get("/api/currency/exchange/"), then=shown)
    finally:
        yard.root("PATCH", f"{P}sample-currency/activate/", json={"active": False})


@pytest.mark.parametrize("method", ["PATCH", "PUT", "POST"])
def test_plugins_are_switched(yard: Yard, method: str):
    """A superuser switches a plugin, and the record says so; for others it stays as it was."""
    for active in (False, True):
        yard.root("PATCH", f"{P}sample-locate/activate/", json={"active": not active})

        def then(_caller: str, response: Any, active: bool = active) -> None:
            row = yard.row("plugin_config", "key", "sample-locate")
            assert row is not None
            assert row["active"] is (active if response.status_code == 200 else not active)
            assert response.status_code != 200 or response.json() == {"active": active}

        ask = sending(method, f"{P}sample-locate/activate/", {"active": active})
        check(yard, ROOT, ask, then=then)


def test_records_of_plugins_are_deleted_and_found_again(yard: Yard):
    """A superuser deletes the record of a plugin that is off, and brings it back by a reload."""
    key = "sample-currency"
    path = f"{P}{key}/"
    before = (yard.row("plugin_config", "key", key) or {})["id"]

    def deleted(_caller: str, response: Any) -> None:
        assert (yard.row("plugin_config", "key", key) is None) == (response.status_code == 204)

    def found(_caller: str, response: Any) -> None:
        row = yard.row("plugin_config", "key", key)
        assert (row is not None) == (response.status_code == 201)
        assert row is None or row["id"] > before

    body = {"collect_plugins": True, "force_reload": True}
    check(yard, (401, 403, 403, 204), lambda client: client.delete(path), then=deleted)
    check(yard, (401, 403, 403, 201), lambda client: client.post(f"{P}reload/", json=body), then=found)


@pytest.mark.parametrize("method", ["PATCH", "PUT"])
def test_plugin_settings_are_written_and_listed(yard: Yard, method: str):
    """The staff writes a setting, which is stored and in the list of all of them; for others it keeps its value."""
    path, value = f"{SETTINGS}settings/GREETING/", f"Hello by {method}"
    yard.root("PATCH", path, json={"value": "Hello"})

    def written(_caller: str, response: Any) -> None:
        row = yard.row("plugin_setting", "key", "GREETING")
        assert row is not None
        yard.keep("plugin_setting", "id", row["id"])
        assert (value in row["value"]) == (response.status_code == 200)
        assert response.status_code != 200 or response.json()["value"] == value

    def listed(_caller: str, response: Any) -> None:
        if response.status_code == 200:
            assert value in [one["value"] for one in response.json()["results"]]

    all_of_it = f"{P}settings/?plugin__key=sample-settings&plugin__active=true&limit=100"
    check(yard, STAFF, lambda client: client.request(method, path, json={"value": value}), then=written)
    check(yard, STAFF, lambda client: client.get(all_of_it), then=listed)


@pytest.mark.parametrize("method", ["PATCH", "PUT"])
def test_user_settings_of_plugins_are_written(yard: Yard, method: str):
    """Everybody writes their own value, and that of nobody else."""
    path = f"{SETTINGS}user-settings/NICKNAME/"

    def ask(client: Any) -> Any:
        return client.request(method, path, json={"value": f"{method} {len(asked)}"})

    asked: list[str] = []

    def then(caller: str, response: Any) -> None:
        if response.status_code == 200:
            assert response.json()["value"] == f"{method} {len(asked)}"
            row = yard.row("plugin_user_setting", "user_id", yard.users[caller].id)
            assert row is not None
            assert f"{method} {len(asked)}" in row["value"]
            yard.keep("plugin_user_setting", "id", row["id"])
        asked.append(caller)

    check(yard, USER, ask, then=then)
    shown = [yard.client(caller).get(path).json()["value"] for caller in CALLERS[1:]]
    assert shown == [f"{method} {number}" for number in (1, 2, 3)]


CARRIED: Final = [
    pytest.param("attachment", USER, "/api/attachment/{pk}/metadata/", id="attachment, path of the record"),
    pytest.param("attachment", USER, "/api/metadata/attachment/{pk}/", id="attachment"),
    pytest.param("attachment", USER, "/api/metadata/attachment/pk/{pk}/", id="attachment, by pk"),
    pytest.param("plugin_config", ROOT, f"{P}sample-ui/metadata/", id="plugin, path of the record"),
    pytest.param("plugin_config", ROOT, "/api/metadata/pluginconfig/{pk}/", id="plugin"),
    pytest.param("plugin_config", ROOT, "/api/metadata/pluginconfig/pk/{pk}/", id="plugin, by pk"),
    pytest.param("plugin_config", ROOT, "/api/metadata/pluginconfig/key/sample-ui/", id="plugin, by key"),
]


@pytest.mark.parametrize(("table", "who", "path"), CARRIED)
def test_metadata_are_kept(yard: Yard, table: str, who: Statuses, path: str):
    """PUT replaces, PATCH adds, GET shows what is stored; for others nothing changes."""
    link = {"model_type": "part", "model_id": 1, "link": "https://example.org/plan"}
    if table == "attachment":
        pk = yard.keep(table, "id", yard.root("POST", "/api/attachment/", json=link)["pk"])
    else:
        pk = (yard.row(table, "key", "sample-ui") or {})["id"]
    path = path.format(pk=pk)
    for method, sent, kept in (
        ("PUT", {"a": 1}, {"a": 1}),
        ("PATCH", {"b": [None]}, {"a": 1, "b": [None]}),
        ("GET", None, {"a": 1, "b": [None]}),
        ("PUT", {}, {}),
    ):
        before = (yard.row(table, "id", pk) or {})["metadata"]

        def then(_caller: str, response: Any, before: Any = before, kept: Any = kept) -> None:
            done = response.status_code == 200
            now = (yard.row(table, "id", pk) or {})["metadata"]
            if done:
                assert (response.json(), now) == ({"metadata": kept}, kept)
            elif who is ROOT:
                assert now == before

        body = None if sent is None else {"metadata": sent}
        check(yard, who, sending(method, path, body), then=then)


def test_mappings_of_imports_are_accepted(yard: Yard):
    """The staff accepts the mapping of an import, which begins to read; for others it goes on waiting."""

    def ask(client: Any) -> Any:
        sessions.append(import_session(yard))
        return client.post(f"/api/importer/session/{sessions[-1]}/accept_fields/")

    def then(_caller: str, response: Any) -> None:
        row = yard.row("import_session", "id", sessions[-1])
        assert row is not None
        assert row["status"] == (20 if response.status_code == 200 else 10)
        assert response.status_code != 200 or response.json()["status"] == 20

    sessions: list[int] = []
    check(yard, STAFF, ask, then=then)


def test_rows_of_imports_are_accepted(yard: Yard):
    """The staff makes a record of a row; for others the row stays what it is."""

    def ask(client: Any) -> Any:
        rows.append(read_import(yard))
        path = f"/api/importer/session/{rows[-1]['session_id']}/accept_rows/"
        return client.post(path, json={"rows": [rows[-1]["id"]]})

    def then(_caller: str, response: Any) -> None:
        made = yard.row("custom_state", "name", rows[-1]["data"]["name"])
        assert (made is not None) == (response.status_code == 201)
        if made is not None:
            yard.keep("custom_state", "id", made["id"])
            assert response.json()["rows"] == [rows[-1]["id"]]

    rows: list[dict[str, Any]] = []
    check(yard, (401, 403, 201, 201), ask, then=then)


def test_tasks_are_counted_and_followed(yard: Yard):
    """The staff sees how many there are and what is done again and again; who knows a task sees what became of it."""
    yard.host.tasks.run_due_schedules()
    task_id = task(yard, "task_id", status="succeeded", is_open=False)
    task(yard, "task_id")
    waiting = len(yard.root("GET", "/api/background-task/pending/"))
    done = {"task_id": task_id, "exists": True, "pending": False, "complete": True, "success": True}
    schedules = set(yard.keys("task_schedule", "id"))
    assert schedules

    def overview(_caller: str, response: Any) -> None:
        assert response.status_code != 200 or response.json()["pending_tasks"] == waiting > 0

    def scheduled(_caller: str, response: Any) -> None:
        assert response.status_code != 200 or {one["pk"] for one in response.json()} == schedules

    def followed(_caller: str, response: Any) -> None:
        assert response.status_code != 200 or response.json() == {**done, "http_status": 200}

    def told(_caller: str, response: Any) -> None:
        assert response.status_code != 200 or 'data: {"success":true}' in response.text

    path = "/api/background-task/"
    check(yard, STAFF, lambda client: client.get(path), then=overview)
    check(yard, STAFF, lambda client: client.get(f"{path}scheduled/"), then=scheduled)
    check(yard, USER, lambda client: client.get(f"{path}{task_id}/"), then=followed)
    check(yard, USER, lambda client: client.get(f"{path}{task_id}/events/"), then=told)
