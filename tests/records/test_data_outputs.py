"""Data outputs: their making, who may read them, and when they go."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from host.accounts.account import USERS, AccountUser
from host.contract.values import User
from host.errors import NotFoundError, RefusedError
from host.records.data_outputs import OUTPUTS, DataOutputs, OutputType
from host.storage.engine import Database
from host.storage.files import FileStore
from host.storage.listing import Choice
from host.storage.tables import now

ADA, BOB = User(id=1, username="ada"), User(id=2, username="bob")
STAFF = User(id=3, username="staff", is_staff=True)


@pytest.fixture
def files(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "files")


@pytest.fixture
def outputs(database: Database, files: FileStore) -> DataOutputs:
    with database.write() as session:
        for user in (ADA, BOB, STAFF):
            session.add(
                AccountUser(id=user.id, username=user.username, username_folded=user.username, is_staff=user.is_staff)
            )
    return DataOutputs(database, files)


@pytest.fixture
def made(outputs: DataOutputs, files: FileStore) -> Callable[..., int]:
    """Make complete outputs."""

    def make(user: User | None, name: str) -> int:
        files.save(f"data_output/{name}", BytesIO(b"a,b"))
        key = outputs.begin(user, OutputType.EXPORT, plugin="exporter", template_name="states", total=3)
        assert outputs.complete(key, f"data_output/{name}")
        return key

    return make


def stored(database: Database, key: int) -> dict[str, Any]:
    with database.read() as connection:
        return dict(connection.execute(select(OUTPUTS).where(OUTPUTS.c.id == key)).mappings().one())


def count(database: Database) -> int:
    with database.read() as connection:
        return len(connection.execute(select(OUTPUTS.c.id)).all())


def test_an_output_is_begun_made_and_completed(outputs: DataOutputs, files: FileStore, database: Database):
    """Progress only grows; the file belongs to the output from the end on, and repeating the end changes nothing."""
    key = outputs.begin(ADA, OutputType.EXPORT, plugin="p" * 300, template_name=None, total=10)
    shown = []
    for done, total in ((3, None), (2, None), (-5, None), (7, 12), (2**70, None)):
        assert outputs.progress(key, done, total)
        row = stored(database, key)
        shown.append((row["progress"], row["total"], row["complete"], row["errors"], row["output"]))
    files.save("data_output/a b.csv", BytesIO(b"a"))

    assert outputs.complete(key, "data_output/a b.csv")
    assert outputs.complete(key, "data_output/a b.csv")

    assert shown == [
        (3, 10, False, None, None),
        (3, 10, False, None, None),
        (3, 10, False, None, None),
        (7, 12, False, None, None),
        (2**63 - 1, 12, False, None, None),
    ]
    row = stored(database, key)
    assert (row["complete"], row["output"], row["plugin"]) == (True, "data_output/a b.csv", "p" * 100)
    assert row["progress"] == row["total"] == 2**63 - 1
    assert files.exists("data_output/a b.csv")
    assert not outputs.progress(key, 5)
    assert not outputs.fail(key, "too late")
    assert stored(database, key) == row


def test_a_failure_is_kept_without_secrets(outputs: DataOutputs, files: FileStore, database: Database):
    """Those who wait are told; nothing completes the output any more."""
    key = outputs.begin(None, OutputType.REPORT)
    files.save("data_output/x.pdf", BytesIO(b"a"))

    assert outputs.fail(key, "no \x00 database at postgresql://joe:hunter2@db \ud800")
    assert not outputs.complete(key, "data_output/x.pdf")

    row = stored(database, key)
    assert row["errors"] == {"error": "no \\0 database at postgresql://***@db \\ud800"}
    assert (row["complete"], row["user_id"], row["output"]) == (False, None, None)
    assert not files.exists("data_output/x.pdf")


def test_a_deleted_output_stays_deleted(outputs: DataOutputs, files: FileStore, database: Database):
    """Its maker is told, and the file that comes too late is removed."""
    key = outputs.begin(ADA, OutputType.EXPORT)
    outputs.delete(key, by=ADA)
    files.save("data_output/late.csv", BytesIO(b"a"))

    assert not outputs.progress(key, 1)
    assert not outputs.fail(key, "no")
    assert not outputs.complete(key, "data_output/late.csv")

    assert count(database) == 0
    assert not files.exists("data_output/late.csv")


@pytest.mark.parametrize("path", ["attachments/x.csv", "data_output", "/data_output/x", "data_output/../x", "x" * 600])
def test_a_file_elsewhere_is_refused(outputs: DataOutputs, database: Database, path: str):
    """An output can neither take nor delete a file that is not its own."""
    key = outputs.begin(ADA, OutputType.EXPORT)

    with pytest.raises(RefusedError):
        outputs.complete(key, path)

    assert stored(database, key)["complete"] is False


def test_deleting_takes_the_file_along(outputs: DataOutputs, files: FileStore, made, database: Database):
    """Own ones for users, all for the staff; what is out of view stays as it is."""
    mine, theirs, nobodys = made(ADA, "a.csv"), made(BOB, "b.csv"), made(None, "c.csv")

    with pytest.raises(NotFoundError, match=f"data output with pk '{theirs}'"):
        outputs.delete(theirs, by=ADA)
    assert outputs.delete_many(Choice(user=ADA, keys=[theirs, nobodys, 2**63 - 1])) == 0
    assert outputs.delete_many(Choice(user=ADA)) == 1
    assert [files.exists(f"data_output/{name}.csv") for name in "abc"] == [False, True, True]
    assert outputs.delete_many(Choice(user=STAFF, keys=[mine, theirs, nobodys])) == 2
    assert [files.exists(f"data_output/{name}.csv") for name in "abc"] == [False, False, False]
    assert count(database) == 0


def test_who_may_read_a_file(outputs: DataOutputs, made):
    """Whose output it is, and the staff; a path that is no output's is nobody's."""
    made(ADA, "a.csv")
    made(None, "n.csv")

    def readers(path: str) -> list[str]:
        return [user.username for user in (ADA, BOB, STAFF) if outputs.may_read(user, path)]

    assert readers("data_output/a.csv") == ["ada", "staff"]
    assert readers("data_output/n.csv") == ["staff"]
    assert readers("data_output/other.csv") == readers("data_output/") == readers("") == []


def test_old_outputs_expire(outputs: DataOutputs, files: FileStore, made, database: Database, tmp_path: Path):
    """With their files, and with files that a killed process left; younger ones stay."""
    old, edge, young = made(ADA, "old.csv"), made(ADA, "edge.csv"), made(ADA, "young.csv")
    today = now().astimezone().date()
    with database.write() as session:
        for key, days in ((old, 6), (edge, 5)):
            day = today - timedelta(days=days)
            session.connection().execute(update(OUTPUTS).where(OUTPUTS.c.id == key).values(created=day))
    for name in ("left.csv", "new.csv"):
        files.save(f"data_output/{name}", BytesIO(b"a"))
    ago = (now() - timedelta(days=9)).timestamp()
    for name in ("left.csv", "young.csv"):
        os.utime(tmp_path / "files" / "data_output" / name, (ago, ago))

    assert outputs.expire() == 1
    assert outputs.expire() == 0

    assert count(database) == 2
    assert stored(database, young)["output"] == "data_output/young.csv"
    assert {info.path for info in files.walk("data_output")} == {
        "data_output/edge.csv", "data_output/young.csv", "data_output/new.csv",
    }  # fmt: skip


def test_outputs_outlive_their_user_for_the_staff(outputs: DataOutputs, made, database: Database):
    """An account that goes leaves its outputs to the staff, until they expire."""
    key = made(ADA, "a.csv")
    with database.write() as session:
        session.connection().execute(USERS.delete().where(USERS.c.id == ADA.id))

    assert stored(database, key)["user_id"] is None
    assert not outputs.may_read(ADA, "data_output/a.csv")
    assert outputs.may_read(STAFF, "data_output/a.csv")
