"""Accounts at providers that belong to accounts here."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from host.accounts.changes import insert_account
from host.accounts.problems import RefusedValuesError
from host.accounts.providers.accounts import (
    PROVIDER_ACCOUNTS,
    ProviderAccount,
    connect,
    disconnect_problems,
    find,
    list_of,
    remove,
    touch,
)
from host.accounts.providers.identity import Identity, identity_of
from host.accounts.providers.settings import read_providers
from host.config.accounts import AccountOptions
from host.storage.engine import Database
from tests.providers.conftest import Clock

ADA = Identity(provider="my", uid="1", email="ada@example.org", display="ada", extra={"groups": ["a"]})


def new_user(database: Database, name: str) -> int:
    with database.write() as session:
        person = {"username": name, "username_folded": name}
        return insert_account(session.connection(), person, {}, None).id


def count(database: Database) -> int:
    with database.read() as connection:
        return connection.execute(select(func.count()).select_from(PROVIDER_ACCOUNTS)).scalar_one()


def test_somebody_at_a_provider_is_one_account_here(database: Database, clock: Clock):
    """Connected once, found again, brought up to date at each login, gone once."""
    ada, bob = new_user(database, "ada"), new_user(database, "bob")
    with database.write() as session:
        connection = session.connection()
        account, new = connect(connection, ada, ADA, clock())
        assert new
        other, _ = connect(connection, ada, replace(ADA, provider="github"), clock())
        assert (find(connection, "my", "1"), list_of(connection, ada)) == (account, [account, other])
        assert (find(connection, "my", "2"), list_of(connection, bob)) == (None, [])

    clock.pass_(60)
    renamed = replace(ADA, display="countess", extra={"groups": []})
    with database.write() as session:
        connection = session.connection()
        again, new = connect(connection, ada, renamed, clock())
        assert (new, again) == (False, replace(account, display="countess", extra={"groups": []}))
        touch(connection, account.id, ADA, clock())
    with database.write() as session:
        connection = session.connection()
        seen = find(connection, "my", "1")
        assert seen == replace(account, last_login=clock())
        assert seen.created == clock() - timedelta(seconds=60)
        assert remove(connection, account.id)
        assert not remove(connection, account.id)
        assert list_of(connection, ada) == [other]


def test_somebody_elses_is_refused(sqlite_database: Database, clock: Clock):
    """It stays where it was."""
    ada, bob = new_user(sqlite_database, "ada"), new_user(sqlite_database, "bob")
    with sqlite_database.write() as session:
        account, _ = connect(session.connection(), ada, ADA, clock())

    with pytest.raises(RefusedValuesError) as caught, sqlite_database.write() as session:
        connect(session.connection(), bob, ADA, clock())

    assert caught.value.problems["non_field_errors"][0].code == "connected_other"
    with sqlite_database.read() as connection:
        assert (find(connection, "my", "1"), count(sqlite_database)) == (account, 1)


def test_of_two_who_connect_the_same_at_a_time_one_wins(database: Database, clock: Clock):
    """The others are told so, as if they had come later."""
    users = [new_user(database, f"user{number}") for number in range(4)]
    barrier = threading.Barrier(len(users))
    results: list[object] = []

    def join(user_id: int) -> None:
        barrier.wait()
        try:
            with database.write() as session:
                results.append(connect(session.connection(), user_id, ADA, clock())[1])
        except RefusedValuesError as error:
            results.append(error.problems["non_field_errors"][0].code)

    threads = [threading.Thread(target=join, args=[user_id]) for user_id in users]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(map(str, results)) == ["True", *["connected_other"] * 3]
    assert count(database) == 1


@pytest.mark.parametrize(
    ("facts", "mandatory", "member", "code"),
    [
        ({"others": 0, "has_password": False, "has_verified_email": True}, False, "account", "no_password"),
        ({"others": 0, "has_password": False, "has_verified_email": False}, True, "account", "no_password"),
        ({"others": 0, "has_password": True, "has_verified_email": False}, True, "account", "no_verified_email"),
        ({"others": 0, "has_password": True, "has_verified_email": False}, False, None, None),
        ({"others": 0, "has_password": True, "has_verified_email": True}, True, None, None),
        ({"others": 1, "has_password": False, "has_verified_email": False}, True, None, None),
    ],
)
def test_the_last_way_in_cannot_be_disconnected(clock: Clock, facts, mandatory, member, code):
    """Whoever could not sign in any more is told what to do first."""
    account = ProviderAccount(
        id=1, user_id=1, provider="my", uid="1", display="", extra={}, created=clock(), last_login=None
    )
    options = AccountOptions.model_validate({"account_email_verification": "mandatory" if mandatory else "optional"})

    problems = disconnect_problems(account, **facts, options=options)

    assert {name: found[0].code for name, found in problems.items()} == ({member: code} if member else {})
    (unknown,) = disconnect_problems(None, **facts, options=options)["non_field_errors"]
    assert unknown.code == "account_not_found"


def test_what_a_provider_tells_can_be_stored(database: Database, clock: Clock):
    """Strange texts, kinds and sizes lead to an account like any other."""
    (settings,) = read_providers(
        {"forge": {"type": "oauth2", "client_id": "c"} | dict.fromkeys(URLS, "https://forge.example.org/x")}
    )
    claims = {
        "id": 2**70,
        "login": "a b<script>",
        "nickname": "ada\u202e",
        "email": "not an address\x00",
        "email_verified": "true",
        "name": "\x00\ud800" + "N" * 1000 + "\n\u2028 L",
        "picture": "p" * 5000,
        "groups": ["a\x00", 5, {"x": 1}, *["g"] * 500],
        "roles": {"nested": {"access_token": "hush"}},
        "zoneinfo": float("nan"),
        "access_token": "hush",
    }
    identity = identity_of(settings, claims)
    user_id = new_user(database, "ada")
    with database.write() as session:
        connect(session.connection(), user_id, identity, clock())

    with database.read() as connection:
        account = find(connection, "forge", str(2**70))
    assert account is not None
    assert (identity.email, identity.email_verified, identity.username) == ("", False, "")
    assert (len(identity.first_name), len(account.display)) == (150, 150)
    assert (len(str(account.extra["picture"])), account.extra["groups"]) == (1000, ["a", *["g"] * 97])
    assert not {"roles", "zoneinfo", "id", "access_token"} & account.extra.keys()


URLS = ("authorize_url", "token_url", "userinfo_url")
