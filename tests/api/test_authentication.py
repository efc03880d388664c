"""Who is calling, and what they may do (every row of the table of the common rules)."""

from __future__ import annotations

import pytest

from tests.api.conftest import basic


def test_nobody_is_turned_away_from_a_closed_endpoint(anonymous):
    """Without credentials a closed endpoint answers 401 and names the scheme."""
    response = anonymous.post("/api/echo/", json={})

    assert response.status_code == 401
    assert set(response.json()) == {"detail"}
    assert response.headers["www-authenticate"] == "Token"


@pytest.mark.parametrize("path", ["/api/open/", "/api/shelf/", "/nowhere/"])
@pytest.mark.parametrize(
    "header",
    [
        pytest.param("Token unknown", id="unknown token"),
        pytest.param("Token", id="token without a value"),
        pytest.param("Token a b", id="token with a blank"),
        pytest.param("Basic", id="basic without a value"),
        pytest.param("Basic !!!", id="basic that cannot be decoded"),
        pytest.param("Basic dXNlcg==", id="basic without a colon"),
        pytest.param(basic("user", "wrong"), id="wrong password"),
        pytest.param(basic("nobody", "pass:word"), id="unknown account"),
    ],
)
def test_bad_credentials_are_refused_everywhere(anonymous, header, path):
    """Bad credentials answer 401 even where nobody needs any."""
    response = anonymous.get(path, headers={"Authorization": header})

    assert response.status_code == 401
    assert response.json()["detail"]
    assert response.headers["www-authenticate"] == "Token"


@pytest.mark.parametrize("header", ["Bearer x", "Digest username=x", "garbage", "", "  "])
def test_other_schemes_are_nobody(anonymous, header):
    """A scheme that is not offered counts as no credentials."""
    headers = {"Authorization": header}

    assert anonymous.get("/api/open/", headers=headers).json()["user"] is None
    assert anonymous.get("/api/shelf/", headers=headers).status_code == 401


@pytest.mark.parametrize(
    "header",
    [
        "Token user-token",
        "tOkEn  user-token ",
        basic("user", "pass:word"),
        basic("user", "pass:word").replace("B", "b", 1),
    ],
)
def test_the_scheme_is_written_in_any_case(anonymous, header):
    """Scheme words are not case-sensitive, and the password begins after the first colon."""
    assert anonymous.get("/api/open/", headers={"Authorization": header}).json()["user"] == "user"


def test_a_session_reads_without_a_csrf_token(anonymous):
    """The session cookie is enough to read."""
    anonymous.cookies.set("sessionid", "staff-session")

    assert anonymous.get("/api/open/").json() == {"user": "staff", "scheme": "session"}


@pytest.mark.parametrize(
    ("cookie", "header", "status"),
    [
        pytest.param("abc", "abc", 200, id="equal"),
        pytest.param("abc", None, 403, id="header missing"),
        pytest.param("abc", "abd", 403, id="other value"),
        pytest.param(None, "abc", 403, id="cookie missing"),
        pytest.param(None, "", 403, id="both empty"),
    ],
)
def test_a_session_writes_only_with_its_csrf_token(anonymous, cookie, header, status):
    """Unsafe methods need the header X-CSRFToken equal to the cookie."""
    anonymous.cookies.set("sessionid", "user-session")
    if cookie:
        anonymous.cookies.set("csrftoken", cookie)
    headers = {} if header is None else {"X-CSRFToken": header}

    assert anonymous.post("/api/echo/", json={}, headers=headers).status_code == status


def test_a_session_that_is_over_is_nobody(anonymous):
    """An unknown session key counts as no credentials."""
    anonymous.cookies.set("sessionid", "over")

    assert anonymous.get("/api/open/").json()["user"] is None


def test_a_token_wins_over_a_session(anonymous):
    """The header is looked at first, and needs no CSRF token."""
    anonymous.cookies.set("sessionid", "staff-session")

    response = anonymous.post("/api/echo/", json={}, headers={"Authorization": "Token user-token"})

    assert response.status_code == 200


@pytest.mark.parametrize(
    ("path", "caller", "status"),
    [
        ("/api/echo/", "anonymous", 401),
        ("/api/echo/", "user", 405),
        ("/api/staff/", "anonymous", 401),
        ("/api/staff/", "user", 403),
        ("/api/staff/", "staff", 405),
        ("/api/staff/", "superuser", 405),
        ("/api/super/", "anonymous", 401),
        ("/api/super/", "user", 403),
        ("/api/super/", "staff", 403),
        ("/api/super/", "superuser", 405),
        ("/api/open/", "anonymous", 405),
    ],
)
def test_the_right_is_checked_before_the_method(client_of, path, caller, status):
    """Who lacks the right learns nothing about the methods of a path."""
    response = client_of(caller).put(path, json={})

    assert response.status_code == status
    assert ("allow" in response.headers) is (status == 405)


@pytest.mark.parametrize(("caller", "status"), [("anonymous", 401), ("user", 403), ("staff", 200), ("superuser", 200)])
def test_rights_include_each_other(client_of, caller, status):
    """A superuser may do what staff may do, and staff what a user may."""
    assert client_of(caller).post("/api/staff/").status_code == status


@pytest.mark.parametrize("path", ["/api/echo/", "/api/echo/open/"])
def test_bad_credentials_are_refused_before_files_are_read(anonymous, path):
    """A form with files from someone unknown is refused like any other request."""
    response = anonymous.post(path, files={"file": ("a.txt", b"x")}, headers={"Authorization": "Token unknown"})

    assert response.status_code == 401
