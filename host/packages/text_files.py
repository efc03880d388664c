"""Reading a small text file exactly, and replacing it in one step."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path
from uuid import uuid4

from host.errors import UnavailableError
from host.storage.atomic import sync_folder


def read_text(path: Path) -> str | None:
    """Return the text with its line endings, and None when there is no such file.

    Raises:
        UnavailableError: the file cannot be read, or is no UTF-8.

    """
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UnavailableError(f"{path} cannot be read: {error}.") from error


def check_writable(path: Path) -> None:
    """Make sure that a file can be replaced.

    Raises:
        UnavailableError: it cannot.

    """
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnavailableError(f"{path} cannot be written: {error}.") from error
    if not os.access(target.parent, os.W_OK) and not os.access(target, os.W_OK):
        raise UnavailableError(f"{path} cannot be written; let this process's account write there.")


def write_text(path: Path, text: str) -> None:
    """Replace the text of a file in one step: a reader, or a crash, sees the old one or the new one.

    Raises:
        OSError: the file cannot be written.

    """
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        _write(temporary, text, _mode(target))
        temporary.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        # A single file that is mounted into a container can be written, never replaced.
        if error.errno not in {errno.EBUSY, errno.EACCES, errno.EPERM} or not os.access(target, os.W_OK):
            raise
        _write(target, text, None)
    sync_folder(target.parent)


def _mode(path: Path) -> int | None:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return None


def _write(path: Path, text: str, mode: int | None) -> None:
    with path.open("wb") as file:
        if mode is not None:
            path.chmod(mode)
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
