"""Data imports over the interface."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.service import Service, running_service

P = "/api/importer/"
STATES = "key,name,label,logical_key,model,reference_status\n71,WAITING,Waiting,25,build,BuildStatus\n"
PARTS = "Name,Category,more\nBolt,,\nNut,Metal,\nScrew,nowhere,\n"


@pytest.fixture(scope="module")
def importer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A host with the stockroom, in which 'user' may change parts and 'staff' may not."""
    with running_service(tmp_path_factory.mktemp("importer") / "home") as service:
        boss = service.client("superuser")
        assert boss.patch("/api/plugins/sample-stockroom/activate/").status_code == 200
        group = boss.post("/api/user/group/", json={"name": "Parts"}).json()["pk"]
        rulesets = boss.get("/api/user/ruleset/", params={"group": group}).json()
        key = next(one["pk"] for one in rulesets if one["name"] == "part")
        assert boss.patch(f"/api/user/ruleset/{key}/", json={"can_change": True}).status_code == 200
        user = boss.get("/api/user/", params={"search": "user"}).json()
        key = next(one["pk"] for one in user if one["username"] == "user")
        assert boss.patch(f"/api/user/{key}/", json={"group_ids": [group]}).status_code == 200
        boss.post("/plugin/sample-stockroom/categories/", json={"name": "Metal"})
        yield service


def begin(service: Service, text: str, caller: str = "user", model: str = "part", **more: Any) -> Any:
    """Begin a session, and return the answer."""
    files = {"data_file": (more.pop("name", "table.csv"), text.encode())}
    return service.client(caller).post(f"{P}session/", data={"model_type": model, **more}, files=files)


def started(service: Service, text: str, caller: str = "user", model: str = "part", **more: Any) -> int:
    """Begin a session and read its rows."""
    key = int(begin(service, text, caller, model, **more).json()["pk"])
    assert service.client(caller).post(f"{P}session/{key}/accept_fields/").status_code == 200
    assert service.host.tasks.drain(10)
    return key


def test_parts_come_out_of_a_file(importer):
    """The way of a client: upload, map, accept, put right, accept, done."""
    client = importer.client("user")
    answer = begin(importer, PARTS, field_defaults='{"description": "new"}')
    session = answer.json()
    key = session["pk"]
    mapping = next(one for one in session["column_mappings"] if one["field"] == "description")
    changed = client.patch(f"{P}column-mapping/{mapping['pk']}/", json={"column": "more", "field": "x"}).json()
    reading = client.post(f"{P}session/{key}/accept_fields/")
    importer.host.tasks.drain(10)
    rows = client.get(f"{P}row/", params={"session": key}).json()
    refused = client.post(f"{P}session/{key}/accept_rows/", json={"rows": [one["pk"] for one in rows]})
    path = f"{P}row/{rows[2]['pk']}/"
    edited = client.patch(path, json={"data": {"name": "Screw", "category": "Metal"}, "valid": False}).json()
    wanted = [one["pk"] for one in rows]
    accepted = client.post(f"{P}session/{key}/accept_rows/", json={"rows": wanted})
    done = client.get(f"{P}session/{key}/").json()
    parts = importer.client("superuser").get("/plugin/sample-stockroom/parts/").json()["results"]

    assert (answer.status_code, session["status"], session["columns"]) == (201, 10, ["Name", "Category", "more"])
    assert [one["field"] for one in session["column_mappings"]] == list(session["available_fields"])
    assert session["user_detail"]["username"] == "user"
    assert (changed["column"], changed["field"]) == ("more", "description")
    assert reading.json()["status"] == 20
    assert [one["valid"] for one in rows] == [True, True, False]
    assert list(rows[2]["errors"]) == ["category"]
    assert (refused.status_code, list(refused.json())) == (400, ["rows"])
    assert (edited["errors"], edited["valid"], edited["data"]["category"]) == (None, True, 1)
    assert (accepted.status_code, accepted.json()) == (201, {"rows": wanted})
    assert [(one["name"], one["description"], one["category_id"]) for one in parts] == [
        ("Bolt", "new", None), ("Nut", "new", 1), ("Screw", "new", 1),
    ]  # fmt: skip
    assert (done["status"], done["column_mappings"], done["completed_row_count_history"]) == (40, [], 3)
    assert client.get(done["data_file"]).text == PARTS


@pytest.mark.parametrize(
    ("data", "member"),
    [
        pytest.param({"model_type": "part"}, "data_file", id="no file"),
        pytest.param({"model_type": "part", "data_file": "text"}, "data_file", id="text as a file"),
        pytest.param({"model_type": "build", "file": "a\n"}, "model_type", id="cannot be imported"),
        pytest.param({"file": "a\n"}, "model_type", id="no model type"),
        pytest.param({"model_type": "part", "file": "a\n1,2\n"}, "data_file", id="uneven"),
        pytest.param({"model_type": "part", "file": ""}, "data_file", id="empty"),
        pytest.param({"model_type": "part", "file": "a\n", "field_defaults": "[1]"}, "field_defaults", id="list"),
        pytest.param({"model_type": "part", "file": "a\n", "field_filters": "{"}, "field_filters", id="broken JSON"),
        pytest.param({"model_type": "part", "file": "a\n", "update_records": "?"}, "update_records", id="no truth"),
    ],
)
def test_a_bad_upload_names_the_member(importer, data, member):
    """Nothing is begun, and the message stands at what is wrong."""
    content = data.pop("file", None)
    files: Any = {} if content is None else {"data_file": ("a.csv", content.encode())}
    client = importer.client("user")
    before = len(client.get(f"{P}session/").json())

    answer = client.post(f"{P}session/", data=data, files=files)

    assert (answer.status_code, list(answer.json())) == (400, [member])
    assert len(client.get(f"{P}session/").json()) == before


def test_states_are_the_staffs(importer):
    """Whoever cannot add a state by hand cannot import one; whoever can, by its rules."""
    theirs = begin(importer, STATES, model="inventreecustomuserstatemodel").json()["pk"]
    refused = importer.client("user").post(f"{P}session/{theirs}/accept_fields/")
    more = "70,BAD NAME,x,25,build,BuildStatus\n72,X,x,99,build,buildstatus\n73,Y,y,25,nothing,BuildStatus\n"
    key = started(importer, STATES + more, "staff", "inventreecustomuserstatemodel")
    client = importer.client("staff")
    rows = client.get(f"{P}row/", params={"session": key}).json()
    accepted = client.post(f"{P}session/{key}/accept_rows/", json={"rows": [rows[0]["pk"]]})
    twice = client.post(f"{P}session/{key}/accept_rows/", json={"rows": [rows[0]["pk"]]})
    again = started(importer, STATES, "staff", "inventreecustomuserstatemodel")
    states = client.get("/api/generic/status/custom/").json()

    assert refused.status_code == 403
    assert [list(one["errors"] or ()) for one in rows] == [[], ["name"], ["logical_key"], ["model"]]
    assert (accepted.status_code, twice.status_code) == (201, 400)
    assert [(one["name"], one["color"], one["logical_key"]) for one in states] == [("WAITING", "secondary", 25)]
    (taken,) = client.get(f"{P}row/", params={"session": again}).json()
    assert "must make a unique set" in taken["errors"]["non_field_errors"][0]


def test_users_see_and_change_their_own(importer):
    """Others find nothing of it, in no list, no file and no bulk; the staff see it, and need the right to change it."""
    key = started(importer, "Name\nA\nB\n")
    user, staff = importer.client("user"), importer.client("staff")
    row = user.get(f"{P}row/", params={"session": key, "limit": 1}).json()["results"][0]["pk"]
    file = user.get(f"{P}session/{key}/").json()["data_file"]
    other = started(importer, "Name\nA\n", "superuser")
    other_row = importer.client("superuser").get(f"{P}row/", params={"session": other}).json()[0]["pk"]
    other_map = importer.client("superuser").get(f"{P}column-mapping/", params={"session": other}).json()[0]["pk"]

    for path in (f"session/{other}/", f"row/{other_row}/", f"column-mapping/{other_map}/"):
        assert user.get(P + path).status_code == 404
        body: Any = {"data": {}} if "row" in path else {"column": ""}
        assert user.patch(P + path, json=body).status_code == 404
    assert user.post(f"{P}session/{other}/accept_fields/").status_code == 403
    assert user.post(f"{P}session/{other}/accept_rows/", json={"rows": [other_row]}).status_code == 403
    for kind, wanted in (("session", other), ("row", other_row)):
        assert user.request("DELETE", f"{P}{kind}/", json={"items": [wanted]}).status_code == 400
    assert user.get(f"{P}row/", params={"session": other}).json() == []
    assert staff.get(file).status_code == staff.get(f"{P}session/{key}/").status_code == 200
    assert importer.client("anonymous").get(file).status_code == 401
    assert staff.patch(f"{P}row/{row}/", json={"data": {"name": "X"}}).status_code == 403
    assert staff.delete(f"{P}session/{key}/").status_code == 403
    bulk = user.request("DELETE", f"{P}row/", json={"filters": {"session": key}})
    assert (bulk.status_code, user.get(f"{P}session/{key}/").json()["status"]) == (204, 40)
    assert user.delete(f"{P}session/{key}/").status_code == 204
    assert user.get(file).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {}, {"rows": None}, {"rows": []}, {"rows": "x"}, {"rows": {}}, {"rows": ["x"]}, {"rows": [-1]}, {"rows": [0]},
        {"rows": [2**63]}, {"rows": [2**63 - 1]}, {"rows": [True]}, {"rows": [[1]]}, {"rows": [1.5]},
    ],
)  # fmt: skip
def test_rows_that_are_none_are_refused(importer, body):
    """Whatever is sent instead of rows, the answer says so at the member."""
    client = importer.client("user")
    key = client.get(f"{P}session/", params={"status": 30}).json() or [{"pk": started(importer, "Name\nA\n")}]

    answer = client.post(f"{P}session/{key[0]['pk']}/accept_rows/", json=body)

    assert (answer.status_code, list(answer.json())) == (400, ["rows"])


def test_all_rows_are_accepted_in_the_background(importer):
    """The answer names the task, and the session is complete after it."""
    key = started(importer, "Name\n" + "".join(f"Part {number}\n" for number in range(20)))
    client = importer.client("user")
    answer = client.post(f"{P}session/{key}/accept_rows/", json={"all": True})
    importer.host.tasks.drain(10)

    assert answer.status_code == 201
    assert client.get(f"/api/background-task/{answer.json()['task']}/").json()["success"] is True
    assert client.get(f"{P}session/{key}/").json()["completed_row_count_history"] == 20


def test_the_interface_describes_itself(importer):
    """Forms can be made of OPTIONS; required fields that nothing fills are named; the list of models is plain."""
    client = importer.client("user")
    described = client.options(f"{P}session/").json()["actions"]["POST"]
    key = begin(importer, "nothing\n1\n").json()["pk"]
    missing = client.post(f"{P}session/{key}/accept_fields/")
    wide = client.patch(f"{P}session/{key}/", json={"field_overrides": '{"name": "N"}', "status": 40, "columns": []})
    models = client.get(f"{P}models/", params={"limit": 1}).json()

    assert {"value": "part", "display_name": "Part"} in described["model_type"]["choices"]
    assert described["data_file"]["type"] == "file upload"
    assert missing.status_code == 400
    assert missing.json()["fields"] == ["name"]
    assert (wide.json()["status"], wide.json()["columns"], wide.json()["field_overrides"]) == (
        10, ["nothing"], {"name": "N"},
    )  # fmt: skip
    assert [one["model_type"] for one in models] == [
        "inventreecustomuserstatemodel", "part", "partcategory", "stockitem", "stocklocation",
    ]  # fmt: skip
    for query in ("status=15", "user=99", "status=x"):
        assert client.get(f"{P}session/?{query}").status_code == 400
    assert client.get(f"{P}session/?model_type=none").json() == []
