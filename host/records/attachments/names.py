"""Names of files as they are stored: what people send, made safe for every file system and every client."""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

FOLDER: Final = "attachments/"
"""Where the files are in the file store."""

_PATH_LENGTH = 100
_SHORTEST_NAME = 40
_NAME_BYTES = 200
_ENDING_LENGTH = 20
_DROPPED = frozenset("'\"\\`~#|!@$%^&*()[]{}<>?;:+=,")
_JOINERS = frozenset("\u200c\u200d")
"""Scripts cannot be written without them; all other signs that nobody sees are dropped."""
_RANDOM = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_RANDOM_LENGTH = 7
_TRIES = 50
_NAMELESS = "file"


def folder_of(model_type: str, model_id: int) -> str:
    """Return the folder for the files of one record, with its slash."""
    return f"{FOLDER}{model_type}/{model_id}/"


def clean_name(name: str) -> str:
    """Return the base name, without signs that a file system, a shell or a web page could take for something else."""
    base = name.replace("\\", "/").rpartition("/")[2]
    kept = "".join(_kept(sign) for sign in unicodedata.normalize("NFC", base).strip())
    # Some systems take a name for the same with and without a dot at its end.
    return kept.rstrip(".") or _NAMELESS


def _kept(sign: str) -> str:
    if sign.isspace():
        return "_" if unicodedata.category(sign) == "Zs" else ""
    if sign in _DROPPED or (unicodedata.category(sign)[0] in "CZ" and sign not in _JOINERS):
        return ""
    return sign


@dataclass(frozen=True, slots=True)
class SplitName:
    """A file name, taken apart at its last dot."""

    stem: str
    ending: str
    """With its dot; empty where there is none."""

    @classmethod
    def of(cls, name: str) -> SplitName:
        """Take a name apart; a dot at its beginning makes no ending, nor does what is too long to be one."""
        stem, dot, ending = name.rpartition(".")
        if not stem or not dot or not ending or len(ending) > _ENDING_LENGTH:
            return cls(name, "")
        return cls(stem, f".{ending}")

    def fitted(self, room: int, suffix: str = "") -> str:
        """Return the name with something added before its ending, cut to so many characters."""
        tail = suffix + self.ending
        stem = self.stem[: max(room - len(tail), 1)]
        bytes_left = max(_NAME_BYTES - len(tail.encode()), 4)
        return stem.encode()[:bytes_left].decode(errors="ignore") + tail


def candidates(folder: str, name: str) -> Iterator[str]:
    """Iterate over the names that a file can have in a folder, best first.

    The first is the clean name itself, unless it is too long; the others have a random part.
    """
    split, room = SplitName.of(name), room_in(folder)
    if split.fitted(room) == name:
        yield name
    for _ in range(_TRIES):
        yield split.fitted(room, "_" + "".join(secrets.choice(_RANDOM) for _ in range(_RANDOM_LENGTH)))


def room_in(folder: str) -> int:
    """Return how many characters a name in a folder may have: the whole path shall not be long."""
    return max(_PATH_LENGTH - len(folder), _SHORTEST_NAME)


def rename_fault(old: str, new: str, folder: str) -> str:
    """Say what is wrong with another name for a file; nothing where it can be used, if it is not taken.

    Args:
        old: its present name.
        new: the other one, as it was sent.
        folder: where it is.

    """
    cleaned = clean_name(new)
    if "/" in new or "\\" in new or new in {".", ".."}:
        return "Give a file name without path parts."
    if SplitName.of(cleaned).ending.lower() != SplitName.of(old).ending.lower():
        return f"The file name must keep its extension '{SplitName.of(old).ending}'."
    if SplitName.of(cleaned).fitted(room_in(folder)) != cleaned:
        return f"The file name is too long; at most {room_in(folder)} characters are possible here."
    return ""
