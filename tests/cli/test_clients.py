"""OAuth clients on the command line."""

from __future__ import annotations

import pytest

from host.config import Config
from host.server import Host
from host.storage.tables import METADATA

CALLBACK = "https://app.example.org/callback"


@pytest.fixture
def host(home):
    """Give the assembled host of this home."""
    host = Host(Config.load())
    METADATA.create_all(host.database.engine)
    yield host
    host.close()


def test_the_command_line_registers_lists_and_removes(run, host):
    """The secret is printed once; without an owner the client is held to nobody's rights."""
    made = run(
        "client", "create", "Shelf app", "--redirect-uri", CALLBACK, "--scope", "read", "--scope", "staff", "--json"
    )
    document = made.ok().document
    assert (document["owner"], document["scopes"]) == (None, ["read", "staff"])
    (record,) = host.oauth.clients.list()
    assert record.client_id == document["client_id"]

    listed = run("client", "list").ok()
    assert document["client_id"] in listed.out
    assert document["client_secret"] not in listed.out

    run("client", "remove", document["client_id"]).ok()
    assert host.oauth.clients.list() == []
    assert "There are no clients." in run("client", "list").ok().out
    assert run("client", "remove", document["client_id"]).code == 1


def test_the_command_line_refuses_a_client_that_can_do_nothing(run, host):
    """Without an address it needs an owner, who must exist."""
    assert "Name a redirect URI" in run("client", "create", "Robot").err
    assert "There is no user 'ada'" in run("client", "create", "Robot", "--owner", "ada").err
    assert host.oauth.clients.list() == []

    host.users.create({"username": "ada", "email": ""}, password=None)
    run("client", "create", "Robot", "--owner", "ada").ok()
    (record,) = host.oauth.clients.list()
    assert (record.scopes, record.redirect_uris, record.public) == (["read"], [], False)
