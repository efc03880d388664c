"""Attachments: what is stored, in the database and in the file store, and what becomes of it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, BinaryIO

import pytest
from sqlalchemy import delete, event, select

from host.accounts.account import USERS
from host.contract.values import User
from host.errors import BusyError, InvalidInputError, NotAllowedError, NotFoundError
from host.plugins.calls import PluginFailedError
from host.records.attachments.listing import ATTACHMENT_LIST
from host.records.attachments.table import ATTACHMENT_TAGS
from host.storage.listing import Choice, Query
from host.storage.rows import Rows
from host.storage.tables import now
from tests.records.attachments.bench import KEEPER, ROOT, STAFF, picture, upload

MEGABYTE = 1024 * 1024
TOO_MUCH = b"a" * (MEGABYTE + 1)
THUMBNAIL = "attachments.thumbnail"


def page(bench, **query) -> tuple[list[dict[str, Any]], int]:
    rows, count = Rows(bench.database).page(ATTACHMENT_LIST, Query(**query))
    return [dict(zip(ATTACHMENT_LIST.members, row, strict=True)) for row in rows], count


def listed(bench, **filters) -> list[int]:
    rows, _ = page(bench, filters=filters, limit=100)
    return [row["pk"] for row in rows]


def test_a_file_and_its_row_live_and_die_together(bench):
    """Create, rename, replace and delete leave the store with what the row says, and nothing else."""
    key = bench.create(by=KEEPER, attachment=upload("my plan.png", picture()), comment="c", tags=["Red", "red", "b,c"])
    row = bench.row(key)
    assert (row["path"], row["filename"]) == ("attachments/part/1/my_plan.png", "my_plan.png")
    assert (row["file_size"], row["upload_user_id"], row["comment"]) == (len(picture()), KEEPER.id, "c")
    assert (row["tags"], row["is_file"], row["is_link"], row["is_image"]) == (["Red", "b,c"], True, False, False)
    assert bench.content(row["path"]) == picture()
    assert bench.tasks == [(THUMBNAIL, {"attachment": key})]

    assert bench.service.pictures.make(key)
    assert bench.service.pictures.make(key), "a second run changes nothing"
    row = bench.row(key)
    assert (row["is_image"], row["has_thumbnail"]) == (True, True)
    assert bench.stored() == ["attachments/part/1/my_plan.png", "attachments/part/1/my_plan_thumbnail.png"]

    bench.service.change(key, {"filename": "other.PNG", "comment": "d"}, by=KEEPER)
    row = bench.row(key)
    assert (row["filename"], row["comment"], row["is_image"]) == ("other.PNG", "d", True)
    assert bench.is_whole()

    bench.service.change(key, {"attachment": upload("notes.txt", b"notes"), "filename": "x.png"}, by=KEEPER)
    row = bench.row(key)
    assert (row["filename"], row["file_size"], row["is_image"], row["thumbnail"]) == ("notes.txt", 5, False, None)
    assert bench.stored() == ["attachments/part/1/notes.txt"]
    assert len(bench.tasks) == 1, "no image, nothing to do"

    bench.service.delete(key, by=ROOT)
    assert (bench.rows(), bench.stored()) == ([], [])
    told = {"attachment": key, "model_type": "part", "model_id": 1}
    changed = [("attachment.changed", told, KEEPER.id)] * 2
    created, deleted = ("attachment.created", told, KEEPER.id), ("attachment.deleted", told, ROOT.id)
    assert bench.events == [created, *changed, deleted]


def test_names_are_taken_once(bench):
    """Whoever comes second gets a random part in the name; that holds for rows without a file, too."""
    names = [bench.row(bench.create())["filename"] for _ in range(2)]
    assert names[0] == "plan.txt"
    assert re.fullmatch(r"plan_\w{7}\.txt", names[1])

    bench.files.delete("attachments/part/1/plan.txt")
    third = bench.create()
    assert re.fullmatch(r"plan_\w{7}\.txt", bench.row(third)["filename"])
    with pytest.raises(InvalidInputError, match="already; choose another name"):
        bench.service.change(third, {"filename": "plan.txt", "comment": "new"}, by=ROOT)
    assert bench.row(third)["comment"] == "", "all or nothing"
    first = bench.rows()[0]["id"]
    with pytest.raises(InvalidInputError, match="upload it again"):
        bench.service.change(first, {"filename": "free.txt"}, by=ROOT)


def test_many_at_once_lose_nothing(bench):
    """However uploads, renames, replacements and deletions meet, every row has its file, and no file is left."""
    keys = [bench.create(attachment=upload("a.png", picture())) for _ in range(3)]

    def work(number: int) -> None:
        key = keys[number % 3]
        try:
            match number % 6:
                case 0:
                    bench.create(attachment=upload("a.png", picture()))
                case 1:
                    bench.service.change(key, {"filename": "b.png"}, by=ROOT)
                case 2:
                    bench.service.change(key, {"attachment": upload("a.png", picture())}, by=ROOT)
                case 3:
                    bench.service.pictures.make(key)
                case 4:
                    bench.service.change(key, {"tags": ["x", str(number)]}, by=ROOT)
                case _:
                    bench.service.delete(keys[2], by=ROOT)
        except (InvalidInputError, NotFoundError, BusyError):
            pass

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(24)))

    assert bench.is_whole()
    with bench.database.read() as connection:
        tagged = connection.execute(select(ATTACHMENT_TAGS.c.attachment_id)).scalars().all()
    assert sorted(tagged) == sorted(row["id"] for row in bench.rows() for _ in row["tags"])


def test_a_failed_create_leaves_nothing(bench):
    """Where the transaction fails, the file goes again, and the reason is one that clients can act on."""
    stranger = User(id=99, username="stranger", is_superuser=True)
    with pytest.raises(BusyError, match="Try again"):
        bench.create(by=stranger)
    key = bench.create()
    bench.fails = True
    with pytest.raises(RuntimeError, match="broken"):
        bench.service.change(key, {"attachment": upload("new.txt")}, by=ROOT)

    assert bench.stored() == ["attachments/part/1/plan.txt"]
    assert bench.is_whole()


def test_a_file_that_goes_while_it_is_renamed_is_looked_up_again(bench, monkeypatch):
    """One that was replaced meanwhile gets the new name; one that is missing for good is said to be."""
    key = bench.create(attachment=upload("a.txt", b"old"))
    opened: Callable[[str], BinaryIO] = bench.files.open

    def replaced(path: str) -> BinaryIO:
        monkeypatch.undo()
        bench.service.change(key, {"attachment": upload("b.txt", b"new")}, by=ROOT)
        return opened(path)

    monkeypatch.setattr(bench.files, "open", replaced)
    bench.service.change(key, {"filename": "c.txt"}, by=ROOT)
    assert bench.content("attachments/part/1/c.txt") == b"new"
    assert bench.is_whole()

    bench.files.delete("attachments/part/1/c.txt")
    with pytest.raises(InvalidInputError, match="upload it again"):
        bench.service.change(key, {"filename": "d.txt"}, by=ROOT)
    assert bench.row(key)["filename"] == "c.txt"


def test_a_picture_of_what_has_changed_is_thrown_away(bench):
    """A file that is replaced or deleted while its picture is made keeps none, and does not come back."""
    key = bench.create(attachment=upload("a.png", picture()))
    bench.files.before_picture = lambda: bench.service.change(key, {"attachment": upload("b.png", picture())}, by=ROOT)
    assert bench.service.pictures.make(key) is False
    assert bench.row(key)["thumbnail"] is None
    assert bench.stored() == ["attachments/part/1/b.png"]

    bench.files.before_picture = lambda: bench.service.delete(key, by=ROOT)
    assert bench.service.pictures.make(key) is False
    assert bench.service.pictures.make(key) is False, "gone"
    assert (bench.rows(), bench.stored()) == ([], [])


@pytest.mark.parametrize(
    ("values", "field", "message"),
    [
        pytest.param({"link": None}, "attachment", "file or a link", id="neither file nor link"),
        pytest.param({"link": ""}, "link", "file or a link", id="a blank link"),
        pytest.param({"attachment": upload("a.txt", b"")}, "attachment", "empty", id="an empty file"),
        pytest.param({"attachment": upload("a.txt", TOO_MUCH)}, "attachment", "at most 1 MB", id="too large"),
        pytest.param({"attachment": upload("a.TAR.gz")}, "attachment", "not accepted", id="a denied ending"),
        pytest.param({"attachment": upload("a.exe. ")}, "attachment", "not accepted", id="a hidden denied ending"),
        pytest.param({"attachment": upload("a.svg", b"<html/>")}, "attachment", "no SVG", id="a false SVG"),
        pytest.param({"model_type": "Part"}, "model_type", "There are: drawer, part, shelf", id="upper case"),
        pytest.param({"model_type": "secret"}, "model_type", "not a valid choice", id="takes no attachments"),
        pytest.param({"model_type": "shelf", "model_id": 10}, "model_id", "no Shelf with the id 10", id="not there"),
        pytest.param({"model_type": "drawer", "model_id": 10}, "model_id", "no Drawer with", id="not there, later"),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_refused(sqlite_bench, values, field, message):
    """The message names the member and the remedy; nothing is stored."""
    sqlite_bench.denied = "exe, .tar.gz"

    with pytest.raises(InvalidInputError, match=message) as refused:
        sqlite_bench.create(**values)

    assert field in refused.value.fields
    assert (sqlite_bench.rows(), sqlite_bench.stored()) == ([], [])


def test_limits_can_be_reached(sqlite_bench):
    """The largest file, allowed kinds, the highest id and an SVG without its script are stored."""
    sqlite_bench.allowed = "bin,svg"
    create = sqlite_bench.create
    assert sqlite_bench.row(create(attachment=upload("a.BIN", b"a" * MEGABYTE)))["file_size"] == MEGABYTE
    with pytest.raises(InvalidInputError, match=r"must end in \.bin, \.svg"):
        create(attachment=upload("a.txt"))
    nameless = create(attachment=upload("bin.bin"))
    sqlite_bench.allowed, sqlite_bench.denied = "", "hidden.bin"
    with pytest.raises(InvalidInputError, match=r"hidden\.bin are not accepted"):
        sqlite_bench.service.change(nameless, {"filename": "my.hidden.bin"}, by=ROOT)
    sqlite_bench.allowed, sqlite_bench.denied = "bin,svg", ""
    svg = sqlite_bench.row(create(attachment=upload("a.Svg", b"<svg><script>1</script></svg>"), model_id=2**63 - 1))
    assert b"script" not in sqlite_bench.content(svg["path"])
    assert svg["file_size"] == len(sqlite_bench.content(svg["path"]))
    assert sqlite_bench.row(create(model_type="shelf", model_id=9, link="ftp://x"))["is_link"] is True
    assert sqlite_bench.row(create(link="http://x", attachment=upload("b.bin")))["is_file"] is True


@pytest.mark.parametrize(
    ("model_id", "reason"), [pytest.param(13, "unlucky", id="raises"), pytest.param(14, "0.1 s", id="hangs")]
)
def test_a_plugin_that_cannot_tell_is_named(sqlite_bench, model_id, reason):
    """Nothing is attached where nobody knows whether the record exists; no transaction waits for the plugin."""
    began = time.monotonic()
    with pytest.raises(PluginFailedError, match=rf"'shop'.*{reason}"):
        sqlite_bench.create(model_type="shelf", model_id=model_id)

    assert time.monotonic() - began < 3
    assert (sqlite_bench.rows(), sqlite_bench.stored()) == ([], [])
    assert sqlite_bench.reports


def test_rights_are_those_on_the_owner(bench):
    """Changing needs that right on the old and the new owner, deleting its own; being staff gives nothing."""
    mine, link = bench.create(by=KEEPER), bench.create(link="http://x", model_type="shelf")
    for who, call in (
        (STAFF, lambda: bench.create(by=STAFF)),
        (STAFF, lambda: bench.service.change(mine, {"comment": "x"}, by=STAFF)),
        (KEEPER, lambda: bench.service.change(link, {"comment": "x"}, by=KEEPER)),
        (KEEPER, lambda: bench.service.change(link, {"model_type": "part"}, by=KEEPER)),
        (KEEPER, lambda: bench.service.change(mine, {"model_type": "shelf"}, by=KEEPER)),
        (KEEPER, lambda: bench.service.delete(mine, by=KEEPER)),
    ):
        with pytest.raises(NotAllowedError, match="Ask an administrator"):
            call()
        assert who is not ROOT
    with pytest.raises(InvalidInputError) as refused:
        bench.service.delete_many(Choice(keys=[mine, link]), by=KEEPER)
    assert "non_field_errors" in refused.value.fields

    assert len(bench.rows()) == 2
    assert bench.is_whole()
    assert not any(name == "attachment.deleted" for name, _, _ in bench.events)
    bench.service.change(mine, {"comment": "mine"}, by=KEEPER)
    bench.service.change(mine, {"model_type": "shelf", "model_id": 3}, by=ROOT)
    assert bench.service.delete_many(Choice(keys=[mine, link, 999]), by=ROOT) == 2
    assert (bench.rows(), bench.stored()) == ([], [])


def test_changes_keep_a_file_or_a_link(bench):
    """Neither can be taken away from an attachment that has no other; taking the file away deletes it."""
    key = bench.create(link="http://x", attachment=upload("a.txt"))
    bench.service.change(key, {"link": ""}, by=ROOT)
    for values in ({"attachment": None}, {"attachment": None, "link": None}):
        with pytest.raises(InvalidInputError) as refused:
            bench.service.change(key, values, by=ROOT)
        assert set(refused.value.fields) == {"attachment", "link"}
    bench.service.change(key, {"attachment": None, "link": "http://y"}, by=ROOT)

    row = bench.row(key)
    assert (row["link"], row["path"], row["filename"], row["file_size"]) == ("http://y", None, None, 0)
    assert bench.stored() == []
    before = len(bench.events)
    bench.service.change(key, {"filename": "x.txt", "link": "http://y", "comment": ""}, by=ROOT)
    assert len(bench.events) == before, "nothing has changed"
    with pytest.raises(InvalidInputError, match="file or a link"):
        bench.service.change(key, {"link": None}, by=ROOT)


def test_a_type_whose_plugin_is_gone_is_for_superusers(bench):
    """What stays as it is is not judged again, and nobody else has a right to what nobody registered."""
    key = bench.create()
    bench.registries.current = type(bench.registries.current)()
    bench.service.change(key, {"comment": "x"}, by=ROOT)
    with pytest.raises(InvalidInputError, match="not a valid choice"):
        bench.create()

    assert bench.row(key)["comment"] == "x"


def test_tags_are_found_in_any_case(bench):
    """All tags of the filter must be there; a tag that has a comma stands in quotes."""
    one = bench.create(link="http://x", tags=["Größe", "blue"])
    two = bench.create(link="http://x", tags=["BLUE", "a, b", "100%"])
    assert bench.row(two)["tags"] == ["BLUE", "a, b", "100%"]
    for text, found in (
        ("blue", [one, two]),
        (" GRÖSSE , Blue ", [one]),
        ('"A, B",blue', [two]),
        ("a", []),
        ("100_", []),
        ("", [one, two]),
        (",,", [one, two]),
        ("x" * 300_000, []),
    ):
        assert listed(bench, tags=text) == found, text
    bench.service.change(one, {"tags": []}, by=ROOT)
    assert listed(bench, tags="blue") == [two]
    many = [f"t{number}" for number in range(100)]
    bench.service.change(one, {"tags": many}, by=ROOT)
    for wanted, found in ((many, [one]), ([*many[:60], "blue"], []), ([*many, "t100"], [])):
        assert listed(bench, tags=",".join(wanted)) == found, "each counts, however many there are"


def test_metadata_are_replaced_and_merged(bench):
    """The top level alone is merged."""
    key = bench.create(link="http://x")
    service = bench.service
    assert service.metadata(key) == {}
    assert service.set_metadata(key, {"a": {"b": 1}, "c": None}, merge=False) == {"a": {"b": 1}, "c": None}
    assert service.set_metadata(key, {"a": {}}, merge=True) == service.metadata(key) == {"a": {}, "c": None}
    assert service.set_metadata(key, {}, merge=False) == service.metadata(key) == {}
    for call in (
        lambda: service.metadata(999),
        lambda: service.set_metadata(999, {}, merge=True),
        lambda: service.change(2**63 - 1, {}, by=ROOT),
        lambda: service.delete(999, by=ROOT),
    ):
        with pytest.raises(NotFoundError, match="no attachment"):
            call()


def test_attachments_stay_when_their_author_goes(bench):
    """Whoever attached something is forgotten with their account."""
    key = bench.create(by=KEEPER)
    with bench.database.write() as session:
        session.connection().execute(delete(USERS).where(USERS.c.id == KEEPER.id))

    assert bench.row(key)["upload_user_id"] is None
    rows, _ = page(bench, limit=1)
    assert rows[0]["upload_user"] is None


def test_the_sweep_removes_what_nobody_needs_and_tells_what_is_missing(bench):
    """Files of killed processes go after a day; rows without files are reported, not deleted."""
    lost, kept = bench.create(), bench.create(attachment=upload("a.png", picture()))
    assert bench.service.pictures.make(kept)
    for name in ("old", "new"):
        bench.files.save(f"attachments/part/7/{name}.txt", upload().content)
    stamp = (now() - timedelta(days=1, minutes=1)).timestamp()
    for path in bench.stored():
        if not path.endswith("new.txt"):
            os.utime(bench.files.where + "/" + path, (stamp, stamp))
    gone = bench.row(lost)["path"]
    bench.files.delete(gone)

    assert bench.service.sweep.run() == {"removed": 1, "missing": 1}
    assert "attachments/part/7/new.txt" in bench.stored()
    assert len(bench.stored()) == 3
    assert [(path, data) for path, _, data in bench.reports] == [("attachments.sweep", gone)]
    assert len(bench.rows()) == 2


def test_a_list_of_any_length_takes_as_many_statements(bench):
    """A page is one statement and the count, its tags included; its authors are one more."""
    keys = [bench.create(link="http://x", tags=[str(number)]) for number in range(3)]
    statements: list[str] = []
    event.listen(bench.database.engine, "before_cursor_execute", lambda _c, _u, sql, *_: statements.append(sql))
    for limit in (1, 3):
        statements.clear()
        rows, count = page(bench, limit=limit)
        assert (len(rows), count) == (limit, 3)
        assert len([one for one in statements if one.startswith("SELECT")]) == 2

    assert [(row["pk"], row["tags"]) for row in rows] == [(key, [str(number)]) for number, key in enumerate(keys)]
    statements.clear()
    authors = bench.service.authors({row["upload_user"] for row in rows} | {999})
    assert {key: one["username"] for key, one in authors.items()} == {ROOT.id: "root"}
    assert len([one for one in statements if one.startswith("SELECT")]) == 1
