"""Who may read which stored file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from host.contract.values import User
from host.errors import NotFoundError
from host.storage.files import FileInfo, FilePathError, FileStore

Rule: TypeAlias = Callable[[User, str], bool]
"""Tells whether somebody may read the file of a path."""


def any_user(user: User, path: str) -> bool:  # noqa: ARG001 - every rule is asked for a path
    """Let everybody read who is signed in."""
    return True


class Media:
    """Stored files, for those who may read them.

    Args:
        files: the file store.
        rules: beginning of the path, as ``attachments/`` → who may read what is below it. What no rule is about, nobody
            may read.

    """

    def __init__(self, files: FileStore, rules: Mapping[str, Rule]) -> None:
        self._files = files
        self._rules = dict(rules)

    def find(self, path: str, user: User) -> FileInfo:
        """Describe a file.

        Raises:
            NotFoundError: there is none, or this account may not know of it.

        """
        missing = NotFoundError(f"There is no file '{path[:200]}'.")
        top, slash, _ = path.partition("/")
        rule = self._rules.get(top + slash)
        try:
            if rule is None or not rule(user, path):
                raise missing
            return self._files.info(path)
        except (NotFoundError, FilePathError):
            raise missing from None

    def read(self, found: FileInfo, start: int, end: int) -> Iterator[bytes]:
        """Iterate over the bytes of a file from ``start`` up to, not including, ``end``."""
        return self._files.read(found.path, start, end)
