"""Content negotiation and bodies."""

from __future__ import annotations

from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from api.bodies import LARGEST_TEXT

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("application/json", 200),
        ("*/*", 200),
        ("application/*", 200),
        ("text/html, application/json;q=0.5", 200),
        ("text/html,*/*;q=0.1", 200),
        ("", 200),
        ("text/html", 406),
        ("application/json;q=0", 406),
        ("image/*, text/html", 406),
    ],
)
def test_only_clients_that_take_json_are_answered(user, accept, status):
    """A client that excludes JSON gets 406."""
    response = user.get("/api/open/", headers={"Accept": accept})

    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize(("value", "status"), [("json", 200), ("", 200), ("api", 404), ("csv", 404)])
def test_format_is_json_or_404(user, value, status):
    """``?format=json`` is understood; any other format is 404."""
    assert user.get(f"/api/open/?format={value}").status_code == status
    assert user.post(f"/api/echo/?format={value}", json={}).status_code == status


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b"{'a': 1}",
        b"[]",
        b'"x"',
        b"7",
        b"true",
        b"null",
        b'{"text": "\\ud800"}',
        b'{"text": "\xff"}',
        b'{"number": NaN}',
        b"[" * 100_000,
        b"\xef\xbb\xbf{}",
    ],
)
def test_a_body_that_is_no_json_object_is_refused(user, raw):
    """Broken JSON, text that is no UTF-8, and JSON that is no object are 400 with a detail."""
    response = user.post("/api/echo/", content=raw, headers=JSON)

    assert response.status_code == 400
    assert set(response.json()) == {"detail"}


def test_deep_nesting_is_refused(user):
    """A value that is nested too deeply to be stored or sent is refused on its member."""
    raw = b'{"anything": ' + b"[" * 300 + b"]" * 300 + b"}"

    response = user.post("/api/echo/", content=raw, headers=JSON)

    assert response.status_code == 400
    assert set(response.json()) == {"anything"}


@pytest.mark.parametrize("member", ["text", "anything", "object"])
def test_null_characters_are_refused(user, member):
    """No database could store them alike."""
    value = {"a": ["x\0"]} if member == "object" else "x\0"

    response = user.post("/api/echo/", json={member: value})

    assert response.status_code == 400
    assert set(response.json()) == {member}


def test_no_body_is_an_empty_object(user):
    """A writing request without a body is one with ``{}``."""
    response = user.post("/api/echo/")

    assert response.status_code == 200
    assert response.json() == {}


def test_other_media_types_are_415(user):
    """A body of a media type that is not understood is refused."""
    response = user.post("/api/echo/", content=b"<a/>", headers={"Content-Type": "application/xml"})

    assert response.status_code == 415
    assert set(response.json()) == {"detail"}


@pytest.mark.parametrize(("raw", "status"), [(b"{}", 200), (b'{"x": 1}', 200), (b"{", 400), (b"[]", 400)])
def test_get_may_carry_a_json_body(user, raw, status):
    """The body of a GET is ignored, but broken JSON is still 400."""
    response = user.request("GET", "/api/open/", content=raw, headers=JSON)

    assert response.status_code == status


def test_forms_are_read_like_json(user):
    """Both kinds of forms are accepted; members that are structures are JSON text in them."""
    members = {
        "text": " ö ",
        "whole": "12",
        "flag": "on",
        "numbers": "[1, 2]",
        "object": '{"a": 1}',
        "big": "",
        "anything": "plain",
    }
    expected = {
        "text": "ö",
        "whole": 12,
        "flag": True,
        "numbers": [1, 2],
        "object": {"a": 1},
        "big": None,
        "anything": "plain",
    }

    urlencoded = user.post("/api/echo/", data=members)
    multipart = user.post("/api/echo/", data=members, files={"file": ("a.txt", b"content")})

    assert urlencoded.json() == expected
    assert multipart.json() == expected | {"file": ["a.txt", "content"]}


@pytest.mark.parametrize(
    ("sent", "meant"),
    [("1.10", "1.10"), ("true", "true"), ("null", "null"), ('"x"', '"x"'), ("[1", "[1"), ("[1]", [1]), ("{}", {})],
)
def test_text_in_a_form_that_is_no_structure_means_itself(user, sent, meant):
    """Where any JSON may stand, text that only looks like a number or a word of JSON is not changed."""
    assert user.post("/api/echo/", data={"anything": sent}).json() == {"anything": meant}


def test_repeated_members_of_a_form_are_a_list(user):
    """A form may give a list by naming the member several times."""
    assert user.post("/api/echo/", data={"numbers": ["1", "2"]}).json() == {"numbers": [1, 2]}


def test_text_of_forms_is_utf_8(user):
    """Text that is no UTF-8 is refused rather than guessed."""
    urlencoded = user.post(
        "/api/echo/", content=b"text=%ff", headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    multipart = user.post(
        "/api/echo/",
        content=b'--x\r\nContent-Disposition: form-data; name="text"\r\n\r\n\xff\r\n--x--\r\n',
        headers={"Content-Type": "multipart/form-data; boundary=x"},
    )

    assert urlencoded.status_code == multipart.status_code == 400
    assert set(urlencoded.json()) == set(multipart.json()) == {"detail"}


@pytest.mark.parametrize(
    "content_type",
    ["multipart/form-data", "multipart/form-data; boundary=y", "multipart/form-data; boundary=" + "y" * 3000],
)
def test_a_broken_multipart_form_is_400(user, content_type):
    """A form without its boundary, or with another one, cannot be read."""
    response = user.post("/api/echo/", content=b"--x\r\n", headers={"Content-Type": content_type})

    assert response.status_code == 400
    assert set(response.json()) == {"detail"}


def test_a_body_that_is_too_large_is_413(user, anonymous):
    """The limit holds for announced and for unannounced lengths; nobody without the right gets that far."""
    large = b'{"text": "' + b"x" * 300_000 + b'"}'

    def pieces():
        yield large[:100_000]
        yield large[100_000:]

    announced = user.post("/api/echo/", content=large, headers=JSON)
    unannounced = user.post("/api/echo/", content=pieces(), headers=JSON)

    assert announced.status_code == unannounced.status_code == 413
    assert set(announced.json()) == {"detail"}
    assert anonymous.post("/api/echo/", content=large, headers=JSON).status_code == 401
    assert anonymous.post("/api/echo/open/", content=large, headers=JSON).status_code == 413


def test_only_files_may_be_large(app_with, options):
    """What is parsed in memory has a limit of its own; parsed JSON takes fifty times its size."""
    context = {"options": replace(options, max_body=64 * 1024 * 1024)}
    with TestClient(app_with(**context), raise_server_exceptions=False) as client:
        client.headers["Authorization"] = "Token user-token"
        large = b"x" * (LARGEST_TEXT + 1)
        json = client.post(
            "/api/echo/", content=b'{"anything": [' + b"[]," * (LARGEST_TEXT // 3) + b"1]}", headers=JSON
        )
        form = client.post("/api/echo/", data={"blank": "x" * LARGEST_TEXT})
        file = client.post("/api/echo/", data={"text": "x"}, files={"file": ("a.txt", large)})

    assert json.status_code == form.status_code == 413
    assert set(json.json()) == {"detail"}
    assert file.status_code == 200


@pytest.mark.parametrize("charset", ["idna", "punycode", "zlib", "nothing-such"])
def test_other_character_sets_than_utf_8_are_refused(user, charset):
    """A form cannot make the host decode with a codec that takes minutes."""
    body = b'--x\r\nContent-Disposition: form-data; name="text"\r\n\r\nxn--aa\r\n--x--\r\n'
    kind = f"multipart/form-data; boundary=x; charset={charset}"

    refused = user.post("/api/echo/", content=body, headers={"Content-Type": kind})

    assert refused.status_code == 400
    assert "UTF-8" in refused.json()["detail"]


def test_bodies_of_some_size_are_read(user):
    """Bodies below the limit arrive whole."""
    text = "x" * 150_000

    assert user.post("/api/echo/", json={"blank": text}).json() == {"blank": text}
