"""List and create the records of one table over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Column, func
from sqlmodel import Session, SQLModel, select
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from host import access

_PAGE = 100


class Collection:
    """The endpoints of one table: anyone who is signed in reads, staff create."""

    def __init__(
        self,
        table: type[SQLModel],
        fields: type[SQLModel],
        session: Callable[[], AbstractContextManager[Session]],
    ) -> None:
        self._table = table
        self._fields = fields
        self._session = session

    def routes(self, path: str) -> list[BaseRoute]:
        """Return the routes for a path that begins and ends with a slash."""
        return [Route(path, self.list_records, methods=["GET"]), Route(path, self.create_record, methods=["POST"])]

    def list_records(self, request: Request) -> Response:
        """Answer a page of the records: ``?offset=100`` continues after the first hundred."""
        offset = request.query_params.get("offset", "")
        columns = self._columns()
        statement = select(self._table).order_by(columns["id"]).limit(_PAGE)
        if offset.isdecimal():
            statement = statement.offset(int(offset[:9]))
        with self._session() as session:
            total = session.exec(select(func.count()).select_from(self._table)).one()
            results = [record.model_dump() for record in session.exec(statement)]
        return JSONResponse({"count": total, "results": results})

    @access("staff")
    async def create_record(self, request: Request) -> Response:
        """Create a record; 400 names the fields that are wrong."""
        try:
            sent = self._fields.model_validate_json(await request.body())
        except ValidationError as error:
            messages = {
                str(problem["loc"][0] if problem["loc"] else "body"): [problem["msg"]] for problem in error.errors()
            }
            return JSONResponse(messages, status_code=400)
        # The database blocks, and this function runs in an event loop: leave the work to a thread.
        return await run_in_threadpool(self._store, sent)

    def _store(self, sent: SQLModel) -> Response:
        with self._session() as session:
            missing = {
                name: ["There is no such record."]
                for name, table in self._references().items()
                if (value := getattr(sent, name)) is not None and not _exists(session, table, value)
            }
            if missing:
                return JSONResponse(missing, status_code=400)
            record = self._table(**sent.model_dump())
            session.add(record)
            session.flush()  # gives the record its id
            return JSONResponse(record.model_dump(), status_code=201)

    def _columns(self) -> Any:
        return self._table.__table__.columns  # type: ignore[attr-defined]  # SQLAlchemy adds it to tables

    def _references(self) -> dict[str, Any]:
        columns: list[Column[Any]] = list(self._columns())
        return {column.name: key.column.table for column in columns for key in column.foreign_keys}


def _exists(session: Session, table: Any, id: int) -> bool:
    return session.exec(select(table.c.id).where(table.c.id == id)).first() is not None
