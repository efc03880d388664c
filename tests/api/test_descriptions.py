"""What OPTIONS tells of every endpoint, to every kind of caller, and that the OpenAPI document says the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs
import pytest

from api import app
from api.auth.endpoint import PREFIX
from api.authentication import may
from api.endpoint import Endpoint
from tests.api.record_yard import CALLERS, Yard
from tests.api.service import Service

TYPES = {
    "string", "integer", "boolean", "choice", "date", "datetime", "url", "email", "decimal", "float", "file upload",
    "image upload", "related field", "nested object", "list", "field",
}  # fmt: skip
# The account interface describes itself in `GET /api/auth/v1/config` and in its document alone.
ENDPOINTS = [endpoint for endpoint in app.ENDPOINTS if isinstance(endpoint, Endpoint)]
SHOWN_AS = {"GET": "GET", "POST": "POST", "PUT": "PUT", "PATCH": "PUT", "DELETE": "DELETE"}
LIMITS = {
    "max_length": "maxLength",
    "min_length": "minLength",
    "min_value": "minimum",
    "max_value": "maximum",
    "default": "default",
}
Told = Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def options(shared_service: Service) -> Told:
    """What OPTIONS answers: path → caller → status and body; ``en`` stands for somebody who reads English first."""
    yard = Yard(shared_service)
    clients = {caller: yard.client(caller) for caller in CALLERS}
    clients["en"] = yard.client("superuser")
    clients["en"].headers["Accept-Language"] = "en-GB,de;q=0.5"
    told: dict[str, dict[str, Any]] = {}
    for endpoint in ENDPOINTS:
        path = re.sub(r"\{\w+:int\}", "1", re.sub(r"\{\w+:uuid\}", "0" * 32, endpoint.path))
        path = re.sub(r"\{\w+(:str)?\}", "inventory", path)
        answers = {caller: client.options(path) for caller, client in clients.items()}
        told[endpoint.path] = {caller: (answer.status_code, answer.json()) for caller, answer in answers.items()}
    return told


@pytest.fixture(scope="module")
def document(shared_service: Service) -> Any:
    return shared_service.client("anonymous").get("/api/schema/").json()


def item_of(document: Any, endpoint: Endpoint) -> Any:
    """Return what the document says of an endpoint."""
    return document["paths"].get(re.sub(r":\w+\}", "}", endpoint.path), {})


def described(options: Told) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Iterate over path, caller, method and the members of an action."""
    for path, callers in options.items():
        for caller, (status, body) in callers.items():
            if status == 200:
                for method, members in body["actions"].items():
                    yield path, caller, method, members


def members_in(members: Mapping[str, Any], where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Iterate over members, those inside of others included, with the way there."""
    for name, info in members.items():
        yield f"{where} {name}", info
        yield from members_in(info.get("children", {}), f"{where} {name}.")
        yield from members_in(info.get("child", {}).get("children", {}), f"{where} {name}[].")


def test_only_what_the_caller_may_do_is_offered(options: Told):
    """Who may do nothing is refused like from the rest of the endpoint; nobody is offered what is not theirs."""
    for endpoint in ENDPOINTS:
        for caller in CALLERS:
            status, body = options[endpoint.path][caller]
            user = None if caller == "anonymous" else _User(caller)
            usable = {SHOWN_AS[m] for m, one in endpoint.operations.items() if may(user, one.access)}  # type: ignore[arg-type]  # all that is asked of it
            refused = 401 if user is None else 403
            assert status == (200 if usable else refused), (endpoint.path, caller)
            if status != 200:
                assert list(body) == ["detail"]
                continue
            assert set(body["actions"]) <= usable, (endpoint.path, caller)
            assert caller != "superuser" or set(body["actions"]) == usable, endpoint.path
    for path in ("/api/attachment/", "/api/attachment/{id:int}/"):
        assert set(options[path]["staff"][1]["actions"]) == {"GET"}
    assert options["/api/plugins/{value}/metadata/"]["staff"][1]["actions"] == {}


class _User:
    def __init__(self, caller: str) -> None:
        self.is_staff, self.is_superuser = caller != "user", caller == "superuser"


def test_endpoints_have_names_and_descriptions(options: Told):
    """Each says what it is and what the caller can do there, in whichever language they read."""
    for path, callers in options.items():
        status, body = callers["superuser"]
        assert status == 200
        assert re.fullmatch(r"[A-Z][\w -]+", body["name"]), path
        assert re.fullmatch(r"[A-Z].*\.", body["description"]), path
        assert body["renders"] == ["application/json"]
        assert callers["en"] == callers["superuser"]


def test_members_are_told_in_full(options: Told):
    """Forms and tables can be built from the type, the label, the rules and the choices of every member."""
    for path, _caller, method, members in described(options):
        for where, info in members_in(members, f"{method} {path}"):
            assert info["type"] in TYPES, where
            assert isinstance(info["required"], bool), where
            assert isinstance(info["read_only"], bool), where
            assert not (info["required"] and (info["read_only"] or "default" in info)), where
            assert re.match(r"[A-Z]", info["label"]), where
            assert "_" not in info["label"], where
            assert info["read_only"] or info["help_text"].endswith("."), f"{where} has no help text"
            assert ("choices" in info) == (info["type"] == "choice"), where
            assert info["type"] != "list" or info["child"]["type"] in TYPES, where
            for choice in info.get("choices", ()):
                assert set(choice) == {"value", "display_name"}, where
                assert isinstance(choice["display_name"], str), where
            if info["type"] == "related field":
                assert set(info) >= {"model", "api_url", "pk_field", "filters"}, where
                assert info["api_url"] in options, where
            defaults = [choice["value"] for choice in info.get("choices", ())] or [info.get("default")]
            assert info.get("default", defaults[0]) in defaults, where


def test_forms_take_what_the_document_says(options: Told, document: Any):
    """What a body may hold, what it must, and how long or large it may be are the same in both."""
    for endpoint in ENDPOINTS:
        actions = options[endpoint.path]["superuser"][1]["actions"]
        item = item_of(document, endpoint)
        for method, operation in endpoint.operations.items():
            if operation.hidden:
                continue
            body = item[method.lower()].get("requestBody")
            assert (body is None) == (operation.body is None and operation.takes is None), (method, endpoint.path)
            # PUT stands for PATCH as well; a resource describes forms where PUT needs everything.
            if body is None or method not in actions or operation.writes not in {None, operation.body}:
                continue
            schema = _resolved(document, next(iter(body["content"].values()))["schema"])
            told = {name: info for name, info in actions[method].items() if not info["read_only"]}
            assert set(schema["properties"]) == set(told), (method, endpoint.path)
            if method != "PATCH":
                required = {name for name, info in told.items() if info["required"]}
                assert set(schema.get("required", ())) == required, (method, endpoint.path)
            for name, info in told.items():
                _check_limits(info, schema["properties"][name], f"{method} {endpoint.path} {name}")


def _check_limits(info: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> None:
    for ours, theirs in LIMITS.items():
        if ours in info and info["type"] not in {"choice", "file upload"}:
            assert schema[theirs] == info[ours], where
    assert schema["description"] == info["help_text"], where
    if "enum" in schema:
        assert [choice["value"] for choice in info["choices"]] == [one for one in schema["enum"] if one != ""], where


def test_tables_show_what_the_document_says(options: Told, document: Any):
    """What GET answers has the members that OPTIONS names."""
    for endpoint in ENDPOINTS:
        members = options[endpoint.path]["superuser"][1]["actions"].get("GET")
        if not members or endpoint.operations["GET"].hidden:
            continue
        answer = item_of(document, endpoint)["get"]["responses"]["200"]
        schema = next(iter(answer["content"].values()))["schema"]
        found = [one for one in _shapes(document, schema) if set(one["properties"]) <= set(members)]
        assert found, endpoint.path
        missing = set(members) - set(found[0]["properties"])
        # Passwords and the like are only ever sent.
        assert not [name for name in missing if members[name]["read_only"]], endpoint.path


def _resolved(document: Any, schema: Any) -> Any:
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def _shapes(document: Any, schema: Any) -> Iterator[Any]:
    schema = _resolved(document, schema)
    for part in (*schema.get("oneOf", ()), *schema.get("anyOf", ()), *filter(None, [schema.get("items")])):
        yield from _shapes(document, part)
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _shapes(document, schema["additionalProperties"])
    properties = schema.get("properties", {})
    if "results" in properties and "count" in properties:
        yield from _shapes(document, properties["results"])
    elif properties:
        yield schema


def test_the_document_is_sound(document: Any):
    """Every schema in it is one, every reference leads somewhere, and parameters of paths are those of the paths."""
    for name, schema in document["components"]["schemas"].items():
        assert jsonschema_rs.meta.is_valid({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}), name
    for pointer in re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)):
        assert pointer in document["components"]["schemas"]
    ids = []
    for path, item in document["paths"].items():
        named = [one["name"] for one in item.get("parameters", ())]
        assert named == re.findall(r"\{(\w+)\}", path)
        for method, operation in item.items():
            if method == "parameters":
                continue
            ids.append(operation["operationId"])
            queried = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
            assert len(queried) == len(set(queried)), (method, path)
            # Signing out of the account interface is answered with 401.
            assert path.startswith(PREFIX) or [one for one in operation["responses"] if one[0] in "23"], (method, path)
            assert operation["summary"], (method, path)
    assert len(ids) == len(set(ids))
