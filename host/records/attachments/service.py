"""Attachments: files and links that people attach to records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

from sqlalchemy import Row, delete, insert, select, update
from sqlalchemy.orm import Session

from host.accounts.account import USERS
from host.accounts.events import Emit, emit_nothing
from host.accounts.rights import Granted
from host.contract.values import User
from host.errors import BusyError, InvalidInputError, NotFoundError
from host.records.attachments.drawing import draw_apart
from host.records.attachments.listing import ATTACHMENT_LIST
from host.records.attachments.names import folder_of
from host.records.attachments.owners import Owners, lacking
from host.records.attachments.pictures import TASK, Draw, Pictures
from host.records.attachments.plans import NEITHER, Plan, new_row, plan_change
from host.records.attachments.sweep import Sweep
from host.records.attachments.table import ATTACHMENTS
from host.records.attachments.tags import distinct, store_tags
from host.records.attachments.uploads import AttachmentFiles, StoredFile, Upload, UploadRules
from host.storage.endings import after_commit
from host.storage.engine import Database
from host.storage.files import FileMissingError, FileStore
from host.storage.listing import Choice
from host.storage.rows import Rows
from host.tasks.jobs import Enqueue

_TRIES: Final = 10
_KEYS_AT_ONCE: Final = 500
_SHOWN_OF_AUTHORS: Final = ("username", "first_name", "last_name", "email")
_DECIDES: Final = ("model_type", "model_id", "path", "thumbnail", "link")
"""Columns on which a change depends: where they are others meanwhile, it is worked out anew."""


class Attachments:
    """Keeps attachments and their files.

    A file is stored before its row is, and removed after its row is gone: whenever the process is killed, a file
    without a row may be left, which :attr:`sweep` removes, but never a row without its file.

    Args:
        database: where the rows are.
        files: where the files are.
        owners: knows the records that something can be attached to.
        rules: say which files are accepted.
        enqueue: puts off the making of small pictures.
        report: writes an error report (path, info, data).
        emit: sends ``attachment.created``, ``attachment.changed`` and ``attachment.deleted``.
        draw: makes small pictures.

    """

    def __init__(
        self,
        database: Database,
        files: FileStore,
        owners: Owners,
        *,
        rules: UploadRules,
        enqueue: Enqueue,
        report: Callable[[str, str, str], object],
        emit: Emit = emit_nothing,
        draw: Draw = draw_apart,
    ) -> None:
        self._database = database
        self._files = AttachmentFiles(database, files)
        self._rows = Rows(database)
        self._rules = rules
        self._enqueue = enqueue
        self._emit = emit
        self.owners = owners
        self.pictures = Pictures(database, files, self._files, draw)
        self.sweep = Sweep(database, files, report)

    def create(self, values: Mapping[str, Any], *, by: User) -> int:
        """Attach a file, a link or both to a record, and return the attachment's id.

        Args:
            values: ``model_type`` and ``model_id``; ``attachment`` (an :class:`Upload`), ``link``, ``comment``
                and ``tags`` as far as they are known.
            by: whose attachment it is.

        Raises:
            InvalidInputError: naming each member that breaks a rule.
            NotAllowedError: the account may not change such records.
            PluginFailedError: the record's plugin could not tell whether it exists.

        """
        model_type, model_id = values["model_type"], values["model_id"]
        upload: Upload | None = values.get("attachment")
        self.owners.check_type(model_type)
        self.owners.demand(by, "change", [model_type])
        if upload is None and not values.get("link"):
            raise InvalidInputError({"attachment": [NEITHER], "link": [NEITHER]})
        if upload is not None:
            self._rules.check(upload)
        self.owners.check_exists(model_type, model_id)
        stored = None if upload is None else self._files.store(folder_of(model_type, model_id), upload)
        row = new_row(values, stored, by)
        with self._files.transaction(stored) as session:
            connection = session.connection()
            key = int(connection.execute(insert(ATTACHMENTS).values(row).returning(ATTACHMENTS.c.id)).scalar_one())
            store_tags(connection, key, row["tags"])
            self._finish(session, "created", key, row, stored, by)
        return key

    def change(self, key: int, values: Mapping[str, Any], *, by: User) -> None:
        """Change members of an attachment, all or none: see :func:`plan_change`.

        Raises:
            NotFoundError: there is no such attachment.
            InvalidInputError: naming each member that breaks a rule.
            NotAllowedError: the account may not change records of the present or the new model type.
            PluginFailedError: the record's plugin could not tell whether it exists.
            BusyError: others change it all the time.

        """
        if "tags" in values:
            values = {**values, "tags": distinct(values["tags"])}
        for _ in range(_TRIES):
            present = self._find(key)
            plan = self._checked(present, values, by)
            if plan.changes_nothing:
                return
            wanted = {**present, **plan.columns}
            stored = None
            if plan.upload is not None:
                stored = self._files.store(folder_of(wanted["model_type"], wanted["model_id"]), plan.upload)
            elif plan.new_path:
                try:
                    stored = self._files.copy(present["path"], plan.new_path)
                except FileMissingError:
                    if self._find(key)["path"] != present["path"]:  # replaced or renamed a moment ago
                        continue
                    raise InvalidInputError.of("The file is missing from the file store; upload it again.") from None
            with suppress(_ChangedMeanwhileError), self._files.transaction(stored) as session:
                self._apply(session, present, plan, stored, by)
                return
        raise _busy(key)

    def authors(self, ids: Collection[int]) -> dict[int, dict[str, Any]]:
        """Return what is shown of the accounts with these ids, by id."""
        columns = (USERS.c.id.label("pk"), *(USERS.c[name] for name in _SHOWN_OF_AUTHORS))
        with self._database.read() as connection:
            rows = connection.execute(select(*columns).where(USERS.c.id.in_(ids))).mappings()
            return {row["pk"]: dict(row) for row in rows}

    def delete(self, key: int, *, by: User) -> None:
        """Delete an attachment with its file.

        Raises:
            NotFoundError: there is no such attachment.
            NotAllowedError: the account may not delete such records.
            BusyError: others change it all the time.

        """
        for _ in range(_TRIES):
            present = self._find(key)
            self.owners.demand(by, "delete", [present["model_type"]])
            with self._database.write() as session:
                same = (ATTACHMENTS.c.id == key, ATTACHMENTS.c.model_type == present["model_type"])
                if self._delete(session, same, by):
                    return
        raise _busy(key)

    def delete_many(self, choice: Choice, *, by: User) -> int:
        """Delete the attachments that are meant with their files, all or none, and return how many.

        Raises:
            InvalidInputError: the account may not delete all of them.

        """
        keys = self._rows.keys(ATTACHMENT_LIST, choice)
        parts = [keys[start : start + _KEYS_AT_ONCE] for start in range(0, len(keys), _KEYS_AT_ONCE)]
        granted = self.owners.rights_of(by)
        _demand_delete(granted, self._types_of(parts))
        deleted: list[Row[Any]] = []
        with self._database.write() as session:
            for part in parts:
                deleted += self._delete(session, (ATTACHMENTS.c.id.in_(part),), by)
            # Some may have got another type a moment ago; then the refusal brings all of them back.
            _demand_delete(granted, {row.model_type for row in deleted})
        return len(deleted)

    def metadata(self, key: int) -> dict[str, Any]:
        """Return the metadata of an attachment.

        Raises:
            NotFoundError: there is no such attachment.

        """
        return dict(self._find(key)["metadata"] or {})

    def set_metadata(self, key: int, data: Mapping[str, Any], *, merge: bool) -> dict[str, Any]:
        """Replace the metadata of an attachment, or merge their top level, and return them.

        Raises:
            NotFoundError: there is no such attachment.

        """
        mine = ATTACHMENTS.c.id == key
        with self._database.write() as session:
            connection = session.connection()
            row = connection.execute(select(ATTACHMENTS.c.metadata).where(mine).with_for_update()).one_or_none()
            if row is None:
                raise _unknown(key)
            value = {**(row[0] or {}), **data} if merge else dict(data)
            connection.execute(update(ATTACHMENTS).where(mine).values(metadata=value))
        return value

    # -- inside ---------------------------------------------------------------------------------------------------

    def _find(self, key: int) -> dict[str, Any]:
        with self._database.read() as connection:
            row = connection.execute(select(ATTACHMENTS).where(ATTACHMENTS.c.id == key)).mappings().first()
        if row is None:
            raise _unknown(key)
        return dict(row)

    def _types_of(self, parts: Iterable[Sequence[int]]) -> set[str]:
        found: set[str] = set()
        with self._database.read() as connection:
            for part in parts:
                statement = select(ATTACHMENTS.c.model_type).where(ATTACHMENTS.c.id.in_(part)).distinct()
                found.update(connection.execute(statement).scalars())
        return found

    def _checked(self, present: Mapping[str, Any], values: Mapping[str, Any], by: User) -> Plan:
        model_type = values.get("model_type", present["model_type"])
        model_id = values.get("model_id", present["model_id"])
        if model_type != present["model_type"]:
            self.owners.check_type(model_type)
        self.owners.demand(by, "change", {present["model_type"], model_type})
        plan = plan_change(present, values)
        if plan.upload is not None:
            self._rules.check(plan.upload)
        if plan.new_path and (fault := self._rules.name_fault(plan.new_path)):
            raise InvalidInputError.of(fault)
        if (model_type, model_id) != (present["model_type"], present["model_id"]):
            self.owners.check_exists(model_type, model_id)
        return plan

    def _apply(
        self, session: Session, present: Mapping[str, Any], plan: Plan, stored: StoredFile | None, by: User
    ) -> None:
        connection, key = session.connection(), present["id"]
        mine = ATTACHMENTS.c.id == key
        decides = [ATTACHMENTS.c[name] for name in _DECIDES]
        row = connection.execute(select(*decides).where(mine).with_for_update()).mappings().first()
        if row is None or any(row[name] != present[name] for name in _DECIDES):
            raise _ChangedMeanwhileError
        columns = plan.all_columns(stored)
        connection.execute(update(ATTACHMENTS).where(mine).values(columns))
        if "tags" in columns:
            store_tags(connection, key, columns["tags"])
        for path in plan.removed:
            after_commit(session, partial(self._files.delete, path))
        self._finish(session, "changed", key, {**present, **columns}, stored, by)

    def _finish(
        self, session: Session, what: str, key: int, row: Mapping[str, Any], stored: StoredFile | None, by: User
    ) -> None:
        if stored is not None and stored.may_be_image and row["thumbnail"] is None:
            self._enqueue(session, TASK, {"attachment": key})
        self._emit(session, f"attachment.{what}", _told(key, row["model_type"], row["model_id"]), by.id)

    def _delete(self, session: Session, chosen: Sequence[Any], by: User) -> Sequence[Row[Any]]:
        columns = (ATTACHMENTS.c[name] for name in ("id", "model_type", "model_id", "path", "thumbnail"))
        rows = session.connection().execute(delete(ATTACHMENTS).where(*chosen).returning(*columns)).all()
        for row in rows:
            for path in (row.path, row.thumbnail):
                if path is not None:
                    after_commit(session, partial(self._files.delete, path))
            self._emit(session, "attachment.deleted", _told(row.id, row.model_type, row.model_id), by.id)
        return rows


class _ChangedMeanwhileError(Exception):
    """Somebody else was quicker; what this transaction has done is undone."""


def _demand_delete(granted: Granted, model_types: Iterable[str]) -> None:
    missing = lacking(granted, "delete", model_types)
    if missing:
        raise InvalidInputError.of(missing)


def _told(key: int, model_type: str, model_id: int) -> dict[str, Any]:
    return {"attachment": key, "model_type": model_type, "model_id": model_id}


def _unknown(key: int) -> NotFoundError:
    return NotFoundError(f"Not found. There is no attachment with pk '{key}'.")


def _busy(key: int) -> BusyError:
    return BusyError(f"Attachment {key} is being changed by somebody else all the time. Try again.")
