"""One owner at a time, over threads, processes and machines."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import timedelta

import pytest
from sqlalchemy import insert, select, update

from host.errors import BusyError
from host.packages.lock import LockRecord, Locks
from host.packages.node import is_gone, new_owner, node_id
from host.storage.engine import Database
from host.storage.tables import now

TABLE = LockRecord.__table__  # type: ignore[attr-defined] # SQLModel adds it


def expires(database: Database):
    with database.read() as connection:
        return connection.execute(select(TABLE.c.expires)).scalar()


def claim(database: Database, owner: str, *, seconds: float) -> None:
    with database.write() as session:
        session.execute(insert(TABLE).values(name="x", owner=owner, expires=now() + timedelta(seconds=seconds)))


def dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_held_lock_is_held_alone(database: Database):
    """Nobody else gets it, other locks are free, and it is free again afterwards."""
    locks = Locks(database)
    with locks.hold("x") as lease:
        assert locks.holder("x") == lease.owner
        with pytest.raises(BusyError, match="lock 'x'"), locks.hold("x", wait=0.2):
            pass
        with locks.hold("y"):
            pass
    assert locks.holder("x") is None
    with locks.hold("x"):
        pass


def test_many_at_once_take_turns(database: Database):
    """However many want it, there is one at a time, and everyone gets it in the end."""
    locks, inside, order = Locks(database), [], []

    def work(number: int) -> None:
        with locks.hold("x", wait=30):
            inside.append(number)
            order.append(list(inside))
            inside.remove(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(order) == [[number] for number in range(6)]


def test_a_lease_is_renewed_while_its_owner_lives(database: Database):
    """The lock outlasts its lifetime as long as its owner is at work."""
    locks = Locks(database, lifetime=0.6)
    with locks.hold("x"):
        first = expires(database)
        waiting = threading.Event()
        while expires(database) <= first + timedelta(seconds=0.6):
            waiting.wait(0.05)
        with pytest.raises(BusyError), Locks(database).hold("x"):
            pass


@pytest.mark.parametrize(
    ("owner", "seconds"),
    [
        pytest.param(lambda: "another-machine/1/1/a", -1, id="a lease that ran out"),
        pytest.param(lambda: f"{node_id()}/{dead_process()}/1/a", 60, id="a dead process of this machine"),
    ],
)
def test_an_abandoned_lock_is_taken_over(database: Database, owner, seconds):
    """A lock whose owner is gone is free at once here, and after its lifetime elsewhere."""
    claim(database, owner(), seconds=seconds)

    with Locks(database).hold("x"):
        pass


def test_a_machine_that_cannot_be_asked_keeps_its_lock(database: Database):
    """A process of another machine counts as alive until its lease runs out."""
    claim(database, "another-machine/1/1/a", seconds=60)

    with pytest.raises(BusyError), Locks(database).hold("x"):
        pass


def test_a_lost_lease_stops_the_transaction(database: Database):
    """Whoever lost the lock cannot commit any more."""
    with Locks(database).hold("x") as lease:
        with database.write() as session:
            lease.confirm(session)
        with database.write() as session:
            session.execute(update(TABLE).values(owner="somebody else"))
        with pytest.raises(BusyError, match="was lost"), database.write() as session:
            lease.confirm(session)


def test_who_is_gone():
    """This process lives; one with its number but another start does not; strangers are not judged."""
    mine = new_owner()
    node, pid, started, _ = mine.split("/")

    assert not is_gone(mine)
    assert is_gone(f"{node}/{pid}/{int(started) + 1}/x")
    assert is_gone(f"{node}/{dead_process()}/1/x")
    assert not is_gone(f"elsewhere/{pid}/1/x")
    assert not is_gone("nonsense")
