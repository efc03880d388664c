"""Texts that are made once and kept."""

from __future__ import annotations

import secrets
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from host.errors import UnavailableError
from host.storage.kept_texts import keep


def test_a_text_is_made_once_and_private(tmp_path: Path):
    """The first call makes the file for its owner alone; later calls read it."""
    path = tmp_path / "home" / "secret.key"

    first = keep(path, secrets.token_hex)

    assert keep(path, secrets.token_hex) == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["secret.key"]


def test_all_starters_get_the_same_text(tmp_path: Path):
    """Processes that start at once agree on one text."""
    path = tmp_path / "secret.key"
    with ThreadPoolExecutor(16) as pool:
        texts = set(pool.map(lambda _: keep(path, secrets.token_hex), range(64)))

    assert texts == {path.read_text()}


def test_an_empty_file_is_refused(tmp_path: Path):
    """A file that lost its content is named, with the remedy."""
    path = tmp_path / "secret.key"
    path.write_text("\n")

    with pytest.raises(UnavailableError, match=r"secret\.key is empty\. Restore"):
        keep(path, secrets.token_hex)
