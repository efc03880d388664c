"""Accounts and tokens on the command line."""

from __future__ import annotations

import json

import pytest

from host.accounts.emails import addresses
from host.config import Config
from host.server import Host

PASSWORD = "correct horse battery staple"
ADA = ("user", "create", "ada", "--email", "ada@example.org")


@pytest.fixture
def host(home):
    """Give the assembled host of this home; nothing is opened."""
    host = Host(Config.load())
    yield host
    host.close()


@pytest.mark.parametrize(
    ("options", "kind", "staff", "superuser"),
    [
        pytest.param([], "user", False, False, id="user"),
        pytest.param(["--staff"], "member of staff", True, False, id="staff"),
        pytest.param(["--superuser", "--verified"], "superuser", True, True, id="superuser"),
    ],
)
def test_an_account_is_created(options, kind, staff, superuser, run, host):
    """The account has the flags that were asked for, and the password signs in."""
    answer = run(*ADA, "--password", PASSWORD, *options).ok()

    user = host.authenticate.by_password("ada", PASSWORD).user
    assert answer.out == f"Created the {kind} ada.\n"
    assert (user.email, user.is_staff, user.is_superuser) == ("ada@example.org", staff, superuser)
    with host.database.read() as connection:
        (address,) = addresses.list_of(connection, user.id)
    assert address.show() == {"email": "ada@example.org", "verified": "--verified" in options, "primary": True}


def test_the_password_may_come_from_the_environment(run, host, monkeypatch):
    """A process list shows arguments; the environment stays private. The answer shows neither."""
    monkeypatch.setenv("PLUGYARD_PASSWORD", PASSWORD)

    answer = run(*ADA, "--json").ok()

    assert answer.document["username"] == "ada"
    assert PASSWORD not in answer.out
    assert host.authenticate.by_password("ada", PASSWORD).user.username == "ada"


def test_without_a_password_nothing_is_created(run, host):
    """Where nobody can be asked, the ways to give one are named."""
    answer = run(*ADA)

    assert answer.code == 1
    assert "PLUGYARD_PASSWORD" in answer.err
    assert host.directory.list()[0] == []


def test_refused_values_are_named(run, home):
    """Each value has its reason."""
    answer = run("user", "create", "ada", "--email", "nowhere", "--password", "short", "--json")

    assert answer.code == 1
    assert set(answer.document["fields"]) == {"email", "password"}


def test_a_token_is_issued_and_works(run, host):
    """Standard output holds the token alone, ready for a script; the name may differ in case."""
    run(*ADA, "--password", PASSWORD).ok()

    answer = run("user", "token", "ADA", "--name", "nightly build").ok()

    assert host.authenticate.by_token(answer.out.strip()).user.username == "ada"
    token_id = host.tokens.id_of(answer.out.strip())
    assert host.tokens.get(token_id, by=host.directory.list()[0][0].as_user()).name == "nightly-build"
    assert "cannot be shown again" in answer.err


def test_a_token_as_json(run, home):
    """Programs learn until when it is valid."""
    run(*ADA, "--password", PASSWORD).ok()

    document = run("user", "token", "ada", "--json").ok().document

    assert set(document) == {"token", "user", "name", "expiry"}
    assert document["token"].startswith("ply-")


def test_nobody_gets_no_token(run, home):
    """An unknown name is refused, one that is the beginning of another too."""
    run(*ADA, "--password", PASSWORD).ok()

    answer = run("user", "token", "ad", "--json")

    assert answer.code == 1
    assert json.loads(answer.out)["error"].startswith("There is no user 'ad'.")
