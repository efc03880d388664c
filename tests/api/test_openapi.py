"""The OpenAPI document and the page that shows it."""

from __future__ import annotations

import json
import re

import pytest


@pytest.fixture
def document(anonymous):
    """The document, as anyone gets it."""
    response = anonymous.get("/api/schema/")
    assert response.status_code == 200
    return response.json()


def test_the_document_names_every_operation(document):
    """Paths, ids and schemes are there; every reference leads somewhere."""
    assert document["openapi"].startswith("3.1")
    assert set(document["paths"]["/api/shelf/"]) == {"get", "post", "delete"}
    assert set(document["paths"]["/api/shelf/{id}/"]) == {"get", "patch", "put", "delete", "parameters"}
    ids = re.findall(r'"operationId": ?"([^"]+)"', json.dumps(document))
    assert len(ids) == len(set(ids))
    assert set(document["components"]["securitySchemes"]) == {
        "basicAuth",
        "tokenAuth",
        "cookieAuth",
        "sessionAuth",
        "oauth2",
    }
    for pointer in set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document))):
        assert pointer in document["components"]["schemas"]


def test_every_operation_names_its_statuses(document):
    """No status is a surprise."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method == "parameters":
                continue
            assert {"400", "401", "403", "404", "405", "406", "500"} <= set(operation["responses"]), path
            if "requestBody" in operation:
                assert {"413", "415"} <= set(operation["responses"])


def test_shapes_differ_by_direction(document):
    """What the server sets is not part of what is sent."""
    schemas = document["components"]["schemas"]

    assert "pk" in schemas["Shelf"]["properties"]
    assert "pk" not in schemas["ShelfRequest"]["properties"]
    assert schemas["ShelfRequest"]["required"] == ["name"]
    assert "required" not in schemas["PatchedShelfRequest"]


@pytest.mark.parametrize("name", ["", "page.js", "page.css"])
def test_the_page_needs_nothing_from_elsewhere(anonymous, name):
    """The page works under a strict policy, and without any other server."""
    response = anonymous.get(f"/api/docs/{name}")

    assert response.status_code == 200
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "//" not in re.sub(r"^\s*//.*$", "", response.text, flags=re.MULTILINE).replace("https://", "")
    assert "https://" not in response.text
    assert anonymous.head(f"/api/docs/{name}").content == b""


def test_nothing_else_is_served_beside_the_page(user):
    """Other names below the page are unknown paths."""
    assert user.get("/api/docs/../fields.py").status_code == 404
    assert user.get("/api/docs/page.html").status_code == 404
    assert user.post("/api/docs/").status_code == 404
