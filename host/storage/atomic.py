"""Write files so that nobody ever reads half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file as a whole; its folder exists already.

    Raises:
        OSError: it cannot be written; the former file is as it was.

    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
