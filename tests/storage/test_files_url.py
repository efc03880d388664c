"""The address of the place for files."""

from __future__ import annotations

from pathlib import Path

import pytest

from host.config import Config, ConfigError
from host.config.files import Bucket, parse_files_url


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("", None),
        ("file:///srv/files", Path("/srv/files")),
        ("s3://depot", Bucket(bucket="depot")),
        ("s3://depot/", Bucket(bucket="depot")),
        ("s3://depot/a/b%20c/", Bucket(bucket="depot", prefix="a/b c")),
        (
            "s3://depot?key=me&secret=a+b/c%26d&endpoint_url=http://s3:9000&region=eu&addressing_style=path",
            Bucket(
                bucket="depot",
                key="me",
                secret="a+b/c&d",
                endpoint_url="http://s3:9000",
                region="eu",
                addressing_style="path",
            ),
        ),
    ],
)
def test_an_address_names_a_place(url, place):
    """A plus sign in a secret means itself."""
    assert parse_files_url(url) == place


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("ftp://host/x", "s3://"),
        ("/srv/files", "file:///folder"),
        ("file://relative", "file:///folder"),
        ("s3://", "bucket"),
        ("s3://me:HUSH@depot/x", "bucket"),
        ("s3://depot/a//b", "prefix"),
        ("s3://depot/../b", "prefix"),
        ("s3://depot?pasword=HUSH", "options? that is none of|option that is none of"),
        ("s3://depot?secret=HUSH", "key and secret"),
        ("s3://depot?addressing_style=HUSH", "addressing_style"),
        ("s3://depot?endpoint_url=HUSH", "endpoint_url"),
    ],
)
def test_a_wrong_address_is_explained_without_its_secrets(url, says):
    """The configuration names the variable and the fault, and repeats nothing of the address."""
    with pytest.raises(ConfigError, match=rf"(?s)PLUGYARD_FILES_URL.*({says})") as caught:
        Config.load({"PLUGYARD_FILES_URL": url})

    assert "HUSH" not in str(caught.value)
