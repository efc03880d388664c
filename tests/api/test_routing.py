"""Paths, methods and what surrounds every answer."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from api.context import Options
from api.negotiation import accepts_gzip


@pytest.mark.parametrize(
    "path", ["/nowhere/", "/api/shelf", "/api/", "/api/shelf/abc/", "/api/shelf/99999999999999999999/", "/a%0Ab/"]
)
def test_an_unknown_path_is_404_for_those_signed_in(user, anonymous, path):
    """No endpoint, no slash at the end or a parameter of the wrong type: 404 with the address; 401 for nobody."""
    response = user.get(f"{path}?a=1", follow_redirects=False)

    assert response.status_code == 404
    assert response.json()["url"] == f"http://testserver{path}?a=1"
    assert anonymous.get(path, follow_redirects=False).status_code == 401


def test_405_names_the_methods(superuser):
    """A method that a path lacks is answered with those it has."""
    response = superuser.patch("/api/shelf/")

    assert response.status_code == 405
    assert set(response.json()) == {"detail"}
    assert response.headers["allow"] == "GET, HEAD, POST, DELETE, OPTIONS"


@pytest.mark.parametrize("path", ["/api/open/", "/api/shelf/", "/nowhere/"])
def test_head_is_get_without_a_body(user, path):
    """HEAD answers the status and length of GET, and no body."""
    get, head = user.get(path), user.head(path)

    assert head.status_code == get.status_code
    assert head.content == b""
    assert head.headers["content-length"] == get.headers["content-length"]


def test_every_answer_carries_the_headers(user, anonymous):
    """Each answer says what answered, and carries the security headers."""
    first, second = user.get("/api/open/"), anonymous.get("/nowhere/")

    for response in (first, second):
        assert response.headers["x-plugyard-version"] == "1.2.3"
        assert response.headers["x-plugyard-api"] == "530"
        assert re.fullmatch(r"\d+\.\d+\.\d+\S*", response.headers["x-plugyard-python"])
        assert response.headers["x-plugyard-installer"]
        assert re.fullmatch(r"[0-9a-f-]{36}", response.headers["x-plugyard-reqid"])
        assert response.headers["vary"] == "Authorization, origin, Accept-Language, Cookie"
        assert response.headers["content-language"] == "en-us"
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["x-frame-options"] == "DENY"
        assert response.headers["referrer-policy"] == "same-origin"
        assert response.headers["cross-origin-opener-policy"] == "same-origin"
    assert first.headers["x-plugyard-reqid"] != second.headers["x-plugyard-reqid"]


def test_answers_are_json_exactly(user):
    """The media type has no parameter, since clients compare the whole header."""
    assert user.get("/api/open/").headers["content-type"] == "application/json"
    assert user.get("/nowhere/").headers["content-type"] == "application/json"


def test_a_preflight_of_an_allowed_origin_is_answered_before_any_check(anonymous):
    """CORS preflights need no credentials."""
    response = anonymous.options(
        "/api/super/", headers={"Origin": "https://shop.example.org", "Access-Control-Request-Method": "PUT"}
    )

    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == "https://shop.example.org"
    assert response.headers["access-control-allow-credentials"] == "true"
    assert "PUT" in response.headers["access-control-allow-methods"]
    assert "authorization" in response.headers["access-control-allow-headers"]


def test_answers_to_an_allowed_origin_say_so(anonymous):
    """An allowed origin is echoed, also on errors."""
    response = anonymous.post("/api/echo/", headers={"Origin": "https://shop.example.org"})

    assert response.status_code == 401
    assert response.headers["access-control-allow-origin"] == "https://shop.example.org"


def test_other_origins_get_nothing(anonymous):
    """An origin that is not configured is not echoed, and its preflight is an ordinary OPTIONS."""
    headers = {"Origin": "https://evil.example.org", "Access-Control-Request-Method": "POST"}

    response = anonymous.options("/api/echo/", headers=headers)

    assert response.status_code == 401
    assert "access-control-allow-origin" not in response.headers


def test_the_star_allows_all_origins_without_cookies(app_with):
    """With the star any page may call, but not in the name of the user who looks at it."""
    client = TestClient(app_with(options=Options(origins=frozenset({"*"}))))

    response = client.get("/api/open/", headers={"Origin": "https://any.example.org"})

    assert response.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in response.headers


def test_a_changed_registry_is_followed_before_the_request(app_with):
    """When another process changed the plugins, the next request to the interface waits until this one has, too."""
    followed: list[str] = []
    client = TestClient(app_with(is_stale=lambda: not followed, catch_up=lambda: followed.append("now")))

    client.get("/elsewhere/")
    assert not followed
    client.get("/api/open/")
    client.get("/api/open/")
    assert followed == ["now"]


def test_an_unforeseen_error_reveals_nothing(anonymous, reports):
    """500 has the documented shape, and is recorded with path and traceback."""
    response = anonymous.post("/api/fail/")

    assert response.status_code == 500
    body = response.json()
    assert {"error", "error_class", "detail", "path", "status_code"} == set(body)
    assert body["error"] == "ZeroDivisionError"
    assert body["error_class"] == "<class 'ZeroDivisionError'>"
    assert body["path"] == "/api/fail/"
    assert body["status_code"] == 500
    assert "1234" not in response.text
    [(path, info, data)] = reports
    assert path == "/api/fail/"
    assert info == "ZeroDivisionError: the secret is 1234"
    assert "Traceback" in data
    assert "x-plugyard-reqid" in response.headers


def test_debug_mode_says_what_went_wrong(app_with, options):
    """In debug mode the answer names the error."""
    client = TestClient(app_with(options=replace(options, debug=True)))

    assert client.post("/api/fail/").json()["detail"] == "the secret is 1234"


def test_an_error_outside_of_endpoints_has_the_same_shape(app_with, reports):
    """What fails around the endpoints is answered and recorded alike."""

    def fail():
        msg = "no registry"
        raise RuntimeError(msg)

    response = TestClient(app_with(is_stale=lambda: True, catch_up=fail)).get("/api/open/")

    assert response.status_code == 500
    assert response.json()["error"] == "RuntimeError"
    assert reports[0][0] == "/api/open/"


def test_large_answers_are_packed(superuser, user):
    """A client that takes gzip gets large answers packed, small ones as they are."""
    for number in range(200):
        superuser.post("/api/shelf/", json={"name": f"Shelf {number}", "notes": "long " * 10})

    large = user.get("/api/shelf/", headers={"Accept-Encoding": "gzip"})
    small = user.get("/api/shelf/?limit=1", headers={"Accept-Encoding": "gzip"})

    assert large.headers["content-encoding"] == "gzip"
    assert len(large.json()) == 200
    assert "content-encoding" not in small.headers


@pytest.mark.parametrize(
    ("header", "is_packed"),
    [
        pytest.param("gzip", True, id="alone"),
        pytest.param("br, gzip;q=0.5", True, id="among others"),
        pytest.param("gzip;q=0", False, id="refused"),
        pytest.param("br, GZIP ; q=0.000", False, id="refused in other words"),
        pytest.param("identity", False, id="not named"),
        pytest.param("notgzip", False, id="part of another name"),
    ],
)
def test_answers_are_packed_where_that_is_allowed(header, is_packed):
    """A client may name a coding in order to refuse it."""
    assert accepts_gzip(header.encode()) is is_packed
