"""What the host says of its version."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from host.about import API_VERSION, DISTRIBUTION
from host.release.changes import interface_changes
from host.release.release import Release

DOCS = "https://host.example.org/api/docs/"


@pytest.mark.parametrize(
    ("version", "dev", "up_to_date"),
    [
        pytest.param("9999.0", False, True, id="newest"),
        pytest.param("9999.0rc1", True, True, id="pre-release"),
        pytest.param("0.0.1", False, False, id="a newer one is installed"),
        pytest.param("unheard of", True, True, id="no version"),
    ],
)
def test_versions(tmp_path: Path, version: str, dev: bool, up_to_date: bool):
    """Outside of a checkout the version alone says what it is."""
    about = Release(DISTRIBUTION, version, API_VERSION, root=tmp_path).about(DOCS)

    assert (about["dev"], about["up_to_date"]) == (dev, up_to_date)
    assert about["version"] == {
        "server": version,
        "api": API_VERSION,
        "commit_hash": None,
        "commit_date": None,
        "commit_branch": None,
        "python": platform.python_version(),
    }


def test_links_come_from_the_metadata(tmp_path: Path):
    """Without addresses in the metadata there is the page of the server itself, and nothing invented."""
    nowhere = Release("not-installed-anywhere", "1.0", API_VERSION, root=tmp_path).about(DOCS)
    elsewhere = Release("starlette", "9999", API_VERSION, root=tmp_path).about(DOCS)

    assert nowhere["links"] == {"doc": DOCS, "code": None, "bug": None}
    assert elsewhere["links"]["doc"].startswith("https://")
    assert elsewhere["links"]["code"].startswith("https://")


def test_the_newest_change_is_that_of_this_interface(tmp_path: Path):
    """Whoever raises the version of the interface says what it brings."""
    changes = Release(DISTRIBUTION, "1.0", API_VERSION, root=tmp_path).changes()

    assert next(change.api for change in interface_changes()) == API_VERSION
    assert next(iter(changes)) == f"v{API_VERSION}"
    assert [name for name, change in changes.items() if change["latest"]] == [f"v{API_VERSION}"]
    assert all(line.strip() for change in interface_changes() for line in change.text)
    assert len({change.api for change in interface_changes()}) == len(interface_changes())
