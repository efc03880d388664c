"""Uploads: which files are accepted, and how they come into the file store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, Final, cast

from sqlalchemy import or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from host.errors import BusyError, HostError, InvalidInputError
from host.records.attachments.names import candidates, clean_name
from host.records.attachments.svg import SvgError, sanitize
from host.records.attachments.table import ATTACHMENTS
from host.storage.endings import on_rollback
from host.storage.engine import Database
from host.storage.files import FileStore, FileTakenError

_MEGABYTE: Final = 1024 * 1024
_DEFAULT_MEGABYTES: Final = 10
_IN_MEMORY: Final = 1024 * 1024
_HEAD: Final = 12
_SIGNATURES: Final = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM", b"II*\0", b"MM\0*")


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as somebody sent it."""

    name: str
    content: BinaryIO
    """Can be read more than once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadRules:
    """Which files are accepted; each function is asked every time."""

    megabytes: Callable[[], int] = lambda: _DEFAULT_MEGABYTES
    """Of the largest file; a megabyte has 1024² bytes."""
    allowed: Callable[[], str] = lambda: ""
    """Endings of names, separated by commas; empty for all."""
    denied: Callable[[], str] = lambda: ""
    """Endings of names that are refused, in the same form."""

    def check(self, upload: Upload) -> None:
        """Make sure that a file is accepted.

        Raises:
            InvalidInputError: it is empty, too large, or of a kind that is refused.

        """
        size, most = _size_of(upload.content), self.megabytes()
        if not size:
            raise _refuse("The submitted file is empty.")
        if size > most * _MEGABYTE:
            raise _refuse(
                f"The file has {size} bytes; at most {most} MB ({most * _MEGABYTE} bytes) are accepted. "
                "The staff can change the setting INVENTREE_UPLOAD_MAX_SIZE."
            )
        fault = self.name_fault(upload.name)
        if fault:
            raise _refuse(fault)

    def name_fault(self, name: str) -> str:
        """Say why files of this name are refused; nothing where they are accepted."""
        cleaned = clean_name(name).lower()
        allowed, denied = _endings(self.allowed()), _endings(self.denied())
        if allowed and not cleaned.endswith(allowed):
            return f"Files of this kind are not accepted; their names must end in {', '.join(allowed)}."
        if cleaned.endswith(denied):
            return f"Files whose names end in {', '.join(denied)} are not accepted."
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file that is in the store, and that nobody may know of yet."""

    path: str
    size: int
    may_be_image: bool

    @property
    def folder(self) -> str:
        """Where it is, with a slash at the end."""
        return self.path[: self.path.rindex("/") + 1]

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path[self.path.rindex("/") + 1 :]


class AttachmentFiles:
    """Puts files of attachments into the file store, each under a path that no other has.

    The store takes a path once and only once, so that it decides between two who want the same name.
    """

    def __init__(self, database: Database, files: FileStore) -> None:
        self._database = database
        self._files = files

    def store(self, folder: str, upload: Upload) -> StoredFile:
        """Store a file, under its own name as far as that is safe and free.

        Raises:
            InvalidInputError: it calls itself an SVG image and cannot be made a safe one.

        """
        with _made_safe(upload) as content:
            may_be_image = _may_be_image(content)
            for name in candidates(folder, clean_name(upload.name)):
                path = folder + name
                content.seek(0)
                if self.is_known(path):
                    continue
                try:
                    size = self._files.save(path, content)
                except FileTakenError:
                    continue
                return StoredFile(path=path, size=size, may_be_image=may_be_image)
        raise BusyError(f"No name is free for '{clean_name(upload.name)}'. Give the file another one.")

    def copy(self, old: str, new: str) -> StoredFile:
        """Store a file under another path as well: whoever takes over the new one deletes the old one in the end.

        Raises:
            InvalidInputError: the path is taken.
            FileMissingError: the file is gone.

        """
        name = new[new.rindex("/") + 1 :]
        taken = InvalidInputError.of(f"There is a file '{name}' in this folder already; choose another name.")
        if self.is_known(new):
            raise taken
        try:
            with self._files.open(old) as content:
                may_be_image = _may_be_image(content)
                content.seek(0)
                size = self._files.save(new, content)
        except FileTakenError:
            raise taken from None
        return StoredFile(path=new, size=size, may_be_image=may_be_image)

    def is_known(self, path: str) -> bool:
        """Tell whether an attachment has this path, be the file there or not."""
        mine = or_(ATTACHMENTS.c.path == path, ATTACHMENTS.c.thumbnail == path)
        with self._database.read() as connection:
            return connection.execute(select(ATTACHMENTS.c.id).where(mine).limit(1)).first() is not None

    def delete(self, path: str) -> None:
        """Remove a file."""
        self._files.delete(path)

    @contextmanager
    def transaction(self, stored: StoredFile | None) -> Iterator[Session]:
        """Open a session in a transaction that decides whether a new file stays: it goes where the rest is undone.

        Raises:
            BusyError: a row was refused, as somebody else was quicker.

        """
        is_decided = stored is None
        try:
            with self._database.write() as session:
                if stored is not None:
                    on_rollback(session, partial(self.delete, stored.path))
                    is_decided = True
                yield session
        except IntegrityError:
            # The caller's account is gone, or the path was taken past the file store.
            raise BusyError("This was changed by somebody else at the same moment. Try again.") from None
        finally:
            if stored is not None and not is_decided:  # the transaction did not even begin
                with suppress(HostError):
                    self.delete(stored.path)


@contextmanager
def _made_safe(upload: Upload) -> Iterator[BinaryIO]:
    upload.content.seek(0)
    if not clean_name(upload.name).lower().endswith(".svg"):
        yield upload.content
        return
    with SpooledTemporaryFile(max_size=_IN_MEMORY) as safe:
        content = cast("BinaryIO", safe)
        try:
            sanitize(upload.content, content)
        except SvgError as error:
            raise _refuse(str(error)) from None
        yield content


def _may_be_image(content: BinaryIO) -> bool:
    content.seek(0)
    head = content.read(_HEAD)
    return head.startswith(_SIGNATURES) or (head.startswith(b"RIFF") and head.endswith(b"WEBP"))


def _size_of(content: BinaryIO) -> int:
    content.seek(0, os.SEEK_END)
    return content.tell()


def _endings(text: str) -> tuple[str, ...]:
    parts = (part.strip().lower().lstrip(".") for part in text.split(","))
    return tuple(f".{part}" for part in parts if part)


def _refuse(message: str) -> InvalidInputError:
    return InvalidInputError({"attachment": [message]})
