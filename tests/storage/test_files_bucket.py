"""Files in a bucket: a store that does not answer, refuses, or lacks what others can."""

from __future__ import annotations

import errno
import io
import logging
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from host.errors import UnavailableError
from host.storage.files import FileMissingError, FileStore, FileTakenError
from host.storage.files_bucket import BucketFiles

SECRET = "hunter2/of+the=store"


def store(url: str) -> FileStore:
    """Return a file store that keeps nothing on this machine."""
    return FileStore(Path("unused"), url)


def place_of(files: FileStore) -> BucketFiles:
    """Return what keeps the files of a store."""
    assert isinstance(files._place, BucketFiles)
    return files._place


@pytest.fixture
def files(bucket_files):
    """A file store that forgets what a test taught it."""
    yield bucket_files
    place_of(bucket_files)._refuses_taken = True


def test_a_store_that_does_not_answer_is_explained(caplog):
    """The message names the store and the remedy; neither it nor the log has the secret."""
    files = store(f"s3://depot/files?endpoint_url=http://127.0.0.1:1&key=me&secret={SECRET}&region=us-east-1")
    place_of(files)._fs.config_kwargs["retries"] = {"max_attempts": 1}  # the pauses between are no subject here

    with pytest.raises(UnavailableError, match=r"s3://depot/files.*PLUGYARD_FILES_URL") as caught:
        files.save("a", io.BytesIO(b"x"))

    assert SECRET not in str(caught.value) + caplog.text + repr(files) + repr(files.bucket)
    assert caught.value.__cause__ is None


def test_a_missing_bucket_is_explained(s3_url):
    """A check names it, and saving does not say that a file is missing."""
    files = store(s3_url.replace("s3://files-", "s3://none-"))

    with pytest.raises(UnavailableError, match="no such bucket"):
        files.check()
    with pytest.raises(UnavailableError, match="bucket does not exist"):
        files.save("a", io.BytesIO(b"x"))


def test_a_missing_library_is_named(monkeypatch):
    """Without s3fs the start says how to get it."""
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)

    with pytest.raises(UnavailableError, match=r"pip install 'plugyard\[s3\]'"):
        store("s3://depot").prepare()


def test_uploads_that_were_left_are_given_up(files):
    """What a killed process had uploaded counts as a file for nobody, and goes after its time."""
    place = place_of(files)
    begun = place._call("create_multipart_upload", Key=place._key("half"))
    place._call("upload_part", Key=place._key("half"), UploadId=begun["UploadId"], PartNumber=1, Body=b"x")

    assert not files.exists("half")
    assert files.sweep(timedelta(days=365 * 100)) == 0  # the store of the tests says that all began in 2010
    assert files.sweep(timedelta(days=-1)) == 1
    assert files.sweep(timedelta(days=-1)) == 0


def test_a_store_that_cannot_refuse_is_asked_first(files, monkeypatch, caplog):
    """Where the store does not know the condition, taken paths are refused all the same."""
    place = place_of(files)
    call = place._call

    def without_conditions(method, **arguments):
        if "IfNoneMatch" in arguments:
            raise OSError(errno.ENOSYS, "A header you provided implies functionality that is not implemented")
        return call(method, **arguments)

    monkeypatch.setattr(place, "_call", without_conditions)
    with caplog.at_level(logging.WARNING):
        files.save("plain", io.BytesIO(b"one"))

    assert "asked first" in caplog.text
    with pytest.raises(FileTakenError):
        files.save("plain", io.BytesIO(b"two"))
    assert b"".join(files.read("plain")) == b"one"
    files.delete("plain")


def test_many_files_are_listed_page_by_page(files, monkeypatch):
    """Files beyond one page of the store's answer are found."""
    place = place_of(files)
    call = place._call
    pages = []

    def small_pages(method, **arguments):
        if method == "list_objects_v2":
            arguments["MaxKeys"] = 2
            pages.append(arguments.get("ContinuationToken"))
        return call(method, **arguments)

    monkeypatch.setattr(place, "_call", small_pages)
    names = [f"many/{number}" for number in range(5)]
    for name in names:
        files.save(name, io.BytesIO(b"x"))

    assert [one.path for one in files.walk("many")] == names
    assert len(pages) == 3
    for name in names:
        files.delete(name)


def test_a_file_that_goes_while_it_is_read_is_an_error(files):
    """What cannot be read any more is no end of the file."""
    files.save("short-lived", io.BytesIO(b"x" * 5_000_000))
    file = files.open("short-lived")
    file.read(10)
    files.delete("short-lived")

    with pytest.raises((FileMissingError, UnavailableError)):
        file.read()
    file.close()
