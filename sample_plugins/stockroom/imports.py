"""Make the stockroom's records of the rows of files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy import insert
from sqlmodel import Session, SQLModel, select

from host import ImportField, ImportRecord, ImportTarget, Json
from sample_plugins.stockroom.tables import GREATEST_ID, Part, PartCategory, StockItem, StockLocation

PATH = "/plugin/sample-stockroom"
_LOOKUP = ("name",)

_NAME = ImportField(name="name", required=True, max_length=100, help_text="What people call it")
_DESCRIPTION = ImportField(name="description", max_length=250, help_text="What it is")


def targets(session: Callable[[], AbstractContextManager[Session]]) -> Sequence[ImportTarget]:
    """Return what can be imported: categories, locations, parts, and what lies where."""
    return [
        _Importer(PartCategory, session, {"parent": PartCategory}).target(
            "partcategory", "categories", [_NAME, _DESCRIPTION, _related("parent", "partcategory", "categories")]
        ),
        _Importer(StockLocation, session, {"parent": StockLocation}).target(
            "stocklocation", "locations", [_NAME, _DESCRIPTION, _related("parent", "stocklocation", "locations")]
        ),
        _Importer(Part, session, {"category": PartCategory}).target(
            "part", "parts", [_NAME, _DESCRIPTION, _related("category", "partcategory", "categories")]
        ),
        _Importer(StockItem, session, {"part": Part, "location": StockLocation}).target(
            "stockitem",
            "items",
            [
                _related("part", "part", "parts", required=True),
                _related("location", "stocklocation", "locations"),
                ImportField(name="quantity", type="integer", default=1, minimum=0, maximum=GREATEST_ID),
            ],
        ),
    ]


def _related(name: str, model: str, collection: str, *, required: bool = False) -> ImportField:
    return ImportField(
        name=name,
        type="related field",
        required=required,
        null=not required,
        model=model,
        api_url=f"{PATH}/{collection}/",
        lookup_fields=_LOOKUP,
    )


class _Importer:
    """The functions of one target; the host calls each of them for many rows at once."""

    def __init__(
        self,
        table: type[SQLModel],
        session: Callable[[], AbstractContextManager[Session]],
        related: Mapping[str, type[SQLModel]],
    ) -> None:
        self._table = table
        self._session = session
        self._related = related

    def target(self, model_type: str, collection: str, fields: Sequence[ImportField]) -> ImportTarget:
        """Return the target."""
        return ImportTarget(
            model_type=model_type,
            fields=fields,
            save=self.save,
            validate=self.validate,
            lookup=self.lookup,
            api_url=f"{PATH}/{collection}/",
        )

    def lookup(self, field: str, by: str, texts: Sequence[str], filters: Mapping[str, Json]) -> dict[str, list[int]]:
        """Find the records that texts mean; ``by`` is ``id`` or one of the lookup_fields."""
        table = self._related[field]
        columns = _columns(table)
        column = columns[by]
        wanted = [int(text) for text in texts if int(text) <= GREATEST_ID] if by == "id" else list(texts)
        statement = select(column, columns["id"]).where(column.in_(wanted))
        for name, wanted_value in filters.items():
            # They are whatever somebody has sent; what no column could hold, no record has.
            if name not in columns or type(wanted_value) is not columns[name].type.python_type:
                return {}
            statement = statement.where(columns[name] == wanted_value)
        found: dict[str, list[int]] = {}
        with self._session() as session:
            for value, id in session.exec(statement):
                found.setdefault(str(value), []).append(id)
        return found

    def validate(self, records: Sequence[ImportRecord]) -> Sequence[Mapping[str, list[str]]]:
        """Say what is wrong with records, beyond what their fields say."""
        changed = [record.id for record in records if record.id is not None and record.id <= GREATEST_ID]
        key = _columns(self._table)["id"]
        with self._session() as session:
            known = set(session.exec(select(key).where(key.in_(changed)))) if changed else set()
        return [self._faults(record, known) for record in records]

    def save(self, records: Sequence[ImportRecord]) -> Sequence[int | Mapping[str, list[str]]]:
        """Store records. Whatever is written here is kept only if the host notes that the rows are done."""
        with self._session() as session:
            new = [self._values(record) for record in records if record.id is None]
            made = iter(self._insert(session, new) if new else ())
            return [next(made) if record.id is None else self._change(session, record) for record in records]

    def _insert(self, session: Session, rows: Sequence[Mapping[str, Any]]) -> Sequence[int]:
        # One statement for many rows: objects would take several times as long. Each row names every column.
        names = dict.fromkeys(name for row in rows for name in row)
        columns = _columns(self._table)
        defaults = {name: columns[name].default.arg if columns[name].default else None for name in names}
        statement = insert(self._table).returning(columns["id"], sort_by_parameter_order=True)
        return list(session.execute(statement, [{**defaults, **row} for row in rows]).scalars())

    def _change(self, session: Session, record: ImportRecord) -> int | Mapping[str, list[str]]:
        id = record.id or 0
        row = session.get(self._table, id) if id <= GREATEST_ID else None
        if row is None:
            return {"id": ["There is no such record."]}
        session.add(row.sqlmodel_update(self._values(record)))
        return id

    def _values(self, record: ImportRecord) -> dict[str, Any]:
        return {f"{name}_id" if name in self._related else name: value for name, value in record.values.items()}

    def _faults(self, record: ImportRecord, known: set[Any]) -> dict[str, list[str]]:
        faults: dict[str, list[str]] = {}
        if record.id is not None and record.id not in known:
            faults["id"] = ["There is no such record."]
        if record.id is not None and record.values.get("parent") == record.id:
            faults["parent"] = ["Nothing can be below itself."]
        return faults


def _columns(table: type[SQLModel]) -> Any:
    return table.__table__.columns  # type: ignore[attr-defined]  # SQLAlchemy adds it to tables
