"""What a browser keeps: cookies and their flags, and the token that only our own pages know."""

from __future__ import annotations

from http.cookies import SimpleCookie
from typing import Any

import pytest
from sqlalchemy import select

from host.accounts.sessions.table import SESSIONS
from tests.auth.clients import PREFIX, Browser
from tests.auth.conftest import ServerWith
from tests.auth.server import PASSWORD, AuthServer

LOGIN = f"{PREFIX}/auth/login"


@pytest.fixture
def name(request: pytest.FixtureRequest, server: AuthServer) -> str:
    """The username of an account of the test's own."""
    name = "".join(letter for letter in request.node.name.lower() if letter.isalnum())[-40:]
    server.new_user(name)
    return name


def cookies_of(response: Any) -> SimpleCookie:
    jar = SimpleCookie()
    for text in response.headers.get_list("set-cookie"):
        jar.load(text)
    return jar


def stored(server: AuthServer, username: str) -> list[Any]:
    user_id = server.user_row(username).id
    return server.rows(select(SESSIONS).where(SESSIONS.c.user_id == user_id))


def flags(cookie: Any) -> dict[str, Any]:
    return {name: cookie[name] for name in ("httponly", "path", "samesite", "secure", "max-age", "domain")}


@pytest.mark.parametrize("path", ["/auth/session", "/config", "/auth/nothing-pending"])
def test_every_answer_brings_the_csrf_cookie(server: AuthServer, path: str) -> None:
    """Scripts can read it; it lives for a year; an anonymous read makes no session."""
    browser = server.browser()
    response = browser.http.get(PREFIX + ("/auth/code/confirm" if path.endswith("pending") else path))

    jar = cookies_of(response)

    if response.status_code != 405:
        assert len(jar["csrftoken"].value) == 32
        expected = {"httponly": "", "path": "/", "samesite": "lax", "secure": "", "max-age": "31449600", "domain": ""}
        assert flags(jar["csrftoken"]) == expected
    assert "sessionid" not in jar
    assert "cookie" in response.headers["vary"].lower()


@pytest.mark.parametrize(("scheme", "secure"), [("http", ""), ("https", True)])
def test_the_cookies_of_a_login(server: AuthServer, name: str, scheme: str, secure: Any) -> None:
    """The session's is out of the reach of scripts; over https both go over https only."""
    browser = server.browser()
    token = browser.http.get(f"{PREFIX}/config").cookies["csrftoken"]
    headers = {"X-CSRFToken": token, "X-Forwarded-Proto": scheme}
    response = browser.http.post(LOGIN, json={"username": name, "password": PASSWORD}, headers=headers)

    jar = cookies_of(response)

    assert response.status_code == 200
    common = {"path": "/", "samesite": "lax", "secure": secure, "domain": ""}
    assert flags(jar["sessionid"]) == common | {"httponly": True, "max-age": "1209600"}
    assert flags(jar["csrftoken"]) == common | {"httponly": "", "max-age": "31449600"}
    key = jar["sessionid"].value
    assert (len(key), key.isalnum(), key == key.lower()) == (32, True, True)
    assert jar["csrftoken"].value != token
    [row] = stored(server, name)
    assert key not in str(row)


@pytest.mark.parametrize(
    ("options", "samesite", "secure"),
    [
        ({"session_cookie_samesite": "strict", "session_cookie_secure": "true"}, "strict", True),
        ({"session_cookie_samesite": "none", "session_cookie_secure": "false"}, "none", ""),
    ],
)
def test_the_flags_follow_the_options(
    server_with: ServerWith, options: dict[str, str], samesite: str, secure: Any
) -> None:
    """PLUGYARD_SESSION_COOKIE_SAMESITE and _SECURE."""
    server = server_with(**options)
    jar = cookies_of(server.browser().http.get(f"{PREFIX}/config"))

    assert (jar["csrftoken"]["samesite"], jar["csrftoken"]["secure"]) == (samesite, secure)


@pytest.mark.parametrize("sent", [None, "", "x" * 32, "wrong \xe9"], ids=["none", "empty", "another", "no ASCII"])
def test_without_the_token_nothing_is_done(server: AuthServer, name: str, sent: str | None) -> None:
    """403 also for those who are not signed in, before the input is looked at."""
    browser = server.browser()
    browser.get("/auth/session")
    headers = {} if sent is None else {b"X-CSRFToken": sent.encode("latin-1")}

    refused = browser.http.post(LOGIN, json={"username": name, "password": PASSWORD}, headers=headers)

    assert refused.status_code == 403
    assert "detail" in refused.json()
    assert stored(server, name) == []


@pytest.mark.parametrize(("method", "path"), [("DELETE", "/auth/session"), ("DELETE", "/auth/sessions")])
def test_whoever_is_signed_in_needs_the_token_too(server: AuthServer, name: str, method: str, path: str) -> None:
    """A foreign page cannot sign anybody out."""
    browser = server.browser()
    browser.login(name, PASSWORD)

    assert browser.http.request(method, PREFIX + path).status_code == 403
    assert len(stored(server, name)) == 1


def test_the_rest_of_the_interface_needs_it_as_well(server: AuthServer, name: str) -> None:
    """Only for what changes something, and only where the cookie is the proof."""
    browser = server.browser()
    browser.login(name, PASSWORD)
    me = "/api/user/me/"

    assert browser.http.get(me).status_code == 200
    assert browser.http.patch(me, json={"first_name": "Eve"}).status_code == 403
    assert server.user_row(name).first_name == ""
    assert browser.patch(me, {"first_name": "Ada"}).status == 200
    assert server.user_row(name).first_name == "Ada"
    assert browser.http.patch(me, json={"first_name": "Bea"}, auth=(name, PASSWORD)).status_code == 200
    assert server.user_row(name).first_name == "Bea"


@pytest.mark.parametrize(("origin", "status"), [("own", 200), ("https://evil.example", 403), ("null", 403)])
def test_pages_of_others_are_refused(server: AuthServer, name: str, origin: str, status: int) -> None:
    """Even if they came to know the token."""
    browser = server.browser()
    browser.get("/auth/session")
    headers = {"Origin": server.url if origin == "own" else origin}

    answer = browser.call("POST", "/auth/login", {"username": name, "password": PASSWORD}, headers=headers)

    assert answer.status == status
    assert len(stored(server, name)) == (1 if status == 200 else 0)


def test_an_app_needs_no_token(server: AuthServer, name: str) -> None:
    """It sends nothing that a browser would, and gets no cookies."""
    app = server.app()

    answer = app.login(name, PASSWORD)

    assert answer.status == 200
    assert "set-cookie" not in answer.response.headers
    assert len(stored(server, name)) == 1


def test_a_cookie_makes_a_browser_of_it(server: AuthServer, name: str) -> None:
    """Without the token it is refused, whatever cookie it is."""
    refused = server.app().http.post(
        LOGIN, json={"username": name, "password": PASSWORD}, headers={"Cookie": "theme=dark"}
    )

    assert refused.status_code == 403
    assert stored(server, name) == []


def test_the_key_of_a_session_changes_at_login(server: AuthServer, name: str) -> None:
    """Whoever planted a key gains nothing by it; what the session held is kept."""
    browser = server.browser()
    browser.post("/auth/code/request", {"email": f"nobody.{name}@example.org"})
    planted = str(browser.session_key)
    browser.login(name, PASSWORD)
    thief = server.browser()
    thief.http.cookies.set("sessionid", planted)

    assert browser.session_key != planted
    assert thief.get("/auth/session").status == 401
    assert len(stored(server, name)) == 1


def test_an_unknown_cookie_is_nobody(server: AuthServer) -> None:
    """401 rather than 410, and a login goes on as ever."""
    browser = server.browser()
    browser.http.cookies.set("sessionid", "x" * 32)
    before = len(server.rows(select(SESSIONS.c.id)))

    answer = browser.get("/auth/session")

    assert (answer.status, answer.meta) == (401, {"is_authenticated": False})
    assert len(server.rows(select(SESSIONS.c.id))) == before


def test_signing_out_takes_the_cookie_away(server: AuthServer, name: str) -> None:
    """Its row is gone as well."""
    browser: Browser = server.browser()
    browser.login(name, PASSWORD)

    jar = cookies_of(browser.delete("/auth/session").response)

    assert (jar["sessionid"].value, jar["sessionid"]["max-age"]) == ("", "0")
    assert browser.session_key is None
    assert stored(server, name) == []
