"""The kinds of records: how a real one is made, and who may do what to it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from host.records.data_outputs import OutputType
from host.storage.tables import now
from tests.api.record_yard import Yard

Statuses = tuple[int, int, int, int]
"""For an anonymous caller, a user, the staff and a superuser."""

_NUMBERS: Final = count(1)
_TIME: Final = "2030-05-01 12:00"


def number() -> int:
    """Return a number that no record has."""
    return next(_NUMBERS)


def _attachment(yard: Yard, _caller: str) -> int:
    link = {"model_type": "part", "model_id": number(), "link": "https://example.org/plan"}
    return int(yard.keep("attachment", "id", yard.root("POST", "/api/attachment/", json=link)["pk"]))


def _error(yard: Yard, _caller: str) -> int:
    path = f"tests.{uuid.uuid4()}"
    yard.host.error_reports.record(path, "It failed.", "Traceback")
    yard.host.error_reports.flush()
    row = yard.row("error_report", "path", path)
    assert row is not None
    return int(yard.keep("error_report", "id", row["id"]))


def _news_members() -> dict[str, Any]:
    texts = {"title": "Yard", "link": "https://a.example/yard", "author": "Ada", "summary": "About the yard."}
    return {"feed_id": f"yard-{number()}", **texts}


def _news(yard: Yard, _caller: str) -> int:
    return int(yard.insert("news_entry", "id", **_news_members(), published=now(), read=False))


def _output(yard: Yard, caller: str) -> int:
    # A user sees what is their own; what is somebody else's is asked for elsewhere.
    owner = yard.users.get(caller, yard.users["user"])
    return int(yard.keep("data_output", "id", yard.host.records.data_outputs.begin(owner, OutputType.EXPORT)))


def _mail(yard: Yard, _caller: str) -> str:
    texts = {"subject": "Hello", "body": "There", "to": "ada@example.org", "sender": "yard@example.org"}
    codes = {"status": "S", "direction": "O", "priority": 3, "timestamp": now(), "attempts": 1}
    return str(yard.insert("mail_message", "global_id", global_id=str(uuid.uuid4()), **texts, **codes))


def state_members() -> dict[str, Any]:
    """Return the members of a custom state that can be created."""
    one = number()
    texts = {"name": f"YARD{one}", "label": "Held", "color": "danger", "reference_status": "BuildStatus"}
    return {"key": 100_000 + one, "logical_key": 20, **texts}


def _state_body(yard: Yard) -> dict[str, Any]:
    model = yard.root("GET", "/api/contenttype/model/part/")["pk"]
    return {"json": state_members() | {"model": model}}


def _state(yard: Yard, _caller: str) -> int:
    made = yard.root("POST", "/api/generic/status/custom/", **_state_body(yard))
    return int(yard.keep("custom_state", "id", made["pk"]))


def _session_body(_yard: Yard) -> dict[str, Any]:
    members = state_members()
    lines = [",".join([*members, "model"]), ",".join([*map(str, members.values()), "part"])]
    file = ("states.csv", "\n".join(lines).encode())
    return {"data": {"model_type": "inventreecustomuserstatemodel"}, "files": {"data_file": file}}


def import_session(yard: Yard, _caller: str = "") -> int:
    """Begin an import of one custom state."""
    made = yard.root("POST", "/api/importer/session/", **_session_body(yard))
    return int(yard.keep("import_session", "id", made["pk"]))


def _mapping(yard: Yard, _caller: str) -> int:
    if not yard.mappings:
        session = yard.root("GET", f"/api/importer/session/{import_session(yard)}/")
        yard.mappings += [mapping["pk"] for mapping in session["column_mappings"]]
    return yard.mappings.pop()


def read_import(yard: Yard) -> dict[str, Any]:
    """Read the row of an import, so that it can be accepted, and return how it is stored."""
    session = import_session(yard)
    yard.root("POST", f"/api/importer/session/{session}/accept_fields/")
    yard.host.tasks.drain(5)
    row = yard.row("import_row", "session_id", session)
    assert row is not None
    yard.keep("import_row", "id", row["id"])
    return row


def _import_row(yard: Yard, _caller: str) -> int:
    # Reading a file takes its time; more rows like the first one will do.
    yard.read_row = yard.read_row or read_import(yard)
    row = {name: value for name, value in yard.read_row.items() if name != "id"}
    return int(yard.insert("import_row", "id", **row | {"row_index": number()}))


def task(yard: Yard, column: str, **more: Any) -> Any:
    """Store a task, and return what it has in a column."""
    times = {"created": now(), "lock": now()}
    row = {"task_id": uuid.uuid4().hex, "name": "yard", "func": "tests.yard", "status": "waiting", **times, **more}
    texts = {"args": "()", "kwargs": "{}", "data": "{}", "is_open": True, "has_failed": False}
    return yard.insert("background_task", column, **{**texts, **row}, attempts=1, progress=0, total=0)


def _pending(yard: Yard, _caller: str) -> int:
    return int(task(yard, "id"))


def _failed(yard: Yard, _caller: str) -> str:
    stopped = {"status": "failed", "is_open": False, "has_failed": True, "started": now(), "stopped": now()}
    return str(task(yard, "task_id", **stopped, result="It failed."))


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of record: where it is, how one is made, and what each caller is answered."""

    path: str
    table: str
    make: Callable[[Yard, str], Any]
    """Makes a record, for a caller where it belongs to somebody, and returns its key."""
    who: Mapping[str, Statuses]
    """``list``, ``show``, ``create``, ``PATCH``, ``PUT``, ``delete``, ``bulk`` → statuses."""
    column: str = "id"
    """Column of the key."""
    parameter: str = "{id:int}"
    """What stands for the key in the endpoint's path."""
    body: Callable[[Yard], dict[str, Any]] | None = None
    """What creates another record."""
    patch: Mapping[str, Any] = field(default_factory=dict)
    """Members and columns of the same names that PATCH and PUT give other values."""
    put: Callable[[Yard], Mapping[str, Any]] = lambda _yard: {}
    """The rest of what PUT needs."""

    def operations(self) -> set[str]:
        """Return the operations that are asked for."""
        places = {"list": ("GET", ""), "create": ("POST", ""), "bulk": ("DELETE", "")}
        found = set()
        for name in self.who:
            method, end = places.get(name, ({"show": "GET", "delete": "DELETE"}.get(name, name), f"{self.parameter}/"))
            found.add(f"{method} {self.path}{end}")
        return found


_ANYONE_IN: Final = (401, 200, 200, 200)
_STAFF: Final = (401, 403, 200, 200)
_STAFF_DELETES: Final = (401, 403, 204, 204)
_ROOT: Final = (401, 403, 403, 200)
_NOT_OF_OTHERS: Final = (401, 404, 200, 200)

KINDS: Final = (
    Kind(
        path="/api/attachment/",
        table="attachment",
        make=_attachment,
        who={
            "list": _ANYONE_IN,
            "show": _ANYONE_IN,
            "create": (401, 403, 403, 201),
            "PATCH": _ROOT,
            "PUT": _ROOT,
            "delete": (401, 403, 403, 204),
            "bulk": (401, 400, 400, 204),
        },
        body=lambda _yard: {"json": {"model_type": "part", "model_id": number(), "link": "https://example.org/plan"}},
        patch={"comment": "A plan"},
        put=lambda _yard: {"model_type": "part", "model_id": number()},
    ),
    Kind(
        path="/api/admin/email/",
        table="mail_message",
        make=_mail,
        column="global_id",
        parameter="{global_id:uuid}",
        who={"list": _ROOT, "show": _ROOT, "delete": (401, 403, 403, 204), "bulk": (401, 403, 403, 204)},
    ),
    Kind(
        path="/api/data-output/",
        table="data_output",
        make=_output,
        who={"list": _ANYONE_IN, "show": _ANYONE_IN, "delete": (401, 204, 204, 204), "bulk": (401, 204, 204, 204)},
    ),
    Kind(
        path="/api/error-report/",
        table="error_report",
        make=_error,
        who={"list": _STAFF, "show": _STAFF, "delete": _STAFF_DELETES, "bulk": _STAFF_DELETES},
    ),
    Kind(
        path="/api/news/",
        table="news_entry",
        make=_news,
        who={
            "list": _STAFF,
            "show": _STAFF,
            "PATCH": _STAFF,
            "PUT": _STAFF,
            "delete": _STAFF_DELETES,
            "bulk": _STAFF_DELETES,
        },
        patch={"read": True},
        put=lambda _yard: _news_members() | {"published": _TIME},
    ),
    Kind(
        path="/api/generic/status/custom/",
        table="custom_state",
        make=_state,
        who={
            "list": _ANYONE_IN,
            "show": _ANYONE_IN,
            "create": (401, 403, 201, 201),
            "PATCH": _STAFF,
            "PUT": _STAFF,
            "delete": _STAFF_DELETES,
        },
        body=_state_body,
        patch={"label": "On hold"},
        put=lambda yard: _state_body(yard)["json"],
    ),
    Kind(
        path="/api/importer/session/",
        table="import_session",
        make=import_session,
        who={
            "list": _NOT_OF_OTHERS,
            "show": _NOT_OF_OTHERS,
            # Anybody may begin an import; whoever may not import such records comes no further.
            "create": (401, 201, 201, 201),
            "PATCH": _NOT_OF_OTHERS,
            "PUT": _NOT_OF_OTHERS,
            "delete": (401, 404, 204, 204),
            "bulk": (401, 400, 204, 204),
        },
        body=_session_body,
        patch={"field_defaults": {"color": "info"}},
    ),
    Kind(
        path="/api/importer/column-mapping/",
        table="import_column_map",
        make=_mapping,
        who={"list": _NOT_OF_OTHERS, "show": _NOT_OF_OTHERS, "PATCH": _NOT_OF_OTHERS, "PUT": _NOT_OF_OTHERS},
        patch={"column": ""},
    ),
    Kind(
        path="/api/importer/row/",
        table="import_row",
        make=_import_row,
        who={
            "list": _NOT_OF_OTHERS,
            "show": _NOT_OF_OTHERS,
            "PATCH": _NOT_OF_OTHERS,
            "PUT": _NOT_OF_OTHERS,
            "delete": (401, 404, 204, 204),
            "bulk": (401, 400, 204, 204),
        },
        patch={"data": {"name": "OTHER", "color": "info"}},
    ),
    Kind(
        path="/api/background-task/pending/",
        table="background_task",
        make=_pending,
        who={"list": _STAFF, "bulk": _STAFF_DELETES},
    ),
    Kind(
        path="/api/background-task/failed/",
        table="background_task",
        make=_failed,
        column="task_id",
        who={"list": _STAFF, "bulk": _STAFF_DELETES},
    ),
)
