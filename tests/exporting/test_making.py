"""Making exports: the file, what is said of it, and everything that can go wrong on the way."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import pytest
from sqlalchemy import delete, select

from host import ExportColumn, ExportPlan, User
from host.errors import BusyError, InvalidInputError, NotAllowedError
from host.exporting.exports import MOST_AT_ONCE
from host.storage.engine import Database
from host.tasks.jobs import GiveUpError
from host.tasks.table import TASK as TASKS
from tests.exporting.exporting import ADA, COLUMNS, PLAN, Doubling, Lamps, Lines, LineWriter, Workshop

RECORDED = "The export could not be made. The error was recorded; try again later, or tell an administrator."
REPORTED = "Plugin 'exporter' failed to export this; an error report says why."


@pytest.fixture
def workshop(database: Database, tmp_path: Path) -> Workshop:
    """Exports on a database of each kind."""
    return Workshop(database, tmp_path)


@pytest.fixture
def small(sqlite_database: Database, tmp_path: Path) -> Workshop:
    """Exports on SQLite, for what has nothing to do with the database."""
    return Workshop(sqlite_database, tmp_path)


def test_an_export_is_begun_made_and_told_of(workshop: Workshop):
    """The output is there at once and complete later; its file holds all rows, and nothing temporary is left."""
    key = workshop.begin()
    begun = workshop.output(key)
    result = workshop.run()
    done = workshop.output(key)

    assert (begun.user_id, begun.output_type, begun.plugin, begun.template_name) == (1, "export", "exporter", "lamps")
    assert (begun.complete, begun.output) == (False, None)
    assert result == ["2 rows"]
    assert (done.complete, done.total, done.progress, done.errors) == (True, 2, 2, None)
    assert workshop.text(key) == '["ID", "Owner name"]\n[1, "Ada"]\n[2, null]\nend\n'
    assert done.output.startswith(f"data_output/{key}/lamps_")
    assert done.output.endswith(".jsonl")
    assert workshop.told() == [("The export of lamps is ready", "2 rows.", f"/media/{done.output}")]
    assert workshop.lamps.opened == [(ADA, "a=1")]
    assert workshop.lamps.closed == 1
    assert list(workshop.folder.iterdir()) == []


def test_an_interrupted_export_is_made_again(workshop: Workshop):
    """A run that was killed after it had stored the file does not stop the next one; a later one changes nothing."""
    key = workshop.begin()
    path = f"data_output/{key}/a.jsonl"
    workshop.load(exporter=Lines(ExportPlan(columns=COLUMNS, file_name="a")))
    (workshop.folder.parent / "left").write_bytes(b"half")
    with (workshop.folder.parent / "left").open("rb") as left:
        workshop.files.save(path, left)

    workshop.run()
    made = workshop.output(key)
    with workshop.database.read() as connection:
        data = connection.execute(select(TASKS.c.data)).scalar_one()
    again = workshop.exports.make(**json.loads(data))

    assert made.complete
    assert made.output != path
    assert made.output.endswith("/a.jsonl")
    assert again == "nobody wants it any more"
    assert workshop.output(key).output == made.output
    assert workshop.stored() == sorted([path, made.output])
    assert len(workshop.told()) == 1


def test_a_deleted_output_ends_its_export(workshop: Workshop):
    """Before, while and after its rows are read: quietly, and without a file."""
    before = workshop.begin()
    workshop.outputs.delete(before, by=ADA)
    assert workshop.run() == ["nobody wants it any more"]

    key = workshop.begin()
    workshop.lamps.batches = _endless(lambda: workshop.outputs.delete(key, by=ADA))
    seconds = count(0.0)
    assert workshop.run(workshop.make_exports(clock=lambda: next(seconds))) == ["nobody wants it any more"]

    after = workshop.begin()
    workshop.lamps.batches = [[{"pk": 1}]]

    def save(path: str, content: BinaryIO) -> int:
        workshop.outputs.delete(after, by=ADA)
        return workshop.files.save(path, content)

    assert workshop.run(workshop.make_exports(files=SimpleNamespace(save=save))) == ["nobody wants it any more"]
    assert (workshop.stored(), workshop.told(), workshop.bench.reported) == ([], [], [])
    assert list(workshop.folder.iterdir()) == []
    assert workshop.lamps.closed == 2  # the first was not begun to be read


def _endless(then: Callable[[], object]) -> Iterator[list[dict[str, int]]]:
    yield [{"pk": 1}]
    then()
    while True:
        yield [{"pk": 2}]


def test_the_account_must_still_have_its_rights(small: Workshop):
    """Rights that were lost count as lost, those that a client was not given are not taken, and nobody is nobody."""
    small.begin(by=User(id=1, username="ada"))
    small.run()
    small.begin()
    small.change_ada(is_staff=False)
    small.run()
    key = small.begin()
    small.change_ada(is_active=False)
    small.run()

    assert [user.is_staff for user, _ in small.lamps.opened] == [False, False]
    assert small.output(key).errors == {"error": "The account that wanted this export is gone or switched off."}


@pytest.mark.parametrize(
    ("error", "said"),
    [
        pytest.param(NotAllowedError("You may not."), "You may not.", id="right lost"),
        pytest.param(InvalidInputError({"search": ["Too long."]}), "search: Too long.", id="bad search"),
    ],
)
def test_a_list_that_is_refused_is_said_to_be(small: Workshop, error: Exception, said: str):
    """Whoever waits reads why, and is told; nobody is bothered with an error report."""
    small.lamps.error = error
    key = small.begin()

    assert small.run() == [f"refused: {said}"]
    assert small.output(key).errors == {"error": said}
    assert small.told() == [("The export of lamps failed", said, "")]
    assert small.bench.reports == []


def test_what_nobody_foresaw_fails_for_good(small: Workshop):
    """The task ends with an error, and the output says that it was recorded, but not what it was."""
    small.lamps.error = RuntimeError("secret")
    key = small.begin()

    with pytest.raises(GiveUpError, match="RuntimeError"):
        small.run()

    assert small.output(key).errors == {"error": RECORDED}


class Raising(LineWriter):
    """Fails in its own way."""

    def write(self, rows):
        if rows[0][0] == 1:
            raise ZeroDivisionError("secret")


class Closing(LineWriter):
    """Closes what is not its own."""

    def close(self):
        self.file.close()


def _stands_twice() -> ExportPlan:
    return ExportPlan(columns=[ExportColumn(name="pk", label="a"), ExportColumn(name="owner.name", label="a")])


@pytest.mark.parametrize(
    ("plugin", "path"),
    [
        pytest.param(Lines(ValueError("secret")), "plan_export", id="a plan that raises"),
        pytest.param(Lines("no plan"), "plan_export", id="no plan"),
        pytest.param(Lines(ExportPlan()), "plan_export", id="no columns"),
        pytest.param(Lines(_stands_twice()), "plan_export", id="a heading twice"),
        pytest.param(Lines(PLAN), "plan_export", id="an unknown column"),
        pytest.param(Lines(ExportPlan(columns=["pk"])), "plan_export", id="a column of text"),  # type: ignore[list-item]
        pytest.param(Lines(ExportPlan(columns=5)), "plan_export", id="columns that are a number"),  # type: ignore[arg-type]
        pytest.param(Lines(open_=lambda *_: 5), "export_format(lines).write", id="no writer"),
        pytest.param(Lines(open_=lambda *_: 1 / 0), "export_format(lines).open", id="a format that raises"),
        pytest.param(Lines(open_=Raising), "export_format(lines).write", id="a writer that raises"),
        pytest.param(Lines(open_=Closing), "export_format(lines).close", id="a writer that closes the file"),
    ],
)
def test_a_plugin_that_fails_is_named_and_reported(small: Workshop, plugin: Any, path: str):
    """What it raised stands in an error report and nowhere else; nothing is stored."""
    small.load(exporter=plugin)
    key = small.begin()

    assert small.run() == ["plugin 'exporter' failed"]
    assert small.output(key).errors == {"error": REPORTED}
    assert small.bench.reported == [f"plugin.exporter.{path}"]
    assert small.stored() == []
    assert small.lamps.closed == 1


def test_a_full_disk_is_no_fault_of_a_plugin(small: Workshop):
    """The plugin is not charged; the task says what happened."""

    def full(*_: Any) -> Any:
        raise OSError(28, "No space left on device")

    small.load(exporter=Lines(open_=full))
    key = small.begin()

    with pytest.raises(GiveUpError, match="OSError"):
        small.run()
    assert small.output(key).errors == {"error": RECORDED}
    assert small.bench.reports == []


def test_a_plugin_changes_refuses_and_names(small: Workshop):
    """It gives other rows and columns, a name that is made safe, or a reason why not."""
    small.load(exporter=Doubling(PLAN))
    key = small.begin()
    assert small.run() == ["4 rows"]
    assert small.text(key) == '["Who", "pk"]\n["ADA", 1]\n["ADA", 1]\n["NONE", 2]\n["NONE", 2]\nend\n'
    assert small.output(key).output == f"data_output/{key}/x_b_ lamps.jsonl"

    small.load(exporter=Lines(ExportPlan(refusal="Not on Sundays.")))
    refused = small.begin()
    small.run()
    assert small.output(refused).errors == {"error": "Not on Sundays."}


def test_the_plugin_learns_what_is_wanted(small: Workshop):
    """The job says who wants what of which list; columns that these callers do not see are not there."""
    small.load(exporter=(plugin := Lines()))
    small.lamps.columns = (*COLUMNS, ExportColumn(name="secret"), ExportColumn(name="seen.by"))
    small.lamps.optional = ("secret", "seen")
    small.lamps.batches = [[{"pk": 1, "owner": {}, "seen": {"by": (1, 2)}}]]
    key = small.begin()
    small.run()

    (job,) = plugin.jobs
    assert (job.list_name, job.label, job.total, job.user, job.format) == ("lamps", "lamps", 1, ADA, "lines")
    assert job.options == {"export_a": 1}
    assert [column.name for column in job.columns] == ["pk", "owner.name", "seen.by"]
    assert small.text(key).splitlines()[1] == "[1, null, [1, 2]]"


def test_what_was_chosen_may_be_gone(small: Workshop):
    """A list, a format or a plugin that is not there any more as the task runs."""
    keys = [small.begin()]
    small.load(exporter=SimpleNamespace())
    small.run()
    small.load(exporter=Lines())
    keys.append(small.begin())
    small.load(other=Lines())
    small.run()
    small.load(exporter=Lines())
    keys.append(small.begin())
    small.exports.sources = {}
    small.run()

    assert [small.output(key).errors["error"] for key in keys] == [
        "There is no export format 'lines' any more; choose another.",
        "The plugin 'exporter' does not export this any more; choose another.",
        "The list 'lamps' cannot be exported any more.",
    ]


def test_no_account_keeps_the_workers_to_itself(small: Workshop):
    """So many exports at once, and no more before one is ready or deleted."""
    keys = [small.begin() for _ in range(MOST_AT_ONCE)]

    with pytest.raises(BusyError, match=f"{MOST_AT_ONCE} of your exports"):
        small.begin()
    small.outputs.delete(keys[0], by=ADA)
    assert small.begin()


def test_an_export_without_a_task_is_settled(workshop: Workshop):
    """What was taken out of the queue says so; what still waits is left alone."""
    lost, waits = workshop.begin(), workshop.begin()
    with workshop.database.write() as session:
        session.connection().execute(delete(TASKS).where(TASKS.c.data.contains(f'"output": {lost},')))

    assert (workshop.exports.settle(), workshop.exports.settle()) == (1, 0)
    assert "taken out of the queue" in workshop.output(lost).errors["error"]
    assert workshop.output(waits).errors is None
    assert [name for name, _, _ in workshop.told()] == ["The export of lamps failed"]


def test_what_can_be_chosen_is_named(small: Workshop):
    """Unknown names are refused with those that there are, both at once; without plugins the remedy is said."""
    with pytest.raises(InvalidInputError) as refused:
        small.exports.choose("lamps", "x" * 500, "inventree")
    assert refused.value.fields == {
        "export_format": [f'"{"x" * 100}" is not a valid choice. There are: lines.'],
        "export_plugin": ['"inventree" is not a valid choice. There are: exporter.'],
    }
    assert small.exports.choose("lamps", "lines", "inventree-exporter").exporter.key == "exporter"
    small.load()
    with pytest.raises(InvalidInputError, match="Activate one, such as 'exporter'"):
        small.exports.choose("lamps", None, None)


def test_temporary_files_of_killed_processes_go(small: Workshop):
    """Those of a day ago; younger ones may be in use."""
    for name, age in (("old", 2 * 86_400), ("young", 60)):
        folder = small.folder / name
        folder.mkdir(parents=True)
        (folder / "rows").write_text("1")
        stamp = folder.stat().st_mtime - age
        os.utime(folder, (stamp, stamp))
    small.begin()
    small.run()

    assert [path.name for path in small.folder.iterdir()] == ["young"]


def test_an_export_cannot_go_on_for_ever(small: Workshop):
    """A list that grows faster than it is read ends some time."""
    hours = count(0.0, 3600.0)
    key = small.begin()
    small.lamps = Lamps([[{"pk": 1}]] * 100)
    exports = small.make_exports(clock=lambda: next(hours))

    assert small.run(exports)[0].startswith("refused: The export took too long.")
    assert small.output(key).errors is not None
