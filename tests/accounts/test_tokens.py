"""Tokens."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import select, update

from host.accounts.account import Account
from host.accounts.problems import RefusedValuesError
from host.accounts.tokens import TOKENS, AccountToken, Tokens, clean_token_name
from host.accounts.users import Users
from host.contract.values import User
from host.errors import NotAllowedError, NotFoundError
from host.storage.engine import Database
from host.storage.tables import now


@pytest.fixture
def ada(new_user: Callable[..., Account]) -> User:
    return new_user("ada").as_user()


@pytest.fixture
def boss(new_user: Callable[..., Account]) -> User:
    return new_user("boss", is_superuser=True).as_user()


def test_a_token_is_shown_once(tokens: Tokens, database: Database, ada: User):
    """The text has its form, and neither the record nor the database holds it."""
    text, record = tokens.issue(ada.id, "my script")

    expiry = now().date() + timedelta(days=365)
    assert re.fullmatch(r"ply-[0-9a-f]{40}-" + expiry.strftime("%Y%m%d"), text)
    assert (record.name, record.expiry, record.user) == ("my-script", expiry, ada.id)
    assert (record.active, record.revoked, record.last_seen) == (True, False, None)
    assert len(record.token) == len(text)
    assert record.token.count("*") > 30
    with database.write() as session:
        row = session.get(AccountToken, record.id)
        assert row is not None
        stored = session.connection().execute(select(TOKENS)).one()
        assert text not in [str(value) for value in stored]
        assert row.digest not in repr(row)
        assert row.digest not in repr(record)


def test_the_same_name_gives_another_text(tokens: Tokens, ada: User):
    """Tokens of one name stand beside each other."""
    (first, one), (second, other) = tokens.issue(ada.id, "script"), tokens.issue(ada.id, "script")

    assert first != second
    assert one.id != other.id
    assert tokens.get(one.id, by=ada).active


def test_an_expiry_date_can_be_chosen(tokens: Tokens, ada: User):
    """Today is the earliest, yesterday is refused."""
    today = now().date()

    text, record = tokens.issue(ada.id, expiry=today)

    assert text.endswith(today.strftime("-%Y%m%d"))
    assert record.active
    with pytest.raises(RefusedValuesError) as caught:
        tokens.issue(ada.id, expiry=today - timedelta(days=1))
    assert list(caught.value.fields) == ["expiry"]


def test_tokens_of_others_are_for_superusers(tokens: Tokens, ada: User, boss: User):
    """Only a superuser makes, sees and revokes tokens of somebody else."""
    _, record = tokens.issue(boss.id, "mine", by=boss)

    with pytest.raises(NotAllowedError):
        tokens.issue(boss.id, by=ada)
    with pytest.raises(NotFoundError):
        tokens.get(record.id, by=ada)
    with pytest.raises(NotFoundError):
        tokens.revoke(record.id, by=ada)
    _, made = tokens.issue(ada.id, by=boss)
    assert tokens.revoke(made.id, by=boss).revoked


def test_accounts_that_are_gone_get_no_tokens(tokens: Tokens, users: Users, ada: User):
    """Neither an unknown nor a switched off account gets one."""
    users.deactivate(ada.id)

    for user_id in (ada.id, 999):
        with pytest.raises(NotFoundError):
            tokens.issue(user_id)


def test_a_revoked_token_keeps_its_record(tokens: Tokens, ada: User):
    """Revoking twice is the same as once."""
    _, record = tokens.issue(ada.id)

    for _ in range(2):
        revoked = tokens.revoke(record.id, by=ada)
    assert (revoked.revoked, revoked.active) == (True, False)
    assert tokens.get(record.id, by=ada) == revoked


def test_a_token_is_found_by_its_text(tokens: Tokens, ada: User):
    """Also when it can no longer be used; other texts belong to none."""
    text, record = tokens.issue(ada.id)
    tokens.revoke(record.id, by=ada)

    assert tokens.id_of(text) == record.id
    assert [
        tokens.id_of(other) for other in ("", text[:-1], text.replace("ply", "PLY"), f"ply-{'0' * 40}-20300101")
    ] == [None] * 4


def test_the_clock_decides(database: Database, ada: User):
    """Making a token and telling whether it is active go by the same clock."""
    moment = [now()]
    tokens = Tokens(database, clock=lambda: moment[0])
    _, record = tokens.issue(ada.id)

    moment[0] += timedelta(days=365)
    on_the_last_day = tokens.get(record.id, by=ada).active
    moment[0] += timedelta(days=1)

    assert (on_the_last_day, tokens.get(record.id, by=ada).active) == (True, False)
    assert record.expiry == record.created.date() + timedelta(days=365)


def test_old_records_are_forgotten(tokens: Tokens, database: Database, ada: User):
    """Expired and revoked tokens of old go, usable ones stay."""
    today = now().date()
    ids = [tokens.issue(ada.id, name)[1].id for name in ("expired", "revoked", "usable")]
    with database.write() as session:
        connection = session.connection()
        old = now() - timedelta(days=100)
        connection.execute(update(TOKENS).values(created=old))
        connection.execute(update(TOKENS).where(TOKENS.c.id == ids[0]).values(expiry=old.date()))
        connection.execute(update(TOKENS).where(TOKENS.c.id == ids[1]).values(revoked=True))

    assert tokens.forget(today - timedelta(days=90)) == 2
    with database.read() as connection:
        assert list(connection.execute(select(TOKENS.c.name)).scalars()) == ["usable"]


def test_tokens_go_with_their_account(tokens: Tokens, users: Users, ada: User, boss: User):
    """Deleting an account deletes its tokens."""
    _, record = tokens.issue(ada.id)

    users.delete(ada.id)

    with pytest.raises(NotFoundError):
        tokens.get(record.id, by=boss)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("", ""),
        ("  my script ", "my-script"),
        ("a\tb\nc", "abc"),
        ("a\u00a0b", "a-b"),
        ("a < b & c", "a-<-b-&-c"),
        ("x" * 150, "x" * 100),
        ("\x00 a", "a"),
    ],
)
def test_names_are_cleaned(text: str, cleaned: str):
    """Blanks become hyphens, control characters go, the rest stays up to 100 characters."""
    assert clean_token_name(text) == cleaned


@pytest.mark.parametrize("text", ["<b>bold</b>", "a</i>", "<!-- x -->", "<script", "<?php ?>"])
def test_html_in_a_name_is_refused(text: str):
    """Nothing that a browser could take for a tag is kept."""
    with pytest.raises(RefusedValuesError) as caught:
        clean_token_name(text)
    assert list(caught.value.fields) == ["name"]


@given(st.text(max_size=200))
@example("\x00 \x00")
@example("\ud800")
@example("<\x00b>")
def test_a_cleaned_name_is_harmless(text: str):
    """Whatever comes in is refused, or short, printable, without blanks, storable and stays as it is."""
    try:
        name = clean_token_name(text)
    except RefusedValuesError:
        return
    assert len(name) <= 100
    assert not any(character.isspace() or unicodedata.category(character) in {"Cc", "Cs"} for character in name)
    name.encode()
    assert clean_token_name(name) == name
