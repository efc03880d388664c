"""Recovery codes of the own account."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from host.mail.log import MAIL
from tests.auth.owned_factors import heard, new_owner
from tests.auth.server import PASSWORD

CODES = "/account/authenticators/recovery-codes"
AUTHENTICATE, REAUTHENTICATE, TRUST = "/auth/2fa/authenticate", "/auth/2fa/reauthenticate", "/auth/2fa/trust"


def _signed_in(server, client, **factors):
    """Return an account with an app that is signed in; its proof is fresh."""
    owner = new_owner(server, totp=True, **factors)
    owner.sign_in(client)
    answer = client.post(AUTHENTICATE, {"code": owner.code()})
    if client.kind == "browser":
        answer = client.post(TRUST, {})
    assert answer.status == 200
    return owner


def test_the_codes_can_be_seen_again_and_again(server, client):
    """With how many there are, until they are used."""
    owner = _signed_in(server, client, codes=True)

    first, second = client.get(CODES), client.get(CODES)

    row = owner.factors()[1]
    assert first.body == second.body
    assert first.body == {
        "status": 200,
        "data": {
            "type": "recovery_codes",
            "created_at": row.created.timestamp(),
            "last_used_at": None,
            "total_code_count": 10,
            "unused_code_count": 10,
            "unused_codes": owner.codes,
        },
    }
    assert len({*owner.codes}) == 10
    assert all(len(code) == 8 and code.isdigit() for code in owner.codes)


def test_a_used_code_is_shown_no_more(server, client):
    """The count goes down."""
    owner = _signed_in(server, client, codes=True)
    client.post(REAUTHENTICATE, {"code": owner.codes[4]})

    data = client.get(CODES).data

    assert data["unused_codes"] == owner.codes[:4] + owner.codes[5:]
    assert (data["total_code_count"], data["unused_code_count"]) == (10, 9)
    assert data["last_used_at"] == owner.factors()[1].last_used.timestamp()


@pytest.mark.parametrize("proof", ["fresh", "stale"])
def test_where_there_are_no_codes_there_is_nothing_to_see(server, client, proof):
    """A bare 404, also for those whose proof is too old."""
    owner = _signed_in(server, client)
    server.clock.forward(301 if proof == "stale" else 0)

    assert client.get(CODES).body == {"status": 404}
    assert owner.kinds() == ["totp"]


def test_new_codes_void_the_former_ones(server, client):
    """The answer holds them; people are told by mail, without the codes."""
    owner = _signed_in(server, client, codes=True, email=True)

    answer = client.post(CODES)

    assert (answer.status, set(answer.body)) == (200, {"status", "data"})
    codes = answer.data["unused_codes"]
    assert (answer.data["type"], answer.data["unused_code_count"], len(codes)) == ("recovery_codes", 10, 10)
    assert not {*codes} & {*owner.codes}
    assert client.post(REAUTHENTICATE, {"code": owner.codes[0]}).errors == [("incorrect_code", "code")]
    assert client.post(REAUTHENTICATE, {"code": codes[0]}).status == 200
    assert owner.kinds() == ["totp", "recovery_codes"]
    assert owner.mails() == ["recovery_codes_made"]
    [mail] = server.rows(select(MAIL.c.body).where(MAIL.c.to == owner.email))
    assert not any(code in mail.body for code in codes)


def test_the_first_codes_are_made_alike(server, client):
    """An account with an app, or with a key alone, can have them."""
    owner = _signed_in(server, client)

    answer = client.post(CODES)

    assert answer.status == 200
    assert client.get(CODES).data == answer.data
    assert owner.kinds() == ["totp", "recovery_codes"]


@pytest.mark.parametrize("proof", ["fresh", "stale"])
def test_codes_need_something_that_they_stand_in_for(server, client, proof):
    """The refusal is of the whole, and comes before the question for a proof."""
    owner = new_owner(server)
    owner.sign_in(client)
    server.clock.forward(301 if proof == "stale" else 0)

    answer = client.post(CODES)

    assert (answer.status, answer.errors) == (400, [("cannot_generate_recovery_codes", None)])
    assert owner.factors() == []


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_codes_need_a_fresh_proof(server, client, method):
    """401 with the ways to prove it; one of the codes serves, and then is spent."""
    owner = _signed_in(server, client, codes=True)
    server.clock.forward(301)

    answer = client.call(method, CODES)

    assert answer.status == 401
    assert answer.meta == {"is_authenticated": True}
    assert answer.flows == ["reauthenticate", "mfa_reauthenticate"]
    assert "unused_codes" not in str(answer.body)
    assert owner.factors()[1].data["used"] == []
    assert client.post(REAUTHENTICATE, {"code": owner.codes[0]}).status == 200
    assert client.call(method, CODES).status == 200


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_strangers_see_no_codes(server, client, method):
    """Nor does a login that waits."""
    owner = new_owner(server, totp=True, codes=True)
    before = owner.factors()
    stranger = client.call(method, CODES)
    owner.sign_in(client)
    waiting = client.call(method, CODES)

    assert (stranger.status, waiting.status) == (401, 401)
    assert waiting.pending == ["mfa_authenticate"]
    assert owner.factors() == before


def test_each_account_has_its_own_codes(server, client):
    """Nobody sees or renews those of somebody else."""
    other = new_owner(server, totp=True, codes=True)
    before = other.factors()
    owner = _signed_in(server, client, codes=True)

    assert client.get(CODES).data["unused_codes"] == owner.codes != other.codes
    client.post(CODES)
    assert other.factors() == before


def test_number_and_length_of_codes_can_be_set(server_with):
    """For the sets that are made from then on."""
    server = server_with(mfa_recovery_code_count="3", mfa_recovery_code_digits="12")
    app = server.app()
    owner = _signed_in(server, app)

    codes = app.post(CODES).data["unused_codes"]

    assert [len(code) for code in codes] == [12] * 3
    assert owner.factors()[1].data["count"] == 3


def test_nothing_stored_tells_the_codes(server):
    """What is in the database is sealed."""
    owner, app = new_owner(server, totp=True, codes=True), server.app()

    stored = str(owner.factors())

    assert not any(code in stored for code in owner.codes)
    assert owner.secret not in stored
    assert owner.sign_in(app).pending == ["mfa_authenticate"]


def test_plugins_hear_of_new_codes(server):
    """The event holds none of them."""
    owner, services = new_owner(server), server.host.sign_in
    visit, told = heard(server)
    services.password_login.sign_in(visit, {"username": owner.name, "password": PASSWORD})
    secret = services.own_factors.new_totp_secret(visit)["secret"]
    services.own_factors.add_totp(visit, owner.code(secret))
    told.clear()

    services.own_factors.renew_recovery_codes(visit)

    data = {"address": "192.0.2.1", "user_agent": "test", "automatic": False}
    assert told == [("user.recovery_codes_made", data | {"authenticator": owner.factors()[-1].id}, owner.id)]
