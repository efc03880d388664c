"""The file store, in a folder and in a bucket alike."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from host.storage.files import (
    CHUNK,
    FileMissingError,
    FilePathError,
    FileStore,
    FileTakenError,
    check_path,
)

LARGE = 9 * 1024 * 1024  # more than one part of an upload


@pytest.fixture(params=["folder", "bucket"])
def files(request, tmp_path) -> Iterator[FileStore]:
    """An empty file store, of each kind in turn."""
    if request.param == "folder":
        store = FileStore(tmp_path / "files")
        store.prepare()
        yield store
        return
    store = request.getfixturevalue("bucket_files")
    yield store
    for left in list(store.walk()):
        store.delete(left.path)


def content_of(files: FileStore, path: str) -> bytes:
    """Return all bytes of a file."""
    return b"".join(files.read(path))


@pytest.mark.parametrize("size", [0, 5, LARGE], ids=["empty", "small", "large"])
def test_what_was_saved_is_read_again(files, size):
    """A file has the bytes that were given, at any size, and says how many they are."""
    content = os.urandom(size)

    assert files.save("a/b.bin", io.BytesIO(content)) == size
    assert files.size("a/b.bin") == size
    assert content_of(files, "a/b.bin") == content
    assert max([len(piece) for piece in files.read("a/b.bin")], default=0) <= CHUNK


def test_content_is_read_from_where_it_stands_in_any_pieces(files):
    """Content may give less than it is asked for, and need not stand at its beginning."""

    class Dripping(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, 7))

    content = Dripping(b"x" * 100)
    content.seek(50)

    assert files.save("drip", content) == 50
    assert content_of(files, "drip") == b"x" * 50


def test_a_file_is_never_overwritten(files):
    """A taken path is refused, for small and for large content, and the file stays as it was."""
    files.save("a.txt", io.BytesIO(b"first"))

    for content in (b"second", b"x" * LARGE):
        with pytest.raises(FileTakenError, match=r"a\.txt"):
            files.save("a.txt", io.BytesIO(content))
    assert content_of(files, "a.txt") == b"first"


def test_of_many_savers_of_one_path_one_succeeds(files):
    """Whoever comes second at the same moment is refused; no two contents are mixed."""

    def save(number):
        try:
            files.save("race", io.BytesIO(b"%d" % number * 1000))
        except FileTakenError:
            return None
        return number

    with ThreadPoolExecutor(8) as pool:
        winners = [one for one in pool.map(save, range(8)) if one is not None]

    assert len(winners) == 1
    assert content_of(files, "race") == b"%d" % winners[0] * 1000


@pytest.mark.parametrize("before", [0, LARGE], ids=["at once", "after a part"])
def test_content_that_breaks_off_leaves_nothing(files, before):
    """An error of the content is passed on, and there is no file, nor anything to sweep away."""

    class Breaking(io.BytesIO):
        def read(self, size=-1):
            piece = super().read(size)
            if not piece:
                raise RuntimeError("the line is dead")
            return piece

    with pytest.raises(RuntimeError, match="the line is dead"):
        files.save("broken", Breaking(b"x" * before))

    assert not files.exists("broken")
    assert list(files.walk()) == []
    assert files.sweep(timedelta(days=-1)) == 0


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [(0, 4, b"0123"), (3, 7, b"3456"), (8, None, b"89"), (4, 4, b""), (8, 99, b"89"), (10, 12, b""), (50, None, b"")],
)
def test_a_part_of_a_file_is_read(files, start, end, expected):
    """The end is not included; what lies beyond the file is nothing."""
    files.save("digits", io.BytesIO(b"0123456789"))

    assert b"".join(files.read("digits", start, end)) == expected


def test_one_can_seek_in_an_open_file(files):
    """What libraries do with files works: seek from both ends, tell, read all."""
    content = os.urandom(3_000_000)
    files.save("seek.bin", io.BytesIO(content))

    with files.open("seek.bin") as file:
        assert file.seek(-10, io.SEEK_END) == len(content) - 10
        assert file.read() == content[-10:]
        file.seek(2_500_000)
        assert file.read(5) == content[2_500_000:2_500_005]
        assert file.tell() == 2_500_005
        file.seek(0)
        assert file.read() == content
    assert file.closed


def test_an_iterator_that_is_dropped_closes_the_file(files):
    """Nothing stays open, as warnings about that are errors in these tests."""
    files.save("large", io.BytesIO(b"x" * (2 * CHUNK + 1)))
    pieces = files.read("large")

    assert len(next(pieces)) == CHUNK
    pieces.close()


@pytest.mark.parametrize("path", ["nothing", "folder", "folder/file/below"])
def test_a_missing_file_is_named(files, path):
    """A file that is not there is an error of its own class; so is a folder."""
    files.save("folder/file", io.BytesIO(b"x"))

    for call in (
        lambda: content_of(files, path),
        lambda: files.open(path),
        lambda: files.info(path),
        lambda: files.size(path),
        lambda: files.move(path, "elsewhere"),
    ):
        with pytest.raises(FileMissingError, match=path):
            call()
    assert not files.exists(path)


def test_moving_keeps_the_content_and_never_overwrites(files):
    """The old path is free afterwards; a taken one is refused and both files stay."""
    files.save("old/name.txt", io.BytesIO(b"one"))
    files.save("taken.txt", io.BytesIO(b"two"))

    with pytest.raises(FileTakenError, match="taken"):
        files.move("old/name.txt", "taken.txt")
    files.move("old/name.txt", "new/folder/name.txt")
    files.move("taken.txt", "taken.txt")

    assert {one.path: content_of(files, one.path) for one in files.walk()} == {
        "new/folder/name.txt": b"one",
        "taken.txt": b"two",
    }


def test_deleting_what_is_missing_is_no_error(files):
    """A file can be deleted twice, its path used again, and a folder is not deleted with one name."""
    files.save("a/b/c", io.BytesIO(b"x"))
    for path in ("a", "a/b", "a/b/c/d", "none"):
        files.delete(path)
    assert files.exists("a/b/c")

    files.delete("a/b/c")
    files.delete("a/b/c")

    assert list(files.walk()) == []
    files.save("a/b", io.BytesIO(b"a folder was here"))


def test_walking_finds_what_is_below_a_folder(files):
    """A folder is meant, not the beginning of a name; each file comes with size, time and state."""
    before = datetime.now(UTC) - timedelta(seconds=2)
    for path in ("top", "a/1", "a/b/2", "ab/3"):
        files.save(path, io.BytesIO(path.encode()))

    assert {one.path for one in files.walk()} == {"top", "a/1", "a/b/2", "ab/3"}
    assert {one.path for one in files.walk("a")} == {one.path for one in files.walk("a/")} == {"a/1", "a/b/2"}
    assert list(files.walk("nothing/")) == []
    (found,) = files.walk("ab/")
    assert (found.size, found) == (4, files.info("ab/3"))
    assert before < found.modified <= datetime.now(UTC) + timedelta(seconds=2)


def test_another_file_of_the_same_path_has_another_state(files):
    """What a client has kept of a former file does not pass for the new one."""
    files.save("a", io.BytesIO(b"one"))
    first = files.info("a").etag
    files.delete("a")
    files.save("a", io.BytesIO(b"two"))

    assert first
    assert files.info("a").etag != first


@pytest.mark.parametrize("name", ["größe 漢字.txt", "with 'quotes' & more?#%.txt", "emoji \N{BICYCLE}", "a.b..c", "~"])
def test_names_may_have_any_letters(files, name):
    """A name of any script is kept as it is."""
    files.save(f"names/{name}", io.BytesIO(b"x"))

    assert [one.path for one in files.walk("names")] == [f"names/{name}"]
    assert content_of(files, f"names/{name}") == b"x"


def test_a_check_leaves_nothing(files):
    """The store says that it can be written, without a trace."""
    files.check()

    assert list(files.walk()) == []


BAD_PATHS = {
    "empty": "",
    "absolute": "/etc/passwd",
    "upwards": "../x",
    "upwards inside": "a/../../x",
    "here": "a/./b",
    "empty part": "a//b",
    "slash at the end": "a/",
    "NUL": "a\0b",
    "line break": "a\nb",
    "backslash": "..\\x",
    "surrogate": "a\ud800",
    "the store's own": ".incoming/x",
    "long name": "x" * 256,
    "long name of few signs": "漢" * 86,
    "long path": "/".join(["x" * 100] * 9),
}


@pytest.mark.parametrize("path", BAD_PATHS.values(), ids=BAD_PATHS.keys())
def test_paths_cannot_lead_outside(tmp_path, path):
    """No method takes a path that is not one of a file in the store."""
    files = FileStore(tmp_path / "files")
    files.save("good", io.BytesIO(b"x"))

    for call in (
        lambda: check_path(path),
        lambda: files.save(path, io.BytesIO(b"x")),
        lambda: list(files.read(path)),
        lambda: files.open(path),
        lambda: files.exists(path),
        lambda: files.delete(path),
        lambda: files.move("good", path),
        lambda: files.move(path, "other"),
    ):
        with pytest.raises(FilePathError):
            call()
    assert [one.path for one in files.walk()] == ["good"]
