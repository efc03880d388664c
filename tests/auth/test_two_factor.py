"""Second factors by code: in a login, and as a later proof."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from host.accounts.account import USERS
from host.accounts.sessions.table import SESSIONS
from tests.auth.owned_factors import WRONG, heard, new_owner
from tests.auth.server import PASSWORD

AUTHENTICATE, REAUTHENTICATE, TRUST = "/auth/2fa/authenticate", "/auth/2fa/reauthenticate", "/auth/2fa/trust"
_LIMITS = '{"login": null, "login_failed": null, "second_factor": "10/m/ip,3/300s/user"}'


def _done(client, answer):
    """Answer the question for trust, which only browsers are asked."""
    if client.kind == "app":
        return answer
    assert (answer.status, answer.pending) == (401, ["mfa_trust"])
    return client.post(TRUST, {"trust": False})


def test_the_password_alone_does_not_sign_in(server, client):
    """The login waits, and says for which kinds, in their fixed order."""
    owner = new_owner(server, totp=True, key=True, codes=True)

    answer = owner.sign_in(client)

    assert answer.status == 401
    assert answer.meta["is_authenticated"] is False
    [waiting] = [flow for flow in answer.data["flows"] if flow.get("is_pending")]
    types = ["recovery_codes", "totp", "webauthn"]
    assert waiting == {"id": "mfa_authenticate", "types": types, "is_pending": True}
    assert client.get("/account/authenticators").status == 401
    assert client.get("/auth/session").pending == ["mfa_authenticate"]
    assert owner.steps() == []
    assert owner.waits() == ["mfa_authenticate"]


def test_recovery_codes_alone_ask_for_nothing(server, client):
    """They stand in for something that the account no longer has."""
    owner = new_owner(server, totp=True, codes=True)
    app_id = owner.factors()[0].id
    with server.host.database.write() as session:
        table = SESSIONS.metadata.tables["account_authenticator"]
        session.connection().execute(table.delete().where(table.c.id == app_id))

    assert owner.sign_in(client).status == 200
    assert owner.kinds() == ["recovery_codes"]


def test_a_wrong_password_tells_nothing_of_second_factors(server, client):
    """The refusal is the plain one, and no flow waits."""
    owner = new_owner(server, totp=True)

    answer = client.login(owner.name, "wrong")

    assert answer.status == 400
    assert answer.errors == [("username_password_mismatch", "password")]
    assert owner.waits() == []


def test_the_code_of_the_app_completes_the_login(server, client):
    """The session has both steps, and a key of its own."""
    owner = new_owner(server, totp=True)
    owner.sign_in(client)
    before = client.session_key

    answer = _done(client, client.post(AUTHENTICATE, {"code": owner.code()}))

    assert answer.status == 200
    assert set(answer.body) == {"status", "data", "meta"}
    assert answer.meta["is_authenticated"] is True
    assert answer.meta["session_token"] == client.session_key != before
    password, code = answer.data["methods"]
    assert password == {"method": "password", "at": password["at"], "username": owner.name}
    assert code == {"method": "mfa", "at": code["at"], "type": "totp", "id": owner.factors()[0].id}
    assert owner.steps() == [["password", "mfa"]]
    assert owner.waits() == []
    assert owner.factors()[0].last_used is not None


def test_a_recovery_code_completes_the_login_once(server, client):
    """It is typed as people write it, and serves no second time."""
    owner = new_owner(server, totp=True, codes=True)
    code = owner.codes[2]
    owner.sign_in(client)

    answer = _done(client, client.post(AUTHENTICATE, {"code": f" {code[:4]} {code[4:]} "}))

    assert answer.status == 200
    assert answer.data["methods"][1]["type"] == "recovery_codes"
    assert owner.factors()[1].data["used"] == [2]
    again = server.client(client.kind)
    owner.sign_in(again)
    refused = again.post(AUTHENTICATE, {"code": code})
    assert (refused.status, refused.errors) == (400, [("incorrect_code", "code")])
    assert owner.steps() == [["password", "mfa"]]


def test_a_wrong_code_leaves_the_login_waiting(server, client):
    """The refusal names the member, and the right code still serves."""
    owner = new_owner(server, totp=True, codes=True)
    owner.sign_in(client)

    for body in ({}, {"code": None}, {"code": "  "}):
        answer = client.post(AUTHENTICATE, body)
        assert (answer.status, answer.errors) == (400, [("required", "code")]), body
    for code in (WRONG, "\u0660" * 6, ["1"], {"code": True}, "1\x002345", "1" * 5000):
        answer = client.post(AUTHENTICATE, {"code": code})
        assert (answer.status, answer.errors) == (400, [("incorrect_code", "code")]), code

    assert owner.steps() == []
    assert owner.waits() == ["mfa_authenticate"]
    assert _done(client, client.post(AUTHENTICATE, {"code": owner.code()})).status == 200


def test_a_code_serves_once(server, client):
    """Neither another login nor a proof takes a code that was used; the next one is taken."""
    owner = new_owner(server, totp=True)
    owner.sign_in(client)
    code = owner.code()
    _done(client, client.post(AUTHENTICATE, {"code": code}))
    other = server.client(client.kind)
    owner.sign_in(other)

    assert other.post(AUTHENTICATE, {"code": code}).errors == [("incorrect_code", "code")]
    assert client.post(REAUTHENTICATE, {"code": code}).errors == [("incorrect_code", "code")]
    assert owner.steps() == [["password", "mfa"]]
    assert _done(other, other.post(AUTHENTICATE, {"code": owner.next_code()})).status == 200


def test_the_code_of_somebody_else_is_wrong(server, client):
    """A code belongs to one account."""
    owner, other = new_owner(server, totp=True), new_owner(server, totp=True, codes=True)
    owner.sign_in(client)

    for code in (other.code(), other.codes[0]):
        assert client.post(AUTHENTICATE, {"code": code}).errors == [("incorrect_code", "code")]
    assert owner.steps() == []
    assert other.factors()[1].data["used"] == []


def test_without_a_waiting_login_there_is_nothing_to_complete(server, client):
    """401 without a pending flow, before the input is looked at; strangers are not told that they are not."""
    before = len(server.rows(select(SESSIONS.c.id)))

    answer = client.post(AUTHENTICATE, {})

    assert answer.status == 401
    assert answer.meta == {"is_authenticated": None}
    assert answer.pending == []
    assert "login" in answer.flows
    assert len(server.rows(select(SESSIONS.c.id))) == before


def test_whoever_is_signed_in_has_nothing_to_complete(server, client):
    """401, too."""
    owner = new_owner(server)
    owner.sign_in(client)

    answer = client.post(AUTHENTICATE, {"code": WRONG})

    assert answer.status == 401
    assert answer.meta == {"is_authenticated": None}
    assert owner.steps() == [["password"]]


def test_a_login_that_takes_too_long_is_over(server, client):
    """After a quarter of an hour nothing waits any more."""
    owner = new_owner(server, totp=True)
    owner.sign_in(client)
    server.clock.forward(901)

    answer = client.post(AUTHENTICATE, {"code": owner.code()})

    assert (answer.status, answer.pending) == (401, [])
    assert owner.steps() == []


def test_another_session_cannot_complete_the_login(server, client):
    """What waits belongs to the session in which it was begun."""
    owner = new_owner(server, totp=True)
    owner.sign_in(client)
    thief = server.client(client.kind)

    assert thief.post(AUTHENTICATE, {"code": owner.code()}).status == 401
    assert owner.waits() == ["mfa_authenticate"]
    assert owner.steps() == []


def test_a_new_password_ends_the_waiting_login(server, client):
    """It was begun with the old one."""
    owner = new_owner(server, totp=True)
    owner.sign_in(client)
    server.host.users.set_password(owner.id, "another horse battery")

    answer = client.post(AUTHENTICATE, {"code": owner.code()})

    assert (answer.status, answer.pending) == (401, [])
    assert (owner.waits(), owner.steps()) == ([], [])


def test_an_account_that_is_switched_off_meanwhile_is_not_signed_in(server, client):
    """The right code leads nowhere, and nothing waits any more."""
    owner = new_owner(server, totp=True)
    owner.sign_in(client)
    with server.host.database.write() as session:
        session.connection().execute(update(USERS).where(USERS.c.id == owner.id).values(is_active=False))

    answer = client.post(AUTHENTICATE, {"code": owner.code()})

    assert (answer.status, answer.pending) == (401, [])
    assert (owner.waits(), owner.steps()) == ([], [])


def test_a_login_can_begin_anew_while_it_waits(server, client):
    """The newer login takes the place of the older one."""
    owner, other = new_owner(server, totp=True), new_owner(server, totp=True)
    owner.sign_in(client)
    other.sign_in(client)

    answer = _done(client, client.post(AUTHENTICATE, {"code": other.code()}))

    assert answer.data["user"]["id"] == other.id
    assert (owner.waits(), owner.steps()) == ([], [])


def test_signing_out_drops_the_waiting_login(server, client):
    """Nothing waits afterwards."""
    owner = new_owner(server, totp=True)
    owner.sign_in(client)

    assert client.delete("/auth/session").pending == []
    assert owner.waits() == []


def test_a_code_proves_who_is_signed_in(server, client):
    """The session gets another step, which does not say that it is a repetition; its key stays."""
    owner = new_owner(server, totp=True, codes=True)
    owner.sign_in(client)
    _done(client, client.post(AUTHENTICATE, {"code": owner.codes[0]}))
    key = client.session_key

    for code, factor in zip((owner.code(), owner.codes[1]), owner.factors(), strict=True):
        answer = client.post(REAUTHENTICATE, {"code": code})
        assert answer.status == 200
        assert answer.meta == {"is_authenticated": True}
        last = answer.data["methods"][-1]
        assert last == {"method": "mfa", "at": last["at"], "type": factor.type, "id": factor.id}

    assert owner.steps() == [["password", "mfa", "mfa", "mfa"]]
    assert client.session_key == key


def test_a_wrong_code_proves_nothing(server, client):
    """The refusal names the member, and the session has no further step."""
    owner = new_owner(server, totp=True)
    owner.sign_in(client)
    _done(client, client.post(AUTHENTICATE, {"code": owner.code()}))

    for body, code in (({}, "required"), ({"code": WRONG}, "incorrect_code")):
        answer = client.post(REAUTHENTICATE, body)
        assert (answer.status, answer.errors) == (400, [(code, "code")])
    assert owner.steps() == [["password", "mfa"]]


def test_an_account_without_factors_proves_nothing_by_code(server, client):
    """Every code is wrong."""
    owner = new_owner(server)
    owner.sign_in(client)

    assert client.post(REAUTHENTICATE, {"code": WRONG}).errors == [("incorrect_code", "code")]
    assert owner.steps() == [["password"]]


def test_a_stranger_has_nothing_to_prove(server, client):
    """401 with the flows, before the input is looked at."""
    before = len(server.rows(select(SESSIONS.c.id)))

    answer = client.post(REAUTHENTICATE, {})

    assert answer.status == 401
    assert answer.meta == {"is_authenticated": False}
    assert "login" in answer.flows
    assert len(server.rows(select(SESSIONS.c.id))) == before


def test_wrong_codes_are_limited_for_the_account(server_with):
    """Login and proof count together, wherever they come from; then the right code is refused, too."""
    server = server_with(account_rate_limits=_LIMITS)
    for client in (server.browser(), server.app()):
        owner = new_owner(server, totp=True)
        other = server.client(client.kind)
        owner.sign_in(other)
        _done(other, other.post(AUTHENTICATE, {"code": owner.code()}))
        owner.sign_in(client)
        for guesser, path in ((client, AUTHENTICATE), (other, REAUTHENTICATE), (client, AUTHENTICATE)):
            assert guesser.post(path, {"code": WRONG}).errors == [("incorrect_code", "code")]

        code = owner.next_code()
        for guesser, path in ((client, AUTHENTICATE), (other, REAUTHENTICATE)):
            answer = guesser.post(path, {"code": code})
            assert (answer.status, answer.errors) == (400, [("too_many_login_attempts", "code")])
        assert owner.steps() == [["password", "mfa"]]
        server.clock.forward(301)
        assert _done(client, client.post(AUTHENTICATE, {"code": owner.code()})).status == 200


def test_a_right_code_clears_the_count(server_with):
    """What was wrong before is forgotten; missing codes are not counted at all."""
    server = server_with(account_rate_limits=_LIMITS)
    owner = new_owner(server, totp=True, codes=True)
    for code in owner.codes[:3]:
        app = server.app()
        owner.sign_in(app)
        for text in (WRONG, WRONG, "", "", ""):
            app.post(AUTHENTICATE, {"code": text})
        assert app.post(AUTHENTICATE, {"code": code}).status == 200
        server.clock.forward(61)
    assert owner.factors()[1].data["used"] == [0, 1, 2]


def test_wrong_codes_are_limited_for_the_address(server_with):
    """Whoever tries many accounts is stopped, too."""
    server = server_with(account_rate_limits='{"login": null, "second_factor": "4/m/ip"}')
    answers = []
    for _ in range(5):
        owner, app = new_owner(server, totp=True), server.app()
        owner.sign_in(app)
        answers.append(app.post(AUTHENTICATE, {"code": WRONG}).errors)

    assert answers[:4] == [[("incorrect_code", "code")]] * 4
    assert answers[4] == [("too_many_login_attempts", "code")]
    assert owner.steps() == []


def test_kinds_that_are_switched_off_do_not_count(server_with):
    """They are not asked for, not offered as a proof, and their codes are wrong."""
    server = server_with(mfa_supported_types="webauthn,recovery_codes")
    app = server.app()
    owner = new_owner(server, totp=True)
    assert owner.sign_in(app).status == 200
    assert app.post(REAUTHENTICATE, {"code": owner.code()}).errors == [("incorrect_code", "code")]
    both, other = new_owner(server, totp=True, key=True, codes=True), server.app()

    [waiting] = [flow for flow in both.sign_in(other).data["flows"] if flow.get("is_pending")]

    assert waiting["types"] == ["recovery_codes", "webauthn"]
    assert other.post(AUTHENTICATE, {"code": both.code()}).errors == [("incorrect_code", "code")]
    assert both.steps() == []
    assert other.post(AUTHENTICATE, {"code": both.codes[0]}).status == 200


def test_without_second_factors_nothing_of_them_is_there(server_with):
    """The paths are 404, and the password signs in."""
    server = server_with(mfa_supported_types=",")
    owner, app = new_owner(server, totp=True), server.app()

    assert owner.sign_in(app).status == 200
    for path in (AUTHENTICATE, REAUTHENTICATE, TRUST):
        assert app.post(path, {}).status == 404
    assert app.get("/account/authenticators").status == 404
    assert owner.steps() == [["password"]]


def test_a_browser_needs_the_token_of_its_pages(server):
    """Another page cannot complete a login, prove something or trust a browser."""
    owner, browser = new_owner(server, totp=True), server.browser()
    owner.sign_in(browser)

    for path in (AUTHENTICATE, REAUTHENTICATE, TRUST):
        answer = browser.post(path, {"code": owner.code()}, headers={"X-CSRFToken": "x" * 32})
        assert answer.status == 403, path
    assert owner.waits() == ["mfa_authenticate"]


def test_plugins_hear_of_proofs_and_failures(server):
    """Each event says whose and of what kind, and holds no code."""
    owner, services = new_owner(server, totp=True), server.host.sign_in
    visit, told = heard(server)
    services.password_login.sign_in(visit, {"username": owner.name, "password": PASSWORD})
    with pytest.raises(Exception, match="code"):
        services.second_factors.sign_in_by_code(visit, WRONG)
    services.second_factors.sign_in_by_code(visit, owner.code())
    services.second_factors.decide_trust(visit, trusted=False)
    services.second_factors.prove_by_code(visit, owner.next_code())

    where = {"address": "192.0.2.1", "user_agent": "test"}
    assert told == [
        ("user.login_failed", where | {"method": "mfa"}, owner.id),
        ("user.logged_in", where | {"methods": ["password", "mfa"]}, owner.id),
        (
            "user.reauthenticated",
            where | {"method": "mfa", "type": "totp", "authenticator": owner.factors()[0].id},
            owner.id,
        ),
    ]
