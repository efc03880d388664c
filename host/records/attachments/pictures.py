"""Pictures of attachments: finds out which files are images, and stores small pictures of them beside them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from tempfile import TemporaryFile
from typing import BinaryIO, Final, TypeAlias

from sqlalchemy import select, update

from host.records.attachments.names import SplitName
from host.records.attachments.table import ATTACHMENTS
from host.records.attachments.uploads import AttachmentFiles, Upload
from host.storage.engine import Database
from host.storage.files import FileMissingError, FileStore

_LOG = logging.getLogger("plugyard.attachments")

Draw: TypeAlias = Callable[[BinaryIO], bytes | None]

TASK: Final = "attachments.thumbnail"
"""Name of the task that runs :meth:`Pictures.make`."""


class Pictures:
    """Makes the small pictures.

    Args:
        database: where the attachments are.
        store: where their files are.
        files: stores the pictures.
        draw: makes a small PNG of an image, or says that none can be made.

    """

    def __init__(self, database: Database, store: FileStore, files: AttachmentFiles, draw: Draw) -> None:
        self._database = database
        self._store = store
        self._files = files
        self._make_small = draw

    def make(self, attachment: int) -> bool:
        """Make the small picture of an attachment's file, and return whether there is one now.

        An attachment that has got another file meanwhile stays as it is, and one that is gone stays away.
        """
        columns = (ATTACHMENTS.c.path, ATTACHMENTS.c.filename, ATTACHMENTS.c.thumbnail)
        with self._database.read() as connection:
            present = connection.execute(select(*columns).where(ATTACHMENTS.c.id == attachment)).first()
        if present is None or present.path is None or present.thumbnail is not None:
            return present is not None and present.thumbnail is not None
        picture = self._draw(present.path)
        if picture is None:
            return False
        name = f"{SplitName.of(present.filename).stem}_thumbnail.png"
        stored = self._files.store(present.path[: present.path.rindex("/") + 1], Upload(name, BytesIO(picture)))
        same = (ATTACHMENTS.c.id == attachment, ATTACHMENTS.c.path == present.path, ATTACHMENTS.c.thumbnail.is_(None))
        with suppress(_ChangedMeanwhileError), self._files.transaction(stored) as session:
            values = {"thumbnail": stored.path, "has_thumbnail": True, "is_image": True}
            if not session.connection().execute(update(ATTACHMENTS).where(*same).values(values)).rowcount:
                raise _ChangedMeanwhileError
            return True
        return False

    def _draw(self, path: str) -> bytes | None:
        # From a file of this machine: decoders seek to and fro, and may do so in another process.
        with TemporaryFile() as local:
            try:
                for piece in self._store.read(path):
                    local.write(piece)
            except FileMissingError:
                _LOG.warning("%s is missing", path)
                return None
            local.seek(0)
            return self._make_small(local)


class _ChangedMeanwhileError(Exception):
    """Somebody else was quicker, so that the new picture goes again."""
