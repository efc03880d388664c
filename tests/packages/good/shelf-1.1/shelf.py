"""A table of the plugin's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlmodel import Field, SQLModel, func, select

from host import ActionResult, Json, ModelType, Plugin, State, StatusSet, User, hookimpl, table_base

if TYPE_CHECKING:
    from sqlmodel import SQLModel as Base
else:
    Base = table_base()


class Book(Base, table=True):
    __tablename__ = "shelf_book"

    id: int | None = Field(default=None, primary_key=True)
    title: str = Field(max_length=200)
    author: str = Field(default="unknown", max_length=200, sa_column_kwargs={"server_default": "unknown"})


class Shelf(Plugin):
    title = "Shelf"

    @hookimpl
    def models(self) -> Sequence[type[SQLModel]]:
        return [Book]

    @hookimpl
    def model_types(self) -> Sequence[ModelType]:
        return [ModelType(name="shelfbook", label="Book", exists=self._has)]

    @hookimpl
    def status_sets(self) -> Sequence[StatusSet]:
        return [StatusSet(name="ShelfBookStatus", states=[State(1, "IN", "In"), State(2, "LENT", "Lent", "warning")])]

    @hookimpl
    def action_names(self) -> Sequence[str]:
        return ["shelf.add", "shelf.count"]

    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        with self.session() as session:
            if action == "shelf.add":
                title = data.get("title") if isinstance(data, Mapping) else None
                book = Book(title=str(title), author=user.username)
                session.add(book)
                session.flush()
                self.emit("book.added", {"book": book.id}, user_id=user.id)
                return ActionResult(result=book.model_dump())
            return ActionResult(result=session.exec(select(func.count()).select_from(Book)).one())

    def _has(self, number: int) -> bool:
        with self.session() as session:
            return session.get(Book, number) is not None
