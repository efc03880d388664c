"""Background tasks over REST."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, insert, select, update

from host.storage.tables import now
from host.tasks.jobs import GiveUpError
from host.tasks.table import SCHEDULE, TASK
from tests.api.service import Service, running_service

PATH = "/api/background-task/"


@pytest.fixture(scope="module")
def service(tmp_path_factory) -> Iterator[Service]:
    with running_service(tmp_path_factory.mktemp("tasks")) as service:

        def fail(**_: object) -> None:
            raise GiveUpError("no use: token=abcdef")

        service.host.tasks.__dict__["_work"] = {"test.fine": lambda **_: 1, "test.fail": fail}
        yield service


@pytest.fixture(autouse=True)
def empty(service) -> None:
    with service.host.database.write() as session:
        session.execute(delete(TASK))


def _add(service: Service, name: str, **data: Any) -> str:
    with service.host.database.write() as session:
        return service.host.tasks.enqueue(session, name, data)


def _pks(service: Service, area: str, **query: str) -> list[Any]:
    return [one["pk"] for one in service.client("staff").get(f"{PATH}{area}/", params=query).json()]


def _ids(service: Service) -> list[str]:
    with service.host.database.read() as connection:
        return list(connection.execute(select(TASK.c.task_id).order_by(TASK.c.id)).scalars())


def test_a_pending_task_is_shown_as_text_and_its_state_to_anybody_who_knows_it(service):
    """The list shows members of the interface; the state changes as the task runs."""
    task_id = _add(service, "test.fine", number=1, password="hunter2")
    user, staff = service.client("user"), service.client("staff")

    (pending,) = staff.get(f"{PATH}pending/").json()
    before = user.get(f"{PATH}{task_id}/")
    overview = staff.get(PATH).json()
    service.host.tasks.drain(5)
    after = user.get(f"{PATH}{task_id}/")

    assert set(pending) == {"pk", "key", "lock", "task_id", "name", "func", "args", "kwargs"}
    assert (pending["task_id"], pending["key"], pending["args"]) == (task_id, "plugyard", "()")
    assert pending["kwargs"].startswith("{'number': 1, ")
    assert "hunter2" not in pending["kwargs"]
    waiting = {"exists": True, "pending": True, "complete": False, "success": False, "http_status": 200}
    assert before.json() == {"task_id": task_id, **waiting}
    assert overview["pending_tasks"] == 1
    assert overview["is_running"] is False
    assert after.json() == {"task_id": task_id, **waiting, "pending": False, "complete": True, "success": True}
    assert staff.get(f"{PATH}pending/").json() == []


@pytest.mark.parametrize("task_id", ["0" * 32, "x", "%00", "pending%2F", "'", "%ED%A0%80", "9" * 5000])
def test_unknown_tasks_have_the_same_shape(service, task_id):
    """Whatever is asked for that is no task gets 404 and nothing else."""
    response = service.client("user").get(f"{PATH}{task_id}/")

    assert response.status_code == 404
    if "exists" in response.json():
        flags = {key: value for key, value in response.json().items() if key != "task_id"}
        assert flags == {"exists": False, "pending": False, "complete": False, "success": False, "http_status": 404}


def test_failed_tasks_are_searched_ordered_and_deleted_by_text(service):
    """A failed task shows message and traceback without secrets; bulk deletes name it by its identifier."""
    first, second = _add(service, "test.fail"), _add(service, "test.fail", a=1)
    service.host.tasks.drain(5)
    staff = service.client("staff")

    shown = staff.get(f"{PATH}failed/", params={"ordering": "pk", "search": "TEST.f", "limit": 1}).json()

    assert shown["count"] == 2
    (one,) = shown["results"]
    assert set(one) == {
        "pk", "name", "func", "args", "kwargs", "started", "stopped", "attempt_count", "result"
    }  # fmt: skip
    assert one["pk"] == min(first, second)
    assert "GiveUpError: no use" in one["result"]
    assert "abcdef" not in one["result"]
    assert one["attempt_count"] == 1
    assert _pks(service, "failed", search="nothing") == []
    assert _pks(service, "failed", ordering="-pk") == sorted([first, second], reverse=True)
    assert staff.get(f"{PATH}{first}/").json()["success"] is False
    assert staff.request("DELETE", f"{PATH}failed/", json={"items": [first, "0" * 32]}).status_code == 204
    assert _ids(service) == [second]
    assert staff.request("DELETE", f"{PATH}failed/", json={"filters": {"func": "test.fail"}}).status_code == 204
    assert _ids(service) == []


@pytest.mark.parametrize("area", ["pending", "failed"])
@pytest.mark.parametrize(
    "body", [{}, {"items": []}, {"items": ["99999999"]}, {"items": [{}]}, {"items": [2**70]}, {"items": ["a\x00b"]}]
)
def test_bulk_deletes_that_name_nothing_are_refused(service, area, body):
    """Nothing is deleted by mistake."""
    _add(service, "test.fine")

    response = service.client("staff").request("DELETE", f"{PATH}{area}/", json=body)

    assert response.status_code == 400
    assert isinstance(response.json()["non_field_errors"], str)
    assert len(_ids(service)) == 1


def test_the_whole_pending_queue_is_emptied_at_once(service):
    """``all=true`` takes back everything that waits; what failed stays."""
    failed = _add(service, "test.fail")
    service.host.tasks.drain(5)
    one, other = _add(service, "test.fine"), _add(service, "test.fine")
    staff = service.client("staff")
    (pk, _) = _pks(service, "pending")

    assert staff.request("DELETE", f"{PATH}pending/", json={"items": [str(pk)]}).status_code == 204
    assert _ids(service) == [failed, other]
    assert staff.delete(f"{PATH}pending/?all=").status_code == 400
    assert staff.delete(f"{PATH}pending/?all=true").status_code == 204

    assert _ids(service) == [failed]
    assert service.client("user").get(f"{PATH}{one}/").status_code == 404


def test_schedules_are_listed_and_cannot_be_changed(service):
    """The host's own jobs are among what is done again and again, with their latest run."""
    tasks = service.host.tasks
    tasks.run_due_schedules()
    staff = service.client("staff")
    found = {one["name"]: one for one in staff.get(f"{PATH}scheduled/", params={"search": "forget"}).json()}

    tidy = found["tasks.forget"]
    assert (tidy["func"], tidy["schedule_type"], tidy["repeats"]) == ("tasks.forget", "D", -1)
    assert (tidy["last_run"], tidy["success"], tidy["task"], tidy["args"]) == (None, None, None, "()")
    assert staff.get(PATH).json()["scheduled_tasks"] >= len(found)
    with service.host.database.write() as session:
        due = update(SCHEDULE).where(SCHEDULE.c.name == "tasks.forget").values(next_run=now() - timedelta(seconds=1))
        session.execute(due)
    tasks.run_due_schedules()
    tasks.drain(5)

    (tidy,) = staff.get(f"{PATH}scheduled/", params={"search": "tasks.forget", "ordering": "-last_run"}).json()
    assert tidy["success"] is True
    assert staff.get(f"{PATH}{tidy['task']}/").json()["success"] is True
    assert staff.request("DELETE", f"{PATH}scheduled/", json={"items": [tidy["pk"]]}).status_code == 405


def test_a_task_is_followed_to_its_end(service):
    """The stream shows progress and the outcome, and ends; unknown tasks are 404."""
    task_id = _add(service, "test.fine")
    service.host.tasks.drain(5)
    with service.host.database.write() as session:
        session.execute(update(TASK).where(TASK.c.task_id == task_id).values(progress=3, total=4))
    user = service.client("user")

    response = user.get(f"{PATH}{task_id}/events/")

    assert response.headers["content-type"].startswith("text/event-stream")
    assert '"status":"succeeded","attempts":1,"progress":3,"total":4' in response.text
    assert response.text.endswith('event: result\ndata: {"success":true}\n\n')
    assert user.get(f"{PATH}{'0' * 32}/events/").status_code == 404


def test_a_long_list_pages_by_the_database(service):
    """Thousands of pending tasks are counted and paged."""
    row = {"func": "test.fine", "name": "n", "args": "()", "kwargs": "{}", "data": "{}", "status": "waiting"}
    rest = {"is_open": True, "has_failed": False, "lock": now(), "created": now(), "attempts": 0}
    numbers = {"progress": 0, "total": 0}
    with service.host.database.write() as session:
        session.execute(
            insert(TASK), [{"task_id": f"{number:032x}", **row, **rest, **numbers} for number in range(3000)]
        )

    page = service.client("staff").get(f"{PATH}pending/", params={"limit": 2, "offset": 2998}).json()

    assert page["count"] == 3000
    assert [one["task_id"] for one in page["results"]] == [f"{number:032x}" for number in (2998, 2999)]
