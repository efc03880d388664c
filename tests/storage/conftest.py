"""File stores that tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from host.storage.files import FileStore


@pytest.fixture(scope="module")
def bucket_files(s3_url: str) -> FileStore:
    """Give a file store in a bucket; making one takes a third of a second, so a test cleans up what it leaves."""
    return FileStore(Path("unused"), s3_url)
