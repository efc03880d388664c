"""The git checkout that the host runs from, if any: read from its files, without git."""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import BinaryIO, Final

_HASH: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_COMMITTER: Final = re.compile(rb"^committer [^\n]* (\d{1,12}) ([+-])(\d\d)(\d\d)$", re.MULTILINE)
_SHA1: Final = 20
_SMALL: Final = 4096
_MOST: Final = 65_536
_INDEX_MAGIC: Final = b"\xfftOc\x00\x00\x00\x02"
_FANOUT: Final = 256 * 4
_COMMIT: Final = 1
_LARGE_OFFSET: Final = 0x8000_0000


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """What is checked out; a part that cannot be found out is ``None``."""

    hash: str
    date: date | None
    """Day of the commit, where it was made."""
    branch: str | None
    """``None`` where no branch is checked out."""


def checked_out(folder: Path) -> Commit | None:
    """Return the commit that is checked out in a folder; ``None`` where it is no checkout."""
    try:
        own, common = _git_folders(folder / ".git")
        head = _text(own / "HEAD")
        ref = head.removeprefix("ref:").strip() if head.startswith("ref:") else ""
        found = _resolve(ref, own, common) if ref else head
    except (OSError, ValueError):
        return None
    if found is None or not _HASH.fullmatch(found):
        return None
    branch = ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else None
    return Commit(hash=found, date=_date(common / "objects", found), branch=branch)


def _git_folders(git: Path) -> tuple[Path, Path]:
    """Return the folder of the working tree's own state, and the one that it shares with others."""
    if git.is_file():
        git = git.parent / _text(git).removeprefix("gitdir:").strip()
    shared = git / "commondir"
    return git, git / _text(shared) if shared.is_file() else git


def _resolve(ref: str, own: Path, common: Path) -> str | None:
    if not ref.startswith("refs/") or ".." in ref:
        return None
    for folder in (own, common):
        if (folder / ref).is_file():
            return _text(folder / ref)
    with (common / "packed-refs").open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            found, _, name = line.strip().partition(" ")
            if name == ref:
                return found
    return None


def _text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_SMALL).decode("utf-8", "replace").strip()


def _date(objects: Path, commit: str) -> date | None:
    try:
        content = _loose(objects, commit) or _packed(objects / "pack", bytes.fromhex(commit))
        found = _COMMITTER.search(content or b"")
        if found is None:
            return None
        away = timedelta(hours=int(found[3]), minutes=int(found[4]))
        zone = timezone(-away if found[2] == b"-" else away)
        return datetime.fromtimestamp(int(found[1]), zone).date()
    except (OSError, ValueError, OverflowError, struct.error, zlib.error):
        return None


def _loose(objects: Path, commit: str) -> bytes | None:
    path = objects / commit[:2] / commit[2:]
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return zlib.decompressobj().decompress(file.read(_MOST), _MOST)


def _packed(folder: Path, name: bytes) -> bytes | None:
    if len(name) != _SHA1:
        return None
    for path in sorted(folder.glob("*.idx")):
        with path.open("rb") as index:
            offset = _offset(index, name)
        if offset is not None:
            with path.with_suffix(".pack").open("rb") as pack:
                pack.seek(offset)
                return _packed_commit(pack.read(_MOST))
    return None


def _offset(index: BinaryIO, name: bytes) -> int | None:
    """Return where an object begins in the pack of an index of version 2."""
    if index.read(len(_INDEX_MAGIC)) != _INDEX_MAGIC:
        return None
    fanout = struct.unpack(">256I", index.read(_FANOUT))
    first, last, total = fanout[name[0] - 1] if name[0] else 0, fanout[name[0]], fanout[-1]
    names = len(_INDEX_MAGIC) + _FANOUT
    index.seek(names + first * _SHA1)
    block = index.read((last - first) * _SHA1)
    place = next((first + at // _SHA1 for at in range(0, len(block), _SHA1) if block[at : at + _SHA1] == name), None)
    if place is None:
        return None
    offsets = names + total * (_SHA1 + 4)
    index.seek(offsets + place * 4)
    (offset,) = struct.unpack(">I", index.read(4))
    if offset & _LARGE_OFFSET:
        index.seek(offsets + total * 4 + (offset ^ _LARGE_OFFSET) * 8)
        (offset,) = struct.unpack(">Q", index.read(8))
    return int(offset)


def _packed_commit(content: bytes) -> bytes | None:
    """Return a commit as it lies in a pack; ``None`` where only its difference to another one does."""
    if content[0] >> 4 & 7 != _COMMIT:
        return None
    start = next(at for at, byte in enumerate(content) if not byte & 0x80) + 1
    return zlib.decompressobj().decompress(content[start:], _MOST)
