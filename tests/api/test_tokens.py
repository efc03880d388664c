"""Tokens over the interface."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from host.accounts.digests import token_digest
from host.accounts.tokens import TOKENS
from host.storage.tables import now
from tests.accounts.conftest import PASSWORD
from tests.api.accounts_service import AccountsService

PATH = "/api/user/tokens/"
MEMBERS = {
    "created",
    "expiry",
    "id",
    "last_seen",
    "name",
    "token",
    "active",
    "revoked",
    "user",
    "user_detail",
    "in_use",
}


def test_a_token_is_made_used_and_revoked(accounts: AccountsService):
    """Its text is shown once and opens the door until it is revoked; the record stays, and events tell of it."""
    client, pk = accounts.client("user"), accounts.pk["user"]

    made = client.post(PATH, json={"name": " my script ", "expiry": "2999-12-31", "revoked": True, "last_seen": "x"})
    record = made.json()
    text = record["token"]
    program = accounts.client_with(text)

    assert made.status_code == 201
    assert set(record) == MEMBERS
    assert record.items() >= {"name": "my-script", "expiry": "2999-12-31", "user": pk, "revoked": False}.items()
    assert accounts.rows("account_token", "digest", id=record["id"]) == [token_digest(text)]
    shown = program.get(f"{PATH}{record['id']}/").json()
    assert shown["token"] != text
    assert "*" * 20 in shown["token"]
    assert (shown["in_use"], shown["active"]) == (True, True)
    assert text not in program.get(PATH).text

    assert client.delete(f"{PATH}{record['id']}/").status_code == 204
    assert client.delete(f"{PATH}{record['id']}/").status_code == 204
    assert program.get(PATH).status_code == 401
    after = client.get(f"{PATH}{record['id']}/").json()
    assert (after["revoked"], after["active"], after["in_use"]) == (True, False, False)
    assert accounts.stored("account_token", record["id"], "revoked") is True
    about = {"token": record["id"], "name": "my-script", "user": pk}
    assert accounts.events == [
        ("user.token_made", {**about, "expiry": "2999-12-31"}, pk),
        ("user.token_revoked", about, pk),
    ]


@pytest.mark.parametrize(
    ("sent", "member"),
    [
        ({"name": "x" * 101}, "name"),
        ({"name": "<b>x</b>"}, "name"),
        ({"name": None}, "name"),
        ({"name": ["x"]}, "name"),
        ({"name": "a\x00b"}, "name"),
        ({"expiry": "2020-01-01"}, "expiry"),
        ({"expiry": "0001-01-01"}, "expiry"),
        ({"expiry": "tomorrow"}, "expiry"),
        ({"expiry": None}, "expiry"),
        ({"expiry": 20300101}, "expiry"),
        ({"user": 999}, "user"),
        ({"user": 2**63 - 1}, "user"),
        ({"user": 2**63}, "user"),
        ({"user": "x"}, "user"),
        ({"user": None}, "user"),
    ],
)
def test_wrong_members_are_refused(shared_accounts: AccountsService, sent: dict[str, Any], member: str):
    """The member is named and no token is made."""
    answer = shared_accounts.client("superuser").post(PATH, json=sent)

    assert (answer.status_code, list(answer.json())) == (400, [member])
    assert len(shared_accounts.rows("account_token", "id")) == 3


@pytest.mark.parametrize("caller", ["user", "staff"])
def test_tokens_of_others_are_out_of_reach(accounts: AccountsService, caller: str):
    """Nobody but a superuser makes, sees or revokes them, by whatever way they ask."""
    client, boss = accounts.client(caller), accounts.pk["superuser"]
    theirs = accounts.rows("account_token", "id", user_id=boss)[0]

    assert client.post(PATH, json={"user": boss}).status_code == 403
    assert client.get(f"{PATH}{theirs}/").status_code == 404
    assert client.delete(f"{PATH}{theirs}/").status_code == 404
    for query in ("", "?all_users=true", f"?all_users=true&user={boss}", "?search=tests", "?limit=5&all_users=true"):
        found = client.get(f"{PATH}{query}").json()
        results = found["results"] if isinstance(found, dict) else found
        assert all(token["user"] == accounts.pk[caller] for token in results)

    assert accounts.stored("account_token", theirs, "revoked") is False
    assert len(accounts.rows("account_token", "id")) == 3
    assert accounts.events == []


def test_a_superuser_manages_all_tokens(accounts_on_both: AccountsService):
    """Own ones by default, everybody's when asked; filters, order, search and pages work together."""
    accounts = accounts_on_both
    client = accounts.client("superuser")
    made = client.post(PATH, json={"user": accounts.pk["user"], "name": "lent"}).json()
    client.delete(f"{PATH}{made['id']}/")

    def names(query: str) -> list[tuple[str, str]]:
        return [(token["user_detail"]["username"], token["name"]) for token in client.get(f"{PATH}?{query}").json()]

    assert made["user_detail"]["username"] == "user"
    assert names("") == [("superuser", "tests")]
    assert names("all_users=true&ordering=user") == [
        ("user", "tests"),
        ("user", "lent"),
        ("staff", "tests"),
        ("superuser", "tests"),
    ]
    assert names("all_users=true&revoked=true") == names("all_users=1&search=LEN") == [("user", "lent")]
    assert names(f"all_users=true&revoked=false&user={accounts.pk['user']}") == [("user", "tests")]
    page = client.get(f"{PATH}?all_users=true&limit=1&ordering=-name,user").json()
    assert (page["count"], page["results"][0]["name"]) == (4, "tests")
    for wrong in ("user=999", f"user={2**63 - 1}", "user=x"):
        assert client.get(f"{PATH}?all_users=true&{wrong}").status_code == 400
    assert accounts.stored("account_token", made["id"], "revoked") is True


def test_an_expired_token_is_not_active(accounts: AccountsService):
    """It opens nothing, and its record says so."""
    text, record = accounts.tokens.issue(accounts.pk["user"], "old")
    with accounts.database.write() as session:
        yesterday = now().date() - timedelta(days=1)
        session.connection().execute(update(TOKENS).where(TOKENS.c.id == record.id).values(expiry=yesterday))

    shown = accounts.client("user").get(f"{PATH}{record.id}/").json()

    assert (shown["active"], shown["revoked"], shown["expiry"]) == (False, False, yesterday.isoformat())
    assert accounts.client_with(text).get(PATH).status_code == 401
    assert accounts.stored("account_token", record.id, "revoked") is False


def test_the_use_of_a_token_is_told(accounts: AccountsService):
    """With its moment, once in five minutes; who signs in by password uses none."""
    client, pk = accounts.client("user"), accounts.pk["user"]
    token = accounts.rows("account_token", "id", user_id=pk)[0]

    basic = accounts.client("anonymous").get(PATH, auth=("user", PASSWORD)).json()
    accounts.sightings.flush()
    assert [record["in_use"] for record in basic] == [False]
    assert accounts.events == []
    for _ in range(3):
        client.get(PATH)
        accounts.sightings.flush()

    assert client.get(f"{PATH}{token}/").json()["last_seen"] is not None
    assert accounts.events == [("user.token_used", {"token": token, "name": "tests", "user": pk}, pk)]
    assert accounts.stored("account_token", token, "last_seen") is not None
