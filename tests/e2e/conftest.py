"""Hosts that several tests share."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from tests.e2e.hosts import RunningHost


@pytest.fixture(scope="module")
def shared_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Give a running host with short limits, shared by the tests of a module."""
    home = tmp_path_factory.mktemp("shared") / "home"
    with RunningHost(home, probe_timeout="3", probe_memory_mb="384", hook_deadline="1", hook_error_limit="50") as host:
        yield host


@pytest.fixture
def client(shared_host: RunningHost) -> Iterator[httpx2.Client]:
    """Give a client of the shared host, signed in as the administrator."""
    with shared_host.client() as client:
        yield client
