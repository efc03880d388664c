"""What is to happen once a transaction has ended: kept, undone, or either."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from sqlalchemy import Connection, event
from sqlalchemy.orm import Session, SessionTransaction

_LOG = logging.getLogger("plugyard.storage.endings")
_KEY = "plugyard_endings"

_When: TypeAlias = Literal["kept", "undone", "ended"]


def after_commit(session: Session, function: Callable[[], object]) -> None:
    """Call a function once what the session has written is kept for good.

    Inside a savepoint that is undone alone, it is not called. An error of the function is logged: the transaction is
    over, and nothing can be taken back.
    """
    _register(session, function, "kept")


def on_rollback(session: Session, function: Callable[[], object]) -> None:
    """Call a function once it is certain that what the session has written was undone.

    That is so too for a savepoint that is undone alone; the function is called when the whole transaction has ended.
    It is not called where the database went away while it was told to commit, as nobody knows then what it did.
    An error of the function is logged.
    """
    _register(session, function, "undone")


def at_end(session: Session, function: Callable[[], object]) -> None:
    """Call a function once the session's whole transaction has ended, whether kept or undone.

    A function that is named twice is called once. An error of the function is logged.
    """
    _register(session, function, "ended")


@dataclass(slots=True)
class _Ending:
    function: Callable[[], object]
    when: _When
    scope: SessionTransaction
    undone: bool = False


@dataclass(slots=True)
class _Endings:
    waiting: list[_Ending] = field(default_factory=list)
    committed: SessionTransaction | None = None
    asked: bool = False
    """The database was told to commit."""

    def on_commit(self, _connection: Connection) -> None:
        self.asked = True


def _register(session: Session, function: Callable[[], object], when: _When) -> None:
    endings: _Endings | None = session.info.get(_KEY)
    if endings is None:
        endings = session.info[_KEY] = _Endings()
        event.listen(session, "after_commit", _committed)
        event.listen(session, "after_transaction_end", _ended)
    if when == "ended":
        if any(one.when == when and one.function == function for one in endings.waiting):
            return
    elif not any(one.when != "ended" for one in endings.waiting):
        event.listen(session.connection(), "commit", endings.on_commit)
    scope = session.get_nested_transaction() or session.get_transaction() or session.begin()
    endings.waiting.append(_Ending(function, when, scope))


def _committed(session: Session) -> None:
    endings: _Endings = session.info[_KEY]
    endings.committed = session.get_nested_transaction() or session.get_transaction()


def _ended(session: Session, transaction: SessionTransaction) -> None:
    endings: _Endings = session.info[_KEY]
    kept = endings.committed is transaction
    parent = transaction.parent
    if parent is not None:
        for ending in endings.waiting:
            if ending.scope is transaction:
                ending.scope = parent
                # A transaction inside that is no savepoint ends without a word; its parent decides.
                ending.undone |= transaction.nested and not kept
        return
    waiting, asked = endings.waiting, endings.asked
    endings.waiting, endings.committed, endings.asked = [], None, False
    for ending in waiting:
        if _is_due(ending, kept=kept, asked=asked):
            try:
                ending.function()
            except Exception:  # noqa: BLE001 - whatever it is, the others are still due
                _LOG.exception("What was to follow a transaction has failed.")


def _is_due(ending: _Ending, *, kept: bool, asked: bool) -> bool:
    if ending.when == "ended":
        return True
    if ending.when == "kept":
        return kept and not ending.undone
    return ending.undone or not (kept or asked)
