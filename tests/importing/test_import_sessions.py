"""The way of a file from its upload to its records."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from host.contract.values import User
from host.errors import InvalidInputError, NotAllowedError, NotFoundError
from host.importing.columns import FieldsRefusedError
from host.importing.tables import MAPS, SESSIONS
from host.storage.listing import Choice
from host.storage.tables import now
from tests.importing.bench import ANN, ImportBench, Killed

EVE = User(id=7, username="eve")
TABLE = "Inscription,room,WIDTH\nTop,Attic,120\n\nBottom,,\n"


def many(count: int) -> str:
    """Return a table of so many shelves."""
    return "name,width\n" + "".join(f"Shelf {number},{number + 1}\n" for number in range(count))


def test_a_file_becomes_records(imports: ImportBench):
    """Columns are found by their names, rows are converted, and in the end nothing but the session is left."""
    key = imports.begin(TABLE)
    begun = imports.session(key)
    imports.importing.columns.accept(key, by=ANN)
    reading = imports.session(key)
    imports.work()
    read, rows = imports.session(key), imports.rows(key)
    accepted = imports.importing.accepting.rows(key, [rows[1].id, rows[0].id, rows[0].id], by=ANN)
    done = imports.session(key)

    assert (begun.status, begun.columns, begun.field_defaults) == (
        10,
        ["Inscription", "room", "WIDTH"],
        {"room": "Hall"},
    )
    assert (reading.status, read.status, read.row_count, done.status) == (20, 30, 2, 40)
    assert [(row.row_index, row.data, row.valid, row.errors) for row in rows] == [
        (0, {"name": "Top", "room": "Attic", "width": "120"}, True, None),
        (2, {"name": "Bottom", "room": "Hall", "width": ""}, True, None),
    ]
    assert rows[0].row_data == {"Inscription": "Top", "room": "Attic", "WIDTH": "120"}
    assert accepted == [rows[1].id, rows[0].id]
    assert imports.shelves() == [("Bottom", "Hall", None), ("Top", "Attic", 120)]
    assert imports.rows(key) == []
    assert (done.row_count, done.completed_row_count, done.row_count_history, done.completed_row_count_history) == (
        0, 0, 2, 2,
    )  # fmt: skip
    assert imports.told() == ["Import of shelves.csv is complete"]
    assert imports.events == [("import.completed", {"session": key, "model_type": "shelf", "records": 2})]


def test_a_killed_worker_loses_and_doubles_nothing(imports: ImportBench):
    """Reading and accepting go on where they were."""
    count, killed_after = 620, 500
    key = imports.begin(many(count))
    imports.importing.columns.accept(key, by=ANN)
    with pytest.raises(Killed):
        imports.work(killed_after=killed_after)
    half_read = imports.session(key)
    imports.work()
    rows = imports.rows(key)
    imports.importing.accepting.begin_all(key, by=ANN)
    with pytest.raises(Killed):
        imports.work(killed_after=killed_after)
    half_done = len(imports.shelves())
    imports.work()

    assert (half_read.status, half_read.row_count) == (20, killed_after)
    assert [row.row_index for row in rows] == list(range(count))
    assert half_done == killed_after
    assert imports.shelves() == [(f"Shelf {number}", "Hall", number + 1) for number in range(count)]
    assert imports.session(key).status == 40


def test_rows_are_accepted_all_or_none(imports: ImportBench):
    """A value that is taken shows only when it is stored; then nothing is, and the row says why."""
    key = imports.read("name\nA\nB\nA\nC\n")
    first, _, third, last = imports.rows(key)

    with pytest.raises(InvalidInputError) as refused:
        imports.importing.accepting.rows(key, [last.id, first.id, third.id], by=ANN)
    after = imports.rows(key)

    assert str(third.id) in refused.value.fields["rows"][0]
    assert imports.shelves() == []
    assert [(row.valid, row.complete) for row in after] == [(True, False), (True, False), (False, False), (True, False)]
    assert "another record" in after[2].errors["non_field_errors"][0]

    imports.importing.rows.change(third.id, {"name": "D"}, by=ANN)
    imports.importing.accepting.begin_all(key, by=ANN)
    imports.work()
    assert [name for name, *_ in imports.shelves()] == ["A", "B", "D", "C"]
    assert imports.session(key).status == 40


def test_accepting_all_leaves_what_is_wrong(imports: ImportBench):
    """Rows that are refused only now are marked, and all others become records."""
    key = imports.read("name,width\nA,1\nB,none\nA,2\nC,3\n")

    imports.importing.accepting.begin_all(key, by=ANN)
    imports.work()
    rows = imports.rows(key)

    assert [name for name, *_ in imports.shelves()] == ["A", "C"]
    assert [(row.complete, row.valid) for row in rows] == [(True, True), (False, False), (False, False), (True, True)]
    assert rows[1].errors == {"width": ["A valid integer is required."]}
    assert (imports.session(key).status, imports.session(key).completed_row_count) == (30, 2)
    assert imports.told() == ["Import of shelves.csv needs your attention"]


def test_nobody_accepts_a_row_twice(imports: ImportBench):
    """Of several who accept the same rows at once, one does."""
    key = imports.read("name\nA\nB\nC\n")
    wanted = [row.id for row in imports.rows(key)][:2]

    def accept(_number: int) -> str:
        try:
            imports.importing.accepting.rows(key, wanted, by=ANN)
        except InvalidInputError as error:
            return error.fields["rows"][0].split(":")[0]
        return "accepted"

    with ThreadPoolExecutor(4) as pool:
        found = sorted(pool.map(accept, range(4)))

    assert found == ["These are complete already"] * 3 + ["accepted"]
    assert [name for name, *_ in imports.shelves()] == ["A", "B"]
    assert imports.session(key).completed_row_count == 2


@pytest.mark.parametrize("lost", ["account", "rights"])
def test_accepting_all_needs_the_rights_when_it_is_done(sqlite_imports: ImportBench, lost: str):
    """Who was switched off, or asked with a client of fewer rights, imports nothing, and the session says so."""
    imports = sqlite_imports
    key = imports.read("name\nA\n")
    imports.importing.accepting.begin_all(key, by=ANN)
    if lost == "account":
        imports.gone.add(ANN.id)
    else:
        imports.tasks[0][1]["is_superuser"] = False
    imports.work()

    assert imports.shelves() == []
    assert ("switched off" if lost == "account" else "may not import") in imports.session(key).error
    assert imports.rows(key)[0].valid


def test_a_row_that_is_being_accepted_is_not_changed(imports: ImportBench):
    """What a row shows is what its record was made of: an edit comes before that, or is refused."""
    key = imports.read("name\nA\nB\n")
    row = imports.rows(key)[0]
    failures: list[InvalidInputError] = []

    def change() -> None:
        try:
            imports.importing.rows.change(row.id, {"name": "C"}, by=ANN)
        except InvalidInputError as error:
            failures.append(error)

    with ThreadPoolExecutor(1) as pool:
        imports.while_saving = lambda: wait([pool.submit(change)], timeout=0.1)
        imports.importing.accepting.rows(key, [row.id], by=ANN)

    after = imports.rows(key)[0]
    assert len(failures) == 1
    assert (after.data["name"], after.complete, imports.shelves()[0][0]) == ("A", True, "A")


def test_no_id_is_given_twice(imports: ImportBench):
    """Who still means a row that was read before, or a session that is gone, meets no other one."""
    key = imports.read("name\nA\nB\n")
    before = {row.id for row in imports.rows(key)}
    imports.importing.columns.accept(key, by=ANN)
    imports.work()
    after = {row.id for row in imports.rows(key)}
    imports.importing.sessions.delete(key, by=ANN)

    assert not before & after
    assert imports.begin("name\nC\n") > key


def test_records_are_updated(sqlite_imports: ImportBench):
    """Only what the file says something of is changed, in the record that the id names."""
    imports = sqlite_imports
    imports.importing.accepting.rows(
        first := imports.read("name,room,width\nA,Attic,5\nB,Attic,6\n"),
        [row.id for row in imports.rows(first)],
        by=ANN,
    )
    with imports.database.read() as connection:
        keys = list(connection.exec_driver_sql("SELECT id FROM bench_shelf ORDER BY id").scalars())
    key = imports.read(f"id,width,room\n{keys[0]},,Cellar\n{keys[1]},9,\nx,1,Hall\n", update_records=True)
    available, rows = imports.session(key).available_fields, imports.rows(key)

    imports.importing.accepting.rows(key, [row.id for row in rows[:2]], by=ANN)

    assert next(iter(available)) == "id"
    assert [name for name, info in available.items() if info["required"]] == ["id"]
    assert rows[2].errors == {"id": ["The id of a record is required, a whole number."]}
    assert imports.shelves() == [("A", "Cellar", None), ("B", "", 9)]


def test_references_are_looked_up(sqlite_imports: ImportBench):
    """By id, then by other fields; filters narrow them, and a text that means two records means none."""
    imports = sqlite_imports
    start = imports.read("name,room\nA,X\nB,X\nC,Y\n")
    imports.importing.accepting.rows(start, [row.id for row in imports.rows(start)], by=ANN)
    with imports.database.read() as connection:
        a, b, c = connection.exec_driver_sql("SELECT id FROM bench_shelf ORDER BY name").scalars()
    lines = f"name,above\nn1,{b}\nn2,C\nn3,X\nn4,Y\nn5,nothing\nn6,\nn7,{2**70}\n"

    rows = imports.rows(imports.read(lines))
    narrowed = imports.rows(imports.read(lines, field_filters={"above": {"room": "X"}}))

    assert [row.data["above"] for row in rows] == [b, c, "X", c, "nothing", "", str(2**70)]
    assert [row.valid for row in rows] == [True, True, False, True, False, True, False]
    assert rows[2].errors == {"above": ['"X" names more than one shelf; name it by its id.']}
    assert rows[4].errors == {"above": ['"nothing" names no shelf that there is, by id, name, room.']}
    assert [row.valid for row in narrowed] == [True, False, False, False, False, True, False]
    assert a < b


def test_a_lookup_field_alone_counts(sqlite_imports: ImportBench):
    """Where somebody says by which field records are named, no other is tried, and columns are used once."""
    imports = sqlite_imports
    key = imports.begin("name,above,other\nn,1,x\n")
    with imports.database.read() as connection:
        maps = {row.field: row.id for row in connection.execute(MAPS.select().where(MAPS.c.session_id == key))}
    change = imports.importing.columns.change

    change(maps["above"], {"lookup_field": "name"}, by=ANN)
    for values, member in (
        ({"lookup_field": "width"}, "lookup_field"),
        ({"column": "nowhere"}, "column"),
        ({"column": "name"}, "column"),
    ):
        with pytest.raises(InvalidInputError) as refused:
            change(maps["above"], values, by=ANN)
        assert list(refused.value.fields) == [member]
    with pytest.raises(InvalidInputError):
        change(maps["name"], {"lookup_field": "name"}, by=ANN)
    imports.importing.columns.accept(key, by=ANN)
    imports.work()

    assert imports.rows(key)[0].errors == {"above": ['"1" names no shelf that there is, by name.']}


def test_each_wrong_step_is_refused(sqlite_imports: ImportBench):
    """What a state does not allow changes nothing."""
    imports, services = sqlite_imports, sqlite_imports.importing
    key = imports.begin("room\nAttic\n")

    with pytest.raises(InvalidInputError, match="status 10"):
        services.accepting.rows(key, [1], by=ANN)
    with pytest.raises(InvalidInputError, match="status 10"):
        services.accepting.begin_all(key, by=ANN)
    with pytest.raises(FieldsRefusedError) as missing:
        services.columns.accept(key, by=ANN)
    assert missing.value.fields["fields"] == ["name"]
    services.sessions.change(key, {"field_overrides": {"name": "Over"}}, by=ANN)
    services.columns.accept(key, by=ANN)
    services.columns.accept(key, by=ANN)
    assert imports.work() == ["nothing to do: the session has moved on", "1 rows"]
    (row,) = imports.rows(key)
    assert row.data == {"name": "Over", "room": "Attic"}
    services.accepting.rows(key, [row.id], by=ANN)
    for step in (
        lambda: services.columns.accept(key, by=ANN),
        lambda: services.accepting.rows(key, [row.id], by=ANN),
        lambda: services.sessions.change(key, {"update_records": True}, by=ANN),
    ):
        with pytest.raises(InvalidInputError, match=r"complete|status 40"):
            step()
    with pytest.raises(NotFoundError):
        services.rows.change(row.id, {}, by=ANN)


def test_rows_are_put_right(sqlite_imports: ImportBench):
    """An edit replaces all values and clears what was wrong; the plugin has a say; completed rows stay."""
    imports, services = sqlite_imports, sqlite_imports.importing
    imports.wrong["Bad"] = "This name is bad."
    key = imports.read("name,width\nBad,1\nGood,0\n")
    bad, good = imports.rows(key)
    services.rows.change(bad.id, {"name": "<b>x</b>", "width": [], "above": {"a": 1}, "more": 1}, by=ANN)
    worse = imports.rows(key)[0]
    services.rows.change(bad.id, {"name": "Better", "width": 3}, by=ANN)
    better = imports.rows(key)[0]
    services.accepting.rows(key, [bad.id], by=ANN)

    assert (bad.errors, good.errors) == (
        {"name": ["This name is bad."]},
        {"width": ["Ensure this value is greater than or equal to 1."]},
    )
    assert set(worse.errors) == {"name", "width", "above"}
    assert (better.errors, better.valid, better.data) == (None, True, {"name": "Better", "room": "Hall", "width": 3})
    with pytest.raises(InvalidInputError, match="record already"):
        services.rows.change(bad.id, {"name": "Late"}, by=ANN)
    services.rows.delete(good.id, by=ANN)
    assert (imports.session(key).status, imports.session(key).row_count_history) == (40, 1)


@pytest.mark.parametrize("what", ["fails", "is gone", "loses its file"])
def test_reading_that_cannot_go_on_goes_back(sqlite_imports: ImportBench, what: str):
    """The session waits at its mapping with the reason, and the user is told."""
    imports = sqlite_imports
    key = imports.begin(TABLE)
    imports.importing.columns.accept(key, by=ANN)
    before = imports.registries.current
    if what == "fails":
        imports.failure = RuntimeError("the shelf collapsed")
    elif what == "is gone":
        imports.registries.current = type(before)(generation=2)
    else:
        imports.store.delete(imports.session(key).data_file)

    imports.work()
    session = imports.session(key)

    assert (session.status, session.row_count) == (10, 0)
    assert session.error
    assert imports.told() == ["Import of shelves.csv has failed"]
    assert bool(imports.reports) == (what == "fails")


def test_a_session_whose_task_was_lost_goes_back(sqlite_imports: ImportBench):
    """Nobody polls for ever for a task that is not there any more."""
    imports = sqlite_imports
    key = imports.begin(TABLE)
    imports.importing.columns.accept(key, by=ANN)

    assert imports.importing.extracting.settle() == 1
    assert (imports.session(key).status, imports.importing.extracting.settle()) == (10, 0)


def test_another_file_begins_anew(sqlite_imports: ImportBench):
    """Rows go, columns that were chosen stay where they are, and the file before is removed."""
    imports = sqlite_imports
    key = imports.read(TABLE)
    before = imports.session(key).data_file
    from_another = imports.begin("room,label\nCellar,Low\n")

    imports.importing.sessions.change(key, {"field_filters": {"above": {"room": "X"}}}, by=ANN)
    kept = len(imports.rows(key))
    imports.importing.sessions.change(key, {"update_records": True}, by=ANN)
    anew = imports.session(key)

    assert (kept, imports.rows(key), anew.status, anew.row_count) == (2, [], 10, 0)
    assert anew.data_file == before
    assert imports.store.exists(before)
    imports.importing.sessions.delete_many(Choice(user=ANN, keys=[key, from_another]), by=ANN)
    assert list(imports.store.walk("importer/")) == []


def test_old_sessions_go_with_their_files(sqlite_imports: ImportBench):
    """After some days nothing is left of a session, complete or not."""
    imports = sqlite_imports
    old, new = imports.read(TABLE), imports.begin(TABLE)
    with imports.database.write() as session:
        changed = update(SESSIONS).where(SESSIONS.c.id == old).values(timestamp=now() - timedelta(days=6))
        session.connection().execute(changed)

    assert imports.importing.sessions.expire() == 1
    assert imports.rows(old) == []
    assert [info.path for info in imports.store.walk("importer/")] == [imports.session(new).data_file]


def test_others_keep_out(sqlite_imports: ImportBench):
    """Whoever has no right sees nothing, changes nothing and reads no file."""
    imports, services = sqlite_imports, sqlite_imports.importing
    key = imports.read(TABLE)
    row = imports.rows(key)[0]
    steps: list[tuple[type[Exception], Any]] = [
        (NotFoundError, lambda: services.sessions.change(key, {}, by=EVE)),
        (NotFoundError, lambda: services.sessions.delete(key, by=EVE)),
        (NotFoundError, lambda: services.rows.change(row.id, {}, by=EVE)),
        (NotFoundError, lambda: services.rows.delete(row.id, by=EVE)),
        (NotAllowedError, lambda: services.columns.accept(key, by=EVE)),
        (NotAllowedError, lambda: services.accepting.rows(key, [row.id], by=EVE)),
        (NotAllowedError, lambda: services.accepting.begin_all(key, by=User(id=8, username="bob", is_staff=True))),
    ]

    for kind, step in steps:
        with pytest.raises(kind):
            step()

    path = imports.session(key).data_file
    assert services.files.may_read(ANN, path)
    assert not services.files.may_read(EVE, path)
    assert len(imports.rows(key)) == 2
