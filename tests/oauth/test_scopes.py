"""What an access token allows: scopes, and the rights of those behind it."""

from __future__ import annotations

import itertools

import pytest

from api.answers import Refusal
from api.endpoint import CONTEXT
from api.oauth.scopes import needed_scope
from api.plugin_doors import _authorise
from host.plugins.http import _inner_headers

SCOPES = ("read", "write", "plugins", "staff")
SETS = [" ".join(some) for size in (1, 2, 3, 4) for some in itertools.combinations(SCOPES, size)]
NEEDED = {
    ("GET", "/api/who/"): "read",
    ("HEAD", "/api/who/"): "read",
    ("OPTIONS", "/api/who/"): "read",
    ("POST", "/api/who/"): "write",
    ("PATCH", "/api/who/"): "write",
    ("DELETE", "/api/who/"): "write",
    ("GET", "/api/open/"): "read",
    ("POST", "/api/open/"): "write",
    ("GET", "/api/plugins/lamp/"): "read",
    ("POST", "/api/plugins/lamp/"): "plugins",
    ("PATCH", "/api/plugins/lamp/"): "plugins",
    ("DELETE", "/api/plugins/lamp/"): "plugins",
    ("GET", "/api/user/me/"): "read",
    ("PATCH", "/api/user/me/"): None,
    ("PATCH", "/api/user/me/profile/"): "write",
    ("GET", "/api/user/token/"): None,
    ("GET", "/api/settings/global/"): "read",
    ("PATCH", "/api/settings/global/LOGIN_ENABLE_REG/"): None,
    ("PATCH", "/api/settings/user/SHOW_SPOTLIGHT/"): "write",
    ("GET", "/api/user/tokens/"): None,
    ("POST", "/api/user/tokens/"): None,
    ("GET", "/api/oauth/clients/"): None,
    ("POST", "/api/oauth/clients/"): None,
}


@pytest.fixture
def with_scopes(world):
    """Give a caller with exactly these scopes."""
    client = world.client()
    return lambda scopes, name="root": world.caller(world.tokens(client, name, scope=scopes)["access_token"])


@pytest.mark.parametrize("scopes", SETS)
def test_every_request_needs_its_scope(with_scopes, scopes):
    """Every set of scopes against every kind of request: refused with the name of the scope, else answered."""
    caller = with_scopes(scopes)
    for (method, path), needed in NEEDED.items():
        response = caller.request(method, path)
        if needed is not None and needed in scopes.split():
            assert response.status_code == 200, (method, path)
            continue
        assert response.status_code == 403, (method, path)
        assert 'error="insufficient_scope"' in response.headers["www-authenticate"]
        if needed is not None:
            assert f'scope="{needed}"' in response.headers["www-authenticate"]
        if needed is not None and method != "HEAD":
            assert f"'{needed}'" in response.json()["detail"]


def test_the_table_is_the_one_that_is_enforced():
    """What the description of the interface says is asked of the same function."""
    assert {key: needed_scope(*key) for key in NEEDED} == NEEDED
    assert needed_scope("POST", "/plugin/lamp/x/") == "write"
    assert needed_scope("TRACE", "/api/who/") == "write"


@pytest.mark.parametrize(
    ("owner", "user", "scopes", "flags"),
    [
        ("root", "root", "read", [False, False]),
        ("root", "root", "read staff", [True, True]),
        ("root", "sam", "read staff", [True, False]),
        ("root", "ada", "read staff", [False, False]),
        ("sam", "root", "read staff", [True, False]),
        ("sam", "sam", "read", [False, False]),
        ("ada", "root", "read staff", [False, False]),
        (None, "root", "read staff", [True, True]),
        (None, "root", "read write plugins", [False, False]),
    ],
)
def test_rights_are_lent_only_with_the_scope_and_within_the_owner_s(world, owner, user, scopes, flags):
    """Without ``staff`` everybody is a plain user; a client gets from nobody more than its owner has."""
    token = world.tokens(world.client(owner), user, scope=scopes)["access_token"]

    assert world.caller(token).get("/api/who/").json()["flags"] == flags
    assert world.caller(token).get("/api/staff/").status_code == (200 if any(flags) else 403)


def test_rights_that_are_taken_away_are_gone_at_once(world):
    """Of the account, of the client's owner, and scopes of the client."""
    client = world.client("root")
    caller = world.caller(world.tokens(client, "sam", scope="read write staff")["access_token"])
    assert caller.get("/api/who/").json()["flags"] == [True, False]

    world.set_user("root", is_staff=False, is_superuser=False)
    assert caller.get("/api/who/").json()["flags"] == [False, False]
    world.set_user("root", is_staff=True)
    assert caller.get("/api/who/").json()["flags"] == [True, False]
    world.set_user("sam", is_staff=False)
    assert caller.get("/api/who/").json()["flags"] == [False, False]
    world.oauth.clients.change(1, {"scopes": ["read"]}, by=world.users["root"])
    assert caller.post("/api/who/").status_code == 403


@pytest.mark.parametrize("token", ["x", "", "plo-" + "x" * 43, "plo-" + "x" * 42, "plr-" + "x" * 43, "a.b.c", "ü"])
def test_a_bad_token_is_refused_everywhere(world, token):
    """Also where anybody may come, and with the header that clients look for."""
    for path in ("/api/who/", "/api/open/", "/api/nothing/"):
        response = world.browser(None).get(path, headers={"Authorization": f"Bearer {token}".encode()})

        assert response.status_code == 401
        assert response.headers["www-authenticate"] == 'Bearer error="invalid_token"'
        assert response.json().keys() == {"detail"}
    assert world.events == []


def test_a_refresh_token_opens_nothing(world):
    """It is good for new tokens alone."""
    token = world.tokens(world.client())["refresh_token"]

    assert world.caller(token).get("/api/who/").status_code == 401
    assert world.stored == (1, 0, 1)


def test_a_session_comes_before_a_token(world):
    """The order is that of the interface: the cookie first, and then CSRF counts."""
    token = world.tokens(world.client(), "sam")["access_token"]
    browser = world.browser("ada")
    header = {"Authorization": f"Bearer {token}"}

    assert browser.get("/api/who/", headers=header).json()["user"] == "ada"
    assert browser.post("/api/who/", headers=header).status_code == 403
    assert world.browser(None).get("/api/who/", headers=header).json()["user"] == "sam"


def test_plugins_may_have_bearer_tokens_of_their_own(world):
    """Below ``/plugin/`` a foreign token counts as nothing and is handed on; one of ours counts, and is not."""
    token = world.tokens(world.client(), scope="read")["access_token"]

    def caller(text, method="POST"):
        headers = [(b"authorization", f"Bearer {text}".encode())]
        scope = {
            "type": "http",
            "method": method,
            "path": "/plugin/lamp/x/",
            "headers": headers,
            CONTEXT: world.context,
        }
        return _authorise(scope, "anyone"), _inner_headers(headers)

    assert caller("foreign") == (None, [(b"authorization", b"Bearer foreign")])
    user, handed_on = caller(token, "GET")
    assert (user.username, handed_on) == ("ada", [])
    with pytest.raises(Refusal, match="write"):
        caller(token)
    with pytest.raises(Refusal, match="unknown") as refusal:
        caller(token[:-1] + ("A" if token[-1] != "A" else "B"))
    assert refusal.value.status == 401
