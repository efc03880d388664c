"""Status sets, custom states and content types over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import delete

from host.records.state_table import STATE_LIST

SETS = "/api/generic/status/"
STATES = f"{SETS}custom/"
TYPES = "/api/contenttype/"
MEMBERS = {"pk", "key", "name", "label", "color", "logical_key", "model", "model_name", "reference_status"}


@pytest.fixture
def part(service) -> int:
    """The number of the content type ``part``."""
    number: int = service.client("user").get(f"{TYPES}model/part/").json()["pk"]
    return number


@pytest.fixture
def body(service, part: int):
    """A state that can be created; afterwards there is none."""
    yield {
        "key": 70,
        "name": "BLOCKED",
        "label": "Blocked",
        "color": "danger",
        "logical_key": 20,
        "model": part,
        "reference_status": "BuildStatus",
    }
    with service.host.database.write() as session:
        session.connection().execute(delete(STATE_LIST.table))


def stored(service) -> list[dict[str, Any]]:
    """Return the states as they are stored."""
    with service.host.database.read() as connection:
        return [dict(row) for row in connection.execute(STATE_LIST.table.select()).mappings()]


def test_the_sets_of_an_inventory(service):
    """All sets are there by name, one alone by its exact name, and an unknown one is refused."""
    client = service.client("user")

    sets = client.get(f"{SETS}?limit=1").json()
    unknown = client.get(f"{SETS}buildstatus/")

    assert {"BuildStatus", "StockStatus", "MachineStatus", "DataImportStatusCode"} <= set(sets)
    assert sets["MachineStatus"] == {"status_class": "MachineStatus", "values": {}}
    assert client.get(f"{SETS}StockStatus/").json() == sets["StockStatus"]
    assert sets["StockStatus"]["values"]["LOST"] == {"key": 70, "name": "LOST", "label": "Lost", "color": "dark"}
    assert unknown.status_code == 400
    assert "BuildStatus" in unknown.json()["detail"]


def test_the_life_of_a_state(service, body):
    """It is created, shown in its set, changed in part and as a whole, and deleted."""
    staff = service.client("staff")

    made = staff.post(STATES, json={**body, "pk": 999, "model_name": "ignored"})
    path = f"{STATES}{made.json()['pk']}/"
    shown = staff.get(f"{SETS}BuildStatus/").json()["values"]["BLOCKED"]
    part_changed = staff.patch(path, json={"label": "Held"}).json()
    changed = staff.put(path, json={name: value for name, value in body.items() if name != "color"}).json()

    assert made.status_code == 201
    assert set(made.json()) == MEMBERS
    assert made.json() == {**body, "pk": made.json()["pk"], "model_name": "Part | Part"}
    assert shown == {
        "key": 70,
        "name": "BLOCKED",
        "label": "Blocked",
        "color": "danger",
        "logical_key": 20,
        "custom": True,
    }
    assert (part_changed["label"], part_changed["color"]) == ("Held", "danger")
    assert (changed["label"], changed["color"]) == ("Blocked", "secondary")
    assert [row["label"] for row in stored(service)] == ["Blocked"]
    assert staff.delete(path).status_code == 204
    assert stored(service) == []


@pytest.mark.parametrize(
    ("changed", "member"),
    [
        pytest.param({"key": 2**63}, "key", id="more than 64 bits"),
        pytest.param({"key": True}, "key", id="truth as key"),
        pytest.param({"key": None}, "key", id="no key"),
        pytest.param({"name": "A\0B"}, "name", id="null character"),
        pytest.param({"name": "X" * 251}, "name", id="long name"),
        pytest.param({"label": "<b>x</b>"}, "label", id="tags"),
        pytest.param({"label": ""}, "label", id="blank label"),
        pytest.param({"color": "pink"}, "color", id="color"),
        pytest.param({"color": None}, "color", id="no color"),
        pytest.param({"model": None}, "model", id="no model"),
        pytest.param({"model": 99_999}, "model", id="unknown model"),
        pytest.param({"model": "part"}, "model", id="model by name"),
        pytest.param({"reference_status": "Nothing"}, "reference_status", id="unknown set"),
        pytest.param({"reference_status": ["BuildStatus"]}, "reference_status", id="list of sets"),
        pytest.param({"logical_key": 21}, "logical_key", id="no built-in key"),
        pytest.param({"key": 10}, "key", id="built-in key"),
        pytest.param({"name": "PENDING"}, "name", id="built-in name"),
    ],
)
def test_bad_states_are_refused(service, body, changed, member):
    """Each fault is named at its member, and nothing is stored."""
    answer = service.client("staff").post(STATES, json={**body, **changed})

    assert answer.status_code == 400
    assert set(answer.json()) == {member}
    assert stored(service) == []


def test_a_taken_pair_is_refused(service, body):
    """Of two states with one key in a set the second is refused; bulk deletion is not offered."""
    staff = service.client("staff")
    staff.post(STATES, json={**body, "key": -(2**63)})

    again = staff.post(STATES, json={**body, "key": -(2**63), "name": "OTHER"})

    assert again.status_code == 400
    assert "reference_status, key" in again.json()["non_field_errors"][0]
    assert staff.request("DELETE", STATES, json={"items": [1]}).status_code == 405
    assert [row["key"] for row in stored(service)] == [-(2**63)]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        pytest.param("reference_status=BuildStatus", [70, 80], id="of a set"),
        pytest.param("reference_status=StockStatus", [], id="of a set without any"),
        pytest.param("reference_status=buildstatus", 400, id="of no set"),
        pytest.param("reference_status=%00", 400, id="null character"),
        pytest.param("model={part}", [70, 80], id="of a model"),
        pytest.param("model=99999", 400, id="of no model"),
        pytest.param("model=x", 400, id="no number"),
        pytest.param("ordering=-key", [80, 70], id="backwards"),
        pytest.param("search=70", [70], id="searched by key"),
        pytest.param("search=halted build", [80], id="searched by name and set"),
        pytest.param("limit=1&ordering=key", [70], id="a page"),
    ],
)
def test_finding_states(service, body, part, query, found):
    """Filters, search and order work as in every list."""
    staff = service.client("staff")
    for state in ({}, {"key": 80, "name": "HALTED"}):
        assert staff.post(STATES, json={**body, **state}).status_code == 201

    answer = service.client("user").get(f"{STATES}?{query.format(part=part)}")

    if isinstance(found, int):
        assert answer.status_code == found
        return
    rows = answer.json()["results"] if "limit" in query else answer.json()
    assert [row["key"] for row in rows] == found


def test_forms_offer_the_sets_that_there_are(service):
    """OPTIONS names sets and colors to those who may create; others see no form."""
    fields = service.client("staff").options(STATES).json()["actions"]["POST"]

    assert {"value": "StockStatus", "display_name": "StockStatus"} in fields["reference_status"]["choices"]
    assert fields["model"]["api_url"] == TYPES
    assert fields["color"]["default"] == "secondary"
    assert "POST" not in service.client("user").options(STATES).json()["actions"]


def test_content_types(service, part):
    """They are listed, searched, and found by number and by exact name."""
    client = service.client("user")

    listed = client.get(TYPES).json()
    one = client.get(f"{TYPES}{part}/").json()

    assert [row["pk"] for row in listed] == sorted(row["pk"] for row in listed)
    assert one in listed
    assert one == {
        "pk": part,
        "app_label": "part",
        "model": "part",
        "app_labeled_name": "Part | Part",
        "is_plugin": False,
    }
    assert {"user", "pluginconfig", "error"} <= {row["model"] for row in listed}
    assert {row["app_label"] for row in client.get(f"{TYPES}?search=ORDER&limit=50").json()["results"]} >= {"order"}
    assert client.get(f"{TYPES}model/PART/").status_code == 404
    assert client.get(f"{TYPES}{2**63 - 1}/").status_code == 404
    assert client.post(TYPES, json={}).status_code == 405


def test_content_types_of_a_plugin(service):
    """Those of a plugin are there while it is active, and keep their number."""
    client = service.client("superuser")

    def number(*, active: bool) -> int | None:
        client.patch("/api/plugins/sample-stockroom/activate/", json={"active": active})
        found = client.get(f"{TYPES}model/partcategory/")
        return found.json()["pk"] if found.status_code == 200 else None

    first, meanwhile, again = (number(active=active) for active in (True, False, True))

    assert meanwhile is None
    assert first is not None
    assert first == again
    assert client.get(f"{TYPES}{first}/").json()["is_plugin"] is True
