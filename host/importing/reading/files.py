"""Data files: which are accepted, and how their tables are opened."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO, Final, cast

from host.importing.reading.apart import read_apart
from host.importing.reading.delimited import read_delimited
from host.importing.reading.table import DataFileError, Table, TableLimits

FORMATS: Final = ("csv", "tsv", "xlsx", "ods", "json")
"""Name endings of the files that can be read."""
_MEGABYTE: Final = 1024 * 1024
_COPIED: Final = 1024 * 1024


def format_of(name: str) -> str:
    """Return the format that a file's name promises.

    Raises:
        DataFileError: none that can be read.

    """
    _, dot, ending = name.rpartition(".")
    if not dot or ending.lower() not in FORMATS:
        wanted = ", ".join(f".{one}" for one in FORMATS)
        raise DataFileError(f"Files of this kind cannot be imported. The name must end in one of {wanted}.")
    return ending.lower()


def check_size(content: BinaryIO, megabytes: int) -> None:
    """Make sure that a file is neither empty nor too large.

    Raises:
        DataFileError: it is.

    """
    size = content.seek(0, os.SEEK_END)
    if size == 0:
        raise DataFileError("The submitted file is empty.")
    if size > megabytes * _MEGABYTE:
        raise DataFileError(
            f"The file has {size / _MEGABYTE:.1f} MB; at most {megabytes} MB can be imported. Import it in parts, or "
            "ask an administrator to raise the setting IMPORT_MAX_FILE_MB."
        )


@contextmanager
def open_table(content: BinaryIO, kind: str, limits: TableLimits) -> Iterator[Table]:
    """Open the table in a file; its lines are read while they are asked for.

    Raises:
        DataFileError: the file has no table that can be imported.

    """
    content.seek(0)
    if kind in {"csv", "tsv"}:
        with closing(read_delimited(content, tabs=kind == "tsv")) as lines:
            yield Table(lines, limits, is_even=False)
        return
    with tempfile.NamedTemporaryFile(prefix="plugyard-import-", suffix=f".{kind}") as local:
        shutil.copyfileobj(content, local, _COPIED)
        local.flush()
        with closing(read_apart(Path(local.name), kind, limits.columns)) as lines:
            yield Table(lines, limits, is_even=True)


@contextmanager
def local_copy(pieces: Iterable[bytes]) -> Iterator[BinaryIO]:
    """Copy what is in the file store to a file of this machine, which goes in the end."""
    with tempfile.TemporaryFile() as local:
        for piece in pieces:
            local.write(piece)
        local.seek(0)
        yield cast("BinaryIO", local)
