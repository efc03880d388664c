"""Installing and removing plugin packages on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.packages_fixture import Wheels


@pytest.fixture
def lamp(wheels: Wheels) -> Path:
    """Give the wheel of a plugin."""
    return wheels["lamp-1.0"]


def _installed(run) -> dict[str, str]:
    plugins = run("plugin", "list", "--json").ok().document["plugins"]
    return {one["key"]: one["state"] for one in plugins if one["origin"] == "package"}


def test_the_life_of_a_package(run, home, lamp):
    """Planned, installed, activated, removed, and brought back by a rollback."""
    planned = run("plugin", "plan", lamp, "--json").ok().document
    before = _installed(run)
    installed = run("plugin", "install", lamp, "--yes").ok()
    run("plugin", "activate", "lamp").ok()
    active = _installed(run)
    refused = run("plugin", "uninstall", "lamp", "--yes")
    run("plugin", "deactivate", "lamp").ok()
    removed = run("plugin", "uninstall", "lamp", "--yes", "--json").ok().document
    gone = _installed(run)
    run("plugin", "rollback", "--yes").ok()

    assert [one["name"] for one in planned["add"]] == ["plugyard-lamp"]
    assert before == {}
    assert "plugyard plugin activate lamp" in installed.out
    assert active == {"lamp": "active"}
    assert (refused.code, "Deactivate" in refused.err) == (1, True)
    assert (removed["name"], removed["changed"]) == ("plugyard-lamp", True)
    assert gone == {}
    assert _installed(run) == {"lamp": "inactive"}


def test_an_install_shows_its_plan_and_asks(run, home, lamp):
    """Without a terminal and without ``--yes`` nothing is installed."""
    answer = run("plugin", "install", lamp)

    assert answer.code == 1
    assert "plugyard-lamp" in answer.out
    assert "Add --yes" in answer.err
    assert _installed(run) == {}


def test_settings_stay_where_that_is_asked_for(run, home, lamp):
    """With ``--keep-config`` the record outlives the package."""
    run("plugin", "install", lamp, "--yes").ok()

    run("plugin", "uninstall", "plugyard-lamp", "--yes", "--keep-config").ok()

    assert _installed(run) == {"lamp": "not installed"}


def test_the_plugins_file_is_followed(run, home, lamp, monkeypatch):
    """``plan`` without a package shows what ``sync`` then does."""
    plugins_file = home / "plugins.txt"
    plugins_file.write_text(f"# lamps\nplugyard-lamp @ {lamp.as_uri()}\n")
    monkeypatch.setenv("PLUGYARD_PLUGINS_FILE", str(plugins_file))

    planned = run("plugin", "plan", "--json").ok().document
    refused = run("plugin", "sync")
    done = run("plugin", "sync", "--yes", "--json").ok().document
    again = run("plugin", "sync", "--json").ok().document

    assert [one["name"] for one in planned["add"]] == ["plugyard-lamp"]
    assert refused.code == 1
    assert (done["changed"], again["changed"]) == (True, False)
    assert _installed(run) == {"lamp": "inactive"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["install", "plugyard-nowhere", "--yes"], "plugyard-nowhere", id="unknown package"),
        pytest.param(["install", "a;b", "--yes"], "may not contain ;", id="shell words"),
        pytest.param(["install", "--yes"], "Name a package", id="no package"),
        pytest.param(["uninstall", "pip", "--yes"], "pip", id="not managed here"),
        pytest.param(["rollback", "--yes"], "no earlier generation", id="nothing to go back to"),
        pytest.param(["rollback", "9", "--yes"], "no generation 9", id="unknown generation"),
    ],
)
def test_what_is_refused_says_why(arguments, words, run, home):
    """One or two lines on standard error, nothing changed."""
    answer = run("plugin", *arguments)

    assert answer.code == 1
    assert words in answer.err
    assert len(answer.err.splitlines()) <= 2


def test_nothing_is_installed_where_installing_is_switched_off(run, home, lamp, monkeypatch):
    """The administrator's rules hold on the command line too."""
    monkeypatch.setenv("PLUGYARD_PLUGINS_INSTALL_DISABLED", "1")

    answer = run("plugin", "install", lamp, "--yes", "--json")

    assert answer.code == 1
    assert "plugins_install_disabled" in answer.document["error"]
