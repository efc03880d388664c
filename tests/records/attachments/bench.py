"""Attachments over a registry of a test's own, with accounts, files and what was put off."""

from __future__ import annotations

import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from PIL import Image
from sqlalchemy import Table, select

from host.accounts.account import AccountUser
from host.accounts.groups import Groups
from host.accounts.rights import Rights
from host.accounts.roles import Permissions
from host.contract.models import ModelType
from host.contract.values import User
from host.plugins.calls import Calls
from host.records.attachments.owners import Owners
from host.records.attachments.service import Attachments
from host.records.attachments.table import ATTACHMENTS
from host.records.attachments.thumbnails import make_thumbnail
from host.records.attachments.uploads import Upload, UploadRules
from host.storage.engine import Database
from host.storage.files import FileStore
from tests.records.registries import FixedRegistry, loaded, registry_of

ROOT = User(id=1, username="root", is_staff=True, is_superuser=True)
KEEPER = User(id=2, username="keeper")
"""May change parts and delete none."""
STAFF = User(id=3, username="staff", is_staff=True)


def _exists(key: int) -> bool:
    if key == 13:
        raise RuntimeError("unlucky")
    if key == 14:
        time.sleep(5)
    return key < 10


async def _exists_later(key: int) -> bool:
    return _exists(key)


SHOP = loaded(
    "shop",
    model_types=[
        ModelType(name="part", label="Part", role="part"),
        ModelType(name="shelf", label="Shelf", role="stock", exists=_exists),
        ModelType(name="secret", label="Secret", attachments=False),
        ModelType(name="drawer", label="Drawer", exists=_exists_later),
    ],
)


class WatchedStore(FileStore):
    """A file store that does something else before it stores a small picture."""

    before_picture: Callable[[], object] = staticmethod(lambda: None)

    def save(self, path: str, content: BinaryIO) -> int:
        if path.endswith("_thumbnail.png"):
            self.before_picture()
        return super().save(path, content)


class Bench:
    """Attachments, and what they have brought about."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database = database
        self.files = WatchedStore(folder)
        self.registries = FixedRegistry(registry_of(SHOP))
        self.events: list[tuple[str, Any, int | None]] = []
        self.reports: list[tuple[str, str, str]] = []
        self.tasks: list[tuple[str, Any]] = []
        self.fails = False
        self.allowed, self.denied, self.megabytes = "", "", 1
        rights = Rights(database, lambda: {one.name: one.role for one in SHOP.model_types})
        calls = Calls(lambda *report: self.reports.append(report), {"default": 0.1})
        self.service = Attachments(
            database,
            self.files,
            Owners(self.registries, calls, rights),
            rules=UploadRules(
                megabytes=lambda: self.megabytes, allowed=lambda: self.allowed, denied=lambda: self.denied
            ),
            enqueue=self._enqueue,
            report=lambda *report: self.reports.append(report),
            emit=self._emit,
            draw=make_thumbnail,  # a child process for each takes its time
        )

    def add_people(self) -> None:
        """Make the accounts and the rights of the keeper."""
        with self.database.write() as session:
            session.add_all(
                AccountUser(id=one.id, username=one.username, username_folded=one.username)
                for one in (ROOT, KEEPER, STAFF)
            )
        groups = Groups(self.database)
        group = groups.create("keepers").pk
        groups.grant(group, "part", Permissions(can_change=True))
        memberships: Table = AccountUser.metadata.tables["account_membership"]
        with self.database.write() as session:
            session.connection().execute(memberships.insert().values(user_id=KEEPER.id, group_id=group))

    def create(self, by: User = ROOT, **values: Any) -> int:
        """Attach something to part 1: a file, unless a link is named."""
        if "link" not in values:
            values.setdefault("attachment", upload())
        return self.service.create({"model_type": "part", "model_id": 1, **values}, by=by)

    def rows(self) -> list[dict[str, Any]]:
        """Return all attachments as they are stored."""
        with self.database.read() as connection:
            return [dict(row) for row in connection.execute(select(ATTACHMENTS).order_by(ATTACHMENTS.c.id)).mappings()]

    def row(self, key: int) -> dict[str, Any]:
        """Return one attachment as it is stored."""
        return next(row for row in self.rows() if row["id"] == key)

    def stored(self) -> list[str]:
        """Return the paths of all files."""
        return sorted(info.path for info in self.files.walk("attachments"))

    def content(self, path: str) -> bytes:
        """Return what a file holds."""
        return b"".join(self.files.read(path))

    def is_whole(self) -> bool:
        """Tell whether the store has the files that rows name, and no others."""
        named = {row[name] for row in self.rows() for name in ("path", "thumbnail")} - {None}
        return sorted(named) == self.stored()

    def _emit(self, session: Any, name: str, data: Any, user_id: int | None = None) -> None:
        assert session.in_transaction()
        if self.fails:
            raise RuntimeError("broken")
        self.events.append((name, dict(data), user_id))

    def _enqueue(self, session: Any, name: str, data: Any) -> str:
        assert session.in_transaction()
        self.tasks.append((name, dict(data)))
        return "1"


def upload(name: str = "plan.txt", content: bytes = b"plan") -> Upload:
    """Return a file as somebody sends it."""
    return Upload(name, BytesIO(content))


def picture(width: int = 40, height: int = 20, kind: str = "PNG", mode: str = "RGB", **options: Any) -> bytes:
    """Return an image."""
    found = BytesIO()
    Image.new(mode, (width, height)).save(found, kind, **options)
    return found.getvalue()
