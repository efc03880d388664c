"""What is written down about an operation."""

from __future__ import annotations

import threading

import pytest

from host.contract.values import User
from host.errors import BusyError, InvalidInputError, NotFoundError, UnavailableError
from host.packages.lock import Locks
from host.packages.operations import Operations, Progress, new_operation_id
from host.packages.requests import InstallRequest
from host.storage.engine import Database
from tests.packages_area.yard import Yard

ANN = User(id=7, username="ann")


def test_an_operation_can_be_followed_and_read_afterwards(cold_yard: Yard):
    """Stages and pip's lines arrive one by one, and the record holds them with result, user and generation."""
    cold_yard.wheel("plug-a")
    seen: list[Progress] = []
    identifier = new_operation_id()

    outcome = cold_yard.packages.install(
        InstallRequest(packagename="plug-a", url="https://me:secret@x.example/simple"),
        by=ANN,
        on_progress=seen.append,
        operation_id=identifier,
    )

    operation = cold_yard.packages.operation(identifier)
    assert (operation.kind, operation.status, operation.progress) == ("install", "succeeded", 100)
    assert (operation.user_id, operation.generation, outcome.operation) == (7, 1, identifier)
    assert operation.result is not None
    assert operation.result["result"] == outcome.result
    assert "Processing" in operation.log
    assert "secret" not in repr(operation)
    assert operation.created <= (operation.started or operation.created) <= (operation.finished or operation.created)
    stages = list(dict.fromkeys(progress.stage for progress in seen))
    assert stages == ["resolving", "fetching", "unpacking", "inspecting", "switching", "writing", "loading", "done"]
    assert [progress.percent for progress in seen] == sorted(progress.percent for progress in seen)
    assert any(progress.line for progress in seen)
    assert cold_yard.packages.generation(1).created_by == 7


def test_an_operation_waits_for_another_and_gives_up(yard: Yard):
    """While another one is at work an operation waits for a while and then says so; nothing was changed."""
    yard.wheel("plug-a")
    with Locks(yard.database).hold("packages"), pytest.raises(BusyError, match="Another"):
        yard.install("plug-a")

    assert (yard.packages.operations()[0].status, yard.left) == ("failed", [])
    yard.install("plug-a")


def test_two_installs_at_once_both_succeed(yard: Yard):
    """Concurrent installs take turns, and none loses the other's package."""
    yard.configure(wait_seconds=60)
    names = ["plug-a", "plug-b", "plug-c"]
    for name in names:
        yard.wheel(name)
    threads = [threading.Thread(target=yard.install, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(yard.versions) == names
    assert sorted(yard.file.split()) == names
    assert [one.status for one in yard.packages.operations()] == ["succeeded"] * 3


def test_a_failed_operation_says_why(yard: Yard):
    """The record of a refused operation holds the refusal."""
    with pytest.raises(InvalidInputError):
        yard.packages.uninstall("nonesuch")

    operation = yard.packages.operations()[0]
    assert (operation.status, operation.error.startswith("nonesuch is not a managed package")) == ("failed", True)
    with pytest.raises(NotFoundError):
        yard.packages.operation("nonesuch")


def test_operations_of_dead_processes_are_marked(database: Database):
    """Whoever holds the lock knows that no other operation can be running; waiting ones may be alive."""
    operations = Operations(database)
    recorders = {
        name: operations.begin("install", {}, owner=owner, user_id=None, on_progress=None)
        for name, owner in (("dead", "elsewhere/1/1/a"), ("waits", "elsewhere/1/1/b"), ("mine", "me"))
    }
    recorders["dead"].started()
    recorders["mine"].started()

    assert operations.fail_abandoned("me") == 1
    found = {name: operations.get(recorder.id) for name, recorder in recorders.items()}
    assert {name: one.status for name, one in found.items()} == {
        "dead": "failed",
        "waits": "waiting",
        "mine": "running",
    }
    assert "ended before it was finished" in found["dead"].error


def test_a_log_has_an_end(database: Database):
    """A log that grows without limit is cut, and characters that a database cannot hold are left out."""
    operations = Operations(database)
    recorder = operations.begin("install", {}, owner="me", user_id=None, on_progress=None)

    recorder.line("a\x00b https://user:pw@x.example")
    for _ in range(700):
        recorder.line("x" * 1000)
    recorder.flush()

    log = operations.get(recorder.id).log
    assert log.startswith("ab https://****@x.example\n")
    assert len(log) < 510_000
    assert log.endswith("(the rest of the log was left out)\n")


def test_a_home_that_cannot_be_written_is_named(yard: Yard):
    """The operation fails with a remedy, and nothing is changed."""
    yard.wheel("plug-a")
    (yard.root / "home").mkdir(exist_ok=True)
    (yard.root / "home/tmp").write_text("no folder")

    with pytest.raises(UnavailableError, match=r"tmp cannot be used: .*Check the folder's owner and free space"):
        yard.install("plug-a")

    assert yard.packages.operations()[0].status == "failed"
    assert yard.packages.generations() == []
