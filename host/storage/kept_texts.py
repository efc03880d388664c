"""Short texts that are made once and kept in the home folder: the signing key, the instance's identifier."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path

from host.errors import UnavailableError


def keep(path: Path, make: Callable[[], str]) -> str:
    """Return the text of a file that only its owner may read; make it first where it is missing.

    Processes that start at the same moment all get the same text.

    Raises:
        UnavailableError: the file cannot be read or written, or it is empty.

    """
    try:
        if not path.exists():
            _write_once(path, make())
        text = path.read_text("utf-8").strip()
    except OSError as error:
        msg = f"{path} cannot be used: {error.strerror}. Check the folder's owner and free space."
        raise UnavailableError(msg) from error
    if not text:
        msg = f"{path} is empty. Restore it from a backup, or remove it to have a new one made."
        raise UnavailableError(msg)
    return text


def _write_once(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        # A link, unlike a rename, fails where another process was quicker.
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink(missing_ok=True)
