"""Passkeys: signing in, and signing up, without a password."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from sqlalchemy import select, update

from host.accounts.account import USERS
from host.accounts.factors.authenticators import AUTHENTICATORS
from host.accounts.sessions.table import PENDING, SESSIONS
from tests.auth.owned_factors import WRONG_ANSWERS, heard, new_owner
from tests.factors.software_authenticator import ORIGIN, SoftwareAuthenticator

LOGIN, SIGNUP = "/auth/webauthn/login", "/auth/webauthn/signup"
KEYS = "/account/authenticators/webauthn"
RP_ID = ORIGIN.removeprefix("https://")
_NUMBERS = itertools.count()


@pytest.fixture
def server(server_with):
    return server_with(site_url=ORIGIN, mfa_passkey_signup_enabled="true")


def _asked(client):
    answer = client.get(LOGIN)
    assert answer.status == 200
    return answer.data["request_options"]


def _begun(server, client, **values):
    """Begin a sign-up, and return the name of the new account."""
    name = f"newcomer{next(_NUMBERS)}"
    answer = client.post(SIGNUP, {"username": name, **values})
    assert (answer.status, answer.pending) == (401, ["mfa_signup_webauthn"])
    return name


def _creation(client):
    answer = client.get(SIGNUP)
    assert answer.status == 200
    return answer.data["creation_options"]


def _keys(server, user_id):
    return server.rows(select(AUTHENTICATORS).where(AUTHENTICATORS.c.user_id == user_id))


def _anonymous(server):
    return len(server.rows(select(SESSIONS.c.id).where(SESSIONS.c.user_id.is_(None))))


def test_anybody_can_be_asked_for_a_passkey(server, client):
    """No key is named; the question is kept in a session, whose token an app is given."""
    client.get("/auth/session")
    before = _anonymous(server)

    answer = client.get(LOGIN)

    assert answer.status == 200
    options = answer.data["request_options"]["publicKey"]
    assert options == {
        "challenge": options["challenge"],
        "rpId": RP_ID,
        "allowCredentials": [],
        "userVerification": "preferred",
    }
    assert client.session_key
    expected = {"session_token": client.session_key} if client.kind == "app" else None
    assert answer.body.get("meta") == expected
    assert _anonymous(server) == before + 1
    client.get(LOGIN)
    assert _anonymous(server) == before + 1


@pytest.mark.parametrize("totp", [False, True])
def test_a_passkey_signs_in_alone(server, client, totp):
    """No password, no code and no trust is asked for; the step says so, and the key changes."""
    owner = new_owner(server, passkey=True, totp=totp)
    options = _asked(client)
    before = client.session_key

    answer = client.post(LOGIN, {"credential": owner.device.get(options)})

    assert answer.status == 200
    assert answer.data["user"]["id"] == owner.id
    assert answer.meta == {"is_authenticated": True, "session_token": client.session_key}
    assert client.session_key != before
    [step] = answer.data["methods"]
    key = owner.factors()[-1]
    assert step == {"method": "mfa", "at": step["at"], "type": "webauthn", "id": key.id, "passwordless": True}
    assert owner.steps() == [["mfa"]]
    assert key.sign_count == 1
    assert client.get(KEYS).status == 200  # the proof is fresh


def test_a_wrong_answer_signs_nobody_in(server, client):
    """The refusal names the member."""
    somebody = select(SESSIONS.c.id).where(SESSIONS.c.user_id.is_not(None))
    before = len(server.rows(somebody))

    for credential, code in WRONG_ANSWERS:
        _asked(client)
        answer = client.post(LOGIN, {"credential": credential})
        assert (answer.status, answer.errors) == (400, [(code, "credential")]), credential
    assert len(server.rows(somebody)) == before


def test_a_false_answer_burns_the_question(server, client):
    """A right answer to it comes too late; another question can be asked."""
    owner = new_owner(server, passkey=True)
    lies: list[dict[str, Any]] = [
        {"challenge": "AAAA"},
        {"origin": "https://evil.example"},
        {"user_verified": False},
        {"user_handle": "enp6enp6"},
        {"user_handle": None},
        {"signature": "AAAA"},
    ]

    for lie in lies:
        options = _asked(client)
        for credential in (owner.device.get(options, **lie), owner.device.get(options)):
            answer = client.post(LOGIN, {"credential": credential})
            assert (answer.status, answer.errors) == (400, [("incorrect_code", "credential")]), lie
    assert owner.steps() == []
    assert client.post(LOGIN, {"credential": owner.device.get(_asked(client))}).status == 200


def test_an_answer_is_of_one_session_and_serves_once(server, client):
    """Whoever overhears it cannot use it."""
    owner, thief = new_owner(server, passkey=True), server.client(client.kind)
    credential = owner.device.get(_asked(client))
    _asked(thief)

    assert thief.post(LOGIN, {"credential": credential}).errors == [("incorrect_code", "credential")]
    assert server.client(client.kind).post(LOGIN, {"credential": credential}).status == 400
    assert client.post(LOGIN, {"credential": credential}).status == 200
    client.delete("/auth/session")
    again = server.client(client.kind)
    assert again.post(LOGIN, {"credential": credential}).errors == [("incorrect_code", "credential")]
    assert owner.steps() == []


def test_a_key_that_keeps_no_account_does_not_sign_in(server, client):
    """It was registered as a second factor, and proves no more than that."""
    owner = new_owner(server, key=True)
    options = _asked(client)
    options["publicKey"]["allowCredentials"] = [{"type": "public-key", "id": owner.factors()[0].credential_id}]

    answer = client.post(LOGIN, {"credential": owner.device.get(options)})

    assert answer.errors == [("incorrect_code", "credential")]
    assert owner.steps() == []


def test_whoever_is_signed_in_cannot_sign_in_again(server, client):
    """409, after wrong input was refused; the session stays."""
    owner, other = new_owner(server), new_owner(server, passkey=True)
    owner.sign_in(client)
    credential = other.device.get(_asked(client))

    assert client.post(LOGIN, {}).status == 400
    assert client.post(LOGIN, {"credential": credential}).body == {"status": 409}
    assert owner.steps() == [["password"]]
    assert other.steps() == []


def test_a_passkey_of_an_account_that_is_switched_off_signs_nobody_in(server, client):
    """401 without a word about it."""
    owner = new_owner(server, passkey=True)
    with server.host.database.write() as session:
        session.connection().execute(update(USERS).where(USERS.c.id == owner.id).values(is_active=False))

    answer = client.post(LOGIN, {"credential": owner.device.get(_asked(client))})

    assert (answer.status, answer.pending) == (401, [])
    assert (owner.waits(), owner.steps()) == ([], [])


def test_a_passkey_takes_the_place_of_a_waiting_login(server, client):
    """Nothing waits afterwards."""
    owner = new_owner(server, passkey=True)
    assert owner.sign_in(client).pending == ["mfa_authenticate"]

    assert client.post(LOGIN, {"credential": owner.device.get(_asked(client))}).methods == ["mfa"]
    assert owner.waits() == []


def test_passkeys_still_verify_addresses_where_that_is_demanded(server_with):
    """The login goes through the stages that have nothing to do with factors."""
    server = server_with(site_url=ORIGIN, account_login_by_code_required="true")
    owner, app = new_owner(server, passkey=True, email=True), server.app()

    answer = app.post(LOGIN, {"credential": owner.device.get(_asked(app))})

    assert (answer.status, answer.pending) == (401, ["login_by_code"])
    done = app.post("/auth/code/confirm", {"code": server.mailbox.code(owner.email)})
    assert (done.status, done.methods) == (200, ["mfa", "code"])
    assert owner.steps() == [["mfa", "code"]]


def test_wrong_passkeys_are_limited_for_the_address(server_with):
    """After too many, the right one is refused; a success is not counted."""
    limits = '{"second_factor": "3/m/ip"}'
    server = server_with(site_url=ORIGIN, account_rate_limits=limits)
    owner = new_owner(server, passkey=True)
    for _ in range(4):
        app = server.app()
        assert app.post(LOGIN, {"credential": owner.device.get(_asked(app))}).status == 200
    for _ in range(3):
        app = server.app()
        _asked(app)
        assert app.post(LOGIN, {"credential": {"id": "x"}}).errors == [("incorrect_code", "credential")]

    refused = app.post(LOGIN, {"credential": owner.device.get(_asked(app))})

    assert (refused.status, refused.errors) == (400, [("too_many_login_attempts", "credential")])
    assert owner.steps() == [["mfa"]] * 4


def test_passkeys_can_be_switched_off(server_with):
    """Neither path is there by their own switches; as a second factor the key goes on to serve."""
    server = server_with(site_url=ORIGIN, mfa_passkey_login_enabled="false")
    owner, app = new_owner(server, passkey=True), server.app()

    for path in (LOGIN, SIGNUP):
        assert [app.call(method, path).status for method in ("GET", "POST")] == [404] * 2
    assert "mfa_login_webauthn" not in app.get("/auth/session").flows
    assert owner.sign_in(app).pending == ["mfa_authenticate"]
    assert owner.steps() == []


def test_a_sign_up_waits_for_its_passkey(server, client):
    """The account is there, without a password, and nobody is signed in."""
    name = _begun(server, client, password="ignored, and too short: x")

    row = server.user_row(name)
    assert row.password_hash is None
    assert client.get("/auth/session").pending == ["mfa_signup_webauthn"]
    assert client.get("/account/authenticators").status == 401
    assert server.rows(select(SESSIONS).where(SESSIONS.c.user_id == row.id)) == []


def test_the_passkey_completes_the_sign_up(server, client):
    """There are no steps, no recovery codes and no mail; afterwards the passkey signs in."""
    name = _begun(server, client)
    row, device = server.user_row(name), SoftwareAuthenticator()
    options = _creation(client)
    before = client.session_key

    answer = client.put(SIGNUP, {"credential": device.create(options), "name": "Phone"})

    selection = options["publicKey"]["authenticatorSelection"]
    assert selection == {"residentKey": "required", "requireResidentKey": True, "userVerification": "required"}
    assert options["publicKey"]["excludeCredentials"] == []
    assert answer.status == 200
    assert answer.data["methods"] == []
    user = {"id": row.id, "display": name, "has_usable_password": False, "username": name}
    assert answer.data["user"] == user
    assert answer.meta["session_token"] == client.session_key != before
    [key] = _keys(server, row.id)
    assert (key.type, key.name, key.passwordless) == ("webauthn", "Phone", True)
    assert server.rows(select(PENDING).where(PENDING.c.user_id == row.id)) == []
    client.delete("/auth/session")
    again = server.client(client.kind)
    assert again.post(LOGIN, {"credential": device.get(_asked(again))}).data["user"] == user


def test_a_wrong_sign_up_makes_no_account(server, client):
    """As for sign-ups with a password; that one is not asked for."""
    taken = new_owner(server).name
    before = len(server.rows(select(USERS.c.id)))
    wrong = [
        ({}, [("required", "username")]),
        ({"username": "a b"}, [("invalid", "username")]),
        ({"username": taken}, [("username_taken", "username")]),
        ({"username": "x", "email": "x"}, [("invalid", "email")]),
    ]

    for body, errors in wrong:
        answer = client.post(SIGNUP, body)
        assert (answer.status, answer.errors) == (400, errors), body
    assert len(server.rows(select(USERS.c.id))) == before


def test_whoever_is_signed_in_cannot_sign_up(server, client):
    """409 for each of the steps."""
    owner = new_owner(server)
    owner.sign_in(client)
    before = len(server.rows(select(USERS.c.id)))
    credential = {"id": "x"}

    assert client.post(SIGNUP, {"username": "somebody-else"}).status == 409
    assert client.get(SIGNUP).status == 409
    assert client.put(SIGNUP, {"credential": credential}).status == 409
    assert len(server.rows(select(USERS.c.id))) == before


def test_where_sign_up_is_closed_passkeys_open_nothing(server_with):
    """403, after wrong input was refused."""
    server = server_with(mfa_passkey_signup_enabled="true", login_enable_reg="false")
    app = server.app()

    assert app.post(SIGNUP, {}).status == 400
    assert app.post(SIGNUP, {"username": "late"}).body == {"status": 403}
    assert server.rows(select(USERS.c.id).where(USERS.c.username == "late")) == []


def test_sign_ups_are_limited_together(server_with):
    """Those with a passkey count as those with a password."""
    server = server_with(mfa_passkey_signup_enabled="true", account_rate_limits='{"signup": "1/m/ip"}')

    assert server.app().post(SIGNUP, {"username": "first"}).status == 401
    assert server.app().post(SIGNUP, {"username": "second"}).body == {"status": 429}
    assert server.rows(select(USERS.c.id).where(USERS.c.username == "second")) == []


def test_without_a_sign_up_no_passkey_is_made(server, client):
    """409; wrong input is refused first."""
    owner, body = new_owner(server, totp=True), {"credential": {"id": "x"}}
    strange = client.get(SIGNUP), client.put(SIGNUP, body)
    owner.sign_in(client)
    other_stage = client.get(SIGNUP), client.put(SIGNUP, body)

    assert [answer.body for answer in (*strange, *other_stage)] == [{"status": 409}] * 4
    assert client.put(SIGNUP, {}).errors == [("required", "credential")]
    assert owner.kinds() == ["totp"]


def test_a_wrong_passkey_leaves_the_sign_up_waiting(server, client):
    """Another question can be asked."""
    user_id = server.user_row(_begun(server, client)).id
    wrong = [
        ({"credential": {"id": "x"}}, [("incorrect_code", None)]),
        ({"credential": 5}, [("invalid", "credential")]),
        ({"credential": {"id": "x"}, "name": "n" * 101}, [("max_length", "name")]),
    ]

    for body, errors in wrong:
        _creation(client)
        answer = client.put(SIGNUP, body)
        assert (answer.status, answer.errors) == (400, errors), body
    assert _keys(server, user_id) == []
    assert client.put(SIGNUP, {"credential": SoftwareAuthenticator().create(_creation(client))}).status == 200
    assert len(_keys(server, user_id)) == 1


def test_a_passkey_that_did_not_verify_its_user_is_refused(server, client):
    """It stands for a password; and its question serves no second time."""
    user_id = server.user_row(_begun(server, client)).id
    options = _creation(client)

    for lies in ({"user_verified": False}, {}):
        credential = SoftwareAuthenticator().create(options, **lies)
        assert client.put(SIGNUP, {"credential": credential}).errors == [("incorrect_code", None)]
    assert _keys(server, user_id) == []


def test_a_sign_up_that_takes_too_long_is_over(server, client):
    """After a quarter of an hour nothing waits any more."""
    user_id = server.user_row(_begun(server, client)).id
    credential = SoftwareAuthenticator().create(_creation(client))
    server.clock.forward(901)

    assert client.put(SIGNUP, {"credential": credential}).body == {"status": 409}
    assert _keys(server, user_id) == []


def test_a_demanded_proof_of_the_address_comes_before_the_passkey(server_with):
    """The sign-up waits for both, one after the other."""
    server = server_with(
        site_url=ORIGIN,
        mfa_passkey_signup_enabled="true",
        account_email_verification="mandatory",
        account_email_verification_by_code_enabled="true",
    )
    app, address = server.app(), "passkey-first@example.org"

    answer = app.post(SIGNUP, {"username": "careful", "email": address})
    early = app.get(SIGNUP)
    proved = app.post("/auth/email/verify", {"key": server.mailbox.code(address)})
    done = app.put(SIGNUP, {"credential": SoftwareAuthenticator().create(_creation(app))})

    assert answer.pending == ["verify_email"]
    assert early.status == 409
    assert (proved.status, proved.pending) == (401, ["mfa_signup_webauthn"])
    assert (done.status, done.data["methods"]) == (200, [])
    assert len(_keys(server, server.user_row("careful").id)) == 1


def test_plugins_hear_of_passkeys(server):
    """Of failures, too; the key of a failure is known, its account therefore as well."""
    services, device = server.host.sign_in, SoftwareAuthenticator()
    visit, told = heard(server)
    name = f"newcomer{next(_NUMBERS)}"
    services.signup.sign_up(visit, {"username": name}, with_password=False, passkey=True)
    services.passkeys.finish_sign_up(visit, device.create(services.passkeys.ask_new_key(visit)), "")
    user_id = server.user_row(name).id
    [key] = _keys(server, user_id)
    later, more = heard(server)
    with pytest.raises(Exception, match="key"):
        services.passkeys.sign_in(later, device.get(services.passkeys.ask_passkey(later), signature="AAAA"))
    services.passkeys.sign_in(later, device.get(services.passkeys.ask_passkey(later)))

    where = {"address": "192.0.2.1", "user_agent": "test"}
    assert told[-2:] == [
        ("user.factor_added", where | {"type": "webauthn", "authenticator": key.id}, user_id),
        ("user.logged_in", where | {"methods": []}, user_id),
    ]
    assert more == [
        ("user.login_failed", where | {"method": "mfa"}, user_id),
        ("user.logged_in", where | {"methods": ["mfa"]}, user_id),
    ]
