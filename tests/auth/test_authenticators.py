"""The list of second factors, and the authenticator app."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from sqlalchemy import select, update

from host.accounts.emails.table import EMAILS
from host.accounts.sessions.table import SESSIONS
from tests.auth.owned_factors import WRONG, heard, new_owner
from tests.auth.server import PASSWORD

LIST, TOTP = "/account/authenticators", "/account/authenticators/totp"
AUTHENTICATE, REAUTHENTICATE = "/auth/2fa/authenticate", "/auth/2fa/reauthenticate"
_OPERATIONS = [("GET", LIST), ("GET", TOTP), ("POST", TOTP), ("DELETE", TOTP)]


def _signed_in(server, client, **factors):
    """Return an account that is signed in; its proof is fresh."""
    owner = new_owner(server, **factors)
    answer = owner.sign_in(client)
    if factors.get("totp"):
        answer = client.post(AUTHENTICATE, {"code": owner.code()})
        if client.kind == "browser":
            answer = client.post("/auth/2fa/trust", {})
    assert answer.status == 200
    return owner


def _unverify(server, owner):
    with server.host.database.write() as session:
        session.connection().execute(update(EMAILS).where(EMAILS.c.user_id == owner.id).values(verified=False))


def _stale(server):
    """Let the last proof grow too old."""
    server.clock.forward(301)


def test_whoever_owns_nothing_has_an_empty_list(server, client):
    """It is no error."""
    owner = _signed_in(server, client)

    answer = client.get(LIST)

    assert answer.body == {"status": 200, "data": []}
    assert owner.factors() == []


def test_the_list_shows_what_the_account_owns(server, client):
    """In the order in which it was made, each with the members of its kind, and without anything secret."""
    new_owner(server, totp=True, key=True, codes=True)
    owner = _signed_in(server, client, totp=True, key=True, codes=True)

    answer = client.get(LIST)

    app, key, codes = owner.factors()
    assert (answer.status, set(answer.body)) == (200, {"status", "data"})
    assert answer.data == [
        {"type": "totp", "created_at": app.created.timestamp(), "last_used_at": app.last_used.timestamp()},
        {
            "type": "webauthn",
            "created_at": key.created.timestamp(),
            "last_used_at": None,
            "id": key.id,
            "name": "Master key",
            "is_passwordless": False,
        },
        {
            "type": "recovery_codes",
            "created_at": codes.created.timestamp(),
            "last_used_at": None,
            "total_code_count": 10,
            "unused_code_count": 10,
        },
    ]


def test_strangers_are_told_to_sign_in(server, client):
    """401 with the flows, before the input is looked at; also while a login waits."""
    owner = new_owner(server, totp=True)
    for method, path in _OPERATIONS:
        answer = client.call(method, path)
        assert (answer.status, answer.meta) == (401, {"is_authenticated": False}), (method, path)
        assert "login" in answer.flows
    owner.sign_in(client)
    for method, path in _OPERATIONS:
        assert client.call(method, path).pending == ["mfa_authenticate"], (method, path)
    assert owner.kinds() == ["totp"]


def test_an_app_whose_session_is_over_is_told_so(server):
    """410, with what it may do instead."""
    owner, app = new_owner(server), server.app()
    for method, path in _OPERATIONS:
        app.session_key = "0" * 32
        answer = app.call(method, path)
        assert (answer.status, answer.meta) == (410, {"is_authenticated": None}), (method, path)
        assert "login" in answer.flows
    assert owner.factors() == []


def test_without_an_app_there_is_a_new_secret_each_time(server, client):
    """404 with what the app reads from a picture; the older secret is void, and none is stored in the open."""
    owner = _signed_in(server, client, email=True)

    first, second = client.get(TOTP), client.get(TOTP)

    assert (first.status, set(first.body)) == (404, {"status", "meta"})
    assert set(first.meta) == {"secret", "totp_url"}
    secret, url = second.meta["secret"], urlsplit(second.meta["totp_url"])
    assert secret != first.meta["secret"]
    assert len(secret) == 32
    assert (url.scheme, url.netloc, url.path) == ("otpauth", "totp", f"/{owner.email}")
    assert parse_qs(url.query) == {"secret": [secret], "issuer": [server.host.sign_in.area.instance]}
    assert client.post(TOTP, {"code": owner.code(first.meta["secret"])}).errors == [("incorrect_code", "code")]
    [row] = server.rows(select(SESSIONS.c.data).where(SESSIONS.c.user_id == owner.id))
    assert secret not in str(row.data)
    assert owner.factors() == []


def test_the_first_code_adds_the_app(server, client):
    """Recovery codes are made besides, once; people are told by mail, and the same code signs in once more."""
    owner = _signed_in(server, client, email=True)
    secret = client.get(TOTP).meta["secret"]

    answer = client.post(TOTP, {"code": f" {owner.code(secret)} "})

    app, codes = owner.factors()
    shown = {"type": "totp", "created_at": app.created.timestamp(), "last_used_at": None}
    assert answer.body == {"status": 200, "data": shown, "meta": {"recovery_codes_generated": True}}
    assert (app.type, codes.type) == ("totp", "recovery_codes")
    assert secret not in str(app.data)
    assert owner.mails() == ["factor_added"]
    assert client.get(TOTP).body == {"status": 200, "data": shown}
    other = server.app()
    owner.sign_in(other)
    assert other.post(AUTHENTICATE, {"code": owner.code(secret)}).status == 200


def test_the_secret_serves_once(server, client):
    """After it was removed, the app has to learn another one."""
    owner = _signed_in(server, client)
    secret = client.get(TOTP).meta["secret"]
    client.post(TOTP, {"code": owner.code(secret)})
    client.delete(TOTP)

    assert client.post(TOTP, {"code": owner.code(secret)}).errors == [("incorrect_code", "code")]
    assert owner.factors() == []


def test_recovery_codes_that_there_are_stay(server, client):
    """The answer says that none were made."""
    owner = _signed_in(server, client, key=False)
    with server.host.database.write() as session:
        factors = server.host.sign_in.factors
        factors.recovery_codes.add(session.connection(), owner.id)
    [before] = owner.factors()

    answer = client.post(TOTP, {"code": owner.code(client.get(TOTP).meta["secret"])})

    assert answer.meta == {"recovery_codes_generated": False}
    assert owner.factors()[0] == before


def test_a_wrong_first_code_adds_nothing(server, client):
    """The refusal names the member, and the secret stays."""
    owner = _signed_in(server, client)
    secret = client.get(TOTP).meta["secret"]

    for body in ({}, {"code": " "}):
        answer = client.post(TOTP, body)
        assert (answer.status, answer.errors) == (400, [("required", "code")]), body
    for code in (WRONG, [1], "\x00"):
        answer = client.post(TOTP, {"code": code})
        assert (answer.status, answer.errors) == (400, [("incorrect_code", "code")]), code

    assert owner.factors() == []
    assert client.post(TOTP, {"code": owner.code(secret)}).status == 200


def test_without_a_secret_every_code_is_wrong(server, client):
    """The secret belongs to the session that was given it."""
    owner, other = _signed_in(server, client), server.client(client.kind)
    owner.sign_in(other)
    secret = other.get(TOTP).meta["secret"]

    assert client.post(TOTP, {"code": owner.code(secret)}).errors == [("incorrect_code", "code")]
    assert owner.factors() == []


def test_a_second_app_is_refused(server, client):
    """Whether one asked before the first was added, or never."""
    owner, late = _signed_in(server, client), server.client(client.kind)
    owner.sign_in(late)
    secret = late.get(TOTP).meta["secret"]
    client.post(TOTP, {"code": owner.code(client.get(TOTP).meta["secret"])})
    before = owner.factors()

    for body in ({"code": owner.code(secret)}, {}):
        answer = late.post(TOTP, body)
        assert (answer.status, answer.errors) == (400, [("invalid", "code")])
    assert owner.factors() == before


def test_an_unverified_address_forbids_an_app(server, client):
    """409 with the reason, for the secret as for the code, which may be right."""
    owner = _signed_in(server, client, email=True)
    secret = client.get(TOTP).meta["secret"]
    _unverify(server, owner)

    for answer in (client.get(TOTP), client.post(TOTP, {"code": owner.code(secret)}), client.post(TOTP, {})):
        assert (answer.status, set(answer.body)) == (409, {"status", "errors"})
        assert answer.errors == [("unverified_email", None)]
    assert owner.factors() == []


def test_an_app_needs_a_fresh_proof(server, client):
    """401 once the code proved right; after a proof the same secret serves."""
    owner = _signed_in(server, client)
    secret = client.get(TOTP).meta["secret"]
    _stale(server)

    wrong = client.post(TOTP, {"code": WRONG})
    refused = client.post(TOTP, {"code": owner.code(secret)})

    assert wrong.errors == [("incorrect_code", "code")]
    assert refused.status == 401
    assert refused.meta == {"is_authenticated": True}
    assert refused.data["user"]["id"] == owner.id
    assert refused.data["flows"] == [{"id": "reauthenticate"}]
    assert owner.factors() == []
    client.post("/auth/reauthenticate", {"password": PASSWORD})
    assert client.post(TOTP, {"code": owner.code(secret)}).status == 200
    assert owner.kinds() == ["totp", "recovery_codes"]


def test_the_app_can_be_removed(server, client):
    """Recovery codes go with the last factor, and the password alone signs in again."""
    owner = _signed_in(server, client, totp=True, codes=True, email=True)

    answer = client.delete(TOTP)

    assert answer.body == {"status": 200}
    assert owner.factors() == []
    assert owner.mails() == ["factor_removed"]
    assert owner.sign_in(server.client(client.kind)).status == 200


def test_recovery_codes_stay_while_another_factor_does(server, client):
    """A key needs them, too."""
    owner = _signed_in(server, client, totp=True, key=True, codes=True)

    assert client.delete(TOTP).status == 200
    assert owner.kinds() == ["webauthn", "recovery_codes"]


def test_removing_the_app_needs_a_fresh_proof(server, client):
    """401 names both ways to prove it; a code of the app serves."""
    owner = _signed_in(server, client, totp=True, codes=True)
    _stale(server)

    answer = client.delete(TOTP)

    assert answer.status == 401
    assert answer.meta == {"is_authenticated": True}
    assert answer.data["flows"] == [
        {"id": "reauthenticate"},
        {"id": "mfa_reauthenticate", "types": ["recovery_codes", "totp"]},
    ]
    assert owner.kinds() == ["totp", "recovery_codes"]
    assert client.post(REAUTHENTICATE, {"code": owner.code()}).status == 200
    assert client.delete(TOTP).status == 200
    assert owner.factors() == []


def test_without_an_app_there_is_nothing_to_remove(server, client):
    """200, without a proof, a mail or any change."""
    owner = _signed_in(server, client, key=False, email=True)
    _stale(server)

    answer = client.delete(TOTP)

    assert answer.body == {"status": 200}
    assert owner.mails() == []


def test_notifications_can_be_switched_off(server_with):
    """Then nobody is mailed."""
    server = server_with(account_email_notifications="false")
    app = server.app()
    owner = _signed_in(server, app, email=True)
    app.post(TOTP, {"code": owner.code(app.get(TOTP).meta["secret"])})
    app.post("/account/authenticators/recovery-codes")
    app.delete(TOTP)

    assert owner.factors() == []
    assert owner.mails() == []


def test_the_mail_says_when_and_from_where(server, client):
    """So that somebody else's doing is noticed."""
    owner = _signed_in(server, client, email=True)
    client.post(TOTP, {"code": owner.code(client.get(TOTP).meta["secret"])})

    text = server.mailbox.text(owner.email)

    assert "authenticator app" in text
    assert "127.0.0.1" in text
    assert "httpx" in text
    assert owner.mails() == ["factor_added"]


def test_apps_can_be_switched_off(server_with):
    """The path is not there, the list leaves them out, and recovery codes are not made where those are off."""
    server = server_with(mfa_supported_types="webauthn")
    owner, app = new_owner(server, totp=True), server.app()
    assert owner.sign_in(app).status == 200

    assert [app.call(method, TOTP).status for method in ("GET", "POST", "DELETE")] == [404] * 3
    assert app.get("/account/authenticators/recovery-codes").status == 404
    assert app.get(LIST).data == []
    assert owner.kinds() == ["totp"]


def test_recovery_codes_that_are_switched_off_are_not_made(server_with):
    """An app comes alone."""
    server = server_with(mfa_supported_types="totp", mfa_totp_issuer="Acme & Sons", mfa_totp_digits="8")
    app = server.app()
    owner = _signed_in(server, app)
    meta = app.get(TOTP).meta

    query = parse_qs(urlsplit(meta["totp_url"]).query)
    code = owner.code(meta["secret"], digits=8)

    assert query == {"secret": [meta["secret"]], "issuer": ["Acme & Sons"], "digits": ["8"]}
    assert app.post(TOTP, {"code": code}).meta == {"recovery_codes_generated": False}
    assert owner.kinds() == ["totp"]


def test_other_methods_are_refused(server, client):
    """405 names those that there are."""
    owner = _signed_in(server, client)

    assert client.post(LIST).response.headers["allow"] == "GET, HEAD, OPTIONS"
    assert client.put(TOTP).status == 405
    assert owner.factors() == []


def test_plugins_hear_of_apps_that_come_and_go(server):
    """Each event says whose and which, and holds no secret."""
    owner, services = new_owner(server), server.host.sign_in
    visit, told = heard(server)
    services.password_login.sign_in(visit, {"username": owner.name, "password": PASSWORD})
    secret = services.own_factors.new_totp_secret(visit)["secret"]
    services.own_factors.add_totp(visit, owner.code(secret))
    app, codes = owner.factors()
    services.own_factors.remove_totp(visit)

    where = {"address": "192.0.2.1", "user_agent": "test"}
    gone = [("totp", app.id), ("recovery_codes", codes.id)]
    assert told[1:] == [
        ("user.factor_added", where | {"type": "totp", "authenticator": app.id}, owner.id),
        ("user.recovery_codes_made", where | {"authenticator": codes.id, "automatic": True}, owner.id),
        *(("user.factor_removed", where | {"type": kind, "authenticator": pk}, owner.id) for kind, pk in gone),
    ]
