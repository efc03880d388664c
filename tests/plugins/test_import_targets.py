"""What plugins import: what they declare, and what becomes of their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from host import ImportField, ImportRecord, ImportTarget, Plugin, hookimpl
from host.plugins.failures import PluginFailedError
from host.plugins.imports import ImportPlugins
from host.plugins.transactions import transaction
from tests.plugins.bench import Bench

NAME = ImportField(name="name")
RECORDS = [ImportRecord(values={"name": "a"}), ImportRecord(values={"name": "b"})]


def target(**members: Any) -> ImportTarget:
    """Return a target that stores nothing."""
    given: dict[str, Any] = {"model_type": "shelf", "fields": [NAME], "save": lambda records: [1] * len(records)}
    return ImportTarget(**given | members)


@pytest.mark.parametrize(
    "members",
    [
        pytest.param({"name": "a b"}, id="name"),
        pytest.param({"name": "id"}, id="id"),
        pytest.param({"name": "x", "type": "text"}, id="type"),
        pytest.param({"name": "x", "type": "choice"}, id="no choices"),
        pytest.param({"name": "x", "type": "choice", "choices": ["ab", 1]}, id="no pairs"),
        pytest.param({"name": "x", "type": "related field"}, id="no model"),
        pytest.param({"name": "x", "label": "\0"}, id="null character"),
    ],
)
def test_fields_that_no_row_could_fill_are_refused(members):
    """The author learns of it where the field is made."""
    with pytest.raises(ValueError, match="import field"):
        ImportField(**members)


@pytest.mark.parametrize(
    "members",
    [
        pytest.param({"model_type": "A B"}, id="model type"),
        pytest.param({"fields": []}, id="no fields"),
        pytest.param({"fields": ["name"]}, id="texts"),
        pytest.param({"fields": [NAME, NAME]}, id="doubled"),
        pytest.param({"save": None}, id="no save"),
        pytest.param(
            {"fields": [ImportField(name="x", type="related field", model="m", lookup_fields=["y"])]}, id="no lookup"
        ),
    ],
)
def test_targets_that_cannot_work_are_refused(members):
    """The author learns of it where the target is made."""
    with pytest.raises(ValueError, match="import target"):
        target(**members)


def asked(database: Any, spec: ImportTarget) -> tuple[Any, Bench]:
    """Return the target as the host knows it."""

    class Shelves(Plugin):
        @hookimpl
        def import_targets(self) -> Sequence[ImportTarget]:
            return [spec]

    bench = Bench()
    bench.load({"shelves": Shelves()})
    return ImportPlugins(bench, bench.calls, database).targets()["shelf"], bench


@pytest.mark.parametrize(
    ("what", "answer"),
    [
        pytest.param("save", None, id="nothing"),
        pytest.param("save", [1], id="too few"),
        pytest.param("save", [1, -1], id="negative"),
        pytest.param("save", [1, "2"], id="text"),
        pytest.param("save", [1, 2**63], id="65 bits"),
        pytest.param("validate", [{}, 5], id="number"),
        pytest.param("validate", {}, id="mapping"),
        pytest.param("lookup", None, id="no mapping"),
        pytest.param("lookup", {"a": ["x"]}, id="no ids"),
    ],
)
def test_nonsense_is_a_failure(sqlite_database, what, answer):
    """The caller learns which plugin is to blame, and an error report is written."""
    found, bench = asked(sqlite_database, target(**{what: lambda *_: answer}))
    calls = {
        "save": lambda: found.run(lambda session: found.save(session, RECORDS)),
        "validate": lambda: found.validate(RECORDS),
        "lookup": lambda: found.lookup("name", "id", ["a"], {}),
    }

    with pytest.raises(PluginFailedError, match=rf"'shelves' failed in import\(shelf\)\.{what}"):
        calls[what]()

    assert bench.reported == [f"plugin.shelves.import(shelf).{what}"]


def test_what_is_wrong_comes_back_as_text(sqlite_database):
    """Messages can be stored anywhere, and a single one need be no list."""
    found, _ = asked(sqlite_database, target(validate=lambda _: ({"name": "b\0ad"}, {"name": [], "x": [5]})))

    assert found.validate(RECORDS) == [{"name": ["bad"]}, {"x": ["5"]}]
    assert found.lookup("name", "id", ["a"], {}) == {}


def test_sessions_of_the_plugin_join(sqlite_database):
    """What it writes is a part of the host's transaction, in requests and in tasks."""
    seen: list[Any] = []

    def save(records: Sequence[ImportRecord]) -> list[int]:
        with transaction(sqlite_database, "shelves") as session:
            seen.append(session)
        return [1] * len(records)

    found, _ = asked(sqlite_database, target(save=save))

    assert found.run(lambda session: (found.save(session, RECORDS), session is seen[0])) == ([1, 1], True)
