"""Packages from an index over HTTP, from a repository and from sources."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from host.errors import InvalidInputError
from host.packages.policy import Policy
from tests.packages_area.indexes import serve
from tests.packages_area.wheelhouse import write_wheel
from tests.packages_area.yard import HERMETIC, Yard

# Builds a wheel without needing anything that would have to be downloaded.
BACKEND = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from tests.packages_area.wheelhouse import write_wheel

def build_wheel(folder, config_settings=None, metadata_directory=None):
    return write_wheel(Path(folder), "plug-built", "1.5", plugin=True).name
"""
TESTS = str(Path(__file__).parents[2])


def project(folder: Path) -> Path:
    """Write a project that builds into the wheel plug-built 1.5."""
    folder.mkdir()
    (folder / "backend.py").write_text(BACKEND.format(tests=TESTS))
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "plug-built"\nversion = "1.5"\n'
    )
    return folder


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder."""
    variables = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    command = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@x.example", *arguments]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, env=variables)
    return done.stdout.strip()


@pytest.fixture
def online(cold_yard: Yard) -> Yard:
    cold_yard.configure(environment=HERMETIC, find_links=[])
    return cold_yard


def test_the_url_is_the_index(online: Yard):
    """With an http URL the package comes from that index, its password is used and never shown."""
    online.wheel("plug-a", requires=["dep"])
    online.wheel("dep")
    with serve(online.wheelhouse) as index:
        outcome = online.install("plug-a", url=index.url)
        assert "/files/dep-1.0-py3-none-any.whl" in index.asked

    assert online.versions == {"plug-a": "1.0", "dep": "1.0"}
    assert any("credentials" in warning for warning in outcome.warnings)
    operation = online.packages.operation(outcome.operation)
    lock = online.packages.generation(1).lock.to_toml()
    assert "s3cret" not in f"{outcome}{operation}{lock}{online.file}"
    assert online.packages.sync().changed is False


def test_what_is_installed_needs_no_index(online: Yard):
    """With the index gone, what is locked resolves from the kept wheels, beside a wheel from a path."""
    online.wheel("plug-a", requires=["dep"])
    online.wheel("dep")
    with serve(online.wheelhouse) as index:
        online.configure(index_url=index.url)
        online.install("plug-a")
    local = write_wheel(online.root / "local", "plug-b", requires=["dep"], plugin=True)

    online.install(str(local))

    assert online.versions == {"plug-a": "1.0", "plug-b": "1.0", "dep": "1.0"}
    with pytest.raises(InvalidInputError, match="package index cannot be reached"):
        online.install("plug-c")


def test_an_index_that_refuses(online: Yard):
    """A missing password and a file that is not what the index said are told apart."""
    online.wheel("plug-a")
    with serve(online.wheelhouse) as index, pytest.raises(InvalidInputError, match="index answered 401"):
        online.install("plug-a", url=index.open_url)
    with serve(online.wheelhouse, tamper=True) as index, pytest.raises(InvalidInputError, match="hash it must have"):
        online.install("plug-a", url=index.url)
    assert (online.left, online.file) == ([], "")


def test_a_repository_is_locked_to_its_commit(cold_yard: Yard):
    """Version control needs the administrator's leave; the lock holds the commit and the built wheel."""
    folder = project(cold_yard.root / "repository")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    url = f"git+{folder.as_uri()}@main"
    cold_yard.wheel("plug-b")
    with pytest.raises(InvalidInputError, match="version control are not allowed"):
        cold_yard.install(url=url)

    cold_yard.configure(policy=Policy(allow_vcs=True))
    with pytest.raises(InvalidInputError, match=r"holds plug-built 1.5, not ==2"):
        cold_yard.install(url=url, version="2.0")
    outcome = cold_yard.install(url=url)

    assert (outcome.name, outcome.version) == ("plug-built", "1.5")
    assert cold_yard.file == f"plug-built @ {url}\n"
    package = cold_yard.packages.generation(1).lock.by_name["plug-built"]
    assert package.direct_url["vcs_info"]["commit_id"] == git(folder, "rev-parse", "HEAD")
    (folder / ".git").rename(folder / "gone")
    cold_yard.install("plug-b")
    assert cold_yard.versions == {"plug-built": "1.5", "plug-b": "1.0"}


def test_sources_are_built_where_that_is_allowed(cold_yard: Yard):
    """A local project can be installed, and is kept as the wheel that it was built into."""
    folder = project(cold_yard.root / "project")
    with pytest.raises(InvalidInputError, match="built from source"):
        cold_yard.install(str(folder))

    cold_yard.configure(policy=Policy(allow_builds=True))
    cold_yard.install(str(folder))

    assert cold_yard.file == f"plug-built @ {folder.as_uri()}\n"
    assert cold_yard.packages.sync().changed is False
