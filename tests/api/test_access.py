"""Who may do what: every route, for every kind of caller."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from api import app
from api.endpoint import Endpoint
from tests.api.accounts_service import RIGHTS
from tests.api.service import FLAGS

CALLERS = ("anonymous", *FLAGS)
# The account interface has an order of checks of its own: tests/auth/test_every_operation.py.
ENDPOINTS = [endpoint for endpoint in app.ENDPOINTS if isinstance(endpoint, Endpoint)]
NOWHERE = uuid.UUID(int=0)
P = "/api/plugins/"
S = "/api/settings/"
E = "/api/admin/email/{global_id:uuid}/"

# Method, path template, path asked for, body, then the status for: anonymous, user, staff, superuser.
TABLE: list[tuple[Any, ...]] = [
    ("GET", "/api/", None, None, 200, 200, 200, 200),
    ("GET", "/api/admin/config/", None, None, 401, 403, 403, 200),
    ("GET", "/api/admin/config/{key}/", "/api/admin/config/home/", None, 401, 403, 403, 200),
    ("GET", "/api/admin/config/{key}/", "/api/admin/config/nothing/", None, 401, 403, 403, 404),
    ("GET", "/api/license/", None, None, 401, 200, 200, 200),
    ("GET", "/api/version/", None, None, 401, 200, 200, 200),
    ("GET", "/api/version-text", None, None, 401, 200, 200, 200),
    ("GET", "/api/version-text/", None, None, 401, 200, 200, 200),
    ("GET", "/api/contenttype/", None, None, 401, 200, 200, 200),
    ("GET", "/api/contenttype/{id:int}/", "/api/contenttype/999/", None, 401, 404, 404, 404),
    ("GET", "/api/contenttype/model/{model}/", "/api/contenttype/model/part/", None, 401, 200, 200, 200),
    ("GET", "/api/generic/status/", None, None, 401, 200, 200, 200),
    ("GET", "/api/generic/status/{name}/", "/api/generic/status/BuildStatus/", None, 401, 200, 200, 200),
    ("GET", "/api/generic/status/custom/", None, None, 401, 200, 200, 200),
    ("POST", "/api/generic/status/custom/", None, {}, 401, 403, 400, 400),
    ("GET", "/api/generic/status/custom/{id:int}/", "/api/generic/status/custom/99/", None, 401, 404, 404, 404),
    ("PATCH", "/api/generic/status/custom/{id:int}/", "/api/generic/status/custom/99/", {}, 401, 403, 404, 404),
    ("PUT", "/api/generic/status/custom/{id:int}/", "/api/generic/status/custom/99/", {}, 401, 403, 400, 400),
    ("DELETE", "/api/generic/status/custom/{id:int}/", "/api/generic/status/custom/99/", None, 401, 403, 404, 404),
    ("GET", "/api/auth/", None, None, 401, 200, 200, 200),
    ("GET", "/api/background-task/", None, None, 401, 403, 200, 200),
    ("GET", "/api/background-task/pending/", None, None, 401, 403, 200, 200),
    ("DELETE", "/api/background-task/pending/", None, {}, 401, 403, 400, 400),
    ("GET", "/api/background-task/failed/", None, None, 401, 403, 200, 200),
    ("DELETE", "/api/background-task/failed/", None, {}, 401, 403, 400, 400),
    ("GET", "/api/background-task/scheduled/", None, None, 401, 403, 200, 200),
    ("GET", "/api/background-task/{task_id}/", "/api/background-task/nothing/", None, 401, 404, 404, 404),
    ("GET", "/api/background-task/{task_id}/events/", "/api/background-task/no/events/", None, 401, 404, 404, 404),
    ("GET", "/api/data-output/", None, None, 401, 200, 200, 200),
    ("DELETE", "/api/data-output/", None, {}, 401, 400, 400, 400),
    ("GET", "/api/data-output/{id:int}/", "/api/data-output/999/", None, 401, 404, 404, 404),
    ("DELETE", "/api/data-output/{id:int}/", "/api/data-output/999/", None, 401, 404, 404, 404),
    ("GET", "/api/error-report/", None, None, 401, 403, 200, 200),
    ("DELETE", "/api/error-report/", None, {}, 401, 403, 400, 400),
    ("GET", "/api/error-report/{id:int}/", "/api/error-report/999999/", None, 401, 403, 404, 404),
    ("DELETE", "/api/error-report/{id:int}/", "/api/error-report/999999/", None, 401, 403, 404, 404),
    ("GET", "/api/news/", None, None, 401, 403, 200, 200),
    ("DELETE", "/api/news/", None, {}, 401, 403, 400, 400),
    ("GET", "/api/news/{id:int}/", "/api/news/999/", None, 401, 403, 404, 404),
    ("PATCH", "/api/news/{id:int}/", "/api/news/999/", {"read": True}, 401, 403, 404, 404),
    ("PUT", "/api/news/{id:int}/", "/api/news/999/", {}, 401, 403, 400, 400),
    ("DELETE", "/api/news/{id:int}/", "/api/news/999/", None, 401, 403, 404, 404),
    ("GET", "/api/notifications/", None, None, 401, 200, 200, 200),
    ("DELETE", "/api/notifications/", None, {}, 401, 400, 400, 400),
    ("POST", "/api/notifications/readall/", None, None, 401, 200, 200, 200),
    ("GET", "/api/notifications/{id:int}/", "/api/notifications/999/", None, 401, 404, 404, 404),
    ("PATCH", "/api/notifications/{id:int}/", "/api/notifications/999/", {"read": True}, 401, 404, 404, 404),
    ("PUT", "/api/notifications/{id:int}/", "/api/notifications/999/", {"read": True}, 401, 404, 404, 404),
    ("DELETE", "/api/notifications/{id:int}/", "/api/notifications/999/", None, 401, 404, 404, 404),
    ("POST", "/api/email/generate/", None, {}, 400, 400, 400, 400),
    # It leads to the web client, which is not here.
    ("GET", "/api/email/login/", None, None, 401, 404, 404, 404),
    ("GET", "/api/oauth/clients/", None, None, 401, 403, 200, 200),
    ("POST", "/api/oauth/clients/", None, {}, 401, 403, 400, 400),
    ("GET", "/api/oauth/clients/{id:int}/", "/api/oauth/clients/99/", None, 401, 403, 404, 404),
    ("PATCH", "/api/oauth/clients/{id:int}/", "/api/oauth/clients/99/", {}, 401, 403, 404, 404),
    ("DELETE", "/api/oauth/clients/{id:int}/", "/api/oauth/clients/99/", None, 401, 403, 404, 404),
    ("GET", "/api/currency/exchange/", None, None, 401, 200, 200, 200),
    ("POST", "/api/currency/refresh/", None, None, 401, 403, 200, 200),
    ("GET", "/api/icons/", None, None, 200, 200, 200, 200),
    ("POST", "/api/action/", None, {"action": "nothing"}, 401, 404, 404, 404),
    ("POST", "/api/locate/", None, {}, 401, 400, 400, 400),
    ("GET", P, None, None, 401, 200, 200, 200),
    ("GET", f"{P}{{plugin:str}}/", f"{P}inventory/", None, 401, 200, 200, 200),
    ("GET", f"{P}{{plugin:str}}/", f"{P}nothing/", None, 401, 404, 404, 404),
    ("DELETE", f"{P}{{plugin:str}}/", f"{P}inventory/", None, 401, 403, 403, 400),
    ("DELETE", f"{P}{{plugin:str}}/", f"{P}nothing/", None, 401, 403, 403, 404),
    ("PATCH", f"{P}{{plugin}}/activate/", f"{P}inventory/activate/", {}, 401, 403, 403, 200),
    ("PUT", f"{P}{{plugin}}/activate/", f"{P}inventory/activate/", {"active": False}, 401, 403, 403, 400),
    ("POST", f"{P}{{plugin}}/activate/", f"{P}nothing/activate/", {}, 401, 403, 403, 404),
    ("PATCH", f"{P}{{plugin}}/uninstall/", f"{P}nothing/uninstall/", {}, 401, 403, 403, 404),
    ("PUT", f"{P}{{plugin}}/uninstall/", f"{P}inventory/uninstall/", {}, 401, 403, 403, 400),
    ("POST", f"{P}reload/", None, {}, 401, 403, 403, 201),
    ("GET", f"{P}status/", None, None, 401, 403, 403, 200),
    ("GET", f"{P}ui/features/{{feature}}/", f"{P}ui/features/panel/", None, 401, 200, 200, 200),
    ("GET", f"{P}{{plugin}}/admin/", f"{P}inventory/admin/", None, 401, 403, 200, 200),
    ("POST", f"{P}install/", None, {}, 401, 403, 403, 400),
    ("POST", f"{P}plan/", None, {}, 401, 403, 403, 400),
    ("GET", f"{P}generations/", None, None, 401, 403, 403, 200),
    ("POST", f"{P}generations/{{number:int}}/restore/", f"{P}generations/99/restore/", None, 401, 403, 403, 404),
    ("GET", f"{P}operations/", None, None, 401, 403, 403, 200),
    ("GET", f"{P}operations/{{id:uuid}}/", f"{P}operations/{NOWHERE}/", None, 401, 403, 403, 404),
    ("GET", f"{P}operations/{{id:uuid}}/events/", f"{P}operations/{NOWHERE}/events/", None, 401, 403, 403, 404),
    ("GET", f"{P}settings/", None, None, 401, 403, 200, 200),
    ("GET", f"{P}{{plugin}}/settings/", f"{P}inventory/settings/", None, 401, 200, 200, 200),
    ("GET", f"{P}{{plugin}}/settings/{{key}}/", f"{P}inventory/settings/NO/", None, 401, 404, 404, 404),
    ("PATCH", f"{P}{{plugin}}/settings/{{key}}/", f"{P}inventory/settings/NO/", {"value": 1}, 401, 403, 404, 404),
    ("PUT", f"{P}{{plugin}}/settings/{{key}}/", f"{P}inventory/settings/NO/", {}, 401, 403, 400, 400),
    ("GET", f"{P}{{plugin}}/user-settings/", f"{P}inventory/user-settings/", None, 401, 200, 200, 200),
    ("GET", f"{P}{{plugin}}/user-settings/{{key}}/", f"{P}inventory/user-settings/NO/", None, 401, 404, 404, 404),
    ("PATCH", f"{P}{{plugin}}/user-settings/{{key}}/", f"{P}inventory/user-settings/NO/", {}, 401, 404, 404, 404),
    ("PUT", f"{P}{{plugin}}/user-settings/{{key}}/", f"{P}inventory/user-settings/NO/", {}, 401, 400, 400, 400),
    ("GET", "/api/admin/email/", None, None, 401, 403, 403, 200),
    ("DELETE", "/api/admin/email/", None, None, 401, 403, 403, 400),
    ("GET", E, f"/api/admin/email/{NOWHERE}/", None, 401, 403, 403, 404),
    ("DELETE", E, f"/api/admin/email/{NOWHERE}/", None, 401, 403, 403, 404),
    ("POST", "/api/admin/email/test/", None, {}, 401, 403, 403, 400),
    ("GET", f"{S}global/", None, None, 401, 200, 200, 200),
    ("GET", f"{S}global/{{key}}/", f"{S}global/SIGNUP_GROUP/", None, 401, 200, 200, 200),
    ("PATCH", f"{S}global/{{key}}/", f"{S}global/NO/", {"value": 1}, 401, 403, 404, 404),
    ("PUT", f"{S}global/{{key}}/", f"{S}global/NO/", {}, 401, 403, 400, 400),
    ("GET", f"{S}user/", None, None, 401, 200, 200, 200),
    ("GET", f"{S}user/{{key}}/", f"{S}user/NO/", None, 401, 404, 404, 404),
    ("PATCH", f"{S}user/{{key}}/", f"{S}user/SHOW_SPOTLIGHT/", {"value": 1}, 401, 200, 200, 200),
    ("PUT", f"{S}user/{{key}}/", f"{S}user/NO/", {}, 401, 400, 400, 400),
]
IMPORTS = "/api/importer/"
for _kind in ("session", "row", "column-mapping"):
    _detail = f"{IMPORTS}{_kind}/{{id:int}}/"
    TABLE += [
        ("GET", f"{IMPORTS}{_kind}/", None, None, 401, 200, 200, 200),
        ("GET", _detail, f"{IMPORTS}{_kind}/999/", None, 401, 404, 404, 404),
        ("PATCH", _detail, f"{IMPORTS}{_kind}/999/", {}, 401, 404, 404, 404),
        ("PUT", _detail, f"{IMPORTS}{_kind}/999/", {}, 401, 400, 400, 400),
    ]
for _kind in ("session", "row"):
    TABLE += [
        ("DELETE", f"{IMPORTS}{_kind}/", None, {}, 401, 400, 400, 400),
        ("DELETE", f"{IMPORTS}{_kind}/{{id:int}}/", f"{IMPORTS}{_kind}/999/", None, 401, 404, 404, 404),
    ]
_SESSION = f"{IMPORTS}session/{{id:int}}/"
TABLE += [
    ("GET", f"{IMPORTS}models/", None, None, 401, 200, 200, 200),
    ("POST", f"{IMPORTS}session/", None, {}, 401, 400, 400, 400),
    ("POST", f"{_SESSION}accept_fields/", f"{IMPORTS}session/999/accept_fields/", None, 401, 404, 404, 404),
    ("POST", f"{_SESSION}accept_rows/", f"{IMPORTS}session/999/accept_rows/", {"rows": [1]}, 401, 400, 400, 400),
]
A = "/api/attachment/"
TABLE += [
    ("GET", A, None, None, 401, 200, 200, 200),
    ("POST", A, None, {}, 401, 403, 403, 400),
    ("DELETE", A, None, {}, 401, 400, 400, 400),
    ("GET", f"{A}{{id:int}}/", f"{A}999/", None, 401, 404, 404, 404),
    ("PATCH", f"{A}{{id:int}}/", f"{A}999/", {}, 401, 403, 403, 404),
    ("PUT", f"{A}{{id:int}}/", f"{A}999/", {}, 401, 403, 403, 400),
    ("DELETE", f"{A}{{id:int}}/", f"{A}999/", None, 401, 404, 404, 404),
]
for _path, _asked in (
    ("/api/metadata/attachment/{value:int}/", "/api/metadata/attachment/999/"),
    ("/api/metadata/attachment/pk/{value:int}/", "/api/metadata/attachment/pk/999/"),
    (f"{A}{{value:int}}/metadata/", f"{A}999/metadata/"),
):
    TABLE += [
        ("GET", _path, _asked, None, 401, 404, 404, 404),
        ("PUT", _path, _asked, {}, 401, 400, 400, 400),
        ("PATCH", _path, _asked, {"metadata": {}}, 401, 404, 404, 404),
    ]
for _path, _methods in RIGHTS.items():
    TABLE += [
        (_method, _path, _path.replace("{id:int}", "999"), {}, 401, *_statuses)
        for _method, _statuses in _methods.items()
    ]
for _path, _asked in (
    ("/api/metadata/pluginconfig/{value:int}/", "/api/metadata/pluginconfig/1/"),
    ("/api/metadata/pluginconfig/pk/{value:int}/", "/api/metadata/pluginconfig/pk/1/"),
    ("/api/metadata/pluginconfig/key/{value:str}/", "/api/metadata/pluginconfig/key/inventory/"),
    (f"{P}{{value}}/metadata/", f"{P}inventory/metadata/"),
):
    TABLE += [
        ("GET", _path, _asked, None, 401, 403, 403, 200),
        ("PUT", _path, _asked, {}, 401, 403, 403, 400),
        ("PATCH", _path, _asked, {"metadata": {}}, 401, 403, 403, 200),
    ]


def _cases():
    for method, template, asked, body, *statuses in TABLE:
        path = asked or template
        yield pytest.param(method, path, body, tuple(statuses), id=f"{method} {path}")


@pytest.mark.parametrize(("method", "path", "body", "statuses"), list(_cases()))
def test_every_caller_gets_their_status(service, method, path, body, statuses):
    """Each route answers each kind of caller as the table says."""
    got = tuple(service.client(caller).request(method, path, json=body).status_code for caller in CALLERS)

    assert got == statuses


def test_the_table_names_every_operation():
    """No operation is added without saying here who may use it."""
    declared = {(method, endpoint.path) for endpoint in ENDPOINTS for method in endpoint.operations}
    known = {(method, template) for method, template, *_ in TABLE}

    assert declared == known


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.path)
def test_every_endpoint_describes_itself(service, endpoint):
    """OPTIONS answers those who may use something of the endpoint, and nobody else."""
    path = endpoint.path
    for parameter, value in {
        "{key}": "x",
        "{id:int}": "1",
        "{id:uuid}": str(NOWHERE),
        "{global_id:uuid}": str(NOWHERE),
        "{number:int}": "1",
        "{value:int}": "1",
    }.items():
        path = path.replace(parameter, value)
    for parameter in ("{plugin}", "{plugin:str}", "{feature}", "{value}", "{value:str}"):
        path = path.replace(parameter, "inventory")

    body = service.client("superuser").options(path).json()

    assert set(body) == {"name", "description", "renders", "parses", "actions"}
    assert service.client("anonymous").options(path).status_code == (200 if endpoint.access == "anyone" else 401)
    assert service.client("superuser").request("TRACE", path).status_code == 405


def test_health_is_open_and_quick(service):
    """Health needs nobody and answers JSON, also where credentials are wrong."""
    client = service.client("anonymous")

    response = client.get("/health", headers={"Authorization": "Token wrong"})

    assert response.status_code == 200
    assert response.json() == {"status": "ok"}
    assert client.post("/health").status_code == 405
    assert client.head("/health").content == b""
