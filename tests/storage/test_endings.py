"""What follows a transaction."""

from __future__ import annotations

import logging
from contextlib import suppress

import pytest
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from host.accounts.account import AccountUser
from host.storage.endings import after_commit, at_end, on_rollback


class StopError(Exception):
    """Ends a block."""


@pytest.fixture
def calls() -> list[str]:
    """What was called."""
    return []


def register(session, calls, name=""):
    """Ask for all three kinds of call."""
    after_commit(session, lambda: calls.append(f"{name}kept"))
    on_rollback(session, lambda: calls.append(f"{name}undone"))
    at_end(session, lambda: calls.append(f"{name}ended"))


def test_a_kept_transaction(database, calls):
    """What is to follow the commit is called after it, once, when the lock is free for another transaction."""

    def write_again():
        with database.write() as other:
            calls.append(other.connection().execute(text("SELECT 'again'")).scalar_one())

    with database.write() as session:
        register(session, calls)
        after_commit(session, write_again)
        assert calls == []

    assert calls == ["kept", "ended", "again"]


def test_an_undone_transaction(database, calls):
    """Only what undoes and what always follows is called."""
    with suppress(StopError), database.write() as session:
        register(session, calls)
        raise StopError

    assert calls == ["undone", "ended"]


def test_an_undone_savepoint(database, calls):
    """Each call follows the fate of the savepoint in which it was asked for, when everything is over."""
    with database.write() as session:
        register(session, calls, "outer ")
        with session.begin_nested():
            register(session, calls, "released ")
            with suppress(StopError), session.begin_nested():
                register(session, calls, "inner ")
                raise StopError
        assert calls == []

    assert calls == ["outer kept", "outer ended", "released kept", "released ended", "inner undone", "inner ended"]


def test_a_released_savepoint_of_an_undone_transaction(database, calls):
    """A savepoint that was released is undone with the whole."""
    with suppress(StopError), database.write() as session:
        with session.begin_nested():
            register(session, calls)
        raise StopError

    assert calls == ["undone", "ended"]


def test_a_session_that_is_left_open_undoes(database, calls):
    """A session that is closed without a word has kept nothing."""
    session = Session(database.engine)
    register(session, calls)
    session.close()

    assert calls == ["undone", "ended"]


def test_a_statement_that_fails_at_the_end_undoes(database, calls):
    """What cannot be written while the transaction is on its way to be committed is undone."""
    session = Session(database.engine)
    register(session, calls)
    session.add(AccountUser())  # type: ignore[call-arg]  # what is missing may not be
    with pytest.raises(SQLAlchemyError):
        session.commit()
    session.close()

    assert calls == ["undone", "ended"]


def test_nobody_knows_what_a_lost_database_did(database, calls, monkeypatch):
    """Where the commit itself fails nothing is taken for undone: the row may be there, and needs its file."""

    def fail(_connection):
        raise StopError

    with monkeypatch.context() as patched, suppress(StopError), database.write() as session:
        register(session, calls)
        patched.setattr(database.engine.dialect, "do_commit", fail)

    assert calls == ["ended"]


def test_an_error_of_one_does_not_keep_the_others_waiting(database, calls, caplog):
    """The transaction is over; the error is logged."""

    def fail():
        raise StopError("no file store today")

    with caplog.at_level(logging.ERROR), database.write() as session:
        after_commit(session, fail)
        register(session, calls)

    assert calls == ["kept", "ended"]
    assert "no file store today" in caplog.text


def test_the_end_is_told_once(database, calls):
    """The same function that is named often is called once; each transaction of a session has its own end."""

    class Bell:
        def ring(self):
            calls.append("ring")

    bell = Bell()
    with database.write() as session:
        for _ in range(3):
            at_end(session, bell.ring)
        with session.begin_nested():
            at_end(session, bell.ring)
    assert calls == ["ring"]

    with session.begin():
        at_end(session, bell.ring)
        after_commit(session, lambda: calls.append("kept"))
    session.close()
    assert calls == ["ring", "ring", "kept"]
