"""Every operation of every kind of record, for every kind of caller: the answer, and what is stored afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from api import app
from host.storage.tables import METADATA
from tests.api.record_kinds import KINDS, Kind
from tests.api.record_yard import CALLERS, Yard
from tests.api.service import Service


@pytest.fixture(scope="module")
def yard(shared_service: Service) -> Iterator[Yard]:
    yard = Yard(shared_service)
    yield yard
    yard.close()


def with_operation(*names: str) -> pytest.MarkDecorator:
    """Ask for one operation of every kind that has it."""
    found = [(kind, name) for kind in KINDS for name in names if name in kind.who]
    cases = [pytest.param(kind, name, id=f"{name} {kind.path}") for kind, name in found]
    return pytest.mark.parametrize(("kind", "operation"), cases)


def stored(yard: Yard, kind: Kind, key: Any) -> dict[str, Any] | None:
    """Return the row of a record."""
    return yard.row(kind.table, kind.column, key)


def check_refusal(response: Any, status: int) -> None:
    """Nothing but the reason is answered, in the interface's shape."""
    assert response.status_code == status, response.text
    member = "non_field_errors" if status == 400 else "detail"
    assert list(response.json()) == [member]


@with_operation("list")
def test_lists_show_records(yard: Yard, kind: Kind, operation: str):
    """A record is in the list, and in a page of it, of those who may see it; others get a list without it."""
    for caller, status in zip(CALLERS, kind.who[operation], strict=True):
        key = kind.make(yard, caller)
        response = yard.client(caller).get(kind.path)
        if status in {401, 403}:
            check_refusal(response, status)
            continue
        assert response.status_code == 200
        assert [record["pk"] for record in response.json()].count(key) == (status == 200), caller
        page = yard.client(caller).get(kind.path, params={"limit": 1}).json()
        assert (page["count"], len(page["results"])) == (len(response.json()), min(1, page["count"]))
        assert page["results"] == response.json()[:1]


@with_operation("show")
def test_records_are_shown(yard: Yard, kind: Kind, operation: str):
    """Whoever may see a record gets what the list has, with exactly the members that are described."""
    shape = _answer_of(f"GET {kind.path}{kind.parameter}/")
    for caller, status in zip(CALLERS, kind.who[operation], strict=True):
        key = kind.make(yard, caller)
        response = yard.client(caller).get(f"{kind.path}{key}/")
        if status != 200:
            check_refusal(response, status)
            continue
        assert response.status_code == 200, caller
        assert set(response.json()) == set(shape)
        assert response.json()["pk"] == key


@with_operation("create")
def test_records_are_created(yard: Yard, kind: Kind, operation: str):
    """Whoever may creates a record that is stored; for others none is."""
    assert kind.body is not None
    for caller, status in zip(CALLERS, kind.who[operation], strict=True):
        before = set(yard.keys(kind.table, kind.column))
        response = yard.client(caller).post(kind.path, **kind.body(yard))
        made = set(yard.keys(kind.table, kind.column)) - before
        for key in made:
            yard.keep(kind.table, kind.column, key)
        if status != 201:
            check_refusal(response, status)
            assert made == set()
            continue
        assert response.status_code == 201, response.text
        assert made == {response.json()["pk"]}
        assert yard.client(caller).get(f"{kind.path}{response.json()['pk']}/").json() == response.json()


@with_operation("PATCH", "PUT")
def test_records_are_changed(yard: Yard, kind: Kind, operation: str):
    """Whoever may gives a record other values, which are stored; for others it stays as it is."""
    for caller, status in zip(CALLERS, kind.who[operation], strict=True):
        key = kind.make(yard, caller)
        before = stored(yard, kind, key)
        sent = _put_of(yard, kind, key) if operation == "PUT" else {"json": kind.patch}
        response = yard.client(caller).request(operation, f"{kind.path}{key}/", **sent)
        after = stored(yard, kind, key)
        assert before is not None
        assert after is not None
        if status != 200:
            check_refusal(response, status)
            assert after == before
            continue
        assert response.status_code == 200, response.text
        for name, value in kind.patch.items():
            assert before[name] != value
            assert (after[name], response.json()[name]) == (value, value)
        if operation == "PATCH":
            assert len(_texts(after).items() - _texts(before).items()) <= 4


@with_operation("delete", "bulk")
def test_records_are_deleted(yard: Yard, kind: Kind, operation: str):
    """Whoever may deletes a record, alone or among several; for others it stays, and other records always do."""
    for caller, status in zip(CALLERS, kind.who[operation], strict=True):
        other, key = kind.make(yard, caller), kind.make(yard, caller)
        client = yard.client(caller)
        if operation == "bulk":
            response = client.request("DELETE", kind.path, json={"items": [key]})
        else:
            response = client.delete(f"{kind.path}{key}/")
        assert stored(yard, kind, other) is not None
        if status != 204:
            check_refusal(response, status)
            assert stored(yard, kind, key) is not None
            continue
        assert (response.status_code, response.content) == (204, b""), caller
        assert stored(yard, kind, key) is None


def _put_of(yard: Yard, kind: Kind, key: Any) -> dict[str, Any]:
    if kind.path == "/api/importer/session/":
        # The file is a required member, and forms carry objects as text.
        assert kind.body is not None
        sent = kind.body(yard)
        return {**sent, "data": sent["data"] | {"field_defaults": '{"color": "info"}'}}
    del key
    return {"json": {**kind.put(yard), **kind.patch}}


def _texts(row: dict[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in row.items()}


def _answer_of(operation: str) -> set[str]:
    method, _, path = operation.partition(" ")
    (endpoint,) = (endpoint for endpoint in app.ENDPOINTS if endpoint.path == path)
    shape: Any = endpoint.operations[method].answers[200]
    return {name for name, field in shape.fields.items() if not field.write_only and field.always}


def test_every_operation_of_these_records_is_asked_for():
    """A kind of record has no operation that this module leaves out."""
    for kind in KINDS:
        assert kind.table in METADATA.tables
        paths = {kind.path, f"{kind.path}{kind.parameter}/"}
        declared = {
            f"{method} {endpoint.path}"
            for endpoint in app.ENDPOINTS
            if endpoint.path in paths
            for method in endpoint.operations
        }
        assert declared == kind.operations()
