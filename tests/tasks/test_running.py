"""Tasks: what becomes of one."""

from __future__ import annotations

import os
import warnings
from datetime import timedelta

import pytest

from host.contract.progress import report_progress
from host.storage.listing import Choice
from host.tasks.jobs import GiveUpError, Work


def test_a_task_runs_once_after_the_commit_and_leaves_its_result(bench):
    """A task that was enqueued is pending, then runs with its data and is noted as done."""
    got = []

    def greet(**data: object) -> str:
        got.append(data)
        return "hi"

    bench.work["greet"] = greet

    task_id = bench.add("greet", name="a\x00b", count=2**70, password="hunter2")
    waiting = bench.row(task_id)

    assert (waiting["status"], waiting["is_open"], waiting["func"], waiting["args"]) == ("waiting", True, "greet", "()")
    assert waiting["kwargs"] == repr({"name": "a\x00b", "count": 2**70, "password": "***"})
    assert bench.tasks.drain(5)
    assert bench.tasks.drain(5)
    assert got == [{"name": "a\x00b", "count": 2**70, "password": "hunter2"}]
    row = bench.row(task_id)
    assert (row["status"], row["is_open"], row["result"], row["attempts"]) == ("succeeded", False, "'hi'", 1)


def test_a_task_of_a_transaction_that_is_rolled_back_never_was(bench):
    """Nothing is left of a task when the caller's transaction fails."""
    bench.work["greet"] = lambda: None

    with bench.database.write() as session:
        bench.tasks.enqueue(session, "greet", {})
        session.rollback()

    assert bench.rows() == []


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [
        pytest.param("unknown", {}, LookupError, id="a name that nobody knows"),
        pytest.param("greet", {"what": object()}, TypeError, id="no JSON"),
        pytest.param("greet", {"what": float("nan")}, ValueError, id="no number"),
    ],
)
def test_what_could_not_run_is_not_enqueued(bench, name, data, error):
    """A mistake of the caller shows at once."""
    bench.work["greet"] = lambda **_: None

    with pytest.raises(error):
        bench.add(name, **data)

    assert bench.rows() == []


def test_a_failing_task_is_tried_five_times_and_reported_at_last(bench):
    """Each failed run updates the one record; until the last one the task is pending as well."""

    def fail() -> None:
        raise ValueError("no hunter2")

    bench.work["fail"] = fail
    task_id = bench.add("fail")
    for attempt in range(1, 6):
        assert bench.tasks.drain(5)
        row = bench.row(task_id)
        assert (row["attempts"], row["has_failed"], row["is_open"]) == (attempt, True, attempt < 5)
        assert row["result"].startswith("ValueError: no ***\n\nTraceback")
        assert len(bench.reports) == (attempt == 5)
        bench.later(seconds=301)

    assert bench.row(task_id)["status"] == "failed"
    path, info, _ = bench.reports[0]
    assert (path, info) == ("worker:task_failure", f"Task 'fail ({task_id})' failed after 5 attempts")
    assert bench.tasks.records.overview().failed_tasks == 1


def test_a_retry_waits_for_its_time_and_success_forgets_the_failure(bench):
    """A task that succeeds at its second try is no failed task any more."""
    outcomes = [ValueError("not yet"), None]

    def sometimes() -> None:
        if outcome := outcomes.pop(0):
            raise outcome

    bench.work["sometimes"] = Work(run=sometimes, pause=60)
    task_id = bench.add("sometimes")
    bench.tasks.drain(5)
    bench.later(seconds=59)
    bench.tasks.drain(5)
    assert bench.row(task_id)["attempts"] == 1

    bench.later(seconds=2)
    bench.tasks.drain(5)

    row = bench.row(task_id)
    assert (row["status"], row["attempts"], row["has_failed"]) == ("succeeded", 2, False)
    assert bench.reports == []


@pytest.mark.parametrize("error", [GiveUpError("never"), SystemExit(3), KeyboardInterrupt()], ids=repr)
def test_whatever_a_task_raises_the_worker_goes_on(bench, error):
    """Also what would end a process is a failure of the task; one that gives up is not tried again."""

    def throw() -> None:
        raise error

    bench.work |= {"throw": throw, "fine": lambda: None}
    task_id, other = bench.add("throw"), bench.add("fine")

    assert bench.tasks.drain(5)

    assert bench.row(task_id)["status"] == ("failed" if isinstance(error, GiveUpError) else "waiting")
    assert bench.row(other)["status"] == "succeeded"


def test_results_that_cannot_be_shown_or_are_huge_do_no_harm(bench):
    """What a task returns may be anything."""

    class Shy:
        def __repr__(self) -> str:
            raise RuntimeError

    class Rude:
        def __repr__(self) -> str:
            raise SystemExit

    bench.work |= {"shy": Shy, "huge": lambda: ["x" * 10**6] * 10**6, "rude": Rude}
    bench.work |= {"number": lambda: 10**5000, "bytes": lambda: bytes(10**7)}
    shy, huge, *others = [bench.add(name) for name in bench.work]

    assert bench.tasks.drain(5)

    assert bench.row(shy)["result"].startswith("<Shy instance")
    assert bench.row(huge)["status"] == "succeeded"
    assert len(bench.row(huge)["result"]) < 100_000
    assert {bench.row(task_id)["status"] for task_id in others} == {"succeeded"}


def test_a_process_that_a_task_forks_ends_with_the_task(bench):
    """It notes nothing, and does not go on as a second worker."""
    children: list[int] = []

    def fork() -> str:
        child = os.fork()
        if child:
            children.append(child)
        return "parent" if child else "child"

    bench.work["fork"] = fork
    task_id = bench.add("fork")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads, from Python 3.12 on
        assert bench.tasks.drain(5)

    assert os.waitpid(children[0], 0) == (children[0], 0)
    row = bench.row(task_id)
    assert (row["result"], row["attempts"]) == ("'parent'", 1)


def test_a_task_that_no_version_knows_fails_with_its_name(bench):
    """A task that an older version has left in the queue does not stay there for ever."""
    bench.work["old"] = lambda: None
    task_id = bench.add("old")
    del bench.work["old"]

    assert bench.tasks.drain(5)

    assert bench.row(task_id)["status"] == "failed"
    assert "'old'" in bench.row(task_id)["result"]


@pytest.mark.parametrize(("repeatable", "status"), [(True, "waiting"), (False, "failed")])
def test_a_task_whose_worker_died_counts_as_failed_and_runs_again_where_that_is_safe(bench, repeatable, status):
    """When the lease has run out, the task is found; only one that says so is run again."""
    bench.work["work"] = Work(run=lambda: None, is_repeatable=repeatable)
    task_id = bench.add("work")
    log, runner = bench.tasks.log, bench.tasks._runner
    claimed = log.claim(task_id, "dead")
    assert claimed is not None
    assert log.claim(task_id, "late") is None
    assert log.orphans([]) == []
    bench.later(seconds=31)

    for task in log.orphans([]) * 2:
        runner.lost(task)

    row = bench.row(task_id)
    assert (row["status"], row["has_failed"], row["attempts"]) == (status, True, 1)
    assert "'dead'" in row["result"]
    assert len(bench.reports) == (not repeatable)
    assert log.succeeded(claimed, "too late") is False
    assert bench.row(task_id)["status"] == status


def test_a_lease_is_renewed_while_the_worker_lives_and_given_back_when_it_stops(bench):
    """What a worker cannot finish waits again, and the run does not count."""
    bench.work["work"] = lambda: None
    task_id = bench.add("work")
    log = bench.tasks.log
    claimed = log.claim(task_id, "alive")
    for _ in range(3):
        bench.later(seconds=20)
        log.renew([claimed])
    assert log.orphans([]) == []

    log.give_back(claimed)

    row = bench.row(task_id)
    assert (row["status"], row["attempts"], row["has_failed"], row["pushed"]) == ("waiting", 0, False, None)


def test_progress_is_noted_when_the_task_has_ended(bench):
    """A task says how far it is, in numbers that fit a column; elsewhere saying so does nothing."""
    bench.work["count"] = lambda: report_progress(2**70, -5)
    report_progress(1, 2)
    task_id = bench.add("count")

    bench.tasks.drain(5)

    state = bench.tasks.records.state(task_id)
    assert (state.progress, state.total, state.is_complete) == (2**63 - 1, 0, True)


def test_messages_go_out_once_and_again_when_they_are_lost(bench):
    """A task goes into the queue once, unless it is in doubt whether it arrived."""
    bench.work["work"] = lambda: None
    task_id = bench.add("work")
    log = bench.tasks.log

    assert log.take_unpushed() == [task_id]
    assert log.take_unpushed() == []
    assert log.doubt_pushed(bench.moment) == 0
    assert log.doubt_pushed(bench.moment + timedelta(seconds=1)) == 1
    assert log.take_unpushed() == [task_id]
    log.unpush([task_id])
    assert log.take_unpushed() == [task_id]


def test_what_waits_in_a_long_queue_is_not_sent_again(bench):
    """Only what another task has overtaken is lost: a queue of hours would else be doubled every few minutes."""
    bench.work["work"] = lambda: None
    log = bench.tasks.log
    early = [bench.add("work"), bench.add("work")]
    log.take_unpushed()
    bench.later(seconds=3600)
    second, moment = timedelta(seconds=1), bench.moment
    assert log.doubt_pushed(moment, overtaken=second) == 0
    log.claim(early[0], "w")
    assert log.doubt_pushed(moment, overtaken=second) == 0

    late = bench.add("work")
    log.take_unpushed()
    log.claim(late, "w")

    assert log.doubt_pushed(moment, overtaken=second) == 1
    assert log.take_unpushed() == [early[1]]


def test_a_deleted_task_never_runs(bench):
    """Who deletes a pending task takes it back, whether it waits or will be tried again; one that runs ends."""

    def fail() -> None:
        raise ValueError

    ran = []
    bench.work |= {"work": lambda: ran.append(1), "fail": fail}
    failed = bench.add("fail")
    bench.tasks.drain(5)
    waiting, running = bench.add("work"), bench.add("work")
    claimed = bench.tasks.log.claim(running, "me")

    assert bench.tasks.records.delete_pending(Choice()) == 3

    bench.later(seconds=400)
    assert bench.tasks.drain(5)
    assert ran == []
    assert [row["task_id"] for row in bench.rows()] == [failed, running]
    assert bench.row(failed)["status"] == "failed"
    assert bench.tasks.records.overview().pending_tasks == 0
    bench.tasks.log.postpone(claimed, "failed", 0)
    assert bench.row(running)["status"] == "failed"
    assert waiting not in {row["task_id"] for row in bench.rows()}


def test_old_tasks_are_forgotten_and_open_ones_never(bench):
    """What ended long ago is deleted."""
    bench.work["work"] = lambda: None
    old = bench.add("work")
    bench.tasks.drain(5)
    bench.later(days=29)
    kept = bench.add("work")
    bench.tasks.drain(5)
    waiting = bench.add("work")
    bench.later(days=2)

    assert bench.tasks._forget() == 1

    assert [row["task_id"] for row in bench.rows()] == [kept, waiting]
    assert old not in {kept, waiting}
