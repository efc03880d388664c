"""Switching plugins on the command line."""

from __future__ import annotations

import pytest

from host.config import Config
from host.server import Host


@pytest.fixture
def states(run):
    """Tell how each plugin is."""

    def read() -> dict[str, str]:
        return {one["key"]: one["state"] for one in run("plugin", "list", "--json").ok().document["plugins"]}

    return read


def test_the_list_shows_what_the_host_knows(run, home):
    """Key, title, version, state, origin and mixins of each plugin, one line each."""
    lines = run("plugin", "list").ok().out.splitlines()

    assert lines[0].split() == ["key", "title", "version", "state", "origin", "mixins"]
    assert any(line.split()[0] == "inventory" and "mandatory" in line and "built-in" in line for line in lines)


def test_a_plugin_is_switched_off_and_on(run, home, states):
    """What was switched stays so in the next process."""
    run("plugin", "deactivate", "core-navigation").ok()
    switched_off = states()["core-navigation"]
    run("plugin", "activate", "core-navigation").ok()

    assert switched_off == "inactive"
    assert states()["core-navigation"] == "active"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        pytest.param(["deactivate", "inventory"], "mandatory", id="mandatory"),
        pytest.param(["activate", "nothing"], "no plugin 'nothing'", id="unknown"),
    ],
)
def test_what_cannot_be_switched_is_refused(arguments, reason, run, home):
    """The reason is given, and the exit code is 1."""
    answer = run("plugin", *arguments, "--json")

    assert answer.code == 1
    assert reason in answer.document["error"]


@pytest.mark.parametrize("options", [[], ["--collect"], ["--full", "--force"]], ids=" ".join)
def test_a_reload_reaches_every_process(options, run, home):
    """The registry has a new generation afterwards, which running processes follow."""
    host = Host(Config.load())
    before = host.convergence.state().generation

    document = run("plugin", "reload", *options, "--json").ok().document

    assert document["generation"] == host.convergence.state().generation > before
    assert "inventory" in document["plugins"]
    host.close()
