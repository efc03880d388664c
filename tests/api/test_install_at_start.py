"""Packages that a host installs as it starts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import select

from host.config import Config
from host.server import Host
from host.storage.tables import METADATA
from tests.packages_fixture import Wheels


@contextmanager
def opened(home: Path, links: Path) -> Iterator[Host]:
    """Open a host that installs what its plugins file lists."""
    host = Host(
        Config.load(
            {
                "PLUGYARD_HOME": str(home),
                "PLUGYARD_PLUGINS_FILE": str(home / "plugins.txt"),
                "PLUGYARD_FIND_LINKS": str(links),
                "PLUGYARD_INDEX_URL": links.as_uri(),
                "PLUGYARD_GLOBAL_SETTINGS": '{"PLUGIN_ON_STARTUP": true}',
            }
        )
    )
    try:
        host.open()
        yield host
    finally:
        host.close()


def test_a_host_follows_its_plugins_file_as_it_starts(tmp_path):
    """What is listed is there; a list that cannot be followed is reported, and the host starts with what it has."""
    home, links = tmp_path / "home", Wheels(tmp_path / "wheels").into(tmp_path / "links", "greeter")
    home.mkdir()
    (home / "plugins.txt").write_text("plugyard-greeter\n")
    with opened(home, links) as host:
        assert "greeter" in host.registries.current.known
        assert host.packages.follows_file()

    (home / "plugins.txt").write_text("plugyard-greeter\nno such package at all\n")
    with opened(home, links) as host:
        assert "greeter" in host.registries.current.known
        assert not host.packages.follows_file()
        table = METADATA.tables["error_report"]
        host.error_reports.stop()
        with host.database.read() as connection:
            reports = dict(connection.execute(select(table.c.path, table.c.info)).all())

    assert "Line 2 of the plugins file" in reports["packages:startup"]
