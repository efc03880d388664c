"""The paths under which clients find the JavaScript modules of plugins."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import quote

STATIC_PREFIX = "/static/plugins/"

_FUNCTION = re.compile(r":[A-Za-z_$][\w$]*$")
_ABSOLUTE = re.compile(r"/|https?://", re.IGNORECASE)


def static_url(key: str, path: str) -> str:
    """Return the path of a file in a plugin's static folder; an absolute path or address stays as it is.

    A name of a function after a colon (``panel.js:draw``) is kept.

    Raises:
        ValueError: the path is empty or leads out of the folder.

    """
    if _ABSOLUTE.match(path):
        return path
    function = _FUNCTION.search(path)
    file = path[: function.start()] if function else path
    inside = posixpath.normpath(file)
    if not file or inside.startswith("..") or inside == "." or "\\" in file or "\x00" in file:
        msg = f"the path {path!r} names no file of the static folder"
        raise ValueError(msg)
    return f"{STATIC_PREFIX}{key}/{quote(inside)}{function.group() if function else ''}"
