"""Wheels that are kept: in a folder of one machine, or in the file store for all of them."""

from __future__ import annotations

import hashlib
import io

import pytest

from host.errors import UnavailableError
from host.packages.wheels import SharedWheels, Wheels, WheelStore
from host.storage.files import FileStore

NAME = "lamp-1.0+local.1-py3-none-any.whl"
CONTENT = b"a wheel, or so it says"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def files(tmp_path) -> FileStore:
    """The file store that machines share."""
    return FileStore(tmp_path / "files")


@pytest.fixture(params=["folder", "file store"])
def wheels(request, tmp_path, files) -> Wheels:
    """A place for wheels, of each kind in turn."""
    return WheelStore(tmp_path / "kept") if request.param == "folder" else SharedWheels(files, tmp_path / "cache")


@pytest.fixture
def wheel(tmp_path):
    """A file to keep."""
    path = tmp_path / NAME
    path.write_bytes(CONTENT)
    return path


def test_a_kept_wheel_is_found_again(wheels, wheel):
    """It is kept once, listed, given as a file of its own name, and forgotten."""
    assert not wheels.has(SHA256, NAME)
    assert wheels.add(wheel, SHA256)
    assert not wheels.add(wheel, SHA256)

    assert wheels.has(SHA256, NAME)
    assert list(wheels.entries()) == [(SHA256, NAME)]
    assert wheels.local(SHA256, NAME).name == NAME
    assert wheels.local(SHA256, NAME).read_bytes() == CONTENT

    wheels.remove(SHA256)
    wheels.remove(SHA256)
    assert not wheels.has(SHA256, NAME)
    assert list(wheels.entries()) == []


def test_a_missing_wheel_is_named(wheels):
    """The message says what to do."""
    with pytest.raises(UnavailableError, match=r"lamp-1\.0.*install its package again"):
        wheels.local(SHA256, NAME)


def test_another_machine_finds_what_one_kept(tmp_path, files, wheel):
    """A node without a copy fetches it once; its copy serves when the store is out of reach."""
    SharedWheels(files, tmp_path / "one").add(wheel, SHA256)
    other = SharedWheels(files, tmp_path / "other")

    assert other.local(SHA256, NAME).read_bytes() == CONTENT
    files.delete(f"wheels/{SHA256}/{NAME}")
    assert other.local(SHA256, NAME).read_bytes() == CONTENT
    assert not other.has(SHA256, NAME)


def test_a_changed_wheel_is_not_used(tmp_path, files):
    """What somebody put into the store under a wheel's hash is refused, and no copy of it stays."""
    files.save(f"wheels/{SHA256}/{NAME}", io.BytesIO(b"something else"))
    wheels = SharedWheels(files, tmp_path / "cache")

    with pytest.raises(UnavailableError, match="not what was kept"):
        wheels.local(SHA256, NAME)

    assert list((tmp_path / "cache").iterdir()) == []


def test_other_files_of_the_store_are_no_wheels(files, tmp_path):
    """Only wheels are listed, and an identifier that is no hash removes nothing."""
    for path in ("wheels/readme.txt", "wheels/x/y/z.whl", "attachments/a.whl", f"wheels/{SHA256}/note.txt"):
        files.save(path, io.BytesIO(b"x"))
    wheels = SharedWheels(files, tmp_path / "cache")

    wheels.remove("x")
    wheels.remove("")

    assert list(wheels.entries()) == []
    assert len(list(files.walk())) == 4
