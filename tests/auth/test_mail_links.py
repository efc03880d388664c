"""Where the links in mails lead: to the host, whoever asked for them and whatever they claim."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest


@pytest.mark.parametrize(
    ("options", "claimed", "leads_to"),
    [
        pytest.param({}, "evil.example", "{server}", id="a foreign name"),
        pytest.param({}, "localhost@evil.example", "{server}", id="a name in disguise"),
        pytest.param({}, "localhost:4242", "localhost:4242", id="this machine"),
        pytest.param({"trusted_origins": "shop.example"}, "shop.example", "shop.example", id="a trusted name"),
        pytest.param({"site_url": "https://shop.example"}, "evil.example", "shop.example", id="the site"),
    ],
)
@pytest.mark.parametrize("path", ["/auth/password/request", "/api/email/generate/"])
def test_links_never_follow_a_strangers_host_header(path, options, claimed, leads_to, server_with):
    """Otherwise anybody could have somebody else's reset link lead to a place of their own."""
    server = server_with(**options)
    name = f"ada{abs(hash((path, claimed, *options))) % 1_000_000}"
    if not server.host.users.has_username(name):
        server.new_user(name, email=f"{name}@example.org")

    answer = server.app().post(path, {"email": f"{name}@example.org"}, headers={"Host": claimed})

    assert answer.status == 200
    found = urlsplit(server.mailbox.find(f"{name}@example.org", r"https?://\S+"))
    assert found.netloc == leads_to.format(server=urlsplit(server.url).netloc)
