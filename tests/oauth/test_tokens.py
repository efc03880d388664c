"""How clients get tokens, renew them, end them and ask about them."""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import select

from host.accounts.digests import token_digest
from host.accounts.oauth.tables import CODES, GRANTS, TOKENS
from host.storage.tables import METADATA
from tests.oauth.conftest import CALLBACK, VERIFIER

BOTH = pytest.mark.parametrize("public", [False, True], ids=["confidential", "public"])


def _basic(client_id: str, secret: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()}


@BOTH
def test_a_code_becomes_tokens(world, public):
    """The answer may be kept by nobody; the access token stands for the account that consented."""
    client = world.client(public=public)

    response = world.redeem(client, world.code(client[0], scope="write read"))

    answer = response.json()
    assert response.status_code == 200
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["content-type"] == "application/json"
    assert answer.keys() == {"access_token", "refresh_token", "token_type", "expires_in", "scope"}
    assert (answer["token_type"], answer["expires_in"], answer["scope"]) == ("Bearer", 3600, "read write")
    who = world.caller(answer["access_token"]).get("/api/who/").json()
    assert who == {"user": "ada", "flags": [False, False], "scheme": "bearer"}
    assert world.stored == (1, 0, 1)
    data = {"client": client[0], "grant_type": "authorization_code", "scopes": ["read", "write"]}
    assert world.events[-1] == ("oauth.token_issued", data, world.users["ada"].id)


def test_no_secret_is_stored(world):
    """Of secrets, codes and tokens the database holds digests, and the events nothing."""
    client = world.client()
    code = world.code(client[0])
    answer = world.redeem(client, code).json()

    with world.database.read() as connection:
        everything = str([connection.execute(select(table)).all() for table in METADATA.sorted_tables])
    for secret in (client[1], code, answer["access_token"], answer["refresh_token"]):
        assert len(secret) >= 43
        assert secret not in everything + str(world.events)
        assert token_digest(secret) in everything


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        pytest.param({"code_verifier": "w" * 50}, "invalid_grant", id="wrong verifier"),
        pytest.param({"code_verifier": ""}, "invalid_request", id="no verifier"),
        pytest.param({"code_verifier": "v" * 42}, "invalid_request", id="short verifier"),
        pytest.param({"redirect_uri": f"{CALLBACK}/"}, "invalid_grant", id="another address"),
        pytest.param({"redirect_uri": ""}, "invalid_grant", id="no address"),
        pytest.param({"code": "x" * 43}, "invalid_grant", id="unknown code"),
        pytest.param({"code": ""}, "invalid_request", id="no code"),
        pytest.param({"client_id": "0" * 32}, "invalid_client", id="unknown client"),
        pytest.param({"client_id": ""}, "invalid_client", id="no client"),
        pytest.param({"client_secret": "guess"}, "invalid_client", id="secret of a public client"),
        pytest.param({"grant_type": "password"}, "unsupported_grant_type", id="another way"),
        pytest.param({"grant_type": ""}, "invalid_request", id="no way"),
        pytest.param({"grant_type": "client_credentials"}, "invalid_client", id="a way without secret"),
        pytest.param({"grant_type": 'p"ü'}, "invalid_request", id="strange characters"),
    ],
)
def test_a_wrong_request_gets_no_token(world, changes, error):
    """Nothing is stored, and the code stays good for the client that can prove itself."""
    client = world.client(public=True)
    code = world.code(client[0])

    response = world.redeem(client, code, **changes)

    assert response.status_code in {400, 401}
    assert response.json()["error"] == error
    assert world.stored == (1, 1, 0)
    assert world.redeem(client, code).status_code == 200


@pytest.mark.parametrize(
    ("headers", "content"),
    [
        pytest.param({"content-type": "application/json"}, b'{"grant_type":"refresh_token"}', id="JSON"),
        pytest.param({"content-type": "application/x-www-form-urlencoded"}, b"grant_type=%ff", id="no UTF-8"),
        pytest.param({"content-type": "application/x-www-form-urlencoded"}, b"a=1&" * 200, id="too many members"),
        pytest.param({"content-type": "application/x-www-form-urlencoded"}, b"code=1&code=2", id="twice"),
        pytest.param({}, b"", id="nothing"),
    ],
)
def test_a_body_that_is_no_form_is_an_invalid_request(world, headers, content):
    """It is answered as the protocol says, never with a failure."""
    response = world.browser(None).post("/o/token/", content=content, headers=headers)

    assert (response.status_code, response.json()["error"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    "header",
    ["Basic !!!", "Basic /w==", "Basic", "basic ü", "Basic eA==", "Basic OjA=", "Token x"],
)
def test_a_header_that_cannot_be_read_is_no_proof(world, header):
    """An unreadable or wrong header is answered with 401 or the error for an unknown client."""
    form = {"grant_type": "client_credentials"}
    response = world.browser(None).post("/o/token/", data=form, headers={"Authorization": header.encode()})

    assert response.status_code == 401
    assert response.json()["error"] == "invalid_client"
    assert response.headers["www-authenticate"].startswith("Basic ")


def test_a_code_of_one_client_is_worth_nothing_to_another(world):
    """Nor does it harm the one it belongs to."""
    client, other = world.client(), world.client()
    code = world.code(client[0])

    assert world.redeem(other, code).json()["error"] == "invalid_grant"
    assert world.redeem(client, code).status_code == 200
    assert world.stored == (1, 0, 1)


def test_a_code_used_twice_ends_everything_that_came_of_it(world):
    """One of the two has stolen it, so the tokens end too, renewed ones included."""
    client = world.client()
    code = world.code(client[0])
    first = world.redeem(client, code).json()
    renewed = world.refresh(client, first["refresh_token"]).json()
    other = world.tokens(client)

    assert world.redeem(client, code).json()["error"] == "invalid_grant"

    for token in (first, renewed):
        assert world.caller(token["access_token"]).get("/api/who/").status_code == 401
        assert world.refresh(client, token["refresh_token"]).status_code == 400
    assert world.caller(other["access_token"]).get("/api/who/").status_code == 200
    assert world.stored == (1, 0, 1)
    assert world.event_names.count("oauth.token_revoked") == 1


def test_a_code_lives_for_two_minutes(world):
    """Afterwards it is worth nothing."""
    client = world.client()
    early, late = world.code(client[0]), world.code(client[0])

    world.wait(119)
    assert world.redeem(client, early).status_code == 200
    world.wait(1)
    assert world.redeem(client, late).json()["error"] == "invalid_grant"
    assert world.stored == (2, 1, 1)


@BOTH
def test_a_refresh_token_serves_once(world, public):
    """It brings new tokens with the same scopes, or fewer, and ends the old access token."""
    client = world.client(public=public)
    old = world.tokens(client, scope="read write")

    new = world.refresh(client, old["refresh_token"]).json()
    narrow = world.refresh(client, new["refresh_token"], scope="read").json()

    assert (new["scope"], narrow["scope"]) == ("read write", "read")
    assert world.caller(old["access_token"]).get("/api/who/").status_code == 401
    assert world.caller(narrow["access_token"]).get("/api/who/").status_code == 200
    assert world.caller(narrow["access_token"]).post("/api/who/").status_code == 403
    assert world.refresh(client, narrow["refresh_token"], scope="read write").json()["error"] == "invalid_scope"
    assert world.stored == (1, 0, 1)


def test_an_old_refresh_token_ends_the_family(world):
    """Whoever uses it a second time takes the tokens away from everybody."""
    client = world.client(public=True)
    old = world.tokens(client)
    new = world.refresh(client, old["refresh_token"]).json()

    assert world.refresh(client, old["refresh_token"]).json()["error"] == "invalid_grant"

    assert world.caller(new["access_token"]).get("/api/who/").status_code == 401
    assert world.refresh(client, new["refresh_token"]).json()["error"] == "invalid_grant"
    assert world.stored == (0, 0, 0)
    name, data, user_id = world.events[-1]
    assert (name, data["client"], user_id) == ("oauth.token_revoked", client[0], world.users["ada"].id)


def test_a_refresh_token_of_one_client_is_worth_nothing_to_another(world):
    """Neither a good one nor a used one; the family lives on."""
    client, other = world.client(), world.client()
    old = world.tokens(client)
    new = world.refresh(client, old["refresh_token"]).json()

    for token in (old, new):
        assert world.refresh(other, token["refresh_token"]).json()["error"] == "invalid_grant"
    assert world.stored == (1, 0, 1)


def test_tokens_end_with_their_time(world):
    """The access token after an hour, the refresh token when it was left alone for thirty days."""
    client = world.client()
    token = world.tokens(client)

    world.wait(3600)
    assert world.caller(token["access_token"]).get("/api/who/").status_code == 401
    world.wait(29 * 86_400)
    token = world.refresh(client, token["refresh_token"]).json()
    world.wait(30 * 86_400)
    assert world.refresh(client, token["refresh_token"]).json()["error"] == "invalid_grant"
    assert world.rows(TOKENS) == []


def test_what_can_be_used_no_more_is_forgotten(world):
    """Grants go with their codes and tokens as soon as the next token is given; those that live stay."""
    client = world.client()
    world.code(client[0])
    token = world.tokens(client)
    world.wait(31 * 86_400)
    world.tokens(client)

    assert (len(world.rows(GRANTS)), len(world.rows(CODES)), len(world.rows(TOKENS))) == (1, 1, 1)
    assert world.oauth.clients.forget(world.moment) == 0
    assert world.refresh(client, token["refresh_token"]).json()["error"] == "invalid_grant"


@pytest.mark.parametrize("how", ["header", "form"])
def test_a_client_acts_for_its_owner(world, how):
    """By its secret alone it gets an access token, and nothing to renew it with."""
    client_id, secret = world.client("sam", redirect_uris=[], scopes=["read", "staff"])
    form = {"grant_type": "client_credentials", "scope": "read staff"}
    if how == "form":
        answer = world.token(**form, client_id=client_id, client_secret=secret)
    else:
        answer = world.browser(None).post("/o/token/", data=form, headers=_basic(client_id, secret))

    assert answer.status_code == 200
    assert answer.json().keys() == {"access_token", "token_type", "expires_in", "scope"}
    who = world.caller(answer.json()["access_token"]).get("/api/who/").json()
    assert (who["user"], who["flags"]) == ("sam", [True, False])
    assert world.stored == (1, 0, 1)


@pytest.mark.parametrize(
    ("values", "form", "error"),
    [
        ({"redirect_uris": []}, {"client_secret": "plc-guess"}, "invalid_client"),
        ({"redirect_uris": []}, {"scope": "plugins"}, "invalid_scope"),
        ({"redirect_uris": []}, {"scope": "nothing"}, "invalid_scope"),
        ({}, {}, "unauthorized_client"),
    ],
    ids=["wrong secret", "scope it may not have", "unknown scope", "a client for people"],
)
def test_a_client_gets_no_more_than_it_is_registered_for(world, values, form, error):
    """A client that serves people cannot act for its owner, whose rights its secret would otherwise be."""
    client_id, secret = world.client("root", scopes=["read"], **values)

    answer = world.token(**{"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret} | form)

    assert answer.json()["error"] == error
    assert world.stored == (0, 0, 0)


def test_an_account_that_is_switched_off_gets_nothing(world):
    """Neither its codes nor its tokens nor its clients are worth anything."""
    own = world.client("sam", redirect_uris=[])
    client, of_sam = world.client("root"), world.client("sam")
    code, token, foreign = world.code(client[0], "sam"), world.tokens(client, "sam"), world.tokens(of_sam, "ada")

    world.switch_off("sam")

    assert world.redeem(client, code).json()["error"] == "invalid_grant"
    assert world.refresh(client, token["refresh_token"]).json()["error"] == "invalid_grant"
    form = {"grant_type": "client_credentials", "client_id": own[0], "client_secret": own[1]}
    assert world.token(**form).json()["error"] == "invalid_client"
    for one in (token, foreign):
        assert world.caller(one["access_token"]).get("/api/who/").status_code == 401
    assert world.browser().get("/o/authorize/", params=world.request(of_sam[0])).status_code == 400
    assert len(world.rows(TOKENS)) == 2


@BOTH
@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
@pytest.mark.parametrize("hint", ["", "refresh_token", "nonsense"])
def test_a_client_ends_its_tokens(world, public, kind, hint):
    """An access token ends alone, a refresh token with all that came of the consent; a wrong hint does no harm."""
    client = world.client(public=public)
    token = world.tokens(client)
    form = {"client_id": client[0], "token": token[kind], "token_type_hint": hint}

    for _ in range(2):
        answer = world.browser(None).post("/o/revoke_token/", data={**form, "client_secret": client[1]})
        assert (answer.status_code, answer.json()) == (200, {})

    assert world.caller(token["access_token"]).get("/api/who/").status_code == 401
    assert world.refresh(client, token["refresh_token"]).status_code == (200 if kind == "access_token" else 400)
    assert world.event_names.count("oauth.token_revoked") == 1


def test_only_its_own_client_ends_a_token(world):
    """A token of another client stays; one that nobody knows is ended well; who cannot prove to be a client is told."""
    client, other = world.client(), world.client()
    token = world.tokens(client)["access_token"]
    form = {"client_id": other[0], "client_secret": other[1]}

    def revoke(**more: str) -> tuple[int, object]:
        answer = world.browser(None).post("/o/revoke_token/", data={**form, **more})
        return answer.status_code, answer.json().get("error")

    assert revoke(token=token) == (400, "invalid_grant")
    assert revoke(token="x") == (200, None)
    assert revoke() == (400, "invalid_request")
    assert revoke(token=token, client_secret="guess") == (401, "invalid_client")
    assert world.stored == (1, 0, 1)


def test_a_client_asks_what_a_token_is_worth(world):
    """Services learn of access tokens, and of refresh tokens nothing unless they are their own."""
    client, service = world.client(), world.client()
    token = world.tokens(client, scope="read write")

    def ask(text: str, by: tuple[str, str] = service) -> object:
        answer = world.browser(None).post("/o/introspect/", data={"token": text}, headers=_basic(*by))
        return answer.json()

    moment = int(world.moment.timestamp())
    assert ask(token["access_token"]) == {
        "active": True,
        "scope": "read write",
        "client_id": client[0],
        "username": "ada",
        "sub": str(world.users["ada"].id),
        "token_type": "Bearer",
        "iat": moment,
        "exp": moment + 3600,
    }
    assert ask(token["refresh_token"]) == {"active": False}
    assert ask(token["refresh_token"], client)["active"] is True  # type: ignore[index]
    assert ask("x") == {"active": False}
    world.switch_off("ada")
    assert ask(token["access_token"]) == {"active": False}
    assert world.stored == (1, 0, 1)


def test_who_may_ask_about_tokens(world):
    """Not a public client, which cannot prove that it is the one, and nobody without a secret."""
    public, client = world.client(public=True), world.client()
    token = world.tokens(public)["access_token"]

    for form in ({"client_id": public[0]}, {}, {"client_id": client[0], "client_secret": "guess"}):
        answer = world.browser(None).post("/o/introspect/", data={"token": token, **form})
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
    assert world.stored == (1, 0, 1)


def test_of_racing_redemptions_one_gets_tokens(each_world):
    """The code is used once; as somebody tried it twice, the tokens end at once."""
    world = each_world
    client = world.client(public=True)
    form = {
        "grant_type": "authorization_code",
        "client_id": client[0],
        "code": world.code(client[0]),
        "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER,
    }

    answers = _race(lambda: world.oauth.give_tokens(form.items(), None), 8)

    assert sorted(one.status for one in answers) == [200] + [400] * 7
    assert [one.body["error"] for one in answers if one.status == 400] == ["invalid_grant"] * 7
    assert len(world.rows(TOKENS)) == 1
    assert world.stored == (0, 0, 0)


def test_of_racing_refreshes_one_gets_tokens(each_world):
    """The refresh token is used once; none of the tokens survives the second try."""
    world = each_world
    client = world.client(public=True)
    token = world.tokens(client)["refresh_token"]
    form = {"grant_type": "refresh_token", "client_id": client[0], "refresh_token": token}

    answers = _race(lambda: world.oauth.give_tokens(form.items(), None), 8)

    assert sorted(one.status for one in answers) == [200] + [400] * 7
    assert len(world.rows(TOKENS)) == 2
    assert world.stored == (0, 0, 0)


def _race(run, count):
    barrier = Barrier(count)

    def start(_number):
        barrier.wait()
        return run()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(start, range(count)))
