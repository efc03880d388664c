"""Security keys: the own ones, and proving by them in a login and later."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import select, update

from host.accounts.emails.table import EMAILS
from host.accounts.sessions.table import SESSIONS
from tests.auth.owned_factors import WRONG, WRONG_ANSWERS, heard, new_owner
from tests.auth.server import PASSWORD
from tests.factors.software_authenticator import ORIGIN, NotAllowedError, SoftwareAuthenticator

KEYS = "/account/authenticators/webauthn"
AUTHENTICATE, REAUTHENTICATE = "/auth/webauthn/authenticate", "/auth/webauthn/reauthenticate"
TRUST = "/auth/2fa/trust"
RP_ID = ORIGIN.removeprefix("https://")
_LIMITS = '{"login": null, "login_failed": null, "second_factor": "10/m/ip,3/300s/user"}'


@pytest.fixture
def server(server_with):
    return server_with(site_url=ORIGIN)


def _signed_in(server, client, **factors):
    """Return an account that is signed in, by its key where it has one; its proof is fresh."""
    owner = new_owner(server, **factors)
    answer = owner.sign_in(client)
    if factors.get("key"):
        answer = client.post(AUTHENTICATE, {"credential": owner.device.get(_asked(client))})
        if client.kind == "browser":
            answer = client.post(TRUST, {})
    assert answer.status == 200
    return owner


def _asked(client, path=AUTHENTICATE):
    answer = client.get(path)
    assert answer.status == 200
    return answer.data["request_options"]


def _creation(client, path=KEYS):
    answer = client.get(path)
    assert answer.status == 200
    return answer.data["creation_options"]


def _data(server, owner):
    [row] = server.rows(select(SESSIONS.c.data).where(SESSIONS.c.user_id == owner.id))
    return row.data


def test_a_browser_is_told_how_to_make_a_key(server, client):
    """The options name the site and the account, exclude the keys that there are, and ask for no attestation."""
    owner = _signed_in(server, client, key=True)

    answer = client.get(KEYS)

    assert (answer.status, set(answer.body), set(answer.data)) == (200, {"status", "data"}, {"creation_options"})
    options = answer.data["creation_options"]["publicKey"]
    assert options["rp"] == {"id": RP_ID, "name": server.host.sign_in.area.instance}
    assert (options["user"]["name"], options["user"]["displayName"]) == (owner.name, owner.name)
    assert options["pubKeyCredParams"][0] == {"type": "public-key", "alg": -7}
    assert options["excludeCredentials"] == [{"type": "public-key", "id": owner.factors()[0].credential_id}]
    wish = "discouraged"
    selection = {"residentKey": wish, "requireResidentKey": False, "userVerification": wish}
    assert options["authenticatorSelection"] == selection
    assert options["extensions"] == {"credProps": True}
    assert _data(server, owner)["webauthn_registration"]["challenge"] == options["challenge"]


def test_a_passkey_is_asked_for_by_name(server, client):
    """Whatever value the parameter has."""
    owner = _signed_in(server, client)

    for value in ("", "=", "=true", "=false"):
        selection = _creation(client, f"{KEYS}?passwordless{value}")["publicKey"]["authenticatorSelection"]
        assert selection == {"residentKey": "required", "requireResidentKey": True, "userVerification": "required"}

    assert _data(server, owner)["webauthn_registration"]["verify_user"] is True


@pytest.mark.parametrize("form", ["object", "text"])
def test_a_key_is_added(server, client, form):
    """Recovery codes are made besides, and people are told by mail."""
    owner = _signed_in(server, client, email=True)
    credential = owner.device.create(_creation(client))

    answer = client.post(
        KEYS, {"credential": json.dumps(credential) if form == "text" else credential, "name": " Blue "}
    )

    key, codes = owner.factors()
    assert answer.body == {
        "status": 200,
        "data": {
            "type": "webauthn",
            "created_at": key.created.timestamp(),
            "last_used_at": None,
            "id": key.id,
            "name": "Blue",
            "is_passwordless": False,
        },
        "meta": {"recovery_codes_generated": True},
    }
    assert (key.credential_id, codes.type) == (credential["id"], "recovery_codes")
    assert owner.mails() == ["factor_added"]
    assert "Blue" in server.mailbox.text(owner.email)
    other = server.client(client.kind)
    assert owner.sign_in(other).pending == ["mfa_authenticate"]


def test_keys_without_names_get_some(server, client):
    """A second one makes no further codes."""
    owner = _signed_in(server, client)
    answers = [client.post(KEYS, {"credential": SoftwareAuthenticator().create(_creation(client))}) for _ in range(3)]

    assert [answer.data["name"] for answer in answers] == ["Master key", "Backup key", "Key nr. 3"]
    assert [answer.meta["recovery_codes_generated"] for answer in answers] == [True, False, False]
    assert owner.kinds() == ["webauthn", "recovery_codes", "webauthn", "webauthn"]


def test_a_key_that_says_nothing_of_passkeys_shows_nothing(server, client):
    """The member is absent."""
    owner = _signed_in(server, client)
    credential = owner.device.create(_creation(client))
    credential["clientExtensionResults"] = {}

    assert "is_passwordless" not in client.post(KEYS, {"credential": credential}).data
    assert owner.factors()[0].passwordless is None


def test_a_wrong_answer_adds_no_key(server, client):
    """All wrong members are named; what does not fit the question is wrong as a whole."""
    owner = _signed_in(server, client)
    named = {"credential": {"id": "x"}, "name": "n" * 101}
    wrong = [
        ({}, [("required", "credential")]),
        ({"credential": ""}, [("required", "credential")]),
        ({"credential": None}, [("required", "credential")]),
        ({"credential": "{"}, [("invalid", "credential")]),
        ({"credential": "[1]"}, [("invalid", "credential")]),
        ({"credential": 5}, [("invalid", "credential")]),
        ({"credential": {"id": 1}}, [("incorrect_code", None)]),
        ({"credential": {"id": "x", "response": {}}}, [("incorrect_code", None)]),
        ({"credential": '{"id": "\\ud800"}'}, [("incorrect_code", None)]),
        (named, [("max_length", "name")]),
        ({"name": "a\x00"}, [("required", "credential"), ("null_characters_not_allowed", "name")]),
    ]

    for body, errors in wrong:
        _creation(client)
        answer = client.post(KEYS, body)
        assert (answer.status, answer.errors) == (400, errors), body
    assert owner.factors() == []


def test_an_answer_to_another_question_adds_no_key(server, client):
    """And the question serves no second time."""
    owner = _signed_in(server, client)
    lies: list[dict[str, Any]] = [
        {"challenge": "AAAA"},
        {"origin": "https://evil.example"},
        {"origin": f"http://{RP_ID}"},
        {"type": "webauthn.get"},
        {"rp_id": "evil.example"},
        {"user_present": False},
        {"crossOrigin": True},
    ]

    for lie in lies:
        options = _creation(client)
        for credential in (owner.device.create(options, **lie), owner.device.create(options)):
            answer = client.post(KEYS, {"credential": credential})
            assert (answer.status, answer.errors) == (400, [("incorrect_code", None)]), lie
    assert owner.factors() == []


def test_a_question_serves_once(server, client):
    """The same answer adds no second key, and a newer question voids the older one."""
    owner = _signed_in(server, client)
    credential = owner.device.create(_creation(client))
    client.post(KEYS, {"credential": credential})
    older = SoftwareAuthenticator().create(_creation(client))
    _creation(client)

    for late in (credential, older):
        assert client.post(KEYS, {"credential": late}).errors == [("incorrect_code", None)]
    assert owner.kinds() == ["webauthn", "recovery_codes"]


def test_a_question_is_of_one_session(server, client):
    """Another session of the account cannot answer it."""
    owner, other = _signed_in(server, client), server.client(client.kind)
    owner.sign_in(other)
    credential = owner.device.create(_creation(other))

    assert client.post(KEYS, {"credential": credential}).errors == [("incorrect_code", None)]
    assert owner.factors() == []


def test_a_key_belongs_to_one_account(server, client):
    """Whoever has it already keeps it."""
    owner, other = _signed_in(server, client, key=True), server.client(client.kind)
    second = _signed_in(server, other)
    credential = second.device.create(_creation(other))
    stolen = owner.factors()[0].credential_id
    with server.host.database.write() as session:
        table = SESSIONS.metadata.tables["account_authenticator"]
        named = update(table).where(table.c.user_id == owner.id).values(credential_id=credential["id"])
        session.connection().execute(named)

    assert other.post(KEYS, {"credential": credential}).errors == [("incorrect_code", None)]
    assert second.factors() == []
    assert stolen != owner.factors()[0].credential_id


def test_an_unverified_address_forbids_a_key(server, client):
    """409 with the reason, before everything else."""
    owner = _signed_in(server, client, email=True)
    server.clock.forward(301)
    with server.host.database.write() as session:
        session.connection().execute(update(EMAILS).where(EMAILS.c.user_id == owner.id).values(verified=False))

    for method, body in (("GET", None), ("POST", {}), ("POST", {"credential": {"id": 1}})):
        answer = client.call(method, KEYS, body)
        assert (answer.status, answer.errors) == (409, [("unverified_email", None)]), (method, body)
    assert owner.factors() == []


def test_a_key_needs_a_fresh_proof(server, client):
    """Asking for one does; one that was asked for in time can be given again after the proof."""
    owner = _signed_in(server, client)
    credential = owner.device.create(_creation(client))
    server.clock.forward(301)

    asked, wrong = client.get(KEYS), client.post(KEYS, {})
    refused = client.post(KEYS, {"credential": credential})

    assert (asked.status, refused.status, wrong.status) == (401, 401, 400)
    assert refused.meta == {"is_authenticated": True}
    assert refused.flows == ["reauthenticate"]
    assert owner.factors() == []
    client.post("/auth/reauthenticate", {"password": PASSWORD})
    assert client.post(KEYS, {"credential": credential}).status == 200
    assert owner.kinds() == ["webauthn", "recovery_codes"]


def test_strangers_have_no_keys(server, client):
    """401 with the flows, before the input is looked at."""
    before = len(server.rows(select(SESSIONS.c.id)))

    for method in ("GET", "POST", "PUT", "DELETE"):
        answer = client.call(method, KEYS)
        assert (answer.status, answer.meta) == (401, {"is_authenticated": False}), method
        assert "login" in answer.flows
    assert len(server.rows(select(SESSIONS.c.id))) == before


def test_a_key_gets_another_name(server, client):
    """The answer shows it."""
    owner = _signed_in(server, client, key=True)
    key_id = owner.factors()[0].id

    answer = client.put(KEYS, {"id": str(key_id), "name": f" {'n' * 100} "})

    assert (answer.status, set(answer.body)) == (200, {"status", "data"})
    assert (answer.data["id"], answer.data["name"]) == (key_id, "n" * 100)
    assert owner.factors()[0].name == "n" * 100


def test_a_wrong_new_name_changes_nothing(server, client):
    """All wrong members are named; only keys of the account have names."""
    other, owner = new_owner(server, key=True), _signed_in(server, client, key=True, codes=True)
    before = owner.factors(), other.factors()
    (key, codes), [foreign] = before
    no_keys: list[object] = [0, 10**30, True, [], "y", "9" * 30, foreign.id, codes.id]
    wrong = [
        ({}, [("required", "id"), ("required", "name")]),
        ({"name": "x"}, [("required", "id")]),
        ({"id": None, "name": "x"}, [("required", "id")]),
        *(({"id": pk, "name": "x"}, [("invalid_choice", "id")]) for pk in no_keys),
        ({"id": "x"}, [("invalid_choice", "id"), ("required", "name")]),
        ({"id": key.id, "name": " "}, [("required", "name")]),
        ({"id": key.id, "name": "n" * 101}, [("max_length", "name")]),
        ({"id": key.id, "name": "\x00"}, [("null_characters_not_allowed", "name")]),
    ]

    for body, errors in wrong:
        answer = client.put(KEYS, body)
        assert (answer.status, answer.errors) == (400, errors), body
    assert (owner.factors(), other.factors()) == before


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_changing_keys_needs_a_fresh_proof(server, client, method):
    """401, after wrong input was refused."""
    owner = _signed_in(server, client, key=True)
    key_id = owner.factors()[0].id
    server.clock.forward(301)

    answer = client.call(method, KEYS, {"id": key_id, "name": "x", "authenticators": [key_id]})
    wrong = client.call(method, KEYS, {"id": 0, "name": "x", "authenticators": [0]})

    assert (answer.status, answer.meta) == (401, {"is_authenticated": True})
    assert {"id": "mfa_reauthenticate", "types": ["webauthn"]} in answer.data["flows"]
    assert wrong.status == 400
    assert [row.name for row in owner.factors()] == ["Master key"]


def test_keys_are_removed(server, client):
    """Recovery codes stay while another factor does, and go with the last one."""
    owner = _signed_in(server, client, key=True, passkey=True, codes=True, email=True)
    first, second, _ = owner.factors()

    one = client.delete(KEYS, {"authenticators": [first.id, first.id]})
    assert one.body == {"status": 200}
    assert owner.kinds() == ["webauthn", "recovery_codes"]
    assert client.delete(KEYS, {"authenticators": [str(second.id)]}).body == {"status": 200}
    assert owner.factors() == []
    assert owner.mails() == ["factor_removed"] * 2


def test_all_keys_are_removed_or_none(server, client):
    """One that is no key of the account refuses the whole."""
    other, owner = new_owner(server, key=True), _signed_in(server, client, key=True, codes=True)
    before = owner.factors(), other.factors()
    (key, codes), [foreign] = before
    no_keys: list[object] = [0, "x", None, [], True, 10**30, foreign.id, codes.id]
    wrong: dict[str, list[object]] = {
        "required": [None, [], ""],
        "invalid_list": [5, {"id": 5}, "x"],
        "invalid_choice": [[key.id, one] for one in no_keys],
    }

    for code, sent in ((code, sent) for code, all_sent in wrong.items() for sent in all_sent):
        answer = client.delete(KEYS, {"authenticators": sent})
        assert (answer.status, answer.errors) == (400, [(code, "authenticators")]), sent
    assert (owner.factors(), other.factors()) == before


def test_a_waiting_login_asks_the_keys_of_its_account(server, client):
    """The options name them and the site; the session of an app keeps its token."""
    owner = new_owner(server, key=True, totp=True)
    owner.sign_in(client)
    key = client.session_key

    answer = client.get(AUTHENTICATE)

    assert (answer.status, set(answer.body), set(answer.data)) == (200, {"status", "data"}, {"request_options"})
    options = answer.data["request_options"]["publicKey"]
    assert options == {
        "challenge": options["challenge"],
        "rpId": RP_ID,
        "allowCredentials": [{"type": "public-key", "id": owner.factors()[1].credential_id}],
        "userVerification": "preferred",
    }
    assert len(options["challenge"]) == 43
    assert client.session_key == key
    assert owner.waits() == ["mfa_authenticate"]


@pytest.mark.parametrize("form", ["object", "text"])
def test_a_key_completes_the_login(server, client, form):
    """The session has both steps; browsers are asked for trust first."""
    owner = new_owner(server, key=True)
    owner.sign_in(client)
    credential = owner.device.get(_asked(client))

    answer = client.post(AUTHENTICATE, {"credential": json.dumps(credential) if form == "text" else credential})
    if client.kind == "browser":
        assert (answer.status, answer.pending) == (401, ["mfa_trust"])
        answer = client.post(TRUST, {})

    assert answer.status == 200
    assert answer.meta["is_authenticated"] is True
    [key] = owner.factors()
    step = answer.data["methods"][1]
    assert step == {"method": "mfa", "at": step["at"], "type": "webauthn", "id": key.id}
    assert owner.steps() == [["password", "mfa"]]
    assert key.sign_count == 1
    assert key.last_used is not None


def test_a_wrong_answer_leaves_the_login_waiting(server, client):
    """The refusal names the member."""
    owner = new_owner(server, key=True)
    owner.sign_in(client)

    for credential, code in WRONG_ANSWERS:
        _asked(client)
        answer = client.post(AUTHENTICATE, {"credential": credential})
        assert (answer.status, answer.errors) == (400, [(code, "credential")]), credential
    assert owner.steps() == []
    assert owner.waits() == ["mfa_authenticate"]


def test_a_false_answer_burns_the_question(server, client):
    """A right answer to it comes too late; another question can be asked."""
    owner = new_owner(server, key=True)
    owner.sign_in(client)
    lies: list[dict[str, Any]] = [
        {"challenge": "AAAA"},
        {"origin": "https://evil.example"},
        {"type": "webauthn.create"},
        {"rp_id": "evil.example"},
        {"user_present": False},
        {"signature": "AAAA"},
        {"user_handle": "enp6enp6"},
    ]

    for lie in lies:
        options = _asked(client)
        for credential in (owner.device.get(options, **lie), owner.device.get(options)):
            answer = client.post(AUTHENTICATE, {"credential": credential})
            assert (answer.status, answer.errors) == (400, [("incorrect_code", "credential")]), lie
    assert owner.steps() == []
    credential = owner.device.get(_asked(client))
    assert client.post(AUTHENTICATE, {"credential": credential}).status in {200, 401}
    assert owner.factors()[0].last_used is not None


def test_an_answer_serves_once_and_in_its_own_session(server, client):
    """Neither another session nor a later login takes it."""
    owner, other = new_owner(server, key=True), server.client(client.kind)
    for one in (client, other):
        owner.sign_in(one)
    credential = owner.device.get(_asked(client))
    _asked(other)

    assert other.post(AUTHENTICATE, {"credential": credential}).errors == [("incorrect_code", "credential")]
    assert client.post(AUTHENTICATE, {"credential": credential}).status in {200, 401}
    owner.sign_in(other)
    assert other.post(AUTHENTICATE, {"credential": credential}).errors == [("incorrect_code", "credential")]
    assert owner.waits()[-1:] == ["mfa_authenticate"]


def test_the_key_of_somebody_else_is_wrong(server, client):
    """However well it signs."""
    owner, other = new_owner(server, key=True), new_owner(server, key=True)
    owner.sign_in(client)
    options = _asked(client)
    options["publicKey"]["allowCredentials"] = []
    other.device.keys[0].resident = True

    answer = client.post(AUTHENTICATE, {"credential": other.device.get(options)})

    assert answer.errors == [("incorrect_code", "credential")]
    assert owner.steps() == other.steps() == []


def test_a_copied_key_is_refused(server, client):
    """Its count does not rise above the one that was seen last."""
    owner = new_owner(server, key=True)
    owner.sign_in(client)
    client.post(AUTHENTICATE, {"credential": owner.device.get(_asked(client), sign_count=7)})
    other = server.client(client.kind)
    owner.sign_in(other)

    answer = other.post(AUTHENTICATE, {"credential": owner.device.get(_asked(other), sign_count=7)})

    assert answer.errors == [("incorrect_code", "credential")]
    assert owner.factors()[0].sign_count == 7


def test_without_a_waiting_login_no_key_is_asked(server, client):
    """401 without a pending flow, also for those who are signed in; the input is not looked at."""
    stranger = [client.call(method, AUTHENTICATE) for method in ("GET", "POST")]
    owner = new_owner(server)
    owner.sign_in(client)
    signed_in = [client.call(method, AUTHENTICATE) for method in ("GET", "POST")]

    assert [answer.status for answer in (*stranger, *signed_in)] == [401] * 4
    assert [answer.meta for answer in (*stranger, *signed_in)] == [{"is_authenticated": None}] * 4
    assert [answer.pending for answer in stranger] == [[], []]
    assert owner.steps() == [["password"]]
    assert _data(server, owner) == {}


def test_a_key_proves_who_is_signed_in(server, client):
    """The step says that it is a repetition; the session's key stays."""
    owner = _signed_in(server, client, key=True)
    server.clock.forward(301)
    key = client.session_key

    answer = client.post(REAUTHENTICATE, {"credential": owner.device.get(_asked(client, REAUTHENTICATE))})

    assert answer.status == 200
    assert answer.meta == {"is_authenticated": True}
    step = answer.data["methods"][-1]
    factor = owner.factors()[0]
    assert step == {"method": "mfa", "at": step["at"], "type": "webauthn", "id": factor.id, "reauthenticated": True}
    assert owner.steps() == [["password", "mfa", "mfa"]]
    assert client.session_key == key
    assert client.get(KEYS).status == 200


def test_a_wrong_answer_proves_nothing(server, client):
    """Nor does a right one that was given before."""
    owner = _signed_in(server, client, key=True)
    credential = owner.device.get(_asked(client, REAUTHENTICATE))
    assert client.post(REAUTHENTICATE, {"credential": credential}).status == 200
    before = owner.steps()

    for wrong, code in [*WRONG_ANSWERS, (credential, "incorrect_code")]:
        answer = client.post(REAUTHENTICATE, {"credential": wrong})
        assert (answer.status, answer.errors) == (400, [(code, "credential")]), wrong
        _asked(client, REAUTHENTICATE)
    assert owner.steps() == before


def test_an_answer_proves_once(server, client):
    """Also that of a key which does not count."""
    owner = new_owner(server, key=True)
    owner.device.counts = False
    owner.sign_in(client)
    client.post(AUTHENTICATE, {"credential": owner.device.get(_asked(client))})
    client.post(TRUST, {})
    credential = owner.device.get(_asked(client, REAUTHENTICATE))

    answers = [client.post(REAUTHENTICATE, {"credential": credential}) for _ in range(2)]

    assert [answer.status for answer in answers] == [200, 400]
    assert answers[1].errors == [("incorrect_code", "credential")]
    assert owner.steps() == [["password", "mfa", "mfa"]]


def test_strangers_prove_nothing_by_keys(server, client):
    """401 with the flows."""
    before = len(server.rows(select(SESSIONS.c.id)))

    for method in ("GET", "POST"):
        answer = client.call(method, REAUTHENTICATE)
        assert (answer.status, answer.meta) == (401, {"is_authenticated": False}), method
        assert "login" in answer.flows
    assert len(server.rows(select(SESSIONS.c.id))) == before


def test_keys_and_codes_are_counted_together(server_with):
    """After too many of both, a right answer is refused at the credential."""
    server = server_with(site_url=ORIGIN, account_rate_limits=_LIMITS)
    owner, app = new_owner(server, key=True, totp=True), server.app()
    owner.sign_in(app)
    app.post("/auth/2fa/authenticate", {"code": WRONG})
    for _ in range(2):
        app.post(AUTHENTICATE, {"credential": {"id": "x"}})
    app.post(AUTHENTICATE, {})

    answer = app.post(AUTHENTICATE, {"credential": owner.device.get(_asked(app))})

    assert (answer.status, answer.errors) == (400, [("too_many_login_attempts", "credential")])
    assert owner.steps() == []
    server.clock.forward(301)
    assert app.post(AUTHENTICATE, {"credential": owner.device.get(_asked(app))}).status == 200


def test_keys_can_be_switched_off(server_with):
    """No path of theirs is there, and passkeys are offered no more."""
    server = server_with(mfa_supported_types="totp,recovery_codes", mfa_passkey_signup_enabled="true")
    owner, app = new_owner(server, key=True), server.app()

    assert owner.sign_in(app).status == 200
    for path in (KEYS, AUTHENTICATE, REAUTHENTICATE, "/auth/webauthn/login", "/auth/webauthn/signup"):
        assert [app.call(method, path).status for method in ("GET", "POST")] == [404] * 2
    assert "mfa_login_webauthn" not in server.app().get("/auth/session").flows
    assert owner.kinds() == ["webauthn"]


def test_without_a_site_the_address_of_the_request_counts(server_with):
    """Then keys are made for the host that the browser asked, without its port."""
    server = server_with(mfa_webauthn_allow_insecure_origin="true")
    owner, app = new_owner(server), server.app()
    owner.sign_in(app)
    device = SoftwareAuthenticator(origin=server.url)
    options = _creation(app)

    assert options["publicKey"]["rp"]["id"] == "127.0.0.1"
    assert app.post(KEYS, {"credential": device.create(options)}).status == 200
    assert owner.kinds() == ["webauthn", "recovery_codes"]


def test_plugins_hear_of_keys(server):
    """Each event says whose and which, and holds nothing of the ceremony."""
    owner, services = new_owner(server), server.host.sign_in
    visit, told = heard(server)
    services.password_login.sign_in(visit, {"username": owner.name, "password": PASSWORD})
    told.clear()
    credential = owner.device.create(services.own_keys.ask_new_key(visit, passwordless=False))
    services.own_keys.add(visit, credential, "")
    key, codes = owner.factors()
    services.second_factors.prove_by_key(visit, owner.device.get(services.second_factors.ask_key_again(visit)))
    services.own_keys.remove(visit, [key.id])

    where = {"address": "192.0.2.1", "user_agent": "test"}
    this = {"type": "webauthn", "authenticator": key.id}
    assert told == [
        ("user.factor_added", where | this, owner.id),
        ("user.recovery_codes_made", where | {"authenticator": codes.id, "automatic": True}, owner.id),
        ("user.reauthenticated", where | this | {"method": "mfa"}, owner.id),
        ("user.factor_removed", where | this, owner.id),
        ("user.factor_removed", where | {"type": "recovery_codes", "authenticator": codes.id}, owner.id),
    ]


def test_the_device_itself_refuses_a_second_registration(server, client):
    """It is told of the keys that there are."""
    owner = _signed_in(server, client, key=True)

    with pytest.raises(NotAllowedError):
        owner.device.create(_creation(client))
    assert owner.kinds() == ["webauthn"]
