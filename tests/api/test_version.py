"""Version, licences and configuration over HTTP."""

from __future__ import annotations

from datetime import datetime

import pytest

CONFIG = "/api/admin/config/"


def test_the_version(service):
    """It is the one of the headers, with where to read more."""
    response = service.client("user").get("/api/version/")
    about = response.json()

    assert set(about) == {"dev", "up_to_date", "version", "links"}
    assert set(about["version"]) == {"server", "api", "commit_hash", "commit_date", "commit_branch", "python"}
    assert str(about["version"]["api"]) == response.headers["x-plugyard-api"]
    assert about["version"]["server"] == response.headers["x-plugyard-version"]
    assert about["links"]["doc"] == "http://testserver/api/docs/"
    assert about["up_to_date"] is True


@pytest.mark.parametrize("path", ["/api/version-text", "/api/version-text/"])
def test_changes_of_the_interface(service, path):
    """They come by version, with or without the slash, and say which one this server speaks."""
    changes = service.client("user").get(path).json()

    newest = next(iter(changes.values()))
    assert set(newest) == {"version", "date", "gh", "text", "latest"}
    assert newest["latest"] is True
    assert newest["text"]


def test_licences(service):
    """Every installed distribution is there once, by name, with its text."""
    parts = service.client("user").get("/api/license/").json()
    backend = {part["name"].lower(): part for part in parts["backend"]}

    assert list(backend) == sorted(backend)
    assert len(backend) == len(parts["backend"])
    assert set(backend["starlette"]) == {"name", "version", "license", "licensetext"}
    assert backend["starlette"]["license"] == "BSD-3-Clause"
    assert "Redistribution" in backend["starlette"]["licensetext"]
    assert "plugyard" in {part["name"] for part in parts["frontend"]}


def test_a_setting_was_accessed_when_it_was_last_looked_up(service):
    """Looking at one moves its moment on, and no other's."""
    client = service.client("superuser")

    def accessed(name: str) -> datetime:
        return datetime.fromisoformat(client.get(f"{CONFIG}{name}/").json()["accessed"])

    before = accessed("custom_logo"), accessed("pip_timeout")
    assert service.host.config.custom_logo == ""
    after = accessed("custom_logo"), accessed("pip_timeout")

    assert before[0] < after[0]
    assert before[1] == after[1]


def test_configuration_shows_where_values_come_from(service):
    """Names and sources, never values; the list is never a page."""
    client = service.client("superuser")

    entries = client.get(f"{CONFIG}?limit=1").json()
    home = client.get(f"{CONFIG}PLUGYARD_HOME/").json()

    assert len(entries) > 10
    assert all(set(entry) == {"key", "env_var", "config_key", "source", "accessed"} for entry in entries)
    assert home["source"] == "env"
    assert client.get(f"{CONFIG}home/").json()["key"] == "PLUGYARD_HOME"
    assert {entry["source"] for entry in entries} == {"env", "default"}
    assert str(service.host.home) not in client.get(CONFIG).text
    assert service.host.secret_key not in client.get(CONFIG).text


@pytest.mark.parametrize("key", ["nothing", "PLUGYARD_home", "_looked_up", "x" * 5000, "%ed%a0%80"])
def test_unknown_settings(service, key):
    """What is no setting is not found."""
    assert service.client("superuser").get(f"{CONFIG}{key}/").status_code == 404
