"""Exports over the interface: every list answers with a data output, which a task fills."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import delete, update

from api import app
from api.app import ENDPOINTS
from host.accounts.account import USERS
from host.contract.values import User
from host.records.data_outputs import OUTPUTS
from host.server import Host
from tests.api.service import Service

STATES = "/api/generic/status/custom/"
LISTS = [
    (endpoint.path, operation.export.name)
    for endpoint in ENDPOINTS
    for method, operation in endpoint.operations.items()
    if operation.export is not None and method == "GET"
]


@pytest.fixture(scope="module")
def exporting(service: Service) -> Service:
    """A host with three custom states."""
    staff = service.client("staff")
    for key, label in ((201, "=1+2"), (202, "Grün, hell"), (203, "-7")):
        body = {"reference_status": "StockStatus", "key": key, "name": f"S{key}", "label": label, "color": "danger",
                "logical_key": 70, "model": 1}  # fmt: skip
        assert staff.post(STATES, json=body).status_code == 201
    assert service.client("superuser").patch("/api/plugins/sample-exports/activate/").status_code == 200
    return service


@pytest.fixture(autouse=True)
def _nothing_left(exporting: Service) -> Iterator[None]:
    yield
    with exporting.host.database.write() as session:
        session.connection().execute(delete(OUTPUTS))


def export(service: Service, caller: str, path: str, **query: str) -> dict[str, Any]:
    """Export a list, and return what has become of it."""
    client = service.client(caller)
    answer = client.get(path, params={"export": "true", **query})
    assert answer.status_code == 200, answer.text
    assert service.host.tasks.drain(30)
    output: dict[str, Any] = client.get(f"/api/data-output/{answer.json()['pk']}/").json()
    return output


def table(service: Service, caller: str, output: dict[str, Any]) -> list[list[str]]:
    """Return the cells of a CSV file that was made."""
    assert output["complete"], output
    return list(csv.reader(io.StringIO(service.client(caller).get(output["output"]).text, newline="")))


def test_a_list_is_answered_with_a_data_output(exporting: Service):
    """It is there at once, belongs to the caller, and nobody else may have its file."""
    user = exporting.client("user")
    begun = user.get(f"{STATES}?export=true&export_format=csv&export_plugin=inventree-exporter").json()
    exporting.host.tasks.drain(30)
    done = user.get(f"/api/data-output/{begun['pk']}/").json()
    rows = table(exporting, "user", done)

    assert list(begun) == list(done)
    assert (begun["output_type"], begun["plugin"], begun["template_name"]) == ("export", "exporter", "custom-states")
    assert (begun["complete"], begun["output"], begun["total"], begun["user_detail"]["username"]) == (
        False,
        None,
        3,
        "user",
    )
    assert (done["complete"], done["total"], done["progress"], done["errors"]) == (True, 3, 3, None)
    assert rows[0] == list(user.get(STATES).json()[0])
    assert [row[3] for row in rows[1:]] == ["'=1+2", "Grün, hell", "-7"]
    assert exporting.client("anonymous").get(done["output"]).status_code == 401
    told = user.get("/api/notifications/").json()[0]
    assert (told["name"], told["target"]["link"]) == ("The export of custom states is ready", done["output"])


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        pytest.param({"ordering": "-key"}, ["203", "202", "201"], id="ordering"),
        pytest.param({"search": "hell"}, ["202"], id="search"),
        pytest.param({"search": "S20[13]", "search_regex": "true"}, ["201", "203"], id="regular expression"),
        pytest.param({"reference_status": "BuildStatus"}, [], id="filter"),
        pytest.param({"limit": "1", "offset": "2"}, ["201", "202", "203"], id="no page"),
        pytest.param({"export_format": "csv", "nonsense": "\ud7ff\u00e9%&=", "format": "json"}, ["201", "202", "203"],
                     id="others"),
    ],
)  # fmt: skip
def test_what_the_list_would_show_is_exported(exporting: Service, query: dict[str, str], keys: list[str]):
    """Filters, search and ordering apply; pages do not."""
    output = export(exporting, "user", STATES, ordering=query.pop("ordering", "key"), **query)

    assert [row[1] for row in table(exporting, "user", output)[1:]] == keys


@pytest.mark.parametrize(
    ("query", "named"),
    [
        pytest.param("export_format=pdf", ["export_format"], id="format"),
        pytest.param("export_format=&export_plugin=", ["export_format", "export_plugin"], id="nothing"),
        pytest.param("export_plugin=inventory", ["export_plugin"], id="a plugin that exports nothing"),
        pytest.param("export_plugin=%00%ED%A0%80&export_format=CSV", ["export_format", "export_plugin"], id="odd"),
        pytest.param("export_headings=loud", ["export_headings"], id="option"),
        pytest.param(f"export_columns={'x' * 2001}", ["export_columns"], id="long option"),
        pytest.param("model=x", ["model"], id="filter"),
        pytest.param("search=(&search_regex=1", ["search"], id="search"),
        pytest.param("reference_status=Nothing", ["reference_status"], id="a filter of the record's own"),
        pytest.param(f"x={'y' * 8000}", ["non_field_errors"], id="long query"),
    ],
)
def test_a_wrong_choice_is_refused_at_once(exporting: Service, query: str, named: list[str]):
    """The answer names what is wrong, and nothing is begun."""
    answer = exporting.client("user").get(f"{STATES}?export=true&{query}")

    assert (answer.status_code, sorted(answer.json())) == (400, named), answer.text
    assert exporting.client("user").get("/api/data-output/").json() == []


@pytest.mark.parametrize("value", ["false", "", "0", "maybe", "\x00"])
def test_without_the_word_it_is_the_list(exporting: Service, value: str):
    """Anything that does not mean yes leaves the list as it is; HEAD makes nothing either."""
    user = exporting.client("user")

    assert len(user.get(STATES, params={"export": value}).json()) == 3
    assert user.head(f"{STATES}?export=true").status_code == 200
    assert user.get("/api/data-output/").json() == []


def test_options_describe_the_choices(exporting: Service):
    """Clients make their form of it; with a plugin named, of the plugin's own options."""
    user = exporting.client("user")
    plain = user.options(f"{STATES}?export=true").json()["actions"]["GET"]
    named = user.options(f"{STATES}?export=true&export_plugin=sample-exports").json()["actions"]["GET"]
    other = user.options("/api/attachment/?export=true").json()["actions"]["GET"]

    assert list(plain) == ["export_format", "export_plugin", "export_headings", "export_columns"]
    assert [one["value"] for one in plain["export_format"]["choices"]] == ["csv", "tsv", "xlsx", "json", "markdown"]
    assert plain["export_plugin"]["choices"] == [
        {"value": "exporter", "display_name": "Exporter"},
        {"value": "sample-exports", "display_name": "Sample: exports"},
    ]
    assert (plain["export_format"]["default"], plain["export_plugin"]["default"]) == ("csv", "exporter")
    assert list(named) == ["export_format", "export_plugin", "export_case"]
    assert [one["value"] for one in other["export_plugin"]["choices"]] == ["exporter"]
    assert "export_format" not in user.options(STATES).json()["actions"]["GET"]


def test_a_plugin_arranges_the_rows_and_brings_a_format(exporting: Service):
    """The sample writes a table of text, by its option, and refuses where there is nothing."""
    query = {"export_format": "markdown", "export_plugin": "sample-exports", "export_case": "upper"}
    output = export(exporting, "user", f"{STATES}", ordering="key", **query)
    refused = export(exporting, "user", f"{STATES}", reference_status="BuildStatus", **query)

    assert output["output"].endswith("/states%20as%20a%20table.md")
    lines = exporting.client("user").get(output["output"]).text.splitlines()
    assert lines[:3] == ["| State | Colour |", "| --- | --- |", "| =1+2 (201) | DANGER |"]
    assert refused["errors"] == {"error": "There are no custom states to export yet."}


@pytest.mark.parametrize(("path", "name"), LISTS, ids=[name for _, name in LISTS])
def test_every_list_can_be_exported(exporting: Service, path: str, name: str):
    """Whatever the list, the file holds what it shows."""
    client = exporting.client("superuser")
    shown = len(client.get(path).json())
    output = export(exporting, "superuser", path, export_format="json")
    rows = json.loads(client.get(output["output"]).content)

    assert (output["errors"], output["template_name"]) == (None, name)
    # The output and the notice of it may be among them, and the task that makes it.
    assert abs(len(rows) - shown) <= 2


def test_every_list_has_a_name_of_its_own():
    """Tasks and plugins know lists by their names."""
    assert len({name for _, name in LISTS}) == len(LISTS) >= 20


def test_callers_export_what_they_see(exporting: Service):
    """Others' records, members for the staff, and lists that they may not read stay hidden."""
    hidden = {"is_staff", "is_superuser", "groups", "profile.language"}
    users = table(exporting, "user", export(exporting, "user", "/api/user/"))
    for_staff = table(exporting, "staff", export(exporting, "staff", "/api/user/"))
    tokens = table(exporting, "user", export(exporting, "user", "/api/user/tokens/", all_users="true"))
    everybodys = table(exporting, "superuser", export(exporting, "superuser", "/api/user/tokens/", all_users="true"))

    assert hidden.isdisjoint(users[0])
    assert hidden.issubset(for_staff[0])
    assert (len(tokens), len(everybodys)) == (2, 4)
    assert exporting.client("user").get("/api/error-report/?export=true").status_code == 403
    assert exporting.client("anonymous").get(f"{STATES}?export=true").status_code == 401


def test_the_file_needs_the_right_to_see_the_list(exporting: Service):
    """The staff see all outputs, but not what is in one that only superusers may read."""
    mails = export(exporting, "superuser", "/api/admin/email/")
    states = export(exporting, "superuser", STATES)
    staff = exporting.client("staff")

    assert staff.get(f"/api/data-output/{mails['pk']}/").json()["complete"]
    assert staff.get(mails["output"]).status_code in {403, 404}
    assert staff.get(states["output"]).status_code == 200
    assert exporting.client("user").get(states["output"]).status_code in {403, 404}


def test_rights_count_as_the_export_is_made(exporting: Service):
    """Who was staff as the export began and is not any more gets the reason and no rows."""
    staff = exporting.client("staff")
    key = staff.get("/api/error-report/?export=true").json()["pk"]
    names = USERS.c.username == "staff"
    with exporting.host.database.write() as session:
        session.connection().execute(update(USERS).where(names).values(is_staff=False))
    exporting.host.tasks.drain(30)
    with exporting.host.database.write() as session:
        session.connection().execute(update(USERS).where(names).values(is_staff=True))

    assert staff.get(f"/api/data-output/{key}/").json()["errors"] == {
        "error": "You may not see the error reports any more."
    }


def test_a_client_with_fewer_rights_exports_with_these(exporting: Service):
    """What a client was not allowed is not done in its name, although the account could."""
    host: Host = exporting.host
    account = next(one for one in host.directory.superusers() if one.username == "superuser")
    as_client = User(id=account.id, username=account.username)
    chosen = host.records.exports.choose("users", None, None)
    key = host.records.exports.begin("users", chosen, {}, "export=true", by=as_client)
    host.tasks.drain(30)
    output = exporting.client("superuser").get(f"/api/data-output/{key}/").json()

    assert "is_staff" not in table(exporting, "superuser", output)[0]


def test_too_many_at_once_are_refused(exporting: Service):
    """The answer says what to do; a deleted output ends its export without a trace."""
    user = exporting.client("user")
    answers = [user.get(f"{STATES}?export=true") for _ in range(11)]
    assert user.request("DELETE", "/api/data-output/?all=true").status_code == 204
    exporting.host.tasks.drain(30)

    assert [answer.status_code for answer in answers] == [200] * 10 + [409]
    assert "in the making" in answers[-1].json()["detail"]
    assert user.get("/api/data-output/").json() == []
    assert not [one for one in exporting.host.files.walk("data_output/") if f"/{answers[0].json()['pk']}/" in one.path]


def test_a_worker_makes_exports_without_the_interface(exporting: Service):
    """A process that serves nothing knows the same lists."""
    before = exporting.host.records.exports.sources
    exporting.host.records.exports.sources = {}
    app.offer_exports(exporting.host)

    assert set(exporting.host.records.exports.sources) == set(before)
    assert export(exporting, "user", STATES)["complete"]
