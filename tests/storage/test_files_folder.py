"""Files in a folder: what a killed process leaves, and folders that are not as they should be."""

from __future__ import annotations

import errno
import io
import os
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from host.errors import UnavailableError
from host.storage.files import FileMissingError, FileStore, FileTakenError

_STALLED_SAVE = """
import sys, time
from pathlib import Path
from host.storage.files import FileStore

class Stalling:
    def read(self, size):
        if not self.begun:
            self.begun = True
            return b"x" * size
        print("half-way", flush=True)
        time.sleep(60)
    begun = False

FileStore(Path(sys.argv[1])).save("a/half.bin", Stalling())
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    """The folder of the store."""
    return Path(tmp_path / "files")


@pytest.fixture
def files(folder) -> FileStore:
    """A file store in it."""
    store = FileStore(folder)
    store.prepare()
    return store


def everything(folder: Path) -> set[str]:
    """Return the paths of all files in a folder, finished or not."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def test_a_killed_process_leaves_nothing(folder):
    """Where the system can write files without a name, nothing is left of a save that was killed half-way."""
    with subprocess.Popen([sys.executable, "-c", _STALLED_SAVE, folder], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"half-way\n"
        process.send_signal(signal.SIGKILL)

    assert everything(folder) == set()


@pytest.mark.parametrize("lacks", ["files without a name", "links"])
def test_other_file_systems_will_do(files, folder, monkeypatch, lacks):
    """Without files that have no name, and without links, the same holds: all or nothing, never two of one name."""
    files._place.__dict__["_has_nameless"] = False
    if lacks == "links":

        def refuse(*_args, **_kwargs):
            raise OSError(errno.EPERM, "no links here")

        monkeypatch.setattr(os, "link", refuse)

    files.save("a/b", io.BytesIO(b"one"))
    with pytest.raises(FileTakenError):
        files.save("a/b", io.BytesIO(b"two"))
    files.move("a/b", "c")
    files.save("a/b", io.BytesIO(b"three"))
    with pytest.raises(FileTakenError):
        files.move("c", "a/b")

    assert everything(folder) == {"c", "a/b"}
    assert b"".join(files.read("c")) == b"one"


def test_old_drafts_are_swept_away(files, folder):
    """Only what nobody has written to for long goes, and the start does the same."""
    for name, age in (("old", 7200), ("new", 60)):
        draft = folder / ".incoming" / name
        draft.write_bytes(b"x")
        os.utime(draft, (time.time() - age,) * 2)

    assert files.sweep() == 0
    files.prepare()
    assert everything(folder) == {".incoming/new"}
    assert files.sweep(timedelta(seconds=30)) == 1
    assert everything(folder) == set()


def test_empty_folders_go_with_their_last_file(files, folder):
    """Folders do not pile up, and the store's own stays."""
    files.save("a/b/1", io.BytesIO(b"x"))
    files.save("a/2", io.BytesIO(b"x"))

    files.delete("a/b/1")
    assert not (folder / "a/b").exists()
    files.move("a/2", "b/2")
    files.delete("b/2")

    assert {path.name for path in folder.iterdir()} == {".incoming"}


def test_saving_and_deleting_beside_each_other(files):
    """A folder that is taken away while it gets a new file is made again."""

    def churn(number):
        for _ in range(100):
            files.save(f"busy/folder/{number}", io.BytesIO(b"x"))
            files.delete(f"busy/folder/{number}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(churn, range(4)))

    assert list(files.walk()) == []


def test_others_cannot_read_what_people_store(files, folder):
    """Files and folders are for their owner and the group."""
    files.save("a/b", io.BytesIO(b"x"))

    assert stat.S_IMODE((folder / "a/b").stat().st_mode) & 0o137 == 0
    assert stat.S_IMODE((folder / "a").stat().st_mode) & 0o027 == 0


def test_what_is_no_file_is_not_served(files, folder, tmp_path):
    """Folders, pipes and links that lead nowhere are no files."""
    os.mkfifo(folder / "pipe")
    (folder / "broken").symlink_to(tmp_path / "nothing")

    assert list(files.walk()) == []
    for name in ("pipe", "broken"):
        with pytest.raises(FileMissingError):
            files.info(name)


def test_a_place_that_is_no_folder_is_explained(tmp_path):
    """The message names the folder and what to look at, when it is made, checked and written."""
    (tmp_path / "files").write_bytes(b"a file stands here")
    files = FileStore(tmp_path / "files")

    for call in (files.prepare, files.check, lambda: files.save("a", io.BytesIO(b"x"))):
        with pytest.raises(UnavailableError, match=r"files.*Check the folder"):
            call()


def test_a_full_disk_is_explained_and_leaves_nothing(files, folder, monkeypatch):
    """The error says that there is no room, and no file is left."""

    def full(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(UnavailableError, match="No space left"):
        files.save("a", io.BytesIO(b"x" * 1000))
    assert everything(folder) == set()


def test_checking_makes_no_folder(folder, tmp_path):
    """A check before the first start writes nothing."""
    FileStore(folder).check()

    assert list(tmp_path.iterdir()) == []


def test_another_folder_can_be_named(tmp_path):
    """An address may name a folder, as one that several machines share."""
    files = FileStore(tmp_path / "unused", f"file://{tmp_path}/of%20all")
    files.save("a", io.BytesIO(b"x"))

    assert (tmp_path / "of all" / "a").read_bytes() == b"x"
    assert not (tmp_path / "unused").exists()
    assert files.where == str(tmp_path / "of all")
