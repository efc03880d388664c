"""Signing in by token, and by name and password."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from host.accounts.account import USERS
from host.accounts.authenticate import Authenticate, Scheme
from host.accounts.digests import VerifiedPasswords
from host.accounts.sightings import Sightings
from host.accounts.tokens import TOKENS, Tokens
from host.accounts.users import Users
from host.errors import NotSignedInError
from host.storage.engine import Database
from host.storage.tables import now
from tests.accounts.conftest import PASSWORD, Clock, CountedPasswords


def test_a_token_names_its_account(authenticate: Authenticate, tokens: Tokens, new_user, statements):
    """The account comes with all its flags, in one statement."""
    account = new_user("ada", email="ada@example.org", is_staff=True)
    text, record = tokens.issue(account.id)

    with statements() as seen:
        found = authenticate.by_token(text)

    assert (found.user, found.token_id, found.scheme) == (account.as_user(), record.id, Scheme.TOKEN)
    assert len(seen) == 1


@pytest.mark.parametrize("text", ["", "ply-", "ply-" + "0" * 40 + "-20990101", "x\x00", "\ud800", "ply-" + "g" * 40])
def test_unknown_tokens_are_refused(authenticate: Authenticate, text: str):
    """Whatever is no token is nobody's."""
    with pytest.raises(NotSignedInError, match="unknown"):
        authenticate.by_token(text)


def test_spoilt_tokens_are_refused(
    authenticate: Authenticate, tokens: Tokens, users: Users, new_user, database: Database
):
    """Revoked and expired tokens, and those of accounts that are off, say what is wrong with them."""
    account = new_user()
    issued = [tokens.issue(account.id) for _ in range(3)]
    tokens.revoke(issued[0][1].id, by=account.as_user())
    with database.write() as session:
        yesterday = now().date() - timedelta(days=1)
        session.connection().execute(update(TOKENS).where(TOKENS.c.id == issued[1][1].id).values(expiry=yesterday))

    with pytest.raises(NotSignedInError, match="revoked"):
        authenticate.by_token(issued[0][0])
    with pytest.raises(NotSignedInError, match="expired"):
        authenticate.by_token(issued[1][0])
    users.deactivate(account.id)
    with pytest.raises(NotSignedInError, match="switched off"):
        authenticate.by_token(issued[2][0])


def last_seen(database: Database) -> object:
    with database.read() as connection:
        return connection.execute(select(TOKENS.c.last_seen)).scalar_one()


def test_the_last_use_is_written_in_batches(
    authenticate: Authenticate, tokens: Tokens, new_user, database: Database, statements
):
    """Requests only read; a batch writes once, and not again while the stored moment is fresh."""
    text, _ = tokens.issue(new_user().id)
    for _ in range(3):
        authenticate.by_token(text)
    assert last_seen(database) is None

    authenticate.flush()
    first = last_seen(database)

    assert first is not None
    authenticate.by_token(text)
    with statements() as seen:
        authenticate.flush()
    assert seen == []
    assert last_seen(database) == first


def test_an_older_use_is_renewed(database: Database, tokens: Tokens, new_user):
    """Once the stored moment is old enough it is written anew."""
    _, record = tokens.issue(new_user().id)
    sightings = Sightings(database, every=timedelta(minutes=5), delay=3600)
    old = now() - timedelta(minutes=6)
    with database.write() as session:
        session.connection().execute(update(TOKENS).values(last_seen=old))

    sightings.note(record.id, old)
    sightings.flush()

    assert last_seen(database) > old  # type: ignore[operator]


def test_processes_that_saw_the_same_token_tell_it_once(database: Database, tokens: Tokens, new_user):
    """Whoever writes first tells of the use; the others find the moment fresh."""
    account = new_user()
    _, record = tokens.issue(account.id, "script")
    told: list[tuple[object, ...]] = []
    everywhere = [
        Sightings(database, delay=3600, emit=lambda _session, *event: told.append(event), clock=now) for _ in range(4)
    ]
    for sightings in everywhere:
        sightings.note(record.id, None)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(Sightings.flush, everywhere))

    assert told == [("user.token_used", {"token": record.id, "name": "script", "user": account.id}, account.id)]
    assert last_seen(database) is not None


def test_a_sighting_that_cannot_be_written_hurts_nobody(sqlite_url: str, open_database, caplog):
    """Where the database refuses, the failure is logged and nothing is raised."""
    sightings = Sightings(open_database(sqlite_url), delay=3600)

    sightings.note(1, None)
    sightings.flush()

    assert "could not be written" in caplog.text


@pytest.mark.parametrize("name", ["Ada", "ADA", " ada ", "ada@example.org", "ADA@Example.org"])
def test_a_password_names_its_account(authenticate: Authenticate, new_user, statements, name: str):
    """The username in any case works in one statement, the address in three."""
    account = new_user("Ada", email="ada@example.org")

    with statements() as seen:
        found = authenticate.by_password(name, PASSWORD)

    assert (found.user, found.scheme, found.token_id) == (account.as_user(), Scheme.BASIC, None)
    assert len(seen) == (3 if "@" in name else 1)


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("ada", "wrong"),
        ("ada", ""),
        ("nobody", PASSWORD),
        ("", PASSWORD),
        (" ", PASSWORD),
        ("ad\x00a", PASSWORD),
        ("\ud800", PASSWORD),
        ("ada", "\ud800"),
        ("x" * 10_000, PASSWORD),
        ("keyless", ""),
        ("keyless", PASSWORD),
    ],
)
def test_a_wrong_pair_is_refused_without_a_hint(
    authenticate: Authenticate, passwords: CountedPasswords, new_user, name: str, password: str
):
    """Unknown account, wrong password and no password give one answer after the same work."""
    new_user("ada")
    new_user("keyless", password=None)

    for attempt in (1, 2):
        with pytest.raises(NotSignedInError, match=r"^The username or the password is wrong\.$"):
            authenticate.by_password(name, password)
        assert passwords.verified == attempt


def test_an_address_of_two_accounts_names_none(authenticate: Authenticate, new_user):
    """A shared address is no name."""
    new_user("ada", email="team@example.org")
    new_user("bob", email="team@example.org")

    with pytest.raises(NotSignedInError):
        authenticate.by_password("team@example.org", PASSWORD)


def test_a_username_comes_before_an_address(authenticate: Authenticate, new_user):
    """Whoever had the name first keeps signing in with it."""
    account = new_user("team@example.org")
    new_user("ada", email="team@example.org")

    assert authenticate.by_password("team@example.org", PASSWORD).user.id == account.id


def test_an_inactive_account_says_so_to_its_owner_only(authenticate: Authenticate, users: Users, new_user):
    """The right password learns that the account is off, a wrong one learns nothing."""
    users.deactivate(new_user("ada").id)

    with pytest.raises(NotSignedInError, match="switched off"):
        authenticate.by_password("ada", PASSWORD)
    with pytest.raises(NotSignedInError, match="wrong"):
        authenticate.by_password("ada", "wrong")


def test_a_right_password_is_checked_in_full_once(
    authenticate: Authenticate, passwords: CountedPasswords, clock: Clock, new_user
):
    """Further requests cost no full check until the time is over, and then one again."""
    new_user("ada")
    for name in ("ada", "Ada", "ADA"):
        authenticate.by_password(name, PASSWORD)
    assert passwords.verified == 1

    clock.seconds += 121
    authenticate.by_password("ada", PASSWORD)

    assert passwords.verified == 2


def test_a_change_counts_at_once(authenticate: Authenticate, users: Users, new_user):
    """A remembered password is worth nothing after a new one was set or the account was switched off."""
    account = new_user("ada")
    authenticate.by_password("ada", PASSWORD)

    users.set_password(account.id, "another long one")
    with pytest.raises(NotSignedInError):
        authenticate.by_password("ada", PASSWORD)
    authenticate.by_password("ada", "another long one")
    users.deactivate(account.id)
    with pytest.raises(NotSignedInError):
        authenticate.by_password("ada", "another long one")


def test_requests_that_arrive_together_share_one_check(database: Database, users: Users, sightings: Sightings):
    """Those that waited for their turn find the password verified already."""
    passwords = CountedPasswords(concurrent=1)
    authenticate = Authenticate(database, passwords, sightings=sightings)
    users.create({"username": "ada"}, password=PASSWORD)

    with ThreadPoolExecutor(4) as pool, passwords._turn():
        waiting = [pool.submit(authenticate.by_password, "ada", PASSWORD) for _ in range(4)]
    assert {future.result().user.username for future in waiting} == {"ada"}
    assert passwords.verified == 1


def test_an_old_hash_is_renewed_at_sign_in(database: Database, users: Users, sightings: Sightings, new_user):
    """New parameters reach existing accounts, and the renewed hash is remembered."""
    account = new_user("ada")
    dearer = CountedPasswords(time_cost=2)
    authenticate = Authenticate(database, dearer, sightings=sightings)

    for _ in range(2):
        authenticate.by_password("ada", PASSWORD)

    with database.read() as connection:
        stored = connection.execute(select(USERS.c.password_hash)).scalar_one()
    assert "t=2" in stored
    assert dearer.verified == 1
    assert users.get(account.id).password_changed == account.password_changed


def test_remembered_passwords_are_bounded(clock: Clock):
    """The least recently used one makes room, and every part of the proof counts."""
    verified = VerifiedPasswords(limit=2, clock=clock)
    one, two, three = (verified.proof(number, "hash", "password") for number in (1, 2, 3))
    one.remember()
    two.remember()
    assert one.is_known()

    three.remember()

    assert [proof.is_known() for proof in (one, two, three)] == [True, False, True]
    assert not verified.proof(1, "hashp", "assword").is_known()
    assert not verified.proof(1, "hash", "Password").is_known()
    assert VerifiedPasswords().proof(1, "hash", "password") != one
