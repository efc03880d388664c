"""The first administrator."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from host.accounts.administrators import ensure_administrator
from host.accounts.directory import Directory
from host.accounts.passwords import Passwords
from host.accounts.problems import RefusedValuesError
from host.accounts.users import Users
from host.storage.engine import Database


def test_a_password_is_made_up_and_told_once(database: Database, passwords: Passwords, users: Users):
    """Without a password the administrator gets one that works and that no text of the answer shows."""
    made = ensure_administrator(database, passwords, "admin", email="Admin@Example.org")

    assert made is not None
    assert made.password is not None
    assert made.password not in repr(made)
    assert made.warnings == ()
    account = users.get(made.account.id)
    assert (account.is_superuser, account.is_staff, account.is_active) == (True, True, True)
    assert account.email == "admin@example.org"
    assert users.check_password(account.id, made.password)


def test_a_given_password_is_taken(database: Database, passwords: Passwords, users: Users):
    """A weak one works too and is warned of; it is not given back."""
    made = ensure_administrator(database, passwords, "admin", "admin")

    assert made is not None
    assert made.password is None
    assert made.warnings
    assert users.check_password(made.account.id, "admin")


def test_nothing_happens_where_somebody_is(database: Database, passwords: Passwords, new_user):
    """One account of any kind, even a switched off one, is enough."""
    new_user("guest", is_active=False)

    assert ensure_administrator(database, passwords, "admin") is None


def test_bad_data_are_refused(database: Database, passwords: Passwords):
    """Name and address follow the usual rules."""
    with pytest.raises(RefusedValuesError) as caught:
        ensure_administrator(database, passwords, "a b", email="nowhere")
    assert set(caught.value.fields) == {"username", "email"}


def test_processes_that_start_together_make_one(database: Database, passwords: Passwords):
    """However many try at once, and whatever names they use, one account is made."""
    with ThreadPoolExecutor(5) as pool:
        made = list(pool.map(lambda number: ensure_administrator(database, passwords, f"admin{number}"), range(5)))

    assert len([one for one in made if one is not None]) == 1
    assert Directory(database).list()[1] == 1
