"""What is checked out, read from git's own files."""

from __future__ import annotations

import os
import shutil
import subprocess
from datetime import date
from pathlib import Path

import pytest

from host.release.checkout import checked_out

DAY = date(2026, 3, 1)
_SETTINGS = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
    "GIT_AUTHOR_DATE": "2026-02-28T12:00:00+0000",
    # Already the next day in UTC; the day is that of the place.
    "GIT_COMMITTER_DATE": "2026-03-01T23:30:00-0500",
}


def git(folder: Path, *arguments: str) -> str:
    """Run git and return what it says."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **_SETTINGS}
    return subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with one commit on the branch ``work/now``."""
    folder = tmp_path_factory.mktemp("template") / "checkout"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "work/now")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "one")
    return folder


@pytest.fixture
def checkout(template: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    return Path(shutil.copytree(template, tmp_path / "checkout"))


@pytest.mark.parametrize(
    ("steps", "branch"),
    [
        pytest.param([], "work/now", id="as it was made"),
        pytest.param([["pack-refs", "--all"], ["gc", "--quiet"]], "work/now", id="packed"),
        pytest.param([["checkout", "--quiet", "--detach"]], None, id="no branch"),
    ],
)
def test_hash_day_and_branch(checkout: Path, steps: list[list[str]], branch: str | None):
    """Each is found, however git keeps it."""
    for step in steps:
        git(checkout, *step)

    found = checked_out(checkout)

    assert found is not None
    assert (found.hash, found.date, found.branch) == (git(checkout, "rev-parse", "HEAD"), DAY, branch)


def test_a_second_working_tree(checkout: Path, tmp_path: Path):
    """One that shares its repository with another is found too."""
    git(checkout, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "other"))

    found = checked_out(tmp_path / "other")

    assert found is not None
    assert (found.branch, found.date) == ("other", DAY)


@pytest.mark.parametrize(
    ("head", "is_found"),
    [
        pytest.param(b"", False, id="empty"),
        pytest.param(b"ref: refs/heads/gone\n", False, id="branch without commit"),
        pytest.param(b"ref: ../../secret\n", False, id="out of the folder"),
        pytest.param(b"\xff\xfe\x00", False, id="no text"),
        pytest.param(b"f" * 40 + b"\n", True, id="commit that is not there"),
    ],
)
def test_broken_checkouts(checkout: Path, head: bytes, is_found: bool):
    """What cannot be found out is unknown, and never fails."""
    (checkout / ".git/HEAD").write_bytes(head)

    found = checked_out(checkout)

    assert (found is not None) is is_found
    assert found is None or (found.date, found.branch) == (None, None)


def test_a_broken_object_only_hides_the_day(checkout: Path):
    """Hash and branch are known without the commit itself."""
    commit = git(checkout, "rev-parse", "HEAD")
    path = checkout / ".git/objects" / commit[:2] / commit[2:]
    path.chmod(0o600)
    path.write_bytes(b"no zlib")

    found = checked_out(checkout)

    assert found is not None
    assert (found.hash, found.date, found.branch) == (commit, None, "work/now")


def test_other_folders(tmp_path: Path):
    """A folder without a repository is no checkout."""
    assert checked_out(tmp_path) is None
    assert checked_out(tmp_path / "nowhere") is None
